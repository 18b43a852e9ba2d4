"""How is a small table read in a terminal, a notebook or a page?

Only text and numbers are known here.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..exceptions import optional_package, unknown_name
from ..reading.foreign_words import attribute_elsewhere
from .formatting import in_plain_signs, output_takes

if TYPE_CHECKING:
    from pandas import DataFrame
else:
    DataFrame = Any  # which annotations name: pandas is loaded with the first table

__all__ = ["DataFrame", "ByComponent", "ByName", "Sheet", "Tabulated", "pandas"]

SHOWN = 30  # rows printed; the rest is counted


def pandas(purpose: str) -> Any:
    """Import pandas, or raise the error that says how to get it."""
    return optional_package("pandas", purpose, "table")


class Sheet:
    """A titled table of text and numbers.

    Parameters
    ----------
    title : str
    columns : mapping of str to sequence
    note : str
        A line below the table.
    total : int, optional
        Number of rows there would be, where only some are given.
    """

    def __init__(self, title: str, columns: Mapping[str, Sequence[Any]], note: str = "",
                 total: int | None = None) -> None:
        self.title, self.columns, self.note = title, dict(columns), note
        self.rows = len(next(iter(self.columns.values()), ()))
        self.total = self.rows if total is None else total

    @classmethod
    def of_facts(cls, title: str, rows: Sequence[tuple[str, Any]], note: str = "") -> Sheet:
        """Two columns without headings: what, and its value."""
        return cls(title, {"": [k for k, _ in rows], " ": [v for _, v in rows]}, note)

    @property
    def _headed(self) -> bool:
        """Whether any column has a heading."""
        return any(name.strip() for name in self.columns)

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> Any:
        if name not in self.columns:
            raise unknown_name(self.title, name, self.columns, "columns")
        return self.columns[name]

    def to_pandas(self) -> DataFrame:
        """All rows as a DataFrame."""
        return pandas("Making a DataFrame").DataFrame(self.columns)

    def _lines(self, most: int = SHOWN) -> list[tuple[str, ...]]:
        rows = list(zip(*([_text(v) for v in c] for c in self.columns.values()), strict=True))
        if len(rows) <= most:
            return rows
        tail = most // 5
        return [*rows[: most - tail], tuple("…" for _ in self.columns), *rows[-tail:]]

    def _note(self) -> str:
        hidden = self.total > min(self.rows, SHOWN)
        return "\n".join(filter(None, [self.note, f"{self.total:,} rows" if hidden else ""]))

    def _right(self) -> list[bool]:
        """Which columns hold nothing but numbers."""
        return [self._headed and all(isinstance(v, (int, float)) for v in c)
                for c in self.columns.values()]

    def __repr__(self) -> str:
        text = self._laid_out(lines := self._lines())
        if output_takes(text):
            return text
        # cells before they are laid out, since they become longer
        return in_plain_signs(self._laid_out([tuple(map(in_plain_signs, line)) for line in lines]))

    def _laid_out(self, lines: list[tuple[str, ...]]) -> str:
        """Columns side by side; only the last one is broken into lines where it is too long."""
        if not lines:
            return f"{self.title}: none"
        heads = [tuple(self.columns)] if self._headed else []
        widths = [max(len(text) for cell in cells for text in cell.split("\n"))
                  for cells in zip(*heads, *lines, strict=True)]
        before = sum(widths[:-1]) + 3 * len(widths) - 1
        page = max(80, shutil.get_terminal_size((100, 24)).columns, before + min(widths[-1], 40))
        widths[-1] = min(widths[-1], page - before)
        out = []
        for line in [*heads, *lines]:
            pieces = [cell.split("\n") for cell in line]
            pieces[-1] = [piece for text in pieces[-1]
                          for piece in textwrap.wrap(text, widths[-1]) or [""]]
            for row in zip_longest(*pieces, fillvalue=""):
                cells = (text.rjust(w) if right else text.ljust(w)
                         for text, w, right in zip(row, widths, self._right(), strict=True))
                out.append(f" {'   '.join(cells)}".rstrip())
        if heads:
            out.insert(1, " " + "─" * (sum(widths) + 3 * len(widths) - 3))
        return "\n".join(filter(None, [self.title, *out, self._note()]))

    def html(self, most: int = SHOWN) -> str:
        """Return the table alone, as HTML, with so many of its rows."""
        from html import escape

        def row(kind: str, cells: Sequence[str]) -> str:
            return "".join(["<tr>", *(
                f"<{kind}{right * ' class=number'}>{escape(cell, quote=False)}</{kind}>"
                for cell, right in zip(cells, self._right(), strict=True)), "</tr>"])

        head = f"<thead>{row('th', list(self.columns))}</thead>" if self._headed else ""
        rows = "".join(row("td", line) for line in self._lines(most))
        return f"<table>{head}<tbody>{rows}</tbody></table>"

    def _repr_html_(self) -> str:
        from html import escape

        note = self._note()
        return (f"<p><b>{escape(self.title)}</b></p>{self.html()}"
                + (f"<p>{escape(note)}</p>" if note else ""))


class Tabulated:
    """What a table shows, in a terminal, a notebook or as a DataFrame; it says which table."""

    if not TYPE_CHECKING:  # which would take every name for one
        def __getattr__(self, name: str) -> Any:
            return attribute_elsewhere(self, name)

    def _sheet(self) -> Sheet:
        raise NotImplementedError

    def _sheets(self) -> Sequence[Sheet]:
        """Return the table of this object, and others that are shown below it."""
        return [self._sheet()]

    def to_pandas(self) -> DataFrame:
        """Return the rows of its table as a DataFrame."""
        return self._sheet().to_pandas()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._sheets()))

    def _repr_html_(self) -> str:
        return "".join(sheet._repr_html_() for sheet in self._sheets())


class ByName(Tabulated, Mapping[str, Any]):
    """What is told of names, all of which ``_named`` holds."""

    _named: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        if name not in self._named:
            raise unknown_name(self._sheet().title, name, self._named, "names")
        return self._named[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return what is told of a name, or the default where there is none such."""
        if name not in self:
            return default
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


T = TypeVar("T")  # has a component


class ByComponent(Tabulated, Sequence[T]):
    """What is told of components, by number or by path: one term for each, and, for messages, of
    what."""

    def __init__(self, terms: Iterable[T], what: str) -> None:
        self._what = what
        self._terms: tuple[Any, ...] = tuple(terms)

    @overload
    def __getitem__(self, key: int | str) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[T]: ...
    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self._terms[key]
        for term in self._terms:
            if term.component == key:
                return term
        raise unknown_name(self._what, key, [t.component for t in self._terms], "components")

    def __len__(self) -> int:
        return len(self._terms)


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
