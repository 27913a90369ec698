# SPDX-License-Identifier: BSD-3-Clause
"""Options of the ``particles`` command, each with wrong values and what the one line says."""

_SHAPE = [
    ("a", "argument --shape: invalid int value: 'a'"),
    ("0", "shape must be at least 1, not 0"),
    ("-4", "shape must be at least 1, not -4"),
    ("8 8 8 8", "shape must have one to three axes, not 4"),
    ("4194304 4194304", "shape must"),
    ("", "argument --shape: expected at least one argument"),
]
_KERNEL = [
    ("M6", 'kernel must be "M\'4", "M\'6"'),
    ("L3_1", "kernel 'L3_1' must have an even p"),
    ("L6_2", "kernel 'L6_2' must have 2 q + 1 >= p"),
]
_DTYPE = [("int32", "argument --dtype: invalid choice: 'int32'")]
_DEVICE = [("nowhere", "device 'nowhere' is none of"), ("99", "device 99 is none of")]
_DT = [
    ("a", "argument --dt: invalid float value: 'a'"),
    ("0", "dt must be positive, not 0.0"),
    ("-1", "dt must be positive, not -1.0"),
    ("nan", "dt must be finite, not nan"),
    ("inf", "dt must be finite, not inf"),
    ("5e-324", "dt must be large enough to change the time"),
]
_CFL = [
    ("a", "argument --cfl: invalid float value: 'a'"),
    ("0", "cfl must be positive, not 0.0"),
    ("-1", "cfl must be positive, not -1.0"),
    ("nan", "cfl must be finite, not nan"),
]
_OUT = [("/dev/null", "out must be a folder: ")]
_PRESET = [("best", "argument --preset: invalid choice: 'best'")]
_COMPONENTS = [
    ("a", "argument --components: invalid int value: 'a'"),
    ("0", "components must be at least 1, not 0"),
]
_PROBLEM = {
    "--shape": [*_SHAPE[:4], _SHAPE[5], ("1", "shape must have points inside the disk")],
    "--preset": _PRESET,
    "--kernel": _KERNEL,
    "--dt": _DT,
    "--cfl": _CFL,
    "--dtype": _DTYPE,
    "--device": _DEVICE,
    "--out": _OUT,
}
COMMANDS = {
    "bench": {
        "--device": _DEVICE,
        "--shape": _SHAPE,
        "--axis": [
            ("a", "argument --axis: invalid int value: 'a'"),
            ("3", "axis must be from 0 to 2, not 3"),
            ("-1", "axis must be from 0 to 2, not -1"),
        ],
        "--cfl": _CFL,
        "--kernel": _KERNEL,
        "--dtype": _DTYPE,
        "--components": _COMPONENTS,
        "--velocity": [("fast", "argument --velocity: invalid choice: 'fast'")],
    },
    "cache": {"action": [("sell", "argument action: invalid choice: 'sell'")]},
    "levelset": {
        "--shape": [*_SHAPE[:4], _SHAPE[5], ("1", "shape must have points inside the ball")],
        "--kernel": _KERNEL,
        "--dt": _DT,
        "--until": [
            (given, words.replace("--dt", "--until").replace("dt", "until"))
            for given, words in _DT[:5]
        ],
        "--order": [
            ("3", "argument --order: invalid choice"),
            ("a", "argument --order: invalid int value: 'a'"),
        ],
        "--velocity": [("fast", "argument --velocity: invalid choice: 'fast'")],
        "--dtype": _DTYPE,
        "--device": _DEVICE,
        "--out": _OUT,
    },
    "repair": {
        "path": [
            ("/dev/null", "path must name a regular file, not a character device: '/dev/null'"),
            ("notes.txt", "notes.txt is not a series of fields that this version reads"),
        ]
    },
    "tune": {
        "--shape": _SHAPE,
        "--kernel": _KERNEL,
        "--dtype": _DTYPE,
        "--components": _COMPONENTS,
        "--device": _DEVICE,
    },
    "vortex-box": {
        **_PROBLEM,
        "--dim": [("4", "argument --dim: invalid choice"), ("a", "argument --dim: invalid int")],
    },
    "zalesak": _PROBLEM,
}
FLAGS = [
    ("", "the following arguments are required: command"),
    ("sell", "argument command: invalid choice: 'sell'"),
    ("--fast", "the following arguments are required: command"),
    ("info --fast", "particles info: unrecognized arguments: --fast; see particles info --help"),
    ("info fast", "particles info: unrecognized arguments: fast; see particles info --help"),
    ("cache", "the following arguments are required: action"),
    ("repair", "the following arguments are required: path"),
    *(
        (f"{command} {flag}=1", f"argument {flag}: ignored explicit argument '1'")
        for command, flags in {
            "bench": ("--quick", "--json"),
            "cache": ("--json",),
            "info": ("--json",),
            "levelset": ("--no-back", "--json"),
            "repair": ("--alone", "--json"),
            "tune": ("--full", "--json"),
            "vortex-box": ("--json",),
            "zalesak": ("--json",),
        }.items()
        for flag in flags
    ),
    ("zalesak --dt 0.1 --cfl 2", "argument --cfl: not allowed with argument --dt"),
    ("vortex-box --dt 0.1 --cfl 2", "argument --cfl: not allowed with argument --dt"),
]


def tried():
    """Return the options that are tried, as ``command --option``."""
    options = {f"{command} {option}" for command, values in COMMANDS.items() for option in values}
    return options | {given.partition("=")[0] for given, _ in FLAGS if "=" in given}
