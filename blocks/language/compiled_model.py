"""What do runs, studies and analyses need of a model? A network that is compiled when asked for.

What has been made of it is kept until the structure changes; values of parameters and initial
targets may change between runs without a new assembly.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..exceptions import NamingError, calls_told
from .component import Part

if TYPE_CHECKING:
    from ..diagnostics.findings import Findings
    from ..results import Result
    from ..system.system import System
    from ..units import Unit

__all__ = ["Compiled", "CompiledModel"]


@dataclass
class Compiled:
    """What has been made of a model, and of which state of it: made anew once that is past."""

    model: CompiledModel
    system: System | None = None
    revision: int = -1  # of the structure that the system is of
    values: int = -1  # revision of the values that suit it
    findings: Findings | None = None
    checked: tuple[object, ...] | None = None  # the state that the findings are about
    start: Any = None  # the last KeptStart that was found

    @property
    def nominal_table(self) -> dict[Any, tuple[float, Unit]]:
        """Nominal values that the model was given, by dimension, with their units."""
        return self.model._nominal_table

    def state(self) -> tuple[object, ...]:
        """What a start depends on besides its time: structure, values, nominal values."""
        self.model._check_captured()
        return (self.model._structure_revision, self.model._revision,
                *((d, value) for d, (value, _) in self.nominal_table.items()))

    def anew(self, choice: str) -> None:
        """Forget what has been made, and compile with a choice in the cache of the system."""
        self.model._compiled = Compiled(self.model)
        self.model.compile().cache[choice] = True

    @contextmanager
    def restored(self, parts: Iterable[Part]) -> Iterator[None]:
        """Let parts of the model have their present values again in the end."""
        before = [(part, {name: table.copy() for name, table in part._value_tables().items()},
                   part._units.copy(), vars(part).get("_declared")) for part in parts]
        revision, structure = self.model._revision, self.model._structure_revision
        try:
            yield
        finally:
            for part, tables, units, declared in before:
                part._restore_values(tables)
                part._units = units
                if declared is not None:
                    part._declared = declared
            self.model._revision = revision
            if self.model._structure_revision != structure:
                self.model._changed(True)


@calls_told
class CompiledModel(Part):
    """A :class:`~blocks.Model` below its methods: parts, values, and what is made of them."""

    _is_root: ClassVar[bool] = True

    def __init__(self, name: str = "model") -> None:
        super().__init__()
        if not isinstance(name, str):
            raise NamingError("Model()", f"takes its name as a text, but was given {name!r}.",
                              "Write for example Model('oscillator').", name=str(name))
        self._title = name
        self._nominal_table: dict[Any, tuple[float, Unit]] = {}  # by dimension
        self._compiled = Compiled(self)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._title

    def __contains__(self, path: object) -> bool:
        return any(path in named for named in (self.parts, self.parameters, self.variables))

    @property
    def compiled(self) -> Compiled:
        """What is made of it, and kept, for runs, studies and analyses."""
        return self._compiled

    def __getstate__(self) -> dict[str, Any]:
        return {n: value for n, value in super().__getstate__().items() if n != "_compiled"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._compiled = Compiled(self)

    def compile(self) -> System:
        """Assemble and reduce the present structure.

        It is kept until that changes, or values do that ask for another order of solving. A
        StructureError names the components of the over- and under-determined parts.
        """
        self._check_captured()
        made = self._compiled
        if made.system is None or made.revision != self._structure_revision or not self._suits():
            revision, values = self._structure_revision, self._revision
            start = clock.perf_counter()
            system = self._assembled()
            system.seconds = clock.perf_counter() - start
            if made.system is not None:
                made.system.superseded = True
            made.system, made.revision, made.values = system, revision, values
        return made.system

    def _check_captured(self) -> None:
        """Take it as a change of structure where equations would be read otherwise now: they use a
        value of a module, say, that is another one."""
        made = self._compiled
        if made.system is not None and made.revision == self._structure_revision and not all(
                f.kernel.captured.unchanged() for f in made.system.network.families):
            self._changed(True)

    def _suits(self) -> bool:
        """Whether the present values of parameters can be solved for as the system is compiled."""
        made = self._compiled
        if made.values != self._revision:
            assert made.system is not None
            if not made.system.still_valid().all():
                return False
            made.values = self._revision
        return True

    def _assembled(self) -> System:
        raise NotImplementedError

    def check(self) -> Findings:
        raise NotImplementedError

    def simulate(self, duration: Any = None, *nameless: Any, **options: Any) -> Result:
        raise NotImplementedError
