# SPDX-License-Identifier: BSD-3-Clause
"""Write the folder of files of the present version: ``python -m tests.files.write``.

To be done once, when a version is released; what another version has written stays as it is.
"""

from pathlib import Path

import numpy as np
import particles as pt

from tests.files.contents import (
    GRIDS,
    TIMES,
    TRANSPORTS,
    fields_on,
    formulas_of,
    state_of,
    state_of_set,
    state_of_tracers,
    swarm_on,
    tracers,
)

HERE = Path(__file__).parent


def write(folder):
    folder.mkdir()
    for name, grid in GRIDS.items():
        pt.io.save(folder / f"{name}.npz", fields_on(grid), time=TIMES[0])
        pt.io.write_vti(folder / f"{name}.vti", fields_on(grid))
    series = pt.io.Series(folder / "box.h5")
    for time in TIMES:
        series.append(time, fields_on(GRIDS["box"], time))
    for name, make in TRANSPORTS.items():
        transport = make()
        for formulas in formulas_of(transport):
            for number, parameter in enumerate(formulas.parameters):
                formulas.parameters[parameter] = 0.5 + number / 8
        transport.step(2**-5)
        transport.step(2**-6)
        pt.io.checkpoint(folder / f"{name}.checkpoint", transport)
        np.savez_compressed(folder / f"{name}.state.npz", **state_of(transport))
    write_sets(folder)


def write_sets(folder):
    for name, grid in GRIDS.items():
        swarm = swarm_on(grid)
        pt.io.save(folder / f"{name}.swarm.npz", {"swarm": swarm, **fields_on(grid)}, time=TIMES[0])
        np.savez_compressed(folder / f"{name}.swarm.state.npz", **state_of_set(swarm))
    series = pt.io.Series(folder / "swarm.h5")
    for count, time in enumerate(TIMES, 4):
        series.append(time, swarm_on(GRIDS["plane"], count))
    moved = tracers()
    moved.velocity.parameters["U"] = 0.625
    moved.run(0.75, 2**-4)
    pt.io.checkpoint(folder / "tracers.checkpoint", moved)
    np.savez_compressed(folder / "tracers.state.npz", **state_of_tracers(moved))


if __name__ == "__main__":
    write(HERE / pt.__version__)
