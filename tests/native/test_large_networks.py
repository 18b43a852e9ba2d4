"""Large networks with algebraic loops in machine code, beside CasADi's evaluation."""

import itertools

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from benchmarks import domains, models
from blocks import Component, Model, Parameter, Variable, der, quantity
from blocks.machine.signatures import run_code
from blocks.native import is_large, sparse_factors, why_not
from blocks.native.equations import equations_of
from library.thermal import (
    ConductingRod,
    RadiativeHeatTransfer,
    TemperatureSource,
    ThermalMass,
    ThermalResistance,
)
from library.translational import (
    Damper,
    ForceSource,
    FreeEnd,
    HardStop,
    Mass,
    Reference,
    Spring,
    TwoPort,
)

COPIES = 80


class Wedge(TwoPort):
    """A damper that becomes harder the further it is pressed in."""

    damping, length = Parameter("5 N*s/m"), Parameter("1 m")
    x = Variable("m")
    power_dissipated = Variable("W")

    def equations(self):
        yield self.v == der(self.x)
        yield self.f == self.damping * (1 + (self.x / self.length) ** 2) * self.v
        yield self.power_dissipated == self.f * self.v


def webs(nodes, kind: type[Component] = Damper):
    """Copies of a mass on a web of dampers: massless nodes, each joined with all others."""
    rng = np.random.default_rng(nodes)
    model = Model(f"{COPIES} webs of {nodes} nodes")
    model.ground = Reference()
    model.mass = Mass(count=COPIES, mass=quantity(rng.uniform(1, 3, COPIES), "kg"), v="0.1 m/s")
    model.spring = Spring(count=COPIES, stiffness=quantity(rng.uniform(50, 90, COPIES), "N/m"))
    model.push = ForceSource(count=COPIES, force=models._push)
    model.connect(model.spring.R, model.mass.M, model.push.R)
    model.connect(model.spring.C, model.push.C, model.ground.V)
    inner = [model.add(f"node{k}", FreeEnd(count=COPIES)).V for k in range(nodes)]
    ends = [model.mass.M, *inner, model.ground.V]
    for k, (a, b) in enumerate(itertools.combinations(ends, 2)):
        damping = quantity(rng.uniform(1, 9, COPIES), "N*s/m")
        part = model.add(f"damper{k}", kind(count=COPIES, damping=damping))
        model.connect(part.R, a)
        model.connect(part.C, b)
    return model


def slopes_of(system, seed=0):
    """Slopes at a random point, by machine code and by CasADi."""
    p, rng = system.parameters(), np.random.default_rng(seed)
    x, z, m = rng.normal(size=system.nx), np.zeros(system.nz), np.ones(system.nm)
    equations = equations_of(system, p)
    q = np.concatenate([z, m, np.zeros(system.nd + equations.scratch + 1)])
    q[-equations.scratch :] = np.nan  # what was there before does not matter
    found = np.full(system.nx, np.nan)
    run_code(equations.slope, np.array([0.3]), x, p, q, found)
    return found, system.slope(0.3, x, z, p, m, np.zeros(system.nd), np.zeros(system.nu))


def opposed(n):
    """A chain with dampers that point against their springs, and springs beside both."""
    model = models.friction_chain(n)
    wire(model, "others.R against.C masses[1:].M", "others.C against.R masses[:-1].M",
         others=Spring(count=n - 1, stiffness="3 N/m"), against=Damper(count=n - 1))
    return model


@pytest.mark.parametrize("model", [
    lambda: models.random_network(400), lambda: webs(3, Wedge), lambda: opposed(100),
    lambda: domains.ladder(60),
], ids=["rods and levers", "coefficients of states", "several in parallel",
        "one of two in parallel is solved for"])
def test_compiled_and_interpreted_slopes_agree_to_rounding(model):
    found, expected = slopes_of(model().compile())
    assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_webs_are_blocks_of_several_torn_unknowns():
    for nodes in (2, 3, 4):
        steps = webs(nodes).compile().tape.steps
        assert {len(s.block.torn) for s in steps if s.block is not None} == {nodes - 1}


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 9])
def test_parallel_webs_move_as_one_of_them_alone(nodes):
    """The Schur complement of the conductances is the damper that a web is.

    Webs of nine nodes are torn at eight each, which are solved for together, block by block.
    """
    model = webs(nodes)
    found, _ = slopes_of(model.compile())
    size = nodes + 2
    laplacian = np.zeros((COPIES, size, size))
    for k, (a, b) in enumerate(itertools.combinations(range(size), 2)):
        damping = getattr(model, f"damper{k}").damping.to("N*s/m").m
        for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            laplacian[:, i, j] += sign * damping
    inner = slice(1, 1 + nodes)
    whole = laplacian[:, 0, 0] - np.einsum(
        "ci,cij,cj->c", laplacian[:, 0, inner], np.linalg.inv(laplacian[:, inner, inner]),
        laplacian[:, inner, 0])  # fmt: skip
    system = model.compile()
    at = {system.state_name(i): i for i in range(system.nx)}
    x = np.random.default_rng(0).normal(size=system.nx)
    for copy in (0, COPIES - 1):
        v, stretch = (x[at[f"{name}[{copy}].{what}"]] for name, what in
                      (("mass", "v"), ("spring", "x")))
        force = (np.sin(3.0) - model.spring.stiffness.to("N/m").m[copy] * stretch - whole[copy] * v)
        expected = force / model.mass.mass.to("kg").m[copy]
        assert_allclose(found[at[f"mass[{copy}].v"]], expected, rtol=1e-12)


def test_a_large_network_with_levers_runs_in_machine_code():
    model = models.random_network(600)
    result = model.simulate("2 s")
    assert result.statistics["method"] == "dopri5"
    exact = model.simulate("2 s", method="DOP853", rtol=1e-11, atol=1e-13)
    for name in ("masses.v", "springs.x"):
        v, reference = (r[name].final.m for r in (result, exact))
        assert_allclose(v, reference, rtol=0, atol=2e-6 * max(1.0, np.abs(reference).max()))


def test_many_unknowns_that_all_depend_on_each_other_are_solved_in_python(monkeypatch):
    monkeypatch.setattr(sparse_factors, "SHARE", 0.0)
    system = webs(10).compile()
    assert "algebraic unknowns" in why_not(system)
    run = webs(10).simulate("1 ms", method="dopri5")
    assert run.statistics.why.endswith("algebraic unknowns are solved for in Python")


def test_a_node_of_a_thousand_springs_is_one_sum():
    """A heavy frame on many springs of different stiffness: the sum of their forces."""
    rng, n = np.random.default_rng(0), 1000
    model = wired("a frame and what hangs on it", "springs.R bodies.M", "springs.C frame.M",
                  frame=Mass(mass="50 kg"), bodies=Mass(count=n, mass="1 kg"),
                  springs=Spring(count=n, stiffness=quantity(rng.uniform(1, 2, n), "N/m")))
    found, expected = slopes_of(model.compile())
    assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_damper_beside_a_stop_that_reads_the_same_velocity_brakes_as_it_does_alone():
    """v is the slope of the stop's x, what the stop damps by, and what the damper moves with."""
    model, n = Model("stopped"), 100
    wire(model, "body.M damper.R stop.R", "ground.V damper.C stop.C",
         ground=Reference(), body=Mass(count=n, mass="2 kg"),
         stop=HardStop(count=n, model="full", upper_bound="1 mm", upper_stiffness="1e4 N/m",
                       upper_damping="30 N*s/m"), damper=Damper(count=n, damping="5 N*s/m"))
    system = model.compile()
    assert is_large(system)
    found, _ = slopes_of(system)
    x = np.random.default_rng(0).normal(size=system.nx)
    at = {system.state_name(i): i for i in range(system.nx)}
    v, place = (np.array([x[at[f"{name}[{k}].{of}"]] for k in range(n)])
                for name, of in (("body", "v"), ("stop", "x")))
    slope_v, slope_x = (np.array([found[at[f"{name}[{k}].{of}"]] for k in range(n)])
                        for name, of in (("body", "v"), ("stop", "x")))
    pressed = 1e4 * np.maximum(place - 1e-3, 0) + 30 * v  # relations are held true on both sides
    pulled = 1e6 * np.maximum(-0.1 - place, 0) - 150 * v
    assert_allclose(slope_x, v, rtol=1e-15)
    assert_allclose(slope_v, -(5 * v + pressed - pulled) / 2, rtol=0,
                    atol=1e-13 * np.abs(slope_v).max())


# -- nonlinear loops -----------------------------------------------------------------------------
def warmed_skins(n, room="300 K", shields=0):
    """Lumps that lose heat through a resistance to a skin, which radiates, to shields first."""
    rng = np.random.default_rng(n)
    model = wired("skins", "lump.M link.A", "link.B skin.A",
                  room=TemperatureSource(temperature=room),
                  lump=ThermalMass(count=n, mass="1 g", T=quantity(rng.uniform(500, 1500, n), "K")),
                  link=ThermalResistance(count=n, resistance="20 K/W"),
                  skin=RadiativeHeatTransfer(count=n, area="1 cm^2"))
    last = model.skin.B
    for k in range(shields):
        shield = model.add(f"shield{k}", RadiativeHeatTransfer(count=n, area="1 cm^2"))
        model.connect(last, shield.A)
        last = shield.B
    model.connect(last, model.room.A)
    return model


@pytest.mark.parametrize(("method", "shields"), [("dopri5", 0), ("rodas4", 0), ("rodas4", 2)])
def test_nonlinear_loops_of_a_large_network_are_solved_side_by_side(method, shields):
    """Each skin takes the temperature at which conduction and radiation balance; a shield between
    two surfaces that are as large is one more resistance to radiation, which each meets."""
    n = 120
    model = warmed_skins(n, shields=shields)
    system = model.compile()
    assert system.nz == n * (1 + shields) and not why_not(system)
    run = model.simulate("30 s", rtol=1e-9, method=method)
    capacity = (model.lump.mass * model.lump.specific_heat).to("J/K").m
    share = (model.skin.radiation_coefficient * model.skin.area).to("W/K^4").m / (1 + shields)

    def skin(T):
        found = T
        for _ in range(60):
            found = found - ((found - T) / 20 + share * (found**4 - 300**4)) / (
                1 / 20 + 4 * share * found**3)
        return found

    exact = solve_ivp(lambda t, T: (skin(T) - T) / 20 / capacity, (0, 30),
                      run["lump.T"].initial.to("K").m, rtol=1e-11, atol=1e-8).y[:, -1]
    assert_allclose(run["lump.T"].final.to("K").m, exact, rtol=1e-7)
    assert_allclose(run["skin.A.T"].final.to("K").m, skin(exact), rtol=1e-7)


def test_unknowns_of_a_large_network_are_expected_where_states_and_time_take_them():
    """By the implicit function theorem: each skin follows its lump, and a room that warms up."""
    n, warming = 120, 7.0
    model = warmed_skins(n, lambda t: quantity("300 K") + quantity(warming, "K/s") * t)
    problem = model.simulate("0.3 s").recording.problem.copy_for_reading()
    system, t, x = problem.system, 0.3, problem.x
    problem.solve_algebraic(t)
    slope = system.slope(t, x, problem.z, problem.p, problem.m, problem.d, problem.u)
    equations = equations_of(system, problem.p)
    q, found = equations.constants(problem, t), np.empty(2 * n)
    run_code(equations.slope, np.array([t]), np.concatenate([x, problem.z]), problem.p, q, found)
    assert_allclose(found[:n], slope, rtol=1e-12)
    share = (model.skin.radiation_coefficient * model.skin.area).to("W/K^4").m
    sense = np.sign(problem.z)  # what is solved for is the heat, which flows out, or less it
    skin, room = x - 20 * sense * problem.z, 300 + warming * t
    warms = (slope / 20 + 4 * share * room**3 * warming) / (1 / 20 + 4 * share * skin**3)
    assert_allclose(found[n:], sense * (slope - warms) / 20, rtol=1e-9)


def test_a_long_rod_that_radiates_takes_the_implicit_steps_of_a_band():
    """In the steady state what is conducted through rod and skin is radiated."""
    model = wired("rod", "hot.A rod.A", "rod.B skin.A", "skin.B cold.A",
                  rod=ConductingRod(segments=400, thermal_conductivity="50 W/(m*K)"),
                  hot=TemperatureSource(temperature="1000 K"), cold=TemperatureSource(),
                  skin=RadiativeHeatTransfer(area="1 cm^2"))
    run = model.simulate("1e5 s", rtol=1e-7)
    assert run.statistics["method"] == "rodas4"
    assert run.statistics["steps"] < 400
    share = (model.skin.radiation_coefficient * model.skin.area).to("W/K^4").m
    cold = model.cold.temperature.to("K").m
    end = brentq(lambda T: (1000 - T) * 50e-4 / 0.1 - share * (T**4 - cold**4), 100, 1000)
    assert_allclose(run["skin.A.T"].final.to("K").m, end, rtol=1e-6)
    across = (np.arange(400) + 0.5) / 400
    assert_allclose(run["rod.segment.T"].final.to("K").m, 1000 - (1000 - end) * across, rtol=1e-6)
