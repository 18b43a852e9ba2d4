"""Blocks of thermal liquid, gas and two phases, of old and new files, count as their pages say."""

import numpy as np
import pytest
from benches import few, final, meets
from numpy.testing import assert_allclose
from simscape_corpus import built
from simscape_corpus import converted as public
from slx_writer import Drawn, constant, converted, mapped, note_of, solver

LAGGED = Drawn("foundation.thermal.elements.perfect_insulator", "lagging", {"A": "wall"})
GAMMA = 1000 / 713
SOLVER = solver("tank")


def test_a_public_gas_piston_follows_the_isentrope(tmp_path):
    """5 l and a piston of 100 cm² that is drawn out by (1 - cos(w t))/w, w = 0.5 pi/s."""
    run = built(public("gas_piston_work", tmp_path).text, tmp_path).simulate("4 s", rtol=1e-9)
    drawn = (1 - np.cos(np.pi / 2 * run.time.to("s").m)) / (np.pi / 2)
    volume = 5e-3 + 1e-5 + 0.01 * drawn
    p = 0.101325 * (volume[0] / volume) ** (1000 / 713)
    found = run["thermo_measurements.pressure_temperature_sensor_g.P"].to("MPa").m
    assert_allclose(found, p, rtol=3e-3)  # the chamber and the piston differ by what flows between
    assert run["constant_volume_chamber_g.mass"].to("kg").m.min() < 0.3 * 0.0060


@pytest.mark.parametrize(("kind", "given", "release"), [
    ("mass_flow_source", {"commanded_mass_flow": ("0.2", "kg/s")}, "R2022b"),
    ("flow_rate_source", {"mass_flow": ("0.2", "kg/s"), "source_type":
     ("foundation.enum.constant_controlled.constant", "1"), "flow_type":
     ("foundation.enum.mass_volumetric_flow.mass", "1"), "area": ("0.01", "m^2")}, "R2024b"),
], ids=["old", "new"])
def test_a_source_of_liquid_pumps_from_A_to_B(kind, given, release, tmp_path):
    """0.2 kg/s through a pipe, measured from A to B, and a pressure that is 48 kPa higher at B."""
    TL = "foundation.thermal_liquid."
    text = mapped(tmp_path, [
        Drawn(f"{TL}elements.reservoir", "tank", {"A": "tank"}, {
            "pressure_spec": ("foundation.enum.pressure_spec.specified", "1"),
            "reservoir_pressure": ("0.3", "MPa"), "reservoir_temperature": ("300", "K")}),
        Drawn(f"{TL}sources.{kind}", "pump", {"A": "tank", "B": "one"}, given),
        Drawn(f"{TL}elements.pipe", "pipe", {"A": "one", "H": "wall", "B": "two"}, {
            "length": ("5", "m"), "area": ("1.75e-4", "m^2"), "Dh": ("1.5e-2", "m"),
            "length_add": ("1", "m"), "roughness": ("15e-6", "m"), "p0": ("0.3", "MPa"),
            "T0": ("300", "K")}),
        Drawn(f"{TL}sensors.flow_sensor", "meter", {"A": "two", "B": "tank", "M": "m"}),
        Drawn(f"{TL}sources.pressure_source", "lift", {"A": "tank", "B": "high"}, {
            "commanded_pressure": ("48000", "Pa")}),
        Drawn(f"{TL}elements.flow_resistance", "back", {"A": "high", "B": "tank"}, {
            "delta_p_nominal": ("0.012", "MPa"), "mdot_nominal": ("0.1", "kg/s"),
            "area": ("0.01", "m^2"), "laminar_fraction": ("1e-3", "1")}),
        Drawn(f"{TL}sensors.pressure_temperature_sensor", "gauge",
              {"A": "high", "B": "tank", "P": "p", "T": "t"}),
        LAGGED, SOLVER], release)
    run = built(text, tmp_path).simulate("1 s")
    meets(run, {"meter.M kg/s": (0.2, 1e-4), "gauge.P kPa": (48, 1e-6),
                "back.mdot kg/s": (0.2, 1e-6)})
    assert final(run, "pipe.p_I", "MPa") > 0.3


@pytest.mark.parametrize("release", ["R2018b", "R2022b"])
def test_a_controlled_source_of_gas_raises_B_of_what_is_closed(release, tmp_path):
    """A closed box is filled to 10 kPa above the atmosphere, and nothing leaves it."""
    G = "foundation.gas."
    text = mapped(tmp_path, [
        Drawn(f"{G}elements.reservoir", "outside", {"A": "tank"}, {
            "pressure_spec": ("foundation.enum.pressure_spec.atmospheric", "1"),
            "reservoir_temperature": ("293.15", "K"), "area_A": ("0.01", "m^2")}),
        constant("wanted", "s", "10", "kPa"),
        Drawn(f"{G}sources.controlled_pressure_source", "fan", {"A": "tank", "P": "s", "B": "one"},
              {"power_spec": ("foundation.enum.power_spec.none", "1"), "area_A": ("0.01", "m^2"),
               "area_B": ("0.01", "m^2")}),
        Drawn(f"{G}elements.constant_volume_chamber", "box", {"A": "one", "H": "wall"}, {
            "volume": ("1e-3", "m^3"), "num_ports": ("foundation.enum.num_ports.one", "1"),
            "area_A": ("0.01", "m^2")}),
        Drawn(f"{G}sensors.pressure_temperature_sensor", "gauge",
              {"A": "one", "B": "tank", "P": "p", "T": "t"}),
        Drawn(f"{G}sensors.mass_flow_energy_flow_sensor", "meter",
              {"A": "tank", "B": "two", "M": "m", "PHI": "e"}),
        Drawn(f"{G}elements.cap", "end", {"A": "two"}), LAGGED, SOLVER], release)
    run = built(text, tmp_path).simulate("1 s")
    meets(run, {"gauge.P kPa": (10, 1e-6), "box.p_I MPa": (0.111325, 1e-6)})
    assert final(run, "meter.M", "kg/s") == pytest.approx(0)


def test_older_reservoirs_and_restrictions_follow_their_signals(tmp_path):
    """2 bar and 350 K, chosen by signals, fill a litre through an opening that a signal gives."""
    G = "foundation.gas."
    text = mapped(tmp_path, [
        constant("pressure", "p", "0.2", "MPa"), constant("warmth", "t", "350", "K"),
        constant("opening", "s", "1", "mm^2"),
        Drawn(f"{G}elements.controlled_reservoir", "tank", {"A": "tank", "P": "p", "T": "t"},
              {"area_A": ("1", "mm^2")}),
        Drawn(f"{G}elements.variable_local_restriction", "valve",
              {"A": "tank", "AR": "s", "B": "one"}, {
                  "min_area": ("1e-10", "m^2"), "max_area": ("1", "mm^2"),
                  "area": ("1", "mm^2"), "Cd": ("0.64", "1"), "B_lam": ("0.999", "1")}),
        Drawn(f"{G}elements.constant_volume_chamber", "box", {"A": "one", "H": "wall"}, {
            "volume": ("1e-3", "m^3"), "num_ports": ("foundation.enum.num_ports.one", "1"),
            "area_A": ("1", "mm^2")}),
        LAGGED, SOLVER], "R2022b")
    run = built(text, tmp_path).simulate("10 s", rtol=1e-9)
    choked = 0.64 * 1e-6 * 0.2e6 * (GAMMA / (287 * 350)) ** 0.5 * (2 / (GAMMA + 1)) ** (
        (GAMMA + 1) / (GAMMA - 1) / 2)  # fmt: skip
    assert run["valve.mdot"].initial.to("kg/s").m == pytest.approx(choked, rel=1e-4)
    assert final(run, "box.p_I", "MPa") == pytest.approx(0.2, rel=1e-6)
    # what enters brings h: filled without heat, V dp = (gamma - 1) h dm
    held = 1e-3 / 287 * (0.101325e6 / 293.15 + (0.2 - 0.101325) * 1e6 / GAMMA / 350)
    assert final(run, "box.mass", "kg") == pytest.approx(held, rel=1e-4)


P = "foundation.two_phase_fluid."
ABSOLUTE = {"reference": ("foundation.enum.MeasurementReference.difference", "1"),
            "pressure": ("true", "1"), "internal_energy": ("true", "1"),
            "temperature": ("false", "1")}
OLD_PUMP = ("mass_flow_source", {"mass_flow": ("0.01", "kg/s")})
NEW_PUMP = ("flow_rate_source", {
    "mass_flow": ("0.01", "kg/s"), "volumetric_flow": ("0", "m^3/s"),
    "source_type": ("foundation.enum.constant_controlled.constant", "1"),
    "flow_type": ("foundation.enum.mass_volumetric_flow.mass", "1")})


def choice(enumeration, word):
    return f"foundation.enum.{enumeration}.{word}", "1"


def properties(**given):
    """What the block of a fluid's tables holds, its default of water but for what is given."""
    return Drawn(f"{P}utilities.two_phase_fluid_properties", "fluid", {"A": "tank"}, {
        "u_min": ("0", "kJ/kg"), "u_max": ("4000", "kJ/kg"), "p_TLU": ("[0.001; 22]", "MPa"),
        "p_crit": ("22.0640", "MPa"), "p_atm": ("0.101325", "MPa"), **given})


@few(1, ("pump", "release"), [(OLD_PUMP, "R2018b"), (NEW_PUMP, "R2024b")],
                         ids=["old", "new"])  # fmt: skip
def test_a_source_pumps_water_from_A_to_B_and_a_pipe_boils_it(pump, release, tmp_path):
    """10 g/s at 260 kJ/kg and 4 bar get 1,000 kJ/kg by 10 kW; CoolProp: 416.76 K there."""
    kind, given = pump
    spec = {"pressure_spec": choice("ReservoirPressureSpec2P", "Specified"),
            "reservoir_pressure": ("0.4", "MPa"), "reservoir_quality": ("0.5", "1"),
            "reservoir_void_fraction": ("0.5", "1"), "reservoir_superheating": ("-1", "deltaK"),
            "reservoir_condensing_temperature": ("373.15", "K")}  # fmt: skip
    text = mapped(tmp_path, [
        properties(),
        Drawn(f"{P}elements.reservoir", "tank", {"A": "tank"}, {
            **spec, "energy_spec": choice("ReservoirEnergySpec2P", "Enthalpy"),
            "reservoir_enthalpy": ("260", "kJ/kg")}),
        Drawn(f"{P}elements.reservoir", "out", {"A": "out"}, {
            **spec, "energy_spec": choice("ReservoirEnergySpec2P", "Subcooling"),
            "reservoir_subcooling": ("5", "deltaK")}),
        Drawn(f"{P}sources.{kind}", "pump", {"A": "tank", "B": "one"}, {
            **given, "power_spec": choice("power_spec", "none"),
            "area_A": ("1", "cm^2"), "area_B": ("1", "cm^2")}),
        Drawn(f"{P}elements.pipe", "pipe", {"A": "one", "H": "wall", "B": "two"}, {
            "length": ("1", "m"), "area": ("1", "cm^2"), "Dh": ("1.1", "cm"),
            "length_add": ("0", "m"), "energy_spec": choice("energy_spec", "enthalpy"),
            "inertia": ("simscape.enum.onoff.off", "1"), "p_init": ("400", "kPa"),
            "T_init": ("293.15", "K"), "x_init": ("0.5", "1"), "alpha_init": ("0.5", "1"),
            "h_init": ("1260", "kJ/kg"), "u_init": ("1500", "kJ/kg"), "mdot_init": ("0", "kg/s"),
            "time_constant": ("0.1", "s")}),
        Drawn("foundation.thermal.sources.controlled_heat_flow", "heat",
              {"A": "ground", "B": "wall", "S": "s"}),
        Drawn("foundation.thermal.elements.reference", "ground", {"H": "ground"}),
        constant("wanted", "s", "10000", "W"),
        Drawn(f"{P}sensors.flow_sensor", "meter", {"A": "two", "B": "out", "M": "m", "PHI": "e"}),
        Drawn(f"{P}sensors.pressure_internal_energy_sensor", "gauge",
              {"A": "two", "B": "zero", "P": "p", "U": "u"}, ABSOLUTE),
        Drawn(f"{P}elements.absolute_reference", "zero", {"A": "zero"}),
        Drawn(f"{P}sensors.saturation_properties_sensor", "ends",
              {"A": "two", "h_sat_liq": "l", "h_sat_vap": "v", "T_sat_liq": "t", "T_sat_vap": "w"},
              {"pressure_measure": ("simscape.enum.onoff.off", "1"),
               "energy_measure": choice("EnergyMeasurement", "SaturatedEnthalpy")}),
        Drawn(f"{P}sensors.thermodynamic_sensor", "state",
              {"A": "two", "T": "q", "H": "h", "V": "x", "S": "y"}),
        SOLVER], release)
    run = built(text, tmp_path).simulate("20 s")
    meets(run, {"meter.M kg/s": (0.01, 1e-5), "meter.PHI W": (12600, 1e-4),
                "state.H kJ/kg": (1260, 1e-4)})
    assert final(run, "state.T", "K") == pytest.approx(416.76, abs=0.2)
    assert final(run, "pipe.x_I", "1") == pytest.approx(0.3072, abs=1e-3)
    meets(run, {"gauge.P MPa": (0.4, 1e-3), "ends.HL kJ/kg": (604.66, 1e-3)})


@pytest.mark.parametrize(("critical", "medium"), [("22.0640", "water"), ("4.05928", "R134a"),
                                                  ("7.3773", "R744")])  # fmt: skip
def test_a_fluid_is_known_by_its_critical_pressure(critical, medium, tmp_path):
    text = mapped(tmp_path, [properties(p_crit=(critical, "MPa")),
                             Drawn(f"{P}elements.cap", "end", {"A": "tank"}), SOLVER], "R2022b")
    assert built(text, tmp_path).fluid.medium == medium


def test_a_fluid_that_is_not_ready_is_told(tmp_path):
    """R32 has the critical pressure 5.782 MPa."""
    result = converted(tmp_path, [
        properties(p_crit=("5.782", "MPa")),
        Drawn(f"{P}elements.cap", "end", {"A": "tank"}), SOLVER], "R2022b")
    assert "no ready fluid has this critical pressure" in note_of(result, "/fluid")[1]


def test_a_piston_of_two_phases_pushes_and_stores_what_the_file_says(tmp_path):
    """R134a of 1 MPa and the quality 0.2 in 1 l, behind 100 cm² that nothing moves."""
    text = mapped(tmp_path, [
        Drawn("fluids.two_phase_fluid.utilities.two_phase_fluid_predefined_properties", "fluid",
              {"A": "tank"}, {"fluid": ("fluids.two_phase_fluid.utilities.enum.Fluid.R134a", "1"),
                              "p_atm": ("0.101325", "MPa"), "q_rev": ("0.01", "Pa")}),
        Drawn(f"{P}elements.translational_mechanical_converter", "piston",
              {"A": "tank", "C": "ground", "R": "rod", "H": "wall"}, {
                  "mech_orientation": ("simscape.enum.posneg.positive", "1"),
                  "displacement_spec": choice("DisplacementSpec", "Calculate"),
                  "length_init": ("0", "m"), "interface_area": ("0.01", "m^2"),
                  "dead_volume": ("1e-3", "m^3"), "area_A": ("0.01", "m^2"),
                  "pressure_spec": choice("pressure_spec", "atmospheric"),
                  "energy_spec": choice("energy_spec", "vapor_quality"), "p_init": ("1", "MPa"),
                  "T_init": ("300", "K"), "x_init": ("0.2", "1"), "alpha_init": ("0.5", "1"),
                  "h_init": ("1500", "kJ/kg"), "u_init": ("1500", "kJ/kg")},
              sides=(("A", "C", "H"), ("R",))),
        Drawn("foundation.mechanical.translational.reference", "ground", {"V": "ground"}),
        Drawn("foundation.mechanical.sensors.force", "force",
              {"R": "rod", "C": "ground", "F": "f"}),
        LAGGED, SOLVER], "R2022b")  # fmt: skip
    run = built(text, tmp_path).simulate("1 s")
    assert final(run, "piston.f", "N") == pytest.approx(8986.75)
    # CoolProp: 1/(0.8/1149.33 + 0.2/49.31) kg/m³
    assert final(run, "piston.mass", "g") == pytest.approx(210.6, rel=3e-3)


@pytest.mark.parametrize(("energy", "u", "cp"), [
    ("cp", "[.0018; 42.06]", "[2; 2]"), ("u", "[0; 200]", "[4.2; 4.2]")], ids=["cp", "u"])
def test_settings_of_a_liquid_by_its_temperature_are_tables_here(energy, u, cp, tmp_path):
    """A liquid of 2 kJ/(kg K) and 900 kg/m³, by either table of its energy."""
    TL = "foundation.thermal_liquid."
    text = mapped(tmp_path, [
        Drawn(f"{TL}utilities.thermal_liquid_settings", "fluid", {"A": "tank"}, {
            "table_dimensions": ("foundation.enum.table_dimensions_TL.one_dimensional", "1"),
            "T_TLU": ("[280 380]'", "K"), "p_TLU": ("[0.01, 0.1, 5 : 5 : 50]", "MPa"),
            "p_atm": ("0.101325", "MPa"), "p_min_1D": ("0.05", "MPa"), "p_max_1D": ("50", "MPa"),
            "rho_parameterization_1D":
            ("foundation.enum.rho_parameterization_1D.rho_vector", "1"),
            "rho_TLU_4": ("[900; 900]", "kg/m^3"), "beta_const_4": ("1.5", "GPa"),
            "u_parameterization_1D": (f"foundation.enum.u_parameterization_1D.{energy}", "1"),
            "u_TLU_4": (u, "kJ/kg"), "cp_TLU_5": (cp, "kJ/(K*kg)"),
            "nu_TLU_2": ("linspace(1,1,2)'", "mm^2/s"), "k_TLU_2": ("[600; 600]", "mW/(K*m)"),
            "air_fraction": ("0", "1")}),
        Drawn(f"{TL}elements.reservoir", "tank", {"A": "tank"}, {
            "pressure_spec": ("foundation.enum.pressure_spec.atmospheric", "1"),
            "reservoir_temperature": ("300", "K")}),
        Drawn(f"{TL}sensors.thermodynamic_sensor", "look",
              {"A": "tank", "U": "u", "RHO": "d", "CP": "c"}),
        SOLVER], "R2024b")
    run = built(text, tmp_path).simulate("1 s")
    meets(run, {"look.CP kJ/(K*kg)": (2, 1e-6), "look.RHO kg/m^3": (900, 1e-9),
                "look.U kJ/kg": (2 * 20, 1e-6)})


@pytest.mark.parametrize(("rho", "u"), [("rho_beta_alpha", "u_cp"), ("rho_table", "cp"),
                                        ("rho_table", "u")])  # fmt: skip
def test_settings_of_a_liquid_by_temperature_and_pressure_are_tables_here(rho, u, tmp_path):
    """rho = 900 kg/m³ (1 + 7 P/1.5 GPa)^(1/7), 2 kJ/(kg K), and a viscosity that grows by it."""
    TL, T, p = "foundation.thermal_liquid.", "[280; 330; 380]", "[0.01 0.101325 30 60]"
    law = "ones(3,1)*900*(1+7*([0.01 0.101325 30 60]-0.101325)/1500).^(1/7)"
    viscosity = f"({law}/900).^5"
    energies = "[0 0 -1 -2; 100 100 99 98; 200 200 199 198]"
    wrong = "ones(3,4)"
    text = mapped(tmp_path, [
        Drawn(f"{TL}utilities.thermal_liquid_settings", "fluid", {"A": "tank"}, {
            "table_dimensions": ("foundation.enum.table_dimensions_TL.two_dimensional", "1"),
            "T_TLU": (T, "K"), "p_TLU": (p, "MPa"), "p_atm": ("0.101325", "MPa"),
            "p_min": ("0.05", "MPa"), "p_max": ("50", "MPa"), "p_min_1D": ("0.01", "MPa"),
            "rho_parameterization_2D": (f"foundation.enum.rho_parameterization_2D.{rho}", "1"),
            "rho_TLU": (law if rho == "rho_beta_alpha" else wrong, "kg/m^3"),
            "rho_TLU_2": (law if rho == "rho_table" else wrong, "kg/m^3"),
            "beta_TLU": ("1500*ones(3,4)", "MPa"), "alpha_TLU": ("zeros(3,4)", "1/K"),
            "u_parameterization_2D": (f"foundation.enum.u_parameterization_2D.{u}", "1"),
            "u_TLU": (wrong, "kJ/kg"), "u_TLU_2": (energies if u == "u" else wrong, "kJ/kg"),
            "cp_TLU": ("2*ones(3,4)" if u == "u_cp" else wrong, "kJ/(K*kg)"),
            "cp_TLU_3": ("2*ones(3,4)" if u == "cp" else wrong, "kJ/(K*kg)"),
            "nu_TLU": (f"10*{viscosity}", "mm^2/s"), "k_TLU": ("600*ones(3,4)", "mW/(K*m)"),
            "air_fraction": ("0", "1")}),
        Drawn(f"{TL}elements.reservoir", "tank", {"A": "tank"}, {
            "pressure_spec": ("foundation.enum.pressure_spec.specified", "2"),
            "reservoir_pressure": ("50", "MPa"), "reservoir_temperature": ("300", "K")}),
        Drawn(f"{TL}sensors.thermodynamic_sensor", "look",
              {"A": "tank", "U": "u", "RHO": "d", "CP": "c"}),
        SOLVER], "R2024b")
    model = built(text, tmp_path)
    assert not [finding for finding in model.check() if "misses" in str(finding)]
    run = model.simulate("1 s")
    meets(run, {"look.RHO kg/m^3": (900 * (1 + 7 * 49.898675 / 1500) ** (1 / 7), 2e-5),
                "look.CP kJ/(K*kg)": (2, 1e-6)})
