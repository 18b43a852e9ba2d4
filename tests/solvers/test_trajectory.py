"""A course is exact at the ends of steps, smooth inside, two-valued at events."""

import numpy as np
import pytest

from blocks.solvers import Step, Trajectory
from blocks.solvers.interpolation import NodalPolynomial, chebyshev_nodes


def step(t_old, t, *functions):
    def dense(times):
        return np.array([f(np.asarray(times)) for f in functions])

    return Step(t_old, t, dense(t), dense)


def bounce():
    """y = t up to 1, thrown back to -1 there, y = t - 2 up to 3."""
    course = Trajectory(0.0, [0.0])
    course.append(step(0.0, 1.0, lambda t: t))
    course.restart(1.0, [-1.0])
    course.append(step(1.0, 3.0, lambda t: t - 2))
    return course


def test_both_limits_are_kept_at_an_event():
    course = bounce()
    assert course(1.0, side="left") == 1.0
    assert course(1.0) == course(1.0, side="right") == -1.0
    assert list(course.t) == [0.0, 1.0, 1.0, 3.0]
    assert course.y.tolist() == [[0.0, 1.0, -1.0, 1.0]]


def test_values_beside_an_event_belong_to_their_own_piece():
    below, above = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)
    for side in ("left", "right"):
        value = bounce()([below, above], side=side)
        assert value[0] == pytest.approx([1.0, -1.0], abs=1e-15)


def test_two_events_at_one_time_keep_the_first_and_the_last_value():
    course = bounce()
    course.restart(3.0, [7.0])
    course.restart(3.0, [8.0])
    assert course(3.0, side="left") == 1.0
    assert course(3.0) == 8.0


def test_a_course_without_steps_knows_its_start():
    course = Trajectory(2.0, [4.0, 5.0])
    assert course(2.0).tolist() == [4.0, 5.0]
    assert course([2.0, 2.0]).shape == (2, 2)
    course.restart(2.0, [6.0, 7.0])
    assert course(2.0, side="left").tolist() == [4.0, 5.0]
    assert course(2.0).tolist() == [6.0, 7.0]


def test_a_time_outside_names_the_range():
    text = r"^t = 3\.5 is outside the run, which goes from 0 to 3$"
    with pytest.raises(ValueError, match=text):
        bounce()([1.0, 3.5])
    with pytest.raises(ValueError, match="outside"):
        bounce()(np.nan)
    with pytest.raises(ValueError, match="side must be"):
        bounce()(1.0, side="both")


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
    course.restart(0.5, [9.0])
    course.append(step(0.5, 2.0, lambda t: 9 + 0 * t))
    assert course(0.5, side="left") == 0.125
    assert course(1.7) == pytest.approx(9.0)


def test_beyond_the_memory_bound_steps_become_cubics():
    course = Trajectory(0.0, [1.0], order=8, max_bytes=20 * 9 * 8)
    for a in range(100):
        course.append(step(a / 10, (a + 1) / 10, np.exp))
    assert course.coarse_from == 2.0
    t = np.linspace(0, 10, 999)
    error = np.abs(course(t)[0] / np.exp(t) - 1)
    assert error[t < 2].max() < 1e-13
    assert 1e-13 < error[t > 2].max() < 1e-6
    ends = np.arange(101) / 10
    assert np.array_equal(course(ends)[0], np.exp(ends))
    assert course.nbytes < 100 * 9 * 8


def test_steps_must_join():
    course = bounce()
    with pytest.raises(ValueError, match="does not continue"):
        course.append(step(2.0, 4.0, lambda t: t))
    with pytest.raises(ValueError, match="failed step"):
        course.append(Step.failed(3.0, np.zeros(1), "no"))
    with pytest.raises(ValueError, match="an event at 2 "):
        course.restart(2.0, [0.0])


def test_chebyshev_nodes_end_exactly_and_are_symmetric():
    for count in range(2, 15):
        nodes = chebyshev_nodes(count)
        assert nodes[0] == -1.0
        assert nodes[-1] == 1.0
        assert np.array_equal(nodes, -nodes[::-1])


def test_a_nodal_polynomial_meets_its_values():
    values = np.random.default_rng(0).normal(size=(3, 7))
    polynomial = NodalPolynomial(2.0, 5.0, values)
    nodes = 3.5 + 1.5 * chebyshev_nodes(7)
    assert polynomial(nodes) == pytest.approx(values, abs=1e-12)
    assert np.array_equal(polynomial(2.0), values[:, 0])
