# SPDX-License-Identifier: BSD-3-Clause
"""Values that share memory: assignments are of a copy, operators refuse what they would mix up."""

import random

import numpy as np
import particles as pt
import pytest
from particles import _core

from tests.support.refusals import refused

cl = pytest.importorskip("pyopencl")
cl_array = pytest.importorskip("pyopencl.array")

ALL = np.s_[...]
IN_ONE_DIMENSION = [
    (np.s_[1:], lambda a: a[:-1]),
    (np.s_[:-1], lambda a: a[1:]),
    (ALL, lambda a: a[::-1]),
    (np.s_[::-1], lambda a: a),
    (np.s_[::2], lambda a: a[8:]),
    (np.s_[8:], lambda a: a[::2]),
    (np.s_[3:-3], lambda a: a[:-6]),
    (np.s_[5:], lambda a: a[4]),
    (np.s_[:8], lambda a: a.view(np.float16)[4:12]),
    (ALL, lambda a: a.view(np.float16)[16:]),
    (np.s_[[4, 2, 3]], lambda a: a[2:5]),
]
IN_TWO = [
    (ALL, lambda a: a.T),
    (ALL, lambda a: a[::-1, ::-1]),
    (np.s_[1:, 2:], lambda a: a[:-1, :-2]),
    (np.s_[:-1], lambda a: a[1:]),
    (np.s_[:, 1:], lambda a: a[:, :-1]),
    (np.s_[2], lambda a: a[:, 3]),
    (np.s_[:, 4], lambda a: a[1]),
    (ALL, lambda a: a[7]),
    (np.s_[::2, ::3], lambda a: a[:8, :6]),
]


@pytest.mark.parametrize(
    ("shape", "key", "view"),
    [(16, *case) for case in IN_ONE_DIMENSION] + [((16, 16), *case) for case in IN_TWO],
)
def test_values_of_the_same_memory_are_assigned_as_of_a_copy(device, shape, key, view):
    if not device.is_cpu:
        pytest.skip("its memory is not the host's")
    u = pt.Field(pt.Grid(shape), device=device)
    model = np.random.default_rng(3).normal(size=u.shape).astype(np.float16).astype(np.float32)
    u[...] = model
    with np.errstate(all="ignore"):
        u[key] = view(np.from_dlpack(u))
        model[key] = view(model).copy()  # which NumPy forgets for some
    np.testing.assert_array_equal(u.get(), model)


def test_components_are_assigned_as_of_a_copy(device):
    u = pt.Field(pt.Grid((5, 6)), 3, device=device)
    u[...] = model = np.random.default_rng(3).normal(size=u.shape).astype(np.float32)
    u[1], model[1] = u.component(0), model[0]
    u[0], model[0] = u.component(0), model[0]
    u[...] = u
    if device.is_cpu:
        u[:2], model[:2] = np.from_dlpack(u)[1:], model[1:].copy()
    np.testing.assert_array_equal(u.get(), model)


# Two pieces of 64 numbers in some 192, as fields and as arrays of NumPy that say what they are.
# Parts of buffers begin at multiples of `step`.


def in_one_buffer(queue, numbers, places):
    array = cl_array.to_device(queue, numbers)
    return [array[place : place + 64] for place in places]


def in_a_buffer_and_its_part(queue, numbers, places):
    array = cl_array.to_device(queue, numbers)
    part = array.base_data.get_sub_region(4 * places[1], 4 * 64)
    return [array[places[0] : places[0] + 64], cl_array.Array(queue, 64, np.float32, data=part)]


def in_two_parts(queue, numbers, places):
    whole = cl_array.to_device(queue, numbers).base_data
    parts = [whole.get_sub_region(4 * place, 4 * 64) for place in places]
    return [cl_array.Array(queue, 64, np.float32, data=part) for part in parts]


def in_memory_of_the_host(queue, numbers, places):
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    return [
        cl_array.Array(
            queue,
            64,
            np.float32,
            data=cl.Buffer(queue.context, flags, hostbuf=numbers[place : place + 64]),
        )
        for place in places
    ]


WAYS = [in_one_buffer, in_a_buffer_and_its_part, in_two_parts, in_memory_of_the_host]


def pieces(device, way, are_apart):
    step = device.queue.device.mem_base_addr_align // 8 // 4
    if step > 64:
        pytest.skip("parts begin too far apart")
    places = (0, 64) if are_apart else (0, step if way is not in_one_buffer else 1)
    numbers = np.random.default_rng(1).normal(size=192).astype(np.float32)
    model = numbers.copy()
    arrays = way(device.queue, numbers, places)
    fields = [pt.Field.from_pyopencl(array, pt.Grid(64)) for array in arrays]
    return fields, [model[place : place + 64] for place in places], numbers


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("are_apart", [False, True])
def test_fields_in_one_memory_are_assigned_as_of_a_copy(device, way, are_apart):
    if way is in_memory_of_the_host and not device.is_cpu:
        pytest.skip("its memory is not the host's")
    fields, model, _numbers = pieces(device, way, are_apart)
    for one, other in (1, 0), (0, 1):
        fields[one][...] = fields[other]
        model[one][...] = model[other]
        np.testing.assert_array_equal(fields[one].get(), model[one])
    np.testing.assert_array_equal(fields[1].get(), model[1])
    if device.is_cpu and way is in_memory_of_the_host:
        fields[0][...] = np.from_dlpack(fields[1])
        model[0][...] = model[1]
        np.testing.assert_array_equal(fields[0].get(), model[0])
        model[1][...] = model[0]
        fields[0].get(out=np.from_dlpack(fields[1]))
        np.testing.assert_array_equal(fields[1].get(), model[1])


@pytest.mark.parametrize("way", WAYS)
def test_operators_refuse_fields_in_one_memory(device, way):
    (one, other), _, _numbers = pieces(device, way, are_apart=False)
    transport = pt.AdvectionOp(one), pt.RemeshOp(other)
    words = "fields must each have memory of their own, but two of them overlap"
    refused(ValueError, words, pt.RemeshOp, [one, other])
    words = "the velocity must have memory of its own, not that of a carried field"
    refused(ValueError, words, pt.Splitting, *transport)
    refused(ValueError, words, pt.Unsplit, *transport)
    words = "out must have memory of its own, not that of the field"
    refused(ValueError, words, pt.resample, one, other.grid, out=other)
    words = "given must not share memory with the fields that change"
    refused(ValueError, words, pt.SourceOp, one, "g", given=other)
    words = "positions must have memory of their own, not that of a field"
    refused(ValueError, words, pt.RemeshOp(other).apply, pt.Positions(one, 0))


@pytest.mark.parametrize("way", WAYS)
def test_what_only_meshes_in_one_memory_is_carried(device, way):
    (velocity, u), model, _numbers = pieces(device, way, are_apart=True)
    ends = []
    for carried in u, pt.Field(u.grid, device=u.device):
        carried[...] = model[1]
        pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(carried)).step(1e-3)
        ends.append(carried.get())
    np.testing.assert_array_equal(*ends)
    np.testing.assert_array_equal(velocity.get(), model[0])


LARGE = (2**62, 2**61, 2**63, 2**64, 2**64 + 4, 2**60 // 3 * 4, 2**200)
SMALL = (4, 8, 12, 16, 24, 40, 2, 0, -4, 3)


def test_only_what_lies_in_its_buffer_is_adopted(device):
    """Whatever strides and offset say: sums of them wrap in no number of bits."""
    memory = cl_array.zeros(device.queue, 36, np.float32).base_data
    draw = random.Random(8)
    adopted = 0
    for _ in range(400):
        numbers = SMALL if draw.random() < 0.7 else SMALL + LARGE + (-(2**62),)
        strides, offset = tuple(draw.choices(numbers, k=2)), draw.choice(numbers)
        array = cl_array.Array(device.queue, (3, 4), np.float32, data=memory, strides=strides)
        array.offset = offset
        places = sorted(
            offset + i * strides[0] + j * strides[1] for i in range(3) for j in range(4)
        )
        lies_there = (
            places[0] >= 0
            and places[-1] + 4 <= 144
            and min(np.diff(places)) > 0
            and min(strides) > 0
            and (strides[0] > 3 * strides[1] or strides[1] > 2 * strides[0])  # rows do not mesh
            and all(place % 4 == 0 for place in places)
        )
        if lies_there:
            field = pt.Field.from_pyopencl(array, pt.Grid((3, 4)))
            field.fill(1)
            assert field.sum() == 12
            adopted += 1
        else:
            with pytest.raises(ValueError, match=r"^array must "):
                pt.Field.from_pyopencl(array, pt.Grid((3, 4)))
    assert adopted > 10


@pytest.mark.parametrize(
    ("offset", "strides"),
    [
        (0, (2**61, 2**62, 1)),
        (2**62, (1, 2**62, 2**62)),
        (0, (1, 2**63 - 1, 1)),
        (-1, (1, 4, 1)),
        (0, (1, 4, -1)),
        (2**61, (1, 4, 1)),
    ],
)
def test_the_core_adopts_no_memory_beyond_numbers(device, offset, strides):
    own = pt.Field(pt.Grid((3, 4)), device=device).core
    place = device.core, pt.Grid((3, 4)).core, 1, "float32", "", own.memory, offset, strides
    words = (
        "array: expected an offset from 0 on, positive strides, and a size of less than 2**63 bytes"
    )
    refused(ValueError, words, _core.Field.adopt, *place)


def test_an_array_of_too_many_components_is_refused(device):
    array = cl_array.zeros(device.queue, (1025, 3, 4), np.float32)
    words = "array must have 1 to 1024 components, not 1025"
    refused(ValueError, words, pt.Field.from_pyopencl, array, pt.Grid((3, 4)))


def test_a_shape_without_a_number_of_bytes_is_refused_by_the_core(device):
    for shape in ([2**62, 4], [2**21, 2**20, 2**21], [0], [-1, 5]):
        ndim = len(shape)
        numbers = [0.0] * ndim, [1.0] * ndim, [("periodic", "periodic")] * ndim
        with pytest.raises(ValueError, match=r"^shape: expected 1 to 2\*\*40 points in all, got "):
            _core.Grid(shape, *numbers)
    for components in (0, -1, 1025):
        place = device.core, pt.Grid(4).core, components, "float32", ""
        words = f"components: expected 1 to 1024, got {components}"
        refused(ValueError, words, _core.Field, *place)
