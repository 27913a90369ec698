# SPDX-License-Identifier: BSD-3-Clause
"""How many operations the kernels do for each byte, counted in their text, and the roofs above."""

from __future__ import annotations

import re
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
import particles as pt
from particles import kernels
from particles._core import testing

REAL_BYTES = 4  # of a float32

# What a particle costs, as the kernels say it, for lines along which neighbours keep their order.
PUSH = {
    "PLACE_1(scale, slope, place, sum) ((REAL(0.5) * (scale)) * (slope))": 1,  # the scale is the same for all particles
    "FLOOR(displacement)": 1,
    "displacement - whole": 1,
    "at[POINTS_BEFORE + 1] - at[POINTS_BEFORE]": 1,
    "MAD(y, rise, at[POINTS_BEFORE])": 2,
    "PLACE_2(scale, slope, place, sum) ((scale) * (slope))": 1,
}
SPLIT = {"FLOOR(displacement)": 1, "displacement - whole": 1, "offset - REAL(0.5)": 1}
PER_WEIGHT = {"MAD(weight[j], strength, w->sum[j])": 2}


@dataclass(frozen=True)
class Work:
    """What one particle costs a kernel: floating-point operations, and bytes of global memory."""

    name: str
    operations: int
    bytes: int

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.operations / self.bytes


def works(kernel: str) -> tuple[Work, Work, Work]:
    """Return the work of the pushing kernel, of the remeshing one and of both in one."""
    chosen = kernels.get(kernel)
    push = found(PUSH)
    remesh = found(SPLIT) + weight_operations(kernels.opencl_source(chosen))
    remesh += chosen.stencil * found(PER_WEIGHT)
    return (
        Work("push", push, 2 * REAL_BYTES),  # velocity, displacement
        Work("remesh", remesh, 3 * REAL_BYTES),  # displacement, u, result
        Work("fused", push + remesh, 3 * REAL_BYTES),  # velocity, u, result
    )


def found(expressions: dict[str, int]) -> int:
    """Return the operations of expressions, all of which the kernels must contain."""
    text = testing.kernel_source("sweep/sweep.cl")
    missing = [expression for expression in expressions if expression not in text]
    if missing:
        raise LookupError(f"the kernels no longer say {missing}: count again")
    return sum(expressions.values())


def weight_operations(source: str) -> int:
    """Return the operations of generated weights: a MAD is two, any other operator one.

    >>> weight_operations("const V a = MAD(t, t, (V)(REAL(-0.25))); w[0] = a * t - t;")
    4
    """
    code = re.sub(r"/\*.*?\*/|#.*|\(V\)|REAL\([^)]*\)|\[[^]]*\]", "", source)
    body = code.partition("{")[2].partition("}")[0] or code
    return 2 * body.count("MAD(") + len(re.findall(r"[-+*]", body))


PEAK_KERNEL = """
__kernel void peak(__global REAL* out, const REAL a, const REAL b) {
  TYPE x[CHAINS];
  for (int k = 0; k < CHAINS; k++) x[k] = (TYPE)(get_global_id(0) + k);
  for (int i = 0; i < ROUNDS; i++) {
    _Pragma("unroll")
    for (int k = 0; k < CHAINS; k++) x[k] = x[k] * a + b;
  }
  TYPE sum = x[0];
  for (int k = 1; k < CHAINS; k++) sum += x[k];
  out[get_global_id(0)] = LAST;
}
"""


def peak(device: pt.Device, repeats: int = 5, dtype: str = "float32") -> float:
    """Return the operations per second of independent multiplications and additions.

    On a CPU those of all compute units, if other programs rest.
    """
    import pyopencl as cl

    width, chains, rounds = (16, 12, 4096) if device.is_cpu else (1, 16, 4096)
    items = device.compute_units * (64 if device.is_cpu else 2048)
    options = [f"-DCHAINS={chains}", f"-DROUNDS={rounds}"]
    real = np.dtype(dtype).type
    name = "float" if dtype == "float32" else "double"
    if width > 1:
        width = width * 4 // np.dtype(dtype).itemsize
        options += [f"-DREAL={name}", f"-DTYPE={name}{width}", "-DLAST=sum.s0"]
    else:
        options += [f"-DREAL={name}", f"-DTYPE={name}", "-DLAST=sum"]
    program = cl.Program(device.context, PEAK_KERNEL).build(options)
    kernel = cl.Kernel(program, "peak")
    out = cl.Buffer(device.context, cl.mem_flags.WRITE_ONLY, real().nbytes * items)
    clock, clocks = (process_time, device.compute_units) if device.is_cpu else (perf_counter, 1)
    seconds = []
    for _ in range(repeats + 1):
        begin = clock()
        kernel(device.queue, (items,), None, out, real(0.999), real(0.001))
        device.finish()
        seconds.append((clock() - begin) / clocks)
    return 2.0 * width * chains * rounds * items / min(seconds[1:])
