"""Algebraic loops in machine code: dampers without masses between them, and large networks."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from benches import few, meets, wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.thermal as th
import library.translational as tr
from benchmarks.cases import domains, models
from benchmarks.table import peak_memory
from blocks import Component, Discrete, Model, Parameter, Variable, der, quantity, when, where
from blocks.machine.signatures import run_code
from blocks.native import is_large, sparse_factors, why_not
from blocks.native.equations import equations_of


class TwoStage(tr.TwoPort):
    """A damper that becomes harder above a speed."""

    damping, hard, limit = Parameter("5 N*s/m"), Parameter("9 N*s/m"), Parameter("0.1 m/s")
    power_dissipated = Variable("W")

    def equations(self):
        over = self.v - self.limit
        yield self.f == self.damping * self.v + where(
            over > quantity("0 m/s"), self.hard * over, quantity("0 N"))
        yield self.power_dissipated == self.f * self.v


def tesseract(first=None):
    """2 kg at one corner of a cube of four dimensions, whose 32 edges are dampers of 5 N*s/m.

    Its opposite corner is held. The 14 corners between have no mass.
    """
    corners = {0: "block.M", 15: "ground.V"}
    edges = [(a, a | 1 << k) for a in range(16) for k in range(4) if not a >> k & 1]
    for number, (a, b) in enumerate(edges):
        for corner, port in ((a, "R"), (b, "C")):
            corners[corner] = f"{corners.get(corner, '')} d{number}.{port}"
    dampers = {f"d{k}": tr.Damper(damping="5 N*s/m") for k in range(len(edges))}
    model = wired("tesseract", *corners.values(), ground=tr.Reference(),
                  block=tr.Mass(mass="2 kg", v="1 m/s"), **dampers | ({"d0": first()} if first
                                                                      else {}))
    assert model.compile().nz > 3
    return model


def test_a_mass_on_a_network_of_dampers_slows_down_as_that_network_does():
    # by symmetry the corners of equal distance move alike: 4, 12, 12 and 4 edges in series
    whole = 5 / (1 / 4 + 1 / 12 + 1 / 12 + 1 / 4)
    run = tesseract().simulate("1 s", method="dopri5", rtol=1e-10)
    t = np.linspace(0, 1, 33)
    v = np.exp(-whole / 2 * t)
    assert_allclose(run["block.v"].at(quantity(t, "s")).m, v, rtol=1e-9)
    assert_allclose(run["d0.f"].at(quantity(t, "s")).m, whole * v / 4, rtol=1e-9)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_condition_on_a_velocity_inside_the_loop_switches_at_the_same_time(method):
    fast = tesseract(TwoStage).simulate("1 s", method=method, rtol=1e-10)
    slow = tesseract(TwoStage).simulate("1 s", method="ode45", rtol=1e-10)
    assert len(fast.events) == len(slow.events) == 1
    assert_allclose(fast.events[0].time, slow.events[0].time, rtol=1e-9)
    assert_allclose(fast["block.v"].final.m, slow["block.v"].final.m, rtol=1e-9)


def test_a_study_of_a_model_with_loops_takes_its_runs_one_by_one():
    pytest.importorskip("xarray")
    data = tesseract().sweep({"block.mass": ["1 kg", "4 kg"]}, "1 s", method="dopri5",
                             rtol=1e-9, outputs=["final(block.v)"])  # fmt: skip
    assert_allclose(data["final(block.v)"], np.exp([-7.5, -7.5 / 4]), rtol=1e-7)


# -- large networks ---------------------------------------------------------------------------
COPIES = 80


class Wedge(tr.TwoPort):
    """A damper that becomes harder the further it is pressed in."""

    damping, length = Parameter("5 N*s/m"), Parameter("1 m")
    x, power_dissipated = Variable("m"), Variable("W")

    def equations(self):
        yield self.v == der(self.x)
        yield self.f == self.damping * (1 + (self.x / self.length) ** 2) * self.v
        yield self.power_dissipated == self.f * self.v


def webs(nodes, kind: type[Component] = tr.Damper):
    """Copies of a mass on a web of dampers: massless nodes, each joined with all others."""
    rng = np.random.default_rng(nodes)
    model = wired(
        f"{COPIES} webs of {nodes} nodes", "spring.R mass.M push.R", "spring.C push.C ground.V",
        ground=tr.Reference(), push=tr.ForceSource(count=COPIES, force=models.push_of_time),
        mass=tr.Mass(count=COPIES, mass=quantity(rng.uniform(1, 3, COPIES), "kg"), v="0.1 m/s"),
        spring=tr.Spring(count=COPIES, stiffness=quantity(rng.uniform(50, 90, COPIES), "N/m")),
        **{f"node{k}": tr.FreeEnd(count=COPIES) for k in range(nodes)})
    ends = ["mass.M", *(f"node{k}.V" for k in range(nodes)), "ground.V"]
    for k, (a, b) in enumerate(itertools.combinations(ends, 2)):
        wire(model, f"damper{k}.R {a}", f"damper{k}.C {b}", **{f"damper{k}": kind(
            count=COPIES, damping=quantity(rng.uniform(1, 9, COPIES), "N*s/m"))})
    return model


def slopes_of(system, seed=0):
    """Slopes at a random point, by machine code and by CasADi."""
    p, rng = system.parameters(), np.random.default_rng(seed)
    x, z, m = rng.normal(size=system.nx), np.zeros(system.nz), np.ones(system.nm)
    equations = equations_of(system)
    q = np.concatenate([z, m, np.zeros(system.nd + equations.scratch + 1)])
    q[-equations.scratch :] = np.nan  # what was there before does not matter
    found = np.full(system.nx, np.nan)
    run_code(equations.slope, np.array([0.3]), x, p, q, found)
    return found, system.slope(0.3, x, z, p, m, np.zeros(system.nd), np.zeros(system.nu))


def opposed(n):
    """A chain with dampers that point against their springs, and springs beside both."""
    model = models.friction_chain(n)
    wire(model, "others.R against.C masses[1:].M", "others.C against.R masses[:-1].M",
         others=tr.Spring(count=n - 1, stiffness="3 N/m"), against=tr.Damper(count=n - 1))
    return model


def hung_frame(n=1000):
    """A heavy frame on many springs of different stiffness: the sum of their forces."""
    stiffness = np.random.default_rng(0).uniform(1, 2, n)
    return wired("a frame and what hangs on it", "springs.R bodies.M", "springs.C frame.M",
                 frame=tr.Mass(mass="50 kg"), bodies=tr.Mass(count=n, mass="1 kg"),
                 springs=tr.Spring(count=n, stiffness=quantity(stiffness, "N/m")))


@few(2, "model", [lambda: models.random_network(400), lambda: webs(3, Wedge),
                                   lambda: opposed(100), lambda: domains.ladder(60), hung_frame],
                         ids=["rods and levers", "coefficients of states", "several in parallel",
                              "one of two in parallel is solved for", "a node of a thousand"])
def test_compiled_and_interpreted_slopes_agree_to_rounding(model):
    found, expected = slopes_of(model().compile())
    assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@few(1, "nodes", [2, 3, 4, 5, 9])
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


def test_many_unknowns_that_all_depend_on_each_other_are_solved_in_python(monkeypatch):
    monkeypatch.setattr(sparse_factors, "SHARE", 0.0)
    assert "algebraic unknowns" in why_not(webs(10).compile())
    run = webs(10).simulate("1 ms", method="dopri5")
    assert run.statistics.why.endswith("algebraic unknowns are solved for in Python")


def test_a_damper_beside_a_stop_that_reads_the_same_velocity_brakes_as_it_does_alone():
    """v is the slope of the stop's x, what the stop damps by, and what the damper moves with."""
    model, n = Model("stopped"), 100
    wire(model, "body.M damper.R stop.R", "ground.V damper.C stop.C",
         ground=tr.Reference(), body=tr.Mass(count=n, mass="2 kg"),
         stop=tr.HardStop(count=n, model="full", upper_bound="1 mm", upper_stiffness="1e4 N/m",
                          upper_damping="30 N*s/m"), damper=tr.Damper(count=n, damping="5 N*s/m"))
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
    model = wired(
        "skins", "lump.M link.A", "link.B skin.A", room=th.TemperatureSource(temperature=room),
        lump=th.ThermalMass(count=n, mass="1 g", T=quantity(rng.uniform(500, 1500, n), "K")),
        link=th.ThermalResistance(count=n, resistance="20 K/W"),
        skin=th.RadiativeHeatTransfer(count=n, area="1 cm^2"))
    last = "skin.B"
    for k in range(shields):
        wire(model, f"{last} shield{k}.A", **{
            f"shield{k}": th.RadiativeHeatTransfer(count=n, area="1 cm^2")})
        last = f"shield{k}.B"
    wire(model, f"{last} room.A")
    return model


@few(1, ("method", "shields"), [("dopri5", 0), ("rodas4", 0), ("rodas4", 2)])
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
    meets(run, {"lump.T K": (exact, 1e-7), "skin.A.T K": (skin(exact), 1e-7)})


def test_unknowns_of_a_large_network_are_expected_where_states_and_time_take_them():
    """By the implicit function theorem: each skin follows its lump, and a room that warms up."""
    n, warming = 120, 7.0
    model = warmed_skins(n, lambda t: quantity("300 K") + quantity(warming, "K/s") * t)
    problem = model.simulate("0.3 s").recording.problem.copy_for_reading()
    system, t, x = problem.system, 0.3, problem.x
    problem.solve_algebraic(t)
    slope = system.slope(t, x, problem.z, problem.p, problem.m, problem.d, problem.u)
    equations = equations_of(system)
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
                  rod=th.ConductingRod(segments=400, thermal_conductivity="50 W/(m*K)"),
                  hot=th.TemperatureSource(temperature="1000 K"), cold=th.TemperatureSource(),
                  skin=th.RadiativeHeatTransfer(area="1 cm^2"))
    run = model.simulate("1e5 s", rtol=1e-7)
    assert run.statistics["method"] == "rodas4"
    assert run.statistics["steps"] < 400
    share = (model.skin.radiation_coefficient * model.skin.area).to("W/K^4").m
    cold = model.cold.temperature.to("K").m
    end = brentq(lambda T: (1000 - T) * 50e-4 / 0.1 - share * (T**4 - cold**4), 100, 1000)
    assert_allclose(run["skin.A.T"].final.to("K").m, end, rtol=1e-6)
    across = (np.arange(400) + 0.5) / 400
    assert_allclose(run["rod.segment.T"].final.to("K").m, 1000 - (1000 - end) * across, rtol=1e-6)


# -- a long chain -----------------------------------------------------------------------------
RUN = """
import json
from benchmarks.cases import models
from benchmarks.table import peak_memory
model = models.chain_of_arrays(100_000)
result = model.simulate("2 s", method="dopri5")
last = result["masses.v"].final.m[-3:].tolist()
print(json.dumps([peak_memory(), last, result.statistics["method"]]))
"""


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_masses_runs_within_a_gigabyte():
    if np.isnan(peak_memory()):
        pytest.skip("the system does not tell the memory of a process")
    done = subprocess.run([sys.executable, "-c", RUN], check=True, capture_output=True, text=True)
    peak, last, method = json.loads(done.stdout.splitlines()[-1])
    assert method == "dopri5"
    assert peak < 1.0
    # the wave has not come far: the pushed end moves as that of a shorter chain
    slope, start = models.chain_by_hand(400)
    hand = solve_ivp(slope, (0, 2), start, method="DOP853", rtol=1e-10, atol=1e-13).y[0::2, -1]
    assert_allclose(last, hand[-3:], rtol=0, atol=2e-7 * np.abs(hand).max() + 1e-8)


class Triangle(Component):
    """Rises and falls between 0 and 1 by 1 a second."""

    falls, y = Discrete("1", "0"), Variable("1", "0.5", priority="high")

    def equations(self):
        yield der(self.y) == quantity("1 1/s") * (1 - 2 * self.falls)
        yield when(self.y > 1, {self.falls: 1})
        yield when(self.y < 0, {self.falls: 0})


def test_events_of_a_model_with_twenty_thousand_states_run_in_machine_code():
    model = models.chain_of_arrays(10_000)
    model.triangle = Triangle()
    run = model.simulate("4 s", method="dopri5")
    assert run.statistics.events == 4 and "events in Python" not in run.statistics
    times = np.linspace(0, 4, 81)
    found = run["triangle.y"].at(quantity(times, "s")).m
    assert_allclose(found, 1 - np.abs(1 - (times + 0.5) % 2), rtol=0, atol=1e-6)
