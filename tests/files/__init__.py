# SPDX-License-Identifier: BSD-3-Clause
"""Files as each release writes them, which every later one reads: a folder for each version."""
