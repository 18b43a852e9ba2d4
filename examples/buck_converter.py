r"""A buck converter turns 24 V into less, with an ideal switch and an ideal diode.

              switch         coil
    +----o/ o-----+------^^^^^----+-------+
    |             |               |       |
  24 V          diode           store   load
    |             |               |       |
    +-------------+---------------+-------+

At 50 kHz the switch is closed for 40 % of a period. While it is open, the diode takes over the
current of the coil. Both are ideal: no parasitic resistances, no time constants of
nanoseconds, and the two change at exactly the same instant. Watch the ripple of the coil's
current at full load, and the diode block before the period ends at light load.
"""

from _show import show

from blocks import Model
from library.electrical import (
    Capacitor,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
    Switch,
)
from library.signal import Pulse


def buck(load):
    """The converter with a load."""
    model = Model("buck converter")
    model.source = DCVoltageSource(voltage="24 V")
    model.switch, model.diode = Switch(model="ideal"), Diode(model="ideal")
    model.coil, model.store = Inductor(inductance="100 uH"), Capacitor(capacitance="100 uF")
    model.load, model.ground = Resistor(resistance=load), ElectricalReference()
    model.drive = Pulse(period="20 us", width=0.4)

    model.connect(model.source.p, model.switch.p)
    model.connect(model.switch.n, model.diode.n, model.coil.p)
    model.connect(model.coil.n, model.store.p, model.load.p)
    model.connect(model.source.n, model.diode.p, model.store.n, model.load.n, model.ground.V)
    model.connect(model.drive.y, model.switch.vT)
    return model


model = buck("2 ohm")
print(model.check())
model.store.vc, model.coil.i_L = "9.6 V", "4.224 A"  # mean current less half the ripple
result = model.simulate("0.1 ms")

# By hand: 40 % of 24 V, and a ripple of (24 V - 9.6 V) x 8 us / 100 uH = 1.152 A.
mean = result["load.v"].mean().to("V")
late = result["coil.i"]["60 us":"100 us"]
ripple = (late.max() - late.min()).to("A")
print(f"Mean voltage {mean:.3f~P}, by hand 9.6 V; ripple of the current {ripple:.3f~P}, "
      "by hand 1.152 A")  # fmt: skip

light = buck("50 ohm")
light.store.vc = "15 V"
empty = light.simulate("0.1 ms")
blocked = [e for e in empty.events if e.component == "diode" and e.description == "opens"]
print(f"At light load the coil runs empty {len([e for e in blocked if e.time > 0])} times in five "
      f"periods, first at {blocked[-5].time * 1e6:.2f} us")  # fmt: skip

show(result.plot("coil.i", "diode.i", "load.v", units={"load.v": "V"}), "buck_converter")
