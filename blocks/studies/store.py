"""Where are finished runs kept, so that a study can be taken up again?

In a folder of Parquet files: one per run as they come, gathered into larger ones
as they become many, and into one at the end. Files appear whole or not at all
(they are renamed into place), so a study that was killed is readable.
``_study.json`` says what the study belongs to.

    pandas.read_parquet("study")     the runs as a table
    blocks.studies.load("study")     the runs so far as an xarray Dataset
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import ParameterError, need_package
from .dataset import Gathered
from .identity import difference
from .runner import Outcome

__all__ = ["Store", "load"]

MANY = 200  # single files before they are gathered
HEAD = "_study.json"  # a leading underscore hides it from readers of Parquet folders


def load(folder: str | Path) -> Any:
    """The study in a folder as an xarray Dataset, finished or not.

    Raises
    ------
    ParameterError
        Where there is no study.
    """
    folder = Path(folder)
    study = _read_head(folder)
    if study is None:
        raise ParameterError("load()", f"there is no study in {str(folder)!r}.",
                             "Give the folder that was given as store=.", given=str(folder))
    gathered = Gathered(study)
    for outcome in Store(folder, study).outcomes():
        gathered.add(outcome)
    return gathered.to_xarray()


def _read_head(folder: Path) -> dict[str, Any] | None:
    file = folder / HEAD
    return json.loads(file.read_text()) if file.is_file() else None


class Store:
    """The folder of one study.

    Parameters
    ----------
    folder : path
    study : mapping
        What the study belongs to.
    """

    def __init__(self, folder: str | Path, study: Mapping[str, Any]) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise need_package("pyarrow", "Keeping a study in a folder", "sweep") from None
        self.arrow, self.parquet = pyarrow, pyarrow.parquet
        self.folder, self.study = Path(folder), study
        self.units: dict[str, str | None] = {o["name"]: o["unit"] for o in study["outputs"]}
        self.shapes = {o["name"]: tuple(o["shape"]) for o in study["outputs"]}
        self.single = 0

    @classmethod
    def open(cls, folder: str | Path, study: Mapping[str, Any]) -> Store:
        """Make the folder, or take up the study in it.

        Raises
        ------
        ParameterError
            If the folder belongs to something else; says in which way.
        """
        folder = Path(folder)
        if folder.suffix in (".zarr", ".nc", ".h5", ".parquet"):
            better = str(folder.with_suffix(""))
            raise ParameterError("sweep(store=…)", f"is {str(folder)!r}, but a study is kept in a "
                                 "folder of Parquet files.", f"Write store={better!r}.",
                                 given=str(folder))  # fmt: skip
        before = _read_head(folder)
        if before is None:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise ParameterError("sweep(store=…)", f"{str(folder)!r} exists and is no study.",
                                     "Choose another folder.", given=str(folder))  # fmt: skip
            folder.mkdir(parents=True, exist_ok=True)
            _write_whole(folder / HEAD, json.dumps(study, indent=1).encode())
        else:
            other = difference(before, json.loads(json.dumps(study)))
            if other:
                raise ParameterError(
                    "sweep(store=…)", f"{str(folder)!r} holds another study: {other}.",
                    "Choose another folder, or delete this one if it is no longer needed.",
                    given=str(folder), code="sweep.store",
                )  # fmt: skip
        return cls(folder, study)

    # -- reading -------------------------------------------------------------------------
    def outcomes(self) -> Iterator[Outcome]:
        """All runs in the folder, each once."""
        seen: set[int] = set()
        for file in self._files():
            for outcome in self._read(file):
                if outcome.number not in seen:
                    seen.add(outcome.number)
                    yield outcome

    def _files(self) -> list[Path]:
        return sorted(f for f in self.folder.glob("*.parquet") if not f.name.startswith((".", "_")))

    def _read(self, file: Path) -> Iterator[Outcome]:
        table = self.parquet.read_table(file)
        named: dict[str, tuple[str, str]] = {}
        for heading in table.column_names[3:]:
            name, _, shown = heading[:-1].rpartition(" [")
            named[heading] = name, "" if shown == "1" else shown
            if self.units[name] is None:
                self.units[name] = named[heading][1]
        for row in table.to_pylist():
            values, units = {}, {}
            for heading, (name, shown) in named.items():
                if row[heading] is not None and row["status"] == "finished":
                    units[name] = shown
                    shape = self.shapes[name]
                    values[name] = np.reshape(row[heading], shape) if shape else row[heading]
            yield Outcome(row["run"], row["status"], row["message"], values, units)

    # -- writing -------------------------------------------------------------------------
    def add(self, outcome: Outcome) -> None:
        """Keep an outcome for good."""
        arrow = self.arrow
        columns: dict[str, Any] = {
            "run": arrow.array([outcome.number], arrow.int64()),
            "status": arrow.array([outcome.status], arrow.string()),
            "message": arrow.array([outcome.message], arrow.string()),
        }
        for name, value in outcome.values.items():
            kind = arrow.list_(arrow.float64()) if self.shapes[name] else arrow.float64()
            plain = np.ravel(value).tolist() if self.shapes[name] else float(value)
            columns[f"{name} [{outcome.units[name] or '1'}]"] = arrow.array([plain], kind)
        self._write(arrow.table(columns), f"run-{outcome.number:08d}")
        self.single += 1
        if self.single >= MANY:
            self._gather("run-*.parquet")

    def finish(self) -> None:
        """Put all runs into one file."""
        if len(self._files()) > 1:
            self._gather("*.parquet")

    def _gather(self, pattern: str) -> None:
        files = sorted(self.folder.glob(pattern))
        tables = [self.parquet.read_table(f) for f in files]
        whole = self.arrow.concat_tables(tables, promote_options="default").sort_by("run")
        numbers = [int(f.stem.split("-")[1]) for f in self.folder.glob("many-*.parquet")]
        target = f"many-{max(numbers, default=0) + 1:06d}"
        self._write(whole, target)
        for file in files:
            if file.stem != target:
                file.unlink()
        self.single = 0

    def _write(self, table: Any, name: str) -> None:
        sink = self.arrow.BufferOutputStream()
        self.parquet.write_table(table, sink)
        _write_whole(self.folder / f"{name}.parquet", sink.getvalue())


def _write_whole(file: Path, content: Any) -> None:
    """Write a file so that it is there completely or not at all."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.write_bytes(content)
    os.replace(draft, file)
