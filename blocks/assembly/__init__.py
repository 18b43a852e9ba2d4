"""From a network to the smallest system that determines it.

flatten (slots and aliases) -> index (differentiate constraints) -> order (blocks, tearing) -> tape
(CasADi expressions). Each module can be read alone; none knows units, users or solvers.
"""

from .flatten import Flat, flatten
from .index_reduction import reduce_index
from .reduced import Reduced
from .tape import Tape, write_tape
from .writer import Writer

__all__ = ["Flat", "Reduced", "Tape", "Writer", "flatten", "reduce_index", "write_tape"]
