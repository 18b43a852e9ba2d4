"""Studies over parameters: what they give, and with exact friction."""

import re
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy import stats

import library.translational as tr
from blocks import quantity
from blocks.exceptions import UnknownName
from blocks.studies import executors
from blocks.studies.axes import plan
from blocks.studies.sequential import SequentialRunner
from tests.studies.bench import stick_slip

from . import bench

DAMPING = quantity([1.0, 2.0, 4.0], "N*s/m")
SPEED = ["1 m/s", "200 cm/s"]


# -- values ---------------------------------------------------------------------------
def test_a_grid_of_coasting_masses_slows_down_exponentially():
    data = bench.coasting().sweep(
        {"damper.damping": DAMPING, "mass.v": SPEED}, "2 s", rtol=1e-9, every="0.5 s",
        outputs={"v": "mass.v", **{name: name for name in (
            "final(mass.v)", "max(damper.f)", "at(mass.v, 500 ms)", "initial(mass.v)",
            "min(mass.v)")}})  # fmt: skip
    d, v0 = DAMPING.m[:, None], np.array([1.0, 2.0])
    t = data.time.values
    assert_allclose(t, np.arange(5) / 2)
    exact = v0[..., None] * np.exp(-d[..., None] * t / 2)
    assert_allclose(data["v"], exact, rtol=1e-7)
    for name, truth in {
        "final(mass.v)": exact[..., -1], "min(mass.v)": exact[..., -1],
        "at(mass.v, 500 ms)": exact[..., 1], "max(damper.f)": d * v0, "initial(mass.v)": v0 + 0 * d,
    }.items():  # fmt: skip
        assert_allclose(data[name], truth, rtol=1e-7, err_msg=name)
    assert (data.status == "finished").all()
    assert data["final(mass.v)"].sel({"damper.damping": 4, "mass.v": 1}) == (
        data["final(mass.v)"][2, 0])  # fmt: skip


def test_numbers_over_the_whole_of_a_run_are_those_of_its_curve():
    """m/d (v0 - v) is the way of a coasting mass, m/(2 d) (v0² - v²) the integral of v²."""
    data = bench.coasting().sweep({"damper.damping": DAMPING, "mass.v": SPEED}, "2 s", rtol=1e-9,
                                  outputs=["mean(mass.v)", "rms(mass.v)", "integral(mass.v)"])
    d, v0 = DAMPING.m[:, None], np.array([1.0, 2.0])
    end = v0 * np.exp(-d * 2 / 2)
    way = 2 / d * (v0 - end)
    assert_allclose(data["mean(mass.v)"], way / 2, rtol=1e-7)
    assert_allclose(data["integral(mass.v)"], way, rtol=1e-7)
    assert_allclose(data["rms(mass.v)"], np.sqrt(1 / d * (v0**2 - end**2) / 2), rtol=1e-7)
    assert data["integral(mass.v)"].attrs["units"] == "m"
    assert data["mean(mass.v)"].attrs["long_name"] == "mean of mass.v"


def test_the_coordinate_is_in_the_unit_of_the_first_value():
    data = bench.coasting().sweep({"mass.v": ["20 cm/s", "1 m/s"], "mass.mass": ["1 kg"]}, "1 s",
                                  outputs={"left": "final(mass.v)"})  # fmt: skip
    assert_allclose(data["mass.v"], [20, 100])
    assert data["mass.v"].attrs["units"] == "cm/s"
    assert data["left"].attrs["units"] == "m/s"
    assert_allclose(data["left"][:, 0], np.array([0.2, 1.0]) * np.exp(-3), rtol=1e-4)


def test_an_output_says_what_is_kept_of_a_variable():
    data = bench.stick_slip().sweep(
        {"pull.velocity": ["0.1 m/s"]}, "0.2 s", every="0.1 s",
        outputs={"top": "max(spring.x)", "low": "min(spring.x)", "last": "final(spring.x)",
                 "then": "at(spring.x, 100 ms)", "all": "spring.x"})  # fmt: skip
    told = {name: column.attrs for name, column in data.items() if "units" in column.attrs}
    assert {name: attributes["long_name"] for name, attributes in told.items()} == {
        "top": "max of spring.x", "low": "min of spring.x", "last": "end of spring.x",
        "then": "spring.x at 0.1 s", "all": "spring.x"}  # fmt: skip
    assert data["pull.velocity"].attrs["long_name"] == "pull.velocity"
    assert {name: attributes["description"] for name, attributes in told.items()} == {
        "top": "largest deformation, R against C", "low": "smallest deformation, R against C",
        "last": "final deformation, R against C", "then": "deformation, R against C, at 0.1 s",
        "all": "deformation, R against C"}  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "Radau"])
def test_every_point_equals_a_single_run(method):
    model = bench.stick_slip()
    force, speed = ["15 N", "24 N"], quantity([50.0, 80.0], "mm/s")
    data = model.sweep({"friction.coulomb_force": force, "pull.velocity": speed}, "0.6 s",
                       outputs=["max(friction.f)", "spring.x", bench.swing], every="20 ms",
                       method=method)  # fmt: skip
    for i, f in enumerate(force):
        for j, v in enumerate(speed):
            model.friction.coulomb_force, model.pull.velocity = f, v
            single = model.simulate("0.6 s", method=method)
            assert_allclose(data["max(friction.f)"][i, j], single["friction.f"].max().m, rtol=1e-12)
            assert_allclose(data["swing"][i, j], bench.swing(single).m, rtol=1e-12)
            course = single["spring.x"].at(quantity(data.time.values, "s")).m
            assert_allclose(data["spring.x"][i, j], course, rtol=1e-12, atol=1e-15)


def test_the_order_of_points_does_not_matter():
    points = [{"mass.mass": f"{m} kg", "damper.damping": f"{d} N*s/m"}
              for m in (1, 2, 3) for d in (1, 5)]  # fmt: skip
    model = bench.coasting()
    there = model.sweep(points, "1 s", outputs="final(mass.v)")["final(mass.v)"].values
    back = model.sweep(points[::-1], "1 s", outputs="final(mass.v)")["final(mass.v)"].values
    np.testing.assert_array_equal(there, back[::-1])


def test_points_may_come_from_a_list_or_a_table():
    model = bench.coasting()
    points = [{"mass.mass": "1 kg", "mass.v": "1 m/s"}, {"mass.mass": "3000 g", "mass.v": "4 m/s"}]
    exact = np.array([1, 4]) * np.exp(-3 / np.array([1, 3]))
    listed = model.sweep(points, "1 s", outputs="final(mass.v)", rtol=1e-9)
    assert listed["final(mass.v)"].dims == ("run",)
    assert_allclose(listed["final(mass.v)"], exact, rtol=1e-7)
    frame = pd.DataFrame({"mass.mass [g]": [1000, 3000], "mass.v": ["1 m/s", "4 m/s"]})
    table = model.sweep(frame, "1 s", outputs="final(mass.v)", rtol=1e-9)
    assert_allclose(table["final(mass.v)"], exact, rtol=1e-7)
    assert table["mass.mass"].attrs["units"] == "g"
    assert_allclose(table["mass.mass"], [1000, 3000])


def test_the_tolerance_of_the_solver_can_be_swept():
    data = bench.coasting().sweep({"rtol": [1e-3, 1e-6, 1e-9], "method": ["RK45", "Radau"]}, "2 s",
                                  outputs="final(mass.v)")  # fmt: skip
    error = abs(data["final(mass.v)"].transpose("rtol", "method") - 5 * np.exp(-3)).values
    assert (np.diff(error, axis=0) < 0).all()
    assert (error[-1] < 1e-7).all()
    assert list(data.method.values) == ["RK45", "Radau"]


def test_another_law_gives_what_single_runs_give():
    model = bench.stick_slip()
    data = model.sweep(
        {"pull.velocity": ["50 mm/s", "100 mm/s", "150 mm/s"],
         "friction.law": ["coulomb", "simscape", "stribeck"]},
        "0.3 s", outputs="final(block.v)", method="ode45",  # auto may take another for many runs
    )  # fmt: skip
    assert (data.status == "finished").all()
    for law in ("coulomb", "simscape", "stribeck"):
        model.friction.law = law
        model.pull.velocity = "150 mm/s"
        single = model.simulate("0.3 s", method="ode45")["block.v"].final.m
        swept = data["final(block.v)"].sel({"friction.law": law, "pull.velocity": 150})
        assert_allclose(swept, single, rtol=1e-12)


def test_a_sweep_over_values_leaves_the_model_alone():
    model = bench.coasting()
    system, mass = model.compile(), model.mass.mass
    model.sweep({"mass.mass": quantity(np.linspace(1, 2, 7), "kg"), "mass.v": SPEED}, "1 s",
                outputs="final(mass.v)")  # fmt: skip
    assert model.compile() is system
    assert model.mass.mass == mass
    assert model.mass.variables["v"].value == quantity("5 m/s")


def test_arrays_keep_their_instances_as_a_dimension():
    model = wired("two oscillators", "masses.M springs.R", "springs.C ground.V",
                  masses=tr.Mass(count=2, v="1 m/s"),
                  springs=tr.Spring(stiffness=quantity([4.0, 9.0], "N/m"), count=2),
                  ground=tr.Reference())
    data = model.sweep({"masses.mass": ["1 kg", "4 kg"]}, "1 s", rtol=1e-9, every="0.25 s",
                       outputs=["final(masses.v)", "masses.v"])  # fmt: skip
    w = np.sqrt(np.array([4.0, 9.0]) / np.array([[1.0], [4.0]]))
    assert data["masses.v"].dims == ("masses.mass", "masses", "time")
    assert list(data["masses"].values) == ["masses[0]", "masses[1]"]
    assert_allclose(data["final(masses.v)"], np.cos(w), atol=1e-7)
    assert_allclose(data["masses.v"], np.cos(w[..., None] * data.time.values), atol=1e-7)


def coasting_masses():
    """Three masses of 2 kg, 1 m/s fast, each on a damper of 1, 2, 4 N s/m."""
    return wired("three", "masses.M dampers.R", "dampers.C ground.V",
                 masses=tr.Mass(count=3, mass="2 kg", v="1 m/s"), ground=tr.Reference(),
                 dampers=tr.Damper(count=3, damping=DAMPING))


def test_one_of_an_array_can_be_varied_as_can_all_of_it():
    model, values = coasting_masses(), quantity([3.0, 6.0], "N*s/m")
    one = model.sweep({"dampers[1].damping": values, "masses[-1].v": ["5 m/s", "6 m/s"]}, "2 s",
                      outputs=["final(masses.v)"], rtol=1e-9)
    v = np.exp(-np.array([1.0, 2.0, 4.0]))
    for k, d in enumerate((3.0, 6.0)):
        for j, fast in enumerate((5.0, 6.0)):
            assert_allclose(one["final(masses.v)"][k, j], [v[0], np.exp(-d), fast * v[2]],
                            rtol=1e-7)
    both = model.sweep([{"dampers[0].damping": "3 N*s/m", "dampers.damping": "6 N*s/m"}], "2 s",
                       outputs=["final(masses.v)"], rtol=1e-9)
    assert_allclose(both["final(masses.v)"][0], np.exp([-3.0, -6.0, -6.0]), rtol=1e-7)
    assert_allclose(model.dampers.damping.m, DAMPING.m)
    with pytest.raises(UnknownName, match="0 to 2"):
        model.sweep({"dampers[3].damping": values}, "1 s", outputs=["final(masses.v)"])


def test_searches_move_one_of_an_array():
    """v = exp(-d t/2): its derivative by d is -t v/2, that of the others is 0."""
    from blocks.analysis.design.optimisation import optimise
    from blocks.analysis.estimation import fit

    model, paths = coasting_masses(), ["dampers[1].damping", "masses[2].v"]
    run = model.simulate("2 s", rtol=1e-9, sensitivities=paths)
    found = [[run.sensitivities[f"masses[{k}].v", path].final.m for path in paths]
             for k in range(3)]
    assert_allclose(found, [[0, 0], [-np.exp(-2), 0], [0, np.exp(-4)]], rtol=1e-7, atol=1e-12)
    times = np.linspace(0, 2, 20)
    data = pd.DataFrame({"t [s]": times, "v [m/s]": np.exp(-1.5 * times)})
    best = fit(model, data, {"dampers[1].damping": ("1 N*s/m", "9 N*s/m")},
               {"v [m/s]": "masses[1].v"})
    assert_allclose(best.values["dampers[1].damping"].m, 3, rtol=1e-6)
    best.apply()
    assert_allclose(model.dampers.damping.m, [1, 3, 4], rtol=1e-6)
    least = optimise(model, "max(masses[2].v)", {"masses[2].v": ("2 m/s", "3 m/s")}, "1 s")
    assert_allclose(least.values["masses[2].v"].m, 2)


def test_a_parameter_of_a_composite_reaches_its_parts_at_every_point():
    model = wired("pair", pair=bench.Shaker())
    data = model.sweep({"pair.one.mass": ["1 kg", "3 kg"], "pair.weight": ["1 kg", "2 kg"]}, "40 s",
                       outputs=["final(pair.one.v)"], rtol=1e-9)  # fmt: skip
    # weight sets both masses, then one of them is given: momentum m1 * 1 m/s is shared
    one, both = np.array([[1.0], [3.0]]), np.array([1.0, 2.0])
    swept = data["final(pair.one.v)"].values
    alone = model.sweep({"pair.weight": ["1 kg", "2 kg"]}, "40 s", rtol=1e-9,
                        outputs=["final(pair.one.v)"])["final(pair.one.v)"]
    assert_allclose(alone, 0.5, rtol=1e-6)
    assert_allclose(swept, one / (one + both), rtol=1e-6)


def test_points_of_a_composite_do_not_depend_on_those_before():
    model = wired("pair", pair=bench.Shaker(weight="2 kg"))
    model.pair.one.mass = "6 kg"  # instead of the weight, until that is changed
    data = model.sweep({"pair.weight": ["4 kg", "2 kg"]}, "40 s", outputs=["final(pair.one.v)"],
                       rtol=1e-9)  # fmt: skip
    assert_allclose(data["final(pair.one.v)"], [4 / 8, 6 / 8], rtol=1e-6)


def test_netcdf_takes_the_data_set_and_gives_it_back(tmp_path):
    import xarray

    data = bench.coasting().sweep({"mass.mass": ["1 kg", "2 kg"]}, "1 s", every="0.5 s",
                                  outputs=["final(mass.v)", "mass.v"])  # fmt: skip
    data.to_netcdf(tmp_path / "study.nc")
    with xarray.open_dataset(tmp_path / "study.nc") as opened:
        assert opened.load().identical(data)


# -- distributions ----------------------------------------------------------------------
MASSES = {"mass.mass": (stats.norm(2, 0.1), "kg")}


def samples_of(over, seed=0, count=200):
    points, _ = plan(bench.coasting(), over, count, seed)
    return {a.path: np.array(a.values) for a in points.axes}


def test_samples_follow_their_distribution_and_their_seed():
    drawn = samples_of(MASSES, 7, 2000)["mass.mass"]
    assert stats.kstest(drawn, stats.norm(2, 0.1).cdf).pvalue > 0.01
    np.testing.assert_array_equal(drawn, samples_of(MASSES, 7, 2000)["mass.mass"])
    assert not np.array_equal(drawn, samples_of(MASSES, 8, 2000)["mass.mass"])


def test_samples_of_one_parameter_do_not_depend_on_another():
    both = samples_of({"damper.damping": (stats.uniform(1, 2), "N*s/m"), **MASSES})
    np.testing.assert_array_equal(both["mass.mass"], samples_of(MASSES)["mass.mass"])
    assert abs(np.corrcoef(both["mass.mass"], both["damper.damping"])[0, 1]) < 0.2


def test_distributions_and_a_grid_make_samples_at_every_point():
    data = bench.coasting().sweep(
        {**MASSES, "damper.damping": ["1 N*s/m", "2 N*s/m"]}, "1 s", samples=5, seed=3,
        outputs="final(mass.v)", rtol=1e-9)  # fmt: skip
    assert data["final(mass.v)"].dims == ("damper.damping", "sample")
    assert data["mass.mass"].dims == ("sample",)
    assert data["mass.mass"].attrs["units"] == "kg"
    exact = 5 * np.exp(-np.array([[1.0], [2.0]]) / data["mass.mass"].values)
    assert_allclose(data["final(mass.v)"], exact, rtol=1e-7)


# -- failures ---------------------------------------------------------------------------
def test_a_run_that_explodes_is_recorded_and_the_others_are_right():
    data = bench.explosion().sweep({"cell.x": [0.25, 2.0, 0.5]}, "1 s", outputs=["final(cell.x)"],
                                   rtol=1e-9)  # fmt: skip
    assert list(data.status.values) == ["finished", "failed", "finished"]
    assert np.isnan(data["final(cell.x)"][1])
    assert re.search(r"the run stopped at t = (0.5|0.49999)", str(data.message[1].values))
    assert "cell.x" in str(data.message[1].values)
    assert_allclose(data["final(cell.x)"][[0, 2]], [0.25 / 0.75, 1.0], rtol=1e-6)
    assert data.attrs == {"model": "explosion", "runs finished": 2, "runs failed": 1,
                          "runs not run": 0}  # fmt: skip


def test_a_violated_relation_between_parameters_is_a_failed_run():
    data = bench.stick_slip().sweep({"friction.coulomb_force": ["20 N", "30 N"]}, "0.1 s",
                                    outputs="max(friction.f)")  # fmt: skip
    assert list(data.status.values) == ["finished", "failed"]
    assert "breakaway_force is 25.0 N and thus below coulomb_force" in str(data.message[1].values)


def test_a_sample_out_of_bounds_is_a_failed_run():
    data = bench.coasting().sweep({"mass.mass": (stats.norm(0, 1), "kg")}, "1 s", samples=8,
                                  outputs="final(mass.v)")  # fmt: skip
    negative = data["mass.mass"].values < 0
    assert negative.any()
    assert ((data.status == "failed").values == negative).all()
    assert all("mass.mass: must be" in str(m) for m in data.message.values[negative])


def test_an_output_that_fails_is_a_failed_run():
    data = bench.coasting().sweep({"mass.v": ["2 m/s", "3 m/s"]}, "1 s",
                                  outputs=["final(mass.v)", bench.bad])  # fmt: skip
    assert list(data.status.values) == ["finished", "failed"]
    assert str(data.message[1].values) == "ZeroDivisionError: no such quotient"
    assert_allclose(data["bad"][0], 2 * data["final(mass.v)"][0])
    assert data["bad"].attrs["units"] == "m/s"


def test_an_output_function_may_change_its_unit_but_not_its_dimension():
    data = bench.coasting().sweep({"mass.v": ["2 m/s", "3 m/s", "4 m/s"]}, "1 s", rtol=1e-9,
                                  outputs=[bench.fickle])  # fmt: skip
    assert_allclose(data["fickle"][:2], np.array([2, 3]) * np.exp(-1.5), rtol=1e-6)
    assert data["fickle"].attrs["units"] == "m/s"
    assert np.isnan(data["fickle"][2])
    assert list(data.status.values) == ["finished", "finished", "failed"]
    assert "takes m/s" in str(data.message[2].values)


def test_an_initial_target_that_is_not_met_is_said_in_the_message():
    model = bench.coasting()
    wire(model, "twin.M mass.M", twin=tr.Mass(v="1 m/s"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = model.sweep({"twin.v": ["1 m/s", "5 m/s"]}, "0.1 s", outputs="initial(mass.v)")
    assert str(data.message[1].values) == ""
    assert "mass.v = " in str(data.message[0].values)
    assert (data.status == "finished").all()


def test_ctrl_c_returns_what_is_finished():
    seen = []

    def stop(result):
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return result["mass.v"].final

    with pytest.warns(UserWarning, match="2 of 5 runs were made"):
        data = bench.coasting().sweep({"mass.v": [f"{v} m/s" for v in range(1, 6)]}, "1 s",
                                      outputs={"left": stop})  # fmt: skip
    assert list(data.status.values) == ["finished"] * 2 + ["not run"] * 3
    assert np.isnan(data["left"].values).tolist() == [False, False, True, True, True]


# -- executors ----------------------------------------------------------------------------
OVER = {"friction.coulomb_force": ["15 N", "20 N", "30 N"], "pull.velocity": ["50 mm/s", "80 mm/s"]}
KEPT = {"outputs": ["max(friction.f)", "spring.x", bench.swing], "every": "50 ms"}


@pytest.fixture(scope="module")
def alone():
    return bench.stick_slip().sweep(OVER, "0.4 s", **KEPT)


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor, None])
def test_executors_give_identical_results(pool, alone):
    if pool is None:
        data = bench.stick_slip().sweep(OVER, "0.4 s", executor=2, **KEPT)
    else:
        with pool(2) as executor:
            data = bench.stick_slip().sweep(OVER, "0.4 s", executor=executor, **KEPT)
    assert data.identical(alone)
    assert data.attrs["runs failed"] == 2


def test_dask_gives_identical_results(alone):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        data = bench.stick_slip().sweep(OVER, "0.4 s", executor=client, **KEPT)
        again = bench.stick_slip().sweep(OVER, "0.4 s", executor=client.get_executor(), **KEPT)
    assert data.identical(alone)
    assert again.identical(alone)


SLIDING = {"pull.velocity": quantity(np.linspace(0.05, 0.3, 200), "m/s")}
READ = ["max(spring.f)", "final(block.v)", "at(friction.f, 0.3 s)"]


def test_a_worker_on_dask_that_is_killed_leaves_what_is_finished():
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as some,
        distributed.Client(some) as client,
        pytest.warns(UserWarning, match="The executor broke down .KilledWorker")):
        study = bench.stick_slip().sweep(SLIDING, "0.4 s", outputs=READ, executor=client)
        again = bench.stick_slip().sweep(SLIDING, "0.4 s", outputs=READ, executor=client)
        data = bench.coasting().sweep({"mass.v": ["1 m/s", "2 m/s", "3 m/s"]}, "0.1 s",
                                      outputs=bench.die, executor=client)  # fmt: skip
    assert again.identical(study)
    assert data.attrs["runs finished"] >= 1
    assert str(data.status[2].values) == "not run"


def test_a_function_of_time_without_a_name_needs_no_pickling_in_threads():
    model = bench.stick_slip()
    model.pull.velocity = lambda t: quantity("0.1 m/s**2") * t
    with ThreadPoolExecutor(2) as executor:
        data = model.sweep({"block.mass": ["1 kg", "2 kg"]}, "0.2 s", outputs="final(pull.R.v)",
                           executor=executor)  # fmt: skip
    assert_allclose(data["final(pull.R.v)"], 0.02, rtol=1e-6)


def test_a_worker_that_dies_ends_the_study_with_a_warning():
    with pytest.warns(UserWarning, match="The executor broke down"):
        data = bench.coasting().sweep({"mass.v": ["1 m/s", "2 m/s", "3 m/s"]}, "0.1 s",
                                      outputs=bench.die, executor=1)  # fmt: skip
    assert str(data.status[2].values) == "not run"
    assert data.attrs["runs failed"] == 0


@pytest.mark.parametrize("wanted", [True, False])
def test_the_progress_bar_counts_runs(wanted, capsys):
    bench.coasting().sweep({"mass.v": ["1 m/s", "2 m/s"]}, "0.1 s", outputs="final(mass.v)",
                           progress=wanted)  # fmt: skip
    printed = capsys.readouterr()
    assert ("2/2" in printed.err) is wanted
    assert printed.out == ""


def test_every_method_can_be_varied():
    pytest.importorskip("llvmlite")
    data = bench.coasting().sweep({"method": ["dopri5", "moreau_jean", "rk4"]}, "0.5 s",
                                  outputs=["final(mass.v)"], step="0.1 ms")  # fmt: skip
    assert (data.status == "finished").all()
    assert_allclose(data["final(mass.v)"], 5 * np.exp(-0.75), rtol=1e-4)


def test_texts_and_quantities_may_stand_in_one_list():
    data = bench.coasting().sweep({"mass.v": ["1 m/s", quantity(3, "m/s"), "200 cm/s"]}, "0.5 s",
                                  outputs=["final(mass.v)"])  # fmt: skip
    assert data["mass.v"].values.tolist() == [1, 3, 2]
    assert_allclose(data["final(mass.v)"], np.array([1, 3, 2]) * np.exp(-0.75), rtol=1e-5)


@pytest.mark.parametrize("gives, said", [
    (lambda result: None, "is a function that gave nothing"),
    (lambda result: result["mass.v"], "is a function that gave a Series"),
    (lambda result: "fast", "is a function that gave a str")])  # fmt: skip
def test_a_function_that_gives_no_number_is_named(gives, said):
    data = bench.coasting().sweep({"mass.v": ["1 m/s"]}, "0.5 s", outputs={"left": gives})
    assert str(data.message.values[0]).startswith(f"output 'left': {said}.")


def test_a_function_may_say_yes_or_no():
    data = bench.coasting().sweep({"mass.v": ["1 m/s", "3 m/s"]}, "0.5 s", outputs={
        "fast": lambda result: result["mass.v"].final > quantity("1 m/s")})  # fmt: skip
    assert data["fast"].values.tolist() == [0, 1]


# -- exact friction ---------------------------------------------------------------------------
@pytest.fixture
def chosen(monkeypatch):
    """What runs the points of the studies of a test."""
    made = []
    choose = executors.runner_for
    monkeypatch.setattr(sys.modules["blocks.studies.sweep"], "runner_for",
                        lambda *given: made.append(choose(*given)) or made[-1])
    return made


def test_a_run_that_is_read_with_others_is_what_it_is_alone(chosen):
    model = wired("blocks on a belt", "belt.R frictions.R", "frictions.C blocks.M springs.R",
                  "springs.C belt.C frame.V",
                  belt=tr.VelocitySource(), frame=tr.Reference(), blocks=tr.Mass(count=2),
                  springs=tr.Spring(count=2, stiffness=["80 N/m", "120 N/m"]),
                  frictions=tr.TranslationalFriction(count=2, law="coulomb", coulomb_force="5 N"))
    outputs = ["max(springs.f)", "min(frictions.f)", "final(blocks.v)", "springs.x"]

    def study(*velocities):
        return model.sweep({"belt.velocity": list(velocities)}, "2 s", outputs=outputs,
                           every="0.5 s", start_time="1 s")  # fmt: skip

    together, alone = study("0.1 m/s", "0.3 m/s", "-0.2 m/s"), study("0.3 m/s")
    assert all(isinstance(one, SequentialRunner) and not one.alone for one in chosen)
    for name in outputs:
        assert np.array_equal(together[name].values[1], alone[name].values[0]), name
    model.belt.velocity = "0.3 m/s"
    result = model.simulate("2 s", start_time="1 s")
    assert_allclose(alone["max(springs.f)"].values[0], result["springs.f"].max().m, rtol=1e-12)
    assert_allclose(alone["min(frictions.f)"].values[0], result["frictions.f"].min().m, rtol=1e-12)
    assert_allclose(alone["final(blocks.v)"].values[0], result["blocks.v"].final.m, rtol=1e-12)
    course = result["springs.x"].at([f"{t} s" for t in alone["time"].values])
    assert_allclose(alone["springs.x"].values[0], course.m_as(alone["springs.x"].attrs["units"]),
                    rtol=1e-12)


def test_what_machine_code_does_not_carry_out_in_one_go_is_run_by_itself(chosen):
    model = stick_slip()
    model.friction.law, model.friction.coulomb_force = "stribeck", "20 N"
    over = {"spring.stiffness": ["1 kN/m", "1e7 N/m"], "friction.breakaway_force": ["25 N", "5 N"]}
    study = model.sweep(over, "2 s", outputs=["final(spring.f)"])
    assert isinstance(chosen[0], SequentialRunner)
    assert chosen[0].execution.endswith("3 of them by themselves after all")
    assert study["status"].values.tolist() == [["finished", "failed"], ["finished", "failed"]]
    assert "breakaway" in study["message"].values[0, 1]
    model.spring.stiffness = "1e7 N/m"
    single = model.simulate("2 s")["spring.f"].final.m_as("N")
    assert study["final(spring.f)"].values[1, 0] == pytest.approx(single, rel=1e-12)
