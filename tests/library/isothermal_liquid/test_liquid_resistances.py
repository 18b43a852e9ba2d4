"""Closed forms for pipes, gaps and valves; what they lose turns into heat, and warms a body."""

import numpy as np
import pytest
from benches import few, seconds, values, wire, wired
from liquid_bench import OIL, P0, WATER, between, flow, h, oil, opened, orifice, reservoir, rho
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import library.isothermal_liquid as il
from blocks import quantity
from blocks.native import why_not
from library.rotational import AngularVelocitySource, RotationalReference
from library.signal import Constant
from library.thermal import ThermalMass
from library.translational import Reference, VelocitySource

LOW, HIGH, AIR = 1e6, 6e6, 0.005


def steered(part, port, value, p_A, p_B):
    """A part between two pressures with a constant signal; its run."""
    model = between(part, p_A, p_B, oil())
    model.signal = Constant(value=value)
    model.connect(model.signal.y, getattr(model.part, port))
    run = model.simulate("0.1 s", rtol=1e-10)
    assert run.energy().relative_residual < 1e-9
    return run


# -- resistances -------------------------------------------------------------------------------
def test_a_resistance_has_its_nominal_flow_and_is_laminar_near_zero():
    for share in (1.0, -1.0, 0.25, 1e-4):
        part = il.FlowResistance(pressure_drop="0.2 MPa", mass_flow="2 kg/s", laminar_fraction=0.02)
        drop = 0.2e6 * share * np.sqrt(share**2 + 0.02**2)
        assert_allclose(flow(part, LOW + drop, LOW), 2 * share, rtol=1e-8)


@pytest.mark.parametrize(("shape", "sizes", "conductance"), [
    # volume flow times viscosity, length over pressure, from textbooks
    ("circular", {"diameter": "2 mm"}, np.pi * 2e-3**4 / 128),
    ("annular", {"inner_diameter": "20 mm", "outer_diameter": "20.02 mm"},
     np.pi * 20.01e-3 * 1e-5**3 / 12),  # a narrow slit, bent
    ("rectangular", {"width": "2 mm", "height": "2 mm"}, 0.03514425 * 2e-3**4),
    ("rectangular", {"width": "0.05 mm", "height": "20 mm"},
     20e-3 * 5e-5**3 / 12 * (1 - 0.63025 * 5e-5 / 20e-3)),
    ("elliptical", {"major_axis": "2 mm", "minor_axis": "2 mm"}, np.pi * 2e-3**4 / 128),
    ("elliptical", {"major_axis": "4 mm", "minor_axis": "2 mm"}, np.pi * 8e-9 * 1e-9 / (4 * 5e-6)),
    ("triangular", {"side": "2 mm"}, np.sqrt(3) / 320 * 2e-3**4)])
def test_a_gap_leaks_as_hagen_and_poiseuille_say(shape, sizes, conductance):
    part = il.LaminarLeakage(cross_section_geometry=shape, length="0.2 m", **sizes)
    exact = conductance * (HIGH - LOW) / (OIL["nu"] * 0.2)
    assert_allclose(flow(part, HIGH, LOW, oil()), exact, rtol=1e-6)


def test_a_given_resistance_is_pressure_per_volume_flow():
    part = il.LaminarLeakage(cross_section_geometry="custom", resistance="2e10 Pa*s/m^3")
    mean = (rho(HIGH, OIL) + rho(LOW, OIL)) / 2
    assert_allclose(flow(part, LOW, HIGH, oil()), -mean * 5e6 / 2e10, rtol=1e-12)


# -- pipes -------------------------------------------------------------------------------------
D = 0.02
AREA = np.pi / 4 * D**2


def pipe(**more):
    return il.Pipe(**{"length": "10 m", "area": quantity(AREA, "m^2"),
                      "hydraulic_diameter": "20 mm",
                      "extra_length": "0 m", "dynamic_compressibility": False} | more)  # fmt: skip


def test_slow_flow_in_a_pipe_is_hagens_and_poiseuilles():
    mdot = flow(pipe(), P0 + 2e4, P0, oil())
    assert mdot * D / (AREA * 850 * OIL["nu"]) < 2000
    assert_allclose(mdot, np.pi * D**4 / 128 * 2e4 / (OIL["nu"] * 10), rtol=1e-9)


@pytest.mark.parametrize(("reynolds", "roughness"), [(1e4, 0.0), (1e5, 1e-4), (1e6, 1e-2)])
def test_fast_flow_in_a_pipe_loses_what_colebrook_says(reynolds, roughness):
    f = 0.02  # Colebrook and White's factor, by iteration
    for _ in range(50):
        f = (-2 * np.log10(roughness / 3.7 + 2.51 / (reynolds * np.sqrt(f)))) ** -2
    speed = reynolds * WATER["nu"] / D
    drop = f * 10 / D * 998.21 * speed**2 / 2
    mdot = flow(pipe(roughness=quantity(roughness * D, "m")), P0 + drop, P0)
    # Haaland claims 2 % of the factor, 1 % of the flow
    assert_allclose(mdot, 998.21 * AREA * speed, rtol=1.2e-2)
    haaland = (1.8 * np.log10(6.9 / (mdot * D / (AREA * 998.21 * WATER["nu"]))
                              + (roughness / 3.7) ** 1.11)) ** -2  # fmt: skip
    mean = (998.21 + float(rho(P0 + drop))) / 2
    assert_allclose(haaland * 10 / D * mdot**2 / (2 * mean * AREA**2), drop, rtol=1e-4)


def test_the_loss_of_a_pipe_grows_all_the_way_through_the_transition():
    model = between(pipe(), lambda t: quantity(f"{P0} Pa") + quantity("1e5 Pa/s") * t, P0, oil())
    run = model.simulate("8 s", rtol=1e-8)
    mdot = values(run, "part.mdot", "kg/s", np.linspace(0.1, 8, 80))
    reynolds = mdot * D / (AREA * 850 * OIL["nu"])
    assert reynolds[0] < 1000 and reynolds[-1] > 4200
    assert (np.diff(mdot) > 0).all()
    assert run.energy().relative_residual < 1e-7


def test_a_compressible_pipe_has_its_mean_pressure_in_the_middle():
    part = pipe(dynamic_compressibility=True, p_I="2 MPa")
    run = between(part, 2.002e6, 2e6, oil()).simulate("1 ms", rtol=1e-9)
    assert_allclose(values(run, "part.p_I", "MPa")[-1], 2.001, rtol=1e-9)
    through = np.pi * D**4 / 128 * 2e3 / (OIL["nu"] * 10)
    assert_allclose(values(run, "part.A.mdot", "kg/s")[-1], through, rtol=1e-5)
    assert_allclose(values(run, "part.B.mdot", "kg/s")[-1], -through, rtol=1e-5)
    # the half of it that fills from both ends: time constant of R/4 and the capacity
    t, rise = seconds(run), 1e-3 - (values(run, "part.p_I", "MPa") - 2)
    tau = (OIL["nu"] * 10 * 128 / (np.pi * D**4)) / 4 * 850 * AREA * 10 / OIL["beta"]
    early = t < 5 * tau
    tau *= float(rho(2e6, OIL)) / 850
    assert_allclose(rise[early], 1e-3 * np.exp(-t[early] / tau), rtol=1e-4)
    assert run.energy().relative_residual < 1e-6


def test_a_column_of_liquid_has_to_be_accelerated():
    run = between(pipe(inertia=True), P0 + 2e4, P0, oil()).simulate("20 s", rtol=1e-10)
    end = np.pi * D**4 / 128 * 2e4 / (OIL["nu"] * 10)
    tau = D**2 / (32 * OIL["nu"])
    exact = end * (1 - np.exp(-seconds(run) / tau))
    assert_allclose(values(run, "part.mdot", "kg/s"), exact, rtol=2e-5, atol=1e-9)
    kinetic = 10 / AREA * exact[-1] ** 2 / (2 * 850)
    assert_allclose(values(run, "part.energy_stored", "J")[-1], kinetic, rtol=5e-5)
    assert run.energy().relative_residual < 1e-8


def test_liquid_in_a_closed_pipe_rings_with_its_stiffness_and_inertia():
    model = wired("ringing", "end.A pipe.A liquid.A", "pipe.B cap.A",
                  end=il.Reservoir(), cap=il.Cap(), liquid=oil(),
                  pipe=pipe(inertia=True, dynamic_compressibility=True, p_I="111.325 kPa"))
    run = model.simulate("0.2 s", rtol=1e-9)
    # half its mass moves on the spring of all its volume, and a little is lost
    c2 = OIL["beta"] / 850
    decay = 32 * OIL["nu"] / D**2 / 2
    w = np.sqrt(2 * c2 / 10**2 - decay**2)
    t = seconds(run)
    exact = 1e4 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    assert_allclose(values(run, "pipe.p_I", "Pa") - P0, exact, atol=5)
    assert run.energy().relative_residual < 1e-7


def stopped_column(n, length=100.0, speed=0.1):
    """A column of n pieces in a row that moves towards a closed end."""
    start = f"{WATER['rho'] * speed * 0.01} kg/s"
    parts = {f"part{k}": il.Pipe(
        length=f"{length / n} m", extra_length="0 m", inertia=True, p_I="1 MPa", flow_A=start,
        flow_B=start if k < n - 1 else "0 kg/s") for k in range(n)}  # fmt: skip
    return wired("water hammer", "lake.A part0.A", f"part{n - 1}.B cap.A",
                 *(f"part{k}.B part{k + 1}.A" for k in range(n - 1)), lake=reservoir(1e6),
                 cap=il.Cap(), **parts)


def characteristics(length, speed, ends, count=200, diameter=0.1128):
    """Pressure at the closed end, every step, by the method of characteristics."""
    density = WATER["rho"]
    sound = np.sqrt(WATER["beta"] / density)
    step = length / count / sound
    p, v = np.full(count + 1, 1e6), np.full(count + 1, speed)
    times, found = [0.0], [1e6]
    while times[-1] < ends:
        reynolds = np.maximum(np.abs(v) * diameter / WATER["nu"], 1e-9)
        rough = (15e-6 / (3.7 * diameter)) ** 1.11
        factor = np.where(reynolds < 3000, 64 / reynolds, 1 / (
            1.8 * np.log10(6.9 / np.maximum(reynolds, 3000) + rough)) ** 2)  # fmt: skip
        lost = density * sound * step * factor * v * np.abs(v) / (2 * diameter)
        right = (p + density * sound * v - lost)[:-1]
        left = (p - density * sound * v + lost)[1:]
        p[1:-1] = (right[:-1] + left[1:]) / 2
        v[1:-1] = (right[:-1] - left[1:]) / (2 * density * sound)
        p[-1], v[-1] = right[-1], 0.0
        v[0] = (p[0] - left[0]) / (density * sound)
        times.append(times[-1] + step)
        found.append(p[-1])
    return np.array(times), np.array(found)


def test_waves_in_many_pieces_are_those_of_the_method_of_characteristics():
    """Up and down; the means of both plateaus, without the ringing of the pieces."""
    sound = np.sqrt(WATER["beta"] / WATER["rho"])
    there = 100.0 / sound
    run = stopped_column(24).simulate(f"{3.9 * there} s")
    assert "machine code" in run.statistics.why
    times, exact = characteristics(100.0, 0.1, 3.9 * there)
    joukowsky = WATER["rho"] * sound * 0.1
    for first, last in ((0.2, 1.8), (2.2, 3.8)):
        t = np.linspace(first, last, 400) * there
        found = run["part23.p_I"].at(quantity(t, "s")).to("Pa").m
        assert_allclose(found.mean(), np.interp(t, times, exact).mean(), atol=3e-3 * joukowsky)
    assert run.energy().relative_residual < 1e-6


def test_many_loops_of_one_unknown_each_are_no_large_loop():
    system = stopped_column(22).compile()
    assert system.nz > 20 and not system.linear
    assert not why_not(system)


# -- orifices and valves -----------------------------------------------------------------------
@pytest.mark.parametrize(("p_A", "p_B"), [(HIGH, LOW), (LOW, HIGH), (LOW + 10, LOW)])
def test_a_restriction_lets_pass_what_bernoulli_says(p_A, p_B):
    part = il.LocalRestriction(restriction_type="fixed", area="3 mm^2")
    assert_allclose(flow(part, p_A, p_B, oil()), orifice(p_A, p_B, 3e-6), rtol=1e-10)


def test_ports_of_finite_area_and_recovered_pressure_let_more_pass():
    share, cd = 0.5, 0.64
    r = np.sqrt(1 - share**2 * (1 - cd**2))
    for recovery, loss in ((False, 1.0), (True, (r - cd * share) / (r + cd * share))):
        part = il.LocalRestriction(restriction_type="fixed", area="50 mm^2", finite_ports=True,
                                port_area="100 mm^2", pressure_recovery=recovery)  # fmt: skip
        exact = orifice(HIGH, LOW, 50e-6, contraction=1 - share**2, loss=loss)
        assert_allclose(flow(part, HIGH, LOW, oil()), exact, rtol=1e-10)


@pytest.mark.parametrize(("signal", "area"), [("2 mm^2", 2e-6), ("0 mm^2", 1e-8), ("9 cm^2", 1e-5)])
def test_a_restriction_follows_its_signal_within_limits(signal, area):
    part = il.LocalRestriction(minimum_area="0.01 mm^2", maximum_area="10 mm^2")
    run = steered(part, "AR", signal, HIGH, LOW)
    assert_allclose(values(run, "part.mdot", "kg/s"), orifice(HIGH, LOW, area), rtol=1e-10)


@pytest.mark.parametrize(("orientation", "sign"), [("positive", 1), ("negative", -1)])
@pytest.mark.parametrize(("place", "share"), [(2.5, 0.375), (0.5, 0), (1, 0), (7, 1)])
def test_an_orifice_opens_beyond_its_overlap(orientation, sign, place, share):
    part = il.VariableOrifice(orientation=orientation, overlap="1 mm", stroke="4 mm",
                           maximum_area="8 mm^2", leakage_area="1e-9 m^2")  # fmt: skip
    run = steered(part, "S", f"{sign * place} mm", HIGH, LOW)
    area = 1e-9 + (8e-6 - 1e-9) * share
    assert_allclose(values(run, "part.area", "m^2"), area, rtol=1e-9)
    assert_allclose(values(run, "part.mdot", "kg/s"), orifice(HIGH, LOW, area), rtol=1e-9)


@pytest.mark.parametrize(("drop", "share"), [(-2e5, 0), (5e3, 0), (5.5e4, 0.5), (1e5, 1), (9e5, 1)])
def test_a_check_valve_opens_from_A_to_B_only(drop, share):
    exact = orifice(LOW + drop, LOW, 1e-10 + (1e-4 - 1e-10) * share)
    assert_allclose(flow(il.CheckValve(), LOW + drop, LOW, oil()), exact, rtol=1e-9)


def test_a_check_valve_takes_its_time_to_open():
    part = il.CheckValve(opening_dynamics=True, time_constant="0.1 s")
    run = between(part, LOW + 5.5e4, LOW, oil()).simulate("0.5 s", rtol=1e-10)
    share = 0.5 * (1 - np.exp(-seconds(run) / 0.1))
    assert_allclose(values(run, "part.opening", "1"), share, atol=1e-9)
    exact = orifice(LOW + 5.5e4, LOW, 1e-10 + (1e-4 - 1e-10) * share)
    assert_allclose(values(run, "part.mdot", "kg/s"), exact, rtol=1e-6)


@pytest.mark.parametrize(("control", "opening"), [("difference", 0.5), ("gauge", 0.625)])
def test_a_relief_valve_opens_by_the_pressure_it_controls(control, opening):
    part = il.PressureReliefValve(cracking_pressure="4 MPa", maximum_pressure="6 MPa",
                               maximum_area="20 mm^2", control=control)  # fmt: skip
    p_A, p_B = P0 + 5.25e6, P0 + 0.25e6
    area = 1e-10 + (2e-5 - 1e-10) * opening
    assert_allclose(flow(part, p_A, p_B, oil()), orifice(p_A, p_B, area), rtol=1e-10)


@pytest.mark.parametrize("side", [1, -1])
def test_a_directional_valve_joins_the_pump_with_one_side_and_the_tank_with_the_other(side):
    model = wired("valve", "pump.A valve.P liquid.A", "tank.A valve.T", "valve.A a.A",
                  "valve.B b.A", "spool.y valve.S", pump=reservoir(10e6), tank=il.Reservoir(),
                  liquid=oil(), valve=il.DirectionalValve(overlap_PA="1 mm", overlap_AT="-1 mm",
                                                          stroke="5 mm", maximum_area="10 mm^2"),
                  spool=Constant(value=f"{3 * side} mm"), a=reservoir(4e6), b=reservoir(3e6))
    run = model.simulate("0.1 s", rtol=1e-10)
    opening = {"PA": 0.4, "PB": 0, "AT": 0, "BT": 0.6} if side == 1 else {
        "PA": 0, "PB": 0.6, "AT": 0.8, "BT": 0}  # fmt: skip
    pressure = {"P": 10e6, "A": 4e6, "B": 3e6, "T": P0}
    exact = {edge: orifice(pressure[edge[0]], pressure[edge[1]], 1e-10 + (1e-5 - 1e-10) * share)
             for edge, share in opening.items()}  # fmt: skip
    for edge, mdot in exact.items():
        assert_allclose(values(run, f"valve.flow_{edge}", "kg/s"), mdot, rtol=1e-9)
    assert_allclose(values(run, "a.A.mdot", "kg/s"), exact["PA"] - exact["AT"], rtol=1e-9)
    assert_allclose(values(run, "tank.A.mdot", "kg/s"), exact["AT"] + exact["BT"], rtol=1e-9)
    heat = sum(m * (h(pressure[e[0]], OIL) - h(pressure[e[1]], OIL)) for e, m in exact.items())
    assert_allclose(values(run, "valve.power_dissipated", "W"), heat, rtol=1e-9)


@pytest.mark.parametrize("second", ["restriction", "check valve", "motor"])
def test_a_node_without_volume_between_resistances_starts_with_air_in_the_liquid(second):
    """Where one pressure is sought, from that of the atmosphere; the reference is bisection."""
    law = {"restriction": lambda p: orifice(p, LOW, 1e-6, air=AIR),
           "check valve": lambda p: orifice(p, LOW, opened(p - LOW, 1e4, 1e5, 1e-4), air=AIR),
           "motor": lambda p: 50e-6 * (rho(p, OIL, air=AIR) + rho(LOW, OIL, air=AIR)) / 2}[second]
    made = {"restriction": lambda: il.LocalRestriction(restriction_type="fixed", area="1 mm^2"),
            "check valve": lambda: il.CheckValve(cracking_pressure="10 kPa",
                                                 maximum_pressure="100 kPa"),
            "motor": lambda: il.FixedDisplacementMotor(displacement="1 cm^3/rad"),}[second]()
    model = wired("series", "a.A first.A liquid.A", "first.B second.A", "second.B b.A",
                  a=reservoir(HIGH), b=reservoir(LOW), second=made,
                  liquid=oil(air=True, air_fraction=AIR),
                  first=il.LocalRestriction(restriction_type="fixed", area="2 mm^2"))
    if second == "motor":
        wire(model, "speed.R second.R", "speed.C second.C frame.W",
             speed=AngularVelocitySource(velocity="50 rad/s"), frame=RotationalReference())
    run = model.simulate("1 s", rtol=1e-10)
    middle = brentq(lambda p: orifice(HIGH, p, 2e-6, air=AIR) - law(p), LOW, HIGH, xtol=1e-4)
    assert_allclose(values(run, "first.B.p", "Pa"), middle, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


# -- what liquid loses leaves as heat, and viscosity of a gap warms what it is in ------------------
@few(3, "part", [
    lambda **k: il.FlowResistance(**k), lambda **k: il.LaminarLeakage(length="1 m", **k),
    lambda **k: il.LocalRestriction(restriction_type="fixed", area="1 mm^2", **k),
    lambda **k: il.CheckValve(maximum_area="1 mm^2", **k),
    lambda **k: il.PressureReliefValve(maximum_area="1 mm^2", **k), lambda **k: il.Pipe(
        dynamic_compressibility=False, area="1 cm^2", hydraulic_diameter="1 cm", **k)])
def test_what_is_lost_between_two_pressures_warms_a_body(part):
    mdot = flow(part(), 2e6, 1e6, oil())
    model = between(part(thermal_port=True), 2e6, 1e6, oil())
    wire(model, "body.M part.H", body=ThermalMass(mass="1 kg", specific_heat="100 J/(K*kg)"))
    run = model.simulate("1 s", rtol=1e-9)
    heat = mdot * (h(2e6, OIL) - h(1e6, OIL))
    assert_allclose(values(run, "body.T", "K") - 300, heat * seconds(run) / 100, rtol=1e-7,
                    atol=1e-9)  # fmt: skip
    assert run.energy().relative_residual < 1e-9


def test_the_friction_of_seals_warms_the_cylinder():
    model = wired(
        "seals", "cylinder.R drive.R", "cylinder.C drive.C ground.V",
        "cylinder.A supply.A oil.A", "cylinder.H body.M",
        cylinder=il.SingleActingActuator(law="coulomb", coulomb_force="500 N", stroke="1 m",
                                         breakaway_force="500 N", thermal_port=True),
        drive=VelocitySource(velocity="0.1 m/s"), ground=Reference(), oil=oil(),
        supply=reservoir(2e6), body=ThermalMass(mass="1 kg", specific_heat="100 J/(K*kg)"))
    run = model.simulate("1 s", rtol=1e-9)
    assert_allclose(values(run, "body.T", "K")[-1] - 300, 0.5, rtol=1e-7)
    assert run.energy().relative_residual < 1e-6


def test_a_gap_leaks_more_as_it_warms():
    def resistance(temperature):
        return quantity("1e10 Pa*s/m^3") * (1 - quantity("0.01 1/K") * (
            temperature - quantity("300 K")))  # fmt: skip

    model = between(il.LaminarLeakage(cross_section_geometry="custom", resistance=resistance,
                                   thermal_port=True), 6e6, 1e6, oil())  # fmt: skip
    wire(model, "body.M part.H", body=ThermalMass(mass="1 kg", specific_heat="100 J/(K*kg)"))
    run = model.simulate("1 s", rtol=1e-9)
    # C dT/dt = P0/(1 - a T): T - a T²/2 = P0 t/C
    cold = values(run, "part.power_dissipated", "W")[0]
    assert_allclose(cold, 5e6**2 / 1e10, rtol=1e-2)
    rise = values(run, "body.T", "K") - 300
    assert_allclose(rise - 0.005 * rise**2, cold * seconds(run) / 100, rtol=1e-6, atol=1e-9)
    assert np.diff(values(run, "part.mdot", "kg/s")).min() > 0
