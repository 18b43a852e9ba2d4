"""Small circuits for tests of magnetic components."""

from math import pi

from blocks import Model
from library.electrical import ControlledVoltageSource, ElectricalReference, Resistor
from library.magnetic import ElectromagneticConverter, MagneticReference, MMFSource

TIGHT = {"rtol": 1e-11, "method": "DOP853"}
MU0 = 4e-7 * pi


def across(part, source=None, **options):
    """A part between the ends of a source of magnetic potential, S on the reference."""
    model = Model("across")
    model.source = source or MMFSource(**options)
    model.part, model.zero = part, MagneticReference()
    model.connect(model.source.N, model.part.N)
    model.connect(model.source.S, model.part.S, model.zero.M)
    return model


def wound(part, *, voltage="10 V", turns=100, resistance="2 ohm", current="0 A"):
    """A part as the core of a coil, which a voltage feeds through a resistor."""
    model = Model("wound")
    model.source = ControlledVoltageSource(voltage=voltage)
    model.resistor, model.earth = Resistor(resistance=resistance), ElectricalReference()
    model.coil = ElectromagneticConverter(turns=turns, i=current)
    model.part, model.zero = part, MagneticReference()
    model.connect(model.source.p, model.resistor.p)
    model.connect(model.resistor.n, model.coil.p)
    model.connect(model.source.n, model.coil.n, model.earth.V)
    model.connect(model.coil.N, model.part.N)
    model.connect(model.coil.S, model.part.S, model.zero.M)
    return model
