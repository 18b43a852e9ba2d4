"""Optima and first-order uncertainties against closed forms."""

import numpy as np
import pytest
from benches import wired
from benches.analysis import derivatives, shot
from benches.friction import dry, torn_loose
from scipy.stats import norm

from blocks import quantity
from blocks.analysis.design.optimisation import optimise, pareto
from blocks.analysis.design.uncertainty import first_order
from blocks.exceptions import ParameterError, UnknownName, WrongDimension
from library.thermal import ThermalMass, ThermalReference, ThermalResistance
from library.translational import Mass, Reference, Spring, SpringDamper


def test_the_flattest_shot_that_is_high_enough():
    """x(T) is largest for a flat shot; a least height of 1 m holds the angle up."""
    best = optimise(shot(), "final(ball.x)", {"ball.angle": ("5 deg", "80 deg")}, "1 s",
                    ["max(ball.y) >= 1 m"], maximise=True)
    angle = np.arcsin(np.sqrt(2 * 9.81) / 10)  # v² sin² / 2 g = 1 m
    assert best.values["ball.angle"].to("rad").m == pytest.approx(angle, rel=1e-5)
    assert best.objective.to("m").m == pytest.approx(10 * np.cos(angle), rel=1e-5)
    assert best.met and best.status == "finished"
    assert "max(ball.y)" in str(best)


def oscillator():
    return wired("oscillator", "mass.M spring.R", "spring.C ground.V",
                 mass=Mass(), spring=Spring(x="50 mm"), ground=Reference())


def test_a_front_of_two_goals_is_where_one_costs_the_other():
    """y = (v² - (x / T)²) / 2 g, from the lowest throw to the highest."""
    front = pareto(shot(), "final(ball.x)", "max(ball.y)", {"ball.angle": ("10 deg", "60 deg")},
                   "1 s", points=3, maximise=True)
    x = np.array([one.objective.to("m").m for one in front])
    y = np.array([one.limits["max(ball.y)"].to("m").m for one in front])
    np.testing.assert_allclose(y, (100 - x**2) / 2 / 9.81, rtol=1e-5)
    assert np.all(np.diff(y) > 0) and all(one.met for one in front)
    with pytest.raises(ParameterError, match=r"points=…\).*'3'.* whole number .* 2 or more"):
        pareto(shot(), "final(ball.x)", "max(ball.y)", {}, "1 s", points="3")


def test_a_design_may_choose_the_start():
    """Let go at rest, a spring is never longer than at first; later runs start as they are told."""
    model = oscillator()
    best = optimise(model, "max(spring.x)", {"spring.x": ("5 mm", "80 mm")}, "1 s")
    assert best.values["spring.x"].to("mm").m == pytest.approx(5, rel=1e-9)
    assert best.objective.to("mm").m == pytest.approx(5, rel=1e-9)
    for start in 10, 20, 30:
        model.spring.x = quantity(start, "mm")
        assert model.simulate("1 ms")["spring.x"].initial.to("mm").m == pytest.approx(start)


def test_limits_that_no_design_meets_are_told():
    best = optimise(shot(), "final(ball.x)", {"ball.angle": ("5 deg", "80 deg")}, "1 s",
                    ["max(ball.y) >= 100 m"])
    assert not best.met and "meets max(ball.y) >= 100 m; this one comes nearest" in str(best)


def test_the_spread_of_a_result_and_its_causes():
    model = shot()
    model.ball.angle = "20 deg"
    found = first_order(model, {"ball.speed": "0.1 m/s", "ball.angle": (norm(20, 2), "deg")},
                        "1 s", ["final(ball.x)"])
    angle, deviation = np.radians(20), np.radians(2)
    parts = np.array([0.1 * np.cos(angle), 10 * np.sin(angle) * deviation]) ** 2
    assert found.deviations["final(ball.x)"].to("m").m == pytest.approx(np.sqrt(parts.sum()))
    assert found.shares["final(ball.x)"]["ball.speed"] == pytest.approx(parts[0] / parts.sum())
    assert "%" in str(found)


@pytest.mark.parametrize(("objective", "limits", "error", "text"), [
    ("ball.x", [], ParameterError, "Write one number of a run"),
    ("median(ball.x)", [], UnknownName, "reductions"),
    ("final(ball.z)", [], UnknownName, r"ball\.z"),
    ("final(ball.x)", ["max(ball.y) < 1 m"], ParameterError, "Write 'max"),
    ("final(ball.x)", ["max(ball.y) <= 1 N"], WrongDimension, "max"),
    ("final(ball.x)", ["integral(ball.y) <= 1 m"], WrongDimension, "integral")])  # fmt: skip
def test_mistakes_are_said_before_the_first_run(objective, limits, error, text, monkeypatch):
    monkeypatch.setattr("blocks.analysis.design.optimisation.run_with_sensitivities", None)
    with pytest.raises(error, match=text):
        optimise(shot(), objective, {"ball.angle": ("5 deg", "80 deg")}, "1 s", limits)


def test_numbers_over_a_run_spread_as_their_closed_forms():
    """x = x0 cos(ω t): its mean is x0 sin(ω T) / (ω T), its mean square half of x0² (1 + …)."""
    found = first_order(oscillator(), {"spring.x": "1 mm", "mass.mass": "20 g"}, "2 s",
                        ["mean(spring.x)", "rms(spring.x)", "integral(spring.f)"])

    def numbers(x0, mass):
        k, t = oscillator().spring.stiffness.to("N/m").m, 2.0
        w = np.sqrt(k / mass)
        mean = x0 * np.sin(w * t) / (w * t)
        return np.array([mean, x0 * np.sqrt(0.5 + np.sin(2 * w * t) / (4 * w * t)), k * mean * t])

    by_x = (numbers(0.051, 1) - numbers(0.049, 1)) / 2
    by_mass = (numbers(0.05, 1 + 1e-5) - numbers(0.05, 1 - 1e-5)) / 2e-5 * 0.02
    values = [v.to_base_units().m for v in found.values.values()]
    np.testing.assert_allclose(values, numbers(0.05, 1), rtol=1e-6)
    np.testing.assert_allclose([d.to_base_units().m for d in found.deviations.values()],
                               np.hypot(by_x, by_mass), rtol=1e-5)
    assert str(found.values["integral(spring.f)"].units) == "newton * second"


def test_temperatures_spread_by_differences():
    """A lump cools towards its surroundings by exp(-t / τ), and so does how far it is off."""
    model = wired("cooling", "warm.M loss.A", "loss.B ambient.H", ambient=ThermalReference(),
                  warm=ThermalMass(mass="1 kg", specific_heat="100 J/(kg*K)", T="80 degC"),
                  loss=ThermalResistance(resistance="0.1 K/W"))
    for spread in ("2 delta_degC", "2 K", (norm(80, 2), "degC")):
        found = first_order(model, {"warm.T": spread}, "10 s", ["final(warm.T)"])
        assert found.deviations["final(warm.T)"].m == pytest.approx(2 / np.e, rel=1e-6)
    with pytest.raises(WrongDimension, match="Write '2 delta_degC'"):
        first_order(model, {"warm.T": "2 degC"}, "10 s", ["final(warm.T)"])


@pytest.mark.parametrize("duty", [0.3, 0.5])
def test_numbers_over_a_run_move_with_the_instants_of_its_events(duty):
    """Braked by a Coulomb force F, m stops after m v/F, m v²/(2 F) on its way."""
    mass, speed, force = 2.0, 3.0, 6.0 / duty
    model = wired("stopped", "mass.M pad.R", "ground.V pad.C",
                  mass=Mass(mass="2 kg", v="3 m/s"), ground=Reference(), pad=dry(force))
    outputs = ["integral(mass.v)", "mean(pad.f)", "rms(pad.f)"]
    found = first_order(model, {"mass.v": "0.1 m/s"}, "2 s", outputs)
    stop = mass * speed / force
    expected = [mass * speed**2 / 2 / force, mass * speed / 2, force * np.sqrt(stop / 2)]
    np.testing.assert_allclose([abs(found.values[o].m) for o in outputs], expected, rtol=1e-7)
    slopes = [mass * speed / force, mass / 2, force * np.sqrt(stop / 2) / (2 * speed)]
    np.testing.assert_allclose([found.deviations[o].m for o in outputs], 0.1 * np.array(slopes),
                               rtol=1e-6)


def test_what_is_spent_over_a_run_may_be_least():
    """∫ x dt is x0 sin(ω T) / ω over T = 1 s: least where tan(ω T) = ω T, at 4.493409."""
    model = oscillator()
    best = optimise(model, "integral(spring.x)", {"mass.mass": ("30 kg", "80 kg", "60 kg")}, "1 s",
                    ["rms(mass.v) <= 10 m/s"])
    k, rate = model.spring.stiffness.to("N/m").m, 4.49340945790906
    assert best.values["mass.mass"].to("kg").m == pytest.approx(k / rate**2, rel=1e-4)
    assert best.objective.to("m*s").m == pytest.approx(0.05 * np.sin(rate) / rate, rel=1e-6)
    assert best.met


def test_what_is_searched_over_needs_bounds_by_path():
    with pytest.raises(ParameterError, match=r"\(over=…\): takes a mapping, but was given"):
        optimise(shot(), "final(ball.x)", ["ball.angle"], "1 s")


@pytest.mark.parametrize(("given", "text"), [
    ({"starts": 5}, "no option 'starts'. Did you mean 'start_time'"),
    ({"solver": "BDF"}, "no option 'solver'. It is method= here"),
    ({"initial": "steady state"},
     "no option 'initial'. initial= is an option of model.simulate\\(\\) alone")])
@pytest.mark.parametrize("search", [
    lambda **given: optimise(shot(), "final(ball.x)", {"ball.angle": ("5 deg", "80 deg")}, "1 s",
                             **given),
    lambda **given: first_order(shot(), {"ball.angle": "1 deg"}, "1 s", ["final(ball.x)"], **given),
])
def test_options_that_no_run_has_are_refused_before_the_first(search, given, text):
    with pytest.raises(UnknownName, match=rf"(optimise|first_order)\(\): there is {text}"):
        search(**given)


@pytest.mark.parametrize(("kind", "sign"), [("max", 1), ("min", -1)])
def test_a_peak_before_an_event_is_the_one_that_spreads(kind, sign):
    """The friction of a block under 1.3 N sin(t) is largest where it breaks away, at 1.25 N."""
    peak = f"{kind}(rub.f)"
    found = first_order(torn_loose(), {
        "rub.breakaway_force": "0.01 N", "rub.coulomb_force": "0.02 N",
        "sine.amplitude": "0.01 N"}, "6 s", [peak])
    assert found.values[peak].m == pytest.approx(sign * 1.25, rel=1e-9)
    assert found.deviations[peak].m == pytest.approx(0.01, rel=1e-6)
    assert found.shares[peak]["rub.breakaway_force"] == pytest.approx(1, rel=1e-6)


def test_derivatives_where_friction_without_mass_sticks_are_those_of_runs():
    """What it holds stands still at once; what nothing moves changes by rounding alone."""
    def pulled(stiffness):
        return wired("pulled", "mass.M bush.R", "bush.C pad.R idle.R", "idle.C rest.M",
                     "pad.C ground.V",
                     mass=Mass(mass="1 kg", v="0.3 m/s"), ground=Reference(),
                     bush=SpringDamper(stiffness=quantity(stiffness, "N/m"), damping="4 N*s/m"),
                     pad=dry(400, 480), rest=Mass(mass="2 kg"),
                     idle=SpringDamper(stiffness="1 kN/m"))

    found, nothing = derivatives(pulled(2000.0), "50 ms", "mass.v", "bush.stiffness",
                                 "idle.stiffness", rtol=1e-9)
    up, down = (pulled(k).simulate("50 ms", rtol=1e-11)["mass.v"].final.m for k in (2001.0, 1999.0))
    assert found == pytest.approx((up - down) / 2, rel=1e-6)
    assert abs(nothing) < 1e-15
