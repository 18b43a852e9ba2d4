"""How is a run kept in a file, and read again?

The file holds samples so close that what lies between them is known, and one text (JSON) of all
else: units, events, parameters, energy, versions, in NetCDF or Parquet.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from ... import shapes as looks
from ...exceptions import BlocksError, FileError, ParameterError, optional_package
from ...numerics.arrays import Array
from ...shapes import Shape
from ...units import in_unit, is_quantity, quantity, unit
from ..lookup import grouped
from ..parameters import MadeWith, said
from ..recording import EnergyTerm, EventRecord, Recording, VariableInfo
from ..sticking import SharedLoad, StickTerm
from ..values.interpolants import SampledCurves, refined
from ..values.series import Series
from ..values.table import Column, Table, write_netcdf
from ..values.views import both_limits
from . import known_ending, name_of, reading, writing
from .export import opened_netcdf, parquet_with_facts, table_of_dataset

__all__ = ["SavedRecording", "load_recording", "save_result"]

INFORMATION = "run_information"  # where the text stands, in attributes of the file
KEPT, ENDINGS = "a file that keeps a run", (".nc", ".parquet")
FORMAT, VERSION = "blocks run", 1
HELD = "discrete", "mode", "parameter"
LEAST_ERROR = 1e-9  # of values between samples, relative
CLOSE = 1e-6  # the same for a run whose tolerance is not known


# -- writing -------------------------------------------------------------------------------------
def save_result(recording: Recording, chosen: Sequence[Series], file: str | Path) -> None:
    """Write a run; see ``Result.save``."""
    infos = [info for series in chosen for info in series.infos]
    catalog = {info.path: info for info in infos}
    infos = list(catalog.values())
    curves, error = _samples(recording, infos)
    table = _table(recording.name, catalog, curves)
    own = np.asarray(recording.times, dtype=float)  # at which it is shown, if these are others
    facts = _facts(recording, infos) | {
        "error between samples": error, "checksum": _checksum(table, catalog),
        "samples": None if np.array_equal(own, curves.times) else own.tolist()}
    write(table, json.dumps(facts, ensure_ascii=False), file)


def _samples(recording: Recording, infos: Sequence[VariableInfo]) -> tuple[SampledCurves, float]:
    """Values of variables at times so close that what is between is known to the tolerance."""
    indices = [info.index for info in infos]
    held = np.array([info.kind in HELD for info in infos], dtype=bool)
    times = np.asarray(recording.close_times, dtype=float)
    kinds = {info.unit.dimension: k for k, info in enumerate(infos)}
    kind = np.array([kinds[info.unit.dimension] for info in infos], dtype=int)

    def evaluate(at: Array | None) -> Array:
        if at is not None:
            return np.asarray(recording.values(indices, at), dtype=float)
        return both_limits(recording, indices, times)

    def sizes(rows: Array) -> Array:
        """Return, for every variable, the largest value of all of its dimension."""
        size = np.zeros(len(rows) + 1)
        np.maximum.at(size, kind, np.max(np.abs(rows), axis=1, initial=0.0))
        return size[kind]

    if not len(times) or not infos:
        return SampledCurves(times, np.zeros((len(infos), len(times))), held), 0.0
    rtol = recording.made_with().settings.get("rtol", CLOSE)
    return refined(times, evaluate, held, sizes, max(float(rtol), LEAST_ERROR))


def _table(name: str, catalog: Mapping[str, VariableInfo], curves: SampledCurves) -> Table:
    """Samples in declared units, arrays as one."""
    place = {path: k for k, path in enumerate(catalog)}
    columns = {}
    for path, found in grouped(catalog, catalog):
        several = () if isinstance(found, VariableInfo) else tuple(found)
        one = several[0] if several else catalog[path]
        rows = [place[i.path] for i in several] if several else place[path]
        columns[path] = Column(in_unit(curves.rows[rows], one.unit), one.unit, one.doc,
                               tuple(i.path for i in several), one.words)
    return Table(Column(curves.times, unit("s"), "time"), columns, name)


def _facts(recording: Recording, infos: Sequence[VariableInfo]) -> dict[str, Any]:
    """All that is no curve."""
    made = recording.made_with()
    place = {info.index: k for k, info in enumerate(infos)}
    return {
        "format": FORMAT, "version": VERSION, "versions": dict(recording.versions),
        "name": recording.name, "status": recording.status, "message": recording.message,
        "states": list(filter({i.path for i in infos}.__contains__, recording.states)),
        "energy tolerance": recording.energy_tolerance,
        "variables": [[i.path, i.component, i.name, i.unit.text, i.kind, i.doc,
                       None if i.words is None else [[k, w] for k, w in i.words.items()]]
                      for i in infos],
        "events": [[float(e.time), e.component, e.description, e.element, e.mode, e.previous]
                   for e in recording.events],
        "statistics": _plain(recording.statistics),
        "parameters": {path: _written(value) for path, value in made.parameters.items()},
        "starts": {path: [_written(v), priority] for path, (v, priority) in made.starts.items()},
        "types": dict(made.types),
        "settings": {name: _written(value) for name, value in made.settings.items()},
        "energy": _terms(recording.energy_terms),
        "sticking": _terms(recording.sticking_terms),
        "shared loads": _terms(recording.shared_loads),
        "shapes": [text for shape in recording.shapes() if (text := _drawn(shape, place))], }


def _terms(asked: Any) -> Any:
    """Rows of a table of the run, or why it has none."""
    try:
        return [asdict(term) for term in asked()]
    except BlocksError as refusal:
        return {"refused": [refusal.where, refusal.problem, refusal.advice]}


def _plain(value: Any) -> Any:
    """What JSON can hold of a value."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _written(value: Any) -> Any:
    if is_quantity(value):
        return {"value": _plain(np.asarray(value.magnitude).tolist()), "unit": f"{value.units:~C}"}
    return {"said": said(value)} if callable(value) else _plain(value)


def _drawn(shape: Shape, place: Mapping[int, int]) -> dict[str, Any] | None:
    """A shape by the numbers of its variables; None where these are not kept."""
    out: dict[str, Any] = {"kind": type(shape).__name__}
    for one in fields(shape):
        value = getattr(shape, one.name)
        if one.name.endswith(("_at", "_by")):
            if any(handle not in place for handle in value):
                return None
            value = [place[handle] for handle in value]
        out[one.name] = _plain(value)
    return out


def _checksum(table: Table, catalog: Mapping[str, VariableInfo]) -> int:
    """Return the CRC-32 of all arrays, whatever order and chunks a format gives them back in."""
    flat = dict(table.flat())
    number = zlib.crc32(np.ascontiguousarray(table.clock.values, dtype="<f8").tobytes())
    for _, found in sorted(grouped(catalog, catalog), key=lambda one: one[0]):
        for info in found if isinstance(found, tuple) else (found,):
            values = np.ascontiguousarray(flat[info.path].values, dtype="<f8")
            number = zlib.crc32(values.tobytes(), number)
    return number


# -- reading -------------------------------------------------------------------------------------
def load_recording(file: str | Path) -> SavedRecording:
    """The run in a file that ``Result.save`` has written.

    A FileError is of one that is missing, damaged, of another kind, or of a newer version.
    """
    table, text = read(file)
    name = name_of(file)
    if text is None:
        kind = "parquet" if name.lower().endswith(".parquet") else "netcdf"
        raise FileError(name, "is a table, no saved run: it has no text of what was run.",
                        f"blocks.results.read_{kind}({name!r}) reads it; a run is kept by "
                        "result.save(…).", file=name, code="file.other")  # fmt: skip
    with reading(file, "a saved run"):
        facts = json.loads(text)
        if facts["format"] != FORMAT:
            raise ValueError(f"its {INFORMATION} is of {facts['format']!r}")
        if facts["version"] > VERSION:
            writer = facts.get("versions", {}).get("blocks-toolkit", "a newer version")
            raise FileError(name, f"was written by a newer version (format {facts['version']}, "
                            f"blocks-toolkit {writer}); this one reads formats up to {VERSION}.",
                            "Update it: pip install -U blocks-toolkit.", file=name,
                            code="file.newer")
        recording = SavedRecording(facts, table)
        if _checksum(table, recording.catalog) != facts["checksum"]:
            raise ValueError("its values are not those that were written")
        return recording


class SavedRecording:
    """A run as it was kept in a file; see :class:`~blocks.results.recording.Recording`."""

    def __init__(self, facts: Mapping[str, Any], table: Table) -> None:
        self._facts = facts
        self.name, self.status, self.message = facts["name"], facts["status"], facts["message"]
        self.states, self.statistics = facts["states"], facts["statistics"]
        self.energy_tolerance, self.versions = facts["energy tolerance"], facts["versions"]
        self.events = [EventRecord(*event) for event in facts["events"]]
        self.catalog = {
            path: VariableInfo(path, component, name, unit(text), kind, doc, k,
                               None if words is None else {int(c): w for c, w in words})
            for k, (path, component, name, text, kind, doc, words) in enumerate(
                facts["variables"])
        }
        infos = list(self.catalog.values())
        flat = dict(table.flat())
        rows = np.array([flat[i.path].values * i.unit.factor + i.unit.offset for i in infos],
                        dtype=float)
        self.close_times = self.knots = table.clock.values
        self._curves = SampledCurves(
            self.close_times, rows.reshape(len(infos), len(self.close_times)),
            np.array([i.kind in HELD for i in infos], dtype=bool))
        own = facts["samples"]
        self._samples = None if own is None else np.array(own, dtype=float)

    @property
    def times(self) -> Array:
        return self.close_times if self._samples is None else self._samples

    def values(self, indices: Sequence[int], times: Array | None = None, side: str = "right"
               ) -> Array:
        """SI values of variables, (variables, times)."""
        if times is not None:
            return self._curves.at(list(indices), np.asarray(times, dtype=float), side)
        if self._samples is None:
            return self._curves.rows[list(indices)]
        return both_limits(self, indices, self._samples)

    def energy_terms(self) -> list[EnergyTerm]:
        """Energy per component, as it was when the run was saved."""
        return [EnergyTerm(**term) for term in self._terms("energy")]

    def sticking_terms(self) -> list[StickTerm]:
        """Sticking per component."""
        return [StickTerm(**term) for term in self._terms("sticking")]

    def shared_loads(self) -> list[SharedLoad]:
        """Efforts at rest that the motion does not determine."""
        return [SharedLoad(tuple(term["components"]), term["start"], term["end"], term["time"],
                           tuple(term["efforts"])) for term in self._terms("shared loads")]

    def _terms(self, name: str) -> list[dict[str, Any]]:
        terms: Any = self._facts[name]
        if isinstance(terms, dict):
            raise ParameterError(*terms["refused"])
        return list(terms)

    def made_with(self) -> MadeWith:
        """Parameters, initial targets and options of the run."""
        facts = self._facts
        return MadeWith(
            {path: _read(value) for path, value in facts["parameters"].items()},
            {path: (_read(v), priority) for path, (v, priority) in facts["starts"].items()},
            facts["types"], {name: _read(value) for name, value in facts["settings"].items()})

    def drawn(self, opened: Any = ()) -> None:
        """A file holds no network."""

    def bottleneck_terms(self) -> None:
        """A file holds no steps."""

    def start_rows(self) -> list[Any]:
        """A file holds no initial targets."""
        return []

    def shapes(self) -> list[Shape]:
        """What its components look like."""
        out = []
        for given in self._facts["shapes"]:
            known = dict(given)
            kind = getattr(looks, known.pop("kind"))
            out.append(kind(**{k: np.array(v) if k == "points" else tuple(v) if isinstance(
                v, list) else v for k, v in known.items()}))
        return out


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        if "said" in value:
            return value["said"]
        number = value["value"]
        return quantity(np.array(number) if isinstance(number, list) else number, value["unit"])
    return value


def write(table: Table, text: str, file: str | Path) -> None:
    """Write a table and a text; the name's ending chooses the format."""
    if known_ending(file, KEPT, *ENDINGS) == ".nc":
        data = table.to_xarray()
        data.attrs[INFORMATION] = text
        with writing(file) as place:
            write_netcdf(data, place, packed=True)
        return
    pyarrow, parquet = (optional_package(module, "Parquet", "parquet")
                        for module in ("pyarrow", "pyarrow.parquet"))
    made = pyarrow.Table.from_pandas(table.frame(words=False))
    made = made.replace_schema_metadata({**(made.schema.metadata or {}),
                                         INFORMATION.encode(): text.encode()})
    with writing(file) as place:
        parquet.write_table(made, place, compression="zstd")


def read(file: str | Path) -> tuple[Table, str | None]:
    """The table and the text of a file; None where it has no such text."""
    if known_ending(file, KEPT, *ENDINGS) == ".nc":
        data = opened_netcdf(file)
        return table_of_dataset(data, file), data.attrs.get(INFORMATION)
    table, facts = parquet_with_facts(file)
    text = facts.get(INFORMATION.encode())
    return table, None if text is None else text.decode()
