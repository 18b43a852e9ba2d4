"""Every method against closed solutions, in units of the tolerance; trouble, names and courses."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from blocks.exceptions import UnknownName
from blocks.simulation.method_choice import NAMES, named_method
from blocks.solvers import METHODS, Step, Trajectory

from .problems import Chain, decay, make, oscillator, run, stiff

ADAPTIVE = ["Radau", "BDF", "ode45", "ode23s"]
STIFF = SPARSE = ["Radau", "BDF", "ode23s"]
RTOL = 1e-6


def unit(exact, rtol=RTOL, atol=1e-9):
    return atol + rtol * np.max(np.abs(exact))


@pytest.mark.parametrize("name", ADAPTIVE)
def test_decay_ends_within_the_tolerance(name):
    method = make(name, decay(), [1.0], 2.0)
    steps = run(method, 2.0)
    assert not steps[-1].failure
    error = abs(steps[-1].y[0] - np.exp(-2.0)) / unit([1.0])
    assert error < 20
    assert method.work.residuals < 1300
    assert method.work.steps == len(steps)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_oscillator_keeps_its_phase(name):
    method = make(name, oscillator(), [1.0, 0.0], 10.0)
    run(method, 10.0)
    error = np.abs(method.y - oscillator().exact(10.0)).max() / unit([1.0])
    assert error < (150 if name == "ode23s" else 25)
    assert method.work.residuals < (4500 if name == "ode23s" else 1600)


@pytest.mark.parametrize("name", STIFF)
def test_stiff_methods_do_not_pay_for_the_fast_part(name):
    problem = stiff()
    rtol = 1e-4 if name == "ode23s" else RTOL  # of order 2
    method = make(name, problem, problem.exact(0.0), 10.0, rtol=rtol)
    run(method, 10.0)
    assert np.abs(method.y - problem.exact(10.0)).max() < 50 * unit([1.0], rtol)
    limit = {"Radau": 1500, "ode23s": 6000}.get(name, 900)
    assert method.work.residuals < limit  # an explicit method needs above 20,000
    assert method.work.jacobians > 0


@pytest.mark.parametrize("name", METHODS)
def test_steps_join_and_land_exactly_on_every_stop(name):
    method = make(name, oscillator(), [1.0, 0.0], 1.0)
    t = 0.0
    for stop in (1 / 3, 0.7, 0.7 + 1e-9, 1.0):
        while method.t < stop:
            step = method.advance(stop)
            assert not step.failure
            assert step.t_old == t < step.t <= stop
            t = step.t
        assert method.t == stop
    assert np.abs(method.y - oscillator().exact(1.0)).max() < 1e-2


@pytest.mark.parametrize("ulps", [1, 2, 10, 100])
@pytest.mark.parametrize("name", METHODS)
def test_a_stop_next_to_the_start_is_reached(name, ulps):
    method = make(name, oscillator(), [1.0, 0.0], 1.0)
    for fresh in (True, False):
        if fresh:
            method.restart(0.7, np.array([1.0, 0.0]))
        stop = method.t + ulps * np.spacing(method.t)
        while method.t < stop:
            assert not method.advance(stop).failure
        assert method.t == stop
        assert method.y == pytest.approx([1.0, 0.0], abs=1e-12)
    assert not run(method, 1.0)[-1].failure
    assert method.y == pytest.approx(oscillator().exact(0.3), abs=2e-2)


@pytest.mark.parametrize("name", METHODS)
def test_dense_output_is_as_good_inside_a_step_as_at_its_ends(name):
    problem = oscillator()
    method = make(name, problem, [1.0, 0.0], 10.0)
    inside, ends = 0.0, unit([1.0])
    for step in run(method, 10.0):
        t = np.linspace(step.t_old, step.t, 8)
        value = step.dense(t)
        assert value.shape == (2, 8)
        assert step.dense(t[3]).shape == (2,)
        assert value[:, -1] == pytest.approx(step.y, rel=1e-9, abs=1e-12)
        inside = max(inside, np.abs(value - problem.exact(t)).max())
        ends = max(ends, np.abs(step.y - problem.exact(step.t)).max())
    # Radau's cubic is coarser than the method.
    assert inside < {"Radau": 12}.get(name, 1.5) * ends


@pytest.mark.parametrize("name", METHODS)
def test_dense_output_outlives_the_next_step(name):
    method = make(name, oscillator(), [1.0, 0.0], 10.0)
    for _ in range(12):
        step = method.advance(10.0)
    middle = 0.5 * (step.t_old + step.t)
    before = step.dense(middle).copy()
    method.advance(10.0)
    method.restart(0.0, np.array([5.0, 5.0]))
    method.advance(10.0)
    assert np.array_equal(step.dense(middle), before)


@pytest.mark.parametrize("name", METHODS)
def test_restart_forgets_the_past_and_keeps_the_counts(name):
    method = make(name, oscillator(), [1.0, 0.0], 3.0)
    run(method, 1.0)
    steps = method.work.steps
    method.restart(1.0, np.array([0.0, 2.0]))
    run(method, 3.0)
    assert method.work.steps > steps
    exact = 2.0 * np.array([np.sin(2.0), np.cos(2.0)])
    loose = 0.05 if METHODS[name].order == 1 else 3e-4
    assert np.abs(method.y - exact).max() < loose


@pytest.mark.parametrize("name", METHODS)
def test_restart_may_go_back_into_the_last_step(name):
    problem = oscillator()
    method = make(name, problem, [1.0, 0.0], 3.0)
    for _ in range(5):
        step = method.advance(3.0)
    event = step.t_old + 0.4 * (step.t - step.t_old)
    method.restart(event, step.dense(event))
    assert method.advance(3.0).t_old == event
    run(method, 3.0)
    assert np.abs(method.y - problem.exact(3.0)).max() < 0.05


@pytest.mark.parametrize("name", SPARSE)
def test_a_chain_too_long_for_dense_matrices_swings_in_its_first_mode(name):
    chain = Chain(40)
    method = make(name, chain, chain.start(), 2.0, atol=1e-8)
    assert not run(method, 2.0)[-1].failure
    loose = 200 if name in ("trapezoidal", "ode23s") else 30
    assert np.abs(method.y - chain.exact(2.0)).max() < loose * unit([1.0], atol=1e-8)


def test_library_methods_honour_first_and_largest_step():
    for name in ADAPTIVE:
        steps = run(make(name, decay(), [1.0], 1.0, first_step=1e-4, max_step=0.05), 1.0)
        assert steps[0].t - steps[0].t_old <= 1.01e-4
        assert max(s.t - s.t_old for s in steps) <= 0.05 * (1 + 1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_a_trajectory_repeats_the_dense_output(name):
    method = make(name, oscillator(), [1.0, 0.0], 3.0)
    course = Trajectory(0.0, [1.0, 0.0], order=method.order)
    steps = run(method, 3.0)
    for step in steps:
        course.append(step)
    for step in steps[:: max(1, len(steps) // 7)]:
        t = np.linspace(step.t_old, step.t, 9)
        assert course(t) == pytest.approx(step.dense(t), rel=1e-9, abs=1e-10)


# -- trouble is a value -----------------------------------------------------------------------
STOPS_AT = 1.0


class Trapped:
    """y' = -y until t = 1; then the given trouble."""

    size = 2

    def __init__(self, trouble):
        self.trouble = trouble

    def slope(self, t, y):
        if t > STOPS_AT:
            if self.trouble == "nan":
                return np.array([-y[0], np.nan])
            raise self.trouble
        return -y

    def slope_jacobian(self, t, y):
        return sp.csc_matrix(-np.eye(2))

    def residual(self, t, y, slope):
        return slope - self.slope(t, y)

    def residual_jacobian(self, t, y, slope, c):
        return sp.csc_matrix((c + 1.0) * np.eye(2))


@pytest.mark.parametrize("name", METHODS)
def test_an_exception_of_the_equations_ends_as_a_failed_step(name, capfd):
    trouble = FloatingPointError("the oil is too hot")
    method = make(name, Trapped(trouble), [1.0, 2.0], 3.0)
    last = run(method, 3.0)[-1]
    assert last.failure.startswith(f"{name} stopped at t = ")
    assert last.failure.endswith("the equations failed: FloatingPointError: the oil is too hot")
    assert last.cause is trouble
    assert last.t == last.t_old == method.t <= STOPS_AT
    assert method.y == pytest.approx(np.array([1, 2]) * np.exp(-method.t), rel=1e-2)
    assert last.dense(method.t) == pytest.approx(method.y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", METHODS)
def test_nan_ends_as_a_failed_step_near_the_place_that_names_the_unknown(name, capfd):
    method = make(name, Trapped("nan"), [1.0, 2.0], 3.0)
    last = run(method, 3.0)[-1]
    assert "finite" in last.failure or "inf or nan" in last.failure
    assert last.worst == (1,)
    assert method.t == pytest.approx(STOPS_AT, abs=3e-3)
    assert method.work.residuals < 2000
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", METHODS)
def test_a_failed_method_goes_on_after_a_restart(name):
    method = make(name, Trapped(ValueError("no")), [1.0, 2.0], 3.0)
    assert run(method, 3.0)[-1].failure
    method.restart(0.0, np.array([1.0, 2.0]))
    assert not run(method, STOPS_AT)[-1].failure
    assert method.t == STOPS_AT


@pytest.mark.parametrize("name", METHODS)
def test_a_keyboard_interrupt_passes_through(name):
    method = make(name, Trapped(KeyboardInterrupt()), [1.0, 2.0], 3.0)
    with pytest.raises(KeyboardInterrupt):
        run(method, 3.0)


@pytest.mark.parametrize("name", METHODS)
def test_trouble_at_the_very_start_is_a_failed_step_too(name):
    method = make(name, Trapped("nan"), [1.0, 2.0], 3.0)
    method.restart(2.0, np.array([1.0, 2.0]))
    step = method.advance(3.0)
    assert step.failure
    assert step.t == 2.0


# -- names of methods -------------------------------------------------------------------------
def test_every_name_gives_a_method_of_that_name():
    for name in NAMES[1:]:
        assert named_method(name).name == name
        assert named_method(name.upper()) is named_method(name.lower()) is named_method(name)


def test_a_mistyped_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'rodas4'?") as caught:
        named_method("rodas")
    assert caught.value.code == "name.unknown"
    assert caught.value.name == "rodas"
    assert caught.value.nearest[0] == "rodas4"
    assert set(caught.value.known) == set(NAMES)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_name_like_no_other_gets_no_guess():
    with pytest.raises(UnknownName, match="among its methods. The methods are: ") as caught:
        named_method("xyz")
    assert not caught.value.nearest


WITHOUT_LLVM = """
import sys
sys.modules["llvmlite"] = None
from blocks import Model, quantity
from library.translational import Damper, Mass, Reference, Spring

model = Model("oscillator")
model.block, model.ground = Mass(mass="2 kg", v="1 m/s"), Reference()
model.spring, model.damper = Spring(stiffness="200 N/m"), Damper(damping="4 N*s/m")
model.connect(model.block.M, model.spring.R, model.damper.R)
model.connect(model.ground.V, model.spring.C, model.damper.C)
for damping in "4 N*s/m", "4 GN*s/m":
    model.damper.damping = damping
    model.operating_point()
    run = model.simulate("3 s")
    print(run.statistics.method, abs(run["block.v"].final) < quantity("0.1 m/s"))
"""


def test_models_run_without_machine_code_too():
    out = subprocess.run([sys.executable, "-c", WITHOUT_LLVM], capture_output=True, text=True,
                         check=True)
    assert out.stdout.splitlines() == ["ode45 True", "Radau True"]


# -- courses ----------------------------------------------------------------------------------
def step(t_old, t, *functions):
    def dense(times):
        return np.array([f(np.asarray(times)) for f in functions])

    return Step(t_old, t, dense(t), dense)


def ramp():
    """y = t up to 3, in two steps."""
    course = Trajectory(0.0, [0.0])
    course.append(step(0.0, 1.0, lambda t: t))
    course.append(step(1.0, 3.0, lambda t: t))
    return course


def test_a_time_outside_names_the_range():
    text = r"^t = 3\.5 is outside the run, which goes from 0 to 3$"
    with pytest.raises(ValueError, match=text):
        ramp()([1.0, 3.5])
    with pytest.raises(ValueError, match="outside"):
        ramp()(np.nan)


def test_polynomials_up_to_the_order_are_exact_in_any_order_of_the_times():
    course = Trajectory(0.0, [0.0, 1.0], order=5)
    for a in range(10):
        course.append(step(float(a), a + 1.0, lambda t: t**5 / 1e4, lambda t: 1 - t + t**2))
    t = np.random.default_rng(1).uniform(0, 10, 5000)
    assert course(t) == pytest.approx(np.array([t**5 / 1e4, 1 - t + t**2]), rel=1e-12, abs=1e-12)
    assert course(t.reshape(50, 100)).shape == (2, 50, 100)


def test_an_event_inside_a_step_cuts_it():
    course = Trajectory(0.0, [0.0])
    course.append(step(0.0, 1.0, lambda t: t**3), until=0.5)
    assert course.end == 0.5
    assert course(0.5) == 0.125
    assert course(0.3) == pytest.approx(0.027)
    course.append(step(0.5, 2.0, lambda t: t**3))
    assert course(1.7) == pytest.approx(1.7**3)


def test_what_is_forgotten_is_refused_and_steps_go_on():
    course = ramp()
    course.forget()
    assert (course.start, course.end, list(course.t)) == (0.0, 3.0, [3.0])
    course.append(step(3.0, 4.0, lambda t: t))
    assert course([3.0, 3.5]).tolist() == [[3.0, 3.5]]
    with pytest.raises(ValueError, match="goes from 3 to 4"):
        course(2.0)
