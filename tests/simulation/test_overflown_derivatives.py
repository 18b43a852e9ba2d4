"""Derivatives of a value that has become nothing, beside what has overflown."""

import numpy as np
import pytest
from benches import few

from blocks import Component, Model, Variable, cosh, der, exp, quantity

S = quantity("1 s")
LAWS = {  # of x = t / s, and what their integrals from 0 to 2 come to
    "sigmoid": (lambda x: 1 / (1 + exp(-1000 * (x - 1))), 1.0),
    "squared": (lambda x: 100 / cosh(300 * (x - 2)) ** 2, 1 / 3),
}


@few(2, "method", ["auto", "rodas4", "Radau", "BDF"])
@pytest.mark.parametrize("law", LAWS)
def test_a_value_that_is_nothing_has_a_derivative_though_what_it_is_made_of_overflows(law, method):
    of, integral = LAWS[law]

    class Law(Component):
        x, y = Variable("1", 0.0, priority="high"), Variable("1", 0.0, priority="high")
        lag = Variable("1", 0.0, priority="high")

        def equations(self):
            yield der(self.x) == 1 / S
            yield der(self.y) == of(self.x) / S
            yield der(self.lag) == (of(self.x) - self.lag) / quantity("1 ms")

    model = Model("law")
    model.c = Law()
    result = model.simulate("2 s", method=method, rtol=1e-8, max_step="1 ms")
    assert result["c.y"].final.m == pytest.approx(integral, rel=1e-5)
    assert np.isfinite(result["c.lag"].final.m)
