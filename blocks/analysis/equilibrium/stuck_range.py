"""Between which values of an input does everything stay stuck that is?

What can move follows slowly: it rests for every value, whatever it does at the point that is given.
Where the tangent at rest (:mod:`..linear.loads`) says that a mode ends, rest is solved for and the
tangent taken again, which is Newton's method: a force may grow with the square of a voltage.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...language.compiled_model import CompiledModel
from ...units import from_si
from ..linear.derivatives import derivatives_of, elements_of_system
from ..linear.loads import TOUCHES, follow_slowly, interval, limits_of
from ..linear.point import Point, point_of
from ..linear.reduction import reduce
from ..linear.signals import InputSignal, signals_of
from .equations import Equations
from .targets import OperatingSpec

__all__ = ["stuck_range"]

WHERE = "stuck_range()"
TOLD = 6
SAME = 1e-9  # of an end, or of how far it is: another tangent changes it no more
MOST_TANGENTS = 40


def stuck_range(model: CompiledModel, path: str, at: Any) -> tuple[Any, Any]:
    """See :meth:`blocks.Model.stuck_range`."""
    point = point_of(model, at)
    signal = signals_of(point.system).input(path, WHERE)
    if not (point.modes == 0).any():
        raise ParameterError(WHERE, "nothing sticks here.", "Exact friction sticks: "
                             "law='coulomb' or 'stribeck'; give at=… a point at rest.",
                             code="analysis.modes")  # fmt: skip
    rest = _Rest(point, signal)
    return from_si(rest.end(-1.0), signal.unit), from_si(rest.end(1.0), signal.unit)


class _Rest:
    """Where a model rests in the modes of a point, as a function of one input."""

    def __init__(self, point: Point, signal: InputSignal) -> None:
        self.signal = signal
        self.equations = Equations(point.system, OperatingSpec(), at_rest=True)
        self.derivatives = derivatives_of(point.system, [signal], [])
        found, missed = self._solved(self.equations.with_sources(point))
        if found is None:
            raise ParameterError(
                WHERE, f"{missed} is not possible in the modes at {point.title}.", "Hold what "
                "moves by a spring or friction, or give at=model.operating_point(…).",
                code="analysis.conflict")  # fmt: skip
        self.point = found

    def end(self, sign: float) -> float:
        """The value up or down to which everything stays stuck, in SI units; infinite: any."""
        point, value = self.point, self._value(self.point)
        begun, tangent, missed = value, self._tangent(point, sign), ""
        if not np.isfinite(tangent):  # a force that grows with a square has no slope at zero
            tangent = value + sign * max(abs(value), self.signal.unit.factor)
            beside, _ = self._solved(self._given(point, tangent))
            if beside is None or not np.isfinite(self._tangent(beside, sign)):
                return sign * np.inf
        for _ in range(MOST_TANGENTS):
            found, missed = self._solved(self._given(point, tangent))
            if found is not None:
                self._refuse_closed(found, tangent)
            following = np.nan if found is None else self._tangent(found, sign)
            if found is None or not np.isfinite(following):  # too far along the tangent
                tangent = (value + tangent) / 2
            elif abs(following - tangent) <= SAME * max(abs(tangent), abs(tangent - begun)):
                return following
            else:
                point, value, tangent = found, tangent, following
        raise ParameterError(
            WHERE, f"for {self.signal.path} = {from_si(value, self.signal.unit):.6g~P} all is "
            f"stuck that is here, and beyond that {missed or 'rest'} was not found.",
            "What moves may snap through there, or come off: a run that raises the input slowly "
            "shows it.", code="analysis.conflict")  # fmt: skip

    def _refuse_closed(self, point: Point, value: float) -> None:
        """Refuse to go on past a gap that is open at first."""
        elements = elements_of_system(point.system)
        before, now = (self.derivatives.at(p).value["gap"] for p in (self.point, point))
        closed = np.flatnonzero(elements.contact & (point.modes != 0) & (now <= SAME * before))
        if len(closed) and before[closed].max() > TOUCHES:
            raise ParameterError(
                WHERE, f"where {self.signal.path} = {from_si(value, self.signal.unit):.6g~P}, "
                f"{elements.label(int(closed[0]))} closes, before anything slides.",
                "Give at=… a point where it is closed.", code="analysis.modes")

    def _tangent(self, point: Point, sign: float) -> float:
        """Up or down to which value everything stays stuck by the linear model at a point."""
        at = self.derivatives.at(point)
        by_state = follow_slowly(reduce(point, at))
        if not np.isfinite(by_state).all():
            raise ParameterError(WHERE, f"{self.signal.path} accelerates something that is free: "
                                 "there is no equilibrium for it.", "Hold it by a spring or "
                                 "friction.", code="analysis.conflict")  # fmt: skip
        low, high, *_ = interval(limits_of(point, at, by_state), 0)
        return self._value(point) + (low if sign < 0 else high)

    def _value(self, point: Point) -> float:
        return self.signal.sign * float(point.p[self.signal.place])

    def _given(self, point: Point, value: float) -> Point:
        p = point.p.copy()
        p[self.signal.place] = self.signal.sign * value
        return replace(point, p=p)

    def _solved(self, guess: Point) -> tuple[Point | None, str]:
        """Where everything rests beside a point, in its modes; or what cannot."""
        solution = self.equations.solve(guess)
        if solution.met:
            return solution.point, ""
        missed = [self.equations.soft[int(k)] for k in np.flatnonzero(solution.missed)[:TOLD]]
        return None, " and ".join(missed) or "rest"
