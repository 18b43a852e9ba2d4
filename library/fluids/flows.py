"""What does a flow carry through a port, and how do pressure and temperature of a volume change?

``fluid`` stands for the module of a fluid: its ``density``, ``enthalpy``, ``rest_flow`` and so on
take a port of the circuit and, where they depend on it, the pressure and what ``state`` says:
temperature or specific internal energy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from blocks import der, partial, sqrt, where

__all__ = ["Within", "carried", "closed", "each_way", "filling", "mixed", "passed", "species",
           "upstream"]  # fmt: skip


class Within:
    """A port of a component, with what else is mixed into the fluid inside, not at the port."""

    def __init__(self, port: Any, **shares: Any) -> None:
        self._port = port
        self.__dict__.update(shares)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


def species(fluid: Any) -> tuple[tuple[str, str], ...]:
    """What is mixed into a fluid: names of the flow at a port, and of the share by mass."""
    found: tuple[tuple[str, str], ...] = getattr(fluid, "SPECIES", ())
    return found


def upstream(fluid: Any, A: Any, B: Any, forth: Any) -> Any:
    """What ``fluid`` is asked about for what comes from A, or from B where not ``forth``."""
    shares = {share: where(forth, getattr(A, share), getattr(B, share), events=False)
              for _, share in species(fluid)}  # fmt: skip
    return Within(A, **shares) if shares else A


def closed(fluid: Any, port: Any) -> Iterator[Any]:
    """Equations of a port through which nothing flows."""
    for name in ("mdot", "Phi", *(flow for flow, _ in species(fluid))):
        yield getattr(port, name) == 0


def each_way(flow: Any, rest: Any) -> tuple[Any, Any]:
    """A flow as the difference a - b of two that are positive, one of them small."""
    whole = sqrt(flow**2 + rest**2)
    return (whole + flow) / 2, (whole - flow) / 2


def carried(fluid: Any, port: Any, area: Any, inside: Any, within: Any) -> Iterator[Any]:
    """Equations of what flows into a component, which holds fluid of this enthalpy and mixture."""
    a, b = each_way(port.mdot, fluid.rest_flow(port, area))
    yield port.Phi == a * fluid.enthalpy(port, port.p, fluid.state(port)) - b * inside
    for flow, share in species(fluid):
        yield getattr(port, flow) == a * getattr(port, share) - b * getattr(within, share)


def passed(fluid: Any, A: Any, B: Any, flow: Any, area: Any, work: Any = None) -> Iterator[Any]:
    """Equations of what passes from A to B, a component that stores nothing.

    ``work`` (J/kg) is what it does on the fluid from A to B, and gets back the other way. What is
    within has the enthalpy that balances both sides: mixed from them, by what flows each way.
    """
    rest = fluid.rest_flow(A, area)
    a, b = each_way(flow, rest)
    at_A, at_B = (fluid.enthalpy(port, port.p, fluid.state(port)) for port in (A, B))
    passing = (a**2 * at_A - b**2 * at_B) / (a + b)
    gained = 0 if work is None else work * b**2 / (a + b)
    lifted = 0 if work is None else work * a**2 / (a + b)
    yield A.Phi == passing + gained
    yield B.Phi == -passing - lifted
    for flow, share in species(fluid):
        passing = (a**2 * getattr(A, share) - b**2 * getattr(B, share)) / (a + b)
        yield getattr(A, flow) == passing
        yield getattr(B, flow) == -passing


def mixed(fluid: Any, A: Any, B: Any, flow: Any, area: Any, at_A: Any, at_B: Any) -> Any:
    """The value of the side from which a flow from A to B comes, their mean at rest."""
    a, b = each_way(flow, fluid.rest_flow(A, area))
    return (a * at_A + b * at_B) / (a + b)


def filling(state: tuple[Any, Any, Any, Any], volume: Any, rate: Any, mass: Any, energy: Any,
            mixture: Iterable[tuple[Any, Any]] = ()) -> Iterator[Any]:
    """Balances of mass and energy of a volume that grows at a rate, for its state p, T, rho, h.

    d(rho V)/dt = mass flow and d(rho u V)/dt = energy flow, work at the wall included, solved for
    the derivatives of p and T, so that no loop is left. ``mixture`` has share and flow of what is
    mixed in: d(rho x V)/dt = its flow.
    """
    p, T, rho, h = state
    u = h - p / rho
    growth = (mass - rho * rate) / volume
    heating = (energy - u * mass) / (rho * volume)
    for x, flow in mixture:
        rising = (flow - x * mass) / (rho * volume)
        yield der(x) == rising
        growth -= partial(rho, x) * rising
        heating -= partial(u, x) * rising
    rho_p, rho_T, u_p, u_T = (partial(value, by) for value in (rho, u) for by in (p, T))
    whole = rho_p * u_T - rho_T * u_p
    yield der(p) == (u_T * growth - rho_T * heating) / whole
    yield der(T) == (rho_p * heating - u_p * growth) / whole
