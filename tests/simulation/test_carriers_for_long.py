"""Functions of time with any number of periods: none is stepped over, or the run is refused.

A kilohertz for 1,000 hours has 3.6e9 periods. Runs end where a condition is met in the first ones.
"""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import BlocksError, floor, quantity, sin, where
from blocks.system.time_functions import TimeFunctions
from library.translational import ForceSource, Mass, Reference, TranslationalFriction

RATE = 1e3  # Hz


def newtons(value):
    return quantity(value, "N")


def turns(t):
    return quantity(RATE, "Hz") * t


def shaken(force):
    """1 kg on a floor that holds 10 N, under a force."""
    return wired("shaken", "block.M load.R friction.R", "floor.V load.C friction.C",
                 block=Mass(mass="1 kg"), floor=Reference(), load=ForceSource(force=force),
                 friction=TranslationalFriction(law="coulomb", breakaway_force="10 N",
                                                coulomb_force="10 N"))


@pytest.mark.parametrize("start", [0.0, 3.6e6])
def test_no_period_of_a_carrier_is_stepped_over(start):
    """A load that grows while the carrier shakes the block: it slips at the first crest above
    10 N, for a few microseconds."""
    def load(t):
        return newtons(4.0) * sin(2 * np.pi * turns(t)) + quantity("1 N/s") * (
            t - quantity(start, "s"))

    result = shaken(load).simulate("1000 h", start_time=f"{start} s", until="block.v > 1 nm/s")
    slips = brentq(lambda t: 4 * np.sin(2 * np.pi * RATE * t) + t - 10, 6.0, 6.00025, xtol=1e-12)
    assert_allclose(float(result.events[0].time) - start, slips, rtol=0, atol=1e-8)


def test_jumps_of_a_floor_are_borders_of_pieces_at_any_time():
    """A sawtooth is 0 to 1 in every period, and its pieces end at its jumps, to the last digits."""
    system = shaken(lambda t: newtons(8.0) * (turns(t) - floor(turns(t)))).compile()
    for start in 0.0, 3.6e6:
        functions = TimeFunctions(system, system.parameters(), start, start + 3.6e6, np.zeros(0))
        pieces = functions.around(start)
        jumps = np.arange(start * RATE + 1, start * RATE + 100) / RATE
        nearest = pieces[np.abs(pieces[:, None] - jumps).argmin(axis=0)]
        assert_allclose(nearest, jumps, rtol=1e-15, atol=1e-12)


@pytest.mark.parametrize("force", [
    lambda t: newtons(4.0) + newtons(9.0) * (turns(t) - floor(turns(t))),
    lambda t: newtons(4.0) + where(sin(2 * np.pi * turns(t)) > 0, newtons(9.0), newtons(0.0)),
], ids=["floor", "condition"])
def test_more_instants_than_a_run_carries_out_are_refused_at_its_start(force):
    with pytest.raises(BlocksError, match="load: (jumps|varies)") as error:
        shaken(force).simulate("1000 h", until="block.v > 1 nm/s")
    assert "simulate a shorter time" in str(error.value).lower()
