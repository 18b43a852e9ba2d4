"""A run as one page for a browser: what was built, what was given, what came out.

One file with everything in it, which needs no server and no network. Long runs are thinned for
the eye, not in the data.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import ParameterError
from ...units import from_si
from ..bottlenecks import Bottlenecks
from ..files import writing
from ..ledger import Ledger
from ..parameters import MadeWith, said
from ..recording import Recording
from ..report import Events, Statistics, summary
from ..schematic.drawing import draw_schematic
from ..schematic.parts import Part
from ..sheet import SHOWN, Sheet
from ..shown import pretty
from ..sticking import Sticking
from ..values.series import Series
from .energy_flow import energy_flow
from .thinning import thinned

if TYPE_CHECKING:
    from ..schematic.parts import Net

__all__ = ["Page", "page_of"]

COLUMNS = 4000  # of thinned curves: four pixels of a wide screen hold one
CURVES, INSTANCES = 24, 8  # drawn where nothing is named, and of an array
ROWS = 200  # of a table
CANVASES = ('<p id="hint"></p><div id="panels"></div>'
            '<p class="axis faint">time in s</p>')  # fmt: skip


class Page:
    """A report; notebooks show it, :meth:`save` writes it."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, file: str | Path) -> None:
        """Write the page as one file of HTML."""
        if (ending := Path(file).suffix.lower()) not in (".html", ".htm"):
            raise ParameterError("report(save=…)", f"writes a page of HTML, but was given a name "
                                 f"that ends in {ending!r}.", "Name it 'run.html'.",
                                 given=str(file), code="parameter.choice")  # fmt: skip
        with writing(file) as place:
            place.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{escape(self.html)}" width="100%" height="700" '
                'style="border:1px solid #888"></iframe>')  # fmt: skip

    def __repr__(self) -> str:
        return (f"<report of {len(self.html) / 1e6:.2g} MB: save('run.html') writes it, "
                "a notebook shows it>")  # fmt: skip


def page_of(recording: Recording, chosen: Sequence[Series]) -> Page:
    """The report of a run with these curves."""
    made = recording.made_with()
    sections = [
        ("Network", _network(recording, made)),
        ("Curves", CANVASES if len(recording.times) else ""),
        ("Findings", _findings(recording)),
        ("Parameters", _parameters(made)),
        ("Start values", _starts(recording)),
        ("Events", _events(recording)),
        ("Energy", _where_kept(_energy, recording)),
        ("Sticking", _where_kept(_sticking, recording)),
        ("Bottlenecks", _where_kept(_bottlenecks, recording)),
        ("Statistics", table(Statistics(recording.statistics)._sheet())),
        ("Versions", table(Sheet.of_facts("", list(recording.versions.items())))),
    ]
    kept = [(title, body) for title, body in sections if body]
    links = "".join(f'<a href="#{_anchor(t)}">{t}</a>' for t, _ in kept)
    body = "".join(f'<section id="{_anchor(t)}"><h2>{t}</h2>{b}</section>' for t, b in kept)
    data = json.dumps(_data(recording, chosen), separators=(",", ":")).replace("</", "<\\/")
    home = files(__package__)
    script = home.joinpath("report.js").read_text(encoding="utf-8")
    style = home.joinpath("report.css").read_text(encoding="utf-8")
    return Page(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>{escape(recording.name)}</title>'
        f"<style>{style}</style></head><body><h1>{escape(recording.name)}</h1>"
        f"{_outcome(recording)}<nav>{links}</nav>{body}"
        f'<script type="application/json" id="data">{data}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


# -- curves --------------------------------------------------------------------------------
def _data(recording: Recording, chosen: Sequence[Series]) -> dict[str, Any]:
    """Curves by unit, and events, for the script of the page."""
    times = np.asarray(recording.times, dtype=float)
    panels: dict[str, dict[str, Any]] = {}
    for series in chosen:
        unit = series.declared_unit
        panel = panels.setdefault(unit.text, {"unit": pretty(unit), "curves": []})
        for info in islice(series.infos, INSTANCES):
            values = recording.values([info.index])[0] if len(times) else np.zeros(0)
            t, y = thinned(times, np.asarray(values, dtype=float), COLUMNS)
            shown = np.asarray(from_si(y, info.unit).magnitude, dtype=float)
            panel["curves"].append({
                "name": info.path, "doc": info.doc, "stairs": info.kind in ("discrete", "mode"),
                "t": _packed(t, "<f8"), "y": _packed(shown, "<f4")})  # fmt: skip
    events = [[float(e.time), f"{e.component} {e.description}"]
              for e in islice(recording.events, 5000)]  # fmt: skip
    span = [float(times[0]), float(times[-1])] if len(times) else [0.0, 1.0]
    if span[0] == span[1]:
        span[1] = span[0] + 1.0
    return {"panels": list(panels.values()), "events": events, "span": span}


def _packed(values: Any, kind: str) -> str:
    with np.errstate(over="ignore"):
        return base64.b64encode(np.asarray(values, dtype=kind).tobytes()).decode()


# -- sections ------------------------------------------------------------------------------
def table(sheet: Sheet, most: int = ROWS) -> str:
    """A sheet as a table; empty where it has no rows."""
    if not sheet.rows:
        return ""
    out = [f"<div class='wide'>{sheet.html(most)}</div>"]
    if sheet.rows > most:
        out.append(f"<p class='faint'>{sheet.rows - most:,} more rows are in the result.</p>")
    if sheet.note:
        out.append(f"<p class='faint'>{escape(sheet.note)}</p>")
    return "".join(out)


def _outcome(recording: Recording) -> str:
    """Status and span, and why the run ended early."""
    facts = summary(recording).columns
    rows = dict(zip(facts[""], facts[" "], strict=True))
    message = rows.pop("message", "")
    status = rows.pop("status")
    look = "bad" if status in ("failed", "interrupted") else "faint"
    told = " · ".join([status, *(f"{k} {v}" for k, v in rows.items())])
    return f'<p class="{look}">{escape(told)}</p>' + (
        f'<p class="bad">{escape(message)}</p>' if message else "")


def _network(recording: Recording, made: MadeWith) -> str:
    drawn = recording.drawn()
    if drawn is None:
        return "<p class='faint'>A file of a run holds no network.</p>"
    parts, nets, findings = drawn
    if not parts:
        return ""
    told = dict.fromkeys(made.types, "")
    for path, value in made.parameters.items():
        owner, _, name = path.rpartition(".")
        told[owner] = told.get(owner, "") + f"\n{name} = {said(value)}"
    picture = _picture(recording.name, parts, nets, findings, told, "drawn")
    page = f"<div class='wide'>{picture}</div>"
    drawn = recording.drawn(True)
    if drawn is None or not any(part.inside for part in drawn[0]):
        return page
    opened = _picture(recording.name, *drawn[:2], (), told, "drawn-open")
    return page + ("<details><summary>With the parts of all composites</summary>"
                   f"<div class='wide'>{opened}</div></details>")


def _picture(name: str, parts: Sequence[Part], nets: dict[int, Net], findings: Any,
             told: dict[str, str], anchor: str) -> str:
    """The schematic, where pointing at a part tells the values of the run."""
    drawn = draw_schematic(name, [_hinted(p, told) for p in parts], nets, findings)
    return drawn.folded(anchor)


def _hinted(part: Part, told: dict[str, str]) -> Part:
    return replace(part, hint=f"{part.path}: {part.type}{told.get(part.path, '')}",
                   inside=tuple(_hinted(p, told) for p in part.inside))


def _findings(recording: Recording) -> str:
    drawn = recording.drawn()
    found = list(drawn[2]) if drawn is not None else []
    return table(Sheet("", {"": [f.severity for f in found], "finding": [str(f) for f in found]}))


def _parameters(made: MadeWith) -> str:
    rows: dict[str, list[str]] = {}
    for path, value in made.parameters.items():
        if value is False:  # an option that was not taken
            continue
        owner, _, name = path.rpartition(".")
        rows.setdefault(owner, []).append(f"{name} = {said(value)}")
    body = table(Sheet("", {
        "component": list(rows), "class": [made.types.get(o, "") for o in rows],
        "values": [", ".join(v) for v in rows.values()]}))  # fmt: skip
    options = ", ".join(f"{name} = {said(value)}" for name, value in made.settings.items())
    return body + (f"<p class='faint'>simulate: {escape(options)}</p>" if options else "")


def _starts(recording: Recording) -> str:
    rows = recording.start_rows()
    return table(Sheet("", {
        "variable": [r.path for r in rows], "start": [f"{r.start:.6g~P}" for r in rows],
        "target": [f"{r.target:.6g~P}" for r in rows], "priority": [r.priority for r in rows],
        "": ["" if r.met else "not met" for r in rows]}))  # fmt: skip


def _events(recording: Recording) -> str:
    events = recording.events
    if not events:
        return ""
    sheet = Events(events[:ROWS])._sheet()
    body = table(sheet)
    more = len(events) - ROWS
    if more > 0:
        body += f"<p class='faint'>{more:,} more events are in the result.</p>"
    shown = " open" if len(events) <= SHOWN else ""
    count = "1 event" if len(events) == 1 else f"{len(events):,} events"
    return f"<details{shown}><summary>{count}</summary>{body}</details>"


def _where_kept(section: Callable[[Recording], str], recording: Recording) -> str:
    """A section; where the run keeps too few variables for it, a sentence that says so."""
    try:
        return section(recording)
    except ParameterError as error:
        return f"<p class='faint'>{escape(str(error))}</p>"


def _energy(recording: Recording) -> str:
    terms = recording.energy_terms()
    if not terms:
        return ""
    ledger = Ledger(terms, "").grouped()
    sheet = ledger._sheet()
    return (f"<div class='flow'>{energy_flow(ledger)}</div>"
            f"<p class='faint'>{escape(sheet.title)}</p>{table(sheet)}")


def _sticking(recording: Recording) -> str:
    sticking = Sticking(recording.sticking_terms(), "", recording.shared_loads())
    notes = "".join(f"<p class='faint'>{escape(note)}</p>" for note in sticking.notes)
    return table(sticking._sheet()) + notes


def _bottlenecks(recording: Recording) -> str:
    found = recording.bottleneck_terms()
    return "" if found is None else table(Bottlenecks(*found, "the run")._sheet())
