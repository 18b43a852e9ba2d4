"""A run as one page for a browser: what was built, what was given, what came out.

One file with everything in it, which needs no server and no network. Long runs are thinned for
the eye, not in the data.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Sequence
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
from ..files import known_ending, writing
from ..formatting import number, pretty
from ..parameters import MadeWith, said
from ..recording import EnergyTerm, Recording
from ..report import Events, Statistics, summary
from ..schematic.drawing import draw_schematic
from ..schematic.picture import Picture, svg_of
from ..sheet import SHOWN, Sheet
from ..sticking import Sticking
from ..values.series import Series

__all__ = ["Page", "network", "page_of", "parameters", "text_of"]

TALL, GAP, BAR, SIZE, LEAD, BAND = 190.0, 6.0, 7.0, 11.0, 13.0, 60.0  # pixels
LEAST = 1e-3  # share of all below which a flow is not drawn
MOST = 12  # flows a side
WORDS = {"supplied": ("supplied", "taken out"), "stored": ("released", "stored"),
         "dissipated": ("from heat", "dissipated"), "": ("", "")}  # fmt: skip
COLOURS = {"supplied": "#e59e66", "stored": "#66aad1", "dissipated": "#d4b66d", "": "#adadad"}
COLUMNS = 4000  # of thinned curves: four pixels of a wide screen hold one
CURVES, LISTED, INSTANCES = 24, 200, 8  # drawn where nothing is named, counted, and of an array
ROWS = 200  # of a table
CANVASES = ('<p id="hint"></p><div id="panels"></div><p class="axis faint">time in s</p>')


class Page:
    """A report; notebooks show it, :meth:`save` writes it."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, file: str | Path) -> None:
        """Write the page as one file of HTML."""
        known_ending(file, "a page", ".html", ".htm")
        with writing(file) as place:
            place.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{escape(self.html)}" width="100%" height="700" '
                'style="border:1px solid #888"></iframe>')  # fmt: skip

    def __repr__(self) -> str:
        return (f"<page of {len(self.html) / 1e6:.2g} MB: save('run.html') writes it, "
                "a notebook shows it>")  # fmt: skip


def page_of(recording: Recording, every: Sequence[Series], inside: Page | None = None,
            named: bool = True) -> Page:
    """The report of a run with these curves, or the first of them where none was ``named``, and
    with another page ``inside``."""
    if not (inside is None or isinstance(inside, Page)):
        raise WrongCall("report(page=…)", f"takes a page, but was given {brief(inside)}.",
                        "Give it what model.page(…) returns.", given=inside)
    made, chosen = recording.made_with(), every
    if not named:
        count = np.cumsum([min(len(series.infos), INSTANCES) for series in every])
        chosen = every[: max(1, int(np.searchsorted(count, CURVES, side="right")))]
    sections = [("Network", network(recording)),
                ("Curves", CANVASES + _left_out(chosen, every) if len(recording.times) else ""),
                ("Simulate", "" if inside is None else inside._repr_html_()),
                ("Findings", _findings(recording)), ("Parameters", parameters(made)),
                ("Start values", _starts(recording)), ("Events", _events(recording)),
                ("Energy", _where_kept(_energy, recording)),
                ("Sticking", _where_kept(_sticking, recording)),
                ("Bottlenecks", _where_kept(_bottlenecks, recording)),
                ("Statistics", table(Statistics(recording.statistics)._sheet())),
                ("Versions", table(Sheet.of_facts("", list(recording.versions.items()))))]
    kept = [(title, title.lower().replace(" ", "-"), body) for title, body in sections if body]
    links = "".join(f'<a href="#{anchor}">{t}</a>' for t, anchor, _ in kept)
    body = "".join(f'<section id="{anchor}"><h2>{t}</h2>{b}</section>' for t, anchor, b in kept)
    data = json.dumps(_data(recording, chosen), separators=(",", ":")).replace("</", "<\\/")
    return Page(text_of("report.html", NAME=escape(recording.name), STYLE=text_of("report.css"),
                        OUTCOME=_outcome(recording), LINKS=links, BODY=body, DATA=data,
                        SCRIPT=text_of("report.js")))


def text_of(file: str, **words: str) -> str:
    """A text of this folder, with words in place of their names, ``{{NAME}}``."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)


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


def _left_out(chosen: Sequence[Series], every: Sequence[Series]) -> str:
    """A sentence where only some of the curves are drawn."""
    drawn = [info.path for series in chosen for info in islice(series.infos, INSTANCES)]
    paths = [info.path for series in every for info in series.infos]
    others = sorted({*paths} - {*drawn}, key=paths.index)
    return "" if not others else (
        f"<p class='faint'>{len(drawn)} of {len(paths):,} curves are shown. Name others: "
        f"result.report({escape(repr(others[0]))}).</p>")


def _packed(values: Any, kind: str) -> str:
    with np.errstate(over="ignore"):
        return base64.b64encode(np.asarray(values, dtype=kind).tobytes()).decode()


# -- sections ------------------------------------------------------------------------------
def table(sheet: Sheet, most: int = ROWS) -> str:
    """A sheet as a table; empty where it has no rows."""
    if not sheet.rows:
        return ""
    out = [f"<div class='wide'>{sheet.html(most)}</div>"]
    if sheet.total > most:
        out.append(f"<p class='faint'>{sheet.total - most:,} more rows are in the result.</p>")
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
    drawn, opened = recording.drawn(), recording.drawn(True)
    if drawn is None or opened is None:
        return "<p class='faint'>A file of a run holds no network.</p>"
    if not drawn[0]:
        return ""
    page = draw_schematic(recording.name, *drawn).html()
    if not any(part.inside for part in opened[0]):
        return page
    inside = draw_schematic(recording.name, *opened[:2]).html()
    return f"{page}<details><summary>With the parts of all composites</summary>{inside}</details>"


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
    sheet.total = len(events)
    shown = " open" if len(events) <= SHOWN else ""
    count = "1 event" if len(events) == 1 else f"{len(events):,} events"
    return f"<details{shown}><summary>{count}</summary>{table(sheet)}</details>"


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
    return (f"<div class='wide'>{energy_flow(balance)}</div>"
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
    unit, picture = energy_unit(total), Picture()
    room = [[max(e / total * TALL, 2 * LEAD) + GAP for e, *_ in side] for side in shown]
    high, shares = max(TALL, *map(sum, room)), np.linspace(0, 1, 25)
    bend = (1 - np.cos(np.pi * shares)) / 2
    for side, rooms, way, k in zip(shown, room, (-1, 1), (0, 1), strict=True):
        inner, low = (high - TALL) / 2, 0.0
        for (energy, kind, name), most in zip(side, rooms, strict=True):
            tall, words = max(energy / total * TALL, 1.0), number(energy / unit.factor, unit, 4)
            y = low + (most - GAP - tall) / 2
            band = np.column_stack([way * BAND * shares, inner + (y - inner) * bend])
            picture.draw([*band, *(band + [0, tall])[::-1]], COLOURS[kind], "wire", filled=True)
            for dy, text in ((-2, name), (11, f"{words} {WORDS[kind][k]}")):
                picture.write(way * (BAND + 5), y + tall / 2 + dy, text, SIZE, ("end", "start")[k])
            low += most
            inner += tall
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    picture.draw(corners * [BAR, TALL / 2] + [0, high / 2], filled=True)
    (left, top), (right, below) = picture.extents()[:, :2].min(0), picture.extents()[:, 2:].max(0)
    whole = Picture()
    whole.add(picture, 2 - left, 2 - top)
    return svg_of(whole, right - left + 4, below - top + 4, "energy")


def _chief(side: list[tuple[float, str, str]], total: float) -> list[tuple[float, str, str]]:
    """The largest flows of a side; the rest as one."""
    side = sorted((f for f in side if f[0] > LEAST * total), key=lambda f: (-f[0], f[2]))
    rest = side[MOST:]
    more = [(sum(e for e, *_ in rest), "", f"{len(rest)} others")] if rest else []
    return side[:MOST] + more


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
