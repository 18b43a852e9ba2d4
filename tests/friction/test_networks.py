"""Networks of exact dry friction against closed forms and reference numbers."""

from itertools import pairwise

import benches.friction as bench
import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry, happened, missing_energy, moved, reference, value, values
from numpy.testing import assert_allclose

import blocks
import library.rotational as rot
import library.translational as tr
from blocks import Component, Model, Parameter, Port, Variable, cos, quantity, sin, where
from library.electrical import ACVoltageSource, Diode, ElectricalReference, Resistor
from library.thermal import ThermalMass


class Lever(Component):
    """The output moves ``ratio`` times as far as the input."""

    S, O = Port(tr.translational), Port(tr.translational)
    ratio = Parameter(3.0)

    def equations(self):
        yield self.O.v == self.ratio * self.S.v
        yield self.S.f == -self.ratio * self.O.f


class PressedBrake(tr.TwoPort):
    """Friction of a strength that may fall to nothing."""

    force = Parameter("4 N", varying=True)
    power_dissipated = Variable("W")

    def equations(self):
        yield blocks.dry_friction(self.f, self.v, static=self.force, kinetic=self.force)
        yield self.power_dissipated == self.f * self.v


def bodies(masses, frictions, load, on=0):
    """Masses, frictions (R, C, kinetic[, static]; -1 is ground) and one load on a mass."""
    model = wired("bodies", ground=tr.Reference())
    joints = {-1: model.ground.V}
    for i, m in enumerate(masses):
        joints[i] = model.add(f"m{i}", tr.Mass(mass=quantity(m, "kg"))).M
        bench.place(model, f"x{i}", joints[i])
    for k, (r, c, *strength) in enumerate(frictions):
        friction = model.add(f"f{k}", dry(*strength))
        model.connect(joints[r], friction.R)
        model.connect(joints[c], friction.C)
    model.load = bench.push(load)
    model.connect(model.load.R, joints[on])
    model.connect(model.load.C, model.ground.V)
    return model


def modes(run, count):
    """Times and the modes of f0, f1, ... after each, from the events."""
    state, out = ["sticks"] * count, []
    for time, component, what in happened(run):
        state[int(component[1:])] = what
        if out and abs(out[-1][0] - time) < 1e-12:
            out.pop()
        out.append((time, tuple(state)))
    return out


FORTH, BACK, REST = "slides forward", "slides backward", "sticks"


# -- N1: stacked blocks ------------------------------------------------------------------
def test_the_lower_of_two_stacked_blocks_breaks_away_with_the_upper_one_on_it():
    run = bodies([1, 1], [(0, -1, 0.8), (1, 0, 1.0)], lambda t: 0.5 * t, on=1).simulate(
        "4 s", rtol=1e-11)  # fmt: skip
    found = modes(run, 2)
    assert [m for _, m in found] == [(FORTH, REST), (FORTH, FORTH)]
    assert_allclose([t for t, _ in found], [1.6, 2.4], rtol=0, atol=1e-9)
    # together from 1.6 s: x'' = (t/2 - 0.8)/2; apart from 2.4 s: A under 1 - 0.8, B under t/2 - 1
    s, u = 0.8, 1.6  # durations of the two stages
    v0, x0 = s**2 / 8, s**3 / 24
    a = x0 + v0 * u + 0.2 * u**2 / 2
    b = x0 + v0 * u + 0.2 * u**2 / 2 + u**3 / 12
    assert_allclose([value(run, "x0.x"), value(run, "x1.x")], [a, b], rtol=0, atol=1e-9)
    assert_allclose([a, b], [0.405333333333, 0.746666666667], atol=1e-11)
    assert_allclose([value(run, "m0.v"), value(run, "m1.v")], [0.4, 1.04], rtol=0, atol=1e-9)
    xa, xb = values(run, ["x0.x", "x1.x"], np.linspace(0, 2.4, 100))
    assert np.abs(xb - xa).max() <= 1e-15
    assert missing_energy(run) < 1e-9


# -- N2: three blocks on springs ---------------------------------------------------------
def test_a_chain_of_three_blocks_slips_as_the_reference():
    case = reference()["chain"]
    model = wired("chain", "drive.C ground.V",
                  ground=tr.Reference(), drive=tr.VelocitySource(velocity="0.1 m/s"))
    row = []
    for i, (kinetic, static) in enumerate([(1, 1.5), (1.1, 1.6), (0.9, 1.4)]):
        body, friction = model.add(f"m{i}", tr.Mass()), model.add(f"f{i}", dry(kinetic, static))
        pull = model.add(f"pull{i}", tr.Spring(stiffness="1 N/m"))
        model.connect(body.M, friction.R, pull.C)
        model.connect(friction.C, model.ground.V)
        model.connect(pull.R, model.drive.R)
        bench.place(model, f"x{i}", body.M)
        row.append(body)
    for i, (left, right) in enumerate(pairwise(row)):
        link = model.add(f"link{i}", tr.Spring(stiffness="1 N/m"))
        model.connect(left.M, link.C)
        model.connect(right.M, link.R)
    run = model.simulate("60 s", rtol=1e-12)
    events = happened(run)
    assert [e[1:] for e in events[:4]] == [("f2", FORTH), ("f1", FORTH), ("f0", FORTH),
                                          ("f1", REST)]  # fmt: skip
    assert_allclose([e[0] for e in events[:4]], case["events"], rtol=0, atol=1e-7)
    assert_allclose([value(run, f"x{i}.x") for i in range(3)], case["x"], rtol=0, atol=1e-7)
    assert_allclose(value(run, "m2.v"), case["v3"], rtol=0, atol=1e-7)


# -- N3: a train of clutches -------------------------------------------------------------
def test_a_train_of_clutches_locks_and_slips_as_the_reference():
    case = reference()["clutches"]
    model = Model("train")
    model.ground = rot.RotationalReference()
    model.damper = rot.RotationalDamper(damping="0.3 N*m*s/rad")
    shafts = [model.add(f"j{i}", rot.Inertia(
        inertia=quantity(j, "kg*m^2"), w=quantity(10.0 if i == 3 else 0.0, "rad/s")))
        for i, j in enumerate([1, 0.5, 0.5, 1])]  # fmt: skip
    for i, (kinetic, static) in enumerate([(4, 5), (3, 3.5), (2, 2.4)]):
        clutch = model.add(f"f{i}", rot.RotationalFriction(
            law="coulomb", coulomb_torque=quantity(kinetic, "N*m"),
            breakaway_torque=quantity(static, "N*m")))  # fmt: skip
        model.connect(shafts[i].I, clutch.R)
        model.connect(clutch.C, shafts[i + 1].I)
    model.engine = rot.TorqueSource(
        torque=lambda t: quantity("10 N*m") * sin(quantity(0.4 * np.pi, "rad/s") * t))
    model.connect(model.engine.R, shafts[0].I)
    model.connect(model.damper.R, shafts[3].I)
    model.connect(model.engine.C, model.damper.C, model.ground.W)
    for i, shaft in enumerate(shafts):
        sensor = model.add(f"s{i}", rot.RotationalMotionSensor(reference="absolute"))
        model.connect(sensor.R, shaft.I)
    run = model.simulate("10 s", rtol=1e-11)
    # The reference also lists 1.220478727, which is no event: from 1.2034 s to 2.5974 s the
    # outer clutches slide with 4 and 2 N m, so the middle one carries exactly
    # 2 + (4 - 2) 0.5/(0.5 + 0.5) = 3 N m, its sliding torque, at zero relative acceleration.
    times = sorted({round(t, 10) for t, *_ in happened(run)})
    assert_allclose(times, np.delete(case["events"], 1), rtol=0, atol=1e-7)
    assert_allclose(values(run, ["f1.t"], [1.21, 2.0, 2.5]), 3.0, rtol=1e-12)
    assert happened(run, "f1") == []
    angle = [value(run, f"s{i}.{ANGLE}") for i in range(4)]
    speed = [value(run, f"j{i}.w") for i in range(4)]
    assert_allclose(angle, case["angle"], rtol=0, atol=1e-7)
    assert_allclose(speed, case["speed"], rtol=0, atol=1e-7)
    assert missing_energy(run) < 1e-7


ANGLE = "phi"


# -- N4: parallel frictions --------------------------------------------------------------
def test_frictions_in_parallel_hold_the_sum_of_what_each_holds():
    run = bodies([1], [(0, -1, 1.0), (0, -1, 3.0)], lambda t: t).simulate("6 s", rtol=1e-11)
    found = modes(run, 2)
    assert [m for _, m in found] == [(FORTH, FORTH)]
    assert_allclose(found[0][0], 4.0, rtol=0, atol=1e-9)
    assert_allclose([value(run, "x0.x"), value(run, "m0.v")], [4 / 3, 2.0], rtol=0, atol=1e-9)
    t = np.array([0.4, 1.0, 2.5, 3.99])
    assert_allclose(values(run, ["f0.f", "f1.f"], t), [t / 4, 3 * t / 4], rtol=1e-9)


# -- N5: geared brakes -------------------------------------------------------------------
def test_brakes_on_geared_shafts_act_as_one():
    case = reference()["geared brakes"]
    model = bodies([1, 0.2], [(0, -1, 2.0), (1, -1, 0.5)],
                   lambda t: 2 * t - where(t > 4, 6 * (t - 4), 0 * t))  # fmt: skip
    wire(model, "lever.S m0.M", "lever.O m1.M", lever=Lever())
    run = model.simulate("8 s", rtol=1e-11)
    found = modes(run, 2)
    assert [m for _, m in found] == [(FORTH, FORTH), (BACK, BACK)]
    assert_allclose([t for t, _ in found], [case["slip"], case["reversal"]], rtol=0, atol=1e-9)
    assert_allclose([value(run, "x0.x"), value(run, "m0.v")], [case["x"], case["v"]],
                    rtol=0, atol=1e-9)  # fmt: skip
    # at rest: lambda0 + 3 lambda1 = load, both at the same share of 2 and 0.5
    share = 2 * 1.2 / 3.5
    assert_allclose([value(run, "f0.f", 1.2), value(run, "f1.f", 1.2)], [2 * share, 0.5 * share],
                    rtol=1e-9)  # fmt: skip
    assert [s.components for s in run.sticking().undetermined] == [("f0", "f1")]


# -- N6: a loop of frictions -------------------------------------------------------------
@pytest.mark.parametrize(("ground", "sequence", "events", "x", "atol"), [
    # a'' = 0.6 (t - 1.7/0.6): x = 0.1 (8 - 1.7/0.6)^3 = 0.1 (31/6)^3
    (2.0, [(FORTH, REST, BACK)], [1.7 / 0.6], [0.1 * (31 / 6) ** 3, 0.0], [1e-9, 1e-15]),
    (0.4, [(FORTH, FORTH, REST), (FORTH, FORTH, BACK)],  # first together and then apart
     *(reference()["loop"]["weak ground"][name] for name in ("events", "x")), 1e-9)])
def test_a_loop_of_frictions_lets_go_where_its_best_split_ends(ground, sequence, events, x, atol):
    run = bodies([1, 2], [(0, -1, 1.0), (1, -1, ground), (1, 0, 0.7)], lambda t: 0.6 * t).simulate(
        "8 s", rtol=1e-11)  # fmt: skip
    found = modes(run, 3)
    assert [m for _, m in found] == sequence
    assert_allclose([t for t, _ in found], events, rtol=0, atol=1e-9)
    assert (np.abs(np.subtract([value(run, "x0.x"), value(run, "x1.x")], x)) <= atol).all()


# -- N7: in series, without mass between -------------------------------------------------
def test_a_driven_pair_in_series_dissipates_in_the_weaker_only():
    model = wired("series", "drive.R f1.R", "f1.C f2.R", "f2.C drive.C ground.V",
                  ground=tr.Reference(), f1=dry(1.0), f2=dry(2.0), drive=tr.VelocitySource(
                      velocity=lambda t: quantity("1 m/s") * cos(quantity("1 rad/s") * t)))
    run = model.simulate(quantity(2 * np.pi, "s"), rtol=1e-11)
    lost = {t.component: t.dissipated for t in run.recording.energy_terms()}
    assert_allclose([lost["f1"], lost["f2"]], [4.0, 0.0], rtol=0, atol=1e-9)


# -- N8: prescribed motion and rigid paths -----------------------------------------------
@pytest.mark.parametrize("method", ["auto", "Radau", "ode45"])
def test_friction_across_a_prescribed_motion_dissipates_four_amplitudes_a_period(method):
    run = moved(dry(1.0), lambda t: cos(t)).simulate(
        quantity(4 * np.pi, "s"), rtol=1e-11, method=method)
    assert [e[2] for e in happened(run)] == [BACK, FORTH] * 2
    assert_allclose([e[0] for e in happened(run)], np.pi * (np.arange(4) + 0.5), rtol=0, atol=1e-9)
    (lost,) = [t.dissipated for t in run.recording.energy_terms() if t.component == "friction"]
    assert_allclose(lost, 8.0, rtol=0, atol=1e-9)
    assert missing_energy(run) < 1e-9


def test_friction_across_a_rigid_link_carries_nothing():
    model = wired("rigid", "a.M rod.R friction.R brake.R", "b.M rod.C friction.C",
                  "brake.C ground.V",
                  a=tr.Mass(v="1 m/s"), b=tr.Mass(v="1 m/s"), rod=tr.Rod(), friction=dry(1.0),
                  brake=dry(0.5), ground=tr.Reference())
    run = model.simulate("6 s", rtol=1e-10)
    ((time, component, _),) = happened(run)
    assert component == "brake"
    assert_allclose(time, 4.0, rtol=0, atol=1e-9)
    assert_allclose(values(run, ["friction.f", "friction.v"], [0.0, 2.0, 5.0]), 0, atol=0)
    assert run.sticking().undetermined[0].components == ("friction",)


def test_friction_within_a_gear_train_that_cannot_move_apart_carries_nothing():
    # both ends of the friction are three times as fast as the mass, over two levers
    model = wired("levers", "a.M left.S right.S brake.R", "left.O b.M friction.R",
                  "right.O c.M friction.C", "brake.C ground.V",
                  a=tr.Mass(v="1 m/s"), ground=tr.Reference(), friction=dry(1.0), left=Lever(),
                  right=Lever(), brake=dry(0.5), b=tr.Mass(v="3 m/s", mass="0.1 kg"),
                  c=tr.Mass(v="3 m/s", mass="0.2 kg"))
    run = model.simulate("10 s", rtol=1e-10)
    (event,) = happened(run)
    assert_allclose(event[0], (1 + 9 * 0.3) / 0.5, rtol=0, atol=1e-9)
    assert_allclose(values(run, ["friction.f"], [1.0, 5.0, 9.0]), 0, atol=1e-9)


def test_friction_on_a_drive_that_starts_later_follows_at_once():
    run = moved(dry(1.0, 1.5), lambda t: where(t > 1, t - 1, 0 * t)).simulate("3 s")
    ((time, *_),) = happened(run)
    assert_allclose(time, 1.0, atol=1e-9)
    assert_allclose(values(run, ["friction.f"], [0.5, 1.5, 2.5])[0], [0, 1, 1], atol=1e-12)


# -- redundancy --------------------------------------------------------------------------
def test_the_report_names_the_brakes_that_share_a_load():
    run = bodies([1], [(0, -1, 1.0, 2.0), (0, -1, 3.0, 4.0)], lambda t: 3 + 0 * t).simulate("2 s")
    (shared,) = run.sticking().undetermined
    assert shared.components == ("f0", "f1")
    assert_allclose(shared.efforts, [1.0, 2.0], rtol=1e-9)
    text = repr(run.sticking())
    assert "f0 and f1 share a load from 0 s to 2 s" in text
    assert "does not determine the split" in text


def test_what_the_same_brakes_share_again_and_again_is_one_sentence_of_the_report():
    run = bodies([1], [(0, -1, 1.0, 2.0), (0, -1, 3.0, 4.0)],
                 lambda t: 4 + 4 * np.sin(2 * t)).simulate("8 s")
    report = run.sticking()
    assert len(report.undetermined) >= 3
    (note,) = report.notes
    assert repr(report).endswith(note)
    others = len(report.undetermined) - 1
    assert note.endswith(f"So do they in {others} shorter times of the run.")


def test_determined_frictions_are_not_reported_as_shared():
    run = bodies([1, 1], [(0, -1, 0.8), (1, 0, 1.0)], lambda t: 0.5 * t, on=1).simulate("1 s")
    assert run.sticking().undetermined == ()


@pytest.mark.parametrize("beyond", [0, 1e-7])
def test_a_load_that_touches_the_bound_breaks_away_only_beyond_it(beyond):
    run = bodies([1], [(0, -1, 1.0)], lambda t: (1 + beyond) * sin(t)).simulate("6 s", rtol=1e-11)
    # at most it starts and stops at the touch; it never goes anywhere
    assert len(happened(run)) <= 8
    assert abs(value(run, "x0.x")) < 1e-7


def test_a_body_at_rest_with_the_load_exactly_at_the_bound_counts_as_stuck():
    run = bodies([1], [(0, -1, 1.0)], lambda t: 1 + 0 * t).simulate("5 s")
    assert run.sticking()["f0"].fraction == 1
    assert happened(run) == []
    assert value(run, "m0.v") == 0
    assert_allclose(value(run, "f0.f"), 1.0, rtol=1e-14)
    growing = bodies([1], [(0, -1, 1.0)], lambda t: 1 + t).simulate("5 s", rtol=1e-10)
    assert growing.sticking()["f0"].fraction == 0
    assert_allclose(value(growing, "m0.v"), 12.5, rtol=1e-9)
    falling = bodies([1], [(0, -1, 1.0)], lambda t: 1 - t / 10).simulate("5 s")
    assert falling.sticking()["f0"].fraction == 1
    assert value(falling, "m0.v") == 0


def test_a_brake_that_is_released_and_applied_again_acts_against_the_motion():
    # released from 1 s to 3 s, while the load turns the motion round
    model = wired("brake", body=tr.Mass(), ground=tr.Reference())
    model.brake = PressedBrake(force=lambda t: where(
        (t > quantity("1 s")) & (t < quantity("3 s")), quantity("0 N"), quantity("4 N")))
    model.load = bench.push(lambda t: where(t < 1.5, 2.0 + 0 * t, -2.0 + 0 * t))
    model.connect(model.body.M, model.brake.R, model.load.R)
    model.connect(model.brake.C, model.load.C, model.ground.V)
    run = model.simulate("5 s", rtol=1e-10)
    # 1 m/s at 1.5 s, -2 m/s at 3 s, then braked with 4 N - 2 N
    v = values(run, ["body.v"], [0.5, 1.5, 2.0, 3.0, 3.5, 4.5])[0]
    assert_allclose(v, [0, 1, 0, -2, -1, 0], rtol=0, atol=1e-9)
    assert_allclose(bench.times_of(run, "sticks", component="brake")[-1], 4.0, rtol=0, atol=1e-9)
    assert_allclose(values(run, ["brake.f"], [0.5, 2.5, 3.5, 4.5])[0], [2, 0, -4, -2], atol=1e-9)


def test_friction_on_a_drive_that_comes_to_rest_carries_nothing_more():
    run = moved(dry(1.0), lambda t: where(t < 2, 2 - t, 0 * t)).simulate("4 s")
    assert_allclose(values(run, ["friction.f"], [0.5, 1.5, 2.5, 3.5])[0], [1, 1, 0, 0], atol=0)
    assert_allclose(bench.times_of(run, "sticks"), [2.0], rtol=0, atol=1e-9)


def test_frictions_that_heat_two_bodies_rest_as_one_beside_a_law_that_bends():
    """What each carries at rest heats nothing: it needs no decision of its own there."""
    model = Model("seal and guide")
    model.mass, model.wall, model.ground = tr.Mass(v="1 m/s"), tr.Reference(), ElectricalReference()
    for name, force in (("seal", "6 N"), ("guide", "4 N")):
        part = model.add(name, tr.TranslationalFriction(
            law="coulomb", coulomb_force=force, breakaway_force="40 N", thermal_port=True))
        body = model.add(f"{name}_body", ThermalMass(mass="1 g", specific_heat="500 J/(kg*K)",
                                                     T="300 K"))  # fmt: skip
        model.connect(part.R, model.mass.M)
        model.connect(part.C, model.wall.V)
        model.connect(part.H, body.M)
    wire(model, "source.p wire.p", "wire.n diode.p", "diode.n source.n ground.V",
         source=ACVoltageSource(frequency="2 Hz"), wire=Resistor(resistance="10 ohm"),
         diode=Diode(model="exponential"))
    run = model.simulate("1 s")
    assert_allclose(bench.times_of(run, "sticks"), [0.1, 0.1], rtol=0,
                    atol=1e-9)  # v/a, a = 10 m/s^2
    warmed = values(run, ["seal_body.T", "guide_body.T"], [1.0])[:, 0] - 300
    assert_allclose(warmed, np.array([6, 4]) * 0.05 / 0.5, rtol=1e-7)  # over v^2/(2 a)
    assert "stretches in Python" not in run.statistics
