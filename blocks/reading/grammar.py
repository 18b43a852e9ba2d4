"""Which number, and which names to which powers, does a typed text say?

The only way from a text to a quantity: what is not of this grammar is refused
with the piece that was not understood, before anything else sees it. Knows
characters only, no units. In words of the grammar::

    value    = number [["*"] unit | "/" unit]
    number   = [sign] (digits with a decimal point, and an exponent | "inf" | "nan")
    unit     = "1" | product
    product  = factor {("*" | "·" | "⋅" | "×" | " " | "/") factor}
    factor   = (name | "(" product ")" | "1" before "/") [power]
    power    = ("^" | "**") exponent | superscript digits
    exponent = [sign] digits, or "(" [sign] digits ["/" digits] ")"

After a "/" factors are joined by "*" or "/" only: "J/kg K" means one thing to
some and another to others. The minus sign of typography is a minus sign.
Lengths, depths and powers are bounded, so every text is read in no time.
"""

from __future__ import annotations

import re
from typing import NoReturn

from ..exceptions import UnknownUnit, brief

__all__ = ["ANY_UNIT", "factors_of", "number_and_unit"]

LONGEST = 200  # characters of a value or a unit
DEEPEST = 8  # brackets within brackets
HIGHEST = 24  # power of a unit

_NUMBER = re.compile(
    r"\s*(?P<sign>[-+]?)\s*(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    r"|(?:inf|nan)(?!\w))\s*(?P<unit>.*)$", re.DOTALL)  # fmt: skip
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_EXPONENT = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_TOKEN = re.compile(
    rf"(?P<name>(?:[^\W\d_{_RAISED}]|[°%‰])(?:[^\W{_RAISED}]|[°%‰])*)"
    rf"|(?P<power>(?:\*\*|\^)\s*(?:\(\s*(?P<top>{_EXPONENT})\s*(?:/\s*(?P<bottom>[0-9]+)\s*)?\)"
    rf"|(?P<plain>{_EXPONENT})))"
    rf"|(?P<raised>[⁻⁺]?[{_RAISED}]+(?:[·⋅][{_RAISED}]+)?)"
    r"|(?P<times>\*(?!\*)|[·⋅×])|(?P<over>/)|(?P<open>\()|(?P<close>\))|(?P<one>1(?=\s*(?:/|$)))"
)
_PLAIN = str.maketrans("⁻⁺·⋅⁰¹²³⁴⁵⁶⁷⁸⁹", "-+..0123456789")
_DASH = re.compile("[\u00ad\u2010-\u2015\ufe58\ufe63\uff0d]")  # hyphens and dashes; not a minus

_ONE_NUMBER = "Give one number and one unit: work out powers, fractions and sums first."
ANY_UNIT = "Units are written like 'N*s/m', 'kg*m^2', 'mm/s', 'rpm'."


def number_and_unit(text: str) -> tuple[float, str]:
    """The number of a value and the text of its unit (empty where there is none).

    UnknownUnit has as ``piece`` the part that was not understood.
    """
    _refuse_long(text)
    match = _NUMBER.match(text.replace("−", "-"))
    if match is None:
        _refuse_number(text)
    typed = match["sign"] + match["number"]
    number = float(typed)
    if abs(number) == float("inf") and "inf" not in typed:
        _refuse(f"{brief(typed)} is too large a number.", typed, "Numbers go up to 1.8e308.")
    rest = match["unit"].rstrip()
    if re.match(r",\s*[0-9]", rest):
        whole, tail = typed.replace(".", ""), rest[1:].lstrip()
        grouped = bool(re.match("[0-9]{3}(?![0-9])", tail))
        _refuse(f"{brief(rest)} is not a unit.", _piece(rest, 0), "Write decimals with a point: "
                f"'{whole}.{tail}'{f', thousands without: {whole + tail!r}' * grouped}.")
    if rest == "1":
        _refuse(f"{text.strip()!r} holds two numbers.", rest, _ONE_NUMBER)
    if rest.startswith("/"):
        return number, f"1{rest}"
    if rest.startswith("*") and not rest.startswith("**"):
        return number, rest[1:].lstrip() or _refuse(f"{text.strip()!r} ends in '*'.", "*", "")
    return number, rest


def _refuse_number(text: str) -> NoReturn:
    """Refuse a value that does not begin with a number, saying what it begins with."""
    shown = brief(text.strip())
    problem, piece = f"{shown} cannot be read as a quantity.", text.strip()
    advice = "Write a number and a unit, such as '5 N' or '0.1 m/s'."
    if "{" in text:
        piece = text[text.index("{"):].partition("}")[0] + "}"
        problem = f"{shown} still holds {brief(piece)} where the number belongs."
        advice = f"Put an f in front of the text, f{text!r}, or give quantity(number, unit)." \
            if len(piece) > 2 and len(text) < 60 else "Fill the braces in, or give " \
            "quantity(number, unit)."  # fmt: skip
    elif _DASH.match(text.strip()):
        piece = text.strip()[0]
        problem = f"{shown} begins with {_named(piece)}, which is no minus sign."
        advice = f"Write {'-' + text.strip()[1:]!r} if that is what you mean."
    elif text.strip() and not text.strip()[0].isalpha():
        piece = _piece(text.strip(), 0)
        problem = f"{shown} cannot be read as a quantity: {brief(piece)} is no number."
    _refuse(problem, piece, advice)


def factors_of(text: str) -> dict[str, float]:
    """Names in a unit and the powers they are raised to; as ``piece`` of an UnknownUnit, the part
    that was not understood.

    >>> factors_of("kg*m^2/(s·A)")
    {'kg': 1, 'm': 2, 's': -1, 'A': -1}
    """
    _refuse_long(text)
    text = text.replace("−", "-").strip()
    return {} if text in ("", "1") else _Reader(text).read()


class _Reader:
    """Reads one unit from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.spaced = text, 0, False
        self.found: dict[str, float] = {}

    def read(self) -> dict[str, float]:
        for name, power in self.product(0):
            power += self.found.get(name, 0)
            self.found[name] = int(power) if power == int(power) else power
        if self.place < len(self.text):
            self.fail()
        if any(abs(p) > HIGHEST for p in self.found.values()):
            self.place = 0
            self.fail("{piece} has too high a power")
        return {name: p for name, p in self.found.items() if p}

    def token(self, *kinds: str) -> re.Match[str] | None:
        """The next token, if it is one of these kinds; it is then behind us."""
        start = self.place
        while start < len(self.text) and self.text[start].isspace():
            start += 1
        match = _TOKEN.match(self.text, start)
        if match is None or match.lastgroup not in kinds:
            return None
        self.spaced, self.place = start > self.place, match.end()
        return match

    def product(self, depth: int) -> list[tuple[str, float]]:
        factors, divided = self.factor(depth), False
        while True:
            before = self.place
            if self.token("over"):
                factors += [(name, -p) for name, p in self.factor(depth)]
                divided = True
            elif self.token("times"):
                factors += self.factor(depth)
            elif self.token("name", "open"):
                self.place, joined = before, self.spaced
                if not joined:
                    self.fail()
                if divided:
                    self.fail("it is not clear whether {piece} multiplies or divides",
                              "Write '*' between factors, and brackets: 'J/(kg*K)'.")  # fmt: skip
                factors += self.factor(depth)
            else:
                return factors

    def factor(self, depth: int) -> list[tuple[str, float]]:
        match = self.token("name", "open", "one")
        if match is None:
            self.fail()
        inside = [(match["name"], 1.0)] if match.lastgroup == "name" else []
        if match.lastgroup == "open":
            if depth == DEEPEST:
                self.fail("there are too many brackets within brackets at {piece}")
            inside = self.product(depth + 1)
            if not self.token("close"):
                self.fail()
        power = self.power()
        return [(name, p * power) for name, p in inside]

    def power(self) -> float:
        match = self.token("power", "raised")
        if match is None:
            return 1.0
        if match["raised"]:
            power = float(match["raised"].translate(_PLAIN))
        else:
            power = float(match["plain"] or match["top"])
            bottom = float(match["bottom"] or 1)
            power = power / bottom if bottom else float("inf")
        if abs(power) > HIGHEST:
            self.place = match.start()
            self.fail("{piece} is too high a power")
        if self.token("power", "raised"):
            self.place = match.start()
            self.fail("{piece} is a power of a power")
        return power

    def fail(self, why: str = "{piece} is not understood", advice: str = "") -> NoReturn:
        piece = _piece(self.text, self.place)
        problem = f"{brief(self.text)} is not a unit"
        if not piece:
            problem += ": it breaks off"
        elif self.place or "understood" not in why:
            problem += f": {why.format(piece=_named(piece))}"
        _refuse(f"{problem}.", piece, advice or _advice(self.text, piece))


def _piece(text: str, place: int) -> str:
    """What stands at a place, up to the next blank."""
    left = text[place:].lstrip()
    return (left.split(maxsplit=1) or [""])[0][:20]


def _named(piece: str) -> str:
    """A piece in quotes; with its name, where it looks like something else or like nothing."""
    if len(piece) == 1 and not piece.isascii():
        import unicodedata

        return f"{piece!r} ({unicodedata.name(piece, f'U+{ord(piece):04X}').lower()})"
    return brief(piece)


def _advice(text: str, piece: str) -> str:
    if text.startswith(","):
        return "Leave out the comma."
    if not piece or not piece.strip(".;:!?"):
        return "Leave it out." if piece else "Close brackets, and leave out what follows nothing."
    if piece[0] in "[{<":
        return "Units are not put in brackets: 'N*s/m'."
    if _DASH.match(piece):
        return "Write a minus sign, '-'."
    if re.match(r"[-+0-9(^]|[.:][0-9]|\*\*", piece):
        return _ONE_NUMBER
    return ANY_UNIT


def _refuse_long(text: str) -> None:
    if len(text) > LONGEST:
        _refuse(f"{brief(text)} is too long ({len(text):,} characters).", text[:20],
                "Write a number and a unit, such as '5 N' or '0.1 m/s'.")  # fmt: skip


def _refuse(problem: str, piece: str, advice: str) -> NoReturn:
    raise UnknownUnit("", problem, advice, piece=piece)
