# SPDX-License-Identifier: BSD-3-Clause
"""Races of forms whose times are known."""

import math

import numpy as np
import particles as pt
from particles import kernels
from particles.tuning import candidates
from particles.tuning import race as race_module

SHAPE = (64, 64, 64)


class Clock:
    """Time that passes when sweeps are made and timed."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Entrant:
    def __init__(self, course, form):
        self.course = course
        self.form = form

    def result(self):
        return np.array([1.0, 2.0 + (self.form in self.course.wrong)])

    def seconds(self):
        self.course.timed.append(self.form)
        time = self.course.times[self.form]
        seconds = time.pop(0) if isinstance(time, list) else time
        self.course.clock.now += seconds
        return seconds


class Course:
    """A race whose times are known; forms may be wrong, fail, or take time to be made."""

    def __init__(self, clock, times):
        self.clock = clock
        self.times = {pt.Form(): 1.0, **times}
        self.wrong, self.failing, self.timed = set(), {}, []
        self.seconds_to_make = 0.0

    def sweeps(self, form):
        self.clock.now += self.seconds_to_make
        if form in self.failing:
            raise self.failing[form]
        return Entrant(self, form)

    def race(self, end=math.inf):
        forms = [form for form in self.times if form != pt.Form()]
        return race_module.race_along(self, forms, end)


def task(device, shape=SHAPE, dtype="float32", components=1, kernel="M'6", velocity=None):
    grid = pt.Grid(shape)
    chosen = kernels.get(kernel)
    return candidates.Task(device, grid, np.dtype(dtype), components, chosen, velocity)
