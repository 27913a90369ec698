# SPDX-License-Identifier: BSD-3-Clause
"""Fields whose memory other libraries share by DLPack."""

import gc

import numpy as np
import particles as pt
import pytest
from particles._core import testing

from tests.support.gpu_forms import as_gpu

# Before, NumPy's arrays of others' memory are read-only, and there is no choice of device.
pytest.importorskip("numpy", minversion="2.1")

HOST = (1, 0)


@pytest.fixture
def own(device):
    """Return a device whose memory the host shares."""
    if not device.is_cpu:
        pytest.skip("its memory is not the host's")
    return device


def numbers(shape, dtype="float32"):
    return np.random.default_rng(7).normal(size=shape).astype(dtype)


def filled(shape, components=1, dtype="float32", device=None):
    field = pt.Field(pt.Grid(shape), components, dtype, device)
    field[...] = numbers(field.shape, dtype)
    return field


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "components"),
    [((7,), 1), ((7,), 2), ((3, 20), 1), ((1, 1, 1), 1), ((3, 1, 33), 2), ((2, 64, 64), 3)],
    ids=str,
)
def test_an_array_of_numpy_in_the_same_memory(own, shape, components, dtype):
    if np.dtype(dtype) not in own.dtypes:
        pytest.skip(f"{own.name} has no {dtype}")
    field = filled(shape, components, dtype, own)
    array = np.from_dlpack(field)
    np.testing.assert_array_equal(array, numbers(field.shape, dtype), strict=True)
    assert field.__dlpack_device__() == HOST
    assert field.core.is_shared
    strides = field.core.strides[-field.ndim :]
    assert [n for n, length in zip(array.strides, array.shape, strict=True) if length > 1] == [
        n * array.itemsize for n, length in zip(strides, array.shape, strict=True) if length > 1
    ]
    array[..., -1] = 3
    np.testing.assert_array_equal(field.get(), array)
    field[..., 0] = 4
    own.finish()
    np.testing.assert_array_equal(array[..., 0], np.full(array.shape[:-1], 4))


def test_a_component_begins_inside_the_memory(own):
    velocity = filled((3, 20), 3, device=own)
    np.from_dlpack(velocity.component(1))[2, 5] = 9
    assert velocity[1, 2, 5] == 9


def test_what_is_under_way_is_waited_for(own):
    u, v = filled((64, 64, 64), device=own), filled((64, 64, 64), device=own)
    for value in range(20):
        u.fill(value)
        v[...] = u
    assert (np.from_dlpack(v) == 19).all()


def test_what_others_write_is_seen_by_all_that_is_computed(own):
    field = filled((5, 40), device=own)
    assert field.sum() != 400
    np.from_dlpack(field)[...] = 2
    assert (field.sum(), field.min(), field.max(), field.count(lower=1)) == (400, 2, 2, 200)
    assert (field.copy().get() == 2).all()


def velocities(grid, device):
    """Return every kind of velocity that lies in fields, and the field that shall be written."""
    field, other = (pt.Field(grid, 2, device=device) for _ in range(2))
    coarse = pt.Field(pt.Grid((8, 8)), 2, device=device)
    return {
        "field": (field, field),
        "series": (pt.VelocitySeries([other, field], [0.0, 1.0]), field),
        "coarse": (coarse, coarse),
    }


@pytest.mark.parametrize("kind", ["field", "series", "coarse"])
@pytest.mark.parametrize("stepper", [pt.Splitting, pt.Unsplit])
def test_a_velocity_that_others_write_is_used_and_measured_anew(own, kind, stepper):
    grid = pt.Grid((16, 16))
    ends = []
    for shares in True, False:
        velocity, field = velocities(grid, own)[kind]
        u = pt.Field(grid, device=own)
        u[...] = np.random.default_rng(3).normal(size=grid.shape)
        transport = stepper(pt.AdvectionOp(velocity, grid=grid), pt.RemeshOp(u))
        array = np.from_dlpack(field) if shares else field
        transport.step(0.1)
        assert transport.lcfl(0.1) == 0
        array[0] = 0.5 * np.cos(2 * np.pi * np.arange(field.shape[1]) / field.shape[1])[:, None]
        assert transport.lcfl(0.1) > 0.01
        transport.step(0.1)
        ends.append(u.get())
    np.testing.assert_array_equal(*ends)


@pytest.mark.sampled
def test_whoever_lives_longer_keeps_the_memory(own):
    gc.collect()
    before = testing.buffers_held(own.core)
    field = filled((3, 20), device=own)
    array = np.from_dlpack(field)
    capsule = field.__dlpack__(max_version=(1, 0))
    del field
    gc.collect()
    np.testing.assert_array_equal(array, numbers((3, 20)))
    assert testing.buffers_held(own.core) > before
    del array, capsule
    gc.collect()
    assert testing.buffers_held(own.core) == before


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, '"dltensor"'),
        ({"max_version": None}, '"dltensor"'),
        ({"max_version": (0, 8)}, '"dltensor"'),
        ({"max_version": (1, 0)}, '"dltensor_versioned"'),
        ({"max_version": (2, 0), "dl_device": HOST, "copy": True}, '"dltensor_versioned"'),
    ],
    ids=str,
)
def test_capsules_of_both_kinds(device, options, name):
    on_host = options if device.is_cpu else options | {"copy": True}
    assert name in repr(filled((3, 4), device=device).__dlpack__(**on_host))


def test_a_copy_is_a_copy(device):
    field = filled((3, 20), device=device)
    copy = np.from_dlpack(field, device="cpu", copy=True)
    assert not field.core.is_shared
    copy[...] = 0
    np.testing.assert_array_equal(field.get(), numbers((3, 20)))


def test_memory_that_is_not_the_hosts(own):
    field = filled((3, 20), 2, device=as_gpu(own))
    assert field.__dlpack_device__()[0] == 4
    with pytest.raises(
        BufferError, match=r"the host does not share the memory of .*: copy the values"
    ):
        np.from_dlpack(field)
    with pytest.raises(
        BufferError, match=r"the host does not share the memory of .*: copy the values"
    ):
        field.__dlpack__(dl_device=HOST, copy=False)
    for array in np.from_dlpack(field, device="cpu"), np.from_dlpack(field, copy=True):
        np.testing.assert_array_equal(array, numbers((2, 3, 20)))
    assert not field.core.is_shared


def test_what_cannot_be_asked_for(device):
    field = filled((3,), device=device)
    with pytest.raises(
        ValueError, match="stream must be None, because the values are on the host, not"
    ):
        field.__dlpack__(stream=1)
    with pytest.raises(BufferError, match=r"dl_device must be \(1, 0\), the host, not \(2, 0\)"):
        field.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        field.__dlpack__(None)


def test_memory_of_pyopencl(own):
    arrays = pytest.importorskip("pyopencl.array")
    array = arrays.to_device(own.queue, numbers((3, 20)))
    guest = pt.Field.from_pyopencl(array, pt.Grid((3, 20)))
    with pytest.raises(BufferError, match="the host does not share the memory"):
        np.from_dlpack(guest)
    np.testing.assert_array_equal(np.from_dlpack(guest, device="cpu"), numbers((3, 20)))


def test_memory_that_has_been_to_pyopencl_and_back(own):
    pytest.importorskip("pyopencl")
    field = filled((3, 20), 2, device=own)
    back = pt.Field.from_pyopencl(field.component(1).to_pyopencl(), field.grid)
    np.from_dlpack(back)[1, 2] = 8
    assert field[1, 1, 2] == 8


def test_memory_of_the_users_own_array(own):
    cl = pytest.importorskip("pyopencl")
    arrays = pytest.importorskip("pyopencl.array")
    values = np.zeros(4096, np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    buffer = cl.Buffer(own.context, flags, hostbuf=values)
    array = arrays.Array(own.queue, (64, 64), np.float32, data=buffer)
    field = pt.Field.from_pyopencl(array, pt.Grid((64, 64)))
    assert np.shares_memory(np.from_dlpack(field), values)
    del array, buffer, field
    gc.collect()


@pytest.mark.parametrize("library", ["jax.dlpack", "torch"])
def test_other_libraries(own, library):
    from_dlpack = pytest.importorskip(library).from_dlpack
    field = filled((8, 16), device=own)  # rows without pads, as JAX knows no others
    tensor = from_dlpack(field)
    np.testing.assert_array_equal(np.from_dlpack(tensor), numbers((8, 16)))
    twin = pt.Field(field.grid, device=own)
    twin[...] = np.from_dlpack(tensor)
    np.testing.assert_array_equal(twin.get(), numbers((8, 16)))


def test_torch_shares_padded_rows(own):
    torch = pytest.importorskip("torch")
    field = filled((3, 32), 2, device=own)
    tensor = torch.from_dlpack(field)
    tensor[1, 2, 3] = 5
    assert field[1, 2, 3] == 5
    assert float(tensor.sum()) == pytest.approx(field.sum(), rel=1e-5)
