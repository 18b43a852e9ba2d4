"""Ideal sensors: a voltmeter draws no current, an ammeter takes no voltage."""

from blocks import Component, Output, Port

from .. import symbols
from .domain import TwoPort, electrical


class VoltageSensor(TwoPort):
    """Voltage between p and n, parallel to what is measured.

    Equations: V = v_p - v_n; i = 0.
    """

    symbol = symbols.VOLTMETER

    V = Output("V", doc="voltage of p against n")

    def equations(self):
        yield self.i == 0
        yield self.V == self.v


class CurrentSensor(TwoPort):
    """Current from p to n, in series with what is measured.

    Equations: I = i; v = 0.
    """

    symbol = symbols.AMMETER

    I = Output("A", doc="current from p to n")

    def equations(self):
        yield self.v == 0
        yield self.I == self.i


class PowerSensor(Component):
    """Power of what is behind: its current from pc to nc times its voltage from pv to nv.

    Equations: P = (v_pv - v_nv) pc.i; v_pc = v_nc and pv.i = 0. With pc at the source, nc
    and pv at the load and nv at the load's return, P is what the load takes in.

    References
    ----------
    Modelica Standard Library, ``Electrical.Analog.Sensors.PowerSensor``.
    """

    pc = Port(electrical, doc="where the current comes in")
    nc = Port(electrical, doc="where the current goes on")
    pv = Port(electrical, doc="positive end of the voltage")
    nv = Port(electrical, doc="negative end of the voltage")
    P = Output("W", doc="power")

    def equations(self):
        yield self.pc.v == self.nc.v
        yield self.pc.i + self.nc.i == 0
        yield self.pv.i == 0
        yield self.nv.i == 0
        yield self.P == (self.pv.v - self.nv.v) * self.pc.i
