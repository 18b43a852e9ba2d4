"""Runs know what they were made with, where they are apart, and stay so when models are edited."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import ParameterError, Target, UnknownName, compare, load, quantity
from blocks.exceptions import WrongCall, WrongDimension
from blocks.simulation.given_values import GivenValues
from blocks.simulation.settings import Options
from library.mechanisms import LeadScrew
from library.planar import Body
from library.signal import Step


def thrown(v0="1 m/s", force="-3 N", mass="1 kg", jump=None, duration="2 s", count=None,
           name="thrown", **options):
    model = wired(name, "body.M pull.R where.R", "floor.V pull.C where.C",
                  body=tr.Mass(mass=mass, v=v0, count=count), floor=tr.Reference(),
                  pull=tr.ForceSource(force=force, count=count), where=tr.MotionSensor(count=count))
    if jump is not None:
        wire(model, "step.y pull.S", step=Step(initial="0 N", final="2 N", start=jump))
    return model.simulate(duration, **options)


# -- what a run was made with --------------------------------------------------------------------
def test_a_run_keeps_the_parameters_it_was_made_with():
    model = wired("block", block=tr.Mass(mass="2 kg", v="300 mm/s"))
    result = model.simulate("1 s", rtol=1e-8)
    model.block.mass = "5 kg"
    model.block.v = "1 m/s"
    assert result.parameters["block.mass"] == quantity("2 kg")
    assert result.parameters.starts["block.v"] == quantity("300 mm/s")
    assert str(result.parameters.starts["block.v"].units) == "millimeter / second"
    assert result.parameters.settings["rtol"] == 1e-8
    assert model.simulate("1 s").parameters["block.mass"] == quantity("5 kg")


def test_a_misspelt_parameter_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"thrown: there is no 'body.mas' among its parameters. "
                                          r"Did you mean 'body.mass'"):
        thrown().parameters["body.mas"]


def test_a_parameter_asked_of_a_run_is_named_as_one():
    with pytest.raises(UnknownName, match=r"'body.mass' is a parameter, which has one value in a "
                                          r"run\. Write result\.parameters\['body\.mass'\]"):
        thrown()["body.mass"]


def test_parameters_are_a_table_to_read():
    text = repr(thrown(v0="300 mm/s").parameters)
    assert "body.mass" in text and "1 kg" in text
    assert "body.v at the start" in text and "300 mm/s" in text


def test_options_and_parts_of_composites_are_among_the_parameters():
    model = wired("press", screw=LeadScrew(), rub=tr.TranslationalFriction(law="stribeck"))
    made = GivenValues(model, "1 s", Options()).made_with()
    assert made.parameters["rub.law"] == "stribeck"
    assert made.types["screw"] == "LeadScrew"
    assert any(path.startswith("rub.") and "velocity" in path for path in made.parameters)


def test_differences_name_what_is_not_equal_in_any_unit():
    a, b = thrown(mass="2 kg"), thrown(v0="100 cm/s", mass="2000 g", duration="2000 ms")
    assert len(a.differences(b)) == 0
    table = a.differences(thrown(v0="2 m/s", mass="2.5 kg", rtol=1e-8))
    assert table.columns == {
        "what": ["body.mass", "body.v at the start", "simulate(rtol=…)"],
        "this run": ["2 kg", "1 m/s", "1e-06"], "the other": ["2.5 kg", "2 m/s", "1e-08"],
    }  # fmt: skip


def test_components_that_only_one_run_has_are_named_once():
    table = thrown().differences(thrown(jump="1 s"))
    assert table.columns["what"] == ["step"]
    assert table.columns["this run"] == ["—"] and table.columns["the other"] == ["Step"]


def test_priorities_and_functions_are_compared():
    soft = thrown(v0=Target("1 m/s", priority="low"))
    assert thrown().differences(soft).columns["the other"] == ["1 m/s (low)"]

    def wave(size):
        return lambda t: size * quantity("1 N")

    same = [thrown(force=wave(2.0)) for _ in range(2)]
    assert len(same[0].differences(same[1])) == 0
    assert same[0].differences(thrown(force=wave(3.0))).columns["what"] == ["pull.force"]


# -- comparing -----------------------------------------------------------------------------------
def test_the_largest_difference_and_its_time():
    a, b = thrown(), thrown(v0="2.5 m/s", every="0.7 s")
    both = compare({"slow": a, "fast": b}, "body.v", "where.P")
    speed, place = both.gaps
    assert speed.difference.to("m/s").m == pytest.approx(1.5, rel=1e-9)
    assert speed.share == pytest.approx(1.5 / 5)  # |v| is 5 m/s at the end of the first
    assert place.difference.to("m").m == pytest.approx(3.0, rel=1e-9)
    assert place.time.to("s").m == 2.0
    assert both.table.columns["largest difference"][1] == "3 m"
    assert "'fast' minus 'slow', from 0 s to 2 s" in repr(both)
    assert "body.v at the start" in repr(both)


def test_a_jump_is_seen_from_both_sides():
    a, b = thrown(jump="1 s"), thrown(jump="1.5 s")
    (gap,) = compare({"early": a, "late": b}, "pull.S").gaps
    assert gap.difference.to("N").m == -2
    assert 1.0 <= gap.time.to("s").m <= 1.5
    short = compare({"early": thrown(jump="1 s", duration="1 s"), "late": b}, "pull.S").gaps[0]
    assert short.difference.m == 0


def test_only_the_common_time_is_compared():
    a, b = thrown(), thrown(v0="2 m/s", duration="1 s")
    (gap,) = compare({"long": a, "short": b}, "where.P").gaps
    assert gap.difference.to("m").m == pytest.approx(1.0) and gap.time.to("s").m == 1.0
    later = thrown(duration="1 s", start_time="5 s")
    with pytest.raises(ParameterError, match="no time in common: 'a' 0 s to 2 s, 'b' 5 s to 6 s"):
        compare({"a": a, "b": later}, "body.v")


def test_the_instance_of_an_array_that_is_furthest_away():
    a = thrown(mass=quantity([1, 2, 4], "kg"), count=3)
    (gap,) = compare({"a": a, "b": thrown(mass=quantity([1, 3, 4], "kg"), count=3)}, "body.v").gaps
    assert gap.path == "body[1].v"
    assert gap.difference.to("m/s").m == pytest.approx(-3 * 2 / 3 + 3 * 2 / 2)
    with pytest.raises(ParameterError, match="has 3 instances in 'a', but 1 in 'b'"):
        compare({"a": a, "b": thrown()}, "body.v")


def test_equal_runs_have_no_time_of_difference():
    both = compare({"a": thrown(), "b": thrown()}, "body.v")
    assert both.table.columns["at"] == ["—"]
    assert "made with equal parameters" in repr(both)


def test_many_runs_are_told_in_rows_the_most_different_first(pyplot):
    runs = {f"{k} kg": thrown(mass=f"{k} kg") for k in range(1, 25)}
    both = compare(runs, "body.v")
    assert both.table.columns["run"][:2] == ["24 kg", "23 kg"]
    assert "the largest first" in both.table.note
    assert both.differences.columns["run"] == list(runs)
    assert both.differences.columns["body.mass"][0] == "1 kg"
    (legend,) = both.plot().legends
    assert len(legend.get_texts()) == 2  # the first and the last
    few = compare(dict(list(runs.items())[:3]), "body.v")
    assert list(few.differences.columns) == ["what", "1 kg", "2 kg", "3 kg"]


def test_without_names_what_plot_draws_is_compared():
    assert "body.v" in compare({"a": thrown(), "b": thrown(v0="2 m/s")}).paths


def test_what_cannot_be_compared_is_refused_in_words():
    a = thrown()
    with pytest.raises(WrongCall, match=r"Name them: compare\({\"dry\": a"):
        compare(thrown(), thrown(), "body.v")
    with pytest.raises(WrongCall, match=r"Name them: compare\({\"dry\": a"):
        compare([a, a], "body.v")
    with pytest.raises(ParameterError, match="needs two runs or more, but was given 1"):
        compare({"a": a}, "body.v")
    with pytest.raises(ParameterError, match="compares results of runs, but was given 3"):
        compare({"a": a, "b": 3}, "body.v")
    with pytest.raises(UnknownName, match="Did you mean 'body.v'"):
        compare({"a": a, "b": a}, "bod.v")
    model = wired("thrown", body=LeadScrew())
    with pytest.raises(ParameterError, match="compares results"):
        a.differences(model)


def test_variables_of_two_dimensions_are_refused():
    from benches.recorded import result

    other = result()
    infos = other.recording.catalog
    infos["body.v"] = infos["spring.f"]
    with pytest.raises(WrongDimension, match="body.v: is in m/s in 'a', but in N in 'b'"):
        compare({"a": thrown(), "b": other}, "body.v")


# -- pictures ------------------------------------------------------------------------------------
@pytest.fixture
def pyplot():
    found = pytest.importorskip("matplotlib.pyplot")
    found.switch_backend("agg")
    yield found
    found.close("all")


def test_a_comparison_has_an_axes_for_each_variable_and_one_legend(pyplot):
    runs = {"slow": thrown(), "fast": thrown(v0="2.5 m/s")}
    figure = compare(runs, "body.v", "where.P").plot(units={"where.P": "mm"})
    assert [ax.get_ylabel() for ax in figure.axes] == ["body.v [m/s]", "where.P [mm]"]
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == [
        "slow (body.v at the start = 1 m/s)", "fast (body.v at the start = 2.5 m/s)"]
    assert all(ax.get_legend() is None for ax in figure.axes)
    slow, fast = figure.axes[0].get_lines()
    assert_allclose(fast.get_ydata(), 2.5 - 3 * np.asarray(fast.get_xdata()), atol=1e-9)
    assert slow.get_linestyle() != fast.get_linestyle()


def test_series_of_several_runs_say_what_differs(pyplot):
    a, b = thrown(mass="1 kg"), thrown(mass="2 kg")
    (ax,) = a.plot("body.v", b["body.v"]).axes
    assert [line.get_label() for line in ax.get_lines()] == [
        "body.v (body.mass = 1 kg)", "body.v (body.mass = 2 kg)"]
    (ax,) = a.plot("body.v", thrown(mass="1 kg")["body.v"]).axes  # nothing differs
    assert [line.get_label() for line in ax.get_lines()] == ["body.v", "body.v (run 2)"]


def test_a_plot_goes_into_given_axes(pyplot):
    run = thrown()
    figure, axes = pyplot.subplots(2)
    assert run.plot("body.v", ax=axes[0]) is figure
    assert axes[0].get_title() == "" and axes[0].get_xlabel() == "time [s]"
    assert axes[1].get_lines()[:] == []
    both = run.plot("body.v", "where.P", ax=axes)
    assert both is figure and axes[1].get_ylabel() == "where.P [m]"
    series = run["where.P"].plot(ax=pyplot.subplots()[1], units="mm")
    assert series.axes[0].get_ylabel() == "where.P [mm]"
    with pytest.raises(ParameterError, match=r"draws 2 axes, one for each dimension \(m/s, m\), "
                                             r"but was given 1"):
        run.plot("body.v", "where.P", ax=axes[0])
    with pytest.raises(ParameterError, match="takes axes of matplotlib, but was given 'left'"):
        run.plot("body.v", ax="left")


# -- what is read of a run after an edit ------------------------------------------------------
def held_by_two(friction="tanh"):
    """A block between two springs, on a floor."""
    model = wired("held", block=tr.Mass(mass="1 kg", v="1 m/s"), floor=tr.Reference(),
                  soft=tr.Spring(stiffness="100 N/m", x="1 mm"),
                  stiff=tr.Spring(stiffness="300 N/m", x="-5 mm"),
                  rub=tr.TranslationalFriction(law=friction))
    join(model, "soft", "stiff", "rub")
    return model


def join(model, *names):
    model.connect(model.block.M, *(model[name].R for name in names))
    model.connect(model.floor.V, *(model[name].C for name in names))


def exchange(model):
    """The names of two parts."""
    soft, stiff = model.soft, model.stiff
    del model.soft, model.stiff
    model.soft, model.stiff = stiff, soft
    join(model, "soft", "stiff")


def add_and_connect(model):
    wire(model, "more.M block.M", "soft.R soft.C", free=tr.Mass(mass="1 kg"),
         more=tr.Mass(mass="1 kg"))


def replace(model):
    del model.stiff
    model.stiff = tr.Damper()
    join(model, "stiff")


def choose(model):
    """Another law, and other values."""
    model.rub.law = "coulomb"
    model.soft.stiffness, model.block.mass = "7 N/m", "9 kg"


EDITS = [exchange, add_and_connect, replace, choose]


def everything(result, folder):
    """What a run says, by where it says it."""
    result.save(folder / "run.nc")
    result.to_csv(folder / "run.csv")
    kept = load(folder / "run.nc")
    page = result.report().html
    return {"table": result.table(every="10 ms").to_csv(),
            "file": kept.table(every="10 ms").to_csv(), "file of parameters": str(kept.parameters),
            "csv": (folder / "run.csv").read_text(), "variables": str(result.variables),
            "dataset": str(result.to_xarray()), "parameters": str(result.parameters),
            "energy": str(result.energy()), "sticking": str(result.sticking()),
            "events": str(result.events), "shapes": repr(result.recording.shapes()),
            "scene": [len(axes.lines) for axes in result.draw("0 s").axes],
            "curves": [axes.get_ylabel() for axes in result.plot().axes],
            "schematic": page[page.index('id="network"') : page.index('id="panels"')]}


@pytest.fixture(scope="module")
def unedited(tmp_path_factory):
    return everything(held_by_two().simulate("50 ms"), tmp_path_factory.mktemp("unedited"))


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_run_says_the_same_after_an_edit(edit, unedited, tmp_path):
    model = held_by_two()
    result = model.simulate("50 ms")
    edit(model)
    said = everything(result, tmp_path)
    for name, value in unedited.items():
        assert said[name] == value, name
    for name, stiffness in (("soft", 100.0), ("stiff", 300.0)):
        assert_allclose(result[f"{name}.f"].m, stiffness * result[f"{name}.x"].m, atol=1e-12)


def test_a_run_between_an_edit_and_the_next_is_its_own(tmp_path):
    model = held_by_two()
    before = model.simulate("0.3 s")
    exchange(model)
    after = model.simulate("0.3 s")
    before.save(tmp_path / "before.nc")
    for run in (before, load(tmp_path / "before.nc")):
        for mine, its in (("soft", "stiff"), ("stiff", "soft")):
            assert_allclose(run[f"{mine}.f"].final.m, after[f"{its}.f"].final.m, rtol=1e-9)
            assert run.parameters[f"{mine}.stiffness"] == after.parameters[f"{its}.stiffness"]


def test_arrays_and_parts_of_composites_keep_their_numbers():
    model = wired("row", blocks=tr.Mass(mass="1 kg", v=quantity([1.0, 2.0, 3.0], "m/s"), count=3))
    result = model.simulate("1 s")
    blocks = model.blocks
    del model.blocks
    model.blocks, model.others = tr.Mass(v="7 m/s"), blocks
    assert [result[f"blocks[{k}].v"].final.m for k in range(3)] == [1.0, 2.0, 3.0]
    assert result["blocks.v"].m.shape[0] == 3
    assert "others.v" not in result and "blocks.v" in result


def test_points_and_linear_models_keep_their_names():
    model = held_by_two()
    point = model.operating_point()
    linear = model.linearise(["soft.stiffness"], ["stiff.x"])
    equations = model.equations()
    exchange(model)
    del model.rub
    other = held_by_two()
    assert str(point) == str(other.operating_point())
    assert str(linear) == str(other.linearise(["soft.stiffness"], ["stiff.x"]))
    assert str(equations) == str(other.equations())


def test_shapes_are_drawn_with_the_names_and_values_of_the_run():
    model = wired("thrown", body=Body(center_x="0.1 m", vx="1 m/s"))
    result = model.simulate("0.1 s")
    model.body.center_x = "0.3 m"
    del model.body
    line, mark = result.recording.shapes()
    assert line.points.max() == 0.1 and mark.point[0] == 0.1
    handles = [result[f"body.{name}"].infos[0].index for name in ("x", "y", "phi")]
    assert list(line.frame_at) == handles


def test_a_rebound_that_two_runs_place_a_little_apart_is_one():
    model = wired("wall", "body.M wall.R", "wall.C ground.V",
                  body=tr.Mass(mass="1 kg", v="1 m/s"), ground=tr.Reference(),
                  wall=tr.HardStop(model="restitution", restitution=0.5, upper_bound="0.3 m"))
    runs = {"one": model.simulate("1 s")}
    with model.values({"body.v": "1.0000001 m/s"}):
        runs["faster"] = model.simulate("1 s")
    assert runs["one"].events[0].time != runs["faster"].events[0].time
    assert 5e-8 < compare(runs, "body.v").gaps[0].share < 2e-7
