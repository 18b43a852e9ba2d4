"""What liquid loses leaves as heat, and viscosity of a gap warms what it is in."""

import numpy as np
import pytest
from benches import seconds, values, wire, wired
from liquid_bench import OIL, between, flow, h, oil, reservoir
from numpy.testing import assert_allclose

from blocks import Component, Parameter, Port, Variable, der, quantity
from library.isothermal_liquid import (
    CheckValve,
    FlowResistance,
    LaminarLeakage,
    LocalRestriction,
    Pipe,
    PressureReliefValve,
    SingleActingActuator,
)
from library.thermal import thermal
from library.translational import Reference, VelocitySource


class Body(Component):
    """A body that heat warms."""

    M = Port(thermal)
    capacity = Parameter("100 J/K", above=0)
    T = Variable("K", "300 K", priority="high")
    energy_stored = Variable("J")

    def equations(self):
        yield self.T == self.M.T
        yield self.capacity * der(self.T) == self.M.Q
        yield self.energy_stored == self.capacity * self.T


PARTS = [
    lambda **k: FlowResistance(**k),
    lambda **k: LaminarLeakage(length="1 m", **k),
    lambda **k: LocalRestriction(restriction_type="fixed", area="1 mm^2", **k),
    lambda **k: CheckValve(maximum_area="1 mm^2", **k),
    lambda **k: PressureReliefValve(maximum_area="1 mm^2", **k),
    lambda **k: Pipe(dynamic_compressibility=False, area="1 cm^2", hydraulic_diameter="1 cm", **k),
]


@pytest.mark.parametrize("part", PARTS)
def test_what_is_lost_between_two_pressures_warms_a_body(part):
    mdot = flow(part(), 2e6, 1e6, oil())
    model = between(part(thermal_port=True), 2e6, 1e6, oil())
    wire(model, "body.M part.H", body=Body())
    run = model.simulate("1 s", rtol=1e-9)
    heat = mdot * (h(2e6, OIL) - h(1e6, OIL))
    assert_allclose(values(run, "body.T", "K") - 300, heat * seconds(run) / 100, rtol=1e-7,
                    atol=1e-9)  # fmt: skip
    assert run.energy().relative_residual < 1e-9


def test_the_friction_of_seals_warms_the_cylinder():
    model = wired("seals", "cylinder.R drive.R", "cylinder.C drive.C ground.V",
                  "cylinder.A supply.A oil.A", "cylinder.H body.M",
                  cylinder=SingleActingActuator(law="coulomb", coulomb_force="500 N", stroke="1 m",
                                                breakaway_force="500 N", thermal_port=True),
                  drive=VelocitySource(velocity="0.1 m/s"), ground=Reference(), oil=oil(),
                  supply=reservoir(2e6), body=Body())
    run = model.simulate("1 s", rtol=1e-9)
    assert_allclose(values(run, "body.T", "K")[-1] - 300, 0.5, rtol=1e-7)
    assert run.energy().relative_residual < 1e-6


def test_a_gap_leaks_more_as_it_warms():
    def resistance(temperature):
        return quantity("1e10 Pa*s/m^3") * (1 - quantity("0.01 1/K") * (
            temperature - quantity("300 K")))  # fmt: skip

    model = between(LaminarLeakage(cross_section_geometry="custom", resistance=resistance,
                                   thermal_port=True), 6e6, 1e6, oil())  # fmt: skip
    wire(model, "body.M part.H", body=Body())
    run = model.simulate("1 s", rtol=1e-9)
    # C dT/dt = P0/(1 - a T): T - a T²/2 = P0 t/C
    cold = values(run, "part.power_dissipated", "W")[0]
    assert_allclose(cold, 5e6**2 / 1e10, rtol=1e-2)
    rise = values(run, "body.T", "K") - 300
    assert_allclose(rise - 0.005 * rise**2, cold * seconds(run) / 100, rtol=1e-6, atol=1e-9)
    assert np.diff(values(run, "part.mdot", "kg/s")).min() > 0
