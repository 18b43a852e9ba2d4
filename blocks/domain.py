"""Which across and through variables does a kind of port carry?

A domain is data: the engine knows no domain by name. Across variables of
joined ports are equal; through variables, counted positive into the component,
sum to zero at every node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .units import Unit, unit

__all__ = ["Domain"]


@dataclass(frozen=True, eq=False)
class Domain:
    """A physical domain.

    Parameters
    ----------
    name : str
        As shown in messages: ``"translational"``.
    across, through : mapping of str to unit text
        Variables of a conserving port, e.g. ``{"v": "m/s"}`` and ``{"f": "N"}``.
    reference : str
        Name of the component class that grounds a circuit, for the advice in
        messages; empty where circuits need no reference.
    colour : str
        Matplotlib colour in drawings.
    doc : str
        Sign convention in a sentence.

    Examples
    --------
    >>> hydraulic = Domain("hydraulic", across={"p": "Pa"}, through={"q": "m**3/s"})
    >>> hydraulic.across["p"].text
    'Pa'
    """

    name: str
    across: Mapping[str, str]
    through: Mapping[str, str]
    reference: str = ""
    colour: str = "tab:gray"
    doc: str = ""
    variables: dict[str, Unit] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        across = {k: unit(u) for k, u in self.across.items()}
        through = {k: unit(u) for k, u in self.through.items()}
        object.__setattr__(self, "across", across)
        object.__setattr__(self, "through", through)
        object.__setattr__(self, "variables", {**across, **through})

    def __str__(self) -> str:
        return self.name
