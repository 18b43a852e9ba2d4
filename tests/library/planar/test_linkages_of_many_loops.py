"""Linkages of many loops: pistons on a crank, lifts of many stages, chains that hang at both ends.

One coordinate says where a crank with its pistons, or a lift, is. With its speed, energy is known::

    M(angle) speed^2 / 2 + V(angle) = what it was at the start - what friction has taken

M being the sum over bodies of m (d place / d angle)^2 + I (d turn / d angle)^2.
"""

import warnings

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.planar import Body, Gravity, Ground, Prismatic, Revolute, RigidOffset, SpringDamper
from library.translational import Reference, TranslationalFriction

R, L = 0.05, 0.15  # of crank and rods, m
CRANK, ROD, TURNS, PISTON, FRICTION = 0.5, 0.4, 1e-3, 0.3, 3.0  # inertias, masses, N
MASS, TURN = 1.0, 0.08  # of a bar of a lift


def hinged(model, name, one, other):
    model.connect(model.add(name, Revolute()).B, one)
    model.connect(getattr(model, name).F, other)


def engine(pistons, first=0.3):
    """Pistons in a row of bores along x; their cranks share out the circle."""
    model = wired("engine", "weightless.P ground.P",
                  ground=Ground(), wall=Reference(), weightless=Gravity(strength="0 m/s^2"),
                  crank=Body(mass="5 kg", inertia=f"{CRANK} kg*m^2", w="50 rad/s"))
    hinged(model, "bearing", model.ground.P, model.crank.P)
    for k in range(pistons):
        pin = 2 * np.pi * k / pistons + first
        x, y = R * np.cos(pin), R * np.sin(pin)
        turn = np.arcsin(-y / L)
        offset = model.add(f"pin{k}", RigidOffset(dx=f"{x} m", dy=f"{y} m"))
        rod = model.add(f"rod{k}", Body(mass=f"{ROD} kg", inertia=f"{TURNS} kg*m^2",
                                        center_x=f"{L / 2} m", phi=f"{turn} rad"))
        end = model.add(f"end{k}", RigidOffset(dx=f"{L} m"))
        piston = model.add(f"piston{k}", Body(mass=f"{PISTON} kg", inertia=f"{TURNS} kg*m^2"))
        bore = model.add(f"bore{k}", Prismatic(drive=True))
        rub = model.add(f"rub{k}", TranslationalFriction(
            law="coulomb", coulomb_force=f"{FRICTION} N", breakaway_force="4 N"))
        model.connect(model.crank.P, offset.B)
        model.connect(rod.P, end.B)
        hinged(model, f"big{k}", offset.F, rod.P)
        hinged(model, f"small{k}", end.F, piston.P)
        model.connect(bore.B, model.ground.P)
        model.connect(bore.F, piston.P)
        model.connect(bore.A, rub.R)
        model.connect(rub.C, model.wall.V)
    return model


def places(angle, pistons):
    """Of pistons, and of the middles of rods and their turns: (what, pistons, angles)."""
    pin = angle + 2 * np.pi * np.arange(pistons)[:, None] / pistons + 0.3
    turn = np.arcsin(-R * np.sin(pin) / L)
    x = R * np.cos(pin)
    return np.array([x + L * np.cos(turn), x + L / 2 * np.cos(turn),
                     R * np.sin(pin) + L / 2 * np.sin(turn), turn])


def by_angle(values, angle, *given):
    h = 1e-5
    ahead, behind = (values(angle + s * h, *given) for s in (1, -1))
    return (ahead - behind) / (2 * h)


def inertia_of_engine(angle, pistons):
    piston, x, y, turn = (by_angle(places, angle, pistons) ** 2).sum(axis=1)
    return CRANK + PISTON * piston + ROD * (x + y) + TURNS * turn


def ways(angle, pistons):
    """Of all pistons together, from the start on: they turn round at dead centres."""
    fine = np.linspace(0.0, angle[-1], 200_001)
    moved = np.abs(np.diff(places(fine, pistons)[0], axis=1)).sum(axis=0)
    return np.interp(angle, fine, np.append(0.0, np.cumsum(moved)))


@pytest.mark.parametrize(("pistons", "method"), [(1, "auto"), (3, "rodas4"), (6, "auto")])
def test_pistons_take_the_energy_of_their_friction_from_the_crank(pistons, method):
    run = engine(pistons).simulate("0.4 s", method=method,
                                   rtol=1e-9,
                                   times=quantity(np.linspace(0, 0.4, 41), "s"))
    angle, speed = run["bearing.phi"].to("rad").m, run["crank.w"].to("rad/s").m
    energy = inertia_of_engine(angle, pistons) * speed**2 / 2
    assert angle[-1] > 2 * np.pi
    assert_allclose(energy, energy[0] - FRICTION * ways(angle, pistons), rtol=1e-7)
    first = 0.3 + 2 * np.pi * np.arange(pistons) / pistons
    assert len(run.events) == np.sum(np.floor((angle[-1] + first) / np.pi) - np.floor(
        first / np.pi))  # one at every dead centre
    assert run.statistics.get("stretches in Python") is None


def test_at_a_dead_centre_the_crank_starts_with_the_speed_that_it_is_given():
    """pi is not quite met, and a rod's angle of 4e-17 rad says nothing of how large angles are."""
    model = engine(2, first=0.0)
    model.piston0.x, model.piston1.x = f"{L + R} m", f"{L - R} m"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start = model.stepper()
    assert_allclose(start["crank.w"].to("rad/s").m, 50, rtol=1e-12)
    assert_allclose(start["rod1.w"].to("rad/s").m, 50 * R / L, rtol=1e-12)


def lift(stages, angle=0.4):
    """Bars in pairs that cross in their middles; one foot stands, a spring pulls at the other."""
    model = wired("lift", "foot.B ground.P", "spring.B ground.P", "spring.F foot.F",
                  ground=Ground(), foot=Prismatic(),
                  spring=SpringDamper(stiffness=f"{stages} kN/m", free_length="0.5 m"))
    left, right = model.ground.P, model.foot.F
    for k in range(stages):
        ends = []
        for name, turn in (("up", angle), ("down", np.pi - angle)):
            bar = model.add(f"{name}{k}", Body(mass=f"{MASS} kg", inertia=f"{TURN} kg*m^2",
                                               center_x="0.5 m", phi=f"{turn} rad"))
            for part, way in (("middle", 0.5), ("end", 1.0)):
                offset = model.add(f"{part}_of_{name}{k}", RigidOffset(dx=f"{way} m"))
                model.connect(bar.P, offset.B)
                ends.append(offset.F)
        hinged(model, f"left{k}", left, getattr(model, f"up{k}").P)
        hinged(model, f"right{k}", right, getattr(model, f"down{k}").P)
        hinged(model, f"cross{k}", ends[0], ends[2])
        left, right = ends[3], ends[1]
    return model


@pytest.mark.parametrize("stages", [1, 3, 6])
def test_a_lift_starts_at_the_angle_that_it_is_given(stages):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start = lift(stages).stepper()
    assert_allclose(start["foot.s"].to("m").m, np.cos(0.4), rtol=1e-12)
    for k in range(stages):
        assert_allclose(start[f"up{k}.phi"].to("rad").m, 0.4, rtol=1e-12)


@pytest.mark.parametrize(("stages", "method"), [(6, "auto"), (3, "rodas4")])
def test_a_lift_moves_as_its_one_angle_does(stages, method):
    def bars(angle):
        """Middles of all pairs, the foot."""
        height = (np.arange(stages) + 0.5)[:, None] * np.sin(angle)
        return height, 0.5 * np.cos(angle)

    run = lift(stages).simulate("0.5 s", method=method, rtol=1e-9,
                                 times=quantity(np.linspace(0, 0.5, 51), "s"))
    angle, speed = run["up0.phi"].to("rad").m, run["up0.w"].to("rad/s").m
    height, middle = bars(angle)
    up, along = (np.arange(stages) + 0.5)[:, None] * np.cos(angle), -0.5 * np.sin(angle)
    inertia = 2 * (MASS * (up**2 + along**2) + TURN).sum(axis=0)
    energy = inertia * speed**2 / 2 + 2 * MASS * 9.81 * height.sum(axis=0) + 500 * stages * (
        2 * middle - 0.5) ** 2
    assert np.ptp(angle) > 0.05
    assert_allclose(energy, energy[0], rtol=1e-8)


@pytest.mark.parametrize("links", [6, 24])
def test_a_chain_that_hangs_at_both_ends_keeps_its_energy(links):
    """Of 24 links more than 100 states and forces are solved for together, in machine code."""
    angles = np.linspace(-1.2, 1.2, links)
    model = Model("chain")
    model.near = Ground()
    model.far = Ground(x=f"{np.cos(angles).sum()} m", y=f"{np.sin(angles).sum()} m")
    end = model.near.P
    for k, angle in enumerate(angles):
        link = model.add(f"link{k}", Body(mass="1 kg", inertia="0.1 kg*m^2", center_x="0.5 m",
                                          phi=f"{angle} rad"))
        tip = model.add(f"tip{k}", RigidOffset(dx="1 m"))
        model.connect(link.P, tip.B)
        hinged(model, f"hinge{k}", end, link.P)
        end = tip.F
    hinged(model, "last", model.far.P, end)
    run = model.simulate("1 s", method="dopri5", rtol=1e-8)
    mine = [(run[f"link{k}.phi"].to("rad").m, run[f"link{k}.w"].to("rad/s").m)
            for k in range(links)]
    phi, w = (np.array(values) for values in zip(*mine, strict=True))
    steps = np.array([np.cos(phi), np.sin(phi)])
    speeds = np.array([-np.sin(phi) * w, np.cos(phi) * w])
    middles = np.cumsum(steps, axis=1) - steps / 2
    moving = np.cumsum(speeds, axis=1) - speeds / 2
    energy = 0.5 * (moving**2).sum(axis=(0, 1)) + 0.05 * (w**2).sum(axis=0) + 9.81 * (
        middles[1].sum(axis=0))
    assert np.abs(w).max() > 0.5
    assert_allclose(energy, energy[0], atol=1e-5 * links)
    assert_allclose(steps.sum(axis=1).T, np.tile([np.cos(angles).sum(), np.sin(angles).sum()], (
        phi.shape[1], 1)), atol=1e-9)
