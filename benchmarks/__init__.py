# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of speed, run as modules from the project's root.

On two cores: `benchmarks.sweep` takes 3 minutes, `benchmarks.peers` 5; `benchmarks.scaling` and
`benchmarks.paper` 1 minute. `benchmarks.accuracy` measures errors and orders in 10 minutes.
`benchmarks.report` makes the tables and plots of docs/performance.md and docs/accuracy.md from what
they found; `benchmarks.record` keeps that in ``results/``, a record a line.

``accuracy`` has what measures errors, ``paper`` what follows the publication, ``peers`` the same work by
other libraries. All other modules are commands, those of a room under its name, or shared by them.
"""
