"""Which of several laws does a component follow, and what does the chosen one declare?

A component that can follow many laws would declare the parameters of all of them.
Instead it declares one :class:`Replaceable`; each law is a :class:`Replacement`
that declares its own parameters and variables. An instance has those of the law
it was given, and refuses those of another::

    class Tanh(Replacement):
        band = Parameter("1 mm/s", above=0)

        def equations(self, c):
            yield c.f == c.strength * tanh(c.v / c.band)

    class Friction(TwoPort):
        law = Replaceable("tanh", {"tanh": Tanh})
        strength = Parameter("20 N")

        def equations(self):
            yield from self._law().equations(self)

A user's own law is given as it is: ``Friction(law=MyLaw)`` or, with values,
``Friction(law=MyLaw(band="1 cm/s"))``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..exceptions import NamingError, ParameterError, unknown_name
from .declarations import Declaration, Option, Parameter, Port

if TYPE_CHECKING:
    from .tree import TreeNode

__all__ = ["Replaceable", "Replacement"]


class Replacement:
    """Base of what may be chosen for a :class:`Replaceable`.

    Parameters, variables and signals are declared as in a component; an instance
    carries values for them, which the component checks when it is given.
    """

    declarations: ClassVar[dict[str, Declaration]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.declarations = {
            name: value
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if isinstance(value, Declaration)
        }
        for name, value in cls.declarations.items():
            value.refuse_faults()
            if isinstance(value, (Port, Option)):
                raise NamingError(
                    f"{cls.__name__}.{name}", "a law cannot declare ports or options.",
                    "Declare them in the component; for another option make a subclass.",
                    name=name, code="name.reserved")
            if isinstance(value, Parameter):
                value.refuse_default(f"{cls.__name__}.{name}")

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name.startswith("_"):
                raise unknown_name(type(self).__name__, name, self.declarations, "parameters")
        self.given = given

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}={v!r}" for n, v in self.given.items())
        return f"{type(self).__name__}({shown})"


class Replaceable(Option):
    """A choice among laws that bring declarations of their own.

    Parameters
    ----------
    default : str
    choices : mapping of name to Replacement class, or function that gives one
        Other classes are accepted, too.
    """

    open = True

    def __init__(
        self,
        default: str,
        choices: Mapping[str, type[Replacement]] | Callable[[], Mapping[str, type[Replacement]]],
        *,
        doc: str = "",
    ) -> None:
        super().__init__(default, doc=doc)
        self._named = choices

    @property
    def named(self) -> Mapping[str, type[Replacement]]:
        """The classes that have names."""
        return self._named() if callable(self._named) else self._named

    def _declare(self) -> None:
        """Names are known when one is chosen: laws may be written later."""

    def accept(self, value: Any, where: str) -> Any:
        if isinstance(value, str):
            if value not in self.named:
                raise unknown_name(where, value, self.named, f"{self.name}s")
            return value
        kind = type(value) if isinstance(value, Replacement) else value
        if not (isinstance(kind, type) and issubclass(kind, Replacement)):
            raise ParameterError(
                where, f"takes the name of a {self.name} or a {self.name} object, but was given "
                f"{value!r}.", f"The names are {', '.join(self.named)}.", given=value,
                code="parameter.choice")
        return next((name for name, known in self.named.items() if known is kind), kind)

    def chosen(self, component: TreeNode) -> type[Replacement]:
        """The class that a component follows."""
        value = component._values.get(self.name, self.default)
        return self.named[value] if isinstance(value, str) else value

    def owners(self, name: str) -> list[str]:
        """Names of the choices that declare a name."""
        return [label for label, kind in self.named.items() if name in kind.declarations]
