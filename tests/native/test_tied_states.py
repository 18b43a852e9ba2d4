"""Constraints and nonlinear loops in machine code: pendulums, linkages, dampers in series."""

import numpy as np
import pytest
from benches import wire, wired
from benches.parts import CubicLoop
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import blocks
import library.gas as gas
import library.isothermal_liquid as il
from benchmarks.cliffs import coil_ladder
from blocks import Component, Model, Parameter, Target, Variable, abs_, cos, der, quantity, sin
from blocks.machine.signatures import run_code
from blocks.native.front_lists import AT, BORDERED, FRONTS
from blocks.native.matrices import sparse_lists
from blocks.native.method import METHODS
from blocks.native.step_matrix import derive, factorize_less, solve_with
from blocks.native.steps import slope_at
from library.thermal import ConductiveHeatTransfer, RadiativeHeatTransfer, ThermalMass
from library.translational import Mass, Reference, Spring, TranslationalFriction, TwoPort

G = 9.81


class Pendulum(Component):
    """1 kg on a rod of 1 m, in Cartesian coordinates; its pivot may shake, a spring may stop it."""

    swing, stop = Parameter("0 m", doc="amplitude of the pivot"), Parameter("2 m")
    x, y, vx, vy = Variable("m"), Variable("m"), Variable("m/s"), Variable("m/s")
    pull, energy = Variable("N/m"), Variable("J")

    def equations(self):
        g, m, k = quantity("9.81 m/s^2"), quantity("1 kg"), quantity("500 N/m")
        pivot = self.swing * sin(quantity("3 rad/s") * blocks.time)
        over = blocks.where(self.x > self.stop, self.x - self.stop, quantity("0 m"))
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield m * der(self.vx) == -self.pull * (self.x - pivot) - k * over
        yield m * der(self.vy) == -self.pull * self.y - m * g
        yield (self.x - pivot) ** 2 + self.y**2 == quantity("1 m^2")
        yield self.energy == (m * (self.vx**2 + self.vy**2) + k * over**2) / 2 + m * g * self.y


def pendulum(angle=np.pi / 2, speed=0.0, **values):
    """Let go at an angle from straight down with an angular speed."""
    model = Model("pendulum")
    x, y = np.sin(angle), -np.cos(angle)
    model.bob = Pendulum(x=quantity(x, "m"), y=Target(quantity(y, "m"), priority="low"), **values)
    if abs(y) > abs(x):
        model.bob.vx = quantity(-y * speed, "m/s")
    else:
        model.bob.vy = quantity(x * speed, "m/s")
    return model


def places(run, seconds):
    return tuple(run[f"bob.{n}"].at(quantity(seconds, "s")).m for n in ("x", "y"))


def test_a_pendulum_swings_with_the_period_of_the_elliptic_integral():
    period = 4 * ellipk(0.5) / np.sqrt(G)
    run = pendulum().simulate("20 s", method="dopri5", rtol=1e-11)
    assert run.statistics.method == "dopri5"
    for k in range(1, 9):
        x, y = places(run, k * period)
        assert_allclose([x, y], [1, 0], atol=3e-8)
    assert_allclose(run["bob.pull"].at(quantity(period / 4, "s")).m, 3 * G, rtol=1e-9)
    assert np.ptp(run["bob.energy"].m) < 1e-7


def test_a_pendulum_that_turns_over_stays_on_its_circle_at_every_time():
    speed = 8.0  # at the bottom; over the top from 2 sqrt(9.81) = 6.26 1/s on
    run = pendulum(0.0, speed).simulate("30 s", method="dopri5", rtol=1e-11)
    x, y = places(run, np.random.default_rng(0).uniform(0, 30, 400))
    assert_allclose(np.hypot(x, y), 1, atol=1e-14)
    assert_allclose(run["bob.energy"].m, speed**2 / 2 - G, rtol=1e-7)
    modulus = 4 * G / speed**2  # a whole turn takes 4 K(k^2)/speed, k^2 = 4 g/(l speed^2)
    turn = 4 * ellipk(modulus) / speed
    x, y = places(run, turn * np.arange(1, int(30 / turn)))
    assert_allclose(x, 0, atol=1e-6)
    assert_allclose(y, -1, atol=1e-9)


def test_a_shaken_pivot_moves_the_pendulum_as_its_angle_does():
    def angle(t, y):
        push = 0.3 * 9 * np.sin(3 * t)  # the pivot's acceleration, reversed
        return y[1], -G * np.sin(y[0]) + push * np.cos(y[0])

    model = pendulum(0.5, swing="0.3 m")
    model.bob.vx = quantity(0.9, "m/s")  # that of the pivot: the rod does not turn
    run = model.simulate("6 s", method="dopri5", rtol=1e-11)
    exact = solve_ivp(angle, (0, 6), [0.5, 0], method="DOP853", rtol=1e-12, atol=1e-12,
                      t_eval=[1, 2.5, 6])  # fmt: skip
    x, y = places(run, exact.t)
    assert_allclose(x, 0.3 * np.sin(3 * exact.t) + np.sin(exact.y[0]), atol=1e-8)
    assert_allclose(y, -np.cos(exact.y[0]), atol=1e-8)


@pytest.mark.parametrize("duration", ["3 s", pytest.param("5 s", marks=pytest.mark.slow)])
def test_an_event_of_a_tied_state_is_located(duration):
    runs = [pendulum(stop="0.5 m").simulate(duration, method=m, rtol=1e-12)
            for m in ("dopri5", "DOP853")]  # fmt: skip
    fast, slow = ([e.time for e in run.events] for run in runs)
    assert len(fast) > 4
    assert_allclose(fast, slow, rtol=1e-9)
    assert_allclose(runs[0]["bob.x"].at(quantity(fast, "s")).m, 0.5, atol=1e-12)
    assert np.ptp(runs[0]["bob.energy"].m) < 1e-7


class FourBar(Component):
    """Crank 1, coupler 3, rocker 2.5, base 2.5 (in m), driven by a torque-free crank's speed."""

    theta, phi, psi = Variable("rad"), Variable("rad"), Variable("rad")
    turned, speed = Variable("rad"), Variable("rad/s")

    def equations(self):
        a, b, c, d = (quantity(v, "m") for v in (1.0, 3.0, 2.5, 2.5))
        yield a * cos(self.theta) + b * cos(self.phi) == d + c * cos(self.psi)
        yield a * sin(self.theta) + b * sin(self.phi) == c * sin(self.psi)
        yield self.speed == der(self.psi)
        yield from self.moved()

    def moved(self):
        return der(self.theta) == quantity("2 rad/s"), der(self.turned) == self.speed


class AllPrescribed(FourBar):
    def moved(self):
        return self.theta == quantity("2 rad/s") * blocks.time, self.turned == self.psi


@pytest.mark.parametrize("kind", [FourBar, AllPrescribed])
def test_a_driven_linkage_stays_on_its_branch(kind):
    targets = {"phi": Target("1 rad", priority="low"), "psi": Target("1.5 rad", priority="low")}
    run = wired("linkage", bar=kind(**targets)).simulate("20 s", method="dopri5", rtol=1e-9)
    assert run.statistics.why.endswith("in machine code")
    t = quantity(np.linspace(0, 20, 301), "s")
    theta, phi, psi = (run[f"bar.{n}"].at(t).m for n in ("theta", "phi", "psi"))
    gap = np.exp(1j * theta) + 3 * np.exp(1j * phi) - 2.5 - 2.5 * np.exp(1j * psi)
    assert_allclose(np.abs(gap), 0, atol=1e-13)
    # rocker's angle by the law of cosines: from the base's diagonal to the crank's end
    reach = np.exp(1j * theta) - 2.5
    inner = np.arccos((2.5**2 + np.abs(reach) ** 2 - 9) / (5 * np.abs(reach)))
    assert_allclose(np.exp(1j * psi), np.exp(1j * (np.angle(reach) - inner)), atol=1e-12)
    turned = run["bar.turned"].at(t).m
    assert_allclose(turned - turned[0], psi - psi[0], atol=1e-6)


class Turbulent(TwoPort):
    """f = drag v |v|."""

    drag = Parameter("2 N*s^2/m^2")

    def equations(self):
        yield self.f == self.drag * self.v * abs_(self.v)


def test_turbulent_dampers_in_series_brake_as_one():
    model = wired("series", "block.M d0.R", "d0.C d1.R", "d1.C d2.R", "d2.C ground.V",
                  block=Mass(mass="2 kg", v="3 m/s"), ground=Reference(),
                  **{f"d{k}": Turbulent(drag=quantity(drag, "N*s^2/m^2"))
                     for k, drag in enumerate((2.0, 5.0, 0.5))})
    whole = sum(drag**-0.5 for drag in (2.0, 5.0, 0.5)) ** -2
    run = model.simulate("20 s", method="dopri5", rtol=1e-10)
    t = np.linspace(0, 20, 41)
    v = 3 / (1 + whole * 3 / 2 * t)
    assert_allclose(run["block.v"].at(quantity(t, "s")).m, v, rtol=1e-8)
    assert_allclose(run["d1.v"].at(quantity(t, "s")).m, v * np.sqrt(whole / 5), rtol=1e-8)


def test_a_study_of_pendulums_gives_what_single_runs_give():
    pytest.importorskip("xarray")
    model = pendulum()
    data = model.sweep({"bob.stop": ["0.5 m", "2 m"]}, "5 s", method="dopri5", rtol=1e-9,
                       outputs=["final(bob.x)"])  # fmt: skip
    for stop, x in zip(("0.5 m", "2 m"), data["final(bob.x)"].values, strict=True):
        model.bob.stop = stop
        assert_allclose(model.simulate("5 s", method="dopri5", rtol=1e-9)["bob.x"].final.m, x)


class StiffLoop(CubicLoop):
    """z follows y within a microsecond."""

    z = Variable("1", "0", priority="high")

    def equations(self):
        yield from super().equations()
        yield der(self.z) == (self.y - self.z) / quantity("1 us")


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_the_implicit_method_follows_a_nonlinear_loop_however_stiff_the_rest_is(rtol):
    model = wired("loop", part=StiffLoop())
    run = model.simulate("1 s", method="rodas4", rtol=rtol, atol=rtol / 100)
    y = run["part.y"].at(quantity([0, 0.3, 1], "s")).m  # (1 + 3 y^2) y' = -y
    assert_allclose(np.log(y[0] / y[1:]) + 1.5 * (y[0] ** 2 - y[1:] ** 2), [0.3, 1], atol=50 * rtol)
    assert_allclose(run["part.z"].final.m, y[-1], atol=1e-6)
    assert run.statistics.steps < 400


def test_the_implicit_method_swings_a_pendulum_and_is_of_order_four():
    period = 4 * ellipk(0.5) / np.sqrt(G)
    errors, steps = [], []
    for rtol in (1e-6, 1e-10):
        run = pendulum().simulate("20 s", method="rodas4", rtol=rtol)
        assert run.statistics.method == "rodas4"
        errors.append(np.abs(np.subtract(places(run, 8 * period), [1, 0])).max())
        steps.append(run.statistics.steps)
    assert errors[0] < 2e-5
    assert errors[1] < 2e-9
    assert errors[0] / errors[1] > 0.2 * (steps[1] / steps[0]) ** 4


def test_an_unknown_beside_dry_friction_is_what_its_law_says_wherever_it_is_read(monkeypatch):
    """Whatever stood before in the memory that it is written to."""
    model = wired("leak and friction", "full.A leak.A", "leak.B empty.A", "body.M rub.R",
                  "rub.C wall.V", full=il.ConstantVolumeChamber(p_I="5 MPa"),
                  empty=il.ConstantVolumeChamber(p_I="4 MPa"),
                  leak=il.FlowResistance(pressure_drop="1 MPa", mass_flow="0.05 kg/s"),
                  body=Mass(v="1 m/s"), wall=Reference(), rub=TranslationalFriction(law="coulomb"))
    run = model.simulate("0.1 s", method="dopri5")
    monkeypatch.setattr(np, "empty_like", lambda rows: np.full_like(rows, np.nan))
    drop = run["leak.p"].to("MPa").m
    share = np.sign(drop) * np.sqrt((np.sqrt(1e-8 + 4 * drop**2) - 1e-4) / 2)
    # drop = s sqrt(s² + 0.01²)
    assert_allclose(run["leak.mdot"].to("kg/s").m, 0.05 * share, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("friction", [False, True])
def test_a_pendulum_swings_beside_thousands_of_states_as_it_does_alone(friction):
    """What it takes to start it, to write it and to choose its states does not grow with them."""
    lone, beside = pendulum(), pendulum()
    n = 1500
    wire(beside, "links.R row[1:].M", "links.C row[:-1].M",
         row=Mass(count=n, mass="1 kg", v="0.01 m/s"),
         links=Spring(count=n - 1, stiffness="10 N/m"))
    if friction:
        wire(beside, "brake.R row[0].M", "brake.C wall.V",
             brake=TranslationalFriction(law="coulomb", coulomb_force="1 mN",
                                         breakaway_force="2 mN"), wall=Reference())
    ends = [model.simulate("1 s", method="dopri5", rtol=1e-8)["bob.x"].final.m
            for model in (lone, beside)]
    assert_allclose(*ends, rtol=1e-6)


# -- derivatives through what is solved for ---------------------------------------------------
def pipes(inertia):
    """Many in a row, at rising pressures: loops of one or two unknowns between them."""
    pressures = quantity([round(1 + 0.02 * k, 2) for k in range(52)], "MPa")
    return wired("pipes", "lake.A part[0].A", "part[:-1].B part[1:].A", "part[-1].B cap.A",
                 lake=il.Reservoir(pressure_spec="specified", pressure="0.9 MPa"), cap=il.Cap(),
                 part=il.Pipe(count=52, inertia=inertia, p_I=pressures))


def radiators():
    """Sixty bodies in a row that conduct heat, with radiation behind every fourth wire."""
    model, end = wired("radiators", body0=ThermalMass(T="300 K")), "body0.M"
    for k in range(1, 60):
        if k % 4 == 0:
            wire(model, f"{end} gap{k}.A", **{f"gap{k}": RadiativeHeatTransfer()})
            end = f"gap{k}.B"
        wire(model, f"{end} wire{k}.A", f"wire{k}.B body{k}.M", **{
            f"body{k}": ThermalMass(T=f"{300 + 3 * k} K"), f"wire{k}": ConductiveHeatTransfer()})
        end = f"body{k}.M"
    return model


def chambers():
    """Sixty in a row, with gas, whose temperatures at all ports hang together."""
    pressures = quantity(np.linspace(0.1, 0.2, 60), "MPa")
    return wired("chambers", "way.A part[:-1].A", "way.B part[1:].A",
                 part=gas.ConstantVolumeChamber(count=60, p_I=pressures),
                 way=gas.LocalRestriction(count=59, restriction_type="fixed", area="10 mm^2"))


def pressed_friction():
    """A piston between two chambers with a nonlinear leak; it rubs, and so does what it pulls."""
    return wired(
        "piston", "full.A leak.A", "leak.B piston.A", "piston.R body.M spring.R rub0.R",
        "piston.C rub1.C ground.V", "spring.C other.M rub0.C rub1.R",
        full=il.ConstantVolumeChamber(p_I="5 MPa"), ground=Reference(),
        leak=il.FlowResistance(pressure_drop="1 MPa", mass_flow="0.05 kg/s"),
        piston=il.TranslationalMechanicalConverter(interface_area="2 cm^2", dead_volume="0.1 l",
                                                   p_I="4 MPa"), body=Mass(v="1 m/s"),
        other=Mass(mass="2 kg", v="0.5 m/s"), spring=Spring(stiffness="2 kN/m", x="1 cm"),
        rub0=TranslationalFriction(law="coulomb", coulomb_force="20 N"),
        rub1=TranslationalFriction(law="coulomb", coulomb_force="20 N"))


def method_of(model, before="rodas4"):
    problem = model.simulate("1 ns", method=before).recording.problem.copy_for_reading()
    y = problem.solver_vector()
    if problem.laws is not None:
        problem.laws.modes = np.ones(problem.laws.size, dtype=int)
        problem.slope(0.0, y)
        assert METHODS["rodas4"].fits(problem, 0.0)
    return METHODS["rodas4"](problem, 0.0, y, t_end=1.0, rtol=1e-6, atol=np.full(y.size, 1e-8))


def differences(method, n):
    """By the first unknowns, those of the model; the columns that machine code has to give."""
    code, x, at, columns = method.code, method.x, np.zeros(1), []
    for j in range(n):
        step = 1e-5 * max(abs(x[j]), 1e-2) * (np.arange(x.size) == j)
        sides = np.empty((2, x.size))
        for side, sign in zip(sides, (1, -1), strict=True):
            run_code(code.slope, at, x + sign * step, code.p, code.q, side)
        columns.append((sides[0] - sides[1])[:n] / (2 * step[j]))
    return np.column_stack(columns)


@pytest.mark.parametrize("inertia", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_derivatives_in_a_direction_are_those_through_all_loops(inertia):
    method = method_of(pipes(inertia))
    n, x, code, at = method.problem.system.nx, method.x, method.code, np.zeros(1)
    expected, found = differences(method, n), np.empty((n, n))
    direction = np.full(x.size, np.nan)
    run_code(code.linear, at, x, code.p, code.q, direction)  # values, for all directions
    for j in range(n):
        direction = (np.arange(x.size) == j).astype(float)
        run_code(code.linear, at, x, code.p, code.q, direction)
        found[:, j] = direction[:n]
    largest = np.abs(expected).max(axis=0)
    assert_allclose(found / largest, expected / largest, atol=1e-5, rtol=0)
    lists = sparse_lists(method.problem.system)
    assert lists[FRONTS] == 0  # a chain
    row, column = (np.argsort(lists[lists[AT]:][:n])[k] for k in np.nonzero(found))
    assert np.abs(column - row).max() == 1


@pytest.mark.parametrize("model", [
    radiators, chambers, lambda: pendulum(np.pi / 3, count=16), lambda: coil_ladder(60)])
def test_rows_of_other_values_in_the_matrix_of_a_step_stand_for_derivatives_through_these(model):
    method = method_of(model())
    n, work, code = method.problem.system.nx, method.work_space.record, method.code
    assert (work.sparse[FRONTS] == BORDERED) != (model is radiators)
    expected, slope, room = differences(method, n), np.empty(method.x.size), np.empty(method.x.size)
    slope_at(code, work, 0.0, method.x, slope)
    derive(code, work, 0.0, 1e-3, method.x, slope)
    diagonal = 2 * np.abs(expected).max()
    factorize_less(work, diagonal)
    inverse = np.eye(method.x.size)
    for column in inverse:
        solve_with(work, column, room)
    size = np.abs(method.x[:n]) + 1e-2
    found = diagonal * np.eye(n) - np.linalg.inv(inverse[:n, :n].T)
    assert_allclose(found * size / size[:, None], expected * size / size[:, None],
                    atol=1e-5 * (np.abs(expected) * size / size[:, None]).max(), rtol=0)


def test_the_first_implicit_method_has_room_for_what_derivatives_come_to():
    method = method_of(pipes(False), before="dopri5")
    assert method.q.size > method.equations.offsets[-1] + method.equations.scratch


def test_efforts_and_unknowns_that_are_solved_for_move_with_states():
    method = method_of(pressed_friction())
    n, size = method.problem.system.nx, method.x.size
    expected, found = differences(method, n), np.zeros((size + 1, size))
    run_code(method.code.linear, np.zeros(1), method.x, method.code.p, method.code.q, found)
    assert method.problem.laws.held_modes.length > 0  # efforts are solved for
    assert method.problem.system.nz
    largest = np.abs(expected).max(axis=0)
    assert_allclose(found[:n, :n] / largest, expected / largest, atol=1e-6, rtol=0)
