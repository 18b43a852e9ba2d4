"""How does an element answer a sine, and where does a loop with it oscillate?

Describing functions of any component, by running it (:mod:`.elements`), and limit cycles of a
linear model with one (:mod:`.prediction`), checked by runs; answers of whole models to sines
(:mod:`.sine_sweep`). Stands above the model, which it builds for an element.
"""

from .elements import DescribingFunction, describing_function
from .prediction import Crossing, Prediction, predict_limit_cycles
from .sine_sweep import SweptResponse, swept_response

__all__ = ["Crossing", "DescribingFunction", "Prediction", "SweptResponse", "describing_function",
           "predict_limit_cycles", "swept_response"]  # fmt: skip
