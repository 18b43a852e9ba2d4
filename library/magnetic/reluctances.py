"""Reluctances: of a number, of a shape, and of iron that saturates."""

from __future__ import annotations

from typing import Any

import numpy as np

from blocks import (
    Input,
    Option,
    Parameter,
    Variable,
    integral_of_table,
    interpolate,
    maximum,
    minimum,
    quantity,
    sqrt,
)

from .. import symbols
from ..tables import table_faults
from .domain import VACUUM, TwoPort

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
FAR = 100  # times the density of largest permeability: the relative permeability is 1 there
ROUNDED = quantity("1e-12 T")  # H is smooth at B = 0: no event belongs there, as |B| would make one
PANELS = 4  # of the integral of H dB: exact to 1e-9 up to three times the density of saturation


class FundamentalReluctance(TwoPort):
    """A reluctance given as a number, or as a table of potential over flux.

    Equations: mmf = reluctance phi, or, with ``law="table"``, mmf interpolated linearly in a
    table over phi, which its end segments continue: saturation as measured. Stores the
    integral of mmf dphi.
    """

    symbol = symbols.RESISTOR

    law = Option("linear", ("linear", "table"), doc="how the potential follows from the flux")
    reluctance = Parameter("8e4 1/H", above=0, when=lambda c: c.law == "linear", doc="Reluctance",
                           advice={"H": "A permeance is 1/reluctance: 1/quantity('…')."})
    fluxes = Parameter(["-1 Wb", "1 Wb"], when=lambda c: c.law == "table",
                       doc="Fluxes of the table, increasing")  # fmt: skip
    magnetomotive_forces = Parameter(["-8e4 A", "8e4 A"], when=lambda c: c.law == "table",
                                     doc="Potentials of the table")  # fmt: skip
    energy_stored = Variable("J", doc="energy of the field")

    def verify(self):
        if self.law == "table":
            yield from table_faults(("fluxes", self.fluxes),
                                    magnetomotive_forces=self.magnetomotive_forces)

    def advise(self):
        if self.law == "table":
            yield from _falling("magnetomotive_forces", self.magnetomotive_forces)

    def equations(self):
        if self.law == "table":
            yield self.mmf == interpolate(self.phi, self.fluxes, self.magnetomotive_forces)
            yield self.energy_stored == integral_of_table(
                self.phi, self.fluxes, self.magnetomotive_forces)  # fmt: skip
        else:
            yield self.mmf == self.reluctance * self.phi
            yield self.energy_stored == self.reluctance * self.phi**2 / 2


def _is(*materials):
    return lambda core: core.material in materials


class Reluctance(TwoPort):
    """A straight piece of air or iron: a gap, a yoke, a core.

    Equations: phi = area B; mmf = length H, and

    * ``material="linear"`` (default): B = relative_permeability µ0 H;
    * ``material="table"``: H interpolated linearly in a table over B, which its end segments
      continue; give both signs;
    * ``material="saturating"``: B = mu_r µ0 H with b = |B|/peak_flux_density and
      mu_r = 1 + (initial_permeability - 1 + coefficient_a b)/(1 + coefficient_b b + b^exponent):
      it rises to its peak near b = 1 and falls to 1 in saturation.

    No hysteresis; losses belong to ``EddyCurrent``. Stores length area times the integral of
    H dB.

    The preset law of saturation is that of the sheet M350-50A.

    References
    ----------
    Modelica Standard Library, ``Magnetic.FluxTubes.Material.SoftMagnetic``, with the data of
    M350-50A (1210, 1.16 T, 24630, 2.44, 14) and of the steel 9SMnPb28 (400, 1.488 T, 1200, 3,
    12.5).
    """

    symbol = symbols.RESISTOR

    material = Option("linear", ("linear", "table", "saturating"), doc="how B depends on H")
    length = Parameter("1 mm", above=0, doc="Length along the flux")
    area = Parameter("0.01 m^2", above=0, doc="Section across the flux")
    relative_permeability = Parameter(1, above=0, when=_is("linear"), doc="Relative permeability")
    flux_densities = Parameter(["-1 T", "1 T"], when=_is("table"),
                               doc="Flux densities of the table, increasing")  # fmt: skip
    field_strengths = Parameter(["-200 A/m", "200 A/m"], when=_is("table"),
                                doc="Field strengths of the table")  # fmt: skip
    initial_permeability = Parameter(1210, minimum=1, when=_is("saturating"),
                                     doc="Relative permeability at B = 0")  # fmt: skip
    peak_flux_density = Parameter("1.16 T", above=0, when=_is("saturating"),
                                  doc="Flux density of the largest permeability")  # fmt: skip
    coefficient_a = Parameter(24630, minimum=0, when=_is("saturating"), doc="c_a of the law")
    coefficient_b = Parameter(2.44, minimum=0, when=_is("saturating"), doc="c_b of the law")
    exponent = Parameter(14, above=1, when=_is("saturating"), doc="n of the law")
    B = Variable("T", doc="flux density, from N to S")
    H = Variable("A/m", doc="field strength, from N to S")
    mu_r = Variable("1", when=_is("saturating"), doc="relative permeability at this B")
    energy_stored = Variable("J", doc="energy of the field")

    def verify(self):
        if self.material == "table":
            yield from table_faults(("flux_densities", self.flux_densities),
                                    field_strengths=self.field_strengths)

    def advise(self):
        if self.material == "table":
            yield from _falling("field_strengths", self.field_strengths)
            if self.flux_densities.m.min() >= 0:
                yield ("flux_densities has no negative value, so the end segment is continued to "
                       "negative fluxes: give the table for both signs.")

    def equations(self):
        yield self.phi == self.area * self.B
        yield self.mmf == self.length * self.H
        volume = self.length * self.area
        if self.material == "table":
            yield self.H == interpolate(self.B, self.flux_densities, self.field_strengths)
            yield self.energy_stored == volume * integral_of_table(
                self.B, self.flux_densities, self.field_strengths)  # fmt: skip
        elif self.material == "saturating":
            yield self.mu_r == self._permeability(self.B)
            yield self.H == self.B / (VACUUM * self._permeability(self.B))
            yield self.energy_stored == volume * self._density()
        else:
            permeability = VACUUM * self.relative_permeability
            yield self.B == permeability * self.H
            yield self.energy_stored == volume * self.B**2 / (2 * permeability)

    def _permeability(self, density):
        b = sqrt(density**2 + ROUNDED**2) / self.peak_flux_density
        b = minimum(b, FAR)  # its powers stay finite
        return 1 + (self.initial_permeability - 1 + self.coefficient_a * b) / (
            1 + self.coefficient_b * b + b**self.exponent)

    def _density(self):
        """The integral of H dB, by Gauss's formula on panels from 0 to B."""
        found: Any = 0
        for panel in range(PANELS):
            for node, weight in zip(NODES, WEIGHTS, strict=True):
                part = (panel + (1 + node) / 2) / PANELS
                found = found + weight / (2 * PANELS) * part / self._permeability(part * self.B)
        return found * self.B**2 / VACUUM


class VariableReluctance(TwoPort):
    """A gap whose length is a signal.

    Equation: mmf = gap/(µ0 relative_permeability area) phi with gap = max(X, least_gap). A
    gap that closes gives energy to whoever closes it, which the signal does not show: what
    goes in and out at N and S counts as supplied. For the force take
    ``ReluctanceForceActuator``.
    """

    symbol = symbols.RESISTOR
    supplies = True

    least_gap = Parameter("0 m", minimum=0, doc="Least length of the gap")
    area = Parameter("0.01 m^2", above=0, doc="Section across the flux")
    relative_permeability = Parameter(1, above=0, doc="Relative permeability in the gap")
    X = Input("m", doc="length of the gap")

    def equations(self):
        gap = maximum(self.X, self.least_gap)
        yield self.mmf * (VACUUM * self.relative_permeability * self.area) == gap * self.phi


def _falling(name, values):
    """A word about a table of potentials that does not rise."""
    if np.any(np.diff(values.magnitude) <= 0):
        yield (f"{name} does not rise everywhere: the element gives energy there, and several "
               "fluxes belong to one potential.")
