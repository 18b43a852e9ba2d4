"""Fluids that boil and condense, against states and energies by CoolProp.

Numbers of CoolProp 8.0.0 stand in ``tests/data/saturation_points.csv`` and below, where they are
called so; they were found with ``PropsSI`` by pressure and quality, by density and internal energy,
or by pressure and entropy.
"""

import csv
from itertools import groupby
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from benches import final, meets, wire, wired
from numpy.testing import assert_allclose

import library.two_phase as tp
from blocks import SimulationError, quantity
from blocks.units import WrongDimension
from library.rotational import AngularVelocitySource, RotationalReference
from library.signal import Constant
from library.thermal import HeatFlowRateSource, ThermalReference
from library.translational import Reference, VelocitySource

FILE = Path(__file__).parents[2] / "data" / "saturation_points.csv"
ROWS = list(csv.DictReader(x for x in FILE.read_text().splitlines() if not x.startswith("#")))
POINTS = {medium: [{k: float(v) for k, v in row.items() if k != "medium"} for row in rows]
          for medium, rows in groupby(ROWS, lambda row: row["medium"])}  # fmt: skip


def place(p, **given):
    """A reservoir at a pressure, with the energy that one word says."""
    return tp.Reservoir(pressure_spec="specified", pressure=p, energy_spec=next(iter(given)),
                        **given)


def of(medium="R134a"):
    return wired("circuit", medium=tp.TwoPhaseFluidProperties(medium=medium))


def heated(model, end, power):
    """Heat into a port, whatever its temperature."""
    wire(model, "ground.H heat.A", f"heat.B {end}", heat=HeatFlowRateSource(heat_flow=power),
         ground=ThermalReference())


@pytest.mark.parametrize("medium", POINTS)
def test_saturated_liquid_and_vapour_are_those_of_coolprop(medium):
    """Tanks of liquid and of vapour at three pressures."""
    rows, n = POINTS[medium], 2 * len(POINTS[medium])
    model = wired("tanks", "tank.A state.A ends.A medium.A",
                  medium=tp.TwoPhaseFluidProperties(count=n, medium=medium),
                  tank=tp.Reservoir(count=n, pressure_spec="specified", energy_spec="quality",
                                    pressure=quantity(np.repeat([row["p"] for row in rows], 2),
                                                      "Pa"), quality=[0, 1] * len(rows)),
                  state=tp.ThermodynamicPropertiesSensor(count=n),
                  ends=tp.SaturationPropertiesSensor(count=n))
    run = model.simulate("1 s")

    def seen(path, unit):
        return run[path].final.to(unit).magnitude.reshape(-1, 2).T

    def exact(name):
        return np.array([[row[f"{name}_{phase}"] for row in rows] for phase in "lv"])

    latent = np.min(exact("h")[1] - exact("h")[0])
    assert_allclose(seen("state.T", "K"), exact("T"), rtol=6e-4)
    assert_allclose(1 / seen("state.RHO", "kg/m^3"), exact("v"), rtol=7e-4)
    assert_allclose(seen("state.H", "J/kg"), exact("h"), atol=4e-4 * latent)
    assert_allclose(seen("state.S", "J/(K*kg)"), exact("s"), atol=2.0 if medium == "water" else 0.3)
    assert_allclose(seen("state.X", "1"), [[0] * 3, [1] * 3], atol=1e-9)
    assert_allclose(seen("ends.T", "K")[0], exact("T")[0], rtol=1e-4)
    assert_allclose([seen(f"ends.{h}", "J/kg")[0] for h in ("HL", "HV")], exact("h"),
                    atol=4e-4 * latent)  # fmt: skip


def test_a_closed_chamber_is_heated_from_wet_to_superheated_along_its_density():
    model = of()
    wire(model, "tank.A cap.A medium.A",
         tank=tp.ConstantVolumeChamber(volume="1 l", p_I="0.5 MPa", x_I=0.2), cap=tp.Cap())
    heated(model, "tank.H", "1 kW")
    run = model.simulate("20 s", rtol=1e-9)
    # CoolProp: p, T and u after 5 kJ and 20 kJ at the density of 0.5 MPa and the quality 0.2
    at = quantity([5.0, 20.0], "s")
    assert_allclose(run["tank.p_I"].at(at).to("Pa").m, [857031.3251, 2385352.136], rtol=2e-3)
    assert_allclose(run["tank.T_I"].at(at).to("K").m, [306.9173074, 364.2371079], rtol=3e-4)
    assert_allclose(run["tank.u_I"].at(at).to("J/kg").m, [298607.5894, 431647.527], rtol=2e-4)
    assert run["tank.x_I"].at("5 s").m == pytest.approx(0.3483071, abs=1e-3)
    assert run["tank.x_I"].at("20 s").m > 1
    assert final(run, "cap.p", "MPa") == final(run, "tank.p_I", "MPa")
    assert final(run, "cap.u", "J/kg") == pytest.approx(final(run, "tank.u_I", "J/kg"), rel=1e-12)
    masses = run["tank.mass"].to("kg").m
    assert_allclose(masses, masses[0], rtol=1e-7)
    assert run.energy().relative_residual < 1e-7


def test_vapour_is_condensed_by_the_liquid_that_fills_its_tank():
    """u = (m0 u0 + m h_in)/(m0 + m): what is pushed in brings its work with it."""
    model = of()
    wire(model, "supply.A pump.A medium.A", "pump.B tank.A",
         tank=tp.ConstantVolumeChamber(volume="1 l", p_I="0.5 MPa", h_I="430 kJ/kg",
                                       port_area="1 mm^2"),
         supply=place("1 MPa", enthalpy="240 kJ/kg"),
         pump=tp.FlowRateSource(mass_flow="15 g/s", power_spec="none", port_area="1 mm^2"))
    run = model.simulate("20 s", rtol=1e-9)
    start, u = (run[f"tank.{name}"].initial.to(unit).m
                for name, unit in (("mass", "kg"), ("u_I", "J/kg")))
    end = start + 0.3
    meets(run, {"tank.mass kg": (end, 1e-7),
                "tank.u_I J/kg": ((start * u + 0.3 * 240e3) / end, 1e-7)})
    # CoolProp: the start, and the state of the density and internal energy at the end
    assert start == pytest.approx(0.02159005, rel=3e-4)
    assert u == pytest.approx(406841.18, rel=2e-4)
    meets(run, {"tank.p_I Pa": (728347.0, 2e-3), "tank.T_I K": (301.21915, 2e-4)})
    assert final(run, "tank.x_I", "1") == pytest.approx(0.0830432, abs=5e-4)
    assert run.energy().relative_residual < 1e-7


def test_a_restriction_keeps_the_enthalpy_and_lets_pass_what_bernoulli_says():
    model = of()
    wire(model, "opening.y valve.AR", "high.A valve.A medium.A before.A gauge.A", "gauge.B zero.A",
         "valve.B flow.A after.A", "flow.B low.A", high=place("1 MPa", subcooling="5 K"),
         low=place("0.3 MPa", superheating="5 K"), valve=tp.LocalRestriction(),
         opening=Constant(value="2 mm^2"), before=tp.ThermodynamicPropertiesSensor(),
         after=tp.ThermodynamicPropertiesSensor(), flow=tp.FlowRateSensor(),
         zero=tp.AbsoluteReference(), gauge=tp.PressureInternalEnergySensor())
    run = model.simulate("1 s")
    # CoolProp at 5 K below boiling at 1 MPa, and at its enthalpy and 0.3 MPa
    T, h, rho = 307.53763, 248096.55, 1170.9328
    meets(run, {"before.T K": (T, 1e-4), "before.H J/kg": (h, 3e-5),
                "after.H J/kg": (final(run, "before.H", "J/kg"), 1e-8)})
    assert final(run, "after.X", "1") == pytest.approx(0.2382385, abs=1e-4)
    flow = 0.7 * 2e-6 * sqrt(2 * rho * 0.7e6)
    meets(run, {"flow.M kg/s": (flow, 1e-3),
                "flow.V m^3/s": (flow / final(run, "after.RHO", "kg/m^3"), 1e-3),
                "flow.PHI W": (final(run, "flow.M", "kg/s") * final(run, "after.H", "J/kg"), 1e-7),
                "gauge.P MPa": (1, 1e-9), "gauge.U J/kg": (final(run, "high.u", "J/kg"), 1e-7)})
    assert run.energy().relative_residual < 1e-9


def test_the_ideal_cycle_of_a_heat_pump_has_its_coefficient_of_performance():
    """From saturated vapour at 0.3 MPa to saturated liquid at 1 MPa and back, R134a.

    The condenser is cooled by what CoolProp says, the valve is as wide as lets that flow pass.
    """
    h = [398995.1498, 424021.881, 255495.8561]  # CoolProp: before and behind compressor, condensed
    rho, flow = 1149.3292, 0.01  # CoolProp: saturated liquid at 1 MPa
    model = of()
    width = flow / (0.7 * sqrt(2 * rho * 0.7e6))
    wire(model, "vapour.A compressor.A medium.A", "compressor.B condenser.A behind.A",
         "condenser.B valve.A", "valve.B wet.A back.A", vapour=place("0.3 MPa", quality=1),
         back=place("0.3 MPa", quality=0.3), compressor=tp.FlowRateSource(mass_flow="10 g/s"),
         behind=tp.ThermodynamicPropertiesSensor(),
         condenser=tp.Pipe(length="2 m", area="1 cm^2", hydraulic_diameter="11 mm", p_I="1 MPa",
                           h_I=quantity(h[2], "J/kg"), extra_length="0 m"),
         valve=tp.LocalRestriction(restriction_type="fixed", area=quantity(width, "m^2")),
         wet=tp.ThermodynamicPropertiesSensor())
    heated(model, "condenser.H", quantity(flow * (h[2] - h[1]), "W"))
    run = model.simulate("60 s", rtol=1e-8)
    assert final(run, "condenser.p_I", "MPa") == pytest.approx(1, rel=5e-3)
    assert final(run, "condenser.x_I", "1") == pytest.approx(0, abs=2e-3)
    assert final(run, "behind.T", "K") == pytest.approx(316.8667, abs=0.3)
    taken = final(run, "condenser.Q_H", "W") / final(run, "compressor.power_supplied", "W")
    assert -taken == pytest.approx((h[1] - h[2]) / (h[1] - h[0]), rel=5e-3)  # 6.734
    assert final(run, "wet.X", "1") == pytest.approx(0.2755914, abs=2e-3)
    assert run.energy().relative_residual < 1e-7


@pytest.mark.slow
def test_a_pipe_that_boils_adds_its_heat_to_the_enthalpy_of_what_flows():
    model = of()
    wire(model, "wet.A pump.A medium.A", "pump.B pipe.A", "pipe.B flow.A", "flow.B out.A",
         wet=place("0.4 MPa", enthalpy="260 kJ/kg"), out=place("0.4 MPa", superheating="5 K"),
         pump=tp.FlowRateSource(mass_flow="10 g/s", power_spec="none", port_area="1 cm^2"),
         pipe=tp.SegmentedPipe(segments=3, initial_pressure="0.4 MPa", length="1 m",
                               initial_enthalpy="260 kJ/kg", area="1 cm^2",
                               hydraulic_diameter="11 mm"), flow=tp.FlowRateSensor())
    heated(model, "pipe.H", "1.6 kW")
    run = model.simulate("100 s")
    meets(run, {"flow.M kg/s": (0.01, 1e-6), "flow.PHI W": (0.01 * 260e3 + 1600, 1e-6),
                "pipe.segment[2].h_I J/kg": (420e3, 1e-5)})
    assert final(run, "pipe.segment[2].x_I", "1") > 1 > final(run, "pipe.segment[0].x_I", "1")
    assert run.energy().relative_residual < 1e-7


def test_a_pump_does_the_work_that_keeps_the_entropy():
    """Water at 320 K from 0.1 MPa to 5.1 MPa; nothing passes beside it."""
    model = of("water")
    wire(model, "tank.A pump.A aside.A medium.A", "pump.B pipe.A aside.B", "pipe.B out.A",
         tank=place("0.1 MPa", temperature="320 K"), out=place("5.1 MPa", temperature="320 K"),
         pump=tp.PressureSource(pressure_difference="5.001 MPa"), aside=tp.InfiniteFlowResistance(),
         pipe=tp.FlowResistance(pressure_drop="1 kPa", mass_flow="1 kg/s"))
    run = model.simulate("1 s")
    flow = final(run, "pump.mdot", "kg/s")
    assert flow == pytest.approx(1, rel=1e-3)
    assert final(run, "pump.power_supplied", "W") == pytest.approx(5048.07 * flow, rel=1e-3)
    assert final(run, "aside.A.mdot", "kg/s") == 0
    assert run.energy().relative_residual < 1e-9


def test_two_tanks_even_out_through_reversals_and_keep_mass_and_energy():
    """One is heated for a while, so that the flow turns and one boils out into the other."""
    model = of("R1234yf")
    wire(model, "one.A pipe.A medium.A", "pipe.B other.A", "ground.H heat.A", "heat.B other.H",
         one=tp.ConstantVolumeChamber(volume="1 l", p_I="0.8 MPa", x_I=0.1),
         other=tp.ConstantVolumeChamber(volume="2 l", p_I="0.3 MPa", x_I=1.1),
         pipe=tp.FlowResistance(pressure_drop="10 kPa", mass_flow="50 g/s", laminar_fraction=0.1),
         heat=HeatFlowRateSource(heat_flow=tp.table(["0 s", "20 s", "20 s", "60 s"],
                                                    ["0 W", "0 W", "500 W", "500 W"])),
         ground=ThermalReference())
    run = model.simulate("60 s", rtol=1e-9)
    flow = run["pipe.mdot"].to("kg/s").m
    assert flow[0] > 0.1 and flow.min() < -1e-3
    masses = run["one.mass"].to("kg").m + run["other.mass"].to("kg").m
    assert_allclose(masses, masses[0], rtol=1e-7)
    assert run.energy().relative_residual < 1e-7


@pytest.mark.parametrize(("rtol", "kept"), [(1e-6, 1e-5), (1e-9, 1e-7)])
def test_what_begins_to_boil_keeps_its_mass_and_energy_within_the_tolerance(rtol, kept):
    """Below the line of boiling pressure falls some thousand times slower than above it."""
    model = of("water")
    wire(model, "full.A drop.A medium.A", "drop.B low.A",
         full=tp.ConstantVolumeChamber(volume="2 l", p_I="0.8 MPa", x_I=-0.01),
         low=tp.ConstantVolumeChamber(volume="20 l", p_I="0.2 MPa", x_I=0.8),
         drop=tp.FlowResistance(pressure_drop="1 kPa", mass_flow="0.1 kg/s"))
    run = model.simulate("1 s", rtol=rtol)
    assert final(run, "full.x_I", "1") > 0.01
    masses = run["full.mass"].to("kg").m + run["low.mass"].to("kg").m
    assert_allclose(masses, masses[0], rtol=kept)
    assert run.energy().relative_residual < kept


def test_a_piston_that_compresses_vapour_keeps_its_entropy_and_does_the_work():
    """R134a of 0.3 MPa and 410 kJ/kg goes from 3 l to 1 l; CoolProp: the state of its entropy."""
    model = of()
    wire(model, "medium.A piston.A", "piston.R drive.R", "piston.C drive.C ground.V",
         piston=tp.TranslationalMechanicalConverter(dead_volume="3 l", interface_area="0.01 m^2",
                                                    p_I="0.3 MPa", h_I="410 kJ/kg"),
         drive=VelocitySource(velocity="-2 cm/s"), ground=Reference())
    run = model.simulate("10 s", rtol=1e-9)
    assert final(run, "piston.mass", "kg") == pytest.approx(3e-3 * 13.900776, rel=1e-3)
    assert final(run, "piston.T_I", "K") == pytest.approx(326.11467, abs=0.1)
    meets(run, {"piston.p_I Pa": (938315.4, 2e-3),
                "piston.f N": (0.01 * (final(run, "piston.p_I", "Pa") - 101325), 1e-9)})
    # work done on the fluid, that of the atmosphere included: the mass times the energy gained
    work = final(run, "piston.energy_stored", "J") - run["piston.energy_stored"].initial.to("J").m
    assert work + 101325 * 2e-3 == pytest.approx(
        3e-3 * 13.900776 * (412773.559 - 388418.471), rel=3e-3)  # fmt: skip
    assert run.energy().relative_residual < 1e-7


def test_a_vane_that_lets_a_mixture_expand_cools_it_along_its_entropy():
    """R134a of 1 MPa, half vapour by mass, goes from 1 l to 3 l, with e = -1."""
    model = of()
    wire(model, "medium.A vane.A", "vane.R drive.R", "vane.C drive.C ground.W",
         vane=tp.RotationalMechanicalConverter(dead_volume="1 l", displacement="1 l/rad",
                                               mech_orientation="negative", p_I="1 MPa", x_I=0.5),
         drive=AngularVelocitySource(velocity="-0.2 rad/s"), ground=RotationalReference())
    run = model.simulate("10 s", rtol=1e-9)
    # CoolProp: the state of the entropy at the start and a third of the density
    assert final(run, "vane.T_I", "K") == pytest.approx(281.34286, abs=0.05)
    assert final(run, "vane.p_I", "Pa") == pytest.approx(390154.1, rel=2e-3)
    assert final(run, "vane.x_I", "1") == pytest.approx(0.599663, abs=1e-3)
    assert final(run, "vane.t", "N*m") == pytest.approx(
        -1e-3 * (final(run, "vane.p_I", "Pa") - 101325), rel=1e-9)  # fmt: skip
    assert run.energy().relative_residual < 1e-7


def test_a_reservoir_of_a_void_fraction_has_that_share_of_its_volume_full_of_vapour():
    """R134a at 1 MPa; CoolProp: 1149.3292 kg/m³ of liquid, 49.22 of vapour."""
    model = of()
    wire(model, "tank.A state.A medium.A gauge.A",
         tank=place("1 MPa", void_fraction=0.5), state=tp.ThermodynamicPropertiesSensor(),
         gauge=tp.PressureInternalEnergySensor(reference="absolute"))
    run = model.simulate("1 s")
    x = final(run, "state.X", "1")
    assert final(run, "state.RHO", "kg/m^3") == pytest.approx((1149.3292 + 49.22) / 2, rel=1e-3)
    assert x / 49.22 / (x / 49.22 + (1 - x) / 1149.3292) == pytest.approx(0.5, abs=1e-3)
    assert final(run, "state.V", "m^3/kg") * final(run, "state.RHO", "kg/m^3") == pytest.approx(1)
    assert final(run, "gauge.T", "K") == pytest.approx(final(run, "state.T", "K"))


def test_a_run_stops_where_a_chamber_is_full_of_liquid_and_says_so():
    model = of()
    wire(model, "tank.A medium.A",
         tank=tp.ConstantVolumeChamber(volume="1 l", p_I="0.5 MPa", x_I=0.001))
    heated(model, "tank.H", "1 kW")
    with pytest.raises(SimulationError, match="pressure in the chamber comes near the critical"):
        model.simulate("1000 s")


@pytest.mark.parametrize("given", [{"temperature": "320 K"}, {"enthalpy": "300 kJ/kg"}])
def test_a_supercritical_state_is_refused_by_name_before_a_run(given):
    """Carbon dioxide at 8 MPa, above its critical 7.377 MPa."""
    model = of("R744")
    wire(model, "tank.A medium.A", tank=place("8 MPa", **given))
    (error,) = model.check().errors
    assert "pressure of the reservoir comes near the critical pressure" in str(error)
    assert "supercritical states are not modelled" in str(error)


def test_a_difference_of_temperatures_is_no_temperature():
    """Reservoirs by subcooling took 5 degC for 278 K."""
    with pytest.raises(WrongDimension, match="a difference of temperatures in K"):
        tp.Reservoir(energy_spec="subcooling", subcooling="5 degC")
    assert tp.Reservoir(energy_spec="superheating", superheating="9 delta_degF").superheating == (
        quantity("5 K"))


def test_what_is_boiled_dry_is_too_hot_and_says_so():
    model = wired("kettle", "water.A kettle.A", "fire.B kettle.H", "fire.A ground.H",
                  water=tp.TwoPhaseFluidProperties(medium="water"),
                  kettle=tp.ConstantVolumeChamber(volume="1 l", p_I="0.2 MPa", x_I=0.9),
                  fire=HeatFlowRateSource(heat_flow="1 kW"), ground=ThermalReference())
    with pytest.raises(SimulationError, match="it is too hot"):
        model.simulate("1000 s")
