"""A course is exact at the ends of steps and smooth inside, and thinned it says how exact."""

import numpy as np
import pytest

from blocks.solvers import Step, Trajectory
from blocks.solvers.interpolation import chebyshev_nodes


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


def test_the_ends_of_steps_are_known():
    assert list(ramp().t) == [0.0, 1.0, 3.0]
    assert ramp()(ramp().t).tolist() == [[0.0, 1.0, 3.0]]
    assert ramp().start == 0.0 and ramp().end == 3.0


def test_a_course_without_steps_knows_its_start():
    course = Trajectory(2.0, [4.0, 5.0])
    assert course(2.0).tolist() == [4.0, 5.0]
    assert course([2.0, 2.0]).shape == (2, 2)
    assert list(course.t) == [2.0]


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
    expected = [t**5 / 1e4, 1 - t + t**2]
    assert course(t) == pytest.approx(np.array(expected), rel=1e-12, abs=1e-12)
    assert course(t.reshape(50, 100)).shape == (2, 50, 100)


def test_an_event_inside_a_step_cuts_it():
    course = Trajectory(0.0, [0.0])
    course.append(step(0.0, 1.0, lambda t: t**3), until=0.5)
    assert course.end == 0.5
    assert course(0.5) == 0.125
    assert course(0.3) == pytest.approx(0.027)
    course.append(step(0.5, 2.0, lambda t: t**3))
    assert course(1.7) == pytest.approx(1.7**3)


def exponential(steps=128):
    course = Trajectory(0.0, [1.0], order=5)
    for a in range(steps):
        course.append(step(a / steps, (a + 1) / steps, lambda t: np.exp(3 * t)))
    return course


def test_thinning_halves_the_memory_and_tells_what_it_costs():
    course, t, before = exponential(), np.linspace(0, 1, 999), 0.0
    held = course.nbytes
    for together in (2, 4, 8, 16, 32):
        told = course.thin()
        error = np.abs(course(t)[0] - np.exp(3 * t)).max()
        assert len(course.t) == 128 // together + 1
        assert told >= before
        assert error < 3 * told + 1e-13  # told is the error at ends of steps that are gone
        before = told
    assert course.nbytes < held / 16
    assert 1e-7 < before < 1e-4  # the sixth power of the step: 32 of 1/128, of exp(3 t)
    assert np.array_equal(course(course.t)[0], np.exp(3 * course.t))


def test_after_thinning_steps_go_on_and_are_thinned_as_much():
    course = exponential()
    course.thin()
    for a in range(128, 256):
        course.append(step(a / 128, (a + 1) / 128, lambda t: np.exp(3 * t)))
    assert len(course.t) == 64 + 128 + 1
    course.thin()
    assert np.diff(course.t) == pytest.approx(np.full(64, 4 / 128))
    assert course(1.7) == pytest.approx(np.exp(5.1), rel=1e-9)


def test_what_is_forgotten_is_refused_and_steps_go_on():
    course = ramp()
    course.forget()
    assert (course.start, course.end, list(course.t)) == (0.0, 3.0, [3.0])
    course.append(step(3.0, 4.0, lambda t: t))
    assert course([3.0, 3.5]).tolist() == [[3.0, 3.5]]
    with pytest.raises(ValueError, match="goes from 3 to 4"):
        course(2.0)


def test_steps_must_join():
    course = ramp()
    with pytest.raises(ValueError, match="does not continue"):
        course.append(step(2.0, 4.0, lambda t: t))
    with pytest.raises(ValueError, match="failed step"):
        course.append(Step.failed(3.0, np.zeros(1), "no"))


def test_chebyshev_nodes_end_exactly_and_are_symmetric():
    for count in range(2, 15):
        nodes = chebyshev_nodes(count)
        assert nodes[0] == -1.0
        assert nodes[-1] == 1.0
        assert np.array_equal(nodes, -nodes[::-1])
