"""Samples of one instant: rounding is no change, all else is."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from blocks import Component, Discrete, Model, Variable, der, every, quantity
from blocks.simulation.actions import Samplings
from blocks.simulation.start import RunStart
from blocks.simulation.time_events import TimeEvents


class Difference(Component):
    """Samples the difference of two large states that is small itself."""

    a = Variable("1", 1000.0, priority="high")
    b = Variable("1", 999.0, priority="high")
    held = Discrete("1", 0.0)

    def equations(self):
        yield every("1 s", {self.held: self.a - self.b})
        yield der(self.a) == quantity("0 1/s")
        yield der(self.b) == quantity("0 1/s")


def test_a_sample_that_is_taken_again_at_its_instant_keeps_its_last_digits():
    model = Model("difference")
    model.part = Difference()
    problem = RunStart(model).problem()
    samplings = Samplings(problem.system, TimeEvents(problem.system, problem.p, 0.0, 10.0))
    samplings.begin(0.0)
    assert samplings.apply(problem, 0.0)
    assert_allclose(problem.d, [1.0])
    problem.x[0] += 2 * np.spacing(1000.0)  # as bringing held flows back to zero does
    assert not samplings.apply(problem, 0.0)
    assert problem.d[0] == 1.0
    problem.x[0] += 1e-6
    assert samplings.apply(problem, 0.0)
    assert_allclose(problem.d, [1 + 1e-6], rtol=1e-12)
    problem.x[0] += 2 * np.spacing(1000.0)
    samplings.begin(1.0)  # the next instant takes what there is
    assert samplings.apply(problem, 1.0)
    assert problem.d[0] == problem.x[0] - problem.x[1]
