"""Pipes, gaps and resistances: pressure lost where liquid flows."""

from blocks import Option, Parameter, Port, Variable, abs_, der, sqrt

from .. import symbols
from ..fluids.gaps import Gap
from ..fluids.pipes import Friction
from ..heat import Dissipative
from .domain import TwoPort, isothermal_liquid
from .elements import ATMOSPHERE, above_vacuum
from .liquid import density, elastic_energy, enthalpy, filling, heat_lost, mean_density


class FlowResistance(Dissipative, TwoPort):
    """A resistance known at one flow: pressure grows with its square.

    Equation: p = K mdot sqrt(mdot² + m_lam²) with K = pressure_drop/mass_flow² and
    m_lam = laminar_fraction mass_flow, below which the flow is laminar.
    Dissipates mdot (h_A - h_B) >= 0. Defaults are not verified.
    """

    symbol = symbols.RESTRICTION

    pressure_drop = Parameter("0.001 MPa", above=0, doc="Pressure lost at the nominal flow")
    mass_flow = Parameter("0.1 kg/s", above=0, doc="Nominal mass flow")
    laminar_fraction = Parameter(0.01, above=0, doc="Laminar flow, of the nominal one")

    def equations(self):
        share = self.mdot / self.mass_flow
        yield self.p == self.pressure_drop * share * sqrt(share**2 + self.laminar_fraction**2)
        yield self.power_dissipated == heat_lost(self.A, self.B)


class LaminarLeakage(Gap, Dissipative, TwoPort):
    """A long narrow gap, in which the flow is laminar.

    Equation: mdot = rho p/R with the mean density of the ends; R = mu length/G after Hagen
    and Poiseuille, mu = rho viscosity, and the geometry

    * ``"circular"``: G = pi d⁴/128
    * ``"annular"``: G = pi/8 (r_o⁴ - r_i⁴ - (r_o² - r_i²)²/ln(r_o/r_i))
    * ``"rectangular"``: G = w h³/12 (1 - 192 h/(pi⁵ w) sum of tanh(k pi w/(2 h))/k⁵, k odd),
      h the smaller side
    * ``"elliptical"``: G = pi a³ b³/(4 (a² + b²)) with the half axes a, b
    * ``"triangular"``, equilateral: G = sqrt(3) side⁴/320
    * ``"custom"``: R is the parameter ``resistance``.

    Dissipates mdot (h_A - h_B) >= 0. Neglects the entry of the gap.

    References
    ----------
    F. M. White, "Viscous Fluid Flow", 3rd ed., McGraw-Hill 2006, section 3-3.
    """

    symbol = symbols.RESTRICTION

    def equations(self):
        if self.cross_section_geometry == "custom":
            yield self.mdot == mean_density(self.A, self.B) * self.p / self.resistance
        else:
            yield self.mdot == self.conductance() * self.p / (self.A.viscosity * self.length)
        yield self.power_dissipated == heat_lost(self.A, self.B)


class Pipe(Dissipative, Friction):
    """A pipe: friction at its wall, compressible liquid and, if wanted, its inertia.

    Equations: the loss along the whole pipe is Darcy's and Weisbach's
    f (length + extra_length)/D m |m|/(2 rho area²), with the hydraulic diameter D and
    Re = |m| D/(area rho viscosity): f = shape_factor/Re below ``laminar_limit``, Haaland's
    1/sqrt(f) = -1.8 log10(6.9/Re + (roughness/(3.7 D))^1.11) above ``turbulent_limit``,
    and between the two a smooth blend of both losses.

    The liquid in the middle, at p_I, is compressible: d(rho area length)/dt = mdot_A + mdot_B,
    with half the loss on each side. With ``dynamic_compressibility=False`` as much flows out
    as in. With ``inertia=True`` the flow has to be accelerated:
    rho_0 (h_A - h_I) = loss/2 + length/(2 area) d(mdot_A)/dt, and likewise at B; h is the
    integral of dp/rho and rho_0 the density at atmospheric pressure, so that for a stiff
    liquid the left side is p_A - p_I; a flow that is stopped pulls, and the run stops where a
    pressure falls below the liquid's minimum. p is p_A - p_B, mdot the mean flow from A to B.

    Dissipates mdot_A (h_A - h_I) and the same at B, stores elastic and kinetic energy. One
    pipe knows one pressure inside; several in series are a longer one, with waves. The default of
    hydraulic_diameter is not verified.

    References
    ----------
    S. E. Haaland, "Simple and Explicit Formulas for the Friction Factor in Turbulent Pipe
    Flow", J. Fluids Eng. 105 (1983) 89-90.
    """

    dynamic_compressibility = Option(True, doc="whether the liquid in it is compressible")
    inertia = Option(False, doc="whether the flow has to be accelerated")
    A = Port(isothermal_liquid, doc="one end")
    B = Port(isothermal_liquid, doc="other end")
    p = Variable("MPa", nominal="1 MPa", doc="pressure of A minus that of B")
    mdot = Variable("kg/s", nominal="0.1 kg/s", doc="mean mass flow from A to B")
    p_I = Variable("MPa", ATMOSPHERE, priority="high", nominal="1 MPa", minimum="0 MPa",
                   when="dynamic_compressibility",
                   doc="absolute pressure in the middle")  # fmt: skip
    flow_A = Variable("kg/s", "0 kg/s", priority="high", nominal="0.1 kg/s", when="inertia",
                      doc="mass flow into A")  # fmt: skip
    flow_B = Variable("kg/s", "0 kg/s", priority="high", nominal="0.1 kg/s",
                      when=lambda c: c.inertia and c.dynamic_compressibility,
                      doc="mass flow out of B")  # fmt: skip
    energy_stored = Variable("J", doc="elastic and kinetic energy")

    def equations(self):
        A, B = self.A, self.B
        yield self.p == A.p - B.p
        yield self.mdot == (A.mdot - B.mdot) / 2
        if self.inertia:
            yield above_vacuum(A, A.p)
            yield above_vacuum(B, B.p)
        if not self.dynamic_compressibility:
            yield A.mdot + B.mdot == 0
            if self.inertia:
                yield self.flow_A == A.mdot
                yield from self.accelerated([(A.p, B.p, self.flow_A, 1.0)], 0)
                return
            loss = self.loss(A.mdot, mean_density(A, B))
            yield A.p - B.p == loss
            yield self.energy_stored == 0
            yield self.power_dissipated == heat_lost(A, B)
            return
        inside, volume = density(A, self.p_I), self.area * self.length
        yield filling(A, self.p_I, volume, 0, A.mdot + B.mdot)
        yield above_vacuum(A, self.p_I, "in the middle")
        elastic = volume * elastic_energy(A, self.p_I)
        if self.inertia:
            yield self.flow_A == A.mdot
            yield self.flow_B == -B.mdot
            yield from self.accelerated([(A.p, self.p_I, self.flow_A, 0.5),
                                         (self.p_I, B.p, self.flow_B, 0.5)], elastic)  # fmt: skip
            return
        yield A.p - self.p_I == self.loss(A.mdot, inside) / 2
        yield B.p - self.p_I == self.loss(B.mdot, inside) / 2
        yield self.energy_stored == elastic
        lost = [port.mdot * (enthalpy(port, port.p) - enthalpy(A, self.p_I)) for port in (A, B)]
        yield self.power_dissipated == lost[0] + lost[1]

    def accelerated(self, pieces, elastic):
        """Momentum and energy of pieces (pressure before, behind, flow, share of the pipe)."""
        A = self.A
        kinetic, heat = [], []
        for before, behind, flow, share in pieces:
            mean = (density(A, before) + density(A, behind)) / 2
            loss = share * self.loss(flow, mean)
            inertance = share * self.length / self.area
            yield A.density * (enthalpy(A, before) - enthalpy(A, behind)) == (
                loss + inertance * der(flow))  # fmt: skip
            kinetic.append(inertance * flow**2 / (2 * A.density))
            heat.append(flow * loss / A.density)
        yield self.energy_stored == sum(kinetic) + elastic
        yield self.power_dissipated == sum(heat)

    def loss(self, flow, rho):
        """Pressure that a mass flow loses along the whole pipe."""
        return self.lost(flow, abs_(flow), rho, rho * self.A.viscosity)
