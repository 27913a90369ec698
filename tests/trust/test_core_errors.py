# SPDX-License-Identifier: BSD-3-Clause
"""What the core refuses, which nothing above should ever make it say."""

import numpy as np
import particles as pt
import pytest
from particles import _core, kernels
from particles._core import testing

from tests.support.gpu_forms import as_gpu
from tests.support.refusals import GRID, NAN, OTHER, foreign, refused, scalar, vector
from tests.support.sweeps import advection_core, remesh_core

pytestmark = pytest.mark.one_device

PERIODIC = ("periodic", "periodic")
ALL = [0, 0, 0], [1, *GRID.shape], [1, 1, 1]
POINTS = GRID.size


@pytest.mark.parametrize(
    "entries",
    [
        ([], [], [], []),
        ([4] * 4, [0] * 4, [1] * 4, [PERIODIC] * 4),
        ([4, 4], [0], [1, 1], [PERIODIC] * 2),
        ([4, 4], [0, 0], [1], [PERIODIC] * 2),
        ([4, 4], [0, 0], [1, 1], [PERIODIC]),
    ],
    ids=["none", "four", "origin", "spacing", "boundary"],
)
def test_entries_of_a_grid(entries):
    words = "grid: expected 1 to 3 entries of shape, origin, spacing and boundary"
    refused(ValueError, words, _core.Grid, *entries)


def test_ends_of_a_grid():
    words = "boundary: expected periodic, wall, outflow or inflow, got open"
    refused(ValueError, words, _core.Grid, [4], [0], [1], [("wall", "open")])


@pytest.mark.parametrize(("shape", "wrong"), [([0], 0), ([4, -1], -1), ([2**40, 2], 2)])
def test_points_of_a_grid(shape, wrong):
    words = f"shape: expected 1 to 2**40 points in all, got {wrong} along an axis"
    each = [1] * len(shape)
    refused(ValueError, words, _core.Grid, shape, each, each, [PERIODIC] * len(shape))


@pytest.mark.parametrize("components", [0, 1025])
def test_components_of_a_field(device, components):
    words = f"components: expected 1 to 1024, got {components}"
    refused(ValueError, words, _core.Field, device.core, GRID.core, components, "float32", "")


def test_dtype_of_a_field(device):
    words = "dtype: expected float16, float32 or float64, got int32"
    refused(ValueError, words, _core.Field, device.core, GRID.core, 1, "int32", "")


@pytest.mark.parametrize("index", [-1, 2])
def test_components_that_are_none(index):
    words = f"component: expected 0 to 1, got {index}"
    refused(IndexError, words, vector().core.component, index)


def test_strides_of_what_is_adopted(device):
    memory = scalar(device=device).core.memory
    words = "strides: expected one of the component and one of each axis"
    place = device.core, GRID.core, 1, "float32", "", memory, 0
    refused(ValueError, words, _core.Field.adopt, *place, [1, 1])


def test_memory_before_its_first_byte(device):
    field = scalar(device=device).core
    place = device.core, GRID.core, 1, "float32", "", field.memory, -1
    words = (
        "array: expected an offset from 0 on, positive strides, and a size of less than 2**63 bytes"
    )
    refused(ValueError, words, _core.Field.adopt, *place, field.strides)


def test_memory_beyond_its_last_byte(device):
    field = scalar(device=device).core
    place = device.core, GRID.core, 1, "float32", "", field.memory, 10**6
    with pytest.raises(ValueError, match=r"^array: expected a buffer of at least \d+ bytes, got"):
        _core.Field.adopt(*place, field.strides)


@pytest.mark.parametrize("which", range(3))
def test_entries_of_a_selection(which):
    entries = [list(numbers) for numbers in ALL]
    entries[which].append(1)
    words = "selection: expected one entry of the component and of each axis"
    refused(ValueError, words, scalar().core.fill, *entries, 0.0)


@pytest.mark.parametrize(
    ("start", "count", "step"), [(-1, 1, 1), (0, 0, 1), (0, 1, 0), (0, 7, 1), (1, 3, 3)]
)
def test_selections_that_leave_the_field(start, count, step):
    assert GRID.shape[1] == 6
    words = f"selection: expected elements of an axis of length 6, got {count} from {start}"
    fill = scalar().core.fill
    refused(
        IndexError,
        f"{words} in steps of {step}",
        fill,
        [0, 0, start],
        [1, 1, count],
        [1, 1, step],
        0,
    )


@pytest.mark.parametrize(
    "host",
    [
        np.zeros(GRID.shape, "float32").T,
        np.zeros(POINTS - 1, "float32"),
        np.zeros(POINTS, "float64"),
    ],
    ids=["order", "size", "dtype"],
)
def test_arrays_that_a_field_cannot_be_read_to(host):
    words = f"host array: expected {POINTS} contiguous elements of float32"
    refused(ValueError, words, scalar().core.read, *ALL, host)


def test_arrays_that_a_field_cannot_be_written_from():
    for host in (np.zeros(GRID.shape, "float32").T, np.zeros(POINTS - 1, "float32")):
        words = f"host array: expected {POINTS} contiguous elements of float32"
        refused(ValueError, words, scalar().core.write, *ALL, host)
    words = "dtype: expected float16, float32 or float64, got int64"
    refused(ValueError, words, scalar().core.write, *ALL, np.zeros(POINTS, "int64"))


def test_memory_of_another_device(device):
    other = foreign()
    words = f"the buffer belongs to another context than the one of {device.name}"
    place = device.core, GRID.core, 1, "float32", "", other.core.memory, 0
    refused(pt.DeviceError, words, _core.Field.adopt, *place, other.core.strides)


def test_copies_of_another_shape_or_device(device):
    field = pt.Field(GRID, name="u", device=device)
    words = "copy: expected a field of the same device and shape as field u, got a field"
    smaller = pt.Field(pt.Grid((3, 6)), device=device)
    for other in (smaller, vector(device=device), scalar(device=as_gpu(device)), foreign()):
        refused(ValueError, words, field.core.copy_from, other.core)


@pytest.mark.parametrize("axes", [[], [True, True], [False] * 3])
def test_axes_of_a_reduction(axes):
    words = "axes: expected whether each is reduced, and one that is"
    refused(ValueError, words, scalar().core.sum_along, axes)


def test_centres_of_other_deviations(device):
    words = "centres: expected one for each of 6 results, not 4"
    deviations = scalar(device=device).core.sum_squared_deviations_along
    refused(ValueError, words, deviations, [True, True, False], np.zeros(4))


def test_operands_of_another_shape_or_device(device):
    words = "operands: expected fields of the target's device and shape"
    formula = "", [], "float32", False
    for other in (pt.Field(pt.Grid(4), device=device), pt.Field(pt.Grid((4, 5)), device=device)):
        refused(ValueError, words, scalar(device=device).core.assign, *ALL, [other.core], *formula)
    for other in (scalar(device=as_gpu(device)), foreign()):
        refused(ValueError, words, scalar(device=device).core.assign, *ALL, [other.core], *formula)


def test_other_numbers_of_parameters():
    parameters = _core.Parameters([1.0, 2.0])
    for values in ([], [3.0]):
        with pytest.raises(ValueError, match=f"^values: expected 2, got {len(values)}$"):
            parameters.values = values
    assert (parameters.values, parameters.version) == ([1.0, 2.0], 0)


def test_a_kernel_that_does_not_exist():
    words = "there is no kernel file named nothing.cl"
    refused(RuntimeError, words, testing.kernel_source, "nothing.cl")


def test_rules_of_a_push(device):
    words = "scheme: expected one of euler, rk2, heun, rk3, rk4, got rk5"
    refused(ValueError, words, advection_core, vector(device=device), scheme="rk5")
    words = "interpolation: expected one of linear, cubic, got nearest"
    refused(ValueError, words, advection_core, vector(device=device), interpolation="nearest")


def test_rules_of_remeshing(device):
    u = scalar(device=device)
    words = "limiter: expected positive or monotone, got steep"
    refused(ValueError, words, remesh_core, [u], limiter="steep")
    push, remesh = advection_core(vector(device=device)), remesh_core([u])
    diffusion = _core.Diffusion([u.core], [0.1], [])
    words = "order: expected 1 or 2 with diffusion, got 4"
    refused(ValueError, words, _core.Splitting, push, remesh, 4, None, [diffusion])


def test_a_velocity_of_fewer_axes(device):
    words = "grid: expected whole multiples of the velocity's points along every axis"
    flat, solid = pt.Field(GRID, 3, device=device), pt.Grid((4, 6, 2))
    refused(ValueError, words, advection_core, flat, grid=solid.core)


def test_speeds_for_other_axes(device):
    push = advection_core(vector(device=device))
    words = "speeds: expected one per axis (2), got 3"
    refused(ValueError, words, push.bound_speeds, 0.0, 1.0, [1.0, 1.0, 1.0])


def test_forms_and_inflow_of_other_axes(device):
    chosen = kernels.get("M'6")
    remesh = [scalar(device=device).core], kernels.opencl_source(chosen), chosen.stencil
    words = "forms: expected one for each axis (2), got 1"
    refused(ValueError, words, _core.RemeshOp, *remesh, [_core.Form()])
    words = "inflow: expected at most 3 axes, got 4"
    inflow = [[[], []]] * 4
    refused(ValueError, words, _core.RemeshOp, *remesh, [_core.Form()] * 2, inflow=inflow)


def test_sums_in_the_result_where_there_is_no_room_for_more(device):
    u = scalar(device=device)
    words = "form: expected sums in private or local memory where they are limited, got global"
    with pytest.raises(ValueError, match=f"^{words}$"):
        remesh_core([u], form="global", limiter="positive")
    channel = pt.Field(pt.Grid((4, 6), boundary=("periodic", "wall")), device=device)
    words = "form: expected another kind along axis 1, which is not periodic, got global"
    refused(ValueError, words, remesh_core, [channel], form="global")


def test_images_hold_no_lanes(device):
    if not device.has_images:
        pytest.skip(f"{device.name} has no images")
    form = {"kind": "lanes", "lanes": 4, "images": True}
    words = "form: expected no images with lanes"
    refused(ValueError, words, remesh_core, [scalar(device=device)], form=form)


@pytest.fixture(params=["grid", "dtype", "device"])
def another(request, device):
    """Return a field like those of `scalar`, but for one thing."""
    return {
        "grid": lambda: pt.Field(OTHER, device=device),
        "dtype": lambda: scalar(dtype="float64", device=device),
        "device": lambda: scalar(device=as_gpu(device)),
    }[request.param]()


def test_fields_that_are_changed_together(device, another):
    words = "fields: expected one grid, dtype and device for all"
    u = scalar(device=device)
    refused(ValueError, words, remesh_core, [u, another])
    refused(ValueError, words, _core.SourceOp, [u.core], [another.core], "")
    refused(ValueError, words, _core.Diffusion, [u.core, another.core], [0.1, 0.1], [])


def test_a_source_or_diffusion_of_no_field():
    words = "fields: expected at least one, got none"
    refused(ValueError, words, _core.SourceOp, [], [], "")
    refused(ValueError, words, _core.Diffusion, [], [], [])


def test_what_diffusion_cannot_do(device):
    one = [scalar(device=device).core]
    words = "viscosity: expected one for each component, got 2"
    refused(ValueError, words, _core.Diffusion, one, [0.1, 0.2], [])
    words = "dt: expected no step back, which diffusion cannot take"
    refused(ValueError, words, _core.Diffusion(one, [0.1], []).apply, 0.0, -0.1)


def test_steps_of_fields_that_the_velocity_does_not_fit(device, another):
    words = "velocity: expected the grid, dtype and device of the fields it carries"
    push, elsewhere = advection_core(vector(device=device)), remesh_core([another])
    refused(ValueError, words, _core.Unsplit, push, elsewhere)
    refused(ValueError, words, _core.Splitting, push, elsewhere, 2)


def test_times_beyond_those_of_a_velocity(device):
    levels = [vector(device=device).core for _ in range(2)]
    push = _core.AdvectionOp(levels, [1.0, 2.0], _core.Form(), "rk2", "linear", GRID.core)
    for begin, dt, low, high in [(0.5, 0.5, 0.5, 1.0), (1.5, 1.0, 1.5, 2.5), (NAN, 0.5, NAN, NAN)]:
        words = (
            f"time: expected within the velocity's, 1.000000 to 2.000000, got {low:f} to {high:f}"
        )
        refused(ValueError, words, push.measure, [0], [begin], [dt])


def resample(source, target):
    chosen = kernels.get("M'6")
    _core.resample(source.core, target.core, kernels.opencl_source(chosen), chosen.stencil)


def test_resampling_of_other_fields(device):
    words = "resample: expected one device, dtype and number of components"
    u = scalar(device=device)
    line = pt.Field(pt.Grid(24), device=device)
    others = [line, vector(device=device), scalar(dtype="float64", device=device)]
    for other in (*others, scalar(device=as_gpu(device))):
        refused(ValueError, words, resample, u, other)


def test_ratios_of_a_resampling(device):
    plan = pt.Device(device.info, _core.Context.dry(device.info))
    for source, target, words in [
        (6, 9, "a whole multiple or fraction of 6 points along axis 0, got 9"),
        (1, 2**28, f"a whole multiple or fraction of 1 points along axis 0, got {2**28}"),
        (2, 2**30, f"at most 2**29 points along axis 0, got {2**30}"),
    ]:
        fields = [pt.Field(pt.Grid(n), dtype="float16", device=plan) for n in (source, target)]
        refused(ValueError, f"grid: expected {words}", resample, *fields)


@pytest.mark.parametrize(
    ("begin", "whole", "words"),
    [
        ([0], [4, 6], "none or one for each axis"),
        ([0, 0], [8], "none or one for each axis"),
        ([-1, 0], [8, 6], "a part of the whole grid"),
        ([5, 0], [8, 6], "a part of the whole grid"),
        ([0, 0], [2**40 + 1, 6], "a part of the whole grid"),
    ],
)
def test_parts_of_a_grid(begin, whole, words):
    each = [PERIODIC] * 2
    words = f"begin, whole: expected {words}"
    refused(ValueError, words, _core.Grid, [4, 6], [0, 0], [1, 1], each, begin, whole)


def test_rows_that_a_field_cannot_be_written_from():
    words = "host array: expected whole rows of the field's dtype"
    for host in (np.zeros((2, 6), "float32").T, np.zeros((2, 5), "float32"), np.zeros((2, 6))):
        refused(ValueError, words, scalar().core.write_rows, 0, 0, host)
    for axis in -1, 1, 2:
        host = np.zeros(3, "float32")
        refused(
            ValueError, "axis: expected one of the field's", scalar().core.write_rows, axis, 0, host
        )


def box_of(grid=GRID):
    return _core.Cells(grid.core, [0.0] * grid.ndim, [1.0] * grid.ndim)


def column(device, count=3, components=1, dtype="float32"):
    return _core.Array(device.core, count, components, dtype, "column")


def places_of(device, cells=3, offsets=3, axes=2, dtype="int32", with_turns=True):
    turns = column(device, cells, axes, "int32") if with_turns else None
    return _core.Places(column(device, cells, 1, dtype), column(device, offsets, axes), turns)


def test_ends_of_a_box():
    words = "box: expected a low and a high end of each axis"
    for low, high in ([0], [1, 1]), ([0, 0], [1]):
        refused(ValueError, words, _core.Cells, GRID.core, low, high)


@pytest.mark.parametrize(("first", "planes"), [(-1, 2), (4, 2), (0, 5), (2, -1)])
def test_planes_of_a_box(first, planes):
    words = "box: expected a part of its planes"
    ends = [0.0, 0.0], [1.0, 1.0]
    refused(ValueError, words, _core.Cells, GRID.core, *ends, first, planes)


def test_arrays_of_places(device):
    def arrays(count=3):
        return {
            "positions": np.zeros((count, 2)),
            "cells": np.zeros(count, "int32"),
            "offsets": np.zeros((count, 2), "float32"),
            "turns": np.zeros((count, 2), "int32"),
        }

    box = box_of()
    assert box.cell_dtype == "int32"
    words = "host array: expected offsets of float32 or float64"
    wrong = arrays() | {"offsets": np.zeros((3, 2), "int64")}
    refused(ValueError, words, box.split, **wrong)
    for name, dtype in ("cells", "int32"), ("offsets", "float32"), ("turns", "int32"):
        each = arrays()[name].size // 3
        length = 3 * each
        words = f"host array: expected {length} contiguous elements of {dtype}"
        turned = np.zeros((each, 6), dtype)[:, ::2].T
        wrong = [turned] if name == "cells" else [turned, arrays(2)[name]]
        for one in wrong:
            refused(ValueError, words, box.split, **arrays() | {name: one})
    words = "host array: expected 6 contiguous elements of float64"
    for one in (np.zeros((3, 2), "float32"), np.zeros((2, 2)), np.zeros((2, 3)).T):
        refused(ValueError, words, box.split, **arrays() | {"positions": one})
        given = arrays()
        refused(ValueError, words, box.join, given["cells"], given["offsets"], one)
    words = "host array: expected 3 contiguous elements of int32"
    given = arrays() | {"cells": np.zeros(3)}
    refused(
        ValueError,
        words,
        places_of(device).write,
        *(0, 1, given["cells"], given["offsets"], given["turns"]),
    )


def test_places_of_other_particles(device):
    box = box_of()
    sets = _core.ParticleSet(device.core, box)
    right, moves, gone = places_of(device), column(device, 3, 2), column(device, 3, 1, "int32")
    for start in (
        places_of(device, offsets=4),
        places_of(device, axes=1),
        places_of(device, dtype="int64"),
    ):
        with pytest.raises(ValueError, match=r"^places: expected columns of 3 particles in a"):
            sets.move(start, moves, [False] * 2, right, gone)
    words = "move: expected places of the same kind"
    without = places_of(device, with_turns=False)
    refused(ValueError, words, sets.move, without, moves, [False] * 2, right, gone)
    words = "move: expected one of differences for each axis"
    refused(ValueError, words, sets.move, right, moves, [False], right, gone)


def test_columns_of_other_particles(device):
    sets, right = _core.ParticleSet(device.core, box_of()), column(device)
    elsewhere = column(as_gpu(device))
    words = "compute: expected columns of 3 particles on one device, got column"
    formula = "", [], "float32", False
    for other in (column(device, 4), elsewhere):
        for operands, targets in ([other], [right]), ([right], [other]):
            refused(ValueError, words, sets.compute, places_of(device), operands, targets, *formula)


@pytest.mark.parametrize(
    ("count", "components", "dtype"), [(4, 1, "int32"), (5, 2, "int32"), (5, 1, "float32")]
)
def test_starts_of_other_rows(device, count, components, dtype):
    sets, cells = _core.ParticleSet(device.core, box_of()), column(device, 3, 1, "int32")
    assert box_of().rows == 4
    starts = column(device, count, components, dtype)
    refused(ValueError, "starts: expected 5 integers", sets.find_starts, cells, starts)


@pytest.mark.parametrize(
    ("count", "components", "dtype"), [(4, 1, "int32"), (3, 2, "int32"), (3, 1, "float32")]
)
def test_cells_of_other_particles(device, count, components, dtype):
    sets, cells = _core.ParticleSet(device.core, box_of()), column(device, 3, 1, "int32")
    other = column(device, count, components, dtype)
    words = "cells: expected columns of as many numbers, got column and column"
    refused(ValueError, words, sets.find_cells, cells, other)
    refused(ValueError, words, sets.find_cells, other, cells)


def test_interpolation_of_other_fields(device):
    chosen = kernels.get("M'4")
    between = _core.Interpolation(
        device.core, kernels.opencl_source(chosen), chosen.stencil, 1 << 16, 2.0
    )
    words = "interpolation: expected a field like the values, got field and column"
    values = column(device)
    line = pt.Field(pt.Grid(4), device=device, name="field")
    pair, afar = (
        pt.Field(GRID, 2, device=device, name="field"),
        pt.Field(GRID, device=as_gpu(device), name="field"),
    )
    for field in (line, pair, afar):
        place = box_of(), places_of(device), None
        pairs = [(field.core, 0, 0, values, values, False)]
        refused(ValueError, words, between.to_particles, *place, pairs)
    starts = column(device, 4, 1, "int32")
    field = scalar(device=device)
    words = "interpolation: expected the starts of all rows"
    given = box_of(), places_of(device), starts, [(values, field.core)]
    refused(ValueError, words, between.to_grid, *given, False, False)


def test_paths_in_a_velocity_of_other_axes(device):
    chosen = kernels.get("L1")
    words = "velocity: expected a grid of as many axes as the set's"
    weights = kernels.opencl_source(chosen), chosen.stencil
    box = box_of(pt.Grid((4, 6, 2)))
    flow = [vector(device=device).core]
    refused(ValueError, words, _core.Tracers, flow, [0.0], "rk2", *weights, box, "float32")


def test_parts_of_an_array(device):
    pairs = column(device, 3, 2)
    for index in (-1, 2):
        refused(IndexError, f"component: expected 0 to 1, got {index}", pairs.component, index)
    for first, count in (-1, 1), (0, -1), (2, 2):
        words = f"rows: expected some of 3, got {count} from {first}"
        refused(IndexError, words, pairs.rows, first, count)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([], "nodes: expected at least one, got none"),
        ([("sell", [], 0.0)], "operation: expected one of a formula, got sell"),
        ([("sin", [-1], 0.0)], "operands: expected up to 3 of earlier nodes"),
        ([("sin", [0], 0.0)], "operands: expected up to 3 of earlier nodes"),
        ([("time", [], 0.0), ("sin", [0] * 4, 0.0)], "operands: expected up to 3 of earlier nodes"),
    ],
)
def test_formulas_of_time(nodes, words):
    refused(ValueError, words, testing.time_formula_at, nodes, 0.0, [])


def test_rows_of_other_fields(device):
    field, flat = scalar(device=device), pt.Field(pt.Grid((2, 6)), device=device)
    words = "rows: expected some of two fields of one kind"
    for place, first, count in (-1, 0, 1), (0, -1, 1), (0, 0, -1), (3, 0, 2), (0, 1, 2):
        refused(ValueError, words, field.core.copy_rows, place, flat.core, first, count)
    for other in (vector(device=device), scalar(device=as_gpu(device))):
        refused(ValueError, words, field.core.copy_rows, 0, other.core, 0, 1)


def test_digits_of_no_sum():
    words = "digits: expected those of a sum"
    refused(ValueError, words, _core.value_of_digits, np.zeros(3, "int64"))
