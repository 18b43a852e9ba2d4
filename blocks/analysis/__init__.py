"""What does an engineer ask of a model beside a run: where it rests, and how it answers there?

Operating points (:mod:`.operating_point`), linear models per mode of friction
(:mod:`.linearise`), frequency response, describing functions and limit cycles. Knows components by
their paths alone; derivatives are exact, by CasADi.
"""

from .describing import DescribingFunction, describing_function
from .limit_cycle import LimitCycle
from .linear_model import LinearModel
from .linearise import LinearModels
from .operating_point import OperatingPoint
from .pictures import root_locus
from .prediction import predict_limit_cycles
from .wishes import free

__all__ = ["DescribingFunction", "LimitCycle", "LinearModel", "LinearModels", "OperatingPoint",
           "describing_function", "free", "predict_limit_cycles", "root_locus"]  # fmt: skip
