r"""A DC motor on an H-bridge starts a load that sticks.

    24 V -- H-bridge -- motor --/\/\/-- load (dry friction)
             duty up and back   shaft

The duty rises to 0.5 within 1 s, and falls to 0 from 6 s to 7 s. Watch the current rise until the
shaft is wound up to the break-away torque, the load jump off and the current fall; at the end
the motor brakes, its current turns round, and the load stops for good.
"""

from _show import show

from blocks import Model
from library.electrical import DCVoltageSource, ElectricalReference
from library.electromechanical import DCMotor, HBridge
from library.rotational import (
    Inertia,
    RotationalFriction,
    RotationalReference,
    RotationalSpringDamper,
)
from library.signal import TimeTable

model = Model("motor and sticking load")
model.supply, model.earth = DCVoltageSource(voltage="24 V"), ElectricalReference()
model.bridge = HBridge(control="signal")
model.duty = TimeTable(times=["0 s", "1 s", "6 s", "7 s"], values=[0, 0.5, 0.5, 0])
model.motor = DCMotor(resistance="1 ohm", inductance="1 mH", back_emf_constant="0.1 V*s/rad",
                      inertia="1e-3 kg*m^2")  # fmt: skip
model.shaft = RotationalSpringDamper(stiffness="2 N*m/rad", damping="5 mN*m*s/rad")
model.load = Inertia(inertia="4e-3 kg*m^2")
model.friction = RotationalFriction(law="coulomb", breakaway_torque="0.5 N*m",
                                    coulomb_torque="0.3 N*m")  # fmt: skip
model.frame = RotationalReference()

model.connect(model.supply.p, model.bridge.p)
model.connect(model.supply.n, model.bridge.n, model.earth.V)
model.connect(model.duty.y, model.bridge.D)
model.connect(model.bridge.a, model.motor.p)
model.connect(model.bridge.b, model.motor.n)
model.connect(model.motor.R, model.shaft.R)
model.connect(model.shaft.C, model.load.I, model.friction.R)
model.connect(model.motor.C, model.friction.C, model.frame.W)

print(model.check())
result = model.simulate("8 s", rtol=1e-8, every="5 ms")
print(result.events, result.sticking(), result.energy(), sep="\n\n")

# By hand: the shaft breaks the load away at 0.5 N*m, for which the motor needs 5 A. Running
# at a constant duty it needs 3 A, and 24 V * 0.5 - 1.02 ohm * 3 A are left for the speed.
breaks, stops = (e.time for e in result.events.of("friction")[:2])
print(f"\nCurrent at break-away: {result['motor.i'].at(f'{breaks} s'):.3f~P}, by hand 5 A")
print(f"Speed of the load at 6 s: {result['load.w'].at('6 s'):.2f~P}, "
      f"by hand {(24 * 0.5 - 1.02 * 3) / 0.1:.2f} rad/s")

show(result.plot("bridge.v", "motor.i", "load.w", "shaft.t", events=False),
     "dc_motor_sticking_load")
