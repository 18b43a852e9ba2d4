"""The model: what a user builds, checks, runs and looks at.

Ties the rooms together: network, assembly, system, initialisation, driver and
results. Compiled structure is kept until the structure changes; parameter values
and initial targets may change between runs without a new assembly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never, Self, Unpack, overload

from .exceptions import BlocksError, calls_told, told_how_to_call
from .language.compiled_model import CompiledModel
from .results.formatting import printable
from .units import Quantity, sizes_by_dimension

if TYPE_CHECKING:
    import networkx
    import xarray

    from .analysis.equilibrium.operating_point import OperatingPoint
    from .analysis.limit_cycles import LimitCycle
    from .analysis.linear.linear_model import LinearModel
    from .analysis.linear.linearise import LinearModels
    from .assembly import Tape
    from .assembly.flatten import Parameters
    from .assembly.network import Network
    from .diagnostics import Findings
    from .results import Result, Schematic, Sheet
    from .results.page.run_page import Page
    from .simulation.stepping import SteppedRun
    from .solvers import MethodName
    from .studies.settings import SweepOptions
    from .system.description import Equations, Structure
    from .system.system import System

__all__ = ["Model", "load"]


@calls_told
class Model(CompiledModel):
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

    def __repr__(self) -> str:
        parts = ", ".join(f"{n}: {type(c).__name__}" for n, c in self._children.items())
        return printable(f"<Model {self._title!r} with {len(self._children)} parts: {parts}>")

    def _repr_html_(self) -> str | None:
        try:
            drawn: str = self.draw()._repr_html_()
        except BlocksError:  # of an empty one, say: its text is shown
            return None
        return drawn

    # -- structure ---------------------------------------------------------------------
    @property
    def network(self) -> Network:
        """Families and nodes (built from the present structure)."""
        from .assembly.network import build_network

        return build_network(self)

    @property
    def graph(self) -> networkx.MultiGraph:
        """Topology as a networkx graph of components and nodes."""
        return self.network.graph()

    def draw(self, save: Any = None, ax: Any = None, *, open: Any = (),  # noqa: A002
             values: bool = False) -> Schematic:
        """Draw the schematic: symbols, wires at right angles, findings in red.

        Parameters
        ----------
        save : path, optional
            Also write it; the ending chooses the format. SVG needs no other package.
        ax : matplotlib Axes, optional
            Also draw into it.
        open : str, list of str, or bool, optional
            Paths of composites that are shown with their parts, in a frame; True opens all.
        values : bool
            Write given values beside the symbols.

        Returns
        -------
        Schematic
            In rows no wider than a page, or ``within(width)`` pixels. Notebooks show it; pointing
            at a part tells its values. ``svg()``, ``figure()`` and ``save()`` hand it on.
        """
        from .drawing.network import drawn_network
        from .results.plots.plotting import given_axes
        from .results.schematic.drawing import draw_schematic

        parts, nets = drawn_network(self.network, self, open)
        drawn = draw_schematic(self.name, parts, nets, self.check(), values=values)
        if ax is not None:
            drawn.figure(*given_axes(ax))
        if save is not None:
            drawn.save(save)
        return drawn

    def check(self) -> Findings:
        """Find every mistake that can be found without integrating.

        The findings are kept until structure or values change.

        Returns
        -------
        Findings
            Readable list of errors and warnings with stable codes.
        """
        from .diagnostics import check_model
        from .simulation.run_start import RunStart

        return check_model(self, RunStart(self))

    def _assembled(self) -> System:
        from .assembly.multiple_solutions import has_several_branches, network_with_pieces
        from .assembly.network import build_network
        from .system.system import System

        network = build_network(self)
        parameters = network.parameters()
        tape = _tape(network, parameters)
        in_pieces = network_with_pieces(network, tape)
        if in_pieces is not None:
            switched = _tape(in_pieces, parameters)
            if has_several_branches(switched, parameters):
                return System(in_pieces, switched)
        return System(network, tape)

    def structure(self) -> Structure:
        """Sizes before and after reduction, states, blocks, largest loop and index."""
        from .system.description import Structure

        return Structure.of(self.compile())

    def equations(self) -> Equations:
        """Write out the flat and the reduced system in readable form."""
        from .system.description import Equations

        return Equations(self.compile())

    # -- nominal values and initial values -----------------------------------------------
    def nominal_values(self, *values: Any) -> Sheet:
        """Set nominal values by dimension and show where each comes from.

        ``model.nominal_values("1 kN", "2 mm/s")`` gives every force 1 kN and
        every velocity 2 mm/s, except variables with a nominal value of their own.

        Returns
        -------
        table
            One row per state and algebraic unknown: variable, nominal, origin.
        """
        from .initialisation.nominal_values import find_nominals, nominal_rows
        from .results.sheet import Sheet

        self._set_nominal_values(values)
        system = self.compile()
        rows = nominal_rows(system, find_nominals(system, self._nominal_table))
        return Sheet(f"Nominal values of {self.name}", {
            "variable": [path for path, _, _ in rows],
            "nominal value": [f"{value:.4g~P}" for _, value, _ in rows],
            "from": [origin for *_, origin in rows],
        })  # fmt: skip

    def _set_nominal_values(self, values: Any) -> None:
        self._nominal_table.update(sizes_by_dimension(values, "nominal_values()"))

    def initial_values(self) -> Sheet:
        """Solve for the start and show what became of every initial target.

        Returns
        -------
        table
            Columns as in Simscape's variable viewer: status, variable, priority, target, start.
        """
        from .initialisation.initial_values import warn_of_compromises
        from .results.sheet import Sheet
        from .simulation.run_start import RunStart

        _, start = RunStart(self).consistent()
        warn_of_compromises(start)
        return Sheet(f"Initial values of {self.name}",
                     {"status": ["met" if r.met else "not met" for r in start.rows],
                      "variable": [r.path for r in start.rows],
                      "priority": [r.priority for r in start.rows],
                      "target": [f"{r.target:.6g~P}" for r in start.rows],
                      "start": [f"{r.start:.6g~P}" for r in start.rows]})

    @contextmanager
    def values(self, given: Mapping[str, Any]) -> Iterator[Self]:
        """Give values for a while: parameters, options and initial targets by path.

        ``with model.values({"block.mass": "3 kg"}): result = model.simulate("1 s")``; what they
        were before holds again behind, also after an error.
        """
        from .studies.settings import changed_for_a_while

        with changed_for_a_while(self, given):
            yield self

    # -- keeping -----------------------------------------------------------------------
    def save(self, file: str | Path) -> None:
        """Keep the model as text, ``model.save("model.json")``; :func:`blocks.load` reads it.

        Components stand there by module and name of their class, values with their units, and
        one line for each connection: changes show in version control. There is no code in it.

        Raises
        ------
        FileError
            For what cannot be written as text, such as a function without a name or a class of
            the running program; and for a file that cannot be written.
        """
        from .language.model_file import save_model

        save_model(self, file)

    # -- running -----------------------------------------------------------------------
    def simulate(self, duration: Any = None, *nameless: Never, start_time: Any = "0 s",
                 method: MethodName = "auto", rtol: float = 1e-6, atol: Any = None,
                 step: Any = None, max_step: Any = None, first_step: Any = None, every: Any = None,
                 times: Any = None, progress: bool | None = None,
                 record: str | list[str] | None = None, record_every: int | None = None,
                 record_to: Any = None, initial: Any = None, until: Any = None,
                 sensitivities: list[str] | None = None, **unknown: Never) -> Result:
        """Run the model.

        Parameters
        ----------
        duration : str or quantity
            How long to simulate, ``"4 s"``. A run ends just before what happens at its last
            instant (a step of a source, a sample, a crossing): simulate a little longer to see it.
        start_time : str or quantity
            Time at the start.
        method : str
            ``"auto"``, a name listed in :mod:`blocks.solvers`, or ``"moreau_jean"``: time stepping
            for exact friction and contacts (:mod:`blocks.native.moreau_jean`).
        rtol : float
            Relative tolerance of every variable.
        atol : float or sequence of quantities, optional
            Absolute tolerance: a number is a fraction of each variable's nominal
            value (default ``rtol / 100``); quantities such as ``["1 nm", "1 um/s"]`` set
            it for all variables of their dimension.
        step, max_step, first_step : str or quantity, optional
            Step of a fixed-step method; of others the longest one, and the first one of the run.
        every, times : str or quantity, optional
            Spacing of, or explicit, sample times of the result.
        progress : bool, optional
            Show what is done and the time left; by default in terminals and notebooks, of what
            takes more than two seconds.
        record : str or list of str, optional
            Variables that are kept, ``["spring.x", "masses.v"]``, instead of all steps, from which
            any variable follows. What is between their samples is off by a tenth of ``rtol``.
        record_every : int, optional
            So many steps of these become one polynomial, however closely it follows.
        record_to : path, optional
            Parquet file, written anew, that they go to during the run where they do not fit into
            the memory; ``blocks.results.read_parquet`` reads it as a table.
        sensitivities : list of str, optional
            Parameters and initial values, ``["spring.stiffness", "block.v"]``, by which all
            variables are differentiated: ``result.sensitivities["spring.x", "block.v"]``.
        until : str, function of the model, or list of these, optional
            Conditions, ``"sensor.P > 3 m"`` or ``lambda m: abs_(m.block.v) < "1 mm/s"``: the run
            ends where one of them is met first, and ``result.status`` says which.
        initial : "steady state" or OperatingPoint, optional
            Where the run starts, in place of the initial targets, which say near what a steady
            state is looked for.

        Returns
        -------
        Result

        Raises
        ------
        ModelError
            For mistakes found before integration.
        SimulationError
            For a run that failed; ``error.result`` holds everything before.
        Interrupted
            After Ctrl-C: a KeyboardInterrupt whose ``result`` holds everything before.
        """
        from .simulation.method_choice import refuse_idle_step
        from .simulation.run import run
        from .simulation.settings import Options, refuse_positional, refuse_unknown_options

        refuse_unknown_options(unknown)
        refuse_positional(duration, nameless)
        refuse_idle_step(method, step)
        if initial is not None:
            from .analysis.equilibrium.operating_point import start_state

            initial = start_state(self, initial)
        options = Options(start_time, method, rtol, atol, step, max_step, first_step, every, times,
                          progress, record, record_every, record_to, initial)
        model = self
        if until is not None:
            from .simulation.until import model_until

            model = model_until(self, until)
        if sensitivities is None:
            return run(model, duration, options)
        from .analysis.sensitivity.sensitivities import run_with_sensitivities

        return run_with_sensitivities(model, duration, options, sensitivities)

    def stepper(self, inputs: Any = (), outputs: Any = (), *, duration: Any = "100 s",
                start_time: Any = "0 s", method: MethodName = "auto", rtol: float = 1e-6,
                atol: Any = None, step: Any = None, max_step: Any = None) -> SteppedRun:
        """Begin a run that a program drives step by step.

        Parameters
        ----------
        inputs : list of str, or mapping of path to value
            Inputs that nothing is connected to and the program gives values to,
            ``["motor.S"]`` or ``{"motor.S": "2 V"}`` with the values at the start. Without
            one, an input starts with what it has while nothing is connected, or with 0.
        outputs : list of str
            Variables that the program reads; others can be read too.
        duration : str or quantity
            How long the run may go on at most.
        start_time, method, rtol, atol, step, max_step
            As in :meth:`simulate`. A method of fixed step begins a new one at every call of
            ``advance``, and after an event.

        Returns
        -------
        SteppedRun
            With ``advance("1 ms")``, ``set("motor.S", "3 V")``, ``run["load.w"]``,
            ``save_state()``, ``restore(state)`` and ``result()``. The model is not changed, and
            later changes of it do not change the run.
        """
        from .simulation.method_choice import refuse_idle_step
        from .simulation.settings import Options
        from .simulation.stepping import started

        refuse_idle_step(method, step, "stepper")
        return started(self, inputs, outputs, duration,
                       Options(start_time, method, rtol, atol, step, max_step))

    def export_fmu(self, path: str | Path, inputs: Any = (), outputs: Any = (), *,
                   parameters: Any = (), version: str = "3.0", platforms: Any = None,
                   duration: Any = "100 s", start_time: Any = "0 s", method: MethodName = "auto",
                   rtol: float = 1e-6, atol: Any = None, step: Any = None,
                   max_step: Any = None) -> Path:
        """Write the model as an FMU, which other tools simulate without Python.

        It offers co-simulation, in which it takes its own steps and finds its own events, and
        model exchange, in which the other tool integrates, but for time steps and states that
        are chosen anew.

        Parameters
        ----------
        path : path
            Of the file, such as ``"drive.fmu"``.
        inputs, outputs
            As in :meth:`stepper`. All values are in SI units; the description says so, and in
            which unit they are shown.
        parameters : list of str
            Parameters that may be changed in the FMU. Others keep their values.
        version : str
            Of FMI: ``"3.0"`` or ``"2.0"``.
        platforms : list of str
            Of ``"x86_64-linux"``, ``"aarch64-linux"``, ``"x86_64-windows"``,
            ``"x86_64-darwin"`` and ``"aarch64-darwin"``; this machine's by default. All of them
            can be made on any machine, with the package ``ziglang``.
        duration, start_time
            The time for which instants are known that follow from time alone: samples, steps of
            sources. Where there are none, a run of the FMU may start and end at any time.
        method, rtol, atol, step, max_step
            Of co-simulation, as in :meth:`simulate`.

        Returns
        -------
        Path
        """
        from .export import export_fmu
        from .simulation.method_choice import refuse_idle_step
        from .simulation.settings import Options

        refuse_idle_step(method, step, "export_fmu")
        return export_fmu(self, path, inputs, outputs, parameters, version, platforms, duration,
                          Options(start_time, method, rtol, atol, step, max_step))

    def export_c(self, folder: str | Path, inputs: Any = (), outputs: Any = (), *,
                 step: Any, method: MethodName = "auto", parameters: Any = (), target: str = "host",
                 processor: str = "", most_events: int = 8, duration: Any = "100 s",
                 start_time: Any = "0 s", rtol: float = 1e-6, atol: Any = None) -> Path:
        """Write the model as a library in C, for programs and controllers that run it in real time.

        Its function ``step`` does what ``advance`` of :meth:`stepper` does with the same method
        and step, bit by bit, with a bounded number of operations and without allocating memory.

        Parameters
        ----------
        folder : path
            Gets ``lib<name>.a``, ``<name>.h``, an example ``main.c`` and ``CMakeLists.txt``.
        inputs, outputs, parameters
            As in :meth:`export_fmu`: fields of a struct, in SI units.
        step : str or quantity
            The step; a call may take another one.
        method : str
            Of fixed step: ``"rk4"``, ``"euler"``, ``"trapezoidal"`` (``"auto"``),
            ``"backward_euler"`` or ``"moreau_jean"``.
        target : str
            ``"host"``, or the machine it is for: ``"x86_64-linux-gnu"``, ``"aarch64-linux-gnu"``,
            ``"x86_64-windows-gnu"``, ``"x86_64-macos"``, ``"aarch64-macos"`` or
            ``"thumbv7em-none-eabihf"`` (Cortex-M). Others than the host need ``ziglang``.
        processor : str
            As LLVM calls it, such as ``"cortex-m7"``: else the code runs on all of the target's.
        most_events : int
            That a call may pass between two instants that are known beforehand.
        duration, start_time
            The time for which instants are written down that follow from time alone.
        rtol, atol
            By which Newton's method has converged, as in :meth:`simulate`.

        Returns
        -------
        Path
            The folder.
        """
        from .export import export_c
        from .simulation.method_choice import refuse_idle_step
        from .simulation.settings import Options

        refuse_idle_step(method, step, "export_c")
        return export_c(self, folder, inputs, outputs, parameters, target, processor, most_events,
                        duration, Options(start_time, method, rtol, atol, step))

    def page(self, path: str | Path | None = None, *, sliders: Any = None, show: Any = (),
             switches: Any = None, duration: Any = "1 s", start_time: Any = "0 s",
             method: MethodName = "auto", rtol: float = 1e-6, atol: Any = None,
             step: Any = None, max_step: Any = None) -> Page:
        """Write the model as a page that simulates in a browser, with sliders.

        One file, which needs no server, no network and no Python.

        Parameters
        ----------
        path : path, optional
            Of the file, such as ``"demo.html"``; without one, the page is only returned.
        sliders : mapping, optional
            Parameters and the values between which a reader moves them,
            ``{"spring.stiffness": ("50 N/m", "500 N/m")}``; shown in the unit of the first.
        show : list of str
            Variables that are drawn; states where none are named.
        switches : mapping, optional
            Options and the values among which a reader chooses,
            ``{"friction.law": ["coulomb", "simscape"]}``. The page holds a program for each
            combination.
        duration, start_time, method, rtol, atol, step, max_step
            As in :meth:`simulate`.

        Returns
        -------
        Page
            Which notebooks show; ``page.save("demo.html")`` writes it.
        """
        from .export import page
        from .simulation.method_choice import refuse_idle_step
        from .simulation.settings import Options

        refuse_idle_step(method, step, "page")
        return page(self, path, sliders or {}, show, switches or {}, duration,
                    Options(start_time, method, rtol, atol, step, max_step))

    def sweep(self, over: Any, duration: Any, *, outputs: Any, every: Any = None,
              samples: int | None = None, seed: int = 0, executor: Any = None, store: Any = None,
              progress: bool | None = None, start_time: Any = "0 s", until: Any = None,
              **options: Unpack[SweepOptions]) -> xarray.Dataset:
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
            ``"max(spring.f)"``, also ``min``, ``initial``, ``final``, ``"at(spring.f, 1 s)"``,
            over the time of the run ``mean``, ``rms`` and ``integral``; a path alone keeps the
            course over time and needs ``every``; a function takes the
            :class:`~blocks.results.Result` and gives a quantity or number.
        every : str or quantity, optional
            Spacing of the times of courses.
        samples, seed : int
            Number of samples of the distributions, and their seed. Each path has a random
            stream of its own: another axis does not change the samples of this one.
        executor : int, concurrent.futures.Executor or Dask client, optional
            Number of workers, or what runs the points; in this process by default. A model without
            events that runs in machine code is run eight points at once, in as many threads; others
            in as many processes. ``data.encoding["execution"]`` says which.
        store : path, optional
            Folder of Parquet files that keeps finished runs. A study that was stopped is
            taken up again; one that differs is refused.
        progress : bool, optional
            Show what is done and the time left; by default in terminals and notebooks, of what
            takes more than two seconds.
        start_time, until, **options
            As in :meth:`simulate`, for all points; ``status`` says which condition ended a run, and
            what was asked of later times is NaN.

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
                     seed=seed, executor=executor, store=store, progress=progress,
                     start_time=start_time, until=until, **options)  # fmt: skip

    # -- engineering studies -------------------------------------------------------------
    @overload
    def linearise(self, inputs: Any = None, outputs: Any = None, at: Any = None, *,
                  modes: Literal["all"]) -> LinearModels: ...

    @overload
    def linearise(self, inputs: Any = None, outputs: Any = None, at: Any = None, *,
                  modes: Any = None) -> LinearModel: ...

    def linearise(self, inputs: Any = None, outputs: Any = None, at: Any = None, *,
                  modes: Any = None) -> LinearModel | LinearModels:
        """Linearise about a point, with exact derivatives.

        Parameters
        ----------
        inputs : str or list of str, optional
            Parameters that are numbers, ``"push.force"``, or variables that are just these,
            ``"throttle.y"``.
        outputs : str or list of str, optional
            Variables, or derivatives of states, ``"der(block.v)"``.
        at : OperatingPoint, Result or (Result, time), optional
            An operating point, the end of a run, or ``(result, "1.5 s")``; the initial state if
            nothing is given.
        modes : mapping, or "all", optional
            What sticks and slides, ``{"brake": "stuck"}``; as it is at the point if not given.
            ``"all"`` gives every mode that is possible there, with its loads.

        Returns
        -------
        LinearModel, or LinearModels for ``modes="all"``
            A, B, C, D with names and units, poles, zeros, gains, words.
        """
        from .analysis.linear.linearise import linearise

        return linearise(self, inputs, outputs, at, modes=modes)

    def operating_point(self, targets: Any = None, *, at_rest: bool = True, modes: Any = None
                        ) -> OperatingPoint:
        """Where the model rests, or moves as the targets say; the model is not changed.

        Parameters
        ----------
        targets : mapping, optional
            A value of a variable, derivative or input, ``{"car.v": "90 km/h"}``;
            :data:`blocks.analysis.free` for an input to be found; a pair of bounds,
            ``("0", "1")``, for a free input or a variable.
        at_rest : bool
            Whether nothing changes with time; positions on which nothing depends may.
        modes : mapping, optional
            What shall stick and slide, ``{"brake": "slides forward"}``, whether it can or not.

        Returns
        -------
        OperatingPoint

        Raises
        ------
        InitialisationError
            Naming a smallest set of targets that conflict, or a bound that is passed.
        """
        from .analysis.equilibrium.operating_point import find_operating_point

        return find_operating_point(self, targets, at_rest, modes)

    def stuck_range(self, input: str, at: Any = None) -> tuple[Quantity, Quantity]:
        """Between which values of an input everything stays stuck that is, at rest.

        The rest of the model follows slowly: it rests for every value, in the modes of the point
        ``at``, which is as in :meth:`linearise`. Rest is solved for at both ends, however the load
        depends on the input. An end is infinite where neither at that point nor a unit of the
        input beside it any load changes with the input.

        Returns
        -------
        (quantity, quantity)

        Raises
        ------
        ParameterError
            Where nothing sticks there, or nothing rests in these modes.
        """
        from .analysis.equilibrium.stuck_range import stuck_range

        return stuck_range(self, input, at)

    def limit_cycle(self, guess: Any = None, *, period: Any = None) -> LimitCycle:
        """Find the motion that repeats near a guess, by shooting through events.

        Parameters
        ----------
        guess : Result, optional
            A run that has come near it; the initial state, if a period is given. A stable motion is
            found from far away, too.
        period : str or quantity, optional
            About how long it takes; from the run, if not given. Where something acts in time by
            itself, such as a sine, the period of that.

        Returns
        -------
        LimitCycle
            Period, amplitudes, Floquet multipliers, a run of one period.
        """
        from .analysis.limit_cycles import find_limit_cycle

        return find_limit_cycle(self, guess, period)


@told_how_to_call
def load(file: str | Path) -> Any:
    """Read a Model (``"model.json"``), or else the Result of a run, from a file.

    A file of a model names classes by module and name: these modules are imported, and nothing
    else of it is run. Open models of people whose modules you would import.

    Parameters
    ----------
    file : path
        Written by ``model.save(…)`` or ``result.save(…)``.

    Returns
    -------
    Model or Result

    Raises
    ------
    FileError
        For a file that is missing, damaged, of another kind, or of a newer version.
    """
    if Path(str(file)).suffix.lower() == ".json":
        from .language.model_file import load_model

        return load_model(file, Model)
    from .results.files.saved import load_recording
    from .results.result import Result

    return Result(load_recording(file))


def _tape(network: Network, parameters: Parameters) -> Tape:
    """The equations of a network, reduced and in order.

    Raises
    ------
    StructureError
        Naming the components of the over- and under-determined parts.
    """
    from .assembly import Writer, flatten, reduce_index, write_tape
    from .assembly.index_reduction import state_priorities
    from .assembly.reduced import Singular, set_valued_elements
    from .diagnostics import structure_error

    flat = flatten(network)
    try:
        reduced = reduce_index(flat, state_priorities(network, flat), parameters,
                               set_valued_elements(flat))
        return write_tape(Writer(reduced, parameters))
    except Singular as singular:
        raise structure_error(flat, singular) from None
