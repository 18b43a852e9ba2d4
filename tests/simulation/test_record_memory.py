"""A record that would not fit into the memory thins itself and says so; values stay right."""

import warnings
from array import array

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_chosen_variables import MODELS, row

from benchmarks import models
from blocks import RecordWarning, SimulationError, quantity
from blocks.simulation.episode import OBJECTS
from blocks.simulation.record_memory import SHARE, allowed_bytes


def held(run):
    """Bytes of arrays that the episodes of a run keep, counted from outside."""
    seen, total = set(), 0
    todo = [e for episode in run.recording.episodes for e in vars(episode).values()]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            total += thing.nbytes if thing.base is None else 0
            todo += [] if thing.base is None else [thing.base]
        elif isinstance(thing, (list, tuple)):
            todo += thing
        elif isinstance(thing, array):
            total += thing.itemsize * len(thing)
        elif type(thing).__name__ in ("Trajectory", "Course", "Pieces", "RowBlocks"):
            todo += [v for name, v in vars(thing).items()
                     if name not in ("_scale", "_alive", "_work", "_equations", "_code")]
    return total


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])
def test_what_is_counted_is_what_is_held(method):
    run = row(20).simulate("5 s", method=method)
    assert run.statistics["record bytes"] - OBJECTS == pytest.approx(held(run), rel=0.15)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
@pytest.mark.parametrize("name", ["row", "on a belt", "landing rod", "Pendulum"])
def test_steps_that_can_be_taken_again_lose_nothing(name, method, monkeypatch):
    pytest.importorskip("llvmlite")
    model = MODELS[name]() if name != "row" else row(20)
    whole = model.simulate("2 s", method=method, rtol=1e-10)
    bound = int(0.85 * whole.statistics["record bytes"])
    monkeypatch.setattr("blocks.simulation.record_memory.allowed_bytes", lambda: bound)
    with pytest.warns(RecordWarning, match="Nothing is lost: steps are taken again"):
        run = model.simulate("2 s", method=method, rtol=1e-10)
    assert held(run) <= bound and run.statistics["record bytes"] <= bound
    assert run.statistics["record thinned"] >= 1
    assert run.statistics["record error"] == 0.0
    times = np.random.default_rng(3).uniform(0, 2, 100)
    for path in list(whole)[:12]:
        size = max(np.abs(whole[path].si).max(), 1.0)
        assert_allclose(run[path].si, whole[path].si, rtol=0, atol=1e-11 * size)
        assert_allclose(run[path].at(quantity(times, "s")).m,
                        whole[path].at(quantity(times, "s")).m, rtol=0, atol=1e-11 * size)
    assert_allclose([t.dissipated for t in run.recording.energy_terms()],
                    [t.dissipated for t in whole.recording.energy_terms()], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["ode45", "Radau"])
def test_polynomials_of_steps_together_say_how_far_they_are_off(method, monkeypatch):
    whole = row(60).simulate("5 s", method=method)
    bound = int(0.5 * whole.statistics["record bytes"])
    monkeypatch.setattr("blocks.simulation.record_memory.allowed_bytes", lambda: bound)
    with pytest.warns(RecordWarning, match="'record error' in the statistics"):
        run = row(60).simulate("5 s", method=method)
    assert held(run) <= bound
    off = run.statistics["record error"]
    assert 0 < off < 1e-2
    at = quantity(np.linspace(0, 5, 400), "s")
    nominal = 1.0  # m/s
    assert np.abs(run["masses.v"].at(at).m - whole["masses.v"].at(at).m).max() < 5 * off * nominal
    assert_array_equal(run["masses.v"].final.m, whole["masses.v"].final.m)


def test_what_cannot_be_thinned_ends_the_run_with_what_came_before(monkeypatch):
    model = MODELS["Follower"]()
    monkeypatch.setattr("blocks.simulation.record_memory.allowed_bytes", lambda: 20_000)
    with warnings.catch_warnings(), pytest.raises(SimulationError) as error:
        warnings.simplefilter("ignore", RecordWarning)
        model.simulate("60 s")
    assert error.value.code == "simulation.memory"
    assert "record=['spring.x']" in str(error.value)
    part = error.value.result
    assert part.status == "failed" and 0 < part.duration.m < 60
    path = next(p for p in part if p.endswith(".x"))
    whole = model.simulate("0.5 s", record=path)
    assert part[path].at("50 ms").m == pytest.approx(whole[path].at("50 ms").m, rel=1e-9)


def test_chosen_variables_are_thinned_too(monkeypatch):
    monkeypatch.setattr("blocks.simulation.record_memory.allowed_bytes", lambda: 20_000)
    monkeypatch.setattr("blocks.simulation.chosen_variables.MANY", 1000)
    with pytest.warns(RecordWarning, match="fewer steps are kept"):
        run = row().simulate("60 s", record="masses.v")
    assert run.statistics["record bytes"] <= 20_000
    assert 0 < run.statistics["record error"] < 1


def test_by_default_a_run_that_fits_is_kept_whole():
    assert 0 < allowed_bytes() < 1 << 50 and SHARE < 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", RecordWarning)
        run = row().simulate("5 s")
    assert "record thinned" not in run.statistics


@pytest.mark.slow
def test_a_long_run_of_a_large_chain_stays_within_its_bound(monkeypatch):
    pytest.importorskip("llvmlite")
    bound = 10_000_000
    monkeypatch.setattr("blocks.simulation.record_memory.allowed_bytes", lambda: bound)
    with pytest.warns(RecordWarning):
        run = models.chain_of_arrays(10_000).simulate("20 s", method="dopri5")
    assert held(run) <= bound
    assert run.statistics["record thinned"] > 1
