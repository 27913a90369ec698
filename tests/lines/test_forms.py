# SPDX-License-Identifier: BSD-3-Clause
"""The forms that a user can choose: what they refuse, and that all of them give the same bits."""

import gc
import re

import numpy as np
import particles as pt
import pytest

from tests.support.gpu_forms import as_gpu
from tests.support.refusals import refused, scalar
from tests.support.sweeps import (
    advection_core,
    box,
    check_forms,
    field,
    noise,
    one_kernel,
    remesh_core,
)

CHOICES = {
    "global": {"kind": "global"},
    "global in strides": {"kind": "global", "lanes": 1, "transposed": False},
    "global in 4 lanes": {"kind": "global", "lanes": 4},
    "global, transposed": {"kind": "global", "transposed": True},
    "global, copied": {"kind": "global", "lanes": 1, "copied": True},
    "private, copied": {"kind": "private", "copied": True},
    "private, transposed": {"kind": "private", "copied": True, "transposed": True},
    "local in strides": {"kind": "local", "transposed": False},
    "local, copied": {"kind": "local", "copied": True},
    "lanes": {"kind": "lanes"},
    "lanes, copied": {"kind": "lanes", "copied": True},
    "lanes, transposed": {"kind": "lanes", "transposed": True},
    "4 lanes": {"kind": "lanes", "lanes": 4},
    "1 lane": {"kind": "lanes", "lanes": 1},
    "groups": {"kind": "local", "group": 5, "tiles": 3},
    "tiles": {"kind": "private", "group": 2, "tiles": 1000},
    "images": {"images": True},
    "images, copied": {"kind": "private", "images": True, "copied": True},
    "images, local": {"kind": "local", "images": True},
    "images, global": {"kind": "global", "images": True},
    "registers": {"kind": "registers"},
    "registers, transposed": {"kind": "registers", "transposed": True},
    "registers, a tile each": {"kind": "registers", "tiles": 1},
    "registers, copied": {"kind": "registers", "copied": True, "tiles": 3},
    "images, registers": {"kind": "registers", "images": True},
    "registers, in pieces": {"kind": "registers", "nodes": 7},
    "private, in pieces": {"kind": "private", "nodes": 5},
    "a team": {"kind": "team"},
    "a team, in pieces": {"kind": "team", "nodes": 7},
    "a team, at once": {"kind": "team", "nodes": 101},
    "a team of 5": {"kind": "team", "group": 5, "tiles": 3},
    "a team, transposed": {"kind": "team", "transposed": True},
    "images, a team": {"kind": "team", "images": True},
}


# A formula has no line that could be copied, nor an image.
FOR_FORMULAS = [
    name
    for name, choice in CHOICES.items()
    if not choice.keys() & {"copied", "images", "group", "tiles"}
]


@pytest.fixture(params=CHOICES)
def name(request):
    """Return the name of a choice."""
    return request.param


@pytest.fixture
def choice(name, device):
    """Return what makes a form, unless the device cannot do it."""
    if CHOICES[name].get("images") and not device.has_images:
        pytest.skip(f"no images on {device.name}")
    return CHOICES[name]


@pytest.fixture
def dtype(name, device):
    """Return float64 for every second choice: no form depends on the dtype, but images."""
    is_double = list(CHOICES).index(name) % 2 == 1 and "images" not in name
    return np.dtype("float64" if is_double and "float64" in map(str, device.dtypes) else "float32")


@pytest.mark.sampled
@pytest.mark.drawn(7)
@pytest.mark.parametrize(
    ("shape", "capacity"), [((101,), None), ((19, 67), 8), ((15, 16, 17), None)], ids=str
)
def test_every_choice_gives_the_same_bits(device, dtype, choice, shape, capacity):
    grid = box(*shape)
    if len(shape) == 1 and choice.get("lanes", 1) > 1:
        pytest.skip("a line alone fills no lanes")
    velocity = field([noise(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    check_forms(velocity, grid, dtype, device, choice, capacity)


@pytest.mark.sampled
@pytest.mark.drawn(3)
@pytest.mark.one_device
@pytest.mark.parametrize("name", FOR_FORMULAS, indirect=True)
def test_every_choice_gives_the_same_bits_with_a_formula(device, dtype, choice):
    grid = box(9, 18)
    velocity = pt.Velocity(grid, lambda x, y, t: (x * np.sin(9 * y) + t, np.cos(x * y - t)))
    check_forms(velocity, grid, dtype, device, choice, None)


@pytest.mark.sampled
@pytest.mark.drawn(5)
@pytest.mark.one_device
def test_every_choice_sees_a_new_velocity(device, dtype, choice):
    grid = box(18, 33, 19)
    velocity = field([noise(grid, axis) / 9 for axis in range(3)], grid, dtype, device)
    results = []
    for form in (pt.Form(), pt.Form(**choice)):
        u = field(noise(grid, 5), grid, dtype, device)
        transport = pt.Splitting(pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u, form=form))
        transport.step(0.05)
        velocity[...] = -velocity.get()
        transport.run(0.15, 0.05)
        velocity[...] = -velocity.get()
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


def test_an_image_of_memory_that_others_write(device):
    """It has no padding, and says nothing when it changes."""
    import pyopencl.array

    if not device.has_images:
        pytest.skip(f"{device.name} has no images")
    grid = box(6, 7)
    array = pyopencl.array.to_device(device.queue, np.zeros((2, 6, 7), np.float32))
    velocity = pt.Field.from_pyopencl(array, grid)
    u = field(noise(grid, 0), grid, "float32", device)
    start = u.get()
    transport = pt.Splitting(
        pt.AdvectionOp(velocity), pt.RemeshOp(u, form=pt.Form(images=True)), order=1
    )
    transport.step(1.0)
    array[1] = grid.spacing[1]
    transport.step(2.0)
    np.testing.assert_array_equal(u.get(), np.roll(start, 2, 1))


@pytest.mark.parametrize("form", [None, pt.Form(images=True)], ids=repr)
def test_displacements_in_memory_that_others_made(device, form):
    """They are carried a line per work-item, though the ones before came in vectors."""
    import pyopencl.array

    if form and not device.has_images:
        pytest.skip(f"{device.name} has no images")
    grid = box(40, 50)
    moves = field(3 * noise(grid, 1), grid, "float32", device)
    array = pyopencl.array.to_device(device.queue, moves.get())
    start = noise(grid, 0)
    u = field(start, grid, "float32", device)
    remesh = pt.RemeshOp(u, form=form)
    for axis in range(2):
        results = []
        for displacement in (moves, pt.Field.from_pyopencl(array, grid)):
            u[...] = start
            remesh.apply(pt.Positions(displacement, axis))
            results.append(u.get())
        np.testing.assert_array_equal(results[0], results[1])


def test_an_image_is_counted(device):
    if not device.has_images:
        pytest.skip(f"{device.name} has no images")
    velocity, u = pt.Field(pt.Grid((64, 48)), 2, device=device), scalar(device=device)
    gc.collect()  # what other tests have left
    before = device.core.bytes_held
    advection = pt.AdvectionOp(velocity, form=pt.Form(images=True))
    assert advection.strain() == (0.0, 0.0)
    assert device.core.bytes_held >= before + 2 * 64 * 48 * 4
    del advection
    assert device.core.bytes_held == before
    assert u.sum() == 0


@pytest.mark.parametrize(
    ("error", "words", "chosen"),
    [
        (
            ValueError,
            "kind must be one of lanes, private, local, global, registers, team or None, not 'x'",
            {"kind": "x"},
        ),
        (ValueError, "lanes must be one of 1, 4, 8, 16, not 2", {"kind": "lanes", "lanes": 2}),
        (TypeError, "lanes must be an integer, not 4.0", {"kind": "lanes", "lanes": 4.0}),
        (
            ValueError,
            "lanes must be None unless kind is 'lanes' or 'global', but kind is 'local'",
            {"kind": "local", "lanes": 4},
        ),
        (
            ValueError,
            "images must be None or False with lanes: they are read line by line",
            {"kind": "lanes", "images": True},
        ),
        (TypeError, "copied must be True, False or None, not 1", {"copied": 1}),
        (TypeError, "transposed must be True, False or None, not 'no'", {"transposed": "no"}),
        (ValueError, "group must be at least 1, not 0", {"group": 0}),
        (TypeError, "tiles must be an integer, not True", {"tiles": True}),
    ],
    ids=str,
)
def test_what_no_device_can_do(error, words, chosen):
    refused(error, words, pt.Form, **chosen)


def test_what_a_device_cannot_do(device):
    u, wide = scalar(device=device), scalar(dtype="float64", device=device)
    no_images = (
        "of float64, which they cannot hold" if device.has_images else "on .*, which has none"
    )
    for chosen, words, fields in [
        (pt.Form(images=True), f"no images {no_images}", wide),
        (pt.Form("lanes", lanes=16), "at most [48] lanes of float64 on .*, got 16", wide),
        (pt.Form("local", group=2**20), r"at most \d+ such work-items in a group on .*", u),
    ]:
        with pytest.raises(ValueError, match=f"^form: expected {words}"):
            pt.RemeshOp(fields, form=chosen)


def test_groups_of_lines_in_private_memory_stay_within_the_stack(device):
    if not device.is_cpu:
        pytest.skip(f"{device.name} is no CPU")
    name = re.escape(device.name)
    for chosen, most in [("lanes", 1), ("private", 16)]:
        words = f"^form: expected at most {most} such work-items in a group on {name}, got 17$"
        with pytest.raises(ValueError, match=words):
            pt.RemeshOp(scalar(device=device), form=pt.Form(chosen, group=17))


def test_a_team_that_cannot_be_is_refused(device):
    u = scalar(pt.Grid((40, 50)), device=device)
    words = "^form: expected no team where particles carry values, whose nodes are found one by one"
    with pytest.raises(ValueError, match=words):
        pt.RemeshOp(u, form="team", conservative=False)
    gpu = as_gpu(device, 256)
    u, velocity = pt.Field(u.grid, device=gpu), pt.Field(u.grid, 2, device=gpu)
    words = (
        r"^form: expected no team along axis 0 of 40 points on .*, whose local memory of 256 bytes"
    )
    with pytest.raises(ValueError, match=words):
        pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, form="team"))


def test_lanes_that_cannot_be_filled_are_refused(device):
    strided = pt.Form("global", lanes=4, transposed=False)
    for form, shape in [
        *((pt.Form("lanes", lanes=4), shape) for shape in [(3, 40), (40,)]),
        *((pt.Form("global", lanes=4), (40,)), (strided, (40, 50))),
    ]:
        axis = len(shape) - 1
        grid = pt.Grid(shape)
        u = pt.Field(grid, device=device)
        velocity = pt.Field(grid, len(shape), device=device)
        points = f"axis {axis} of {shape[axis]} points"
        words = f"^form: expected no 4 lanes along {points}, whose lines do not fill them"
        with pytest.raises(ValueError, match=words):
            pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, form=form))


@pytest.mark.parametrize(
    ("form", "local_memory", "told"),
    [
        (None, 32 * 1024, "registers, team"),
        (None, 256, "registers, local"),
        ("lanes", None, "lanes, lanes"),
        (pt.Form(images=True), 32 * 1024, "registers, images, team, images"),
    ],
    ids=str,
)
def test_a_splitting_tells_its_forms(device, form, local_memory, told):
    place = as_gpu(device, local_memory) if local_memory else device
    if form and local_memory and not device.has_images:
        pytest.skip(f"{device.name} has no images")
    grid = pt.Grid((40, 50))
    velocity, u = pt.Field(grid, 2, device=place), pt.Field(grid, device=place)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, form=form))
    assert f", forms {told}, time=0," in repr(transport)
    assert f", forms {told})</b>" in transport._repr_html_()
    plain = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, limiter="positive"))
    assert ("forms" in repr(plain)) == (not place.is_cpu)


def test_a_form_says_what_was_chosen():
    assert repr(pt.Form()) == "Form()"
    assert repr(pt.Form("private", copied=True)) == "Form(kind='private', copied=True)"
    u = scalar()
    assert pt.RemeshOp(u, form="local").form == pt.Form("local")
    assert pt.RemeshOp(u).form == pt.Form()


def test_a_line_too_long_for_an_image_is_refused(device):
    if not device.has_images:
        pytest.skip(f"{device.name} has no images")
    grid = pt.Grid(100_000)
    velocity, u = pt.Field(grid, device=device), pt.Field(grid, device=device)
    form = pt.Form(images=True)
    with pytest.raises(ValueError, match=r"^form: expected images of at most \d+ points, pads"):
        pt.Splitting(pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u, form=form))


@pytest.mark.one_device
@pytest.mark.parametrize("form", ["private", "local"])
@pytest.mark.parametrize(("cells", "share"), [(0.0, 0.16), (2.0, 0.2), (100.0, 1.0)])
def test_a_profile_says_how_much_of_segments_is_copied(device, cells, share, form):
    """What particles cross from either end, and the 4 nodes that a kernel reaches beyond."""
    grid = box(1000)
    velocity = field(np.full(grid.shape, cells * grid.spacing[0]), grid, "float32", device)
    u = field(np.zeros(grid.shape), grid, "float32", device)
    advection = advection_core(velocity, form=form, capacity=100)
    remesh = remesh_core([u], form=form, capacity=100)
    with pt.profile(device) as profile:
        one_kernel(advection, u, remesh, 0, 1.0)
    assert profile.kernels["keep_edges"].bytes == pytest.approx(2 * share * 4 * 1000, rel=1e-3)


@pytest.mark.one_device
@pytest.mark.parametrize(
    ("shape", "is_formula", "is_cut"),
    [
        ((2048, 64), False, True),
        ((1400, 64), False, False),
        ((64, 2048), False, False),
        ((2048, 64), True, False),
    ],
    ids=str,
)
def test_long_lines_across_the_memory_are_cut(device, shape, is_formula, is_cut):
    """Segments overwrite particles of their neighbours, whose edges are kept before."""
    if not device.is_cpu:
        pytest.skip("lines are cut for the pages that a CPU keeps at hand")
    grid = pt.Grid(shape)
    u = pt.Field(grid, device=device)
    u.fill(1)
    velocity = pt.Velocity(grid, ["0.1", "0.1"]) if is_formula else pt.Field(grid, 2, device=device)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    with pt.profile(device) as profile:
        transport.step(0.001)
    assert ("keep_edges" in profile.kernels) == is_cut
