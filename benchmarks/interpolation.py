# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation between particles and grid, as the publication on it measures it, below the roofline.

``python -m benchmarks.interpolation --sides 4096x2048 256x256x256 --json interpolation.jsonl``
    one particle a cell, displaced at random, as they lie and sorted by row; components, a
    sequence and dtypes; particles in blobs; in no order, which is sorted each time; how long sorting itself takes
``python -m benchmarks.interpolation --sweep --picture roofline.svg``
    the publication's sizes as well, from 128 x 64 to 4096 x 2048, in float32, float64 and mixed; the last
    one also on one compute unit, where PoCL can be told to have but one

Numba and FINUFFT are timed where they are installed, from arrays that they find best: see
`benchmarks.peers.interpolation` and `benchmarks.peers.finufft`. A complex call of FINUFFT counts as two.

Operations are counted as by Rossinelli, Conti and Koumoutsakos, *Mesh-particle interpolations on
graphics processing units and multicore central processing units* (2011): of a particle with c
components, for a kernel of K weights of degree p on d axes, d K (2 + p) for the weights and
K^d (d + 1) c for the sums, which is 40 + 48 c for M'4 in two dimensions. Bytes are those that must
move: a particle's cell, place and value, and a point of the grid, once each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import particles as pt
from particles.cli.bench import Bandwidths
from particles.cli.machine import facts

from benchmarks.fields import REPEATS, SECONDS, shortest
from benchmarks.json_lines import write
from benchmarks.paper.intensity import peak

KERNELS = ("M'4", "M'6")
SIZES = tuple((2 * n, n) for n in (64, 128, 256, 512, 1024, 2048))
"""Points of the publication's grids."""
GIVE, SAMPLE = "particles to grid", "grid to particles"
Row = dict[str, Any]
Positions = npt.NDArray[np.float64]


class Case(NamedTuple):
    """Which particles there are, and what they carry."""

    particles: str = "in rows"
    components: int = 1
    dtype: str = "float32"
    """Of everything; of a mixed case, of the grid."""
    is_mixed: bool = False
    """Positions and results are float64."""
    attributes: int = 1
    """Of a sequence, each with a field."""

    @property
    def name(self) -> str:
        """The case in words."""
        dtype = "mixed" if self.is_mixed else self.dtype
        sequence = f", sequence of {self.attributes}" if self.attributes > 1 else ""
        return f"{self.particles}, {dtype} x {self.components}{sequence}"


OF_SIZES = (
    Case(),
    Case(dtype="float64"),
    Case(is_mixed=True),
    Case(components=2),
    Case(components=3),
    Case(dtype="float64", components=2),
    Case(dtype="float64", components=3),
)
CASES = (
    *OF_SIZES,
    Case(attributes=3),
    Case("as on the grid"),
    Case("64 blobs"),
    Case("one blob"),
    Case("in no order"),
)
WITH_PEERS = (Case(), Case("as on the grid"), Case("64 blobs"), Case("one blob"))


def positions_of(particles: str, shape: tuple[int, ...]) -> Positions:
    """Return one particle a cell on average, in a box of cells of 1."""
    rng, count, ndim = np.random.default_rng(1), int(np.prod(shape)), len(shape)
    if "blob" in particles:
        centres = rng.random((64 if particles == "64 blobs" else 1, ndim)) * 0.8 + 0.1
        places = centres[rng.integers(len(centres), size=count)]
        return np.asarray(np.mod(places + 0.02 * rng.normal(size=(count, ndim)), 1) * shape)
    places = rng.random((count, ndim))
    for axis, n in enumerate(shape):
        lined = places[:, axis].reshape(shape)
        lined += np.arange(n).reshape([-1 if k == axis else 1 for k in range(ndim)])
    return places if particles == "as on the grid" else places[rng.permutation(count)]


def operations(kernel: str, ndim: int, components: int) -> int:
    """Return additions and multiplications for one particle, as the publication counts them."""
    found = pt.kernels.describe(kernel)
    weights = ndim * found.nodes * (2 + found.degree)
    return int(weights + found.nodes**ndim * (ndim + 1) * components)


def rows_of(
    device: pt.Device, shape: tuple[int, ...], kernel: str, case: Case, *, with_peers: bool
) -> Iterator[Row]:
    """Time both directions."""
    count, rng = int(np.prod(shape)), np.random.default_rng(0)
    real = "float64" if case.is_mixed else case.dtype
    many = (count, case.components) if case.components > 1 else count
    grid = pt.Grid(shape, extent=[float(n) for n in shape])
    places = positions_of(case.particles, shape)
    values = rng.random(many).astype(real)
    names = ["s", "t", "u"][: case.attributes]
    carried = dict.fromkeys(names, values)
    swarm = pt.ParticleSet(grid, places, dtype=real, device=device, **carried)
    fields = [pt.Field(grid, case.components, case.dtype, device) for _ in names]
    give = pt.ParticlesToGrid(swarm, names, fields, kernel)
    sample = pt.GridToParticles(fields, swarm, names, kernel)
    if case.particles == "in no order":
        times = {SAMPLE: shortest(sample.apply, device)}
        times[GIVE] = of_unsorted(swarm, places, give.apply, device)
    else:
        swarm.sort("row")
        times = {GIVE: shortest(give.apply, device), SAMPLE: shortest(sample.apply, device)}
    if with_peers:
        others = {
            "numba": of_numba(swarm, fields[0], kernel),
            "finufft": of_finufft(swarm, fields[0], kernel),
        }
    else:
        others = {}
    width = np.dtype(real).itemsize
    components = case.components * case.attributes
    needed = 4 + (len(shape) + components) * width
    needed += components * np.dtype(case.dtype).itemsize
    work = operations(kernel, len(shape), components)
    for direction, seconds in times.items():
        yield {
            "direction": direction,
            "shape": list(shape),
            "kernel": kernel,
            "case": case.name,
            "ns": seconds / count * 1e9,
            "flop": work,
            "bytes": needed,
            "gflops": work * count / seconds * 1e-9,
            "gbytes": needed * count / seconds * 1e-9,
            **{
                f"{peer}_ns": found.get(direction, 0.0) / count * 1e9 or None
                for peer, found in others.items()
            },
        }


def of_unsorted(
    swarm: pt.ParticleSet, places: Positions, work: Callable[[], None], device: pt.Device
) -> float:
    """Return the shortest time of what finds particles in no order; bringing them out of it does not count."""
    times = []
    for _ in range(REPEATS):
        swarm.positions[...] = places
        device.finish()
        begin = time.perf_counter()
        work()
        device.finish()
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def on_one_unit(device: pt.Device, shape: tuple[int, ...]) -> dict[tuple[str, str], float]:
    """Return what each direction and precision takes on one compute unit, in a process of its own."""
    if not device.info.is_pocl:
        return {}
    limits = {"POCL_MAX_PTHREAD_COUNT": "1", "POCL_CPU_MAX_CU_COUNT": "1"}
    output = subprocess.run(
        [sys.executable, "-m", "benchmarks.interpolation", "--alone", "x".join(map(str, shape))],
        env={**os.environ, **limits, "PARTICLES_DEVICE": str(device.index)},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return {(row["direction"], row["case"]): row["ns"] for row in json.loads(output)}


def alone(device: pt.Device, shape: tuple[int, ...]) -> list[Row]:
    """Measure the cases of each size, of a device that is to have one compute unit."""
    if device.compute_units != 1:
        raise RuntimeError(f"the driver must work on 1 compute unit, not on {device.compute_units}")
    cases = (rows_of(device, shape, KERNELS[0], case, with_peers=False) for case in OF_SIZES)
    return list(chain.from_iterable(cases))


def sorting(device: pt.Device, shape: tuple[int, ...]) -> Iterator[Row]:
    """Time sorting by row, of 16 bytes a particle in three dimensions, and tell the memory."""
    count, rng = int(np.prod(shape)), np.random.default_rng(2)
    grid = pt.Grid(shape, extent=[float(n) for n in shape], boundary="wall")
    places = positions_of("in no order", shape)
    swarm = pt.ParticleSet(grid, places, dtype="float32", device=device)
    moves = rng.uniform(-0.9, 0.9, places.shape)
    for name, moved in ("shuffled", None), ("moved by 0.9 cells", moves):
        if moved is not None:
            swarm.sort("row")
            known = swarm.positions.get()
            places = np.clip(known + moved, 0, shape)
        seconds = of_unsorted(swarm, places, lambda: swarm.sort("row"), device)
        rows = np.ravel_multi_index(
            tuple(places[:, :-1].astype(int).T % np.array(shape[:-1])[:, None]), shape[:-1]
        )
        keys = rows.astype("int32")
        yield {
            "direction": f"sort, {name}",
            "shape": list(shape),
            "ns": seconds / count * 1e9,
            "numpy_ns": least(lambda keys=keys: np.argsort(keys, kind="stable")) / count * 1e9,
            "memory": swarm.memory().total / count,
        }


def of_numba(swarm: pt.ParticleSet, field: pt.Field, kernel: str) -> dict[str, float]:
    """Time Numba for the same particles, and see that it computes the same."""
    if not find_spec("numba"):
        return {}
    from benchmarks.peers.interpolation import Rival

    cells = swarm.positions.get()
    values = swarm["s"].get()
    rival = Rival(kernel, field.shape, cells, values)
    rival.to_grid()
    pt.ParticlesToGrid(swarm, "s", field, kernel).apply()
    expected = field.get()
    crowd = np.bincount(np.ravel_multi_index(tuple(cells.astype(int).T), field.shape)).max()
    tolerance = max(1e-4, 1e-7 * float(crowd))  # of sums of so many numbers in float32
    if np.abs(rival.received() - expected).max() > tolerance * np.abs(expected).max():
        raise RuntimeError("Numba gives other sums")
    found = {GIVE: least(rival.to_grid)}
    rival.set(expected)
    pt.GridToParticles(field, swarm, "s", kernel).apply()
    sampled = swarm["s"].get()
    if np.abs(rival.to_particles() - sampled).max() > 1e-4 * np.abs(sampled).max():
        raise RuntimeError("Numba samples other values")
    found[SAMPLE] = least(rival.to_particles)
    return found


def of_finufft(swarm: pt.ParticleSet, field: pt.Field, kernel: str) -> dict[str, float]:
    """Time FINUFFT for the same particles and one component, and see that it computes something."""
    if not find_spec("finufft"):
        return {}
    from benchmarks.peers.finufft import COMPONENTS, Rival

    width, threads = pt.kernels.get(kernel).stencil, swarm.device.compute_units
    rival = Rival(width, field.shape, swarm.positions.get(), threads)
    rival.check()
    return {
        GIVE: least(rival.to_grid) / COMPONENTS,
        SAMPLE: least(rival.to_particles) / COMPONENTS,
    }


def least(work: Callable[[], object]) -> float:
    """Return the shortest time that something takes on the host."""
    times: list[float] = []
    while len(times) < REPEATS or sum(times) < SECONDS:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def told(row: Row) -> str:
    """Return a row of the table."""
    shape = " x ".join(map(str, row["shape"]))
    if "kernel" not in row:
        return (
            f"{shape:16} {row['direction']:48} {row['ns']:7.2f} ns  {row['memory']:5.0f} bytes of memory"
            f"  NumPy {row['numpy_ns'] / row['ns']:.1f} times"
        )
    peers = "".join(
        f"  {name} {row[key] / row['ns']:.1f} times"
        for name, key in (("Numba", "numba_ns"), ("FINUFFT", "finufft_ns"))
        if row.get(key)
    )
    return (
        f"{shape:16} {row['kernel']} {row['case']:26} {row['direction']} {row['ns']:7.2f} ns "
        f"{1e3 / row['ns']:6.0f} Mparticles/s {row['gbytes']:5.1f} GB/s {row['gflops']:6.1f} GFLOP/s "
        f"{100 * row['efficiency']:4.0f} % of the roof{peers}"
    )


def report(device: pt.Device, shapes: list[tuple[int, ...]], *, is_sweep: bool) -> dict[str, Any]:
    """Measure, and print a line for each case."""
    bandwidths = Bandwidths.of(device)
    peaks = {dtype: peak(device, dtype=dtype) for dtype in ("float32", "float64")}
    print(
        f"{device.name}, {device.platform} {device.driver}; {bandwidths.text}; peak "
        f"{peaks['float32'] * 1e-9:.0f} GFLOP/s in float32, {peaks['float64'] * 1e-9:.0f} in float64"
    )

    def keep(rows: Iterator[Row], results: list[Row]) -> None:
        for row in rows:
            if "kernel" in row:
                top = peaks["float32" if "float32" in row["case"] else "float64"]
                roof = min(top, row["flop"] / row["bytes"] * bandwidths.greatest)
                row["efficiency"] = row["gflops"] * 1e9 / roof
            results.append(row)
            print(told(row), flush=True)

    results: list[Row] = []
    for shape in shapes:
        for kernel, case in product(KERNELS, CASES):
            with_peers = case in WITH_PEERS
            keep(rows_of(device, shape, kernel, case, with_peers=with_peers), results)
        keep(sorting(device, shape), results)
    of_sizes: list[Row] = []
    for shape, case in product(SIZES if is_sweep else (), OF_SIZES):
        keep(rows_of(device, shape, KERNELS[0], case, with_peers=False), of_sizes)
    one_unit = on_one_unit(device, SIZES[-1]) if is_sweep else {}
    for row in of_sizes[-2 * len(OF_SIZES) :]:
        row["one_unit_ns"] = one_unit.get((row["direction"], row["case"]))
    return {
        **facts(device),
        **bandwidths._asdict(),
        "bandwidth": bandwidths.greatest,
        "peak": peaks,
        "results": results,
        "sizes": of_sizes,
    }


def draw(found: dict[str, Any], file: Path) -> None:
    """Draw what particles in rows of the last grid reach below the roof of float32."""
    last = found["results"][-1]["shape"]
    rows = [
        row for row in found["results"] if row["shape"] == last and row.get("case") == Case().name
    ]
    work = {
        f"{row['kernel']} {row['direction']}": (row["flop"] / row["bytes"], row["gflops"] * 1e9)
        for row in rows
    }
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    pt.plot.roofline(work, found["bandwidth"], found["peak"]["float32"], axes)
    figure.savefig(file, dpi=150, metadata={"Software": None} if file.suffix == ".png" else None)
    plt.close(figure)


def _shape(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sides",
        type=_shape,
        nargs="+",
        default=[(1024, 1024), (128, 128, 128)],
        metavar="NxN",
        help="points of each grid",
    )
    parser.add_argument("--sweep", action="store_true", help="the publication's, too, with M'4")
    parser.add_argument(
        "--alone", type=_shape, metavar="NxN", help="print M'4 on one unit, as JSON"
    )
    parser.add_argument("--json", type=Path, help="a file for the results")
    parser.add_argument("--picture", type=Path, help="a file for the roofline")
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(alone(pt.default_device(), arguments.alone)))
        return
    found = report(pt.default_device(), arguments.sides, is_sweep=arguments.sweep)
    write(found, arguments.json)
    if arguments.picture:
        draw(found, arguments.picture)


if __name__ == "__main__":
    main()
