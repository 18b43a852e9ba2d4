"""What does an engineer ask of a model beside a run: where it rests, and how it answers there?

Operating points (:mod:`.operating_point`), linear models per mode of friction
(:mod:`.linearise`), frequency response (:mod:`.pictures`), motions that repeat
(:mod:`.limit_cycle`), sensitivities, fits and designs. Knows components by their paths alone; derivatives are exact, by CasADi.
"""

from .limit_cycle import LimitCycle
from .linear_model import LinearModel
from .linearise import LinearModels
from .operating_point import OperatingPoint
from .pictures import root_locus
from .wishes import free

__all__ = ["LimitCycle", "LinearModel", "LinearModels", "OperatingPoint", "free", "root_locus"]
