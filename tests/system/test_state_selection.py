"""Which states are integrated where constraints tie them."""

import numpy as np
import pytest
from benches import wired
from benches.parts import Pendulum, alone
from numpy.testing import assert_allclose

from blocks.system import Problem
from blocks.system.state_selection import _exchanged
from library.planar import Body, Gravity, Ground, Prismatic, Revolute, RigidOffset


def pendulum(given_up=None, preferred=None):
    """A problem of a bob on a rod, and what it integrates at an angle from below."""
    system = alone(Pendulum()).compile()
    problem = Problem(system, system.parameters(), np.ones(system.nx), np.ones(system.nz))
    names = [system.class_names[int(c)].split(".")[-1] for c in system.tape.reduced.states]
    if preferred is not None:
        problem.preferred = np.isin(names, preferred)
    if given_up is not None:
        problem.given_up = np.array([given_up.get(name, 0) for name in names])

    def integrated(angle):
        x, y = np.sin(angle), -np.cos(angle)
        for name, value in (("x", x), ("y", y), ("vx", -y), ("vy", x)):
            problem.x[names.index(name)] = value
        problem.choose_states(0.0)
        return {names[i] for i in problem.free}

    return problem, names, integrated


def test_what_moves_most_is_integrated_and_kept_while_no_other_is_worth_it():
    problem, names, integrated = pendulum()
    assert integrated(0.1) == {"x", "vx"}
    assert integrated(1.0) == {"x", "vx"}  # y moves 1.6 times as fast
    assert integrated(1.3) == {"y", "vy"}
    assert problem.given_up[names.index("vx")] == 1
    assert integrated(0.9) == {"y", "vy"}


def test_a_preferred_state_is_integrated_first():
    assert pendulum()[2](1.2) == {"y", "vy"}
    _, _, integrated = pendulum(preferred=["x", "vx"])
    assert integrated(1.2) == {"x", "vx"}  # y moves 2.6 times as fast
    assert integrated(1.3) == {"y", "vy"}


def test_of_those_that_are_worth_it_the_one_given_up_least_often_is_taken():
    """Three coordinates of one motion: the one integrated hardly moves, both others do."""
    block = np.array([[1.0, 0.2, 0.0], [1.0, 0.0, 0.25]])  # moves by -1, 5 and 4
    assert set(_exchanged(block, np.array([1, 2]), np.zeros(3, dtype=int))) == {0, 2}
    assert set(_exchanged(block, np.array([1, 2]), np.array([0, 1, 0]))) == {0, 1}


def test_a_choice_that_depends_is_made_anew():
    assert _exchanged(np.array([[0.0, 1.0]]), np.array([0]), np.zeros(2, dtype=int)) is None


def test_the_crank_of_a_piston_is_found_out_to_be_good_all_the_way_round():
    pytest.importorskip("llvmlite")
    model = wired("piston", "weightless.P ground.P bearing.B bore.B",
                  "bearing.F crank.P wheel.P pin.B", "pin.F big.B", "big.F rod.P end.B",
                  "end.F small.B", "small.F piston.P bore.F",
                  ground=Ground(), weightless=Gravity(strength="0 m/s^2"),
                  crank=Body(mass="1 kg", inertia="1 g*m^2"),
                  wheel=Body(mass="1 kg", inertia="0.5 kg*m^2", w="50 rad/s"),
                  pin=RigidOffset(dx="30 mm", dy="40 mm"),
                  rod=Body(mass="0.4 kg", inertia="1 g*m^2", center_x="75 mm", phi="-0.27 rad"),
                  end=RigidOffset(dx="150 mm"), piston=Body(mass="0.3 kg", inertia="1 g*m^2"),
                  bearing=Revolute(), big=Revolute(), small=Revolute(), bore=Prismatic())
    run = model.simulate("1 s", method="dopri5", rtol=1e-6)
    assert abs(run["bearing.phi"].final.m) > 6 * np.pi
    assert run.statistics["steps"] < 400  # where states change all the time, three times as many
    moving = run["wheel.w"].to("rad/s").m
    assert_allclose(moving.min(), moving.max(), rtol=0.01)
