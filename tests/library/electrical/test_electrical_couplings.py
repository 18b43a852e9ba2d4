"""Transformers, gyrators, coupled windings and amplifiers: laws, signs, power."""

import numpy as np
import pytest
from benches import seconds, values, wire
from benches.electrical import TIGHT, circuit
from numpy.testing import assert_allclose
from scipy.linalg import expm

from blocks import quantity, sin
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    ControlledVoltageSource,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Gyrator,
    IdealTransformer,
    Inductor,
    LimitedOpAmp,
    MutualInductor,
    OpAmp,
    Resistor,
    VoltageSensor,
)


def fed(coupling, source, load, series="2 ohm"):
    """A source and a resistor on side 1, a load with a reference of its own on side 2."""
    return circuit("circuit", "source.p series.p", "series.n coupling.p1",
                   "source.n coupling.n1 ground.V", "coupling.p2 load.p",
                   "coupling.n2 load.n other.V", source=source, series=Resistor(resistance=series),
                   coupling=coupling, load=load, other=ElectricalReference())


@pytest.mark.parametrize("ratio", [3.0, -0.25])
def test_a_transformer_shows_the_load_times_the_ratio_squared(ratio):
    model = fed(IdealTransformer(ratio=ratio), DCVoltageSource(voltage="10 V"),
                Resistor(resistance="4 ohm"))
    run = model.simulate("1 ms")
    i1 = 10 / (2 + 4 * ratio**2)
    found = [run[f"coupling.{n}"].final.m for n in ("i1", "i2", "v1", "v2")]
    assert_allclose(found, [i1, ratio * i1, 4 * ratio**2 * i1, 4 * ratio * i1], rtol=1e-14)
    assert_allclose(run["load.i"].final.m, ratio * i1, rtol=1e-14)  # out of p2, into the load


def test_a_transformer_of_ratio_zero_is_refused():
    model = fed(IdealTransformer(ratio=0), DCVoltageSource(), Resistor())
    assert "ratio is 0, so side 1 would be shorted" in model.check().errors[0].problem


def test_a_gyrator_makes_an_inductor_of_a_capacitor():
    source = ACVoltageSource(amplitude="3 V", frequency="40 Hz", phase="90 deg")
    g, c = 0.05, 200e-6
    run = fed(Gyrator(conductance=f"{g} S"), source, Capacitor(capacitance=f"{c} F")
              ).simulate("50 ms", **TIGHT)
    twin = circuit(source=ACVoltageSource(amplitude="3 V", frequency="40 Hz", phase="90 deg"),
                   series=Resistor(resistance="2 ohm"), coil=Inductor(inductance=f"{c / g**2} H"))
    wire(twin, "source.p series.p", "series.n coil.p", "source.n coil.n ground.V")
    other = twin.simulate("50 ms", **TIGHT)
    t = np.linspace(0, 0.05, 101)
    assert_allclose(values(run, "coupling.i1", "A", t), values(other, "coil.i", "A", t), atol=1e-11)


# -- coupled windings ------------------------------------------------------------------------------
@pytest.mark.parametrize("k", [0.9, -0.5])
def test_coupled_windings_follow_their_inductance_matrix(k):
    l1, l2 = 10.0, 0.1
    m = k * np.sqrt(l1 * l2)
    run = fed(MutualInductor(coupling=k, i1="1 A"), DCVoltageSource(voltage="5 V"),
              Resistor(resistance="3 ohm")).simulate("2 s", **TIGHT)
    # L di/dt = (5 - 2 i1, -3 i2), i2 into p2
    inverse = np.linalg.inv([[l1, m], [m, l2]])
    system = np.zeros((3, 3))
    system[:2, :2], system[:2, 2] = -inverse @ np.diag([2.0, 3.0]), inverse @ [5.0, 0]
    t = np.linspace(0, 2, 21)
    expected = np.array([(expm(system * s) @ [1, 0, 1])[:2] for s in t])
    assert_allclose(values(run, "coupling.i1", "A", t), expected[:, 0], atol=1e-9)
    assert_allclose(values(run, "coupling.i2", "A", t), expected[:, 1], atol=1e-9)
    stored = values(run, "coupling.energy_stored", "J", t)
    assert_allclose(stored, [(i @ np.linalg.inv(inverse) @ i) / 2 for i in expected], atol=1e-8)


def test_a_perfect_coupling_has_one_state_and_the_magnetizing_inductance():
    model = fed(MutualInductor(leakage=False), DCVoltageSource(voltage="10 V"),
                Resistor(resistance="3 ohm"))
    assert len(model.check()) == 0
    run = model.simulate("1 s", **TIGHT)
    assert run.statistics["states"] == 1
    # seen from side 2: 10 V / 10 behind 2 ohm / 100, 0.1 H beside 3 ohm
    source, series, load, inductance = 1.0, 0.02, 3.0, 0.1
    parallel = series * load / (series + load)
    i_m = source / series * (1 - np.exp(-parallel / inductance * seconds(run)))
    assert_allclose(values(run, "coupling.i_m", "A"), i_m, atol=1e-9)
    assert_allclose(values(run, "coupling.v1", "V"), 10 * values(run, "coupling.v2", "V"),
                    atol=1e-12)  # fmt: skip


def test_a_coupling_of_one_is_said_by_an_option():
    model = fed(MutualInductor(coupling=1), DCVoltageSource(), Resistor())
    assert "Say it by leakage=False" in str(model.check().errors[0])


# -- amplifiers ------------------------------------------------------------------------------------
def amplifier(kind, source, feedback=None, **inputs):
    """An inverting amplifier: input resistor of 1 kohm, feedback of 10 kohm."""
    return circuit("circuit", "source.p r1.p", "r1.n amplifier.n r2.p", "r2.n amplifier.out load.p",
                   "amplifier.p load.n source.n ground.V",
                   source=source, r1=Resistor(resistance="1 kohm"), amplifier=kind,
                   r2=feedback or Resistor(resistance="10 kohm"), load=Resistor())


def test_an_ideal_amplifier_inverts_and_its_output_takes_any_current():
    run = amplifier(OpAmp(), DCVoltageSource(voltage="0.3 V")).simulate("1 ms")
    assert_allclose(run["amplifier.out.v"].final.m, -3, rtol=1e-15)
    assert_allclose(run["amplifier.i"].final.m, 3 + 0.3e-3, rtol=1e-14)  # into the output
    assert_allclose(run["amplifier.power_supplied"].final.m, 3 * (3 + 0.3e-3), rtol=1e-14)


def test_a_non_inverting_amplifier_loads_its_source_with_nothing():
    model = circuit(source=DCVoltageSource(voltage="2 V"), series=Resistor(resistance="1 Mohm"),
                    a=Resistor(resistance="1 kohm"), b=Resistor(resistance="4 kohm"), amp=OpAmp(),
                    meter=VoltageSensor())
    wire(model, "source.p series.p", "series.n amp.p", "amp.out b.p meter.p", "b.n a.p amp.n",
         "a.n source.n meter.n ground.V")
    run = model.simulate("1 ms")
    assert_allclose(run["meter.V"].final.m, 10, rtol=1e-15)


def test_an_integrator_of_an_amplifier_and_a_capacitor():
    run = amplifier(OpAmp(), ControlledVoltageSource(
        voltage=lambda t: quantity("1 V") * sin(quantity("100 rad/s") * t)),
        feedback=Capacitor(capacitance="1 uF")).simulate("50 ms", **TIGHT)
    assert_allclose(values(run, "amplifier.out.v", "V"), -10 * (1 - np.cos(100 * seconds(run))),
                    atol=1e-9)  # fmt: skip


def test_a_limited_amplifier_has_a_gain_and_limits_and_a_follower_follows():
    run = amplifier(LimitedOpAmp(upper_voltage="12 V"), ACVoltageSource(amplitude="2 V")
                    ).simulate("30 ms", rtol=1e-9)
    t = np.linspace(0, 0.03, 301)
    expected = np.clip(-20 * np.sin(120 * np.pi * t) / (1 + 11 / 15000), -15, 12)
    assert_allclose(values(run, "amplifier.out.v", "V", t), expected, atol=1e-9)
    model = circuit(source=DCVoltageSource(voltage="10 V"), amp=LimitedOpAmp(), load=Resistor())
    wire(model, "source.p amp.p", "amp.n amp.out load.p", "source.n load.n ground.V")
    run = model.simulate("1 ms")
    assert_allclose(run["load.v"].final.m, 10 / (1 + 1 / 15000), rtol=1e-12)


def test_an_amplifier_makes_its_diode_a_rectifier_without_forward_voltage():
    model = circuit(source=ACVoltageSource(amplitude="1 V", frequency="1 kHz"), amp=LimitedOpAmp(),
                    diode=Diode(model="ideal", forward_voltage="0.7 V"), load=Resistor())
    wire(model, "source.p amp.p", "amp.out diode.p", "diode.n amp.n load.p",
         "source.n load.n ground.V")
    run = model.simulate("1.2 ms", rtol=1e-9)
    t = np.linspace(0, 1.2e-3, 49)
    follows = (15000 * np.sin(2e3 * np.pi * t) - 0.7) / 15001
    assert_allclose(values(run, "load.v", "V", t), np.maximum(follows, 0), rtol=0, atol=1e-9)


def test_diodes_give_a_multivibrator_a_duty_of_a_quarter():
    """From one threshold to the other by R C ln 3, but for the finite gain; R by direction."""
    model = circuit(amp=LimitedOpAmp(gain=1e6), back=Resistor(resistance="10 kohm"),
                    down=Resistor(resistance="10 kohm"),
                    store=Capacitor(capacitance="100 nF", vc="0.1 V"),
                    fast=Resistor(resistance="10 kohm"), slow=Resistor(resistance="30 kohm"),
                    charges=Diode(model="ideal"), drains=Diode(model="ideal"))
    m = model
    wire(m, "amp.out back.p fast.p slow.p", "back.n down.p amp.p", "fast.n charges.p",
         "slow.n drains.n", "charges.n drains.p store.p amp.n", "down.n store.n ground.V")
    run = m.simulate("20 ms", rtol=1e-9)
    turns = [e.time for e in run.events if e.component == "charges"]
    between = np.diff([t for k, t in enumerate(turns) if not k or t - turns[k - 1] > 1e-6])[2:]
    assert set(np.round(between / (1e-3 * np.log(3)), 4)) == {1.0, 3.0}


def test_supplies_in_the_wrong_order_are_named():
    model = amplifier(LimitedOpAmp(upper_voltage="-20 V"), DCVoltageSource())
    assert "The upper one must be above the lower" in model.check().errors[0].problem
