# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints with right sums, whatever else is wrong with them."""

import hashlib
import json


def sealed(content):
    """Return a file that lacks its sum with that, or as it is where nobody can know the pieces."""
    if not content.startswith(b"particles checkpoint 3\n"):
        return content + hashlib.sha256(content).digest()
    magic, line, values = (*content.split(b"\n", 2), b"", b"")[:3]
    head = magic + b"\n" + line + b"\n"
    digest = hashlib.sha256(head)
    try:
        for piece, length in json.loads(line)["pieces"]:
            run, values = values[:length], values[length:]
            for begin in range(0, length, piece):
                digest.update(hashlib.sha256(run[begin : begin + piece]).digest())
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return content
    return content + digest.digest()
