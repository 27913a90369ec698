# SPDX-License-Identifier: BSD-3-Clause
"""What is fuzzed: functions of bytes that return, unless something is wrong."""

from tests.trust.fuzz import (
    archive,
    checkpoint,
    facts,
    formula,
    kernel,
    series,
    swarm,
    swarm_files,
)

TARGETS = {
    module.__name__.rpartition(".")[2]: module.run
    for module in (archive, checkpoint, facts, formula, kernel, series, swarm, swarm_files)
}
