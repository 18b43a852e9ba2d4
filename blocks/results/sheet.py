"""How is a small table read in a terminal or a notebook?

rich lays it out, or pandas where rich is missing; with neither, tab-separated
lines. Only text and numbers are known here.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ..exceptions import optional_package, unknown_name
from .shown import in_plain_signs, output_takes

__all__ = ["ByComponent", "Sheet", "Tabulated", "pandas"]

SHOWN = 30  # rows printed; the rest is counted


def pandas(purpose: str) -> Any:
    """The module pandas, or the error that names it."""
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
    last : bool
        Whether the last row is a total, kept and set apart.
    """

    def __init__(self, title: str, columns: Mapping[str, Sequence[Any]], note: str = "",
                 total: int | None = None, last: bool = False) -> None:  # fmt: skip
        self.title, self.columns, self.note, self.last = title, dict(columns), note, last
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

    def to_pandas(self) -> Any:
        """All rows as a DataFrame."""
        return pandas("Making a DataFrame").DataFrame(self.columns)

    def _lines(self) -> list[tuple[str, ...]]:
        rows = list(zip(*([_text(v) for v in c] for c in self.columns.values()), strict=True))
        if len(rows) <= SHOWN:
            return rows
        tail = SHOWN // 5
        return [*rows[: SHOWN - tail], tuple("…" for _ in self.columns), *rows[-tail:]]

    def _note(self) -> str:
        hidden = self.total > min(self.rows, SHOWN)
        return "\n".join(filter(None, [self.note, f"{self.total:,} rows" if hidden else ""]))

    def __repr__(self) -> str:
        text = self._laid_out(lines := self._lines())
        if output_takes(text):
            return text
        # cells before they are laid out, since they become longer
        return in_plain_signs(self._laid_out([tuple(map(in_plain_signs, line)) for line in lines]))

    def _laid_out(self, lines: list[tuple[str, ...]]) -> str:
        if not lines:
            return f"{self.title}: none"
        try:
            return self._with_rich(lines)
        except ImportError:
            pass
        try:
            frame = pandas("Printing a table").DataFrame(lines, columns=list(self.columns))
            body = frame.to_string(index=False, header=self._headed)
        except ImportError:
            heads = [tuple(self.columns)] if self._headed else []
            body = "\n".join("\t".join(line) for line in [*heads, *lines])
        return "\n".join(filter(None, [self.title, body, self._note()]))

    def _with_rich(self, lines: list[tuple[str, ...]]) -> str:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        facts = not self._headed
        table = Table(box=box.SIMPLE, show_header=not facts, pad_edge=False)
        for name, values in self.columns.items():
            right = not facts and all(isinstance(v, (int, float)) for v in values)
            last = name == list(self.columns)[-1]
            table.add_column(Text(name), justify="right" if right else "left", overflow="fold",
                             no_wrap=not last)  # fmt: skip
        for k, line in enumerate(lines):
            table.add_row(*(Text(cell) for cell in line),
                          end_section=self.last and k == len(lines) - 2)  # fmt: skip
        widths = [max(map(len, cells)) for cells in zip(tuple(self.columns), *lines, strict=True)]
        needed = sum(widths[:-1]) + min(widths[-1], 40) + 3 * len(widths)  # numbers stay whole
        width = max(80, needed, shutil.get_terminal_size((100, 24)).columns)
        page = io.StringIO()
        Console(file=page, width=width, color_system=None, force_jupyter=False).print(table)
        drawn = "\n".join(line.rstrip() for line in page.getvalue().splitlines() if line.strip())
        return "\n".join(filter(None, [self.title, drawn, self._note()]))

    def _repr_html_(self) -> str | None:
        """For notebooks; without pandas the text is shown instead."""
        import html

        try:
            frame = pandas("Printing a table").DataFrame(self._lines(), columns=list(self.columns))
        except ImportError:
            return None
        body = frame.to_html(index=False, header=self._headed, border=0)
        note = self._note()
        return (f"<p><b>{html.escape(self.title)}</b></p>{body}"
                + (f"<p>{html.escape(note)}</p>" if note else ""))  # fmt: skip


class Tabulated:
    """What a table shows, in a terminal, a notebook or as a DataFrame; it says which table."""

    def _sheet(self) -> Sheet:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows of its table as a DataFrame."""
        return self._sheet().to_pandas()

    def __repr__(self) -> str:
        return repr(self._sheet())

    def _repr_html_(self) -> str | None:
        return self._sheet()._repr_html_()


class Term(Protocol):
    """What is told of one component."""

    @property
    def component(self) -> str: ...


T = TypeVar("T", bound=Term)


class ByComponent(Tabulated, Sequence[T]):
    """What is told of components, by number or by path.

    Parameters
    ----------
    terms : one for each component
    what : of which they are, for messages
    """

    def __init__(self, terms: Iterable[T], what: str) -> None:
        self._terms, self._what = tuple(terms), what

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
