"""What happened during a run, episode by episode?

An episode is the time between two events: relations, discrete values and the
choice of integrated states are constant in it. Variables are evaluated from the
stored trajectory when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..exceptions import ParameterError
from ..results.recording import EnergyTerm, EventRecord, VariableInfo
from ..solvers import Trajectory
from ..solvers.interpolation import Hermite
from ..system.system import AlgebraicFailure, Problem, System
from .element_modes import Elements, rests

if TYPE_CHECKING:
    from ..nonsmooth.modes.drift_correction import Contacts
    from ..results.sticking import SharedLoad, StickTerm

__all__ = ["Catalog", "Episode", "RunRecording"]

FEWEST_SAMPLES = 200
FEWEST_IN_STEP = 6
MANY_STEPS = 2000
SMALL_STEPS = 64  # between two instants, where unknowns change too much to be solved for at once
MOST_INPUTS = 4_000_000  # efforts that are kept at once while variables are evaluated


@dataclass
class Episode:
    """A stretch of time without events."""

    trajectory: Trajectory
    m: np.ndarray
    d: np.ndarray
    tied: np.ndarray
    x: np.ndarray  # full states at the start, as first guess
    z: np.ndarray
    modes: np.ndarray | None = None  # of set-valued laws, where there are any
    struck: tuple[tuple[int, int], ...] = ()  # (family, instance) of contacts struck at its start

    @property
    def start(self) -> float:
        return self.trajectory.start

    @property
    def end(self) -> float:
        return self.trajectory.end


class Catalog(Mapping):
    """All recorded variables by dotted path, looked up by walking the model's tree."""

    def __init__(self, system: System) -> None:
        self.network = system.network
        self.first: list[int] = []
        count = 0
        for family in self.network.families:
            self.first.append(count)
            count += len(family.kernel.variables) * family.size
        self.count = count
        self.elements = Elements(self.network)  # their modes come after all else

    def __getitem__(self, path: str) -> VariableInfo:
        node: Any = self.network.root
        parts = path.split(".")
        number = ""  # may stand at any level of an array of composites
        for k, part in enumerate(parts):
            name, _, given = part.partition("[")
            if name not in node._children or (given and number):
                raise KeyError(path)
            number = given or number
            node = node._children[name]
            if given and (node._count is None or not (given[-1:] == "]" and given[:-1].isdecimal()
                                                       and len(given) < 10)):
                raise KeyError(path)
            if not node.is_composite:
                return self._info(path, node, number, ".".join(parts[k + 1 :]))
        raise KeyError(path)

    def _info(self, path: str, component: Any, number: str, name: str) -> VariableInfo:
        where = self.network.place.get(id(component))
        if where is None:
            raise KeyError(path)
        f, start = where
        kernel = self.network.families[f].kernel
        group = None if name in kernel.index else self.elements.find(f, name)
        if (name not in kernel.index and group is None) or (
                bool(number) != (component._count is not None)):
            raise KeyError(path)
        offset = int(number.rstrip("]")) if number else 0
        if not 0 <= offset < component.size:
            raise KeyError(path)
        if group is not None:
            return self.elements.info(group, start + offset, self.count)
        return self.info(f, kernel.index[name], start + offset)

    def info(self, f: int, i: int, instance: int) -> VariableInfo:
        family = self.network.families[f]
        local = family.kernel.variables[i]
        owner = family.path(instance)
        return VariableInfo(
            f"{owner}.{local.name}", owner, local.name, local.unit, local.kind,
            getattr(local.declared, "doc", ""), self.first[f] + i * family.size + instance,
        )  # fmt: skip

    def locate(self, index: int) -> tuple[int, int, int]:
        """(family, local variable, instance) of a handle."""
        f = int(np.searchsorted(self.first, index, side="right")) - 1
        i, instance = divmod(index - self.first[f], self.network.families[f].size)
        return f, i, instance

    def __iter__(self) -> Iterator[str]:
        for f, family in enumerate(self.network.families):
            for instance in range(family.size):
                owner = family.path(instance)
                for local in family.kernel.variables:
                    yield f"{owner}.{local.name}"
                yield from self.elements.paths_of(f, instance)

    def __len__(self) -> int:
        return self.count + self.elements.count


@dataclass
class RunRecording:
    """The engine's recording of one run, as :mod:`blocks.results` reads it."""

    name: str
    system: System
    problem: Problem
    p: np.ndarray
    episodes: list[Episode] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    status: str = "finished"
    message: str = ""
    samples: np.ndarray | None = None
    #: Relative residual of the energy ledger that the accuracy of the run explains.
    energy_tolerance: float = 1e-4
    start: Any = None  # what became of the initial targets
    ledger: Any = None
    _functions: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.catalog = Catalog(self.system)

    def __reduce__(self) -> Any:
        raise ParameterError(
            "result", "cannot be pickled: it is read by the compiled equations of its model, which "
            "Python's pickle cannot store.",
            "Save values, result.to_netcdf('run.nc') or result.table(…), or pickle the model and "
            "run it again; a sweep keeps outputs of many runs.", code="result.pickle",
        )  # fmt: skip

    # -- times -------------------------------------------------------------------------
    @property
    def times(self) -> np.ndarray:
        return np.concatenate([t for _, t in self._own_times()])

    def _own_times(self) -> list[tuple[Episode, np.ndarray]]:
        if self.samples is not None:
            return self._split(self.samples, "right")
        steps = sum(len(e.trajectory.t) - 1 for e in self.episodes)
        parts = max(FEWEST_IN_STEP, int(np.ceil(FEWEST_SAMPLES / max(steps, 1))))
        # high-order methods take long steps; the curve between is known
        short = 0.0
        if steps >= MANY_STEPS:
            short = (self.episodes[-1].end - self.episodes[0].start) / MANY_STEPS
        out = []
        for e in self.episodes:
            t = e.trajectory.t
            if len(t) > 1:
                inside = np.linspace(t[:-1], t[1:], parts, endpoint=False, axis=1)
                some = np.arange(parts) * (np.diff(t) > short)[:, None] == np.arange(parts)
                t = np.append(inside[some], t[-1])
            out.append((e, t))
        return out

    def _split(self, times: np.ndarray, side: str) -> list[tuple[Episode, np.ndarray]]:
        which = self._which(times, side)
        cuts = np.flatnonzero(np.diff(which)) + 1  # times do not decrease
        return [(self.episodes[int(which[part[0]])], times[part])
                for part in np.split(np.arange(len(times)), cuts) if len(part)]

    def _which(self, times: np.ndarray, side: str) -> np.ndarray:
        """Numbers of the episodes that times are in."""
        starts = np.array([e.start for e in self.episodes])
        which = np.searchsorted(starts, times, side="left" if side == "left" else "right") - 1
        return np.clip(which, 0, len(self.episodes) - 1)

    # -- values ------------------------------------------------------------------------
    def values(self, indices: Sequence[int], times: np.ndarray | None = None, side: str = "right"
               ) -> np.ndarray:
        """SI values of variables, (variables, times)."""
        indices = [int(i) for i in indices]
        if any(i >= self.catalog.count for i in indices):
            return self._with_modes(indices, times, side)
        if times is None:
            parts = self._own_times()
            order = None
        else:
            times = np.asarray(times, dtype=float)
            order = np.argsort(times, kind="stable")
            parts = self._split(times[order], side)
        function = self._function(tuple(indices))
        columns = [self._evaluate(function, episode, t) for episode, t in parts]
        out = np.concatenate(columns, axis=1) if columns else np.zeros((len(indices), 0))
        if order is not None:
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            out = out[:, back]
        return out

    def _with_modes(self, indices: list[int], times: np.ndarray | None, side: str) -> np.ndarray:
        """The same with modes among the variables: constant in every episode."""
        count = self.catalog.count
        chosen = self.samples if times is None else np.asarray(times, dtype=float)
        if chosen is None:
            lengths = [len(t) for _, t in self._own_times()]
            which = np.repeat(np.arange(len(lengths)), lengths)
        else:
            which = self._which(chosen, "right" if times is None else side)
        is_mode = np.array([i >= count for i in indices])
        out = np.empty((len(indices), len(which)))
        if not is_mode.all():
            others = [i for i in indices if i < count]
            out[~is_mode] = self.values(others, times, side)
        modes = np.array([e.modes for e in self.episodes])
        for row in np.flatnonzero(is_mode):
            out[row] = modes[which, indices[row] - count]
        return out

    def _function(self, indices: tuple[int, ...]) -> ca.Function:
        if indices not in self._functions:
            self._functions[indices] = ca.Function(
                "output", self.system.arguments, [self._expression(indices)]
            )
        return self._functions[indices]

    def _expression(self, indices: tuple[int, ...]) -> Any:
        system, flat = self.system, self.system.flat
        rows = []
        for index in indices:
            f, i, instance = self.catalog.locate(index)
            kernel = flat.network.families[f].kernel
            if i in kernel.observed:
                one = np.array([instance])
                rows.append(system.tape.writer.kernel_row(f, kernel.observed[i], one))
            elif kernel.variables[i].kind == "discrete":
                rows.append(system.tape.writer.d_blocks[f][i][0, instance])
            else:
                slot = flat.base[f][i, 0] + instance
                rows.append(flat.sign_of[slot] * system.tape.values[int(flat.class_of[slot])])
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)

    def _evaluate(self, function: ca.Function, episode: Episode, t: np.ndarray, share: bool = True
                  ) -> np.ndarray:
        if len(t) * self.system.nu > MOST_INPUTS and len(t) > 1:
            half = len(t) // 2
            return np.concatenate([self._evaluate(function, episode, part, share)
                                   for part in (t[:half], t[half:])], axis=1)
        x, z, u = self.points(episode, t, share)
        if not len(t):
            return np.zeros((function.size1_out(0), 0))
        delays = self.problem.delays
        d = episode.d if delays is None else delays.along(episode.d, episode.start, t)
        out = function(t[None, :], x, z, self.p, episode.m, d, u)
        return np.asarray(out, dtype=float).reshape(function.size1_out(0), len(t))

    def points(self, episode: Episode, t: np.ndarray, share: bool = True
               ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Full states, torn unknowns and set-valued efforts at times within an episode.

        With ``share``, efforts that the motion leaves open take their documented split.
        """
        problem = self.problem
        problem.p, problem.m, problem.d = self.p, episode.m, episode.d
        if not np.array_equal(problem.tied, episode.tied):
            problem.tied = episode.tied
            problem._partition()
        laws = problem.laws
        if laws is not None:
            laws.modes = episode.modes
        if problem.delays is not None:
            problem.delays.select(episode.start)
        solved = episode.trajectory.solved
        carried = None if solved is None else solved(t)
        if carried is not None and laws is None:
            x, z = np.split(carried, [self.system.nx])
            return x, z, np.zeros((0, len(t)))
        free = problem.free
        y = episode.trajectory(t)[: len(free)] if len(t) else np.zeros((len(free), 0))
        if not problem.algebraic and laws is None:
            nothing = np.zeros((0, len(t)))
            return y * problem.scale_x[free][:, None], nothing, nothing
        if laws is not None and laws.recorded:
            x = y * problem.scale_x[free][:, None]
            return x, np.zeros((0, len(t))), laws.efforts_at(t, episode.start)
        if laws is not None and len(t):
            x = y * problem.scale_x[free][:, None]
            inputs = None if problem.algebraic else laws.inputs_at(problem, t, x, share)
            if inputs is not None:
                return x, np.zeros((0, len(t))), inputs
        problem.x[:], problem.z[:] = episode.x, episode.z
        held = self._contacts if laws is not None else None
        x = np.empty((self.system.nx, len(t)))
        z = np.empty((self.system.nz, len(t)))
        u = np.empty((self.system.nu, len(t)))
        followed: _Followed | None = None
        before = episode.start
        for k, at in enumerate(t):
            try:
                if carried is not None:
                    problem.x[:] = carried[:, k]
                elif self.system.clusters:
                    followed = followed or _Followed(problem, episode)
                    problem.x[problem.tied] = followed.near(at)
                problem.x[free] = y[:, k] * problem.scale_x[free]
                if held is None or problem.algebraic:
                    self._follow(episode, before, at)
                if held is not None and not held.close(problem, at):  # as at the ends of steps
                    problem.update(at)
                if laws is not None and share:
                    laws.split_internal_stress(problem, at)
                x[:, k], z[:, k], u[:, k] = problem.x, problem.z, problem.u
                before = at
            except AlgebraicFailure:
                x[:, k], z[:, k], u[:, k] = np.nan, np.nan, np.nan
        return x, z, u

    def _follow(self, episode: Episode, before: float, at: float) -> None:
        """Solve at the present point; in small steps from the last one, where that is far away."""
        problem = self.problem
        try:
            problem.update(at)
        except AlgebraicFailure:
            if self.system.clusters or problem.laws is not None:
                raise
            free = problem.free
            for between in np.linspace(before, at, SMALL_STEPS + 1)[1:]:
                y = episode.trajectory(float(between))[: len(free)]
                problem.x[free] = y * problem.scale_x[free]
                problem.update(float(between))

    @cached_property
    def _contacts(self) -> Contacts | None:
        """What keeps closed contacts closed, where there are any."""
        laws = self.problem.laws.set_valued
        if not laws.contact.any():
            return None
        from ..nonsmooth.modes.drift_correction import Contacts

        return Contacts(laws)

    def shapes(self) -> list[Any]:
        """Shapes of all components, with handles of variables instead of names.

        What many components say of one body is drawn once, and of contacts that never
        touch only the outlines.
        """
        from ..shapes import Outline, Vertex, placed, polygon

        out: list[Any] = []
        drawn = set()
        corners: dict[Any, list[Any]] = {}  # of bodies, by their frames
        laws = self.problem.laws
        acted = laws.acted() if laws is not None and laws.recorded else {}
        for f, family in enumerate(self.system.network.families):
            for start, member in zip(family.starts, family.members, strict=True):
                loaded = acted[f][start : start + member.size] if f in acted else None
                for shape in placed(member, lambda path: self.catalog[path].index, loaded):
                    if isinstance(shape, Outline | Vertex):
                        frame = tuple(self._class_of(h) for h in shape.frame_at)
                    if isinstance(shape, Vertex):
                        corners.setdefault(frame, []).append(shape)
                        continue
                    if isinstance(shape, Outline):
                        key = *frame, shape.points.tobytes(), shape.filled
                        if key in drawn:
                            continue
                        drawn.add(key)
                    out.append(shape)
        return out + [Outline(of_one[0].frame_at, polygon([v.point for v in of_one]), filled=True)
                      for of_one in corners.values()]

    def _class_of(self, index: int) -> Any:
        """What two variables have in common that are always equal."""
        f, i, instance = self.catalog.locate(index)
        slot = self.system.flat.base[f].get((i, 0))
        return ("own", index) if slot is None else int(self.system.flat.class_of[slot + instance])

    # -- energy ------------------------------------------------------------------------
    def energy_terms(self) -> Sequence[EnergyTerm]:
        """Energy per component; see :mod:`blocks.simulation.energy`."""
        from .energy import energy_terms

        return energy_terms(self)

    def sticking_terms(self) -> list[StickTerm]:
        """Sticking of every friction over the run, exact or nearly."""
        from .sticking import creep_terms

        lost = {t.component: t.dissipated for t in self.energy_terms()}
        exact = self._exact_terms(lost)
        named = {term.component for term in exact}
        return exact + [t for t in creep_terms(self, lost) if t.component not in named]

    def _exact_terms(self, lost: dict[str, float]) -> list[StickTerm]:
        """One term for every component whose laws have modes."""
        from ..results.sticking import StickTerm

        laws = self.problem.laws
        if laws is None or not laws.size:
            return []
        spans = np.array([e.end - e.start for e in self.episodes])
        modes = np.array([e.modes for e in self.episodes])
        terms = []
        for f, groups in self.catalog.elements.by_family.items():
            family = self.system.network.families[f]
            for instance in range(family.size):
                stuck = rests(groups, modes, instance)
                away = int(np.sum(stuck[:-1] & ~stuck[1:]))
                longest = run = 0.0
                for at_rest, span in zip(stuck, spans, strict=True):
                    run = run + span if at_rest else 0.0
                    longest = max(longest, run)
                name = family.path(instance)
                share = float(spans[stuck].sum() / spans.sum()) if spans.sum() else float(stuck[-1])
                terms.append(StickTerm(name, share, away, float(longest), lost.get(name, 0.0)))
        return terms

    def shared_loads(self) -> list[SharedLoad]:
        """Efforts at rest that the motion does not determine."""
        from ..results.sticking import SharedLoad

        laws = self.problem.laws
        found: list[SharedLoad] = []
        last: dict[tuple[str, ...], int] = {}
        if laws is None:
            return found
        for e in self.episodes:
            middle = (e.start + e.end) / 2
            x, z, u = self.points(e, np.array([middle]))
            self.problem.x[:], self.problem.z[:], self.problem.u[:] = x[:, 0], z[:, 0], u[:, 0]
            present = {}
            for names, efforts in laws.indeterminate_groups(self.problem, middle):
                members = tuple(names)
                k = present[members] = last.get(members, len(found))
                start = found[k].start if members in last else e.start
                shared = SharedLoad(members, start, e.end, middle, tuple(efforts.tolist()))
                found[k:k + 1] = [shared]
            last = present
        return found

    @property
    def states(self) -> list[str]:
        """Paths of the integrated variables, for a plot without names."""
        names = (self.system.state_name(i) for i in range(min(self.system.nx, 12)))
        return [n for n in names if "(" not in n][:8]


class _Followed:
    """Where Newton's method is to start from for the tied states of an episode.

    They are followed from step to step as the run has followed them; inside a step they are
    near a cubic through its ends.
    """

    def __init__(self, problem: Problem, episode: Episode) -> None:
        self.problem, self.trajectory = problem, episode.trajectory
        self.steps = episode.trajectory.t
        self.i = 0  # the step end reached
        self.left = self.right = self._end(episode.x[problem.tied])

    def near(self, at: float) -> np.ndarray:
        """A guess at a time not before that of the last call."""
        while self.steps[self.i] < at and self.i + 1 < len(self.steps):
            t, x, slope = self.right
            self.i += 1
            self.left, self.right = self.right, self._end(x + (self.steps[self.i] - t) * slope)
        (t0, x0, slope0), (t1, x1, slope1) = self.left, self.right
        return x1 if t0 == t1 else Hermite(t0, t1, x0, x1, slope0, slope1)(at)

    def _end(self, guess: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Time, tied states and their slopes at a step's end."""
        problem, at = self.problem, float(self.steps[self.i])
        tied, free = problem.tied, problem.free
        problem.x[tied] = guess
        problem.x[free] = self.trajectory(at)[: len(free)] * problem.scale_x[free]
        problem.update(at)
        slope = problem.system.slope(*problem._arguments(at))
        return at, problem.x[tied].copy(), slope[tied]
