# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that are not finite, and moves beyond all bounds, are found and named."""

import pickle
import warnings
import weakref

import numpy as np
import particles as pt
import pytest
from particles import kernels

from tests.support.sweeps import box, field, noise
from tests.support.transports import swirl, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

GRID = pt.Grid((16, 16))


def quiet(device, dtype="float32", components=1, name="u"):
    """A transport whose NaN goes two points a step from where it is, at most."""
    velocity = pt.Velocity(GRID, ["1e-3", "0"])
    u = pt.Field(GRID, components, dtype, device, name)
    return pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, "M'4"), order=1), u


def place_of(grid, index):
    return tuple(
        float(x[i, 0] if a == 0 else x[0, i])
        for a, (x, i) in enumerate(zip(grid.coordinates(), index, strict=True))
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("check", ["step", "end"])
def test_what_is_found(device, dtype, value, check):
    transport, u = quiet(device, dtype, components=2)

    def spoil(run):
        if run.steps == 1:
            u[1, 9, 5] = value

    with pytest.raises(pt.NotFiniteError) as caught:
        transport.run(1.5, 0.5, check=check, callback=spoil, every=1)
    error = caught.value
    steps = 2 if check == "step" else 3
    named = error.field, error.component, error.step, error.time
    assert named == ("field 'u'", 1, steps, 0.5 * steps)
    assert not np.isfinite(error.value)
    assert error.place == place_of(GRID, error.index)
    assert max(np.abs(np.subtract(error.index, (9, 5)))) <= 2 * steps
    after = u.get()
    assert error.index == tuple(np.argwhere(~np.isfinite(after[1]))[0])
    assert (transport.steps, transport.time) == (steps, 0.5 * steps)
    assert str(error) == (
        f"component 1 of field 'u' is {error.value:.6g} at index {error.index}, place "
        f"({error.place[0]:.6g}, {error.place[1]:.6g}), after step {steps}, "
        f"at time {0.5 * steps:g}, with dt = 0.5"
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dt", [{"dt": 0.5}, {"lcfl": 0.2}], ids=str)
@pytest.mark.parametrize("check", ["step", "end"])
def test_a_run_that_begins_so_is_refused_before_anything(device, value, dt, check):
    transport, u = quiet(device)
    transport.run(0.5, 0.5)
    u[9, 5] = value
    before = u.get()
    words = rf"^field 'u' is {value} at index \(9, 5\), place \(.*\), before step 2, at time 0.5$"
    with pytest.raises(pt.NotFiniteError, match=words) as caught:
        transport.run(1.0, **dt, check=check)
    assert (caught.value.step, caught.value.time) == (1, 0.5)
    assert (transport.steps, transport.time) == (1, 0.5)
    np.testing.assert_array_equal(u.get(), before)
    transport.run(0.5, **dt, check=check)  # does no step
    u[9, 5] = 0
    transport.run(1.0, **dt, check=check)


@pytest.mark.parametrize("name", ["heat", None])
def test_what_a_source_is_given_is_looked_at_before_the_first_step(device, name):
    grid = pt.Grid((16, 12))
    u, v = pt.Field(grid, device=device), pt.Field(grid, device=device)
    heat = pt.Field(grid, device=device, name=name)
    source = pt.SourceOp(u, lambda u, heat, v: -heat * u * v, given=[heat, v])
    wind = pt.AdvectionOp(pt.Velocity(grid, ("1", "0")))
    transport = pt.Splitting(wind, pt.RemeshOp([u, v]), source=source)
    u.fill(1)
    heat[3, 2] = np.nan
    what = "field 'heat'" if name else "given field 0"
    with pytest.raises(pt.NotFiniteError, match=rf"^{what} is nan at .* before step 1, at time 0$"):
        transport.run(0.5, 0.1)
    assert (transport.steps, u.min(), u.max()) == (0, 1, 1)
    heat[3, 2] = 0
    transport.run(0.5, 0.1)
    with pt.profile(device) as profile:
        transport.run(1.0, 0.1)
    assert profile.kernels["summary"].launches == 2  # of what is carried, at the end


def test_the_error_is_what_others_expect():
    assert issubclass(pt.NotFiniteError, FloatingPointError)
    assert issubclass(pt.NotFiniteError, ValueError)
    error = pt.NotFiniteError("somewhere")
    error.index = (1, 2)
    other = pickle.loads(pickle.dumps(error))
    assert (str(other), other.index) == ("somewhere", (1, 2))


def test_nothing_is_looked_for_where_nobody_wants_it(device):
    transport, u = quiet(device)
    transport.step(0.5)  # the first one looks at what there is, for the report
    u.get()
    u[3, 4] = np.nan
    with pt.profile(device) as profile:
        transport.run(1.0, 0.5, check=None)
        u.get()
    assert "summary" not in profile.kernels
    assert np.isnan(u.get()).any()


@pytest.mark.parametrize(("check", "looks"), [("end", 1), ("step", 5), (None, 0)])
def test_a_look_is_one_reduction(device, check, looks):
    """What has changed since the last look is looked at before the first step as well."""
    transport, u = quiet(device)
    transport.step(0.25)  # the first one looks at what there is, for the report
    for end, before in (1.25, check is not None), (2.25, False), (3.25, check is not None):
        with pt.profile(device) as profile:
            transport.run(end, 0.25, check=check)
        found = profile.kernels.get("summary")
        assert (found.launches if found else 0) == looks + before
        if end == 2.25:
            u[3, 4] = 1.0


def test_looking_changes_no_bit(device):
    velocity = swirl(16, "float32", device, 0.1)
    results = []
    for check in ("step", "end", None):
        u = field(noise(GRID, 1), GRID, "float32", device)
        transport_of(u, velocity).run(1.0, 0.1, check=check)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_the_first_reader_after_a_step_is_warned_once(device):
    transport, u = quiet(device)
    u[9, 5] = np.nan
    transport.step(0.5)
    words = r"^field 'u' is nan at .*, after step 1, "
    with pytest.warns(pt.NotFiniteWarning, match=words) as seen:
        u[0, 0]
    assert [warning.filename for warning in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        u.get()
        np.asarray(u)


@pytest.mark.parametrize(
    "read",
    [
        lambda u: u.component(1).get(),
        lambda u: u.count(lower=0.5),
        lambda u: u.copy(),
        lambda u: pt.Field(u.grid, 2, device=u.device).__setitem__(..., u),
        lambda u: pt.Field(u.grid, device=u.device).__setitem__(..., u.component(1)),
        lambda u: pt.resample(u, pt.Grid([2 * n for n in u.grid.shape], origin=u.grid.origin)),
        lambda u: u.to_pyopencl(),
        np.from_dlpack,
        np.array,
        lambda u: u.max(),
        lambda u: u.min(),
        lambda u: u.sum(),
        lambda u: u.norm(),
        lambda u: u.norm(1),
        lambda u: u.norm(np.inf),
    ],
    ids=[
        *("component", "count", "copy", "assigned", "assigned component"),
        *("resample", "pyopencl", "dlpack", "array"),
        *("max", "min", "sum", "norm", "norm 1", "norm inf"),
    ],
)
def test_whoever_reads_is_warned_and_told_where(device, read):
    transport, u = quiet(device, components=2)
    if read is np.from_dlpack and u.__dlpack_device__()[0] != 1:
        pytest.skip("the host does not share this device's memory")
    view = u.component(0)
    u[1, 9, 5] = np.nan
    transport.step(0.5)
    with pytest.warns(pt.NotFiniteWarning, match=r"^component 1 of field 'u' is nan") as seen:
        read(u)
    assert [warning.filename for warning in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(u)
        view.get()


@pytest.mark.parametrize(("sign", "read"), [(-1, pt.Field.max), (1, pt.Field.min)])
def test_an_infinity_that_a_result_hides_is_told_of(device, sign, read):
    u = pt.Field(GRID, device=device, name="u")
    pole = pt.SourceOp(u, lambda u, x, y: sign / ((x - 0.5) ** 2 + (y - 0.25) ** 2))
    pole.apply(1.0)
    with pytest.warns(pt.NotFiniteWarning, match=r"^field 'u' is -?inf at index"):
        assert np.isfinite(read(u))


@pytest.mark.parametrize(
    "store",
    [
        lambda u: u.fill(np.inf),
        lambda u: u.set(np.full(u.shape, np.nan)),
        lambda u: u.__setitem__((0, 3, 5), np.nan),
        lambda u: u.__setitem__(0, np.full(u.shape[1:], np.inf)),
        lambda u: u.component(1).__setitem__((3, slice(4)), [1, 2, np.nan, 4]),
    ],
    ids=["fill", "set", "item", "component", "view"],
)
def test_what_a_user_stores_after_a_step_is_not_the_steps(device, store):
    transport, u = quiet(device, components=2)
    view = u.component(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            u.fill(1)
            transport.step(0.5)
            store(u)
            u.get()
            view.get()
    u.fill(1)
    view[2, 2] = np.nan
    transport.step(0.5)
    with pytest.warns(pt.NotFiniteWarning, match="^component 1 of field 'u' is nan .*after step 3"):
        u[0, 0, 0] = np.nan


@pytest.mark.parametrize("part", [None, 0, 1])
def test_a_carried_component_is_watched_wherever_it_is_read(device, part):
    u = pt.Field(GRID, 2, device=device)
    carried = u.component(0)
    source = pt.SourceOp(carried, "1/(x-x)")
    transport = pt.Splitting(
        pt.AdvectionOp(pt.Velocity(GRID, ["1", "0"])),
        pt.RemeshOp(carried),
        source=source,
    )
    transport.step(0.1)
    with pytest.warns(pt.NotFiniteWarning, match="after step 1"):
        (u if part is None else u.component(part)).get()


def test_operators_alone_are_watched_as_well(device):
    u = pt.Field(GRID, device=device, name="u")
    u.fill(1)
    source = pt.SourceOp(u, lambda u, x, y: 1 / ((x - 0.5) ** 2 + (y - 0.25) ** 2))
    moved = pt.Field(GRID, device=device)
    remesh = pt.RemeshOp(u)
    remesh.apply(pt.Positions(moved, axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        u.get()
    source.apply(0.1)
    with pytest.warns(pt.NotFiniteWarning, match=r"^field 'u' is .* after SourceOp\.apply$"):
        np.array(u)
    remesh.apply(pt.Positions(moved, axis=0))
    with pytest.warns(
        pt.NotFiniteWarning, match=r"^field 'u' is .* after RemeshOp\.apply$"
    ) as seen:
        u.get()
    assert [warning.filename for warning in seen] == [__file__]


def test_a_push_that_takes_particles_past_each_other_is_warned_of(device):
    velocity = pt.Field(GRID, 2, device=device)
    velocity[1, 5, 9] = 1
    push = pt.AdvectionOp(velocity)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        push.apply(0.85 / 16, 1)
    for duration in (1 / 16, -1 / 16):
        with pytest.warns(pt.LCFLWarning) as seen:
            push.apply(duration, 1)
        (warning,) = seen
        words = "the strain of a push along axis 1 is 1, above 0.9 particles lose their order; "
        words += "component 1 of the velocity has the difference quotient 16 at index (5, 8), "
        assert str(warning.message).startswith(words)
        assert warning.filename == __file__
    push.apply(1, 0)


def test_fields_that_nobody_reads_are_given_back_at_once(device):
    u, moved = (pt.Field(GRID, device=device) for _ in range(2))
    remesh, source = pt.RemeshOp(u), pt.SourceOp(u, ["0"])
    remesh.apply(pt.Positions(moved, axis=0))
    source.apply(0.1)
    left = weakref.ref(u)
    del u, remesh, source
    assert left() is None


def test_what_a_user_stores_is_read_without_a_word(device):
    _, u = quiet(device)
    u[9, 5] = np.nan
    assert np.isnan(u[9, 5])


def test_steps_that_are_finite_cost_a_reader_one_look(device):
    transport, u = quiet(device)
    transport.step(0.5)
    transport.step(0.5)
    with pt.profile(device) as profile:
        u.get()
        u.get()
    assert profile.kernels["summary"].launches == 1


def test_what_is_not_finite_in_half_precision(device):
    """What float16 cannot hold is infinite there."""
    transport, u = quiet(device, "float16")
    u.fill(6e4)
    transport.remesh.fields[0][9, 5] = np.inf
    with pytest.raises(pt.NotFiniteError, match=r"^field 'u' is "):
        transport.run(0.5, 0.5)


# What makes numbers that are not finite


def test_a_source_that_divides_by_zero(device):
    u = pt.Field(GRID, device=device, name="u")
    source = pt.SourceOp(u, lambda u, x, y: 1 / ((x - 0.5) ** 2 + (y - 0.25) ** 2))
    still = pt.AdvectionOp(pt.Velocity(GRID, ["0", "0"]))
    transport = pt.Splitting(still, pt.RemeshOp(u), source=source)
    with pytest.raises(pt.NotFiniteError) as caught:
        transport.run(0.5, 0.5)
    assert caught.value.time == 0.5
    assert not np.isfinite(u.get()[8, 4])


def test_a_velocity_that_divides_by_zero(device, dtype):
    u = pt.Field(GRID, 1, dtype, device)
    velocity = pt.Velocity(GRID, lambda x, y: (x, 1 / ((x - 0.5) ** 2 + (y - 0.25) ** 2)))
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    words = r"^velocity must be finite, but its component 1 is not: it is inf at index \(8, 4\), "
    for call in (
        lambda: transport.step(0.1),
        lambda: transport.run(1.0, 0.1),
        lambda: transport.run(1.0, lcfl=0.5),
        lambda: transport.sweep(1, 0.1),
        lambda: pt.AdvectionOp(velocity, device=device, dtype=dtype).apply(0.1, 1),
    ):
        with pytest.raises(pt.NotFiniteError, match=words) as caught:
            call()
        assert caught.value.index == (8, 4)
        assert caught.value.place == (0.5, 0.25)
    assert transport.steps == 0


@pytest.mark.sampled
@pytest.mark.parametrize("form", ["lanes", "private", "local", "global"])
@pytest.mark.parametrize("shape", [(16, 16), (6000, 3)], ids=str)
def test_a_velocity_that_divides_by_zero_between_points(device, form, shape):
    """No measurement at points can see it; what looks at moves or fields does."""
    grid = box(*shape)
    if form == "global" and shape[0] > 5000:
        pytest.skip("whole lines only")
    middle = (grid.coordinates()[0][2, 0] + 0.25 * grid.spacing[0]).item()
    reach = 0.25 * grid.spacing[0]
    velocity = pt.Velocity(
        grid, lambda x, y: (reach + 0 * y, np.where(abs(x - middle) < reach / 8, 1.0, 0) * 0)
    )
    poisoned = pt.Velocity(
        grid,
        lambda x, y: (
            np.where(abs(x - middle) < reach / 8, reach / ((x - middle) * 0), reach),
            0 * y,
        ),
    )
    results = []
    for one in (velocity, poisoned):
        u = field(noise(grid, 2), grid, "float32", device)
        u.name = "u"
        transport = pt.Splitting(
            pt.AdvectionOp(one, "rk2", form=form), pt.RemeshOp(u, form=form), order=1
        )
        results.append((transport, u))
    results[0][0].run(2.0, 2.0)
    words = (
        r"^field 'u' is |^velocity: expected moves of less than 2\*\*30 cells, got inf along axis 0"
    )
    with pytest.raises(ValueError, match=words):
        results[1][0].run(2.0, 2.0)


def test_a_kernel_of_ones_own_that_divides_by_zero():
    """Kernels are exact: there is no place where one could."""
    with pytest.raises((ValueError, ZeroDivisionError)):
        kernels.custom("poles", [["1/0"]])


def test_an_inflow_that_divides_by_zero(device):
    grid = pt.Grid((16, 16), boundary=[("inflow", "outflow"), "periodic"])
    u = pt.Field(grid, device=device, name="u")
    wind = pt.AdvectionOp(pt.Velocity(grid, ["1", "0"]))
    transport = pt.Splitting(wind, pt.RemeshOp(u, inflow=lambda t: 1 / (t - t)), order=1)
    with pytest.raises(pt.NotFiniteError, match=r"^field 'u' is (nan|inf) at index \(0, 0\)"):
        transport.run(0.1, 0.1)
