"""Which friction law do measured forces over velocities speak for?

A map of force and velocity, both signs or one, is compared with the steady curves of the laws.
Every curve is linear in its forces once its velocity (v_brk, or the band) is chosen, so that is
searched over all scales and the rest follows by least squares without negative values: no false
minima. Laws are ranked by how well they predict data held out (five parts), and counted as tied
where the information criterion of Schwarz (BIC) differs by less than 6 [Kass & Raftery, J. Am.
Stat. Assoc. 90, 1995].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blocks import quantity
from blocks.exceptions import ParameterError
from blocks.results.plots.figures import bare_figure, finished_figure
from blocks.units import heading_parts

__all__ = ["CURVES", "PARTS", "FrictionChoice", "FrictionFit", "choice", "condition_of",
           "fitted_curve", "identify_friction", "measured_column"]  # fmt: skip

VELOCITIES = "mm/s", "rad/s"
FORCES = "N", "N*m"

PARTS = 5  # of the data, each held out once
TIED = 6.0  # difference of information criteria that says nothing
SCALES = 80  # velocities that are tried
REACH = 3.0  # below the slowest point, by which a velocity is searched
ILL = 1e6  # condition of the relative derivatives, from which values are not told

Basis = Callable[[np.ndarray, float], np.ndarray]


def _stribeck(v: np.ndarray, scale: float) -> np.ndarray:
    return np.column_stack([np.sign(v), v, np.sign(v) * np.exp(-((v / scale) ** 2))])


def _simscape(v: np.ndarray, scale: float) -> np.ndarray:
    u = v / scale
    return np.column_stack([np.tanh(10 * u), v, np.exp((1 - u**2) / 2) * u])


#: Name, what the forces multiply at a velocity, and what that velocity is called; the forces are
#: F_C, c and, where there is a third, F_G - F_C.
CURVES: tuple[tuple[str, Basis, str], ...] = (
    ("coulomb", lambda v, _: np.column_stack([np.sign(v), v]), ""),
    ("tanh", lambda v, scale: np.column_stack([np.tanh(v / scale), v]), "band"),
    ("stribeck", _stribeck, "breakaway_velocity"), ("simscape", _simscape, "breakaway_velocity"))
LEAST = 16  # values: four for each parameter of the laws that have most


@dataclass(frozen=True)
class FrictionFit:
    """A law as it fits the data.

    Attributes
    ----------
    law : name, as ``TranslationalFriction(law=…)`` takes it
    parameters : with units, as the component takes them
    held_out : root mean square of what it misses of data it has not seen
    rms : the same of all data
    bic : Schwarz's criterion, less than that of others is better
    condition : of the relative derivatives; large where values are not told
    """

    law: str
    parameters: dict[str, Any]
    held_out: Any
    rms: Any
    bic: float
    condition: float

    def steady_force(self, v: np.ndarray, v_unit: str, f_unit: str) -> np.ndarray:
        """Force while velocities last, in these units; LuGre's is the curve of ``stribeck``."""
        law = "stribeck" if self.law == "lugre" else self.law
        basis, word = next((b, word) for name, b, word in CURVES if name == law)
        given = self.parameters
        forces = [given["coulomb_force"].to(f_unit).m,
                  given["viscous_coefficient"].to(f"({f_unit})/({v_unit})").m]
        if "breakaway_force" in given:
            forces.append(given["breakaway_force"].to(f_unit).m - forces[0])
        return basis(v, given[word].to(v_unit).m if word else 1.0) @ forces


@dataclass(frozen=True, repr=False)
class FrictionChoice:
    """Laws in the order in which they predict, and what the data cannot tell.

    Attributes
    ----------
    law : the smallest law among those tied with the best
    fits : all laws, the best first
    tied : names of laws that the data do not tell from the best
    notes : what the data cannot tell
    measured : velocities, forces, and their units
    """

    law: FrictionFit
    fits: tuple[FrictionFit, ...]
    tied: tuple[str, ...]
    notes: tuple[str, ...]
    measured: tuple[np.ndarray, np.ndarray, str, str] = field(compare=False)

    def plot(self, save: Any = None) -> Any:
        """What was measured, and the steady curves of all laws; ``save`` to a file."""
        figure = bare_figure("A picture of friction laws", figsize=(6.4, 4.4), layout="constrained")
        axes, (v, f, v_unit, f_unit) = figure.subplots(), self.measured
        axes.plot(v, f, ".", color="0.6", ms=4, label="measured")
        most = float(np.abs(v).max())
        fine = np.geomspace(most * 1e-4, most, 300)
        for fit in self.fits:
            taken = fit is self.law
            for k, one in enumerate(s * fine for s in (1, -1) if (s * v > 0).any()):
                axes.plot(one, fit.steady_force(one, v_unit, f_unit), lw=2 if taken else 1,
                          color=f"C{self.fits.index(fit)}", ls="-" if taken else "--",
                          label=f"{fit.law} (taken)" * taken or fit.law if k == 0 else None)
        axes.set_xlabel(f"velocity [{v_unit}]")
        axes.set_ylabel(f"force [{f_unit}]")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        return finished_figure(figure, save)

    def __repr__(self) -> str:
        best = min(f.bic for f in self.fits)
        lines = [f"{'law':10} {'held out':>12} {'BIC - best':>11}  parameters"]
        for f in self.fits:
            values = ", ".join(f"{k} = {v:.5g~P}" for k, v in f.parameters.items())
            values += " (not told by the data)" * (f.condition > ILL)
            lines.append(f"{f.law:10} {f'{f.held_out:.4g~P}':>12} {f.bic - best:11.1f}  {values}")
        return "\n".join([*lines, f"Take {self.law.law!r}.", *self.notes])


def identify_friction(data: Any, velocity: str, force: str) -> FrictionChoice:
    """Compare friction laws with measured forces over velocities.

    Parameters
    ----------
    data : pandas DataFrame
    velocity, force : str
        Its columns, with units, ``"velocity [mm/s]"``, ``"force [N]"``; torques over angular
        velocities as well. Rows with a gap are left out, and so are those at rest.

    Returns
    -------
    FrictionChoice

    Raises
    ------
    ParameterError
        For columns that are not there, without unit, or with too few values.
    """
    v, v_unit = measured_column(data, velocity, VELOCITIES)
    f, f_unit = measured_column(data, force, FORCES)
    kept = np.isfinite(v) & np.isfinite(f) & (v != 0)
    v, f = v[kept], f[kept]
    if len(v) < LEAST:
        raise ParameterError("identify_friction()", f"has {len(v)} values in motion.",
                             f"Measure at least {LEAST}.", code="friction.few")
    return choice([fitted_curve(*curve, v, f, v_unit, f_unit) for curve in CURVES],
                  lambda law, tied: _notes(law, tied, v, v_unit), (v, f, v_unit, f_unit))


def choice(fits: list[FrictionFit], notes: Callable[..., list[str]], measured: Any
           ) -> FrictionChoice:
    """The smallest of the laws that the data do not tell from the best."""
    fits = sorted(fits, key=lambda one: float(one.held_out.m))
    best = min(one.bic for one in fits)
    tied = [one for one in fits if one.bic <= best + TIED]
    law = min(tied, key=lambda one: (len(one.parameters), one.bic))
    return FrictionChoice(law, tuple(fits), tuple(one.law for one in tied),
                          tuple(notes(law, tied)), measured)


def measured_column(data: Any, name: str, kinds: tuple[str, ...],
                    where: str = "identify_friction()") -> tuple[np.ndarray, str]:
    """Values of a column, and its unit, which is of the kind of one of some units."""
    if name not in getattr(data, "columns", ()):
        known = ", ".join(map(repr, getattr(data, "columns", ())))
        raise ParameterError(where, f"finds no column {name!r}.",
                             f"There are {known}." if known else "Give a pandas DataFrame.")
    shown = heading_parts(name)[1]
    if shown is None:
        raise ParameterError(where, f"column {name!r} has no unit in its heading.",
                             f"Write it in brackets: '{name} [{kinds[0]}]'.", code="fit.unit")
    one = quantity(1.0, shown)  # an unknown unit is told here
    if not any(one.is_compatible_with(kind) for kind in kinds):
        raise ParameterError(where, f"column {name!r} is in {shown}, and takes "
                             f"{' or '.join(kinds)}.", "Name the right column, or correct its "
                             "heading.", code="fit.unit")  # fmt: skip
    return np.asarray(data[name], dtype=float), shown


def _least_squares(basis: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, float]:
    """Forces that are not negative, and the sum of squares that they leave."""
    from scipy.optimize import nnls

    sizes = np.abs(basis).max(axis=0)
    sizes[sizes == 0] = 1.0
    forces, norm = nnls(basis / sizes, f)
    return forces / sizes, float(norm**2)


def _best(basis: Basis, scaled: bool, v: np.ndarray, f: np.ndarray) -> tuple[float, np.ndarray]:
    """The velocity and the forces of a curve that leave least."""
    if not scaled:
        return 1.0, _least_squares(basis(v, 1.0), f)[0]
    from scipy.optimize import minimize_scalar

    def left(scale: float) -> float:
        return _least_squares(basis(v, float(np.exp(scale))), f)[1]

    speeds = np.abs(v)
    tried = np.linspace(np.log(speeds.min() / REACH), np.log(speeds.max()), SCALES)
    k = int(np.argmin([left(s) for s in tried]))
    found = minimize_scalar(left, bounds=(tried[max(k - 1, 0)], tried[min(k + 1, SCALES - 1)]),
                            method="bounded", options={"xatol": 1e-9})
    scale = float(np.exp(found.x if found.fun <= left(tried[k]) else tried[k]))
    return scale, _least_squares(basis(v, scale), f)[0]


def fitted_curve(name: str, basis: Basis, word: str, v: np.ndarray, f: np.ndarray, v_unit: str,
                 f_unit: str, parts: np.ndarray | None = None) -> FrictionFit:
    """A law of the velocity; ``parts`` says of every point with which others it is held out."""
    scale, forces = _best(basis, bool(word), v, f)
    rest = f - basis(v, scale) @ forces
    squares = max(float(rest @ rest), np.finfo(float).tiny)
    part = np.random.default_rng(0).permutation(len(v)) % PARTS if parts is None else parts
    missed = np.empty(len(v))
    for k in range(PARTS):
        own, other = part == k, part != k
        s, some = _best(basis, bool(word), v[other], f[other])
        missed[own] = f[own] - basis(v[own], s) @ some
    values = {"coulomb_force": quantity(forces[0], f_unit),
              "viscous_coefficient": quantity(forces[1], f"({f_unit})/({v_unit})")}
    if len(forces) > 2:
        values["breakaway_force"] = quantity(forces[0] + forces[2], f_unit)
    if word:
        values[word] = quantity(scale, v_unit)
    return FrictionFit(name, values, quantity(float(np.sqrt(np.mean(missed**2))), f_unit),
                       quantity(float(np.sqrt(squares / len(v))), f_unit),
                       len(v) * float(np.log(squares / len(v))) + len(values) * np.log(len(v)),
                       _condition(basis, bool(word), v, scale, forces))


def _condition(basis: Basis, scaled: bool, v: np.ndarray, scale: float, forces: np.ndarray
               ) -> float:
    """Return the condition of the derivatives by relative changes of the parameters."""
    columns = list((basis(v, scale) * np.where(forces > 0, forces, 1e-12 * forces.max())).T)
    if scaled:
        step = 1e-4
        columns.append((basis(v, scale * (1 + step)) - basis(v, scale * (1 - step))) @ forces
                       / (2 * step))
    return condition_of(np.array(columns))


def condition_of(matrix: np.ndarray) -> float:
    """Largest over smallest singular value."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    return float(singular[0] / max(singular[-1], 1e-300))


def _notes(law: FrictionFit, tied: list[FrictionFit], v: np.ndarray, v_unit: str) -> list[str]:
    """What the data cannot tell."""
    slowest = f"{np.abs(v).min():.4g} {v_unit}"
    notes = []
    others = [one.law for one in tied if one is not law]
    if others:
        notes.append(f"The data do not tell {law.law!r} from {', '.join(map(repr, others))}: their "
                     "curves differ by less than the noise.")
    if law.law in ("coulomb", "tanh"):
        notes.append(f"Breakaway force and velocity cannot be told: no fall of the force is seen "
                     f"down to the slowest point, {slowest}. Measure slower, or the force at which "
                     "the rest ends.")
    elif law.condition > ILL:
        notes.append(f"Some values of {law.law!r} depend on each other so much that they are not "
                     f"told; the slowest point is at {slowest}.")
    if law.law == "stribeck":
        notes.append("A steady map cannot tell 'lugre' from 'stribeck': its steady curve is the "
                     "same. Its stiffness and damping need slow reversals.")
    if (v > 0).all() or (v < 0).all():
        notes.append("All velocities have one sign: what friction is in the other direction is not "
                     "told.")
    notes.append("A map of velocity says nothing about motion before sliding: that needs positions "
                 "at reversals.")
    return notes
