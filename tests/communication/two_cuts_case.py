# SPDX-License-Identifier: BSD-3-Clause
"""What a cut of the second axis adds, in one case: prints what must not depend on the cuts.

``python -m tests.communication.two_cuts_case <device> <rows> <columns>``; comm is given where a launcher has
started it. Lines of ranks are some of all ranks, blocks are uneven, particles come in through a cut axis, a velocity is
coarse along both, and a field lies in memory of PyOpenCL in which rows are columns.
"""

import hashlib
import os
import sys
import warnings

import numpy as np
import particles as pt
import pyopencl.array as cl_array

from tests.communication.drawn_cuts import COMM, own_block

SHAPE, COARSE = (22, 10, 6), (11, 5, 3)
BOUNDARY = [("wall", "inflow"), ("inflow", "outflow"), "periodic"]


def digest(field):
    values = field.gather()
    return None if values is None else hashlib.sha256(np.ascontiguousarray(values)).hexdigest()


def field_of(grid, components, device, lot):
    field = pt.Field(grid, components, device=device)
    values = lot.random((components, *grid.whole.shape)).astype(np.float32)[own_block(grid)]
    field[...] = values if components > 1 else values[0]
    return field


def with_columns_as_rows(field):
    """Return the same in memory of PyOpenCL that lies the other way round."""
    values = np.array(field.get(), order="F")
    return pt.Field.from_pyopencl(cl_array.to_device(field.device.queue, values), field.grid)


def results(grid, coarse, device):
    lot = np.random.default_rng(3)
    velocity = field_of(coarse, 3, device, lot)
    velocity *= 0.8
    velocity -= 0.3
    for u in field_of(grid, 2, device, lot), with_columns_as_rows(field_of(grid, 1, device, lot)):
        transport = pt.Splitting(
            pt.AdvectionOp(velocity, grid=grid, interpolation="cubic"),
            pt.RemeshOp(u, inflow=0.7, conservative=False),
            diffusion=pt.Diffusion(u, 0.002),
        )
        transport.step(0.1)
        if coarse.begin[1] + coarse.shape[1] == COARSE[1]:
            velocity[:, :, -1] = velocity[:, :, -1] * 1.5
        transport.step(0.1)
        yield digest(u), u.sum()
    flow = field_of(grid, 3, device, lot)
    flow *= 0.2
    masses = pt.RemeshOp(u, inflow=lambda t: 0.3 + t)
    transport = pt.Splitting(pt.AdvectionOp(with_columns_as_rows(flow)), masses)
    transport.run(until=0.3, dt=0.1)
    yield digest(u), round(float(np.abs(transport.outflow).sum()), 3)
    swarm = pt.ParticleSet.random(grid, 500, seed=1, device=device, mass=np.ones(500, "float32"))
    give = pt.ParticlesToGrid(swarm, "mass", u)
    for add in False, True, True:
        give.apply(add=add)
    pt.GridToParticles(flow, swarm, "read").apply()
    yield digest(u), hashlib.sha256(np.array(everywhere(swarm, "read"))).hexdigest()


def everywhere(swarm, name):
    """Return what all particles have, on all ranks."""
    values = swarm.gather(name)
    return values if swarm.grid.ranks is None else swarm.grid.ranks.told("all", values)


def check_what_fails_on_one_rank(grid):
    """An error while blocks are put together is told of, also where the script goes on after it."""
    field, neighbours = pt.Field(grid), grid.neighbours
    read = type(neighbours)._read

    def failing(self, *arguments):
        if grid.ranks.rank == 1:
            raise MemoryError("no memory here")
        return read(self, *arguments)

    type(neighbours)._read = failing
    try:
        field.sum()
    except MemoryError:
        assert field.max() == 0
    else:
        raise AssertionError("all ranks should have raised it")
    finally:
        type(neighbours)._read = read


def main(device, rows, columns):
    warnings.simplefilter("ignore")
    cuts = None if COMM is None else (int(rows), int(columns), 1)
    grid, coarse = (
        pt.Grid(shape, boundary=BOUNDARY, comm=COMM, cuts=cuts) for shape in (SHAPE, COARSE)
    )
    for told in results(grid, coarse, pt.devices()[int(device)]):
        if os.environ.get("PMI_RANK", "0") == "0":
            print(*told)
    if grid.ranks is not None:
        check_what_fails_on_one_rank(grid)
        made = pt.Splitting(
            pt.AdvectionOp(pt.Field(grid, 3, name="a")),
            pt.RemeshOp(pt.Field(grid, name="u"), inflow=0.0),
        )
        assert dict(made.memory()) == dict(pt.memory(grid))


if __name__ == "__main__":
    main(*sys.argv[1:])
