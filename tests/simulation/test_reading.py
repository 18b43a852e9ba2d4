"""A finished run is read from what it has kept: no look changes it, or what a later look gives."""

from copy import copy
from threading import Thread

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry
from benches.rigid_bodies import Rod, falling_pole
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.rotational as rot
import library.translational as tr
from blocks import Component, Model, Output, quantity, sin, time
from library.electrical import ACVoltageSource, Capacitor, Diode, ElectricalReference, Resistor
from library.planar import Body, Ground, Revolute, RigidOffset
from library.signal import Sine, ZeroOrderHold


def on_a_belt():
    """Two blocks on springs, dragged by a belt with exact friction."""
    model = wired("blocks on a belt", "belt.C frame.V",
                  belt=tr.VelocitySource(velocity="0.2 m/s"), frame=tr.Reference())
    for k in range(2):
        mass = model.add(f"mass{k}", tr.Mass(mass="1 kg"))
        spring = model.add(f"spring{k}", tr.Spring(stiffness=quantity(100.0 + 50 * k, "N/m")))
        friction = model.add(f"friction{k}", dry(5, 6))
        model.connect(model.belt.R, friction.R)
        model.connect(friction.C, mass.M, spring.R)
        model.connect(spring.C, model.frame.V)
    return model


def in_series():
    """A friction whose node to a spring has no mass."""
    return wired("in series", "drive.R spring.R", "spring.C friction.R",
                 "friction.C drive.C frame.V",
                 drive=tr.VelocitySource(velocity="0.2 m/s"), frame=tr.Reference(),
                 spring=tr.Spring(stiffness="100 N/m"),
                 friction=tr.TranslationalFriction(law="coulomb", coulomb_force="5 N"))


def braked_shaft():
    """A shaft held by a brake and a bearing beside each other: who holds how much is open."""
    return wired("braked shaft", "rotor.I torque.R brake.R bearing.R",
                 "torque.C brake.C bearing.C ground.W",
                 rotor=rot.Inertia(), ground=rot.RotationalReference(),
                 torque=rot.TorqueSource(
                     torque=lambda t: quantity("1.4 N*m") * sin(t * quantity("9 rad/s"))),
                 brake=rot.RotationalFriction(law="coulomb", coulomb_torque="1 N*m",
                                              breakaway_torque="1 N*m"),
                 bearing=rot.BearingFriction(speeds=quantity([0, 2], "rad/s"),
                                             torques=quantity([0.25, 0.4], "N*m")))


class CubicLoop(Component):
    """A torque of 1.4 N m sin(9 t / s) that is the root of a cubic: no effort acts back on it."""

    y = Output("N*m")

    def equations(self):
        applied, one = quantity("1.4 N*m") * sin(time * quantity("9 rad/s")), quantity("1 N*m")
        yield self.y + self.y**3 / one**2 == applied + applied**3 / one**2


def shaft_beside_a_loop():
    model = wired("braked shaft beside a loop", loop=CubicLoop())
    braked = braked_shaft()
    for name in ("rotor", "ground", "brake", "bearing"):
        model.add(name, copy(getattr(braked, name)))
    model.torque = rot.TorqueSource()
    wire(model, "rotor.I torque.R brake.R bearing.R", "torque.C brake.C bearing.C ground.W",
         "loop.y torque.S")
    return model


def landing_rod():
    """A rod whose end falls on a rough floor: its friction is loaded by its normal force."""
    return wired("landing rod",
                 rod=Rod(angle="50 deg", friction=0.3, static_friction=0.4, vx="1 m/s",
                         y=quantity(np.sin(np.deg2rad(50)) + 0.02, "m")))


MODELS = {"on a belt": on_a_belt, "in series": in_series, "braked shaft": braked_shaft,
          "landing rod": landing_rod}  # fmt: skip
END = 0.55  # s


def paths_of(run):
    return list(run.recording.catalog)


def everything(run, order):
    """All variables, and what is found from more than the samples, looked at in some order."""
    found = {}
    for look in order:
        if look == "energy":
            found[look] = np.array([(t.work_in, t.stored, t.dissipated) for t in
                                    run.recording.energy_terms()])
        elif look == "sticking":
            found[look] = np.array([(t.fraction, t.longest, t.dissipated) for t in run.sticking()])
        else:
            series = run[look]
            at = series.at(quantity(np.linspace(0.05, 0.5, 7), "s")).m
            found[look] = np.concatenate([series.si, at, [series.max().m]])
    return found


@pytest.mark.parametrize("name", MODELS)
def test_the_order_of_looks_changes_no_bit(name):
    model = MODELS[name]()
    looks = [*paths_of(model.simulate(quantity(END, "s"))), "energy", "sticking"]
    first = everything(model.simulate(quantity(END, "s"), every="5 ms"), looks)
    rng = np.random.default_rng(7)
    run = model.simulate(quantity(END, "s"), every="5 ms")
    again = everything(run, rng.permutation(looks))
    once_more = everything(run, rng.permutation(looks))
    for look in looks:
        assert_array_equal(again[look], first[look], err_msg=look)
        assert_array_equal(once_more[look], first[look], err_msg=look)


@pytest.mark.parametrize("name", MODELS)
def test_two_threads_read_what_one_reads(name):
    model = MODELS[name]()
    run = model.simulate(quantity(END, "s"))
    paths, found, alone = paths_of(run), [{}, {}], model.simulate(quantity(END, "s"))
    expected = {path: alone[path].si for path in paths}

    def read(out, order):
        for path in order:
            out[path] = run.recording.values([run.recording.catalog[path].index])[0]

    threads = [Thread(target=read, args=(out, order))
               for out, order in zip(found, (paths, paths[::-1]), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for out in found:
        for path in paths:
            assert_array_equal(out[path], expected[path], err_msg=path)


@pytest.mark.parametrize("name", MODELS)
def test_looking_leaves_the_run_and_the_next_one_alone(name):
    model = MODELS[name]()
    plain = model.simulate(quantity(END, "s")), model.simulate(quantity(END, "s"))
    run = model.simulate(quantity(END, "s"))
    problem = run.recording.problem
    before = [np.copy(a) for a in (problem.x, problem.z, problem.u, problem.m, problem.d,
                                   problem.laws.modes, problem.tied)]
    everything(run, [*paths_of(run), "energy", "sticking"])
    after = problem.x, problem.z, problem.u, problem.m, problem.d, problem.laws.modes, problem.tied
    for old, new in zip(before, after, strict=True):
        assert_array_equal(new, old)
    following = model.simulate(quantity(END, "s"))
    for path in paths_of(run):
        assert_array_equal(following[path].si, plain[1][path].si)


@pytest.mark.parametrize("shaft", [braked_shaft, shaft_beside_a_loop])
def test_forces_left_open_are_shared_by_what_each_can_hold(shaft):
    run = shaft().simulate("0.15 s", every="0.1 ms")
    brake, bearing = run["brake.t"].si, run["bearing.t"].si
    applied = 1.4 * np.sin(9 * run["brake.t"].rows.times)
    stuck = applied < 1.25
    assert np.count_nonzero(stuck) > 1000
    assert_allclose((brake + bearing)[stuck], applied[stuck], atol=1e-12)
    assert_allclose(brake[stuck], 4 * bearing[stuck], atol=1e-12)


def test_long_steps_between_many_events_are_read_as_closely_as_others():
    """A ball that bounces: parabolas, of which the exact method takes one step each."""
    model = wired("ball", "ball.M weight.R stop.R", "floor.V weight.C stop.C",
                  ball=tr.Mass(mass="1 kg"), weight=tr.ForceSource(force="-9.81 N"),
                  floor=tr.Reference(), stop=tr.HardStop(model="restitution", restitution=0.7,
                                                         lower_bound="0 m", upper_bound="10 m",
                                                         x="1 m"))
    run = model.simulate("4 s")
    times, heights = run.time.to("s").m, run["stop.x"].to("m").m
    assert len(run.events) > 30 and np.diff(times).max() <= 4 / 200 * (1 + 1e-9)
    between = (times[1:] + times[:-1]) / 2
    straight = (heights[1:] + heights[:-1]) / 2
    found = run["stop.x"].at(quantity(between, "s")).to("m").m
    assert np.abs(found - straight).max() <= 9.81 * 0.02**2 / 8 * (1 + 1e-6)


def test_a_diode_behind_a_resistance_is_read_as_its_law_says():
    model = wired("rectifier", "mains.p cable.p", "cable.n diode.p", "diode.n store.p load.p",
                  "mains.n store.n load.n ground.V",
                  mains=ACVoltageSource(amplitude="5 V", frequency="50 Hz"),
                  cable=Resistor(resistance="10 ohm"), load=Resistor(resistance="1 kohm"),
                  diode=Diode(model="exponential"), store=Capacitor(capacitance="20 uF"),
                  ground=ElectricalReference())
    run = model.simulate("50 ms")
    diode = run["diode.v"].to("V").m

    def across(t, v):
        drive = 5 * np.sin(100 * np.pi * t) - v
        return brentq(lambda d: (drive - d) / 10 - 1e-6 * np.expm1(d / 0.04) - d / 1e8, -12.0, 0.7,
                      xtol=1e-13)

    exact = solve_ivp(lambda t, v: [((5 * np.sin(100 * np.pi * t) - v[0] - across(t, v[0])) / 10
                                     - v[0] / 1e3) / 20e-6], (0, 0.05), [0.0], method="LSODA",
                      rtol=1e-7, atol=1e-8, dense_output=True)  # fmt: skip
    t = run.time.to("s").m
    some = slice(None, None, 30)
    assert_allclose(diode[some], [across(a, exact.sol(a)[0]) for a in t[some]], atol=3e-5)


def swinging_rods(count):
    """Rods of 1 m and 1 kg, hinged to each other; a sampled torque turns the first."""
    return wired("swinging rods", "wave.y hold.u", "hold.y push.S", "push.R shoulder.A",
                 "push.C case.W", "ground.P shoulder.B", "shoulder.F rod[0].P", "rod[:-1].P end.B",
                 "end.F elbow.B", "elbow.F rod[1:].P",
                 ground=Ground(), case=rot.RotationalReference(), push=rot.TorqueSource(),
                 rod=Body(count=count, mass="1 kg", inertia=f"{1 / 12} kg*m^2", center_x="0.5 m",
                          phi=quantity(np.linspace(0.0, 0.4, count), "rad"), w="0 rad/s"),
                 end=RigidOffset(count=count - 1, dx="1 m"), elbow=Revolute(count=count - 1),
                 shoulder=Revolute(drive=True), wave=Sine(amplitude="2 N*m"),
                 hold=ZeroOrderHold(unit="N*m", sample_time="5 ms"))


def force_on_shoulder(t, phi, w):
    """By Lagrange's equations: the middle of rod i is where sum over j of way[i, j] e_j leads."""
    count, g = len(phi), 9.81
    way = np.tri(count, k=-1) + np.eye(count) / 2
    both, turn = way.T @ way, phi[:, None] - phi[None, :]
    mass = both[..., None] * np.cos(turn) + np.eye(count)[..., None] / 12
    moment = -np.einsum("ij,ijt,jt->it", both, np.sin(turn), w**2)
    moment -= g * way.sum(axis=0)[:, None] * np.cos(phi)
    moment[0] += 2 * np.sin(2 * np.pi * 0.005 * np.floor(t / 0.005))
    faster = np.linalg.solve(mass.transpose(2, 0, 1), moment.T[..., None])[..., 0].T
    x = way.sum(axis=0) @ (-faster * np.sin(phi) - w**2 * np.cos(phi))
    y = way.sum(axis=0) @ (faster * np.cos(phi) - w**2 * np.sin(phi))
    return np.array([x, y + count * g])


@pytest.mark.parametrize("method", ["dopri5", "BDF", "ode45"])
def test_forces_of_linear_loops_are_read_between_samples(method):
    run = swinging_rods(3).simulate("0.3 s", method=method)
    t = np.arange(0.0005, 0.3, 0.001)  # between two samples
    fx, fy, *states = (run[path].at(quantity(t, "s")).m for path in (
        "shoulder.B.fx", "shoulder.B.fy", *(f"rod[{k}].{s}" for s in ("phi", "w")
                                            for k in range(3))))
    found, expected = np.array([fx, fy]), force_on_shoulder(t, *np.split(np.array(states), 2))
    assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_contacts_that_rest_are_closed_between_the_ends_of_steps():
    run = falling_pole()[0].simulate("0.5 s")
    times = quantity(np.linspace(0.0, 0.5, 2001), "s")
    x, y, phi, w, force = (run[path].at(times).m for path in (
        "pole.x", "pole.y", "pole.phi", "pole.w", "foot.N"))
    lean, g = falling_pole()[1], 9.81
    assert_allclose(y, np.cos(phi), atol=1e-11)
    assert_allclose(x, -np.sin(phi), atol=1e-6)  # the foot stays where it stood
    assert_allclose(w**2, 2 * g * (np.cos(lean) - np.cos(phi)) / 1.1, atol=1e-5)
    falls = g * np.sin(phi) / 1.1 * np.sin(phi) + w**2 * np.cos(phi)
    assert_allclose(force, g - falls, atol=1e-8)


def rubbed() -> Model:
    """x'' + 4 (2 pi)^2 x = -1.5 sign(x'), which loses 3/16/pi^2 m of its swing every half turn."""
    return wired("rubbed", "block.M spring.R rub.R still.R", "spring.C rub.C still.C ground.V",
                 block=tr.Mass(mass="1 kg"),
                 spring=tr.Spring(stiffness=quantity(16 * np.pi**2, "N/m"), x="1 m"), rub=dry(1.5),
                 still=tr.ForceSource(force="0 N"), ground=tr.Reference())


def test_averages_of_a_swing_with_friction():
    run = rubbed().simulate("2 s", rtol=1e-10)
    centre, lost = 1.5 / (16 * np.pi**2), 3 / (16 * np.pi**2)
    swings = 1 - centre - lost * np.arange(8)  # about alternating centres, in 1/4 s each
    assert_allclose(run["block.v"].rms().m,
                    np.sqrt(np.mean((4 * np.pi * swings) ** 2 / 2)), rtol=1e-8)
    assert_allclose(run["spring.x"].mean().m, centre * np.mean((-1.0) ** np.arange(8)), atol=1e-9)
    assert run.sticking().undetermined == ()
