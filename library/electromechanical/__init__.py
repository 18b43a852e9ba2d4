"""Between electricity and mechanics: converters, motors, actuators and the bridge that feeds them.

Sign convention
---------------
Electrical ports p and n carry i from p to n with v = v_p - v_n; mechanical ports R (rotor,
rod) and C (case) have w = w_R - w_C or v = v_R - v_C. A positive current drives R forward: in
the direction of growing w or v. The torque t of rotational machines counts from C to R and is
positive there; the force f of translational ones counts from R to C and is negative there. A
negative constant reverses that. Every ideal converter passes on exactly what it takes in.

Which class to take
-------------------
=============================  ====================================================
ideal converters               ``RotationalElectromechanicalConverter``,
                               ``TranslationalElectromechanicalConverter``
motors                         ``DCMotor`` (permanent magnet, by data sheet too),
                               ``ThermalDCMotor`` (which warms), ``SeriesMotor``,
                               ``SeparatelyExcitedMotor``
actuators                      ``VoiceCoil``, ``Solenoid``, ``PiezoStack``
supply                         ``HBridge`` (PWM, averaged or switched); ``BridgeDriver``
                               behind a ``PWMVoltage`` (means, controlled by voltages)
coils and gaps in detail       :mod:`library.magnetic`
friction of bearings, brushes  ``RotationalFriction`` between R and C
=============================  ====================================================
"""

from ..othernames import tell_what_is_missing
from .actuators import PiezoStack, Solenoid, VoiceCoil
from .bridges import HBridge
from .converters import (
    RotationalElectromechanicalConverter,
    TranslationalElectromechanicalConverter,
)
from .drivers import BridgeDriver, PWMVoltage
from .motors import DCMotor, SeparatelyExcitedMotor, SeriesMotor, ThermalDCMotor

__all__ = ["BridgeDriver", "DCMotor", "HBridge", "PWMVoltage", "PiezoStack",
           "RotationalElectromechanicalConverter", "SeparatelyExcitedMotor", "SeriesMotor",
           "Solenoid", "ThermalDCMotor", "TranslationalElectromechanicalConverter", "VoiceCoil"]

tell_what_is_missing(__name__)
