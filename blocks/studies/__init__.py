"""How do results depend on parameters? Many runs of one model.

``model.sweep(...)`` is the way in; ``load`` opens the folder of a study.

================  ===========================================================
settings          what of a model or its solver may be varied
axes              over which values: grid, list of points, or samples of distributions
outputs           what is kept of a run: reductions, courses on a common grid
runner            points in, outcomes out: in this process, one after the other
vectorised        many at once, in machine code; whether that can be (`batch_conditions`), what
                  is computed, and where varied values stand (`batch`)
sequential        with exact friction: one after the other, begun without what they share
executors         on a ``concurrent.futures`` executor or a Dask client
store             finished runs in a folder of Parquet files; resuming
identity          what a study belongs to
dataset           outcomes as an xarray Dataset with units
sweep             ties these together
================  ===========================================================

What runs points is a :class:`~blocks.studies.runner.RunsPoints`: it takes a plan and numbers of
points, and yields an :class:`~blocks.studies.runner.Outcome` for each in any order. Another one
needs nothing else from this wing.
"""

from .store import load
from .sweep import sweep

__all__ = ["load", "sweep"]
