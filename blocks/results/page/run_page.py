"""A run as one page for a browser: what was built, what was given, what came out.

One file with everything in it, which needs no server and no network. Long runs are thinned for
the eye, not in the data.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import ParameterError, WrongCall, brief
from ...numerics.arrays import Array
from ...units import in_unit
from ..bottlenecks import Bottlenecks
from ..energy_balance import EnergyBalance, energy_unit
from ..files import writing
from ..formatting import number, pretty
from ..parameters import MadeWith, said
from ..recording import EnergyTerm, Recording
from ..report import Events, Statistics, summary
from ..schematic.drawing import draw_schematic
from ..schematic.parts import Net, Part
from ..schematic.picture import width_of
from ..sheet import SHOWN, Sheet
from ..sticking import Sticking
from ..values.series import Series

__all__ = ["Page", "curves", "network", "page_of", "parameters", "style"]

TALL, GAP, BAR, SIZE = 190.0, 9.0, 14.0, 11.0  # pixels
LEAST = 1e-3  # share of all below which a flow is not drawn
MOST = 12  # flows a side
WORDS = {"supplied": ("supplied", "taken out"), "stored": ("released", "stored"),
         "dissipated": ("from heat", "dissipated"), "": ("", "")}  # fmt: skip
COLOURS = {"supplied": "#d55e00", "stored": "#0072b2", "dissipated": "#b8860b"}
COLUMNS = 4000  # of thinned curves: four pixels of a wide screen hold one
CURVES, INSTANCES = 24, 8  # drawn where nothing is named, and of an array
ROWS = 200  # of a table
CANVASES = ('<p id="hint"></p><div id="panels"></div><p class="axis faint">time in s</p>')


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
        return (f"<page of {len(self.html) / 1e6:.2g} MB: save('run.html') writes it, "
                "a notebook shows it>")  # fmt: skip


def page_of(recording: Recording, chosen: Sequence[Series], inside: Page | None = None) -> Page:
    """The report of a run with these curves, and with another page ``inside``."""
    if not (inside is None or isinstance(inside, Page)):
        raise WrongCall("report(page=…)", f"takes a page, but was given {brief(inside)}.",
                        "Give it what model.page(…) returns.", given=inside)
    made = recording.made_with()
    sections = [("Network", network(recording)),
                ("Curves", CANVASES if len(recording.times) else ""),
                ("Simulate", "" if inside is None else inside._repr_html_()),
                ("Findings", _findings(recording)), ("Parameters", parameters(made)),
                ("Start values", _starts(recording)), ("Events", _events(recording)),
                ("Energy", _where_kept(_energy, recording)),
                ("Sticking", _where_kept(_sticking, recording)),
                ("Bottlenecks", _where_kept(_bottlenecks, recording)),
                ("Statistics", table(Statistics(recording.statistics)._sheet())),
                ("Versions", table(Sheet.of_facts("", list(recording.versions.items()))))]
    kept = [(title, body) for title, body in sections if body]
    links = "".join(f'<a href="#{_anchor(t)}">{t}</a>' for t, _ in kept)
    body = "".join(f'<section id="{_anchor(t)}"><h2>{t}</h2>{b}</section>' for t, b in kept)
    data = json.dumps(_data(recording, chosen), separators=(",", ":")).replace("</", "<\\/")
    return Page(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>{escape(recording.name)}</title>'
        f"<style>{style()}</style></head><body><h1>{escape(recording.name)}</h1>"
        f"{_outcome(recording)}<nav>{links}</nav>{body}"
        f'<script type="application/json" id="data">{data}</script>'
        f"<script>{curves()}</script></body></html>\n"
    )


def curves() -> str:
    """The script that draws curves."""
    return Path(__file__).with_name("report.js").read_text(encoding="utf-8")


def style() -> str:
    """How pages look."""
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


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
            shown = np.asarray(in_unit(y, info.unit), dtype=float)
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


def network(recording: Recording) -> str:
    """The schematic, where pointing at a part tells its values."""
    drawn, made = recording.drawn(), recording.made_with()
    if drawn is None:
        return "<p class='faint'>A file of a run holds no network.</p>"
    parts, nets, findings = drawn
    if not parts:
        return ""
    told = dict.fromkeys(made.types, "")
    for path, value in made.parameters.items():
        owner, _, name = path.rpartition(".")
        told[owner] = told.get(owner, "") + f"\n{name} = {said(value)}"

    def picture(parts: Sequence[Part], nets: dict[int, Net], findings: Any, anchor: str) -> str:
        hinted = [_hinted(p, told) for p in parts]
        drawn = draw_schematic(recording.name, hinted, nets, findings)
        return f"<div class='wide'>{drawn.folded(anchor)}</div>"

    page, drawn = picture(parts, nets, findings, "drawn"), recording.drawn(True)
    if drawn is None or not any(part.inside for part in drawn[0]):
        return page
    return page + ("<details><summary>With the parts of all composites</summary>"
                   f"{picture(*drawn[:2], (), 'drawn-open')}</details>")


def _hinted(part: Part, told: dict[str, str]) -> Part:
    return replace(part, hint=f"{part.path}: {part.type}{told.get(part.path, '')}",
                   inside=tuple(_hinted(p, told) for p in part.inside))


def _findings(recording: Recording) -> str:
    drawn = recording.drawn()
    found = list(drawn[2]) if drawn is not None else []
    return table(Sheet("", {"": [f.severity for f in found], "finding": [str(f) for f in found]}))


def parameters(made: MadeWith) -> str:
    """What a run was made with, component by component."""
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
    balance = EnergyBalance(terms, "").grouped()
    sheet = balance._sheet()
    return (f"<div class='flow'>{energy_flow(balance)}</div>"
            f"<p class='faint'>{escape(sheet.title)}</p>{table(sheet)}")


def _sticking(recording: Recording) -> str:
    sticking = Sticking(recording.sticking_terms(), "", recording.shared_loads())
    notes = "".join(f"<p class='faint'>{escape(note)}</p>" for note in sticking.notes)
    return table(sticking._sheet()) + notes


def _bottlenecks(recording: Recording) -> str:
    found = recording.bottleneck_terms()
    return "" if found is None else table(Bottlenecks(*found, "the run")._sheet())


def energy_flow(terms: Iterable[EnergyTerm]) -> str:
    """The diagram; empty where no energy moved."""
    sides: tuple[list[tuple[float, str, str]], list[tuple[float, str, str]]] = [], []
    for term in terms:
        for kind, gives in (("supplied", 1), ("stored", -1), ("dissipated", -1)):
            energy = getattr(term, kind) * gives
            if np.isfinite(energy) and energy:
                sides[energy < 0].append((abs(energy), kind, term.component))
    total = max(sum(e for e, *_ in side) for side in sides)
    if total <= 0:
        return ""
    shown = [_chief(side, total) for side in sides]
    unit = energy_unit(total)
    labels = [[f"{name}: {number(e / unit.factor, unit, 4)} {WORDS[kind][k]}".rstrip()
               for e, kind, name in side] for k, side in enumerate(shown)]  # fmt: skip
    text = [max((width_of(w, SIZE) for w in side), default=0.0) + 10 for side in labels]
    width = text[0] + text[1] + 260
    high = TALL + GAP * max(map(len, shown)) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{high:.0f}" '
           f'viewBox="0 0 {width:.0f} {high:.0f}" font-size="{SIZE:g}" '
           'font-family="DejaVu Sans,Verdana,sans-serif" fill="currentColor">']  # fmt: skip
    middle = width / 2 - (text[1] - text[0]) / 2
    ends, top = (text[0], width - text[1]), 12.0 + (high - 24 - TALL) / 2
    for side, names, x, k in zip(shown, labels, ends, (0, 1), strict=True):
        heights = [max(e / total * TALL, 1.0) for e, *_ in side]
        y, inner = 12.0, top
        for (_, kind, _), name, tall in zip(side, names, heights, strict=True):
            out.append(_band(x, y, middle, inner, tall, COLOURS.get(kind, "#777777")))
            anchor, at = ("end", x - 6) if k == 0 else ("start", x + 6)
            out.append(f'<text x="{at:.1f}" y="{y + tall / 2 + 4:.1f}" text-anchor="{anchor}">'
                       f"{escape(name)}</text>")  # fmt: skip
            y += max(tall, 6) + GAP
            inner += tall
    out.append(f'<rect x="{middle - BAR / 2:.1f}" y="{top:.1f}" width="{BAR:g}" '
               f'height="{TALL:g}"/></svg>')  # fmt: skip
    return "".join(out)


def _chief(side: list[tuple[float, str, str]], total: float) -> list[tuple[float, str, str]]:
    """The largest flows of a side; the rest as one."""
    side = sorted((f for f in side if f[0] > LEAST * total), key=lambda f: (-f[0], f[2]))
    rest = side[MOST:]
    more = [(sum(e for e, *_ in rest), "", f"{len(rest)} others")] if rest else []
    return side[:MOST] + more


def _band(x: float, y: float, middle: float, inner: float, tall: float, colour: str) -> str:
    half = (x + middle) / 2
    return (f'<path fill="{colour}" fill-opacity="0.55" d="M{x:.1f} {y:.1f}C{half:.1f} {y:.1f} '
            f"{half:.1f} {inner:.1f} {middle:.1f} {inner:.1f}V{inner + tall:.1f}C{half:.1f} "
            f'{inner + tall:.1f} {half:.1f} {y + tall:.1f} {x:.1f} {y + tall:.1f}Z"/>')  # fmt: skip


def thinned(times: Array, values: Array, columns: int) -> tuple[Array, Array]:
    """Times and values of at most ``2 * columns + 2`` points; short curves stay as they are."""
    if len(times) <= 2 * columns + 2:
        return times, values
    edges = np.linspace(times[0], times[-1], columns + 1)
    starts = np.unique(np.searchsorted(times, edges[:-1], side="left"))
    low = np.where(np.isnan(values), np.inf, values)
    high = np.where(np.isnan(values), -np.inf, values)
    ends = [*starts[1:], len(times)]
    smallest = [a + int(np.argmin(low[a:b])) for a, b in zip(starts, ends, strict=True)]
    largest = [a + int(np.argmax(high[a:b])) for a, b in zip(starts, ends, strict=True)]
    kept = np.unique([0, *smallest, *largest, len(times) - 1])
    return times[kept], values[kept]
