"""Which variables meet at a port for liquid, and what every two-port shares."""

from blocks import Branch, Domain, Variable

from .liquid import enthalpy

isothermal_liquid = Domain(
    "isothermal_liquid",
    across={"p": "MPa"},
    through={"mdot": "kg/s"},
    parameters={
        "density": "998.21 kg/m^3",
        "bulk_modulus": "2.1791e9 Pa",
        "bulk_modulus_gain": "0",
        "viscosity": "1.0034e-6 m^2/s",
        "atmospheric_pressure": "0.101325 MPa",
        "minimum_pressure": "1 Pa",
        "air_fraction": "0",
        "polytropic_index": "1",
        "air_density": "1.225 kg/m^3",
        "air_dissolution": "0",
        "critical_pressure": "3 MPa",
    },
    typical={"p": "0.101325 MPa"},
    assumed="holds water, since no IsothermalLiquidProperties says otherwise. Connect one to any "
    "of its ports for another liquid, or to say that water is meant.",
    reference="Reservoir",
    alone="no liquid comes in or leaves",
    storage="a chamber of compressible liquid",
    resistance="a flow resistance",
    colour="tab:cyan",
    doc="p is the absolute pressure of the port, mdot the mass flow into the component. What "
    "flows in brings mdot times the integral of dp/rho along, from atmospheric pressure on.",
    power=lambda port: port.mdot * enthalpy(port, port.p),
)


class TwoPort(Branch, domain=isothermal_liquid, ports=("A", "B")):
    """Base of components with the ports A and B for liquid.

    Gives the variables p = p_A - p_B (MPa) and mdot, the mass flow from A to B through the
    component (kg/s): A.mdot = mdot and B.mdot = -mdot. A subclass states one equation more.
    """

    p = Variable("MPa", nominal="1 MPa", doc="pressure of A minus that of B")
    mdot = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from A to B")
