# SPDX-License-Identifier: BSD-3-Clause
"""Memory that PyOpenCL and fields share."""

import gc
import threading

import numpy as np
import particles as pt
import pytest
from particles.base import checks

cl = pytest.importorskip("pyopencl")
cl_array = pytest.importorskip("pyopencl.array")


@pytest.fixture
def context(device):
    """Return a context that PyOpenCL made, which a queue of Intel's driver does not keep alive."""
    return cl.Context([device.queue.device])


@pytest.fixture
def queue(context):
    """Return a queue in that context."""
    return cl.CommandQueue(context)


def numbers(shape, dtype="float32"):
    return np.asarray(np.random.default_rng(5).normal(size=shape)).astype(dtype)


def in_queue(queue, values):
    """Return an array with the strides of `values`, which may leave gaps."""
    array = cl_array.empty(queue, values.shape, values.dtype)
    array.set(np.array(values, order="C"))
    return array


@pytest.mark.parametrize(("shape", "components"), [((7,), 1), ((3, 20), 2), ((2, 3, 5), 3)])
def test_an_array_of_the_same_memory(device, dtype, shape, components):
    field = pt.Field(pt.Grid(shape), components, dtype, device)
    field[...] = values = numbers(field.shape, dtype)
    array = field.to_pyopencl()
    assert (array.shape, array.dtype) == (field.shape, dtype)
    assert array.base_data.int_ptr == field.core.memory
    assert field.core.is_shared
    row = array[(0,) * (field.ndim - 1)]
    np.testing.assert_array_equal(row.get(), values[(0,) * (field.ndim - 1)])
    row.fill(3)
    values[(0,) * (field.ndim - 1)] = 3
    np.testing.assert_array_equal(field.get(), values)


@pytest.mark.parametrize(("shape", "components"), [((7,), 1), ((3, 20), 2), ((2, 3, 5), 3)])
def test_a_packed_copy_can_be_computed_with(device, dtype, shape, components):
    field = pt.Field(pt.Grid(shape), components, dtype, device)
    field[...] = values = numbers(field.shape, dtype)
    array = field.to_pyopencl(packed=True)
    assert (array.shape, array.dtype) == (field.shape, dtype)
    assert array.flags.c_contiguous
    field.fill(0)
    np.testing.assert_array_equal(array.get(), values)
    array *= 2
    assert field.max() == 0
    field[...] = array + array
    np.testing.assert_array_equal(field.get(), 4 * values)
    one = field.component(components - 1)
    np.testing.assert_array_equal(one.to_pyopencl(packed=True).get(), one.get())


def test_a_component_begins_inside_the_memory(device):
    field = pt.Field(pt.Grid(7), 3, device=device)
    field[...] = values = numbers((3, 7))
    np.testing.assert_array_equal(field.component(2).to_pyopencl().get(), values[2])


def test_an_array_outlives_its_field(device):
    field = pt.Field(pt.Grid(7), device=device)
    field.fill(2)
    array = field.to_pyopencl()
    del field
    gc.collect()
    assert (array.get() == 2).all()


def test_an_array_keeps_its_queue_order(device):
    field = pt.Field(pt.Grid(1000), device=device)
    array = field.to_pyopencl()
    for step in range(20):
        array += 1
        assert field.sum() == 1000 * (step + 1)


@pytest.mark.parametrize("shape", [(7,), (3, 20), (2, 3, 5)], ids=str)
@pytest.mark.parametrize("components", [None, 1, 3])
def test_a_field_of_the_same_memory(queue, dtype, shape, components):
    full = shape if components is None else (components, *shape)
    values = numbers(full, dtype)
    array = in_queue(queue, values)
    field = pt.Field.from_pyopencl(array, pt.Grid(shape), name="guest")
    assert field.core.memory == array.base_data.int_ptr
    assert field.core.is_shared
    assert (field.components, field.dtype, field.name) == (components or 1, dtype, "guest")
    assert field.device is pt.Device.from_pyopencl(queue)
    np.testing.assert_array_equal(field.get().reshape(full), values)
    field[..., 2:4] *= 2
    values[..., 2:4] *= 2
    np.testing.assert_array_equal(array.get(), values)
    array.fill(1)
    assert field.sum() == values.size
    assert (field.to_pyopencl().get() == 1).all()


@pytest.mark.parametrize("packed", ["velocity", "strengths", "both"])
def test_a_run_in_packed_memory_has_the_same_bits(queue, packed):
    """Its rows do not begin on whole vectors."""
    grid = pt.Grid((21, 37))
    own = {"velocity": 0.1 * numbers((2, *grid.shape)), "strengths": numbers(grid.shape)}

    def run(guests):
        fields = {}
        for name, values in own.items():
            if name in guests:
                fields[name] = pt.Field.from_pyopencl(in_queue(queue, values), grid)
            else:
                components = 2 if name == "velocity" else 1
                fields[name] = pt.Field(grid, components, device=pt.Device.from_pyopencl(queue))
                fields[name][...] = values
        advection = pt.AdvectionOp(fields["velocity"])
        pt.Splitting(advection, pt.RemeshOp(fields["strengths"])).run(0.03, 0.01)
        return fields["strengths"].get()

    np.testing.assert_array_equal(run(own if packed == "both" else [packed]), run([]))


STRIDED = {
    "every other column": np.s_[:, ::2],
    "every third row": np.s_[::3],
    "a corner": np.s_[2:, 5:12],
    "a block": np.s_[1:9:2, 3:10:3],
}


@pytest.mark.parametrize("part", STRIDED.values(), ids=STRIDED)
def test_strided_memory(queue, dtype, part):
    values = numbers((10, 14), dtype)
    array = in_queue(queue, values)
    grid = pt.Grid(values[part].shape)
    field = pt.Field.from_pyopencl(array[part], grid)
    np.testing.assert_array_equal(field.get(), values[part])
    assert field.sum() == pytest.approx(values[part].sum(dtype=float), abs=1e-12)
    assert (field.min(), field.max()) == (values[part].min(), values[part].max())
    twin = field.copy()
    field[1, ::2] = np.arange(grid.shape[1])[::2]
    field[-1] = 4
    values[part][1, ::2] = np.arange(grid.shape[1])[::2]
    values[part][-1] = 4
    np.testing.assert_array_equal(array.get(), values)
    field[...] = twin
    values[part] = twin.get()
    np.testing.assert_array_equal(array.get(), values)


def test_transposed_memory(queue):
    values = numbers((4, 5, 6))
    turned = in_queue(queue, values).transpose((2, 0, 1))
    field = pt.Field.from_pyopencl(turned, pt.Grid((6, 4, 5)))
    expected = values.transpose(2, 0, 1)
    np.testing.assert_array_equal(field.get(), expected)
    np.testing.assert_array_equal(field[::2, 1:3, ::-1], expected[::2, 1:3, ::-1])
    assert field.norm() == pytest.approx(np.linalg.norm(values.astype(float)), rel=1e-12)


def test_sums_do_not_depend_on_the_layout(queue):
    values = numbers((3, 5, 40))
    array = in_queue(queue, values.transpose(2, 1, 0)).transpose((2, 1, 0))
    guest = pt.Field.from_pyopencl(array, pt.Grid(values.shape))
    own = guest.copy()
    assert guest.sum() == own.sum()
    assert guest.norm() == own.norm()


def test_a_field_keeps_pooled_memory(queue):
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    array = cl_array.zeros(queue, 7, np.float32, allocator=pool)
    field = pt.Field.from_pyopencl(array, pt.Grid(7))
    component = field.component(0)
    twin = component.to_pyopencl()
    del array, field, component
    gc.collect()
    cl_array.zeros(queue, 7, np.float32, allocator=pool).fill(5)
    assert not twin.get().any()


def test_fields_of_one_queue_mix(queue):
    guest = pt.Field.from_pyopencl(in_queue(queue, numbers((3, 4))), pt.Grid((3, 4)))
    own = pt.Field(guest.grid, device=guest.device)
    own[...] = guest
    np.testing.assert_array_equal(own.get(), guest.get())


def test_a_part_of_another_buffer(queue):
    """The part begins where the device lets parts begin."""
    begin = queue.device.mem_base_addr_align // 8 * 4
    whole = in_queue(queue, numbers(begin // 4 + 40))
    part = whole.base_data.get_sub_region(begin, 30 * 4)
    array = cl_array.Array(queue, (3, 7), np.float32, data=part, offset=8, strides=(36, 4))
    field = pt.Field.from_pyopencl(array, pt.Grid((3, 7)))
    expected = numbers(begin // 4 + 40)
    seen = np.lib.stride_tricks.as_strided(expected[begin // 4 + 2 :], (3, 7), (36, 4))
    np.testing.assert_array_equal(field.get(), seen)
    field[1:] *= 2
    seen[1:] *= 2
    np.testing.assert_array_equal(whole.get(), expected)


DOUBLE = """
kernel void twice(global float *u, int offset, int pitch) {
  u[offset + get_global_id(0) * pitch + get_global_id(1)] *= 2;
}
"""


def test_kernels_of_the_user_between_steps(device, queue):
    """In the user's context and queue, on the buffer of a field, and without waiting."""
    ends = []
    for place in device, pt.Device.from_pyopencl(queue):
        grid = pt.Grid((12, 20))
        velocity, u = (pt.Field(grid, n, device=place) for n in (2, 1))
        velocity.fill(0.3)
        u[...] = numbers(grid.shape)
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
        array = u.to_pyopencl()
        twice = cl.Program(place.context, DOUBLE).build().twice
        for _ in range(3):
            transport.step(0.1)
            if place is device:
                u[...] = 2 * u.get()
            else:
                pitch, offset = array.strides[0] // 4, array.offset // 4
                twice(queue, grid.shape, None, array.base_data, np.int32(offset), np.int32(pitch))
        ends.append(u.get())
    np.testing.assert_array_equal(*ends)


def test_what_another_queue_does_is_waited_for(device, context, queue):
    other = cl.CommandQueue(context)
    array = cl_array.zeros(queue, (256, 1024), np.float32)
    for _ in range(20):
        array.with_queue(other).__iadd__(1)
    field = pt.Field.from_pyopencl(array, pt.Grid((256, 1024)))
    assert (field.min(), field.max()) == (20, 20)
    for value in range(20):
        field.fill(value)
    assert (field.to_pyopencl().with_queue(other) + 1).get().min() == 20


def test_arrays_that_cannot_be_fields(queue):
    grid = pt.Grid((3, 4))
    good = in_queue(queue, numbers((3, 4)))
    with pytest.raises(TypeError, match=r"grid must be a Grid, not \(3, 4\)"):
        pt.Field.from_pyopencl(good, (3, 4))
    with pytest.raises(TypeError, match="name must be a string or None, not 1"):
        pt.Field.from_pyopencl(good, grid, name=1)
    with pytest.raises(TypeError, match=r"array must be a pyopencl.array.Array, not ndarray"):
        pt.Field.from_pyopencl(good.get(), grid)
    with pytest.raises(TypeError, match="array must be of float16, float32 or float64, not int32"):
        pt.Field.from_pyopencl(good.astype(np.int32), grid)
    with pytest.raises(ValueError, match=r"the grid's shape \(3, 4\).* not \(12,\)"):
        pt.Field.from_pyopencl(good.reshape(12), grid)
    with pytest.raises(ValueError, match=r"the grid's shape \(3, 4\).* not \(1, 1, 3, 4\)"):
        pt.Field.from_pyopencl(good.reshape(1, 1, 3, 4), grid)
    with pytest.raises(ValueError, match=r"array must have a queue, not None; see .*with_queue"):
        pt.Field.from_pyopencl(good.with_queue(None), grid)
    with pytest.raises(ValueError, match="strides and an offset that are positive multiples"):
        pt.Field.from_pyopencl(good[::-1], grid)


def test_memory_that_overlaps_is_refused(queue):
    memory = in_queue(queue, numbers(12)).base_data
    array = cl_array.Array(queue, (3, 4), np.float32, data=memory, strides=(8, 4))
    with pytest.raises(ValueError, match=r"array must not overlap itself.*\(8, 4\)"):
        pt.Field.from_pyopencl(array, pt.Grid((3, 4)))


def test_memory_that_is_too_small_is_refused(queue):
    memory = in_queue(queue, numbers(12)).base_data
    array = cl_array.Array(queue, (3, 4), np.float32, data=memory, strides=(32, 4))
    with pytest.raises(
        ValueError, match="array must lie within its buffer of 48 bytes, not reach to 80"
    ):
        pt.Field.from_pyopencl(array, pt.Grid((3, 4)))


def test_an_out_of_order_queue_is_refused(queue):
    properties = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    loose = cl.CommandQueue(queue.context, properties=properties)
    array = in_queue(queue, numbers(4)).with_queue(loose)
    with pytest.raises(pt.DeviceError, match="runs out of order"):
        pt.Field.from_pyopencl(array, pt.Grid(4))


ARRAYS = {
    "packed": in_queue,
    "of another queue": lambda queue, values: in_queue(cl.CommandQueue(queue.context), values),
    "without a queue": lambda queue, values: in_queue(queue, values).with_queue(None),
    "of another context": in_queue,  # of the queue that it is given
    "with gaps": lambda queue, values: in_queue(queue, np.repeat(values, 3, axis=-1))[..., 1::3],
    "transposed": lambda queue, values: in_queue(queue, values.T).T,
    "backwards": lambda queue, values: in_queue(queue, values[..., ::-1])[..., ::-1],
    "to be read": lambda queue, values: cl_array.Array(
        queue,
        values.shape,
        values.dtype,
        data=cl.Buffer(
            queue.context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=values
        ),
    ),
}
ON_DEVICE = ("packed", "of another queue", "without a queue", "with gaps", "transposed")
PARTS = [
    np.s_[...],
    np.s_[1],
    np.s_[:, 2],
    np.s_[:, ::2, ::-1],
    np.s_[0, 1:3, [4, 0, 2]],
    np.s_[1, 2, 3],
]


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("given", ["float32", "float64", "float16", "int32"])
def test_arrays_are_assigned_as_those_of_numpy_are(device, queue, kind, given, monkeypatch):
    """To any part, from any memory; what the device can copy goes no way through the host."""
    place = queue if kind == "of another context" else device.queue
    field = pt.Field(pt.Grid((4, 6)), 2, device=device)
    field[...] = expected = numbers(field.shape)
    for part in PARTS:
        values = np.array(4 * numbers(expected[part].shape)).astype(given)
        array = ARRAYS[kind](place, values) if values.ndim else in_queue(device.queue, values)
        field[part] = array
        expected[part] = values
        np.testing.assert_array_equal(field.get(), expected)
    if kind in ON_DEVICE and given in device.dtypes:
        monkeypatch.setattr(checks, "on_host", None)
        for part in PARTS[:2]:
            values = numbers(expected[part].shape).astype(given)
            field[part] = ARRAYS[kind](device.queue, values)
            expected[part] = values
        np.testing.assert_array_equal(field.get(), expected)


def test_what_is_assigned_may_be_of_the_same_memory(device):
    field = pt.Field(pt.Grid((5, 5)), device=device)
    field[...] = values = numbers((5, 5))
    field[...] = field.to_pyopencl().T
    np.testing.assert_array_equal(field.get(), values.T)
    field[1:] = field.to_pyopencl()[:-1]
    np.testing.assert_array_equal(field[1:], values.T[:-1])


def test_neither_queue_overtakes_the_other(device):
    """What was enqueued before an assignment comes before it, and what comes later comes later."""
    field = pt.Field(pt.Grid((256, 1024)), device=device)
    other = cl.CommandQueue(device.context)
    for queue in device.queue, other:
        array = cl_array.zeros(queue, (256, 1024), np.float32)
        for step in range(20):
            array += 1
            field[...] = array
            array.fill(-1)
            assert (field.min(), field.max()) == (step + 1, step + 1)
            array.fill(step + 1)


def test_what_another_queue_was_told_before_is_waited_for(device):
    """Also if it is no work of PyOpenCL's arrays, which they would know of."""
    field, other = pt.Field(pt.Grid((3, 4)), device=device), cl.CommandQueue(device.context)
    array, gate = cl_array.zeros(other, (3, 4), np.float32), cl.UserEvent(device.context)
    array.finish()
    cl.enqueue_fill_buffer(other, array.base_data, np.float32(7), 0, 48, wait_for=[gate])
    opening = threading.Timer(0.1, gate.set_status, [cl.command_execution_status.COMPLETE])
    opening.start()
    field[...] = array
    opening.join()
    assert (field.min(), field.max()) == (7, 7)


def test_arrays_that_cannot_be_assigned(device):
    queue, field = device.queue, pt.Field(pt.Grid((3, 4)), device=device)
    good = in_queue(queue, numbers((3, 4)))
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.HOST_NO_ACCESS
    hidden = cl.Buffer(queue.context, flags, size=48)
    for array, words in (
        (good.astype(np.complex64), "must be real numbers to become float32, not complex64"),
        (good[:2], r"of the shape \(2, 4\) cannot be broadcast to \(3, 4\)"),
        (
            cl_array.Array(queue, (3, 4), np.float32, data=good.base_data, offset=8),
            "must lie within their buffer of 48 bytes, not reach from 8 to 56",
        ),
        (
            cl_array.Array(queue, (3, 4), np.float32, data=hidden),
            "must lie in a buffer that the host may read, not in one made with .*HOST_NO_ACCESS",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^values {words}"):
            field[...] = array
    assert field.max() == 0


def test_arrays_stand_wherever_numbers_do(device):
    field = pt.Field(pt.Grid(4), device=device)
    field.set(in_queue(device.queue, numbers(4)))
    np.testing.assert_array_equal(field.get(), numbers(4))
    field.fill(in_queue(device.queue, np.array(3)))
    assert field.sum() == 12
