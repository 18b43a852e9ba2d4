"""Did the condition of a ``when`` hold for good although what it assigned had turned it back?

The first bouncing ball that everybody writes, ``when(h < 0, {v: -0.75 * v})``, acts where its
condition becomes true. Once its flights are too short for the digits of a run, it is above the
floor at no instant that can be told apart, its condition never becomes false again, and it falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
import scipy.sparse as sp

from ..exceptions import SimulationError, warn_user
from ..language.expression import TIME
from ..numerics.arrays import Array, IndexMatrix, Indices
from ..numerics.sparse_solves import factored
from ..system.evaluator import Evaluator
from ..system.system import System
from .failures import TURN_BACK
from .recording import RunRecording

if TYPE_CHECKING:
    from .actions import Resets
    from .relations import Relations

__all__ = ["LastingWarning", "refuse_lasting"]

BEYOND = ("its condition stays true, so that it acts no more. Assign a value at which it is false; "
          "what shall act once says so by a Discrete that it sets: "
          "when((u > limit) & (done < 1), {u: …, done: 1}).")
AT_ONCE = 1000  # instants
GONE = 1e-6  # nominal values past a crossing from which on it is no rounding
DUST = 1e-12  # nominal values in the time of a run: no motion that has turned


class LastingWarning(UserWarning):
    """The condition of a ``when`` has stayed true, though it stopped what had made it true."""


def refuse_lasting(recording: RunRecording, resets: Resets, relations: Relations) -> None:
    """Raise where the motion that a ``when`` turned back went on through its condition.

    Where it was only stopped, as by ``{v: 0}``, what goes on may be meant: that is a warning; or is
    meant, where nothing integrated is assigned, as by a valve that closes. A SimulationError names
    the component and that instant. One that was put at what made it true or beyond, and never came
    back, is told, too: it could not act again.
    """
    system, (which, of_states, moved_by) = recording.system, resets.turning()
    if not len(which):
        return
    assert resets.conditions is not None
    margins, rates, of_loops = system.once("lasting conditions", lambda: _functions(system, which))
    episodes = recording.episodes
    m, starts, ends = episodes.m > 0.5, episodes.starts, episodes.ends
    look = (recording.evaluate_unsplit if system.clusters or of_loops
            else recording.evaluate_states)
    turned, i = np.nonzero((m[1:] != m[:-1])[:, which])  # of relations, relation by relation,
    if not len(i):
        return
    order = np.lexsort((turned, i))
    begun, i = turned[order] + 1, i[order]  # the episodes in which they have just turned
    again = np.append(i[1:] == i[:-1], False)
    last = np.where(again, np.append(begun[1:], 0), len(m)) - 1  # before they turn again
    side, alone = np.where(m[begun, which[i]], 1.0, -1.0), np.bincount(i, minlength=1)[i] == 1
    later, size = _seen(look, margins, ends[last], last, np.stack([i, len(which) + i]))
    gone = side * later > GONE * size
    first, i, side, alone = begun[gone], i[gone], side[gone], alone[gone]
    if not len(first):
        return
    rows, r, look = np.stack([i, len(which) + i]), which[i], recording.evaluate_unsplit
    here, size_here = _seen(look, margins, starts[first], first, rows)
    before, after = (side * rates(look, starts[first], k, i) for k in (first - 1, first))
    passed = np.abs(here) <= GONE * size_here  # and not put beyond it
    holds = look(resets.conditions, ends[-1:], np.array([len(m) - 1]))[moved_by[r], 0] > 0.5
    back = np.where(of_states[r], np.minimum(before, after) <= 0.0, after < -GONE * np.abs(before))
    put = np.flatnonzero(alone & ~(passed & back) & (moved_by[r] >= 0) & holds)
    at_once, size = _seen(look, margins, ends[first[put] - 1], first[put] - 1, rows[:, put])
    for k in put[np.abs(at_once) <= GONE * size].tolist():
        component, text = relations.describe(int(r[k]), bool(m[-1, r[k]]))
        warn_user(f"{component}: {text} at t = {starts[first[k]]:.9g} s, and what its "
                  f"`when` assigns leaves it there: {BEYOND}", LastingWarning)
    fast = np.maximum(np.abs(before), np.abs(after)) * (ends[-1] - starts[0]) > DUST * size_here
    found = np.flatnonzero(passed & back & fast)
    for k in found[np.unique(i[found], return_index=True)[1]].tolist():
        component, text = relations.describe(int(r[k]), bool(m[first[k], r[k]]))
        t, turned = float(starts[first[k]]), after[k] != 0.0
        told = (f"{text} at t = {t:.9g} s, and its `when` {'turned' if turned else 'stopped'} the "
                "motion there; yet that went on, and the condition stayed true: it acts once, "
                "where it becomes true.")
        if turned:
            recording.fail(f"the condition of {component} lasts")
            raise SimulationError(
                component, f"{told} Its last flights were too short to be told apart.", TURN_BACK,
                code="simulation.lasting", time=t, variables=(component,))
        warn_user(f"{component}: {told} {TURN_BACK}", LastingWarning)


def _seen(look: Callable[..., Array], function: Evaluator, t: Array, episodes: Indices,
          rows: IndexMatrix) -> Array:
    """Rows of a function, each of a column of ``rows`` at its time in its episode."""
    out, (some, at, of) = np.empty(rows.shape), np.unique(
        episodes, return_index=True, return_inverse=True)
    for k in range(0, len(some), AT_ONCE):
        mine = (of >= k) & (of < k + AT_ONCE)
        values = look(function, t[at[k : k + AT_ONCE]], some[k : k + AT_ONCE])
        out[:, mine] = values[rows[:, mine], of[mine] - k]
    return out


def _functions(system: System, which: Indices) -> tuple[Evaluator, Callable[..., Array], bool]:
    """Margins of some relations with their sizes at nominal values of 1, their rates, and whether
    one looks at an unknown of a loop."""
    t, z = system.tape, system.tape.z
    margins = ca.densify(t.crossings[which.tolist()])
    sizes = ca.densify(ca.sum2(ca.fabs(ca.jacobian(margins, ca.vertcat(t.x, z)))))
    moving, loops = ca.vertcat(margins, t.residual), ca.jacobian(t.residual, z)
    by, n, nz = ca.jacobian(margins, z), len(which), z.numel()
    parts = [ca.jtimes(moving, t.x, t.slope) + ca.jacobian(moving, TIME), by.nz[:], loops.nz[:]]
    if not by.nnz():
        nz, parts = 0, [parts[0][:n]]
    told, ends = system.function("rates", ca.densify(ca.vertcat(*parts))), n + nz + by.nnz()
    (i, j), (r, c) = by.sparsity().get_triplet(), loops.sparsity().get_triplet()

    def rates(look: Callable[..., Array], times: Array, episodes: Indices, rows: Indices) -> Array:
        """Of each row at its time in its episode."""
        seen = _seen(look, told, times, episodes, np.tile(
            np.arange(told.function.numel_out(0))[:, None], len(times)))
        out = seen[rows, np.arange(len(times))]
        for k in range(len(times) if nz else 0):  # and what follows by loops
            held = sp.csc_matrix((seen[ends:, k], (r, c)), (nz, nz))
            follow = sp.csr_matrix((seen[n + nz : ends, k], (i, j)), (n, nz))[[rows[k]]]
            try:
                out[k] -= (follow @ factored(held)(seen[n : n + nz, k]))[0]
            except RuntimeError:  # left open in this mode
                out[k] = np.nan
        return out

    return system.function("margins", ca.vertcat(margins, sizes)), rates, nz > 0
