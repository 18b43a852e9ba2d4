"""What volumes of moist air have in common: humidity, condensation, sources of moisture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Output, Parameter, Port, Variable, der, where

from ..fluids.chambers import FluidPart, sum_of
from ..fluids.flows import Within, filling
from . import medium
from .domain import moist_air, moist_air_source

__all__ = ["Humid"]


class Humid(FluidPart):
    """Base of what holds moist air, in which water condenses."""

    fluid = medium
    F = Port(moist_air, doc="what is inside, for sensors")
    S = Port(moist_air_source, doc="moisture that is added; none where nothing is connected")
    saturation_humidity = Parameter(1.0, above=0, doc="Relative humidity from which water "
                                    "condenses")  # fmt: skip
    condensation_time = Parameter("1e-3 s", above=0, doc="Time constant of condensation")
    W = Output("kg/s", doc="water that condenses")
    RH_I = Variable("1", 0.5, priority="low", doc="relative humidity")
    x_w_I = Variable("1", 0.01, doc="specific humidity: vapour by mass")
    HR_I = Variable("1", 0.01, doc="humidity ratio: vapour over dry air, by mass")
    mass_w = Variable("kg", doc="mass of the vapour")
    condensate = Variable("kg", "0 kg", priority="high", doc="mass of water that has condensed")
    power_supplied = Variable("W", doc="energy given to the circuit: less what condensate takes")

    def within(self, port: Any) -> Any:
        return Within(port, x_w=self.x_w_I)

    def filled(self, state: tuple[Any, Any, Any, Any], volume: Any, rate: Any, ports: list[Any],
               heat: Any) -> Iterator[Any]:
        p, T, rho, _ = state
        x, F, S, within = self.x_w_I, self.F, self.S, self.within(self.F)
        most = medium.share(within, "relative", self.saturation_humidity, p, T)
        excess = where(x > most, x - most, 0, events=False)
        yield rho * volume * excess / self.condensation_time == self.W
        yield der(self.condensate) == self.W
        yield medium.humidity(within, "relative", p, T) == self.RH_I
        yield medium.humidity(within, "humidity_ratio", p, T) == self.HR_I
        yield self.mass_w == rho * volume * x
        yield self.power_supplied == -self.W * medium.liquid_enthalpy(T)
        for here, there in ((F.p, p), (F.T, T), (F.x_w, x), (S.T, T)):
            yield here == there
        joined = [*ports, F]
        water = S.mdot_w - self.W
        yield from filling(
            state, volume, rate, sum_of(port.mdot for port in joined) + water,
            sum_of(port.Phi for port in joined) + S.Phi + heat + self.power_supplied,
            [(x, sum_of(port.mdot_w for port in joined) + water)])  # fmt: skip
