"""A contact whose gap has a tooth: nothing passes through it, however short a step it takes."""

import pytest

from blocks import Component, Model, Variable, abs_, contact, der, quantity, where

TURN = quantity("6.283185307179586 rad/s")


class Tooth(Component):
    """A body at rest above a wheel with one tooth, 20 mm high and 0.02 rad wide."""

    a = Variable("rad", "0 rad", priority="high")
    y, v = Variable("m", "15 mm", priority="high"), Variable("m/s", "0 m/s", priority="high")
    N, gap = Variable("N"), Variable("m")

    def equations(self):
        u = (self.a - quantity("3 rad")) / quantity("0.01 rad")
        yield der(self.a) == TURN
        yield der(self.y) == self.v
        yield der(self.v) == self.N / quantity("1 kg")
        yield self.gap == self.y - quantity("20 mm") * where(abs_(u) < 1, 1 - abs_(u), 0)
        yield contact(self.N, self.gap, restitution=0.5)


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.parametrize("start", ["0 rad", "2.9905 rad"])  # the latter on the tooth's flank
def test_a_tooth_between_two_looks_into_a_step_strikes(method, rtol, start):
    model = Model("wheel")
    model.tooth = Tooth(a=start)
    result = model.simulate("0.6 s", method=method, rtol=rtol)
    struck = (3 - float(start.split()[0]) - 0.01 * 0.25) / TURN.m  # where it is 15 mm high
    times = [float(e.time) for e in result.events if e.description == "rebounds"]
    assert times == [pytest.approx(struck, rel=1e-9)]
    assert result["tooth.gap"].min().m > -1e-12
    assert result["tooth.v"].final.m == pytest.approx(1.5 * 0.02 / 0.01 * TURN.m, rel=1e-9)
