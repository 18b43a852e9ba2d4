"""Machine code and the reference give the same slopes, margins and derivatives, for every model.

At points about those of a run, in the modes that hold there: relations, sticking and sliding,
contacts open and closed, tied states. The reference is what CasADi evaluates.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest
import test_compiled_loops as loops
import test_machine_code as tables
import test_tied_states as tied
from benches import wire, wired
from benches.parts import CubicLoop
from numpy.testing import assert_allclose
from scipy.sparse import csc_matrix

import blocks
import library.electrical as el
import library.translational as tr
from benchmarks.cases import domains, drivetrain, models, planar
from blocks import Component, Discrete, Parameter, Variable, delayed, der, native, quantity, where
from blocks import time as now
from blocks.machine.signatures import run_code
from blocks.native.front_lists import COLUMN_GROUPS, COLUMN_ROWS, COLUMN_STARTS, ENTRIES, UNKNOWNS
from blocks.native.matrices import bordered_matrix, slope_of_states, sparse_lists
from blocks.native.method import METHODS
from blocks.native.step_matrix import derive
from blocks.native.steps import slope_at
from blocks.nonsmooth.modes.solved_modes import SolvedModes
from library.frictionlaws import LAWS

SEEN_AT = "0.05 s", "1.1 s"
CHATTERS = "bristle"  # pushed like this; friction "table" has no default


def pushed(part, count=1, grounded=True, **state):
    """Masses of 1 kg on springs, pushed to and fro, each with a part, mostly to the ground."""
    nets = ["springs[1:].C masses[:-1].M", "springs[0].C ground.V", "push.R masses[-1].M"] if (
        count > 1) else ["springs.C ground.V", "push.R masses.M"]
    return wired("pushed", "springs.R masses.M pieces.R", "push.C ground.V", *nets,
                 *(["pieces.C ground.V"] if grounded else []),
                 ground=tr.Reference(), masses=tr.Mass(count=count, mass="1 kg", **state),
                 springs=tr.Spring(count=count, stiffness="40 N/m"), pieces=part,
                 push=tr.ForceSource(force=lambda t: quantity("9 N")
                                     * blocks.sin(quantity("4 rad/s") * t)))


class Thinning(tr.TwoPort):
    """A damper that yields the more, the more it carries."""

    def equations(self):
        yield self.v == self.f * quantity("0.2 m/(s*N)") + self.f**3 * quantity("10 mm/(s*N^3)")


def dry(count, force="2 N"):
    return tr.TranslationalFriction(count=count, law="coulomb", coulomb_force=force,
                                    breakaway_force=force)


def springs_on_friction(count, ends=None):
    """A mass that drags as many springs, each held by a friction at its end without mass."""
    model = pushed(tr.Spring(count=count, stiffness="100 N/m"), grounded=False)
    model.ends = ends or dry(count, "0.3 N")
    wire(model, "pieces.C ends.R", "ends.C ground.V")
    return model


def blocks_on_a_floor():
    """Eighty states, of which few act on each other; and exact friction."""
    model = pushed(tr.Spring(count=40, stiffness="100 N/m"), 40)
    wire(model, "floor.R masses.M", "floor.C ground.V", floor=dry(40, "0.3 N"))
    return model


def cells():
    """A line behind an ideal diode."""
    return wired("cells", "ground.V source.n cells.n", "source.p diode.p", "diode.n line[0].p",
                 "line.n cells.p", "line[:-1].n line[1:].p",
                 source=el.ACVoltageSource(frequency="2 Hz"), diode=el.Diode(model="ideal"),
                 line=el.Resistor(count=60, resistance="1 ohm"),
                 cells=el.Capacitor(count=60, capacitance="1 mF"), ground=el.ElectricalReference())


def coils():
    """One voltage follows from all currents: no two columns of the Jacobian share no row."""
    return wired("coils", "ground.V source.n capacitor.n", "source.p line.p", "line.n coils.p",
                 "coils.n capacitor.p",
                 source=el.ACVoltageSource(frequency="2 Hz"), ground=el.ElectricalReference(),
                 line=el.Resistor(count=120,
                                  resistance=quantity(np.linspace(1.0, 2.0, 120), "ohm")),
                 coils=el.Inductor(count=120, inductance="0.1 H"),
                 capacitor=el.Capacitor(capacitance="10 mF"))


def stribeck(count=1):
    """Friction that falls and rises with velocity."""
    return tr.TranslationalFriction(count=count, law="stribeck", coulomb_force="0.3 N",
                                    breakaway_force="0.4 N", breakaway_velocity="50 mm/s",
                                    viscous_coefficient="4 N*s/m")


def curves_beside_loops():
    """Springs whose ends slide by a curve of friction, beside what only a loop determines."""
    model = springs_on_friction(2, stribeck(2))
    wire(model, "ends.R film.R", "film.C ground.V", film=Thinning(count=2))
    return model


def friction_beside_a_loop():
    model = pushed(Thinning())
    wire(model, "friction.R masses.M", "friction.C ground.V", friction=dry(1))
    return model


class Late(Component):
    """A body that what it was pushes along a floor, which rubs by what the body weighs on it."""

    x, y = Variable("m", "0.3 m", priority="high"), Variable("m", "5 cm", priority="high")
    v, w = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    rub, weight, turns = Variable("N"), Variable("N"), Discrete("1", 0.0)

    def equations(self):
        m, past = quantity("1 kg"), delayed(self.x, quantity("50 ms"), initial=quantity("0.3 m"))
        push = where(self.x > 0, quantity("30 N/m"), quantity("25 N/m"))
        yield der(self.x) == self.v
        yield der(self.y) == self.w
        yield m * der(self.v) == -push * past - self.rub
        yield m * der(self.w) == self.weight - quantity("9.81 N") + quantity("3 N/m") * past
        yield blocks.contact(self.weight, self.y, -self.w, restitution=0.3)
        yield blocks.dry_friction(self.rub, self.v, static=0.15 * self.weight,
                                  kinetic=0.1 * self.weight)
        yield blocks.when(self.x < 0, {self.turns: self.turns + 1})


def friction_from_mass_to_mass(count):
    """Every element acts on all others."""
    strengths = quantity(np.random.default_rng(3).uniform(1, 3, count), "N")
    model = pushed(dry(count, strengths), count, grounded=False)
    wire(model, "pieces[0].C ground.V", "pieces[1:].C masses[:-1].M")
    return model


def named(build, *given, **more):
    return lambda: build(*given, **more)


def bent():
    return wired("bent", part=CubicLoop())


def of_example(path, monkeypatch):
    """The first model that an example simulates."""
    class Found(Exception):
        pass

    def found(model, *given, **more):
        raise Found(model)

    with monkeypatch.context() as patch, pytest.raises(Found) as told:
        patch.syspath_prepend(str(path.parent))
        patch.setattr(blocks.Model, "simulate", found)
        runpy.run_path(str(path))
    return told.value.args[0]


class Echo(Component):
    """What was, and how fast it was, drives what is; one of them through a nonlinear loop."""

    delay, bent = Parameter("70 ms"), Parameter("0.5")
    x, y = Variable("1", 1, priority="high"), Variable("1")

    def equations(self):
        past = delayed(self.x, self.delay, initial=blocks.cos(quantity("3 rad/s") * now))
        yield der(self.x) == (where(past > 0.2, -1, 0.3) * self.y - past) * quantity("1 1/s")
        yield self.y + self.bent * self.y**3 == self.x + past


class Straight(Component):
    """Two signals that follow their own past, by delays that differ."""

    delay = Parameter("0.1 s")
    x, y = Variable("1", 1, priority="high"), Variable("1", 2, priority="high")

    def equations(self):
        yield der(self.x) == -delayed(self.y, self.delay, initial=1) * quantity("1 1/s")
        yield der(self.y) == (delayed(self.x, 2 * self.delay) - self.y) * quantity("1 1/s")


def echo(part):
    return wired("echo", part=part())


EXAMPLES = [path for path in sorted((Path(__file__).parents[2] / "examples").glob("[!_]*.py"))
            if path.stem not in ("heap_of_discs", "unit_mistakes",
                                "sweep_friction",  # steps of fixed size; mistakes; a study
                                "gymnasium_cart",  # driven step by step
                                "quarter_car_comfort")]  # an optimum and linear models
MODELS = {
    "chain": named(models.chain_of_arrays, 12), "large chain": named(models.chain_of_arrays, 150),
    "chain of parts": named(models.chain_of_parts, 7), "stick-slip": models.stick_slip,
    "seventy cells": named(domains.ladder, 70), "friction chain": named(models.friction_chain, 6),
    "large friction chain": named(models.friction_chain, 120),
    "belt": models.block_on_belt, "random network": named(models.random_network, 25),
    "dampers": loops.tesseract, "dampers that switch": named(loops.tesseract, loops.TwoStage),
    "nonlinear loop": bent, "pendulum": named(tied.pendulum, 1.2),
    "shaken pendulum with a stop": named(tied.pendulum, 1.2, swing="0.3 m", stop="0.2 m"),
    "table": named(tables.oscillator, 30), "smooth table": named(tables.oscillator, 900, "smooth"),
    "three exact frictions": lambda: pushed(
        tr.TranslationalFriction(count=3, law="coulomb", coulomb_force="2 N"), 3),
    "spring on friction": named(springs_on_friction, 1),
    "thirty springs on friction": named(springs_on_friction, 30), "coils on a capacitor": coils,
    "forty blocks on a floor": blocks_on_a_floor, "a rectifier before sixty cells": cells,
    "springs on friction by a curve": lambda: springs_on_friction(2, stribeck(2)),
    "friction by a curve beside loops": curves_beside_loops,
    "friction beside a nonlinear loop": friction_beside_a_loop,
    "thirty frictions that act on each other": named(friction_from_mass_to_mass, 30),
    "delays": named(echo, Straight), "delays and a nonlinear loop": named(echo, Echo),
    "three delays": lambda: echo(lambda: Straight(count=3, delay=["0.1 s", "40 ms", "0.3 s"])),
    "friction and a contact moved by what was": named(echo, Late),
    "grid": named(models.lattice, 4, 4), "disc": planar.disc, "drivetrain": drivetrain.drivetrain,
    "elastic stop": lambda: pushed(tr.HardStop(upper_bound="0.1 m", lower_bound="-0.1 m")),
    **{f"friction {law}": lambda law=law: pushed(tr.TranslationalFriction(law=law))
       for law in sorted(LAWS) if law not in ("table", CHATTERS)}}


def margins_of(problem, t):
    """Of set-valued laws, without the reserve of a jam, of which machine code has one for all."""
    laws = problem.laws
    if not isinstance(laws.held_modes, SolvedModes):
        return laws.margins(problem, t)
    evaluation = laws.evaluation
    return laws.switching.of_determined(evaluation.values(problem, t), evaluation.efforts(problem))


def compared(problem, t, y, rng):
    """Compare both at points about a point."""
    every = METHODS["dopri5"](problem, t, y, t_end=t + 1, rtol=1e-6, atol=np.full(y.size, 1e-8))
    implicit = None
    if not native.why_not_implicit(problem.system, problem.laws) and problem.size and (
            problem.size <= native.MOST_STATES or slope_of_states(problem.system, problem.laws)
            is not None or has_entries(problem)):
        implicit = METHODS["rodas4"](problem, t, y, t_end=t + 1, rtol=1e-6,
                                     atol=np.full(y.size, 1e-8))
    for size in (0.0, 1e-9, 1e-3, 1e-1):
        near = y + size * rng.normal(size=y.size) * (1 + np.abs(y))
        exact = problem.slope(t, near)
        if not np.isfinite(exact).all():
            continue
        every.restart(t, near)
        x, found = every.x, np.empty(every.x.size)
        slope_at(every.code, every.work_space, t, x, found)
        scaled = found[every.places] / every.scale
        assert_allclose(scaled, exact, rtol=1e-9, atol=1e-10 * (1 + np.abs(exact).max(initial=0.0)))
        if every.equations.relations:
            margins = problem.crossings(t, near)
            if problem.laws is not None:
                margins = np.concatenate([margins, margins_of(problem, t)])
            looked = np.empty(every.equations.relations)
            run_code(every.code.crossings, np.array([t]), x, every.code.p, every.code.q, looked)
            finite = np.isfinite(margins)
            assert_allclose(looked[: margins.size][finite], margins[finite], rtol=1e-8,
                            atol=1e-9 * (1 + np.abs(margins[finite]).max(initial=0.0)))
        if implicit is not None:
            implicit.restart(t, near)
            linear, by_time, error = derivatives(implicit, t)
            jacobian = problem.slope_jacobian(t, near).toarray()
            scale = implicit.scale
            inner = linear[every.places][:, every.places] * scale / scale[:, None]
            assert_allclose(inner, jacobian, rtol=error,
                            atol=0.1 * error * (1 + np.abs(jacobian).max()))
            if by_time is not None:
                late, early = (problem.slope(t + h, near) for h in (1e-5, -1e-5))
                assert_allclose(by_time[implicit.places] / scale, (late - early) / 2e-5, rtol=1e-5,
                                atol=1e-5 * (1 + np.abs(exact).max()))


def derivatives(implicit, t):
    """Of slopes by all that a step moves, and by time where it has that; and how exact they are."""
    code, work, x = implicit.code, implicit.work_space.record, implicit.x
    n = x.size
    if not implicit.equations.differences and code.linear:
        linear = np.zeros_like(work.linear)
        run_code(code.linear, np.array([t]), x, code.p, code.q, linear)
        bordered = bordered_matrix(implicit.equations.system, implicit.equations._laws)
        if bordered is not None:
            return without_border(bordered, linear[0]), None, 1e-8
        full = entries(work.sparse, linear[0]) if work.sparse.size else linear[:n]
        return full, None if work.sparse.size else linear[n], 1e-8
    slope = np.empty(n)
    slope_at(code, work, t, x, slope)
    derive(code, work, t, 1e-3, x, slope)
    return entries(work.sparse, work.linear[0]), None, 1e-6


def without_border(bordered, values):
    """Derivatives of slopes by states, with what else is zero solved for."""
    n, size = bordered.states, bordered.size
    every = csc_matrix((values[: bordered.entries], (bordered.row, bordered.column)),
                       (size, size + 1)).toarray()
    return every[:n, :n] - every[:n, n:size] @ np.linalg.solve(every[n:, n:size], every[n:, :n])


def has_entries(problem):
    """Whether the entries of a sparse matrix are expressions."""
    lists = sparse_lists(problem.system, problem.laws)
    bordered = bordered_matrix(problem.system, problem.laws)
    return bordered is None and lists is not None and not lists[COLUMN_GROUPS]


def entries(lists, values):
    """A sparse matrix with these entries."""
    n = lists[UNKNOWNS]
    starts = lists[lists[COLUMN_STARTS]:][: n + 1]
    rows = lists[lists[COLUMN_ROWS]:][: lists[ENTRIES]]
    return csc_matrix((values[: lists[ENTRIES]], rows, starts), (n, n)).toarray()


def compare(model, instants=SEEN_AT):
    """Compare where a run stands at some instants."""
    rng = np.random.default_rng(4)
    compared_at = 0
    for until in instants:
        run = model.simulate(until, rtol=1e-6)
        problem, t = run.recording.problem, run.time[-1].to("s").magnitude
        if native.why_not(problem.system, problem.laws) or not METHODS["dopri5"].fits(problem, t):
            continue
        compared(problem, float(t), problem.solver_vector(), rng)
        compared_at += 1
    if not compared_at:
        pytest.skip(native.why_not(problem.system, problem.laws) or "is decided at its points")


@pytest.mark.parametrize("name", sorted(MODELS))
def test_machine_code_agrees_with_the_reference(name):
    compare(MODELS[name]())


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem, marks=[pytest.mark.slow]
                                               * (path.stem == "heat_pump")) for path in EXAMPLES])
def test_machine_code_agrees_with_the_reference_in_examples(path, monkeypatch):
    fast = path.stem == "buck_converter"  # 50 kHz
    compare(of_example(path, monkeypatch), ("25 us", "90 us") if fast else ("0.05 s", "0.9 s"))
