# SPDX-License-Identifier: BSD-3-Clause
"""The table of wrong arguments: every call, and as a program the page docs/bad-input.md."""

import textwrap
from pathlib import Path

from tests.trust.bad_arrays import ARRAY_CALLS
from tests.trust.bad_commands import COMMANDS, FLAGS
from tests.trust.bad_fields import FIELD_CALLS
from tests.trust.bad_files import FILES
from tests.trust.bad_interpolation import INTERPOLATION
from tests.trust.bad_modules import KERNELS, PROBLEMS
from tests.trust.bad_operators import OPERATORS
from tests.trust.bad_pictures import PICTURES
from tests.trust.bad_sets import SETS
from tests.trust.bad_steppers import STEPPERS
from tests.trust.bad_velocities import VELOCITY_CALLS

CALLS = [
    *ARRAY_CALLS,
    *SETS,
    *INTERPOLATION,
    *FIELD_CALLS,
    *VELOCITY_CALLS,
    *OPERATORS,
    *STEPPERS,
    *FILES,
    *KERNELS,
    *PROBLEMS,
    *PICTURES,
]
PAGE = Path(__file__).parents[2] / "docs" / "bad-input.md"

HEAD = ("wrong", "exception", "message")
NOT_TRIED = {
    "AdvectionOp.check_times": "used by the operators alone, with numbers that have been checked",
    "AdvectionOp.core_for": "used by the operators alone",
    "Diffusion.core_for": "used by the operators alone",
    **{
        f"Array.__i{operator}__": "refused whatever it is given"
        for operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
    },
    "Device": "devices come from `devices`, `default_device` and `Device.from_pyopencl`",
    "Memory": "a result",
    "Memory.__getitem__": "a mapping, whose errors are Python's",
    "RemeshOp.core_in": "used by the operators alone",
    "ParticleSet.positions": "refused whatever it is given",
    "Report": "a result",
    "Stage": "a result",
    "VelocitySeries.around": "used by the operators alone, with numbers that have been checked",
    "VelocitySeries.check_times": "used by the operators alone, with numbers that have been checked",
    "io.Contents": "a result",
    "io.Series.__getitem__": "refused whatever it is given",
    "kernels.KernelDescription": "a result",
    "kernels.RemeshingKernel": "kernels come from `get` and `custom`, which check them",
    "levelset.LevelSetResult": "a result",
    "levelset.Row": "a result",
    "levelset.ball": "a formula, of arrays of NumPy, whose errors are NumPy's",
    "levelset.flow": "a formula, of arrays of NumPy, whose errors are NumPy's",
    "plot.isosurface(color)": "left to Matplotlib",
    "plot.particles(options)": "left to Matplotlib",
    "plot.slice(options)": "left to Matplotlib",
    "plot.volume(options)": "`vmin`, `vmax`: as for `plot.slice`; others are refused",
    "plot.movie(options)": "those of `plot.slice`",
    "plot.movie(lcfl)": "tried together with `dt`, as one of them is given",
    "problems.ProblemResult": "a result",
    "problems.vortex_box(cfl)": "tried together with `dt`, as one of them is given",
    "problems.zalesak(cfl)": "tried together with `dt`, as one of them is given",
    "Splitting.run(lcfl)": "tried together with `dt`, as one of them is given",
    "Splitting.run(at)": "tried together with `callback`, which it needs",
    "Splitting.run(every)": "tried together with `callback`, which it needs",
    "Tracers.run(at)": "tried together with `callback`, which it needs",
    "Tracers.run(every)": "tried together with `callback`, which it needs",
    "Tracers.run(lcfl)": "tried together with `dt`, as one of them is given",
    "Unsplit.run(at)": "tried together with `callback`, which it needs",
    "Unsplit.run(every)": "tried together with `callback`, which it needs",
    "Unsplit.run(lcfl)": "tried together with `dt`, as one of them is given",
}


def tried():
    """Return the public arguments of the table as ``callable(argument)``."""
    return {f"{call.name.partition(' ')[0]}({name})" for call in CALLS for name in call.wrong}


def counts():
    """Return how many inputs are wrong alone, wrong together, and wrong for the command."""
    alone = sum(len(kind.wrong) for call in CALLS for kind in call.wrong.values())
    together = sum(len(call.together) for call in CALLS)
    commands = sum(len(values) for options in COMMANDS.values() for values in options.values())
    return alone, together, commands + len(FLAGS)


def page():
    """Return the page in Markdown."""
    alone, together, commands = counts()
    sections = [
        "---\norphan: true\n---",
        "# Bad input",
        (
            "Each wrong input raises one exception. It names the argument, what was expected and what\n"
            "came. Nothing is changed: fields, times and files are as before, and all objects can still\n"
            "be used. `python -m tests.trust.bad_inputs` writes this page from the table that\n"
            "`tests/trust/test_bad_inputs.py` tries. `tests/trust/test_hostile_inputs.py` also gives each argument\n"
            "objects that raise exceptions, claim to be what they are not, or never end: they are refused\n"
            "by name, or their own exception is passed on."
        ),
        (
            f"{alone + together + commands} inputs are tried: {alone} wrong values of single arguments, "
            f"{together} that are wrong together,\nand {commands} command lines. Messages are shown for an "
            "argument called `name`; {} stands for what came."
        ),
    ]
    for (title, rows), places in kinds().items():
        heading = f"## {title[0].upper()}{title[1:]}"
        sections += [heading, _wrapped(f"For {', '.join(places)}."), _table(HEAD, rows)]
    sections += ["## Wrong together"]
    for call in CALLS:
        rows = _merged((one.what, one.error, one.words) for one in call.together)
        sections += [f"`{call.name}`", _table(HEAD, rows)] if rows else []
    lines = [
        (f"`{command} {option} {given}`", _cell(words))
        for command, options in COMMANDS.items()
        for option, values in options.items()
        for given, words in values
    ]
    lines += [(f"`{given}`", _cell(words)) for given, words in FLAGS]
    sections += ["## Commands", "Each ends with 2 and one line."]
    sections += [_table(("after `particles`", "line"), lines)]
    left_out = [(f"`{what}`", why) for what, why in NOT_TRIED.items()]
    return "\n\n".join([*sections, "## Not tried", _table(("what", "why"), left_out)]) + "\n"


def kinds():
    """Return the arguments of each kind; a kind is its title and the rows of its table."""
    found = {}
    for call in CALLS:
        for name, kind in call.wrong.items():
            rows = _merged((one.what, one.error, one.template("name")) for one in kind.wrong)
            found.setdefault((kind.name, rows), []).append(f"`{call.name}({name})`")
    return found


def _merged(refusals):
    """Return rows of a table, one for each message."""
    same = {}
    for what, error, words in refusals:
        same.setdefault((error.__name__, _cell(words)), []).append(_cell(what))
    return tuple((", ".join(wrong), *message) for message, wrong in same.items())


def _table(head, rows):
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _wrapped(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def _cell(text):
    shortened = text if len(text) <= 120 else text[:100] + "..."
    escaped = shortened.encode("unicode_escape").decode().replace("|", "\\|")
    return escaped.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    PAGE.write_text(page())
