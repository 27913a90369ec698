# SPDX-License-Identifier: BSD-3-Clause
"""OpenCL devices: finding, trying and choosing them, and what is kept between runs."""
