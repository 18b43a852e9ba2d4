"""What do circuits of all fluids that carry heat have in common?

They have pressure p and temperature T at a port, mass flow mdot and energy flow Phi through it,
moist air its vapour besides, and the same blocks: chambers, pipes, restrictions, sources, sensors.
A block is written here once, as a base without ports; the package of a fluid gives it ports of
its domain and, as ``fluid``, the module that knows its density, enthalpy and so on.

What a flow carries
-------------------
A flow brings the enthalpy of where it comes from: mdot h(node) where it enters a component,
mdot h(inside) where it leaves. Where nothing flows that would leave the temperature of a node
open, and its change at a reversal would be a jump. A fluid at rest conducts heat, and that is
what closes the gap, as in Simscape::

    Phi = a h(node) - b h(inside),  a - b = mdot,  a + b = sqrt(mdot² + m_rest²)

m_rest = k sqrt(pi area)/cp is what the fluid conducts over one diameter of the port. Far above
it (1e-5 kg/s of water at a port of 0.01 m²) this is the enthalpy of the upstream side, up to the
share (m_rest/(2 mdot))², and at rest it is conduction: smooth, decided by no event, and the same
amount leaves one component that enters the other, so that energy is kept exactly.
"""

__all__: list[str] = []  # bases; components are in the package of each fluid
