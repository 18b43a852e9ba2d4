"""Which signals do a Signal Builder and a Signal Editor give?

The first keeps them in a binary part of the model, the second as Datasets in a file of data. Each
signal becomes a block that reads a table, as From Workspace does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..simulink.vectors import MUX, join, move
from .diagram import Block, End, System
from .mat_data import file_values, stream_value

__all__ = ["read_signals"]

Tables = dict[str, tuple[Any, Any]]  # times and values by name of the signal


class _Unread(Exception):
    """Signals are not there, or none that are read here; the message says which."""


def read_signals(system: System, find: Callable[[str], Path | None], path: str,
                 remarks: list[str]) -> None:
    """Put tables in place of the blocks of a system that read signals of these kinds.

    ``find`` gives the path of a file by its name, None where it is not there. To ``remarks``, which
    name the system by its ``path``, is added which group is taken, and what cannot be read.
    """
    for block in list(system.blocks.values()):
        where = f"{path}/{block.name}"
        editor = block.simulink_name == "Signal Editor"
        try:
            if editor:
                tables = _edited(block, find, where, remarks)
            elif block.signals:
                tables = _built(block, path, remarks)
            else:
                continue
        except _Unread as error:
            block.options["unread"] = str(error)
            continue
        except Exception as error:  # SciPy raises many kinds for data that are not what they seem
            block.options["unread"] = f"Its signals cannot be read ({error})."
            continue
        _place(system, block, tables, apart=editor)


def _place(system: System, block: Block, tables: Tables, apart: bool) -> None:
    """A block for every signal; each has an output of its own, or all are one vector."""
    del system.blocks[block.sid]
    ends = []
    for k, (name, (times, values)) in enumerate(tables.items(), 1):
        rows = "; ".join(f"{t!r} {y!r}" for t, y in zip(times.tolist(), values.tolist(),
                                                        strict=True))
        options: dict[str, str] = {word: block.options[word] for word in (
            "SampleTime", "Interpolate", "OutputAfterFinalValue") if word in block.options}
        one = replace(block, sid=f"{block.sid}.{k}", name=name, signals=b"", kind="FromWorkspace",
                      block_type="FromWorkspace", options={**options, "VariableName": f"[{rows}]"})
        system.blocks[one.sid] = one
        ends.append(End(one.sid, "out", 1))
    if apart or len(ends) == 1:
        for k, end in enumerate(ends, 1):
            move(system, End(block.sid, "out", k), end)
    else:
        move(system, End(block.sid, "out", 1), join(
            system, MUX, f"{block.sid}.join", zip(ends, tables, strict=True)))


def _built(block: Block, path: str, remarks: list[str]) -> Tables:
    """The signals of the active group of a Signal Builder."""
    suite = stream_value(block.signals)["sbobj"]
    groups = _list(suite["Groups"])
    active = int(suite.get("ActiveGroup") or 1)
    group = groups[active - 1]
    _say(path, group["Name"], [g["Name"] for g in groups], "group", remarks)
    return {str(signal["Name"]): (np.ravel(signal["XData"]).astype(float),
                                  np.ravel(signal["YData"]).astype(float))
            for signal in _list(group["Signals"])}


def _edited(block: Block, find: Callable[[str], Path | None], where: str, remarks: list[str]
            ) -> Tables:
    """The signals of the active scenario of a Signal Editor."""
    name = block.options.get("FileName", "untitled.mat")
    file = find(name.replace("\\", "/").rpartition("/")[2])
    if file is None:
        raise _Unread(f"{name} was not found.")
    values, unread = file_values(file.read_bytes())
    active = block.options.get("ActiveScenario", next(iter(values), ""))
    if active.isdigit() and 0 < int(active) <= len(values):
        active = list(values)[int(active) - 1]
    if active in unread or not isinstance(values.get(active), Mapping):
        raise _Unread(f"{active} is no Dataset of time series in {name}.")
    _say(where, active, [n for n, v in values.items() if isinstance(v, Mapping)], "scenario",
         remarks)
    found = {}
    for signal, held in values[active].items():
        if not isinstance(held, Mapping) or np.size(held.get("Data", ())) != np.size(
                held.get("Time", 0.0)):
            raise _Unread(f"{active}.{signal} is no time series of one number.")
        found[signal] = np.ravel(held["Time"]), np.ravel(held["Data"])
    if len(found) > 1 and block.options.get("Interpolate", "on") == "off":
        remarks.append(f"{where}: {block.options.get('ActiveSignal', 'its active signal')} is held "
                       "between its points; so are the other signals here.")
    return found


def _say(where: str, active: str, names: list[str], kind: str, remarks: list[str]) -> None:
    others = [name for name in names if name != active]
    if others:
        remarks.append(f"{where} has {len(names)} {kind}s; {active!r}, the active one, is taken, "
                       f"and not {', '.join(map(repr, others))}.")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
