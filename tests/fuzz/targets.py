# SPDX-License-Identifier: BSD-3-Clause
"""What is fuzzed: functions of bytes that return, unless something is wrong."""

from fuzz import archive, checkpoint, facts, formula, kernel, series

TARGETS = {
    module.__name__.partition(".")[2]: module.run
    for module in (archive, checkpoint, facts, formula, kernel, series)
}
