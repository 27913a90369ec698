# SPDX-License-Identifier: BSD-3-Clause
"""One small object of every class, and a sum of all that wrong arguments must leave as it is."""

import hashlib
import warnings
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
import particles as pt

from tests.support.refusals import GRID, OTHER, foreign

ENDS = pt.Grid((4, 6), boundary=[("inflow", "outflow"), "wall"])
FORM = pt.Form("private")


class World:
    """Objects of two-dimensional fields with a few points, on the default device."""

    def __init__(self, folder):
        self.folder, self.grid, self.other = folder, GRID, OTHER
        self.u, self.w, self.g = (pt.Field(GRID, name=name) for name in "uwg")
        self.u[...] = np.arange(24).reshape(4, 6)
        self.g[...] = 0.5
        self.velocity, self.later = (pt.Field(GRID, 2, name=name) for name in ("a", "b"))
        self.velocity[0], self.velocity[1] = [[0.25], [0.5], [0.25], [0.0]], 0.5
        self.later.fill(0.25)
        self.elsewhere = pt.Field(OTHER)
        self.bounded = pt.Field(ENDS)
        self.double, self.half = pt.Field(GRID, dtype="float64"), pt.Field(GRID, dtype="float16")
        self.double_velocity = pt.Field(GRID, 2, "float64")
        self.foreign, self.foreign_velocity = foreign(), foreign(2)
        self.fine = pt.Field(pt.Grid((8, 12)))
        self.wind = pt.Velocity(GRID, lambda x, y, t: (0.5 + 0 * x, 0.25 * t))
        self.series = pt.VelocitySeries([self.velocity, self.later], [0.0, 64.0])
        self.advection = pt.AdvectionOp(self.velocity, form=FORM)
        self.remesh = pt.RemeshOp(self.u, form=FORM)
        self.diffusion = pt.Diffusion(self.u, 0.1)
        self.source = pt.SourceOp(self.u, lambda u, g, x, y: -g * u, self.g)
        self.cube = pt.Field(pt.Grid((4, 4, 4)))
        self.cube[2] = 1.0
        self.line = pt.Field(pt.Grid(8))
        self.changed = pt.Field(GRID)  # which nothing else reads
        self.transport = pt.Splitting(self.advection, self.remesh, source=self.source)
        self.windy = pt.Splitting(
            pt.AdvectionOp(self.series, form=FORM), pt.RemeshOp(self.w, form=FORM)
        )
        self.unsplit = pt.Unsplit(pt.AdvectionOp(self.velocity), pt.RemeshOp(self.w))
        self.moved = pt.Field(GRID)
        self.masses, self.keys = pt.Array(4), pt.Array(4, "int32")
        self.pairs, self.large_keys = pt.Array((4, 2), "int32"), pt.Array(4, "uint64")
        self.large_keys.fill(900)
        self.swarm = pt.ParticleSet(
            GRID,
            [[0.1, 0.2], [0.6, 0.7]],
            mass=np.float32([1, 2]),
            tag=np.array([7, 5]),
            dark=np.array([True, False]),
        )
        self.drifting = pt.ParticleSet(GRID, [[0.3, 0.4], [0.9, 0.2]])
        self.tracers = pt.Tracers(self.drifting, self.velocity)
        self.positions = pt.Positions(self.moved, 0)
        self.kernel = pt.kernels.get("M'4")
        self.files = pt.io.Series(folder / "fields.h5")
        self.files.append(0.0, self.u)
        self.archive, self.stopped = folder / "fields.npz", folder / "stopped.checkpoint"
        self.picture = folder / "fields.vti"
        pt.io.save(self.archive, self.u)
        pt.io.write_vti(self.picture, self.u)
        pt.io.checkpoint(self.stopped, self.transport)
        self._kept = {name: (field.get(), field.name) for name, field in self.readable.items()}

    @property
    def fields(self):
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, pt.Field | pt.Array)
        }

    @property
    def readable(self):
        """The fields that belong to no other device."""
        return {name: f for name, f in self.fields.items() if not name.startswith("foreign")}

    def restore(self):
        """Give fields, their names and times what they had at first, from which any step leads on."""
        for name, field in self.readable.items():
            field[...], field.name = self._kept[name]
        for stepper in self.steppers:
            stepper.time = 0.0
        with warnings.catch_warnings():  # of steps with what was there before
            warnings.simplefilter("ignore", pt.NotFiniteWarning)
            self.drifting.positions.get()

    @property
    def steppers(self):
        return self.transport, self.windy, self.unsplit, self.tracers

    def sum(self):
        """A digest of all there is, files too; these differ from those of another world."""
        digest = hashlib.sha256(self.values().encode())
        for path in sorted(self.folder.iterdir()):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()

    def values(self):
        """A digest of all values, times and counts."""
        digest = hashlib.sha256()
        for field in self.fields.values():
            field.device.finish()
            there = field.core.host_values()
            digest.update((field.get() if there is None else there).tobytes())
        for swarm in (self.swarm, self.drifting):
            for values in (swarm.positions, *swarm.attributes.values()):
                digest.update(values.get().tobytes())
        for one in self.steppers:
            digest.update(repr((one.time, one.last_dt, one.steps)).encode())
        digest.update(self.transport.outflow.tobytes())
        digest.update(repr(self.files.times).encode())
        digest.update(repr(plt.get_fignums()).encode())
        return digest.hexdigest()

    def result(self):
        """What a step makes of what there is."""
        self.transport.step(0.05)
        self.windy.step(0.05)
        self.unsplit.step(0.05)
        self.tracers.step(0.05)
        return self.values()


def queue_array(world, shape, **options):
    """An array of PyOpenCL on the default device."""
    import pyopencl.array

    return pyopencl.array.zeros(world.u.device.queue, shape, options.pop("dtype", np.float32))


def placed_array(world, shape, offset, strides):
    """An array of PyOpenCL that says of itself that it lies elsewhere in its buffer."""
    array = queue_array(world, shape)
    array.offset, array.strides = offset, strides
    return array


def array_in_a_buffer(world, shape, flag):
    """An array of PyOpenCL in a buffer that not everybody may read and write."""
    import pyopencl
    import pyopencl.array

    queue, flags = world.u.device.queue, getattr(pyopencl.mem_flags, flag)
    buffer = pyopencl.Buffer(queue.context, flags, 4 * int(np.prod(shape)))
    return pyopencl.array.Array(queue, shape, np.float32, data=buffer)


@contextmanager
def figures():
    """Have figures drawn nowhere, and none that others opened; close those opened meanwhile."""
    plt.close("all")
    plt.switch_backend("agg")
    yield
    plt.close("all")
