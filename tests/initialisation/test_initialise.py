"""The start of a run: targets of every priority, guesses, and constraints."""

import warnings

import numpy as np
import pytest
from benches import wire, wired
from benches.parts import Pendulum, alone, final
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import blocks
from blocks import Component, Parameter, ParameterError, Port, Target, Variable, der, quantity
from blocks.exceptions import InitialisationError
from blocks.initialisation.initial_values import InitialWarning
from library.signal import Constant, Gain, MathFunction, Sum
from library.thermal import TemperatureSource
from library.translational import ForceSource, Mass, Reference, Spring, SpringDamper, VelocitySource
from library.two_phase import ConstantVolumeChamber


def started(model, *paths):
    """Values at the start, with the warnings given on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = model.simulate("1 ms")
    found = [str(w.message) for w in caught if issubclass(w.category, InitialWarning)]
    return [run[p].at("0 s").magnitude for p in paths], found


def joined(a, b):
    return wired("joined", "a.M b.M", a=Mass(mass="1 kg", v=a), b=Mass(mass="3 kg", v=b))


@pytest.mark.parametrize(("a", "b", "speed"), [
    (Target("2 m/s", "low"), "4 m/s", 4.0),
    ("2 m/s", Target("4 m/s", "low"), 2.0),
    (Target("2 m/s", "low"), Target("4 m/s", "low"), 3.0),
    ("2 m/s", Target("4 m/s", "none"), 2.0),
    ("2 m/s", "2 m/s", 2.0),
    (Target("2 m/s", "low"), Target(nominal="1 m/s"), 2.0),  # b keeps its default, 0 m/s high
])
def test_the_stronger_target_wins_and_equals_meet_in_the_middle(a, b, speed):
    (v,), warned = started(joined(a, b), "a.v")
    assert v == pytest.approx(speed, abs=1e-12)
    assert not warned


def test_conflicting_high_targets_are_a_warning_and_a_compromise():
    (v,), warned = started(joined("2 m/s", "4 m/s"), "a.v")
    assert v == pytest.approx(3.0)
    (text,) = warned
    assert "a.v = 2 m/s and b.v = 4 m/s cannot all be met" in text
    assert "starts with a.v = 3 m/s and b.v = 3 m/s" in text
    assert "priority='low'" in text


def test_the_compromise_is_that_of_least_squares_in_nominal_units():
    model = joined(Target("2 m/s", nominal="1 m/s"), Target("4 m/s", nominal="10 m/s"))
    (v,), _ = started(model, "a.v")
    assert v == pytest.approx((2 + 4 / 100) / (1 + 1 / 100), rel=1e-9)


def test_a_target_against_the_equations_is_a_warning_and_the_equations_hold():
    model = wired("driven", "body.M drive.R", "drive.C ground.V",
                  body=Mass(v="2 m/s"), drive=VelocitySource(velocity="1 m/s"), ground=Reference())
    (v,), warned = started(model, "body.v")
    assert v == pytest.approx(1.0)
    assert "body.v = 2 m/s cannot be met" in warned[0]
    assert "starts with body.v = 1 m/s" in warned[0]


def test_a_target_on_a_force_finds_the_deformation_that_gives_it():
    model = wired("spring", "body.M spring.R", "spring.C ground.V",
                  body=Mass(), spring=Spring(stiffness="10 N/m", f="5 N"), ground=Reference())
    (x, f), warned = started(model, "spring.x", "spring.f")
    assert (x, f) == (pytest.approx(0.5), pytest.approx(5.0))
    assert not warned


class Cubic(Component):
    """(y - 1)(y - 2)(y - 4) = 0."""

    y = Variable("")

    def equations(self):
        yield self.y**3 - 7 * self.y**2 + 14 * self.y == 8


@pytest.mark.parametrize(("guess", "root"), [(0.5, 1), (2.1, 2), (5.0, 4)])
def test_a_guess_decides_which_root_a_loop_starts_from(guess, root):
    run = alone(Cubic(y=Target(guess, "none"))).simulate("1 s")
    assert final(run, "c.y") == pytest.approx(root, rel=1e-9)


def test_a_guess_changed_between_runs_is_used():
    model = alone(Cubic())
    for guess, root in [(5.0, 4), (2.1, 2), (0.5, 1)]:
        model.c.y = Target(guess, "none")
        assert final(model.simulate("1 s"), "c.y") == pytest.approx(root, rel=1e-9)


def test_a_guess_of_any_unknown_of_a_loop_is_used():
    class Circle(Component):
        a, b, s = Variable(""), Variable(""), Variable("")

        def equations(self):
            yield self.a**2 + self.b**2 == 5
            yield self.a * self.b == 2
            yield self.s == self.a + self.b

    for a, b in [(1, 2), (2, 1), (-1, -2), (-2, -1)]:
        run = alone(Circle(a=Target(1.1 * a, "none"), b=Target(0.9 * b, "none"))).simulate("1 s")
        assert final(run, "c.a") == pytest.approx(a, rel=1e-9)
        assert final(run, "c.b") == pytest.approx(b, rel=1e-9)


def test_a_loop_without_a_root_is_an_error_that_names_it():
    class NoRoot(Component):
        y = Variable("")

        def equations(self):
            yield self.y**2 == -1

    with pytest.raises(InitialisationError, match="c.y could not be solved for"):
        alone(NoRoot()).simulate("1 s")


def fed_back(function, constant, gain=1.0):
    """a = constant + gain function(a)."""
    return wired("loop", "constant.y sum.u1", "gain.y sum.u2", "sum.y function.u",
                 "function.y gain.u", constant=Constant(value=constant), sum=Sum(),
                 function=MathFunction(function=function), gain=Gain(gain=gain))


@pytest.mark.parametrize(("function", "constant", "gain", "root"), [
    ("reciprocal", 2.0, 1.0, 1 + np.sqrt(2)),  # beside its pole steps are little
    ("reciprocal", 1.0, 6.0, 3.0),
    ("sqrt", 6.0, 1.0, 9.0),  # from where it begins, and is infinitely steep
])  # fmt: skip
def test_a_loop_finds_its_root_from_beside_a_pole_or_the_beginning_of_a_root(
        function, constant, gain, root):
    run = fed_back(function, constant, gain).simulate("1 s")
    assert final(run, "sum.y") == pytest.approx(root, rel=1e-9)


@pytest.mark.parametrize(("function", "constant", "gain"), [
    ("reciprocal", 1.0, -1.0),  # a^2 - a + 1 > 0
    ("sqrt", -1.0, 1.0),  # sqrt(a) < 1 + a
    ("exp", 0.0, 1.0),  # exp(a) > a
])  # fmt: skip
def test_a_loop_of_signals_without_a_root_says_how_to_give_a_guess(function, constant, gain):
    with pytest.raises(InitialisationError, match=(
            "sum.y could not be solved for: .*guesses with priority='none'")):
        fed_back(function, constant, gain).simulate("1 s")


# -- constraints -------------------------------------------------------------------------------


def pendulum(**targets):
    (x, y, vx, vy), warned = started(alone(Pendulum(**targets)), "c.x", "c.y", "c.vx", "c.vy")
    assert np.hypot(x, y) == pytest.approx(1, abs=1e-9)
    assert x * vx + y * vy == pytest.approx(0, abs=1e-9)
    return (x, y, vx, vy), warned


@pytest.mark.parametrize("x, y, side", [
    ("0.6 m", Target("0.5 m", "none"), 1), ("0.6 m", Target("-0.5 m", "none"), -1),
    (Target("3 m", "low"), Target("4 m", "low"), 1)])  # the nearest point of the circle
def test_a_guess_or_low_targets_decide_on_which_side_a_pendulum_hangs(x, y, side):
    found, warned = pendulum(x=x, y=y)
    assert found[:2] == (pytest.approx(0.6), pytest.approx(0.8 * side))
    assert not warned


def test_a_pendulum_told_nothing_of_its_height_starts_somewhere_on_its_circle():
    (x, y, vx, vy), _ = pendulum(x="0 m", vx="1 m/s")
    assert abs(y) == pytest.approx(1)
    assert (vx, vy) == (pytest.approx(1.0), pytest.approx(0, abs=1e-9))
    pendulum()


def test_a_high_target_out_of_reach_is_a_warning():
    (x, *_), warned = pendulum(x="2 m")
    assert abs(x) == pytest.approx(1)
    assert "c.x = 2 m cannot be met" in warned[0] and "starts with c.x = 1 m" in warned[0]


def test_an_impossible_constraint_is_an_error_that_names_its_variables():
    class Impossible(Component):
        x, y = Variable("m", "1 m", priority="high"), Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x) == quantity("1 m/s") + 0 * der(self.y)
            yield self.x**2 + self.y**2 == quantity("-1 m^2")

    with pytest.raises(InitialisationError, match=r"c\.[xy]"):
        alone(Impossible()).simulate("1 s")


def test_the_table_of_the_start_says_what_became_of_every_target():
    text = str(joined(Target("2 m/s", "low"), "4 m/s").initial_values())
    for words in ("not met", "a.v", "low", "2 m/s", "b.v", "high", "4 m/s"):
        assert words in text


def test_a_run_may_start_at_another_time():
    class Follow(Component):
        x = Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x) == quantity("2 m/s^2") * blocks.time

    run = alone(Follow()).simulate("1 s", start_time="3 s", rtol=1e-10)
    assert final(run, "c.x") == pytest.approx(1 + 16 - 9, rel=1e-8)


def test_a_long_equation_that_cannot_be_met_is_told_by_its_variables():
    """At 8550 K its vapour would have an energy that nobody has measured."""
    model = wired("superheated", "hot.A tank.H", hot=TemperatureSource(temperature="8550 K"),
                  tank=ConstantVolumeChamber())
    with pytest.raises(InitialisationError, match="an equation of p_I, u_I, T_I of tank") as stop:
        model.simulate("1 ms")
    assert len(str(stop.value)) < 300 and "position" not in str(stop.value)


# -- what the circuit ties together -----------------------------------------------------------
def in_series(first, second, stiffness="100 N/m"):
    """Two springs that carry one force: deformations in the ratio of compliances."""
    return wired("series", "body.M a.R", "a.C b.R", "b.C ground.V",
                 body=Mass(), a=Spring(stiffness="100 N/m", x=first),
                 b=Spring(stiffness=stiffness, x=second), ground=Reference())


def in_parallel(first, second):
    return wired("parallel", "body.M a.R b.R", "a.C b.C ground.V",
                 body=Mass(), a=Spring(x=first), b=Spring(x=second), ground=Reference())


def start(model, name, unit):
    run = model.simulate("1 us")
    return [run[f"{part}.{name}"].initial.to(unit).magnitude for part in "ab"]


def low(value):
    return Target(value, priority="low")


def quietly(model, name, unit):
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitialWarning)
        return start(model, name, unit)


@pytest.mark.parametrize("model, found", [
    (in_series(low("0.1 m"), low("0.3 m")), 0.2),  # they meet in the middle
    (in_series("0.1 m", low("0.3 m")), 0.1), (in_series(low("0.3 m"), "0.1 m"), 0.1),  # high wins
    # twice as stiff: x_b = x_a / 2; least squares of (x_a - 0.1, x_a/2 - 0.3) is x_a = 0.2
    (in_series(low("0.1 m"), low("0.3 m"), stiffness="200 N/m"), [0.2, 0.1]),
    (in_parallel(low("0.1 m"), low("0.3 m")), [0.1, 0.3]),
    # velocity-based mechanics knows no places, so nothing says that both are equally long
    (in_parallel("0.1 m", "0.3 m"), [0.1, 0.3])])
def test_springs_start_as_their_targets_and_forces_let_them(model, found):
    assert_allclose(quietly(model, "x", "m"), found, rtol=1e-12)


def test_two_high_targets_in_series_are_a_warning_and_a_compromise():
    with pytest.warns(InitialWarning, match=r"a\.x.*b\.x") as warned:
        found = start(in_series("0.1 m", "0.3 m"), "x", "m")
    assert_allclose(found, 0.2, rtol=1e-10)
    (one,) = warned  # it names the line that asked for the run
    assert one.filename == __file__
    assert one.lineno == start.__code__.co_firstlineno + 1


def test_nominal_values_weigh_conflicting_targets():
    # (x - 0.1)/0.1 against (x - 0.3)/0.2: minimum of their squares at 0.14
    first = Target("0.1 m", priority="low", nominal="0.1 m")
    second = Target("0.3 m", priority="low", nominal="0.2 m")
    assert_allclose(quietly(in_series(first, second), "x", "m"), 0.14, rtol=1e-10)


def test_the_table_of_the_start_keeps_the_units_the_targets_were_written_in():
    model = in_series("30 mm", Target("2 cm", priority="low"))
    model.body.v = "36 km/hour"
    rows = {p: (a, b) for p, a, b in zip(*(model.initial_values().columns[c] for c in (
        "variable", "target", "start")), strict=True)}  # fmt: skip
    assert rows["body.v"] == ("36 km/h", "36 km/h")
    assert rows["a.x"] == ("30 mm", "30 mm")
    assert rows["b.x"] == ("2 cm", "3 cm")  # equal stiffness, one force


# -- nominal values say which error matters ---------------------------------------------------
M, K, D, W = 1e-6, 1e9, 1e6, 2 * np.pi * 50.0  # 1 mg on 1 GN/m and 1 MN s/m, shaken at 50 Hz
RTOL = 1e-6


def badly_scaled(with_nominal_values):
    """A ton that swings by a kilometre, and a tiny probe that moves by a nanometre."""
    model = wired("scales", "train.M hook.R", "probe.M holder.R shaker.R",
                  "hook.C holder.C shaker.C ground.V",
                  train=Mass(mass="1 t", v="0 m/s"), hook=Spring(stiffness="1 kN/m", x="1 km"),
                  probe=Mass(mass=quantity(M, "kg")),
                  holder=SpringDamper(stiffness="1 GN/m", damping=quantity(D, "N*s/m")),
                  shaker=ForceSource(
                      force=lambda t: quantity("1 N") * blocks.sin(quantity(W, "rad/s") * t)),
                  ground=Reference())
    if with_nominal_values:
        model.probe.v = Target("0 m/s", nominal="0.3 um/s")
        model.holder.x = Target("0 m", nominal="1 nm")
    return model


def probe_deformation(t):
    """m x'' + d x' + k x = sin(w t) from rest."""
    root = np.sqrt(D**2 - 4 * M * K)
    slow, fast = -2 * K / (D + root), -(D + root) / (2 * M)
    steady = 1 / (K - M * W**2 + 1j * D * W)
    x0, v0 = -steady.imag, -(1j * W * steady).imag
    a = (v0 - fast * x0) / (slow - fast)
    return (steady * np.exp(1j * W * t)).imag + a * np.exp(slow * t) + (x0 - a) * np.exp(fast * t)


def errors(with_nominal_values):
    """(relative error of the train, error of the probe by its own size)."""
    run = badly_scaled(with_nominal_values).simulate("0.5 s", rtol=RTOL, method="BDF")
    t = run.time.to("s").magnitude
    train, probe = run["hook.x"].to("m").magnitude, run["holder.x"].to("m").magnitude
    exact = probe_deformation(t)
    return np.max(np.abs(train / 1e3 - np.cos(t))), np.max(np.abs(probe - exact)) / 1e-9


def test_nominal_values_bring_the_small_part_to_its_tolerance():
    train, probe = errors(True)
    assert train < 100 * RTOL
    assert probe < 100 * RTOL


def test_without_nominal_values_the_small_part_is_lost():
    train, probe = errors(False)
    assert train < 100 * RTOL
    assert probe > 1e4 * RTOL


def carried_by_two_springs(speed):
    """1 kg and 2 kg in a row on 1 MN/m and 50 N/m, drawn by 0.3 N, at rest where forces balance."""
    return wired("row", "a.M stiff.R soft.C", "b.M soft.R pull.R", "floor.V stiff.C pull.C",
                 floor=Reference(), a=Mass(mass="1 kg", v=speed), b=Mass(mass="2 kg", v=speed),
                 pull=ForceSource(force="0.3 N"),
                 stiff=SpringDamper(stiffness="1 MN/m", damping="4 kN*s/m", x="0.3 um"),
                 soft=SpringDamper(stiffness="50 N/m", damping="3 N*s/m", x="6 mm"))


@pytest.mark.parametrize("speed", ["1e-22 m/s", "-1e-33 m/s"])
@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_speeds_that_have_died_out_are_no_size(speed, method):
    run = carried_by_two_springs(speed).simulate("100 s", method=method)
    rest = carried_by_two_springs("0 m/s").simulate("100 s", method=method)
    assert run.statistics["steps"] <= rest.statistics["steps"] + 5
    assert abs(run["b.v"].final.m) < 1e-12


@pytest.mark.parametrize(("value", "told"), [
    ("0 mm", "must be greater than 0, but is 0 mm"), ("-1 mm", "must be greater than 0"),
    (quantity(np.inf, "m"), "is inf m, which is not a finite number")])
def test_a_nominal_value_is_a_size(value, told):
    for give, place in (
            (lambda: Spring(x=Target("0 m", nominal=value)), r"Spring\.x \(nominal\)"),
            (lambda: Variable("m", nominal=value), "nominal"),
            (lambda: badly_scaled(False).nominal_values("1 kN", value), r"nominal_values\(\)")):
        with pytest.raises(ParameterError, match=f"^{place}: {told}"):
            give()


def test_two_sizes_of_one_dimension_are_refused():
    model = badly_scaled(False)
    with pytest.raises(ParameterError, match="was given 2 N after another one of the same dim"):
        model.nominal_values("1 kN", "2 N")
    with pytest.raises(ParameterError, match=r"^simulate\(atol=…\): was given 1 nm after another"):
        model.simulate("1 s", atol=["1 m", "1 um/s", "1 nm"])


# -- several parts that nothing connects ------------------------------------------------------
GAS = blocks.Domain("gas", across={"p": "Pa", "T": "K"}, through={"m": "kg/s", "H": "W"},
                    typical={"p": "1e5 Pa", "T": "300 K"}, power=lambda port: port.H)
R = 287.0


class Reservoir(Component):
    A = Port(GAS)
    p, T = Parameter("1e5 Pa"), Parameter("300 K")

    def equations(self):
        yield self.A.p == self.p
        yield self.A.T == self.T


class Orifice(Component):
    """Mass flow by the mean density, and what it carries."""

    A, B = Port(GAS), Port(GAS)
    m = Variable("kg/s", nominal="1e-3 kg/s")

    def equations(self):
        a, b = self.A, self.B
        density = (a.p / a.T + b.p / b.T) / quantity(2 * R, "J/(kg*K)")
        drop = a.p - b.p
        yield self.m == quantity("7e-6 m^2") * blocks.sqrt(2 * density) * drop / (
            drop**2 + quantity("10 Pa") ** 2) ** 0.25
        yield a.m == self.m
        yield b.m == -self.m
        yield self.m * quantity("1005 J/(kg*K)") * blocks.where(self.m > 0, a.T, b.T,
                                                                events=False) == a.H
        yield b.H == -a.H


def flow_by_hand(p_a, p_b, temp_a, temp_b):
    """Through both orifices; what is between has the temperature of where the gas comes from."""
    temp = temp_a if p_a > p_b else temp_b

    def flow(p, t, other, t_other):
        drop = p - other
        return 7e-6 * np.sqrt((p / t + other / t_other) / R) * drop / (drop**2 + 100) ** 0.25

    between = brentq(lambda p: flow(p_a, temp_a, p, temp) - flow(p, temp, p_b, temp_b),
                     min(p_a, p_b), max(p_a, p_b), xtol=1e-6)
    return flow(p_a, temp_a, between, temp)


@pytest.mark.parametrize(("seed", "pairs"), [(3, 3), (4, 3), (1, 4), (5, 8)])
def test_orifices_in_pairs_start_however_many_stand_beside_them(seed, pairs):
    rng = np.random.default_rng(seed)
    p_a, temp_a, p_b, temp_b = (
        first + size * rng.random(pairs) for first, size in ((1e5, 3e5), (280, 100)) * 2)
    model = blocks.Model("pairs")
    for name, p, temp in (("left", p_a, temp_a), ("right", p_b, temp_b)):
        model.add(name, Reservoir(count=pairs, p=quantity(p, "Pa"), T=quantity(temp, "K")))
    wire(model, "left.A one.A", "one.B other.A", "other.B right.A",
         one=Orifice(count=pairs), other=Orifice(count=pairs))
    found = model.stepper()["one.m"].to("kg/s").m
    assert_allclose(found, list(map(flow_by_hand, p_a, p_b, temp_a, temp_b)), rtol=1e-6)
