"""Running a model: methods, samples, failures, interruptions and options."""

import _thread
import pickle
import signal
import subprocess
import sys
import threading
import time as clock

import numpy as np
import pytest
from benches import wire
from benches.parts import Explosion, alone, final
from benches.translational import oscillator
from numpy.testing import assert_allclose

import library.thermal as th
from blocks import Component, Model, Target, Variable, der, exceptions, quantity, time
from blocks.exceptions import Interrupted, MissingUnit, ParameterError, SimulationError, UnknownName
from blocks.simulation import interrupts
from blocks.simulation.events import Opening
from blocks.simulation.interrupts import interruptible
from blocks.solvers import METHODS
from blocks.system import Problem
from library.translational import Mass

FIXED = {"euler": 1, "backward_euler": 1, "trapezoidal": 2, "rk4": 4}


@pytest.mark.parametrize("method", ["auto", *(m for m in METHODS if not METHODS[m].fixed_step)])
def test_every_adaptive_method_follows_the_sine_within_its_tolerance(method):
    rtol = 1e-4 if method in ("ode23s", "RK23") else 1e-7
    run = oscillator().simulate("3.2345 s", method=method, rtol=rtol)
    t = run.time.to("s").magnitude
    assert (t[-1], run.status) == (3.2345, "finished")
    assert_allclose(run["spring.x"].to("m").magnitude, np.sin(2 * t) / 2, atol=300 * rtol)
    assert method in ("auto", run.statistics["method"])


@pytest.mark.parametrize(("method", "order"), FIXED.items())
def test_every_fixed_step_method_converges_with_its_order(method, order):
    model = oscillator()
    errors = [abs(final(model.simulate("1 s", method=method, step=h), "spring.x") - np.sin(2) / 2)
              for h in ("20 ms", "10 ms")]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


# -- samples -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("how", "times"), [
    ({"every": "0.3 s"}, [0, 0.3, 0.6, 0.9, 1.0]), ({"times": ["0.1 s", "0.5 s"]}, [0.1, 0.5]),
    ({"times": "0.1 s"}, [0.1]), ({"times": quantity([100, 500], "ms")}, [0.1, 0.5]),
    ({"times": quantity([0.0, 1.0], "s")}, [0.0, 1.0])])
def test_samples_are_taken_at_equal_distances_and_the_end_or_at_given_times(how, times):
    run = oscillator().simulate("1 s", rtol=1e-10, **how)
    t = run.time.to("s").magnitude
    assert_allclose(t, times, atol=1e-15)
    assert_allclose(run["spring.x"].magnitude, np.sin(2 * t) / 2, atol=1e-8)


# -- options -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("options", "kind", "words"), [
    ({"rtoll": 1e-3}, UnknownName,
     "simulate(): there is no option 'rtoll'. Did you mean 'rtol' or 'atol'?"),
    ({"max_steps": 5}, UnknownName, "there is no option 'max_steps'. Did you mean 'max_step'"),
    ({"method": "rk44"}, UnknownName, "Did you mean 'rk4'?"),
    ({"method": "rodas"}, UnknownName, "Did you mean 'rodas4'"),
    *(({"method": gone}, UnknownName, "It is gone since 0.3") for gone in ("exact", "adams")),
    ({"rtol": "tight"}, ParameterError, "must be a number between 0 and 1"),
    ({"rtol": 0}, ParameterError, "must be a number between 0 and 1"),
    ({"atol": -1}, ParameterError, "must be greater than 0"),
    ({"atol": ["0 m"]}, ParameterError, "must be greater than 0"),
    ({"step": "1 N"}, exceptions.WrongDimension, "simulate(step=…): takes s"),
    ({"method": "Radau", "step": "1 ms"}, ParameterError,
     "simulate(step=…): has no effect: method 'Radau' chooses its steps itself."),
    ({"atol": "1e-6"}, ParameterError, "names no unit. One number, atol=1e-9, counts for all"),
    ({"atol": [1e-6, 1e-3]}, ParameterError, "names no unit. One number"),
    ({"outputs": ["spring.x"]}, UnknownName, "no option 'outputs'. It is record= here."),
    ({"max_step": "-1 s"}, ParameterError, "must be a positive time"),
    ({"every": "0 s"}, ParameterError, "simulate(every=…): must be greater than 0 s"),
    ({"every": "1 ns"}, ParameterError, "simulate(every=…): of 1 ns makes 1,000,000,001"),
    ({"every": "1 ms", "times": "1 s"}, ParameterError, "takes either every or times"),
    ({"times": ["0.1 s", "5 s"]}, ParameterError,
     "simulate(times=…): 5 s is outside the run, which covers 0 s to 1 s"),
    ({"times": ["nan s"]}, ParameterError, "simulate(times=…): nan s is outside the run"),
    ({"times": []}, ParameterError, "takes one time or a list of times, but was given []"),
    ({"times": quantity([[0, 1]], "s")}, ParameterError, "takes one time or a list of times"),
    ({"times": ["0.1 s", "0.5 s", "0.2 s"]}, ParameterError, "0.2 s comes after 0.5 s"),
    ({"start_time": 3}, MissingUnit, "simulate(start_time=…): takes s"),
    ({"start_time": "nan s"}, ParameterError,
     "simulate(start_time=…): must be a time, but is nan s"),
    ({"sensitivities": 5}, ParameterError,
     "simulate(sensitivities=…): takes paths of parameters and initial values, but is 5"),
    ({"sensitivities": ["spring.f"]}, ParameterError, "names spring.f, which has no initial "
     "value: the start follows from others. Give it one (spring.f = …)"),
    ({"start_time": "1e17 s"}, ParameterError,
     "simulate(start_time=…): is 1e+17 s, where times are told apart by 16 s"),
    ({"duration": "1 m"}, exceptions.WrongDimension, "simulate(duration=…): takes s or any unit "
     "convertible to it, but was given 1 m. Give it in s."),
    ({"duration": 4}, MissingUnit, "Write '4 s' if that is what you mean."),
    ({"duration": "-1 s"}, ParameterError, "must be a positive time, but is -1 s."),
    ({"duration": "0 s"}, ParameterError, "must be a positive time"),
    ({"duration": "inf s"}, ParameterError, "must be a positive time")])
def test_an_option_that_cannot_be_meant_is_refused(options, kind, words):
    with pytest.raises(kind) as caught:
        oscillator().simulate(**{"duration": "1 s"} | options)
    assert words in str(caught.value)


def test_an_absolute_tolerance_of_a_unit_holds_for_its_variables():
    loose = oscillator().simulate("3 s", rtol=1e-3, atol=["1 cm", "1 cm/s"], method="DOP853")
    tight = oscillator().simulate("3 s", rtol=1e-12, atol=["1 nm", "1 nm/s"], method="DOP853")
    t = tight.time.to("s").magnitude
    assert_allclose(tight["spring.x"].magnitude, np.sin(2 * t) / 2, atol=1e-8)
    assert loose.statistics["steps"] < tight.statistics["steps"] / 2


def test_statistics_say_how_the_run_was_made():
    stats = oscillator().simulate("1 s").statistics
    for key in ("method", "why", "states", "algebraic unknowns", "steps", "rejected", "residuals",
                "jacobians", "factorizations", "events", "time compiling", "time checking",
                "time initialising", "time integrating"):
        assert key in stats
    assert stats["states"] == 2
    assert stats["residuals"] >= stats["steps"] > 1


# -- failures ------------------------------------------------------------------------------------
class StaticFold(Component):
    """A loop whose root ceases to exist after one second: y² = 1 - t."""

    y = Variable("")

    def equations(self):
        yield self.y**2 == 1 - time / quantity("1 s")


class Fold(StaticFold):
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield from super().equations()
        yield der(self.x) == self.y * quantity("1 m/s")


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_steps_too_long_for_an_explicit_method_are_told_of(method):
    """x' = -(1000/s) x: a step of 10 ms multiplies by 1 - 10, or by 291 by rk4."""
    class Decay(Component):
        x = Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x) == -self.x * quantity("1000 1/s")

    with pytest.raises(SimulationError, match="c.x has grown to .* steps of 0.01 s are too long "
                       f"for {method}, as something moves within 0.001 s") as caught:
        alone(Decay()).simulate("1 s", method=method, step="10 ms")
    assert (caught.value.code, caught.value.where) == ("simulation.stiff", "c")
    for other, step in ((method, "1 ms"), ("backward_euler", "10 ms")):
        assert abs(alone(Decay()).simulate("1 s", method=other, step=step)["c.x"].final.m) < 1e-6


@pytest.mark.parametrize(("method", "reason"), [
    ("auto", None), ("dopri5", None), ("DOP853", None), ("Radau", None), ("rk4", "not finite"),
    ("trapezoidal", "Newton's method has not converged in 20 iterations")])
def test_a_run_that_explodes_keeps_what_was_computed_and_is_pickled_without(method, reason):
    model = alone(Explosion())
    with pytest.raises(SimulationError, match=reason) as caught:
        model.simulate("2 s", method=method, step="0.5 ms" if reason else None)
    error = caught.value
    assert not reason or "a shorter step or method='auto' may help" in str(error)
    assert error.time == pytest.approx(1.0, abs=2e-3)
    assert error.variables == ("c.x",)
    assert "c.x" in str(error)
    assert error.result.status == "failed"
    assert error.result["c.x"].at("0.5 s").magnitude == pytest.approx(2.0, rel=1e-4)
    error.data.pop("result")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.time, copy.variables, str(copy)) == (error.time, error.variables, str(error))


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "trapezoidal"])
def test_a_run_whose_loop_loses_its_root_names_it(method):
    model = alone(Fold(y=Target("1", "none")))
    with pytest.raises(SimulationError, match="c.y could not be solved for") as caught:
        model.simulate("2 s", method=method, step="1 ms" if method == "trapezoidal" else None)
    error = caught.value
    assert error.time == pytest.approx(1.0, abs=5e-3)
    assert "c.y" in error.variables
    exact = 2 / 3 * (1 - 0.5**1.5)
    assert error.result["c.x"].at("0.5 s").magnitude == pytest.approx(exact, abs=1e-4)


def test_a_model_without_states_fails_in_the_same_way():
    with pytest.raises(SimulationError, match="c.y could not be solved for") as caught:
        alone(StaticFold(y=Target("1", "none"))).simulate("2 s")
    assert caught.value.time == pytest.approx(1.0, abs=0.02)
    assert caught.value.result["c.y"].at("0.75 s").magnitude == pytest.approx(0.5)


# -- interruption --------------------------------------------------------------------------------
class Interrupting:
    """A progress display whose user presses Ctrl-C after half the run."""

    def __init__(self, wanted, t0, t1):
        self.until = (t0 + t1) / 2

    def __enter__(self):
        def show(t):
            if t > self.until:
                raise KeyboardInterrupt

        return show

    def __exit__(self, *error):
        return None


@pytest.mark.parametrize("method", ["RK23", "Radau"])
def test_an_interrupted_run_tells_what_was_computed(method, monkeypatch):
    monkeypatch.setattr("blocks.simulation.run.Progress", Interrupting)
    with pytest.raises(KeyboardInterrupt, match=r"interrupted at t = .* is this error's") as told:
        oscillator().simulate("20 s", method=method, rtol=1e-9)
    run = told.value.result
    reached = run.time.to("s").magnitude[-1]
    assert run.status == "interrupted"
    assert 10 < reached < 15
    assert "interrupted at t = " in run.message
    assert final(run, "spring.x") == pytest.approx(np.sin(2 * reached) / 2, abs=1e-6)


def broken_off(error, act, monkeypatch, **options):
    """The error of a run whose equations do something at the first evaluation after 5 s."""
    model, original, done = oscillator(), Problem.arguments, []
    model.simulate("1 ms", method=options["method"])

    def arguments(self, t):
        if t > 5.0 and not done:
            done.append(t)
            act()
        return original(self, t)

    with monkeypatch.context() as patched, pytest.raises(error) as told:
        patched.setattr(Problem, "arguments", arguments)
        model.simulate("20 s", **options)
    return told.value


def pressed():
    raise KeyboardInterrupt


def taken_for_another_error():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise NotImplementedError("Wrong number or type of arguments") from None


@pytest.mark.parametrize(("method", "act"), [
    ("ode45", pressed), ("Radau", pressed), ("ode45", taken_for_another_error)])
def test_an_interrupt_within_an_evaluation_tells_what_was_computed(method, act, monkeypatch):
    run = broken_off(Interrupted, act, monkeypatch, method=method, rtol=1e-9).result
    assert run.status == "interrupted"
    assert 3 < run.time.to("s").magnitude[-1] < 7
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("method", ["ode45", "Radau", "ode23s"])
def test_an_exception_of_the_equations_stops_the_run_with_all_before(method, monkeypatch):
    error = broken_off(SimulationError, lambda: float(""), monkeypatch, method=method, rtol=1e-6)
    assert "ValueError: could not convert string to float: ''. Look" in str(error)
    assert isinstance(error.__cause__, ValueError)
    assert 3 < error.result.time.to("s").magnitude[-1] < 5


def test_an_interrupt_in_a_wrapper_of_casadi_is_raised_after_it():
    wrapper = {"__name__": "casadi.casadi", "signal": signal}
    exec("def shape():\n    signal.raise_signal(signal.SIGINT)\n    return 1, 1", wrapper)
    with pytest.raises(KeyboardInterrupt), interruptible():
        assert wrapper["shape"]() == (1, 1)
        for _ in range(1000):
            clock.sleep(0.01)


def test_nothing_comes_behind_an_interrupt_that_is_tried_again(monkeypatch):
    """The second try may be on its way where the first one has been seen by other means."""
    began = threading.Event()

    def late():
        began.set()
        clock.sleep(0.05)
        _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt), interruptible():
        again = threading.Timer(0, late)
        monkeypatch.setattr(interrupts, "_again", again)
        monkeypatch.setattr(interrupts, "_pressed", interrupts._pressed + 1)
        again.start()
        began.wait()
    clock.sleep(0.2)


def test_a_script_ends_as_it_says_after_an_interrupt_in_a_text_that_is_executed():
    """Python would end it by the signal, with nothing said of it."""
    script = """
from blocks import Model
from blocks.simulation.events import Opening
from library.translational import Mass
model = Model("one")
model.block = Mass()
Opening.begin = lambda self: exec("raise KeyboardInterrupt")
try:
    model.simulate("1 s")
except KeyboardInterrupt as stopped:
    print(stopped.result.status)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "interrupted\n")


@pytest.mark.parametrize("pressed_in", [
    "blocks.model.Model.compile", "blocks.simulation.run.GivenValues",
    "blocks.simulation.run.chosen_method"])
def test_an_interrupt_before_the_first_step_says_so(pressed_in, monkeypatch):
    def pressed(*given, **more):
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("goes on")

    monkeypatch.setattr(pressed_in, pressed)
    with pytest.raises(Interrupted, match="interrupted before the first step") as told:
        oscillator().simulate("1 s")
    assert told.value.result is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_at_the_start_leaves_the_start(monkeypatch):
    monkeypatch.setattr(Opening, "begin", lambda self: pressed())
    with pytest.raises(Interrupted) as told:
        oscillator().simulate("20 s")
    run = told.value.result
    assert run.status == "interrupted"
    assert run.time.magnitude.tolist() == [0.0]


def test_one_interrupt_ends_a_loop_of_runs(monkeypatch):
    """What a user at the prompt or in a notebook takes it for; results before are there."""
    model, finished, begin = oscillator(), [], Opening.begin

    def pressed_in_the_third(self):
        if len(finished) == 2:
            signal.raise_signal(signal.SIGINT)
        begin(self)

    monkeypatch.setattr(Opening, "begin", pressed_in_the_third)
    with pytest.raises(KeyboardInterrupt):
        for stiffness in (1.0, 2.0, 3.0, 4.0):
            model.spring.stiffness = quantity(stiffness, "N/m")
            finished.append(model.simulate("1 s"))
    assert [run.status for run in finished] == ["finished", "finished"]


# -- runs again --------------------------------------------------------------------------------
def test_values_and_targets_change_without_a_new_assembly():
    model = oscillator("0 N*s/m")
    model.simulate("1 s")
    compiled = model.compile()
    for m, k, v, x in ((2.0, 8.0, 3.0, 0.0), (0.5, 2.0, -1.0, 0.0), (3.0, 27.0, 2.0, 1.0)):
        model.body.mass, model.spring.stiffness = quantity(m, "kg"), quantity(k, "N/m")
        model.body.v, model.spring.x = quantity(v, "m/s"), quantity(x, "m")
        w, run = np.sqrt(k / m), model.simulate("1 s", rtol=1e-10)
        assert model.compile() is compiled
        exact = x * np.cos(w) + v / w * np.sin(w)
        assert final(run, "spring.x") == pytest.approx(exact, rel=1e-7)


def test_a_result_keeps_the_values_it_was_computed_with():
    model = oscillator()
    first = model.simulate("1 s", rtol=1e-10)
    model.spring.stiffness, model.body.mass = "100 N/m", "1 kg"
    model.simulate("1 s")
    assert final(first, "spring.x") == pytest.approx(np.sin(2) / 2, rel=1e-7)
    assert final(first, "spring.f") == pytest.approx(4 * np.sin(2), rel=1e-7)


@pytest.mark.parametrize("before", [
    lambda model: None, lambda model: model.check(), lambda model: model.simulate("1 s"),
    lambda model: model.simulate("1000 s")])  # fmt: skip
def test_a_run_gives_the_same_bits_whatever_was_asked_of_the_model_before(before):
    def heated():
        model = Model("radiating nodes without mass")
        model.hot, model.cold = (th.TemperatureSource(temperature=T) for T in ("800 K", "300 K"))
        model.body, model.radiation = th.ThermalMass(), th.RadiativeHeatTransfer(count=3)
        model.bars = th.ConductiveHeatTransfer(count=4)
        model.connect(model.hot.A, model.bars[0].A)
        for i in range(3):
            model.connect(model.bars[i].B, model.bars[i + 1].A, model.radiation[i].A)
        wire(model, "bars[3].B body.M", "radiation.B cold.A")
        return model

    model = heated()
    before(model)
    run, alone = model.simulate("1000 s"), heated().simulate("1000 s")
    for path in ("bars.T", "bars.Q", "body.T"):
        assert run[path].magnitude.tobytes() == alone[path].magnitude.tobytes()


def test_a_changed_structure_is_assembled_anew():
    model = oscillator()
    compiled = model.compile()
    model.simulate("1 s")
    wire(model, "extra.M body.M", extra=Mass(mass="6 kg"))
    run = model.simulate("1 s", rtol=1e-10)
    assert model.compile() is not compiled
    assert final(run, "spring.x") == pytest.approx(np.sin(1), rel=1e-7)
    changed = model.compile()
    model.spring.law = "table"
    model.simulate("1 s")
    assert model.compile() is not changed
