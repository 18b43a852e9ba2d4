"""What are the series of several runs called in one picture?

By what their runs were made with: ``"block.v (friction.coulomb_force = 20 N)"``. Where that
takes too many words, or nothing differs, by the name or the number of the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..parameters import differences, in_few_words
from ..recording import Curves, Recording
from ..values.runs import headings
from ..values.samples import Samples
from ..values.views import run_of

__all__ = ["legends"]


def legends(asked: Curves, chosen: Sequence[Samples]) -> list[str]:
    """The path of every series, and of which run it is where there are several."""
    runs: list[Recording] = []
    for series in chosen:
        run = run_of(series.rows.source)
        if not any(run is other for other in runs):
            if not isinstance(run, Recording):
                return headings(asked, chosen)
            runs.append(run)
    if len(runs) == 1:
        return headings(asked, chosen)
    made = [run.made_with() for run in runs]
    found = differences(made)
    words = [in_few_words(found, k) for k in range(len(made))]
    if not all(words) or len(set(words)) < len(words):
        return headings(asked, chosen)
    of = {id(run): f" ({text})" for run, text in zip(runs, words, strict=True)}
    return [series.path + of[id(run_of(series.rows.source))] for series in chosen]
