"""How do the solver settings of a model become arguments of ``simulate()``?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from networkx.utils import UnionFind

from ..file.diagram import Block
from ..matlab.syntax import NotUnderstood
from ..write.plan import Scope, SystemContext, Written
from .block_parameters import Texts
from .signal_part import seconds

__all__ = ["FIXED", "SOLVER", "Solvers"]

SOLVER = "nesl_utility/Solver Configuration"
_METHODS = {"NE_BACKWARD_EULER_ADVANCER": "backward_euler",
            "NE_PARTITIONING_ADVANCER": "backward_euler",
            "NE_TRAPEZOIDAL_ADVANCER": "trapezoidal"}  # fmt: skip
FIXED = ("ode1", "ode2", "ode3", "ode4", "ode5", "ode8", "ode14x", "ode1be")


@dataclass
class Solvers:
    """The Solver Configuration blocks of a model."""

    networks: UnionFind  # ends by physical network
    texts: Texts
    remarks: list[str]  # what a person should know is added here
    _blocks: dict[tuple[str, str], str] = field(default_factory=dict)  # by network
    _local: set[tuple[str, str]] = field(default_factory=set)  # method and step; empty: adaptive

    def take(self, level: SystemContext, block: Block) -> None:
        options, where = block.options, f"{level.path}/{block.name}"
        if options.get("DoDC") == "on":
            self.remarks.append("The model asks to start from steady state; here it starts from "
                                "its initial targets, unless simulate() is given "
                                "initial='steady state'.")
        network = self.networks[block.sid, "rconn1"]
        if network in self._blocks:
            self.remarks.append(
                f"{where} and {self._blocks[network]} are Solver Configuration blocks of one "
                "network, which Simscape refuses; take one of them out.")
        self._blocks.setdefault(network, where)
        self._local.add(self._steps(level, block, where)
                        if options.get("UseLocalSolver") == "on" else ("", ""))

    def _steps(self, level: SystemContext, block: Block, where: str) -> tuple[str, str]:
        """Method and step of a local solver, where both have a counterpart."""
        choice = block.options.get("LocalSolverChoice", "NE_BACKWARD_EULER_ADVANCER")
        written = block.options.get("LocalSolverSampleTime", "0.001")
        with suppress(NotUnderstood):
            step = self.texts.of(written, level.scope, f"{where}.LocalSolverSampleTime")
            if choice in _METHODS and isinstance(step.value, (int, float)) and step.value > 0:
                return _METHODS[choice], seconds(step.python)
        self.remarks.append(f"{where} uses a local solver ({choice}, sample time {written}) that "
                            "has no counterpart: steps are adaptive here.")
        return "", ""

    def times(self, settings: dict[str, str], scope: Scope) -> dict[str, Written]:
        """Stop time, largest step and tolerance of the model, where they are finite numbers."""
        found: dict[str, Written] = {}
        for word, usual, unit in (("StopTime", "10", "s"), ("MaxStep", "auto", "s"),
                                  ("RelTol", "auto", "")):
            tried = Texts(self.texts.workspace)
            try:
                written = tried.of(settings.get(word, usual), scope, word, unit)
            except NotUnderstood:
                continue
            if word == "StopTime" and tried.missing:
                self.remarks.append(f"The stop time needs {', '.join(tried.missing)}, which "
                                    "has no value: --set gives one.")
            if isinstance(written.value, float) and abs(written.value) < float("inf"):
                found[word] = written
        return found

    def arguments(self, settings: dict[str, str], loose: bool) -> dict[str, str]:
        """Arguments ``method`` and ``step``, where the whole model has one local solver.

        Where a stop has a ``loose`` side that a small damper holds, there are none: with located
        contacts its decay is too fast for steps of the file's size.
        """
        fixed = settings.get("SolverName", settings.get("Solver", ""))
        if len(self._local) > 1:
            self.remarks.append("Its networks have different local solvers: steps are adaptive "
                                "here.")
        elif self._local and (only := next(iter(self._local))) != ("", ""):
            method, step = only
            said = f"method={method!r}, step={step.strip(chr(34))}"
            if not loose:
                self.remarks.append(
                    f"The model uses a local solver of fixed steps, and so does simulate() below: "
                    f"{said}. Leave both out for steps that keep to a tolerance.")
                return {"method": f'"{method}"', "step": step}
            self.remarks.append(
                f"The model uses a local solver of fixed steps ({said}). Here steps are adaptive: "
                "a stop has a side without inertia, which such steps do not follow.")
        elif fixed in FIXED:
            self.remarks.append(f"The model's solver has fixed steps ({fixed}); here steps are "
                                "adaptive.")
        return {}
