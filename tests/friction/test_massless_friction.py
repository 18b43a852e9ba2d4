"""Dry friction at nodes without mass: in series, in parallel, in random networks."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry, missing_energy, push, values
from numpy.testing import assert_allclose
from scipy.optimize import linprog

import library.translational as tr
from blocks import BlocksError, InitialisationError, SimulationError, quantity, sin, where
from library.mechanisms import CamTransmission, DiscClutch, LeadScrew
from library.planar import Force as PlanarForce
from library.planar import RollingWheel as PlanarWheel
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Pulse, Step


def series(strengths, v=1.0, mass=1.0, load=None):
    """A body on frictions in series, given as (kinetic, static), to the ground."""
    model = wired("series",
                  ground=tr.Reference(), body=tr.Mass(mass=quantity(mass, "kg"),
                                                      v=quantity(v, "m/s")))
    port = model.body.M
    for k, (kinetic, static) in enumerate(strengths):
        friction = model.add(f"f{k}", dry(kinetic, static))
        model.connect(port, friction.R)
        port = friction.C
    model.connect(port, model.ground.V)
    if load is not None:
        wire(model, "load.R body.M", "load.C ground.V", load=push(load))
    return model


@pytest.mark.parametrize(("n", "weakest"), [(2, 1), (9, 0), (40, 39)])
def test_of_frictions_in_series_the_weakest_slides_alone(n, weakest):
    strengths = np.random.default_rng(n).uniform(11, 30, n)
    strengths[weakest] = 10.0
    run = series([(f, f) for f in strengths]).simulate("0.2 s")
    assert_allclose(values(run, ["body.v"], np.array([0.05]))[0], 0.5, rtol=1e-9)
    slips = values(run, [f"f{k}.v" for k in range(n)], np.array([0.02]))[:, 0]
    assert np.flatnonzero(slips).tolist() == [weakest]
    stops, = run.events
    assert_allclose(stops.time, 0.1, rtol=0, atol=1e-9)
    assert_allclose(run.energy().dissipated.to("J").m, 0.5, rtol=1e-9)
    assert missing_energy(run) < 1e-9


def test_of_ten_frictions_in_series_at_rest_the_weakest_breaks_away_where_the_load_passes_it():
    strengths = [(20.0 + k, 25.0 + k) for k in range(10)]
    strengths[3] = 10.0, 12.5
    run = series(strengths, v=0.0, load=lambda t: 50 * t).simulate("0.5 s")
    event, = run.events
    assert event.component == "f3"
    assert event.time == pytest.approx(0.25, rel=1e-9)  # 12.5 N at 50 N/s
    # 50 t - 10 from then on
    v = 25 * (0.5**2 - 0.25**2) - 10 * 0.25
    assert_allclose(values(run, ["body.v"], np.array([0.5]))[0], v, rtol=1e-6)


def test_equally_strong_frictions_in_series_brake_like_one_of_them():
    run = series([(10.0, 10.0)] * 9).simulate("50 ms")
    assert_allclose(values(run, ["body.v"], np.array([0.05]))[0], 0.5, rtol=1e-9)
    assert missing_energy(run) < 1e-9


def test_a_load_that_stays_exactly_at_the_bound_is_no_series_of_events():
    model = series([(1.0, 1.0), (2.0, 2.0)], v=0.0, load=lambda t: where(t < 1.0, 1.0 * t, 1.0))
    run = model.simulate("3 s", method="DOP853")
    assert len(run.events) < 6
    assert abs(values(run, ["body.v"], np.array([3.0]))[0, 0]) < 1e-9


def test_a_slow_body_between_strong_frictions_is_not_stopped_at_once():
    run = series([(2e6, 2e6), (3e6, 3e6)], v=1e-3, mass=1000.0).simulate("0.4 us")
    assert_allclose(values(run, ["body.v"], np.array([4e-7]))[0], 1e-3 - 2e3 * 4e-7, rtol=1e-6)


def test_frictions_in_parallel_before_one_in_series_add_up():
    model = wired("parallel", ground=tr.Reference(), node=tr.FreeEnd(),
                  body=tr.Mass(mass="1 kg", v="1 m/s"))
    for k, strength in enumerate([1.0, 2.0, 3.0, 1.5, 0.5]):  # together 8 N, less than 9 N
        friction = model.add(f"f{k}", dry(strength))
        model.connect(model.body.M, friction.R)
        model.connect(friction.C, model.node.V)
    wire(model, "last.R node.V", "last.C ground.V", last=dry(9.0))
    run = model.simulate("0.1 s")
    assert_allclose(values(run, ["body.v"], np.array([0.1]))[0], 0.2, rtol=1e-9)
    assert values(run, ["node.v"], np.array([0.05]))[0, 0] == 0.0


def test_a_load_that_several_frictions_share_beside_a_node_without_mass_is_split_evenly():
    model = wired("shared", "body.M one.R two.R load.R", "one.C two.C three.R node.V",
                  "three.C four.R", "four.C load.C ground.V",
                  ground=tr.Reference(), body=tr.Mass(), node=tr.FreeEnd(), one=dry(1.0),
                  two=dry(3.0), three=dry(5.0), four=dry(6.0), load=push(lambda t: 2.0 + 0 * t))
    run = model.simulate("1 s")
    assert_allclose(values(run, ["one.f", "two.f"], np.array([0.5]))[:, 0], [0.5, 1.5], rtol=1e-9)
    assert run.sticking().undetermined[0].components == ("one", "two")


# -- random networks -----------------------------------------------------------------------
def random_network(rng, kinds=("friction", "friction", "friction", "damper", "spring")):
    """Bodies (mass, velocity, load), count of nodes without mass, links (kind, R, C, strength)."""
    def body():
        return (float(rng.choice([0.5, 1, 2])), float(rng.choice([0, 1, -0.5])),
                (float(rng.choice([0, 3, 5])), float(rng.uniform(1, 4))))  # fmt: skip

    bodies = [body(), body()]
    light = int(rng.integers(1, 5))
    n = len(bodies) + light
    seen, links = [-1], []
    for i in rng.permutation(n).tolist():
        links.append((i, int(rng.choice(seen))))
        seen.append(i)
    for i in range(n):  # every node on at least two links
        if sum(i in link for link in links) < 2:
            links.append((i, int(rng.choice([j for j in range(-1, n) if j != i]))))
    return bodies, light, [(str(rng.choice(kinds)), *link, float(rng.uniform(0.3, 3)))
                           for link in links]


def build(bodies, light, links):
    model = wired("network", ground=tr.Reference())
    joints = [model.add(f"b{i}", tr.Mass(mass=quantity(m, "kg"), v=quantity(v, "m/s"))).M
              for i, (m, v, _) in enumerate(bodies)]  # fmt: skip
    joints += [model.add(f"n{i}", tr.FreeEnd()).V for i in range(light)]
    joints.append(model.ground.V)  # number -1
    for k, (kind, r, c, strength) in enumerate(links):
        part = model.add(f"l{k}", {
            "friction": dry, "damper": lambda s: tr.Damper(damping=quantity(s, "N*s/m")),
            "spring": lambda s: tr.Spring(stiffness=quantity(10 * s, "N/m"))}[kind](strength))
        model.connect(joints[r], part.R)
        model.connect(part.C, joints[c])
    for i, (_, _, (size, w)) in enumerate(bodies):
        if size:
            load = model.add(f"p{i}", push(lambda t, s=size, w=w: s * sin(w * t)))
            model.connect(load.R, joints[i])
            model.connect(load.C, model.ground.V)
    return model


@pytest.mark.parametrize("seed", [
    *range(2), *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 60))])  # fmt: skip
def test_in_random_networks_laws_hold_and_nodes_without_mass_balance(seed):
    bodies, light, links = random_network(np.random.default_rng(seed))
    model = build(bodies, light, links)
    if model.check().errors:
        assert model.check().errors[0].code == "initial.dependent"  # dampers in a loop of zeros
        return
    run = model.simulate("2 s", rtol=1e-8, max_step="0.1 s")
    t = np.sort(np.random.default_rng(seed).uniform(0, 2, 25))
    t = t[np.abs(t[:, None] - np.array([e.time for e in run.events] or [-1])).min(axis=1) > 1e-6]
    left = np.zeros((len(bodies) + light + 1, len(t)))
    for k, (kind, r, c, strength) in enumerate(links):
        f, v = values(run, [f"l{k}.f", f"l{k}.v"], t)
        assert np.isfinite(f).all()
        left[r] += f
        left[c] -= f
        if kind == "friction":
            slides = np.abs(v) > 1e-8
            assert np.abs(f).max(initial=0.0) <= strength + 1e-8
            assert_allclose(f[slides], strength * np.sign(v[slides]), rtol=0, atol=1e-8)
    assert np.abs(left[len(bodies) : -1]).max() < 1e-8
    assert missing_energy(run) < 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_nodes_without_mass_start_with_the_velocities_of_least_dissipation(seed):
    rng = np.random.default_rng(100 + seed)
    bodies, light, links = random_network(rng, kinds=("friction",))
    bodies = [(m, float(rng.uniform(-1, 1)), (0.0, 1.0)) for m, *_ in bodies]
    run = build(bodies, light, links).simulate("1 us")
    at = np.array([5e-7])
    heat = sum(float(values(run, [f"l{k}.f"], at)[0, 0] * values(run, [f"l{k}.v"], at)[0, 0])
               for k in range(len(links)))  # fmt: skip
    # minimise sum of F |slip| over the velocities of the light nodes
    known = [v for _, v, _ in bodies]
    W, c = np.zeros((len(links), light)), np.zeros(len(links))
    for k, (_, r, s, _) in enumerate(links):
        for i, sign in ((r, 1.0), (s, -1.0)):
            if i >= len(known):
                W[k, i - len(known)] += sign
            elif i >= 0:
                c[k] += sign * known[i]
    strengths, eye = np.array([link[3] for link in links]), np.eye(len(links))
    least = linprog(np.concatenate([np.zeros(light), strengths]),
                    A_ub=np.block([[W, -eye], [-W, -eye]]), b_ub=np.concatenate([-c, c]),
                    bounds=[(None, None)] * light + [(0, None)] * len(links)).fun
    assert heat == pytest.approx(least, rel=1e-4, abs=1e-9)


# -- what cannot be ------------------------------------------------------------------------
def test_a_tight_spring_on_a_node_that_friction_alone_holds_is_stopped_by_name():
    model = wired("tight", ground=tr.Reference(), rub=dry(20.0))
    model.spring = tr.Spring(stiffness="1 kN/m", x="30 mm")  # 30 N
    wire(model, "spring.R rub.R", "spring.C rub.C ground.V")
    with pytest.raises(SimulationError, match="harder than the dry friction there can hold") as e:
        model.simulate("1 s")
    assert (e.value.code, e.value.where) == ("simulation.massless", "rub")
    model.spring.x = "15 mm"  # 15 N are held
    assert values(model.simulate("1 s"), ["rub.f"], np.array([0.5]))[0, 0] == pytest.approx(-15)


def test_a_ring_spring_begins_within_what_friction_at_its_end_holds():
    model = wired("ring", "ring.R rub.R", "ring.C rub.C ground.V",
                  ground=tr.Reference(), rub=dry(5.0), ring=tr.FrictionRing(x="40 mm"))
    with pytest.raises(SimulationError) as error:
        model.simulate("1 s")
    assert error.value.code == "simulation.massless"


def refused(model, code):
    """The refusal is a finding of check(), and the run gives the same one."""
    assert code in [f.code for f in model.check().errors]
    with pytest.raises(BlocksError) as error:
        model.simulate("1 s")
    assert code in (error.value.code, *(f.code for f in getattr(error.value, "findings", ())))


def test_laws_that_no_run_decides_at_a_node_without_mass_are_found_by_the_check():
    model = wired("load", "body.M one.R", "one.C spring.R", "two.R body.M",
                  "spring.C two.C ground.V",
                  ground=tr.Reference(), body=tr.Mass(), one=dry(1.0),
                  two=tr.TranslationalFriction(law="karnopp"), spring=tr.Spring())
    refused(model, "structure.massless")
    model = wired("stop", "body.M spring.R", "spring.C stop.R", "stop.C ground.V",
                  ground=tr.Reference(), body=tr.Mass(v="1 m/s"), spring=tr.Spring(),
                  stop=tr.HardStop(model="restitution"))
    refused(model, "structure.massless")


@pytest.mark.parametrize("law", ["quinn", "kikuuwe", "awrejcewicz"])
def test_friction_with_an_open_port_beside_a_law_of_the_load_is_told_by_name(law):
    model = wired("open", "rub.R rotor.I", "ground.W loose.C rub.C",
                  ground=RotationalReference(), rotor=Inertia(),
                  loose=RotationalFriction(law="coulomb"), rub=RotationalFriction(law=law))
    refused(model, "structure.massless")


def test_screws_that_carry_nothing_stand_still():
    model = wired("screw", "screw.S other.S rub.R ground.W",
                  ground=RotationalReference(), screw=LeadScrew(), other=LeadScrew(),
                  rub=RotationalFriction(law="coulomb"))
    assert model.simulate("0.1 s").status == "finished"


def test_a_stop_in_series_with_a_spring_says_which_node_nothing_holds():
    model = wired("stop", "body.M spring.R", "spring.C stop.R", "stop.C ground.V",
                  ground=tr.Reference(), body=tr.Mass(v="1 m/s"), spring=tr.Spring(),
                  stop=tr.HardStop(model="undamped rebound"))
    finding, = model.check().errors
    assert finding.problem.endswith("no equation determines them there.")
    assert finding.advice.startswith("Nothing determines the node spring.C = stop.R while stop "
                                     "carries nothing. Give the node a mass")


def test_a_rolling_wheel_without_load_and_with_an_open_port_says_so():
    model = wired("roll", "roll.C ground.V",
                  ground=tr.Reference(), roll=tr.RollingResistance(coefficient=0))
    finding, = model.check().errors
    assert finding.advice.startswith("A port of roll is connected to nothing")


def test_a_force_that_nothing_determines_is_told_before_the_run():
    model = wired("cam", "cam.A rub.R", "rub.C ground.W", "cam.P floor.V",
                  cam=CamTransmission(), ground=RotationalReference(), floor=tr.Reference(),
                  rub=RotationalFriction(law="coulomb"))
    finding, = model.check().errors
    assert finding.code == "initial.undetermined"
    assert "nothing determines cam.P.f, so no finite value can be given" in finding.problem
    with pytest.raises(InitialisationError):
        model.simulate("1 s")


def test_a_wheel_that_rolls_on_its_own_body_is_refused_without_a_crash():
    model = wired("wheel", "push.P wheel.B wheel.F",
                  push=PlanarForce(fx="2 N"), wheel=PlanarWheel())
    assert model.check().errors


def test_a_clutch_beside_a_loop_is_read_between_its_events():
    """It sticks and bears what drives, since what rubs by a curve bears nothing at rest."""
    model = wired("loose shaft", "drive.R clutch.C rub.R rotor.I", "drive.C clutch.R rub.C",
                  "torque.y drive.S", "press.y clutch.N",
                  drive=TorqueSource(), clutch=DiscClutch(), rub=RotationalFriction(),
                  rotor=Inertia(inertia="0.006 kg*m^2"),
                  torque=Pulse(amplitude=quantity(1.36, "N*m"), period="30 ms", width=0.4),
                  press=Step(final=quantity(13.6, "N"), start="20 ms"))
    borne = model.simulate("0.1 s")["clutch.t"].at(quantity([70, 80], "ms")).to("N*m").m
    assert_allclose(np.abs(borne), [1.36, 0], atol=1e-9)


def test_a_driven_run_goes_on_with_the_modes_that_python_has_found():
    """Python takes a stretch of this one, after which machine code goes on with other arrays."""
    model = build(*random_network(np.random.default_rng(1)))
    whole = model.simulate("2 s", rtol=1e-8, max_step="0.1 s")
    for until in ("0.3 s", "0.6 s", "1.2 s"):
        run = model.stepper(duration="2 s", rtol=1e-8, max_step="0.1 s")
        run.advance(until)
        run.advance(quantity("2 s") - run.time)
        result = run.result()
        assert_allclose([e.time for e in result.events], [e.time for e in whole.events], atol=1e-7)
        assert missing_energy(result) < 1e-5


def bonded(mass):
    """Bodies 1 and 3 on friction, joined by one that holds 3 N; node 4, of some mass, pulls."""
    model = wired("bonded", ground=tr.Reference())
    joints = {-1: [model.ground.V], 4: []}
    for k, (own, v) in enumerate([(1.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.5, -0.5)]):
        joints[k] = [model.add(f"b{k}", tr.Mass(mass=quantity(own, "kg"),
                                                v=quantity(v, "m/s"))).M]
    if mass:
        joints[4].append(model.add("node", tr.Mass(mass=quantity(mass, "kg"))).M)
    parts = [(r, c, dry(*own) if len(own) > 1 else tr.Spring(stiffness=quantity(*own, "N/m")))
             for r, c, *own in [(0, -1, 1.0, 2.5), (1, -1, 1.0, 2.0), (2, 1, 5.0),
                                (3, 1, 0.5, 3.0), (4, 3, 20.0), (4, -1, 5.0), (2, 0, 0.5, 0.5),
                                (4, -1, 1.0, 1.0), (3, 4, 1.0, 1.0)]]
    parts += [(r, -1, push(lambda t, s=size, w=w, p=phase: s * sin(w * t + p)))
              for r, size, w, phase in [(1, 1.0, 2.0, 0.0), (3, 3.0, 0.7, 2.0), (4, 1.0, 5.0, 2.0)]]
    for k, (r, c, part) in enumerate(parts):
        part = model.add(f"e{k}", part)
        joints[r].append(part.R)
        joints[c].append(part.C)
    for ports in joints.values():
        model.connect(*ports)
    return model


def test_a_node_without_mass_moves_as_one_of_a_little_mass_does():
    ends = [values(bonded(mass).simulate("2.93 s", rtol=1e-8), [f"b{k}.v" for k in range(4)],
                   np.array([2.93]))[:, 0] for mass in (0.0, 1e-4)]
    assert_allclose(*ends, rtol=0, atol=2e-3)  # a little mass sticks and slides a little more
