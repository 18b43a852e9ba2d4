"""Programs that drive a run for long, starts that are found again."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry
from benches.parts import CubicLoop
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks import (
    Component,
    Discrete,
    Input,
    Output,
    Parameter,
    ParameterError,
    every,
    quantity,
    time,
    where,
)
from library.planar import Body, Ground, Prismatic, Revolute, RigidOffset
from library.rotational import Inertia, RotationalReference, TorqueSource, table
from library.signal import DiscreteIntegrator, Integrator, Pulse
from library.translational import Damper, Mass, Reference, Spring


class Gate(Component):
    """Closed for a hundredth of every period."""

    period, y = Parameter("10 us"), Output("1")

    def equations(self):
        yield self.y == where(blocks.mod(time, self.period) < self.period / 100, 1, 0)


class Burst(Component):
    """A pulse of microseconds within a millisecond: exp(-((t - at)/width)²)."""

    at, width, y = Parameter("0.5 ms"), Parameter("3 us"), Output("1")

    def equations(self):
        yield self.y == blocks.exp(-(((time - self.at) / self.width) ** 2))


def summed(source):
    return wired("summed", "source.y sum.u", source=source, sum=Integrator(input="1"))


@pytest.mark.parametrize("source", [Gate, lambda: Pulse(period="10 us", width=0.01)],
                         ids=["written", "block"])
@pytest.mark.parametrize(("step", "count"), [("1 ms", 3), ("0.13 ms", 20), ("5 us", 700)])
def test_no_edge_is_passed_over_in_steps_of_any_length(source, step, count):
    run = summed(source()).stepper()
    for _ in range(count):
        run.advance(step)
    periods, rest = divmod(round(count * quantity(step).to("ns").m), 10_000)
    assert_allclose(run["sum.y"].to("s").m, periods * 1e-7 + min(rest * 1e-9, 1e-7), rtol=1e-9)


class Chopper(Component):
    """On for the share of each period that a program wants at its begin."""

    period, u, y, held = Parameter("0.5 ms"), Input("1"), Output("1"), Discrete("1")

    def equations(self):
        yield every(self.period, {self.held: self.u})
        yield self.y == where(blocks.mod(time, self.period) < self.held * self.period, 1, 0)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
@pytest.mark.parametrize(("step", "count"), [("0.5 ms", 90), ("1 ms", 60), ("2.5 ms", 40)])
def test_an_edge_that_steps_meet_but_for_rounding_is_watched_as_before(step, count, method):
    """Steps of whole periods add up to the edges but for rounding, on either side of them. Samples
    at the end of a step were taken before the next value is told."""
    run = summed(Chopper()).stepper(inputs=["source.u"], method=method)
    shares = 0.9 - 0.8 * np.arange(count) / count
    for share in shares:
        run.set("source.u", share)
        run.advance(step)
    exact = quantity(step) * shares.sum() - quantity("0.5 ms") * shares[-1]
    assert_allclose(run["sum.y"].m, exact.to("s").m, rtol=1e-9)


@pytest.mark.parametrize(("step", "count"), [("1 ms", 1), ("0.25 ms", 4), ("20 us", 50)])
def test_a_burst_is_found_however_long_the_run_may_go_on(step, count):
    run = summed(Burst()).stepper()
    for _ in range(count):
        run.advance(step)
    assert_allclose(run["sum.y"].to("s").m, 3e-6 * np.sqrt(np.pi), atol=1e-7)  # atol is 1e-8 s


@pytest.mark.parametrize("count", [6, 7, 10])  # the last two fall short by rounding
def test_steps_that_are_rounded_get_to_the_end(count):
    """A wheel of 1 kg m² that is turned harder for a second, and by 3 N m from then on."""
    model = wired("wheel", "motor.R wheel.I", "motor.C wall.W",
                  wheel=Inertia(inertia="1 kg*m^2"), wall=RotationalReference(),
                  motor=TorqueSource(torque=table(["0 s", "1 s"], ["0 N*m", "3 N*m"])))
    run = model.stepper(outputs=["wheel.w"], duration="6 s")
    for _ in range(count):
        run.step([], 6 / count)
    assert_allclose([run.time.m, run.numbers()[0]], [6.0, 16.5], rtol=1e-9)


def test_what_switches_for_ever_is_refused_in_driven_runs_too():
    class Chatter(Component):
        x = blocks.Variable("1", 1.0, priority="high")

        def equations(self):
            yield blocks.der(self.x) == where(self.x > 0, -1, 1) / quantity("1 ms")

    run = wired("chatter", c=Chatter()).stepper()
    with pytest.raises(blocks.SimulationError, match="^c: switches back and forth"):
        for _ in range(20):
            run.advance("0.1 ms")


@pytest.mark.parametrize("method", ["rodas4", "dopri5", "DOP853"])
def test_states_are_read_beside_unknowns_that_are_solved_for(method):
    model = wired("leak", leak=CubicLoop(x=2.0, y=blocks.Target(1.0, priority="none")))
    run = model.stepper(outputs=["leak.x"], method=method, rtol=1e-9)
    for k in range(1, 5):
        run.advance("0.25 s")
        y = run["leak.y"].m
        assert_allclose(np.log(y) + 1.5 * y**2 + 0.25 * k, 1.5, rtol=1e-7)
        assert_allclose(run["leak.x"].m, y + y**3, rtol=1e-9)


@pytest.mark.parametrize("method", ["rodas4", "dopri5"])
def test_a_linkage_with_friction_goes_back_to_the_bit(method):
    model = wired("slider-crank", "world.P main.B slide.B", "main.F wheel.P crank.B",
                  "crank.F pin.B", "pin.F bar.P rod.B", "rod.F guide.B", "guide.F slide.F piston.P",
                  "slide.A rings.R", "rings.C wall.V",
                  world=Ground(), wall=tr.Reference(), main=Revolute(phi="30 deg", w="20 rad/s"),
                  pin=Revolute(), guide=Revolute(), crank=RigidOffset(dx="50 mm"),
                  rod=RigidOffset(dx="200 mm"), wheel=Body(inertia="1e-3 kg*m^2"),
                  bar=Body(mass="0.2 kg", inertia="1e-4 kg*m^2"), slide=Prismatic(drive=True),
                  piston=Body(mass="0.5 kg", inertia="1e-4 kg*m^2"), rings=dry(2, 3))
    run = model.stepper(outputs=["main.w", "slide.s", "rings.f"], method=method)

    def onwards():
        return [run.step([], 0.07).tolist() for _ in range(4)]

    onwards()
    state = run.save_state()
    first = onwards()
    for _ in range(2):
        run.restore(state)
        assert onwards() == first


# -- many short steps -------------------------------------------------------------------------
def pushed():
    return wired("pushed", "body.M push.R place.R", "floor.V push.C place.C",
                 body=tr.Mass(mass="2 kg"), floor=tr.Reference(), push=tr.ForceSource(),
                 place=tr.MotionSensor())


def rubbing():
    """Two bodies on a rough floor, with a spring between them and a stop."""
    model = pushed()
    wire(model, "body.M rub.R spring.R stop.R", "spring.C second.M drag.R",
         "floor.V rub.C drag.C stop.C",
         rub=dry(20, 25), spring=tr.Spring(stiffness="1 kN/m"), second=tr.Mass(mass="1 kg"),
         drag=dry(5, 7), stop=tr.HardStop(upper_bound="50 mm", lower_bound="-50 mm"))
    return model


def sampled(period="1 ms"):
    """A sampler of its own, which sums up the way that it finds."""
    model = pushed()
    wire(model, "place.P sum.u", sum=DiscreteIntegrator(input="m", sample_time=period))
    return model


def driven(run, steps, look=False):
    rows = []
    for k in range(steps):
        rows.append(run.step([60 * np.sin(0.02 * k)], 1e-3))
        if look and k % 50 == 0:
            run.result()
    return np.array(rows)


def test_thousands_of_steps_add_up():
    """v = h sum F / m and x by the trapezia of v, through more events than a call keeps."""
    run = pushed().stepper(inputs=["push.S"], outputs=["body.v", "place.P"])
    force = np.random.default_rng(1).uniform(-5, 5, 5000)
    seen = np.array([run.step([f], 1e-3) for f in force])
    v = np.cumsum(force) * 1e-3 / 2
    x = np.cumsum((v + np.append(0, v[:-1])) / 2) * 1e-3
    assert_allclose(seen, np.column_stack([v, x]), rtol=1e-9, atol=1e-12)
    middle = run.result()["body.v"].at([f"{k}.5 ms" for k in (0, 1234, 4999)])
    assert_allclose(middle.to("m/s").m, (np.append(0, v[:-1]) + v)[[0, 1234, 4999]] / 2, rtol=1e-9)


def test_looks_change_nothing():
    first, second = (rubbing().stepper(inputs=["push.S"], outputs=["body.v"]) for _ in range(2))
    assert np.array_equal(driven(first, 300), driven(second, 300, look=True))
    a, b = (run.result().sample("body.v", every="1.7 ms")["body.v"].m for run in (first, second))
    assert np.array_equal(a, b)


def test_numbers_of_arrays_come_one_after_the_other():
    model = wired("row", "bodies.M push.R", "floor.V push.C",
                  bodies=tr.Mass(mass="2 kg", count=3), floor=tr.Reference(),
                  push=tr.ForceSource(count=3))
    run = model.stepper(inputs=["push.S"], outputs=["bodies.v"])
    run.set("push.S", ["2 N", "4 N", "6 N"])
    run.advance("1 s")
    assert_allclose(run.numbers(), [1, 2, 3], rtol=1e-12)


def test_what_is_no_number_is_refused():
    run = pushed().stepper(inputs=["push.S"], outputs=["body.v"])
    with pytest.raises(ParameterError, match=r"run.step\(\): was given nan for 'push.S', which is "
                                             "not a finite number. Give a value in N"):
        run.step([np.nan], 1e-3)
    with pytest.raises(ParameterError, match="must go on for a positive time, but was given -1 s"):
        run.step([1.0], -1)
    assert run.step([2.0], 1.0)[0] == pytest.approx(1.0)


# -- saved states -----------------------------------------------------------------------------
ROOT = Path(__file__).resolve().parents[2]


def begun(stiffness="1 kN/m"):
    model = rubbing()
    model.spring.stiffness = stiffness
    return model.stepper(inputs=["push.S"], outputs=["body.v", "second.v"])


def stepped(run, forces):
    return [run.step([force], 0.05).tolist() for force in forces]


ELSEWHERE = """
import pickle, sys
sys.path[:0] = sys.argv[1:3]
from tests.simulation.test_stepping_over_time import begun, stepped
run = begun()
run.restore(pickle.load(open(sys.argv[3], "rb")))
print(run.time, stepped(run, [0.0, -45.0, 15.0]))
"""


def test_another_process_goes_on_to_the_bit(tmp_path):
    run, file = begun(), tmp_path / "state"
    stepped(run, [30.0, 40.0, 40.0, 5.0])  # breaks loose, and comes to rest
    file.write_bytes(pickle.dumps(run.save_state()))
    told = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(ROOT), str(ROOT / "tests"), str(file)], text=True,
        capture_output=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == f"{run.time} {stepped(run, [0.0, -45.0, 15.0])}"


def test_states_of_both_kinds_lead_back_one_after_the_other():
    run = begun()
    stepped(run, [30.0])
    near = run.save_state()
    far = pickle.loads(pickle.dumps(near))
    ends = []
    for state in (near, far, near, far):
        run.restore(state)
        assert run.time == quantity("50 ms")
        ends.append(stepped(run, [35.0, 35.0, -35.0]))
    assert ends[0] == ends[1] == ends[2] == ends[3]
    assert run.result()["body.v"].final == run["body.v"]


def test_a_state_of_another_model_is_refused():
    run = begun()
    stepped(run, [40.0, 40.0])
    state = pickle.loads(pickle.dumps(run.save_state()))
    other = begun("3 kN/m")
    with pytest.raises(ParameterError, match="leads elsewhere here") as told:
        other.restore(state)
    assert told.value.code == "run.state"
    assert other.time == quantity("0 s")  # it stays where it was
    with pytest.raises(ParameterError, match="leads elsewhere here"):
        rubbing().stepper(outputs=["body.v"]).restore(state)


# -- starts -----------------------------------------------------------------------------------
def oscillator(**parts):
    model = wired("oscillator", "mass.M spring.R damper.R", "ground.V spring.C damper.C",
                  mass=Mass(mass="1 kg"), spring=Spring(stiffness="10 N/m", x="5 cm"),
                  damper=Damper(damping="1 N*s/m"), ground=Reference())
    for name, part in parts.items():
        model.add(name, part)
        model.connect(getattr(model, name).R, model.mass.M)
        model.connect(getattr(model, name).C, model.ground.V)
    return model


def test_values_and_targets_are_starts_of_their_own():
    model = oscillator()
    assert model.simulate("0.1 s")["spring.x"].initial.to("cm").magnitude == pytest.approx(5)
    model.spring.x = "7 cm"
    assert model.simulate("0.1 s")["spring.x"].initial.to("cm").magnitude == pytest.approx(7)
    model.spring.stiffness = "20 N/m"
    assert model.simulate("0.1 s")["spring.f"].initial.to("N").magnitude == pytest.approx(1.4)


def test_a_run_that_is_asked_the_same_is_the_same_and_with_other_times_another():
    model = oscillator()
    first, again = (model.simulate("1 s", rtol=1e-8) for _ in range(2))
    assert np.array_equal(first["mass.v"].magnitude, again["mass.v"].magnitude)
    assert first.statistics["method"] == again.statistics["method"]
    assert first.recording.accuracy[0] == again.recording.accuracy[0] == 1e-8
    model.simulate("1 s", rtol=1e-8, times=quantity([0.25, 0.5], "s"))  # not to be compared
    sampled = model.simulate("1 s", rtol=1e-8, times=quantity([0.5, 0.75], "s"))
    assert sampled.time.magnitude.tolist() == [0.5, 0.75]


def test_what_was_decided_is_decided_anew_where_values_have_changed():
    model = oscillator()
    mild = model.simulate("1 s")
    assert "stiff" not in mild.statistics["why"] or "not stiff" in mild.statistics["why"]
    model.damper.damping = "1e6 N*s/m"
    assert model.simulate("1 s").statistics["method"] != mild.statistics["method"]
    model.damper.damping = "1 N*s/m"
    back = model.simulate("1 s")
    assert back.statistics["method"] == mild.statistics["method"]
    assert np.array_equal(back["mass.v"].magnitude, mild["mass.v"].magnitude)
    assert back.recording.made_with().parameters["damper.damping"].to("N*s/m").magnitude == 1


class Switched(Component):
    """A decay whose sampled gain is 0 before the first sample, at the start, and 1 after."""

    rate = Parameter("5e6 1/s")
    x = blocks.Variable("1", 1.0, priority="high")
    gain = Discrete("1", 0.0)

    def equations(self):
        yield blocks.every("10 s", {self.gain: 1.0})
        yield blocks.der(self.x) == (-self.rate * self.gain * self.x
                                     - quantity("0.1 1/s") * self.x**2)


@pytest.mark.parametrize("looked", [False, True])
def test_the_method_is_that_of_the_point_at_which_a_run_moves_off(looked):
    """Whether a check or an earlier run has decided there before, or nobody."""
    model = wired("switched", part=Switched())
    if looked:
        model.check()
    runs = [model.simulate("3 s") for _ in range(2)]
    assert runs[0].statistics["method"] == runs[1].statistics["method"]
    assert runs[0].statistics["why"] == runs[1].statistics["why"]
    assert "became stiff" not in runs[0].statistics["why"]
    assert np.array_equal(runs[0]["part.x"].magnitude, runs[1]["part.x"].magnitude)
