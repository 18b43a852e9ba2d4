"""Moreau-Jean steps of all that has set-valued laws: machine code against Python, closed forms."""

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose

import library.translational as tr
from benchmarks.cases.planar import disc, poured
from blocks import Branch, Model, Parameter, delayed, quantity, sin
from blocks.machine import compiling
from blocks.native import moreau_jean
from library.mechanisms import OneWayClutch
from library.planar import Body, Circle, Contact, Ground, Line
from library.rotational import Inertia, RotationalReference, RotationalSpring


def pulled(stop: bool = False, moving: bool = False) -> Model:
    """A block that a spring pulls over a floor, which may move, and against a stop."""
    model = wired("pulled", "pull.R spring.R", "spring.C block.M friction.R", "pull.C ground.V",
                  ground=tr.Reference(), block=tr.Mass(mass="1 kg", v="1 m/s"),
                  spring=tr.Spring(stiffness="1 kN/m"), pull=tr.VelocitySource(velocity="0.1 m/s"),
                  friction=tr.TranslationalFriction(law="coulomb", coulomb_force="20 N",
                                                    breakaway_force="25 N"))
    model.connect(model.friction.C, model.pull.R if moving else model.ground.V)
    if stop:
        wire(model, "stop.R block.M", "stop.C ground.V", stop=tr.HardStop(
            model="restitution", upper_bound="20 mm", lower_bound="-5 mm", restitution=0.5))
    return model


def chain(n: int = 8) -> Model:
    """Masses between springs, each on a floor of its own."""
    model = wired("chain", ground=tr.Reference(),
                  mass=tr.Mass(count=n, mass="1 kg", v=quantity(np.linspace(-1, 1, n), "m/s")))
    model.friction = tr.TranslationalFriction(count=n, law="coulomb", coulomb_force="2 N",
                                           breakaway_force="2 N")  # fmt: skip
    model.link = tr.Spring(count=n - 1, stiffness="200 N/m")
    for i in range(n):
        model.connect(model.mass[i].M, model.friction[i].R)
        model.connect(model.friction[i].C, model.ground.V)
    for i in range(n - 1):
        model.connect(model.mass[i].M, model.link[i].R)
        model.connect(model.mass[i + 1].M, model.link[i].C)
    return model


def freewheel() -> Model:
    """A swinging shaft that drives another in one direction."""
    return wired("freewheel", "a.I wheel.C spring.R", "b.I wheel.R", "spring.C ground.W",
                 ground=RotationalReference(), a=Inertia(inertia="1 kg*m^2", w="2 rad/s"),
                 b=Inertia(inertia="1 kg*m^2", w="0 rad/s"),
                 wheel=OneWayClutch(drag_torque="0.2 N*m"),
                 spring=RotationalSpring(stiffness="30 N*m/rad"))


def ring() -> Model:
    """A mass against a ring spring, which has a force without friction, too."""
    return wired("ring", "block.M ring.R", "ring.C ground.V", ground=tr.Reference(),
                 ring=tr.FrictionRing(), block=tr.Mass(mass="1 kg", v="1 m/s"))


def dropped(restitution: float) -> Model:
    """A spinning disc that falls on a floor."""
    return wired("dropped", "ground.P floor.B", "disc.P floor.F", ground=Ground(),
                 disc=Body(inertia="5 g*m^2", x="0 m", y="0.15 m", phi="0 rad", vx="1 m/s",
                           vy="0 m/s", w="20 rad/s"),
                 floor=Contact(curve=Circle("0.1 m"), base=Line(), restitution=restitution,
                               friction=0.2))


CASES = {
    "friction alone": (pulled, 100, "5 ms", "block.v spring.x friction.f"),
    "a floor that moves": (lambda: pulled(moving=True), 100, "5 ms", "block.v spring.x friction.f"),
    "friction beside a stop": (lambda: pulled(stop=True), 100, "5 ms", "block.v spring.x stop.x"),
    "frictions that act on each other": (chain, 100, "5 ms", "mass.v friction.f link.f"),
    "freewheel": (freewheel, 100, "5 ms", "a.w b.w wheel.t"),
    "friction and a spring in one": (ring, 100, "5 ms", "block.v ring.x ring.f"),
    "disc in a circle": (disc, 400, "1 ms", "disc.x disc.w touch.N touch.T"),
    "plastic": (lambda: dropped(0.0), 150, "2 ms", "disc.x disc.w floor.N floor.T"),
    "rebounds": (lambda: dropped(0.6), 250, "2 ms", "disc.vx disc.vy floor.T"),
    "two discs": (lambda: poured(2), 80, "5 ms", "discs.x discs.w floor.N"),
    "frictionless": (lambda: poured(4, smooth=True), 80, "5 ms", "discs.y pairs.N"),
    "with friction": (lambda: poured(4), 80, "5 ms", "discs.x discs.w floor.N")}


@few(4, "case", CASES)
def test_whatever_has_modes_is_stepped_in_machine_code_as_in_python(case, monkeypatch):
    pytest.importorskip("llvmlite")
    make, count, step, names = CASES[case]
    model, end = make(), count * quantity(step)
    compiled = model.simulate(end, method="moreau_jean", step=step)
    assert "machine code" in str(compiled.statistics)
    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    interpreted = model.simulate(end, method="moreau_jean", step=step)
    assert "machine code" not in str(interpreted.statistics)
    assert compiled.statistics["steps"] == interpreted.statistics["steps"] == count
    assert str(compiled.events) == str(interpreted.events)
    times = np.linspace(0, 1, 40) * end
    for name in names.split():
        a, b = (run[name].at(times).m for run in (compiled, interpreted))
        assert_allclose(a, b, rtol=0, atol=1e-9 * max(1.0, np.abs(b).max()))


def test_more_elements_than_there_is_room_for_get_more(monkeypatch):
    model = chain(24)
    whole = model.simulate("0.3 s", method="moreau_jean", step="5 ms")
    monkeypatch.setattr(moreau_jean, "MOST", 2)
    monkeypatch.setattr(moreau_jean, "ENTRIES", 10)
    grown = model.simulate("0.3 s", method="moreau_jean", step="5 ms")
    assert np.array_equal(whole["mass.v"].final.m, grown["mass.v"].final.m)


def driven(kind: type[Branch], **rest: object) -> Model:
    """A block on a floor, to which a force goes through something."""
    model = wired(
        "driven", "pull.C rub.C ground.V", "spring.C block.M rub.R", "a.R pull.R",
        ground=tr.Reference(), block=tr.Mass(mass="1 kg"),
        pull=tr.VelocitySource(velocity=lambda t: quantity("2 m/s") * sin(6 * t / quantity("1 s"))),
        rub=tr.TranslationalFriction(law="coulomb", coulomb_force="2 N", breakaway_force="2 N"),
        a=kind(), spring=tr.Spring(stiffness="80 N/m"))
    if kind is Cubic:  # a node without mass: an algebraic loop
        wire(model, "a.C b.R", "b.C block.M", "spring.R ground.V", b=Cubic(factor=3))
    else:
        wire(model, "a.C block.M", "spring.R pull.R")
    return model


class Cubic(Branch, domain=tr.translational):
    """A damper that stiffens."""

    factor = Parameter(1, minimum=0)

    def equations(self):
        speed = self.v / quantity("1 m/s")
        yield self.f == quantity("3 N") * (speed + self.factor * speed**3)


class Lag(Branch, domain=tr.translational):
    """A damper whose force comes late."""

    def equations(self):
        yield self.f == quantity("8 N*s/m") * delayed(self.v, quantity("37 ms"), initial=0)


@pytest.mark.parametrize("kind", [Cubic, Lag])
def test_loops_and_delays_beside_friction_are_stepped_to_the_order_of_the_method(kind):
    model = driven(kind)
    times = quantity(np.linspace(0.05, 0.2, 30), "s")
    exact = model.simulate("0.2 s", rtol=1e-8)["block.v"].at(times).m
    errors = [np.abs(model.simulate("0.2 s", method="moreau_jean", step=step)["block.v"].at(
        times).m - exact).max() for step in ("10 ms", "5 ms")]
    assert errors[1] < 0.02 * np.abs(exact).max() and errors[1] < 0.75 * errors[0]


def test_a_ring_spring_swings_as_its_lines_say():
    """Loading: m x'' = -(k x + r) from v0; the work of both forces takes the energy of motion."""
    run = ring().simulate("0.2 s", method="moreau_jean", step="0.1 ms")
    k, r, m, v = 1000.0, 10.0, 1.0, 1.0
    deepest = (-r + np.sqrt(r * r + k * m * v * v)) / k
    found = run["ring.x"].at(quantity(np.linspace(0, 0.2, 2001), "s")).to("m").m.max()
    assert_allclose(found, deepest, rtol=1e-3)
