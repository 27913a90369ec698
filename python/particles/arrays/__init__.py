# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of one type on a device: any count of them, read and written as NumPy's."""
