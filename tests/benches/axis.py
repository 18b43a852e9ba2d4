"""Mechanics along an axis and about one: the same circuits with the names and units of either.

Components, keywords, variables and ports are asked for by their names along an axis, numbers are
in SI units.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from benches import values, wire, wired
from blocks import Model, quantity
from library import rotational, translational

ABOUT = {
    "Mass": "Inertia", "QuadraticSpeedDependentForce": "QuadraticSpeedDependentTorque",
    "ForceSource": "TorqueSource", "VelocitySource": "AngularVelocitySource",
    "PositionSource": "AngleSource", "AccelerationSource": "AngularAccelerationSource",
    "ForceSensor": "TorqueSensor", "TranslationalFriction": "RotationalFriction",
    "breakaway_force": "breakaway_torque", "coulomb_force": "coulomb_torque", "mass": "inertia",
    "force": "torque", "forces": "torques", "position": "angle", "nominal_force": "nominal_torque",
    "nominal_velocity": "nominal_speed", "velocities": "speeds",
    "f": "t", "v": "w", "x": "phi", "M": "I", "V": "W", "F": "T"}
MEASURE = {name: unit for unit, names in {
    "N": "force forces preload nominal_force breakaway_force coulomb_force f F",
    "kg": "mass inertance", "m": "position x deformations upper_bound lower_bound transition",
    "m/s": "velocity velocities nominal_velocity breakaway_velocity v V", "m/s^2": "acceleration",
    "N/m": "stiffness upper_stiffness lower_stiffness",
    "N*s/m": "damping damping_forward damping_backward upper_damping lower_damping coefficients "
             "viscous_coefficient", "J": "energy_stored", "W": "power_supplied power_dissipated P",
}.items() for name in names.split()}


@dataclass(frozen=True)
class Axis:
    """One of the two libraries: what its things are called, and their units."""

    package: ModuleType
    names: Mapping[str, str]
    units: Mapping[str, str]

    def __str__(self) -> str:
        return self.package.__name__.rpartition(".")[2]

    def called(self, name: str) -> str:
        return self.names.get(name, name)

    def kind(self, name: str) -> Any:
        """The class of a component; None where there is none."""
        found = vars(self.package).get(self.called(name))
        return found or vars(self.package).get(f"Rotational{name}")

    def unit(self, name: str) -> str:
        measure = MEASURE[name]
        return self.units.get(measure, measure)

    def __call__(self, component: str, **given: Any) -> Any:
        """A component; numbers and lists of them are in the units of their keywords."""
        bare = {name for name, value in given.items()
                if name in MEASURE and isinstance(value, (int, float, list))}  # fmt: skip
        return self.kind(component)(**{self.called(n): quantity(v, self.unit(n)) if n in bare else v
                                       for n, v in given.items()})

    def wired(self, name: str, /, *nets: str, **parts: Any) -> Model:
        """A model of parts, with a reference ``ground``, joined net by net."""
        model = wired(name, **parts, ground=self("Reference"))
        self.wire(model, *nets)
        return model

    def wire(self, model: Model, /, *nets: str, **parts: Any) -> None:
        """Add parts to a model and join its ports, by their names along an axis."""
        wire(model, *(re.sub(r"(?<=\.)\w+", lambda word: self.called(word[0]), net)
                      for net in nets), **parts)

    def read(self, run: Any, path: str, times: Any = None) -> Any:
        """Numbers of a variable, at all samples or at given seconds."""
        steps = path.split(".")
        return values(run, ".".join(map(self.called, steps)), self.unit(steps[-1]), times)

    def driven(self, part: Any, velocity: Any = None, *, source: Any = None) -> Model:
        """Source, part and ground in a loop: the velocity of the part is that of the source."""
        return self.wired("driven", "source.R part.R", "source.C part.C ground.V", part=part,
                          source=source or self("VelocitySource", velocity=velocity))

    def thrown(self, part: Any, *, mass: Any = 2, velocity: Any = 1, force: Any = 0) -> Model:
        """A body at R of a part whose C is on the ground, with a force on the body."""
        return self.wired("thrown", "body.M part.R push.R", "part.C push.C ground.V",
                          body=self("Mass", mass=mass, v=velocity), part=part,
                          push=self("ForceSource", force=force))


TRANSLATIONAL = Axis(translational, {}, {})
ROTATIONAL = Axis(rotational, ABOUT, {"N": "N*m", "m": "rad", "m/s": "rad/s", "m/s^2": "rad/s^2",
                                      "kg": "kg*m^2", "N/m": "N*m/rad", "N*s/m": "N*m*s/rad"})
