"""How does an equation call a function in Python?

As a called function (:mod:`.lookup`), which machine code calls back. Where the function
raises an error, its value is no number, so that the step fails; what it raised is kept and becomes
the error of the run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import casadi as ca

from ..exceptions import BlocksError, EquationError, SimulationError
from ..reading.unit import unit as unit_of
from .expression import Expression, as_expression, current_trace, reading_place
from .lookup import CalledFunction

__all__ = ["PythonCall", "call_python", "told_why"]

STEP = 2.0**-17  # relative, of differences on both sides: the third root of the grain of numbers
KEPT = 256  # last calls whose results are remembered: one gives several numbers
_numbers = count()
_raised: list[tuple[str, BaseException]] = []  # by which component


def call_python(function: Callable[..., Any], *arguments: object, unit: Any = "1",
                derivatives: Sequence[Any] | None = None) -> Any:
    """Call a function in Python within an equation, where it cannot be written as an expression.

    The run calls it wherever it looks, forwards and backwards in time, and does not call it where
    it knows the answer: it must depend on its arguments alone, and be smooth in those that move.
    Models with it run some hundred times slower than with an expression, and are not exported.

    Parameters
    ----------
    function : callable
        Takes numbers in SI units, one for each argument; returns one, or as many as there are
        units.
    arguments : expressions, parameters, variables, ``time``
    unit : str, or sequence of them
        Of what is returned.
    derivatives : sequence, optional
        One for each argument: a function like ``function`` that gives the derivative by it, in
        the same units for an argument in SI units; 0 for an argument that jumps only; None for
        differences on both sides.

    Returns
    -------
    expression, or a list of them where ``unit`` is a sequence

    Examples
    --------
    ``yield self.y == call_python(lambda x: scipy.special.j0(x), self.x)``
    """
    given = [as_expression(one) for one in arguments]
    units = [unit_of(one) for one in ([unit] if isinstance(unit, str) else unit)]
    slopes = [None] * len(given) if derivatives is None else list(derivatives)
    if not callable(function) or not given or len(slopes) != len(given):
        raise EquationError(
            reading_place(), "call_python() takes a function, one argument or more, and with "
            f"derivatives= one for each of these, but was given {function!r}, {len(given)} "
            f"arguments and {len(slopes)} derivatives.",
            "Write call_python(function, self.x, unit=\"N\").")
    if kernel := getattr(current_trace.get(), "kernel", None):
        kernel.calls_python = True
    place, remembered = reading_place(), lru_cache(KEPT)(function)
    made = []
    for k, one in enumerate(units):
        pick = None if isinstance(unit, str) else k
        called = PythonCall(place, remembered, pick, slopes)
        value = called(*(e.sx for e in given)) * one.factor + one.offset
        made.append(Expression.in_unit(value, one))
    return made[0] if isinstance(unit, str) else made


class PythonCall(CalledFunction):
    """A number that a function of numbers in Python gives, which a component calls.

    ``pick`` says which of those that it gives, None where it gives one; for the derivatives, by
    each argument, see :func:`call_python`.
    """

    def __init__(self, place: str, function: Callable[..., Any], pick: int | None,
                 derivatives: Sequence[Any]) -> None:
        super().__init__(f"python{next(_numbers)}", len(derivatives))
        self.place, self.function, self.pick = place, function, pick
        self.derivatives = derivatives
        self._slopes: dict[int, PythonCall] = {}

    def value(self, *given: float) -> float:
        if any(number != number for number in given):  # what it follows from has failed
            return float("nan")
        try:
            found = self.function(*given)
            return float(found if self.pick is None else found[self.pick])
        except BaseException as error:  # of whatever kind: machine code cannot pass it on
            _raised.append((self.place, error))
            return float("nan")

    def slopes(self, values: list[ca.SX]) -> list[ca.SX]:
        return [ca.SX(1, 1) if isinstance(one, (int, float)) and one == 0
                else self._slope(i, one)(*values) for i, one in enumerate(self.derivatives)]

    def _slope(self, i: int, known: Callable[..., Any] | None) -> PythonCall:
        if i not in self._slopes:
            zeros = [0 if one == 0 else None for one in self.derivatives]
            self._slopes[i] = PythonCall(self.place, known or self._differences(i),
                                         self.pick if known else None, zeros)
        return self._slopes[i]

    def _differences(self, i: int) -> Callable[..., float]:
        def difference(*given: float) -> float:
            step = STEP * (abs(given[i]) or 1.0)
            above, below = (self.value(*given[:i], given[i] + s, *given[i + 1 :])
                            for s in (step, -step))
            return (above - below) / (2 * step)

        return difference

    @cached_property
    def callback(self) -> Any:
        """The function as C calls it."""
        number = ctypes.c_double
        return ctypes.CFUNCTYPE(number, *[number] * self.count)(self.value)


@contextmanager
def told_why() -> Iterator[None]:
    """What a function in Python has raised is the error, where a run cannot go on."""
    _raised.clear()
    try:
        yield
    except BlocksError as error:
        if not _raised:
            raise
        place, why = _raised[-1]
        if isinstance(why, (BlocksError, KeyboardInterrupt, SystemExit)):
            raise why from error
        t = getattr(error, "time", None)
        raise SimulationError(
            place, f"{'' if t is None else f'at t = {t:.9g} s '}a function in Python failed with "
            f"{type(why).__name__}: {why}".rstrip(".") + ".",
            "The error above says where in the function.", code="simulation.function",
            variables=(place,), **({} if t is None else {"time": t})) from why
    finally:
        _raised.clear()
