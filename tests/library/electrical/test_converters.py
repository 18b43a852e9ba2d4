"""Switches, transistors and converters, against closed forms from one switching to the next."""

import copy

import numpy as np
import pytest
from benches import few, values, wire
from benches.electrical import across, buck, circuit, ring
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.optimize import brentq

import library.electrical as el
from blocks import SimulationError, mod, quantity, where
from library.signal import Constant, Pulse


def at(instant, before=0.0, after=1.0):
    """A signal that jumps."""
    return lambda t: where(t < quantity(instant, "s"), before, after)


# -- one element ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("gate", "current"), [(0.0, 3e-8), (0.5, 3e-8), (0.6, 300.0)])
def test_a_switch_has_its_two_resistances(gate, current):
    run = across(el.Switch(gate=gate), "3 V").simulate("1 s")
    assert_allclose(values(run, "part.i", "A", [1.0]), current, rtol=1e-12)
    assert_allclose(values(run, "part.power_dissipated", "W", [1.0]), 3 * current, rtol=1e-12)


def test_a_changeover_switch_charges_a_coil_and_lets_it_run_on():
    """Seen from the coil the switch is a source (Thevenin) of which only the voltage changes."""
    model = circuit("changeover", "source.p switch.n2", "switch.p load.p", "load.n coil.p",
                    "source.n switch.n1 coil.n ground.V", source=el.DCVoltageSource(voltage="12 V"),
                    switch=el.SPDTSwitch(threshold="3 V",
                                         gate=at(1.0, quantity("4 V"), quantity("2 V"))),
                    load=el.Resistor(resistance="2 ohm"), coil=el.Inductor(inductance="1 H"))
    run = model.simulate("2 s", rtol=1e-11)
    closed, opened = 100.0, 1e-8
    R = 2 + 1 / (closed + opened)
    first, then = (12 * g / (closed + opened) / R for g in (closed, opened))
    at_one = first * (1 - np.exp(-R))
    expected = then + (at_one - then) * np.exp(-R)
    assert_allclose(values(run, "coil.i", "A", [1.0, 2.0]), [at_one, expected], rtol=1e-9)
    assert_allclose(values(run, "switch.i1", "A", [2.0]) + values(run, "switch.i2", "A", [2.0]),
                    -expected, rtol=1e-9)


@pytest.mark.parametrize(("v", "i"), [
    (-5.0, -5e-8), (0.6, 0.6e-8), (0.9, 1.0 + 0.6e-8), (3.0, 8.0 + 0.6e-8)])  # fmt: skip
def test_a_piecewise_linear_diode_follows_simscapes_lines(v, i):
    run = across(el.Diode(), quantity(v, "V")).simulate("1 s")
    # i = (v - Vf (1 - Ron Goff)) / Ron
    assert_allclose(values(run, "part.i", "A", [1.0]), i, rtol=1e-12)


@pytest.mark.parametrize("v", [-3.0, 0.1, 0.5, 0.7])
def test_an_exponential_diode_follows_the_modelica_librarys_law(v):
    run = across(el.Diode(model="exponential"), quantity(v, "V")).simulate("1 s")
    law = np.exp(15.0) * (1 + v / 0.04 - 15) if v / 0.04 > 15 else np.exp(v / 0.04)
    assert_allclose(values(run, "part.i", "A", [1.0]), 1e-6 * (law - 1) + v / 1e8, rtol=1e-12)


@pytest.mark.parametrize(("device", "gate", "v", "i"), [
    (el.MOSFET, 1, 10.0, 2.0), (el.MOSFET, 1, -10.0, -2.0),
    (el.MOSFET, 0, 10.0, 0.0), (el.MOSFET, 0, -10.0, -2.0), (el.IGBT, 1, 10.0, 2.0),
    (el.IGBT, 1, -10.0, -2.0),
    (el.IGBT, 0, 10.0, 0.0), (el.IGBT, 0, -10.0, -2.0)])  # fmt: skip
@pytest.mark.parametrize("diode", [True, False])
def test_a_transistor_conducts_forward_by_its_gate_and_backward_by_its_diode(
        device, gate, v, i, diode):
    if not diode and v < 0 and (device is el.IGBT or not gate):
        i = 0.0
    part = device(gate=gate, diode=diode)
    first, second = (part.D, part.S) if device is el.MOSFET else (part.C, part.E)
    model = circuit("series", "source.p load.p",
                    source=el.DCVoltageSource(voltage=quantity(v, "V")),
                    load=el.Resistor(resistance="5 ohm"), part=part)
    model.connect(model.load.n, first)
    model.connect(second, model.source.n, model.ground.V)
    assert values(model.simulate("1 s"), "part.i", "A", [0.5])[0] == pytest.approx(i, abs=1e-12)


def test_switches_that_are_all_open_leave_the_node_between_them_undetermined_without_complaint():
    model = circuit("series", source=el.DCVoltageSource(voltage="10 V"),
                    one=el.Switch(model="ideal", gate=at(0.5)),
                    other=el.Switch(model="ideal", gate=at(0.7)),
                    load=el.Resistor(resistance="1 ohm"))
    wire(model, "source.p one.p", "one.n other.p", "other.n load.p", "load.n source.n ground.V")
    run = model.simulate("1 s")
    assert_allclose(values(run, "load.i", "A", [0.2, 0.6, 0.9]), [0, 0, 10], atol=1e-12)
    v = sum(values(run, f"{name}.v", "V", [0.2, 0.6]) for name in ("one", "other"))
    assert_allclose(v, 10, rtol=1e-12)


# -- buck converter ------------------------------------------------------------------------------
L, C, SOURCE, PERIOD, DUTY = 100e-6, 100e-6, 24.0, 20e-6, 0.4


def mode(load, source):
    """x -> A x + b with x = (coil current, capacitor voltage)."""
    return (np.array([[0, -1 / L], [1 / C, -1 / (load * C)]]), np.array([source / L, 0.0]))


def flow(load, source, x, dt):
    a, b = mode(load, source)
    whole = expm(np.block([[a, b[:, None]], [np.zeros((1, 3))]]) * dt)
    return whole[:2, :2] @ x + whole[:2, 2]


def test_a_buck_converter_at_light_load_runs_empty_at_the_computed_instant():
    load, x, instants = 500.0, np.array([0.0, 20.0]), []
    for k in range(3):  # charge, freewheel until empty, wait
        x = flow(load, SOURCE, x, DUTY * PERIOD)
        empty = brentq(lambda dt, x=x: flow(load, 0.0, x, dt)[0], 0, (1 - DUTY) * PERIOD,
                       xtol=1e-20)
        instants.append((k + DUTY) * PERIOD + empty)
        v = flow(load, 0.0, x, empty)[1]
        x = np.array([0.0, v * np.exp(-((1 - DUTY) * PERIOD - empty) / (load * C))])
    run = buck(load, vc="20 V").simulate(quantity(3 * PERIOD, "s"), rtol=1e-11)
    opens = [e.time for e in run.events
             if e.component == "diode" and e.description == "opens" and e.time > 0]
    assert_allclose(opens, instants, rtol=0, atol=1e-9 * PERIOD)
    assert_allclose(values(run, "store.v", "V", [3 * PERIOD]), x[1], rtol=1e-9)


# -- bridges -------------------------------------------------------------------------------------
@pytest.mark.parametrize("devices", ["MOSFET", "IGBT"])
def test_a_half_bridge_drives_a_coil_by_its_duty(devices):
    model = circuit("leg", source=el.DCVoltageSource(voltage="24 V"),
                    leg=el.HalfBridge(devices=devices),
                    coil=el.Inductor(inductance="1 mH"), load=el.Resistor(resistance="5 ohm"),
                    pulse=Pulse(period="1 ms", width=0.4), off=Constant(value=0))
    wire(model, "source.p leg.P", "leg.A coil.p", "coil.n load.p", "load.n leg.N source.n ground.V",
         "pulse.y leg.upper", "off.y leg.lower")
    run = model.simulate("3 ms", rtol=1e-11)
    tau, i, exact = 0.2e-3, 0.0, []
    for _ in range(3):
        i = 4.8 + (i - 4.8) * np.exp(-0.4e-3 / tau)
        exact.append(i)
        i *= np.exp(-0.6e-3 / tau)
        exact.append(i)
    times = [k * 1e-3 + x for k in range(3) for x in (0.4e-3, 1e-3)]
    assert_allclose(values(run, "coil.i", "A", times), exact, rtol=1e-8)
    assert run.energy().relative_residual < 1e-9


def test_a_full_bridge_gives_the_energy_of_its_coil_back_in_the_dead_time():
    # both diagonals open: the diodes turn 24 V round until the coil is empty
    model = circuit("dead time", "source.p bridge.P", "source.n bridge.N ground.V",
                    "bridge.A coil.p", "coil.n bridge.B", "on.y bridge.upper_A bridge.lower_B",
                    "off.y bridge.lower_A bridge.upper_B",
                    source=el.DCVoltageSource(voltage="24 V"),
                    bridge=el.FullBridge(), coil=el.Inductor(inductance="1 mH"),
                    on=Pulse(period="1 ms", width=0.3), off=Constant(value=0))
    run = model.simulate("1.9 ms", rtol=1e-11)
    t = np.array([0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3, 1.6, 1.8]) * 1e-3
    local = t % 1e-3
    exact = np.maximum(24e3 * np.where(local <= 0.3e-3 + 1e-12, local, 0.6e-3 - local), 0)
    assert_allclose(values(run, "coil.i", "A", t), exact, rtol=0, atol=1e-8)
    assert_allclose([e.time for e in run.events if abs(e.time - 0.6e-3) < 1e-6], 0.6e-3, rtol=1e-9)
    assert run.energy().relative_residual < 1e-8


# -- where ideal elements have no answer ---------------------------------------------------------
STEPS = at(0.5, quantity("1 V"), quantity("5 V"))
CLOSES, OPENS = (el.Switch(model="ideal", gate=at(0.5, *gate)) for gate in ((0.0, 1.0), (1.0, 0.0)))


@pytest.mark.parametrize(("parts", "time", "where", "said"), [
    ({"source": el.DCVoltageSource(voltage="10 V"), "switch": CLOSES, "store": el.Capacitor()}, 0.5,
     "switch", ["store.vc from 0 to 10 V would have to jump",
                "a resistance (in mechanics a damper) in series with switch or store"]),
    ({"source": el.ControlledVoltageSource(voltage=STEPS),
      "switch": el.Switch(model="ideal", gate=1),
      "store": el.Capacitor(vc="1 V")}, 0.5, None, ["store.vc from 1 to 5 V would have to jump"]),
    ({"source": el.DCVoltageSource(voltage="10 V"), "switch": OPENS,
      "load": el.Resistor(resistance="1 ohm"), "coil": el.Inductor(inductance="1 H")}, 0.5,
     "switch",
     ["coil.i_L from 3.93469 to 0 A would", "a diode or a switch that takes over"]),
    ({"source": el.DCVoltageSource(voltage="10 V"), "switch": CLOSES}, 0.5, None,
     ["nothing limits i of switch: closed, they short-circuit a source"]),
    # at its zero the diode's voltage and current are both nothing; an instant later no mode is
    ({"source": el.ACVoltageSource(amplitude="10 V"), "switch": el.Diode(model="ideal")}, None,
     None,
     ["nothing limits i of switch: closed, they short-circuit a source"]),
    ({"source": el.DCVoltageSource(voltage="10 V"), "diode": el.Diode(model="ideal")}, 0, None,
     ["A diode may be the wrong way round: exchange its ends."]),
    ({"source": el.DCCurrentSource(current="-2 A"), "switch": OPENS}, 0.5, None,
     ["open, they interrupt a source"]),
], ids=["capacitor", "step of the source", "coil", "short", "diode across a sine", "diode turned",
        "current"])  # fmt: skip
def test_what_would_have_to_jump_or_has_no_answer_is_named(parts, time, where, said):
    """A source and parts in a ring."""
    model = ring(**copy.deepcopy(parts))
    with pytest.raises(SimulationError) as error:
        model.simulate("1 s")
    assert error.value.code == "simulation.jump"
    assert time is None or error.value.time == time
    assert where is None or error.value.where == where
    assert all(words in str(error.value) for words in said)


def test_a_source_that_steps_down_leaves_its_rectifier_with_the_capacitor():
    model = circuit("steps down", source=el.ControlledVoltageSource(
        voltage=at(0.5, quantity("5 V"), quantity("1 V"))), diode=el.Diode(model="ideal"),
        store=el.Capacitor(capacitance="1 mF", vc="5 V"), load=el.Resistor(resistance="200 ohm"))
    wire(model, "source.p diode.p", "diode.n store.p load.p", "store.n load.n source.n ground.V")
    run = model.simulate("1 s", rtol=1e-9)
    again = 0.5 + 0.2 * np.log(5)  # when the capacitor has come down to the source
    assert_allclose(values(run, "store.v", "V", [0.4, 0.6, 0.9]), [
        5, 5 * np.exp(-0.5), 1], rtol=1e-7)
    assert [e.time for e in run.events if e.description == "closes"][-1] == pytest.approx(again)


@pytest.mark.parametrize("instant", [3e-3, 12e-3])
def test_a_switch_that_shorts_a_moving_source_through_a_diode_is_named_with_it(instant):
    """The source is above zero at 3 ms, and shorted as it comes below; at 12 ms at once."""
    model = circuit("short", source=el.ACVoltageSource(amplitude="325 V", frequency="50 Hz"),
                    switch=el.Switch(model="ideal", gate=at(instant)),
                    diode=el.Diode(model="ideal"), coil=el.Inductor(inductance="10 mH", i_L="3 A"),
                    load=el.Resistor(resistance="5 ohm"))
    wire(model, "source.p switch.p", "switch.n diode.n coil.p", "coil.n load.p",
         "load.n diode.p source.n ground.V")
    with pytest.raises(SimulationError) as error:
        model.simulate("30 ms")
    assert error.value.time == pytest.approx(max(instant, 0.01), abs=1e-9)
    assert "nothing limits i of switch and diode" in str(error.value)
    assert "Put a resistance in series with switch and diode" in str(error.value)


def test_the_swapped_diode_of_a_bridge_is_named_with_the_one_that_shorts_through_it():
    model = circuit("bridge", "source.p a.p c.n", "source.n b.p d.p",  # d.n is meant
                    "a.n b.n load.p store.p", "c.p d.n load.n store.n ground.V",
                    source=el.ACVoltageSource(amplitude="325 V"),
                    load=el.Resistor(resistance="100 ohm"),
                    store=el.Capacitor(capacitance="1 mF"),
                    **{name: el.Diode(model="ideal") for name in "abcd"})
    with pytest.raises(SimulationError, match="nothing limits i of c and d: closed, they short"
                       ) as error:
        model.simulate("20 ms")
    assert "A diode may be the wrong way round" in str(error.value)
    assert error.value.time == pytest.approx(1 / 120, abs=1e-9)


def test_a_leaking_transformer_hands_its_current_over_to_a_clamp_that_starts_empty():
    """A flyback converter from rest: as the switch opens no voltage says who takes over."""
    L1, L2, M, clamp, store = 400e-6, 25e-6, 0.98 * 1e-4, 100e-9, 220e-6
    model = circuit(
        "flyback", source=el.DCVoltageSource(voltage="48 V"), switch=el.Switch(model="ideal"),
        windings=el.MutualInductor(inductance_1="400 uH", inductance_2="25 uH", coupling=0.98),
        diode=el.Diode(model="ideal"), store=el.Capacitor(capacitance="220 uF"),
        load=el.Resistor(resistance="5 ohm"), catch=el.Diode(model="ideal"),
        clamp=el.Capacitor(capacitance="100 nF"), bleed=el.Resistor(resistance="5 kohm"),
        drive=Pulse(period="10 us", width=0.45))  # fmt: skip
    wire(model, "source.p windings.p1 clamp.n bleed.n", "windings.n1 switch.p catch.p",
         "catch.n clamp.p bleed.p", "switch.n source.n ground.V", "windings.n2 diode.p",
         "diode.n store.p load.p", "store.n load.n windings.p2 ground.V", "drive.y switch.vT")
    run = model.simulate("5 us", rtol=1e-9)
    inverse = np.linalg.inv([[L1, M], [M, L2]])
    held = np.zeros((4, 4))  # currents of both windings, voltages of clamp and store
    held[:2, 2:] = -inverse
    held[2] = [1 / clamp, 0, -1 / (5e3 * clamp), 0]
    held[3] = [0, 1 / store, 0, -1 / (5 * store)]
    exact = expm(held * 0.5e-6) @ [48 / L1 * 4.5e-6, 0, 0, 0]
    found = [values(run, path, unit)[-1] for path, unit in (
        ("windings.i1", "A"), ("windings.i2", "A"), ("clamp.v", "V"), ("store.v", "V"))]
    assert_allclose(found, exact, rtol=1e-7)


def test_a_charge_pump_names_what_would_jump_and_not_what_a_resistance_holds():
    model = circuit("pump", source=el.DCVoltageSource(voltage="5 V"), first=el.Diode(model="ideal"),
                    second=el.Diode(model="ideal"), flying=el.Capacitor(capacitance="0.1 uF"),
                    series=el.Resistor(resistance="10 mohm"), store=el.Capacitor())  # fmt: skip
    wire(model, "source.p first.p", "first.n second.p flying.p", "flying.n series.p",
         "second.n store.p", "source.n series.n store.n ground.V")
    with pytest.raises(SimulationError) as caught:
        model.simulate("1 us")
    assert caught.value.code == "simulation.jump"
    assert "at t = 0 s store.vc from 0 to 5 V would have to jump" in str(caught.value)
    assert "flying" not in str(caught.value)


def dickson(stages):
    """A chain of diodes between capacitors that two opposite clocks of 100 kHz lift in turn."""
    clocks = [el.ControlledVoltageSource(voltage=lambda t, first=first, then=then: where(
        mod(t, quantity("10 us")) < quantity("5 us"), first, then))
        for first, then in ((quantity("5 V"), quantity("0 V")),
                            (quantity("0 V"), quantity("5 V")))]  # fmt: skip
    diode = {"model": "ideal", "on_resistance": "10 ohm"}
    return circuit(
        "dickson", "source.p d[0].p", "d[:-1].n c.p d[1:].p", "c[::2].n even.p", "c[1::2].n odd.p",
        "d[-1].n store.p load.p", "ground.V source.n even.n odd.n store.n load.n",
        source=el.DCVoltageSource(voltage="5 V"), even=clocks[0], odd=clocks[1],
        store=el.Capacitor(capacitance="100 nF"), load=el.Resistor(resistance="1 Mohm"),
        d=el.Diode(count=stages + 1, **diode), c=el.Capacitor(count=stages, capacitance="10 nF"))


@few(1, ("method", "rtol"), [("dopri5", 1e-8), ("rodas4", 1e-8), ("RK23", 1e-6),
                                              pytest.param("DOP853", 1e-6, marks=pytest.mark.slow)])
def test_a_dickson_pump_whose_currents_die_out_by_any_method(method, rtol):
    run = dickson(4).simulate("9 ms", method=method, rtol=rtol)
    regulation = 4 / (1e5 * 10e-9)  # a stage hands on frequency times capacitance
    assert_allclose(run["load.v"]["8.9 ms":"9 ms"].mean().m, 25 / (1 + regulation / 1e6), rtol=1e-5)
