"""Parameters and laws of friction are found from measurements they were made with."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benches import wired
from benches.analysis import shot
from benches.friction import dry
from numpy.testing import assert_allclose
from scipy.optimize import curve_fit

from blocks import Component, Parameter, Variable, cos, der, quantity, sin, time, where
from blocks.analysis.estimation import Experiment, Measured, fit
from blocks.exceptions import FileError, ParameterError, UnknownName, UnknownUnit, WrongDimension
from blocks.results import read_csv
from library.friction_studies.identification import CURVES, identify_friction
from library.friction_studies.motion import identify_friction_motion
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource

DATA = Path(__file__).parents[1] / "data/analysis"
CASES = json.loads((DATA / "estimation.json").read_text())
RELEASED = CASES["E1 released oscillator"]["results"]
SLIDING = CASES["E2 sliding block"]["results"]


class ReleasedOscillator(Component):
    """Held until its release, then free."""

    mass = Parameter("2.5 kg", above=0)
    k, d = Parameter("1500 N/m", above=0), Parameter("5 N*s/m", minimum=0)
    release = Parameter("30 ms")
    x, v = Variable("m", "10 mm", priority="high"), Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        force = -self.k * self.x - self.d * self.v
        yield der(self.x) == self.v
        yield self.mass * der(self.v) == where(time > self.release, force, 0)


def released():
    return wired("release", part=ReleasedOscillator())


BOUNDS = {"part.k": ("1 kN/m", "4 kN/m"), "part.d": ("1 N*s/m", "30 N*s/m"),
          "part.x": ("5 mm", "20 mm"), "part.release": ("10 ms", "60 ms")}
SENSORS = {"displacement [mm]": Measured("part.x", noise="0.05 mm"),
           "velocity [in/s]": Measured("part.v", noise="5 mm/s")}


def release_data():
    return pd.read_csv(DATA / "oscillator_release.csv")


def assert_is_the_minimum(found, case):
    """Within 1e-3 standard errors of the estimates, which are in the order of the parameters."""
    for path, name in zip(found.names, case["estimate_from_file"], strict=True):
        error = case["standard_error"][name]
        estimate = found.values[path].to_base_units().m
        assert abs(estimate - case["estimate_from_file"][name]) < 1e-3 * error
        own = found.standard_errors[path].to_base_units().m  # by the noise, which is known
        assert own == pytest.approx(error, rel=1e-3)
    assert found.reduced_chi_square == pytest.approx(case["reduced_chi_square"], rel=1e-4)
    assert found.degrees_of_freedom == case["degrees_of_freedom"]


def test_a_table_of_a_run_is_data():
    run = released().simulate("0.3 s", every="5 ms")
    found = fit(released(), run.table("part.x"), {"part.k": ("1 kN/m", "4 kN/m", "1.2 kN/m")},
                {"part.x": "part.x"})
    assert found.values["part.k"].to("N/m").m == pytest.approx(1500, rel=1e-4)


def test_a_released_oscillator_and_the_instant_of_its_release_are_found():
    found = fit(released(), release_data(), BOUNDS, SENSORS)
    assert_is_the_minimum(found, RELEASED)
    assert found.notes == [] and found.status == "finished"
    low, high = found.intervals()["part.k"]
    assert low < quantity("1800 N/m") < high
    assert abs(found.correlation.loc["part.x", "part.k"]) < 1


def test_parameters_with_a_common_factor_are_told_by_name():
    found = fit(released(), release_data(), {**BOUNDS, "part.mass": ("1 kg", "5 kg")}, SENSORS)
    (null,) = found.null_directions
    third = 1 / np.sqrt(3)
    assert {n: abs(v) for n, v in null.items()} == pytest.approx(
        {"part.k": third, "part.d": third, "part.mass": third, "part.x": 0, "part.release": 0},
        abs=1e-6)
    assert found.relative_singular_values[-1] < 1e-9 * found.relative_singular_values[0]
    assert "part.k, part.d, part.mass can be told only up to a common change" in found.notes[0]
    assert "part.k / part.mass and part.d / part.mass" in found.notes[0]
    assert "not told by the data" in str(found)


class Thrown(Component):
    """A block thrown on a rough floor."""

    def compose(self):
        self.block, self.floor = Mass(mass="4 kg", v="1 m/s"), Reference()
        self.friction = dry(12, 20, viscous_coefficient="1 N*s/m")
        self.connect(self.block.M, self.friction.R)
        self.connect(self.friction.C, self.floor.V)


def thrown():
    return wired("thrown", "rig.block.M sight.R", "sight.C wall.V", rig=Thrown(), wall=Reference(),
                 sight=Spring(stiffness="1 nN/m"))  # its elongation is the position


def test_a_block_that_slides_and_stops_tells_its_friction():
    found = fit(thrown(), pd.read_csv(DATA / "sliding_block.csv"),
                {"rig.friction.coulomb_force": ("1 N", "15 N"),
                 "rig.friction.viscous_coefficient": ("0 N*s/m", "20 N*s/m"),
                 "rig.block.v": ("0.5 m/s", "3 m/s")},
                {"position [mm]": Measured("sight.x", noise="0.2 mm")})
    assert_is_the_minimum(found, SLIDING)


def made(offset=0.0, delay=0.0, noise=0.05, seed=1, count=200):
    """Displacement of the released oscillator, as a sensor shows it."""
    rng = np.random.default_rng(seed)
    model = released()
    model.part.k, model.part.d = "1800 N/m", "6.5 N*s/m"
    t = np.sort(rng.uniform(0.02, 1.5, count))
    x = model.simulate("1.6 s", rtol=1e-9)["part.x"].at((t - delay) * quantity("1 s")).to("mm").m
    return pd.DataFrame({"time [s]": t, "disp [mm]": x + offset
                         + noise * rng.standard_normal(count)})


STIFFNESS = {"part.k": ("500 N/m", "5 kN/m"), "part.d": ("0.5 N*s/m", "50 N*s/m")}


def test_an_offset_and_a_delay_of_a_sensor_are_found():
    found = fit(released(), made(offset=1.5, delay=0.012), STIFFNESS, {"disp [mm]": Measured(
        "part.x", offset=("-5 mm", "5 mm"), delay=("0 ms", "20 ms"))})
    for path, truth in (("part.k", "1800 N/m"), ("offset of disp [mm]", "1.5 mm"),
                        ("delay of disp [mm]", "12 ms")):
        error = found.values[path] - quantity(truth)
        assert abs(error) < 4 * found.standard_errors[path]
    assert found.residuals()["disp [mm]"].to("mm").m.std() == pytest.approx(0.05, rel=0.15)


def test_a_delay_does_not_move_the_start_of_the_run():
    """The run begins by itself; what the sensor shows first is the start."""
    model = thrown()
    t = np.linspace(0, 0.6, 120)
    run = model.simulate("0.6 s", rtol=1e-9)
    x = run["sight.x"].at(np.maximum(t - 0.02, 0) * quantity("1 s")).to("mm").m
    data = pd.DataFrame({"t [s]": t, "x [mm]": x})
    found = fit(model, data, {"rig.friction.coulomb_force": ("1 N", "15 N", "5 N")},
                {"x [mm]": Measured("sight.x", delay=("0 ms", "50 ms"))})
    assert found.values["delay of x [mm]"].to("ms").m == pytest.approx(20, rel=1e-5)
    assert found.notes == []


def pulled(samples):
    """A mass that goes on at 1.5 m/s, seen at a few instants by a sight that is 5 mm off."""
    model = wired("pulled", "mass.M sight.R", "sight.C wall.V", mass=Mass(v="1 m/s"),
                  wall=Reference(), sight=Spring(stiffness="1 nN/m"))
    t = np.linspace(1, 0.5, samples)[::-1]
    return model, pd.DataFrame({"t [s]": t, "x [mm]": 1500 * t + 5})


@pytest.mark.parametrize("samples", [1, 2])
def test_known_noise_tells_errors_of_as_many_values_as_parameters(samples):
    model, data = pulled(samples)
    offset = {"offset": ("-50 mm", "50 mm")} if samples == 2 else {}
    found = fit(model, data, {"mass.v": ("0.1 m/s", "5 m/s")},
                {"x [mm]": Measured("sight.x", noise="1 mm", **offset)})
    # of a place at 1 s; of the difference of two places half a second apart
    assert found.standard_errors["mass.v"].m == pytest.approx(1e-3 * (1, 2 * 2**0.5)[samples - 1])
    assert not found.notes


def test_of_more_parameters_than_values_what_is_left_open_is_told():
    model, data = pulled(1)
    found = fit(model, data, {"mass.v": ("0.1 m/s", "5 m/s")}, {
        "x [mm]": Measured("sight.x", noise="10 mm", offset=("-50 mm", "50 mm"))})
    assert found.null_directions and np.isinf(found.standard_errors["offset of x [mm]"].m)


def test_several_experiments_are_fitted_together():
    first, second = made(seed=1), made(seed=2)
    one = fit(released(), first, STIFFNESS, {"disp [mm]": "part.x"})
    both = fit(released(), [first, Experiment(second, {"part.x": "10 mm"})], STIFFNESS,
               {"disp [mm]": "part.x"})
    assert both.degrees_of_freedom == 398
    ratio = both.standard_errors["part.k"] / one.standard_errors["part.k"]
    assert float(ratio) == pytest.approx(1 / np.sqrt(2), rel=0.15)


def swinging():
    """A block on a spring, let go at rest: it swings by cos(√(k/m) t), as wide as at first."""
    return wired("oscillator", "block.M spring.R", "spring.C ground.V",
                 block=Mass(mass="2 kg"), spring=Spring(x="20 mm"), ground=Reference())


SPRING = {"spring.stiffness": ("100 N/m", "200 N/m", "160 N/m")}
RATE = np.sqrt(150 / 2)  # of a spring of 150 N/m


def test_each_experiment_begins_at_its_own_start():
    model, t = swinging(), np.linspace(0, 2, 40)
    runs = [Experiment(pd.DataFrame({"t [s]": t, "x [mm]": x * np.cos(RATE * t)}),
                       {"spring.x": quantity(x, "mm")}) for x in (20, 50)]
    for guess in "120 N/m", "160 N/m", "180 N/m":
        bounds = {"spring.stiffness": ("100 N/m", "200 N/m", guess)}
        found = fit(model, runs, bounds, {"x [mm]": "spring.x"})
        assert found.values["spring.stiffness"].to("N/m").m == pytest.approx(150, rel=1e-6)


def test_experiments_may_have_different_sensors_in_different_units():
    t = np.linspace(0, 2, 40)
    x, v = 20 * np.cos(RATE * t), -20 * RATE * np.sin(RATE * t)
    both = pd.DataFrame({"t [s]": t, "x [mm]": x, "v [mm/s]": v})
    others = (pd.DataFrame({"t [s]": t, "x [m]": x / 1e3}), both.assign(**{"x [mm]": np.nan}),
              pd.DataFrame({"t [s]": t, "v [m/s]": v / 1e3}))
    compare = {"x": "spring.x", "v [mm/s]": Measured("spring.v", offset=("-1 m/s", "1 m/s"))}
    for data in *([both, one] for one in others), others[::2]:
        found = fit(swinging(), list(data), SPRING, compare)
        assert found.values["spring.stiffness"].to("N/m").m == pytest.approx(150, rel=1e-6)
        assert any(n.startswith("Experiment 2 has no values of ") for n in found.notes)
        found.plot(experiment=1)
    with pytest.raises(WrongDimension, match=r"is in N, but 'x \[mm\]' elsewhere"):
        fit(swinging(), [both, others[0].rename(columns={"x [m]": "x [N]"})], SPRING, compare)
    with pytest.raises(ParameterError, match=r"data\[2\]\): has no values of 'x"):
        fit(swinging(), [both, both[["t [s]"]]], SPRING, compare)


def test_a_robust_loss_overlooks_outliers():
    data = made()
    data.loc[::20, "disp [mm]"] += 8.0
    plain = fit(released(), data, STIFFNESS, {"disp [mm]": "part.x"})
    robust = fit(released(), data, STIFFNESS, {"disp [mm]": Measured("part.x", noise="0.05 mm")},
                 loss="cauchy")
    truth = quantity("1800 N/m")
    assert abs(robust.values["part.k"] - truth) < 4 * robust.standard_errors["part.k"]
    assert abs(robust.values["part.k"] - truth) < abs(plain.values["part.k"] - truth)


def test_other_starts_leave_a_false_minimum():
    bounds = {"part.k": ("500 N/m", "20 kN/m", "18 kN/m"), "part.d": STIFFNESS["part.d"]}
    once = fit(released(), made(), bounds, {"disp [mm]": "part.x"})
    often = fit(released(), made(), bounds, {"disp [mm]": "part.x"}, guesses=8)
    assert abs(often.values["part.k"] - quantity("1800 N/m")) < quantity("5 N/m")
    assert np.std(often.residuals()["disp [mm]"].m) < np.std(once.residuals()["disp [mm]"].m)
    assert any("disp [mm] is no noise" in n and "guesses=10" in n for n in once.notes)
    assert often.notes == []


def test_starts_that_cannot_be_run_are_left_out():
    """12 N slow 4 kg at 1 m/s by 3 m/s²; a start with less friction at rest is refused."""
    model, t = thrown(), np.linspace(0, 0.3, 40)
    model.rig.friction.viscous_coefficient = "0 N*s/m"
    found = fit(model, pd.DataFrame({"t [s]": t, "x [m]": t - 1.5 * t**2}),
                {"rig.friction.coulomb_force": ("5 N", "15 N"),
                 "rig.friction.breakaway_force": ("2 N", "40 N")}, {"x [m]": "sight.x"}, guesses=4)
    assert found.values["rig.friction.coulomb_force"].m == pytest.approx(12, rel=1e-6)
    assert "of 4 guesses could not be run" in found.notes[0]
    assert "below coulomb_force" in found.notes[0]


def test_a_bound_that_excludes_the_truth_is_told():
    found = fit(released(), made(), {"part.k": ("500 N/m", "1.5 kN/m"),
        "part.d": STIFFNESS["part.d"]}, {"disp [mm]": "part.x"})
    assert any("part.k stands at its upper bound, 1500 N/m" in n for n in found.notes)


def test_a_parameter_without_influence_is_told():
    found = fit(thrown(), pd.read_csv(DATA / "sliding_block.csv"),
                {"rig.friction.coulomb_force": ("1 N", "15 N"),
                 "rig.friction.breakaway_force": ("16 N", "40 N")},
                {"position [mm]": "sight.x"})
    assert any("rig.friction.breakaway_force has no influence" in n for n in found.notes)


def test_the_model_is_not_changed_until_asked():
    model = released()
    found = fit(model, made(), STIFFNESS, {"disp [mm]": "part.x"})
    assert model.part.k.to("N/m").m == 1500
    found.apply()
    assert model.part.k.to("N/m").m == pytest.approx(1800, rel=1e-2)


def test_a_fit_draws_itself(tmp_path):
    figure = fit(released(), made(), STIFFNESS, {"disp [mm]": "part.x"}).plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    assert figure.axes[0].get_ylabel() == "disp [mm]"


@pytest.mark.parametrize(("change", "error", "text"), [
    (lambda d: d.rename(columns={"disp [mm]": "disp"}), ParameterError, "no unit in its heading"),
    (lambda d: d.rename(columns={"disp [mm]": "disp (left)"}), ParameterError, r"'disp \(left\)"),
    (lambda d: d.rename(columns={"disp [mm]": "disp [foo]"}), UnknownUnit, r"disp \[foo\]"),
    (lambda d: d.rename(columns={"time [s]": "time [Hz]"}), WrongDimension, "is in Hz, not in s"),
    (lambda d: d.iloc[::-1], ParameterError, "goes back in time after row 0"),
    (lambda d: d.rename(columns={"time [s]": "clock [s]"}), ParameterError, "no column of time"),
    (lambda d: d.rename(columns={"disp [mm]": "disp [N]"}), WrongDimension, "is in N, but part.x"),
    (lambda d: d.assign(**{"disp [mm]": np.nan}), ParameterError, "has no values"),
    (lambda d: d.to_numpy(), ParameterError, "not a table"),
    (lambda d: "nowhere.csv", FileError, "nowhere.csv: there is no such file"),
    (lambda d: d.rename(columns={"time [s]": "time"}), ParameterError, r"'time \[s\]'"),
    (lambda d: d.assign(**{"disp [mm]": "much"}), ParameterError, "no number: .*'much'"),
    (lambda d: d.assign(**{"disp [mm]": np.inf}), ParameterError, "is infinite in row 0"),
    (lambda d: d[:1].assign(**{"time [s]": 0.0}), ParameterError, "is of 0 s alone, where a run"),
])  # fmt: skip
def test_mistakes_in_data_are_said(change, error, text):
    data = change(made())
    column = next((c for c in getattr(data, "columns", ()) if c.startswith("disp")), "disp [mm]")
    with pytest.raises(error, match=text):
        fit(released(), data, STIFFNESS, {column: "part.x"})


def test_a_file_and_what_read_csv_gives_are_data_too(tmp_path):
    data, path = made(), tmp_path / "measured.csv"
    headings = {"time [s]": "Time (s)", "disp [mm]": "disp (mm)"}
    data.rename(columns=headings).to_csv(path, index=False)
    found = [fit(released(), given, STIFFNESS, {"disp": "part.x"})
             for given in (data, path, str(path), Experiment(path), read_csv(path))]
    for one in found:
        for name, value in one.values.items():
            assert value.m == pytest.approx(found[0].values[name].m, rel=1e-6)


@pytest.mark.parametrize("guesses", ["4", 0, True, 2.5])
def test_guesses_are_counted(guesses):
    with pytest.raises(ParameterError, match=r"fit\(guesses=…\).* whole number"):
        fit(released(), made(), STIFFNESS, {"disp [mm]": "part.x"}, guesses=guesses)


@pytest.mark.parametrize(("parameters", "compare", "error", "text"), [
    (STIFFNESS, {"dsp [mm]": "part.x"}, UnknownName, "Did you mean 'disp"),
    (STIFFNESS, {"disp [mm]": "part.y"}, UnknownName, r"part\.y"),
    ({"part.stiffnes": ("1 N/m", "2 N/m")}, {"disp [mm]": "part.x"}, UnknownName, "stiffnes"),
    ({"part.k": ("2 N/m", "1 N/m")}, {"disp [mm]": "part.x"}, ParameterError, "smaller one first"),
    ({"part.k": ("1 N/m", "inf N/m")}, {"disp [mm]": "part.x"}, ParameterError,
     "Give two numbers between which"),
    (STIFFNESS, {"disp [mm]": Measured("part.x", delay=("9 s", "10 s"))}, ParameterError,
     "is at least 9 s, but its data end at"),
    (STIFFNESS, {"disp [mm]": Measured("part.x", noise="0 mm")}, ParameterError,
     r"noise of disp \[mm\]: must be above 0, but is 0 mm"),
    (STIFFNESS, {"disp [mm]": Measured("part.x", noise=["1 mm", "2 mm"])}, ParameterError,
     r"noise of disp \[mm\]: is one standard deviation, but 2 were given"),
    ({"part.k": "1 kN/m"}, {"disp [mm]": "part.x"}, ParameterError, "Give bounds"),
    ({"part.k": ("1 N/m", "2 kN/m", "3 kN/m")}, {"disp [mm]": "part.x"}, ParameterError,
     "out of its bounds"),
    ({}, {"disp [mm]": "part.x"}, ParameterError, "nothing to find"),
    (["part.k"], {"disp [mm]": "part.x"}, ParameterError,
     r"fit\(parameters=…\): takes a mapping, but was given \['part.k'\]"),
    (STIFFNESS, ["part.x"], ParameterError, r"fit\(compare=…\): takes a mapping")])  # fmt: skip
def test_mistakes_in_names_and_bounds_are_said(parameters, compare, error, text):
    with pytest.raises(error, match=text):
        fit(released(), made(), parameters, compare)


def test_experiments_that_disagree_and_data_that_are_too_few_are_told():
    one, other = made(), made(seed=2)
    assert not fit(released(), [one, other], STIFFNESS, {"disp [mm]": "part.x"}).notes
    other["disp [mm]"] *= 1.5
    apart = fit(released(), [one, other], {**STIFFNESS, "part.x": ("1 mm", "50 mm")},
                {"disp [mm]": "part.x"})
    assert any(note.startswith("Experiments 1 and 2 disagree about part.x: by itself, 1 asks for "
                               "less of it than 2.") for note in apart.notes)
    few = fit(released(), one.iloc[20:22], STIFFNESS, {"disp [mm]": "part.x"})
    assert "no more measured values than parameters" in few.notes[0]
    assert "not told by the data" in str(few) and np.isnan(few.reduced_chi_square)
    assert "<table" in few._repr_html_()


@pytest.mark.parametrize("overstated", [1.0, 10.0])
def test_errors_follow_from_a_known_noise_as_scipys_absolute_ones(overstated):
    """Whatever the residuals are: they tell that a noise was overstated, not that errors are less.
    """
    data, noise = made(noise=0.05), 0.05 * overstated
    found = fit(released(), data, STIFFNESS,
                {"disp [mm]": Measured("part.x", noise=quantity(noise, "mm"))})

    def displacement(t, k, d):
        model = released()
        model.part.k, model.part.d = quantity(k, "N/m"), quantity(d, "N*s/m")
        return model.simulate("1.6 s", rtol=1e-10)["part.x"].at(quantity(t, "s")).to("mm").m

    start = [found.values[path].to_base_units().m for path in STIFFNESS]
    times, shown = (data[name].to_numpy() for name in ("time [s]", "disp [mm]"))
    _, covariance = curve_fit(displacement, times, shown, start, np.full(len(data), noise),
                              absolute_sigma=True)
    errors = [found.standard_errors[path].to_base_units().m for path in STIFFNESS]
    assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-2)


@pytest.mark.slow
def test_intervals_cover_the_truth():
    """95 % intervals of 200 noises contain the truth in 90 to 99 % of them."""
    truth = {"part.k": 1800.0, "part.d": 6.5}
    inside = dict.fromkeys(truth, 0)
    for seed in range(200):
        found = fit(released(), made(seed=10_000 + seed, count=100), STIFFNESS,
                    {"disp [mm]": "part.x"})
        for path, (low, high) in found.intervals().items():
            inside[path] += low.to_base_units().m <= truth[path] <= high.to_base_units().m
    assert all(0.90 <= n / 200 <= 0.99 for n in inside.values()), inside


def test_starts_of_a_fit_are_searched_by_processes_as_they_are_here():
    model = shot()
    run = model.simulate("1 s", rtol=1e-9)
    t = np.linspace(0.1, 0.9, 30)
    noise = 1e-3 * np.random.default_rng(3).standard_normal(30)
    data = pd.DataFrame({"time [s]": t, "y [m]": run["ball.y"].at(t * quantity("1 s")).m + noise})
    found = [fit(model, data, {"ball.speed": ("5 m/s", "20 m/s", "6 m/s")}, {"y [m]": "ball.y"},
                 guesses=3, executor=executor) for executor in (None, 2)]
    here, spread = (f.values["ball.speed"].to("m/s").m for f in found)
    assert here == pytest.approx(spread, rel=1e-9) and here == pytest.approx(10, rel=1e-3)
    assert found[0].runs == pytest.approx(found[1].runs, abs=3)


@pytest.mark.parametrize(("executor", "text"), [
    ("all", "cannot run anything"), (ThreadPoolExecutor(1), "threads")])
def test_an_executor_that_no_start_can_be_sent_to_is_refused(executor, text):
    data = pd.DataFrame({"time [s]": [0.2, 0.4, 0.6], "y [m]": [0.8, 1.2, 1.2]})
    with pytest.raises(ParameterError, match=text):
        fit(shot(), data, {"ball.speed": ("5 m/s", "20 m/s")}, {"y [m]": "ball.y"}, guesses=2,
            executor=executor)


# -- friction maps ----------------------------------------------------------------------------
def choice(name):
    data = pd.read_csv(DATA / f"friction_map_{name}.csv")
    return identify_friction(data, "velocity [mm/s]", "friction force [N]")


def test_maps_with_a_falling_force_tell_their_law():
    laws = {name: choice(name).law.law for name in "bcd"}
    assert laws == {"b": "stribeck", "c": "simscape", "d": "stribeck"}
    for name in "bcd":
        assert len(choice(name).tied) == 1


def test_a_steady_map_does_not_tell_lugre():
    assert any("cannot tell 'lugre' from 'stribeck'" in note for note in choice("d").notes)


@pytest.mark.parametrize("name", ["a", "e"])
def test_without_a_fall_the_smaller_law_is_taken_with_a_warning(name):
    found = choice(name)
    assert found.law.law == "coulomb" and "tanh" in found.tied
    assert any("Breakaway force and velocity cannot be told" in note for note in found.notes)
    assert "Take 'coulomb'" in str(found)


def map_of(law, v, **parameters):
    """Forces of the component over velocities, with white noise of 0.1 N."""
    model = wired("bench", "drive.R friction.R", "drive.C friction.C ground.V",
                  friction=TranslationalFriction(law=law, **parameters), drive=VelocitySource(),
                  ground=Reference())
    forces = []
    for speed in v:
        model.drive.velocity = f"{float(speed)!r} m/s"
        forces.append(model.simulate("1 ms")["friction.f"].final.to("N").m)
    return np.array(forces)


TRUTH = {"coulomb_force": "14 N", "breakaway_force": "20 N", "breakaway_velocity": "30 mm/s",
         "viscous_coefficient": "25 N*s/m"}


@pytest.mark.parametrize("law", ["stribeck", "simscape"])
def test_curves_are_those_of_the_components(law):
    v = np.array([-0.2, -0.03, -0.004, 0.002, 0.01, 0.05, 0.3])
    basis = {name: curve for name, curve, _ in CURVES}[law]
    np.testing.assert_allclose(basis(v, 0.03) @ [14.0, 25.0, 6.0], map_of(law, v, **TRUTH),
                               rtol=1e-9)


def test_values_come_with_units_for_the_component():
    found = choice("b").law
    assert set(found.parameters) == set(TRUTH)
    TranslationalFriction(law=found.law, **found.parameters)
    assert found.held_out.check("[force]")
    (axes,) = choice("b").plot().axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("velocity [mm/s]", "force [N]")
    v, force = next(line for line in axes.lines if "taken" in line.get_label()).get_data()
    forces = {name: value.to_base_units().m for name, value in found.parameters.items()}
    assert force[-1] == pytest.approx(forces["coulomb_force"] + forces["viscous_coefficient"]
                                      * v[-1] / 1e3, rel=1e-9)  # far beyond the fall
    assert force[0] == pytest.approx(forces["breakaway_force"], rel=1e-4)  # hardly moving


def test_mistakes_are_said():
    data = pd.read_csv(DATA / "friction_map_a.csv")
    with pytest.raises(ParameterError, match="finds no column 'speed"):
        identify_friction(data, "speed [mm/s]", "friction force [N]")
    with pytest.raises(ParameterError, match="has no unit in its heading"):
        identify_friction(data.rename(columns={"friction force [N]": "force"}), "velocity [mm/s]",
                          "force")
    with pytest.raises(ParameterError, match="is in m, and takes mm/s or rad/s"):
        identify_friction(data.rename(columns={"velocity [mm/s]": "v [m]"}), "v [m]",
                          "friction force [N]")
    with pytest.raises(ParameterError, match="values in motion"):
        identify_friction(data.head(5), "velocity [mm/s]", "friction force [N]")


MOTION = "time [ms]", "velocity [mm/s]", "friction force [N]"


def motion():
    return pd.read_csv(DATA / "friction_motion_a.csv")


def test_a_motion_with_reversals_tells_bristles():
    """Laws of the velocity alone leave forty times the noise."""
    found = identify_friction_motion(motion(), *MOTION)
    assert found.law.law == "lugre" and found.tied == ("lugre",)
    assert found.fits[0].law == "lugre"  # by held-out stretches, too
    lugre, *others = (fit.rms.to("N").m for fit in found.fits)
    assert min(others) > 40 * lugre
    assert found.law.held_out.to("N").m < 1.2 * lugre
    TranslationalFriction(law="lugre", **found.law.parameters)
    assert "depends on what went before" in str(found)


def test_values_of_a_made_motion_are_found():
    """LuGre's law as the component runs it, with 0.02 N of noise.

    Within four times the spread over ten draws of the noise.
    """
    truth = {"coulomb_force": "5 N", "breakaway_force": "7 N", "breakaway_velocity": "3 mm/s",
             "viscous_coefficient": "20 N*s/m", "stiffness": "60 kN/m", "damping": "200 N*s/m"}
    model = wired("bench", "drive.R friction.R", "drive.C friction.C ground.V",
                  friction=TranslationalFriction(law="lugre", **truth), ground=Reference(),
                  drive=VelocitySource(velocity=lambda t: quantity("8 mm/s") * sin(
                      quantity("7 rad/s") * t) * cos(quantity("1.7 rad/s") * t)))
    run, rng = model.simulate("3 s", rtol=1e-8), np.random.default_rng(2)
    t = np.sort(rng.uniform(0.01, 2.99, 600))
    v, f = (run[name].at(t * quantity("1 s")) for name in ("friction.v", "friction.f"))
    data = pd.DataFrame({"time [s]": t, "v [m/s]": v.to("m/s").m,
                         "f [N]": f.to("N").m + 0.02 * rng.standard_normal(600)})
    found = identify_friction_motion(data, "time [s]", "v [m/s]", "f [N]").law
    assert found.law == "lugre" and found.rms.to("N").m == pytest.approx(0.02, rel=0.15)
    for name, spread in (("coulomb_force", 0.0017), ("breakaway_force", 0.0007),
                         ("breakaway_velocity", 0.0029), ("viscous_coefficient", 0.057),
                         ("stiffness", 0.0025), ("damping", 0.026)):
        assert float((found.parameters[name] / quantity(truth[name])).to("")) == pytest.approx(
            1, abs=4 * spread), name


def test_mistakes_in_a_motion_are_said():
    with pytest.raises(ParameterError, match="goes back in time after row 0"):
        identify_friction_motion(motion().iloc[::-1], *MOTION)
    with pytest.raises(ParameterError, match=r"identify_friction_motion\(\).*no column 'speed"):
        identify_friction_motion(motion(), "time [ms]", "speed [mm/s]", MOTION[2])
    with pytest.raises(ParameterError, match="has 20 values"):
        identify_friction_motion(motion().head(20), *MOTION)
