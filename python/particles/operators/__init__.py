# SPDX-License-Identifier: BSD-3-Clause
"""What pushes particles, puts them back and acts on fields, each by itself."""
