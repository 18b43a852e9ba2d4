"""A motor driver and the PWM voltage before it give the means of their pulses."""

import pytest
from benches import wire
from numpy.testing import assert_allclose

from blocks import Model
from library.electrical import DCVoltageSource, ElectricalReference, Resistor
from library.electromechanical import BridgeDriver, PWMVoltage
from library.signal import Constant


def driven(reference, reverse="0 V", brake="0 V", source=None, **options):
    """A PWM voltage of 5 V before a bridge of 12 V on 2 ohm, with 3 V in series."""
    model = Model("driven")
    model.earth, model.pwm = ElectricalReference(), source or PWMVoltage(maximum_voltage="4 V")
    model.reverse, model.brake = DCVoltageSource(voltage=reverse), DCVoltageSource(voltage=brake)
    model.bridge = BridgeDriver(on_resistance="0.4 ohm", diode_resistance="0.3 ohm", **options)
    model.load, model.emf = Resistor(resistance="2 ohm"), DCVoltageSource(voltage="3 V")
    bridge = model.bridge
    model.connect(model.earth.V, bridge.REF, bridge.b, model.emf.n, model.pwm.n2, model.reverse.n,
                  model.brake.n)
    model.connect(model.pwm.p2, bridge.PWM)
    model.connect(model.reverse.p, bridge.REV)
    model.connect(model.brake.p, bridge.BRK)
    model.connect(bridge.a, model.load.p)
    model.connect(model.load.n, model.emf.p)
    if source is None:
        wire(model, "reference.p pwm.p1", "reference.n pwm.n1 earth.V",
             reference=DCVoltageSource(voltage=reference))
    else:
        wire(model, "reference.y pwm.u", reference=Constant(value=reference))
    return model


SHORTED = 0.2 + 0.2 * 0.3 / (0.2 + 0.3)


@pytest.mark.parametrize(("reference", "reverse", "brake", "current"), [
    ("1 V", "0 V", "0 V", (0.25 * 12 - 3) / 2.4), ("3 V", "0 V", "0 V", (0.75 * 12 - 3) / 2.4),
    ("9 V", "0 V", "0 V", (12 - 3) / 2.4), ("-1 V", "0 V", "0 V", -3 / 2.4),
    ("3 V", "5 V", "0 V", (-0.75 * 12 - 3) / 2.4), ("3 V", "5 V", "5 V", -3 / (2 + SHORTED)),
], ids=["quarter", "three quarters", "beyond", "below", "reversed", "braking"])
def test_a_driver_gives_the_share_of_its_supply(reference, reverse, brake, current):
    run = driven(reference, reverse, brake).simulate("1 ms")
    assert_allclose(run["load.i"].final.to("A").m, current, rtol=1e-12, atol=1e-14)
    assert_allclose(run["pwm.i"].final.to("A").m, 0, atol=1e-14)
    resistance = SHORTED if brake == "5 V" else 0.4
    assert_allclose(run["bridge.power_dissipated"].final.to("W").m, resistance * current**2,
                    rtol=1e-12, atol=1e-14)
    assert run.energy().relative_residual < 1e-12


def test_a_signal_may_be_the_reference():
    source = PWMVoltage(control="signal", minimum_signal=-1, maximum_signal=3)
    run = driven(2, source=source, pwm_amplitude="6 V").simulate("1 ms")
    assert_allclose(run["pwm.v"].final.to("V").m, 3.75, rtol=1e-12)
    assert_allclose(run["load.i"].final.to("A").m, (3.75 / 6 * 12 - 3) / 2.4, rtol=1e-12)


def test_bounds_in_the_wrong_order_are_told():
    report = str(driven(1, source=PWMVoltage(control="signal", minimum_signal=1)).check())
    assert "minimum_signal is 1.0, not below maximum_signal, which is 1.0." in report
