"""Frictions that are pressed by what other frictions bear, in rings that leave that open."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from benches import wired

from blocks import (
    Component,
    SimulationError,
    Variable,
    abs_,
    der,
    dry_friction,
    quantity,
    sin,
    time,
)

END = 4.0  # s
METHODS = ["auto", "dopri5", "DOP853", "rodas4", "Radau"]


class Ring(Component):
    """Bodies on springs to the frame, -1, and frictions between them."""

    bodies: ClassVar[list] = []  # mass in kg, stiffness in N/m, load in N, its rate in 1/s, phase
    frictions: ClassVar[list] = []  # ends, strength in N, and by what share of whose effort

    def equations(self):
        x, v, f, w = ([getattr(self, f"{name}{k}") for k in range(count)] for name, count in (
            ("x", len(self.bodies)), ("v", len(self.bodies)),
            ("f", len(self.frictions)), ("w", len(self.frictions))))
        force = [quantity(load, "N") * sin(quantity(rate, "1/s") * time + phase)
                 - quantity(k, "N/m") * x_
                 for x_, (_, k, load, rate, phase) in zip(x, self.bodies, strict=True)]
        v.append(0 * v[0])
        force.append(0 * f[0])
        for k, (a, b, strength, share, on) in enumerate(self.frictions):
            yield w[k] == v[a] - v[b]
            force[a], force[b] = force[a] - f[k], force[b] + f[k]
            most = quantity(strength, "N") + (share * abs_(f[on]) if share else 0)
            yield dry_friction(f[k], w[k], static=most, kinetic=most)
        for k, (mass, *_) in enumerate(self.bodies):
            yield quantity(mass, "kg") * der(v[k]) == force[k]
            yield der(x[k]) == v[k]


def ring(bodies, frictions, speeds):
    names = {f"x{k}": Variable("m", "0 m", priority="high") for k in range(len(bodies))}
    names |= {f"v{k}": Variable("m/s", quantity(v, "m/s"), priority="high")
              for k, v in enumerate(speeds)}
    names |= {f"f{k}": Variable("N") for k in range(len(frictions))}
    names |= {f"w{k}": Variable("m/s") for k in range(len(frictions))}
    kind = type("Ring", (Ring,), names | {"bodies": bodies, "frictions": frictions,
                                          "__doc__": Ring.__doc__})
    return wired("ring", ring=kind())


def obeys_all_laws(run, bodies, frictions):
    """Of frictions and of motion, away from events."""
    t = np.linspace(0, END, 48)[1:-1]
    events = np.array([e.time.to("s").m for e in run.events] or [-1.0])
    t = t[np.abs(t[:, None] - events).min(axis=1) > 1e-4]
    assert len(t) > 30
    of = lambda name, at=t: run[f"ring.{name}"].at(quantity(at, "s")).m  # noqa: E731
    f = np.array([of(f"f{k}") for k in range(len(frictions))])
    for k, (_, _, strength, share, on) in enumerate(frictions):
        w, most = of(f"w{k}"), strength + share * np.abs(f[on])
        rests = np.abs(w) <= 1e-9
        assert (np.abs(f[k]) - most)[rests].max(initial=0.0) <= 1e-7
        assert np.abs(f[k] - np.sign(w) * most)[~rests].max(initial=0.0) <= 1e-7
    h = 1e-5
    for k, (mass, stiffness, load, rate, phase) in enumerate(bodies):
        force = load * np.sin(rate * t + phase) - stiffness * of(f"x{k}")
        for j, (a, b, *_) in enumerate(frictions):
            force += f[j] * ((b == k) - int(a == k))
        moved = mass * (of(f"v{k}", t + h) - of(f"v{k}", t - h)) / (2 * h)
        np.testing.assert_allclose(moved, force, atol=2e-3 * load)


TWO_BODIES = [(0.5, 1.0, 5.0, 1.3, 0.0), (2.0, 4.0, 3.0, 2.0, 0.0)]
FIRST_THREE = [(0, 1, 2.0, 0.0, 0), (0, -1, 0.1, 0.4, 0), (1, -1, 2.0, 0.0, 0)]


@pytest.mark.parametrize("last", [[(0, 1), (0, -1)], [(0, -1), (0, 1)]])
def test_a_ring_whose_split_moves_what_slides_is_told_so(last):
    """Both frictions between the bodies bear what they hold; one of them alone presses another."""
    frictions = [*FIRST_THREE, (*last[0], 0.1, 0.2, 1), (*last[1], 0.1, 0.2, 3)]
    with pytest.raises(SimulationError, match=r"several motions.*friction yield") as told:
        ring(TWO_BODIES, frictions, [0.0, 0.0]).simulate("4 s")
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) <= {f"ring.f{k}" for k in range(5)}
    assert 0.203 < told.value.time < 0.208


def test_a_ring_of_which_all_slides_alike_goes_on():
    frictions = [*FIRST_THREE, (0, -1, 0.1, 0.2, 1), (0, -1, 0.1, 0.2, 3)]
    run = ring(TWO_BODIES, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8)
    obeys_all_laws(run, TWO_BODIES, frictions)


def test_what_slides_follows_the_split_that_is_shown():
    """Two frictions on the floor hold a body of which each presses one that slides: their sum
    passes zero, and so do both."""
    bodies = [(1.0, 10.0, 3.0, 2.0, 0.0), (0.5, 10.0, 1.0, 2.0, 1.0)]
    frictions = [(1, -1, 0.5, 0.0, 0), (0, -1, 2.0, 0.0, 0), (0, -1, 0.1, 0.6, 1),
                 (1, 0, 0.0, 0.6, 2), (1, 0, 0.1, 0.6, 1)]
    run = ring(bodies, frictions, [-0.5, 0.0]).simulate("4 s", rtol=1e-8)
    obeys_all_laws(run, bodies, frictions)
    assert run.statistics["steps"] < 300


def test_where_no_efforts_hold_any_longer_is_told_by_name():
    """0.4 + 0.6 + 0.12 of what a friction bears pulls on it: more than all, the other way."""
    bodies = [(1.0, 10.0, 5.0, 0.7, 1.0), (0.5, 1.0, 1.0, 0.7, 0.0), (0.5, 1.0, 3.0, 1.3, 0.0)]
    frictions = [(-1, 2, 2.0, 0.0, 0), (0, 2, 0.1, 0.4, 0), (2, 0, 0.5, 0.6, 0),
                 (0, 2, 0.5, 0.2, 2)]
    with pytest.raises(SimulationError, match="no unique motion") as told:
        ring(bodies, frictions, [1.0, 0.0, 0.0]).simulate("4 s")
    # where the floor's effort comes to zero
    assert told.value.result["ring.f0"].final.m == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_two_bodies_that_move_alike_press_nothing(method):
    """Friction between them bears nothing, so that others have no strength: forced oscillation."""
    bodies = [(1.0, 4.0, 3.0, 0.7, 0.0)] * 2
    frictions = [(1, 0, 0.5, 0.0, 0), (1, -1, 0.0, 0.6, 0), (-1, 0, 0.0, 0.2, 1)]
    run = ring(bodies, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8, method=method)
    t = np.linspace(0, END, 48)
    swing = 3 / (4 - 0.7**2) * (np.sin(0.7 * t) - 0.35 * np.sin(2 * t))
    for k in range(2):
        np.testing.assert_allclose(run[f"ring.x{k}"].at(quantity(t, "s")).m, swing, atol=2e-8)
    for k in range(3):
        np.testing.assert_allclose(run[f"ring.f{k}"].at(quantity(t, "s")).m, 0.0, atol=1e-12)
    assert len(run.events) <= 4  # both begin to move, and turn once, at 2 pi / 2.7 s


@pytest.mark.parametrize("method", METHODS)
def test_a_wedge_that_may_hold_or_let_go_is_told_whoever_asks(method):
    """F loads each of two bodies: either nothing moves (f0 = -3 F, f1 = F, f2 = -F), or the first
    one does (f0 = -F, f1 = f2 = -0.4 F)."""
    bodies = [(1.0, 4.0, 5.0, 2.0, 0.0)] * 2
    frictions = [(-1, 1, 1.0, 0.0, 0), (-1, 1, 0.0, 0.4, 0), (1, 0, 0.0, 0.4, 0)]
    with pytest.raises(SimulationError, match="several motions") as told:
        ring(bodies, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8, method=method)
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) <= {"ring.f0", "ring.f1", "ring.f2"}
    assert told.value.time < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("strength, phase", [(0.5, 0.0), (2.0, -0.5)])
def test_a_floor_whose_effort_all_acts_on_its_body_is_told_so(method, strength, phase):
    """0.4 + 0.6 of what the floor bears pull on the body that it holds: with the floor against a
    load to one side, and against the floor where that has passed zero. There any effort, with
    another motion of the other body, holds no load, and none holds more."""
    bodies = [(0.5, 1.0, 3.0, 0.7, phase), (1.0, 4.0, 5.0, 0.7, 1.0)]
    frictions = [(0, -1, strength, 0.0, 0), (0, 1, 0.0, 0.4, 0), (0, 1, 0.0, 0.6, 0)]
    with pytest.raises(SimulationError, match="no unique motion") as told:
        ring(bodies, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8, method=method)
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) == {"ring.f0", "ring.f1", "ring.f2"}
    assert told.value.time == pytest.approx(-phase / 0.7, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_rest_that_ends_where_another_motion_began_is_told_so(method):
    """Above 0.22 N the heavier body may move, held by 0.1 N and 0.12 N where f0 bears nothing; it
    may rest as well, where f0 and f4 press each other."""
    bodies, frictions, speeds = random_ring(247)
    with pytest.raises(SimulationError, match="no unique motion") as told:
        ring(bodies, frictions, speeds).simulate("4 s", rtol=1e-8, method=method)
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) <= {f"ring.f{k}" for k in range(5)}
    assert 3 * np.sin(1.3 * told.value.time) > 0.22


def random_ring(seed):
    rng = np.random.default_rng(seed)
    pick = lambda *values: float(rng.choice(values))  # noqa: E731
    size = 1 + seed % 3
    ends = lambda: map(int, rng.permutation(np.arange(-1, size))[:2])  # noqa: E731
    bodies = [(pick(0.5, 1.0, 2.0), pick(1.0, 4.0, 10.0), pick(1.0, 3.0, 5.0), pick(0.7, 1.3, 2.0),
               pick(0.0, 1.0)) for _ in range(size)]
    frictions = [(*ends(), pick(0.5, 1.0, 2.0), 0.0, 0) for _ in range(rng.integers(1, 3))]
    for _ in range(rng.integers(2, 5)):
        frictions.append((*ends(), pick(0.0, 0.1, 0.5), pick(0.2, 0.4, 0.6),
                          int(rng.integers(len(frictions)))))
    return bodies, frictions, [pick(0.0, 0.0, 1.0, -0.5) for _ in bodies]


@pytest.mark.parametrize("count", [9, pytest.param(60, marks=pytest.mark.slow)])
def test_random_rings_obey_their_laws_or_are_refused_by_name(count):
    ended = 0
    for seed in range(count):
        bodies, frictions, speeds = random_ring(seed)
        try:
            run = ring(bodies, frictions, speeds).simulate(quantity(END, "s"), rtol=1e-8)
        except SimulationError as told:
            assert told.code == "simulation.paradox", (seed, told)
            continue
        obeys_all_laws(run, bodies, frictions)
        ended += 1
    assert ended > count / 2  # a third are of one body
