"""A run ends where a condition is met, located like every other event."""

import warnings

import numpy as np
import pytest
from benches import wired
from benches.friction import dry
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import Component, Discrete, abs_, every
from blocks.exceptions import ModelError, ParameterError, UnknownName, WrongCall, WrongDimension

ENDS = -4 * np.log(0.75)  # v = 3 exp(-t/4), x = 12 (1 - exp(-t/4)) is 3 m


class Counts(Component):
    """Counts tenths of a second."""

    n = Discrete("1", 0)

    def equations(self):
        yield every("0.1 s", {self.n: self.n + 1})


def coasting():
    return wired("coasting", "block.M sensor.R drag.R", "ground.V sensor.C drag.C",
                 block=tr.Mass(mass="2 kg", v="3 m/s"), drag=tr.Damper(damping="0.5 N*s/m"),
                 sensor=tr.MotionSensor(), ground=tr.Reference())


@pytest.mark.parametrize("method, off", [
    ("auto", 1e-8), ("dopri5", 1e-8), ("rodas4", 1e-8), ("ode45", 1e-8), ("ode23s", 1e-6),
    ("DOP853", 1e-8), ("Radau", 1e-8), ("BDF", 1e-7), ("RK45", 1e-8), ("rk4", 1e-10),
    ("trapezoidal", 1e-6), ("euler", 1e-3), ("backward_euler", 1e-3), ("moreau_jean", 1e-3)])
def test_every_method_ends_where_the_place_is_reached(method, off):
    fixed = method in ("rk4", "trapezoidal", "euler", "backward_euler", "moreau_jean")
    run = coasting().simulate("50 s", until="sensor.x > 3 m", method=method, rtol=1e-9,
                              **({"step": "1 ms"} if fixed else {}))
    assert run.status == "until sensor.x > 3 m" and "ended at t = 1.15" in run.message
    assert run.time.final.to("s").m == pytest.approx(ENDS, abs=off)
    assert run["sensor.x"].final.to("m").m == pytest.approx(3, abs=1e-12 if not fixed else off)


@pytest.mark.parametrize("until, met, ends", [
    (["sensor.x > 3 m", "block.v <= 1 m/s"], "sensor.x > 3 m", ENDS),
    (["sensor.x > 9 m", "block.v <= 1 m/s"], "block.v <= 1 m/s", 4 * np.log(3)),
    ("drag.f < 1 N", "drag.f < 1 N", 4 * np.log(1.5)),
    ("block.energy_stored < 1 J", "block.energy_stored < 1 J", 2 * np.log(9)),  # only observed
    (lambda m: (m.block.v < "1 m/s") | (abs_(m["sensor.x"]) > "3 m"), "its function holds",
     ENDS)])
def test_conditions_of_any_variable_and_several_are_told_apart(until, met, ends):
    run = coasting().simulate("50 s", until=until, rtol=1e-9)
    assert run.status == f"until {met}"
    assert run.time.final.to("s").m == pytest.approx(ends, abs=1e-7)


def test_of_several_functions_the_one_that_ended_it_is_told():
    def far(m):
        return m.sensor.x > "9 m"

    until = [far, lambda m: m.block.v < "0.1 m/s", lambda m: m.sensor.x > "3 m"]
    assert coasting().simulate("50 s", until=until).status == "until function 3 holds"
    assert coasting().simulate("50 s", until=until[:1]).status == "until far"


def test_a_run_that_never_meets_it_is_finished_and_the_model_is_as_it_was():
    model = coasting()
    run = model.simulate("1 s", until="sensor.x > 3 m")
    assert run.status == "finished" and list(model.parts) == ["block", "drag", "sensor", "ground"]


@pytest.mark.parametrize("method", ["auto", "dopri5"])
def test_a_force_of_sticking_ends_a_run_within_its_first_stick(method):
    model = wired("stick_slip", "pull.R spring.R", "spring.C block.M friction.R",
                  "friction.C pull.C ground.V",
                  pull=tr.VelocitySource(velocity="0.1 m/s"), spring=tr.Spring(stiffness="1 kN/m"),
                  block=tr.Mass(mass="1 kg"), ground=tr.Reference(), friction=dry(20, 25))
    run = model.simulate("9 s", until="friction.f > 22 N", method=method)  # 100 N/s
    assert run.time.final.to("s").m == pytest.approx(0.22, abs=1e-9)


def test_one_of_an_array_ends_it_and_is_named():
    model = wired("row", "cars.M where.R", "where.C ground.V",
                  cars=tr.Mass(count=3, v=["1 m/s", "2 m/s", "0.5 m/s"]),
                  where=tr.MotionSensor(count=3), ground=tr.Reference())
    run = model.simulate("9 s", until="where.x > 3 m")
    assert run.status == "until where[1].x > 3 m"
    assert run.time.final.to("s").m == pytest.approx(1.5, abs=1e-9)


def test_in_a_sweep_it_is_an_outcome_and_later_times_are_nan():
    data = coasting().sweep({"block.v": ["3 m/s", "0.5 m/s"]}, "20 s", until="sensor.x > 3 m",
                            outputs=["final(sensor.x)", "at(sensor.x, 2 s)", "final(time)"],
                            rtol=1e-9)
    assert list(data.status.values) == ["until sensor.x > 3 m", "finished"]
    assert "ended at t = 1.15" in str(data.message.values[0])
    assert_allclose(data["final(sensor.x)"], [3, 2 * (1 - np.exp(-5))], rtol=1e-7)
    assert_allclose(data["at(sensor.x, 2 s)"], [np.nan, 2 * (1 - np.exp(-0.5))], rtol=1e-7)
    assert_allclose(data["final(time)"], [ENDS, 20], rtol=1e-7)
    assert data["final(time)"].attrs["units"] == "s"
    assert [data.attrs[f"runs {how}"] for how in ("finished", "failed", "not run")] == [2, 0, 0]


@pytest.mark.parametrize("until, error, told", [
    ("sensor.x > -1 m", ParameterError, r"met at the start already: sensor\.x > -1 m"),
    ("sensor.X > 1 m", UnknownName, "no 'sensor.X' among its variables. Did you mean 'sensor.x'"),
    ("sensor.x > 1 s", WrongDimension, r"until='sensor\.x > 1 s'.*sensor\.x is in m"),
    ("sensor.x", WrongCall, "takes a condition, but was given 'sensor.x'"),
    ("sensor.x > 1 m and sensor.x < 2 m", WrongCall, r"of which one is .* function .*\) & \("),
    ("sensor.x > 1", WrongDimension, r"compares \(>\) sensor\.x \[m\] and 1 \[dimensionless\]"),
    ([], ParameterError, "is empty"),
    ("drag.f < drag.damping", ModelError, r"'drag\.damping'.*drag\.f is in N.*parameter"),
    (lambda m: 3, ParameterError, "a function that gave 3"),
    (lambda m: m.blok.v > "1 m", UnknownName, "no variable 'blok.v'")])
def test_what_is_no_condition_is_refused_before_the_run(until, error, told):
    with pytest.raises(error, match=told):
        coasting().simulate("1 s", until=until)


def test_what_changes_at_events_alone_is_refused_by_name():
    model = coasting()
    model.counts = Counts()
    with pytest.raises(ModelError, match=r"'counts\.n', which changes at events alone"):
        model.simulate("1 s", until="counts.n > 3")
    rubs = wired("rubs", "block.M friction.R", "friction.C ground.V", friction=dry(1, 2),
                 block=tr.Mass(v="1 m/s"), ground=tr.Reference())
    with pytest.raises(ModelError, match=r"'friction\.mode'.* such as .*friction\.v"):
        rubs.simulate("1 s", until="friction.mode < 1")


def test_scipys_word_is_answered():
    with pytest.raises(UnknownName, match="until='block.x > 1 m'"):
        coasting().simulate("1 s", terminal=True)


def test_a_bound_may_stand_first_and_events_have_names_of_variables():
    model, _ = pushed()
    run = model.simulate("100 s", until="3 m <= sensor.P")
    assert run.events[-1].description == "sensor.P rises above 3 m"
    assert run.status == "until 3 m <= sensor.P"


def test_sensitivities_tell_how_the_end_moves():
    model, t = pushed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate("100 s", until="sensor.P > 3 m", rtol=1e-9,
                             sensitivities=["block.v", "push.force", "block.mass"])
    times, moved = run.sensitivities.event_times
    mass, force, v = 2.0, 3.0, 2 + 1.5 * t
    by_mass = force / mass**2 * t**2 / 2
    assert_allclose(times[-1], t, rtol=1e-9)
    assert_allclose(moved[-1] * v, [-t, -t**2 / 2 / mass, by_mass], rtol=1e-8)


def pushed():
    """A body that starts with 2 m/s, and when it comes to 3 m: 2 t + 0.75 t^2 = 3."""
    model = wired("pushed", "block.M push.R sensor.R", "push.C sensor.C ground.V",
                  block=tr.Mass(mass="2 kg", v="2 m/s"), push=tr.ForceSource(force="3 N"),
                  sensor=tr.MotionSensor(), ground=tr.Reference())
    return model, (-2 + np.sqrt(4 + 9)) / 1.5


def test_options_that_are_refused_are_answered_with_all():
    model, _ = pushed()
    with pytest.raises(UnknownName, match="sensitivities.*until"):
        model.simulate("1 s", bogus=3)
