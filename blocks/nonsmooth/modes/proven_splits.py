"""Which split of efforts that the motion leaves open proves for a while that all of them hold?

Boxes that are pushed against a wall hold in many ways. A split within the bounds is proof, and of
one that changes linearly with what is carried machine code can tell by itself for how long. The one
taken here is that of the smallest largest share of the bounds, as long as the same bounds decide.
Where it comes to a bound, another split may still hold: it is sought anew
(:meth:`~blocks.nonsmooth.modes.decisions.Decisions.decide`).
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices
from ...numerics.cache import Cache
from ...numerics.tolerances import AT_BOUND, CLEAR_ROOM, MODE_ENDED
from ...system import Evaluator, Problem
from ..complementarity import largest_share, linear_splits
from ..complementarity.scaling import dense_block
from ..mode_state import ModeState
from .delassus import Delassus, Matrix
from .indeterminacy import Indeterminacy
from .solved_modes import SolvedModes

__all__ = ["ProvenSplits"]

MOST_KNOWN = 100  # sets of elements, of which splits are remembered
_Split = tuple[Indices, Array, Array]  # elements, and what changes with their efforts, and does not


class ProvenSplits:
    """Splits of the elements that stick in the present modes.

    Parameters
    ----------
    held : efforts and bounds by the modes
    indeterminacy : who shares internal stress
    """

    def __init__(self, held: SolvedModes, indeterminacy: Indeterminacy) -> None:
        assert held.kept is not None and held.stopped is not None
        self.held, self.kept, self.stopped = held, held.kept, held.stopped
        self.indeterminacy = indeterminacy
        self.state: ModeState = indeterminacy.state
        self.delassus: Delassus = indeterminacy.delassus
        #: With their bounds, by elements.
        self._known: Cache[bytes, tuple[Array, list[_Split]]] = Cache(MOST_KNOWN)
        self._matrix: Matrix | None = None  # D that they belong to
        self._stands = {int(e): k for k, e in enumerate(self.kept.stressed)}

    @cached_property
    def _carried(self) -> Evaluator:
        """Efforts and bounds of all elements by which modes are decided on."""
        e = self.held.expressions
        return Evaluator(ca.Function("carried", self.held.symbols, [
            ca.densify(ca.vertcat(e["effort"], e["low"], e["high"]))]))

    @cached_property
    def _together(self) -> ca.Function:
        """What elements carry by the effort of each, as a matrix."""
        *given, modes, _ = self.held.symbols
        effort = ca.SX.sym("effort", self.held.size)
        whole = self.stopped.together(modes, effort, effort, effort)[0]
        return ca.Function("together", [*given, modes], [ca.jacobian(whole, effort)])

    @cached_property
    def _felt(self) -> bool:
        """Whether conditions of the model look at efforts: these are not to change with a split."""
        tape = self.indeterminacy.evaluation.system.tape
        return bool(ca.jacobian_sparsity(ca.vertcat(tape.crossings, tape.exponents), tape.u).nnz())

    def numbers(self, problem: Problem, t: float, open_: Indices) -> Array | None:
        """K with such a split of the elements ``open_``; None where none is within the bounds."""
        held, modes = self.held, self.state.modes
        if not all(int(e) in self._stands for e in open_):
            return None
        d = self.delassus.matrix(problem, t)
        k = held.constants(problem, modes, d)[len(modes):].copy()
        effort, low, high = self._carried(*problem.arguments(t)[:-1], modes, k).reshape(3, -1)
        if (low[open_] == high[open_]).any():  # what holds nothing takes no share
            return None
        waits = np.broadcast_to(self.state.slack, len(modes)) > 0
        borne = self._borne(problem, t)
        for who, change, level in self._splits(d, open_, low, high, effort):
            most = AT_BOUND if waits[who].any() else -MODE_ENDED
            split = effort[who] + change @ effort[who] + level
            if not largest_share(low[who], high[who], split) < 1 + most:
                return None
            self._share(k, who, change @ borne[who])
            k[self.kept.stress][[self._stands[int(e)] for e in who]] = level
        return k

    def _splits(self, d: Matrix, open_: Indices, low: Array, high: Array, effort: Array
                ) -> list[_Split]:
        """Splits of some elements, group by group: those found last, or, at their bounds, anew."""
        bounds = np.array([low[open_], high[open_]])
        if d is not self._matrix:
            self._known, self._matrix = Cache(MOST_KNOWN), d
        known, splits = self._known.get(open_.tobytes()) or (None, [])
        if known is not None and np.array_equal(known, bounds) and all(largest_share(
                low[who], high[who], effort[who] + change @ effort[who] + level) < 1 - CLEAR_ROOM
                for who, change, level in splits):
            return splits
        splits = [(open_[members], change, level) for members, _, change, level in linear_splits(
            dense_block(d, open_, open_), low[open_], high[open_], effort[open_])]
        if self._felt:
            splits = [(who, 0.0 * change, level + change @ effort[who])
                      for who, change, level in splits]
        return self._known.keep(open_.tobytes(), (bounds, splits))[1]

    def _borne(self, problem: Problem, t: float) -> sp.csr_array:
        """What a friction carries by efforts: its own, and of contacts that stop its motion too."""
        at = *problem.arguments(t)[:-1], self.state.modes
        return sp.csr_array(self._together.call(at)[0].sparse())

    def _share(self, k: Array, who: Indices, change: Array) -> None:
        """Let efforts of some elements change with those of all."""
        for part, entries in self.kept.full:
            at = np.flatnonzero(np.isin(part, who))
            if len(at):
                k[entries[at]] += change[:, part] @ k[entries]
