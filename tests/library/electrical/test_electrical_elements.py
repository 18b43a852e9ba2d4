"""Resistors, capacitors and inductors against closed forms."""

import numpy as np
import pytest
from benches import seconds, signal, values, wire
from benches.electrical import TIGHT, across, circuit, ring
from numpy.testing import assert_allclose
from scipy.integrate import cumulative_simpson

import blocks
import library.electrical as el
from blocks import Component, Input, Output, ParameterError, cos, der, floor, quantity, sin
from blocks.exceptions import SimulationError
from library.thermal import TemperatureSource, ThermalMass, ThermalResistance


# -- references and open ends ----------------------------------------------------------------------
def test_what_flows_in_at_one_reference_flows_out_at_another():
    model = circuit(source=el.DCVoltageSource(voltage="6 V"), load=el.Resistor(resistance="3 ohm"),
                    other=el.ElectricalReference())
    wire(model, "source.p load.p", "load.n other.V", "source.n ground.V")
    run = model.simulate("1 ms")
    assert run["other.V.i"].final.m == 2 and run["ground.V.i"].final.m == -2


def test_a_floating_circuit_is_held_without_a_current():
    model = circuit(source=el.DCVoltageSource(voltage="6 V"), a=el.Resistor(resistance="1 ohm"),
                    b=el.Resistor(resistance="2 ohm"))
    del model.ground
    wire(model, "source.p a.p", "a.n b.p level.V", "b.n source.n", level=el.FloatingReference())
    run = model.simulate("1 ms")
    assert run["level.i"].final.m == 0
    assert_allclose([run["source.p.v"].final.m, run["source.n.v"].final.m], [2, -4], rtol=1e-15)


def test_an_open_end_and_an_infinite_resistance_carry_nothing_and_show_a_voltage():
    model = circuit(source=el.DCVoltageSource(voltage="6 V"), a=el.Resistor(),
                    gap=el.InfiniteResistance(), end=el.OpenCircuit(), b=el.Resistor())
    wire(model, "source.p a.p", "a.n end.V gap.p", "gap.n b.p", "b.n source.n ground.V")
    run = model.simulate("1 ms")
    assert [run[p].final.m for p in ("end.v", "gap.v", "a.i", "gap.i")] == [6, 6, 0, 0]


# -- resistors -------------------------------------------------------------------------------------
def test_a_divider_divides_and_its_resistors_heat():
    run = ring(el.DCVoltageSource(voltage="10 V"), el.Resistor(resistance="1 kohm"),
               el.Resistor(resistance="3 kohm")).simulate("1 ms")
    assert_allclose([run["part2.v"].final.m, run["part3.v"].final.m], [2.5, 7.5], rtol=1e-15)
    assert_allclose(run["part3.power_dissipated"].final.m, 7.5**2 / 3e3, rtol=1e-15)
    assert_allclose(run["part1.power_supplied"].final.m, 100 / 4e3, rtol=1e-15)


def test_a_negative_resistance_supplies_energy_and_is_pointed_out():
    model = ring(el.DCVoltageSource(voltage="1 V"), el.Resistor(resistance="-2 ohm"))
    (warning,) = model.check()
    assert "part2: its resistance is -2.0 Ω: it supplies energy." in str(warning)
    run = model.simulate("1 ms")
    assert run["part2.i"].final.m == -0.5 and run["part2.power_dissipated"].final.m == -0.5


def test_a_resistance_given_by_a_signal_or_a_function_of_time_is_limited_from_below():
    def ramp(t):
        return quantity("4 ohm") - quantity("2 ohm/s") * t

    given = across(el.VariableResistor(minimum_resistance="1 ohm", resistance=ramp), "3 V")
    fed = across(el.VariableResistor(minimum_resistance="1 ohm"), "3 V")
    wire(fed, "signal.y part.R", signal=signal("ohm", ramp))
    for model in (given, fed):
        run = model.simulate("2 s")
        at = np.array([0, 0.5, 1.4, 1.6, 2])
        assert_allclose(values(run, "part.i", "A", at), 3 / np.maximum(4 - 2 * at, 1), rtol=1e-14)


# -- capacitors ------------------------------------------------------------------------------------
def test_a_capacitor_is_charged_through_a_resistor():
    run = ring(el.DCVoltageSource(voltage="5 V"), el.Resistor(resistance="1 kohm"),
               el.Capacitor(capacitance="2 uF", vc="1 V")).simulate("10 ms", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "part3.vc", "V"), 5 - 4 * np.exp(-t / 2e-3), rtol=1e-11)
    assert_allclose(values(run, "part3.i", "A"), 4e-3 * np.exp(-t / 2e-3), rtol=1e-9)
    assert_allclose(run["part3.energy_stored"].final.m, 1e-6 * run["part3.v"].final.m**2)


def test_a_capacitor_or_an_inductor_on_a_source_follows_it_and_is_no_state():
    run = across(el.Capacitor(capacitance="3 uF"), lambda t: quantity("2 V") * sin(
        quantity("100 rad/s") * t)).simulate("0.1 s")
    assert_allclose(values(run, "part.i", "A"), 3e-6 * 200 * np.cos(100 * seconds(run)), atol=1e-17)
    assert run.statistics["states"] == 0
    run = circuit("circuit", "source.head part.p", "source.tail part.n ground.V",
                  part=el.Inductor(inductance="2 H"), source=el.ControlledCurrentSource(
                      current=lambda t: quantity("3 A") + quantity("5 A/s") * t)).simulate("1 s")
    assert run.statistics["states"] == 0
    assert_allclose([run["part.i"].final.m, run["part.v"].final.m], [8, 10], rtol=1e-14)


@pytest.mark.parametrize("far", [False, True], ids=["one node held", "no node held"])
def test_capacitors_side_by_side_share_a_state_and_divide_the_current(far):
    model = circuit("circuit", "source.p r.p", "r.n a.p b.p", "a.n b.n far.p",
                    "far.n source.n ground.V" if far else "far.p far.n source.n ground.V",
                    source=el.DCVoltageSource(voltage="3 V"), r=el.Resistor(resistance="10 ohm"),
                    a=el.Capacitor(capacitance="1 uF"), b=el.Capacitor(capacitance="2 uF"),
                    far=el.Resistor(resistance="20 ohm"))
    run = model.simulate("0.3 ms", **TIGHT)
    assert run.statistics["states"] == 1
    tau = 90e-6 if far else 30e-6
    assert_allclose(values(run, "b.vc", "V"), 3 * (1 - np.exp(-seconds(run) / tau)), atol=1e-10)
    assert_allclose(values(run, "b.i", "A"), 2 * values(run, "a.i", "A"), atol=1e-12)


def test_inductors_on_either_side_of_resistors_share_a_state():
    model = circuit(source=el.DCVoltageSource(voltage="6 V"), a=el.Inductor(inductance="1 H"),
                    r1=el.Resistor(resistance="2 ohm"), r2=el.Resistor(resistance="3 ohm"),
                    r3=el.Resistor(resistance="3 ohm"), b=el.Inductor(inductance="2 H"))
    wire(model, "source.p a.p", "a.n r1.p r2.p", "r2.n r3.p", "r1.n r3.n b.p",
         "b.n source.n ground.V")
    run = model.simulate("4 s", **TIGHT)
    assert run.statistics["states"] == 1
    assert_allclose(values(run, "b.i", "A"), 4 * (1 - np.exp(-seconds(run) / 2)), atol=1e-10)


def test_capacitors_in_a_loop_that_start_at_different_voltages_are_named():
    model = circuit(a=el.Capacitor(vc="1 V"), b=el.Capacitor(vc="2 V"), r=el.Resistor())
    wire(model, "a.p b.p r.p", "a.n b.n r.n ground.V")
    (warning,) = model.check()
    assert warning.code == "initial.conflict"
    assert "a.vc = 1 V and b.vc = 2 V cannot all be met" in warning.problem


def test_simscapes_capacitor_has_a_resistance_in_series_and_a_leak():
    c, g, r = 1e-3, 0.5, 0.25
    run = across(el.Capacitor(parasitic=True, capacitance="1 mF", parallel_conductance="0.5 S",
                              series_resistance="250 mohm"), "2 V").simulate("5 ms", **TIGHT)
    rate = (g + 1 / r) / c
    end = 2 / r / (g + 1 / r)
    expected = end * (1 - np.exp(-rate * seconds(run)))
    assert_allclose(values(run, "part.vc", "V"), expected, atol=1e-11)
    assert_allclose(values(run, "part.power_dissipated", "W"),
                    g * expected**2 + (2 - expected) ** 2 / r, rtol=1e-9)  # fmt: skip


def test_parasitic_resistances_of_simscape_are_the_preset_and_none_is_said_by_the_option():
    assert el.Capacitor(parasitic=True).series_resistance == quantity("1e-6 ohm")
    assert el.Inductor(parasitic=True).parallel_conductance == quantity("1e-9 S")
    with pytest.raises(ParameterError, match="has no meaning with parasitic=False. Leave it out"):
        el.Capacitor(series_resistance="0 ohm")
    with pytest.raises(ParameterError, match=r"is 0 ohm\. For none choose parasitic=False\."):
        el.Capacitor(series_resistance="0 ohm", parasitic=True)
    with pytest.raises(ParameterError, match=r"is 0 S\. For none choose parasitic=False\."):
        el.Inductor(parasitic=True).parallel_conductance = "0 S"
    with pytest.raises(ParameterError, match="Check the sign"):
        el.Capacitor(series_resistance="-1 ohm", parasitic=True)


def test_plates_that_move_change_the_voltage_of_a_charge_that_stays():
    def capacitance(t):
        return quantity("1 uF") / (1 + quantity("1 1/s") * t)

    model = circuit(part=el.VariableCapacitor(capacitance=capacitance, v="2 V"),
                    gap=el.InfiniteResistance())
    wire(model, "part.p gap.p", "part.n gap.n ground.V")
    run = model.simulate("3 s", **TIGHT)
    assert_allclose(values(run, "part.v", "V"), 2 * (1 + seconds(run)), rtol=1e-12)
    # the work against the field: half of q times the rise of the voltage
    assert_allclose(run["part.power_supplied"].final.m, 2e-6 * 2 / 2, rtol=1e-12)


def growing(size):
    return lambda t: quantity(size) * (1 + quantity("500 1/s") * t)


@pytest.mark.parametrize("part, resistance, rest", [
    (el.VariableCapacitor(capacitance=growing("1 uF")), "1 kohm", 10),
    (el.VariableInductor(inductance=growing("1 uH")), "1 mohm", 0),
], ids=["charge", "flux"])  # fmt: skip
def test_a_small_charge_or_flux_is_as_exact_as_the_tolerance(part, resistance, rest):
    # x' + x/(tau (1 + a t)) = v from 0, behind a resistance of tau = 1 ms
    run = ring(el.DCVoltageSource(voltage="10 V"), el.Resistor(resistance=resistance),
               part).simulate("5 ms", method="dopri5")
    rise, k = 1 + 500 * seconds(run), 2.0
    share = (rise - rise**-k) / (500 * (1 + k)) / 1e-3 / rise  # of what stands still in the end
    assert_allclose(values(run, "part2.v", "V"), abs(rest - 10 * share), atol=1e-5 * 10)


# -- inductors -------------------------------------------------------------------------------------
def test_an_inductor_takes_up_its_current_behind_a_resistance():
    run = across(el.Inductor(inductance="20 mH", series_resistance="4 ohm", i_L="1 A"),
                 "12 V").simulate("30 ms", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "part.i", "A"), 3 - 2 * np.exp(-200 * t), rtol=1e-11)
    assert_allclose(values(run, "part.power_dissipated", "W"), 4 * (3 - 2 * np.exp(-200 * t))**2,
                    rtol=1e-11)  # fmt: skip


def test_simscapes_inductor_has_a_conductance_in_parallel():
    run = across(el.Inductor(parasitic=True, inductance="1 mH", parallel_conductance="0.25 S"),
                 "2 V").simulate("1 ms", **TIGHT)
    assert_allclose(values(run, "part.i", "A"), 2000 * seconds(run) + 0.5, rtol=1e-12)


def test_a_core_that_moves_changes_the_current_of_a_flux_that_stays():
    model = across(el.VariableInductor(i="2 A", inductance=lambda t: quantity("1 H") / (
        1 + quantity("1 1/s") * t)), "0 V")  # fmt: skip
    run = model.simulate("3 s", **TIGHT)
    assert_allclose(values(run, "part.i", "A"), 2 * (1 + seconds(run)), rtol=1e-12)
    assert_allclose(run["part.power_supplied"].final.m, 2 * 2 / 2, rtol=1e-12)


@pytest.mark.parametrize("given", ["function", "signal"])
@pytest.mark.parametrize("part, resistance, name, port, unit", [
    (el.VariableCapacitor, "2 Mohm", "capacitance", "C", "uF"),
    (el.VariableInductor, "1 mohm", "inductance", "L", "mH")])
def test_a_variable_element_stops_the_run_where_it_falls_to_zero(part, resistance, name, port,
                                                                 unit, given):
    def falling(t):
        return quantity(1, unit) - quantity(2, f"{unit}/s") * t

    model = ring(el.Resistor(resistance=resistance),
                 part(**({name: falling} if given == "function" else {})))
    if given == "signal":
        model.signal = signal(unit, falling)
        model.connect(model.signal.y, getattr(model.part2, port))
    target = "v" if part is el.VariableCapacitor else "i"
    setattr(model.part2, target, "5 V" if target == "v" else "5 A")
    told = f"{name} is no longer greater than 0" if given == "function" else f"{port} falls to zero"
    with pytest.raises(SimulationError, match=f"^part2: at t = .* {told}") as error:
        model.simulate("1 s")
    assert_allclose(error.value.time, 0.5, rtol=1e-9)


@pytest.mark.parametrize("part", [el.VariableCapacitor(), el.VariableInductor()],
                         ids=lambda p: type(p).__name__)  # fmt: skip
def test_a_variable_element_takes_its_value_from_a_signal(part):
    unit, port = ("F", "C") if isinstance(part, el.VariableCapacitor) else ("H", "L")
    model = across(part, lambda t: quantity("1 V") * cos(quantity("3 rad/s") * t))
    model.signal = signal(unit, lambda t: quantity(2, unit) + quantity(1, unit) * sin(
        quantity("2 rad/s") * t))  # fmt: skip
    model.connect(model.signal.y, getattr(model.part, port))
    run = model.simulate("2 s", **TIGHT)
    t, del_signal = seconds(run), 2 + np.sin(2 * seconds(run))
    if unit == "F":
        expected = -3 * np.sin(3 * t) * del_signal + np.cos(3 * t) * 2 * np.cos(2 * t)
    else:
        expected = np.sin(3 * t) / 3 / del_signal
    assert_allclose(values(run, "part.i", "A"), expected, atol=1e-10)
    assert run.energy().relative_residual < 1e-9


# -- nonlinear elements ----------------------------------------------------------------------------
def test_a_saturated_inductor_follows_its_curve_and_stores_what_it_took():
    zero, end, knee = 2.0, 0.5, 0.25
    run = across(el.SaturatingInductor(i="-1 A"), "1 V").simulate("3 s", **TIGHT)
    i = values(run, "part.i", "A")

    def flux(i):
        return end * i + (zero - end) * knee * np.arctan(i / knee)

    assert_allclose(flux(i), flux(-1.0) + seconds(run), atol=1e-9)
    energy = values(run, "part.energy_stored", "J")
    work = np.concatenate([[0], np.cumsum(np.diff(flux(i)) * (i[1:] + i[:-1]) / 2)])
    assert_allclose(energy - energy[0], work, atol=3e-4 * np.ptp(energy))  # the trapezoidal rule


def test_a_memristor_changes_with_the_charge_alone():
    # window of exponent 1: dx/dq = 4 x (1 - x) / Q, a logistic curve of the charge
    def voltage(t):
        return quantity("20 V") * sin(quantity("5 rad/s") * t)

    run = across(el.Memristor(transition_charge="0.5 C", x=0.2), voltage).simulate("2 s", **TIGHT)
    t, i = seconds(run), values(run, "part.i", "A")
    fine = np.linspace(0, 2, 20001)
    q = cumulative_simpson(values(run, "part.i", "A", fine), x=fine, initial=0)
    assert_allclose(values(run, "part.x", "1", fine), 1 / (1 + 4 * np.exp(-4 * q / 0.5)), atol=1e-9)
    assert_allclose(i * (values(run, "part.x", "1") * 1 + (1 - values(run, "part.x", "1")) * 100),
                    20 * np.sin(5 * t), atol=1e-10)  # fmt: skip


def test_a_memristor_that_is_driven_to_its_end_and_back_stays_within_its_range():
    model = across(el.Memristor(transition_charge="1 mC"), lambda t: quantity("20 V") * sin(
        quantity("5 rad/s") * t))  # fmt: skip
    x = values(model.simulate("3 s"), "part.x", "1")
    assert x.min() >= 0.5 and x.max() <= 1 + 1e-6 and x.max() > 1 - 1e-6
    model.part.x = 1.5
    with pytest.raises(blocks.BlocksError, match="has left the range 0 to 1 of its state x"):
        model.simulate("1 s")


def test_a_thermistor_settles_where_it_gives_off_what_it_takes_or_runs_out_of_resistance():
    model = circuit(
        "circuit", "source.n part.p", "source.p part.n ground.V", "part.H cooling.A",
        "cooling.B ambient.A", source=el.DCCurrentSource(current="0.3 A"),
        cooling=ThermalResistance(resistance="100 K/W"),
        ambient=TemperatureSource(temperature="300 K"), part=el.ThermalResistor(
            resistance="10 ohm", reference_temperature="300 K", dissipation_factor="0.05 W/K",
            temperature_coefficient="2e-3 1/K", time_constant="4 s"))  # fmt: skip
    run = model.simulate("100 s", **TIGHT)
    # C dT/dt = R i^2 (1 + a (T - T0)) - G (T - T0), C = 0.2 J/K
    heat, loss = 0.9, 0.01 - 0.9 * 2e-3
    expected = 300 + heat / loss * (1 - np.exp(-loss / 0.2 * seconds(run)))
    assert_allclose(values(run, "part.T", "K"), expected, rtol=1e-11)
    assert run.energy().relative_residual < 1e-9
    model.part.temperature_coefficient, model.source.current = "-5e-2 1/K", "1 mA"
    model.ambient.temperature = "330 K"
    with pytest.raises(SimulationError, match="part: .* has a resistance of zero or less"):
        model.simulate("100 s")


def heated(part):
    """A part in which 0.3 A give a body of 0.2 J/K their heat."""
    return circuit("circuit", "source.n part.p", "source.p part.n ground.V", "part.H block.M",
                   source=el.DCCurrentSource(current="0.3 A"), part=part,
                   block=ThermalMass(mass="1 g", specific_heat="200 J/(K*kg)"))


@pytest.mark.parametrize("part", [
    el.Resistor(thermal_port=True, resistance=lambda temperature: quantity("10 ohm") * (
        1 + quantity("2e-3 1/K") * (temperature - quantity("300 K")))),
    el.VariableResistor(thermal_port=True, resistance="10 ohm"),
    el.Capacitor(thermal_port=True, parallel_conductance="1 S", parasitic=True,
              series_resistance="10 ohm"),
    el.Inductor(thermal_port=True, series_resistance="10 ohm", i_L="0.3 A"),
    el.Memristor(thermal_port=True, resistance_A="10 ohm", resistance_B="10 ohm"),
], ids=lambda p: type(p).__name__)  # fmt: skip
def test_heat_leaves_at_a_port_and_changes_a_resistance(part):
    run = heated(part).simulate("50 s", rtol=1e-10)
    t, rate = seconds(run), 10 * 0.09 / 0.2  # K/s at 300 K
    if isinstance(part, el.Resistor):
        expected = 300 + (np.exp(2e-3 * rate * t) - 1) / 2e-3
    elif isinstance(part, el.Capacitor):  # 1 ohm beside 1 uF is settled after some us
        expected = 300 + 1.1 * rate * t
    else:
        expected = 300 + rate * t
    assert_allclose(values(run, "block.T", "K"), expected, rtol=1e-8)
    assert run.energy().relative_residual < 1e-7


def test_a_resistance_in_steps_of_ten_kelvin_is_stepped_onto_each():
    part = el.Resistor(thermal_port=True, resistance=lambda temperature: quantity("10 ohm") * (
        1 + 0.1 * floor((temperature - quantity("300 K")) / quantity("10 K"))))
    model = heated(part)
    assert not model.check().errors
    run = model.simulate("7 s")
    jumps = np.cumsum(10 * 0.2 / (10 * 0.09) / (1 + 0.1 * np.arange(4)))
    assert_allclose([event.time for event in run.events], jumps[:3], atol=1e-9)
    assert_allclose(values(run, "block.T", "K"),
                    np.interp(seconds(run), [0, *jumps], 300 + 10 * np.arange(5)), rtol=1e-9)


def test_sensors_and_states_read_der_of_a_voltage():
    """A capacitor's current is its capacitance times what a user's block makes of a sensor."""

    class Slope(Component):
        u, y = Input("V"), Output("V/s")

        def equations(self):
            yield self.y == der(self.u)

    model = ring(el.DCVoltageSource(voltage="5 V"), el.Resistor(resistance="1 kohm"),
                 el.Capacitor())
    wire(model, "meter.p part3.p", "meter.n part3.n", "meter.V slope.u",
         meter=el.VoltageSensor(), slope=Slope())
    run = model.simulate("1 ms", **TIGHT)
    assert_allclose(values(run, "slope.y", "V/s") * 1e-6, values(run, "part3.i", "A"), rtol=1e-12)


def test_arrays_of_elements_are_one_ladder():
    run = circuit("circuit", "source.p r[0].p", "r[:-1].n r[1:].p", "r[2].n source.n ground.V",
                  source=el.ControlledVoltageSource(voltage="1 V"), r=el.Resistor(
                      count=3, resistance=quantity([1.0, 2.0, 3.0], "ohm"))).simulate("1 ms")
    assert_allclose([run[f"r[{k}].v"].final.m for k in range(3)], np.array([1, 2, 3]) / 6)
