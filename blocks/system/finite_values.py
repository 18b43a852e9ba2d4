"""Has every value of a model a number, those too that no motion depends on?

A slope that is not finite stops a run by itself. A signal that nothing follows, or one
that ``minimum()`` hides, does not: the laws that may lose their value are looked at here.
Knows equations and recorded runs; no solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias

import casadi as ca
import numpy as np

from ..assembly.network import Family
from ..exceptions import SimulationError, warn_user
from ..language.kernel import Kernel, Law
from ..language.readable import readable
from ..numerics.arrays import Array, Flags, Indices, distinct
from ..numerics.rewriting import instructions
from ..numerics.tolerances import TINY
from .evaluator import Evaluator
from .problem import Problem
from .system import System

if TYPE_CHECKING:
    from ..simulation.recording import RunRecording

__all__ = ["ADVICE", "FiniteValues", "no_value"]

#: operations that have no value for some arguments, and the argument that decides
PARTIAL = {ca.OP_DIV: 1, ca.OP_INV: 0, ca.OP_LOG: 0, ca.OP_SQRT: 0, ca.OP_POW: 0, ca.OP_TAN: 0,
           ca.OP_CONSTPOW: 0, ca.OP_ASIN: 0, ca.OP_ACOS: 0, ca.OP_FMOD: 1}  # fmt: skip
#: operations that are zero where one of so many arguments, the first ones, is
SAME_ZEROS = {ca.OP_MUL: 2, ca.OP_DIV: 1, ca.OP_NEG: 1, ca.OP_TWICE: 1, ca.OP_SQ: 1, ca.OP_FABS: 1,
              ca.OP_SQRT: 1, ca.OP_POW: 1, ca.OP_CONSTPOW: 1}  # fmt: skip
MANY = 20_000  # operations that are not all gone through, or looked at after every step
#: operations that have a finite value wherever their arguments have one
WHOLE = {ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ, ca.OP_SIN, ca.OP_COS,
         ca.OP_FABS, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_SIGN, ca.OP_FMIN, ca.OP_FMAX, ca.OP_LT,
         ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_IF_ELSE_ZERO}
#: what a system's functions take: time, states and the like; of these what is solved for
MOVING, SOLVED = {0, 1, 2, 5, 6}, {2, 6}
CONSTANT = {"constant", "parameter"}  # slopes of a law
LOOKS = 50  # instants at which a run with many unknowns is looked at, beside ends of episodes
KERNELS = 256  # classes of components whose laws are gone through once for many models
CHUNK = 2000  # instants that are looked at at once
HALVINGS = 40  # of a step
POWER = 0.25  # least one with which values grow near a pole

#: Numbers of laws, those by every divisor that may pass zero, and values: of both, and divisors.
_Laws: TypeAlias = tuple[Indices, Indices, Evaluator]
Text: TypeAlias = Callable[[], str]  # gives an equation to whoever reads it


class FiniteValues:
    """The laws of a system that may have no value, as residuals to look at."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.told: list[tuple[Family, int, Text]] = []  # family, instance, equation
        rows, moving, slopes = [], [], _laws_of_slopes(system)
        for f, family in enumerate(system.network.families):
            laws = _partial_laws(family.kernel)
            if laws:  # all at once: they share most of their operations
                values = ca.vertcat(*(value for *_, value in laws))
                rows.append(ca.vec(system.tape.writer.kernel_row(f, values).T))
            for law, text, _ in laws:
                self.told += [(family, i, text) for i in range(family.size)]
                moving += np.isin(np.arange(family.size), slopes.get((f, id(law)), [])).tolist()
        self.alone = len(self.told)  # laws that are evaluated by themselves
        for family, instance, text, value, of_slopes in _changing_blocks(system):
            rows.append(value)
            moving.append(of_slopes)
            self.told.append((family, instance, text))
        #: The parameters lately, and sets of relations with which they leave every law its value.
        self._known: tuple[bytes, set[bytes]] = b"", set()
        self.expression = ca.densify(ca.vertcat(*rows)) if rows else ca.SX(0, 1)
        #: Those that give the slope of a state: where they have no value, the run stops by itself.
        self.moving = np.flatnonzero(moving)

    @classmethod
    def of(cls, system: System) -> FiniteValues:
        """Return what is watched of a system, made once."""
        return system.once("finite_values", lambda: cls(system))

    @cached_property
    def _function(self) -> ca.Function:
        return ca.Function("finite", self.system.arguments, [self.expression])

    @cached_property
    def _values(self) -> Evaluator:
        return Evaluator(self._function)

    def lost(self, problem: Problem, t: float) -> list[tuple[str, str]]:
        """(component, equation) of the laws without a value at the problem's present point.

        Those that are solved together with others are not among them: there it is asked
        what they determine.
        """
        with np.errstate(all="ignore"):
            values = self._values(*problem.arguments(t))
        return [self._named(int(k)) for k in np.flatnonzero(~np.isfinite(values[:self.alone]))]

    def _named(self, k: int) -> tuple[str, str]:
        family, instance, text = self.told[k]
        return family.path(instance), text()

    def refuse_lost(self, recording: RunRecording) -> None:
        """Raise where a law had no value at the end of a step of a run.

        Of large systems fewer are looked at, so that this costs no more than the run; where
        unknowns are solved for, some fifty, spread over the run, and the ends of episodes. A
        SimulationError names the component, its equation and the first such instant.
        """
        if not self.told:
            return
        self._check_relations(recording)
        for laws, of_states in self._of_steps:
            self._check_steps(recording, laws, of_states)

    def _check_relations(self, recording: RunRecording) -> None:
        """Look at laws that may lose their value by parameters and relations alone."""
        laws, _, function = self._of_relations
        if not len(laws):
            return
        rows, problem = recording.episodes.m, recording.problem
        packed = np.packbits(np.column_stack([np.ones(len(rows)), rows]) > 0.5, axis=1)
        held = packed.view(f"S{packed.shape[1]}").ravel()  # the same for what is the same
        if self._known[0] != problem.p.tobytes():
            self._known = problem.p.tobytes(), set()
        new = set(np.unique(held).tolist()) - self._known[1]
        for k in sorted(int(np.argmax(held == one)) for one in new):  # the first one is told
            t = float(recording.episodes.starts[k])
            values = function(t, problem.x, problem.z, problem.p, rows[k], problem.d, problem.u)
            for law in laws[~np.isfinite(values)][:1].tolist():
                self._stop(recording, law, t)
            self._known[1].add(held[k].item())

    def _check_steps(self, recording: RunRecording, laws: _Laws, of_states: bool) -> None:
        """Look at some laws at the ends of the steps of a run."""
        (rows, divided, function), told = laws, False
        if not len(rows) + len(divided):
            return
        problem = recording.problem
        table = recording.episodes.steps
        passes = of_states and len(divided)  # perhaps, which the ends of a step tell
        costly = not passes and (problem.laws is not None or problem.algebraic)
        most = len(table.ends) // LOOKS
        every = 1 + (most if costly else min(most, function.function.n_instructions() // MANY))
        some = np.zeros((len(table.ends), 2), dtype=bool)
        some[::every, 0] = True
        if problem.laws is not None and problem.laws.recorded:  # its steps end at no instant
            some[-1:, 1] = True
        else:
            some[:, 1] = table.last
        all_times = np.column_stack([table.starts, table.ends])[some]
        which = np.repeat(table.which, some.sum(axis=1))
        for first in range(0, len(all_times), CHUNK):
            times, numbers = all_times[first : first + CHUNK], which[first : first + CHUNK]
            read = recording.evaluate_states if of_states else recording.evaluate_unsplit
            values = read(function, times, numbers)
            for k in np.flatnonzero(~np.isfinite(values[: len(rows)]).all(axis=0))[:1]:
                law = int(rows[np.flatnonzero(~np.isfinite(values[:, k]))[0]])
                self._stop(recording, law, float(times[k]))
            told = told or self._passes_pole(laws, times, numbers, values, partial(read, function))

    def _passes_pole(self, laws: _Laws, times: Array, numbers: Indices, values: Array,
                     read: Callable[[Array, Indices], Array]) -> bool:
        """Whether a law passes a pole in a step, where it grows beyond all bounds: it is told."""
        rows, divided, _ = laws
        sizes, divisor = values[len(rows) :].reshape(2, len(divided), len(times))
        passes = (np.abs(np.diff(np.sign(divisor), axis=1)) == 2) & (np.diff(numbers) == 0)
        at, which = (found[:LOOKS] for found in np.nonzero(passes.T))
        a, b, every = times[at], times[at + 1], np.arange(len(at))
        for _ in range(HALVINGS if len(at) else 0):
            there = read((a + b) / 2, numbers[at])[len(rows) :].reshape(2, len(divided), len(at))
            size, left = there[:, which, every]
            before = (left > 0) == (divisor[which, at] > 0)
            a, b = np.where(before, (a + b) / 2, a), np.where(before, b, (a + b) / 2)
        for k in every:
            ends = which[k], slice(at[k], at[k] + 2)
            closer = max(np.abs(divisor[ends]).min() / max(abs(left[k]), TINY), 1.0)
            if abs(size[k]) > closer**POWER * np.abs(sizes[ends]).max():
                path, text = self._named(int(divided[which[k]]))
                warn_user(f"{path}: its equation  {text}  grows beyond all bounds at t = "
                          f"{a[k]:.6g} s, between two steps, where it passes a pole. Keep it "
                          "away from there, or leave out what is not needed.")
                return True
        return False

    def _divisors_of(self, rows: list[int]) -> list[tuple[int, ca.SX]]:
        """Some laws and by what they divide that moves; none of systems of which not all operations
        are gone through."""
        if not rows or self._function.n_instructions() > MANY:
            return []
        values = [row.dep(0) if row.op() == ca.OP_NEG else row
                  for row in ca.vertsplit(ca.cse(self.expression[rows]))]
        told = {value.__hash__() for value in values}  # each one grows by its own poles
        found = [(row, divisor) for row, value in zip(rows, values, strict=True)
                 for divisor in _divisors(value, told)]
        moving = ca.vertcat(*(self.system.arguments[i] for i in MOVING))
        moves = ca.which_depends(ca.vertcat(*(d for _, d in found)), moving, 1, True)
        return [pair for pair, one in zip(found, moves, strict=True) if one]

    def _some(self, rows: list[int], divisors: Sequence[tuple[int, ca.SX]] = ()) -> _Laws:
        """Laws, those that divide by something that moves, which may be others, and what is looked
        at."""
        divided = [row for row, _ in divisors]
        return np.array(rows, dtype=int), np.array(divided, dtype=int), self.system.function(
            "finite", ca.vertcat(self.expression[rows + divided, 0], *(d for _, d in divisors)))

    @cached_property
    def _of_steps(self) -> list[tuple[_Laws, bool]]:
        """What is looked at at the ends of steps, and whether states, time and parameters decide.

        Last laws in which unknowns that are solved for decide whether there is a value. What
        divides, slopes of states among them, may pass a pole between two steps.
        """
        moving = set(self.moving.tolist())
        seen = set(range(len(self.told))) - moving - set(self._of_relations[0].tolist())
        if self.system.clusters or any(f.kernel.delays for f in self.system.network.families):
            return [(self._some(every := sorted(seen), self._divisors_of(every)), False)]
        solved = set(self._decided_by(SOLVED))
        divisors = self._divisors_of([*sorted(seen - solved), *sorted(moving - solved)])
        return [(self._some(sorted(seen - solved), divisors), True),
                (self._some(every := sorted(seen & solved), self._divisors_of(every)), False)]

    @cached_property
    def _of_relations(self) -> _Laws:
        """Laws that may lose their value by parameters and relations alone; large systems: none."""
        if self._function.n_instructions() > MANY:
            return self._some([])
        return self._some(sorted(set(range(len(self.told))) - set(self.moving.tolist())
                                 - set(self._decided_by(MOVING, WHOLE))))

    def _decided_by(self, given: set[int], whole: set[int] | None = None) -> list[int]:
        """Rows in which some arguments of the system decide whether there is a value.

        ``given`` says which arguments; ``whole`` are operations besides :data:`PARTIAL` of which
        none but these always has a value.
        """
        if self._function.n_instructions() > MANY:  # what decides does not follow linearly
            symbols = ca.vertcat(*(self.system.arguments[i] for i in given))
            return np.flatnonzero(ca.which_depends(self.expression, symbols, 2, True)).tolist()
        return [row for row, by in _deciding(self._function, whole).items()
                if by & given or self.expression[row].is_symbolic()]  # itself solved for

    def _stop(self, recording: RunRecording, law: int, t: float) -> None:
        path, text = self._named(law)
        recording.fail(f"no value at t = {t:.6g} s")
        raise SimulationError(path, f"{no_value(text)} at t = {t:.9g} s.", ADVICE, time=t,
                              variables=(path,), code="simulation.value")


def _is_never_negative(operation: int, signs: list[bool], constant: float) -> bool:
    """Whether what an operation gives is never below zero; ``signs``: whether its arguments are."""
    if operation == ca.OP_CONST:
        return constant >= 0
    if operation in (ca.OP_SQ, ca.OP_FABS, ca.OP_SQRT, ca.OP_EXP):
        return True
    return operation in (ca.OP_ADD, ca.OP_MUL, ca.OP_DIV, ca.OP_TWICE) and all(signs)


ADVICE = ("Look for a division by zero, a root or logarithm of a negative number, or values that "
          "only follow from each other; maximum() or a Saturation keeps an argument away.")


def no_value(equation: str) -> str:
    """What is said of an equation whose sides are not numbers."""
    return f"its equation  {equation}  has no finite value"


def _changing_blocks(system: System) -> Iterator[tuple[Family, int, Text, ca.SX, bool]]:
    """(family, instance, equation, a value) of linear equations that are solved together.

    And whether they give nothing but slopes of states. Those whose coefficients change with time,
    states or modes: they may cease to determine their unknowns. Constant ones are looked at by
    ``check()``.
    """
    flat, is_slope = system.flat, _slopes(system)
    for step in system.tape.steps:
        if step.group >= 0 or not step.linear:
            continue
        of = flat.groups_of(step.equations)
        changing = [k for k, law in enumerate(flat.groups[g].law for g in of)
                    if law is not None and not CONSTANT.issuperset(law.slopes)]
        if changing:
            group = flat.groups[of[changing[0]]]
            row = int(step.equations[changing[0]]) - group.first
            torn = step.block is not None and step.block.torn[: step.torn].tolist()
            for value in [system.tape.values[k] for k in torn or []] or [
                    ca.sum1(system.tape.values[step.unknowns.tolist()])]:
                yield (system.network.families[group.family], int(group.instances[row]),
                       partial(getattr, group.law, "text"), value,
                       bool(is_slope[step.unknowns].all()))


def _divisors(value: ca.SX, told: set[int]) -> list[ca.SX]:
    """By what an expression divides, but for what is in others, which are ``told`` by hashes."""
    found, seen, ahead = [], set(), [value]
    while ahead:
        one = ahead.pop()
        if one.__hash__() not in seen:
            seen.add(one.__hash__())
            ahead += [d for d in map(one.dep, range(one.n_dep())) if d.__hash__() not in told]
            by = []
            if one.op() in (ca.OP_DIV, ca.OP_INV):
                by = [one.dep(one.n_dep() - 1)]
            elif one.op() == ca.OP_CONSTPOW and float(one.dep(1)) < 0:
                by = [one.dep(0)]
            elif one.op() == ca.OP_TAN:
                by = [ca.cos(one.dep(0))]
            for divisor in by:
                zero_with = SAME_ZEROS.get(divisor.op(), 0)
                by += [divisor.dep(i) for i in range(zero_with)]
                found += [] if zero_with else [divisor]
    return found


def _slopes(system: System) -> Flags:
    """Which unknowns are slopes of states."""
    out = np.zeros(system.flat.classes, dtype=bool)
    out[system.flat.derivative[system.tape.reduced.states]] = True
    return out


def _laws_of_slopes(system: System) -> dict[tuple[int, int], list[int]]:
    """By family and law, the instances whose law gives the slope of a state, or some together."""
    flat, is_slope = system.flat, _slopes(system)
    found: dict[tuple[int, int], list[int]] = {}
    for step in system.tape.steps:
        given = is_slope[step.unknowns]
        if step.group < 0:
            given = np.full(len(step.equations), given.all() and not step.torn)
        equations = step.equations[given]
        of = flat.groups_of(equations)
        for g in distinct(of):
            group = flat.groups[g]
            if group.law is not None:
                found.setdefault((group.family, id(group.law)), []).extend(
                    group.instances[equations[of == g] - group.first])
    return found


@lru_cache(KERNELS)
def _partial_laws(kernel: Kernel) -> list[tuple[Law | None, Text, ca.SX]]:
    """(law, text, value) of what a class says that may have no value."""
    def may_have_none(value: ca.SX) -> bool:
        return not _deciding_symbols(value) <= kernel.parameter_hashes if ca.symvar(value) else (
            not np.isfinite(float(value)))

    def observed(name: str, value: ca.SX) -> str:
        return f"{name} == {readable(value)}"

    laws: list[tuple[Law | None, Text, ca.SX]] = []
    for law in kernel.laws:
        # without terms that have a value wherever their variable has one: else nothing were left
        # of ``y - log(u)`` where y has been replaced by its value
        gone = [s for s, slope in zip(law.symbols, law.slopes, strict=True) if slope == "constant"]
        value = ca.substitute(law.residual, ca.vertcat(*gone), ca.SX.zeros(len(gone)))
        if may_have_none(value):
            laws.append((law, partial(getattr, law, "text"), value))
    for i, value in kernel.observed.items():
        if may_have_none(value):
            laws.append((None, partial(observed, kernel.variables[i].name, value), value))
    return laws


def _deciding_symbols(value: ca.SX) -> set[int]:
    """Hashes of the symbols in operations that have a value for some arguments only."""
    symbols = ca.symvar(value)
    rows = _deciding(ca.Function("law", symbols, [value])).values()
    return {symbols[k].__hash__() for k in frozenset[int]().union(*rows)}


def _deciding(function: ca.Function, whole: set[int] | None = None) -> dict[int, frozenset[int]]:
    """By row, the numbers of the arguments in operations that have a value for some only.

    With ``whole``, these are all operations but these.
    """
    nobody: frozenset[int] = frozenset()
    follows: dict[int, frozenset[int]] = {}  # who each value depends on
    decided: dict[int, frozenset[int]] = {}  # and in such operations
    natural: dict[int, bool] = {}  # exponents with which every power has a value
    positive: dict[int, bool] = {}
    rows: dict[int, frozenset[int]] = {}
    for operation, inputs, results, k in instructions(function):
        if operation == ca.OP_OUTPUT:
            rows[results[1]] = decided[inputs[0]]
            continue
        given = () if operation in (ca.OP_INPUT, ca.OP_CONST) else inputs
        constant = function.instruction_constant(k) if operation == ca.OP_CONST else -1.0
        signs, of = [positive[i] for i in given], [follows[i] for i in given]
        found, every = nobody.union(*(decided[i] for i in given)), nobody.union(*of)
        power = operation in (ca.OP_POW, ca.OP_CONSTPOW) and natural[inputs[1]]
        safe = power or operation == ca.OP_SQRT and signs[0]  # has a value for all
        if operation in PARTIAL and not safe:
            found |= of[min(PARTIAL[operation], len(of) - 1)]
        elif whole is not None and operation not in whole:
            found |= every
        for out in results:
            follows[out] = frozenset(inputs[:1]) if operation == ca.OP_INPUT else every
            decided[out], natural[out] = found, constant >= 0 and float(constant).is_integer()
            positive[out] = _is_never_negative(operation, signs, constant)
    return rows
