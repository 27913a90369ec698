# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of speed, run as modules from the project's root.

On two cores: `benchmarks.sweep` takes 3 minutes, 5 with ``--peers``; `benchmarks.scaling` and
`benchmarks.paper` 1 minute. `benchmarks.accuracy` measures errors and orders in 10 minutes.
`benchmarks.report` makes the tables and plots of docs/performance.md and docs/accuracy.md from what
they found.
"""
