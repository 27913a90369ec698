# SPDX-License-Identifier: BSD-3-Clause
"""A semi-Lagrangian step by PyTorch's ``grid_sample``, on all cores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch.nn.functional import grid_sample, pad

from benchmarks.peers.comparison import Array, Peer, Problem


def peers(problem: Problem) -> list[Peer]:
    """One step in three dimensions at once."""
    return [
        Peer("PyTorch, semi-Lagrangian, linear", None, _step(problem), problem.step_tolerance(2e-3))
    ]


def _step(problem: Problem) -> Callable[[], Array]:
    """Boxes are continued as far as particles move: `grid_sample` knows no periodic ones."""
    margin = math.ceil(problem.cfl) + 1
    u = torch.from_numpy(problem.u)[None, None]
    motion = torch.from_numpy(np.stack(problem.motion))[None]
    velocity = _continued(motion, margin)
    points = torch.meshgrid(*map(torch.arange, problem.u.shape), indexing="ij")
    places = torch.stack(points, -1)[None].float() + margin
    cells = torch.tensor(velocity.shape[2:]).float() - 1

    def read(values: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """Read at places in cells, in the order of the axes: `grid_sample` counts from -1 to 1."""
        around = (2 / cells * at - 1).flip(-1)
        return grid_sample(values, around, padding_mode="border", align_corners=True)

    @torch.inference_mode()
    def work() -> Array:
        middle = read(velocity, places - motion.movedim(1, -1) / 2)
        return read(_continued(u, margin), places - middle.movedim(1, -1))[0, 0].numpy()

    return work


def _continued(values: torch.Tensor, margin: int) -> torch.Tensor:
    return pad(values, (margin,) * 6, mode="circular")
