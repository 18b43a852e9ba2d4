"""Which classes does a component source need, and how does it know them?

The components that it has as parts are read from sources beside it or in the packages of their
paths. One class is made of each, and of each number of parts or ports that it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from blocks import FileError, Port, declarations

from ..matlab.python_text import PythonNames, class_name
from ..matlab.syntax import Apply, Field, Name, NotUnderstood, Tree, dotted, path_tree
from ..physical.mapping import DOMAINS, counterpart_of
from ..tables import filled
from .arrays import entry_by_entry
from .declarations import in_python, plain_declarations
from .expressions import SourceContext
from .files import file_of, is_source, read_component
from .loops import Loops, written_out
from .source import Connection, Declared, Source, given_by_name, made_of, read_source

__all__ = ["known_sources"]

#: Names that every module takes from ``blocks``.
DECLARATIONS = ("Component", "Discrete", "Domain", "Input", "Option", "Output", "Parameter",
                "Port", "Target", "Variable")  # fmt: skip


def known_sources(path: Path, given: Mapping[str, Tree] | None = None) -> list[SourceContext]:
    """A source and those that it has parts of, each behind those that it needs.

    ``given`` are numbers of parameters that say how many parts, ports or values there are.
    FileError is raised for a file that cannot be read or is of another kind, and a component that
    is its own part; NotUnderstood names file and line.
    """
    sources = _Sources()
    own = sources.component(path, given or {}, None, ())
    paths = [dotted(node.value) for known in sources.found.values() for node in known.of("nodes")]
    taken = {path.rpartition(".")[2] for path in paths if path not in DOMAINS}
    taken |= {known.class_name for known in sources.found.values()}
    for known in sources.found.values():
        known.homes, known.own_domains, known.taken = own.homes, own.own_domains, taken
    return list(sources.found.values())


@dataclass
class _Sources:
    """Sources that are known, by file and by the numbers that are held."""

    found: dict[tuple[str, ...], SourceContext] = field(default_factory=dict)
    names: PythonNames = field(default_factory=lambda: PythonNames(DECLARATIONS))

    def component(self, path: Path, given: Mapping[str, Tree], above: Loops | None,
                  within: tuple[Path, ...]) -> SourceContext:
        source = read_component(path)
        if source.form == "function" or source.form == "domain" and within:
            raise FileError(str(path), f"it is a {source.form}, not a component.",
                            "Give a component or a domain.", code="simscape.kind")
        return self._known(source, path, given, above, within)

    def _known(self, source: Source, path: Path, given: Mapping[str, Tree], above: Loops | None,
               within: tuple[Path, ...]) -> SourceContext:
        loops = Loops(written_out(source, path), given, above)
        parts: dict[str, SourceContext] = {}
        if source.form == "component":
            source = loops.unrolled()
            source = self._with_parts(source, path, loops, (*within, path), parts)
        own = {name: f"{number:g}" for name, number in loops.held.items() if name in given}
        key = (str(path), source.name, *(f"{name} {own[name]}" for name in sorted(own)))
        if key in self.found:
            return self.found[key]
        name = class_name("_".join([source.name, *(own[name] for name in sorted(own))])
                          if above is not None else source.name)
        lengths, notes, ports, called = {}, list[str](), {}, dict[str, str]()
        if source.form == "component":
            made = entry_by_entry(plain_declarations(source), path.name,
                                  {kind: part.ports for kind, part in parts.items()})
            lengths, notes, ports = {**made.lengths, **loops.lengths}, made.notes, made.ports
            source, called = in_python(made.source)
        known = SourceContext(
            source, path, class_name=self.names.make(name), called=called, lengths=lengths,
            notes=notes, held=loops.held, ports=ports, parts=parts)
        if known.class_name != class_name(source.name):
            called = {**called, class_name(source.name): known.class_name}
        known.notes += [f"{old} is called {new} here." for old, new in called.items()]
        self.found[key] = known
        return known

    def _with_parts(self, source: Source, path: Path, loops: Loops, within: tuple[Path, ...],
                    parts: dict[str, SourceContext]) -> Source:
        """A composite whose parts name the classes that they are of, and with its references."""
        components = []
        for declared in source.sections.get("components", ()):
            kind, arguments = made_of(declared)
            beside = file_of(kind, path)
            if is_source(kind) and beside.is_file():
                if beside in within:
                    raise FileError(str(path), f"its part {declared.name} is of {beside.name}, "
                                    "which it is a part of itself.", "Take another component "
                                    "there.", code="simscape.part")
                loops.place = declared.place
                part = self.component(beside, given_by_name(arguments), loops, within)
                kind = f"{kind}.{part.class_name}"
                parts[kind] = part
                declared = replace(declared, value=Apply(path_tree(kind), arguments))
            components.append(declared)
        made = replace(source, sections={**source.sections, "components": components})
        return self._referred(made, path, within, parts) if components else source

    def _referred(self, source: Source, path: Path, within: tuple[Path, ...],
                  parts: dict[str, SourceContext]) -> Source:
        """``connect(a, *)`` by a part that is the reference of the domain of a."""
        components, connections = list(source.sections["components"]), []
        names = PythonNames(source.names)
        for connection in source.connections:
            ends = [end for end in connection.ports if end != Name("*")]
            if len(ends) < len(connection.ports):
                domain = next(filter(None, (_domain_of(end, source, parts) for end in ends)), "")
                if not domain:
                    raise NotUnderstood(connection.place, "the domain of what is connected to the "
                                        "reference is not known.", "Connect a node of the "
                                        "component there.")
                home = domain.rpartition(".")[0]
                kind = next((kind for kind in (f"{home}.elements.reference", f"{home}.reference")
                             if counterpart_of(kind) is not None), "")
                if not kind:
                    short = domain.rpartition(".")[2]
                    text = filled("reference.ssc", name=short, domain=domain)
                    made = read_source(text, path.name)
                    part = self._known(made, path, {}, None, within)
                    kind = f"{domain}.{part.class_name}"
                    parts[kind] = part
                name = names.make("reference")
                components.append(Declared(name, path_tree(kind), condition=connection.condition,
                                           place=connection.place))
                connection = Connection((*ends, Field(Name(name), "V")), connection.condition,
                                        connection.place)
            connections.append(connection)
        return replace(source, sections={**source.sections, "components": components},
                       connections=connections)


def _domain_of(end: Tree, source: Source, parts: Mapping[str, SourceContext]) -> str:
    """The path of the domain of a port of a composite or of one of its parts."""
    while isinstance(end, Apply):
        end = end.of
    if isinstance(end, Name):
        return next((dotted(d.value) for d in source.sections.get("nodes", ())
                     if d.name == end.name), "")
    if not isinstance(end, Field):
        return ""
    member = end.of.of if isinstance(end.of, Apply) else end.of
    for declared in source.sections["components"]:
        if isinstance(member, Name) and declared.name == member.name:
            kind, _ = made_of(declared)
            if kind in parts:
                return _domain_of(Name(end.name), parts[kind].source, {})
            counterpart = counterpart_of(kind)
            port = None if counterpart is None or counterpart.component is None else \
                declarations(counterpart.component()).get(counterpart.port(end.name))
            if isinstance(port, Port):
                return next((path for path, name in DOMAINS.items() if name == port.domain.name),
                            "")
    return ""
