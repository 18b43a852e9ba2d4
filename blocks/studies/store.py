"""Where are finished runs kept, so that a study can be taken up again?

In a folder of Parquet files: one per run as they come, gathered into larger ones as they become
many, and into one at the end. Files appear whole or not at all (they are renamed into place), so a
study that was killed is readable. ``_study.json`` says what the study belongs to.

    pandas.read_parquet("study")     the runs as a table
    blocks.studies.load("study")     the runs so far as an xarray Dataset
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import ParameterError, UnitError, brief, optional_package, warn_user
from ..results.files import whole
from ..units import unit
from .dataset import Gathered
from .identity import FORMAT, checksum, difference
from .runner import Outcome

__all__ = ["Store", "load"]

MANY = 200  # single files before they are gathered
HEAD = "_study.json"  # a leading underscore hides it from readers of Parquet folders


def load(folder: str | Path) -> Any:
    """Read the study in a folder as an xarray Dataset, finished or not.

    Raises
    ------
    ParameterError
        Where there is no study.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise ParameterError("load()", f"was given {brief(folder)}, which is no path.",
                             "Give the folder that was given as store=.", given=folder)  # fmt: skip
    folder = Path(folder)
    study = _read_head(folder, "load()")
    if study is None:
        raise ParameterError("load()", f"there is no study in {str(folder)!r}.",
                             "Give the folder that was given as store=.", given=str(folder))
    if study["format"] != FORMAT:
        raise ParameterError("load()", f"the study in {str(folder)!r} has the format "
                             f"{brief(study['format'])}, not {FORMAT!r}.", "Read it with the "
                             "version that wrote it, or make it anew.", given=str(folder),
                             code="sweep.store")  # fmt: skip
    gathered = Gathered(study)
    for outcome in Store(folder, study).outcomes():
        gathered.add(outcome)
    return gathered.to_xarray()


def _read_head(folder: Path, where: str) -> dict[str, Any] | None:
    """What the study in a folder belongs to; None where there is no study."""
    file = folder / HEAD
    try:
        study = json.loads(file.read_bytes()) if file.is_file() else None
        if study is None:
            return None
        if not (study["format"] and study["dimensions"] and study["outputs"]):
            raise ValueError("it says nothing")
        own = checksum(study)
        if study["format"] == FORMAT and study.get("checksum", own) != own:  # 0.2.0 wrote none
            raise ValueError("it is not what was written")
        return study
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ParameterError(where, f"{str(file)!r} cannot be read ({type(error).__name__}: "
                             f"{str(error)[:200]}), so it is not known what the runs beside it "
                             "belong to.",
                             "Take another folder, or put the file back from a backup.",
                             given=str(folder), code="sweep.store") from error  # fmt: skip
    except OSError as error:
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: OSError) -> ParameterError:
    return ParameterError("sweep(store=…)", f"{str(folder)!r} cannot be used: "
                          f"{error.strerror or error}.", "Take a folder that can be written.",
                          given=str(folder), code="sweep.store")  # fmt: skip


class Store:
    """The folder of one study.

    ``study`` says what it belongs to.
    """

    def __init__(self, folder: str | Path, study: Mapping[str, Any]) -> None:
        self.arrow, self.parquet = (
            optional_package(module, "Keeping a study in a folder", "sweep")
            for module in ("pyarrow", "pyarrow.parquet"))
        self.folder, self.study = Path(folder), study
        self.units: dict[str, str | None] = {o["name"]: o["unit"] for o in study["outputs"]}
        self.shapes = {o["name"]: tuple(o["shape"]) for o in study["outputs"]}
        self.single = 0
        self.pending: list[Outcome] = []
        self.opened = False  # for writing
        self.full = False  # something could not be written

    @classmethod
    def open(cls, folder: str | Path, study: Mapping[str, Any]) -> Store:
        """Make the folder, or take up the study in it."""
        if not isinstance(folder, (str, os.PathLike)):
            raise ParameterError("sweep(store=…)", f"is {folder!r}, which is no path.",
                                 "Give the name of a folder.", given=folder)  # fmt: skip
        folder = Path(folder)
        if folder.suffix in (".zarr", ".nc", ".h5", ".parquet"):
            better = str(folder.with_suffix(""))
            raise ParameterError("sweep(store=…)", f"is {str(folder)!r}, but a study is kept in a "
                                 "folder of Parquet files.", f"Write store={better!r}.",
                                 given=str(folder))  # fmt: skip
        before = _read_head(folder, "sweep(store=…)")
        if before is None:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise ParameterError("sweep(store=…)", f"{str(folder)!r} exists and is no study.",
                                     "Choose another folder.", given=str(folder))  # fmt: skip
            try:
                folder.mkdir(parents=True, exist_ok=True)
                _write_whole(folder / HEAD, json.dumps({**study, "checksum": checksum(study)},
                                                       indent=1).encode())
            except OSError as error:
                raise _unusable(folder, error) from error
        else:
            other = difference(before, json.loads(json.dumps(study)))
            if other:
                raise ParameterError(
                    "sweep(store=…)", f"{str(folder)!r} holds another study: {other}.",
                    "Choose another folder, or delete this one if it is no longer needed.",
                    given=str(folder), code="sweep.store")
        store = cls(folder, study)
        store.opened = True
        return store

    # -- reading -------------------------------------------------------------------------
    def outcomes(self) -> Iterator[Outcome]:
        """All runs in the folder, each once."""
        seen: set[int] = set()
        read: set[Path] = set()
        while files := [f for f in self._files() if f not in read]:  # others come meanwhile
            read.update(files)
            for table in filter(None, map(self._table, files)):
                for outcome in self._outcomes_in(table):
                    if outcome.number not in seen:
                        seen.add(outcome.number)
                        yield outcome

    def _files(self) -> list[Path]:
        return sorted(f for f in self.folder.glob("*.parquet") if not f.name.startswith((".", "_")))

    def _table(self, file: Path) -> Any:
        """The runs in a file; None, and a warning, for one that is damaged or not ours."""
        try:
            table = self.parquet.read_table(file)
            reason = self._fault(table)
            if not reason:
                return table
        except FileNotFoundError:  # gathered into another one
            return None
        except (OSError, self.arrow.ArrowException) as error:
            reason = str(error)
            if self.opened:
                with contextlib.suppress(OSError):  # aside, where no reader looks
                    file.rename(file.with_name(f"_{file.name}"))
        warn_user(f"{str(file)!r} cannot be read ({reason}): its runs count as not made.")
        return None

    def _fault(self, table: Any) -> str:
        """Why a table does not hold runs of this study; empty where it does."""
        types = self.arrow.types
        if table.column_names[:3] != ["run", "status", "message"]:
            return "it holds no runs"
        numbers, *words = (table.column(k) for k in range(3))
        if not types.is_integer(numbers.type) or not all(
                types.is_string(w.type) or types.is_large_string(w.type) for w in words):
            return "its columns are of other types"
        if any(column.null_count for column in (numbers, *words)):
            return "it has gaps"
        size = math.prod(self.study["dimensions"].values())
        if len(table) and not 0 <= min(numbers.to_pylist()) <= max(numbers.to_pylist()) < size:
            return "it holds other runs"
        for heading in table.column_names[3:]:
            name, _, shown = heading[:-1].rpartition(" [")
            if name not in self.units:
                return f"it holds {brief(name)}, which the study does not keep"
            try:
                unit(shown)
            except UnitError as error:
                return error.problem.rstrip(".")
            column = table[heading].drop_null()
            if self.shapes[name]:
                length = math.prod(self.shapes[name])
                if not (types.is_list(column.type) or types.is_large_list(column.type)) or any(
                        len(v) != length or None in v for v in column.to_pylist()):
                    return f"{brief(name)} has another shape"
            elif not types.is_floating(column.type):
                return f"{brief(name)} is no number"
        return ""

    def _outcomes_in(self, table: Any) -> Iterator[Outcome]:
        named: dict[str, tuple[str, str]] = {}
        for heading in table.column_names[3:]:
            name, _, shown = heading[:-1].rpartition(" [")
            named[heading] = name, "" if shown == "1" else shown
            if self.units[name] is None:
                self.units[name] = named[heading][1]
        for row in table.to_pylist():
            values, units = {}, {}
            for heading, (name, shown) in named.items():
                if row[heading] is not None and row["status"] not in ("failed", "not run"):
                    units[name] = shown
                    shape = self.shapes[name]
                    values[name] = np.reshape(row[heading], shape) if shape else row[heading]
            yield Outcome(row["run"], row["status"], row["message"], values, units)

    # -- writing -------------------------------------------------------------------------
    def add(self, outcome: Outcome) -> None:
        """Keep an outcome for good, together with those that follow at once.

        What cannot be written is warned of: the study goes on.
        """
        self.pending.append(outcome)
        if not outcome.more:
            self.flush()

    def flush(self) -> None:
        """Write what is still to be written."""
        pending, self.pending = self.pending, []
        with self._warned():
            if pending:
                self._write(self._rows(pending), f"run-{pending[0].number:08d}")
                self.single += 1
            if self.single >= MANY:
                self.single = 0
                self._gather("run-")

    def finish(self) -> None:
        """Put all runs into one file."""
        with self._warned():
            if len(self._files()) > 1:
                self._gather("")
            for draft in self.folder.glob(".*.parquet.*"):  # of a study that was killed
                draft.unlink()

    @contextlib.contextmanager
    def _warned(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not self.full:
                self.full = True
                warn_user(
                    f"Runs cannot be kept in {str(self.folder)!r} ({error.strerror or error}). The "
                    "study goes on; those that were not kept will be made again by the next call.")

    def _rows(self, outcomes: list[Outcome]) -> Any:
        """A table with a row for every outcome."""
        arrow = self.arrow
        columns: dict[str, Any] = {
            "run": arrow.array([o.number for o in outcomes], arrow.int64()),
            "status": arrow.array([o.status for o in outcomes], arrow.string()),
            "message": arrow.array([o.message for o in outcomes], arrow.string()),
        }
        found: dict[str, list[Any]] = {}
        for row, outcome in enumerate(outcomes):
            for name, value in outcome.values.items():
                heading = f"{name} [{outcome.units[name] or '1'}]"
                cell = np.ravel(value).tolist() if self.shapes[name] else float(value)
                found.setdefault(heading, [None] * len(outcomes))[row] = cell
        for heading, column in found.items():
            shape = self.shapes[heading[:-1].rpartition(" [")[0]]
            columns[heading] = arrow.array(
                column, arrow.list_(arrow.float64()) if shape else arrow.float64())
        return arrow.table(columns)

    def _gather(self, prefix: str) -> None:
        read = {f: table for f in self._files()
                if f.name.startswith(prefix) and (table := self._table(f)) is not None}
        if not read:
            return
        whole = self.arrow.concat_tables(read.values(), promote_options="default")
        _, first = np.unique(whole["run"].to_numpy(), return_index=True)  # once, in order
        whole = whole.take(first)
        numbers = [int(f.stem.split("-")[1]) for f in self.folder.glob("many-*.parquet")]
        target = f"many-{max(numbers, default=0) + 1:06d}"
        self._write(whole, target)
        for file in read:
            if file.stem != target:
                file.unlink()

    def _write(self, table: Any, name: str) -> None:
        sink = self.arrow.BufferOutputStream()
        self.parquet.write_table(table, sink)
        _write_whole(self.folder / f"{name}.parquet", sink.getvalue())


def _write_whole(file: Path, content: Any) -> None:
    with whole(file) as place:
        place.write_bytes(content)
