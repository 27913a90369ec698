# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are stopped and continued: with the same bits, or not at all."""

import numpy as np
import particles as pt
import pytest
from particles import kernels

from tests.support import child

pytestmark = pytest.mark.one_device

N = 12


def hill(grid, components=1, dtype="float32", device=None):
    field = pt.Field(grid, components, dtype, device)
    x = sum(np.sin(2 * np.pi * c) for c in grid.coordinates())
    field[...] = np.stack([2 + k + x for k in range(components)]).reshape(field.shape)
    return field


def flow(grid, dtype="float32", device=None, scale=1.0):
    field = pt.Field(grid, grid.ndim, dtype, device)
    for axis, x in enumerate(grid.coordinates()):
        field[axis] = np.broadcast_to(scale * (1 + 0.1 * np.sin(2 * np.pi * x)), grid.shape)
    return field


def plain(device=None, **options):
    grid = pt.Grid((N, N))
    made = {"kernel": "M'6", "limiter": None, "conservative": True, "scheme": "rk2", "order": 2}
    made |= {"dtype": "float32", "grid": grid} | options
    u = hill(made["grid"], 1, made["dtype"], device)
    real = "float32" if made["dtype"] == "float16" else made["dtype"]
    advection = pt.AdvectionOp(flow(made["grid"], real, device), made["scheme"])
    remesh = pt.RemeshOp(
        u, made["kernel"], limiter=made["limiter"], conservative=made["conservative"]
    )
    return pt.Splitting(advection, remesh, made["order"])


def stored_as_float16(device):
    return plain(device, dtype="float16")


def of_several_fields(device):
    """Fields of two and one components, Suzuki's steps and a source with a field of its own."""
    grid = pt.Grid((N, N))
    fields = hill(grid, 2, "float32", device), hill(grid, 1, "float32", device)
    given = hill(grid, 1, "float32", device)
    source = pt.SourceOp(fields[0], lambda u0, u1, g, x, y: (-u1 * g, u0), given)
    advection = pt.AdvectionOp(flow(grid, "float32", device), interpolation="cubic")
    return pt.Splitting(advection, pt.RemeshOp(fields, "L6_4"), 4, source=source)


def through_a_channel(device):
    grid = pt.Grid((N, N), boundary=[("inflow", "outflow"), "wall"])
    swirl = pt.Velocity(grid, lambda x, y, t: (1 + 0.1 * np.sin(t), 0.1 * y * (1 - y)))
    remesh = pt.RemeshOp(hill(grid, 1, "float32", device), inflow=lambda t: 2 + np.cos(t))
    return pt.Splitting(pt.AdvectionOp(swirl), remesh)


def in_a_series(device):
    """A velocity at three times on a coarser grid, values that are carried, a limiter."""
    fields = [flow(pt.Grid((N // 2, N // 2)), "float32", device, k) for k in (1, 2, 1)]
    grid = pt.Grid((N, N))
    advection = pt.AdvectionOp(pt.VelocitySeries(fields, [0, 0.1, 0.4]), grid=grid)
    u = hill(grid, 1, "float32", device)
    return pt.Splitting(advection, pt.RemeshOp(u, limiter="positive", conservative=False))


def unsplit(device):
    made = plain(device)
    return pt.Unsplit(made.advection, made.remesh)


KINDS = [plain, stored_as_float16, of_several_fields, through_a_channel, in_a_series, unsplit]


def every_field(transport):
    source = getattr(transport, "source", None)
    given = () if source is None else source.given
    return [*transport.remesh.fields, *transport.advection.fields, *given]


def bits(transport):
    return [field.get().tobytes() for field in every_field(transport)]


def spoil(transport):
    for field in every_field(transport):
        field.fill(0.125)


def five_steps(transport):
    for _ in range(5):
        transport.step(0.02)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_restored_run_goes_on_with_the_same_bits(kind, device, tmp_path):
    path = tmp_path / "checkpoint"
    whole = kind(device)
    five_steps(whole)
    pt.io.checkpoint(path, whole)
    five_steps(whole)
    continued = kind(device)
    continued.step(0.03)
    spoil(continued)
    pt.io.restore(path, continued)
    assert (continued.time, continued.last_dt) == (sum([0.02] * 5), 0.02)
    five_steps(continued)
    assert bits(continued) == bits(whole)
    assert continued.time == whole.time
    if kind is through_a_channel:
        assert np.abs(whole.outflow).max() > 1
        np.testing.assert_allclose(continued.outflow, whole.outflow, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled
def test_a_run_in_another_process_goes_on_with_the_same_bits(device, tmp_path):
    path, end = tmp_path / "checkpoint", tmp_path / "end"
    whole = of_several_fields(device)
    whole.run(until=0.1, dt=0.02)
    pt.io.checkpoint(path, whole)
    whole.run(until=0.2, dt=0.02)
    child.check(
        """
        import sys
        import particles as pt
        from tests.io import test_checkpoint
        transport = test_checkpoint.of_several_fields(int(sys.argv[3]))
        test_checkpoint.spoil(transport)
        pt.io.restore(sys.argv[1], transport)
        transport.run(until=0.2, dt=0.02)
        pt.io.checkpoint(sys.argv[2], transport)
        """,
        path,
        end,
        device.index,
    )
    pt.io.checkpoint(path, whole)
    assert end.read_bytes() == path.read_bytes()


def test_values_that_are_no_numbers_are_kept(device, tmp_path):
    transport = plain(device)
    u = transport.remesh.fields[0]
    u[0, :3] = np.nan, np.inf, -0.0
    before = bits(transport)
    pt.io.checkpoint(tmp_path / "checkpoint", transport)
    u.fill(1)
    pt.io.restore(tmp_path / "checkpoint", transport)
    assert bits(transport) == before


def small():
    grid = pt.Grid(3, boundary="outflow")
    u = pt.Field(grid)
    u[...] = 1, 2, 3
    return pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, lambda x: 1.0)), pt.RemeshOp(u))


def state(transport):
    return transport.time, transport.last_dt, transport.outflow.tolist(), bits(transport)


@pytest.fixture
def saved(tmp_path):
    """A checkpoint of a small run, and the run, which has gone on."""
    transport, path = small(), tmp_path / "checkpoint"
    transport.step(0.1)
    pt.io.checkpoint(path, transport)
    transport.step(0.1)
    return path, transport


def test_every_damaged_byte_is_noticed_and_changes_nothing(saved):
    path, transport = saved
    content, before = path.read_bytes(), state(transport)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"checkpoint is (damaged or cut short|not a check)"):
            pt.io.restore(path, transport)
    assert state(transport) == before


def test_every_file_that_is_cut_short_or_too_long_is_noticed_and_changes_nothing(saved):
    path, transport = saved
    content, before = path.read_bytes(), state(transport)
    for wrong in (*(content[:length] for length in range(len(content))), content + b"\0"):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"checkpoint is (damaged or cut short|not a check)"):
            pt.io.restore(path, transport)
    assert state(transport) == before


def test_other_files_are_no_checkpoints(saved, tmp_path):
    transport, other = saved[1], tmp_path / "u.npz"
    pt.io.save(other, transport.remesh.fields[0])
    with pytest.raises(ValueError, match="is not a checkpoint that this version reads"):
        pt.io.restore(other, transport)
    with pytest.raises(FileNotFoundError):
        pt.io.restore(tmp_path / "none", transport)
    with pytest.raises(TypeError, match="transport must be a Splitting, Unsplit or Tracers, not 3"):
        pt.io.restore(other, 3)
    with pytest.raises(TypeError, match="transport must be a Splitting, Unsplit or Tracers, not 3"):
        pt.io.checkpoint(other, 3)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"grid": pt.Grid((N, N), extent=2)}, r"whose grid is {.*'spacing': \[0.08.*, not {"),
        ({"dtype": "float16"}, "whose dtype is 'float32', not 'float16'"),
        ({"kernel": "L6_4"}, "whose kernel is \"M'6\", not 'L6_4'"),
        ({"limiter": "positive"}, "whose limiter is None, not 'positive'"),
        ({"conservative": False}, "whose conservative is True, not False"),
        ({"scheme": "rk4"}, "whose scheme is 'rk2', not 'rk4'"),
        ({"order": 1}, "whose order is 2, not 1"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_transport_that_is_made_otherwise_is_refused(option, words, tmp_path):
    path = tmp_path / "checkpoint"
    pt.io.checkpoint(path, plain())
    other = plain(**option)
    other.step(0.01)
    before = bits(other), other.time
    with pytest.raises(ValueError, match=f"transport must match the one in .*{words}"):
        pt.io.restore(path, other)
    assert (bits(other), other.time) == before


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (unsplit, "class is 'Splitting', not 'Unsplit'"),
        (of_several_fields, r"components is \[1\], not \[2, 1\]"),
        (through_a_channel, "grid is "),
        (in_a_series, "limiter is None, not 'positive'"),
    ],
)
def test_another_kind_of_transport_is_refused(kind, words, tmp_path):
    path = tmp_path / "checkpoint"
    pt.io.checkpoint(path, plain())
    with pytest.raises(ValueError, match=words):
        pt.io.restore(path, kind(None))


def carried_by(formula=None, kernel="M'6", **parameters):
    grid = pt.Grid(N)
    velocity = pt.Velocity(grid, formula, **parameters) if formula else pt.Field(grid)
    return pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(pt.Field(grid), kernel))


def test_formulas_are_compared(tmp_path):
    path = tmp_path / "checkpoint"
    pt.io.checkpoint(path, carried_by(["sin(x)"]))
    with pytest.raises(ValueError, match=r"whose velocity\[0\] is sin\(x\), not cos\(x\)$"):
        pt.io.restore(path, carried_by(["cos(x)"]))
    with pytest.raises(ValueError, match="whose velocity is 'a formula', not 'field'"):
        pt.io.restore(path, carried_by())


def test_formulas_may_be_written_otherwise(tmp_path):
    path = tmp_path / "checkpoint"
    one = carried_by(lambda x, t, a, b: np.cos(t) * np.sin(x) * a - b, a=1.0, b=2.0)
    pt.io.checkpoint(path, one)
    other = carried_by(["-b + sin(x) * (a * cos(t))"], b=3.0, a=4.0)
    pt.io.restore(path, other)
    assert other.advection.velocity.parameters == {"b": 2.0, "a": 1.0}
    with pytest.raises(
        ValueError, match=r"whose velocity\[0\] is cos\(t\) \* sin\(x\) \* a - b, not"
    ):
        pt.io.restore(path, carried_by(["b + sin(x) * (a * cos(t))"], b=3.0, a=4.0))


def test_formulas_that_look_alike_are_told_apart(tmp_path):
    path = tmp_path / "checkpoint"
    pt.io.checkpoint(path, carried_by(["2 * x"]))
    with pytest.raises(ValueError, match=r"whose velocity\[0\] is another one, 2 \* x$"):
        pt.io.restore(path, carried_by(["2.0000001 * x"]))


def test_kernels_are_what_they_compute(tmp_path):
    path = tmp_path / "checkpoint"
    hat, peak = (kernels.custom(name, [[1, -1]]) for name in ("hat", "peak"))
    smooth = kernels.custom("hat", [[1, 0, -3, 2]])
    pt.io.checkpoint(path, carried_by(["1"], kernel=hat))
    pt.io.restore(path, carried_by(["1"], kernel=peak))
    with pytest.raises(ValueError, match="whose kernel's pieces is "):
        pt.io.restore(path, carried_by(["1"], kernel=smooth))


def test_what_flows_in_is_compared_as_it_is(tmp_path):
    path, grid = tmp_path / "checkpoint", pt.Grid(N, boundary="inflow")

    def transport_of(inflow, own=None):
        u = pt.Field(grid)
        diffusion = pt.Diffusion(u, 0.1, inflow=own)
        return pt.Splitting(None, pt.RemeshOp(u, inflow=inflow), diffusion=diffusion)

    pt.io.checkpoint(path, transport_of(lambda t: 2 + np.cos(t)))
    pt.io.restore(path, transport_of(lambda time: np.cos(time) + 2, lambda t: np.cos(t) + 2))
    with pytest.raises(ValueError, match=r"inflow\[0\] at \(0, 'low'\) is 2 \+ cos\(t\), not 3"):
        pt.io.restore(path, transport_of(3))
    words = r"diffusion\[0\]'s inflow\[0\] at \(0, 'low'\) is 2 \+ cos\(t\), not 3"
    with pytest.raises(ValueError, match=words):
        pt.io.restore(path, transport_of(lambda t: 2 + np.cos(t), 3))


def test_sources_are_compared(tmp_path):
    path, grid = tmp_path / "checkpoint", pt.Grid(N)
    wind = pt.AdvectionOp(pt.Velocity(grid, ["1"]))
    fields = [pt.Field(grid) for _ in range(4)]

    def transport_of(changed, rate=lambda u, g, x: u + g, given=fields[3]):
        source = pt.SourceOp(changed, rate, given)
        return pt.Splitting(wind, pt.RemeshOp(fields[:2]), source=source)

    pt.io.checkpoint(path, transport_of(fields[0]))
    pt.io.restore(path, transport_of(fields[0]))
    with pytest.raises(ValueError, match=r"whose source\[0\] is u \+ g, not u - g$"):
        pt.io.restore(path, transport_of(fields[0], lambda u, g, x: u - g))
    with pytest.raises(ValueError, match=r"whose source's fields is \[0\], not \[1\]"):
        pt.io.restore(path, transport_of(fields[1]))
    with pytest.raises(ValueError, match=r"whose source's arrays is \[2\], not \[\]"):
        pt.io.restore(path, transport_of(fields[0], lambda u, x: u, ()))


@pytest.mark.parametrize("is_given", [False, True], ids=["carried", "given to the source"])
def test_fields_in_another_order_are_refused(is_given, tmp_path):
    """They would have each other's values; a field may be called otherwise by now."""
    path, grid = tmp_path / "checkpoint", pt.Grid(N)

    def transport_of(*names):
        fields = [hill(grid) for _ in names]
        for field, name in zip(fields, names, strict=True):
            field.name = name
        source = pt.SourceOp(fields[0], lambda u, a, b: a - b, fields[1:]) if is_given else None
        carried = fields[:1] if is_given else fields
        wind = pt.AdvectionOp(pt.Velocity(grid, ["1"]))
        return pt.Splitting(wind, pt.RemeshOp(carried), source=source)

    pt.io.checkpoint(path, transport_of("salt", "heat", None))
    words = r"order of the one in .*, \['salt', 'heat', None\], not \['heat', 'salt', 'dye'\]"
    with pytest.raises(ValueError, match=words):
        pt.io.restore(path, transport_of("heat", "salt", "dye"))
    with pytest.raises(ValueError, match="order of the one in"):
        pt.io.restore(path, transport_of("salt", None, "heat"))
    for names in [("salt", "heat", "dye"), ("salt", "T", None), (None, None, None)]:
        pt.io.restore(path, transport_of(*names))


def test_counting_what_leaves_can_begin_anew():
    transport = small()
    transport.step(0.1)
    assert transport.outflow.any()
    transport.outflow = 0
    assert not transport.outflow.any()
