"""How does an element answer a sine, and where does a loop with it oscillate?

Describing functions of any component, by running it (:mod:`.describing`), and limit cycles of a
linear model with one (:mod:`.prediction`). Stands above the model, which it builds for every element.
"""

from .describing import DescribingFunction, describing_function
from .prediction import Crossing, Prediction, predict_limit_cycles

__all__ = ["Crossing", "DescribingFunction", "Prediction", "describing_function",
           "predict_limit_cycles"]  # fmt: skip
