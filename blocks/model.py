"""The model: what a user builds, checks, runs and looks at.

Ties the rooms together: network, assembly, system, initialisation, driver and
results. Compiled structure is kept until the structure changes; parameter values
and initial targets may change between runs without a new assembly.
"""

from __future__ import annotations

import inspect
import time as clock
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .assembly import flatten, reduce_index, write_tape
from .assembly.index_reduction import Singular
from .assembly.network import Network, build_network
from .assembly.set_valued import set_valued_elements
from .assembly.state_priorities import state_priorities
from .diagnostics import Findings, check_model, structure_error
from .exceptions import (
    ParameterError,
    SimulationError,
    UnknownName,
    WrongCall,
    did_you_mean,
    nearest,
)
from .initialisation.initial_values import Start, initialise
from .initialisation.nominal_values import Nominals, find_nominals, nominal_rows, nominal_table
from .language.component import Component
from .reading.foreign_words import option_elsewhere
from .simulation.driver import Driver, Settings
from .simulation.method_choice import (
    by_stiffness,
    chosen_method,
    refuse_full_jacobian,
    refuse_uncompiled,
)
from .simulation.progress import Progress
from .simulation.recording import RunRecording
from .simulation.settings import end_of_run, positive_time, sample_times
from .simulation.start import begun
from .simulation.tolerances import Tolerances
from .system.dae_problem import DaeProblem
from .system.problem import Problem
from .system.system import System
from .units import to_si, unit

if TYPE_CHECKING:
    from .system.description import Equations, Structure

__all__ = ["Model"]

LEDGER = 100.0  # relative tolerances that the residual of an energy balance may have
COARSE = 0.05  # the same in all for a fixed step, which has no tolerance


class Model(Component):
    """A network of components.

    Parameters
    ----------
    name : str
        For titles and messages.

    Examples
    --------
    >>> from blocks import Model
    >>> from library.translational import Mass, Reference, Spring
    >>> model = Model("oscillator")
    >>> model.block = Mass(mass="2 kg", v="1 m/s")
    >>> model.spring = Spring(stiffness="8 N/m")
    >>> model.ground = Reference()
    >>> model.connect(model.block.M, model.spring.R)
    >>> model.connect(model.spring.C, model.ground.V)
    >>> result = model.simulate("1 s", rtol=1e-9)
    >>> round(result["spring.x"].final.to("m").magnitude, 6)
    0.454649
    """

    _is_root: ClassVar[bool] = True

    def __init__(self, name: str = "model") -> None:
        super().__init__()
        self.__dict__.update(_title=name, _compiled=None, _nominal_table={}, _structure_revision=0)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._title

    def __repr__(self) -> str:
        parts = ", ".join(f"{n}: {type(c).__name__}" for n, c in self._children.items())
        return f"<Model {self._title!r} with {len(self._children)} parts: {parts}>"

    # -- structure ---------------------------------------------------------------------
    @property
    def network(self) -> Network:
        """Families and nodes (built from the present structure)."""
        return build_network(self)

    @property
    def graph(self) -> Any:
        """The topology as a networkx graph of components and nodes."""
        return self.network.graph()

    def draw(self, save: str | None = None, ax: Any = None) -> Any:
        """Draw the network: domains by colour, references and findings marked.

        Returns the matplotlib figure; ``save`` also writes it to a file.
        """
        from .results.drawing import draw_graph

        network = self.network
        colours = {d.name: d.colour for _, _, d in network.leaf_ports()}
        return draw_graph(network.graph(), findings=self.check(), colours=colours,
                          ax=ax, save=save)

    def check(self) -> Findings:
        """Find every mistake that can be found without integrating.

        Returns
        -------
        Findings
            Readable list of errors and warnings with stable codes.
        """
        return check_model(self, begun)

    def compile(self) -> System:
        """Assemble and reduce the present structure (kept until it changes).

        Raises
        ------
        StructureError
            Naming the components of the over- and under-determined parts.
        """
        revision = self._structure_revision
        if self._compiled is None or self._compiled[0] != revision:
            start = clock.perf_counter()
            network = build_network(self)
            flat = flatten(network)
            parameters = [
                [f.parameter(p.name).T for p in f.kernel.parameters] for f in network.families
            ]
            elements = set_valued_elements(flat)
            try:
                reduced = reduce_index(flat, state_priorities(network, flat), parameters, elements)
                tape = write_tape(reduced, parameters)
            except Singular as singular:
                raise structure_error(flat, singular) from None
            system = System(network, tape)
            if self._compiled is not None:
                self._compiled[1].superseded = True
            self.__dict__["_compiled"] = (revision, system, clock.perf_counter() - start)
        return self._compiled[1]

    def structure(self) -> Structure:
        """Sizes before and after reduction, states, blocks, largest loop and index."""
        from .system.description import Structure

        return Structure.of(self.compile())

    def equations(self) -> Equations:  # type: ignore[override]  # a model is made of parts' laws
        """The flat and the reduced system in readable form."""
        from .system.description import Equations

        return Equations(self.compile())

    # -- nominal values and initial values -----------------------------------------------
    def nominal_values(self, *values: Any) -> Any:
        """Set nominal values by dimension and show where each comes from.

        ``model.nominal_values("1 kN", "2 mm/s")`` gives every force 1 kN and
        every velocity 2 mm/s, except variables with a nominal value of their own.

        Returns
        -------
        table
            One row per state and algebraic unknown: variable, nominal, origin.
        """
        from .results.sheet import Sheet

        self._nominal_table.update(nominal_table(values))
        system = self.compile()
        rows = nominal_rows(system, find_nominals(system, self._nominal_table), self._nominal_table)
        return Sheet(f"Nominal values of {self.name}", {
            "variable": [path for path, _, _ in rows],
            "nominal value": [f"{value:.4g~P}" for _, value, _ in rows],
            "from": [origin for *_, origin in rows],
        })  # fmt: skip

    def initial_values(self) -> Any:
        """Solve for the start and show what became of every initial target.

        Returns
        -------
        table
            Columns as in Simscape's variable viewer: status, variable, priority,
            target, start.
        """
        from .results.sheet import Sheet

        system = self.compile()
        _, start = self._start(system, find_nominals(system, self._nominal_table), 0.0, Problem)
        return Sheet(f"Initial values of {self.name}", {
            "status": ["met" if r.met else "not met" for r in start.rows],
            "variable": [r.path for r in start.rows],
            "priority": [r.priority for r in start.rows],
            "target": [f"{r.target:.6g~P}" for r in start.rows],
            "start": [f"{r.start:.6g~P}" for r in start.rows],
        })  # fmt: skip

    def _start(self, system: System, nominals: Nominals, t: float, kind: type[Problem],
               laws: Any = None) -> tuple[Problem, Start]:
        states, torn = system.tape.reduced.states, system.tape.z_classes
        problem = kind(system, system.parameters(), nominals.power_of_two(states),
                       nominals.power_of_two(torn))
        for f, i, offset in system.tape.discrete_layout:
            family = system.network.families[f]
            local = family.kernel.variables[i]
            for start, m in zip(family.starts, family.members, strict=True):
                value = m._targets.get(local.name, (local.declared.initial or 0.0, ""))[0]  # type: ignore[attr-defined]
                problem.d[offset + start : offset + start + m.size] = value
        if system.nu:
            from .nonsmooth.modes.choice import set_valued_laws
            from .nonsmooth.modes.load_laws import with_loads

            problem.laws = (laws or (lambda s: with_loads(s, set_valued_laws(s))))(system)
        held = np.zeros(0)
        for _ in range(20):  # relations and initial values depend on each other
            start_point = initialise(system, problem, nominals, t)
            if not system.nm:
                break
            from .simulation.time_events import Stops

            stops = Stops(system, problem.p, t, t)
            g = problem.crossings_here(t)
            held = np.where(stops.at_zero, g >= 0, g > 0).astype(float)
            held[stops.timed] = stops.right_limits(t)[stops.timed]
            if np.array_equal(held, problem.m):
                break
            problem.m[:] = held
        return problem, start_point

    # -- running -----------------------------------------------------------------------
    def simulate(
        self,
        duration: Any = None,
        *nameless: Any,
        start: Any = "0 s",
        method: str = "auto",
        rtol: float = 1e-6,
        atol: Any = None,
        step: Any = None,
        max_step: Any = None,
        first_step: Any = None,
        every: Any = None,
        times: Any = None,
        progress: bool | None = None,
        **unknown: Any,
    ) -> Any:
        """Run the model.

        Parameters
        ----------
        duration : str or quantity
            How long to simulate, ``"4 s"``.
        start : str or quantity
            Time at the start.
        method : str
            ``"auto"``, a name listed in :mod:`blocks.solvers`, or ``"moreau_jean"``: time stepping
            for exact friction and contacts (:mod:`blocks.nonsmooth.timestepping.moreau_jean`).
        rtol : float
            Relative tolerance of every variable.
        atol : float or sequence of quantities, optional
            Absolute tolerance: a number is a fraction of each variable's nominal
            value (default ``rtol / 100``); quantities such as ``["1 nm", "1 um/s"]`` set
            it for all variables of their dimension.
        step : str or quantity
            Step of a fixed-step method.
        max_step, first_step : str or quantity, optional
        every, times : str or quantity, optional
            Spacing of, or explicit, sample times of the result.
        progress : bool, optional
            Show a progress bar; by default for interactive terminals only.

        Returns
        -------
        Result

        Raises
        ------
        ModelError
            For mistakes found before integration.
        SimulationError
            For a run that failed; ``error.result`` holds everything before.
        """
        from .results import Result
        from .solvers import method_named

        _refuse_unknown(unknown)
        _refuse_call(duration, nameless)
        began = clock.perf_counter()
        t0 = float(to_si(start, unit("s"), "simulate(start=…)"))
        t1 = end_of_run(t0, positive_time(duration, "duration"))
        with suppress(SimulationError):  # the run says it again, and has a result
            self.check().raise_errors()
        system = self.compile()
        checked = clock.perf_counter()
        nominals = find_nominals(system, self._nominal_table)
        chosen, why = chosen_method(method, system, step)
        if chosen.fixed_step and step is None:
            raise ParameterError("simulate(step=…)", f"method {chosen.name!r} takes fixed steps.",
                                 "Give the step, such as step='1 ms'.")
        dae = chosen.solves_dae and not chosen.fixed_step and not system.nu
        kind = DaeProblem if dae else Problem
        problem, begin = self._start(system, nominals, t0, kind, chosen.laws_of)
        initialised = clock.perf_counter()
        scaled = Tolerances(system, rtol, atol)
        if method == "auto" and chosen.name in ("cvode", "DOP853"):
            chosen, why = by_stiffness(problem, t0, t1, rtol, chosen, why)
            if chosen.name == "cvode" and problem.bulky:
                chosen, why = method_named("ida"), "sparse: stiff, with large algebraic loops"
                problem, begin = self._start(system, nominals, t0, DaeProblem)
        if chosen.implicit and not isinstance(problem, DaeProblem):
            refuse_full_jacobian(problem, chosen.name)
        if method != "auto" and chosen.name == "dopri5":
            refuse_uncompiled(system, problem)
        settings = Settings(
            t0, t1, chosen, rtol, np.zeros(0),
            np.inf if max_step is None else positive_time(max_step, "max_step"),
            None if first_step is None else positive_time(first_step, "first_step"),
            None if step is None else positive_time(step, "step"),
            method == "auto" and not chosen.implicit,
        )  # fmt: skip
        recording = RunRecording(self._title, system, problem, problem.p)
        recording.samples = sample_times(every, times, t0, t1)
        recording.energy_tolerance = COARSE if chosen.fixed_step else max(LEDGER * rtol, 1e-8)
        recording.statistics.update({
            "method": chosen.name, "why": why, "states": system.nx, "algebraic unknowns": system.nz,
            "time compiling": self._compiled[2], "time checking": checked - began,
            "time initialising": initialised - checked,
        })  # fmt: skip
        recording.start = begin
        driver = Driver(system, problem, recording, settings, scaled, None)
        try:
            with Progress(progress, t0, t1) as driver.progress:
                driver.run()
        except SimulationError as error:
            error.data["result"] = Result(recording)
            raise
        return Result(recording)

    def sweep(
        self,
        over: Any,
        duration: Any,
        *,
        outputs: Any,
        every: Any = None,
        samples: int | None = None,
        seed: int = 0,
        executor: Any = None,
        store: Any = None,
        progress: bool | None = None,
        start: Any = "0 s",
        **options: Any,
    ) -> Any:
        """Run the model at many points and keep chosen outputs. The model is not changed.

        Parameters
        ----------
        over : mapping, list of mappings, or DataFrame
            What is varied: parameters and options (``"friction.coulomb_force"``), initial
            targets (``"block.v"``) and solver options (``"rtol"``, ``"method"``, ``"atol"``,
            ``"step"``, ``"max_step"``, ``"first_step"``).

            A mapping of path to values is a grid; a frozen scipy.stats distribution with its
            unit, ``(norm(20, 2), "N")``, is sampled. A list of mappings, or a table with
            headings such as ``"block.mass [kg]"``, are single points.
        duration : str or quantity
        outputs : list, or mapping of name to output
            ``"max(spring.f)"``, also ``min``, ``initial``, ``final``, ``"at(spring.f, 1 s)"``;
            a path alone keeps the course over time and needs ``every``; a function takes
            the :class:`~blocks.results.Result` and gives a quantity or number.
        every : str or quantity, optional
            Spacing of the times of courses.
        samples, seed : int
            Number of samples of the distributions, and their seed. Each path has a random
            stream of its own: another axis does not change the samples of this one.
        executor : int, concurrent.futures.Executor or Dask client, optional
            Number of workers, or what runs the points; in this process by default. A model
            without events that runs in machine code (extra ``fast``) is run eight points at
            once, in as many threads; others in as many processes.
            ``data.encoding["execution"]`` says which.
        store : path, optional
            Folder of Parquet files that keeps finished runs. A study that was stopped is
            taken up again; one that differs is refused.
        progress : bool, optional
            Show a progress bar; by default for interactive terminals only.
        start, **options
            As in :meth:`simulate`, for all points.

        Returns
        -------
        xarray.Dataset
            Swept values as coordinates, outputs as variables, both with the attribute
            ``units``, and ``status`` and ``message`` of every run. A run that failed has
            NaN and says why; after Ctrl-C, the rest is ``"not run"``.

        Raises
        ------
        ModelError
            For misspelt names, wrong units and values out of bounds, before the first run.
        """
        from .studies import sweep

        return sweep(self, over, duration, outputs=outputs, every=every, samples=samples,
                     seed=seed, executor=executor, store=store, progress=progress, start=start,
                     **options)  # fmt: skip


def _refuse_unknown(options: dict[str, Any]) -> None:
    for name, given in options.items():
        known = [p.name for p in inspect.signature(Model.simulate).parameters.values()
                 if p.kind is p.KEYWORD_ONLY]
        sentence, here = option_elsewhere(name, given)
        raise UnknownName(
            "simulate()", f"there is no option {name!r}.",
            sentence or did_you_mean(name, known, "options"),
            name=name, known=known, nearest=[here] if here else nearest(name, known),
        )  # fmt: skip


def _refuse_call(duration: Any, nameless: tuple[Any, ...]) -> None:
    """Say how long to run, and name all else."""
    if duration is None:
        raise WrongCall("simulate()", "has to be told how long to run.",
                        "Write for example simulate('4 s').")
    span = [duration, *nameless] if nameless else duration
    if isinstance(span, (list, tuple)) and len(span) == 2:
        raise WrongCall("simulate()", f"takes the duration alone without a name, but was given "
                        f"{span[0]!r} and {span[1]!r}.", "Give the duration, and the start where "
                        "it is not 0 s: simulate('4 s', start='1 s').", given=span)  # fmt: skip
    if nameless:
        raise WrongCall("simulate()", f"takes the duration alone without a name, but was given "
                        f"{len(span)} values.", "Name all else: simulate('4 s', rtol=1e-8).",
                        given=span)  # fmt: skip


