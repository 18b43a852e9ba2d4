"""What does a block for signals become: a component of the library, or a law of its own?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Asks", "SignalPart", "is_number", "law", "listed", "many", "seconds"]


@dataclass
class SignalPart:
    """A component for a block: keywords as texts, ports by number.

    Attributes
    ----------
    component : str
        ``"signal.Gain"``; empty for a law, which becomes a class of the script.
    before : str
        Gain of a block in front of the first input: a number of Simulink's gets the unit per
        second that an integrator of this library asks for.
    note : str
        What is not as in the model.
    equation : str
        Of a law: ``self.y == …``.
    ports : dict of str to str
        Of a block for physical signals: ports that are not u1, u2 … in this order.
    """

    component: str
    keywords: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ("u",)
    outputs: tuple[str, ...] = ("y",)
    note: str = ""
    before: str = ""
    equation: str = ""
    ports: dict[str, str] = field(default_factory=dict)


class Asks(Protocol):
    """Gives the values of a block's parameters as Python text."""

    def text(self, name: str, default: str) -> str: ...
    def written(self, name: str, default: str) -> str: ...
    def number(self, name: str, default: str) -> float | None: ...


def law(equation: str, inputs: tuple[str, ...] = ("u",)) -> SignalPart:
    """A block that becomes a class with one equation: ``law("sin(self.u)")``."""
    return SignalPart("", inputs=inputs, equation=f"self.y == {equation}")


def many(word: str, count: int) -> tuple[str, ...]:
    return tuple(f"{word}{k}" for k in range(1, count + 1))


def seconds(text: str) -> str:
    """A time."""
    return f'"{text} s"' if is_number(text) else f'quantity({text}, "s")'


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def listed(text: str) -> str:
    """A vector, also where it is written as one number."""
    return text if text.startswith(("[", "np.")) or text.isidentifier() else f"[{text}]"
