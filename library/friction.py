"""What translational and rotational friction share: the choice of a law and its strengths."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from blocks import Input, Option, Parameter, Replaceable, Variable, maximum

from .frictionlaws import LAWS
from .heat import Dissipative

__all__ = ["Rubbing", "needs"]

STICKY = 5  # breakaway over Coulomb strength above which one of them may be forgotten


def needs(strength, *, normal=None):
    """Whether the chosen law has a strength, given as force (``normal=False``) or coefficient."""
    def exists(c):
        return strength in c.kind.uses and (normal is None or bool(c.normal) == normal)

    return exists


class Rubbing(Dissipative):
    """Base of friction components: law, normal force, strengths, heat.

    A subclass with two ports names its variables by the properties ``effort`` and
    ``flow`` and its strengths by ``strength`` (of "coulomb" and "breakaway").
    """

    units: ClassVar[dict[str, str]]

    law = Replaceable("simscape", lambda: LAWS, doc="friction law")
    normal = Option(False, doc="strengths are coefficients of friction, times the normal force")
    coulomb_coefficient = Parameter(0.4, minimum=0, when=needs("coulomb", normal=True),
                                    doc="Coulomb force over normal force")  # fmt: skip
    breakaway_coefficient = Parameter(0.5, minimum=0, when=needs("breakaway", normal=True),
                                      doc="Breakaway force over normal force")  # fmt: skip
    normal_force = Parameter("50 N", minimum=0, varying=True, when="normal", doc="Normal force")
    N = Input("N", default="normal_force", when="normal", doc="normal force")
    strength_at_rest = Variable(lambda c: c.units["force"], when=lambda c: c.comes_near,
                                doc="largest load that rest should bear")  # fmt: skip
    band_of_rest = Variable(lambda c: c.units["velocity"], when=lambda c: c.comes_near,
                            doc="largest velocity that stands for rest")  # fmt: skip

    @property
    def comes_near(self):
        """Whether the law has a band of velocity in which it comes near to sticking."""
        return not self.kind.exact and self.kind.banded()

    @property
    def kind(self):
        """The class of the law."""
        law: Any = self.law
        return type(self).law.named[law] if isinstance(law, str) else law

    def strength(self, name):
        """Strength called "coulomb" or "breakaway"."""
        raise NotImplementedError

    @property
    def coulomb(self):
        return self.strength("coulomb")

    @property
    def breakaway(self):
        return self.strength("breakaway")

    def by_normal_force(self, name):
        """Coefficient times normal force; a surface does not rub while it is pulled off."""
        coefficient: Any = getattr(self, f"{name}_coefficient")
        return coefficient * maximum(self.N, 0)  # type: ignore[arg-type]

    def verify(self):
        yield from self._strengths_told(
            lambda static, kinetic: static < kinetic,
            "{0} is {2} and thus below {1}, which is {3}. Friction at rest is at least that of "
            "sliding: raise {0} or lower {1}.")
        yield from self.kind().verify(self)

    def advise(self):
        yield from self._strengths_told(
            lambda static, kinetic: static > STICKY * kinetic,
            f"{{0}} is {{2}}, more than {STICKY} times {{1}}, which is {{3}}. If one of them is "
            "the default, give both.")
        yield from self.kind().advise(self)

    def _strengths_told(self, wrong, words):
        """The words with both names and values, where the strengths are so at any instance."""
        if {"coulomb", "breakaway"} <= set(self.kind.uses):
            kind = "coefficient" if self.normal else self.units["strength"]
            names = f"breakaway_{kind}", f"coulomb_{kind}"
            values = tuple(getattr(self, name) for name in names)
            if np.any(wrong(*values)):
                shown = (f"{x:~P}" if hasattr(x, "units") else x for x in values)
                yield words.format(*names, *shown)

    def equations(self):
        law = self.kind()
        yield from law.equations(self)
        if self.comes_near:
            yield self.strength_at_rest == law.borne(self)
            yield self.band_of_rest == law.scale(self)
        yield self.power_dissipated == self.effort * self.flow - law.power_stored(self)  # type: ignore[attr-defined]
