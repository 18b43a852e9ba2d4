"""Variables that are named are kept alone; a record that would not fit thins itself and says so."""

import gc
import re
import sys
import warnings
import weakref
from array import array

import numpy as np
import pytest
from benches import wired
from benches.parts import Carrier, Follower, alone
from benches.translational import oscillator
from numpy.testing import assert_allclose, assert_array_equal
from test_reading import MODELS as EXACT

import blocks
from benchmarks.cases import models
from blocks import Component, Parameter, RecordWarning, SimulationError, Variable, der, quantity
from blocks.exceptions import FileError, MissingPackage, ParameterError
from blocks.results import read_parquet
from blocks.simulation.episode_list import OBJECTS
from blocks.simulation.record_memory import SHARE, allowed_bytes
from library.translational import Mass, Reference, SpringDamper

PER_SECOND = quantity("1 1/s")


class Echo(Component):
    """dx/dt = -x(t - delay)."""

    delay = Parameter("0.1 s", above=0)
    x = Variable("1", "1")

    def equations(self):
        yield der(self.x) == -blocks.delayed(self.x, self.delay, initial=1.0) * PER_SECOND


class Pendulum(Component):
    """In Cartesian coordinates: one of the two is tied to the other."""

    x, y, vx, vy = Variable("m"), Variable("m"), Variable("m/s"), Variable("m/s")
    angle = Variable("rad", "1.2 rad", priority="high")
    rate, power = Variable("rad/s", "3 rad/s", priority="high"), Variable("W")

    def equations(self):
        length, g = quantity("1 m"), quantity("9.81 m/s**2")
        yield self.x == length * blocks.sin(self.angle)
        yield self.y == -length * blocks.cos(self.angle)
        yield self.vx == der(self.x)
        yield self.vy == der(self.y)
        yield self.rate == der(self.angle)
        yield der(self.rate) == -g / length * blocks.sin(self.angle)
        yield self.power == quantity("1 kg") * g * self.vy


class Ball(Component):
    """Bounces, and is drawn through a fluid of a tabled density."""

    h, v, drag, thick = Variable("m", "1 m"), Variable("m/s"), Variable("m/s**2"), Variable("1")

    def equations(self):
        yield der(self.h) == self.v
        yield self.thick == blocks.interpolate(blocks.time, quantity([0, 0.2, 0.31, 1], "s"),
                                               [0.1, 2, 0.3, 0.5])
        yield self.drag == self.thick * self.v * PER_SECOND
        yield der(self.v) == blocks.where(self.h > quantity("0.5 m"), 0.5, 1.0) * quantity(
            "-9.81 m/s**2") - self.drag
        yield blocks.when(self.h < quantity("0 m"), {self.v: -0.8 * self.v})


def row(count=6):
    return wired("row", "springs.R masses.M", "springs[1:].C masses[:-1].M",
                 "springs[0].C ground.V",
                 masses=Mass(count=count, v="1 m/s"), springs=SpringDamper(count=count),
                 ground=Reference())


MODELS = {**EXACT, "oscillator": oscillator, "row": row,
          **{kind.__name__: lambda kind=kind: alone(kind())
             for kind in (Echo, Pendulum, Ball)},
          "Follower": lambda: alone(Follower(period="10 ms", gain="30 1/s"))}
END = quantity(0.6, "s")


def compare(whole, kept, paths, off, sides=("left", "right")):
    """At the ends of episodes, both limits, and between, of runs that have kept these paths."""
    times = whole.recording.times
    times = np.unique(np.concatenate([np.linspace(0, times[-1], 301), times]))
    for path in paths:
        exact = whole[path]
        size = np.abs(exact.si).max()
        for side in sides:
            expected = exact.si_at(times, side, "test")
            for some in kept:
                assert_allclose(some[path].si_at(times, side, "test"), expected, rtol=0,
                                atol=off * size + 1e-300, err_msg=f"{path} {side}")


@pytest.mark.parametrize(("name", "method"), [
    *((name, "auto") for name in MODELS), ("oscillator", "DOP853"), ("Ball", "DOP853")])
def test_what_is_kept_is_what_the_whole_run_says(name, method, monkeypatch):
    """Found at the end of the run, and after every step."""
    model = MODELS[name]()
    whole = model.simulate(END, method=method)
    paths = list(whole)
    at_the_end = model.simulate(END, method=method, record=paths)
    monkeypatch.setattr("blocks.simulation.chosen_variables.MANY", 1)
    kept = [at_the_end, model.simulate(END, method=method, record=paths)]
    for some in kept:
        assert list(some) == paths
        assert_array_equal([e.time for e in some.events], [e.time for e in whole.events])
        assert some.statistics.steps == whole.statistics.steps
        assert some.statistics["record error"] < 2e-7
    compare(whole, kept, paths, 3e-7)


@pytest.mark.parametrize(("method", "step"), [("moreau_jean", "1 ms"), ("rk4", "2 ms")])
def test_fixed_steps_are_kept_too(method, step):
    model = EXACT["on a belt"]() if method == "moreau_jean" else MODELS["row"]()
    whole = model.simulate(END, method=method, step=step)
    some = model.simulate(END, method=method, step=step, record=list(whole))
    # efforts of time stepping jump from step to step: there a whole record has the left one only
    sides = ("left",) if method == "moreau_jean" else ("left", "right")
    compare(whole, [some], list(whole), 1e-6, sides)
    assert [e.time for e in some.events] == [e.time for e in whole.events]


@pytest.mark.parametrize("options", [{}, {"record": "springs.f"}])
def test_a_result_is_freed_when_it_is_let_go(options):
    model = row()
    model.simulate("1 s", **options)
    gc.collect()
    gc.disable()
    try:
        recording = weakref.ref(model.simulate("1 s", **options).recording)
        assert recording() is None
    finally:
        gc.enable()


def test_a_closed_form_is_met_between_samples_and_at_extremes():
    run = oscillator().simulate("10 s", rtol=1e-9, record=["spring.f", "body.v"])
    t = np.linspace(0, 10, 501)
    force = -4 * np.sin(2 * t)  # of 2 kg at 1 m/s on 8 N/m
    assert_allclose(np.abs(run["spring.f"].at(quantity(t, "s")).m), np.abs(force), atol=1e-7)
    assert run["spring.f"].max().m == pytest.approx(4, abs=1e-7)
    assert run["body.v"].rms().m == pytest.approx(np.sqrt(0.5 + np.sin(40) / 80), abs=1e-7)
    sampled = oscillator().simulate("10 s", rtol=1e-9, record="body.v", every="0.5 s")
    assert_allclose(sampled["body.v"].m, np.cos(2 * np.arange(21) / 2), atol=1e-7)


class Cornered(Component):
    """A sine of a turn a second, its size, and what is left of it between limits."""

    rate = Parameter("6.283185307179586 1/s")
    x, v = Variable("1", 0.0, priority="high"), Variable("1/s", "6.283185307179586 1/s",
                                                         priority="high")
    length, limited = Variable("1"), Variable("1")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == -self.rate**2 * self.x
        yield self.length == abs(self.x)
        yield self.limited == blocks.maximum(blocks.minimum(self.x, 0.6), -0.6)


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_corners_within_steps_are_kept_to_the_tolerance(rtol):
    """Nothing but what is recorded depends on them, so they are no events."""
    model = wired("cornered", part=Cornered())
    run = model.simulate("5 s", rtol=rtol, record=["part.x", "part.length", "part.limited"])
    t = quantity(np.linspace(0, 5, 20_001), "s")
    x = run["part.x"].at(t).m
    assert_allclose(run["part.length"].at(t).m, np.abs(x), atol=rtol)
    assert_allclose(run["part.limited"].at(t).m, np.clip(x, -0.6, 0.6), atol=rtol)
    assert run.statistics["record error"] <= rtol
    smooth = model.simulate("5 s", rtol=rtol, record=["part.x"])
    corners, piece = 10 + 20, 4 * 6 * 8  # a few pieces more for every corner, not one a halving
    assert run.statistics["record bytes"] < 3 * smooth.statistics["record bytes"] + (
        8 * corners * piece)


def test_only_what_was_named_is_listed_and_the_rest_is_refused_by_name():
    run = row().simulate("1 s", record=["masses[::2].v", "springs.f"])
    assert len(run) == 9 and "springs.f" in run and "springs[1].f" in run
    assert "springs.v" not in run and "masses.v" not in run
    assert run["masses[::2].v"].shape[0] == 3
    for path, missing in (("springs.v", "springs[0].v"), ("masses.v", "masses[1].v")):
        with pytest.raises(ParameterError) as error:
            run[path].final  # noqa: B018
        assert error.value.code == "result.not_kept"
        assert str(error.value) == (
            f"{missing}: was not kept: record= has named other variables of the run. Run it again "
            f"with record=[…, '{missing}'], or without record=.")
    with pytest.raises(blocks.UnknownName, match="masses.w"):
        run["masses.w"]
    for what in ("energy", "sticking"):
        with pytest.raises(ParameterError, match=rf"result.{what}\(\): needs variables of the "
                                                 "whole model, of which record= has kept 9"):
            getattr(run, what)()
    assert run.table(every="0.1 s").shape == (11, 9)


def test_modes_are_whole_numbers():
    run = EXACT["on a belt"]().simulate("3 s", record=["friction0.mode", "friction0.f"])
    assert set(np.unique(run["friction0.mode"].si)) <= {-1.0, 0.0, 1.0}
    slides = [e.time for e in run.events if e.element == "friction0.mode"][0]
    before, after = (run["friction0.mode"].at(quantity(slides, "s"), side=side).m
                     for side in ("left", "right"))
    assert (before, after) == (1, 0)  # the belt is faster until then
    with pytest.raises(ParameterError, match="friction1.mode: was not kept"):
        run["friction1.mode"].final  # noqa: B018


def test_memory_is_that_of_what_was_named():
    whole = row(300).simulate("20 s")
    run = row(300).simulate("20 s", record=["masses[0].v", "springs[7].f"])
    assert run.recording.episodes[0].trajectory.nbytes < 30_000
    assert run.statistics["record bytes"] < whole.statistics["record bytes"] / 20


def test_so_many_steps_become_one_polynomial_that_says_how_far_it_is_off():
    held, off = [], []
    whole = oscillator().simulate("20 s")
    t = quantity(np.linspace(0, 20, 1001), "s")
    for steps in (None, 1, 4, 16):
        run = oscillator().simulate("20 s", record="spring.f", record_every=steps)
        held.append(len(run.time))
        off.append(run.statistics["record error"])
        error = np.abs(run["spring.f"].at(t).m - whole["spring.f"].at(t).m).max() / 4
        assert error < 3 * off[-1] + 1e-12
    assert held[0] == held[1] > 3.9 * held[2] > 15 * held[3]
    assert off[1] < 1e-12 and off[2] < 1e-6 < off[3] < 1e-3


def test_a_run_goes_to_a_file_as_it_goes(tmp_path, monkeypatch):
    for module, name in (("chosen_variables", "MANY"), ("chosen_variables", "CHUNK")):
        monkeypatch.setattr(f"blocks.simulation.{module}.{name}", 500)
    monkeypatch.setattr("blocks.results.files.parquet_rows.GROUP", 64)
    parquet = pytest.importorskip("pyarrow.parquet")
    paths, file = ["spring0.f", "friction0.mode", "mass1.v"], tmp_path / "run.parquet"
    held = EXACT["on a belt"]().simulate("6 s", record=paths)
    run = EXACT["on a belt"]().simulate("6 s", record=paths, record_to=file)
    assert parquet.ParquetFile(file).num_row_groups > 5
    assert run.statistics["record bytes"] < held.statistics["record bytes"] / 2
    for path in paths:
        assert_allclose(run[path].si, held[path].si, rtol=1e-15)
        at = quantity(np.linspace(0, 6, 100), "s")
        assert_allclose(run[path].at(at).m, held[path].at(at).m, rtol=1e-12, atol=1e-14)
    table = read_parquet(file)
    assert list(table) == paths
    assert_array_equal(table.time.to("s").m, run.time.si)
    assert_allclose(table["mass1.v"].to("m/s").m, held["mass1.v"].to("m/s").m, rtol=1e-15)
    file.unlink()
    with pytest.raises(FileError, match="there is no such file"):
        run["mass1.v"].si  # noqa: B018


class Breaking(Component):
    """A root that has no value after a second."""

    x, y = Variable("s", "1 s"), Variable("1")

    def equations(self):
        yield der(self.x) == -1.0
        yield self.y == blocks.sqrt(self.x * PER_SECOND)


@pytest.mark.parametrize("often", [False, True])
def test_a_failed_run_has_kept_what_came_before(often, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    if often:
        monkeypatch.setattr("blocks.simulation.chosen_variables.MANY", 1)
    model, file = alone(Breaking()), tmp_path / "run.parquet"
    (path,) = (f"{name}.x" for name in model.parts)
    with pytest.raises(SimulationError) as error:
        model.simulate("3 s", max_step="0.1 s", record=path, record_to=file)
    assert error.value.result[path].at("0.5 s").m == pytest.approx(0.5)
    assert read_parquet(file)[path].m[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("options", "text"), [
    ({"record": []}, "simulate(record=…): takes paths of variables, but is []. Write for example "
                     "record=['spring.x', 'spring.f']."),
    ({"record": [3]}, "simulate(record=…): takes paths of variables, but is [3]. Write for example "
                      "record=['spring.x', 'spring.f']."),
    ({"record_every": 3}, "simulate(record_every=…): is about variables that are named. Name them: "
                          "record=['spring.x', 'spring.f']."),
    ({"record": "body.v", "record_every": "1 ms"},
     "simulate(record_every=…): is a number of steps, but is '1 ms'. Write for example "
     "record_every=10; sample times are every='1 ms'."),
    ({"record": "body.v", "record_to": 3},
     "simulate(record_to=…): is 3, which is no path. Give the name of a file, such as "
     "'run.parquet'.")])  # fmt: skip
def test_what_cannot_be_kept_is_refused_before_the_run(options, text):
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}$"):
        oscillator().simulate("1 s", **options)


def test_misspelt_paths_and_missing_folders_are_named(tmp_path, monkeypatch):
    with pytest.raises(blocks.UnknownName, match="Did you mean 'body.v'"):
        oscillator().simulate("1 s", record="body.vv")
    pytest.importorskip("pyarrow")
    with pytest.raises(FileError, match="has the ending '.csv', but what is written during a run "
                                        "ends with .parquet. Name it 'run.parquet'"):
        oscillator().simulate("1 s", record="body.v", record_to=tmp_path / "run.csv")
    with pytest.raises(FileError, match="there is no folder"):
        oscillator().simulate("1 s", record="body.v", record_to=tmp_path / "no" / "run.parquet")
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    with pytest.raises(MissingPackage, match="needs the package pyarrow"):
        oscillator().simulate("1 s", record="body.v", record_to=tmp_path / "run.parquet")


@pytest.mark.parametrize("method", ["auto", "rodas4", "DOP853"])
def test_events_by_the_thousand_are_kept_of_chosen_variables(method):
    model = wired("carrier", carrier=Carrier())
    run = model.simulate("0.2 s", method=method, record=["carrier.on"])
    assert run.statistics["events"] == 20_000 - 1
    t = np.random.default_rng(5).uniform(0, 0.2, 500)
    whole = np.floor(t / 20e-6)
    assert_allclose(run["carrier.on"].at(quantity(t, "s")).m_as("s"),
                    whole * 10e-6 + np.minimum(t - whole * 20e-6, 10e-6), rtol=0, atol=1e-10)


# -- a record in a bounded memory -------------------------------------------------------------
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
