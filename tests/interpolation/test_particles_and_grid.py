# SPDX-License-Identifier: BSD-3-Clause
"""Between particles and grid: laws first, then beside NumPy."""

import numpy as np
import particles as pt
import pytest
from particles import _core, kernels

from tests.reference import reference_interpolation as reference
from tests.support import lot
from tests.support.gpu_forms import FORMS, in_form, skip_what_takes_for_ever

BOXES = [
    {"boundary": ["wall"]},
    {"origin": -1, "extent": 3, "boundary": ["periodic"]},
    {"origin": (0.5, -2), "extent": (2, 1), "boundary": ["periodic", ("wall", "outflow")]},
    {"extent": (1, 3), "boundary": [("inflow", "wall"), "periodic"]},
    {"extent": (1, 1, 9), "boundary": [("outflow", "wall"), "wall", "periodic"]},
    {"origin": (0, 3, 0), "boundary": ["periodic", "periodic", "outflow"]},
]
SHAPES = {
    1: [(1,), (2,), (7,), (40,)],
    2: [(5, 3), (1, 17), (9, 1), (12, 20), (2, 2)],
    3: [(4, 1, 6), (3, 5, 2), (7, 8, 9), (1, 1, 1), (2, 3, 30)],
}
KERNELS = ["M'6", "M'4", "L1", "nearest", "M'8", "L6_4", "L10_5"]
DTYPES = ["float32", "float64", "float16"]
ROUNDING = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-12}
"""Of a sum of as many terms as here, relative to its greatest."""


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    if request.param != FORMS[0]:
        skip_what_takes_for_ever(device)
    return in_form(device, request.param)


def generator(name):
    """Return a generator of the tests' number."""
    return np.random.default_rng(lot.lots(name).getrandbits(64))


def drawn_box(rng, ndim=None):
    """Return a box, and two shapes of grids in it."""
    boxes = [box for box in BOXES if ndim in (None, len(box["boundary"]))]
    box = boxes[rng.integers(len(boxes))]
    shapes = SHAPES[len(box["boundary"])]
    return box, *(shapes[k] for k in rng.integers(len(shapes), size=2))


def anywhere(grid, n, rng, kernel=None):
    """Return positions in a box, some on its ends and on points; halfway none point is nearest."""
    u = rng.random((n, grid.ndim))
    on_points = np.floor(u * grid.shape) / grid.shape
    where = rng.random((n, grid.ndim)) if kernel != "nearest" else np.full(u.shape, 0.5)
    u = np.where(where < 0.1, on_points, np.where(where < 0.13, 0, u))
    bounded = [beyond != "periodic" for beyond in grid.boundary]
    u = np.where((where > 0.97) & bounded, 1, u)
    return np.clip(
        np.array(grid.origin) + u * grid.extent,
        grid.origin,
        np.array(grid.origin) + grid.extent,
    )


def filled(grid, n, device, rng, dtype="float64", kernel=None, **attributes):
    """Return a set of particles anywhere."""
    positions = anywhere(grid, n, rng, kernel)
    return pt.ParticleSet(grid, positions, dtype=dtype, device=device, **attributes)


def noise(grid, device, rng, components=1, dtype="float64"):
    """Return a field of random numbers."""
    field = pt.Field(grid, components, dtype, device)
    field[...] = rng.uniform(-1, 1, field.shape)
    return field


def last(field):
    """Return a field's values with the components behind the axes."""
    values = field.get().astype(float)
    return np.moveaxis(values, 0, -1) if field.components > 1 else values


def near(found, expected, dtype):
    """Compare by the greatest of what is expected."""
    scale = max(np.abs(expected).max(initial=0), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING[dtype] * scale)


@pytest.mark.parametrize("run", range(4))
def test_both_directions_are_those_of_numpy(machine, run):
    rng = generator(f"directions {run}")
    box, shape, other = drawn_box(rng)
    grid = pt.Grid(shape, **box)
    home = pt.Grid(other if run % 2 else shape, **box)
    kernel = KERNELS[rng.integers(len(KERNELS))]
    components = int(rng.integers(1, 4))
    of_grid, of_values = (DTYPES[k] for k in rng.integers(3, size=2))
    n = int(rng.integers(1, 200))
    weights = rng.uniform(-1, 1, (n, components) if components > 1 else n).astype(of_values)
    swarm = filled(home, n, machine, rng, "float32" if run % 3 else "float64", kernel, s=weights)
    field = noise(grid, machine, rng, components, of_grid)
    rounding = max(of_grid, of_values, swarm.dtype.name, key=ROUNDING.get)

    before = last(field)
    pt.GridToParticles(field, swarm, "value", kernel).apply()
    assert swarm["value"].dtype == field.dtype
    expected = reference.to_particles(grid, swarm.positions.get(), before, kernel)
    near(swarm["value"].get(), expected, rounding)

    give = pt.ParticlesToGrid(swarm, "s", field, kernel)
    give.apply()
    expected = reference.to_grid(
        grid, swarm.positions.get(), swarm["s"].get().astype(float), kernel
    )
    near(last(field), expected, rounding)
    give.apply(add=True)
    near(last(field), 2 * expected, rounding)


@pytest.mark.parametrize("run", range(3))
def test_one_direction_is_the_transpose_of_the_other(machine, run):
    rng = generator(f"transposes {run}")
    box, shape, other = drawn_box(rng, run + 1)
    kernel = KERNELS[rng.integers(len(KERNELS))]
    grid, n = pt.Grid(shape, **box), 300
    swarm = filled(pt.Grid(other, **box), n, machine, rng, s=rng.uniform(-1, 1, n))
    field, received = noise(grid, machine, rng), pt.Field(grid, dtype="float64", device=machine)
    pt.GridToParticles(field, swarm, "value", kernel).apply()
    pt.ParticlesToGrid(swarm, "s", received, kernel).apply()
    one = swarm["s"].get() @ swarm["value"].get()
    other = np.vdot(received.get(), field.get())
    assert abs(one - other) < 1e-12 * n
    # The sum is kept whatever the ends are, as a field of ones is sampled as one.
    assert received.sum() == pytest.approx(swarm["s"].sum(), abs=1e-12 * n)
    field.fill(1)
    pt.GridToParticles(field, swarm, "value", kernel).apply()
    np.testing.assert_allclose(swarm["value"], 1, rtol=0, atol=1e-13)


@pytest.mark.any_form
@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4", "L1", "nearest"])
def test_moments_are_kept(device, kernel):
    """A polynomial of the degree that the kernel keeps is sampled as it is."""
    n, rng = 24, generator("moments")
    grid = pt.Grid((n, n), extent=n)
    degree = kernels.get(kernel).moments
    swarm = pt.ParticleSet(grid, rng.uniform(8, 15, (50, 2)), dtype="float64", device=device)
    field = pt.Field(grid, dtype="float64", device=device)
    x, y = grid.coordinates()
    field[...] = ((x - 12) / 4) ** degree * ((y - 12) / 4) ** degree
    pt.GridToParticles(field, swarm, "value", kernel).apply()
    u = (swarm.positions.get() - 12) / 4
    np.testing.assert_allclose(swarm["value"], u[:, 0] ** degree * u[:, 1] ** degree, atol=1e-11)


@pytest.mark.any_form
@pytest.mark.parametrize("end", ["wall", "outflow"])
@pytest.mark.parametrize(("place", "centre"), [(0, 0.5), (0.5, 0.5), (0.75, 0.75), (4.1, 4.1)])
def test_the_centre_of_mass_is_kept_away_from_ends(device, end, place, centre):
    """Beside an end it moves inwards, by at most half a cell."""
    grid = pt.Grid(8, extent=8, boundary=end)
    swarm = pt.ParticleSet(grid, [[place]], mass=np.ones(1), device=device)
    density = pt.Field(grid, dtype="float64", device=device)
    pt.ParticlesToGrid(swarm, "mass", density, "L1").apply()
    assert grid.coordinates()[0] @ density.get() == pytest.approx(centre, abs=1e-14)


@pytest.mark.parametrize("run", range(3))
def test_bits_depend_neither_on_tiles_nor_on_who_has_them(machine, run):
    rng = generator(f"tiles {run}")
    box, *_ = drawn_box(rng, run + 1)
    shapes = {1: [(50,), (1,)], 2: [(30, 11), (3, 400)], 3: [(9, 10, 7), (2, 2, 700)]}
    shape = shapes[run + 1][rng.integers(2)]
    grid, n = pt.Grid(shape, **box), 900
    s = rng.normal(size=(n, 2)).astype("float32")
    # Many in few places: where they come from beyond an end, others come from within.
    places = anywhere(grid, 60, rng)
    places[:20, -1] = grid.origin[-1] + grid.extent[-1] * rng.choice([0.001, 0.999], 20)
    swarm = pt.ParticleSet(grid, places.repeat(15, 0), s=s, device=machine)
    field = pt.Field(grid, 2, device=machine)
    give = pt.ParticlesToGrid(swarm, "s", field)
    give.apply()
    bits = field.get().tobytes()
    for bytes_of_window in (1, 4000, 10**9):
        kernel = give.kernel
        give._core = _core.Interpolation(
            machine.core,
            kernels.opencl_source(kernel),
            kernel.stencil,
            bytes_of_window,
        )
        give.apply()
        assert field.get().tobytes() == bits


RING_KERNELS = {
    "2 weights": ["L1", "nearest"],
    "4 weights": ["M'4", "L2_2"],
    "6 weights": ["M'6", "L4_3"],
    "8 weights": ["L6_4", "M'8"],
}


RING_ENDS = ["periodic", "periodic", "wall", ("outflow", "wall"), ("inflow", "outflow")]
"""Of any axis."""


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("names", RING_KERNELS.values(), ids=RING_KERNELS)
@pytest.mark.parametrize("ndim", [2, 3])
def test_a_ring_of_planes_gives_the_same_bits(device, ndim, names, number):
    rng = generator(f"ring {ndim} {names} {number}")
    kernel = kernels.get(names[rng.integers(2)])
    dtype = ["float32", "float64"][rng.integers(2)]
    ends = [RING_ENDS[rng.integers(5)] for _ in range(ndim)]
    if kernel.stencil == 8:  # with one plane more a ring would be of 16
        ends[0] = "periodic"
    shapes = {2: [(5, 3), (30, 2), (2, 40)], 3: [(5, 7, 6), (3, 1, 9), (9, 12, 1)]}
    shape = list(shapes[ndim][rng.integers(3)])
    for axis in range(ndim - 1):
        if ends[axis] != "periodic":  # so long that there is one image of a point at most
            shape[axis] += 2 * kernel.stencil
    grid = pt.Grid(shape, boundary=ends)
    n, components = 500, int(rng.integers(1, 3))
    s = rng.normal(size=(n, components) if components > 1 else n).astype(dtype)
    if number == 2:  # so little that products are 0, and have a sign
        s *= 4 * np.finfo(dtype).tiny
    s[7] = np.nan  # which comes to the points of this particle, and to no other ones
    swarm = pt.ParticleSet(grid, anywhere(grid, n, rng), s=s, dtype=dtype, device=device)
    given = pt.Field(grid, components, dtype, device)
    field = noise(grid, device, rng, components, dtype)
    field[..., 0] = np.nan  # which comes to the particles around these points alone
    give = pt.ParticlesToGrid(swarm, "s", given, kernel)
    sample = pt.GridToParticles(field, swarm, "value", kernel)
    found = []
    columns = swarm._columns
    for most_repeated, bytes_of_window in [(0, 10**6), *((np.inf, n) for n in (10**6, 1, 9000))]:
        core = _core.Interpolation(
            device.core,
            kernels.opencl_source(kernel),
            kernel.stencil,
            bytes_of_window,
            most_repeated,
        )
        if most_repeated and device.is_cpu:
            values = columns.attributes["s"]
            assert core.has_ring(field.core, swarm._box, values, columns.offsets)
        give._core = sample._core = core
        for adds in False, True:
            give.apply(add=adds)
            sample.apply(add=adds)
        both = given.get(), swarm["value"].get()
        found.append(tuple(np.nan_to_num(values, nan=7.5).tobytes() for values in both))
    assert len(set(found)) == 1


@pytest.mark.any_form
@pytest.mark.parametrize("shape", [(4, 256), (3, 5, 200)])
@pytest.mark.parametrize("order", ["at random", "one by one", "of both kinds"])
def test_a_ring_gives_the_same_bits_whoever_follows_whom(device, shape, order):
    """Particles give to a whole line at once, or place by place where they meet each other's."""
    rng, n = generator(f"order {shape} {order}"), 3001
    grid = pt.Grid(shape, extent=[float(points) for points in shape])
    places = anywhere(grid, n, rng)
    if order != "at random":
        ascending = places[np.argsort(places[:, -1])]
        few = rng.integers(n) if order == "of both kinds" else n
        places[:few] = ascending[:few]
    s = rng.normal(size=n).astype("float32")
    swarm = pt.ParticleSet(grid, places, dtype="float32", s=s, device=device)
    field = pt.Field(grid, device=device)
    give = pt.ParticlesToGrid(swarm, "s", field, "M'4")
    found = set()
    for most_repeated in (0, np.inf):
        text = kernels.opencl_source(give.kernel)
        give._core = _core.Interpolation(
            device.core, text, give.kernel.stencil, 10**6, most_repeated
        )
        give.apply()
        found.add(field.get().tobytes())
    assert len(found) == 1


@pytest.mark.any_form
@pytest.mark.parametrize(
    ("shape", "is_ring"),
    [((4096, 16), True), ((4, 4, 4), False), ((2, 4, 20_000), False), ((16, 100_000), False)],
)
def test_rings_are_not_for_narrow_tiles(device, shape, is_ring):
    """Where most planes would be gone through several times, or rings have not room enough."""
    give = pt.ParticlesToGrid(
        pt.ParticleSet(
            pt.Grid(shape), [[0.5] * len(shape)], s=np.ones(1, "float32"), device=device
        ),
        "s",
        pt.Field(pt.Grid(shape), device=device),
    )
    columns = give.swarm._columns
    found = give._core.has_ring(
        give.fields[0].core, give.swarm._box, columns.attributes["s"], columns.offsets
    )
    assert found == (is_ring and device.is_cpu)


@pytest.mark.any_form
def test_where_rows_begin_is_overwritten(device):
    grid = pt.Grid((8, 8))
    swarm = pt.ParticleSet.random(grid, 100, seed=1, s=np.ones(100, "float32"), device=device)
    give = pt.ParticlesToGrid(swarm, "s", pt.Field(grid, device=device))
    arrays = []
    for _ in range(3):
        give.apply()
        arrays.append(swarm._starts())
        swarm.update(lambda p: {"position": p.position + 0.3})
    assert len({id(array) for array in arrays}) == 1


@pytest.mark.any_form
@pytest.mark.parametrize("kernel", ["M'4", "M'6"])
def test_windows_leave_each_other_alone(device, kernel):
    """Each work-item has one, beside those of others that run at the same time."""
    rng, n = generator(f"windows {kernel}"), 40_000
    grid = pt.Grid((4001, 1), boundary=["periodic", "wall"])
    s = rng.normal(size=n).astype("float32")
    swarm = pt.ParticleSet(grid, anywhere(grid, n, rng), s=s, device=device)
    given, field = pt.Field(grid, device=device), noise(grid, device, rng, 1, "float32")
    give = pt.ParticlesToGrid(swarm, "s", given, kernel)
    sample = pt.GridToParticles(field, swarm, "value", kernel)
    found = set()
    for _ in range(10):
        give.apply()
        sample.apply()
        found.add((given.get().tobytes(), swarm["value"].get().tobytes()))
    assert len(found) == 1


@pytest.mark.any_form
@pytest.mark.parametrize("beyond", ["wall", "outflow"])
def test_tiles_that_end_anywhere_lose_nothing_at_an_end(device, beyond):
    """The last tile of a line may be shorter than what a particle at the end reaches."""
    kernel = ["M'6", "L8_4", "M'8"][generator(f"tiles {beyond}").integers(3)]
    for points in range(48, 145):
        grid = pt.Grid((points,), extent=(points,), boundary=[beyond])
        at_ends = [[0.0], [0.1], [points - 2.6], [points - 0.1], [points]]
        swarm = pt.ParticleSet(grid, at_ends, dtype="float64", device=device, s=np.ones(5))
        field = pt.Field(grid, 1, "float64", device)
        pt.ParticlesToGrid(swarm, "s", field, kernel).apply()
        assert field.sum() == pytest.approx(5, abs=1e-13), (kernel, points)


@pytest.mark.any_form
def test_the_canonical_order_does_not_depend_on_the_sets(device):
    rng = generator("canonical")
    box, shape, other = drawn_box(rng, 2)
    grid, n = pt.Grid(shape, **box), 400
    positions = anywhere(grid, 40, rng).repeat(10, 0)
    s, v = rng.normal(size=n).astype("float32"), rng.normal(size=(n, 2)).astype("float16")
    found = {None: set(), "canonical": set()}
    for _ in range(3):
        order = rng.permutation(n)
        swarm = pt.ParticleSet(
            pt.Grid(other, **box), positions[order], s=s[order], v=v[order], device=device
        )
        fields = pt.Field(grid, device=device), pt.Field(grid, 2, device=device)
        for how, bits in found.items():
            pt.ParticlesToGrid(swarm, ["s", "v"], fields, order=how).apply()
            bits.add(fields[0].get().tobytes() + fields[1].get().tobytes())
            near(
                fields[0].get(),
                reference.to_grid(
                    grid, swarm.positions.get(), swarm["s"].get().astype(float), "M'6"
                ),
                "float32",
            )
    assert len(found["canonical"]) == 1
    assert len(found[None]) > 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("are_apart", [False, True])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_a_canonical_order_of_several_gives_the_bits_of_one_by_one(machine, ndim, dtype, are_apart):
    """Also of many particles at one place, where each has an order of its own."""
    rng = generator(f"canonical {ndim} {dtype}")
    box, shape, _ = drawn_box(rng, ndim)
    grid, n = pt.Grid(shape, **box), 600
    at = anywhere(grid, n // 4, rng).repeat(4, 0)
    at[: n // 3] = at[0]
    if are_apart:
        at = anywhere(grid, n, rng, "nearest")
    order = rng.permutation(n)
    known = {"a": rng.normal(size=n), "b": rng.choice([-0.0, 0.0, 1e-3, np.nan], n)}
    known |= {"v": rng.normal(size=(n, 3)), "k": rng.integers(-9, 9, n)}
    kinds = {"a": "float32", "b": "float16", "v": "float64", "k": "int64"}
    attributes = {name: known[name].astype(kind)[order] for name, kind in kinds.items()}
    swarm = pt.ParticleSet(grid, at[order], dtype=dtype, device=machine, **attributes)
    before = [noise(grid, machine, rng, 3 if name == "v" else 1, dtype) for name in kinds]
    found = []
    for together in True, False:
        fields = [field.copy() for field in before]
        pairs = list(zip(kinds, fields, strict=True))
        for some in [pairs] if together else [[pair] for pair in pairs if pair[0] != "v"]:
            names, into = zip(*some, strict=True)
            pt.ParticlesToGrid(swarm, names, into, "M'4", order="canonical").apply(add=True)
        if not together:
            for c in range(3):
                swarm[f"v{c}"], one = swarm["v"][:, c], pt.Field(grid, 1, dtype, machine)
                one[...] = before[2][c]
                pt.ParticlesToGrid(swarm, f"v{c}", one, "M'4", order="canonical").apply(add=True)
                fields[2][c] = one
        found.append([np.nan_to_num(field.get(), nan=7.5).tobytes() for field in fields])
    assert found[0] == found[1]


@pytest.mark.any_form
def test_several_have_one_canonical_order_where_particles_are_apart(device):
    grid, n = pt.Grid((8, 8, 8)), 500
    swarm = pt.ParticleSet.random(grid, n, seed=1, device=device, s=np.ones(n), v=np.ones((n, 4)))

    def sorts(name, components):
        field = pt.Field(grid, components, device=device)
        give = pt.ParticlesToGrid(swarm, name, field, order="canonical")
        give.apply()
        with pt.profile(device) as profile:
            give.apply()
            device.finish()
        return profile.kernels["bits_of"].launches

    assert (sorts("s", 1), sorts("v", 4)) == (5, 4)
    swarm.positions[-1] = swarm.positions[0]
    assert (sorts("s", 1), sorts("v", 4)) == (5, 4 + 4 * 5)


def test_several_at_once_and_added(machine):
    rng = generator("several")
    grid, n = pt.Grid((6, 5)), 70
    swarm = filled(
        grid,
        n,
        machine,
        rng,
        mass=np.arange(n),
        dark=rng.random(n) < 0.5,
        v=rng.normal(size=(n, 2)).astype("float32"),
    )
    fields = [noise(grid, machine, rng, c, "float32") for c in (1, 1, 2)]
    names = ["mass", "dark", "v"]
    before = [last(field) for field in fields]
    pt.ParticlesToGrid(swarm, names, fields).apply(add=True)
    at = swarm.positions.get()
    for name, field, old in zip(names, fields, before, strict=True):
        given = swarm[name].get().astype(float)
        near(last(field), old + reference.to_grid(grid, at, given, "M'6"), "float32")
    kept = swarm["v"]
    old = kept.get().astype(float)
    pt.GridToParticles(fields[1:], swarm, ["new", "v"]).apply(add=True)
    near(swarm["new"].get(), reference.to_particles(grid, at, last(fields[1]), "M'6"), "float32")
    near(kept.get(), old + reference.to_particles(grid, at, last(fields[2]), "M'6"), "float32")
    assert list(swarm.attributes) == ["mass", "dark", "v", "new"]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_sequences_give_the_bits_of_one_pair_after_the_other(machine, ndim, number):
    """With weights that are found once for those that are alike, up to four components of them."""
    rng = generator(f"sequences {ndim} {number}")
    box, shape, other = drawn_box(rng, ndim)
    grid, n = pt.Grid(shape, **box), 300
    kernel = str(rng.choice(["L1", "M'4", "M'6", "M'8"]))
    kinds = [(1, "float32"), (2, "float32"), (1, "float16"), (1, "int32"), (2, "float64")]
    of_grids = [grid, pt.Grid(other, **box)]
    attributes, fields = {}, []
    for k in range(rng.integers(5, 9)):
        components, dtype = kinds[0 if number == 0 else rng.integers(len(kinds))]
        values = rng.normal(size=(n, components) if components > 1 else n) * 9
        attributes[f"of_{k}"] = values.astype(dtype)
        into = "float32" if dtype == "int32" else dtype
        where = of_grids[0 if number < 2 else rng.integers(2)]
        fields.append(noise(where, machine, rng, components, into))
    names = list(attributes)
    swarm = pt.ParticleSet(
        grid, anywhere(grid, n, rng), dtype="float32", device=machine, **attributes
    )
    swarm.sort("cell")
    real = [name for name in names if swarm[name].dtype.kind == "f"]
    its = [fields[names.index(name)] for name in real]
    before = [field.copy() for field in fields]

    def found(one_by_one, adds):
        for field, old in zip(fields, before, strict=True):
            field[...] = old
        for name in names:
            swarm[name] = attributes[name]
        pairs = list(zip(names, fields, strict=True))
        for some in [[pair] for pair in pairs] if one_by_one else [pairs]:
            pt.ParticlesToGrid(swarm, *zip(*some, strict=True), kernel).apply(add=adds)
        pairs = list(zip(its, real, strict=True))
        for some in [[pair] for pair in pairs] if one_by_one else [pairs]:
            read, into = zip(*some, strict=True)
            pt.GridToParticles(read, swarm, into, kernel).apply(add=adds)
        return [field.get().tobytes() for field in fields] + [
            swarm[name].get().tobytes() for name in real
        ]

    for adds in False, True:
        assert found(False, adds) == found(True, adds)


@pytest.mark.any_form
@pytest.mark.parametrize("ndim", [2, 3])
def test_sequences_share_launches(machine, ndim):
    """Three alike are one launch; another type and what is more than four components, another one."""
    grid, n = pt.Grid((12,) * ndim), 400
    rng = generator(f"launches {ndim}")
    ones = {name: np.ones(n, "float32") for name in "abcde"}
    swarm = pt.ParticleSet(grid, anywhere(grid, n, rng), device=machine, other=np.arange(n), **ones)
    swarm.sort("cell")
    names = [*ones, "other"]
    fields = [pt.Field(grid, device=machine) for _ in names]
    for count, launches in (1, 1), (3, 1), (5, 2), (6, 3):
        give = pt.ParticlesToGrid(swarm, names[:count], fields[:count], "M'4")
        give.apply()
        with pt.profile(machine) as profile:
            give.apply()
            machine.finish()
        assert sum(kernel.launches for kernel in profile.kernels.values()) == launches
    sample = pt.GridToParticles(fields[:5], swarm, names[:5], "M'4")
    sample.apply()
    with pt.profile(machine) as profile:
        sample.apply()
        machine.finish()
    assert sum(kernel.launches for kernel in profile.kernels.values()) == 2


@pytest.mark.any_form
def test_sorts_when_it_must_and_says_so(device):
    grid = pt.Grid((8, 8))
    swarm = pt.ParticleSet.random(grid, 50, seed=1, device=device, mass=np.ones(50))
    field = pt.Field(grid, device=device)
    give = pt.ParticlesToGrid(swarm, "mass", field)
    assert repr(give).endswith("; apply sorts the set)")
    pt.GridToParticles(field, swarm, "value").apply()
    pt.ParticlesToGrid(swarm, "mass", field, order="canonical").apply()
    assert swarm.version == 0
    give.apply()
    assert "sorts" not in repr(give)
    give.apply()
    assert swarm.version == 1
    swarm.remove(lambda p: p.x > 0.5)
    give.apply()
    assert field.sum() == pytest.approx(len(swarm))
    swarm.add(swarm)
    give.apply()
    assert field.sum() == pytest.approx(len(swarm))
    swarm.positions[0] = (0.1, 0.9)
    assert repr(give).endswith("; apply sorts the set)")


@pytest.mark.any_form
def test_says_whether_sampling_is_faster_after_a_sort(device):
    swarm = pt.ParticleSet.random(pt.Grid((8, 8)), 50, seed=1, device=device)
    sample = pt.GridToParticles(pt.Field(swarm.grid, device=device), swarm, "value")
    order = "row" if device.is_cpu else "cell"
    assert repr(sample).endswith(f'; faster after swarm.sort("{order}"))')
    swarm.sort(order)
    assert "faster" not in repr(sample)
    sample.apply()
    assert "faster" not in repr(sample)
    none = pt.ParticleSet(swarm.grid, np.empty((0, 2)), device=device)
    assert "faster" not in repr(pt.GridToParticles(pt.Field(swarm.grid, device=device), none, "v"))
    swarm.positions[0] = (0.1, 0.9)
    assert "faster" in repr(sample)
    swarm.sort("cell")
    assert "faster" not in repr(sample)


@pytest.mark.any_form
def test_what_has_changed_meanwhile_is_refused_before_anything_is_written(device):
    """A set may lose an attribute, or have another kind of it, after the operator was made."""
    grid = pt.Grid((3, 4))
    swarm = pt.ParticleSet(grid, [[0.1, 0.2], [0.6, 0.7]], device=device, m=[1.0, 2], w=[3.0, 4])
    fields = pt.Field(grid, device=device), pt.Field(grid, device=device)
    give = pt.ParticlesToGrid(swarm, ["w", "m"], fields)
    sample = pt.GridToParticles(fields, swarm, ["w", "m"])
    for change, refused, words in (
        (
            lambda: swarm.__setitem__("m", np.ones((2, 3))),
            (give, sample),
            "but m has 3 and a field",
        ),
        (lambda: swarm.__setitem__("m", np.ones(2, bool)), (sample,), "but m is of bool"),
        (lambda: swarm.__delitem__("m"), (give,), "an attribute that the set has"),
    ):
        change()
        known = {name: one.get().tobytes() for name, one in swarm.attributes.items()}
        for operator in refused:
            fields[0].fill(5)
            with pytest.raises((TypeError, ValueError), match=words):
                operator.apply()
            assert (fields[0].get() == 5).all()
            assert {name: one.get().tobytes() for name, one in swarm.attributes.items()} == known
    sample.apply()
    swarm.add(swarm)
    give.apply()
    assert fields[1].sum() == pytest.approx(swarm["m"].sum())


@pytest.mark.any_form
def test_of_no_particles(device):
    grid = pt.Grid((3, 4), boundary="wall")
    swarm = pt.ParticleSet(grid, np.zeros((0, 2)), mass=np.zeros(0), device=device)
    field = noise(grid, device, generator("none"))
    pt.GridToParticles(field, swarm, "value").apply()
    assert swarm["value"].shape == (0,)
    for order in (None, "canonical"):
        field.fill(1)
        give = pt.ParticlesToGrid(swarm, "mass", field, order=order)
        give.apply(add=True)
        assert field.sum() == 12
        give.apply()
        assert field.sum() == 0


@pytest.mark.any_form
def test_a_long_box_costs_no_accuracy(device):
    n = 16384
    grid = pt.Grid(n)
    field = pt.Field(grid, device=device)
    field[...] = np.sin(2 * np.pi * np.arange(n) / 8)
    positions = generator("long").random((500, 1))
    swarm = pt.ParticleSet(grid, positions, device=device)
    pt.GridToParticles(field, swarm, "value").apply()
    expected = reference.to_particles(grid, positions, field.get().astype(float), "M'6")
    assert np.abs(swarm["value"].get() - expected).max() < 4e-7


GPU_SHAPES = {
    1: [(150,), (67,), (4,)],
    2: [(20, 300), (70, 68), (2, 3)],
    3: [(70, 18, 9), (3, 40, 68), (2, 3, 70), (33, 1, 5)],
}
"""Of one tile and of several, of which the last one may have few points."""


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [shape for shapes in GPU_SHAPES.values() for shape in shapes])
def test_a_gpu_gives_the_same_bits(device, shape):
    """Where the first axis is periodic and where it ends, which reach different planes."""
    skip_what_takes_for_ever(device)
    rng = generator(f"forms {shape}")
    for box in (box for box in BOXES if len(box["boundary"]) == len(shape)):
        grid, n = pt.Grid(shape, **box), 900
        kernel, at = KERNELS[rng.integers(len(KERNELS))], anywhere(grid, n, rng)
        s = rng.normal(size=(n, 2)).astype("float32")
        s[7] = np.nan  # which comes to the points of this particle, and to no other ones
        points = rng.normal(size=grid.shape)
        dtype = ["float32", "float16"][rng.integers(2)]
        found = set()
        for form in FORMS:
            on = in_form(device, form)
            swarm = pt.ParticleSet(grid, at, s=s, dtype="float32", device=on)
            swarm.sort("cell")
            given, field = pt.Field(grid, 2, device=on), pt.Field(grid, 2, dtype, on)
            field[0], field[1] = points, -3 * points
            for adds in False, True:
                pt.ParticlesToGrid(swarm, "s", given, kernel).apply(add=adds)
                pt.GridToParticles(field, swarm, "value", kernel).apply(add=adds)
            received = np.nan_to_num(given.get(), nan=7.5)
            found.add((received.tobytes(), swarm["value"].get().tobytes()))
        assert len(found) == 1


@pytest.mark.sampled
@pytest.mark.parametrize("run", range(12))
def test_a_gpu_gives_the_same_bits_to_other_points_than_cells(device, run):
    """A cell has a part of a point or several; where it has many, another form gives to them."""
    skip_what_takes_for_ever(device)
    rng = generator(f"other points {run}")
    box = BOXES[rng.integers(len(BOXES))]
    ndim = len(box["boundary"])
    shapes = GPU_SHAPES[ndim]
    points = shapes[rng.integers(len(shapes))]
    cells = [max(1, round(n / rng.choice([0.3, 0.8, 1, 1.4, 2, 3, 4.5]))) for n in points]
    home, grid, n = pt.Grid(cells, **box), pt.Grid(points, **box), 900
    kernel, at = KERNELS[rng.integers(len(KERNELS))], anywhere(home, n, rng)
    s = rng.normal(size=(n, 2)).astype("float32")
    order = ["canonical", None][rng.integers(2)]
    found, launched = set(), set()
    for form in FORMS:
        on = in_form(device, form)
        swarm = pt.ParticleSet(home, at, s=s, dtype="float32", device=on)
        swarm.sort("cell")
        given = pt.Field(grid, 2, device=on)
        on.core.start_profile(1)
        for adds in False, True:
            pt.ParticlesToGrid(swarm, "s", given, kernel, order=order).apply(add=adds)
        found.add(given.get().tobytes())
        launched |= set(on.core.stop_profile(1))
    assert len(found) == 1
    passed = max(-(-n // k) for n, k in zip(points, cells, strict=True))
    assert ("particles_to_tile" in launched) == (passed <= 3)


def one_point(grid, positions):
    """Return the point that is nearest to each particle, in NumPy."""
    place = (positions - grid.first) / grid.spacing
    return tuple(
        reference.stored(np.floor(place[:, axis] + 0.5).astype(int), points, grid.boundary[axis])
        for axis, points in enumerate(grid.shape)
    )


@pytest.mark.parametrize("run", range(3))
@pytest.mark.parametrize("ends", ["periodic", "wall", ("outflow", "wall")])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_nearest_takes_one_point_alone_whatever_is_beside_it(machine, ndim, ends, run):
    """Also beside what is not finite, as of a whole stencil 0 times that would be NaN."""
    rng, n = generator(f"nearest {ndim} {ends} {run}"), 400
    shape = {1: (41,), 2: (12, 20), 3: (7, 8, 9)}[ndim]
    grid = pt.Grid(shape, boundary=[ends] * ndim)
    home = pt.Grid([2 * points for points in shape], boundary=grid.boundary) if run == 2 else grid
    dtype = ["float32", "float64"][rng.integers(2)]

    def hostile(size):
        values = rng.normal(size=size).astype(dtype)
        values[rng.random(size) < 0.2] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0])
        values[rng.random(size) < 0.1] = np.nan
        return values

    swarm = filled(home, n, machine, rng, dtype, "nearest", s=hostile(n), v=hostile((n, 2)))
    if run:
        swarm.sort("row" if machine.is_cpu else "cell")
    fields = [pt.Field(grid, components, dtype, machine) for components in (1, 2)]
    points = one_point(grid, swarm.positions.get())
    own_forms = kernels.get("nearest"), machine.core
    for most_repeated in (0, np.inf):
        core = _core.Interpolation(
            own_forms[1], kernels.opencl_source("nearest"), 2, 10**5, most_repeated
        )
        for field in fields:
            field[...] = hostile(field.shape)
        sample = pt.GridToParticles(fields, swarm, ["of_one", "of_two"], "nearest")
        sample._core = core
        sample.apply()
        for field, name in zip(fields, sample.names, strict=True):
            np.testing.assert_array_equal(swarm[name], last(field)[points])
        for order in None, "canonical":
            give = pt.ParticlesToGrid(swarm, ["s", "v"], fields, "nearest", order=order)
            give._core = core
            give.apply()
            points = one_point(grid, swarm.positions.get())
            for field, name in zip(fields, give.names, strict=True):
                expected = np.zeros((*grid.shape, *swarm[name].shape[1:]))
                with np.errstate(invalid="ignore"):
                    np.add.at(expected, points, swarm[name].get().astype(float))
                np.testing.assert_allclose(last(field), expected, rtol=0, atol=1e-5)
