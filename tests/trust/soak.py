# SPDX-License-Identifier: BSD-3-Clause
"""Many steps that are timed and looked at: does memory grow, of the host or of the device?

``python -m tests.trust.soak [device] [steps]`` prints what is held before and after.
"""

import gc
import os
import subprocess
import sys
import tempfile

import particles as pt
from particles._core import testing
from particles.runtime import loader

from tests.support.sweeps import field, noise
from tests.support.transports import swirl
from tests.trust import faults


def host_memory():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(device, steps, objects=lambda: 0):
    """Return what is held after 1000 steps, and after as many more, with a profile being taken.

    Counted are bytes of the host, bytes and buffers of the device, and what else ``objects`` counts.
    """
    velocity = swirl(16, "float32", device, 0.1)
    u = field(noise(velocity.grid, 3), velocity.grid, "float32", device)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))

    def held_after(count):
        with pt.profile(device) as profile:
            end = transport.time + 1e-3 * count
            transport.run(end, 1e-3, callback=lambda one: one.lcfl(1e-3), every=5, check="step")
        assert sum(kernel.launches for kernel in profile.kernels.values()) > 2 * count
        gc.collect()
        core = device.core
        return host_memory(), core.bytes_held, testing.buffers_held(core), objects()

    return held_after(1000), held_after(steps)


def main(library, real, index, steps):
    """Count the references to OpenCL's objects, too; print all that is held."""
    import pyopencl  # noqa: F401  its loader crashes without it

    counted = faults.Faults(library, real)
    device = pt.devices()[int(index)]
    before, after = soak(device, int(steps), lambda: counted.held(device))
    names = (
        "bytes of the host",
        "bytes of the device",
        "buffers",
        "references to OpenCL's objects",
    )
    print(f"| held | after 1000 steps | {int(steps):,} later | more |\n|---|---|---|---|")
    for name, first, last in zip(names, before, after, strict=True):
        print(f"| {name} | {first:,} | {last:,} | {last - first:,} |")
    assert after[0] - before[0] <= 2**20
    assert after[1:] == before[1:]


if __name__ == "__main__":
    pt.devices()
    index, steps = (*sys.argv[1:], *("0", "10000")[len(sys.argv) - 1 :])
    with tempfile.TemporaryDirectory() as place:
        code = "import sys; from tests.trust import soak; soak.main(*sys.argv[1:])"
        arguments = [faults.build(place), loader.attempts[-1].path, index, steps]
        command = [sys.executable, "-c", code, *map(str, arguments)]
        sys.exit(subprocess.run(command, cwd=faults.HERE.parents[1], check=False).returncode)
