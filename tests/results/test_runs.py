"""Do two runs ever mix?

Bodies thrown and braked: v = v0 - a t, x = v0 t - a t²/2, known at every time of every run.
"""

import copy
import pickle

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose

from blocks import Model, ParameterError, quantity
from blocks.exceptions import WrongDimension
from blocks.results import read_csv
from library.signal import Step
from library.translational import ForceSource, Mass, MotionSensor, Reference


def thrown(v0=1.0, count=None, name="thrown", jump=None, **options):
    """Under 3 N, with jumps of the force by 2 N at a time: masses of 1 kg (and 2 kg, …)."""
    model = Model(name)
    model.body = Mass(mass="1 kg" if count is None else quantity(np.arange(1, count + 1), "kg"),
                      v=quantity(v0, "m/s"), count=count)  # fmt: skip
    model.pull, model.floor = ForceSource(force="-3 N"), Reference()
    if count is not None:
        del model.pull
        model.pull = ForceSource(force="-3 N", count=count)
    wire(model, "body.M pull.R where.R", "floor.V pull.C where.C", where=MotionSensor(count=count))
    if jump is not None:
        wire(model, "step.y pull.S", step=Step(initial="-3 N", final="-5 N", start=jump))
    return model.simulate(options.pop("duration", "2 s"), **options)


def refusal(call):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.code == "result.runs"
    return str(caught.value)


def test_a_difference_of_runs_is_taken_at_the_times_of_the_left_one():
    a, b = thrown(1.0, every="0.25 s"), thrown(2.5, method="rk4", step="0.3 s")
    for left, right, gap in ((a, b, -1.5), (b, a, 1.5)):
        found = left["body.v"] - right["body.v"]
        assert_allclose(found.m, gap, rtol=1e-12)
        assert len(found.m) == len(left.time.m)
    ratio = (a["body.v"] - 1.5 * b["body.v"]).at("1.1 s")
    assert_allclose(ratio.m, 1 - 3.3 - 1.5 * (2.5 - 3.3), rtol=1e-12)


def test_runs_with_equally_many_samples_are_not_taken_sample_by_sample():
    a, b = thrown(every="0.1 s"), thrown(every="0.05 s", duration="4 s", start_time="-1 s")
    assert len(b["body.v"]) == 81 and len(a["body.v"]) == 21
    c = thrown(every="0.2 s", duration="4 s")
    assert len(c["body.v"]) == len(a["body.v"])
    assert_allclose((a["where.P"] - c["where.P"]).m, 0, atol=1e-12)
    assert_allclose((a["body.v"] * quantity("2 kg") - c["body.v"] * quantity("2 kg")).m, 0,
                    atol=1e-12)
    assert_allclose((abs(a["body.v"]) + -c["body.v"])[-1].to("m/s").m, 5 + 5, rtol=1e-12)


def test_a_jump_of_the_other_run_is_seen_from_both_sides():
    a, b = thrown(jump="1 s"), thrown(jump="1.5 s")
    for run, other, at in ((a, b, 1.0), (b, a, 1.5)):
        gap = run["pull.S"] - other["pull.S"]
        both = np.flatnonzero(run.time.m == at)
        assert len(both) == 2
        assert_allclose(np.diff(gap.m[both]), -2)
    assert_allclose((a["pull.S"] - b["pull.S"]).at(["0.9 s", "1.2 s", "1.7 s"]).m, [0, -2, 0])
    assert_allclose((a["pull.S"] - a["pull.S"]).m, 0)


def test_what_the_other_run_does_not_cover_is_refused_by_name():
    a, b = thrown(), thrown(duration="1 s")
    said = refusal(lambda: a["body.v"] - b["where.P"] / quantity("1 s"))
    assert "body.v" in said and "where.P" in said and "covers 0 s to 1 s" in said
    assert_allclose((b["body.v"] - a["body.v"]).m, 0, atol=1e-12)
    part = a["body.v"]["0 s":"1 s"] - b["body.v"]
    assert_allclose(part.m, 0, atol=1e-12)
    refusal(lambda: a.table("body.v", b["body.v"]))
    refusal(lambda: a.table("body.v", b["body.v"], times=["0.5 s", "1.5 s"]))
    assert a.table("body.v", b["body.v"], times=["0.5 s", "0.7 s"]).shape == (2, 2)


def test_times_of_one_run_are_no_times_of_another():
    a, b = thrown(), thrown(every="0.3 s")
    refusal(lambda: a["body.v"] * b.time)
    refusal(lambda: a.time == b.time)
    assert_allclose((a["body.v"] + a.time * quantity("3 m/s^2")).m, 1, rtol=1e-12)


def test_a_difference_of_runs_says_which_run_is_which():
    one, other = thrown(1.0), thrown(2.0)
    gap = one["body.v"] - other["body.v"]
    assert list(one.sample("body.v", gap)) == ["body.v", "body.v - body.v (run 2)"]
    assert (one["body.v"] - one["body.v"]).path == "body.v - body.v"


def test_a_zero_has_no_sign():
    run = thrown(0.0)
    zero = -1.0 * (run["body.v"] - run["body.v"])
    assert str(zero.final) == "0.0 meter / second" and not np.signbit(zero.m).any()


@pytest.mark.parametrize("call", [
    lambda a, b: np.concatenate([a, b]), lambda a, b: np.trapezoid(a, b),
    lambda a, b: np.allclose(a, b), lambda a, b: np.subtract.outer(a, b),
    lambda a, b: np.interp(b.time, a.time, a)])  # fmt: skip
def test_functions_that_know_no_times_refuse_two_runs(call):
    a, b = thrown()["body.v"], thrown()["body.v"]
    assert "at(times)" in refusal(lambda: call(a, b))


def test_functions_that_go_sample_by_sample_align_two_runs():
    a, b = thrown(1.0, every="0.2 s"), thrown(2.0)
    assert_allclose(np.maximum(a["body.v"], b["body.v"]).m, 2 - 3 * a.time.m, atol=1e-12)
    assert (a["body.v"] < b["body.v"]).all() and len(a["body.v"] < b["body.v"]) == 11


def test_a_table_reads_every_run_at_its_own_times_and_names_it(tmp_path):
    a, b = thrown(1.0), thrown(2.0, name="other")
    frame = a.table("body.v", b["body.v"], b["where.P"], every="0.5 s",
                    units={"body.v": "mm/s", "where.P (other)": "cm"})  # fmt: skip
    assert list(frame.columns) == ["body.v [mm/s]", "body.v (other) [mm/s]", "where.P (other) [cm]"]
    t = np.arange(5) / 2
    assert_allclose(frame.iloc[:, 0], 1000 - 3000 * t, atol=1e-9)
    assert_allclose(frame.iloc[:, 1], 2000 - 3000 * t, atol=1e-9)
    assert_allclose(frame.iloc[:, 2], 200 * t - 150 * t**2, atol=1e-7)
    a.to_csv(tmp_path / "both.csv", b["body.v"])
    back = read_csv(tmp_path / "both.csv")
    assert_allclose(back["body.v (other)"].m, 2 - 3 * a.time.m, atol=1e-12)


def test_runs_of_one_model_are_counted():
    a, b, c = thrown(1.0), thrown(2.0), thrown(3.0)
    frame = a.table(b["body.v"], "body.v", c["body.v"], times=["0 s", "1 s"])
    assert [h.split(" [")[0] for h in frame.columns] == [
        "body.v (run 2)", "body.v", "body.v (run 3)"]  # fmt: skip
    assert_allclose(frame.iloc[0], [2, 1, 3])


def test_an_array_of_another_run_keeps_its_rows():
    a, b = thrown(1.0, count=3), thrown(2.0, count=3, every="0.1 s")
    assert_allclose((a["body.v"] - b["body.v"]).m, -1, rtol=1e-9)
    data = a.to_xarray(b["body.v"], every="1 s")
    assert_allclose(data["body.v (run 2)"].values[:, -1], 2 - 6 / np.arange(1, 4), atol=1e-9)


def test_a_plot_draws_every_run_over_its_own_times():
    pytest.importorskip("matplotlib")
    a, b = thrown(1.0, every="0.5 s"), thrown(2.0, every="0.4 s", duration="4 s")
    figure = a.plot(["body.v", b["body.v"]])
    import matplotlib.pyplot as pyplot

    (ax,) = figure.axes
    mine, other = ax.get_lines()
    assert [mine.get_label(), other.get_label()] == [
        "body.v (body.v at the start = 1 m/s)", "body.v (body.v at the start = 2 m/s)"]
    assert_allclose(mine.get_ydata(), 1 - 3 * np.asarray(mine.get_xdata()), atol=1e-9)
    assert_allclose(other.get_ydata(), 2 - 3 * np.asarray(other.get_xdata()), atol=1e-9)
    assert other.get_xdata()[-1] == 4
    pyplot.close("all")


# -- arithmetic ---------------------------------------------------------------------------------
def test_a_product_of_series_is_known_between_the_samples():
    run = thrown(every="0.1 s")
    power = run["body.v"] * run["pull.S"]
    assert_allclose(power.at("0.73 s").to("W").m, -3 * (1 - 2.19))
    square = run["where.P"] * run["where.P"]  # (t - 1.5 t²)², 1/36 at t = 1/3
    assert_allclose(square["0 s":"0.6 s"].max().m, 1 / 36, rtol=1e-6)
    assert_allclose(power.mean().to("W").m, -3 * (1 - 3))
    assert_allclose(np.sqrt(run["body.v"] ** 2).at(["0 s", "0.5 s"]).m, [1, 0.5])
    assert power.path == "body.v * pull.S" and str(power.declared_unit) == "W"


def test_powers_and_signs_know_their_run_too():
    a, b = thrown(1.0, every="0.5 s"), thrown(1.0, every="0.4 s")
    per = quantity("1 m/s")
    assert_allclose((2 ** (a["body.v"] / per) - 2 ** (b["body.v"] / per)).m, 0, atol=1e-12)
    assert_allclose((np.sign(a["body.v"]) - np.sign(b["body.v"])).m, 0)
    assert_allclose(np.exp(a["body.v"] / per).at("1 s").m, np.exp(-2))


@pytest.mark.parametrize("wrong", [
    lambda v, f: v + f, lambda v, f: v - 1, lambda v, f: "2 N" + v, lambda v, f: np.maximum(v, f),
])  # fmt: skip
def test_what_cannot_be_added_is_refused_by_name(wrong):
    run = thrown()
    with pytest.raises(WrongDimension, match=r"body\.v.*is made of .*m/s"):
        wrong(run["body.v"], run["pull.f"])


def test_a_series_of_an_expression_is_plotted_and_tabulated():
    run = thrown(every="0.5 s")
    frame = run.table(run["body.v"] * 2, every="1 s")
    assert list(frame.columns) == ["body.v * 2 [m/s]"]
    assert_allclose(frame.iloc[:, 0], [2, -4, -10])


@pytest.mark.parametrize("options", [{}, {"every": "1 s"}])
def test_an_expression_is_tabulated_beside_what_it_is_made_of(options):
    run = thrown(every="0.5 s")
    frame = run.table("where.P", run["body.v"] * 2, run.time, **options)
    t = frame["time [s]"]
    assert_allclose(frame["body.v * 2 [m/s]"], 2 * (1 - 3 * t), atol=1e-9)
    assert_allclose(frame["where.P [m]"], t - 1.5 * t**2, atol=1e-9)


def test_arithmetic_with_arrays_gives_plain_quantities():
    run = thrown(every="0.5 s")
    doubled = run["body.v"] * np.array([2, 2, 2, 2, 2])
    assert not hasattr(doubled, "at")
    assert_allclose(doubled.m, 2 * run["body.v"].m)


# -- parts of a run -------------------------------------------------------------------------------
def test_a_part_of_a_run_begins_and_ends_where_it_is_cut():
    v = thrown(every="0.3 s")["where.P"]  # largest at 1/3 s
    part = v["0.2 s":quantity(400, "ms")]
    assert_allclose([part.initial.m, part.final.m], [0.2 - 0.06, 0.4 - 0.24])
    assert_allclose(part.max().m, 1 / 6, rtol=1e-6)
    assert_allclose(part.mean().m, (0.06 - 0.028) / 0.2)
    assert_allclose(part.time.m, [0.2, 0.3, 0.4])
    assert_allclose(v["1 s":].final.m, v.final.m)
    assert_allclose(v["0 s":"1 s":"0.25 s"].m, [0, 0.15625, 0.125, -0.09375, -0.5])
    assert_allclose(v["0.5 s"].m, v.at("0.5 s").m)
    with pytest.raises(ParameterError, match="after its end at 1 s"):
        v["1.5 s":"1 s"]
    with pytest.raises(ParameterError, match="outside the run"):
        v["1 s":"3 s"]


def test_a_part_that_ends_at_a_jump_ends_before_it():
    force = thrown(jump="1 s")["pull.S"]
    assert force["0 s":"1 s"].min().m == -3 and force["0 s":"1 s"].final.m == -3
    assert force["1 s":"2 s"].max().m == -5 and force["1 s":"2 s"].initial.m == -5
    assert_allclose(force["0.5 s":"1.5 s"].mean().m, -4)


def test_an_array_is_cut_like_a_single_variable():
    run = thrown(count=2, every="0.5 s")
    assert_allclose(run["body.v"]["1 s":"2 s"].m, [[-2, -3.5, -5], [-0.5, -1.25, -2]], atol=1e-9)
    assert_allclose(run["body.v"][1, "1 s":"2 s"].mean().m, -1.25)


def test_the_time_of_an_event_needs_no_unit():
    from blocks import where
    from library.signal import TimeFunction

    model = Model("switch")
    late = lambda t: t * t > quantity("2 s^2")  # noqa: E731
    model.y = TimeFunction(
        unit="V", value=lambda t: where(late(t), quantity("1 V"), quantity("0 V")))
    run = model.simulate("2 s")
    (event,) = run.events
    assert event.time == pytest.approx(2**0.5)
    y = run["y.y"]
    assert (y.at(event.time).m, y.at(event.time, side="left").m) == (1, 0)
    assert_allclose(y.at([event.time, "1 s"]).m, [1, 0])
    assert_allclose(y[event.time:].mean().m, 1)
    assert run.table("y.y", times=[event.time]).shape == (1, 1)


@pytest.mark.parametrize("store", [pickle.dumps, copy.deepcopy])
def test_a_result_that_cannot_be_stored_says_what_can(store):
    run = thrown()
    for thing in (run, run["body.v"], run["body.v"] * 2):
        with pytest.raises(ParameterError, match=r"result\.save\('run\.nc'\)") as caught:
            store(thing)
        assert caught.value.code == "result.pickle"
