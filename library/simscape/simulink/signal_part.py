"""What does a block for signals become: a component of the library, or a law of its own?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from .block_parameters import BlockParameters

__all__ = [
    "RESETS", "Unmapped", "Makes", "SignalPart", "edge", "factor", "law", "limit", "limits_of",
    "listed", "many", "one_or_many", "per_second", "reset_on", "seconds", "with_unit"]  # fmt: skip


class Unmapped(Exception):
    """A block has no counterpart; the message says why, as a sentence for the report."""


@dataclass
class SignalPart:
    """A component for a block: keywords as texts, ports by number."""

    component: str  # "signal.Gain"; empty for a law, which becomes a class of the script
    keywords: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ("u",)  # ports of the block, in its order
    outputs: tuple[str, ...] = ("y",)
    note: str = ""  # what is not as in the model
    # blocks in front of an input: its number from 0, a word for the name, and the block
    before: tuple[tuple[int, str, SignalPart], ...] = ()
    equation: str = ""  # of a law: ``self.y == …``; a line for every output
    # those of the component that are called otherwise
    ports: dict[str, str] = field(default_factory=dict)
    # of the ports of a law; plain numbers otherwise
    units: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> dict[str, str]:
        """Ports of the component by those of the block."""
        return {port: self.ports.get(port, port) for port in (*self.inputs, *self.outputs)}


Makes: TypeAlias = Callable[[BlockParameters], SignalPart]
RESETS = ("rising", "falling", "either", "level")


def law(equation: str, inputs: tuple[str, ...] = ("u",), **parameters: str) -> SignalPart:
    """A block that becomes a class with one equation: ``law("sin(self.u)")``."""
    return SignalPart("", dict(parameters), inputs=inputs, equation=f"self.y == {equation}")


def per_second(gain: str = '"1 1/s"') -> tuple[int, str, SignalPart]:
    """A gain in front of an integrator, which asks for something per second."""
    return 0, "rate", SignalPart("signal.Gain", {"gain": gain})


def edge(reset: str, unit: str = "") -> tuple[int, str, SignalPart]:
    """What makes of a signal one that rises above 0.5 where it resets an integrator."""
    up = "(self.u > 0) | (self.u < 0)" if reset == "level" else "self.u > 0"
    made = law(f"where({up}, {'0, 1' if reset == 'falling' else '1, 0'})")
    made.units = {"u": unit} if unit else {}
    return 1, "edge", made


def reset_on(reset: str) -> dict[str, str]:
    """The keyword that says when an integrator is reset, of another one than rising edges."""
    return {"reset_on": f'"{reset}"'} if reset in ("either", "level") else {}


def many(word: str, count: int) -> tuple[str, ...]:
    return tuple(f"{word}{k}" for k in range(1, count + 1))


def one_or_many(word: str, count: int) -> tuple[str, ...]:
    """Ports ``u``, or ``u1``, ``u2`` … of several."""
    return (word,) if count == 1 else many(word, count)


def limit(a: BlockParameters, name: str, default: str) -> str:
    """A limit; an infinite one is a number that nothing reaches."""
    value = a.number(name, default)
    return a.text(name, default) if value is None or abs(value) < 1e30 else \
        "1e30" if value > 0 else "-1e30"


def limits_of(a: BlockParameters) -> dict[str, str]:
    """The limits of an integrator or a controller that has some."""
    if a.written("LimitOutput", "off") != "on":
        return {}
    return {"limited": "True", "lower": limit(a, "LowerSaturationLimit", "-inf"),
            "upper": limit(a, "UpperSaturationLimit", "inf")}


def seconds(text: str) -> str:
    return with_unit(text, "s")


def with_unit(text: str, unit: str) -> str:
    """A number's text in a unit."""
    try:
        float(text)
    except ValueError:
        return f'quantity({text}, "{unit}")'
    return f'"{text} {unit}"'


def factor(text: str) -> str:
    """A text that may stand in a product."""
    return text if text.replace(".", "").isalnum() else f"({text})"


def listed(text: str) -> str:
    """A vector, also where it is written as one number."""
    return text if text.startswith(("[", "np.")) or text.isidentifier() else f"[{text}]"
