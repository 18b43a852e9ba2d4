"""Where does the heat of a component go, and what does a source give?

Whatever dissipates may show a thermal port, unless it heats the air: its heat leaves there, and its
parameters may follow the temperature found there.
"""

from blocks import Component, Option, Parameter, Port, Variable, declarations, der

from .thermal.domain import ABSOLUTE, thermal

__all__ = ["Dissipative", "Resisting", "Struck", "Supplying"]


class Dissipative(Component):
    """Base of components that lose power as heat; stand it before the others.

    A subclass states one equation more, for ``power_dissipated``. With ``thermal_port=True``
    an instance has the port H, through which that power leaves: H.Q == -power_dissipated,
    and ``temperature``, that of H. Any parameter may be a function of it::

        Damper(thermal_port=True,
               damping=lambda temperature: quantity("100 N*s/m") * exp(
                   (quantity("300 K") - temperature) / quantity("40 K")))

    Without the port the heat goes to surroundings that are not shown. Left open, the port is
    an error of ``check()``: the heat has nowhere to go.

    Examples
    --------
    >>> from library.translational import TwoPort
    >>> class Viscous(Dissipative, TwoPort):
    ...     def equations(self):
    ...         yield self.f == self.v * quantity("3 N*s/m")
    ...         yield self.power_dissipated == self.f * self.v
    >>> heated = Viscous(thermal_port=True)
    """

    thermal_port = Option(False, doc="whether the heat leaves at a port H, where it is felt")
    H = Port(thermal, when="thermal_port", carries="power_dissipated", doc="where the heat leaves")
    temperature = Variable(ABSOLUTE, nominal="300 K", when="thermal_port", doc="temperature at H")
    power_dissipated = Variable("W", doc="heat")

    def port_equations(self):
        yield from super().port_equations()
        if self.thermal_port:
            yield self.temperature == self.H.T


def _power_into(c):
    """Power into a two-port: what it carries times what lies across it."""
    domain = next(d.domain for d in declarations(c).values()
                  if isinstance(d, Port) and d.domain is not thermal)
    (across,), (through,) = domain.across, domain.through
    return getattr(c, through) * getattr(c, across)


class Resisting(Dissipative):
    """Base of two-ports that store nothing: all power into them is heat, as of a damper."""

    def port_equations(self):
        yield from super().port_equations()
        yield self.power_dissipated == _power_into(self)


class Supplying(Component):
    """Base of two-ports that are sources; stand it before the base of the domain."""

    power_supplied = Variable("W", doc="power given to the circuit")

    def port_equations(self):
        yield from super().port_equations()
        yield self.power_supplied == -_power_into(self)


class Struck(Dissipative):
    """Base of rigid stops, which lose energy in impacts: at once, which no heat flow can.

    With the port H the energy of an impact becomes ``impact_heat``, which then leaves within
    some ``release_time``s, as from a small hot spot. A subclass says whether its options make
    it rigid, and yields ``heat_of_impacts`` of the power into it.
    """

    release_time = Parameter("1 ms", above=0, when=lambda c: c.keeps_heat,
                             doc="Time constant with which the heat of impacts leaves")  # fmt: skip
    impact_heat = Variable("J", "0 J", priority="high", when=lambda c: c.keeps_heat,
                           doc="heat of impacts that has not left yet")  # fmt: skip

    @property
    def rigid(self):
        """Whether it is struck, and not pressed in."""
        raise NotImplementedError

    @property
    def keeps_heat(self):
        """Whether the heat of impacts is followed."""
        return bool(self.thermal_port) and self.rigid

    def heat_of_impacts(self, power):
        """The balance of a rigid stop: the power into it is 0 but in impacts.

        Those of a method with fixed steps are forces over a step.
        """
        if not self.keeps_heat:
            yield self.energy_stored == 0
            yield self.power_dissipated == power
            return
        yield der(self.impact_heat) == power - self.power_dissipated
        yield self.power_dissipated == self.impact_heat / self.release_time
        yield self.energy_stored == self.impact_heat
