"""Random bodies on rough floors, and random networks of friction that other forces press.

Nothing fails but for Painlevé's paradox, the laws hold to rounding, energy is only lost, and
time stepping comes to the same motion as its step shrinks.
"""

import numpy as np
from benches import wired
from benches.friction import dry, missing_energy, push, values
from benches.random_cases import random_cases
from benches.rigid_bodies import Box
from hypothesis import assume
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from blocks import (
    Input,
    Output,
    Parameter,
    SimulationError,
    Variable,
    abs_,
    dry_friction,
    quantity,
    sin,
)
from library.translational import Mass, Reference, Spring, TwoPort


def times_between_events(run, end, count=60):
    t = np.linspace(0, end, count)[1:-1]
    events = np.array([e.time for e in run.events] or [-1.0])
    t = t[np.abs(t[:, None] - events).min(axis=1) > 1e-6]
    assert len(t) > 30
    return t


def obeys(t, n, gap, speed, slip, mu):
    """Largest violation of the laws of one contact with friction, in their own units."""
    size = max(1.0, float(np.abs(n).max(initial=0.0)))
    touching = np.minimum(np.abs(n) / size, np.abs(gap))  # complementary
    room = np.maximum(np.abs(t) - mu * n, 0) / size
    slides = np.abs(slip) > 1e-9 * speed
    drag = np.where(slides, np.abs(t - mu * n * np.sign(slip)), 0) / size
    return max(np.max(v, initial=0.0) for v in (-n / size, -gap, touching, room, drag))


# -- one body, two feet ----------------------------------------------------------------------
@st.composite
def boxes(draw):
    def pick(*values):
        return draw(st.sampled_from(values))

    a, h, phi = pick(0.5, 1.0), pick(0.2, 0.5, 1.2), pick(0.0, 0.0, 0.2, -0.4)
    return {
        "a": quantity(a, "m"), "h": quantity(h, "m"), "phi": quantity(phi, "rad"),
        "inertia": quantity(pick(0.3, 1.0), "kg*m^2"),
        "friction": (mu := pick(0.0, 0.2, 0.5, 1.0)), "static_friction": mu,
        "restitution": pick(0.0, 0.0, 0.3, 0.6),
        "vx": quantity(pick(0.0, 1.0, -3.0), "m/s"), "w": quantity(pick(0.0, 0.0, 1.0), "rad/s"),
        "y": quantity(h * np.cos(phi) + a * abs(np.sin(phi)) + pick(0.0, 0.1, 0.4), "m"),
    }  # fmt: skip


@random_cases(boxes(), few=3, many=8)
def test_a_random_box_lands_slides_and_rests_by_all_laws(box):
    model = wired("box", box=Box(**box))
    run = model.simulate("1 s", rtol=1e-9)
    t = times_between_events(run, 1.0)
    for foot in (1, 2):
        got = values(run, [f"box.{v}{foot}" for v in ("T", "N", "gap", "slip")], t)
        drag, press, gap, slip = got
        assert obeys(drag, press, gap, max(1.0, np.abs(slip).max()), slip, box["friction"]) < 1e-8
    energy = values(run, ["box.energy_stored"], np.linspace(0, 1, 200))[0]
    assert np.diff(energy).max() < 1e-8 * energy[0]


# -- networks --------------------------------------------------------------------------------
class PressedBy(TwoPort):
    """Dry friction of strength grip |N| + least, with N a force from elsewhere."""

    grip = Parameter(0.3)
    least = Parameter("0.1 N")
    over = Parameter(1.0, doc="static over kinetic strength")
    N, F = Input("N"), Output("N")
    power_dissipated = Variable("W")

    def equations(self):
        strength = self.grip * abs_(self.N) + self.least
        yield dry_friction(self.f, self.v, static=self.over * strength, kinetic=strength)
        yield self.f == self.F
        yield self.power_dissipated == self.f * self.v


class Known(TwoPort):
    """Dry friction of a given strength that tells its force."""

    strength = Parameter("1 N")
    F = Output("N")
    power_dissipated = Variable("W")

    def equations(self):
        yield dry_friction(self.f, self.v, static=self.strength, kinetic=self.strength)
        yield self.f == self.F
        yield self.power_dissipated == self.f * self.v


@st.composite
def networks(draw, largest=3, most=5):
    """Bodies, frictions (R, C, what presses it or -1, size), springs and loads."""
    size = draw(st.integers(1, largest))
    ends = st.lists(st.integers(-1, size - 1), min_size=2, max_size=2, unique=True)
    bodies = [(draw(st.sampled_from([0.5, 1.0, 2.0])), draw(st.sampled_from([0.0, 0.0, 1.0])))
              for _ in range(size)]  # fmt: skip
    frictions = []
    for k in range(draw(st.integers(2, most))):
        by = -1 if k == 0 else draw(st.integers(-1, k - 1))
        strength = draw(st.sampled_from([0.2, 0.4] if by >= 0 else [1.0, 2.0]))
        frictions.append((*draw(ends), by, strength, draw(st.sampled_from([1.0, 1.0, 1.3]))))
    springs = [(*draw(ends), draw(st.sampled_from([1.0, 4.0])))
               for _ in range(draw(st.integers(0, 2)))]  # fmt: skip
    loads = [(draw(st.sampled_from([0.0, 1.0, 3.0, 5.0])), draw(st.sampled_from([0.7, 1.3, 2.0])))
             for _ in range(size)]  # fmt: skip
    return bodies, frictions, springs, loads


def build(network):
    bodies, frictions, springs, loads = network
    model = wired("network", ground=Reference())
    joints = {-1: model.ground.V}
    for i, (mass, v) in enumerate(bodies):
        joints[i] = model.add(f"b{i}", Mass(mass=quantity(mass, "kg"), v=quantity(v, "m/s"))).M
    parts = []
    for k, (r, c, by, strength, over) in enumerate(frictions):
        part = Known(strength=quantity(strength, "N")) if by < 0 else PressedBy(
            grip=strength, over=over)
        part = model.add(f"f{k}", part)
        parts.append(part)
        model.connect(joints[r], part.R)
        model.connect(part.C, joints[c])
        if by >= 0:
            model.connect(parts[by].F, part.N)
    for k, (r, c, stiffness) in enumerate(springs):
        spring = model.add(f"s{k}", Spring(stiffness=quantity(stiffness, "N/m")))
        model.connect(joints[r], spring.R)
        model.connect(spring.C, joints[c])
    for i, (size, w) in enumerate(loads):
        if size:
            load = model.add(f"p{i}", push(lambda t, s=size, w=w: s * sin(w * t)))
            model.connect(load.R, joints[i])
            model.connect(load.C, model.ground.V)
    return model


def simulate(network, **options):
    # Where loads are not determined rounding says who slides first: by one method, the same.
    try:
        return build(network).simulate("3 s", **({"rtol": 1e-9, "method": "DOP853"} | options))
    except SimulationError as error:
        assert error.code == "simulation.paradox"
        assume(False)


@random_cases(networks(), few=5, many=15)
def test_friction_that_is_pressed_by_other_friction_obeys_its_law(network):
    frictions = network[1]
    run = simulate(network)
    t = times_between_events(run, 3.0)
    v = values(run, [f"f{k}.v" for k in range(len(frictions))], t)
    f = values(run, [f"f{k}.f" for k in range(len(frictions))], t)
    speed = max(1.0, np.abs(v).max())
    for k, (_, _, by, strength, over) in enumerate(frictions):
        kinetic = strength if by < 0 else strength * np.abs(f[by]) + 0.1
        rests = np.abs(v[k]) <= 1e-10 * speed
        assert np.max((np.abs(f[k]) - (over if by >= 0 else 1) * kinetic)[rests],
                      initial=0) <= 1e-8  # fmt: skip
        assert_allclose(f[k][~rests], (kinetic * np.sign(v[k]))[~rests], rtol=0, atol=1e-8)
    assert missing_energy(run) < 1e-8
    assert min(k.dissipated for k in run.recording.energy_terms()) >= -1e-12


@random_cases(networks(), few=1, many=3)
def test_time_stepping_comes_to_the_motion_of_pressed_friction_with_first_order(network):
    network = (network[0], [(*f[:4], 1.0) for f in network[1]], *network[2:])
    exact = simulate(network)
    paths = [f"b{i}.v" for i in range(len(network[0]))]
    t = np.linspace(0, 3, 16)
    errors = []
    for step in (0.02, 0.005):
        run = simulate(network, method="moreau_jean", step=quantity(step, "s"))
        errors.append(np.abs(values(run, paths, t) - values(exact, paths, t)).max())
    assert errors[1] < 0.02
    assert errors[1] <= 0.6 * errors[0] + 1e-6


def test_friction_that_nothing_presses_is_like_any_other():
    # the same network stated with the library's friction
    def network(part, other):
        return wired("two", "body.M one.R two.R load.R", "one.C two.C load.C ground.V",
                     ground=Reference(), body=Mass(), one=part, two=other,
                     load=push(lambda t: 3 * sin(t)))

    pressed = PressedBy(grip=0.5, least="0 N")
    model = network(Known(strength="1 N"), pressed)
    model.connect(model.one.F, pressed.N)
    run, plain = (m.simulate("6 s", rtol=1e-8) for m in (model, network(dry(1.0), dry(0.5))))
    t = np.linspace(0, 6, 30)
    assert_allclose(values(run, ["body.v"], t), values(plain, ["body.v"], t), rtol=0, atol=1e-6)
