"""A district of N houses on one line of pipes, warmed by water: what does its size cost?

A pump drives the water through a boiler along the supply, each house takes its share through its
valve and gives heat off to its room, and the return leads back. All of it is compressible liquid:
six states a house. It starts cold and at rest.
"""

from __future__ import annotations

from blocks import Model, quantity
from library.thermal import TemperatureSource
from library.thermal_liquid import (
    FlowRateSource,
    LocalRestriction,
    Pipe,
    Reservoir,
    ThermalLiquidProperties,
)

__all__ = ["district"]


def district(n: int) -> Model:
    """N houses; simulate 100 s."""
    model = Model("district")
    model.water, model.expansion = ThermalLiquidProperties(liquid="water"), Reservoir()
    model.pump = FlowRateSource(mass_flow=quantity(0.1 * n, "kg/s"))
    model.boiler, model.fire = Pipe(length="10 m"), TemperatureSource(temperature="350 K")
    model.supply = Pipe(count=n, length="20 m", thermal_port=False)
    model.back = Pipe(count=n, length="20 m", thermal_port=False)
    model.valve = LocalRestriction(count=n, restriction_type="fixed", area="10 mm^2")
    model.house = Pipe(count=n, length="20 m", area="3 cm^2", hydraulic_diameter="20 mm")
    model.room = TemperatureSource(temperature="293 K")
    model.connect(model.water.A, model.expansion.A, model.pump.A)
    model.connect(model.pump.B, model.boiler.A)
    model.connect(model.fire.A, model.boiler.H)
    model.connect(model.boiler.B, model.supply[0].A)
    model.connect(model.supply[:-1].B, model.supply[1:].A)
    model.connect(model.supply.B, model.valve.A)
    model.connect(model.valve.B, model.house.A)
    model.connect(model.house.B, model.back.A)
    model.connect(model.back[1:].B, model.back[:-1].A)
    model.connect(model.back[0].B, model.expansion.A)
    model.connect(model.room.A, model.house.H)
    return model
