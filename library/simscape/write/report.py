"""What became of every block of a converted model, as a table, a text and a page?"""

from __future__ import annotations

import html
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..tables import filled

if TYPE_CHECKING:
    from .plan import Entry, Script

__all__ = ["report_html", "report_table", "report_text"]

_INDENT = " " * 14
_ORDER = ("mapped", "approximated", "left out", "missing")


def report_table(script: Script) -> Any:
    """One row for every block: path, kind, outcome, component and notes."""
    import pandas as pd

    return pd.DataFrame(
        [(e.path, e.kind, e.outcome, e.component, " ".join(e.notes)) for e in _rows(script)],
        columns=["block", "kind", "outcome", "here", "notes"])


def _rows(script: Script) -> list[Entry]:
    return sorted(script.entries, key=lambda e: (-_ORDER.index(e.outcome), e.path))


def _summary(script: Script, outcome: str = "") -> list[str]:
    counts = Counter(e.outcome for e in script.entries)
    defaults = sum("Not in the file" in note for e in script.entries for note in e.notes)
    lines = [f"{counts[word]} {word}" for word in _ORDER if counts[word]]
    said = [f"The text {outcome}"] if outcome else []
    said.append(f"{len(script.entries)} blocks: {', '.join(lines)}.")
    gaps = Counter(e.kind for e in script.entries if e.outcome == "missing")
    if gaps:
        said.append("Without a counterpart: " + ", ".join(
            f"{count} {kind}" for kind, count in gaps.most_common()) + ".")
        said.append("Each has a stub in the text, whose docstring says what takes its place: a "
                    "component of yours by add_counterpart(), or a part in repair(model), both "
                    "in the module of repairs.")
    if defaults:
        said.append(f"{defaults} blocks take values from the defaults here, because the file does "
                    "not hold them.")
    friction = [e.path for e in script.entries if e.component.endswith("Friction")]
    if friction:
        said.append(f"Friction is Simscape's smoothed one in {', '.join(friction)}, as in the "
                    'model: it creeps at rest. law="coulomb" or law="stribeck" sticks.')
    return [*said, *dict.fromkeys(script.remarks)]


def report_text(script: Script, outcome: str = "") -> str:
    """The account as text; ``outcome`` is how the text did when it was tried."""
    rows = _rows(script)
    lines = [f"{script.source}, {script.release}"]
    lines += [line for said in _summary(script, outcome) for line in textwrap.wrap(said, 96)] + [""]
    for entry, following in zip(rows, [*rows[1:], None], strict=True):
        here = f" -> {entry.component}" if entry.component else ""
        lines += _indented(f"{entry.outcome:<12}  {entry.path} ({entry.kind}){here}", "")
        if following is None or (following.outcome, following.kind, following.notes) != (
                entry.outcome, entry.kind, entry.notes):  # said once of several
            lines += [line for note in entry.notes for line in _indented(note)]
    return "\n".join(lines)


def _indented(text: str, first: str = _INDENT) -> list[str]:
    return textwrap.wrap(text, 96, initial_indent=first, subsequent_indent=_INDENT,
                         break_on_hyphens=False)


def report_html(script: Script, model: Any = None, outcome: str = "") -> str:
    """The account as one page; with the network drawn where a model is given."""
    picture = "" if model is None else model.draw().svg()
    said = "".join(f"<li>{html.escape(line)}</li>" for line in _summary(script, outcome))
    table = report_table(script).to_html(index=False, border=0, justify="left")
    title = html.escape(f"{script.source}: what became of it")
    style = filled("report.css").rstrip()
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
            f"<body><h1>{title}</h1><ul>{said}</ul>{picture}{table}</body></html>\n")
