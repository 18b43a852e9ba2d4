"""Force of an air gap: closed forms, energy, and both kinds of contact."""

import numpy as np
import pytest
from benches import final, wire, wired
from benches.magnetic import MU0
from numpy.testing import assert_allclose

from benchmarks.machines import SOLENOID_ENDS
from blocks import quantity
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
    return wired("held", "flux.S part.N", "flux.N part.S zero.M", "hold.R part.R",
                 "hold.C part.C frame.V",
                 part=ReluctanceForceActuator(area="1 cm^2", x=x, **options),
                 flux=FluxSource(flux=flux), zero=MagneticReference(), hold=VelocitySource(),
                 frame=Reference())


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
    wire(model, "mass.M part.R", "part.C frame.V", mass=Mass(mass="20 g"))
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


def test_pull_in_and_drop_out_of_a_solenoid_part_by_part():
    """Values of two independent methods that agree to 1e-11: pull-in, one bounce, drop-out."""
    start = quantity(2e-3 + 2.4e-6, "m")  # on the upper stop, which carries the preload
    model = wired("solenoid", "supply.p wire.p", "wire.n coil.p", "coil.n supply.n earth.V",
                  "coil.N iron.N", "iron.S gap.N", "gap.S coil.S zero.M",
                  "gap.R armature.M spring.R damper.R stop.R",
                  "gap.C frame.V spring.C damper.C stop.C",
                  supply=ControlledVoltageSource(voltage=table(["0 s", "40 ms", "40 ms"],
                                                               ["12 V", "12 V", "0 V"])),
                  wire=Resistor(resistance="20 ohm"), coil=ElectromagneticConverter(turns=1000),
                  iron=FundamentalReluctance(reluctance="2e6 1/H"),
                  gap=ReluctanceForceActuator(area="1 cm^2", x=start), armature=Mass(mass="20 g"),
                  frame=Reference(), spring=Spring(stiffness="400 N/m", x=start - quantity("8 mm")),
                  damper=Damper(damping="0.5 N*s/m"),
                  stop=HardStop(model="full", lower_bound="0.2 mm", upper_bound="2 mm", x=start),
                  earth=ElectricalReference(), zero=MagneticReference())
    run = model.simulate("100 ms", rtol=1e-9)
    for path, (half, end, scale) in SOLENOID_ENDS.items():
        found = run[path.replace("machine", "gap")].at(["50 ms", "100 ms"]).to_base_units().m
        assert_allclose(found / scale, [half / scale, end / scale], atol=1e-10)
    assert len(run.events) == 6  # of the contacts; the voltage falls at a known time
    assert run.energy().relative_residual < 1e-9
