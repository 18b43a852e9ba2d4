"""How does a vector of signals get through a border? Element by element.

Signals are scalars here. A vector that is joined on one side of a subsystem's border, of a
converter or of a block that works on every element, is joined again on the other side: its
elements cross. What joins them is then dissolved within one system.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .diagram import Block, End, Signal, System
from .matlab import NotUnderstood, parse
from .matlab_values import Unknown, evaluate
from .nodes import inner_port
from .physical_vectors import JOIN, wire_at
from .signal_lines import TO_PHYSICAL, TO_SIMULINK
from .vectors import JOINING, inputs_of, origin

__all__ = ["carry_vectors"]

_MOST_PASSES = 50  # borders that one vector crosses
_WIDEST = 200  # elements
_MOST_NEW = 500  # blocks that are made in one system: what would be more stays a vector, a gap
# blocks of one input that do the same to every element
_ELEMENTWISE = {"Gain", "Abs", "Saturate", "Bias", "Trigonometry", "Math", "Sqrt", "Signum",
                "Integrator", "TransferFcn", "DeadZone", "UnitDelay", "ZeroOrderHold", "Delay",
                "DataTypeConversion", "RateTransition", "Rounding", "Quantizer"}  # fmt: skip
_SIDES = {"lconn": "Left", "rconn": "Right"}


def carry_vectors(root: System, names: Mapping[str, Any]) -> None:
    """Take every vector of a diagram apart at the borders it crosses.

    Parameters
    ----------
    root : System
        Changed in place, with the systems in it.
    names : mapping
        Values that constants may use.
    """
    systems = [(system, len(system.blocks) + _MOST_NEW) for system in _systems(root)]
    for system, most in systems:
        for block in _ports(system, "Constant"):
            if len(system.blocks) < most:
                _constants(system, block, names)
    joins = any(b.block_type in JOINING or b.kind == JOIN for b in root.walk())
    for _ in range(_MOST_PASSES if joins else 0):
        steps = [step for system, most in systems for step in _pass(system, most)]
        if not any(steps):
            return


def _systems(root: System) -> list[System]:
    return [root, *(b.system for b in root.walk() if b.system is not None)]


def _pass(system: System, most: int) -> Iterator[bool]:
    for block in list(system.blocks.values()):
        if len(system.blocks) >= most:
            return
        if block.system is not None:
            yield from (_out(system, block, p) for p in _ports(block.system, "Outport"))
            yield from (_in(system, block, p) for p in _ports(block.system, "Inport"))
            yield from (_physical_out(system, block, p) for p in _ports(block.system, "PMIOPort"))
            yield from (_physical_in(system, block, p) for p in _ports(block.system, "PMIOPort"))
        elif block.kind == TO_PHYSICAL or block.block_type in _ELEMENTWISE and not any(
                "[" in text for text in block.options.values()):
            yield _each(system, block)
        elif block.kind == TO_SIMULINK:
            yield _each_number(system, block)
        elif block.block_type in ("Sum", "MinMax", "Product"):
            yield _added(system, block)


def _ports(system: System, kind: str) -> list[Block]:
    return [b for b in system.blocks.values() if b.block_type == kind]


# -- signals --------------------------------------------------------------------------------------
def _joined(system: System, sid: str, index: int) -> Block | None:
    """The block that joins the vector at an input."""
    driver = next((s.source for s in system.signals for t in s.targets
                   if (t.sid, t.port, t.index) == (sid, "in", index)), None)
    found = None if driver is None else origin(system, driver)
    block = None if found is None else system.blocks.get(found.sid)
    if block is None or block.block_type not in JOINING:
        return None
    return block if 1 < len(inputs_of(system, block)) <= _WIDEST else None


def _join(system: System, like: Block, sid: str, drivers: list[tuple[End, str]]) -> End:
    """A block that joins signals as another one does; its output."""
    made = copy.copy(like)
    made.sid, made.options = sid, dict(like.options)
    system.blocks[sid] = made
    system.signals += [Signal(source, [End(sid, "in", k)], name)
                       for k, (source, name) in enumerate(drivers, start=1)]
    return End(sid, "out", 1)


def _unplug(system: System, end: End) -> None:
    for signal in system.signals:
        signal.targets = [t for t in signal.targets if t != end]
    system.signals = [s for s in system.signals if s.targets]


def _move(system: System, source: End, to: End) -> None:
    """Let another output drive what one drives."""
    for signal in system.signals:
        if signal.source == source:
            signal.source = to


def _new_port(system: System, like: Block, k: int, name: str) -> tuple[Block, int]:
    """A further port block; its number is the next."""
    number = 1 + max(int(b.options.get("Port") or 1) for b in _ports(system, like.block_type))
    made = copy.copy(like)
    made.sid, made.name = f"{like.sid}.{k}", name or f"{like.name} {k}"
    made.options = {**like.options, "Port": str(number)}
    system.blocks[made.sid] = made
    return made, number


def _out(outer: System, holder: Block, port: Block) -> bool:
    inner = holder.system
    assert inner is not None
    join = _joined(inner, port.sid, 1)
    if join is None:
        return False
    _unplug(inner, End(port.sid, "in", 1))
    drivers = []
    for k, (source, name) in enumerate(inputs_of(inner, join), start=1):
        made, number = _new_port(inner, port, k, name)
        inner.signals.append(Signal(source, [End(made.sid, "in", 1)], name))
        drivers.append((End(holder.sid, "out", number), name))
    del inner.blocks[port.sid]
    before = End(holder.sid, "out", int(port.options.get("Port") or 1))
    _move(outer, before, _join(outer, join, f"{holder.sid}.{port.sid}", drivers))
    return True


def _in(outer: System, holder: Block, port: Block) -> bool:
    inner, number = holder.system, int(port.options.get("Port") or 1)
    assert inner is not None
    join = _joined(outer, holder.sid, number)
    if join is None:
        return False
    _unplug(outer, End(holder.sid, "in", number))
    drivers = []
    for k, (source, name) in enumerate(inputs_of(outer, join), start=1):
        made, further = _new_port(inner, port, k, name)
        outer.signals.append(Signal(source, [End(holder.sid, "in", further)], name))
        drivers.append((End(made.sid, "out", 1), name))
    del inner.blocks[port.sid]
    _move(inner, End(port.sid, "out", 1), _join(inner, join, f"{port.sid}.join", drivers))
    return True


def _copies(system: System, block: Block, count: int) -> list[Block]:
    made = []
    for k in range(1, count + 1):
        one = copy.copy(block)
        one.sid, one.name = f"{block.sid}.{k}", f"{block.name} {k}"
        one.options = dict(block.options)
        system.blocks[one.sid] = one
        made.append(one)
    del system.blocks[block.sid]
    return made


def _each(system: System, block: Block) -> bool:
    """A block of one input that a vector enters: one for every element."""
    join = _joined(system, block.sid, 1)
    if join is None:
        return False
    drivers = inputs_of(system, join)
    _unplug(system, End(block.sid, "in", 1))
    made = _copies(system, block, len(drivers))
    system.signals += [Signal(source, [End(one.sid, "in", 1)], name)
                       for one, (source, name) in zip(made, drivers, strict=True)]
    if block.kind == TO_PHYSICAL:
        whole = _join_physical(system, f"{block.sid}.join",
                               [End(one.sid, "rconn", 1) for one in made])
        _rewire(system, End(block.sid, "rconn", 1), whole)
    else:
        _move(system, End(block.sid, "out", 1), _join(
            system, join, f"{block.sid}.join",
            [(End(one.sid, "out", 1), name) for one, (_, name) in zip(made, drivers,
                                                                      strict=True)]))
    return True


def _added(system: System, block: Block) -> bool:
    """A sum, product or extremum of one input takes the elements of a vector."""
    signs = block.options.get("Inputs", "1" if block.block_type == "MinMax" else "++")
    signs = signs.replace("|", "")
    join = _joined(system, block.sid, 1) if signs in ("1", "+", "-", "*") else None
    if join is None:
        return False
    drivers = inputs_of(system, join)
    _unplug(system, End(block.sid, "in", 1))
    block.options["Inputs"] = "-" * len(drivers) if signs == "-" else str(len(drivers))
    system.signals += [Signal(source, [End(block.sid, "in", k)], name)
                       for k, (source, name) in enumerate(drivers, start=1)]
    return True


def _constants(system: System, block: Block, names: Mapping[str, Any]) -> None:
    """A constant that is a vector: one for every element."""
    try:
        values = np.asarray(evaluate(parse(block.options.get("Value", "1")), names), dtype=float)
    except (NotUnderstood, Unknown, TypeError, ValueError):
        return
    if not 1 < values.size == max(values.shape, default=1) <= _WIDEST:
        return
    made = _copies(system, block, values.size)
    for one, value in zip(made, values.ravel(), strict=True):
        one.options["Value"] = f"{value:.15g}"
    mux = Block(f"{block.sid}.join", "joined", "Mux", "Mux")
    _move(system, End(block.sid, "out", 1), _join(
        system, mux, mux.sid, [(End(one.sid, "out", 1), "") for one in made]))


# -- physical signals ---------------------------------------------------------------------------
def _joined_here(system: System, end: End) -> Block | None:
    """The block that joins the physical vector at an end."""
    for other in wire_at(system, end):
        block = system.blocks.get(other.sid)
        if block is not None and block.kind == JOIN and other.port == "rconn":
            return block
    return None


def _width(block: Block) -> int:
    return block.counts.get("lconn") or 2


def _join_physical(system: System, sid: str, ends: list[End]) -> End:
    ports = {f"lconn{k}": f"I{k}" for k in range(1, len(ends) + 1)} | {"rconn1": "O"}
    types = {name: "output" if name == "O" else "input" for name in ports.values()}
    system.blocks[sid] = Block(sid, "joined", JOIN, "Reference", ports=ports, types=types,
                               counts={"lconn": len(ends), "rconn": 1})
    system.wires += [[end, End(sid, "lconn", k)] for k, end in enumerate(ends, start=1)]
    return End(sid, "rconn", 1)


def _rewire(system: System, end: End, to: End | None) -> None:
    """Let the lines at one end be at another, or at none."""
    instead = [] if to is None else [to]
    system.wires = [[e for one in wire for e in (instead if one == end else [one])]
                    for wire in system.wires]


def _each_number(system: System, block: Block) -> bool:
    """A converter to numbers that a physical vector enters: one for every element."""
    join = _joined_here(system, End(block.sid, "lconn", 1))
    if join is None:
        return False
    made = _copies(system, block, _width(join))
    system.wires += [[End(one.sid, "lconn", 1), End(join.sid, "lconn", k)]
                     for k, one in enumerate(made, start=1)]
    _rewire(system, End(block.sid, "lconn", 1), None)
    mux = Block(f"{block.sid}.join", "joined", "Mux", "Mux")
    _move(system, End(block.sid, "out", 1), _join(
        system, mux, mux.sid, [(End(one.sid, "out", 1), "") for one in made]))
    return True


def _outer_end(holder: Block, port: Block) -> End:
    """The end of a subsystem that a physical port block is inside."""
    side = next(s for s, word in _SIDES.items() if port.options.get("Side", "Left") == word)
    count = len(_ports(holder.system, "PMIOPort")) if holder.system is not None else 0
    return next(end for k in range(1, count + 1)
                if inner_port(holder, end := End(holder.sid, side, k)) is port)


def _further(holder: Block, port: Block, width: int) -> list[tuple[End, End]]:
    """Further physical ports; the end inside and outside of each. The old one keeps its number."""
    inner = holder.system
    assert inner is not None
    made = [_new_port(inner, port, k, "")[0] for k in range(1, width + 1)]
    return [(End(one.sid, "rconn", 1), _outer_end(holder, one)) for one in made]


def _physical_out(outer: System, holder: Block, port: Block) -> bool:
    inner, own = holder.system, End(port.sid, "rconn", 1)
    assert inner is not None
    join = _joined_here(inner, own)
    if join is None:
        return False
    ends = _further(holder, port, _width(join))
    inner.wires += [[inside, End(join.sid, "lconn", k)]
                    for k, (inside, _) in enumerate(ends, start=1)]
    _rewire(inner, own, None)
    _rewire(outer, _outer_end(holder, port), _join_physical(
        outer, f"{holder.sid}.{port.sid}", [end for _, end in ends]))
    return True


def _physical_in(outer: System, holder: Block, port: Block) -> bool:
    inner, own = holder.system, End(port.sid, "rconn", 1)
    assert inner is not None
    end = _outer_end(holder, port)
    join = _joined_here(outer, end)
    if join is None:
        return False
    ends = _further(holder, port, _width(join))
    outer.wires += [[outside, End(join.sid, "lconn", k)]
                    for k, (_, outside) in enumerate(ends, start=1)]
    _rewire(outer, end, None)
    _rewire(inner, own, _join_physical(inner, f"{port.sid}.join", [i for i, _ in ends]))
    return True
