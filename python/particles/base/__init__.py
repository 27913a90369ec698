# SPDX-License-Identifier: BSD-3-Clause
"""What every room may use and knows nothing of this package: checks, errors, guards, files on disk."""
