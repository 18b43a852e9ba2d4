"""Mechanics about one axis: inertias, springs, friction, stops, sources and sensors.

The domain's across variable is the angular velocity w in rad/s, its through
variable the torque t in N*m, counted positive into a component's port.

Sign convention
---------------
Two-ports have the ports R (rod) and C (case), with w = w_R - w_C and t carried
from R to C: t > 0 drives R towards negative and C towards positive angular
velocities. A passive element with w > 0 carries t > 0. Two sources differ:

* ``TorqueSource``: a positive torque acts from C to R, so with C on the reference
  it accelerates what hangs on R towards positive angular velocities.
* ``AngularVelocitySource`` (and the other motion sources): w_R - w_C equals the
  signal; t is positive where the source is driven, negative where it drives.

Angles are integrals of angular velocities. They belong to the component that
integrates them (twist of a spring, angle of a motion sensor).

Which class to take
-------------------
=========================  ====================================================
bodies                     ``Inertia``
ground and open ends       ``RotationalReference``, ``RotationalFreeEnd``
elastic, damping, inertial ``RotationalSpring``, ``RotationalDamper``,
                           ``RotationalNonlinearDamper``, ``RotationalInerter``,
                           ``RotationalSpringDamper``
resistance                 ``QuadraticSpeedDependentTorque``
friction                   ``RotationalFriction``, ``BearingFriction``
stops and play             ``RotationalHardStop``, ``ElastoBacklash``
sources                    ``TorqueSource``, ``AngularVelocitySource``,
                           ``AngleSource``, ``AngularAccelerationSource``, ``table``
sensors                    ``TorqueSensor``, ``RotationalMotionSensor``,
                           ``PowerSensor``, ``MultiSensor``
gears, clutches, brakes    :mod:`library.mechanisms`
own components             ``rotational`` (the domain), ``TwoPort`` (the base)
=========================  ====================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .domain import TwoPort
from .domain import rotational as rotational
from .elements import (
    Inertia,
    QuadraticSpeedDependentTorque,
    RotationalDamper,
    RotationalFreeEnd,
    RotationalInerter,
    RotationalNonlinearDamper,
    RotationalReference,
    RotationalSpring,
    RotationalSpringDamper,
)
from .friction import BearingFriction, RotationalFriction
from .sensors import MultiSensor, PowerSensor, RotationalMotionSensor, TorqueSensor
from .sources import AngleSource, AngularAccelerationSource, AngularVelocitySource, TorqueSource
from .stops import ElastoBacklash, RotationalHardStop

__all__ = ["AngleSource", "AngularAccelerationSource", "AngularVelocitySource", "BearingFriction",
           "ElastoBacklash", "Inertia", "MultiSensor", "PowerSensor",
           "QuadraticSpeedDependentTorque", "RotationalDamper", "RotationalFreeEnd",
           "RotationalFriction", "RotationalHardStop", "RotationalInerter",
           "RotationalMotionSensor", "RotationalNonlinearDamper", "RotationalReference",
           "RotationalSpring", "RotationalSpringDamper", "TorqueSensor", "TorqueSource", "TwoPort",
           "table"]

tell_what_is_missing(__name__)
