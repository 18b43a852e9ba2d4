"""Which mistakes of a model can be found without integrating it?

Takes the model, its network and, where it has one, the compiled system; gives
:class:`Findings`: what is wrong in the user's words, with one repair each. Sees
structure, values and the start; never integrates and never changes the model.

================  ==========================================================
``findings``      what is handed out: ``Finding``, ``Findings``, the codes
``words``         how equations, unknowns and physical quantities are named
``traits``        what a class does to its ports: hold, prescribe, conserve
``classes``       equations and unknowns of one class
``topology``      nodes and ports of a network with these traits
``conflicts``     sources that contradict each other
``network``       circuits, references, lone and shorted ports
``signals``       signal lines and loops
``singular``      the parts of a network without a unique solution
``not_finite``    what has no finite value, at a point or where a run stopped, and advice on it
``start``         initial targets, whether a run can start, what it refuses before it moves
``check``         the order of all these
================  ==========================================================
"""

from .check import check_model, structure_error
from .findings import SEVERITIES, Finding, Findings

__all__ = ["SEVERITIES", "Finding", "Findings", "check_model", "structure_error"]
