# SPDX-License-Identifier: BSD-3-Clause
"""Makes calls of OpenCL fail, one after the other, and judges what comes of each.

``python -m tests.trust.faults [device] [--every] [case ...]`` prints what was tried and how it ended.
"""

import collections
import contextlib
import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

from tests.support import lot

HERE = Path(__file__).parent
ONCE, LATER, FROM_THEN_ON = 1, 2, 3
ANY = "any call"

NOT_AVAILABLE, NO_MEMORY, NO_RESOURCES, NO_HOST_MEMORY = -2, -4, -5, -6
NOT_BUILT, NOT_COMPILED = -11, -15
CODES = {
    "clCreateBuffer": (NO_MEMORY, NO_HOST_MEMORY),
    "clCreateImage": (NO_MEMORY, NO_HOST_MEMORY),
    "clBuildProgram": (NOT_BUILT, NO_HOST_MEMORY),
    "clCompileProgram": (NOT_COMPILED, NO_HOST_MEMORY),
}


class Injection(NamedTuple):
    """The nth call of a function that fails, and how."""

    mode: int
    function: str
    nth: int
    code: int


def build(folder):
    """Compile the library that fails on demand; return its path."""
    library = Path(folder, "faulty_opencl.so")
    command = ["c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-I", HERE.parents[1] / "cpp"]
    subprocess.run(
        [*command, HERE / "faulty_opencl.cpp", "-o", library, "-ldl"], check=True, timeout=300
    )
    return library


class Faults:
    """The library that fails on demand, in place of the one the core would use."""

    def __init__(self, library, real):
        os.environ["PARTICLES_REAL_OPENCL"] = str(real)
        os.environ["PARTICLES_OPENCL"] = str(library)
        from particles.runtime import loader

        loader.load()
        del os.environ["PARTICLES_OPENCL"]  # children use the real one
        self._library = ctypes.CDLL(str(library))
        for name in (
            *("calls_of", "failed_calls", "held_references", "wrong_releases"),
            "local_memory_given",
        ):
            getattr(self._library, name).restype = ctypes.c_long
        self._library.function_name.restype = ctypes.c_char_p
        self.functions = []
        while name := self._library.function_name(len(self.functions)):
            self.functions.append(name.decode())

    @contextlib.contextmanager
    def injected(self, mode=0, function="", nth=0, code=0):
        """Let the nth call of a function fail, or count calls alone."""
        self._library.fail(mode, function.encode(), ctypes.c_long(nth), code)
        try:
            yield
        finally:
            self.failed = self._library.failed_calls()
            self.calls = {f: self._library.calls_of(f.encode()) for f in (*self.functions, ANY)}
            self._library.fail(0, b"", ctypes.c_long(0), 0)

    def held(self, device):
        """Return the references that are held when all is done and the garbage collected."""
        with contextlib.suppress(RuntimeError):  # of work that was lost, which is told once
            device.finish()
        gc.collect()
        return self._library.held_references()

    def wrong_releases(self):
        """Return how many releases there were of what is not held."""
        return self._library.wrong_releases()

    def local_memory_given(self):
        """Return the bytes of local memory that a work-group was given last."""
        return self._library.local_memory_given()


class Case:
    """What is done again and again: a function that returns a digest of all that comes of it."""

    def __init__(self, faults, name, device, function):
        self._faults, self.name, self._device, self._function = faults, name, device, function
        function()  # builds and fills what is kept from then on
        self._held = faults.held(device)
        with faults.injected():
            self._expected = function()
        self.calls = {f: count for f, count in faults.calls.items() if count}
        assert faults.held(device) == self._held

    def inject(self, injection):
        """Return how an injection ends: an exception, a right result or what is wrong."""
        import particles as pt

        outcome, message, wrong_releases = "right", "", self._faults.wrong_releases()
        with self._faults.injected(*injection), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                digest = self._function()
            except pt.DeviceError as error:
                outcome, message = type(error).__name__, str(error)
            except Exception as error:  # noqa: BLE001  it is what is looked for
                outcome, message = "WRONG exception", repr(error)
            else:
                outcome = "right" if digest == self._expected else "WRONG number"
        if not self._faults.failed:
            return "not reached", ""
        if self._faults.wrong_releases() > wrong_releases:
            return "WRONG release", message
        leak = self._faults.held(self._device) - self._held
        if leak:
            return "WRONG leak", f"{leak} references, {message}"
        return outcome, message

    def goes_on(self):
        """Return whether all is as it was."""
        is_right = self._function() == self._expected
        return is_right and self._faults.held(self._device) == self._held

    def injections(self, every):
        """Give a use of every function, the first, second or last, or all up to 500 of them."""
        for function, count in self.calls.items():
            all_places = range(1, count + 1, 1 + count // 500)
            draw = lot.lots(f"{self.name} {function}")
            places = all_places if every else [draw.choice((1, min(2, count), count))]
            if function == ANY:
                step = max(1, count // (100 if every else 4))
                for nth in range(1, count + 1, step):
                    yield Injection(FROM_THEN_ON, ANY, nth, NOT_AVAILABLE)
                continue
            if function in ("clCreateBuffer", "clCreateImage") and not every:
                places = draw.sample(range(1, count + 1), min(3, count))
            for code in CODES.get(function, (NO_RESOURCES,)):
                for nth in places:
                    yield Injection(ONCE, function, nth, code)
            if function == "clEnqueueNDRangeKernel":
                if not every:  # what comes after it works on what it has not written
                    places = draw.sample(range(1, count + 1), min(4, count))
                for nth in places:
                    yield Injection(LATER, function, nth, NO_RESOURCES)


def try_all(case, every=False):
    """Return how many injections of each function ended how, and all that went wrong."""
    counts, wrong = collections.Counter(), []
    for injection in case.injections(every):
        outcome, message = case.inject(injection)
        if outcome.startswith("WRONG"):
            wrong.append(f"{case.name}: {injection}: {outcome}: {message}")
        later = ", later" if injection.mode == LATER else ""
        counts[injection.function + later, outcome] += 1
        if not case.goes_on():
            wrong.append(f"{case.name}: {injection}: what comes after it is wrong")
    return counts, wrong


def table(total):
    """Return the counts as text."""
    rows, outcomes = (sorted(set(names)) for names in zip(*total, strict=True))
    sums = {outcome: sum(total[row, outcome] for row in rows) for outcome in outcomes}
    lines = [["call", *outcomes]]
    lines += [[row, *(total[row, outcome] for outcome in outcomes)] for row in rows]
    lines += [["all", *sums.values()]]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def main(library, real, index, every=False, names=()):
    """Try all cases, or those named, in this process; print counts, return what is wrong."""
    import pyopencl  # noqa: F401  its loader crashes without it

    faults = Faults(library, real)
    from tests.trust import fault_cases

    gc.freeze()  # what is imported is looked through no more
    total, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for name, device, function in fault_cases.cases(int(index), Path(folder), every or names):
            if names and name not in names:
                continue
            counts, failures = try_all(Case(faults, name, device, function), every)
            print(f"{name}: {counts.total()} failures, {len(failures)} wrong", flush=True)
            total += counts
            wrong += failures
    print(table(total))
    called = {function for function, _ in total}
    exceptions = sum(count for (_, outcome), count in total.items() if outcome.endswith("Error"))
    return {
        "wrong": wrong,
        "never called": [name for name in faults.functions if name not in called],
        "exceptions": exceptions,
    }


if __name__ == "__main__":
    import particles as pt
    from particles.runtime import loader

    pt.devices()
    index, *names = [argument for argument in sys.argv[1:] if argument != "--every"] or ["0"]
    with tempfile.TemporaryDirectory() as place:
        arguments = (str(build(place)), str(loader.attempts[-1].path), index)
        call = f"faults.main(*{arguments}, {'--every' in sys.argv}, {names})"
        command = [sys.executable, "-c", f"from tests.trust import faults; print({call})"]
        sys.exit(subprocess.run(command, cwd=HERE.parents[1], check=False).returncode)
