"""How does a diagram become components, connections and values?

Every system of the diagram becomes a class with ports; converters between physical signals
and Simulink become units; what only shows signals becomes the plot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from .file.diagram import Block, Diagram
from .file.nodes import NOTE, loose_stop, name_ports, nodes_of, small_damper
from .file.resolve import resolve
from .file.workspace import workspace_of
from .matlab.python_text import MEMBERS, PythonNames, class_name, python_name, said
from .physical.blocks import PhysicalBlocks, lacks_ports
from .physical.converters import leave_out_idle_gains
from .physical.node_units import NodeUnits, networks_of
from .physical.own_sources import use_sources
from .simulink.block_parameters import BlockParameters, Texts
from .simulink.masks import Masks
from .simulink.signal_lines import UNSEEN, is_converter, name_read_probes
from .simulink.signals import SignalsOfLevel
from .simulink.solver import SOLVER, Solvers
from .write.plan import ClassPlan, Part, Scope, Script, SystemContext
from .write.state import ConversionState

__all__ = ["Conversion"]

NEWEST = "R2026a"  # the youngest release whose files were seen


class Conversion(ConversionState):
    """Converts one diagram; :attr:`script` is what it becomes.

    Scripts, data and other models are looked for in ``folders``; values that are ``given`` and
    ``scripts`` that give values are the user's.
    """

    def __init__(self, diagram: Diagram, folders: Collection[Path], given: Mapping[str, str],
                 scripts: Iterable[Path]) -> None:
        super().__init__(diagram, workspace_of(diagram, folders, given, scripts))
        self.remarks, self.conditions = resolve(diagram, folders, self.workspace.values)
        for system in diagram.root.systems():
            name_read_probes(system)
        for name in self.conditions.keys() - self.workspace.values.keys():
            self.texts.missing[name] = [f"the choices of {self.conditions[name]}"]
        self.modules = use_sources(diagram, folders, self.workspace.values, self.remarks)
        self.masks = Masks(self.texts, self.remarks)
        self.workspace_scope = Scope(self.workspace.values)
        self.classes: list[ClassPlan] = []
        self.physical = PhysicalBlocks(self, self.gaps)
        self.units = NodeUnits(diagram.root)
        guessed = Texts(self.workspace)
        self.units.follow(lambda block: BlockParameters(
            guessed, diagram, self.units.of, self.workspace_scope, block))
        self.solvers = Solvers(networks_of(diagram.root, self.units), self.texts, self.remarks)
        if diagram.release > NEWEST:
            self.remarks.append(f"The file is of {diagram.release}; files up to {NEWEST} are "
                                "known. Look through the report.")
        root = ClassPlan("model", diagram.name)
        self.convert(SystemContext(diagram.root, "", "", "model", self.workspace_scope, root,
                                   PythonNames(MEMBERS)))
        self.script = self._script(root)

    # -- one system --------------------------------------------------------------------
    def convert(self, level: SystemContext) -> None:
        blocks = level.system.blocks.values()
        for block in blocks:
            name_ports(block)
        live = [block for block in blocks if not self._is_out(level, block)]
        signals = SignalsOfLevel(self, level, self.physical)
        # where the file does not tell ports, those they are joined to do: these blocks come last
        for block in sorted(live, key=lacks_ports):
            if block.system is not None:
                self._subsystem(level, block)
            elif block.kind == SOLVER:
                self.solvers.take(level, block)
                self.enter(level, block, "mapped", "simulate()")
            elif block.is_component:
                self.physical.make(level, block)
        self._nodes(level, signals)
        signals.convert(live)
        leave_out_idle_gains(self, level)
        level.plan.notes = level.system.notes

    def _is_out(self, level: SystemContext, block: Block) -> bool:
        if block.kind == "foundation.signal.sinks.terminator":
            self.enter(level, block, "mapped")
            return True
        why = "It passes its input on in the model." if block.commented == "through" else \
            "It is commented out in the model." if block.commented else \
            "It only shows values, or sets them by hand: those of the file hold." \
            if block.block_type in UNSEEN else ""
        if why:
            self.enter(level, block, "left out", notes=[why])
        return bool(why)

    # -- subsystems --------------------------------------------------------------------
    def _subsystem(self, level: SystemContext, block: Block) -> None:
        assert block.system is not None
        if all(inner.block_type in UNSEEN for inner in block.system.walk()):
            self.enter(level, block, "left out", notes=["It holds nothing that acts."])
            return
        name = level.names.make(python_name(block.name, "subsystem"))
        plan = ClassPlan(self.workspace.python.make(class_name(block.name)), block.name)
        inner = SystemContext(
            block.system, f"{level.path}/{block.name}", f"{level.within}{name}.", "self",
            self.masks.scope(level, block, name), plan, PythonNames(MEMBERS))
        level.inner[block.sid] = inner
        self.convert(inner)
        alike = next((known for known in self.classes if known.content == plan.content), None)
        if alike is None:
            self.classes.append(plan)
        else:
            plan.name = alike.name
        level.plan.parts.append(Part(name, plan.name, original=said(block.name, name)))

    # -- nodes -------------------------------------------------------------------------
    def _nodes(self, level: SystemContext, signals: SignalsOfLevel) -> None:
        at: dict[str, list[str]] = {}  # the connection of a port
        for node in nodes_of(level.system):
            found = [ref for end in node if (ref := self.ref(level, end)) is not None and ref.kind]
            blocks = [block for end in node if (block := level.block(end)) is not None]
            if any(ref.kind in ("input", "output") for ref in found) or any(
                    map(is_converter, blocks)):
                signals.physical.append((node, found))
                continue
            if not found:
                continue
            texts = [ref.text for ref in found if ref.kind == found[0].kind]
            for block in blocks:
                if self.is_port(level, block):
                    port = level.add_port(block, "Port", found[0].kind)
                    texts.append(f"{level.owner}.{port.name}")
            if len(texts) > 1:
                _connect(level.plan.connections, at, texts)
            stop = loose_stop(blocks)
            if stop is not None:
                self._damp(level, stop)

    def _damp(self, level: SystemContext, stop: Block) -> None:
        """A small damper in parallel with a stop that has a loose side."""
        ends = [ref.text for (sid, _), ref in level.refs.items() if sid == stop.sid]
        name = level.add(None, *small_damper(stop, self.physical.dampings.get(stop.sid)),
                         f"{ends[0].split('.')[-2]}_damper").name
        level.plan.connections += [[f"{level.owner}.{name}.{end.rpartition('.')[2]}", end]
                                   for end in ends]
        entry = next(e for e in self.entries if e.path == f"{level.path}/{stop.name}")
        entry.outcome = "approximated"
        entry.notes.append(NOTE)

    # -- the whole ---------------------------------------------------------------------
    def _script(self, root: ClassPlan) -> Script:
        python = self.workspace.python
        solver = self.solvers.arguments(self.diagram.settings, any(
            NOTE in entry.notes for entry in self.entries))
        times = self.solvers.times(self.diagram.settings, self.workspace_scope)
        values = [(name := python.variable(g.path), g.text,
                   g.comment or ("" if name == g.path.replace(".", "_") else g.path), g.source)
                  for g in self.workspace.lines.values()]
        self.remarks += self.workspace.notes
        if self.open:
            self.remarks.append("Inputs that nothing is connected to are 0, as in Simulink: "
                                f"{', '.join(self.open)}.")
        return Script(
            title=self.diagram.name, source=self.diagram.path.name, release=self.diagram.release,
            values=[*values, *self.masks.lines], classes=self.classes,
            stubs=list(self.gaps.classes.values()),
            root=root, stop=self.diagram.settings.get("StopTime", "10"), times=times, solver=solver,
            plots=self._shown(self.plots or self.ended),
            shown={name: (path, unit) for name, (where, unit) in self.named.items()
                   for path in self._shown([where])},
            remarks=self.remarks,
            entries=self.entries)

    def _shown(self, paths: Iterable[str]) -> list[str]:
        """Signals as a result holds them: an input of a subsystem at what drives it."""
        found: dict[str, None] = {}
        for path in paths:
            seen = {path}
            while path in self.fed and self.fed[path] not in seen:
                path = self.fed[path]
                seen.add(path)
            if path and (path not in self.inputs or path in self.fed):
                found[path] = None
        return list(found)


def _connect(connections: list[list[str]], at: dict[str, list[str]], texts: list[str]) -> None:
    """Add a node; two ports of one body in the file are one here, and so are their nodes."""
    touched = list({id(at[text]): at[text] for text in texts if text in at}.values())
    whole = list(dict.fromkeys(text for known in (*touched, texts) for text in known))
    connections[:] = [known for known in connections if not any(known is t for t in touched)] \
        if touched else connections
    connections.append(whole)
    at.update(dict.fromkeys(whole, whole))
