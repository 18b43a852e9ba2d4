"""How much does a long narrow gap let pass, by its shape?"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from blocks import Component, Option, Parameter, log, maximum, minimum, tanh

__all__ = ["SHAPES", "Gap"]

SHAPES = ("circular", "annular", "rectangular", "elliptical", "triangular", "custom")


class Gap(Component):
    """Base of gaps, in which the flow is laminar after Hagen and Poiseuille."""

    cross_section_geometry = Option("circular", SHAPES, doc="shape of the gap")
    diameter = Parameter("1 mm", above=0, when=lambda c: c.cross_section_geometry == "circular",
                         doc="Diameter of the circle")  # fmt: skip
    inner_diameter = Parameter("0.5 mm", above=0,
                               when=lambda c: c.cross_section_geometry == "annular",
                               doc="Inner diameter of the ring")  # fmt: skip
    outer_diameter = Parameter("1 mm", above=0,
                               when=lambda c: c.cross_section_geometry == "annular",
                               doc="Outer diameter of the ring")  # fmt: skip
    width = Parameter("1 mm", above=0, when=lambda c: c.cross_section_geometry == "rectangular",
                      doc="Width of the rectangle")  # fmt: skip
    height = Parameter("0.1 m", above=0, when=lambda c: c.cross_section_geometry == "rectangular",
                       doc="Height of the rectangle")  # fmt: skip
    major_axis = Parameter("1 mm", above=0, when=lambda c: c.cross_section_geometry == "elliptical",
                           doc="Longer axis of the ellipse")  # fmt: skip
    minor_axis = Parameter("0.5 mm", above=0,
                           when=lambda c: c.cross_section_geometry == "elliptical",
                           doc="Shorter axis of the ellipse")  # fmt: skip
    side = Parameter("1 mm", above=0, when=lambda c: c.cross_section_geometry == "triangular",
                     doc="Side of the triangle")  # fmt: skip
    length = Parameter("5 m", above=0, when=lambda c: c.cross_section_geometry != "custom",
                       doc="Length of the gap")  # fmt: skip
    resistance = Parameter("1e3 MPa*s/m^3", above=0,
                           when=lambda c: c.cross_section_geometry == "custom",
                           doc="Pressure per volume flow")  # fmt: skip

    def verify(self) -> Iterator[str]:
        if self.cross_section_geometry == "annular" and np.any(
                self.inner_diameter >= self.outer_diameter):
            yield (f"inner_diameter is {self.inner_diameter:~P}, not below outer_diameter, which "
                   f"is {self.outer_diameter:~P}.")  # fmt: skip

    def conductance(self) -> Any:
        """G: volume flow times dynamic viscosity, per pressure gradient (m⁴)."""
        shape = self.cross_section_geometry
        if shape == "circular":
            return pi * self.diameter**4 / 128
        if shape == "annular":
            ri, ro = self.inner_diameter / 2, self.outer_diameter / 2
            return pi / 8 * (ro**4 - ri**4 - (ro**2 - ri**2) ** 2 / log(ro / ri))
        if shape == "elliptical":
            a, b = self.major_axis / 2, self.minor_axis / 2
            return pi / 4 * a**3 * b**3 / (a**2 + b**2)
        if shape == "triangular":
            return 3**0.5 / 320 * self.side**4
        w, h = maximum(self.width, self.height), minimum(self.width, self.height)
        return w * h**3 / 12 * (1 - 192 * h / (pi**5 * w) * _fifth_powers(w / h))


def _fifth_powers(slenderness: Any) -> Any:
    """Sum of tanh(k pi w/(2 h))/k⁵ over odd k; twelve terms leave 1e-8."""
    return sum((tanh(k * pi / 2 * slenderness) / k**5 for k in range(3, 25, 2)),
               tanh(pi / 2 * slenderness))  # fmt: skip
