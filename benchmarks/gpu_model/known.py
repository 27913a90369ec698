# SPDX-License-Identifier: BSD-3-Clause
"""Kernels whose counts are known by hand: the model must give these numbers."""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

Count = dict[str, Any]
N = 64
SOURCE = """
#define PLACE get_global_id(0)
kernel void copied(global const float* a, global float* b, const int n) { b[PLACE] = a[PLACE]; }
kernel void strided(global const float* a, global float* b, const int n) {
  b[PLACE] = a[32 * PLACE];
}
kernel void shifted(global const float* a, global float* b, const int n) {
  b[PLACE] = a[PLACE + 1];
}
kernel void broadcast(global const float* a, global float* b, const int n) {
  b[PLACE] = a[get_group_id(0)];
}
kernel void transposed(global const float* a, global float* b, const int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  b[x * n + y] = a[y * n + x];
}
#define TRANSPOSE(name, PITCH)                                                    \\
  kernel void name(global const float* a, global float* b, const int n) {         \\
    local float tile[32 * PITCH];                                                 \\
    const int x = get_local_id(0), y = get_local_id(1);                           \\
    const int i = get_group_id(0) * 32, j = get_group_id(1) * 32;                 \\
    for (int k = y; k < 32; k += 8) tile[k * PITCH + x] = a[(j + k) * n + i + x]; \\
    barrier(CLK_LOCAL_MEM_FENCE);                                                 \\
    for (int k = y; k < 32; k += 8) b[(i + k) * n + j + x] = tile[x * PITCH + k]; \\
  }
TRANSPOSE(in_one_bank, 32)
TRANSPOSE(in_all_banks, 33)
kernel void halved(global const float* a, global float* b, const int n) {
  float v = a[PLACE];
  if (PLACE % 2) for (int i = 0; i < 1000; i++) v = v * v + 1;
  b[PLACE] = v;
}
kernel void re_read(global const float* a, global float* b, const int n) {
  float v = 0;
  for (int i = 0; i < 8; i++) v += a[8 * PLACE + i];
  b[PLACE] = v;
}
"""


class Known(NamedTuple):
    """Bytes moved for each that is asked for, with a cache and without, and what else is known."""

    loads: float = 1.0
    stores: float = 1.0
    cached: float | None = None  # loads; where None, as without a cache
    passes: float | None = None
    busy: float = 1.0


KNOWN = {
    "copied": Known(),
    "strided": Known(loads=8),
    "shifted": Known(loads=5 / 4, cached=9 / 8),  # groups of 64 read 9 sectors
    "broadcast": Known(loads=1 / 4, cached=1 / 8),  # of 32 lanes 1 sector, of a group 1
    "transposed": Known(stores=8),
    "in_one_bank": Known(passes=(1 + 32) / 2),
    "in_all_banks": Known(passes=1),
    "halved": Known(busy=1 / 2),
    "re_read": Known(loads=8, cached=1),
}


def run() -> None:
    """Run them on Oclgrind."""
    import numpy as np
    import pyopencl as cl
    from particles import default_device

    device = default_device()
    context, queue = device.context, device.queue
    a, b = (cl.Buffer(context, 0, 4 * count) for count in (33 * N * N, N * N))
    program = cl.Program(context, SOURCE).build()
    for name in KNOWN:
        tiles = name.startswith("in_")
        sizes = ((N, N // 4), (32, 8)) if tiles else ((N, N), (32, 8))
        if not tiles and name != "transposed":
            sizes = ((8 * N if name == "halved" else N * N,), (64,))
        getattr(program, name)(queue, *sizes, a, b, np.int32(N))
    queue.finish()


def wrong(counts: list[Count]) -> list[str]:
    """Return in words what is not as it is known to be."""
    found = {count["kernel"]: count for count in counts}
    told = []
    for name, known in KNOWN.items():
        count = found[name]
        loads, stores = count["loads_asked"], count["stores_asked"]
        cached = known.loads if known.cached is None else known.cached
        passes = count["local_passes"] / max(1, count["local_requests"])
        for what, value, expected, close in (
            ("loads", count["loads_moved"] / loads, known.loads, 1e-9),
            ("loads with a cache", count["loads_cached"] / loads, cached, 1e-9),
            ("stores", count["stores_moved"] / stores, known.stores, 1e-9),
            ("bank passes", passes, known.passes or 0.0, 1e-9),
            ("lanes busy", count["lanes_ran"] / count["lanes_held"], known.busy, 0.01),
        ):
            if abs(value - expected) > close:
                told.append(f"{name}: {what} must be {expected:.4g}, not {value:.4g}")
    return told


if __name__ == "__main__":
    run()
    print(json.dumps({}), file=sys.stdout)
