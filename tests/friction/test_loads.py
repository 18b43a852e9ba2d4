"""Laws with a normal force, laws of the load, and the energy that every law accounts for."""

import benches.friction as bench
import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry, loaded, missing_energy, moved, place, push, value, values
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks import Output, Parameter, ParameterError, SimulationError, Variable, cos, quantity, sin
from blocks.exceptions import BlocksError
from blocks.initialisation.nominal_values import find_nominals
from blocks.simulation.run_start import consistent_start
from library.frictionlaws import LAWS
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Ramp, Sine


# -- a normal force ---------------------------------------------------------------------------
def rubbing(law, **more):
    """A law with coefficients 0.3 and 0.5."""
    kind = LAWS[law]
    if "breakaway" in kind.uses:
        more["breakaway_coefficient"] = 0.5
    return tr.TranslationalFriction(law=law, normal=True, coulomb_coefficient=0.3, **more)


@pytest.mark.parametrize("law", [
    "coulomb", "viscous", "tanh", "quinn", "karnopp", "karnopp_1985", "awrejcewicz", "kikuuwe",
    "dahl", "lugre", "maxwell_slip"])  # fmt: skip
def test_sliding_friction_is_a_coefficient_times_the_normal_force(law):
    friction = rubbing(law, normal_force="20 N")
    run = moved(friction, lambda t: 1 + 0 * t).simulate("0.1 s", rtol=1e-8, method="rodas4")
    expected = 0.3 * 20
    if law == "lugre":
        expected += 0.2 * 20 * np.exp(-((1 / 0.1) ** 2))
    assert_allclose(value(run, "friction.f"), expected, rtol=1e-6)


@pytest.mark.parametrize("law", ["coulomb", "quinn", "kikuuwe"])
def test_a_body_breaks_loose_where_the_normal_force_no_longer_holds_it(law):
    # 0.5 N(t) against 6 N, N falling by 2 N/s from 20 N: at 4 s
    friction = rubbing(law, normal_force=lambda t: quantity("20 N") - quantity("2 N/s") * t,
                       **({} if law == "coulomb" else {"band": "1 um/s"}))  # fmt: skip
    run = loaded(friction, lambda t: 6 + 0 * t).simulate("5 s", rtol=1e-9, method="rodas4")
    assert_allclose(value(run, "body.v", 3.99), 0, atol=1e-6)
    # then (6 - 0.3 N) over 1 kg
    assert_allclose(value(run, "body.v"), 6 - 0.3 * (12 + 10) / 2, rtol=1e-4)


def test_the_normal_force_may_be_a_signal():
    model = moved(rubbing("quinn"), lambda t: 1 + 0 * t)
    wire(model, "press.y friction.N", press=Sine(amplitude="5 N", frequency="1 Hz", bias="20 N"))
    run = model.simulate("1 s", rtol=1e-8, max_step="10 ms")
    t = np.linspace(0, 1, 21)
    assert_allclose(values(run, ["friction.f"], t)[0], 0.3 * (20 + 5 * np.sin(2 * np.pi * t)),
                    rtol=1e-9)  # fmt: skip


class Floor(tr.TwoPort):
    """A floor that carries R and reports the force."""

    gap, r = Variable("m", "0 m", priority="high"), Variable("N")
    N = Output("N")

    def equations(self):
        yield blocks.der(self.gap) == self.v
        yield blocks.contact(self.r, self.gap, -self.v)
        yield self.f == -self.r
        yield self.r == self.N


@pytest.mark.parametrize("law", ["quinn", "tanh", "lugre"])
def test_the_normal_force_may_be_that_of_a_contact(law):
    model = wired("pressed", "up.M floor.R weight.R", "along.M friction.R",
                  "floor.C weight.C friction.C ground.V", "floor.N friction.N",
                  up=tr.Mass(), along=tr.Mass(v="3 m/s"), ground=tr.Reference(), floor=Floor(),
                  weight=tr.ForceSource(force=lambda t: quantity("-10 N") - quantity("4 N/s") * t),
                  friction=rubbing(law, **({"damping": "0 N*s/m"} if law == "lugre" else {})))
    run = model.simulate("0.5 s", rtol=1e-8, method="rodas4")
    assert_allclose(value(run, "along.v"), 3 - 0.3 * (10 * 0.5 + 2 * 0.25), rtol=1e-4)


def test_a_surface_that_is_pulled_off_does_not_rub():
    model = moved(rubbing("coulomb"), lambda t: 1 + 0 * t)
    wire(model, "press.y friction.N", press=Ramp(initial="1 N", slope="-2 N/s"))
    run = model.simulate("1 s", rtol=1e-8)
    assert_allclose(value(run, "friction.f", 0.2), 0.3 * (1 - 2 * 0.2), rtol=1e-9)
    assert value(run, "friction.f", 0.9) == 0


def test_turning_friction_acts_at_a_radius():
    model = wired("brake", "disc.I brake.R", "brake.C wall.W",
                  disc=Inertia(w="10 rad/s", inertia="1 kg*m^2"), wall=RotationalReference(),
                  brake=RotationalFriction(law="coulomb", normal=True, coulomb_coefficient=0.3,
                                           breakaway_coefficient=0.3, normal_force="20 N",
                                           radius="0.5 m"))
    run = model.simulate("2 s")
    assert_allclose(value(run, "brake.t"), 3, rtol=1e-12)
    assert_allclose(value(run, "disc.w"), 10 - 3 * 2, rtol=1e-9)


def test_a_coefficient_at_rest_below_that_of_sliding_is_refused():
    friction = tr.TranslationalFriction(law="quinn", normal=True, breakaway_coefficient=0.2)
    with pytest.raises(BlocksError, match="breakaway_coefficient is 0.2"):
        loaded(friction, lambda t: t).simulate("1 s")


def test_a_table_of_forces_takes_no_normal_force():
    with pytest.raises(BlocksError, match="Leave normal out"):
        loaded(tr.TranslationalFriction(law="table", normal=True), lambda t: t).simulate("1 s")


def test_time_stepping_names_the_laws_that_it_does_not_know():
    with pytest.raises(ParameterError, match="no laws that look at the load"):
        bench.pulled("quinn", 1e-3).simulate("1 s", method="moreau_jean", step="1 ms")


@pytest.mark.parametrize("law", [name for name in LAWS if name != "bristle"])
def test_every_law_accounts_for_all_energy(law):
    friction = tr.TranslationalFriction(law=law)
    run = loaded(friction, lambda t: 30 * sin(40 * t)).simulate("0.2 s", rtol=1e-7, method="rodas4")
    assert missing_energy(run) < 1e-5
    if not LAWS[law].memory:
        sliding = np.abs(values(run, ["friction.v"], run.recording.times)[0]) > 0.2
        power = values(run, ["friction.power_dissipated"], run.recording.times)[0]
        assert np.all(power[sliding] > 0)


@pytest.mark.parametrize("law", [name for name in LAWS if name not in ("bristle", "table")])
def test_every_law_opposes_sliding_with_its_kinetic_strength(law):
    friction = tr.TranslationalFriction(law=law)
    for way in (1, -1):
        run = moved(friction if way > 0 else tr.TranslationalFriction(law=law),
                    lambda t, way=way: way * 2 + 0 * t).simulate(
                        "0.1 s", rtol=1e-8, method="rodas4")  # fmt: skip
        expected = 20.0 + 100 * 2 if law == "simscape" else 20.0
        if law == "reset_integrator":
            expected = 1e5 * 1e-4
        assert_allclose(value(run, "friction.f"), way * expected, rtol=1e-6)


def test_bristles_account_for_the_energy_of_every_snap():
    friction = tr.TranslationalFriction(law="bristle", least_offset=-1.0, largest_offset=0.9)
    run = moved(friction, lambda t: 1e-3 * sin(9 * t)).simulate("0.5 s", rtol=1e-10)
    assert missing_energy(run) < 1e-8


class Slow(tr.Mass):
    """A body with another default."""

    mass = Parameter("3 kg", above=0)


def test_friction_of_any_law_works_between_two_moving_bodies():
    for law in ("quinn", "lugre", "karnopp_1985"):
        model = wired("two bodies", "a.M friction.R", "b.M friction.C",
                      a=Slow(v="2 m/s"), b=tr.Mass(v="0 m/s"),
                      friction=tr.TranslationalFriction(law=law), ground=tr.Reference())
        run = model.simulate("1 s", rtol=1e-8, method="rodas4")
        assert_allclose([value(run, "a.v"), value(run, "b.v")], 1.5, rtol=1e-4)


# -- laws of the load -------------------------------------------------------------------------
def law(name, strength, band=1e-2, mu=1.0, **more):
    if name == "coulomb":
        return dry(mu * strength, strength)
    return tr.TranslationalFriction(
        law=name, coulomb_force=quantity(mu * strength, "N"),
        breakaway_force=quantity(strength, "N"), band=quantity(band, "m/s"), **more)  # fmt: skip


def stack(name, band, floor=None):
    """A body on a body on the floor; the upper one is pulled by t/2."""
    model = wired("stack", "a.M floor.R joint.C", "b.M joint.R load.R", "floor.C load.C ground.V",
                  a=tr.Mass(), b=tr.Mass(), ground=tr.Reference(),
                  floor=floor or law(name, 0.8, band), joint=law(name, 1.0, band),
                  load=push(lambda t: 0.5 * t))
    place(model, "at_a", model.a.M)
    place(model, "at_b", model.b.M)
    return model


@pytest.mark.parametrize(("name", "band"), [
    ("quinn", 1e-2), ("quinn", 1e-3), ("kikuuwe", 1e-3), ("karnopp", 1e-2), ("awrejcewicz", 1e-3)])
def test_a_body_carried_by_another_does_not_creep_on_it(name, band):
    run = stack(name, band).simulate("4 s", rtol=1e-9, method="Radau")
    apart = value(run, "at_b.x", 2.399) - value(run, "at_a.x", 2.399)
    assert abs(apart) < 1e-13  # a local load, of the forces on one body, gives -4e-2 band
    assert_allclose([value(run, "at_a.x"), value(run, "at_b.x")],
                    [0.405333333333, 0.746666666667], rtol=0, atol=3e-9)  # fmt: skip
    assert_allclose([value(run, "a.v"), value(run, "b.v")], [0.4, 1.04], rtol=1e-7)


def test_the_load_is_effort_plus_rate_over_mobility():
    run = stack("quinn", 1e-2).simulate("4 s", rtol=1e-9, method="Radau")
    t = np.array([0.5, 2.0, 3.5])
    f = values(run, ["floor.f", "joint.f", "a.f", "b.f", "floor.load", "joint.load"], t)
    floor, joint, on_a, on_b = f[:4]  # masses of 1 kg: forces on them are accelerations
    assert_allclose(f[4], floor + on_a / 1.0, atol=1e-9)
    assert_allclose(f[5], joint + (on_b - on_a) / 2.0, atol=1e-9)


def test_one_friction_alone_has_all_other_forces_as_its_load():
    run = loaded(law("quinn", 5.0), lambda t: 3 * cos(t)).simulate("3 s", rtol=1e-9)
    t = np.linspace(0, 3, 13)
    load, f, v = values(run, ["friction.load", "friction.f", "body.v"], t)
    assert_allclose(load, 3 * np.cos(t), atol=1e-12)
    assert_allclose(f, load, atol=1e-6)
    assert_allclose(v, 0, atol=2e-9)


@pytest.mark.parametrize("name", ["kikuuwe", "quinn"])
def test_friction_in_parallel_shares_a_load_without_failing(name):
    model = wired("parallel", "body.M one.R other.R load.R", "one.C other.C load.C ground.V",
                  body=tr.Mass(), ground=tr.Reference(), one=law(name, 1.0), other=law(name, 3.0),
                  load=push(lambda t: t))
    place(model, "at", model.body.M)
    run = model.simulate("6 s", rtol=1e-9, method="Radau")
    total = values(run, ["one.f", "other.f"], np.array([1.0, 3.0, 3.9])).sum(axis=0)
    assert_allclose(total, [1.0, 3.0, 3.9], rtol=1e-6)
    assert_allclose([value(run, "at.x"), value(run, "body.v")], [4 / 3, 2.0], rtol=0, atol=1e-6)


def rubbing_pair(joint, floor, kinetic=1.0, band=1e-3):
    """Two bodies on a floor, with a spring and friction between them; one is shaken."""
    return wired("pair", "a.M floor_a.R joint.R tie.R load.R", "b.M floor_b.R joint.C tie.C",
                 "floor_a.C floor_b.C load.C ground.V", a=tr.Mass(), b=tr.Mass(),
                 ground=tr.Reference(), tie=tr.Spring(stiffness="30 N/m"),
                 load=push(lambda t: 3 * sin(7 * t)), joint=law(joint, 0.5, band),
                 floor_a=law(floor, 0.7, band, kinetic), floor_b=law(floor, 0.8, band, kinetic))


@pytest.mark.parametrize(("joint", "floor"), [("quinn", "quinn"), ("kikuuwe", "coulomb")])
def test_bodies_that_rub_on_each_other_and_on_a_floor_move_as_with_exact_friction(joint, floor):
    t, paths = np.linspace(0.1, 1, 10), ["a.v", "b.v"]
    exact = values(rubbing_pair("coulomb", "coulomb").simulate("1 s", rtol=1e-8), paths, t)
    run = rubbing_pair(joint, floor).simulate("1 s", rtol=1e-7)
    assert_allclose(values(run, paths, t), exact, rtol=0, atol=2e-3)  # two bands
    assert missing_energy(run) < 1e-5


@pytest.mark.parametrize(("joint", "floor", "kinetic", "words"), [
    ("quinn_1", "coulomb", 1.0, "joint.*up to 2.4[67] times as fast as the load"),
    ("quinn_2", "quinn_2", 1.0, "up to 2.0[78] times"), ("kikuuwe_1", "coulomb", 1.0, "1.33 times"),
    ("kikuuwe", "kikuuwe", 0.8, "their force falls where the load on them grows"),
    ("quinn", "coulomb", 0.8, "joint.*friction beside them lets go to less than it held")])
def test_laws_of_the_load_that_several_motions_obey_are_refused_at_the_start(
        joint, floor, kinetic, words):
    with pytest.raises(SimulationError, match=words) as told:
        rubbing_pair(joint, floor, kinetic).simulate("1 s")
    assert told.value.code == "simulation.paradox"


def test_across_a_prescribed_motion_the_force_opposes_the_acceleration_at_rest():
    run = moved(law("quinn", 1.0, 1e-6), lambda t: cos(t)).simulate("2 s", rtol=1e-9)
    f = values(run, ["friction.f"], np.array([1.0, 1.57, 1.58, 2.0]))[0]
    assert_allclose(f, [1, 1, -1, -1])
    model = moved(law("quinn", 1.0, 1e-4), lambda t: cos(t))
    # something must be integrated for the steps to find the turns
    wire(model, "body.M spring.R", "spring.C ground.V",
         body=tr.Mass(v="1 m/s"), spring=tr.Spring(stiffness="1 N/m"))
    run = model.simulate(quantity(2 * np.pi, "s"), rtol=1e-9, max_step="1 ms")
    assert_allclose(run.energy()["friction"].dissipated, 4.0, rtol=1e-3)


def test_across_a_rigid_link_nothing_fails():
    model = stack("quinn", 1e-2)
    wire(model, "rod.R a.M", "rod.C b.M", rod=tr.Rod())
    run = model.simulate("4 s", rtol=1e-8, method="Radau")
    # 2 kg on 0.8 N: t/2 - 0.8 from t = 1.6 s on
    assert_allclose(value(run, "a.v"), (0.25 * 16 - 0.8 * 4 - (0.25 * 1.6**2 - 0.8 * 1.6)) / 2,
                    rtol=1e-6)  # fmt: skip
    assert_allclose(values(run, ["joint.f", "joint.v"], np.array([1.0, 3.0])), 0, atol=1e-9)


def test_exact_friction_and_a_law_of_the_load_work_in_one_network():
    run = stack("quinn", 1e-3, dry(0.8)).simulate("4 s", rtol=1e-9, method="Radau")
    (slip, *_), *others = bench.happened(run, "floor")
    assert not others
    assert_allclose(slip, 1.6, atol=1e-7)
    assert_allclose([value(run, "at_a.x"), value(run, "at_b.x")],
                    [0.405333333333, 0.746666666667], rtol=0, atol=1e-6)  # fmt: skip


def test_a_law_of_the_load_beside_friction_that_sticks_holds_a_body():
    model = wired("pair", "a.M floor.R side.R one.R load.R", "b.M rest.R side.C one.C",
                  "floor.C rest.C load.C ground.V", a=tr.Mass(), b=tr.Mass(), ground=tr.Reference(),
                  floor=dry(1), rest=dry(1), side=dry(0.4), one=law("quinn", 0.6), load=push(abs))
    t = np.linspace(0, 1.3, 14)
    *held, v = values(model.simulate("1.35 s"), ["floor.f", "side.f", "one.f", "a.v"], t)
    assert_allclose([np.sum(held, axis=0), v], [t, 0 * t], rtol=0, atol=1e-9)


def test_karnopps_own_law_holds_a_body_on_another_that_moves():
    model = wired("carried", "cart.M rub.C", "box.M rub.R",
                  cart=tr.Mass(mass="2 kg", v="1 m/s"), box=tr.Mass(), ground=tr.Reference(),
                  rub=law("karnopp_1985", 1.0, 0.01))
    run = model.simulate("2 s", rtol=1e-9)
    (time, _, what), *_ = bench.happened(run, "rub")
    assert what == "sticks"
    assert_allclose(time, (1 - 0.01) / (1 + 0.5), rtol=1e-6)  # |v| falls at 1/1 + 1/2
    assert value(run, "rub.v") == pytest.approx(0, abs=1e-16)
    assert_allclose(value(run, "box.v"), 2 / 3, rtol=1e-9)  # momentum is kept


def test_karnopps_own_law_leaves_at_rest_what_exact_friction_holds():
    model = wired("carried", "cart.M rub.C floor.R", "box.M rub.R", "floor.C ground.V",
                  cart=tr.Mass(mass="2 kg"), box=tr.Mass(v="1 m/s"), ground=tr.Reference(),
                  rub=law("karnopp_1985", 3.0, 0.1), floor=dry(50, 50))
    run = model.simulate("1 s", rtol=1e-9)
    assert_allclose(values(run, ["box.v", "cart.v"], np.array([0.2, 0.5])), [[0.4, 0], [0, 0]],
                    atol=1e-9)


def test_karnopps_own_law_holds_a_body_on_a_belt_whose_speed_changes():
    model = wired("belt", "drive.R rub.R", "rub.C box.M", "drive.C ground.V", box=tr.Mass(),
                  rub=law("karnopp_1985", 1.0, 1e-3), ground=tr.Reference(),
                  drive=tr.VelocitySource(velocity=lambda t: quantity("0.1 m/s") + quantity(
                      "0.05 m/s") * sin(quantity("3 rad/s") * t)))
    run = model.simulate("2 s", rtol=1e-9)
    t = np.array([1.0, 2.0])
    assert_allclose(values(run, ["box.v"], t)[0], 0.1 + 0.05 * np.sin(3 * t), rtol=1e-6)


def test_turning_friction_follows_the_same_laws():
    model = wired("shaft", "disc.I brake.R drive.R", "brake.C drive.C wall.W",
                  disc=Inertia(inertia="2 kg*m^2"), wall=RotationalReference(),
                  brake=RotationalFriction(law="quinn", coulomb_torque="3 N*m",
                                           breakaway_torque="3 N*m", band="1 mrad/s"),
                  drive=TorqueSource(torque=lambda t: quantity("1 N*m/s") * t))
    run = model.simulate("5 s", rtol=1e-9, method="Radau")
    assert_allclose(value(run, "disc.w", 2.9), 0, atol=1e-9)
    assert_allclose(value(run, "disc.w"), (5 - 3) ** 2 / 2 / 2, rtol=1e-6)
    assert_allclose(value(run, "brake.load", 2.0), 2.0, rtol=1e-9)


class OneSided(tr.TwoPort):
    """A law of one's own: holds loads of one direction only."""

    band = Parameter("1 cm/s")
    load, power_dissipated = Variable("N"), Variable("W")

    def equations(self):
        from blocks import maximum

        yield blocks.load_law(self.f, self.v, self.load,
                              maximum(self.load + quantity("1 N") * self.v / self.band, 0))
        yield self.power_dissipated == self.f * self.v


def test_a_law_of_the_load_of_ones_own_is_one_statement():
    run = loaded(OneSided(), lambda t: sin(t)).simulate("6 s", rtol=1e-9, method="Radau")
    assert_allclose(value(run, "body.v", np.pi), 0, atol=1e-9)
    # then nothing holds it
    assert_allclose(value(run, "body.v", 6.0), -np.cos(6.0) - 1, rtol=1e-5)
    assert missing_energy(run) < 1e-6


def test_a_law_of_the_load_at_a_node_without_mass_is_refused_by_name():
    model = wired("massless", "drive.R spring.R", "spring.C rub.R", "rub.C drive.C ground.V",
                  spring=tr.Spring(), rub=law("quinn", 1.0), ground=tr.Reference(),
                  drive=tr.VelocitySource(velocity="1 m/s"))
    with pytest.raises(blocks.StructureError, match="Give the node between them a mass"):
        model.simulate("1 s")


# -- derivatives ----------------------------------------------------------------------------------


def pressed():
    """A body on a floor that reports its force, a second one rubs with it."""
    model = wired("pressed", up=tr.Mass(), along=tr.Mass(v="1 mm/s"), ground=tr.Reference(),
                  floor=Floor(), weight=push(lambda t: -10 + 0 * t),
                  friction=rubbing("quinn", band="1 cm/s"),
                  tie=tr.Spring(stiffness="3 N/m"))  # so that the normal force depends on the state
    wire(model, "up.M floor.R weight.R tie.R", "along.M friction.R tie.C",
         "floor.C weight.C friction.C ground.V", "floor.N friction.N")
    return model


@pytest.mark.parametrize("build", [
    lambda: stack("quinn", 1e-2), lambda: stack("awrejcewicz", 1e-2),
    lambda: stack("quinn", 1e-2, dry(0.8)), pressed,
    lambda: loaded(law("quinn", 5.0), lambda t: 3 * cos(t)),
], ids=["coupled", "coupled by a cubic", "with exact", "with a contact", "alone"])  # fmt: skip
def test_the_jacobian_follows_the_loads_through_the_network(build):
    system = build().compile()
    problem, _ = consistent_start(system, find_nominals(system, {}), 0.7)
    problem.laws.start(problem, 0.7)
    y = problem.solver_vector()
    names = [system.state_name(i) for i in range(len(y))]
    held = {"floor.v", "up.v", "floor.gap", "a.v"} if problem.laws.set_valued.size else set()
    for i, name in enumerate(names):
        if name.endswith(".v") and name not in held:
            y[i] = 1e-3 * (i + 1) / problem.scale[i]
    exact = problem.slope_jacobian(0.7, y).toarray()
    free = [i for i, name in enumerate(names) if name not in held]
    for i in free:
        step = np.zeros(len(y))
        step[i] = 1e-7
        column = (problem.slope(0.7, y + step) - problem.slope(0.7, y - step)) / 2e-7
        assert_allclose(exact[:, i], column, rtol=1e-5, atol=1e-6 * np.abs(exact).max())
