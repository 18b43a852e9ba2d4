"""A method that machine code carries out serves one run of a system after the other.

What a run has recorded stays what it was while others are made, and no run knows of the last one.
"""

import gc
import weakref

import numpy as np
import pytest

from benchmarks import models, planar
from blocks import Model
from blocks.exceptions import SimulationError
from blocks.results import Result

CASES = {
    "explicit": (lambda: models.chain_of_arrays(3), "springs.stiffness", "3 kN/m", "dopri5"),
    "implicit": (lambda: models.chain_of_arrays(3), "springs.stiffness", "3 kN/m", "rodas4"),
    "exact friction": (models.block_on_belt, "spring.stiffness", "300 N/m", "auto"),
    "friction under a load": (planar.disc, "touch.friction", "0.3", "auto"),
    "known instants": (lambda: models.alone(models.Positioning()), "part.period", "2 ms", "auto"),
}  # fmt: skip


def _set(model: Model, path: str, value: str) -> None:
    part, name = path.split(".")
    setattr(getattr(model, part), name, value)


def _seen(result: Result) -> list[bytes]:
    """All variables, also between the ends of steps, to the last bit."""
    times = np.linspace(0.0, 0.3, 101)
    count = len(list(result.variables))
    return [result.recording.times.tobytes(),
            result.recording.values(range(count), times).tobytes(),
            str([*result.recording.events]).encode()]


@pytest.mark.parametrize("case", CASES)
def test_a_run_is_as_if_it_were_the_first_and_stays_what_it_was(case: str) -> None:
    build, path, other, method = CASES[case]
    model = build()
    runs = [model.simulate("0.3 s", method=method)]
    _set(model, path, other)
    runs += [model.simulate("0.3 s", method=method) for _ in range(3)]
    alone = build()
    first = _seen(alone.simulate("0.3 s", method=method))
    changed = build()
    _set(changed, path, other)
    second = _seen(changed.simulate("0.3 s", method=method))
    assert first != second
    assert [_seen(run) for run in runs] == [first, second, second, second]


def test_a_run_that_fails_leaves_nothing_to_the_next_one() -> None:
    model = models.block_on_belt()
    expected = _seen(model.simulate("0.3 s"))
    model.simulate("0.3 s")
    model.spring.stiffness = "1e300 N/m"
    with pytest.raises(SimulationError):
        model.simulate("0.3 s", method="dopri5")
    model.spring.stiffness = "100 N/m"
    assert _seen(model.simulate("0.3 s")) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_method_between_two_runs_keeps_no_record(case: str) -> None:
    build, *_, method = CASES[case]
    model = build()
    for _ in range(2):
        result = model.simulate("0.3 s", method=method)
    courses = [weakref.ref(one) for one in result.recording.episodes.courses]
    del result
    gc.collect()
    assert not any(course() for course in courses)
