# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of transports made with every option there is."""

import numpy as np
import particles as pt
import pytest
from particles import kernels

pytestmark = pytest.mark.one_device

N = 16


def wave(grid, components=1, dtype="float32", device=None, scale=1.0):
    """A field that is positive and as smooth as its axis is long."""
    field = pt.Field(grid, components, dtype, device)
    phase = 2 * np.pi * grid.coordinates()[0]
    waves = [scale * (1 + 0.1 * k + 0.2 * np.sin(phase + k)) for k in range(components)]
    field[...] = np.stack(waves).reshape(field.shape)
    return field


def simplest(device, real):
    """Euler's rule and Lie's step, a kernel of the user's, walls."""
    grid = pt.Grid(N, boundary="wall")
    hat = kernels.custom("hat", [[1, -1]])
    advection = pt.AdvectionOp(wave(grid, 1, real, device, 0.2), "euler")
    return pt.Splitting(advection, pt.RemeshOp(wave(grid, 2, real, device), hat), 1)


def coarse_and_open(device, real):
    """Heun's rule in a coarse velocity, interpolated by cubics; open ends."""
    grid, coarse = pt.Grid(N, boundary="outflow"), pt.Grid(N // 2, boundary="outflow")
    velocity = wave(coarse, 1, real, device)
    advection = pt.AdvectionOp(velocity, "heun", interpolation="cubic", grid=grid)
    return pt.Splitting(advection, pt.RemeshOp(wave(grid, 1, real, device), "M'4"))


def let_in(device, real):
    """Kutta's rule, a formula of the time, other values at either end, the limiter."""
    grid = pt.Grid(N, boundary="inflow")
    wind = pt.Velocity(grid, lambda x, t: (0.5 - x) * (2 + np.sin(9 * t)))
    inflow = {(0, "low"): [1.5, lambda t: 2 + np.sin(t)], (0, "high"): 0.25}
    remesh = pt.RemeshOp(wave(grid, 2, real, device), limiter="positive", inflow=inflow)
    return pt.Splitting(pt.AdvectionOp(wind, "rk3"), remesh)


def halves_in_a_series(device, real):
    """The classical rule, steps of order 4, fields at three times, halves."""
    grid = pt.Grid(N)
    fields = [wave(grid, 1, "float32", device, k) for k in (1, 2, 1)]
    advection = pt.AdvectionOp(pt.VelocitySeries(fields, [0, 0.1, 0.4]), "rk4")
    return pt.Splitting(advection, pt.RemeshOp(wave(grid, 1, "float16", device)), 4)


def values_with_a_source(device, real):
    """Values are carried, and changed by a source that knows the time."""
    grid = pt.Grid(N, boundary=[("wall", "outflow")])
    u, heat = (wave(grid, 1, real, device) for _ in range(2))
    source = pt.SourceOp(u, lambda u, g, x, t: g * np.cos(t) - u, heat)
    advection = pt.AdvectionOp(wave(grid, 1, real, device))
    return pt.Splitting(advection, pt.RemeshOp(u, conservative=False), source=source)


def unsplit_in_a_series(device, real):
    grid = pt.Grid(N)
    fields = [wave(grid, 1, real, device, k) for k in (1, 2)]
    series = pt.VelocitySeries(fields, [0, 0.5])
    advection = pt.AdvectionOp(series, "rk3", interpolation="cubic")
    return pt.Unsplit(advection, pt.RemeshOp(wave(grid, 1, real, device), "M'4"))


KINDS = [simplest, coarse_and_open, let_in, halves_in_a_series, values_with_a_source]
KINDS += [unsplit_in_a_series]


def bits(transport):
    fields = [*transport.remesh.fields, *transport.advection.fields]
    return [field.get().tobytes() for field in fields]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("adaptive", [False, True], ids=["steps of one length", "by strain"])
def test_a_restored_run_goes_on_with_the_same_bits(kind, adaptive, device, tmp_path):
    real = device.dtypes[-1]
    how = {"dt": 1.0, "lcfl": 0.1} if adaptive else {"dt": 0.01}
    whole, continued = kind(device, real), kind(device, real)
    whole.run(until=0.06, **how)
    pt.io.checkpoint(tmp_path / "checkpoint", whole)
    for field in (*continued.remesh.fields, *continued.advection.fields):
        field.fill(0.125)
    pt.io.restore(tmp_path / "checkpoint", continued)
    assert bits(continued) == bits(whole)
    for transport in whole, continued:
        transport.run(until=0.12, **how)
    assert (continued.time, continued.last_dt) == (whole.time, whole.last_dt)
    assert bits(continued) == bits(whole)


def test_the_same_fields_in_other_roles_are_refused(tmp_path):
    path, grid = tmp_path / "checkpoint", pt.Grid(N)
    u, v, w, a, b = (wave(grid) for _ in range(5))

    def transport_of(given, velocities):
        source = pt.SourceOp(u, lambda u, g, x: g - u, given)
        advection = pt.AdvectionOp(pt.VelocitySeries(velocities, [0, 1, 2]))
        return pt.Splitting(advection, pt.RemeshOp([u, v, w]), source=source)

    pt.io.checkpoint(path, transport_of(v, [a, b, a]))
    pt.io.restore(path, transport_of(v, [a, b, a]))
    with pytest.raises(ValueError, match=r"whose source's arrays is \[1\], not \[2\]"):
        pt.io.restore(path, transport_of(w, [a, b, a]))
    with pytest.raises(
        ValueError, match=r"whose velocity's arrays is \[3, 4, 3\], not \[3, 4, 4\]"
    ):
        pt.io.restore(path, transport_of(v, [a, b, b]))


def test_a_series_at_other_times_is_refused(tmp_path):
    path, grid = tmp_path / "checkpoint", pt.Grid(N)
    u, a, b = (wave(grid) for _ in range(3))

    def transport_of(times):
        advection = pt.AdvectionOp(pt.VelocitySeries([a, b], times))
        return pt.Splitting(advection, pt.RemeshOp(u))

    pt.io.checkpoint(path, transport_of([0, 1]))
    pt.io.restore(path, transport_of([0, 1]))
    with pytest.raises(ValueError, match="whose velocity is"):
        pt.io.restore(path, transport_of([0, 2]))


def test_a_kernel_of_the_users_is_compared_by_its_pieces(tmp_path):
    path, grid = tmp_path / "checkpoint", pt.Grid(N)

    def transport_of(pieces):
        remesh = pt.RemeshOp(pt.Field(grid), kernels.custom("mine", pieces))
        return pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, ["1"])), remesh)

    pt.io.checkpoint(path, transport_of([[1, -1]]))
    with pytest.raises(ValueError, match=r"whose kernel's pieces is \[\['1', '-1'\]\], not"):
        pt.io.restore(path, transport_of([[1, 0, -3, 2]]))
