"""Reluctances, magnets, coils, gaps, sources and sensors against closed forms."""

import numpy as np
import pytest
from benches import final, meets, wire, wired
from benches.magnetic import MU0, TIGHT, across, saturating, wound
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp
from scipy.linalg import expm

import library.electrical as el
import library.magnetic as ma
from blocks import ParameterError, cos, quantity, sin
from library.signal import Ramp


def static(part, force):
    """phi of a part at a potential."""
    return final(across(part, magnetomotive_force=force).simulate("1 ms"), "part.phi", "Wb")


def test_fundamental_reluctance_is_ohms_law():
    run = across(ma.FundamentalReluctance(), magnetomotive_force="200 A").simulate("1 ms")
    assert_allclose(final(run, "part.phi", "Wb"), 200 / 8e4, rtol=1e-14)
    assert_allclose(final(run, "source.phi", "Wb"), -200 / 8e4, rtol=1e-14)  # the source drives
    assert_allclose(final(run, "part.energy_stored", "J"), 200**2 / 8e4 / 2, rtol=1e-14)
    assert_allclose(final(run, "zero.M.phi", "Wb"), 0, atol=1e-16)


@pytest.mark.parametrize(("force", "flux"), [
    ("5 A", 5e-4), ("-5 A", -5e-4), ("60 A", 1.5e-3), ("210 A", 3e-3), ("-210 A", -3e-3)])
def test_a_table_of_saturation_inside_and_outside(force, flux):
    part = ma.FundamentalReluctance(law="table", fluxes=["-2 mWb", "-1 mWb", "1 mWb", "2 mWb"],
                                    magnetomotive_forces=["-110 A", "-10 A", "10 A", "110 A"])
    assert_allclose(static(part, force), flux, rtol=1e-9)


def test_a_table_that_is_no_curve_or_of_one_sign_is_said():
    with pytest.raises(ParameterError, match="fluxes"):
        across(ma.FundamentalReluctance(law="table", fluxes=["0 Wb", "0 Wb"])).simulate("1 s")
    falls = ma.FundamentalReluctance(law="table", magnetomotive_forces=["1 A", "-1 A"])
    one_sided = ma.Reluctance(material="table", flux_densities=["0 T", "1 T"],
                              field_strengths=["0 A/m", "200 A/m"])
    for part, said in ((falls, "does not rise"), (one_sided, "both signs")):
        (word,) = [w.problem for w in across(part).check().warnings]
        assert said in word


def test_reluctance_of_a_gap_and_of_iron():
    assert_allclose(ma.VACUUM.to("H/m").m, 4e-7 * np.pi, rtol=1e-15)
    assert_allclose(static(ma.Reluctance(), "100 A"), 100 * MU0 * 0.01 / 1e-3, rtol=1e-13)
    iron = ma.Reluctance(length="0.2 m", area="4 cm^2", relative_permeability=2000)
    run = across(iron, magnetomotive_force="50 A").simulate("1 ms")
    meets(run, {"part.B T": (2000 * MU0 * 50 / 0.2, 1e-13), "part.H A/m": (250, 1e-13),
                "part.energy_stored J": (2000 * MU0 * 250**2 / 2 * 0.2 * 4e-4, 1e-13)})


@pytest.mark.parametrize("density", [1e-6, 0.3, -0.9, 1.16, 1.5, -1.8, 2.5, 4.0])
def test_law_of_saturation(density):
    part = ma.Reluctance(material="saturating", length="0.26 m", area="6.25 cm^2")
    run = across(part, ma.FluxSource(flux=quantity(-density * 6.25e-4, "Wb"))).simulate("1 ms")
    assert_allclose(final(run, "part.mu_r", "1"), saturating(density), rtol=1e-12)
    field = density / (MU0 * saturating(density))
    assert_allclose(final(run, "part.mmf", "A"), 0.26 * field, rtol=1e-12)
    energy, _ = quad(lambda s: s / (MU0 * saturating(s)), 0, abs(density), epsabs=0, epsrel=1e-12,
                     limit=500)  # fmt: skip
    assert_allclose(final(run, "part.energy_stored", "J"), 0.26 * 6.25e-4 * energy, rtol=1e-8)


@pytest.mark.parametrize(("flux", "field"), [("0.075 mWb", 500), ("0.2 mWb", 30e3),
                                             ("-0.25 mWb", -59e3)])
def test_saturation_by_a_table_of_iron(flux, field):
    part = ma.Reluctance(material="table", length="0.1 m", area="1 cm^2",
                         flux_densities=["-2 T", "-1.5 T", "0 T", "1.5 T", "2 T"],
                         field_strengths=["-30 kA/m", "-1 kA/m", "0 A/m", "1 kA/m", "30 kA/m"])
    model = across(part, ma.FluxSource(flux=-quantity(flux)))
    assert_allclose(final(model.simulate("1 ms"), "part.H", "A/m"), field, rtol=1e-12)


def test_variable_reluctance_follows_its_signal_down_to_the_least_gap():
    model = across(ma.VariableReluctance(least_gap="1 mm"), magnetomotive_force="100 A")
    wire(model, "gap.y part.X", gap=Ramp(slope="-2 mm/s", initial="3 mm"))
    run = model.simulate("2 s")
    t = np.array([0.0, 0.5, 0.9, 1.5, 2.0])
    gap = np.maximum(3e-3 - 2e-3 * t, 1e-3)
    assert_allclose(run["part.phi"].at(quantity(t, "s")).to("Wb").m, 100 * MU0 * 0.01 / gap,
                    rtol=1e-12)
    assert run.energy().relative_residual < 1e-9


def test_eddy_currents_delay_the_flux():
    series = wired("series", "source.N eddy.N", "eddy.S core.N", "core.S source.S zero.M",
                   source=ma.MMFSource(magnetomotive_force="50 A"),
                   eddy=ma.EddyCurrent(conductance="2e4 1/ohm"),
                   core=ma.FundamentalReluctance(reluctance="1e6 1/H"), zero=ma.MagneticReference())
    run = series.simulate("0.1 s", **TIGHT)
    t = np.linspace(0, 0.1, 11)
    assert_allclose(run["core.phi"].at(quantity(t, "s")).to("Wb").m,
                    5e-5 * (1 - np.exp(-t / 0.02)), atol=1e-14)
    energy = run.energy()
    assert energy.relative_residual < 1e-9
    lost = 50**2 / 1e6 / 2 * (1 - np.exp(-0.1 / 0.02 * 2))
    assert_allclose(energy["eddy"].dissipated, lost, rtol=1e-8)


@pytest.mark.parametrize("given", [
    {"remanence": "1.2 T", "relative_permeability": 1.05},
    {"parameterization": "remanence and coercivity", "remanence": "1.2 T",
     "coercivity": quantity(1.2 / (1.05 * MU0), "A/m")},
    {"parameterization": "permeability and coercivity", "relative_permeability": 1.05,
     "coercivity": quantity(1.2 / (1.05 * MU0), "A/m")}])
def test_a_magnet_across_a_gap_works_on_its_load_line(given):
    model = wired("magnet", "magnet.N gap.N", "magnet.S gap.S zero.M",
                  magnet=ma.PermanentMagnet(length="5 mm", area="2 cm^2", **given),
                  gap=ma.Reluctance(length="1 mm", area="2 cm^2"), zero=ma.MagneticReference())
    run = model.simulate("1 ms")
    density = 1.2 / (1 + 1.05 * 1e-3 / 5e-3)  # H_m l_m = -B/µ0 l_g
    assert_allclose(final(run, "magnet.B", "T"), density, rtol=1e-12)
    assert final(run, "magnet.H", "A/m") < 0
    assert_allclose(final(run, "gap.phi", "Wb"), -density * 2e-4, rtol=1e-12)


def test_a_coil_on_a_reluctance_is_an_inductance():
    """turns²/R_m = 0.125 H; a wrong sign would run away."""
    run = wound(ma.FundamentalReluctance()).simulate("0.2 s", **TIGHT)
    t = np.linspace(0, 0.2, 9)
    current = 5 * (1 - np.exp(-t * 2 / 0.125))
    assert_allclose(run["coil.i"].at(quantity(t, "s")).to("A").m, current, atol=1e-9)
    assert_allclose(run["coil.phi"].at(quantity(t, "s")).to("Wb").m, -100 * current / 8e4,
                    atol=1e-12)
    assert_allclose(final(run, "part.energy_stored", "J"), 0.125 * current[-1] ** 2 / 2, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


def two_windings(load):
    """A coil fed through 2 ohm, and a second one, around one core."""
    return wired(
        "transformer", "source.p resistor.p", "resistor.n first.p", "source.n first.n earth.V",
        "second.p load.p", "second.n load.n earth2.V", "first.N core.N", "core.S second.N",
        "second.S first.S zero.M", resistor=el.Resistor(resistance="2 ohm"), load=load,
        source=el.ControlledVoltageSource(
            voltage=lambda t: quantity("10 V") * cos(t * quantity("200 rad/s"))),
        first=ma.ElectromagneticConverter(turns=100), second=ma.ElectromagneticConverter(turns=30),
        core=ma.FundamentalReluctance(reluctance="1e5 1/H"), zero=ma.MagneticReference(),
        earth=el.ElectricalReference(), earth2=el.ElectricalReference())


def test_two_coils_on_a_core_are_a_transformer():
    run = two_windings(el.Resistor(resistance="0.5 ohm")).simulate("2.5 s", **TIGHT)
    # Kirchhoff's laws at 200 rad/s, of currents into windings that are wound against each other
    impedance = 200j * np.array([[100**2, -100 * 30], [-100 * 30, 30**2]]) / 1e5
    first, second = np.linalg.solve(impedance + np.diag([2, 0.5]), [10, 0])
    t = np.linspace(2.45, 2.5, 12)
    turn = np.exp(200j * t)
    for path, current in (("first.i", first), ("second.i", second)):
        assert_allclose(run[path].at(quantity(t, "s")).to("A").m, (current * turn).real, atol=1e-8)
    energy = run.energy()
    assert energy.relative_residual < 1e-9
    assert_allclose(energy["resistor"].dissipated + energy["load"].dissipated
                    + energy["core"].stored, energy["source"].supplied, rtol=1e-9)


def test_an_open_coil_reads_the_voltage_of_its_turns():
    run = two_windings(el.VoltageSensor()).simulate("0.5 s", **TIGHT)
    reading, driven = run["load.V"].m, run["first.v"].m
    assert_allclose(reading, -0.3 * driven, atol=1e-12)
    assert np.ptp(driven) > 5


def test_sources_and_sensors():
    model = wired("ring", "source.S meter.N", "meter.S part.N volts.N",
                  "part.S volts.S source.N zero.M", source=ma.FluxSource(flux="2 mWb"),
                  meter=ma.FluxSensor(), part=ma.FundamentalReluctance(),
                  zero=ma.MagneticReference(), volts=ma.MMFSensor())
    run = model.simulate("1 ms")
    meets(run, {"meter.PHI Wb": (2e-3, 1e-14), "volts.MMF A": (160, 1e-14)})
    assert_allclose(final(run, "volts.phi", "Wb"), 0, atol=1e-16)


@pytest.mark.parametrize("source", [
    ma.MMFSource(magnetomotive_force=el.table(["1 s", "1 s"], ["5 A", "20 A"])),
    ma.FluxSource(flux=el.table(["1 s", "1 s"], ["1 mWb", "-3 mWb"])),
    ma.MMFSource(magnetomotive_force=lambda t: quantity("20 A") * sin(t * quantity("3 rad/s"))),
], ids=["step of potential", "step of flux", "sine"])  # fmt: skip
def test_what_a_source_gives_is_stored_jumps_too(source):
    run = across(ma.FundamentalReluctance(), source).simulate("2 s")
    energy = run.energy()
    assert energy.relative_residual < 1e-9
    before, after = run["part.phi"].at(["0 s", "2 s"]).to("Wb").m
    assert_allclose(energy["source"].supplied, 8e4 * (after**2 - before**2) / 2, rtol=1e-9)


def test_a_circuit_without_reference_is_named():
    (error,) = wired("floating", "source.N part.N", "source.S part.S",
                     source=ma.MMFSource(), part=ma.Reluctance()).check().errors
    assert "MagneticReference" in f"{error.problem} {error.advice}"


def test_a_core_without_a_gap_runs_into_saturation_and_back():
    """Full Newton steps go round in a circle at the knee; dphi/dt = (V - R i)/turns by SciPy."""
    core = ma.Reluctance(material="saturating", length="0.2 m", area="1 cm^2")
    model = wound(core, voltage=lambda t: quantity("10 V") * sin(t * quantity("300 rad/s")),
                  resistance="1 ohm")  # fmt: skip
    run = model.simulate("50 ms", rtol=1e-9)

    def slope(t, flux):
        field = flux[0] / 1e-4 / (MU0 * saturating(flux[0] / 1e-4))
        return [(10 * np.sin(300 * t) - 0.2 * field / 100) / 100]

    t = np.linspace(0, 0.05, 21)
    exact = solve_ivp(slope, (0, 0.05), [0], "Radau", t, rtol=1e-11, atol=1e-16).y[0]
    assert_allclose(run["part.phi"].at(quantity(t, "s")).to("Wb").m,
                    exact, atol=1e-8 * np.ptp(exact))
    assert run["part.B"].max().m > 1.5
    assert run.energy().relative_residual < 1e-8


def test_eddy_currents_in_shells_are_a_ladder():
    """Shell k of a solid core lets the flux in by its own eddy currents: phi' = A phi + b."""
    n, turns, ohm = 4, 100, 1.0
    conductances, reluctances = 200.0 * np.arange(1, n + 1), 1e5 * np.arange(1, n + 1)
    model = wired("shells", "source.p wire.p", "wire.n coil.p", "source.n coil.n earth.V",
                  "coil.S zero.M core.S", "coil.N shell[0].N", "shell[:-1].S shell[1:].N",
                  "shell.S core.N", source=el.ControlledVoltageSource(voltage="1 V"),
                  wire=el.Resistor(resistance="1 ohm"),
                  coil=ma.ElectromagneticConverter(turns=turns),
                  earth=el.ElectricalReference(), zero=ma.MagneticReference(),
                  shell=ma.EddyCurrent(count=n, conductance=quantity(conductances, "1/ohm")),
                  core=ma.FundamentalReluctance(count=n, reluctance=quantity(reluctances, "1/H")))
    # mmf behind shell k: R_k (phi_k - phi_k+1); the coil gives turns (1 V - turns phi_0')/ohm
    behind = np.diag(reluctances) - np.diag(reluctances[:-1], 1)
    before = np.vstack([np.zeros(n), behind[:-1]])
    felt = conductances + np.array([turns**2 / ohm] + [0] * (n - 1))
    rates, held = (before - behind) / felt[:, None], np.linalg.inv(behind - before)
    settled = held @ np.array([turns / ohm] + [0] * (n - 1))
    exact = settled - expm(rates * 3e-3) @ settled
    run = model.simulate("3 ms", **TIGHT)
    found = [final(run, f"shell[{k}].phi", "Wb") for k in range(n)]
    assert_allclose(found, exact, rtol=0, atol=1e-9 * exact.max())
    assert run.energy().relative_residual < 1e-8
