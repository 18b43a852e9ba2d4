"""What does a friction that slides come to, written for the way in which it slides?

There ``abs_(flow)`` is the flow itself, or its negative: so the law has no kink where the sliding
begins and ends, its derivative there is that of the motion, and viscous friction is linear.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ...numerics.rewriting import rewritten
from .law_expressions import LawExpressions

__all__ = ["one_sided"]

DEPTH = 20  # of expressions that are compared


def one_sided(laws: LawExpressions) -> LawExpressions:
    """The same laws, each in motion for its own way."""
    back, forth = (ca.vertcat(*(_with(law, flow, sense) for law, flow in zip(
        ca.vertsplit(all_laws), ca.vertsplit(laws.flow), strict=True)))
        for all_laws, sense in ((laws.back, -1), (laws.forth, 1)))
    return replace(laws, back=back, forth=forth)


def _with(law: ca.SX, flow: ca.SX, sense: int) -> ca.SX:
    """A law with ``sense * flow`` for every ``|flow|``."""
    def motion(operation: int, given: list[ca.SX]) -> ca.SX | None:
        same = operation == ca.OP_FABS and ca.is_equal(given[0], flow, DEPTH)
        return sense * flow if same else None

    return rewritten(law, motion)
