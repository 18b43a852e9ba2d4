"""Mistakes in a sweep are found before its first run, and named."""

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from benches import wired
from scipy import stats

from blocks import ParameterError, StructureError, UnitError, UnknownName, native, quantity
from blocks.exceptions import MissingPackage, WrongCall
from blocks.studies.runner import Runner
from library.signal import Constant, Table1D
from library.translational import Mass, Reference, VelocitySource

from . import bench

OVER = {"friction.coulomb_force": ["15 N", "20 N"]}
SAMPLED = {"over": {"block.mass": (stats.norm(1, 0.1), "kg")}, "samples": 2}


@pytest.fixture(autouse=True)
def no_runs(monkeypatch):
    """None of these sweeps begins."""

    def run_one(*given):
        raise AssertionError("a run was made")

    monkeypatch.setattr(Runner, "run_one", run_one)


stick_slip = cache(bench.stick_slip)  # no mistake changes it


def said(kind, over=OVER, model=None, **asked):
    asked = {"outputs": ["final(block.v)"], **asked}
    with pytest.raises(kind) as caught:
        (model or stick_slip()).sweep(over, asked.pop("duration", "0.1 s"), **asked)
    return str(caught.value)


@pytest.mark.parametrize("over, text", [
    ({"friction.coulom_force": ["1 N"]},
     "sweep(): there is no 'friction.coulom_force' among its parameters, options and initial "),
    ({"fiction.coulomb_force": ["1 N"]}, "Did you mean 'friction.coulomb_force'"),
    ({"block": ["1 kg"]}, "Did you mean 'block."),
    ({"spring.k": ["1 N/m"]}, "What is often called k is stiffness here."),
    ({"methd": ["BDF"]}, "Did you mean 'method'?"),
    ({"method": ["radu"]}, "'radu' among its methods. Did you mean 'Radau'?"),
    ({"friction.law": ["coulom"]}, "friction.law: there is no 'coulom' among its laws."),
    ({"block[0].mass": ["1 kg"]}, "'block[0].mass' numbers an instance, but block is no array."),
])  # fmt: skip
def test_misspelt_names_are_answered_with_the_nearest(over, text):
    assert text in said(UnknownName, over)


@pytest.mark.parametrize("outputs, text", [
    (["max(block.w)"], "there is no 'block.w' among its variables. Did you mean 'block.v'"),
    (["maxi(block.v)"], "'maxi' among its reductions. Did you mean 'max' or 'min'?")])  # fmt: skip
def test_misspelt_outputs_are_answered_with_the_nearest(outputs, text):
    assert text in said(UnknownName, outputs=outputs)


def test_misspelt_options_are_answered_with_the_nearest():
    assert "Did you mean 'rtol' or 'atol'?" in said(UnknownName, rtoll=1e-3)
    assert "Did you mean 'executor'" in said(UnknownName, excutor=2)
    assert "It is gone since 0.3" in said(UnknownName, method="cvode")
    assert "initial= is an option of model.simulate()" in said(UnknownName, start_from="steady")
    with pytest.raises(WrongCall, match="no option 'output'. Did you mean 'outputs'"):
        stick_slip().sweep(OVER, "1 s", output=["max(block.v)"])


@pytest.mark.parametrize("over, text", [
    ({"friction.coulomb_force": ["1 m"]}, "friction.coulomb_force: takes N or any unit"),
    ({"friction.coulomb_force": [1.0]},
     "friction.coulomb_force: takes N, but was given the bare number 1.0. Write '1 N'"),
    ({"friction.coulomb_force": np.array([1.0, 2.0])}, "Write quantity([…], 'N') if that is what"),
    ({"block.v": ["1 m"]}, "block.v: takes m/s or any unit convertible to it, but was given 1 m."),
    ({"friction.coulomb_force": (stats.norm(20, 1), "m")}, "friction.coulomb_force: takes N or"),
    ({"friction.coulomb_force": stats.norm(20, 1)},
     "friction.coulomb_force: takes N, but was given the bare number")])  # fmt: skip
def test_wrong_units_name_the_parameter_and_both_units(over, text):
    samples = 3 if not any(isinstance(v, (list, np.ndarray)) for v in over.values()) else None
    assert text in said(UnitError, over, samples=samples)


@pytest.mark.parametrize("over, text", [
    ({"friction.coulomb_force": ["15 N", "-1 N"]},
     "friction.coulomb_force: must be at least 0 N, but is -1 N."),
    ({"friction.coulomb_force": "1 N"}, "values, but was given '1 N'. Write [value, value, …], "
     "also for one: ['1 N']"),
    ({"rtol": 1e-3}, "is varied, so it takes a list of values"),
    ({"friction.coulomb_force": quantity("1 N")}, "is varied, so it takes a list of values"),
    ({"friction.coulomb_force": quantity([[1.0]], "N")}, "takes a plain list of values"),
    ({"friction.coulomb_force": {"1 N", "2 N"}}, "is varied over a set, which has no order"),
    ({3: ["1 N"]}, "sweep(): varies 3, which is no path."),
    ([["1 N"]], "sweep(): point 0: is ['1 N'], not a mapping of paths to values."),
    ([{"block.v": "1 m/s"}, {}], "sweep(): point 1: has nothing, but point 0 has block.v."),
    (pd.DataFrame({"block.mass [kg]": ["1 kg"]}),
     "block.mass: has a column in kg, but not all of its values are numbers."),
    (pd.DataFrame({"block.mass [kg]": [1], "block.mass [g]": [2]}),
     "was given a table with two columns of block.mass."),
    ({"friction.coulomb_force": []}, "was given an empty list"),
    ({"pull.velocity": [lambda t: t]}, "cannot be varied over functions of time"),
    ({"friction.breakaway_velocity": ["1 m/s"]}, "has no meaning with law='coulomb'"),
    ({"rtol": [2.0]}, "sweep(rtol=…): must be a number between 0 and 1"),
    ({}, "was given nothing to vary"),
    ([], "was given nothing to vary"),
    ("block.v", "takes a mapping, a list of points or a table"),
    ([{"block.v": "1 m/s"}, {"block.mass": "1 kg"}],
     "sweep(): point 1: has block.mass, but point 0 has block.v.")])  # fmt: skip
def test_values_that_do_not_fit_are_refused(over, text):
    assert text in said(ParameterError, over)


@pytest.mark.parametrize("asked, text", [
    ({"outputs": []}, "is [], so nothing of the runs would be kept"),
    ({"outputs": ["block.v"]}, "so the times to keep must be given. Say every='10 ms'"),
    ({"every": "10 ms"}, "samples whole courses, but every output is a single number"),
    ({"outputs": ["at(block.v)"]}, "says at, but not when. Write 'at(block.v, 1.5 s)'."),
    ({"outputs": ["at(block.v, 3 s)"]}, "3 s is outside the run, which covers 0 s to 0.1 s"),
    ({"outputs": {"status": "final(block.v)"}}, "has the name of a coordinate of the study"),
    ({"outputs": ["block.v"], "every": "1 ms", "over": {"block.v": ["1 m/s"]}},
     "has the name of a coordinate of the study. Give it one of its own: outputs={'kept': 'blo"),
    ({"samples": 10}, "belongs to distributions, but there is none"),
    ({"over": {"block.mass": (stats.norm(1, 0.1), "kg")}}, "must say how many samples"),
    ({"executor": "threads"}, "is 'threads', which cannot run anything"),
    ({"duration": "-1 s"}, "must be a positive time"),
    ({"outputs": None}, "is None, so nothing of the runs would be kept"),
    ({"store": 3}, "sweep(store=…): is 3, which is no path."),
    ({**SAMPLED, "samples": 2.5}, "must say how many samples of the distributions to take"),
    ({**SAMPLED, "samples": "many"}, "must say how many samples of the distributions to take"),
    ({**SAMPLED, "seed": None}, "sweep(seed=…): must be a whole number from 0 on, but is None."),
    ({**SAMPLED, "seed": -1}, "sweep(seed=…): must be a whole number from 0 on, but is -1."),
    ({"rtol": 2}, "must be a number between 0 and 1"),
    ({"atol": ["1 kg"]}, "sweep(atol=…): no variable of the model is in kg"),
    ({"start_time": "1e16 s"},
     "sweep(start_time=…): is 1e+16 s, where times are told apart by 2 s"),
    ({"max_step": "0 s"}, "must be a positive time"),
    ({"method": "rk4"}, "sweep(step=…): method 'rk4' takes fixed steps."),
    ({"method": "moreau_jean"}, "sweep(step=…): method 'moreau_jean' takes fixed steps."),
])  # fmt: skip
def test_requests_that_make_no_sense_are_refused(asked, text):
    assert text in said(ParameterError, **asked)


def test_a_list_parameter_and_an_option_of_a_composite_cannot_be_varied():
    model = wired("table", "u.y table.u",
                  table=Table1D(x=[0, 1, 2], values=[0, 1, 4]), u=Constant(value=1))
    text = said(ParameterError, {"table.x": [[0, 1, 2], [0, 2, 3]]}, model,
                outputs=["final(table.y)"])  # fmt: skip
    assert "table.x: is a list of values; a sweep varies single numbers." in text
    model = wired("shaker", shaker=bench.Shaker())
    assert "is an option of a composite" in said(ParameterError, {"shaker.linked": [True]}, model,
                                                           outputs=["final(shaker.one.v)"])


def test_a_broken_model_is_refused_before_any_run():
    model = wired("floating", "second.R ground.V", "second.C ground.V",
                  mass=Mass(), ground=Reference(), second=VelocitySource())
    found = said(StructureError, {"mass.mass": ["1 kg"]}, model, outputs=["final(mass.v)"])
    assert "second" in found


def test_what_cannot_be_sent_to_a_process_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    text = said(ParameterError, outputs={"speed": lambda r: r["block.v"].final}, executor=2)
    assert "something of this study cannot be sent to a worker" in text
    assert "at the top of a module, or install cloudpickle" in text
    model = bench.stick_slip()
    model.pull.velocity = lambda t: bench.ramp(t)
    assert said(ParameterError, model=model, executor=2).startswith("pull.velocity: is a lambda")


def test_machine_code_that_is_asked_for_and_missing_is_told_before_any_run(monkeypatch):
    monkeypatch.setattr(native, "is_installed", lambda: False)
    assert "pip install llvmlite" in said(MissingPackage, method="rk4", step="1 ms")


@pytest.mark.parametrize("package, extra, asked", [
    ("xarray", "table", {}), ("pyarrow", "sweep", {"store": "study"})])
def test_a_missing_package_is_named_with_its_extra(package, extra, asked, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    text = said(MissingPackage, **asked)
    assert package in text
    assert f"[{extra}]" in text
