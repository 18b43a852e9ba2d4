"""Which sampled values are worked out by functions in Python?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import BlocksError, SimulationError
from ..language.component import Component
from ..numerics.arrays import Array, Flags
from ..system.system import System

__all__ = ["PythonSamples"]


class PythonSamples:
    """Components that work out their Discrete variables themselves, see ``at_samples``.

    Parameters
    ----------
    system : System
    first_item : of every family that samples, the number of its first sampler
    """

    def __init__(self, system: System, first_item: Mapping[int, int]) -> None:
        self._callers: list[tuple[Component, int, str, int, dict[str, int]]] = []
        for f, item in first_item.items():
            family = system.network.families[f]
            own = {family.kernel.variables[i].name: o
                   for g, i, o in system.tape.discrete_layout if g == f}
            for start, member in zip(family.starts, family.members, strict=True):
                if type(member).at_samples is Component.at_samples:
                    continue
                for k in range(start, start + member.size):
                    places = {name: offset + k for name, offset in own.items()}
                    self._callers.append((member, k - start, family.path(k), item + k, places))
        #: What each was asked last, and has given: while that is the same, it is not asked anew.
        self._known: list[tuple[Any, dict[str, float]]] = [(None, {})] * len(self._callers)
        self._stopped: KeyboardInterrupt | None = None

    def __len__(self) -> int:
        return len(self._callers)

    def places(self, number: int) -> list[int]:
        """Where the discrete values of a component stand."""
        return list(self._callers[number][-1].values())

    def assign(self, t: float, due: Flags, before: Array, new: Array) -> None:
        """Write what the functions give over ``new``; ``before`` is what was before the instant.

        Ctrl-C that machine code could not pass on is raised when this is asked for anew.
        """
        if self._stopped:
            raise self._stopped
        for number, (component, k, path, item, places) in enumerate(self._callers):
            if not due[item]:
                continue
            asked = (t, k, {name: float(new[p]) for name, p in places.items()},
                     {name: float(before[p]) for name, p in places.items()})
            known, given = self._known[number]
            try:
                if asked != known:
                    given = component.at_samples(*asked)
            except BlocksError:
                raise
            except KeyboardInterrupt as stopped:
                self._stopped = stopped
                raise
            except Exception as error:  # of whatever kind: it is the user's function
                raise SimulationError(
                    path, f"at t = {t:.9g} s its function failed with {type(error).__name__}: "
                    f"{error}.", "The error above says where in the function.", time=t,
                    variables=(path,), code="simulation.function") from error  # fmt: skip
            for name, value in given.items():
                if not np.isfinite(value):
                    raise SimulationError(path, f"at t = {t:.9g} s its function gave {value} for "
                                          f"{name}.", "It has to give finite numbers.", time=t,
                                          variables=(f"{path}.{name}",),
                                          code="simulation.function")  # fmt: skip
                new[places[name]] = value
            self._known[number] = asked, given
