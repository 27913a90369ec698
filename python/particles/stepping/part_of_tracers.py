# SPDX-License-Identifier: BSD-3-Clause
"""The tracers of one of several ranks or devices, which take their steps together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from particles import _core
from particles.sets.particle_set import ParticleSet
from particles.stepping.planes_of_flow import PlanesOfFlow


class Found(NamedTuple):
    """What has come of steps; those are counted from 1, and 0 is none."""

    left: list[list[int]]
    stuck: int
    first_left: tuple[int, int]
    first_stuck: tuple[int, int]


class Wrong(NamedTuple):
    """What must not be of a particle.

    Attributes
    ----------
    step : int
        In which step, counted from 0.
    leaves : bool
        Whether it would leave the box; else it does not know where to go.
    rank, particle : int
        Which one it is of those that a rank has.
    number : int
        Which one it is of all, in the order of the set.
    place : tuple of float
        Where it is before that step.
    """

    step: int
    leaves: bool
    rank: int
    particle: int
    number: int
    place: tuple[float, ...]


class Outcome(NamedTuple):
    """What has come of steps on one rank.

    Attributes
    ----------
    wrong : Wrong or None
        What has ended them, on any rank.
    stuck : int
        How often a particle of this one has stayed where it was, if that may be.
    first_stuck : int
        In which step first, of all that were done.
    """

    wrong: Wrong | None
    stuck: int
    first_stuck: int


class PartOfTracers:
    """Takes the particles along that a rank has; all ranks call its methods.

    Particles go to the rank that has their cell now and then, and at the end.
    """

    def __init__(self, core: _core.Tracers, planes: PlanesOfFlow, swarm: ParticleSet) -> None:
        self._core, self._planes, self._swarm = core, planes, swarm
        self._ranks = planes.ranks

    def advance(
        self, start: float, dt: float, steps: int, first: int, checks: bool, refuses: bool
    ) -> Outcome:
        """Do steps, the first of them some after `start`, up to that in which something is wrong.

        That one is not done. It is wrong where a particle has no velocity, if that is checked, and
        where one leaves, if that is refused.
        """
        swarm, stuck, first_stuck, done = self._swarm, 0, 0, 0
        while done < steps:
            begin = start + (first + done) * dt
            count = self._planes.provide(begin, dt, steps - done)
            with swarm._together(f"{count} steps of {dt!r} of tracers from {begin!r} on"):
                swarm._be_unsorted()
                places = swarm._columns_now.places
                self._core.begin(places, checks or refuses)
                self._core.advance(places, start, dt, count, first + done)
                found = Found(*self._core.look())
            wrong = self._first_wrong(found, checks=checks, refuses=refuses)
            if wrong is not None:
                with swarm._together("to go back to the step before"):
                    self._core.go_back(places)
                    self._core.advance(places, start, dt, wrong.step, first + done)
                    found = Found(*self._core.look())
                wrong = self._told(wrong)._replace(step=first + done + wrong.step)
            self._take_home(found)
            if not checks and found.stuck:
                first_stuck = first_stuck or self._core.steps_before + found.first_stuck[0]
                stuck += found.stuck
            if wrong is not None:
                return Outcome(wrong, stuck, first_stuck)
            done += count
        return Outcome(None, stuck, first_stuck)

    def _first_wrong(self, found: Found, *, checks: bool, refuses: bool) -> Wrong | None:
        """Return what is wrong first on any rank, without its place; who leaves before all else."""
        numbers = self._swarm._columns_now.numbers
        assert numbers is not None
        own = []
        for event, matters, leaves in (
            (found.first_left, refuses, True),
            (found.first_stuck, checks, False),
        ):
            step, particle = event
            if matters and step:
                host = np.empty((1, 1), np.int64)
                numbers.read((particle, 0), (1, 1), (1, 1), host)
                own.append(Wrong(step - 1, leaves, self._ranks.rank, particle, int(host[0, 0]), ()))
        every = self._ranks.every("what has come of tracers", own)
        return min(
            (one for some in every for one in some),
            key=lambda one: (one.step, not one.leaves, one.number),
            default=None,
        )

    def _told(self, wrong: Wrong) -> Wrong:
        """Return which of all particles it is, and where."""
        swarm = self._swarm
        place: tuple[float, ...] = ()
        with swarm._together("to say where a particle is"):
            if wrong.rank == self._ranks.rank:
                rows = range(wrong.particle, wrong.particle + 1)
                place = tuple(map(float, swarm._columns_now.positions_at(swarm._box, rows)[0]))
        place = self._ranks.told("where a particle is", place, wrong.rank)
        return wrong._replace(number=swarm._place_of(wrong.number), place=place)

    def _take_home(self, found: Found) -> None:
        """Have the set without what has left, on all ranks, and each particle on its own."""
        swarm = self._swarm
        of_all = self._ranks.total("tracers that leave", np.array(found.left))
        leaving = sum(map(sum, found.left))
        gone = self._core.gone(swarm._columns_now.count) if leaving else None
        swarm._take_home(gone, of_all.tolist(), leaving)
