"""Force of an air gap: closed forms, energy, and both kinds of contact."""

from __future__ import annotations

import numpy as np
import pytest
from benches import final
from benches.magnetic import MU0, TIGHT, wound
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.electrical import ControlledVoltageSource, ElectricalReference, Resistor, table
from library.magnetic import (
    ElectromagneticConverter,
    FluxSource,
    FundamentalReluctance,
    MagneticReference,
    ReluctanceForceActuator,
)
from library.thermal import ThermalMass
from library.translational import Damper, HardStop, Mass, Reference, Spring, VelocitySource


def held(x, flux="0.1 mWb", **options):
    """The actuator with a given flux and its armature held."""
    model = Model("held")
    model.part = ReluctanceForceActuator(area="1 cm^2", x=x, **options)
    model.flux, model.zero = FluxSource(flux=flux), MagneticReference()
    model.hold, model.frame = VelocitySource(), Reference()
    model.connect(model.flux.S, model.part.N)
    model.connect(model.flux.N, model.part.S, model.zero.M)
    model.connect(model.hold.R, model.part.R)
    model.connect(model.hold.C, model.part.C, model.frame.V)
    return model


@pytest.mark.parametrize("flux", ["0.1 mWb", "-0.2 mWb"])
def test_pull_and_potential_of_a_gap(flux):
    run = held("1.5 mm", flux).simulate("1 ms")
    phi = quantity(flux).to("Wb").m
    assert_allclose(final(run, "part.f", "N"), phi**2 / (2 * MU0 * 1e-4), rtol=1e-13)
    assert final(run, "part.f", "N") > 0  # carried from R to C: it closes the gap
    assert_allclose(final(run, "part.mmf", "A"), phi * 1.5e-3 / (MU0 * 1e-4), rtol=1e-12)


def test_elastic_contact_of_a_closed_gap():
    run = held("0.05 mm", least_gap="0.1 mm", contact_stiffness="2e6 N/m").simulate("1 ms")
    assert_allclose(final(run, "part.contact_force", "N"), 100, rtol=1e-12)
    assert_allclose(final(run, "part.mmf", "A"), 1e-4 * 1e-4 / (MU0 * 1e-4), rtol=1e-12)


def drop(**options):
    """A mass pulled by a constant flux from 1 mm on, towards a contact at 0.2 mm."""
    model = held("1 mm", least_gap="0.2 mm", **options)
    del model.hold
    model.mass = Mass(mass="20 g")
    model.connect(model.mass.M, model.part.R)
    model.connect(model.part.C, model.frame.V)
    return model


PULL = 1e-4**2 / (2 * MU0 * 1e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_rigid_contact_of_an_armature(restitution):
    run = drop(model="restitution", restitution=restitution).simulate("8 ms", rtol=1e-10)
    touches = np.sqrt(2 * 0.8e-3 / (PULL / 0.02))
    assert_allclose(run.events.of("part")[0].time, touches, rtol=1e-8)
    speed = PULL / 0.02 * touches
    after = run["mass.v"].at(quantity(touches + 1e-6, "s")).to("m/s").m
    assert_allclose(after, restitution * speed - (PULL / 0.02 * 1e-6 if restitution else 0),
                    atol=1e-8)
    assert run["part.x"].min().to("mm").m >= 0.2 - 1e-9
    energy = run.energy()
    assert energy.relative_residual < 1e-8


def test_elastic_contact_accounts_for_its_energy():
    run = drop().simulate("8 ms", rtol=1e-10)
    assert run.energy().relative_residual < 1e-7
    assert run["part.x"].min().to("mm").m < 0.2


@pytest.mark.parametrize("speed", [-1e-3, 1e-3])
def test_heat_of_an_elastic_contact_is_that_of_its_damping_alone(speed):
    """What the pull does on a way that the flux does not see is supplied, or taken, not heat."""
    model = held("0.1 mm", least_gap="0.2 mm", contact_damping="50 kN*s/m", thermal_port=True)
    model.hold.velocity = quantity(speed, "m/s")
    model.body = ThermalMass(mass="1 g", specific_heat="400 J/(kg*K)", T="300 K")
    model.connect(model.part.H, model.body.M)
    run = model.simulate("20 ms")
    assert_allclose(final(run, "body.T", "K") - 300, 5e4 * speed**2 * 20e-3 / 0.4, rtol=1e-9)
    assert_allclose(run.energy()["part"].supplied, -PULL * speed * 20e-3, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


def test_moving_armature_in_a_coil_balances_energy():
    model = wound(ReluctanceForceActuator(area="4 cm^2", x="3 mm"), voltage="12 V", turns=400)
    model.leakage = FundamentalReluctance(reluctance="2e7 1/H")
    model.connect(model.coil.N, model.leakage.N)
    model.connect(model.leakage.S, model.zero.M)
    model.mass, model.spring = Mass(mass="0.1 kg"), Spring(stiffness="20 kN/m")
    model.damper, model.frame = Damper(damping="5 N*s/m"), Reference()
    model.connect(model.part.R, model.mass.M, model.spring.R, model.damper.R)
    model.connect(model.part.C, model.spring.C, model.damper.C, model.frame.V)
    run = model.simulate("0.1 s", **TIGHT)
    assert np.ptp(run["part.x"].to("mm").m) > 0.01
    assert run.energy().relative_residual < 1e-9


STATES = ("gap.phi", "gap.x", "armature.v")
SCALES = np.array([1e-4, 1e-3, 1.0])
AT_50_MS = np.array([9.58604516292e-5, 1.65839089786e-4, 4.94160965414e-3])
AT_END = np.array([1.55208912671e-9, 2.00239904037e-3, 7.6e-12])


def test_pull_in_and_drop_out_of_a_solenoid_part_by_part():
    """Values of two independent methods that agree to 1e-11: pull-in, one bounce, drop-out."""
    start = quantity(2e-3 + 2.4e-6, "m")  # on the upper stop, which carries the preload
    model = Model("solenoid")
    model.supply = ControlledVoltageSource(
        voltage=table(["0 s", "40 ms", "40 ms"], ["12 V", "12 V", "0 V"]))
    model.wire, model.coil = Resistor(resistance="20 ohm"), ElectromagneticConverter(turns=1000)
    model.iron = FundamentalReluctance(reluctance="2e6 1/H")
    model.gap = ReluctanceForceActuator(area="1 cm^2", x=start)
    model.armature, model.frame = Mass(mass="20 g"), Reference()
    model.spring = Spring(stiffness="400 N/m", x=start - quantity("8 mm"))
    model.damper = Damper(damping="0.5 N*s/m")
    model.stop = HardStop(model="full", lower_bound="0.2 mm", upper_bound="2 mm", x=start)
    model.earth, model.zero = ElectricalReference(), MagneticReference()
    model.connect(model.supply.p, model.wire.p)
    model.connect(model.wire.n, model.coil.p)
    model.connect(model.coil.n, model.supply.n, model.earth.V)
    model.connect(model.coil.N, model.iron.N)
    model.connect(model.iron.S, model.gap.N)
    model.connect(model.gap.S, model.coil.S, model.zero.M)
    model.connect(model.gap.R, model.armature.M, model.spring.R, model.damper.R, model.stop.R)
    model.connect(model.gap.C, model.frame.V, model.spring.C, model.damper.C, model.stop.C)
    run = model.simulate("100 ms", rtol=1e-9)
    for when, expected in (("50 ms", AT_50_MS), ("100 ms", AT_END)):
        found = [run[path].at(when).to_base_units().m for path in STATES]
        assert_allclose(found / SCALES, expected / SCALES, atol=1e-10)
    assert len(run.events) == 6  # of the contacts; the voltage falls at a known time
    assert run.energy().relative_residual < 1e-9
