"""Mechanics along one axis: masses, springs, friction, stops, sources and sensors.

The domain's across variable is the velocity v in m/s, its through variable the
force f in N, counted positive into a component's port.

Sign convention
---------------
Two-ports have the ports R (rod) and C (case), with v = v_R - v_C and f carried
from R to C: f > 0 pulls R towards negative and pushes C towards positive
velocities. A passive element with v > 0 carries f > 0. Two sources differ:

* ``ForceSource``: a positive force acts from C to R, so with C on the reference
  it accelerates what hangs on R towards positive velocities.
* ``VelocitySource`` (and the other motion sources): v_R - v_C equals the signal;
  f is positive where the source is pushed, negative where it pushes.

Positions are integrals of velocities. They belong to the component that
integrates them (deformation of a spring, position of a motion sensor), so
lengths and places of ports appear nowhere.

Which class to take
-------------------
=========================  ====================================================
bodies                     ``Mass``, ``VehicleBody``
ground and open ends       ``Reference``, ``FreeEnd``
elastic, damping, inertial ``Spring``, ``Damper``, ``SpringDamper``,
                           ``NonlinearDamper``, ``Inerter``, ``Rod``
resistance                 ``QuadraticSpeedDependentForce``
friction                   ``TranslationalFriction``, ``FrictionRing``,
                           ``RollingResistance``
stops and contact          ``HardStop``, ``ElastoGap``,
                           ``PositionDependentSupport``
sources                    ``ForceSource``, ``VelocitySource``,
                           ``PositionSource``, ``AccelerationSource``, ``table``
sensors                    ``ForceSensor``, ``MotionSensor``, ``PowerSensor``,
                           ``MultiSensor``
own components             ``translational`` (the domain), ``TwoPort`` (the base)
=========================  ====================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .domain import TwoPort
from .domain import translational as translational
from .elements import (
    Damper,
    FreeEnd,
    Inerter,
    Mass,
    NonlinearDamper,
    QuadraticSpeedDependentForce,
    Reference,
    Rod,
    Spring,
    SpringDamper,
)
from .friction import FrictionRing, RollingResistance, TranslationalFriction
from .sensors import ForceSensor, MotionSensor, MultiSensor, PowerSensor
from .sources import AccelerationSource, ForceSource, PositionSource, VelocitySource
from .stops import ElastoGap, HardStop, PositionDependentSupport
from .vehicle import VehicleBody

__all__ = ["AccelerationSource", "Damper", "ElastoGap", "ForceSensor", "ForceSource", "FreeEnd",
           "FrictionRing", "HardStop", "Inerter", "Mass", "MotionSensor", "MultiSensor",
           "NonlinearDamper", "PositionDependentSupport", "PositionSource", "PowerSensor",
           "QuadraticSpeedDependentForce", "Reference", "Rod", "RollingResistance", "Spring",
           "SpringDamper", "TranslationalFriction", "TwoPort", "VehicleBody", "VelocitySource",
           "table"]

tell_what_is_missing(__name__)
