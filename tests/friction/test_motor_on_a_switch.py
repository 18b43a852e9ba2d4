"""A motor on a switch with its freewheeling diode moves a load on a rope against dry friction.

While the switch and the diode are open, the current settles within 1e-13 s by the conductance of
the open switch: volts, amperes and radians a second of very different sizes in one network.
"""

import numpy as np
import pytest
from benches import wired

from blocks import quantity
from blocks.nonsmooth.modes.massless_nodes import MasslessLaws
from library.electrical import DCVoltageSource, Diode, ElectricalReference, Switch
from library.electromechanical import DCMotor
from library.mechanisms import GearBox, WheelAndAxle
from library.rotational import RotationalFriction, RotationalReference
from library.signal import Pulse
from library.translational import ForceSource, Mass, Reference, Spring


def winch(law):
    return wired("winch", "source.p switch.p", "switch.n diode.n motor.p",
                 "source.n diode.p motor.n ground.V", "pulse.y switch.vT",
                 "motor.R friction.R gear.S", "motor.C friction.C frame.W", "gear.O drum.A",
                 "drum.P rope.R", "rope.C load.M weight.R", "weight.C base.V",
                 source=DCVoltageSource(voltage="24 V"), ground=ElectricalReference(),
                 switch=Switch(), diode=Diode(model="ideal"), pulse=Pulse(period="2 ms", width=0.6),
                 motor=DCMotor(), frame=RotationalReference(),
                 friction=RotationalFriction(law=law, breakaway_torque="2 mN*m",
                                             coulomb_torque="1.5 mN*m"), gear=GearBox(ratio=20),
                 drum=WheelAndAxle(radius="0.05 m"), rope=Spring(stiffness="2e4 N/m"), load=Mass(),
                 base=Reference(), weight=ForceSource(force="-3 N"))


@pytest.mark.parametrize("law", ["coulomb", "stribeck"])
def test_it_goes_on_where_switch_and_diode_are_open(law):
    model, times = winch(law), quantity(np.linspace(0, 5, 200), "ms")
    taken, other = (model.simulate("5 ms", rtol=1e-10, method=m) for m in ("auto", "rodas4"))
    assert [e.component for e in taken.events] == [e.component for e in other.events]
    for name, largest in (("motor.i", 6.0), ("load.v", 0.02), ("rope.f", 3.0)):
        difference = (taken[name].at(times) - other[name].at(times)).to_base_units().m
        assert np.abs(difference).max() < 1e-6 * largest


def test_its_events_stay_in_machine_code(monkeypatch):
    decided, decide = [], MasslessLaws._next_modes
    monkeypatch.setattr(MasslessLaws, "_next_modes", lambda *given: decided.append(decide(*given))
                        or decided[-1])
    result = winch("coulomb").simulate("30 ms", rtol=1e-7)
    assert result.statistics["events"] > 150
    assert len(decided) < 20


def test_flows_that_never_come_to_pass_are_not_large(monkeypatch):
    """With both open the present current would need 6e8 V."""
    speeds, decide = [], MasslessLaws.decide

    def decided(laws, *given):
        changes = decide(laws, *given)
        speeds.append(laws.state.fast.max())
        return changes

    monkeypatch.setattr(MasslessLaws, "decide", decided)
    winch("coulomb").simulate("2 ms")
    assert 24 <= max(speeds) < 1e3  # volts, and radians a second
