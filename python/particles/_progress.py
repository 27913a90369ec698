# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

# Seconds between two looks at the device: often enough for a progress bar and an interrupt, rarely
# enough to cost nothing.
_INTERVAL = 0.2


def in_chunks(
    steps: int, size: int | None, progress: bool | None, finish: Callable[[], None]
) -> Iterator[tuple[int, int]]:
    """Yield (steps done, steps to do next), with a progress bar; `finish` waits for the work.

    Chunks of `size` steps, or, where it is None, as many as take about a fifth of a second.
    """
    from tqdm.auto import tqdm

    if progress is None:
        progress = "ipykernel" in sys.modules or sys.stderr.isatty()
    done, count = 0, size or 1
    with tqdm(total=steps, disable=not progress, unit="step") as bar:
        while done < steps:
            count = min(count, steps - done)
            begin = time.perf_counter()
            yield done, count
            if size is None or progress:
                finish()
            done += count
            bar.update(count)
            if size is None and time.perf_counter() - begin < _INTERVAL:
                count *= 2
