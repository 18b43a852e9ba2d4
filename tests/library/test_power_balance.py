"""What comes in goes out: every class of the library that converts, between random loads.

The classes are found, so a new one takes part by itself: those with two or more ports, that
declare no energy that they store, dissipate or supply. Powers are counted into the component at
all ports.
"""

from functools import cache
from importlib import import_module

import numpy as np
import pytest
from benches import declared

from blocks import Component, Input, Model, Parameter, Port, Variable, quantity
from library.signal import Constant

MODULES = tuple(import_module(f"library.{name}") for name in (
    "translational", "rotational", "mechanisms", "electrical", "magnetic", "electromechanical",
    "isothermal_liquid", "thermal"))
# of a source behind a resistance: its across variable at no flow, and its fall by one of flow
LOADS = {"translational": ("0.1 m/s", "0.1 m/s/N"), "rotational": ("1 rad/s", "0.3 rad/s/(N*m)"),
         "electrical": ("10 V", "2 ohm"), "magnetic": ("10 A", "1e5 1/H"),
         "isothermal_liquid": ("2 MPa", "1e8 Pa*s/kg"), "thermal": ("300 K", "1 K/W")}  # fmt: skip
ENERGIES = {"power_dissipated": 1, "power_supplied": -1}
NOT_ALONE = {"TwoPort", "PressedFriction", "OpAmp"}  # bases, and what needs feedback
POSITIVE = {"thermal", "isothermal_liquid"}  # levels that are not below zero


def ports_of(part):
    """Name and domain of the ports that are there."""
    return {name: one.domain for name, one in declared(part).items()
            if isinstance(one, Port) and one.exists(part)}


def classes(module):
    """Classes with two or more ports that store nothing, by name; of composites their parts are."""
    found = {}
    for name in module.__all__:
        cls = getattr(module, name)
        if isinstance(cls, type) and issubclass(cls, Component) and name not in NOT_ALONE:
            part = cls()
            if len(ports_of(part)) > 1 and not part.is_composite and not hasattr(
                    part, "energy_stored"):
                found[name] = cls
    return found


@cache
def load_of(domain):
    """A source behind a resistance, whose drop is equal to variables of what it stands beside."""
    across, through = (next(iter(kind)) for kind in (domain.across, domain.through))

    class Load(Component):
        """A source behind a resistance."""

        a, b = Port(domain), Port(domain)
        level, fall = (Parameter(value) for value in LOADS[domain.name])
        flow, drop = Variable(domain.through[through].text), Variable(domain.across[across].text)

        def equations(self):
            yield self.flow == getattr(self.a, through)
            yield self.flow + getattr(self.b, through) == 0
            yield self.drop == getattr(self.a, across) - getattr(self.b, across)
            yield self.drop == self.level + self.fall * self.flow

    return Load


@cache
def metered_load_of(domain):
    """A load that tells the power that it takes."""

    class MeteredLoad(load_of(domain)):
        """Power into its first port."""

        power = Variable("W")

        def equations(self):
            yield from super().equations()
            yield self.power == (domain.power(self.a) if domain.power else
                                 getattr(self.a, next(iter(domain.across))) * self.flow)

    return MeteredLoad


def add_ground(model, name, domain):
    """Add the reference of a domain to a model, and give its port."""
    ground = model.add(name, next(
        getattr(m, domain.reference) for m in MODULES if domain.reference in m.__all__)())
    return getattr(ground, next(iter(ports_of(ground))))


def put_between_loads(model, name, cls, chance):
    """Add a part to a model, with a random load at every port, and signals."""
    part = model.add(name, cls())
    for port, domain in ports_of(part).items():
        level, fall = map(quantity, LOADS[domain.name])
        level = level * chance.uniform(0.5 if domain.name in POSITIVE else -1, 1)
        load = model.add(f"{name}_{port}", metered_load_of(domain)(
            level=level, fall=fall * chance.uniform(0.5, 2)))
        model.connect(getattr(part, port), load.a)
        model.connect(load.b, add_ground(model, f"{name}_{port}_ground", domain))
    for port, one in declared(cls).items():
        if isinstance(one, Input) and one.default is None and one.exists(part):
            signal = model.add(f"{name}_{port}", Constant(value=quantity(0.5, one.unit.text)))
            model.connect(signal.y, getattr(part, port))
    return part


def missing_power(run, model, part):
    """What is missing of the power of a part, and what goes through its ports."""
    loads = [f"{part.path}_{port}" for port in ports_of(part)]
    into = -np.array([run[f"{load}.power"].magnitude for load in loads])
    lost = sum(sign * run[f"{part.path}.{name}"].magnitude for name, sign in ENERGIES.items()
               if f"{part.path}.{name}" in run)
    offered = [np.abs(run[f"{load}.flow"].magnitude).max() * abs(getattr(model, load).level.m)
               for load, domain in zip(loads, ports_of(part).values(), strict=True)
               if domain.power is None]  # of which little comes through near a dead point
    return np.abs(into.sum(axis=0) - lost).max(), max([np.abs(into).max(), *offered])


@pytest.mark.filterwarnings("ignore::blocks.NominalWarning")
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.split(".")[1])
def test_power_into_all_ports_is_what_a_part_dissipates_less_what_it_supplies(module):
    """Ideal converters keep all of it: v1 i1 + v2 i2 = 0, both counted into the part."""
    model, chance = Model("balance"), np.random.default_rng(4)
    parts = [put_between_loads(model, name, cls, chance) for name, cls in classes(module).items()]
    run = model.simulate("1 us", method="DOP853")
    for part in parts:
        lost, through = missing_power(run, model, part)
        loss = f"{part.path}.power_dissipated" in run  # its laws may be solved for, to 1e-10
        assert lost <= (1e-9 if loss else 1e-12) * through, part.path


def test_converters_take_part():
    found = {name for module in MODULES for name in classes(module)}
    assert {"IdealTransformer", "Gyrator", "ElectromagneticConverter", "Lever", "GearBox",
            "RackAndPinion", "WheelAndAxle", "Differential", "PlanetaryGear", "BeltDrive",
            "SliderCrank", "CamTransmission", "LeadScrew", "RotationalElectromechanicalConverter",
            "TranslationalElectromechanicalConverter", "FixedDisplacementPump",
            "FixedDisplacementMotor", "VariableDisplacementPump", "HBridge"} <= found
