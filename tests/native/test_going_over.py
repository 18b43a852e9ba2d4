"""Runs that begin with one method and go on with another."""

import numpy as np
import pytest
from benches import wire, wired

from benchmarks.models import block_on_belt, chain_of_arrays
from blocks import quantity, sin
from blocks.native.method import OneStep
from blocks.simulation import method_choice
from library.electrical import ACVoltageSource, Diode, ElectricalReference, Inductor, Resistor
from library.isothermal_liquid import (
    ConstantVolumeChamber,
    FlowRateSource,
    FlowResistance,
    IsothermalLiquidProperties,
    LocalRestriction,
    PressureSource,
    Reservoir,
)
from library.signal import Sine
from library.translational import ForceSource


def rectifier():
    """Three phases behind inductors, six ideal diodes and a load."""
    model = wired("rectifier", earth=ElectricalReference(), load=Resistor(resistance="10 ohm"))
    up, down, star = [model.load.p], [model.load.n], [model.earth.V]
    for k in range(3):
        source = model.add(f"source{k}", ACVoltageSource(
            amplitude="100 V", frequency="50 Hz", phase=quantity(2 * np.pi * k / 3, "rad")))
        coil = model.add(f"coil{k}", Inductor(inductance="1 mH"))
        upper = model.add(f"upper{k}", Diode(model="ideal"))
        lower = model.add(f"lower{k}", Diode(model="ideal"))
        model.connect(source.p, coil.p)
        model.connect(coil.n, upper.p, lower.n)
        star.append(source.n)
        up.append(upper.n)
        down.append(lower.p)
    for nodes in (up, down, star):
        model.connect(*nodes)
    return model


def filled_chamber(volume):
    """Through a resistance whose root law is steepest where the chamber is full."""
    return wired("filled", "oil.A tank.A pump.A", "pump.B way.A", "way.B chamber.A",
                 oil=IsothermalLiquidProperties(), tank=Reservoir(),
                 pump=PressureSource(pressure_difference="18 MPa"), way=FlowResistance(),
                 chamber=ConstantVolumeChamber(volume=volume))


def two_chambers():
    """One relaxes into the other through a wide opening."""
    return wired("two", "oil.A full.A way.A", "way.B chamber.A",
                 oil=IsothermalLiquidProperties(), chamber=ConstantVolumeChamber(volume="0.5 l"),
                 full=ConstantVolumeChamber(volume="0.5 l", p_I="5 MPa"),
                 way=LocalRestriction(restriction_type="fixed"))


@pytest.mark.parametrize(("model", "duration"), [
    (filled_chamber("1 l"), "5 ms"), (filled_chamber("1 l"), "1 s"),
    (filled_chamber("0.01 l"), "5 ms"), (two_chambers(), "5 ms"), (two_chambers(), "1 s"),
])  # fmt: skip
def test_explicit_steps_do_not_stay_where_liquid_would_still_flow(model, duration):
    """They stayed at 0.02 kg/s for good, a point that is no solution but within the tolerance."""
    run = model.simulate(duration)
    assert run["way.mdot"].max().to("kg/s").m > 1
    assert abs(run["way.mdot"].final.to("kg/s").m) < 1e-9
    assert abs(run.energy().relative_residual) < 1e-4


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_stiff_root_laws_pass_what_is_driven_through_them(rtol):
    """By BDF any flow would do that needs less pressure than its tolerance, 0.03 kg/s at 1e-6."""
    model = two_chambers()
    model.full.p_I = "0.101325 MPa"
    wire(model, "wave.y pump.M", "tank.A pump.A", "pump.B full.A",
         pump=FlowRateSource(), tank=Reservoir(),
         wave=Sine(amplitude="0.1 kg/s", frequency="10 Hz"))
    run = model.simulate("0.1 s", rtol=rtol)
    assert run.statistics["method"] == "rodas4"
    # both chambers are alike, and the way between them is far faster: half of what comes goes on
    times = np.linspace(0.0, 0.1, 101)[1:]
    expected = 0.05 * np.sin(2 * np.pi * 10 * times)
    flow = run["way.mdot"].at(quantity(times, "s")).to("kg/s").m
    assert flow == pytest.approx(expected, abs=1e-4)
    assert abs(run.energy().relative_residual) < 1e-3


@pytest.mark.parametrize(("damping", "duration", "methods"), [
    ("1 N*s/m", "8 s", ["dopri5"]), ("1e5 N*s/m", "2 s", ["dopri5", "rodas4"])])
def test_machine_code_returns_to_ask_for_another_method_only_with_many_steps_left(
        monkeypatch, damping, duration, methods):
    """Masses of 1 kg between such dampers die out at up to 4e5 1/s: some 240,000 explicit steps."""
    monkeypatch.setattr(method_choice, "SETTLING", np.inf)  # which it begins with
    advanced, stops = OneStep.advance, []
    monkeypatch.setattr(OneStep, "advance", lambda self, *given: (
        stops.append(self.name), advanced(self, *given))[1])
    model = chain_of_arrays(3)
    del model.push
    model.push = ForceSource(  # not linear: no exact steps
        force=lambda t: quantity("1 N") * sin(t * quantity("1 1/s")) ** 2)
    wire(model, "push.R masses[-1].M", "push.C ground.V")
    model.dampers.damping = damping
    run = model.simulate(duration)
    assert run.statistics["steps"] > 64  # after which it is looked at
    assert run.statistics["method"] == ", then ".join(methods)
    assert stops.count("dopri5") == 1


def test_rk45_is_the_pair_that_machine_code_has():
    run = block_on_belt().simulate("4 s", method="RK45")
    assert run.statistics["method"] == "RK45"
    assert run.statistics["why"].endswith("in machine code")
    # the belt lets go at 25 N, 250 mm, where the block has 0.2 m/s; 5 N hold it around 50 mm
    assert run["spring.x"].max().to("m").m == pytest.approx(0.05 + np.hypot(0.2, 0.02), rel=1e-7)
