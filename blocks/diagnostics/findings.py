"""What is handed out: findings with stable codes, readable anywhere.

Knows nothing of models; the catalogue of codes with examples and repairs is ``docs/messages.md``.
"""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar, overload

from ..exceptions import (
    BlocksError,
    CheckError,
    ConnectionRefused,
    EquationError,
    InitialisationError,
    ModelError,
    NamingError,
    ParameterError,
    StructureError,
    optional_package,
    with_advice,
)
from ..results.formatting import printable

__all__ = ["SEVERITIES", "Finding", "Findings"]

#: Severity of every code that only ``check()`` reports. Errors raised earlier keep their codes.
SEVERITIES = {code: severity for severity, codes in {
    "error": """
        model.empty reference.missing conflict.across conflict.through conflict.parameter
        network.feedback network.floating network.nowhere network.forgotten contact.overlap
        contact.rigid signal.unconnected signal.outputs equation.missing equation.surplus
        equation.unbalanced event.target parameter.relation structure.singular
        structure.dependent structure.endless structure.input initial.dependent
        initial.derivative initial.failed initial.redundant initial.value
        initial.undetermined
    """,
    "warning": """
        network.positive network.locked network.shorted signal.assumed signal.loop
        signal.undetermined parameter.advice initial.computed initial.conflict
    """,
    "info": """
        reference.free network.assumed network.repeated network.short network.meter
        network.datum network.barred network.unconnected signal.default initial.default
    """,
}.items() for code in codes.split()}
_RANK = {"error": 0, "warning": 1, "info": 2}
_ERRORS: dict[str, type[ModelError]] = {
    "reference": StructureError, "conflict": StructureError, "network": StructureError,
    "structure": StructureError, "signal": ConnectionRefused, "connection": ConnectionRefused,
    "equation": EquationError, "event": EquationError, "parameter": ParameterError,
    "initial": InitialisationError, "contact": InitialisationError, "name": NamingError}


_Kind = TypeVar("_Kind", bound=ModelError)
MOST = 12  # findings of one kind; a systematic mistake need not be shown a thousand times


@dataclass(frozen=True)
class Finding:
    """Something about a model that its builder should know.

    Attributes
    ----------
    code : stable; see ``docs/messages.md``
    severity : ``"error"``, which prevents a run, ``"warning"`` or ``"info"``
    where : dotted paths of the components, ports or variables concerned
    problem : what is wrong
    advice : what to do about it
    """

    code: str
    severity: str
    where: tuple[str, ...]
    problem: str
    advice: str = ""

    def __str__(self) -> str:
        return printable(with_advice(self.problem, self.advice))


def found(code: str, where: Iterable[str], problem: str, advice: str = "") -> Finding:
    """A finding with the severity its code has."""
    severity = SEVERITIES.get(code, "error")
    return Finding(code, severity, tuple(dict.fromkeys(where)), problem, advice)


def first_few(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of every code, and how many more there are like these."""
    counts: Counter[str] = Counter()
    for finding in dict.fromkeys(findings):
        counts[finding.code] += 1
        if counts[finding.code] <= MOST:
            yield finding
    for code, count in counts.items():
        if count > MOST:
            yield found(code, [], f"{count - MOST:,} more like these: {code}.")


def error_of(finding: Finding, kind: type[_Kind], findings: Findings) -> _Kind:
    """The error that says what a finding says, and carries all of them."""
    return kind(", ".join(finding.where), finding.problem, finding.advice, says_where=True,
                code=finding.code, findings=findings)


class Findings(Sequence[Finding]):
    """What ``model.check()`` found, errors first.

    Examples
    --------
    >>> from blocks import Model
    >>> findings = Model("empty").check()
    >>> [f.code for f in findings.errors]
    ['model.empty']
    >>> "reference.missing" in findings
    False
    """

    def __init__(self, findings: Iterable[Finding] = (), title: str = "",
                 causes: dict[Finding, BlocksError] | None = None) -> None:
        self._all = tuple(sorted(findings, key=lambda f: _RANK[f.severity]))
        self._title = title
        self._causes = causes or {}

    # -- a sequence --------------------------------------------------------------------
    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Findings(self._all[index], self._title, self._causes)
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, item: object) -> bool:
        """Whether a finding, or one of this code, is among them."""
        if isinstance(item, str):
            return any(f.code == item for f in self._all)
        return item in self._all

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Findings) and self._all == other._all

    __hash__ = None  # type: ignore[assignment]

    # -- choosing ----------------------------------------------------------------------
    def filter(self, code: str | None = None, severity: str | None = None) -> Findings:
        """Findings of a code (or of a family of codes, such as ``"conflict"``) and severity."""
        return Findings((f for f in self._all if (code is None or f.code == code
                                                  or f.code.startswith(code + "."))
                         and (severity is None or f.severity == severity)), self._title,
                        self._causes)

    @property
    def errors(self) -> Findings:
        """Findings that prevent a run."""
        return self.filter(severity="error")

    @property
    def warnings(self) -> Findings:
        """Findings that do not prevent a run but are rarely meant."""
        return self.filter(severity="warning")

    def raise_errors(self) -> None:
        """Raise if there are errors; do nothing otherwise.

        Raises
        ------
        ModelError
            The specific error where there is only one.
        CheckError
            Where there are several. Both carry all findings as ``findings``.
        """
        errors = self.errors
        if not errors:
            return
        if len(errors) > 1:
            lines = "".join(f"\n  {i}. {f}" for i, f in enumerate(errors, 1))
            raise CheckError(self._title, f"{len(errors)} mistakes prevent a run:{lines}",
                             findings=self)
        (only,) = errors
        cause = self._causes.get(only)
        if cause is not None:
            cause.data["findings"] = self
            raise cause
        raise error_of(only, _ERRORS.get(only.code.split(".")[0], ModelError), self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Findings, (self._all, self._title)

    # -- showing -------------------------------------------------------------------------
    @property
    def summary(self) -> str:
        """One line: ``"2 errors and 1 warning"``."""
        counts = Counter(f.severity for f in self._all)
        words = [f"{n} {word}{'s' if n > 1 and word != 'info' else ''}"
                 for word in _RANK if (n := counts[word])]
        return " and ".join(words) if words else "no mistakes found"

    def __str__(self) -> str:
        width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 100))
        head = f"{self._title}: {self.summary}" if self._title else self.summary
        lines = [head[0].upper() + head[1:] if not self._title else head]
        for f in self._all:
            lines.append(f"{f.severity:<8}{f.code}")
            for text in (f.problem, f"-> {f.advice}" if f.advice else ""):
                for part in text.splitlines():
                    lines += textwrap.wrap(part, width, initial_indent=" " * 8,
                                           subsequent_indent=" " * 8, break_long_words=False,
                                           break_on_hyphens=False)  # fmt: skip
        return printable("\n".join(lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        colour = {"error": "#b00020", "warning": "#8a6100", "info": "#555555"}
        rows = "".join(
            f"<tr><td style='color:{colour[f.severity]}'><b>{f.severity}</b></td>"
            f"<td><code>{html.escape(f.code)}</code></td><td style='text-align:left'>"
            f"{html.escape(f.problem).replace(chr(10), '<br>')}<br>"
            f"<i>{html.escape(f.advice)}</i></td></tr>"
            for f in self._all
        )
        head = html.escape(f"{self._title}: {self.summary}".lstrip(": "))
        return f"<p>{head}</p>" + (f"<table>{rows}</table>" if rows else "")

    def to_pandas(self) -> Any:
        """Return the findings as a pandas DataFrame, one row each."""
        pandas = optional_package("pandas", "Findings.to_pandas()", "table")
        columns = ["code", "severity", "where", "problem", "advice"]
        rows = [{**asdict(f), "where": ", ".join(f.where)} for f in self._all]
        return pandas.DataFrame(rows, columns=columns)
