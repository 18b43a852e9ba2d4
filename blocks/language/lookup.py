"""What does an expression call that is not written in its operations? How is a long table that?

A function of numbers that gives one number, and whose derivatives are expressions of others.

A table is one as piecewise polynomials, found by search when an expression is evaluated: what an
expression costs does not depend on how many points its tables have. So are derivatives.
Machine code finds the same numbers by :mod:`blocks.native.called_functions`; what stands here is
the reference.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array, Indices
from ..numerics.rewriting import applied, kinds, replayed

__all__ = ["CalledFunction", "Choice", "Lookup", "StateTable", "derivatives_written",
           "function_named", "jacobian", "lookup"]


class CalledFunction(ca.Callback):  # type: ignore[misc]  # CasADi has no types
    """A function that expressions call.

    By its name it is found, in the text of machine code, too; it takes ``count`` numbers.
    """

    def __init__(self, name: str, count: int) -> None:
        ca.Callback.__init__(self)
        self.count = count
        self.construct(name, {"never_inline": True})
        _known[name] = self

    def value(self, *given: float) -> float:
        """The reference for machine code."""
        raise NotImplementedError

    def values(self, *given: ArrayLike) -> Array:
        """Return the values of :meth:`value` for columns of arguments."""
        return np.vectorize(self.value, otypes=[float])(*given)

    def slopes(self, values: list[ca.SX]) -> list[ca.SX]:
        """Derivatives by all arguments; an empty entry where there is none."""
        raise NotImplementedError

    # -- what CasADi asks ------------------------------------------------------------------
    def get_n_in(self) -> int:
        return self.count

    def get_n_out(self) -> int:
        return 1

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, given: Any, results: Any) -> int:
        if results[0] is not None:
            results[0].cast("d")[0] = self.value(*[g.cast("d")[0] for g in given])
        return 0

    def has_forward(self, n: int) -> bool:
        return n == 1

    def get_forward(self, n: int, name: str, inputs: Any, outputs: Any, options: Any
                    ) -> ca.Function:
        values, changes = ([ca.SX.sym(word) for word in inputs[k : k + self.count]]
                           for k in (0, self.count + 1))  # fmt: skip
        return ca.Function(name, [*values, ca.SX.sym(inputs[self.count]), *changes],
                           [ca.dot(ca.vertcat(*self.slopes(values)), ca.vertcat(*changes))],
                           inputs, outputs)

    def has_reverse(self, n: int) -> bool:
        return n == 1

    def get_reverse(self, n: int, name: str, inputs: Any, outputs: Any, options: Any
                    ) -> ca.Function:
        values = [ca.SX.sym(word) for word in inputs[: self.count]]
        result, seed = ca.SX.sym(inputs[-2]), ca.SX.sym(inputs[-1])
        return ca.Function(name, [*values, result, seed],
                           [slope * seed for slope in self.slopes(values)], inputs, outputs)


_known: dict[str, CalledFunction] = {}


def function_named(name: str) -> Any:
    """The called function with this name, if it is one."""
    return _known.get(name)


def derivatives_written(sx: ca.SX) -> ca.SX:
    """Return an expression with the derivatives of what it calls written as expressions.

    CasADi makes a call of a derivative, which hides that it is zero where its seed is.
    """
    if not _known:
        return sx
    function = ca.Function("written", [ca.vertcat(*ca.symvar(sx))], [sx])
    if ca.OP_CALL not in kinds(function):
        return sx
    nodes = function.instructions_sx()
    (written,) = replayed(function, function.sx_in(), lambda kind, given, k: (
        _called(nodes[k].which_function(), given) if kind == ca.OP_CALL
        else [applied(kind, given)]))
    return ca.sparsify(written)


def jacobian(expression: ca.SX, by: ca.SX, backward: bool | None = None) -> ca.SX:
    """Derivatives whose pattern shows what they depend on, tables or not.

    Found ``backward``, from results, or not, or as takes fewer sweeps. Where all act on each other
    by one sum, a sweep writes what is behind it, or before it, once for each entry.
    """
    options = {} if backward is None else {"helper_options": {"ad_weight": float(backward)}}
    return derivatives_written(ca.jacobian(expression, by, options))


def _called(function: ca.Function, given: list[ca.SX]) -> list[ca.SX]:
    """What a called function gives; of a derivative the expression that it is."""
    if function_named(function.name()) is not None:
        return [function(*given)]
    parts = iter(given)
    arguments = [ca.SX(function.sparsity_in(i), ca.vertcat(ca.SX(0, 1), *islice(parts, n)))
                 for i, n in enumerate(function.nnz_in(i) for i in range(function.n_in()))]
    results = function.call(arguments, True, False)
    return [derivatives_written(ca.project(r, function.sparsity_out(i)).nz[e])
            for i, r in enumerate(results) for e in range(function.nnz_out(i))]


class Choice(NamedTuple):
    """An axis along which a row of polynomials is chosen.

    The row is that of the last point (the last but one at most) that is not above the value,
    and ``step`` more as far as there are rows; there is one for every point.
    """

    points: Array
    step: int

    def places(self, values: Array) -> Indices:
        """Which rows values choose."""
        found, last = np.searchsorted(self.points, values, side="right") - 1, len(self.points) - 1
        return np.clip(np.minimum(np.maximum(found, 0), last - 1) + self.step, 0, last)


class StateTable(NamedTuple):
    """A table over what may move with the states, on local symbols."""

    x: ca.SX
    points: ca.SX
    heights: ca.SX  # a row for every point
    hold: bool  # whether the end values hold beyond
    shape: str  # of the curve between the points; empty for straight lines


class Lookup(CalledFunction):
    """Piecewise polynomials of a first value; further ones choose among rows of these.

    Made by :func:`lookup`. The first piece ends and the last begins at one of n increasing breaks.
    Coefficients, (rows, n + 1, width), are of 1, s, s², … with s from the break at the left, of the
    first piece at its right. Each further value has a choice; rows of the last one follow each
    other.
    """

    def __init__(self, name: str, breaks: Array, coefficients: Array, choices: tuple[Choice, ...]
                 ) -> None:
        self.breaks, self.coefficients, self.choices = breaks, coefficients, choices
        super().__init__(name, 1 + len(choices))

    @cached_property
    def derivative(self) -> Lookup:
        """The derivative by the first value, as a lookup of its own."""
        width = self.coefficients.shape[2]
        lower = self.coefficients[:, :, 1:] * np.arange(1.0, width)
        return lookup(self.breaks, lower if width > 1 else 0.0 * self.coefficients, self.choices)

    def value(self, *given: float) -> float:
        return float(self.values(*given))

    def values(self, first: ArrayLike, *further: ArrayLike) -> Array:  # type: ignore[override]
        """Return the values of columns of arguments: the reference for machine code."""
        at, *others = np.broadcast_arrays(first, *further)
        row = np.zeros(at.shape, dtype=int)
        for choice, value in zip(self.choices, others, strict=True):
            row = row * len(choice.points) + choice.places(value)
        piece = np.searchsorted(self.breaks, at, side="right")
        s, out = at - self.breaks[np.maximum(piece - 1, 0)], np.zeros(at.shape)
        for power in reversed(range(self.coefficients.shape[2])):
            out = out * s + self.coefficients[row, piece, power]
        return out

    def slopes(self, values: list[ca.SX]) -> list[ca.SX]:
        stepwise = self.coefficients.shape[2] == 1  # constant between its breaks
        first = ca.SX(0) if stepwise else self.derivative(*values)
        return [first, *[ca.SX(1, 1)] * len(self.choices)]


def lookup(breaks: Array, coefficients: Array, choices: tuple[Choice, ...] = ()) -> Lookup:
    """The function of a table; the same one for the same numbers.

    See :class:`Lookup` for the parameters.
    """
    arrays = [np.ascontiguousarray(a, dtype=float) for a in (breaks, coefficients)]
    digest = hashlib.sha256()
    for part in (*arrays, *(c.points for c in choices)):
        digest.update(repr(part.shape).encode() + part.tobytes())
    digest.update(repr([c.step for c in choices]).encode())
    name = f"lookup{digest.hexdigest()[:24]}"
    return function_named(name) or Lookup(name, arrays[0], arrays[1], choices)
