"""Flows that end at zero within a finite time, and laws that have no value beyond.

A tank from which q = k sqrt(x) flows holds (sqrt(x0) - k t / 2)^2 until it is empty at
2 sqrt(x0) / k. Two tanks level out: their difference d obeys d' = -2 k sqrt(d).
"""

from itertools import cycle

import numpy as np
import pytest
from benches import wired

from blocks import (
    Component,
    SimulationError,
    Variable,
    abs_,
    arcsin,
    cos,
    der,
    log,
    maximum,
    quantity,
    sign,
    sqrt,
    where,
)

METHODS = "auto", "dopri5", "rodas4", "DOP853", "Radau"
K, ONE = quantity("1 m^0.5/s"), quantity("1 m/s")
TANKS = {
    "guarded by where": lambda x: where(x > 0, K * sqrt(x), 0),
    "guarded by maximum": lambda x: K * sqrt(maximum(x, 0)),
    "a power of maximum": lambda x: K * maximum(x, 0) ** 0.5,
    "the root of a guard": lambda x: K * sqrt(where(x > 0, x, 0)),
    "the root of a multiple of maximum": lambda x: sqrt(2 * (K**2 / 2) * maximum(x, 0)),
    "a power of a multiple of a guard": lambda x: (where(x <= 0, 0, x) * K**2 / 4) ** 0.5 * 2,
}
ORIFICES = {
    "sign and abs": lambda d: K * sign(d) * sqrt(abs_(d)),
    "two roots": lambda d: where(d > 0, K * sqrt(d), -K * sqrt(-d)),
    "two guards": lambda d: where(d > 0, K * sqrt(d), 0) - where(d < 0, K * sqrt(-d), 0),
    "two maxima": lambda d: K * sqrt(maximum(d, 0)) - K * sqrt(maximum(-d, 0)),
    "over a root": lambda d: K * d / sqrt(abs_(d)),
    "the root of a choice": lambda d: K * sign(d) * sqrt(where(d > 0, d, -d)),
    "a choice of signs": lambda d: K * where(d > 0, 1, -1) * sqrt(abs_(d)),
    "a choice that holds at zero": lambda d: sqrt(2 * abs_(-d * K**2) / 2) * where(d >= 0, 1, -1),
    "a choice the other way": lambda d: where(d < 0, -K, K) * abs_(d) ** 0.5,
    "a choice of roots": lambda d: where(d > 0, K * sqrt(abs_(d)), -K * sqrt(abs_(d))),
    "another valve for the way back": lambda d: K * where(d > 0, 1, -0.5) * sqrt(abs_(d)),
}


def tank(law):
    class Tank(Component):
        """A tank that runs empty."""

        x = Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x) == -law(self.x)

    return wired("tank", tank=Tank())


def two_tanks(law):
    class Tanks(Component):
        """Two tanks of 1 m and 0.2 m that level out through an orifice."""

        a = Variable("m", "1 m", priority="high")
        b = Variable("m", "0.2 m", priority="high")
        q = Variable("m/s")

        def equations(self):
            yield der(self.a) == -self.q
            yield der(self.b) == self.q
            yield self.q == law(self.a - self.b)

    return wired("level", tanks=Tanks())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", TANKS.values(), ids=TANKS)
def test_a_guarded_tank_runs_empty_and_stays_so(law, method):
    result = tank(law).simulate("4 s", method=method)
    assert result["tank.x"].at("1 s").m == pytest.approx(0.25, abs=2e-5)
    assert result["tank.x"].final.m == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_guarded_logarithm_is_not_asked_beyond_its_domain(method):
    law = lambda x: ONE * where(x > 0, 1 - 1 / log(0.3 * x / quantity("1 m")), 0)  # noqa: E731
    result = tank(law).simulate("2 s", method=method)
    assert result["tank.x"].final.m == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_angle_of_a_choice_is_that_of_what_holds(method):
    """s' = cos(arcsin(s)) gives s = sin(t) up to s = 1, where it stays."""
    def law(x):
        s = 1 - x / quantity("1 m")
        return ONE * cos(arcsin(where(s < 1, s, 1)))

    result = tank(law).simulate("3 s", method=method)
    assert result["tank.x"].at("1 s").m == pytest.approx(1 - np.sin(1), abs=1e-5)
    assert result["tank.x"].final.m == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("law", "method"), [*zip(ORIFICES.values(), cycle(["auto", "rodas4"]))])
def test_tanks_level_out_by_all_usual_writings(law, method):
    result = two_tanks(law).simulate("10 s", method=method)
    assert result["tanks.a"].final.m == pytest.approx(0.6, abs=2e-6)
    level = 0.6 + (0.8**0.5 - 0.5) ** 2 / 2
    assert result["tanks.a"].at("0.5 s").m == pytest.approx(level, abs=1e-5)
    assert result.statistics.steps < 300


SQUARES = {
    "a choice of squares": lambda q: where(q > 0, q**2, -q**2),
    "a choice the other way": lambda q: where(q < 0, -1, 1) * q**2,
    "a square and its size": lambda q: q * abs_(q),
}


@pytest.mark.parametrize(("law", "method"), [
    *((law, method) for law in SQUARES.values()
      for method in ("auto", "dopri5", "rodas4", "RK23", "BDF"))])  # fmt: skip
def test_tanks_level_out_where_the_drop_is_told_from_the_flow(law, method):
    class Tanks(Component):
        """Two tanks of 1 m and 0.2 m; q |q| = k² d."""

        a = Variable("m", "1 m", priority="high")
        b = Variable("m", "0.2 m", priority="high")
        q = Variable("m/s")

        def equations(self):
            yield der(self.a) == -self.q
            yield der(self.b) == self.q
            yield law(self.q) == K**2 * (self.a - self.b)

    result = wired("level", tanks=Tanks()).simulate("10 s", method=method)
    assert result["tanks.a"].final.m == pytest.approx(0.6, abs=2e-5)
    level = 0.6 + (0.8**0.5 - 0.5) ** 2 / 2
    assert result["tanks.a"].at("0.5 s").m == pytest.approx(level, abs=1e-5)


@pytest.mark.parametrize("method", [*METHODS, "BDF", "ode45", "ode23s"])
@pytest.mark.parametrize("law", ["a choice of signs", "a choice that holds at zero"])
def test_a_choice_beside_a_root_is_its_sign_by_every_method(law, method):
    result = two_tanks(ORIFICES[law]).simulate("10 s", method=method)
    assert result["tanks.a"].final.m == pytest.approx(0.6, abs=1e-9)
    assert result.statistics.steps < 200
    assert len(result.events) < 10


def test_a_choice_that_no_root_brings_to_zero_is_as_it_is_written():
    class Relay(Component):
        x, y = Variable("", "0", priority="high"), Variable("", "4", priority="high")
        beside, above = Variable(""), Variable("")

        def equations(self):
            yield der(self.x) == quantity("0 1/s")
            yield der(self.y) == quantity("0 1/s")
            yield self.beside == where(self.x >= 0, 1, -1) * sqrt(abs_(self.y))
            yield self.above == where(self.x > 0, 1, -1) * sqrt(abs_(self.x) + 1)

    run = wired("relay", relay=Relay()).simulate("1 s")
    assert (run["relay.beside"].final.m, run["relay.above"].final.m) == (2, -1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", ["sign and abs", "the root of a choice", "a choice of roots"])
def test_a_difference_that_comes_to_zero_rests_there(law, method):
    """Levels of 0.6 m are equal to the last digit, which a law by the sign of their difference
    would drive apart again: sqrt(1e-16) is 1e-8. At zero the sign is neither."""
    result = two_tanks(ORIFICES[law]).simulate("10 s", method=method)
    assert result["tanks.a"].final.m == pytest.approx(result["tanks.b"].final.m, abs=1e-12)
    assert result.statistics.steps < 100
    assert len(result.events) < 20


@pytest.mark.parametrize("method", [*METHODS, "ode23s"])
def test_what_crosses_zero_is_zero_there_and_rests(method):
    """By the sign that holds, what is beyond zero by rounding alone runs away from it."""
    result = tank(lambda x: 1000 * ORIFICES["sign and abs"](x)).simulate("0.1 s", method=method)
    assert result["tank.x"].at("1 ms").m == pytest.approx(0.25, abs=2e-5)
    assert result["tank.x"].final.m == 0.0
    assert result.statistics.steps < 300
    assert len(result.events) <= 2


@pytest.mark.parametrize("method", [*METHODS, "BDF", "ode45", "ode23s"])
def test_a_sign_that_is_a_variable_of_its_own_rests_with_its_root(method):
    """From p above the surroundings: sqrt(p) falls by k / 2 = 0.5 sqrt(bar)/s, to 0 after 2.8 s."""
    class Volume(Component):
        p, q, way = (Variable("bar", "3 bar", priority="high"), Variable("bar/s"), Variable(""))

        def equations(self):
            above = self.p - quantity("1 bar")
            yield self.q == quantity("1 bar^0.5/s") * self.way * sqrt(abs_(above))
            yield self.way == where(above > 0, 1, -1)
            yield der(self.p) == -self.q

    result = wired("volume", volume=Volume()).simulate("9 s", method=method)
    assert result["volume.p"].at("1 s").m == pytest.approx(1 + (2**0.5 - 0.5) ** 2, abs=1e-4)
    assert result["volume.p"].final.m == pytest.approx(1, abs=1e-9)
    assert set(np.abs(result["volume.way"].m)) == {1.0}  # as it is written
    assert result.statistics.steps < 200


class Level(Component):
    """Two tanks whose flow is solved for, and infinitely steep where it ends."""

    d, q = Variable("m", "0.8 m", priority="high"), Variable("m/s")

    def equations(self):
        yield der(self.d) == -2 * self.q
        yield self.d == self.q * abs_(self.q) / K**2


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_nothing_flows_between_level_tanks_where_the_law_gives_the_head(method):
    """Within the tolerance of levels a thousandth of the first flow would still go round."""
    model = wired("level", tanks=Level())
    result = model.simulate("3 s", method=method)
    assert result["tanks.q"].at("0.5 s").m == pytest.approx(0.8**0.5 - 0.5, rel=1e-4)
    for t in ("1 s", "2 s", "3 s"):
        assert result["tanks.q"].at(t).m == pytest.approx(0, abs=1e-5)


def test_an_explicit_method_that_was_asked_for_says_where_it_stays_beside_rest():
    model = wired("level", tanks=Level())
    with pytest.warns(UserWarning, match="dopri5 stay at a point that is no solution") as told:
        result = model.simulate("3 s", method="dopri5")
    assert [w.filename for w in told] == [__file__]
    assert result["tanks.d"].final.m == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_root_without_guard_names_its_equation_and_the_cure(method):
    with pytest.raises(SimulationError, match=r"sqrt\(tank.x\).*where\(x > 0"):
        tank(lambda x: K * sqrt(x)).simulate("4 s", method=method)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_three_tanks_come_to_rest(method):
    """Their differences never vanish together, but for rounding."""
    class Row(Component):
        """Tanks of 1 m, 0.2 m and 0.1 m in a row."""

        a, b, c = (Variable("m", start, priority="high") for start in ("1 m", "0.2 m", "0.1 m"))

        def equations(self):
            law = ORIFICES["sign and abs"]
            first, second = (quantity("0.01") * law(d) for d in (self.a - self.b, self.b - self.c))
            yield der(self.a) == -first
            yield der(self.b) == first - second
            yield der(self.c) == second

    result = wired("row", row=Row()).simulate("400 s", method=method)
    for level in "abc":
        assert result[f"row.{level}"].final.m == pytest.approx(1.3 / 3, abs=1e-7)
    assert result.statistics.steps < 5000


@pytest.mark.parametrize("method", ["dopri5", "DOP853", "ode45", "Radau", "BDF", "ode23s"])
def test_a_root_that_switches_for_ever_is_told_the_cure(method):
    """What is never 0 drives levels apart that are equal to the last digit."""
    apart = quantity("1e-20 m")  # so the root is not seen to be of what is chosen by
    model = two_tanks(lambda d: K * where(d > 0, 1.0, -1.0) * sqrt(abs_(d + apart)))
    with pytest.raises(SimulationError, match=r"tanks: switches .* root .* straight") as stopped:
        model.simulate("3 s", method=method)
    assert stopped.value.time > 0.89  # sqrt(0.8) is 0.894, where they are level
    assert stopped.value.result["tanks.a"].final.m == pytest.approx(0.6, abs=1e-5)
