"""What is a linear model, as a user holds it: matrices with names and units, poles, gains, words.

Knows names, units and arrays, and nothing of the network they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...exceptions import ParameterError, calls_told, optional_package, unknown_name
from ...numerics.arrays import Array, Complexes
from ...reading.foreign_words import attribute_elsewhere
from ...results.sheet import Sheet, Tabulated, pandas
from ...simulation.settings import positive_time
from ...units import Quantity, Unit, quantity, unit
from . import pictures
from .frequency import angular_frequency, transfer
from .poles import participation, poles, static_gain, zeros
from .signals import ratio_unit

if TYPE_CHECKING:
    import scipy.signal
    from pandas import DataFrame

    from .point import Point

__all__ = ["LinearModel", "Load", "Named"]

SHOWN_PARTS = 4  # that a mode names
LEAST_SHARE = 0.02  # of a mode, for a part to be named
POINT = 1e-9  # of loads: they are the same


@dataclass(frozen=True, repr=False)
class Named:
    """A state, input or output: its path and the unit it is given in."""

    path: str
    unit: Unit

    def __str__(self) -> str:
        return f"{self.path} [{self.unit}]"

    __repr__ = __str__  # as in lists of them


@dataclass(frozen=True, repr=False)
class Load:
    """Between which values of an input a mode holds, in the input's unit; infinite: any.

    By the linear model, like everything here: where a force grows with the square of a voltage,
    this is what its tangent comes to, and ``model.stuck_range(…)`` what it comes to itself.

    Attributes
    ----------
    input : the input that is changed
    low, high : where it holds
    at_low, at_high : what happens beyond, such as ``"brake slides backward"``
    """

    input: Named
    low: float
    high: float
    at_low: str = ""
    at_high: str = ""

    @property
    def empty(self) -> bool:
        """Whether the mode holds for no value."""
        return not self.low <= self.high

    @property
    def is_point(self) -> bool:
        """Whether it holds for one value alone."""
        size = max(abs(self.low), abs(self.high))
        return bool(np.isfinite(size)) and self.high - self.low <= POINT * size

    def __str__(self) -> str:
        u = self.input.unit
        if self.empty:
            return "for no load"
        if not (np.isfinite(self.low) or np.isfinite(self.high)):
            return "for every load"
        if not np.isfinite(self.low):
            return f"for {self.input.path} <= {self.high:.6g} {u}"
        if not np.isfinite(self.high):
            return f"for {self.input.path} >= {self.low:.6g} {u}"
        return f"for {self.low:.6g} {u} <= {self.input.path} <= {self.high:.6g} {u}"

    __repr__ = __str__


class FromControl(Protocol):
    """What python-control makes, which tells no types."""

    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __call__(self, *values: Any, **options: Any) -> Any: ...


@dataclass(frozen=True, eq=False, repr=False)
@calls_told
class LinearModel(Tabulated):
    """``dx/dt = A x + B u``, ``y = C y + D u`` about a point, in the units of its names.

    Attributes
    ----------
    A, B, C, D : ndarray
        Changes of outputs and rates of states, in the units of :attr:`states`, :attr:`inputs` and
        :attr:`outputs` (``rates`` in these per s).
    states, inputs, outputs : list of Named
        Paths and units.
    modes_held : mapping of path to word
        What sticks, slides, touches: the mode that the model holds in.
    frozen : mapping of path to str
        States that are none in this mode, and why.
    loads : list of Load
        Per input, between which values the mode holds, by the linear model at this point.
    remaining : mapping of path to quantity
        Rates of states that are not zero: the point is no equilibrium.
    notes : list of str
        What must be said of it: gains that are zero, and why.
    sides : list of LinearModel
        At a kink, at the break-away load: the models of the other sides.
    point : where it was linearised
    title : str

    Examples
    --------
    ::

        linear = model.linearise("push.force", "sensor.x")
        linear.poles(), linear.zeros("push.force", "sensor.x")
        linear.damping(), linear.gains(), linear.modes()
        linear.to_control(), linear.to_scipy(), linear.to_pandas()["A"]
    """

    title: str
    A: Array
    B: Array
    C: Array
    D: Array
    states: list[Named]
    inputs: list[Named]
    outputs: list[Named]
    modes_held: Mapping[str, str] = field(default_factory=dict)
    frozen: Mapping[str, str] = field(default_factory=dict)
    loads: list[Load] = field(default_factory=list)
    remaining: Mapping[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sides: list[LinearModel] = field(default_factory=list)
    side: str = ""
    point: Point | None = None

    # -- numbers ---------------------------------------------------------------------------
    @cached_property
    def dense_a(self) -> Array:
        """A as a full matrix."""
        a: Any = self.A  # sparse of a large model
        return a.toarray() if hasattr(a, "toarray") else a

    @cached_property
    def _poles(self) -> Complexes:
        return poles(self.dense_a)

    def poles(self) -> Complexes:
        """Poles in 1/s, by modulus."""
        return self._poles

    @property
    def is_stable(self) -> bool:
        """Whether all poles lie to the left of the imaginary axis."""
        return bool((self._poles.real < 0).all())

    def zeros(self, input: str | None = None, output: str | None = None) -> Complexes:
        """Finite zeros from an input to an output, in 1/s.

        Raises
        ------
        ParameterError
            Where the input does not reach the output: a gain of zero has no zeros.
        """
        i, o = self.pair(input, output)
        found = zeros(self.dense_a, self.B[:, i], self.C[o], float(self.D[o, i]))
        if found is None:
            raise ParameterError(
                "zeros()", f"{self.inputs[i].path} does not reach {self.outputs[o].path}.",
                " ".join(self.notes) or "Its gain is zero at this point.", code="analysis.cut")
        return found

    @cached_property
    def _dcgain(self) -> Array:
        return static_gain(self.dense_a, self.B, self.C, self.D)

    def dcgain(self) -> Array:
        """Lasting change of outputs (rows) per lasting change of inputs, in their units.

        Infinite where an input is integrated; nan where it depends on the start.
        """
        return self._dcgain

    if not TYPE_CHECKING:  # which would take every name for one
        def __getattr__(self, name: str) -> Any:
            return attribute_elsewhere(self, name, "linear", "title", "it has")

    def response(self, frequency: Any, input: str | None = None, output: str | None = None
                 ) -> Complexes | complex:
        """Complex gain at frequencies, in the unit of the output per unit of the input.

        Parameters
        ----------
        frequency : str or quantity
            ``"2 Hz"`` (turns per second) or ``"12 rad/s"``, or an array of these.
        input, output : str, optional
            Which; not needed where there is one.

        Returns
        -------
        complex ndarray, or complex for one frequency
        """
        i, o = self.pair(input, output)
        omega = angular_frequency(frequency, "response(frequency=…)")
        found = self.transfer(1j * np.atleast_1d(omega))[:, o, i]
        return found if np.ndim(omega) else complex(found[0])

    def transfer(self, s: Any) -> Complexes:
        """Transfer matrices at values of s in 1/s, (values, outputs, inputs)."""
        return transfer(self.A, self.B, self.C, self.D, np.asarray(s, dtype=complex))

    # -- tables ----------------------------------------------------------------------------
    def damping(self) -> Sheet:
        """Poles with frequency, damping ratio, time constant, and the parts that move.

        A pole at 0 has no damping ratio; like others on the real axis it has 1 here, as in
        python-control, so that tables stay numbers.
        """
        p = self._poles
        size = np.abs(p)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(size > 0, -p.real / size, 1.0)
            constant = np.where(p.real != 0, -1 / p.real, np.inf)
        return Sheet(f"Poles of {self.title}", {
            "pole [1/s]": [complex_text(x) if x else "0, integrator" for x in p],
            "frequency [Hz]": [_rounded(x) for x in size / (2 * np.pi)],
            "damping ratio [1]": [_rounded(x) for x in ratio],
            "time constant [s]": [_rounded(x) for x in constant],
            "parts": [", ".join(f"{n} {s:.0%}" for n, s in parts) for parts in _moving(self)],
        }, "\n".join(f"No state: {k}, {v}." for k, v in list(self.frozen.items())[:6]))

    def modes(self) -> Sheet:
        """Every mode once (pairs together): frequency, damping, and the parts that move in it."""
        whole, rows = self.damping(), np.flatnonzero(self._poles.imag >= 0).tolist()
        columns = {n: [v[k] for k in rows] for n, v in whole.columns.items()}
        return Sheet(f"Modes of {self.title}", columns, whole._note())

    def gains(self) -> Sheet:
        """Static gain and zeros of every pair of input and output, with units."""
        rows: dict[str, list[Any]] = {"input": [], "output": [], "static gain": [], "unit": [],
                                      "zeros [1/s]": []}  # fmt: skip
        for (i, inp), (o, out) in product(enumerate(self.inputs), enumerate(self.outputs)):
            found = zeros(self.dense_a, self.B[:, i], self.C[o], float(self.D[o, i]))
            shown = "no path" if found is None else ", ".join(map(complex_text, found)) or "none"
            for column, cell in zip(rows.values(), (
                    inp.path, out.path, _rounded(self._dcgain[o, i]),
                    str(ratio_unit(out.unit, inp.unit)), shown), strict=True):
                column.append(cell)
        return Sheet(f"Gains of {self.title}", rows, " ".join(self.notes))

    def units(self, name: str) -> list[list[str]]:
        """Units of the entries of ``"A"``, ``"B"``, ``"C"`` or ``"D"``, as texts."""
        left, right = self._sides_of(name)
        tall = [ratio_unit(n.unit, unit("s")) if name in "AB" else n.unit for n in left]
        return [[str(ratio_unit(a, b.unit)) for b in right] for a in tall]

    def to_pandas(self) -> dict[str, DataFrame]:  # type: ignore[override]
        """DataFrames ``"A"``, ``"B"``, ``"C"``, ``"D"``, their headings with units."""
        frame = pandas("Making a DataFrame").DataFrame
        matrices = {"A": self.dense_a, "B": self.B, "C": self.C, "D": self.D}
        out = {}
        for name, matrix in matrices.items():
            left, right = self._sides_of(name)
            head = [f"{n.path} [{n.unit}/s]" if name in "AB" else str(n) for n in left]
            out[name] = frame(matrix, index=head, columns=[str(n) for n in right])
        return out

    def to_scipy(self) -> scipy.signal.StateSpace:
        """``scipy.signal.StateSpace`` of the matrices."""
        from scipy.signal import StateSpace

        return StateSpace(self.dense_a, self.B, self.C, self.D)

    def to_control(self) -> FromControl:
        """``control.StateSpace`` of the matrices, with the names of states, inputs and outputs.

        Raises
        ------
        MissingPackage
            Without python-control.
        """
        package = optional_package("control", "Handing a model to python-control", "control")
        words = {kind: [n.path.replace(".", "_") for n in getattr(self, kind)]  # without dots
                 for kind in ("states", "inputs", "outputs")}
        return package.ss(self.dense_a, self.B, self.C, self.D, name=self.title.replace(" ", "_"),
                          **words)

    # -- by python-control -------------------------------------------------------------------
    def step_response(self, duration: Any = None, **options: Any) -> FromControl:
        """Outputs after a step of 1 of each input, in their units, over time in s.

        Parameters
        ----------
        duration : str or quantity, optional
            As python-control finds it, if not given.
        **options
            Handed on to ``control.step_response``.
        """
        return self._by_control("step_response", duration, options)

    def impulse_response(self, duration: Any = None, **options: Any) -> FromControl:
        """Outputs after an impulse of 1 s in the unit of each input; see :meth:`step_response`."""
        return self._by_control("impulse_response", duration, options)

    def _by_control(self, name: str, duration: Any, options: dict[str, Any]) -> Any:
        if duration is not None:
            options["T"] = positive_time(duration, "duration", f"{name}(duration=…)")
        system = self.to_control()
        return getattr(import_module("control"), name)(system, **options)

    def margins(self, input: str | None = None, output: str | None = None) -> dict[str, Quantity]:
        """Gain and phase margin of a loop, and the frequencies at which they are found.

        Raises
        ------
        ParameterError
            Where the output by the input has a unit: then it is the gain of no loop.
        """
        i, o = self.pair(input, output)
        shown = str(ratio_unit(self.outputs[o].unit, self.inputs[i].unit))
        if shown != "1":
            raise ParameterError(
                "margins()", f"is about a loop, whose gain has no unit, but {self.outputs[o].path} "
                f"by {self.inputs[i].path} is in {shown}.",
                "Linearise from the signal behind the cut of the loop to that before it.")
        system = self.to_control()
        gain, phase, turned, crossed = import_module("control").margin(system[o, i])
        return {"gain margin": quantity(gain, "1"), "phase margin": quantity(phase, "deg"),
                "phase crossover": quantity(turned, "rad/s"),
                "gain crossover": quantity(crossed, "rad/s")}

    # -- pictures, which are drawn of several models as well ---------------------------------
    bode, nyquist, step = pictures.bode, pictures.nyquist, pictures.step
    pole_zero_plot = pictures.pole_zero

    # -- words -----------------------------------------------------------------------------
    def _sheet(self) -> Sheet:
        facts: list[tuple[str, Any]] = [
            ("states", ", ".join(map(str, self.states[:8])) + (
                f", … {len(self.states)}" if len(self.states) > 8 else "") or "none"),
            ("inputs", ", ".join(map(str, self.inputs)) or "none"),
            ("outputs", ", ".join(map(str, self.outputs)) or "none")]
        if len(self.states) <= 40:
            facts.append(("poles [1/s]", ", ".join(map(complex_text, self._poles)) or "none"))
        facts += [("mode", ", ".join(f"{k} {v}" for k, v in self.modes_held.items()))] * bool(
            self.modes_held)
        facts += [("holds", str(load)) for load in self.loads if self.modes_held]
        facts += [("no state", f"{k}: {v}") for k, v in list(self.frozen.items())[:6]]
        facts += [("note", note) for note in self.notes]
        facts += [("other side", other.side) for other in self.sides]
        return Sheet.of_facts(self.title, facts)

    # -- helpers ---------------------------------------------------------------------------
    def pair(self, input: str | None, output: str | None) -> tuple[int, int]:
        """Numbers of an input and an output; not needed where there is one."""
        return (_chosen(self.inputs, input, "input"), _chosen(self.outputs, output, "output"))

    def _sides_of(self, name: str) -> tuple[list[Named], list[Named]]:
        known = {"A": (self.states, self.states), "B": (self.states, self.inputs),
                 "C": (self.outputs, self.states), "D": (self.outputs, self.inputs)}
        if name not in known:
            raise unknown_name("units()", name, known, "matrices")
        return known[name]


def _chosen(known: Sequence[Named], path: str | None, kind: str) -> int:
    if path is None:
        if len(known) == 1:
            return 0
        raise ParameterError("", f"the linear model has {len(known)} {kind}s.",
                             f"Name one: {kind}={known[0].path!r}." if known else
                             f"Name {kind}s in model.linearise().")  # fmt: skip
    for k, one in enumerate(known):
        if one.path == path:
            return k
    raise unknown_name("the linear model", path, [n.path for n in known], f"{kind}s")


def _moving(linear: LinearModel) -> list[list[tuple[str, float]]]:
    """Per pole, the components whose states move in it, with their shares."""
    found, share = participation(linear.dense_a)
    parts = [n.path.removeprefix("der(").rpartition(".")[0] for n in linear.states]
    names = list(dict.fromkeys(parts))
    out: list[list[tuple[str, float]]] = []
    free = np.ones(len(found), dtype=bool)
    for p in linear.poles():
        k = int(np.argmin(np.where(free, np.abs(found - p), np.inf)))
        free[k] = False
        of_part = [(n, float(sum(s for m, s in zip(parts, share[:, k], strict=True)
                                 if m == n))) for n in names]  # fmt: skip
        of_part.sort(key=lambda pair: -pair[1])
        out.append([pair for pair in of_part[:SHOWN_PARTS] if pair[1] >= LEAST_SHARE])
    return out


def complex_text(value: complex) -> str:
    """A complex number as it is shown; real, where it is."""
    if value.imag == 0:
        return f"{value.real:.6g}"
    return f"{value.real:.6g} {'+' if value.imag > 0 else '-'} {abs(value.imag):.6g}j"


def _rounded(value: float) -> float:
    return float(f"{value:.10g}") + 0.0  # no -0
