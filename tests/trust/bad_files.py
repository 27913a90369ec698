# SPDX-License-Identifier: BSD-3-Clause
"""Files: right calls, and what is wrong in them."""

import math

import particles as pt

from tests.trust.bad_calls import Call, Together, U
from tests.trust.bad_kinds import (
    COMM,
    CUTS,
    DEVICE,
    DEVICES,
    FIELDS_AND_SETS,
    NAMED_FIELDS,
    PATH,
    REAL,
    Of,
    Wrong,
    a,
    choice,
    index,
)

TIME = REAL.but("None")
TRANSPORT = a("a Splitting, Unsplit or Tracers")
ALONE = Of(lambda w: w.folder / "alone")
NEXT = Of(lambda w: math.nextafter(w.files.times[-1], math.inf))
_BOTH = Together(
    "device and devices",
    {"device": 0, "devices": [0]},
    ValueError,
    "device must be None where devices are given, not 0",
)

FILES = [
    Call(
        "io.save",
        lambda w: pt.io.save,
        {"path": Of(lambda w: w.archive), "fields": U},
        {"path": PATH, "fields": FIELDS_AND_SETS, "time": TIME},
    ),
    Call(
        "io.load",
        lambda w: pt.io.load,
        {"path": Of(lambda w: w.archive)},
        {
            "path": PATH.also(
                Wrong(
                    "another file",
                    Of(lambda w: w.stopped),
                    ValueError,
                    "=is damaged, or not a file of fields",
                )
            ),
            "device": DEVICE,
            "comm": COMM,
            "devices": DEVICES,
            "cuts": CUTS,
        },
        (_BOTH,),
    ),
    Call(
        "io.write_vti",
        lambda w: pt.io.write_vti,
        {"path": Of(lambda w: w.picture), "fields": U},
        {
            "path": PATH.also(
                Wrong("of another kind", "a.vtk", ValueError, "must end in .vti, not {}")
            ),
            "fields": NAMED_FIELDS,
        },
    ),
    Call(
        "io.write_vtp",
        lambda w: pt.io.write_vtp,
        {"path": Of(lambda w: w.picture.with_suffix(".vtp")), "swarm": Of(lambda w: w.swarm)},
        {
            "path": PATH.also(
                Wrong("of another kind", "a.vtk", ValueError, "must end in .vtp, not {}")
            ),
            "swarm": a("a ParticleSet"),
        },
    ),
    Call(
        "io.Series",
        lambda w: pt.io.Series,
        {"path": Of(lambda w: w.files.path)},
        {
            "path": PATH,
            "mode": choice("a", "w", "r").also(
                Wrong("to read and write", "r+", ValueError, "must be")
            ),
        },
    ),
    Call("io.Series.to_xarray", lambda w: w.files.to_xarray, {}, {}),
    Call(
        "io.Series.load",
        lambda w: w.files.load,
        {"index": 0},
        {"index": index(1), "device": DEVICE, "comm": COMM, "devices": DEVICES, "cuts": CUTS},
        (_BOTH,),
    ),
    Call(
        "io.Series.append",
        lambda w: w.files.append,
        {"time": NEXT, "fields": U},
        {
            "time": REAL.also(
                Wrong("not after the last", 0.0, ValueError, "must be after the last one")
            ),
            "fields": FIELDS_AND_SETS.also(
                Wrong("another name", Of(lambda w: w.w), ValueError, "must be u as before, not w"),
                Wrong(
                    "another dtype",
                    Of(lambda w: {"u": w.double}),
                    ValueError,
                    "=field 'u' must be of the shape (4, 6) and of float32",
                ),
                Wrong(
                    "another shape",
                    Of(lambda w: {"u": w.fine}),
                    ValueError,
                    "=field 'u' must be of the shape (4, 6)",
                ),
                Wrong(
                    "another grid",
                    Of(lambda w: {"u": w.elsewhere}),
                    ValueError,
                    "=field 'u' must be on",
                ),
            ),
        },
    ),
    Call(
        "io.checkpoint",
        lambda w: pt.io.checkpoint,
        {"path": Of(lambda w: w.stopped), "transport": Of(lambda w: w.transport)},
        {"path": PATH, "transport": TRANSPORT},
    ),
    Call(
        "io.restore",
        lambda w: pt.io.restore,
        {"path": Of(lambda w: w.stopped), "transport": Of(lambda w: w.transport)},
        {
            "path": PATH.also(
                Wrong("another file", Of(lambda w: w.archive), ValueError, "=is not a checkpoint")
            ),
            "transport": TRANSPORT.also(
                Wrong(
                    "made otherwise",
                    Of(lambda w: w.windy),
                    ValueError,
                    "must match the one in",
                ),
                Wrong("an Unsplit", Of(lambda w: w.unsplit), ValueError, "must match the one in"),
            ),
        },
    ),
]
