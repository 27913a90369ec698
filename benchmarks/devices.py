# SPDX-License-Identifier: BSD-3-Clause
"""Time of a Strang step, and of particles, on a grid divided among parts of a device, beside all of it.

``python -m benchmarks.devices --shape 256 256 256 --cfl 5 25``
    the default device and its halves, which PyOpenCL makes of it, in turns
``python -m benchmarks.devices --devices 0 1``
    the first of some devices and all of them together
``--particles``
    not a transport but particles, as in `benchmarks.distributed`

It prints a line for each CFL number, and for each operation of particles: nanoseconds per particle
and step of one and of several, the shortest of some runs, and how many times as fast several are; the
same of seconds of processors, for CPUs that have other work.
"""

from __future__ import annotations

import argparse
from time import process_time

import particles as pt

from benchmarks.distributed import (
    REPEATS,
    STEPS,
    Work,
    flow_and_ball_on,
    seconds_of,
    works_of_particles,
    works_of_transport,
)


def halves(device: pt.Device) -> list[pt.Device]:
    """Return two parts of a device, each with half of its compute units."""
    import pyopencl as cl

    (whole,) = device.context.devices
    how = [cl.device_partition_property.EQUALLY, whole.max_compute_units // 2]
    parts = whole.create_sub_devices(how)
    return [pt.Device.from_pyopencl(cl.CommandQueue(cl.Context([part]), part)) for part in parts]


def timed(work: Work, field: pt.Field) -> tuple[float, float]:
    """Nanoseconds of a particle and step, by the clock and of processors."""
    begin = process_time()
    seconds = seconds_of(work, field)
    particles = field.grid.size
    return 1e9 * seconds / particles, 1e9 * (process_time() - begin) / STEPS / particles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, nargs=3, default=(256, 256, 256))
    parser.add_argument("--cfl", type=float, nargs="+", default=(5.0, 25.0))
    parser.add_argument("--particles", action="store_true")
    parser.add_argument("--devices", nargs="+", metavar="DEVICE")
    arguments = parser.parse_args()
    if arguments.devices is None:
        several, one = halves(pt.default_device()), pt.default_device()
    else:
        listed = [int(name) if name.isdecimal() else name for name in arguments.devices]
        several = list(pt.Grid(arguments.shape, devices=listed).devices)
        one = several[0]
    shape = tuple(arguments.shape)
    both = [flow_and_ball_on(shape, devices=devices) for devices in ([one], several)]
    fields = [u for _, u in both]
    of_one, of_several = (
        works_of_particles(*pair)
        if arguments.particles
        else works_of_transport(*pair, list(arguments.cfl))
        for pair in both
    )
    for name in of_one:
        pair = (of_one[name], of_several[name])
        for work in pair:
            work()
        runs = [
            [timed(work, u) for work, u in zip(pair, fields, strict=True)] for _ in range(REPEATS)
        ]
        (alone, alone_cpu), (together, together_cpu) = (
            [min(times) for times in zip(*both_times, strict=True)]
            for both_times in zip(*runs, strict=True)
        )
        digests = {u.get().tobytes() for u in fields}
        print(
            f"{' x '.join(map(str, shape))}, {name}: one {alone:.3f}, {len(several)} "
            f"{together:.3f} ns a particle and step, {alone / together:.2f} times as fast, by "
            f"processors {alone_cpu / together_cpu:.2f}, rows {fields[1].grid.rows}, "
            f"{'equal' if len(digests) == 1 else 'different'} bits",
            flush=True,
        )


if __name__ == "__main__":
    main()
