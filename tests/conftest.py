# SPDX-License-Identifier: BSD-3-Clause
"""Every OpenCL device that can be used is tested; ``PARTICLES_TEST`` narrows by index or part of a name.

A driver that must be told of an older processor is tested where it is the only one, or named.

Laws of the method, marked ``one_device``, are tested on the first of them alone: what another driver
may get wrong shows in the tests of every operator, form and dtype, bit by bit or against NumPy, which
run everywhere. Of a test with several parameters, as many combinations run on each device as show every
value once, three at most; where it is marked ``drawn(n)``, n combinations. Tests that need no device take all combinations.
What is ``exhaustive`` takes minutes. ``PARTICLES_TEST=all`` leaves nothing out.

Where no test is chosen, as by ``script/test`` without arguments, a quarter of the tests that are ``slow`` or ``sampled``
runs, and a quarter of the combinations of others. ``PARTICLES_SHARE=1`` runs all of them;
``PARTICLES_SHARE=1/6`` draws a sixth of the tests.

PoCL builds programs without optimisation, which `test_determinism` shows to give the same bits, unless
``POCL_EXTRA_BUILD_FLAGS`` is set, as by ``.ci/run`` in one run, or ``PARTICLES_TEST=all``.

Tests run in a random order. The number that decides it, and what is drawn, is printed; ``PARTICLES_SEED``
sets it, ``PARTICLES_SEED=new`` to another one each time. Which tests a worker ran, and in which order, is kept in a file that pytest can be given.
With ``PARTICLES_IMPORTS=first`` whatever is optional is imported before them.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # others spin in each child process

import faulthandler
import importlib
import math
import re
import signal
import subprocess
from collections import defaultdict
from contextlib import suppress
from itertools import chain

import hypothesis
import numpy as np
import particles as pt
import pytest
from hypothesis import HealthCheck, settings
from particles import _core
from particles._core import testing
from particles.operators.form import Form
from particles.runtime import processor_name
from particles.runtime.devices import devices

from tests.support import lot
from tests.support.pairwise import covering, named
from tests.support.usable import refusal
from tests.trust import faults

os.environ["PARTICLES_TUNE"] = "off"  # what tests it sets it
os.environ["PARTICLES_CHECK_ARGUMENTS"] = "1"  # of every kernel that a test launches

OPTIONAL = (
    *("IPython.display", "ipykernel.kernelapp", "nbconvert", "tqdm.auto"),
    *("h5py", "pyopencl.array", "scipy", "xarray"),
    *("matplotlib.animation", "matplotlib.pyplot", "skimage.measure"),
)
if os.environ.get("PARTICLES_IMPORTS") == "first":
    for name in OPTIONAL:
        importlib.import_module(name)

ALL = os.environ.get("PARTICLES_TEST", "").lower() == "all"
CASES = 3

# A shell lets what it starts in the background ignore interrupts; tests send some to themselves and to others.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# PoCL keeps the first value that it finds in a process: no test can change it for itself alone.
if not ALL:
    os.environ.setdefault("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable")

# A kernel is built at first need, which takes as long as it takes.
settings.register_profile(
    "quick",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "thorough", settings.get_profile("quick"), max_examples=2000, derandomize=False
)
settings.load_profile("quick")


def short_name(device):
    """Return a name that is unique and fits in a test's id."""
    kind = "pocl" if device.info.is_pocl else device.name.replace(" ", "-")
    return f"{device.index}-{kind}-{device.driver}"


def tested_devices():
    """Return the devices that ``PARTICLES_TEST`` leaves and that can be used."""
    wanted = "" if ALL else os.environ.get("PARTICLES_TEST", "").lower()
    found = [
        device
        for device in devices()
        if wanted in (str(device.index), "")
        or (not wanted.isdecimal() and wanted in f"{short_name(device)} {device.name}".lower())
    ]
    if not found:
        raise pytest.UsageError(f"PARTICLES_TEST={wanted!r} leaves none of {devices()}")
    usable = [device for device in found if refusal(device) is None]
    if not usable:
        raise pytest.UsageError("\n".join(map(refusal, found)))
    known = [device for device in usable if not processor_name.told(device.info)]
    return usable if ALL or wanted else known or usable


TESTED = tested_devices()
WORKER = os.environ.get("PYTEST_XDIST_WORKER")
SHARE = "" if lot.SHARE is None else f"PARTICLES_SHARE={lot.SHARE} "
OF_PYTEST = re.compile("/(pluggy|_pytest|xdist|execnet)/")
ENDED = []  # what is to be said of workers that crashed
REPEATED = f"{SHARE}PARTICLES_SEED={lot.NUMBER} repeats the order and what is drawn"


def pytest_configure(config):
    """Let workers end by themselves, however slow the machine: what a sanitizer has found is written then."""
    if config.pluginmanager.hasplugin("xdist"):
        importlib.import_module("xdist.workermanage").NodeManager.EXIT_TIMEOUT = 300


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Start no more workers than there are cores for this process; each collects all tests first."""
    workers = yield
    known = getattr(os, "sched_getaffinity", None)  # on Linux
    return min(workers, len(known(0))) if known else workers


def pytest_report_header(config):
    """Say what repeats this run, what it leaves out, and which devices are not tested, and why."""
    left_out = [device for device in devices() if device not in TESTED]
    short = (
        f"{lot.SHORT} of long tests, and of combinations of parameters; PARTICLES_SHARE=1 for all"
    )
    return [
        REPEATED,
        *([short] if is_short(config) else []),
        *[f"not tested: {refusal(device) or device}" for device in left_out],
    ]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Keep the status of a worker that crashed: if a signal ended it, its negative number."""
    if error:
        with suppress(subprocess.TimeoutExpired):
            status = node.gateway._io.popen.wait(10)
            ENDED.append(f"Worker {node.gateway.id} ended with status {status}.")


def pytest_terminal_summary(terminalreporter, config):
    """Say it again where something failed, and where workers were when they crashed."""
    if terminalreporter.stats.keys() & {"failed", "error"}:
        terminalreporter.write_line(REPEATED)
        if config.getoption("numprocesses", 0):
            folder = config.cache.mkdir("order")
            terminalreporter.write_line(f"What worker gw0 ran, in its order: pytest @{folder}/gw0")
            told = [path.read_text().splitlines() for path in sorted(folder.glob("*.crash"))]
            for line in chain(ENDED, *told):
                if not OF_PYTEST.search(line):
                    terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what is not needed, and shuffle the rest, unless each test is named."""
    if not all("::" in argument for argument in config.args):
        kept = items if ALL else needed(items, lot.SHORT if is_short(config) else 1)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = lot.shuffled([item for item in items if item in kept])
    for item in items:
        if hypothesis.is_hypothesis_test(item.function):
            hypothesis.seed(lot.NUMBER)(item.function)


def is_short(config):
    """Whether no tests are chosen, and no share of them."""
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    ways = "keyword", "lf", "failedfirst", "stepwise"
    is_chosen = any(config.getoption(way, False) for way in ways)
    return is_whole and not is_chosen and not ALL and lot.SHARE is None


def needed(items, share):
    """Leave out what takes minutes, laws on other devices, and combinations of values seen in others.

    Of tests that take seconds, and of the combinations of others, a share is drawn.
    """

    def is_needed(item):
        if item.get_closest_marker("exhaustive"):
            return False
        device = parameters(item).get("device")
        return device in (None, TESTED[0]) or not item.get_closest_marker("one_device")

    families = defaultdict(list)
    for item in filter(is_needed, items):
        device = parameters(item).get("device")
        families[item.nodeid.partition("[")[0], device and device.index].append(item)
    long = {name for (name, _), (test, *_) in families.items() if takes_seconds(test)}
    quick = {name for name, _ in families} - long
    of_all = lot.SHARE or 1
    wanted = lot.drawn(quick, of_all, "quick") | lot.drawn(long, of_all * share, "long")
    kept = set()
    for (name, device), family in families.items():
        if name not in wanted:
            continue
        if lot.NUMBER:
            lot.lots(name).shuffle(family)
        of_cases = 1 if name in long else share
        marked = family[0].get_closest_marker("drawn")
        if marked:
            family = family[: math.ceil(of_cases * marked.args[0])]
        elif device is not None:
            shown = covering(map(choices, family), together=1, most=math.ceil(of_cases * CASES))
            family = [family[index] for index in shown]
        kept.update(family)
    return kept


def takes_seconds(item):
    """Whether a test is marked as such."""
    return any(map(item.get_closest_marker, ("slow", "sampled")))


def parameters(item):
    """Return the values of a test's parameters by name."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def choices(item):
    """Return the same where parameters that are given together are one."""
    chosen = dict(parameters(item))
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        if not isinstance(names, str):
            chosen[" ".join(names)] = tuple(named((name, chosen.pop(name))) for name in names)
    return chosen


def pytest_sessionstart(session):
    """Begin the list of what this worker runs: which test comes to which one is the scheduler's luck.

    Where it crashes goes into a file, as what all workers say is mixed up.
    """
    folder = session.config.cache.mkdir("order")
    if WORKER:
        (folder / WORKER).write_text("")
        file = (folder / f"{WORKER}.crash").open("w")
        session.config.add_cleanup(file.close)
        faulthandler.enable(file)
    elif session.config.getoption("numprocesses", 0):
        for left in folder.glob("*.crash"):
            left.unlink()


def pytest_runtest_setup(item):
    """Go on with it."""
    if WORKER:
        with (item.config.cache.mkdir("order") / WORKER).open("a") as file:
            print(item.nodeid, file=file)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Let what a test has enqueued end with it.

    Drivers link a kernel when it first runs: PoCL in a thread of its own, where a failure ends the
    process, and other tests change folders, the environment and what a process may use of them.
    """
    try:
        return (yield)
    finally:
        for one in TESTED:
            with suppress(pt.DeviceError):  # a test may have made it fail
                one.finish()


@pytest.fixture(scope="session", params=TESTED, ids=short_name)
def device(request):
    """Return each device in turn, of which no program may call what `functions.cl` lacks."""
    yield request.param
    assert testing.programs_that_read_header(request.param.core) == 0


@pytest.fixture(params=["float32", "float64"])
def dtype(request, device):
    """Return each dtype that the device has."""
    dtype = np.dtype(request.param)
    if dtype not in device.dtypes:
        pytest.skip(f"{device.name} has no {dtype}")
    return dtype


@pytest.fixture(autouse=True)
def form_built_fastest(request, monkeypatch):
    """Take a line per work-item where a law marked ``any_form`` asks for no form.

    All forms give the same bits, which tests of their own prove; this one is built three times as
    fast as vectors.
    """
    if request.node.get_closest_marker("any_form"):
        chosen = Form.core.fget
        single = _core.Form("private")
        monkeypatch.setattr(
            Form, "core", property(lambda form: single if form == Form() else chosen(form))
        )


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Return the library that fails on demand."""
    try:
        return faults.build(tmp_path_factory.mktemp("faulty"))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the library that fails on demand cannot be built here: {error}")
