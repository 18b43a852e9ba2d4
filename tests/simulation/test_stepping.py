"""Does a program drive a run as the equations say, and can it go back?

A body pushed by what the program says, v = F t / m piece by piece; a block that sticks to the
floor until the program pushes hard enough; a motor under a controller in Python.
"""

import numpy as np
import pytest
from benches import wire, wired
from benches.parts import Pendulum, alone
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.special import ellipk

import library.electrical as el
import library.translational as tr
from blocks import Model, ParameterError, SimulationError, Target, UnknownName, quantity, require
from blocks.exceptions import ConnectionRefused, WrongDimension
from library.electromechanical import DCMotor
from library.mechanisms import DiscBrake
from library.rotational import Inertia, RotationalDamper, RotationalReference
from library.signal import Backlash, DiscreteIntegrator, Gain, Sine, Step, TimeTable


def body(**parts):
    model = wired("body", "body.M push.R where.R", "floor.V push.C where.C",
                  body=tr.Mass(mass="2 kg"), floor=tr.Reference(), push=tr.ForceSource(),
                  where=tr.MotionSensor())
    for name, part in parts.items():
        model.add(name, part)
        model.connect(model.body.M, part.R)
        model.connect(model.floor.V, part.C)
    return model


def rubbing():
    return body(rub=tr.TranslationalFriction(law="coulomb", coulomb_force="20 N",
                                             breakaway_force="25 N"))  # fmt: skip


def servo():
    return wired("servo", "driver.p motor.p", "driver.n motor.n earth.V", "motor.R load.I drag.R",
                 "motor.C drag.C frame.W",
                 driver=el.ControlledVoltageSource(), earth=el.ElectricalReference(),
                 motor=DCMotor(resistance="1 ohm", inductance="1 mH",
                               back_emf_constant="0.1 V*s/rad", inertia="1e-3 kg*m^2"),
                 load=Inertia(inertia="4e-3 kg*m^2"), frame=RotationalReference(),
                 drag=RotationalDamper(damping="1 mN*m*s/rad"))


# -- steps ---------------------------------------------------------------------------------------
def test_fixed_steps_are_those_of_the_method():
    # v' = -(d/m) v: classical Runge-Kutta multiplies v by 1 - z + z²/2 - z³/6 + z⁴/24
    run = body(slow=tr.Damper(damping="10 N*s/m")).stepper(
        inputs={"push.S": "3 N"}, outputs=["body.v"], method="rk4", step="10 ms")
    z, v = 10.0 / 2.0 * 0.01, 0.0
    for _ in range(5):
        run.advance("10 ms")
        v = 0.3 + (v - 0.3) * (1 - z + z**2 / 2 - z**3 / 6 + z**4 / 24)
        assert_allclose(run["body.v"].m, v, rtol=1e-13)
    with pytest.raises(ParameterError, match="chooses its steps itself"):
        body().stepper(method="dopri5", step="10 ms")


def test_what_is_set_holds_until_it_is_set_anew():
    run = body().stepper(inputs=["push.S"], outputs=["body.v"])
    run.advance("1 s")
    assert run["body.v"] == quantity("0 m/s")
    run.set("push.S", "4 N")
    run.advance("500 ms")
    assert run["body.v"].to("m/s").m == pytest.approx(1.0, rel=1e-12)
    run.set("push.S", "-0.006 kN")
    run.advance("1 s")
    assert run["body.v"].to("m/s").m == pytest.approx(-2.0, rel=1e-12)
    assert run["where.P"].to("m").m == pytest.approx(0.25 + 1 - 1.5, rel=1e-12)
    assert run.time == quantity("2.5 s")


def test_outputs_follow_an_input_at_once():
    run = body().stepper(inputs=["push.S"], outputs=["push.S"])
    run.set("push.S", "4 N")
    assert run["push.S"] == quantity("4 N")
    assert abs(run["body.f"].to("N").m) == 4  # what accelerates it, at the same instant


def test_the_result_is_that_of_any_run():
    run = body().stepper(inputs={"push.S": "4 N"}, outputs=[])
    for force in ("4 N", "0 N", "-4 N"):
        run.set("push.S", force)
        run.advance("1 s")
    result = run.result()
    assert_allclose(result["body.v"].at(["0.5 s", "1.5 s", "2.5 s"]).m, [1, 2, 1], rtol=1e-12)
    assert_allclose(result["push.S"].at(["0.5 s", "1.5 s", "2.5 s"]).m, [4, 0, -4])
    assert result["push.S"].at("2 s", side="left").m == 0
    terms = {term.component: term for term in result.recording.energy_terms()}
    assert terms["body"].stored == pytest.approx(0.5 * 2 * 0.0**2, abs=1e-9)
    assert terms["body"].work_in == pytest.approx(terms["body"].stored, abs=1e-9)
    run.advance("1 s")
    assert float(run.result().time.m[-1]) == 4.0


def test_an_input_starts_with_what_it_has_while_nothing_is_connected():
    model = body()
    model.push.force = "6 N"
    run = model.stepper(inputs=["push.S"], outputs=["body.v"])
    run.advance("1 s")
    assert run["body.v"].m == pytest.approx(3.0, rel=1e-12)


def test_a_play_keeps_its_output_where_the_program_jumps_back():
    model = wired("play", "double.y play.u", double=Gain(gain=2.0), play=Backlash())
    run = model.stepper(inputs={"double.u": 0.0}, outputs=["play.y"])
    found = [run.step([u], 0.1)[0] for u in (1.0, 0.9, 0.3, -2.0, -1.9, 1.0)]
    assert_allclose(found, [1.5, 1.5, 1.1, -3.5, -3.5, 1.5])  # clip of the last to 2 u and 1/2


def test_a_block_sticks_until_it_is_pushed_hard_enough():
    run = rubbing().stepper(inputs=["push.S"], outputs=["body.v"])
    for force in ("10 N", "24.9 N", "-24.9 N"):
        run.set("push.S", force)
        run.advance("0.5 s")
        assert run["body.v"].m == 0
    run.set("push.S", "30 N")
    run.advance("0.5 s")
    assert run["body.v"].to("m/s").m == pytest.approx((30 - 20) / 2 * 0.5, rel=1e-9)
    run.set("push.S", "0 N")  # stops after 2.5 m/s / 10 m/s²
    run.advance("1 s")
    assert run["body.v"].m == 0
    told = [(round(float(e.time), 9), e.mode) for e in run.result().events.of("rub")]
    assert told == [(1.5, "slides forward"), (2.25, "stuck")]


def test_numbers_are_taken_and_given_in_declared_units():
    run = servo().stepper(inputs=["driver.vT"], outputs=["load.w", "motor.i"])
    assert run.input_units == ("V",) and run.output_units == ("rad/s", "A")
    assert_allclose(run.step([5.0], 0.25), [run["load.w"].to("rad/s").m, run["motor.i"].to("A").m])
    with pytest.raises(ParameterError, match="was given 2 numbers for 1 inputs: driver.vT"):
        run.step([1.0, 2.0], 0.1)


def test_a_controller_in_python_is_the_sampled_controller_of_the_library():
    """I control of speed, T = 10 ms: the same samples whoever adds them up."""
    h, gain = 0.01, 4.0
    run = servo().stepper(inputs=["driver.vT"], outputs=["load.w"], rtol=1e-9)
    summed, speeds = 0.0, [0.0]
    for _ in range(100):
        (speed,) = run.step([gain * summed], h)
        summed += h * (20.0 - speeds[-1])
        speeds.append(speed)
    # by hand: the linear motor is x' = A x + b u between two samples, exactly
    R, L, k, J, d = 1.0, 1e-3, 0.1, 5e-3, 1e-3
    from scipy.linalg import expm

    A = np.array([[-R / L, -k / L, 1 / L], [k / J, -d / J, 0], [0, 0, 0]])
    step, x, summed, exact = expm(A * h), np.zeros(3), 0.0, [0.0]
    for _ in range(100):
        x[2] = gain * summed
        x = step @ x
        summed += h * (20.0 - exact[-1])
        exact.append(x[1])
    assert_allclose(speeds, exact, rtol=1e-7, atol=1e-8)


def test_samplers_of_the_model_act_at_their_instants_whatever_the_steps():
    """A sum of samples, T = 0.1 s: k T u; steps of 30 ms meet the instants now and then."""
    model = wired("sum", sum=DiscreteIntegrator(sample_time="0.1 s"))
    for steps in (["30 ms"] * 34, ["100 ms"] * 10 + ["20 ms"], ["1.02 s"]):
        run = model.stepper(inputs={"sum.u": "1"}, outputs=["sum.y", "sum.x"])
        for h in steps:
            run.advance(h)
        assert run["sum.x"].m == pytest.approx(1.1)  # eleven samples from 0 to 1 s
        assert run["sum.y"].m == pytest.approx(1.0)


def test_functions_of_time_and_stops_go_on_in_steps():
    model = body(stop=tr.HardStop(upper_bound="0.1 m", lower_bound="-0.1 m"))
    wire(model, "wave.y drive.S", "body.M drive.R", "floor.V drive.C",
         wave=Sine(amplitude="3 N", frequency="1 Hz"), drive=tr.ForceSource())
    whole = model.simulate("3 s", rtol=1e-9)
    run = model.stepper(outputs=["body.v"], rtol=1e-9)
    for _ in range(30):
        run.advance("0.1 s")
    assert run["body.v"].m == pytest.approx(whole["body.v"].final.m, rel=1e-5, abs=1e-7)


# -- back ----------------------------------------------------------------------------------------
def pushed(run, forces):
    seen = []
    for force in forces:
        run.set("push.S", quantity(force, "N"))
        run.advance("37 ms")
        seen += [run["body.v"].m, run["where.P"].m, run["rub.f"].m]
    return seen


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4"])
def test_what_happens_as_a_step_ends_is_not_put_off(method):
    """A source steps down from its capacitor, which an ideal diode leaves to the load."""
    model = wired("steps down", "drop.y source.vT", "source.p diode.p", "diode.n store.p load.p",
                  "store.n load.n source.n ground.V",
                  source=el.ControlledVoltageSource(), diode=el.Diode(model="ideal"),
                  drop=Step(initial="5 V", final="1 V", start="0.5 s"),
                  store=el.Capacitor(capacitance="1 mF", vc="5 V"),
                  load=el.Resistor(resistance="200 ohm"), ground=el.ElectricalReference())
    run = model.stepper(duration="1 s", rtol=1e-9, method=method)
    for piece in ("0.5 s", "0.2 s", "0.07 s", "0.23 s"):
        run.advance(piece)
    again = 0.5 + 0.2 * np.log(5)  # when the capacitor has come down to the source
    assert_allclose([e.time for e in run.result().events], [0.5, 0.5, again], rtol=1e-8)
    assert_allclose(run.result()["store.v"].at("0.7 s").m, 5 * np.exp(-1), rtol=1e-7)


@pytest.mark.parametrize("pieces", [("0.25 s",), ("0.1 s", "0.15 s"), ("40 ms", "0.21 s")])
def test_a_brake_presses_at_its_instant_whatever_the_steps_and_tables(pieces):
    """A motor starts behind an ideal diode, under a table of its voltage, and is braked later.

    Before and after speed and current are those of two linear equations.
    """
    inertia, inductance, resistance, k, volts, braking = 0.01, 3e-3, 2.0, 0.1, 10.0, 0.1
    model = Model("braked motor")
    model.motor = DCMotor(resistance=f"{resistance} ohm", inductance=f"{inductance} H",
                          back_emf_constant=f"{k} V*s/rad", inertia=f"{inertia} kg*m^2")
    model.table = TimeTable(times=quantity(np.arange(40) / 7, "s"),  # one that is searched
                            values=quantity(np.full(40, volts), "V"))  # fmt: skip
    wire(model, "table.y source.vT", "press.y brake.N", "source.p diode.p", "diode.n motor.p",
         "source.n motor.n earth.V", "motor.R brake.R", "motor.C brake.C frame.W",
         source=el.ControlledVoltageSource(), diode=el.Diode(model="ideal"),
         earth=el.ElectricalReference(), frame=RotationalReference(),
         brake=DiscBrake(static_coefficient=0.5, kinetic_coefficient=0.5, mean_radius="0.1 m"),
         press=Step(final="1 N", start="0.1 s"))
    run = model.stepper(duration="1 s", rtol=1e-9)
    for piece in pieces:
        run.advance(piece)
    moves = np.zeros(3)
    for torque, duration in ((0, 0.1), (braking, 0.15)):
        moves[2] = 1
        moves = expm(duration * np.array([
            [0, k / inertia, -torque / inertia],
            [-k / inductance, -resistance / inductance, volts / inductance], [0, 0, 0],
        ])) @ moves  # fmt: skip
    assert_allclose([run["motor.w"].m, run["motor.i"].m], moves[:2], rtol=1e-7)
    assert "press" in [e.component for e in run.result().events if e.time == 0.1]


def test_a_run_that_sticks_goes_back_to_the_bit():
    run = rubbing().stepper(inputs=["push.S"], outputs=["body.v"])
    pushed(run, [30, 40, 0, 0, 0, 10])
    for sliding in (False, True):
        if sliding:
            pushed(run, [60])
        state = run.save_state()
        forces = [24, 26, -30, 5, 5, -40, 0]
        first = pushed(run, forces)
        events = [(e.time, e.mode) for e in run.result().events]
        end = run.result()["body.v"].m.copy()
        for _ in range(2):
            run.restore(state)
            assert run.time.m == state.t
            pushed(run, [-50, 3, 70])  # something else first
            run.restore(state)
            assert pushed(run, forces) == first  # every bit of it
            assert [(e.time, e.mode) for e in run.result().events] == events
            assert np.array_equal(run.result()["body.v"].m, end)
        run.restore(state)


@pytest.mark.parametrize("method", ["auto", "Radau", "rodas4"])
def test_every_method_goes_back_to_the_bit(method):
    run = servo().stepper(inputs=["driver.vT"], outputs=["load.w"], method=method)
    for volts in (5, 7):
        run.step([volts], 0.01)
    state = run.save_state()
    first = [run.step([u], 0.013)[0] for u in (3, 3, 9, -2)]
    run.restore(state)
    assert [run.step([u], 0.013)[0] for u in (3, 3, 9, -2)] == first


def test_a_state_belongs_to_its_run():
    run, other = (body().stepper(inputs=["push.S"]) for _ in range(2))
    with pytest.raises(ParameterError, match="takes a saved state of this run"):
        run.restore(other.save_state())


# -- what is refused -----------------------------------------------------------------------------
def test_the_model_is_not_changed():
    model = body()
    before = list(model.parts)
    run = model.stepper(inputs=["push.S"])
    model.body.mass = "100 kg"
    run.set("push.S", "4 N")
    run.advance("1 s")
    assert run["body.v"].m == pytest.approx(2.0) and list(model.parts) == before


def test_mistakes_are_answered_in_words():
    model = body()
    with pytest.raises(UnknownName, match=r"there is no 'push.T' among its inputs. Did you mean "
                                          r"'push.S'"):
        model.stepper(inputs=["push.T"])
    with pytest.raises(UnknownName, match=r"It is a parameter .*parameters=.*Inputs are: "):
        model.stepper(inputs=["body.mass"])
    with pytest.raises(UnknownName, match="there is no 'nobody.S' among its inputs"):
        model.stepper(inputs=["nobody.S"])
    with pytest.raises(UnknownName, match="Did you mean 'body.v'"):
        model.stepper(outputs=["body.w"])
    run = model.stepper(inputs="push.S", outputs="body.v", duration="2 s")  # as lists of one
    assert run.inputs == ("push.S",) and run.outputs == ("body.v",)
    with pytest.raises(UnknownName, match=r"run\.set\(\): there is no 'push' among its inputs"):
        run.set("push", "4 N")
    with pytest.raises(WrongDimension, match=r"run\.set\('push\.S'\): takes N"):
        run.set("push.S", "4 m")
    with pytest.raises(ParameterError, match="must be a positive time, but is 0 s"):
        run.advance("0 s")
    with pytest.raises(ParameterError, match=r"takes a list of numbers.* run\.advance\('1 ms'\)"):
        run.step(1.0, 0.1)
    with pytest.raises(ParameterError, match=r"would go to 3 s, but the run was started for times "
                                             r"up to 2 s\. Start it for longer"):
        run.advance("3 s")
    wire(model, "wave.y push.S", wave=Sine(amplitude="3 N", frequency="1 Hz"))
    with pytest.raises(ConnectionRefused, match="push.S: is connected to an output already"):
        model.stepper(inputs=["push.S"])


def test_a_run_that_fails_has_its_result():
    class Watched(tr.Mass):
        """A body that must not be faster than 3 m/s."""

        def equations(self):
            yield from super().equations()
            yield require(self.v < quantity("3 m/s"), "it is too fast.")

    model = body()
    wire(model, "watched.M body.M", watched=Watched(mass="1 kg"))
    run = model.stepper(inputs={"push.S": "3 N"}, outputs=["body.v"])
    run.advance("1 s")
    with pytest.raises(SimulationError, match="it is too fast") as caught:
        for _ in range(5):
            run.advance("1 s")
            run.set("push.S", "6 N")
    assert caught.value.result["body.v"].at("1 s").m == pytest.approx(1.0)
    assert caught.value.result.status == "failed"


def test_steps_that_are_too_long_are_named_where_they_break_what_must_hold():
    class Watched(tr.Mass):
        """A body that must not turn round."""

        def equations(self):
            yield from super().equations()
            yield require(self.v > quantity("-1 mm/s"), "it has turned round.")

    model = wired("slowing down", body=Watched(mass="1 kg", v="1 m/s"), floor=tr.Reference())
    model.damper = tr.Damper(damping="150 N*s/m")  # v = exp(-150 t); Euler makes it -0.5 in 10 ms
    wire(model, "body.M damper.R", "floor.V damper.C")
    with pytest.raises(SimulationError, match="it has turned round. If that cannot be, the steps "
                       "are too long for what happens there"):
        model.simulate("0.1 s", method="euler", step="10 ms")
    assert model.simulate("0.02 s")["body.v"].final.m == pytest.approx(np.exp(-3), rel=1e-4)


@pytest.mark.parametrize("method", ["rk4", "auto"])
def test_a_pendulum_swings_through_when_every_step_is_a_look(method):
    model = alone(Pendulum(x=Target("1 m"), y=Target("0 m", priority="low"), vy=Target("0 m/s")))
    run = model.stepper(method=method, step="2 ms" if method == "rk4" else None)
    while run.time < quantity("2.37 s"):  # a period, 4 K(1/2)**0.5 (L/g)**0.5 = 2.3677 s, and more
        run.advance("2 ms")
    result = run.result()
    x, y = result["c.x"].m, result["c.y"].m
    assert_allclose(np.hypot(x, y), 1.0, rtol=1e-9)
    assert_allclose(result["c.energy"].m, 0.0, atol=1e-3)
    period = 4 * ellipk(0.5) * np.sqrt(1 / 9.81)
    assert result["c.x"].at(quantity(period / 2, "s")).m == pytest.approx(-1, abs=1e-5)
    assert result["c.x"].at(quantity(period, "s")).m == pytest.approx(1, abs=1e-5)
