# SPDX-License-Identifier: BSD-3-Clause
"""The sweep by HySoP's OpenCL kernels, from its sources: those for a device that it does not know.

Its sources of 2016 have them in ``hysop/gpu/cl_src``. A field is copied, or, for lines that do not
run along the memory, transposed; then a work-group takes a line, whose sums lie in local memory,
and each of its work-items some particles of it. The kernel, L4_2, is M'6.
"""

from pathlib import Path

import numpy as np
import particles as pt
import pyopencl as cl

from benchmarks.peers.comparison import Array, Peer, Problem

SOURCES = {
    "": ["common"],
    "remeshing": ["weights_noVec_builtin", "private_noVec"],
    "advection": ["velocity_cache_noVec", "builtin_rk2_noVec"],
    "kernels": ["advection_and_remeshing_noVec", "transpose_xy_noVec", "transpose_xz_slice_noVec"],
}
"""Files of each folder, in the order that the compiler wants."""
MOST_ITEMS, MOST_GROUPS, TILE, ROWS = 128, 256, 32, 2
"""Work-items of a line, work-groups along an axis, and what a work-group transposes at once."""
LAYOUTS = ((1, 2, 0), (0, 2, 1), (0, 1, 2))
"""Order of our axes in memory when it sweeps along each of them, the last one along the memory."""
BEFORE = ((0, 2, 1), (0, 1, 2), (0, 1, 2))
"""The same before it transposes."""


def peers(problem: Problem, device: pt.Device, sources: Path) -> list[Peer]:
    """The sweep along each axis, of a cube."""
    n = problem.u.shape[0]
    queue = device.queue
    program = cl.Program(device.context, _text(sources)).build(_options(n))
    return [_sweep(problem, axis, program, queue) for axis in range(3)]


def _text(sources: Path) -> str:
    """Return the kernels of one component, where HySoP repeats what is marked for each."""
    files = [sources / folder / f"{name}.cl" for folder, names in SOURCES.items() for name in names]
    text = "".join(file.read_text() for file in files)
    for mark, meaning in (("__RCOMP_I", ""), ("__RCOMP_P", ""), ("__ID__", "0")):
        text = text.replace(mark, meaning)
    return text


def _tile(n: int) -> int:
    """Return a side that divides the cube's, as HySoP finds it."""
    tile = TILE
    while n % tile:
        tile //= 2
    if tile < ROWS:
        raise ValueError(f"points: expected an even number along each axis for HySoP, got {n}")
    return tile


def _items(n: int) -> int:
    """Return how many work-items share a line, all of which have as many particles."""
    return max(k for k in range(1, min(n // 2, MOST_ITEMS) + 1) if n % k == 0)


def _groups(n: int) -> int:
    """Return how many work-groups there are along an axis; each may have several lines."""
    while n > MOST_GROUPS:
        n //= 2
    return n


def _options(n: int) -> list[str]:
    points = {
        f"{before}NB_{name}": n
        for before in ("", "V_")
        for name in ["X", "Y", "Z", "I", "II", "III"]
    }
    blocks = {"NB_GROUPS_I": n // _tile(n), "NB_GROUPS_II": n // _tile(n)}
    tiles = {
        **{f"TILE_DIM_{plane}": _tile(n) for plane in ("XY", "XZ")},
        **{f"PADDING_{plane}": 1 for plane in ("XY", "XZ")},
        "BLOCK_ROWS_XY": ROWS,
        "BLOCK_DEPH_XZ": ROWS,
        "NB_GROUPS_III": n // _tile(n),
    }
    lines = {
        "FORMULA": "L4_2",
        "V_GHOSTS_NB": 0,
        "WI_NB": _items(n),
        "PART_NB_PER_WI": n // _items(n),
    }
    # A function that is `inline` alone has no text elsewhere.
    names = {**points, **blocks, **tiles, **lines, "inline": "static"}
    return [
        "-cl-single-precision-constant",
        *(f"-D{name}={value}" for name, value in names.items()),
    ]


def _sweep(problem: Problem, axis: int, program: cl.Program, queue: cl.CommandQueue) -> Peer:
    n, tile, items = problem.u.shape[0], _tile(problem.u.shape[0]), _items(problem.u.shape[0])
    layout, flags = LAYOUTS[axis], cl.mem_flags
    mesh = np.array([1] * 8 + [0, 1, 1, 0], "f4")  # cells of 1, counted from 0

    def memory(array: Array) -> cl.Buffer:
        copied = np.ascontiguousarray(array)
        return cl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=copied)

    on_grid = memory(problem.u.transpose(BEFORE[axis]))
    of_particles, result, cells = memory(problem.u), memory(problem.u), memory(mesh)
    velocity = memory(problem.motion[axis].transpose(layout))
    sweep = cl.Kernel(program, "advection_and_remeshing")
    transpose = cl.Kernel(program, "transpose_xz" if axis == 0 else "transpose_xy")
    lines = (items, _groups(n), _groups(n))

    parts = _groups(ROWS * n // tile)
    sizes = (_groups(n), _groups(n), parts) if axis == 0 else (_groups(n), parts, _groups(n))
    group = (tile, 1, ROWS) if axis == 0 else (tile, ROWS, 1)

    def work() -> None:
        if axis == 2:
            cl.enqueue_copy(queue, of_particles, on_grid)
        else:
            transpose(queue, sizes, group, on_grid, of_particles)
        sweep(queue, lines, (items, 1, 1), velocity, of_particles, result, np.float32(1), cells)
        queue.finish()

    def found() -> Array:
        out = np.empty(problem.u.shape, "f4")
        cl.enqueue_copy(queue, out, result)
        return out.transpose(np.argsort(layout))

    # Places are counted from the beginning of a line: the longer it is, the more they are rounded.
    return Peer("HySoP's kernels, the same sweep", axis, work, 4e-7 * n, found)
