"""Flows that end at zero, laws that have no value beyond, and tables that are passed in pieces."""

from itertools import cycle

import numpy as np
import pytest
from benches import few, wired
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import Akima1DInterpolator, make_interp_spline

import blocks
from blocks import Component, Variable, abs_, der, interpolate, maximum, mod, quantity, sqrt, where
from library.rotational import Inertia, RotationalReference
from library.rotational import TwoPort as Turning
from library.translational import Mass, Reference, Spring
from library.translational import TwoPort as Moving

METHODS = "auto", "dopri5", "rodas4", "DOP853", "Radau"
K, ONE, METRE = quantity("1 m^0.5/s"), quantity("1 m/s"), quantity("1 m")
TANKS = {
    "guarded by where": lambda x: where(x > 0, K * sqrt(x), 0),
    "guarded by maximum": lambda x: K * sqrt(maximum(x, 0)),
    "a power of maximum": lambda x: K * maximum(x, 0) ** 0.5,
    "the root of a guard": lambda x: K * sqrt(where(x > 0, x, 0)),
    "the root of a multiple of maximum": lambda x: sqrt(2 * (K**2 / 2) * maximum(x, 0)),
    "a power of a multiple of a guard": lambda x: (where(x <= 0, 0, x) * K**2 / 4) ** 0.5 * 2}
ORIFICES = {
    "sign and abs": lambda d: K * blocks.sign(d) * sqrt(abs_(d)),
    "two roots": lambda d: where(d > 0, K * sqrt(d), -K * sqrt(-d)),
    "two guards": lambda d: where(d > 0, K * sqrt(d), 0) - where(d < 0, K * sqrt(-d), 0),
    "two maxima": lambda d: K * sqrt(maximum(d, 0)) - K * sqrt(maximum(-d, 0)),
    "over a root": lambda d: K * d / sqrt(abs_(d)),
    "the root of a choice": lambda d: K * blocks.sign(d) * sqrt(where(d > 0, d, -d)),
    "a choice of signs": lambda d: K * where(d > 0, 1, -1) * sqrt(abs_(d)),
    "a choice that holds at zero": lambda d: sqrt(2 * abs_(-d * K**2) / 2) * where(d >= 0, 1, -1),
    "a choice the other way": lambda d: where(d < 0, -K, K) * abs_(d) ** 0.5,
    "a choice of roots": lambda d: where(d > 0, K * sqrt(abs_(d)), -K * sqrt(abs_(d))),
    "another valve for the way back": lambda d: K * where(d > 0, 1, -0.5) * sqrt(abs_(d))}


def tank(law):
    class Tank(Component):
        """A tank that runs empty."""

        x = Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x) == -law(self.x)

    return wired("tank", tank=Tank())


def two_tanks(law, drop=lambda q: q):
    class Tanks(Component):
        """Two tanks of 1 m and 0.2 m that level out through an orifice."""

        a, b = Variable("m", "1 m", priority="high"), Variable("m", "0.2 m", priority="high")
        q = Variable("m/s")

        def equations(self):
            yield der(self.a) == -self.q
            yield der(self.b) == self.q
            yield drop(self.q) == law(self.a - self.b)

    return wired("level", tanks=Tanks())


class Network(Component):
    """A tank of 9 m that drains through two orifices in a row, and a tap behind each."""

    h, a, b = Variable("m", "9 m", priority="high"), Variable("m"), Variable("m")
    q, r = Variable("m/s"), Variable("m/s")

    def equations(self):
        yield der(self.h) == -0.1 * self.q
        yield self.q == self.law(self.h - self.a)
        yield self.r == self.law(self.a - self.b)
        yield self.q - self.r == self.law(self.a) / 5**0.5
        yield self.r == self.law(self.b) / 2


def network(law):
    return wired("network", net=type("Network", (Network,), {"law": staticmethod(law)})())


@pytest.mark.parametrize("law", ORIFICES.values(), ids=ORIFICES)
def test_orifices_start_without_chambers_between_them(law):
    run, h = network(law).simulate("1 s"), (3 - 1 / 30) ** 2
    assert [run[f"net.{name}"].final.m for name in "hab"] == pytest.approx([h, h / 1.8, h / 2.25])


def test_orifices_in_a_row_that_run_dry_name_an_equation_and_the_cure():
    with pytest.raises(blocks.SimulationError, match=r"net\.\w == .*sqrt\(.*straight line"):
        network(ORIFICES["two roots"]).simulate("100 s")
    e = quantity("1 mm")
    cured = network(lambda d: K * where(abs_(d) > e, blocks.sign(d) * sqrt(abs_(d)), d / sqrt(e)))
    assert cured.simulate("100 s")["net.h"].final.m < 1e-3


@pytest.mark.parametrize("name", ["sign and abs", "two roots", "over a root"])
def test_orifices_in_series_between_tanks_are_told_before_many_steps_go_to_and_fro(name):
    class Tanks(Component):
        a, b = Variable("m", "1 m", priority="high"), Variable("m", "0.2 m", priority="high")
        between, q = Variable("m"), Variable("m/s")

        def equations(self):
            yield der(self.a) == -self.q
            yield der(self.b) == self.q
            yield self.q == ORIFICES[name](self.a - self.between)
            yield self.q == ORIFICES[name](self.between - self.b)

    with pytest.raises(blocks.SimulationError, match="straight line") as caught:
        wired("level", tanks=Tanks()).simulate("10 s", method="Radau")
    assert caught.value.result.statistics.steps < 400


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", TANKS.values(), ids=TANKS)
def test_a_guarded_tank_runs_empty_and_stays_so(law, method):
    result = tank(law).simulate("4 s", method=method)
    assert result["tank.x"].at("1 s").m == pytest.approx(0.25, abs=2e-5)
    assert result["tank.x"].final.m == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_guarded_logarithm_is_not_asked_beyond_its_domain(method):
    result = tank(lambda x: ONE * where(
        x > 0, 1 - 1 / blocks.log(0.3 * x / METRE), 0)).simulate("2 s", method=method)
    assert result["tank.x"].final.m == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("method", [*METHODS, "BDF"])
@pytest.mark.parametrize("apart", [
    lambda s: abs_(s) > 0, lambda s: (s > 0) | (s < 0), lambda s: ~(abs_(s) <= 0)])
def test_a_level_passes_where_a_guarded_fraction_has_no_value(apart, method):
    """It falls by sin(x) / x, from 1 m to -1 m."""
    end = 2 * quad(lambda s: 1 / np.sinc(s / np.pi), 0, 1)[0]
    result = tank(lambda x: ONE * where(apart(x), blocks.sin(x / METRE) * METRE / x, 1)).simulate(
        quantity(end, "s"), method=method)
    assert result["tank.x"].final.m == pytest.approx(-1, abs=2e-5)


@pytest.mark.parametrize("method", METHODS)
def test_the_angle_of_a_choice_is_that_of_what_holds(method):
    """s' = cos(arcsin(s)) gives s = sin(t) up to s = 1, where it stays."""
    def law(x):
        s = 1 - x / METRE
        return ONE * blocks.cos(blocks.arcsin(where(s < 1, s, 1)))

    result = tank(law).simulate("3 s", method=method)
    assert result["tank.x"].at("1 s").m == pytest.approx(1 - np.sin(1), abs=1e-5)
    assert result["tank.x"].final.m == pytest.approx(0, abs=1e-6)


SQUARES = {
    "a choice of squares": lambda q: where(q > 0, q**2, -q**2),
    "a choice the other way": lambda q: where(q < 0, -1, 1) * q**2,
    "a square and its size": lambda q: q * abs_(q)}


@pytest.mark.parametrize(("model", "method", "within", "steps"), [
    *((two_tanks(law), method, 2e-6, 300)
      for law, method in zip(ORIFICES.values(), cycle(["auto", "rodas4"]))),
    *((two_tanks(lambda d: K**2 * d, law), method, 2e-5, np.inf)  # q |q| = k² d
      for law in SQUARES.values() for method in ["auto", "dopri5", "rodas4", "RK23", "BDF"])])
def test_tanks_level_out_by_all_usual_writings(model, method, within, steps):
    result = model.simulate("10 s", method=method)
    assert result["tanks.a"].final.m == pytest.approx(0.6, abs=within)
    level = 0.6 + (0.8**0.5 - 0.5) ** 2 / 2
    assert result["tanks.a"].at("0.5 s").m == pytest.approx(level, abs=1e-5)
    assert result.statistics.steps < steps


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("method", ["auto", "Radau", "BDF"])
def test_a_level_that_rises_through_another_one_goes_on_rising(method, last):
    """From 2 m, 0 and ``last`` in a row, beside the slopes by hand."""
    class Row(Component):
        a, b = Variable("m", "2 m", priority="high"), Variable("m", "0 m", priority="high")
        c = Variable("m", priority="high")

        def equations(self):
            into, on = (K * blocks.sign(d) * sqrt(abs_(d)) for d in (
                self.a - self.b, self.b - self.c))
            yield der(self.a) == -into
            yield der(self.b) == into - on
            yield der(self.c) == on

    def slope(_, h):
        into, on = (np.sign(d) * np.sqrt(abs(d)) for d in (h[0] - h[1], h[1] - h[2]))
        return -into, into - on, on

    run = wired("row", tanks=Row(c=quantity(last, "m"))).simulate("1 s", method=method)
    expected = solve_ivp(slope, (0, 1), (2, 0, last), "LSODA", rtol=1e-10, atol=1e-12).y[:, -1]
    assert [run[f"tanks.{h}"].final.m for h in "abc"] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("method", ["auto", "rodas4", "DOP853"])
@pytest.mark.parametrize("law", ["sign and abs", "two roots", "a choice of signs"])
def test_levels_that_run_beside_each_other_do_not_end_a_run(law, method):
    """A tank is fed in four pulses of 1 m, and a small one follows, level but for rounding."""
    class Fed(Component):
        a, b = Variable("m", "1 m", priority="high"), Variable("m", "4 m", priority="high")

        def equations(self):
            q, pulses = ORIFICES[law](self.a - self.b), blocks.sin(quantity("2 1/s") * blocks.time)
            yield der(self.a) == ONE * maximum(pulses, 0) - q
            yield der(self.b) == 6 * q

    run = wired("fed", tanks=Fed()).simulate("12 s", method=method)
    assert [run[f"tanks.{h}"].final.m for h in "ab"] == pytest.approx([34 / 7] * 2, abs=2e-5)


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


@pytest.mark.parametrize("method", [*METHODS, "BDF", "ode45", "ode23s"])
@pytest.mark.parametrize("law", ["sign and abs", "the root of a choice", "a choice of roots",
                                 "a choice of signs", "a choice that holds at zero"])
def test_a_difference_that_comes_to_zero_rests_there(law, method):
    """Levels of 0.6 m are equal to the last digit, which a law by the sign of their difference
    would drive apart again: sqrt(1e-16) is 1e-8. At zero the sign is neither."""
    result = two_tanks(ORIFICES[law]).simulate("10 s", method=method)
    assert result["tanks.a"].final.m == pytest.approx(0.6, abs=1e-9)
    assert result["tanks.a"].final.m == pytest.approx(result["tanks.b"].final.m, abs=1e-12)
    assert result.statistics.steps < (200 if method == "ode23s" else 100)
    assert len(result.events) < 10


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
    result = wired("level", tanks=Level()).simulate("3 s", method=method)
    assert result["tanks.q"].at("0.5 s").m == pytest.approx(0.8**0.5 - 0.5, rel=1e-4)
    for t in ("1 s", "2 s", "3 s"):
        assert result["tanks.q"].at(t).m == pytest.approx(0, abs=1e-5)


def test_an_explicit_method_that_was_asked_for_says_where_it_stays_beside_rest():
    model = wired("level", tanks=Level())
    with pytest.warns(UserWarning, match="dopri5 stay at a point that is no solution") as told:
        result = model.simulate("3 s", method="dopri5")
        two_tanks(ORIFICES["two maxima"]).sweep({"tanks.a": ["1 m", "0.9 m"]}, "3 s",
                                                outputs=["final(tanks.q)"], method="dopri5")
    assert [w.filename for w in told] == [__file__] * 3
    assert result["tanks.d"].final.m == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_root_without_guard_names_its_equation_and_the_cure(method):
    with pytest.raises(blocks.SimulationError, match=r"sqrt\(tank.x\).*where\(x > 0"):
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


@few(2, "method", ["dopri5", "DOP853", "Radau", "ode23s"])
def test_a_root_that_switches_for_ever_is_told_the_cure(method):
    """What is never 0 drives levels apart that are equal to the last digit."""
    apart = quantity("1e-20 m")  # so the root is not seen to be of what is chosen by
    model = two_tanks(lambda d: K * where(d > 0, 1.0, -1.0) * sqrt(abs_(d + apart)))
    with pytest.raises(blocks.SimulationError,
                       match=r"tanks: switches .* root .* straight") as stopped:
        model.simulate("3 s", method=method)
    assert stopped.value.time > 0.89  # sqrt(0.8) is 0.894, where they are level
    assert stopped.value.result["tanks.a"].final.m == pytest.approx(0.6, abs=1e-5)


# -- tables of a position, however far the steps of a method reach ----------------------------
DEAR = "auto", "rodas4"


class Tooth(Turning):
    """A tooth of 0.3 rad in every turn that rubs: 0.6 J a turn."""

    angle, power_dissipated = Variable("rad", "0 rad", priority="high"), Variable("W")

    def equations(self):
        yield der(self.angle) == self.w
        press = interpolate(mod(self.angle, 2 * np.pi),
                            quantity(np.array([0, 1.0, 1.1, 1.2, 1.3, 2 * np.pi]), "rad"),
                            quantity(np.array([0, 0, 3.0, 3.0, 0, 0]), "N*m"))
        yield blocks.dry_friction(self.t, self.w, static=press, kinetic=press)
        yield self.power_dissipated == self.t * self.w


class Road(Moving):
    """A bump of 10 cm far down a road; its force stores and returns what it takes."""

    points = blocks.Parameter(["0 m", "50 m", "50.05 m", "50.1 m", "1000 m"])
    forces = blocks.Parameter(["0 N", "0 N", "3 kN", "-3 kN", "0 N"])
    x, energy_stored = Variable("m", "0 m", priority="high"), Variable("J")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == interpolate(self.x, self.points, self.forces, hold=True)
        yield self.energy_stored == blocks.integral_of_table(self.x, self.points, self.forces)


class Cogging(Turning):
    """A smooth table of many points: twenty waves of torque in a turn that cancel out."""

    table = np.linspace(0, 2 * np.pi, 401), 2 * np.sin(np.linspace(0, 40 * np.pi, 401))
    smooth = True
    angle, power_dissipated = Variable("rad", "0 rad", priority="high"), Variable("W")

    def equations(self):
        points, heights = quantity(self.table[0], "rad"), quantity(self.table[1], "N*m")
        yield der(self.angle) == self.w
        yield self.t == interpolate(mod(self.angle, 2 * np.pi), points, heights, smooth=self.smooth)
        yield self.power_dissipated == self.t * self.w


def turning(part, speed):
    return wired("shaft", "wheel.I part.R", "part.C frame.W",
                 wheel=Inertia(inertia="0.08 kg*m^2", w=f"{speed} rad/s"), part=part,
                 frame=RotationalReference())


@pytest.mark.parametrize("method", METHODS[:-1])
def test_a_tooth_takes_its_work_in_every_turn(method):
    result = turning(Tooth(), 25).simulate("1.1 s", method=method)
    turns = result["part.angle"].final.m / (2 * np.pi)
    assert 4 + 1.3 / (2 * np.pi) < turns < 5  # five teeth, and not yet the sixth
    assert result["wheel.w"].final.m == pytest.approx(np.sqrt(25**2 - 2 * 5 * 0.6 / 0.08), rel=3e-5)
    assert abs(result.energy().residual.to("J").m) < 25e-5


@pytest.mark.parametrize("method", METHODS[:-1])
def test_a_bump_of_a_road_is_felt(method):
    model = wired("drive", "car.M road.R", "road.C ground.V",
                  car=Mass(mass="100 kg", v="25 m/s"), road=Road(), ground=Reference())
    model.road.forces = ["0 N", "1 N", "2 N", "3 N", "4 N"]
    model.simulate("1 s", method=method)  # whose steps end at other corners
    model.road.forces = Road().forces
    result = model.simulate("6 s", method=method)
    x = result["road.x"].final.m
    work = 0.5 * 0.05 * 3e3 - 0.5 * 3e3 / 949.9 * (949.9**2 - (1000 - x) ** 2)
    assert result["car.v"].final.m == pytest.approx(np.sqrt(25**2 - 2 * work / 100), rel=1e-4)
    study = model.sweep({"car.v": ["25 m/s"] * 8}, "6 s", outputs=["final(car.v)"], method=method)
    assert set(study["final(car.v)"].values) == {result["car.v"].final.m}
    assert abs(result.energy().residual.to("J").m) < 1e-5 * 0.5 * 100 * result["car.v"].final.m**2


@pytest.mark.parametrize("method", DEAR)
def test_cogging_by_a_long_smooth_table_comes_back_to_its_speed(method):
    result = turning(Cogging(), 40).simulate("0.5 s", method=method, rtol=1e-8)
    speed = np.sqrt(40**2 - 2 * 2 * (1 - np.cos(20 * result["part.angle"].final.m)) / 20 / 0.08)
    assert result["wheel.w"].final.m == pytest.approx(speed, rel=1e-5)
    assert result["part.t"].max().m == pytest.approx(2, rel=1e-2)


CORNERS = np.array([0, 1.2, 2, 3, 4.4, 5, 2 * np.pi]), np.array([0, 3, 4.99, 2.5, -3.5, -5, 0])


@pytest.mark.parametrize("method", ["auto", "DOP853", "rodas4"])
@pytest.mark.parametrize(("smooth", "curve"), [
    (False, make_interp_spline(*CORNERS, k=1)),
    (True, Akima1DInterpolator(*CORNERS, method="makima"))])
def test_weak_corners_and_those_of_a_curvature_are_felt(smooth, curve, method):
    part = type("Part", (Cogging,), {"table": CORNERS, "smooth": smooth})()
    run = turning(part, 40).simulate("0.9 s", method=method)
    turns, rest = divmod(run["part.angle"].final.m, 2 * np.pi)
    work = turns * curve.integrate(0, 2 * np.pi) + curve.integrate(0, rest)
    assert run["wheel.w"].final.m == pytest.approx(np.sqrt(40**2 - 2 * work / 0.08), rel=1e-6)
    assert run.energy().relative_residual < 1e-6


AREA, NEWTON = quantity("1 m^2"), quantity("1 N")
THERE_AND_BACK = {  # within a step: forces over x
    "a square": (lambda x: interpolate(
        x**2, AREA * np.array([0, 0.01, 0.02, 500]), NEWTON * [0, 9e3, 0, 0], hold=True),
        lambda x: np.interp(x**2, [0, 0.01, 0.02], [0, 9e3, 0])),
    "a distance": (lambda x: interpolate(
        sqrt(x**2 + 4e-4 * AREA), METRE * [0, 0.1, 0.15, 500], NEWTON * [4e3, 4e3, 0, 0],
        hold=True), lambda x: np.interp(np.hypot(x, 0.02), [0, 0.1, 0.15], [4e3, 4e3, 0]))}


@pytest.mark.parametrize("method", [*METHODS, "RK23", "BDF"])
@pytest.mark.parametrize(("law", "force"), THERE_AND_BACK.values(), ids=THERE_AND_BACK)
def test_what_is_passed_there_and_back_within_a_step_is_felt(law, force, method):
    """A car passes what brakes it at 0, from 20 m before."""
    class Brake(Moving):
        x, power_dissipated = Variable("m", "-20 m", priority="high"), Variable("W")

        def equations(self):
            yield der(self.x) == self.v
            yield self.f == law(self.x)
            yield self.power_dissipated == self.f * self.v

    run = wired("drive", "car.M brake.R", "brake.C ground.V", brake=Brake(), ground=Reference(),
                car=Mass(mass="100 kg", v="25 m/s")).simulate("2 s", method=method)
    corners = np.sqrt([0.01 - 4e-4, 0.01, 0.02, 0.15**2 - 4e-4])
    work = 2 * quad(force, 0, 0.2, points=corners, epsabs=1e-9)[0]
    assert run["car.v"].final.m == pytest.approx(np.sqrt(25**2 - 2 * work / 100), rel=1e-5)
    assert run.energy().relative_residual < 1e-5


@pytest.mark.parametrize("method", ["auto", "DOP853", "rodas4", "RK23", "Radau"])
@pytest.mark.parametrize("law", [
    lambda c: interpolate(c, [-1.0, 0.99, 1], quantity("1 N*m") * [0, 0, 5.0]),
    lambda c: quantity("500 N*m") * maximum(c - 0.99, 0)], ids=["a table", "a kink"])
def test_what_a_crank_passes_near_its_dead_centre_is_felt_in_every_turn(law, method):
    class Crank(Turning):
        angle, power_dissipated = Variable("rad", "0 rad", priority="high"), Variable("W")

        def equations(self):
            yield der(self.angle) == self.w
            yield self.t == law(blocks.cos(self.angle))
            yield self.power_dissipated == self.t * self.w

    run = turning(Crank(), 60).simulate("1.03 s", method=method)
    wide = np.arccos(0.99)
    turns = run["part.angle"].final.m // (2 * np.pi) + 0.5  # it began in the middle of one
    work = turns * 2 * 500 * (np.sin(wide) - 0.99 * wide)
    assert run["wheel.w"].final.m == pytest.approx(np.sqrt(60**2 - 2 * work / 0.08), rel=1e-5)


class Map(Turning):
    """The tooth, as a map over the angle and the speed."""

    angle, power_dissipated = Variable("rad", "0 rad", priority="high"), Variable("W")

    def equations(self):
        yield der(self.angle) == self.w
        axes = [quantity(np.array([0, 1.0, 1.1, 1.2, 1.3, 2 * np.pi]), "rad"),
                quantity(np.array([0, 1000.0]), "rad/s")]
        press = blocks.interpolate_grid([mod(self.angle, 2 * np.pi), self.w], axes,
                                        quantity(np.repeat([0, 0, 3.0, 3.0, 0, 0], 2), "N*m"))
        yield blocks.dry_friction(self.t, self.w, static=press, kinetic=press)
        yield self.power_dissipated == self.t * self.w


@pytest.mark.parametrize("method", DEAR)
def test_a_map_is_felt_as_a_table_is(method):
    result = turning(Map(), 25).simulate("1.1 s", method=method)
    assert result["wheel.w"].final.m == pytest.approx(np.sqrt(25**2 - 2 * 5 * 0.6 / 0.08), rel=3e-5)


def springs(**law):
    """Ten bodies in a row, held by springs; the first one is hit."""
    return wired("row", "springs.C bodies.M", "springs[1:].R bodies[:-1].M",
                 "springs[0].R ground.V", ground=Reference(), springs=Spring(count=10, **law),
                 bodies=Mass(count=10, v=["1 m/s"] + 9 * ["0 m/s"]))


def test_a_straight_table_takes_the_steps_of_a_spring():
    points = quantity(np.linspace(-0.3, 0.3, 13), "m")
    table = springs(law="table", deformations=points, forces=points * quantity("1 kN/m"))
    found, plain = (m.simulate("2 s").statistics["steps"] for m in (table, springs()))
    assert found <= 1.02 * plain


def test_springs_with_corners_keep_their_energy():
    points = np.linspace(-0.3, 0.3, 14)
    forces = 1e3 * points + 50 * np.sign(points)
    model = springs(law="table", deformations=quantity(points, "m"), forces=quantity(forces, "N"))
    assert abs(model.simulate("2 s", rtol=1e-7).energy().residual.to("J").m) < 1e-5 * 0.5


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
@pytest.mark.parametrize("method", ["auto", "rodas4", "DOP853", "BDF", "Radau"])
def test_what_sets_out_where_a_root_is_steepest_is_not_held_back(method, rtol):
    """No step rests where a law is infinitely steep, unless its slope there is no more."""

    class Swing(Component):
        x, v = Variable("1", 1.0, priority="high"), Variable("1", 0.0, priority="high")

        def equations(self):
            second = quantity("1 s")
            yield second * der(self.x) == self.v
            yield second * der(self.v) == -self.x - 0.1 * blocks.sign(self.v) * abs_(self.v) ** 0.5

    def slope(_, y):
        return [y[1], -y[0] - 0.1 * np.sign(y[1]) * np.sqrt(abs(y[1]))]

    y, t = [1.0, 0.0], 0.0
    while t < 9.0:  # from standstill to standstill, but for the last part
        turns = lambda _, y: y[1]  # noqa: E731
        turns.terminal, turns.direction = True, np.sign(y[0])
        part = solve_ivp(slope, (t, 9.0), y, "DOP853", rtol=1e-12, atol=1e-13, events=turns)
        y, t = [part.y[0, -1], 0.0 if part.status else part.y[1, -1]], part.t[-1]
    run = wired("swing", part=Swing()).simulate("9 s", method=method, rtol=rtol)
    assert abs(run["part.x"].final.m - y[0]) < max(10 * rtol, 1e-8)
