"""Exact steps of linear equations: matrix exponentials, closed forms, switches, who takes them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.optimize import brentq

from benchmarks.domains import ladder
from benchmarks.models import Buck, alone, block_on_belt, stick_slip
from blocks import (
    Component,
    Discrete,
    Model,
    Parameter,
    ParameterError,
    Variable,
    breakpoints,
    cos,
    der,
    floor,
    quantity,
    sin,
    time,
    when,
    where,
)
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
)
from library.signal import Gain, Step
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
)
from library.translational.domain import TwoPort

pytest.importorskip("llvmlite")

from blocks.native import exact_steps  # noqa: E402
from blocks.native.exponentials import (  # noqa: E402
    add_kept_shift,
    composed_shift,
    length_to,
    present_mode,
    span_of,
)
from blocks.native.kept_matrices import LOOKED_AT, most_modes  # noqa: E402
from blocks.native.linearity import degrees  # noqa: E402
from blocks.native.method import Exact  # noqa: E402
from blocks.native.oscillations import oscillations_in  # noqa: E402
from blocks.native.stages import ATOL, NEW  # noqa: E402
from blocks.native.step_control import count_up_to  # noqa: E402
from blocks.native.steps import EXACT, slope_at, workspace  # noqa: E402

PER_SECOND = quantity("1 1/s")


def at(run, name, times):
    return run[name].at(quantity(times, "s")).magnitude


# -- matrices -----------------------------------------------------------------------------------
def room(a, c):
    """Work space whose equations are x' = a x + c t."""
    work = workspace(len(a), EXACT)
    work.linear[: len(a)], work.linear[len(a)] = a, c
    work.k[ATOL] = 1e-8
    return work


def moved(a, c, h, slope):
    """The same by the exponential of the equations with their slope and time as states."""
    n = len(a)
    whole = np.zeros((n + 2, n + 2))
    whole[:n, :n], whole[:n, n], whole[:n, n + 1] = a, slope, c
    whole[n, n + 1] = 0.0
    step, in_time = np.zeros((n + 1, n + 1)), np.zeros((n + 2, n + 2))
    step[:n, :n], step[:n, n] = a, slope
    in_time[:n, :n], in_time[:n, n], in_time[n, n + 1] = a, c, 1.0
    return expm(step * h)[:n, n] + expm(in_time * h)[:n, n + 1]


@pytest.mark.parametrize("n", [1, 2, 5, 20])
@pytest.mark.parametrize("h", [1e-4, 0.5, 1.7, 9.0])
def test_motions_are_those_of_the_matrix_exponential(n, h):
    generator = np.random.default_rng(n)
    a = generator.normal(size=(n, n)) - 2 * np.eye(n)
    c, slope = generator.normal(size=(2, n))
    work, out = room(a, c), np.empty(n)
    mode = present_mode(work)
    expected = moved(a, c, h, slope)
    composed_shift(work, mode, h, slope, out)
    assert_allclose(out, expected, rtol=1e-12, atol=1e-13 * abs(expected).max())
    assert [span_of(work, mode, 0.0, h) for _ in range(3)] == [-1, -1, 0]  # it comes again
    for place in range(LOOKED_AT):
        expected, out = moved(a, c, length_to(work, mode, place, h), slope), np.zeros(n)
        add_kept_shift(work, mode, 0, place, slope, out)
        assert_allclose(out, expected, rtol=1e-12, atol=1e-13 * abs(expected).max())


def test_machine_code_and_python_make_the_same_matrices():
    generator = np.random.default_rng(3)
    a, (c, slope) = generator.normal(size=(3, 3)), generator.normal(size=(2, 3))
    out = np.empty((2, 3))
    for k, (find, go) in enumerate([(present_mode, composed_shift),
                                    (present_mode.python, composed_shift.python)]):
        work = room(a, c)
        go(work, find(work), 0.73, slope, out[k])
    assert_allclose(out[0], out[1], rtol=1e-14)


def test_units_make_no_matrix_large():
    """A spring of 1e12 N/m at a mass of 1e6 kg: 1e3 1/s, whatever stands in the matrix."""
    k, m, h = 1e12, 1e6, 1e-3
    work, out = room(np.array([[0, 1], [-k / m, 0]]), np.zeros(2)), np.empty(2)
    composed_shift(work, present_mode(work), h, np.array([1.0, 0.0]), out)
    w = np.sqrt(k / m)
    assert_allclose(out, [np.sin(w * h) / w, np.cos(w * h) - 1], rtol=1e-14)
    assert work.marks[0, 2] < 1.1 * w


def test_slow_motions_keep_their_digits_beside_fast_ones():
    """x' = -1e12 x + y, y' = -y: over a second, with 41 doublings."""
    work, out = room(np.array([[-1e12, 1.0], [0.0, -1.0]]), np.zeros(2)), np.empty(2)
    composed_shift(work, present_mode(work), 1.0, np.array([1.0, -1.0]), out)
    y = np.expm1(-1.0)
    assert_allclose(out, [1e-12 + (1e-12 + y) / (1e12 - 1), y], rtol=1e-14)


def test_modes_come_back_and_the_oldest_goes():
    work = room(np.eye(2), np.zeros(2))
    assert present_mode(work) == 0
    for k in range(1, most_modes(2)):
        work.linear[0, 0] = 1.0 + k
        assert present_mode(work) == k
    work.linear[0, 0] = 3.0
    assert present_mode(work) == 2
    work.linear[0, 0] = -1.0
    assert present_mode(work) == 0  # in the place of the first
    work.linear[0, 0] = 3.0
    assert present_mode(work) == 2


def test_coefficients_that_are_no_numbers_give_none():
    work, out = room(np.array([[np.nan]]), np.zeros(1)), np.empty(1)
    composed_shift(work, present_mode(work), 1.0, np.ones(1), out)
    assert np.isnan(out).all()


def test_steps_are_the_same_in_machine_code_and_in_python():
    problem = oscillator().simulate("1 ms").recording.problem
    y = problem.start_vector()
    method = Exact(problem, 0.0, y, t_end=1.0, rtol=1e-6, atol=np.full(y.size, 1e-8))
    work, k, x = method.work_space.record, method.k, method.x
    slope_at(method.code, work, 0.0, x, k[0])
    taken, slopes = [], []
    for take in 2 * (exact_steps.take_exact_step, exact_steps.take_exact_step.python):
        slopes.append(take(method.code, work, 0.0, 1e-2, x, False))
        taken.append(k[1 : NEW + 1].copy())
    for a, b in (taken[:2], taken[2:]):
        assert_allclose(a[[0, 1, 2, 5, 7]], b[[0, 1, 2, 5, 7]], rtol=1e-12)
    assert_allclose(taken[2][[0, 1, 2, 7]], taken[0][[0, 1, 2, 7]], rtol=1e-12)
    assert slopes == [3, 3, 0, 0]  # from the third on matrices are kept of the step


# -- smooth motions -----------------------------------------------------------------------------
def oscillator(stiffness="1 kN/m", damping="10 N*s/m", force=None):
    model = Model("oscillator")
    model.block, model.spring = Mass(mass="1 kg", v="1 m/s"), Spring(stiffness=stiffness)
    model.damper, model.ground = Damper(damping=damping), Reference()
    model.connect(model.block.M, model.spring.R, model.damper.R)
    model.connect(model.spring.C, model.damper.C, model.ground.V)
    if force is not None:
        model.push = ForceSource(force=force)
        model.connect(model.push.R, model.block.M)
        model.connect(model.push.C, model.ground.V)
    return model


def test_an_oscillation_is_exact_between_the_steps_too():
    run = oscillator().simulate("2 s", method="exact")
    t, w = np.linspace(0, 2, 777), np.sqrt(975.0)
    v = np.exp(-5 * t) * (np.cos(w * t) - 5 / w * np.sin(w * t))
    assert_allclose(at(run, "block.v", t), v, rtol=0, atol=3e-15)
    per_period = run.statistics["steps"] / (2 * w / (2 * np.pi))
    assert 8 < per_period < 40  # for who looks at them
    assert run.energy().relative_residual < 1e-8


def test_a_force_that_grows_with_time_is_exact():
    run = oscillator(force=lambda t: quantity("3 N/s") * t).simulate("2 s", method="exact")
    t, w = np.linspace(0, 2, 333), np.sqrt(975.0)
    # x = (3 t - 3 d / k) / k + transient, and what is free as above
    v0 = 1 - 3e-3
    transient = np.exp(-5 * t) * (3e-5 * np.cos(w * t) + (v0 + 5 * 3e-5) / w * np.sin(w * t))
    assert_allclose(at(run, "spring.x", t), 3e-3 * t - 3e-5 + transient, rtol=0, atol=1e-15)


class InARow(Component):
    """Three integrators in a row, driven by a signal that grows: no rate is there at all."""

    x, v, a = Variable("m", "0 m"), Variable("m/s", "0 m/s"), Variable("m/s^2", "0 m/s^2")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == self.a
        yield der(self.a) == quantity("3 m/s^3") + quantity("8 m/s^4") * time


@pytest.mark.parametrize("end", ["1/64 s", "0.3 s", "7 s", "1000 s"])
def test_integrators_in_a_row(end):
    model = Model("row")
    model.part = InARow()
    t = 1 / 64 if "/" in end else float(end.split()[0])
    run = model.simulate(quantity(t, "s"), method="exact")
    assert_allclose([run[f"part.{k}"].final.m for k in "xva"],
                    [t**3 / 2 + t**4 / 3, 1.5 * t**2 + 4 * t**3 / 3, 3 * t + 4 * t**2], rtol=1e-12)
    at = t * np.linspace(0.05, 0.95, 19)
    assert_allclose(run["part.x"].at(quantity(at, "s")).m, at**3 / 2 + at**4 / 3, rtol=1e-11)


@pytest.mark.parametrize("stiff", [1.0, 1e6])
def test_a_chain_is_the_exponential_of_its_matrix(stiff):
    n, d = 12, 0.5
    k = 1e3 * np.where(np.arange(n) % 2, stiff, 1.0)
    model = Model("chain")
    model.masses, model.ground = Mass(count=n), Reference()
    model.springs, model.dampers = Spring(count=n, stiffness=quantity(k, "N/m")), Damper(
        count=n, damping=f"{d} N*s/m")
    model.push = ForceSource(force="1 N")
    model.connect(model.springs.R, model.dampers.R, model.masses.M)
    model.connect(model.springs[1:].C, model.dampers[1:].C, model.masses[:-1].M)
    model.connect(model.springs[0].C, model.dampers[0].C, model.ground.V, model.push.C)
    model.connect(model.push.R, model.masses[-1].M)
    run = model.simulate("0.5 s", method="exact", max_step="20 ms")
    ends = np.eye(n) - np.eye(n, k=-1)  # strain rates by velocities
    a = np.zeros((2 * n + 1, 2 * n + 1))
    a[:n, n:-1] = ends
    a[n:-1, :n], a[n:-1, n:-1] = -ends.T * k, -d * ends.T @ ends
    a[2 * n - 1, -1] = 1.0
    for t in (0.1234, 0.5):
        expected = expm(a * t)[:-1, -1]
        v = np.array([at(run, f"masses[{i}].v", t) for i in range(n)])
        assert_allclose(v, expected[n:], rtol=0, atol=2e-12 * abs(expected[n:]).max() * stiff**0.5)


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-280, 1e280))
def test_lengths_of_steps_are_powers_of_two(h):
    found = exact_steps.whole_power(h)
    assert np.frexp(found)[0] == 0.5 and found == exact_steps.whole_power.python(h)
    assert found <= h * (1 + 2e-9) < 2 * found * (1 + 2e-9)
    assert exact_steps.whole_power(found * (1 - 1e-12)) == found  # but for rounding


@given(st.lists(st.floats(-5, 5), max_size=40), st.floats(-6, 6), st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_not_after_a_time_is_counted_from_wherever_it_was_before(values, t, data):
    ascending = np.sort(np.array(values, dtype=float))
    count = int(np.searchsorted(ascending, t, side="right"))
    before = data.draw(st.integers(0, count))
    assert count_up_to(ascending, t, before) == count_up_to.python(ascending, t, before) == count


# -- switches -----------------------------------------------------------------------------------
def test_a_converter_ends_where_its_exact_solution_does():
    # to the last digits of the reference; one step for each position of the switches
    run = alone(Buck()).simulate("10 ms", method="exact")
    assert_allclose(run["part.i"].final.magnitude, 1.61762457195, atol=1e-11)
    assert_allclose(run["part.vc"].final.magnitude, 11.2392811227, atol=1e-10)
    assert run.statistics["steps"] < 1100
    periods = np.unique([e.time for e in run.events]) / 10e-6
    own = periods[np.abs(periods - np.round(periods)) > 1e-6]  # of the diode, not with the switch
    assert len(own) == 12


def test_exact_friction_sticks_and_slips_at_the_times_of_the_closed_form():
    # friction of 5 N takes it along to the belt's 0.2 m/s; it sticks until the spring pulls with
    # 25 N, and slides on a circle about 50 mm until it has the belt's speed again
    run = block_on_belt().simulate("2 s", method="exact")
    sticks = np.arcsin(0.4) / 10
    slides = sticks + (0.25 - 0.05 * (1 - np.sqrt(1 - 0.4**2))) / 0.2
    again = slides + (np.pi - np.arctan(10)) / 5
    assert_allclose([e.time for e in run.events], [sticks, slides, again], rtol=0, atol=1e-13)
    t = np.linspace(0, again - slides, 50)
    v = 0.2 * np.cos(10 * t) - 2 * np.sin(10 * t)
    assert_allclose(at(run, "block.v", slides + t), v, rtol=0, atol=1e-12)


class Bell(Component):
    """Rings at 2^20 1/s once it is struck, and counts how often it passes half of its swing."""

    x, v = Variable("1", 0, priority="high"), Variable("1", 0, priority="high")
    slow = Variable("1", 1, priority="high")
    number = Discrete("1", 0)
    struck = Discrete("1", 0)

    def equations(self):
        w = 2 * np.pi * 2.0**20 * PER_SECOND
        yield der(self.x) == w * self.v
        yield der(self.v) == -w * self.x
        yield der(self.slow) == -PER_SECOND * self.slow
        yield when(time > quantity("0.5 s"), {self.v: 1.0})
        yield when(self.x > 0.5, {self.number: self.number + 1})


def test_what_swings_exactly_as_often_as_it_is_looked_at_is_seen():
    """Before, nothing moves but a slow decay, and a step takes many thousand of its periods."""
    run = alone(Bell()).simulate(quantity(0.5 + 40.5 * 2.0**-20, "s"), method="exact")
    assert run["part.number"].final.magnitude == 41
    assert run.statistics["steps"] < 3000


# -- who takes it -------------------------------------------------------------------------------
class Drag(TwoPort):
    """f = d v + c v^3."""

    linear, cubic = Parameter("10 N*s/m"), Parameter("0 N*s^3/m^3")

    def equations(self):
        yield self.f == self.linear * self.v + self.cubic * self.v**3


def dragged(**given):
    model = oscillator()
    model.drag = Drag(**given)
    model.connect(model.drag.R, model.block.M)
    model.connect(model.drag.C, model.ground.V)
    return model


def test_a_law_that_is_not_linear_is_refused_by_name():
    with pytest.raises(ParameterError, match=r"exact.*der\(block.v\) is not linear.*f == .*cubic.* "
                                             r"of drag"):
        dragged(cubic="1 N*s^3/m^3").simulate("1 s", method="exact")
    with pytest.raises(ParameterError, match="constant coefficients, by .* of friction"):
        stick_slip().simulate("1 s", method="exact")
    # the square of a sine, and a sine that does not go on evenly, obey no linear equations
    for law in (lambda t: sin(t * PER_SECOND) ** 2, lambda t: sin((t * PER_SECOND) ** 2)):
        with pytest.raises(ParameterError, match="constant coefficients, by a function of time"):
            oscillator(force=lambda t, law=law: quantity("1 N") * law(t)).simulate(
                "1 s", method="exact")


def test_a_term_without_a_coefficient_is_no_term():
    one, other = dragged(), oscillator(damping="20 N*s/m")
    ends = [m.simulate("1 s", method="exact")["block.v"].final.magnitude for m in (one, other)]
    assert_allclose(ends[0], ends[1], rtol=1e-13)


def test_more_states_than_a_full_matrix_serves_are_refused():
    model = Model("bodies")
    model.masses, model.springs, model.ground = Mass(count=30), Spring(count=30), Reference()
    model.connect(model.springs.R, model.masses.M)
    model.connect(model.springs.C, model.ground.V)
    with pytest.raises(ParameterError, match="exact.*more than 50 states"):
        model.simulate("1 s", method="exact")


def test_auto_takes_it_for_what_is_linear_small_or_stiff_and_long_enough():
    assert oscillator().simulate("1 s").statistics["method"] == "ode45"  # loading takes longer
    long = oscillator().simulate("2000 s").statistics
    assert long["method"] == "exact" and "linear with constant coefficients" in long["why"]
    assert oscillator(damping="1 GN*s/m").simulate("10 s").statistics["method"] == "exact"
    assert block_on_belt().simulate("2 s").statistics["method"] == "exact"
    assert alone(Buck()).simulate("0.1 ms").statistics["method"] == "exact"
    rests = dragged(cubic="1 N*s^3/m^3").simulate("2000 s").statistics
    assert rests["method"] == "dopri5, then rodas4"  # when it has come to rest


def test_the_degree_of_an_expression_is_read_off_its_operations():
    x, p = ca.SX.sym("x"), ca.SX.sym("p")
    for expression, degree in [
        (p**3 + ca.sin(p), 0), (3 * x - p * x / ca.sqrt(p), 1), (ca.if_else(p > 0, x, -2 * x), 1),
        (x * x, 2), (x / (x + p), 2), (ca.fabs(x), 2), (ca.floor(x), 2), (ca.sign(x), 2),
        (ca.if_else(x > 0, p, 1), 2), (ca.fmin(x, p), 2), (p * x + ca.sin(x), 2),
    ]:  # fmt: skip
        (found,) = degrees(ca.Function("f", [x, p], [ca.SX(expression)]), [0])
        assert found.tolist() == [degree], expression


# -- many unknowns, many modes --------------------------------------------------------------------
def test_more_than_300_unknowns_have_the_derivatives_of_their_few_states():
    """An oscillator pushed through 400 gains of one, and held back through 400 others."""
    model = Model("many unknowns")
    model.mass, model.frame, model.sensor = Mass(mass="1 kg"), Reference(), MotionSensor()
    model.push, model.held = ForceSource(), ForceSource()
    model.step, model.force = Step(final="10 N", start="1 s"), Gain(count=400, input="N", gain=1.0)
    model.way = Gain(count=400, input="m", gain=1.0)
    model.stiffness = Gain(input="m", gain="-100 N/m")
    for chain, first, last in ((model.force, model.step.y, model.push.S),
                               (model.way, model.sensor.P, model.stiffness.u)):
        model.connect(first, chain[0].u)
        model.connect(chain[:-1].y, chain[1:].u)
        model.connect(chain[-1].y, last)
    model.connect(model.stiffness.y, model.held.S)
    model.connect(model.mass.M, model.push.R, model.held.R, model.sensor.R)
    model.connect(model.frame.V, model.push.C, model.held.C, model.sensor.C)
    run = model.simulate("3 s", method="exact")
    times = np.linspace(1, 3, 9)
    assert_allclose(at(run, "sensor.x", times), 0.1 * (1 - np.cos(10 * (times - 1))), atol=1e-12)


class Fading(Component):
    """Fades fast in the first half of a period of its own, and slowly in the second; and a twin
    that is stiff."""

    period = Parameter("1 ms")
    x, y = Variable("1", 1, priority="high"), Variable("1", 0, priority="high")

    def equations(self):
        phase = time / self.period
        yield breakpoints(0 * self.period, self.period / 2)
        yield der(self.x) == -where(phase - floor(phase) < 0.5, 3, 1) * PER_SECOND * self.x
        yield der(self.y) == 1e6 * PER_SECOND * (self.x - self.y)


def test_more_modes_than_matrices_are_kept_of_are_left_to_another_method():
    model = Model("many modes")
    periods = np.sqrt(np.arange(12) + 2.3) * 1e-2
    model.pieces = Fading(count=12, period=quantity(periods, "s"))
    run = model.simulate("1 s")
    assert run.statistics["method"] == "exact, then rodas4"
    assert "more modes than matrices are kept of" in run.statistics["why"]
    fast = np.floor(1 / periods) * periods / 2 + np.minimum(1 % periods, periods / 2)
    assert_allclose(run["pieces.x"].final.m, np.exp(-3 * fast - (1 - fast)), rtol=1e-6)


# -- what oscillates from outside ---------------------------------------------------------------
def steady_and_free(t, w, force, k=1000.0, d=10.0, v0=1.0):
    """Velocity of 1 kg on a spring and a damper, pushed by the imaginary part of force exp(jwt)."""
    amplitude = 1j * w * force / (k - w**2 + 1j * w * d)
    x0 = (amplitude / (1j * w)).imag  # x starts at 0
    free, start = np.sqrt(k - d**2 / 4), v0 - amplitude.imag
    a = -x0
    b = (start + d / 2 * a) / free
    away = np.exp(-d / 2 * t)
    moving = away * ((b * free - d / 2 * a) * np.cos(free * t)
                     - (a * free + d / 2 * b) * np.sin(free * t))
    return (amplitude * np.exp(1j * w * t)).imag + moving


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("w", [0.1, 7.0, 31.0, 2000.0])
def test_a_sine_of_time_is_exact(w, rtol):
    def force(t):
        angle = t * quantity(w, "rad/s")
        return quantity("3 N") * sin(angle) + quantity("2 N") * cos(angle + 0.5)

    run = oscillator(force=force).simulate("2 s", method="exact", rtol=rtol)
    t = np.linspace(0, 2, 777)
    expected = steady_and_free(t, w, 3 + 2j * np.exp(0.5j))
    assert_allclose(at(run, "block.v", t), expected, rtol=0, atol=2e-13)
    assert abs(run.energy().relative_residual) < 1e-7


def test_a_sine_at_the_frequency_of_what_it_drives_is_exact():
    run = oscillator(damping="0 N*s/m", stiffness="100 N/m", force=lambda t: quantity(
        "2 N") * cos(t * quantity("10 rad/s"))).simulate("20 s", method="exact")
    t = np.linspace(0, 20, 333)
    v = np.cos(10 * t) + np.sin(10 * t) / 10 + t * np.cos(10 * t)  # x = sin(10 t)(1 + t) / 10
    assert_allclose(at(run, "block.v", t), v, rtol=0, atol=1e-11)


def test_exact_steps_of_a_tight_tolerance_are_no_shorter():
    def steps(rtol):
        return oscillator(force=lambda t: quantity("3 N") * sin(t * quantity("7 rad/s"))).simulate(
            "2 s", method="exact", rtol=rtol).statistics["steps"]

    assert 2 * steps(1e-3) < steps(1e-6) > 0.95 * steps(1e-11)


@pytest.mark.parametrize("peak", [1.0001, 1.01, 1.2, 1.4])
def test_a_break_away_by_a_sine_is_not_missed_while_everything_rests(peak):
    # twice in a period it slips: what sticks again is at rest
    model = Model("at rest")
    model.body, model.floor = Mass(mass="1 kg"), Reference()
    model.rub = TranslationalFriction(law="coulomb", coulomb_force="1 N", breakaway_force="1 N")
    model.load = ForceSource(force=lambda t: quantity(peak, "N") * sin(t * quantity("2 rad/s")))
    model.connect(model.body.M, model.rub.R, model.load.R)
    model.connect(model.floor.V, model.rub.C, model.load.C)
    run = model.simulate(quantity(40 * np.pi, "s"), method="exact")
    slips = [e.time for e in run.events if e.previous == "stuck"]
    expected = np.arcsin(1 / peak) / 2 + np.pi / 2 * np.arange(80)
    assert_allclose(slips, expected, rtol=0, atol=1e-9)


def test_a_half_wave_rectifier_commutates_at_its_closed_form():
    # a coil and a resistor behind a diode: (R sin wt - wL cos wt + wL exp(-t R/L)) U / Z^2
    model = Model("rectifier")
    model.mains, model.ground = ACVoltageSource(amplitude="10 V", frequency="50 Hz"), \
        ElectricalReference()
    model.diode, model.coil = Diode(model="ideal"), Inductor(inductance="10 mH")
    model.load = Resistor(resistance="2 ohm")
    model.connect(model.mains.p, model.diode.p)
    model.connect(model.diode.n, model.coil.p)
    model.connect(model.coil.n, model.load.p)
    model.connect(model.load.n, model.mains.n, model.ground.V)
    run = model.simulate("19 ms")
    assert run.statistics["method"] == "exact"
    w, r, x = 100 * np.pi, 2.0, np.pi

    def current(t):
        return 10 / (r**2 + x**2) * (r * np.sin(w * t) - x * np.cos(w * t) + x * np.exp(-200 * t))

    end = brentq(current, 0.011, 0.019, xtol=1e-15)
    opens = [e.time for e in run.events if e.description == "opens" and e.time > 1e-3]
    assert_allclose(opens, [end], rtol=0, atol=1e-12)
    t = np.linspace(0, end, 99)
    assert_allclose(at(run, "coil.i_L", t), current(t), rtol=0, atol=1e-12)


def test_sines_in_an_algebraic_loop_are_exact():
    # 1 ohm and 2 ohm in series from a source of 3 V, 1 mF across the second: tau = 2/3 ms
    model = Model("divider")
    model.mains, model.ground = ACVoltageSource(amplitude="3 V", frequency="200 Hz"), \
        ElectricalReference()
    model.first, model.second = Resistor(resistance="1 ohm"), Resistor(resistance="2 ohm")
    model.third, model.store = Resistor(resistance="4 ohm"), Capacitor(capacitance="1 mF")
    model.connect(model.mains.p, model.first.p)
    model.connect(model.first.n, model.second.p, model.third.p)
    model.connect(model.third.n, model.store.p)
    model.connect(model.second.n, model.store.n, model.mains.n, model.ground.V)
    run = model.simulate("10 ms", method="exact")
    # seen from the capacitor: 2/3 of the source behind 4 + 2/3 ohm
    w, tau = 400 * np.pi, 1e-3 * (4 + 2 / 3)
    gain = 2 / (1 + 1j * w * tau)
    t = np.linspace(0, 10e-3, 333)
    expected = (gain * np.exp(1j * w * t)).imag - gain.imag * np.exp(-t / tau)
    assert_allclose(at(run, "store.vc", t), expected, rtol=0, atol=1e-13)


def test_runs_that_find_matrices_of_the_run_before_are_the_same_to_the_last_bit():
    model = oscillator(force=lambda t: quantity("3 N") * sin(t * quantity("7 rad/s")))
    first, second = (model.simulate("2 s", method="exact")["block.v"].m for _ in range(2))
    model.simulate("2 s", method="exact", rtol=1e-3)
    model.spring.stiffness = "20 N/m"
    model.simulate("1 s", method="exact")
    model.spring.stiffness = "1000 N/m"
    third = model.simulate("2 s", method="exact")["block.v"].m
    fresh = oscillator(force=lambda t: quantity("3 N") * sin(t * quantity("7 rad/s"))).simulate(
        "2 s", method="exact")["block.v"].m
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert np.array_equal(first, fresh)


def test_equal_angles_are_one_and_what_a_state_turns_is_none():
    t, x, p = (ca.SX.sym(n) for n in "txp")
    found = oscillations_in([t, x, ca.SX(0, 1), p], [ca.vertcat(
        ca.sin(2 * t + p) + ca.cos(2 * t + p), p * ca.sin(3 * p * t), ca.sin(x), ca.sin(t * t),
        ca.sin(p), ca.sin(ca.sin(t)))])
    angles = ca.Function("angles", [t, p], [found.angles])(0.3, 0.7).full()
    assert_allclose(angles.ravel(), [1.3, 0.63, 0.3], rtol=1e-15)
    assert found.symbols.numel() == 6
    values = ca.Function("values", [t, x, p, found.symbols], found.results)
    at_point = ca.Function("sines", [t, p], [found.values])(0.3, 0.7)
    assert_allclose(values(0.3, 1.1, 0.7, at_point).full().ravel(), [
        np.sin(1.3) + np.cos(1.3), 0.7 * np.sin(0.63), np.sin(1.1), np.sin(0.09), np.sin(0.7),
        np.sin(np.sin(0.3))], rtol=1e-15)


def test_auto_follows_what_oscillates_where_the_fastest_motion_has_died_out():
    # ten cells of a ladder: explicit steps follow 4e5 1/s, exact ones the source alone
    run = ladder(10).simulate("3 ms")
    assert run.statistics["method"] == "exact"
    assert run.statistics["steps"] < 100
    ends = [run["capacitors.vc"].final.m[k] for k in (4, 9)]
    assert_allclose(ends, [-1.72605668566, -1.51060312998], rtol=0, atol=1e-11)
