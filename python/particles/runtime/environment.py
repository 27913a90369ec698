# SPDX-License-Identifier: BSD-3-Clause
"""Environment variables that are ours; nothing else in Python reads them."""

from __future__ import annotations

import os

VARIABLES = (
    "PARTICLES_DEVICE",
    "PARTICLES_OPENCL",
    "PARTICLES_CACHE",
    "PARTICLES_REPAIR",
    "PARTICLES_TUNE",
    "PARTICLES_COMM",
)
"""All of them, which docs/howto/install.md explains."""

_LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")

_MARK = "PARTICLES_RANK_PROCESS"  # is ours alone: the number of the process that is a rank

EFFORTS = ("off", "quick", "full")


def wanted_device() -> str:
    """Return what ``PARTICLES_DEVICE`` says, without spaces around it."""
    return _value("PARTICLES_DEVICE").strip()


def wanted_library() -> str:
    """Return what ``PARTICLES_OPENCL`` says."""
    return _value("PARTICLES_OPENCL")


def wanted_cache() -> str:
    """Return what ``PARTICLES_CACHE`` says."""
    return _value("PARTICLES_CACHE")


def effort() -> str:
    """Return what ``PARTICLES_TUNE`` says, ``"quick"`` where it says nothing."""
    wanted = _value("PARTICLES_TUNE").strip().lower() or "quick"
    if wanted not in EFFORTS:
        raise ValueError(f"PARTICLES_TUNE must be one of {', '.join(EFFORTS)}, not {wanted!r}")
    return wanted


def may_repair() -> bool:
    """Return what ``PARTICLES_REPAIR`` says, that it may be where it says nothing."""
    wanted = _value("PARTICLES_REPAIR").strip().lower() or "on"
    if wanted not in ("on", "off"):
        raise ValueError(f"PARTICLES_REPAIR must be on or off, not {wanted!r}")
    return wanted == "on"


def wanted_comm() -> str | None:
    """Return what ``PARTICLES_COMM`` says, None where it says nothing."""
    wanted = _value("PARTICLES_COMM").strip()
    if wanted not in ("", "world"):
        raise ValueError(f"PARTICLES_COMM must be world, not {wanted!r}")
    return wanted or None


def launched() -> int:
    """Return how many ranks a launcher says that it has started; 1 where none does."""
    by_slurm = ("SLURM_STEP_NUM_TASKS",) if _value("PMIX_RANK") else ()
    for name in (*_LAUNCHERS, *by_slurm):
        if (value := _value(name)).isdecimal():
            return int(value)
    return 1


def tasks_of_step() -> int:
    """Return how many processes Slurm has started together, whatever they know of each other."""
    value = _value("SLURM_STEP_NUM_TASKS")
    return int(value) if value.isdecimal() else 1


def is_first_process() -> bool:
    """Whether this is what a launcher has started, and no child of it, which is no rank."""
    own = str(os.getpid())
    return os.environ.setdefault(_MARK, own) == own


def _value(name: str) -> str:
    return os.environ.get(name, "")
