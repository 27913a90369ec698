# SPDX-License-Identifier: BSD-3-Clause
"""The same work by other libraries, for ``python -m benchmarks.peers``, and parts of other benchmarks."""
