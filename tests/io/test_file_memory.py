# SPDX-License-Identifier: BSD-3-Clause
"""How much memory of the host files need beside the fields."""

import pytest

from tests.support import child

pytestmark = pytest.mark.one_device

pytest.importorskip("h5py")

MEASURE = '''
    import re, sys, time
    from pathlib import Path
    import particles as pt
    from particles.io import contents

    contents.SLAB_BYTES = 2**20

    def kilobytes(what):
        return int(re.search(what + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

    def settled():
        """Return what is in use when the driver's threads have given back what they held last."""
        least = kilobytes("VmRSS")
        for _ in range(30):
            time.sleep(0.01)
            least = min(least, kilobytes("VmRSS"))
        return least

    def peak_of(work):
        """Return how many bytes more than before were in use at once."""
        work()  # what is built or imported once is there from now on
        before = settled()
        Path("/proc/self/clear_refs").write_text("5")
        kept = work()
        return (kilobytes("VmHWM") - before) * 1024

    device, folder = int(sys.argv[1]), Path(sys.argv[2])
    field = pt.Field(pt.Grid((96, 512, 256)), device=device, name="u")
    field.fill(1.5)
    wind = pt.Velocity(field.grid, lambda x, y, z: (1, 1, 1))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(field))
    series = pt.io.Series(folder / "u.h5")

    def append():
        series.append(len(series), field)

    def read_back(load):
        return lambda: load().fields["u"].max()

    for name, work, least, most in (
        ("a copy", lambda: field.get(), 0.9, 1.5),
        ("npz", lambda: pt.io.save(folder / "u.npz", field), -0.1, 0.25),
        ("npz, read", read_back(lambda: pt.io.load(folder / "u.npz", device)), 0.9, 1.25),
        ("vti", lambda: pt.io.write_vti(folder / "u.vti", field), -0.1, 0.25),
        ("HDF5", append, -0.1, 0.25),
        ("HDF5, read", read_back(lambda: series.load(0, device)), 0.9, 1.25),
        ("checkpoint", lambda: pt.io.checkpoint(folder / "c", transport), -0.1, 0.25),
        ("checkpoint, read", lambda: pt.io.restore(folder / "c", transport), -0.1, 0.25),
    ):
        peak = peak_of(work) / field.nbytes
        print(f"{name}: {peak:.2f} of the field")
        assert least <= peak <= most, f"{name}: {peak}"
'''


@pytest.mark.sampled
def test_no_second_copy_of_a_field_is_in_the_hosts_memory(device, tmp_path):
    if not device.is_cpu:
        pytest.skip("its memory does not count as the host's")
    assert "checkpoint, read: " in child.check(MEASURE, device.index, tmp_path)
