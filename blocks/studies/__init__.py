"""How do results depend on parameters? Many runs of one model.

``model.sweep(...)`` is the way in; ``load`` opens the folder of a study.

===========  ================================================================
axes         what is varied: grid, list of points, or samples of distributions
outputs      what is kept of a run: reductions, courses on a common grid
runner       points in, outcomes out: in this process, one after the other
spread       the same on a ``concurrent.futures`` executor or a Dask client
store        finished runs in a folder of Parquet files; resuming
identity     what a study belongs to
dataset      outcomes as an xarray Dataset with units
sweep        ties these together
===========  ================================================================

A *runner* has one method, ``run(points)``, that takes ``(number, values)`` pairs and
yields an :class:`~blocks.studies.runner.Outcome` for each in any order. Another one,
such as many small models integrated as one batch, needs nothing else from this room.
"""

from .store import load
from .sweep import sweep

__all__ = ["load", "sweep"]
