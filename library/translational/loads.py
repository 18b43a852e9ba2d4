"""Loads along one axis that depend on the velocity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Parameter, Variable, abs_

from .. import symbols
from .domain import TwoPort

__all__ = ["QuadraticSpeedDependentForce"]


class QuadraticSpeedDependentForce(TwoPort):
    """Resistance that grows with the square of the velocity: air or water drag.

    Equation: f = nominal_force (v / nominal_velocity) |v / nominal_velocity|. Dissipates
    f v >= 0: the energy of the flow behind it is neglected. A body in still air of density rho has
    nominal_force = rho/2 c_w A nominal_velocity^2.

    Parameters: nominal_force (N), nominal_velocity (m/s).
    Ports: R, C.

    References
    ----------
    Modelica Standard Library 4, Mechanics.Translational.Sources.QuadraticSpeedDependentForce, whose
    force counts in the direction of motion: f_nominal = -nominal_force.
    """

    symbol = symbols.DRAG

    nominal_force = Parameter("1 N", minimum=0, doc="Force at the nominal velocity")
    nominal_velocity = Parameter("1 m/s", above=0, doc="Nominal velocity")
    power_dissipated = Variable("W", doc="power given to the flow")

    def equations(self) -> Iterator[Any]:
        u = self.v / self.nominal_velocity
        yield self.f == self.nominal_force * u * abs_(u)
        yield self.power_dissipated == self.f * self.v
