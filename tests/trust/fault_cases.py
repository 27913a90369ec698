# SPDX-License-Identifier: BSD-3-Clause
"""What is done while calls of OpenCL fail; together it uses every function that the core knows."""

import contextlib
import functools
import hashlib
import shutil

import numpy as np
import particles as pt
from particles import _core
from particles._core import testing

from tests.io.test_checkpoint import (
    bits,
    in_a_series,
    of_several_fields,
    plain,
    through_a_channel,
    unsplit,
)
from tests.runtime.test_program_cache import PARTS
from tests.runtime.test_queue import in_turns
from tests.trust import fault_choices


def digest(*parts):
    """Return one short text for all parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def cases(index, folder, every):
    """Give the name of each case, its device and its function, on the device of that index."""
    device = pt.devices()[index]
    kinds = [plain, through_a_channel, unsplit]
    kinds += [of_several_fields, in_a_series] if every else []
    yield "find devices", device, find_devices
    yield "open", device, functools.partial(open_device, device, folder)
    yield "profile", device, functools.partial(profile, device)
    yield "two queues", device, functools.partial(two_queues, device)
    yield "share with PyOpenCL", device, functools.partial(share, device)
    info = testing.as_gpu(device.info)
    gpu = pt.Device(info, _core.Context.open(info, ""))
    if every:
        yield "choose a driver", device, functools.partial(fault_choices.choose, device)
    yield "tune", device, functools.partial(fault_choices.tune, device)
    yield "forms of a GPU", gpu, functools.partial(forms_of_gpu, gpu)
    yield "particles anywhere", device, functools.partial(particles_anywhere, device)
    yield "changes of a set", device, functools.partial(changes_of_a_set, device)
    yield "tracers", device, functools.partial(tracers, device, folder)
    for kind in kinds:
        yield kind.__name__, device, functools.partial(transport, kind, device, folder)


def find_devices():
    platforms = _core.list_platforms()
    for platform in platforms:
        if platform.error:
            raise pt.DeviceError(platform.error)
    return digest([[d.name for d in platform.devices] for platform in platforms])


def open_device(device, folder):
    """Open it with an empty cache of programs, and again with a full one; compute there."""
    shutil.rmtree(folder / "programs", ignore_errors=True)
    sums = []
    for _ in range(2):
        core = _core.Context.open(device.info, str(folder / "programs"))
        core.run_self_test()
        testing.link(core, PARTS, "f")
        field = pt.Field(pt.Grid(5), device=pt.Device(device.info, core))
        field.fill(2.5)
        sums.append(field.sum())
    with contextlib.suppress(pt.BuildError):
        core.build("no program")
    adopted = _core.Context.adopt(device.info, core.context_pointer, core.queue_pointer, "")
    adopted.finish()
    return digest(sums)


def profile(device):
    """Time more launches than are kept under way at once."""
    field = pt.Field(pt.Grid(5), device=device)
    with pt.profile(device) as p:
        for _ in range(600):
            field.fill(1)
    launches = [(name, time.launches) for name, time in p.kernels.items()]
    return digest(launches, field.get().tobytes())


def two_queues(device):
    """Let them work on one array in turns."""
    return digest(in_turns(device.core, 3))


def share(device):
    grid = pt.Grid((6, 10))
    field = pt.Field(grid, device=device)
    field[...] = np.arange(60).reshape(6, 10)
    shared = pt.Field.from_pyopencl(field.to_pyopencl(), grid)
    shared[2:4, 3] = 1
    return digest(field.get().tobytes(), shared.sum())


def forms_of_gpu(device):
    """Sums in local memory, velocity in images if any; fields are filled, boxes of them copied."""
    grid = pt.Grid((9, 18))
    velocity = pt.Field(grid, 2, device=device)
    velocity[...] = np.random.default_rng(0).random((2, 9, 18))
    u = pt.Field(grid, device=device)
    u[2:7, 3:9] = 1
    form = pt.Form("local", images=device.has_images)
    transport = pt.Splitting(pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u, form=form))
    transport.run(until=0.02, dt=0.01)
    return digest(u.get().tobytes(), u[1:5, 2:9].tobytes(), u.sum())


def particles_anywhere(device):
    """Move a set, whose particles go round and leave; sort it; interpolate in both directions.

    A set that was refused something is as it was before, and so can be asked again.
    """
    grid = pt.Grid((4, 6), boundary=["periodic", "outflow"])
    swarm = pt.ParticleSet.random(
        grid, 40, seed=2, device=device, mass=np.ones(40, "float32"), tag=np.arange(40)
    )
    field = pt.Field(grid, device=device)
    give, sample = pt.ParticlesToGrid(swarm, "mass", field), pt.GridToParticles(field, swarm, "u")
    pt.ParticlesToGrid(swarm, "mass", field, order="canonical").apply()
    canonical = field.get().tobytes()
    version, count = swarm.version, len(swarm)
    try:
        swarm.update(lambda p: {"position": p.position + np.array([0.4, 0.3]), "mass": 2 * p.mass})
    except pt.DeviceError:
        assert (swarm.version, len(swarm)) == (version, count)
        swarm.update(lambda p: {"position": p.position + np.array([0.4, 0.3]), "mass": 2 * p.mass})
    give.apply()
    sample.apply()
    known = [swarm[name].get().tobytes() for name in ("mass", "tag", "u")]
    return digest(canonical, known, swarm.positions.get().tobytes(), swarm.left.tolist())


def changes_of_a_set(device):
    """Add, remove, sort, assign and place; what fails leaves the set as it was, and works again."""
    grid = pt.Grid((4, 6), boundary=["periodic", "wall"])
    swarm = pt.ParticleSet.random(grid, 30, seed=4, device=device, mass=np.arange(30.0))
    other = pt.ParticleSet.random(grid, 9, seed=5, device=device, mass=np.arange(30.0, 39.0))
    for change in (
        lambda: swarm.add(other),
        lambda: swarm.remove(lambda p: p.mass > 35),
        lambda: swarm.remove(np.arange(len(swarm)) % 5 == 0),
        lambda: swarm.sort("cell"),
        lambda: swarm.__setitem__("tag", np.arange(len(swarm))[::-1]),
        lambda: swarm.set("position", np.full((len(swarm), 2), 0.5), by="tag"),
        lambda: swarm.sort(),
        lambda: swarm.__delitem__("tag"),
    ):
        before = swarm.version, len(swarm), [*swarm.attributes]
        try:
            change()
        except pt.DeviceError:
            assert (swarm.version, len(swarm), [*swarm.attributes]) == before
            change()
        device.finish()  # tells of work that was lost after the change
    return digest(swarm["mass"].get().tobytes(), swarm.positions.get().tobytes(), swarm.version)


def tracers(device, folder):
    """Take particles along, some of them out of the box; go on from a checkpoint."""
    grid = pt.Grid((4, 6), boundary=["periodic", "outflow"])
    swarm = pt.ParticleSet.random(grid, 40, seed=2, device=device, tag=np.arange(40))
    flow = pt.Field(grid, 2, device=device)
    flow[...] = 1.5
    moved = pt.Tracers(swarm, flow)
    try:
        two_steps(moved)
    except pt.DeviceError:  # to go on, as if nothing had happened, is refused or right
        two_steps(moved)
    strain = moved.lcfl(0.1)
    pt.io.checkpoint(folder / "tracers.checkpoint", moved)
    moved.step(0.1)
    before = swarm.positions.get().tobytes()
    pt.io.restore(folder / "tracers.checkpoint", moved)
    moved.step(0.1)
    assert swarm.positions.get().tobytes() == before
    return digest(before, swarm["tag"].get().tobytes(), swarm.left.tolist(), strain)


def two_steps(made):
    """Run to two times, so that no step is joined to another wherever a failure cuts in."""
    for until in (0.02, 0.04):
        if made.time < until:
            made.run(until, dt=0.02)


def transport(kind, device, folder):
    """Run, read, reduce, write a checkpoint and go on from it."""
    made = kind(device)
    try:
        two_steps(made)
    except pt.DeviceError:  # to go on, as if nothing had happened, is refused or right
        two_steps(made)
    u = made.remesh.fields[0]
    numbers = [u.sum(), u.min(), u.max(), u.norm(), made.lcfl(0.02)]
    if kind is through_a_channel:
        numbers.append(made.outflow.tolist())
    pt.io.checkpoint(folder / "checkpoint", made)
    made.step(0.02)
    before = bits(made)
    pt.io.restore(folder / "checkpoint", made)
    made.step(0.02)
    assert bits(made) == before
    u[3:5] = 0.5
    return digest(numbers, before, u.copy().get().tobytes(), u[..., 2].tobytes())
