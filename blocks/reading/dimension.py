"""What is the dimension of a value: powers of length, mass, time and the other base dimensions?

Equal to pint's own, and made without it: pint takes longer to load than the description of a
model, and is needed only where a unit is read by its name or a quantity is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Dimension"]


class Dimension(Mapping[str, Any]):
    """Powers of base dimensions by name, ``{"[length]": 1, "[time]": -1}``; none is zero."""

    __slots__ = ("_hash", "_powers")

    def __init__(self, powers: Mapping[str, Any] | None = None) -> None:
        self._powers = {name: power for name, power in (powers or {}).items() if power}
        self._hash = hash(frozenset(self._powers.items()))

    def __getitem__(self, name: str) -> Any:
        return self._powers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._powers)

    def __len__(self) -> int:
        return len(self._powers)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dimension):
            return self._powers == other._powers
        return isinstance(other, Mapping) and self._powers == dict(other)

    def __mul__(self, other: Mapping[str, Any]) -> Dimension:
        return self._with(other, 1)

    def __truediv__(self, other: Mapping[str, Any]) -> Dimension:
        return self._with(other, -1)

    def __pow__(self, exponent: Any) -> Dimension:
        return Dimension({name: power * exponent for name, power in self._powers.items()})

    def _with(self, other: Mapping[str, Any], sign: int) -> Dimension:
        powers = dict(self._powers)
        for name, power in other.items():
            powers[name] = powers.get(name, 0) + sign * power
        return Dimension(powers)

    def __repr__(self) -> str:
        return f"Dimension({self._powers})"

    def __str__(self) -> str:
        return " * ".join(f"{name} ** {power:g}" for name, power in sorted(
            self._powers.items())) or "dimensionless"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self._powers,)
