"""What can be evaluated, once a network has been reduced?

CasADi functions of the reduced system and the problem that a solver sees:
states, the algebraic unknowns that go with them, scaled by nominal values.
Knows names only through the catalog of variables; knows no user input, no
solver and no events beyond crossing functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..assembly import Tape
from ..assembly.network import Network
from ..exceptions import StructureError
from ..language.expression import TIME
from .delays import delays_of

RATE_ROUNDS = 24  # of the power iteration for large systems; the second half counts
DENSE = 60  # unknowns up to which matrices are dense
MANY = 500  # algebraic unknowns from which full matrices of their size are avoided
BULKY = 4_000_000  # entries of a full Jacobian from which the explicit form is not worth it

__all__ = ["AlgebraicFailure", "Evaluator", "Problem", "System"]


class Evaluator:
    """A CasADi function called without allocations on CasADi's side.

    Arguments are copied into fixed arrays; sparse results come back as their
    nonzeros in column order.
    """

    def __init__(self, function: ca.Function) -> None:
        self.function = function
        self.buffer, self.trigger = function.buffer()
        self.arguments = [np.zeros(function.nnz_in(i)) for i in range(function.n_in())]
        self.results = [np.zeros(function.nnz_out(i)) for i in range(function.n_out())]
        for i, a in enumerate(self.arguments):
            self.buffer.set_arg(i, a.data)  # type: ignore[call-arg]  # a view knows its size
        for i, r in enumerate(self.results):
            self.buffer.set_res(i, r.data)  # type: ignore[call-arg]

    def __call__(self, *arguments: Any) -> np.ndarray:
        for mine, given in zip(self.arguments, arguments, strict=True):
            mine[...] = given
        self.trigger()
        return self.results[0].copy()

    def sparse(self, *arguments: Any) -> Any:
        """The first result as a CSC matrix."""
        data = self(*arguments)
        rows, columns = self._pattern
        return _sparse().csc_matrix((data, rows, columns), shape=self.function.size_out(0))

    def dense(self, *arguments: Any) -> np.ndarray:
        """The first result as a matrix, without the help of SciPy."""
        rows, starts = self._pattern
        out = np.zeros(self.function.size_out(0))
        out[rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = self(*arguments)
        return out

    @cached_property
    def mask(self) -> np.ndarray:
        """Where the first result may be other than zero."""
        rows, starts = self._pattern
        out = np.zeros(self.function.size_out(0), dtype=bool)
        out[rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = True
        return out

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        sparsity = self.function.sparsity_out(0)
        return np.array(sparsity.row(), dtype=np.int32), np.array(sparsity.colind(), dtype=np.int32)


class System:
    """The compiled reduced system of a model.

    Every function takes ``(t, x, z, p, m, d, u)``: time, states, torn
    unknowns, parameters, held relations, discrete values, set-valued efforts.
    """

    def __init__(self, network: Network, tape: Tape) -> None:
        self.network, self.tape = network, tape
        self.flat = tape.reduced.flat
        self.nx, self.nz = tape.x.numel(), tape.z.numel()
        self.nm, self.nd, self.nu = tape.m.numel(), tape.d.numel(), tape.u.numel()
        self.clusters = tape.reduced.clusters
        #: What is made of a system once, by those who use it: laws, machine code, functions.
        self.cache: dict[str, Any] = {}
        self.linear = tape.linear

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its model: assembling it again is cheaper than storing expressions."""
        compiled = self.network.root.__dict__.get("_compiled")
        if compiled is None or compiled[1] is not self:
            raise StructureError(
                "", "this compiled system is older than the structure of its model, and cannot be "
                "pickled.", "Pickle model.compile(), the present one.", code="structure.stale",
            )  # fmt: skip
        return _assembled, (self.network.root,)

    @property
    def arguments(self) -> list[Any]:
        t = self.tape
        return [TIME, t.x, t.z, t.p, t.m, t.d, t.u]

    def function(self, name: str, expression: Any) -> Evaluator:
        return Evaluator(ca.Function(name, self.arguments, [expression]))

    def jacobian(self, expression: Any, variable: Any, diagonal: bool = False) -> Evaluator:
        """Sparse Jacobian; with ``diagonal`` its whole diagonal is stored."""
        j = ca.jacobian(expression, variable)
        if diagonal:
            pattern = j.sparsity() + ca.Sparsity.diag(*j.shape)
            j = ca.project(j, pattern)
        return self.function("jacobian", j)

    @cached_property
    def slope(self) -> Evaluator:
        return self.function("slope", self.tape.slope)

    @cached_property
    def residual(self) -> Evaluator:
        return self.function("residual", ca.vertcat(self.tape.residual, self.tape.constraints))

    @cached_property
    def slope_x(self) -> Evaluator:
        return self.jacobian(self.tape.slope, self.tape.x, diagonal=True)

    @cached_property
    def slope_z(self) -> Evaluator:
        return self.jacobian(self.tape.slope, self.tape.z)

    @cached_property
    def residual_x(self) -> Evaluator:
        return self.jacobian(ca.vertcat(self.tape.residual, self.tape.constraints), self.tape.x)

    @cached_property
    def residual_z(self) -> Evaluator:
        return self.jacobian(ca.vertcat(self.tape.residual, self.tape.constraints), self.tape.z)

    def linear_matrix(self, *arguments: Any) -> Any:
        """``residual_z`` of many unknowns, a group of columns at a time.

        Columns without a common row are found by one product with a vector; that
        saves writing the entries of the Jacobian down.
        """
        along, pattern, colour = self._coloured
        rows, starts = np.array(pattern.row()), np.array(pattern.colind())
        products = np.column_stack([along(*arguments, colour == k)
                                    for k in range(colour.max(initial=0) + 1)])
        data = products[rows, np.repeat(colour, np.diff(starts))]
        return _sparse().csc_matrix((data, rows, starts), shape=pattern.shape)

    @cached_property
    def _coloured(self) -> tuple[Evaluator, Any, np.ndarray]:
        pattern = self.residual.function.jac_sparsity(0, 2)
        groups = pattern.uni_coloring()
        colour = np.repeat(np.arange(groups.shape[1]), np.diff(groups.colind()))
        of = np.empty(self.nz, dtype=int)
        of[np.array(groups.row())] = colour
        v = ca.SX.sym("v", self.nz)
        product = ca.jtimes(self.tape.residual, self.tape.z, v)
        return Evaluator(ca.Function("along", [*self.arguments, v], [product])), pattern, of

    @cached_property
    def residual_w(self) -> Evaluator:
        """Dense Jacobian of the residuals with respect to all of x and z (small systems)."""
        full = ca.vertcat(self.tape.residual, self.tape.constraints)
        j = ca.jacobian(full, ca.vertcat(self.tape.x, self.tape.z))
        return self.function("residual_w", ca.densify(j))

    @cached_property
    def crossings(self) -> Evaluator:
        return self.function("crossings", self.tape.crossings)

    @cached_property
    def values(self) -> Evaluator:
        """Everything that the equations determine."""
        return self.function("values", self.tape.values)

    # -- parameters ------------------------------------------------------------------
    def parameters(self) -> np.ndarray:
        """The parameter vector from the components' present values."""
        out = np.empty(self.tape.p.numel())
        for f, name, offset, width in self.tape.parameter_layout:
            family = self.network.families[f]
            out[offset : offset + width * family.size] = family.parameter(name).ravel()
        return out

    # -- names -----------------------------------------------------------------------
    @cached_property
    def slot_runs(self) -> list[Any]:
        """Which variable stands in which slots: (first slot, size, family, (variable, order))."""
        return self.flat.slot_names()

    @cached_property
    def class_names(self) -> Names:
        return Names(self)

    def state_name(self, i: int) -> str:
        return self.class_names[int(self.tape.reduced.states[i])]

    def torn_name(self, i: int) -> str:
        return self.class_names[int(self.tape.z_classes[i])]


def _assembled(model: Any) -> System:
    """The compiled system of an unpickled model."""
    return model.compile()


class Names(Mapping):
    """The most telling variable path of every class, made when asked for."""

    def __init__(self, system: System) -> None:
        flat = system.flat
        self.flat = flat
        self.runs = system.slot_runs
        rank = np.empty(flat.slots, dtype=int)
        for base, size, f, (i, order) in self.runs:
            kind = flat.network.families[f].kernel.variables[i].kind
            of_port = kind in ("across", "through", "shared")
            rank[base : base + size] = order * 4 + of_port * 2 + (kind == "input")
        ranked = np.lexsort((np.arange(flat.slots), rank, flat.class_of))
        first = np.unique(flat.class_of[ranked], return_index=True)
        self.slot = dict(zip(first[0].tolist(), ranked[first[1]].tolist(), strict=True))

    def __getitem__(self, c: int) -> str:
        if c in self.slot:
            return self.flat.name_of_slot(self.slot[c])
        parents = np.flatnonzero(self.flat.derivative == c)
        if len(parents):
            return f"der({self[int(parents[0])]})"
        raise KeyError(c)

    def __iter__(self) -> Any:
        return iter(range(self.flat.classes))

    def __len__(self) -> int:
        return self.flat.classes


def _sparse() -> Any:
    import scipy.sparse  # imported with the first Jacobian, not with the package

    return scipy.sparse


def _splu() -> Any:
    from scipy.sparse.linalg import splu  # imported where a sparse factorisation is needed

    return splu


class AlgebraicFailure(ArithmeticError):
    """The algebraic unknowns could not be solved for; ``worst`` names them."""

    def __init__(self, t: float, worst: Sequence[str], reason: str, singular: bool = False) -> None:
        super().__init__(f"at t = {t:.9g} s the algebraic unknowns {', '.join(worst)} could not "
                         f"be solved for: {reason}")
        self.t, self.worst, self.reason, self.singular = t, tuple(worst), reason, singular


class Problem:
    """What a solver sees: ``y' = slope(t, y)`` in units of nominal values.

    ``y`` holds the states that are integrated. The rest of ``x`` (states tied by
    constraints whose coefficients change) and ``z`` follow from the residuals by
    Newton's method, started from the last solution.

    Parameters
    ----------
    system : System
    p : parameter vector
    scale_x, scale_z : nominal values, powers of two
    """

    def __init__(self, system: System, p: np.ndarray, scale_x: np.ndarray, scale_z: np.ndarray
                 ) -> None:
        self.system, self.p = system, p
        self.scale_x, self.scale_z = scale_x, scale_z
        self.m = np.zeros(system.nm)
        self.d = np.zeros(system.nd)
        self.u = np.zeros(system.nu)
        self.x = np.zeros(system.nx)
        self.z = np.zeros(system.nz)
        self.failure: AlgebraicFailure | None = None
        self.laws: Any = None  # set-valued laws that give u, if there are any
        self.delays = delays_of(system, p)
        self._factor: Any = None
        self._factor_p: Any = None
        self.tied = np.zeros(0, dtype=int)
        self.anchor: Any = None  # time, tied states and slopes that Newton's method starts from
        self._partition()

    # -- which states are integrated ---------------------------------------------------
    def _partition(self) -> None:
        self.anchor = None
        free = np.ones(self.system.nx, dtype=bool)
        free[self.tied] = False
        self.free = np.flatnonzero(free)
        self.size = len(self.free)
        self.differential = np.ones(self.size, dtype=bool)
        self.scale = self.scale_x[self.free]
        self.algebraic = len(self.tied) + self.system.nz
        self.scale_w = np.concatenate([self.scale_x[self.tied], self.scale_z])
        self._columns = np.concatenate([self.tied, self.system.nx + np.arange(self.system.nz)])
        self._factor = None

    def choose_states(self, t: float) -> bool:
        """Choose which states of each cluster to integrate; True when the choice is new.

        The velocity-level constraints' Jacobian is factored with column
        pivoting: the states with the largest pivots are tied (solved for), the
        others integrated; levels below follow the same choice.
        """
        clusters = self.system.clusters
        if not clusters:
            return False
        tied: list[int] = []
        offset = self.system.nz
        jacobian = self.system.residual_x.sparse(*self._arguments(t))
        at = {int(c): i for i, c in enumerate(self.system.tape.reduced.states)}
        flat = self.system.flat
        for cluster in clusters:
            allowed: np.ndarray | None = None
            for equations, classes in cluster.levels:
                if allowed is not None:
                    classes = classes[np.isin(classes, allowed)]
                columns = np.array([at[int(c)] for c in classes])
                rows = np.arange(offset, offset + len(equations))
                offset += len(equations)
                block = jacobian[rows][:, columns].toarray() * self.scale_x[columns]
                chosen = columns[self._pivots(block, columns)]
                tied += chosen.tolist()
                allowed = flat.antiderivatives(self.system.tape.reduced.states[chosen])
        new = np.array(sorted(tied), dtype=int)
        if np.array_equal(new, self.tied):
            return False
        self.tied = new
        self._partition()
        return True

    def _pivots(self, block: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Pivot columns; the present choice is kept while it is not much worse."""
        from scipy.linalg import qr

        n = block.shape[0]
        r, order = qr(block, mode="r", pivoting=True)
        best = order[:n]
        present = np.flatnonzero(np.isin(columns, self.tied))
        if len(present) == n:
            mine = abs(np.linalg.det(block[:, present]))
            if mine > 0.5 * abs(np.prod(np.diag(r)[:n])):
                return present
        return best

    # -- evaluation ---------------------------------------------------------------------
    def _arguments(self, t: float) -> tuple[Any, ...]:
        if self.delays is not None:
            self.delays.fill(self.d, t)
        return t, self.x, self.z, self.p, self.m, self.d, self.u

    def solve(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Full states and torn unknowns at integrated states ``y`` (scaled)."""
        self.x[self.free] = y * self.scale
        if self.anchor is not None:  # the same branch, whatever was evaluated before
            since, x, slope = self.anchor
            self.x[self.tied] = x + (t - since) * slope
        self.update(t)
        return self.x, self.z

    def update(self, t: float) -> None:
        """Bring algebraic unknowns and set-valued efforts in line with the present states."""
        if self.algebraic:
            self.solve_algebraic(t)
        if self.laws is not None:
            self.laws.apply(self, t)

    def solve_algebraic(self, t: float) -> None:
        """Newton's method for the tied states and torn unknowns, from their present values.

        Raises
        ------
        AlgebraicFailure
            Naming the unknowns with the largest residuals.
        """
        system, n, nt = self.system, self.algebraic, len(self.tied)
        if not n:
            return
        start = np.concatenate([self.x[self.tied], self.z])
        keep_factor = system.linear and not nt
        last, singular = np.inf, False
        r = np.zeros(n)
        for iteration in range(40):
            r = system.residual(*self._arguments(t))[:n]
            if not np.isfinite(r).all():
                break
            if self._factor is None or not keep_factor:
                self._factorise(t)
            step = self._factor(r)
            if not np.isfinite(step).all():
                singular = True
                break
            self.x[self.tied] -= step[:nt]
            self.z -= step[nt:]
            size = np.abs(np.concatenate([self.x[self.tied], self.z])) + self.scale_w
            norm = float(np.max(np.abs(step) / size))
            if keep_factor and n > MANY:  # exact but for rounding
                return
            if norm <= 1e-9 and (norm <= 1e-15 or norm > 0.1 * last or iteration > 2
                                 or (keep_factor and iteration > 0)):
                return
            last = norm
        worst = np.argsort(-np.nan_to_num(np.abs(r), nan=np.inf))[:3]
        names = [self._algebraic_name(int(i)) for i in worst]
        finite = bool(np.isfinite(r).all())
        self.x[self.tied], self.z[:] = start[:nt], start[nt:]
        self._factor = None
        if singular:
            reason = "no equation determines them there"
        else:
            reason = ("Newton's method does not converge" if finite
                      else "the equations have no finite value there")
        raise AlgebraicFailure(t, names, reason, singular)

    def _algebraic_name(self, i: int) -> str:
        nz = self.system.nz
        if i < nz:
            return self.system.torn_name(i)
        return self.system.state_name(int(self.tied[i - nz]))

    def _factorise(self, t: float) -> None:
        try:
            if self.algebraic <= DENSE:
                rows = self.system.nz + self.system.tape.constraints.numel()
                full = self.system.residual_w(*self._arguments(t)).reshape(-1, rows)
                inverse = np.linalg.inv(full[self._columns, : self.algebraic])
                self._factor = lambda r: r @ inverse  # columns of the Jacobian are rows here
            else:
                self._factor = _splu()(self._algebraic_matrix(t)).solve
        except (RuntimeError, np.linalg.LinAlgError):  # singular here
            self._factor = lambda r: np.full(len(r), np.nan)

    def _algebraic_matrix(self, t: float) -> Any:
        args = self._arguments(t)
        if self.system.linear and not self.system.clusters and self.algebraic > MANY:
            return self.system.linear_matrix(*args)
        rz = self.system.residual_z.sparse(*args)[: self.algebraic]
        if not len(self.tied):
            return rz
        from scipy.sparse import hstack

        return hstack([self.system.residual_x.sparse(*args)[:, self.tied], rz]).tocsc()

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        """y' in scaled units; nan where the algebraic unknowns have no solution."""
        try:
            self.solve(t, y)
        except AlgebraicFailure as failure:
            self.failure = failure
            return np.full(self.size, np.nan)
        held = None if self.laws is None else self.laws.held_modes
        if self.laws is not None and self.laws.restless:
            self.failure = AlgebraicFailure(t, [self.laws.restless],
                                            "efforts that depend on each other do not settle")
            return np.full(self.size, np.nan)
        slope = self.system.slope(*self._arguments(t)) if held is None else held.slope
        if self.laws is not None:
            slope = self.laws.correct(slope, self, t)
        return slope[self.free] / self.scale

    def residual(self, t: float, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The implicit form, for methods that want it."""
        return self.slope(t, y) - slope

    def residual_jacobian(self, t: float, y: np.ndarray, slope: np.ndarray, c: float) -> Any:
        return _sparse().csc_matrix(self.slope_jacobian(t, y) - c * _sparse().identity(self.size))

    def slope_jacobian(self, t: float, y: np.ndarray) -> Any:
        self.solve(t, y)
        args = self._arguments(t)
        j = self.system.slope_x.sparse(*args)
        if self.laws is not None:
            kept = np.full(j.nnz, 1e-300), j.indices, j.indptr
            pattern = _sparse().csc_matrix(kept, shape=j.shape)
            j = _sparse().csc_matrix(j + pattern + self.laws.jacobian_through_efforts(self, t))
        if self.algebraic:
            free, tied = self.free, self.tied
            rx = self.system.residual_x.sparse(*args)
            a = self._algebraic_matrix(t)
            inner = _splu()(a).solve(-rx[:, free].toarray())  # d(tied, z)/dy
            fz = self.system.slope_z.sparse(*args)
            dense = j[free][:, free].toarray()
            dense += j[free][:, tied] @ inner[: len(tied)] + fz[free] @ inner[len(tied):]
            j = _sparse().csc_matrix(dense)
        data = j.data * np.repeat(self.scale, np.diff(j.indptr)) / self.scale[j.indices]
        return _sparse().csc_matrix((data, j.indices, j.indptr), shape=j.shape)

    @property
    def bulky(self) -> bool:
        """Whether the Jacobian of the explicit form is full, and too large for that."""
        return bool(self.algebraic) and self.size * (self.size + self.algebraic) > BULKY

    def fastest_rate(self, t: float, y: np.ndarray) -> float:
        """The largest modulus of an eigenvalue of the Jacobian, in 1/s; about, if it is large."""
        if not self.size:
            return 0.0
        if self.size <= DENSE and not self.algebraic and self.laws is None:
            self.solve(t, y)
            full = self.system.slope_x.dense(*self._arguments(t))
            if not np.isfinite(full).all():
                return np.inf
            return float(np.max(np.abs(np.linalg.eigvals(full))))
        along = self._along(t, y)
        v = np.random.default_rng(0).standard_normal(self.size)
        growth = []
        for _ in range(RATE_ROUNDS):
            v = along(v)
            size = float(np.linalg.norm(v))
            if not (np.isfinite(size) and size > 0):
                return np.inf if not np.isfinite(size) else 0.0
            v /= size
            growth.append(np.log(size))
        return float(np.exp(np.mean(growth[RATE_ROUNDS // 2:])))

    def _along(self, t: float, y: np.ndarray) -> Any:
        """The Jacobian times a vector, as a function."""
        if self.algebraic <= MANY or not self.system.linear or self.laws is not None:
            return self.slope_jacobian(t, y).__matmul__
        base = self.slope(t, y)
        here = self.x.copy(), self.z.copy()
        h = 1e-7 * max(1.0, float(np.linalg.norm(y)))

        def along(v: np.ndarray) -> np.ndarray:
            size = float(np.linalg.norm(v))
            ahead = self.slope(t, y + h / size * v)
            self.x[:], self.z[:] = here  # the run goes on from there
            return (ahead - base) * (size / h)

        return along

    def crossings(self, t: float, y: np.ndarray) -> np.ndarray:
        """Crossing functions at integrated states ``y``."""
        self.solve(t, y)
        return self.system.crossings(*self._arguments(t))

    def crossings_here(self, t: float) -> np.ndarray:
        """Crossing functions at the present point, algebraic unknowns brought up to date."""
        self.settle(t)
        return self.system.crossings(*self._arguments(t))

    def settle(self, t: float) -> None:
        """Solve the algebraic unknowns after relations or states have changed."""
        self._factor = None
        self.update(t)

    def start_vector(self) -> np.ndarray:
        """The solver's unknowns at the present point."""
        return self.x[self.free] / self.scale

    def name_of(self, i: int) -> str:
        """Path of a solver unknown."""
        if i < len(self.free):
            return self.system.state_name(int(self.free[i]))
        i -= len(self.free)
        return self._tied_or_torn_name(i)

    def _tied_or_torn_name(self, i: int) -> str:
        if i < len(self.tied):
            return self.system.state_name(int(self.tied[i]))
        return self.system.torn_name(i - len(self.tied))


class DaeProblem(Problem):
    """The semi-explicit DAE: algebraic unknowns belong to the solver, not to Newton's method."""

    def _partition(self) -> None:
        super()._partition()
        self.inner = self.size
        self.size = self.size + self.algebraic
        self.differential = np.arange(self.size) < self.inner
        self.scale_y = self.scale
        self.scale = np.concatenate([self.scale_y, self.scale_w])

    def place(self, y: np.ndarray) -> None:
        values = y * self.scale
        self.x[self.free] = values[: self.inner]
        self.x[self.tied] = values[self.inner : self.inner + len(self.tied)]
        self.z[:] = values[self.inner + len(self.tied):]

    def start_vector(self) -> np.ndarray:
        return np.concatenate([self.x[self.free], self.x[self.tied], self.z]) / self.scale

    def solve(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(y) == self.size:
            self.place(y)
            if self.algebraic:
                self.solve_algebraic(t)
        return self.x, self.z

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        self.place(y)
        out = np.zeros(self.size)
        out[: self.inner] = self.system.slope(*self._arguments(t))[self.free] / self.scale_y
        return out

    def residual(self, t: float, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        self.place(y)
        args = self._arguments(t)
        f = self.system.slope(*args)[self.free] / self.scale_y - slope[: self.inner]
        return np.concatenate([f, self.system.residual(*args)])

    def residual_jacobian(self, t: float, y: np.ndarray, slope: np.ndarray, c: float) -> Any:
        from scipy.sparse import bmat, diags, hstack

        self.place(y)
        args = self._arguments(t)
        fx = self.system.slope_x.sparse(*args)
        left = diags(1 / self.scale_y)
        top = hstack([fx[self.free][:, self.free], fx[self.free][:, self.tied],
                      self.system.slope_z.sparse(*args)[self.free]])
        rows = [left @ top]
        if self.algebraic:
            rx = self.system.residual_x.sparse(*args)
            rows.append(hstack([rx[:, self.free], rx[:, self.tied],
                                self.system.residual_z.sparse(*args)]))
        j = bmat([[r] for r in rows]) @ diags(self.scale)
        shift = bmat([[_sparse().identity(self.inner), None],
                      [None, _sparse().csc_matrix((self.algebraic, self.algebraic))]])
        return _sparse().csc_matrix(j - c * shift)
