"""Small circuits for tests of magnetic components."""

from math import pi

from benches import wired
from library.electrical import ControlledVoltageSource, ElectricalReference, Resistor
from library.magnetic import ElectromagneticConverter, MagneticReference, MMFSource

TIGHT = {"rtol": 1e-11, "method": "DOP853"}
MU0 = 4e-7 * pi


def saturating(density):
    """The library's default relative permeability of iron at a flux density in T."""
    ratio = abs(density) / 1.16
    return 1 + (1210 - 1 + 24630 * ratio) / (1 + 2.44 * ratio + ratio**14)


def across(part, source=None, **options):
    """A part between the ends of a source of magnetic potential, S on the reference."""
    return wired("across", "source.N part.N", "source.S part.S zero.M",
                 source=source or MMFSource(**options), part=part, zero=MagneticReference())


def wound(part, *, voltage="10 V", turns=100, resistance="2 ohm", current="0 A"):
    """A part as the core of a coil, which a voltage feeds through a resistor."""
    return wired(
        "wound", "source.p resistor.p", "resistor.n coil.p", "source.n coil.n earth.V",
        "coil.N part.N", "coil.S part.S zero.M", source=ControlledVoltageSource(voltage=voltage),
        resistor=Resistor(resistance=resistance), earth=ElectricalReference(),
        coil=ElectromagneticConverter(turns=turns, i=current), part=part, zero=MagneticReference())
