"""Friction laws, for forces and torques alike; :mod:`library.friction_studies` looks at them.

``TranslationalFriction(law="quinn", …)`` and ``RotationalFriction`` choose one by its
name; a law of your own is a subclass of :class:`FrictionLaw`, given as it is.

====================  =================  ================================================
name                  class              what it is
====================  =================  ================================================
coulomb               Coulomb            exact: sticks, jumps, set-valued
stribeck              Stribeck           exact, falling curve
table                 Table              exact, measured curve
simscape              Simscape           continuous curve of the velocity
viscous               Viscous            saturated viscous
tanh                  Tanh
martins_oden          MartinsOden
karnopp               Karnopp            of velocity and load, as tabulated by Piatkowski
karnopp_1985          Karnopp1985        the original
quinn                 Quinn
quinn_1 to quinn_3    QuinnI …           rounded by a sine, a cubic, a spline
kikuuwe               Kikuuwe
kikuuwe_1             KikuuweI           rounded by a spline
awrejcewicz           Awrejcewicz
awrejcewicz_1         AwrejcewiczI       with a spline
dahl                  Dahl               deflection of the contact
lugre                 LuGre
elasto_plastic        ElastoPlastic
bristle               Bristle
reset_integrator      ResetIntegrator    springs that slip
maxwell_slip          MaxwellSlip
gms                   GeneralisedMaxwell
leuven                Leuven
====================  =================  ================================================
"""

from typing import TYPE_CHECKING, Any

from blocks.renamed import moved

from .base import (
    FrictionLaw,
    compliance,
    force,
    resistance,
    sgn,
    shift,
    stiffness,
    stribeck_level,
    velocity,
)
from .bristles import Bristle, Dahl, ElastoPlastic, LuGre
from .curves import Coulomb, MartinsOden, Simscape, Stribeck, Table, Tanh, Viscous
from .loaded import (
    Awrejcewicz,
    AwrejcewiczAsPrinted,
    AwrejcewiczI,
    AwrejcewiczIAsPrinted,
    Karnopp,
    Karnopp1985,
    Kikuuwe,
    KikuuweI,
    LoadLaw,
    Quinn,
    QuinnI,
    QuinnII,
    QuinnIII,
)
from .memory import GeneralisedMaxwell, Leuven, MaxwellSlip, ResetIntegrator

__all__ = ["LAWS", "Awrejcewicz", "AwrejcewiczAsPrinted", "AwrejcewiczI", "AwrejcewiczIAsPrinted",
           "Bristle", "Coulomb", "Dahl", "ElastoPlastic", "FrictionLaw", "GeneralisedMaxwell",
           "Karnopp", "Karnopp1985", "Kikuuwe", "KikuuweI", "Leuven", "LoadLaw", "LuGre",
           "MartinsOden", "MaxwellSlip", "Quinn", "QuinnI", "QuinnII", "QuinnIII",
           "ResetIntegrator", "Simscape", "Stribeck", "Table", "Tanh", "Viscous", "compliance",
           "force", "resistance", "sgn", "shift", "stiffness", "stribeck_level", "velocity"]

LAWS: dict[str, type[FrictionLaw]] = {
    "simscape": Simscape, "coulomb": Coulomb, "stribeck": Stribeck, "table": Table,
    "viscous": Viscous, "tanh": Tanh, "martins_oden": MartinsOden,
    "karnopp": Karnopp, "karnopp_1985": Karnopp1985,
    "quinn": Quinn, "quinn_1": QuinnI, "quinn_2": QuinnII, "quinn_3": QuinnIII,
    "kikuuwe": Kikuuwe, "kikuuwe_1": KikuuweI,
    "awrejcewicz": Awrejcewicz, "awrejcewicz_1": AwrejcewiczI,
    "dahl": Dahl, "lugre": LuGre, "elasto_plastic": ElastoPlastic, "bristle": Bristle,
    "reset_integrator": ResetIntegrator, "maxwell_slip": MaxwellSlip,
    "gms": GeneralisedMaxwell, "leuven": Leuven,
}  # fmt: skip


if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        """What looks at laws builds models of them, and is a package above the components."""
        if name in ("Audit", "audit", "compared"):
            return moved(__name__, name, "library.friction_studies")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
