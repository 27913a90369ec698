# SPDX-License-Identifier: BSD-3-Clause
"""The clock and the checkpoints of a transport that is being advanced."""

import threading

import numpy as np
import particles as pt
import pytest

from tests.support.sweeps import field, noise
from tests.support.transports import swirl, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

WORDS_OF_BUSY = "is being advanced already, by another thread or by the run whose callback this is"


def transports(device):
    """Two that are alike."""
    velocity = swirl(16, "float32", device, 0.1)
    grid = velocity.grid
    return [transport_of(field(noise(grid, 3), grid, "float32", device), velocity) for _ in "ab"]


def values(transport):
    return transport.remesh.fields[0].get()


def test_a_callback_cannot_set_the_clock(device, tmp_path):
    """A run leads to a time that is settled: neither the clock nor all of the state may be set."""
    run, other = transports(device)
    path = tmp_path / "checkpoint"
    pt.io.checkpoint(path, other)

    def callback(one):
        with pytest.raises(RuntimeError, match=WORDS_OF_BUSY):
            one.time = 5.0
        with pytest.raises(RuntimeError, match=WORDS_OF_BUSY):
            pt.io.restore(path, one)

    run.run(0.4, 0.1, callback=callback, every=2)
    other.run(0.2, 0.1)
    other.run(0.4, 0.1)
    assert (run.time, run.steps) == (0.4, 4)
    np.testing.assert_array_equal(values(run), values(other))
    run.time = 5.0
    pt.io.restore(path, run)
    assert run.time == 0


def test_a_checkpoint_is_of_a_whole_step(device, tmp_path):
    """A callback may write one; another thread would write it in the middle of a joined sweep."""
    run, other = transports(device)
    path = tmp_path / "checkpoint"
    refusals = []

    def intrude():
        with pytest.raises(RuntimeError, match=WORDS_OF_BUSY):
            pt.io.checkpoint(tmp_path / "torn", run)
        refusals.append(True)

    def callback(one):
        thread = threading.Thread(target=intrude)
        thread.start()
        thread.join()
        pt.io.checkpoint(path, one)

    run.run(0.6, 0.1, callback=callback, at=[0.3])
    pt.io.restore(path, other)
    assert (refusals, other.time) == ([True], 0.3)
    other.run(0.6, 0.1)
    np.testing.assert_array_equal(values(run), values(other))
    assert not (tmp_path / "torn").exists()
