"""How do rows of a run go to a Parquet file as they come, and back?

The file is a table like those that ``result.to_parquet`` writes: time, and a column for every
variable in its declared unit. It is written in groups of rows, and read by groups.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import ParameterError, brief, optional_package
from ...numerics.arrays import Array, Indices
from ...units import SECOND
from ..formatting import label
from ..recording import VariableInfo
from . import known_ending, reading, writing_on

__all__ = ["ParquetRows"]

GROUP = 1 << 20  # numbers of a group of rows, which are held before it is written


class ParquetRows:
    """Rows in a file, as :class:`~blocks.solvers.polynomials.Rows` are asked.

    The file is written anew, with one column for each of the variables.
    """

    def __init__(self, file: str | Path, variables: Sequence[VariableInfo]) -> None:
        if not isinstance(file, (str, os.PathLike)):
            raise ParameterError("simulate(record_to=…)", f"is {brief(file)}, which is no path.",
                                 "Give the name of a file, such as 'run.parquet'.", given=file)
        self.file = Path(file)
        known_ending(file, "what is written during a run", ".parquet")
        self.arrow, self.parquet = (
            optional_package(module, "Writing a run to a Parquet file", "parquet")
            for module in ("pyarrow", "pyarrow.parquet"))
        self.count, self.width = 0, len(variables)
        self.factor = np.array([v.unit.factor for v in variables])
        self.offset = np.array([v.unit.offset for v in variables])
        kinds = [("time", SECOND), *((v.path, v.unit) for v in variables)]
        self.headings = [label(path, unit) for path, unit in kinds]
        self._pending: list[Array] = []  # of time and values, in the order of the columns
        self._first = [0]  # rows before each group, and before those that are pending
        schema = self.arrow.schema([(name, self.arrow.float64()) for name in self.headings])
        with writing_on(self.file):
            self._writer: Any = self.parquet.ParquetWriter(self.file, schema)

    @property
    def nbytes(self) -> int:
        """Memory of rows that are not written yet."""
        return sum(rows.nbytes for rows in self._pending)

    def append(self, times: Array, rows: Array) -> None:
        self._pending.append(np.column_stack([times, (rows - self.offset) / self.factor]))
        self.count += len(rows)
        if (self.count - self._first[-1]) * self.width >= GROUP:
            self._write()

    def _write(self) -> None:
        rows = np.concatenate(self._pending)
        table = self.arrow.table([np.ascontiguousarray(c) for c in rows.T], names=self.headings)
        with writing_on(self.file):
            self._writer.write_table(table, row_group_size=len(rows))
        self._pending = []
        self._first.append(self.count)

    def close(self) -> None:
        """The run is over: the file is complete."""
        if self._writer is not None:
            if self._pending:
                self._write()
            with writing_on(self.file):
                self._writer.close()
            self._writer = None

    def take(self, numbers: Indices, columns: Indices | None = None) -> Array:
        chosen = np.arange(self.width) if columns is None else np.asarray(columns)
        out = np.empty((len(numbers), len(chosen)))
        of_group = np.searchsorted(self._first, numbers, side="right") - 1
        for g in np.unique(of_group):
            here = of_group == g
            rows = self._group(int(g), chosen)[numbers[here] - self._first[g]]
            out[here] = rows * self.factor[chosen] + self.offset[chosen]
        return out

    def _group(self, number: int, columns: Indices) -> Array:
        """Some columns of a group, (rows, columns)."""
        if number == len(self._first) - 1:
            return np.concatenate(self._pending)[:, 1 + columns]
        with reading(self.file, "a Parquet file"):
            opened = self.parquet.ParquetFile(self.file)
            table = opened.read_row_group(number, columns=[self.headings[1 + c] for c in columns])
            return np.column_stack([table.column(k).to_numpy() for k in range(len(columns))])
