"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Component, Option, Parameter, Port, quantity

from ..media import media
from .domain import numbers_of, two_phase

__all__ = ["TwoPhaseFluidProperties"]


class TwoPhaseFluidProperties(Component):
    """The fluid of the circuit that it is connected to.

    ``medium`` is one of

    * ``"water"``: 0.7 kPa to 9.93 MPa, 275.1 K to 900 K;
    * ``"R134a"``: 20 kPa to 3.45 MPa, up to 450 K;
    * ``"R1234yf"``: 20 kPa to 2.88 MPa, up to 405 K;
    * ``"R744"`` (carbon dioxide): 0.6 MPa to 6.64 MPa, up to 450 K, below its critical point.

    They are polynomials fitted with CoolProp (``library.media``): volumes and temperatures are
    right to 8e-4, energies of saturation to 3e-5 of the heat of boiling, viscosities to 3 %,
    conductivities to 3 %, near R744's critical point 8 %. Where a state leaves the range the run
    stops. A circuit without this component holds water.

    Ports: A, anywhere in the circuit; nothing flows through it.

    Examples
    --------
    >>> refrigerant = TwoPhaseFluidProperties(medium="R134a")
    """

    medium = Option("water", tuple(media("two_phases")), doc="which fluid")
    A = Port(two_phase, sets=True, doc="any port of the circuit")
    atmospheric_pressure = Parameter("0.101325 MPa", above=0, doc="Absolute pressure outside")

    def equations(self) -> Iterator[Any]:
        A = self.A
        yield A.mdot == 0
        yield A.Phi == 0
        for name, value in numbers_of(media("two_phases")[self.medium]).items():
            if name != "atmospheric_pressure":
                yield getattr(A, name) == quantity(value)
        yield A.atmospheric_pressure == self.atmospheric_pressure
