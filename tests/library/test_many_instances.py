"""Several instances of every class of the library: loops in machine code come to what CasADi does.

The classes are found, so a new one takes part by itself. Ports stand between masses or the like,
which share velocities with loads in parallel, and loads to the ground and to each other. What was
in memory before is no number. Those with exact friction or states
that constraints tie are compared in other tests.
"""

import itertools
from functools import cache
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from benches import declared
from numpy.testing import assert_allclose
from test_power_balance import LOADS, MODULES, add_ground, load_of, ports_of

import library.electrical as el
import library.isothermal_liquid as il
import library.rotational as ro
import library.signal as si
import library.thermal as th
import library.translational as tr
from blocks import Component, Input, Model, Option, Output, Variable, der, quantity
from blocks.exceptions import BlocksError

pytest.importorskip("llvmlite")

from blocks.machine.signatures import run_code  # noqa: E402
from blocks.native import equations as machine_code  # noqa: E402
from blocks.native import forms, why_not  # noqa: E402
from blocks.native.equations import equations_of  # noqa: E402

COUNT = 5
BASES = {"TwoPort", "PressedFriction"}
STORES = {"translational": tr.Mass, "rotational": ro.Inertia,
          "electrical": el.Capacitor, "thermal": th.ThermalMass,
          "isothermal_liquid": il.ConstantVolumeChamber}  # fmt: skip
CLASSES = {f"{module.__name__.split('.')[1]}.{name}": getattr(module, name)
           for module in (*MODULES, si) for name in module.__all__
           if isinstance(getattr(module, name), type) and name not in BASES
           and issubclass(getattr(module, name), Component)}  # fmt: skip


def variants(cls):
    """The options as they are, then other choices, of all of them at once."""
    others = {}
    for name, one in declared(cls).items():
        if isinstance(one, Option):
            choices = one.choices or ((True, False) if isinstance(one.default, bool) else ())
            others[name] = [choice for choice in choices if choice != one.default]
    for k in range(1 + max(map(len, others.values()), default=0)):
        yield {name: left[min(k, len(left)) - 1] for name, left in others.items() if k and left}


@cache
def signal_in(unit):
    """A signal that is a state."""

    class Signal(Component):
        """Fades away."""

        y, level = Output(unit), Variable(unit, quantity(0.5, unit), priority="high")

        def equations(self):
            yield self.y == self.level
            yield der(self.level) == -self.level * quantity("1 1/s")

    return Signal


def many(cls, options, with_stores):
    """Instances of a class between loads, and with ``with_stores`` what stores at every port."""
    chance, model = np.random.default_rng(0), Model("many")
    part = model.part = cls(count=COUNT, **options)
    grounds, ports = {}, {}

    def add_load(name, domain, a, b):
        level, fall = map(quantity, LOADS[domain.name])
        load = model.add(name, load_of(domain)(
            count=COUNT, level=level * chance.uniform(0.5, 1, COUNT),
            fall=fall * chance.uniform(0.5, 2, COUNT)))
        model.connect(a, load.a)
        model.connect(load.b, b)

    for name, domain in ports_of(part).items():
        port = getattr(part, name)
        ports.setdefault(domain, []).append((name, port))
        if domain not in grounds:
            grounds[domain] = add_ground(model, f"{domain.name}_ground", domain)
        if with_stores and domain.name in STORES:
            store = model.add(f"{name}_store", STORES[domain.name](count=COUNT))
            ends = [getattr(store, end) for end in ports_of(store)]
            model.connect(port, ends[0])
            if ends[1:]:
                model.connect(ends[1], grounds[domain])
        for k in range(2):
            add_load(f"{name}_load{k}", domain, port, grounds[domain])
    for domain, of_domain in ports.items():
        for (one, a), (other, b) in itertools.combinations(of_domain, 2):
            add_load(f"{one}_{other}", domain, a, b)
    for name, one in declared(cls).items():
        if isinstance(one, Input) and one.default is None and one.exists(part):
            source = model.add(f"{name}_signal", signal_in(one.unit.text)(count=COUNT))
            model.connect(source.y, getattr(part, name))
    return model


def systems(cls, every=False):
    """Systems of instances, and what is not the default in each.

    With options as they are, or with ``every`` choice of them, and without stores.
    """
    cases = [(options, True) for options in variants(cls)] + [({}, False)]
    for options, with_stores in cases if every else cases[:1]:
        try:
            system = many(cls, options, with_stores).compile()
        except BlocksError:  # of what needs data, or stands in a circuit once
            continue
        if system.nx and not (system.nu or system.clusters or why_not(system)) and not any(
                family.kernel.delays for family in system.network.families):
            yield {**options, "stores": with_stores}, system


def scale_of(values):
    return np.abs(values[np.isfinite(values)]).max(initial=0.0)


def agree(found, expected, case):
    assert_allclose(found, expected, rtol=1e-7, atol=1e-10 * scale_of(expected), err_msg=str(case))


def compare(system, case):
    """Slopes, crossing functions and derivatives at random states, on either side of relations."""
    chance, p, t = np.random.default_rng(1), system.parameters(), np.array([0.3])
    equations, tape, nx, nz = equations_of(system), system.tape, system.nx, system.nz
    by_states = ca.jacobian(tape.slope, tape.x)
    derivative = ca.Function("derivative", system.arguments, [by_states.nz[:]])
    if not nz:
        _ = equations.entries  # which needs room in q

    def run(address, x, count):
        problem = SimpleNamespace(
            z=np.zeros(nz), m=m, d=d, u=np.zeros(0), laws=None, delays=None, scale_z=np.ones(nz),
            scale_x=np.ones(nx), tied=np.zeros(0, dtype=int))
        q, out = equations.constants(problem, t[0]), np.full(count, np.nan)
        if not nz:
            q[m.size + d.size :] = np.nan
        run_code(address, t, x, p, q, out)
        return out

    for sides in (0.0, 1.0, None):
        x = chance.normal(size=nx) * 10.0 ** chance.integers(-4, 2, size=nx)
        m = chance.integers(0, 2, system.nm) * 1.0 if sides is None else np.full(system.nm, sides)
        d, z, none = chance.normal(size=system.nd), np.full(nz, 0.1), np.zeros(0)
        if nz:
            z = run(equations.project, np.concatenate([x, z]), nx + nz)[nx:]
            left = system.residual_z(t[0], x, z, p, m, d, none)
            if not np.isfinite(z).all() or np.abs(left).max() > 1e-6 * (1 + np.abs(z).max()):
                continue  # no solution there
        here, known = np.concatenate([x, z]), (t[0], x, z, p, m, d, none)
        agree(run(equations.slope, here, nx + nz)[:nx], system.slope(*known), case)
        if system.nm:
            agree(run(equations.crossings, here, system.nm), system.crossings(*known), case)
        if not nz:
            entries = run(equations.entries, here, by_states.nnz() + nx)[: by_states.nnz()]
            agree(entries, derivative(*known).full().ravel(), case)


@pytest.fixture(autouse=True)
def in_loops(monkeypatch):
    """However few equations there are; compiled without much care, which takes longest here."""
    monkeypatch.setattr(forms, "LARGE", 0)
    monkeypatch.setattr(machine_code, "LONGEST_LOOPS", 0)
    monkeypatch.setattr(machine_code, "REPEATS", 0)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CLASSES)
def test_loops_over_instances_come_to_what_each_equation_gives(name, every):
    for case, system in systems(CLASSES[name], every):
        compare(system, case)


def test_most_classes_take_part_and_those_that_read_their_own_slope():
    """Without states or with what no loop holds there is nothing to compare."""
    asked = [*CLASSES][::6]
    assert sum(any(True for _ in systems(CLASSES[name])) for name in asked) > 0.6 * len(asked) > 20
    for name in ("translational.HardStop", "magnetic.ReluctanceForceActuator"):
        assert any(True for _ in systems(CLASSES[name]))
