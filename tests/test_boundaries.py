# SPDX-License-Identifier: BSD-3-Clause
"""Axes with ends: walls, outflow, inflow; what leaves is accounted for."""

import numpy as np
import particles as pt
import pytest
import reference_boundaries as reference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from particles import _core, kernels
from sweeps import advection_core, core_form, field

ENDS = [("wall", "wall"), ("outflow", "inflow"), ("wall", "outflow"), ("inflow", "wall")]
KINDS = ["wall", "outflow", "inflow"]


def noise(shape, seed, dtype):
    """Values from -1 to 1 that the dtype holds exactly."""
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def boundary_along(axis, ndim, ends):
    return [ends if k == axis else "periodic" for k in range(ndim)]


def splitting_core(velocity, u, inflow, form=None, capacity=None):
    """A splitting in a form of which the user cannot set everything."""
    remesh = pt.RemeshOp(u, inflow=inflow)
    core = _core.RemeshOp(
        [u.core],
        kernels.opencl_source(remesh.kernel),
        remesh.kernel.stencil,
        [core_form(form, capacity)] * u.grid.ndim,
        inflow=remesh.inflows.sources,
    )
    advection = advection_core(velocity, u.dtype, u.device, form, capacity)
    return _core.Splitting(advection, core, 1)


def brought_in(ends):
    return np.sin if "inflow" in ends else None


@pytest.mark.parametrize("ends", ENDS, ids="-".join)
@pytest.mark.parametrize(
    ("shape", "axis"), [((1,), 0), ((101,), 0), ((5, 19), 0), ((20, 33), 1)], ids=str
)
def test_a_sweep_is_that_of_the_reference(device, dtype, shape, axis, ends):
    grid = pt.Grid(shape, extent=2.0, boundary=boundary_along(axis, len(shape), ends))
    rates = [noise(shape, k, dtype) for k in range(len(shape))]
    velocity = field(rates, grid, dtype, device)
    start = noise(shape, 9, dtype)
    u = field(start, grid, dtype, device)
    for cells in (0.4, 3.7, 30.0, -3.7):
        u[...] = start
        dt = cells * grid.spacing[axis]
        splitting = splitting_core(velocity, u, brought_in(ends))
        splitting.sweep(axis, 0.3, dt)
        expected, crossed = reference.sweep(
            start, rates[axis], axis, cells, ends, "M'6", brought_in(ends), 0.3, dt
        )
        limit = 200 * (1 + abs(cells)) * np.finfo(dtype).eps
        assert np.abs(u.get() - expected).max() <= limit
        count = start.size // shape[axis] * min(shape[axis], abs(cells))
        assert np.abs(np.subtract(splitting.crossed(axis)[0], crossed)).max() <= limit * count


FORMS = [("private", None), ("local", None), ("lanes", 8), ("private", 7), ("local", 9)]


@pytest.mark.parametrize("axis", range(2))
def test_forms_give_the_same_bits(device, dtype, axis):
    ends = ENDS[axis + 1]
    grid = pt.Grid((40, 31), boundary=boundary_along(axis, 2, ends))
    velocity = field([noise(grid.shape, k, dtype) for k in range(2)], grid, dtype, device)
    start = noise(grid.shape, 9, dtype)
    results = []
    for form, capacity in [(None, None), *FORMS]:
        u = field(start, grid, dtype, device)
        splitting = splitting_core(velocity, u, brought_in(ends), form, capacity)
        for cells in (0.4, 26.0):
            splitting.sweep(axis, 0.3, cells * grid.spacing[axis])
        results.append(u.get())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def flow(x, t):
    return np.cos(3 * x + t) / 2


@pytest.mark.parametrize("ends", ENDS, ids="-".join)
@pytest.mark.parametrize("points", [70, 9000])
def test_a_formula_is_continued_beyond_the_ends(device, dtype, points, ends):
    grid = pt.Grid(points, boundary=[ends])
    start = noise(points, 9, dtype)
    results = []
    for capacity in (None, 1000):
        u = field(start, grid, dtype, device)
        velocity = pt.Velocity(grid, flow)
        splitting = splitting_core(velocity, u, brought_in(ends), None, capacity)
        dt = 12 * grid.spacing[0]
        splitting.sweep(0, 0.3, dt)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])
    expected, _ = reference.sweep(
        start,
        lambda cells, t: flow(cells * grid.spacing[0], t),
        0,
        12,
        ends,
        "M'6",
        brought_in(ends),
        0.3,
        dt,
    )
    assert np.abs(results[0] - expected).max() <= 400 * max(points / 70, 1) * np.finfo(dtype).eps


@pytest.mark.parametrize("shape", [(9000,), (2, 9000), (9000, 3)], ids=str)
def test_long_lines(device, dtype, shape):
    axis = int(np.argmax(shape))
    ends = ("inflow", "wall")
    grid = pt.Grid(shape, boundary=boundary_along(axis, len(shape), ends))
    rates = [0.2 + noise(shape, k, dtype) / 2 for k in range(len(shape))]
    velocity = field(rates, grid, dtype, device)
    start = noise(shape, 9, dtype)
    u = field(start, grid, dtype, device)
    dt = 30 * grid.spacing[axis]
    splitting = splitting_core(velocity, u, np.sin)
    splitting.sweep(axis, 0.0, dt)
    expected, crossed = reference.sweep(
        start, velocity.component(axis).get(), axis, 30, ends, "M'6", np.sin, 0.0, dt
    )
    assert np.abs(u.get() - expected).max() <= 6000 * np.finfo(dtype).eps
    lost = np.subtract(splitting.crossed(axis)[0], crossed)
    assert np.abs(lost).max() <= 1e4 * np.finfo(dtype).eps


@pytest.mark.parametrize("is_formula", [False, True])
@pytest.mark.parametrize("cells", [0.3, 4.2, 30.0])
def test_a_constant_field_stays_constant_in_uniform_flow(device, dtype, cells, is_formula):
    ends = [("inflow", "outflow"), ("outflow", "outflow")]
    grid = pt.Grid((20, 35), boundary=ends)
    u = field(np.full(grid.shape, 1.75), grid, dtype, device)
    velocity = (
        pt.Velocity(grid, lambda x, y: (1 + 0 * x, -0.5 + 0 * y))
        if is_formula
        else field([np.ones(grid.shape), np.full(grid.shape, -0.5)], grid, dtype, device)
    )
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, inflow=1.75))
    for _ in range(3):
        transport.step(cells / 20)
    np.testing.assert_allclose(u.get(), 1.75, rtol=100 * np.finfo(dtype).eps)


def test_a_pulse_leaves_in_shape(device, dtype):
    """As on a line so long that nothing leaves it."""
    results = []
    for length in (1, 3):
        points = 64 * length
        grid = pt.Grid(points, extent=length, boundary="outflow")
        (x,) = grid.coordinates()
        u = field(np.exp(-(((x - 0.6) / 0.1) ** 2)), grid, dtype, device)
        velocity = field([np.ones(points)], grid, dtype, device)
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
        transport.run(0.4, 3.2 / 64)
        results.append(u.get())
    assert results[0][-1] > 0.5
    assert np.abs(results[0] - results[1][:64]).max() <= 20 * np.finfo(dtype).eps


@pytest.mark.parametrize(("cells", "until"), [(3.3, 1.0), (0.4, 0.5)])
def test_what_flows_in_is_carried_at_the_order_of_the_kernel(device, cells, until):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")
    speed, errors = 0.7, []

    def exact(x, t):
        return np.sin(5 * (t - x / speed))

    for points in (48, 96):
        grid = pt.Grid(points, boundary=[("inflow", "outflow")])
        (x,) = grid.coordinates()
        u = field(exact(x, 0), grid, "float64", device)
        velocity = pt.Velocity(grid, lambda x: speed + 0 * x)
        remesh = pt.RemeshOp(u, inflow=lambda t: np.sin(5 * t))
        transport = pt.Splitting(pt.AdvectionOp(velocity), remesh)
        transport.run(until, cells / points / speed)
        seen = x < 0.6  # far from where a field that is not constant leaves
        errors.append(np.abs(u.get() - exact(x, until))[seen].max())
    assert np.log2(errors[0] / errors[1]) > 3.7


def test_going_back_what_has_come_in_goes_out(device):
    """Beyond the end is what comes in later: the steps back of order 4 keep the kernel's order."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")
    errors = []
    for points in (48, 96):
        grid = pt.Grid(points, boundary=[("inflow", "outflow")])
        (x,) = grid.coordinates()
        u = field(np.sin(-5 * x), grid, "float64", device)
        velocity = field([np.ones(points)], grid, "float64", device)
        core = splitting_core(velocity, u, lambda t: np.sin(5 * t))
        dt = 0.4 / points
        for step in range(points // 4):
            core.sweep(0, -step * dt, -dt)
        expected = np.sin(5 * (-(points // 4) * dt - x))
        errors.append(np.abs(u.get() - expected)[x < 0.6].max())
    assert np.log2(errors[0] / errors[1]) > 3.7


def test_each_side_and_component_has_its_own_inflow(device):
    grid = pt.Grid((6, 8), boundary="inflow")
    u = pt.Field(grid, 2, device=device)
    velocity = pt.Velocity(grid, lambda x, y: (np.where(x < 0.5, 1, -1) * 1e-3, 1 + 0 * y))
    inflow = {
        (0, "low"): 0,
        (0, "high"): 0,
        (1, "low"): [3, lambda t: 5 + 0 * t],
        (1, "high"): 7,
    }
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, inflow=inflow))
    transport.sweep(1, 0.5)
    np.testing.assert_allclose(u.get()[:, :, 0], [[3] * 6, [5] * 6], rtol=1e-5)
    np.testing.assert_array_equal(u.get()[:, :, -1], 0)


def test_nothing_comes_in_where_the_velocity_points_outwards_or_vanishes(device, dtype):
    for rates in ([-1, 0, 1], [0, 0, 0], [1e-30, 0, -1e-30], [-0.0, 0, 0.0]):
        grid = pt.Grid(3, boundary="inflow")
        velocity = field([np.array(rates, float) * 0.05], grid, dtype, device)
        u = field(np.array([1.0, 2.0, 3.0]), grid, dtype, device)
        remesh = pt.RemeshOp(u, inflow=lambda t: 1e6 + t)
        transport = pt.Splitting(pt.AdvectionOp(velocity), remesh)
        transport.step(1.0)
        assert np.abs(u.get()).max() < 4


@pytest.mark.parametrize("is_formula", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_wall_is_a_mirror(device, dtype, axis, is_formula):
    """The same on a periodic box of twice the size, of even fields and odd velocities."""
    shape, size = (23, 17), 23 if axis == 0 else 17

    def flow(x, y, t):
        a = [np.cos(2 * np.pi * y) / 2, np.cos(2 * np.pi * x) / 3]
        normal = (x, y)[axis]
        a[axis] = a[axis] * np.sin(np.pi * normal) * (1 + t)
        return tuple(a)

    results = []
    for doubled in (False, True):
        factor = np.where(np.arange(2) == axis, 1 + doubled, 1)
        grid = pt.Grid(
            tuple(shape * factor),
            origin=np.where(doubled & (np.arange(2) == axis), 0.5 / size, 0.0),
            extent=factor * 1.0,
            boundary="periodic" if doubled else boundary_along(axis, 2, ("wall", "wall")),
        )
        x, y = grid.coordinates()
        start = np.exp(np.sin(2 * np.pi * y) if axis == 0 else np.sin(2 * np.pi * x))
        u = field(start * (1 + np.cos(np.pi * (x, y)[axis])), grid, dtype, device)
        velocity = pt.Velocity(grid, flow)
        if not is_formula:
            velocity = field(velocity.on_grid(), grid, dtype, device)
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
        for _ in range(4):
            transport.step(0.2)
        results.append(np.moveaxis(u.get(), axis, 0)[:size])
        assert transport.outflow == pytest.approx(np.zeros((1, 2, 2)), abs=0)
    assert np.abs(results[0] - results[1]).max() <= 400 * np.finfo(dtype).eps


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from(["periodic", *KINDS]), min_size=2, max_size=2),
    st.sampled_from(KINDS),
    st.floats(0.1, 30),
    st.integers(0, 99),
)
def test_mass_inside_and_outside_is_constant(device, dtype, low, high, cells, seed):
    """With several components, several axes, strong flow."""
    shape = (19, 6)
    boundary = [end if end == "periodic" else (end, high) for end in low]
    grid = pt.Grid(shape, boundary=boundary)
    start = [1 + noise(shape, seed + c, dtype) for c in range(2)]
    rates = [noise(shape[::-1], seed + k, dtype).T for k in range(2)]
    velocity = field([0.02 * rate + np.sign(seed - 50) for rate in rates], grid, dtype, device)
    u = field(start, grid, dtype, device)
    has_inflow = any("inflow" in ends for ends in boundary)
    remesh = pt.RemeshOp(u, inflow=(lambda t: 2 + np.sin(t)) if has_inflow else None)
    core = splitting_of(velocity, remesh)
    before = u.get().sum(axis=(1, 2), dtype=np.float64)
    scale = np.abs(start).sum()
    for axis in range(2):
        core.sweep(axis, 0.0, cells / shape[axis])
    left = np.array([core.crossed(axis) for axis in range(2)])
    after = u.get().sum(axis=(1, 2), dtype=np.float64)
    scale += np.abs(left).sum()
    limit = 1e-13 if dtype == np.float64 else 5e-7
    assert np.abs(after + left.sum(axis=(0, 2)) - before).max() <= limit * scale
    for axis, ends in enumerate(grid.boundary):
        for end, name in enumerate(ends if ends != "periodic" else ("wall", "wall")):
            if name == "wall":
                np.testing.assert_array_equal(left[axis, :, end], 0)


def splitting_of(velocity, remesh):
    advection = pt.AdvectionOp(velocity).core_for(velocity.device, velocity.dtype)
    return _core.Splitting(advection, remesh.core, 1)


def test_outflow_adds_up_over_steps_and_fields(device, dtype):
    grid = pt.Grid((40, 6), boundary=[("inflow", "outflow"), "wall"])
    u, v = field(np.ones(grid.shape), grid, dtype, device), pt.Field(grid, 2, dtype, device)
    velocity = pt.Velocity(grid, lambda x, y: (1 + x / 10, 0 * y))
    remesh = pt.RemeshOp([u, v], inflow=[1, 0.1, lambda t: 1 + np.sin(t)])
    transport = pt.Splitting(pt.AdvectionOp(velocity), remesh)
    transport.run(10, 0.25)
    assert transport.outflow.shape == (3, 2, 2)
    np.testing.assert_array_equal(transport.outflow[:, 1], 0)
    inside = [u.sum(), v.component(0).sum(), v.component(1).sum()]
    entered = -transport.outflow[:, 0, 0]
    assert (entered > 5 * np.array(inside)).all()
    balance = np.array(inside) + transport.outflow.sum(axis=(1, 2)) - [u.size, 0, 0]
    limit = 1e-13 if dtype == np.float64 else 5e-7
    assert (np.abs(balance) <= limit * entered).all()


def test_a_wall_strains_as_much_as_its_image(device, dtype):
    grid = pt.Grid(4, boundary=[("wall", "outflow")])
    velocity = field([np.array([1.0, 0.5, 0.5, -3.0])], grid, dtype, device)
    assert pt.AdvectionOp(velocity).strain() == (4 * 3.5,)
    velocity[...] = [3.0, 1.0, 0.5, 0.0]
    assert pt.AdvectionOp(velocity).strain() == (4 * 6.0,)


def test_positions_are_remeshed_with_their_images(device, dtype):
    grid = pt.Grid(8, boundary=[("wall", "inflow")])
    u = field(np.full(8, 2.0), grid, dtype, device)
    moved = field(np.zeros(8), grid, dtype, device)
    pt.RemeshOp(u, inflow=5).apply(pt.Positions(moved, 0))
    np.testing.assert_array_equal(u.get(), 2)
    moved.fill(-1)
    pt.RemeshOp(u, inflow=5).apply(pt.Positions(moved, 0))
    np.testing.assert_array_equal(u.get(), [4, 2, 2, 2, 2, 2, 2, 5])
    with pytest.raises(ValueError, match=r"inflow must be numbers .*: positions know no time"):
        pt.RemeshOp(u, inflow=np.sin).apply(pt.Positions(moved, 0))


@pytest.mark.parametrize(
    ("boundary", "inflow", "error", "words"),
    [
        ("inflow", None, ValueError, r"inflow must say what comes in at \(0, 'low'\), .*not be N"),
        ("wall", 1, ValueError, "inflow must be None where no end of the grid is inflow, not 1"),
        (
            [("inflow", "wall"), "wall"],
            {(0, "high"): 1},
            ValueError,
            r"inflow must have the keys \(0, 'low'\), as the grid has, not \(0, 'high'\)",
        ),
        ("inflow", [1, 2, 3], ValueError, "inflow must have a value for each of 2 comp.*, not 3"),
        ("inflow", "1", TypeError, "inflow must be a number, not '1'"),
        ("inflow", np.nan, ValueError, "inflow must be finite, not nan"),
        ("inflow", lambda t: "t", TypeError, r"inflow at \(0, 'low'\), as a function of the time"),
    ],
)
def test_wrong_inflow_is_refused(device, boundary, inflow, error, words):
    u = pt.Field(pt.Grid((4, 4), boundary=boundary), 2, device=device)
    with pytest.raises(error, match=words):
        pt.RemeshOp(u, inflow=inflow)


def test_sums_in_the_result_are_refused(device):
    u = pt.Field(pt.Grid((4, 4), boundary=["periodic", "wall"]), device=device)
    words = "form: expected lanes, private or local along axis 1, which is not periodic, got global"
    with pytest.raises(ValueError, match=words):
        pt.RemeshOp(u, form="global")


def in_and_out(device, dtype, form=None, **options):
    """A channel with a strained flow and an uneven field; what has been and what has become."""
    grid = pt.Grid((37, 20), boundary=[("inflow", "outflow"), ("wall", "outflow")])
    start = 2 + noise(grid.shape, 3, dtype)
    u = field(start, grid, dtype, device)
    x, y = grid.coordinates()
    rates = [1 + np.sin(9 * x) / 12 + 0 * y, np.sin(2 * y) / 2 + 0 * x]
    velocity = field(rates, grid, dtype, device)
    advection = pt.AdvectionOp(velocity, "rk4", interpolation="cubic", form=form)
    remesh = pt.RemeshOp(u, inflow=lambda t: 2 + np.sin(9 * t), form=form, **options)
    transport = pt.Splitting(advection, remesh)
    for _ in range(3):
        transport.step(0.15)
    return start, u, transport


@pytest.mark.parametrize("limiter", [None, "positive"])
def test_options_go_with_ends(device, dtype, limiter):
    results = []
    for form in (None, "private", "local"):
        start, u, transport = in_and_out(device, dtype, form, limiter=limiter)
        results.append(u.get())
        np.testing.assert_array_equal(results[-1], results[0])
        left = transport.outflow
        balance = u.get().sum(dtype=np.float64) + left.sum() - start.sum(dtype=np.float64)
        limit = 1e-13 if dtype == np.float64 else 5e-7
        assert abs(balance) <= limit * (start.sum() + np.abs(left).sum())
    assert results[0].min() >= 0 or limiter is None


def test_values_come_in_as_they_are(device, dtype):
    start, u, transport = in_and_out(device, dtype, conservative=False, limiter="positive")
    slack = 20 * np.finfo(dtype).eps
    assert start.min() - slack <= u.get().min() <= u.get().max() <= 3 + slack
    with pytest.raises(ValueError, match="outflow is of masses, but particles carry values"):
        transport.outflow  # noqa: B018


def test_what_wants_a_periodic_grid_says_so(device):
    grid = pt.Grid((8, 8), boundary=["periodic", "wall"])
    velocity, u = pt.Field(grid, 2, device=device), pt.Field(grid, device=device)
    with pytest.raises(ValueError, match="fields must be on a periodic grid, not on Grid"):
        pt.Unsplit(pt.AdvectionOp(velocity), pt.RemeshOp(u))
