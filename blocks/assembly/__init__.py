"""From a network to the smallest system that determines it.

flatten (slots and aliases) -> index (differentiate constraints) -> order
(blocks, tearing) -> tape (CasADi expressions). Each module can be read alone;
none knows units, users or solvers.
"""

from .flatten import Flat, flatten
from .index_reduction import Elements, Reduced, reduce_index
from .tape import Tape, write_tape

__all__ = ["Elements", "Flat", "Reduced", "Tape", "flatten", "reduce_index", "write_tape"]
