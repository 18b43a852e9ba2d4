"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Port

from ..fluids.chambers import Described
from ..media import media
from . import medium
from .domain import numbers_of, two_phase

__all__ = ["TwoPhaseFluidProperties"]


class TwoPhaseFluidProperties(Described):
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

    fluid = medium
    medium = Option("water", tuple(media("two_phases")), doc="which fluid")
    A = Port(two_phase, sets=True, doc="any port of the circuit")

    def equations(self) -> Iterator[Any]:
        yield from self.said(numbers_of(media("two_phases")[self.medium]))
