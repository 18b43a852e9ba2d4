"""What volumes of moist air have in common: humidity, condensation, sources of moisture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Output, Parameter, Port, Variable, der, where

from ..fluids.chambers import FluidPart, sum_of
from ..fluids.flows import Within, filling
from ..gas import medium as gas
from . import medium
from .domain import moist_air, moist_air_source

__all__ = ["Humid"]


class Humid(FluidPart):
    """Base of what holds moist air, in which water condenses."""

    fluid = medium
    F = Port(moist_air, doc="what is inside, for sensors")
    S = Port(moist_air_source, doc="moisture or trace gas that is added; none where nothing is "
             "connected")  # fmt: skip
    saturation_humidity = Parameter(1.0, above=0, doc="Relative humidity from which water "
                                    "condenses")  # fmt: skip
    condensation_time = Parameter("1e-3 s", above=0, doc="Time constant of condensation")
    W = Output("kg/s", doc="water that condenses")
    RH_I = Variable("1", 0.5, priority="low", doc="relative humidity")
    x_w_I = Variable("1", 0.01, doc="specific humidity: vapour by mass")
    HR_I = Variable("1", 0.01, doc="humidity ratio: vapour over all else, by mass")
    x_g_I = Variable("1", 0.0, priority="low", nominal="0.001", doc="trace gas by mass")
    y_g_I = Variable("1", 0.0, nominal="0.001", doc="trace gas by moles")
    mass_w = Variable("kg", doc="mass of the vapour")
    mass_g = Variable("kg", doc="mass of the trace gas")
    condensate = Variable("kg", "0 kg", priority="high", doc="mass of water that has condensed")
    power_supplied = Variable("W", doc="energy given to the circuit: less what condensate takes")

    def within(self, port: Any) -> Any:
        return Within(port, x_w=self.x_w_I, x_g=port.traced * self.x_g_I)

    def filled(self, state: tuple[Any, Any, Any, Any], volume: Any, rate: Any, ports: list[Any],
               heat: Any) -> Iterator[Any]:
        p, T, rho, _ = state
        x, F, S, within = self.x_w_I, self.F, self.S, self.within(self.F)
        most, _ = medium.shares(within, "relative", self.saturation_humidity, "mass_fraction",
                                within.x_g, p, T)  # fmt: skip
        excess = where(x > most, x - most, 0, events=False)
        yield rho * volume * excess / self.condensation_time == self.W
        yield der(self.condensate) == self.W
        yield medium.humidity(within, "relative", p, T) == self.RH_I
        yield medium.humidity(within, "humidity_ratio", p, T) == self.HR_I
        yield medium.trace_fraction(Within(F, x_w=x, x_g=self.x_g_I), "mole_fraction") == self.y_g_I
        yield self.mass_w == rho * volume * x
        yield self.mass_g == rho * volume * within.x_g
        yield self.power_supplied == -self.W * medium.liquid_enthalpy(T)
        added = medium.Trace(F)
        for here, there in ((F.p, p), (F.T, T), (F.x_w, x), (F.x_g, within.x_g), (S.T, T),
                            (S.h_g, F.traced * gas.enthalpy(added, p, T)),
                            (S.c_g, F.traced * gas.heat_capacity(added, T))):  # fmt: skip
            yield here == there
        joined = [*ports, F]
        water, trace = S.mdot_w - self.W, F.traced * S.mdot_g
        yield from filling(
            state, volume, rate, sum_of(port.mdot for port in joined) + water + trace,
            sum_of(port.Phi for port in joined) + S.Phi + heat + self.power_supplied,
            [(x, sum_of(port.mdot_w for port in joined) + water),
             (self.x_g_I, sum_of(port.mdot_g for port in joined) + trace)])  # fmt: skip
