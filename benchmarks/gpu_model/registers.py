# SPDX-License-Identifier: BSD-3-Clause
"""Registers and scratch memory of kernels, counted by Clang for a GPU that need not be there.

Clang makes code for AMD's GPUs with OpenCL's functions from libclc: ``apt-get install clang libclc-14``.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

COMPILE = ["clang", "-x", "cl", "-cl-std=CL1.2", "-w", "-O3", "-S"]
PROCESSOR = "gfx906"
LIBRARY = Path(f"/usr/lib/clc/{PROCESSOR}-amdgcn-mesa-mesa3d.bc")


class Registers(NamedTuple):
    """Vector registers of a work-item, and bytes of what did not fit into them."""

    number: int
    scratch: int


def registers(source: str, options: str, kernel: str) -> Registers | None:
    """Return what a kernel needs, or None where Clang or libclc is missing."""
    if not LIBRARY.exists():
        return None
    kept = [word for word in shlex.split(options) if word.startswith("-D") and "inline" not in word]
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, f"{kernel}.cl"), Path(folder, f"{kernel}.s")
        file.write_text(source, encoding="utf-8")
        target = ["-target", "amdgcn-mesa-mesa3d", f"-mcpu={PROCESSOR}", "-nogpulib"]
        linked = ["-finclude-default-header", "-mlink-builtin-bitcode", str(LIBRARY)]
        passed = [word for option in linked for word in ("-Xclang", option)]
        try:
            subprocess.run(
                [*COMPILE, *target, *passed, *kept, "-o", str(out), str(file)],
                check=True,
                capture_output=True,
            )
        except (OSError, subprocess.CalledProcessError):
            return None
        text = out.read_text(encoding="utf-8")
    of_kernel = text[re.search(rf"(?m)^{kernel}:", text).start() :]  # type: ignore[union-attr]
    number, scratch = (
        int(re.search(rf"; {key}: (\d+)", of_kernel)[1])  # type: ignore[index]
        for key in ("NumVgprs", "ScratchSize")
    )
    return Registers(number, scratch)
