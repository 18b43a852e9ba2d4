"""Writes a network as a model file of several releases.

What differs between releases follows ``FORMAT.md`` of the format's description: one part or one
for every system, values below the block or in ``InstanceData``, counts of ports as a vector or
named, names of ports in no place, in a list or one by one.
"""

import json
import zipfile
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from library.simscape import convert
from library.simscape.file.nodes import port_table

RELEASES = ("R2013b", "R2016b", "R2020b", "R2022b", "R2026a")
UTILITIES = {
    "nesl_utility/Simulink-PS Converter": (["in"], [], ["O"]),
    "nesl_utility/PS-Simulink Converter": (["out"], ["I"], []),
    "nesl_utility/Solver Configuration": ([], [], ["P"])}


@dataclass
class Drawn:
    """A block: values of a component as (text, unit) or, of a target, (text, unit, priority)."""

    kind: str
    name: str
    nodes: dict[str, str] = field(default_factory=dict)  # by port
    values: dict[str, tuple] = field(default_factory=dict)
    options: dict[str, str | bytes] = field(default_factory=dict)  # bytes are binary parts
    inputs: tuple[str, ...] = ()  # names of signals
    outputs: tuple[str, ...] = ()
    within: str = ""  # the subsystem it stands in
    inner: list = field(default_factory=list)  # blocks of a subsystem that is drawn with its ports
    sides: tuple = ()  # names of its ports on either side, where the table has no such layout


def simulink(kind, name, inputs="", outputs="", /, **options):
    """A block of Simulink's with the names of its lines, apart by blanks, and its options."""
    return Drawn(kind, name, options=options, inputs=tuple(inputs.split()),
                 outputs=tuple(outputs.split()))


def to_ps(number, node, /, **options):
    return Drawn("nesl_utility/Simulink-PS Converter", f"{number} to {node}", {"O": node},
                 options=options, inputs=(number,))


def from_ps(node, number, /, **options):
    return Drawn("nesl_utility/PS-Simulink Converter", f"{node} out", {"I": node}, options=options,
                 outputs=(number,))


def solver(node="g"):
    return Drawn("nesl_utility/Solver Configuration", "solver", {"P": node})


def constant(name, node, value, unit="1"):
    """A constant physical signal."""
    return Drawn("foundation.signal.sources.constant", name, {"O": node},
                 {"constant": (value, unit)})


def coasting(mass=("2", "kg"), name="sledge"):
    """2 kg on 3 N*s/m from 1 m/s."""
    translational = "foundation.mechanical.translational."
    return [
        Drawn(f"{translational}mass", name, {"M": "a"}, {"mass": mass, "v": ("1", "m/s", "High")}),
        Drawn(f"{translational}damper", "snow", {"R": "a", "C": "g"}, {"D": ("3", "N*s/m")}),
        Drawn(f"{translational}reference", "ground", {"V": "g"}), solver()]


def sides_of(block):
    """Names of the ports on either side, as the file numbers them."""
    if block.sides:
        return block.sides
    if block.kind in UTILITIES:
        return UTILITIES[block.kind][1:]
    if block.kind not in port_table():
        ends = list(block.nodes)
        return ([], ends) if block.kind == "PMIOPort" else (ends, [])
    for left, right in (map(str.split, layout) for layout in port_table()[block.kind]["layouts"]):
        if {*left, *right} == set(block.nodes):
            return left, right
    raise AssertionError(f"{block.name}: no layout has the ports {set(block.nodes)}")


def p(name, text):
    return f"<P Name={quoteattr(name)}>{escape(str(text))}</P>"


def values_of(block):
    for name, (text, unit, *priority) in block.values.items():
        yield p(name, text)
        yield p(f"{name}_unit", unit)
        if priority:
            yield p(f"{name}_specify", "on")
            yield p(f"{name}_priority", priority[0])
        else:
            yield p(f"{name}_conf", "compiletime")


def block_text(block, sid, release, inner=""):
    year = release[1:]
    left, right = sides_of(block)
    counts = {"in": len(block.inputs), "out": len(block.outputs), "lconn": len(left),
              "rconn": len(right)}
    lines = []
    if year >= "2022b":
        said = " ".join(f'{k}="{v}"' for k, v in counts.items() if v)
        lines.append(f"<PortCounts {said}/>")
    else:
        numbers = [counts["in"], counts["out"], 0, 0, 0, counts["lconn"], counts["rconn"]]
        lines.append(p("Ports", numbers))
    kind = "Reference" if "." in block.kind or "/" in block.kind else block.kind
    if "/" in block.kind:
        lines.append(p("SourceBlock", block.kind))
    types = port_table().get(block.kind, {}).get("types", {})
    if year >= "2026a" and left + right:
        lines.append("<PortProperties>" + "".join(
            f'<Port Type="{side}" Index="{k}">{p("PortId", name)}</Port>'
            for side, names in (("lconn", left), ("rconn", right))
            for k, name in enumerate(names, 1)) + "</PortProperties>")
    data = []
    if "." in block.kind:
        data += [p("SourceFile", block.kind), p("ComponentPath", block.kind)]
        if "2020b" <= year < "2026a":
            ports = {word: [{"id": n, "label": n, "type": types.get(n, "")} for n in names]
                     for word, names in (("Left", left), ("Right", right))}
            data.append(p("InternalSimscapePortConfiguration",
                          json.dumps({**ports, "Top": [], "Bottom": []})))
        data += values_of(block)
    data += [f'<P Name="{k}" Ref="bdmxdata:{k}_{block.name}"/>' if isinstance(v, bytes) else
             p(k, v) for k, v in block.options.items()]
    whole = "".join(data)
    if "." in block.kind and year >= "2016b":
        whole = f"<InstanceData>{whole}</InstanceData>"
    return (f'<Block BlockType="{kind}" Name={quoteattr(block.name)} SID="{sid}">'
            f'{"".join(lines)}{whole}{inner}</Block>')


def drawn_inside(block, sid, release):
    """The system of a subsystem whose blocks and ports are drawn one by one."""
    if not block.inner:
        return ""
    sids = {id(b): f"{sid}:{k}" for k, b in enumerate(block.inner, 1)}
    nodes = {}
    for b in block.inner:
        add_ends(nodes, b, sids[id(b)])
    texts = [block_text(b, sids[id(b)], release, drawn_inside(b, sids[id(b)], release))
             for b in block.inner]
    return f"<System>{''.join([*texts, *wires(nodes), *signals(block.inner, sids)])}</System>"


def write(path, blocks, release, settings=None):
    """Write blocks as the model file of a release."""
    sids = {id(block): str(k) for k, block in enumerate(blocks, 1)}
    names = sorted({b.within for b in blocks} - {""})
    systems = {}
    for name in names:
        inside = [b for b in blocks if b.within == name]
        outside = {n for b in blocks if b.within != name for n in b.nodes.values()}
        boundary = sorted({n for b in inside for n in b.nodes.values()} & outside)
        systems[name] = (inside, boundary)
    parts, root = {}, []
    nodes = {}
    for block in blocks:
        if not block.within:
            inside = drawn_inside(block, sids[id(block)], release)
            root.append(block_text(block, sids[id(block)], release, inside))
            add_ends(nodes, block, sids[id(block)])
    for k, (name, (inside, boundary)) in enumerate(systems.items(), 1):
        sid = str(1000 * k)
        inner = [block_text(b, sids[id(b)], release) for b in inside]
        own = {}
        for b in inside:
            add_ends(own, b, sids[id(b)])
        for number, node in enumerate(boundary, 1):
            port = f"{sid[:-1]}{number}"
            inner.append(f'<Block BlockType="PMIOPort" Name="port {number}" SID="{port}">'
                         f'{p("Side", "Left")}{p("Port", number)}</Block>')
            own.setdefault(node, []).append(f"{port}#rconn:1")
            nodes.setdefault(node, []).append(f"{sid}#lconn:{number}")
        system = "".join([*inner, *wires(own)])
        if release[1:] >= "2020b":
            parts[f"simulink/systems/system_{sid}.xml"] = f"<System>{system}</System>"
            held = f'<System Ref="system_{sid}"/>'
        else:
            held = f"<System>{system}</System>"
        root.append(f'<Block BlockType="SubSystem" Name={quoteattr(name)} SID="{sid}">'
                    f"{p('Ports', [0, 0, 0, 0, 0, len(boundary)])}{held}</Block>")
    content = "".join([*root, *wires(nodes), *signals(blocks, sids)])
    if release[1:] >= "2020b":
        parts["simulink/systems/system_root.xml"] = f"<System>{content}</System>"
        content = '<System Ref="system_root"/>'
    else:
        content = f"<System>{content}</System>"
    run = "".join(p(k, v) for k, v in (settings or {"StopTime": "1"}).items())
    parts["simulink/blockdiagram.xml"] = f"<ModelInformation><Model>{run}{content}</Model>" \
        "</ModelInformation>"
    parts["metadata/mwcoreProperties.xml"] = \
        f"<mwcoreProperties><matlabRelease>{release}</matlabRelease></mwcoreProperties>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="utf-8"?>{text}')
        for name, data in binary_parts(blocks):
            archive.writestr(f"simulink/bdmxdata/{name}.mxarray", data)
    return path


def converted(folder, blocks, release="R2020b", values=None, **settings):
    """What blocks become, as the model file of a release with these settings of a run."""
    file = write(folder / "model.slx", blocks, release, {"StopTime": "1", **settings})
    return convert(file, values=values)


def mapped(folder, blocks, release="R2024b"):
    """The text that blocks become, all of which have a counterpart."""
    result = converted(folder, blocks, release)
    assert {e.outcome for e in result.entries} == {"mapped"}, result.entries
    return result.text


def note_of(result, path):
    (entry,) = (e for e in result.entries if e.path == path)
    return entry.outcome, " ".join(entry.notes)


def binary_parts(blocks):
    for block in blocks:
        yield from ((f"{k}_{block.name}", v) for k, v in block.options.items()
                    if isinstance(v, bytes))
        yield from binary_parts(block.inner)


def add_ends(nodes, block, sid):
    for side, names in zip(("lconn", "rconn"), sides_of(block), strict=True):
        for k, name in enumerate(names, 1):
            nodes.setdefault(block.nodes[name], []).append(f"{sid}#{side}:{k}")


def wires(nodes):
    """A line with a branch for every further end."""
    for ends in nodes.values():
        if len(ends) > 1:
            branches = "".join(f'<Branch ConnectType="DEST_SRC">{p("Dst", e)}</Branch>'
                               for e in ends[1:])
            yield f'<Line LineType="Connection">{p("Src", ends[0])}{branches}</Line>'


def signals(blocks, sids):
    targets = {}
    for block in blocks:
        for k, name in enumerate(block.inputs, 1):
            targets.setdefault(name, []).append(f"{sids[id(block)]}#in:{k}")
    for block in blocks:
        for k, name in enumerate(block.outputs, 1):
            branches = "".join(f"<Branch>{p('Dst', e)}</Branch>" for e in targets.get(name, ()))
            source = p("Src", f"{sids[id(block)]}#out:{k}")
            yield f"<Line>{p('Name', name)}{source}{branches}</Line>"
