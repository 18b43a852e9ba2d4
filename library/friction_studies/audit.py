"""What does a friction law do that friction does not?

Measured on small models, by the same machinery as any run: how fast a body creeps under
a load that rest should bear, whether it stops at all, where the law drives instead of
resisting, how far a load that only shakes carries it, and where the force jumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blocks import Model, minimum, quantity, sin
from blocks.results import Sheet

from ..frictionlaws.base import FrictionLaw
from ..translational import ForceSource, Mass, MotionSensor, Reference, TranslationalFriction

__all__ = ["Audit", "audit", "compared"]

SHARES = (0.25, 0.5, 0.75)
SETTLED = 200  # times the time constant of the band
NOTHING = 1e-7
STRENGTHS = {"coulomb": "10 N", "breakaway": "10 N"}


@dataclass(frozen=True)
class Audit:
    """The defects of a law; velocities in units of its band.

    Attributes
    ----------
    law : str
    scale : quantity or None
        Band, or breakaway velocity.
    creep : tuple of float
        Velocity under a quarter, a half and three quarters of the largest load, started
        from rest; negative against the load.
    stop : str
        What becomes of a body that arrives with nine tenths of the band under half load:
        ``"rests"``, ``"as 1/t"``, ``"glides"`` or ``"creeps"``.
    active : float
        Share of velocities up to 1.5 bands and loads up to 3/4 where the force acts along
        the motion: friction gives energy. Laws that hold their load do so on the way to rest.
    jump : float
        Largest jump of the force over the velocity, over the strength.
    slope : float
        Largest growth of the force with the load; above 1 several forces agree with the
        law where frictions act on each other.
    drift : quantity, a length
        Way in a second under a load of 0.5 ± 0.4 of the largest one, at 10 Hz.
    """

    law: str
    scale: Any
    creep: tuple[float, ...]
    stop: str
    active: float | None
    jump: float | None
    slope: float | None
    drift: Any

    @property
    def verdict(self) -> str:
        """The worst of it, in a few words."""
        if min(self.creep) < -NOTHING:
            return "active: creeps against the load"
        if self.stop == "glides":
            return "neutral: glides on in the band"
        if max(self.creep) > NOTHING:
            return "creeps under any load"
        if self.stop == "as 1/t":
            return "creeps as the logarithm of time"
        if abs(self.drift.to("um").magnitude) > 10:  # of some 100 um of deflection
            return "drifts under vibration"
        return "rests"

    def _row(self) -> dict[str, Any]:
        def shown(x: float | None) -> str:
            return "–" if x is None else f"{x:.4g}" if abs(x) > NOTHING else "0"

        return {"law": self.law,
                **{f"creep {p:g}": shown(v) for p, v in zip(SHARES, self.creep, strict=True)},
                "stop": self.stop, "active": shown(self.active), "jump": shown(self.jump),
                "dF/dP": shown(self.slope), "drift [um]": shown(self.drift.to("um").magnitude),
                "verdict": self.verdict}

    def __repr__(self) -> str:
        return repr(compared([self]))


def compared(audits: list[Audit]) -> Sheet:
    """Several audits as one table."""
    rows = [a._row() for a in audits]
    return Sheet("Friction laws audited", {k: [r[k] for r in rows] for k in rows[0]},
                 note="creep in bands (or breakaway velocities), at shares of the largest load")


def audit(law: Any, **parameters: Any) -> Audit:
    """Audit a law.

    Parameters
    ----------
    law : name, law class or law object
    **parameters
        As of :class:`~library.translational.TranslationalFriction`. Strengths are 10 N
        unless given.

    Examples
    --------
    >>> from library.friction_studies import audit
    >>> audit("quinn_1", band="1 mm/s").verdict
    'active: creeps against the load'
    """
    one = TranslationalFriction(law=law, **parameters)
    for name, force in STRENGTHS.items():
        if name in one.kind.uses and f"{name}_force" not in parameters:
            parameters[f"{name}_force"] = force
    if "viscous" in one.kind.uses:
        parameters.setdefault("viscous_coefficient", "0 N*s/m")
    bench = _Bench(law, parameters)
    kind: type[FrictionLaw] = bench.friction.kind
    plain = not kind.memory
    creep = bench.creep() if plain and not kind.exact else (0.0, 0.0, 0.0)
    name = law if isinstance(law, str) else getattr(law, "__name__", type(law).__name__)
    return Audit(name, bench.scale, creep,
                 bench.stop(creep) if plain and not kind.exact else "rests",
                 bench.active() if plain else None, bench.jump() if plain else None,
                 bench.slope() if "load" in kind.declarations else None, bench.drift())


class _Bench:
    """Bodies on a law, each with a load of its own."""

    def __init__(self, law: Any, parameters: dict[str, Any]) -> None:
        self.made = lambda **more: TranslationalFriction(law=law, **parameters, **more)
        self.friction = self.made()
        kind = self.friction.kind()
        self.scale = kind.scale(self.friction)
        self.limit = float(kind.limit(self.friction).to("N").magnitude)
        band = 1e-3 if self.scale is None else float(self.scale.to("m/s").magnitude)
        self.band = band
        self.settling = 1e-3  # s, of a body that the band stops
        self.mass = self.limit * self.settling / band

    def run(self, loads: Any, speeds: Any, end: float, mass: float | None = None,
            shaken: float = 0.0, **options: Any) -> Any:
        """Bodies under shares of the largest load, started at shares of the band."""
        loads, speeds = np.broadcast_arrays(np.asarray(loads, dtype=float), speeds)
        n, model = loads.size, Model("audit")
        model.body = Mass(count=n, mass=quantity(self.mass if mass is None else mass, "kg"),
                          v=quantity(speeds * self.band, "m/s"))  # fmt: skip
        model.friction, model.ground = self.made(count=n), Reference()
        model.place = MotionSensor(count=n)
        if shaken:
            force, second = quantity(self.limit, "N"), quantity("1 s")
            model.load = ForceSource(count=n, force=lambda t: force * minimum(2 * t / second, 1) * (
                float(loads.flat[0]) + shaken * sin(20 * np.pi * t / second)))
        else:
            model.load = ForceSource(count=n, force=quantity(loads * self.limit, "N"))
        model.connect(model.body.M, model.friction.R, model.load.R, model.place.R)
        model.connect(model.friction.C, model.load.C, model.place.C, model.ground.V)
        return model.simulate(quantity(end, "s"), **options)

    def forces(self, loads: Any, speeds: Any) -> np.ndarray:
        """Forces over the largest one, at shares of load and band."""
        loads, speeds = np.broadcast_arrays(np.asarray(loads, dtype=float), speeds)
        run = self.run(loads.ravel(), speeds.ravel(), 1e-9, mass=1e15, method="rk4", step="1 ns",
                       times="0 s")  # fmt: skip
        f = [run[f"friction[{k}].f"].initial.to("N").magnitude for k in range(loads.size)]
        return np.reshape(f, loads.shape) / self.limit

    def creep(self) -> tuple[float, ...]:
        end = SETTLED * self.settling
        run = self.run(SHARES, 0.0, end, method="rodas4", rtol=1e-9)
        return tuple(float(run[f"body[{k}].v"].final.to("m/s").magnitude) / self.band
                     for k in range(len(SHARES)))  # fmt: skip

    def stop(self, creep: tuple[float, ...]) -> str:
        if max(map(abs, creep)) > NOTHING:
            return "creeps"
        end = SETTLED * self.settling
        run = self.run([0.5], 0.9, 10 * end, method="rodas4", rtol=1e-8)
        soon, late = (run["body[0].v"].at(quantity(t, "s")).to("m/s").magnitude / self.band
                      for t in (end, 10 * end))  # fmt: skip
        if abs(late) <= NOTHING:
            return "rests"
        return "glides" if abs(late) > 0.5 * abs(soon) else "as 1/t"

    def active(self) -> float:
        speeds, loads = np.meshgrid(np.linspace(-1.5, 1.5, 31), np.linspace(-0.75, 0.75, 7))
        power = self.forces(loads, speeds) * speeds
        return float(np.mean(power < -NOTHING))

    def jump(self) -> float:
        at = np.array([-1.0, 0.0, 1.0])
        sides = np.array([[-1e-9], [1e-9]])
        return max(float(np.abs(np.diff(self.forces(p + 0 * at, at + sides), axis=0)).max())
                   for p in (0.0, 0.5))  # fmt: skip

    def slope(self) -> float:
        loads = np.linspace(-0.999, 0.999, 200)
        return float(np.max(np.diff(self.forces(loads, 0.0)) / np.diff(loads)))

    def drift(self) -> Any:
        mass = 0.5 if self.friction.kind.memory else self.mass  # kg, below resonance
        run = self.run([0.5], 0.0, 2.0, mass=mass, shaken=0.4, method="rodas4", rtol=1e-6)
        x = run["place[0].x"]  # the load has been growing for half a second
        return x.final - x.at("1 s")
