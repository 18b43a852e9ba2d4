"""What are laws and unknowns of a reduced system, as CasADi expressions?

Knows which symbol stands for which state, parameter, relation, discrete value and input, and
writes laws on what has a value so far. In which order the unknowns get values is the matter of
:mod:`.tape`.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..language.kernel import Key
from ..numerics.arrays import Array, Indices, distinct
from .flatten import Group, Parameters
from .reduced import Reduced

__all__ = ["Writer", "put"]

Memory = dict[int, ca.SX]  # other symbols for discrete variables of a component, (1, n) each


class Writer:
    """Expressions of the unknowns, and laws written on them."""

    def __init__(self, reduced: Reduced, parameters: Parameters) -> None:
        self.reduced, self.flat, self.parameters = reduced, reduced.flat, parameters
        inputs = self.inputs = reduced.inputs
        flat = self.flat
        # per class, its value as an expression; not a number while it has none
        self.values = ca.SX.nan(flat.classes, 1) if flat.classes else ca.SX(0, 1)
        # x, u, p, m, d: symbols of states, inputs, parameters, relations and discrete values
        self.x = ca.SX.sym("x", len(reduced.states))
        self.u = ca.SX.sym("u", len(inputs))
        if len(reduced.states):
            self.values[reduced.states.tolist()] = self.x
        if len(inputs):
            self.values[inputs.tolist()] = self.u
        self._lay_out()

    def _lay_out(self) -> None:
        """Symbols of parameters, relations and discrete values, family by family."""
        self.parameter_layout: dict[tuple[int, str], tuple[int, int]] = {}
        self.relation_layout: list[tuple[int, int, int]] = []
        self.discrete_layout: dict[tuple[int, int], int] = {}
        self.p_blocks: list[list[ca.SX]] = []
        self.m_blocks: list[list[ca.SX]] = []
        self.d_blocks: list[Memory] = []
        columns: dict[str, list[ca.SX]] = {"p": [], "m": [], "d": []}
        sizes = dict.fromkeys(columns, 0)

        def laid_out(name: str, width: int, count: int) -> tuple[ca.SX, int]:
            """Symbols of so many instances, (width, count), and where they begin in the column.

            Each has a name of its own: what has one name may be one thing to ``casadi.cse``.
            """
            offset = sizes[name]
            symbol = ca.SX.sym(f"{name}{offset}", width, count)
            columns[name].append(ca.vec(symbol))
            sizes[name] += width * count
            return symbol, offset

        for f, family in enumerate(self.flat.network.families):
            kernel, n = family.kernel, family.size
            p = [(one, *laid_out("p", one.size, n)) for one in kernel.parameters]
            m = [laid_out("m", 1, n) for _ in kernel.relations]
            d = [(i, *laid_out("d", 1, n)) for i in kernel.discrete]
            self.p_blocks.append([symbol for _, symbol, _ in p])
            self.m_blocks.append([symbol for symbol, _ in m])
            self.d_blocks.append({i: symbol for i, symbol, _ in d})
            self.parameter_layout |= {(f, one.name): (at, one.size) for one, _, at in p}
            self.relation_layout += [(f, r, at) for r, (_, at) in enumerate(m)]
            self.discrete_layout |= {(f, i): at for i, _, at in d}
        self.p, self.m, self.d = (ca.vertcat(ca.SX(0, 1), *of) for of in columns.values())

    # -- evaluation of laws ---------------------------------------------------------
    def gather(self, classes: Indices, signs: Indices) -> ca.SX:
        """Signed values of classes as a row."""
        return _signed(self.values[_places(classes)].T, signs)

    def arguments(self, f: int, keys: list[Key], instances: Indices,
                  memory: Memory | None = None) -> list[ca.SX]:
        """Rows for a kernel function: variables, time, relations, parameters.

        ``memory`` are other symbols for the component's own discrete variables.
        """
        group = Group(f, None, instances)
        kernel = self.flat.network.families[f].kernel
        n = len(instances)
        # in order, since a level may list all instances in another one
        every = np.array_equal(instances, np.arange(self.flat.network.families[f].size))
        rows = []
        for key in keys:
            if kernel.variables[key[0]].kind == "discrete":
                block = (memory or self.d_blocks[f])[key[0]]
                rows.append(block if every else block[0, instances.tolist()])
            else:
                rows.append(self.gather(*self.flat.argument(group, key)))
        rows.append(ca.SX(ca.Sparsity.dense(1, n), TIME))
        for block in (*self.m_blocks[f], *self.p_blocks[f]):
            rows.append(block if every else block[:, instances.tolist()])
        return rows

    def call(self, function: ca.Function, f: int, keys: list[Key],
             instances: Indices, memory: Memory | None = None) -> ca.SX:
        """A kernel function on some instances, as a row."""
        rows = self.arguments(f, keys, instances, memory)
        return function.map(len(instances)).call(rows, True, False)[0]

    def residuals_of(self, equations: Indices) -> ca.SX:
        """Residuals of any equations as a column."""
        out = ca.SX.zeros(len(equations), 1)
        group_of = self.flat.groups_of(equations)
        for g in distinct(group_of):
            group = self.flat.groups[int(g)]
            mine = np.flatnonzero(group_of == g)
            rows = equations[mine] - group.first
            if group.law is None:
                column = self._sums(*self.terms(group, rows), len(rows))
            else:
                column = self.call(group.law.value, group.family, group.law.arguments,
                                   group.instances[rows]).T
            put(out, mine, column)
        return out

    def terms(self, group: Group, rows: Indices) -> tuple[Indices, Indices, Indices]:
        """Terms of some node balances: which balance, class and sign; a writer may know others."""
        return group.terms(rows)

    def _sums(self, which: Indices, classes: Indices, factors: Array | Indices, count: int
              ) -> ca.SX:
        """``count`` sums of factors times values of classes, as a column."""
        if not len(classes):
            return ca.SX.zeros(count, 1)
        used, local = np.unique(classes, return_inverse=True)
        # a class may occur more than once in a sum: add its coefficients up
        place, term = np.unique(which * len(used) + local, return_inverse=True)
        row, column = np.divmod(place, len(used))
        added = ca.DM(np.bincount(term, weights=factors))
        matrix = ca.DM.triplet(row.tolist(), column.tolist(), added, count, len(used))
        return ca.densify(ca.mtimes(ca.SX(matrix), self.values[_places(used)]))

    def assign(self, group: Group, rows: Indices, position: int, unknowns: Indices,
               in_loop: bool = False) -> None:
        """Solve rows of a group for one argument (a position) and store the values."""
        if group.law is None:
            which, classes, signs = self.terms(group, rows)
            mine = classes == unknowns[which]
            own_sign = np.zeros(len(rows), dtype=int)
            np.add.at(own_sign, which[mine], signs[mine])
            factors = -(signs / own_sign[which])[~mine]
            put(self.values, unknowns, self._sums(which[~mine], classes[~mine], factors, len(rows)))
            return
        instances = group.instances[rows]
        law = group.law
        rest = list(law.arguments)
        value = self.call(law.solved(position, in_loop), group.family, rest, instances)
        one = Group(group.family, law, instances)
        _, signs = self.flat.argument(one, law.arguments[position])
        put(self.values, unknowns, _signed(value, signs).T)

    def kernel_row(self, f: int, sx: ca.SX, instances: Indices | None = None,
                   memory: Memory | None = None) -> ca.SX:
        """A kernel expression (crossing, observed variable, …) on all instances of a family."""
        kernel = self.flat.network.families[f].kernel
        sx = kernel.unfolded(sx)
        keys = kernel.keys_in(sx)
        function = kernel.function("row", [kernel.symbols[k] for k in keys], sx)
        every = np.arange(self.flat.network.families[f].size)
        return self.call(function, f, keys, every if instances is None else instances, memory)

    def of_time(self, sx: ca.SX) -> ca.SX:
        """An expression with floors of time as they are at any time, not as they are held."""
        rows = [(self.d_blocks[f][i].T, self.kernel_row(f, floor).T)
                for f, family in enumerate(self.flat.network.families)
                for i, floor in family.kernel.floors_of_time.items()]
        if not rows:
            return sx
        return ca.substitute(sx, *(ca.vertcat(*column) for column in zip(*rows, strict=True)))

    def classes_read(self, f: int, sx: ca.SX) -> Indices:
        """(variable, instance) classes that a kernel expression reads, but for discrete ones."""
        family = self.flat.network.families[f]
        group = Group(f, None, np.arange(family.size))
        keys = family.kernel.keys_in(family.kernel.unfolded(sx))
        return np.array([self.flat.argument(group, key)[0] for key in keys
                         if family.kernel.variables[key[0]].kind != "discrete"],
                        dtype=int).reshape(-1, family.size)


def _signed(row: ca.SX, signs: Indices) -> ca.SX:
    """A row with signs, which seldom are other than 1."""
    return row if (signs == 1).all() else row * ca.DM(signs).T


def _places(index: Indices) -> slice | list[int]:
    """Where entries stand; a run of neighbours at once, which is faster."""
    if len(index) and (np.diff(index) == 1).all():
        return slice(int(index[0]), int(index[-1]) + 1)
    return index.tolist()


def put(values: ca.SX, index: Indices, column: ca.SX) -> None:
    """Set entries."""
    values[_places(index)] = column
