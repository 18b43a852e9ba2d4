"""Magnetic circuits: reluctances, saturation, magnets, coils and the force of an air gap.

The domain's across variable is the magnetic potential mmf in A, its through variable the flux
phi in Wb, counted positive into a component's port. Their product is an energy, not a power:
the power into a port is mmf dphi/dt, and ``result.energy()`` balances that.

Sign convention
---------------
Two-ports have the ports N and S, with mmf = mmf_N - mmf_S and phi from N to S through the
component. A passive element with mmf > 0 carries phi > 0. Sources and coils:

* ``MMFSource``: mmf_N - mmf_S equals the signal; outside, the flux flows from N to S, so phi,
  which is counted inside, is negative where the source drives.
* ``FluxSource``: phi, from N to S inside, equals the signal.
* ``PermanentMagnet``: its remanent flux flows from N to S inside, as Simscape's page writes it.
* ``ElectromagneticConverter`` (a coil): mmf = turns i and v = -turns dphi/dt, both with
  the flux counted into the coil at N. A reluctance across N and S carries the flux -phi, so
  that the coil is an ordinary inductance turns²/reluctance.

Every magnetic circuit needs one ``MagneticReference``, the electrical side of a coil its own.

Which class to take
-------------------
=========================  ====================================================
ground                     ``MagneticReference``
a number of 1/H            ``FundamentalReluctance`` (or a table: saturation)
iron, air, a gap           ``Reluctance`` (or a table, or a law of saturation)
a gap set by a signal      ``VariableReluctance``
losses in iron             ``EddyCurrent``
magnets                    ``PermanentMagnet``
to electricity             ``ElectromagneticConverter``
to mechanics               ``ReluctanceForceActuator``
sources                    ``MMFSource``, ``FluxSource``, ``table``
sensors                    ``MMFSensor``, ``FluxSensor``
whole solenoids            :mod:`library.electromechanical`
own components             ``magnetic`` (the domain), ``TwoPort`` (the base)
=========================  ====================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .converters import ElectromagneticConverter, ReluctanceForceActuator
from .domain import VACUUM, TwoPort
from .domain import magnetic as magnetic
from .elements import EddyCurrent, MagneticReference, PermanentMagnet
from .reluctances import FundamentalReluctance, Reluctance, VariableReluctance
from .sensors import FluxSensor, MMFSensor
from .sources import FluxSource, MMFSource

__all__ = ["VACUUM", "EddyCurrent", "ElectromagneticConverter", "FluxSensor", "FluxSource",
           "FundamentalReluctance", "MMFSensor", "MMFSource", "MagneticReference",
           "PermanentMagnet", "Reluctance", "ReluctanceForceActuator", "TwoPort",
           "VariableReluctance", "table"]

tell_what_is_missing(__name__)
