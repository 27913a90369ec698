# SPDX-License-Identifier: BSD-3-Clause
"""Fields: what they are, whole transfers, copies, views and refusals."""

import numpy as np
import particles as pt
import pytest

from tests.support.usable import usable_devices

SHAPES = [(1,), (17,), (1000003,), (1, 1), (3, 16), (5, 257), (1, 1, 1), (17, 3, 33), (4, 1, 7)]


def random_field(device, shape, components=1, dtype="float32", name=None):
    """Return a field and the array it was filled with."""
    field = pt.Field(pt.Grid(shape), components, dtype, device, name)
    values = np.random.default_rng(7).normal(size=field.shape).astype(dtype)
    field[...] = values
    return field, values


@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_is_written_is_read(device, dtype, shape, components):
    field, values = random_field(device, shape, components, dtype)
    assert field.shape == values.shape == ((components, *shape) if components > 1 else shape)
    assert (field.ndim, field.size, field.nbytes) == (values.ndim, values.size, values.nbytes)
    assert (field.dtype, len(field), field.components) == (dtype, len(values), components)
    for copied in (field.get(), np.asarray(field), np.array(list(field))):
        assert copied.dtype == dtype
        np.testing.assert_array_equal(copied, values)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_new_field_is_zero(device, dtype, shape):
    assert not pt.Field(pt.Grid(shape), 2, dtype, device).get().any()


def test_defaults():
    field = pt.Field(pt.Grid((2, 3)))
    assert (field.dtype, field.components, field.name) == (np.float32, 1, None)
    assert field.device is pt.default_device()


def test_repr_says_what_it_is(device):
    field = pt.Field(pt.Grid((2, 3)), 2, "float32", device, name="velocity")
    assert repr(field) == f"Field('velocity', (2, 2, 3), float32, {device.name})"
    assert repr(pt.Field(pt.Grid(4), device=device)) == f"Field((4,), float32, {device.name})"


def test_out_is_filled_whatever_its_layout(device):
    field, values = random_field(device, (6, 10))
    plain = np.empty((6, 10), np.float32)
    assert field.get(out=plain) is plain
    unaligned = np.empty(6 * 10 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(6, 10)
    for out in (plain, np.asfortranarray(plain), np.empty((12, 10), np.float32)[::-2], unaligned):
        out.fill(0)
        field.get(out=out)
        np.testing.assert_array_equal(out, values)


def read_only(shape):
    array = np.zeros(shape, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.zeros(5, np.float32), ValueError, r"out must have the shape \(4,\), not \(5,\)"),
        (np.zeros((1, 4), np.float32), ValueError, r"the shape \(4,\), not \(1, 4\)"),
        (np.zeros(4), TypeError, "out must be of float32, not float64"),
        (np.zeros(4, ">f4"), TypeError, "out must be of float32, not >f4"),
        (read_only(4), ValueError, "out must be writeable, not read-only"),
        ([0, 0, 0, 0], TypeError, "out must be a NumPy array, not list"),
    ],
)
def test_out_is_checked(out, error, words):
    with pytest.raises(error, match=words):
        pt.Field(pt.Grid(4)).get(out=out)


@pytest.mark.parametrize(
    "given",
    [
        np.arange(12.0).reshape(3, 4),
        np.arange(12).reshape(3, 4),
        np.arange(12, dtype=">f4").reshape(3, 4),
        np.arange(12, dtype=np.float16).reshape(3, 4),
        np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
        np.arange(24, dtype=np.float32).reshape(3, 8)[:, ::2] / 2,
        np.arange(12, dtype=np.float32)[::-1].reshape(3, 4)[::-1, ::-1],
        np.arange(12).reshape(3, 4).tolist(),
    ],
    ids=["float64", "int", "swapped", "half", "fortran", "strided", "reversed", "list"],
)
def test_set_takes_any_real_array(device, given):
    expected = np.arange(12, dtype=np.float32).reshape(3, 4)
    if isinstance(given, np.ndarray):
        given.flags.writeable = False
    field = pt.Field(pt.Grid((3, 4)), device=device)
    field.set(given)
    np.testing.assert_array_equal(field.get(), expected)
    field.fill(-1)
    field[...] = given
    np.testing.assert_array_equal(field.get(), expected)


class Dataset:
    """An array that lives elsewhere, like one of h5py."""

    def __array__(self, dtype=None, copy=None):
        return np.full((3, 4), 2.5, dtype)


def test_whatever_becomes_an_array_is_taken(device):
    field = pt.Field(pt.Grid((3, 4)), device=device)
    field[...] = Dataset()
    assert (field.get() == 2.5).all()


def test_truth_values_become_numbers(device):
    field = pt.Field(pt.Grid(5), device=device)
    field[...] = np.arange(5) > 2
    np.testing.assert_array_equal(field.get(), [0, 0, 0, 1, 1])


def test_set_does_not_broadcast():
    field = pt.Field(pt.Grid((3, 4)))
    for values in (1.0, np.zeros(4), np.zeros((1, 3, 4))):
        with pytest.raises(ValueError, match=r"values must have the shape \(3, 4\), not \("):
            field.set(values)


@pytest.mark.parametrize("value", [1j, "1", None, np.array([1j]), np.array([None]), ["a"], 2j])
def test_values_that_would_be_lost_are_refused(value):
    field = pt.Field(pt.Grid(4))
    with pytest.raises(TypeError, match="values must be real numbers to become float32, not"):
        field[...] = value
    with pytest.raises(TypeError, match="values must be real numbers to become float32, not"):
        field[[1, 2]] = value


def test_large_integers_are_numbers_as_in_numpy(device):
    field = pt.Field(pt.Grid(4), device=device)
    field[...] = 10**20
    assert (field.get() == np.float32(1e20)).all()
    with pytest.raises(TypeError, match=r"^values must be real numbers in an array, not 1000"):
        field[...] = 10**400


@pytest.mark.parametrize(
    "value",
    [2.5, np.float64(2.5), np.array(2.5), np.float32(2.5)],
    ids=lambda value: type(value).__name__,
)
def test_fill_needs_no_transfer(device, dtype, value):
    field = pt.Field(pt.Grid((5, 19)), 2, dtype, device)
    field.fill(value)
    field[0, 1:3, ::4] = np.nan
    assert field.core.bytes_moved == 0
    expected = np.full(field.shape, 2.5)
    expected[0, 1:3, ::4] = np.nan
    np.testing.assert_array_equal(field.get(), expected)


def test_fill_takes_one_number():
    with pytest.raises(ValueError, match=r"value must be one number, not an array of \(4,\)"):
        pt.Field(pt.Grid(4)).fill(np.zeros(4))


def test_a_copy_is_equal_and_apart(device, dtype):
    field, values = random_field(device, (5, 7, 18), 2, dtype, name="u")
    twin = field.copy()
    assert (twin.grid, twin.dtype, twin.name, twin.device) == (field.grid, dtype, "u", device)
    field.fill(0)
    np.testing.assert_array_equal(twin.get(), values)
    assert twin.core.bytes_moved == values.nbytes


def test_components_are_views(device, dtype):
    field, values = random_field(device, (5, 18), 3, dtype, name="u")
    last = field.component(-1)
    assert (last.shape, last.components, last.name) == ((5, 18), 1, "u[2]")
    np.testing.assert_array_equal(last.get(), values[2])
    assert last.sum() == pytest.approx(values[2].sum(dtype=float), abs=1e-5)
    last[1:3] = 4
    values[2, 1:3] = 4
    np.testing.assert_array_equal(field.get(), values)
    np.testing.assert_array_equal(field.component(1).copy().get(), values[1])
    del field
    np.testing.assert_array_equal(last.get(), values[2])


def test_a_view_and_its_field_share_version_and_flags(device):
    field = pt.Field(pt.Grid((5, 18)), 2, device=device)
    view = field.component(1)
    before = field.core.version
    view.fill(1)
    view[0] = np.arange(18)
    assert field.core.version == before + 2 == view.core.version
    assert not field.core.is_shared
    view.core.mark_shared()
    assert field.core.is_shared


def test_a_scalar_field_has_one_component():
    field = pt.Field(pt.Grid(4))
    field.component(0).fill(2)
    assert field.sum() == 8
    with pytest.raises(IndexError, match="index must be from -1 to 0, not 1"):
        field.component(1)


def test_a_field_is_assigned_on_the_device(device, dtype):
    source, values = random_field(device, (5, 18), dtype=dtype)
    both, both_values = random_field(device, (5, 18), 2, dtype)
    target = pt.Field(source.grid, 2, "float32", device)
    target[...] = both
    np.testing.assert_array_equal(target.get(), both_values.astype("float32"))
    moved = target.core.bytes_moved
    target[1] = source
    target[0, :, :] = target.component(1)
    assert target.core.bytes_moved == moved
    np.testing.assert_array_equal(target.get(), [values.astype("float32")] * 2)


def test_fields_that_do_not_match_are_refused():
    grid = pt.Grid((4, 5))
    field = pt.Field(grid, 2)
    with pytest.raises(
        ValueError, match=r"fields must have the same grid, not Grid\(\(4, 5\).*0.5"
    ):
        field[0] = pt.Field(pt.Grid((4, 5), extent=0.5))
    with pytest.raises(ValueError, match="must have the same number of components, not 2 and 1"):
        field[...] = pt.Field(grid)
    with pytest.raises(TypeError, match="whole field or component, not to a part"):
        field[0, :2] = pt.Field(pt.Grid((2, 5)))
    with pytest.raises(TypeError, match="whole field or component, not to a part"):
        field[::-1] = pt.Field(grid, 2)


def test_fields_of_two_devices_are_refused():
    usable = usable_devices()
    if len(usable) < 2:
        pytest.skip("there is one device")
    first, second = (pt.Field(pt.Grid(4), device=device) for device in usable[:2])
    words = r"same device, not Device\({},.*\) and Device\({},"
    with pytest.raises(ValueError, match=words.format(first.device.index, second.device.index)):
        first[...] = second
    first[...] = second.get()


def test_array_protocol(device):
    field, values = random_field(device, (3, 4))
    assert np.asarray(field, dtype=np.float64).dtype == np.float64
    np.testing.assert_array_equal(np.sqrt(np.abs(field)), np.sqrt(np.abs(values)))
    np.testing.assert_array_equal(np.ones((3, 4)) - field, 1 - values.astype(float))
    with pytest.raises(ValueError, match="cannot become an array without a copy"):
        field.__array__(copy=False)


def test_a_field_has_no_truth():
    with pytest.raises(ValueError, match="a Field has no truth value"):
        bool(pt.Field(pt.Grid(4)))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"grid": (4, 4)},
            TypeError,
            r"grid must be a Grid, not \(4, 4\): use pt.Grid\(\(4, 4\)\)$",
        ),
        ({"grid": 4}, TypeError, r"grid must be a Grid, not 4: use pt.Grid\(4\)$"),
        ({"grid": np.array([4, 5])}, TypeError, r": use pt.Grid\(\(4, 5\)\)$"),
        (
            {"grid": np.zeros((4, 5))},
            TypeError,
            r": use pt.Field.from_arrays\(pt.Grid\(\(4, 5\)\), array\)$",
        ),
        ({"grid": (4, 0)}, TypeError, r"grid must be a Grid, not \(4, 0\)$"),
        ({"components": 0}, ValueError, "components must be at least 1, not 0"),
        ({"components": 2**70}, ValueError, "components must be at most 1024, not"),
        ({"components": 1.5}, TypeError, "components must be an integer, not 1.5"),
        ({"dtype": "int32"}, TypeError, "dtype must be float16, float32 or float64, not 'int32'"),
        ({"dtype": None}, TypeError, "dtype must be float16, float32 or float64, not None"),
        (
            {"dtype": "no such"},
            TypeError,
            "dtype must be float16, float32 or float64, not 'no such'",
        ),
        ({"name": 3}, TypeError, "name must be a string or None, not 3"),
    ],
)
def test_refusals_name_the_argument(arguments, error, words):
    with pytest.raises(error, match=words):
        pt.Field(**{"grid": pt.Grid(4), **arguments})


def test_arrays_make_a_field_of_components(device):
    """Each is converted as by an assignment, and broadcast."""
    grid = pt.Grid((3, 4))
    x, y = grid.coordinates()
    made = pt.Field.from_arrays(
        grid, x, 2.0, y + 1, lambda x, y: x * y, dtype="float64", device=device, name="a"
    )
    assert (made.shape, made.dtype, made.device, made.name) == ((4, 3, 4), "float64", device, "a")
    for component, expected in zip(made.get(), (x, 2, y + 1, x * y), strict=True):
        np.testing.assert_array_equal(component, np.broadcast_to(expected, grid.shape))
    velocity = pt.Field.from_arrays(grid, *made.get()[:2], device=device)
    assert velocity.dtype == np.float32
    u = pt.Field.from_arrays(grid, y, device=device)
    assert u.shape == grid.shape
    advection = pt.AdvectionOp(velocity)
    pt.Splitting(advection, pt.RemeshOp(u)).step(0.01)


def test_arrays_as_a_velocity_are_told_how_to_be_a_field():
    grid = pt.Grid((3, 8))
    u = pt.Field(grid)
    for arrays in (np.ones((2, 3, 8)), (np.ones((3, 8)), 0), [0.0, np.ones((1, 8))]):
        for call in (
            lambda formula: pt.Velocity(grid, formula),
            pt.AdvectionOp,
            lambda velocity: pt.Splitting.from_preset("default", velocity, u),
        ):
            with pytest.raises(
                TypeError, match=r"^(formula|velocity) .*from_arrays\(grid, \*\1\)$"
            ):
                call(arrays)
