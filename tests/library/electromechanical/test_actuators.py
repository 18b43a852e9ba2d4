"""Linear converters and actuators against closed forms, and the power they pass on."""

import numpy as np
import pytest
from benches import final, wire
from benches.machines import TIGHT, fed
from numpy.testing import assert_allclose

from benchmarks.machines import solenoid
from blocks import SimulationError, quantity
from library.electrical import table
from library.electromechanical import (
    PiezoStack,
    Solenoid,
    VoiceCoil,
)
from library.translational import Damper, Mass, Reference, VelocitySource

MU0 = 4e-7 * np.pi


def held(machine, voltage="10 V", velocity="0 m/s"):
    """A machine whose rod moves as prescribed."""
    model = fed(machine, voltage)
    wire(model, "hold.R machine.R", "hold.C machine.C frame.V",
         hold=VelocitySource(velocity=velocity), frame=Reference())
    return model


def test_current_of_a_voice_coil_that_is_held():
    run = held(VoiceCoil()).simulate("10 ms", **TIGHT)
    t = np.linspace(0, 0.01, 9)
    current = 10 / 2.86 * (1 - np.exp(-t * 2.86 / 5.1e-3))
    assert_allclose(run["machine.i"].at(quantity(t, "s")).to("A").m, current, atol=1e-9)
    assert_allclose(run["machine.f"].at(quantity(t, "s")).to("N").m, -3.88 * current, atol=1e-8)
    assert run.energy().relative_residual < 1e-9


def test_a_solenoid_that_is_held_is_an_inductance():
    run = held(Solenoid(x="1 mm"), "12 V").simulate("20 ms", **TIGHT)
    inductance = 1000**2 / (1e-3 / (MU0 * 1e-4) + 2e6)
    t = np.linspace(0, 0.02, 9)
    current = 12 / 20 * (1 - np.exp(-t * 20 / inductance))
    assert_allclose(run["machine.i"].at(quantity(t, "s")).to("A").m, current, atol=1e-10)
    flux = inductance * current / 1000
    assert_allclose(run["machine.f"].at(quantity(t, "s")).to("N").m, flux**2 / (2 * MU0 * 1e-4),
                    atol=1e-9)
    assert_allclose(final(run, "machine.energy_stored", "J"), inductance * current[-1] ** 2 / 2,
                    rtol=1e-9)


def test_a_solenoid_with_rigid_stops_holds():
    run = solenoid(rigid=True).simulate("100 ms", rtol=1e-9)
    assert run["machine.x"].min().to("mm").m >= 0.2 - 1e-9
    assert_allclose(run["machine.x"].at("30 ms").to("mm").m, 0.2, atol=1e-9)
    assert run.energy().relative_residual < 1e-7


def test_an_armature_without_a_stop_goes_through_and_is_named():
    model = fed(Solenoid(), "12 V")
    wire(model, "machine.R armature.M", "machine.C frame.V",
         armature=Mass(mass="20 g"), frame=Reference())
    with pytest.raises(SimulationError, match="gone through the stator: put a HardStop"):
        model.simulate("0.2 s")


SLOW = table(["0 s", "10 ms"], ["0 V", "150 V"])


def test_a_solenoid_whose_stator_nothing_holds_is_told_of_the_reference_alone():
    model = fed(Solenoid())
    wire(model, "machine.R armature.M", armature=Mass())
    (error,) = model.check().errors
    assert error.code == "reference.missing"


def test_a_piezo_stack_extends_freely_and_pushes_where_it_is_held():
    model = fed(PiezoStack(), SLOW)
    wire(model, "machine.R tip.M damper.R", "machine.C damper.C frame.V",
         frame=Reference(), tip=Mass(mass="10 g"), damper=Damper(damping="5 kN*s/m"))
    run = model.simulate("30 ms", rtol=1e-10)
    assert_allclose(final(run, "machine.x", "um"), 30, rtol=1e-8)
    assert run.energy().relative_residual < 1e-8
    blocked = held(PiezoStack(), SLOW).simulate("20 ms", rtol=1e-10)
    assert_allclose(final(blocked, "machine.f", "N"), -800, rtol=1e-12)  # pushes R away


def test_charge_of_a_piezo_stack_free_and_clamped():
    coupling, stiffness = 800 / 150, 800 / 30e-6
    for machine, capacitance in ((held(PiezoStack(), SLOW), 1.8e-6),
                                 (fed(PiezoStack(), SLOW), 1.8e-6 + coupling**2 / stiffness)):
        if capacitance > 1.8e-6:
            wire(machine, "machine.R tip.M damper.R", "machine.C damper.C frame.V",
                 tip=Mass(mass="1 mg"), frame=Reference(), damper=Damper(damping="100 N*s/m"))
        run = machine.simulate("5 ms", rtol=1e-9)
        assert_allclose(final(run, "machine.i", "A"), capacitance * 15e3, rtol=1e-6)
