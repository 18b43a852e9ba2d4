"""What developers trip over: vanished states, stiffness by masses, degrees, absolute pressures."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.linalg import expm

import library.electrical as el
import library.isothermal_liquid as il
from blocks import quantity
from library.thermal import TemperatureSource, ThermalMass, ThermalResistance


def test_of_a_loop_of_capacitors_and_a_cutset_of_inductors_one_state_each_disappears_by_name():
    """1 V on 2 F and 3 F in series with 1 ohm; 5 A from two coils, each behind 1 ohm."""
    model = wired("degenerate", "source.p inner.p", "inner.n c1.p c2.p",
                  "source.n c1.n c2.n ground.V feed.n load.n ohm.n", "feed.p l1.p l2.p",
                  "l1.n load.p", "l2.n ohm.p",
                  ground=el.ElectricalReference(), source=el.DCVoltageSource(voltage="1 V"),
                  inner=el.Resistor(resistance="1 ohm"), ohm=el.Resistor(resistance="1 ohm"),
                  c1=el.Capacitor(capacitance="2 F"), c2=el.Capacitor(capacitance="3 F"),
                  feed=el.DCCurrentSource(current="5 A"), load=el.Resistor(resistance="1 ohm"),
                  l1=el.Inductor(inductance="2 H", parasitic=False, i_L="-2 A"),
                  l2=el.Inductor(inductance="3 H", parasitic=False))
    integrated = [line.split()[1] for line in str(model.equations()).splitlines()
                  if line.split()[:1] == ["integrate"]]
    assert sorted(path[0] for path in integrated) == ["c", "l"]  # of c1, c2 and of l1, l2
    run = model.simulate("4 s", rtol=1e-9)
    assert run.statistics["states"] == 2
    t = run.time.to("s").m
    assert_allclose(run["c1.v"].to("V").m, 1 - np.exp(-t / 5), atol=1e-8)
    one = -2.5 + 0.5 * np.exp(-2 * t / 5)  # 5 di/dt + 2 i + 5 A = 0, and the other has the rest
    assert_allclose(run["l1.i"].to("A").m, one, atol=1e-8)
    assert_allclose(run["l2.i"].to("A").m, -5 - one, atol=1e-8)
    assert np.all(run["inner.power_dissipated"].to("W").m >= 0)


@pytest.mark.parametrize("unit", ["K", "degC"])
def test_a_thermal_network_of_grams_and_tonnes_follows_its_matrix(unit):
    """Time constants from 0.4 s to 40 days, the start given in either unit."""
    masses, start, outside = [1e-3, 1.0, 1e3], [350.0, 300.0, 290.0], 280.0
    shift = 273.15 if unit == "degC" else 0.0
    model = wired("stiff", air=TemperatureSource(temperature=quantity(outside - shift, unit)), **{
        f"body{k}": ThermalMass(mass=quantity(mass, "kg"), specific_heat="400 J/(kg*K)",
                                T=quantity(temperature - shift, unit))
        for k, (mass, temperature) in enumerate(zip(masses, start, strict=True))})
    for k, end in enumerate(("body1.M", "body2.M", "air.A")):
        wire(model, f"body{k}.M wall{k}.A", f"wall{k}.B {end}",
             **{f"wall{k}": ThermalResistance(resistance="1 K/W")})
    rate = np.diag([-1.0, -2.0, -2.0]) + np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
    rate /= 400 * np.array(masses)[:, None]
    run = model.simulate("1 hour", rtol=1e-9)
    found = [run[f"body{k}.T"].at("1 hour").to("K").m for k in range(3)]
    assert_allclose(found, outside + expm(3600 * rate) @ (np.array(start) - outside), rtol=1e-8)
    assert run.energy().relative_residual < 1e-7


def test_liquid_starts_at_the_atmosphere_and_small_differences_of_pressure_are_as_exact():
    """1 mbar above 1 atm runs down between two chambers: dp = dp0 exp(-2 beta t / (R V))."""
    model = wired("chambers", "one.A leak.A liquid.A", "leak.B other.A",
                  liquid=il.IsothermalLiquidProperties(bulk_modulus="2 GPa", density="1000 kg/m^3"),
                  one=il.ConstantVolumeChamber(p_I="101425 Pa"), other=il.ConstantVolumeChamber(),
                  leak=il.LaminarLeakage(cross_section_geometry="custom",
                                         resistance="2e12 Pa*s/m^3"))
    run = model.simulate("2 s", rtol=1e-9)
    assert_allclose(run["other.p_I"].initial.to("Pa").m, 101325, rtol=1e-12)
    t = run.time.to("s").m
    difference = run["one.p_I"].to("Pa").m - run["other.p_I"].to("Pa").m
    volume = model.one.volume.to("m^3").m
    assert_allclose(difference, 100 * np.exp(-2 * 2e9 * t / (2e12 * volume)), atol=1e-4)
    assert np.all(run["leak.A.mdot"].to("kg/s").m >= -1e-12)
    assert np.all(run["leak.power_dissipated"].to("W").m >= -1e-12)
