"""Numerical methods behind one small contract.

Knows vectors and functions only: no components, units, events or results. The
contract is in `base`; a module (and the library behind it) is imported when
`METHODS` is asked for a class of it.

===============  ==========================================================
Radau, BDF       implicit methods of SciPy: stiff ODE
ode45, ode23s    published step controls, to reproduce published step counts
===============  ==========================================================
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, TypeAlias

from .base import Method, Problem, Step, Work
from .trajectory import Trajectory

__all__ = ["METHODS", "Method", "MethodName", "Problem", "Step", "Trajectory", "Work"]

#: What ``method=`` of a run may be, for type checkers.
MethodName: TypeAlias = Literal[
    "auto", "rodas4", "Radau", "BDF", "RK45", "RK23", "DOP853", "ode45", "ode23s", "dopri5",
    "euler", "rk4", "backward_euler", "trapezoidal", "moreau_jean"]


class _Registry(UserDict[str, Any]):
    """Name -> class; a class is imported when it is asked for."""

    def __getitem__(self, name: str) -> type[Method]:
        module, _, attribute = self.data[name].partition(":")
        return getattr(import_module(f"{__name__}.{module}"), attribute)


METHODS: Mapping[str, type[Method]] = _Registry({
    "Radau": "scipy_methods:Radau", "BDF": "scipy_methods:BDF",
    "ode45": "ode45:Ode45", "ode23s": "ode23s:Ode23s"})
