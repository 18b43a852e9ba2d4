"""Gears, mechanisms between rotation and translation, clutches and brakes.

Torques and forces are counted positive into a component's port, so the power an
ideal mechanism takes in at all its ports is zero at every instant.

Which class to take
-------------------
=========================  ====================================================
gears                      ``GearBox``, ``PlanetaryGear``, ``Differential``,
                           ``BeltDrive``, ``LossyGear`` (efficiency, sticking)
rotation and translation   ``WheelAndAxle``, ``RackAndPinion``,
                           ``RollingWheel``, ``LeadScrew`` (self-locking)
levers, cranks, cams       ``Lever``, ``SliderCrank``, ``CamTransmission``
clutches                   ``DiscClutch``, ``DogClutch``, ``OneWayClutch``,
                           ``TorqueLimiter``
brakes                     ``DiscBrake``, ``BandBrake``
own clutches               ``PressedFriction`` (the base)
=========================  ====================================================
"""

from ..othernames import tell_what_is_missing
from .clutches import (
    BandBrake,
    DiscBrake,
    DiscClutch,
    DogClutch,
    OneWayClutch,
    PressedFriction,
    TorqueLimiter,
)
from .cranks import CamTransmission, SliderCrank
from .gears import BeltDrive, Differential, GearBox, PlanetaryGear
from .linear import Lever, RackAndPinion, RollingWheel, WheelAndAxle
from .losses import LeadScrew, LossyGear

__all__ = ["BandBrake", "BeltDrive", "CamTransmission", "Differential", "DiscBrake", "DiscClutch",
           "DogClutch", "GearBox", "LeadScrew", "Lever", "LossyGear", "OneWayClutch",
           "PlanetaryGear", "PressedFriction", "RackAndPinion", "RollingWheel", "SliderCrank",
           "TorqueLimiter", "WheelAndAxle"]

tell_what_is_missing(__name__)
