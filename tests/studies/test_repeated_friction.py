"""Runs with exact friction that a study begins without what they have in common."""

import sys

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks.studies import spread
from blocks.studies.runner import InProcess
from blocks.studies.sequential import Repeated
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource
from tests.studies.bench import stick_slip

OUTPUTS = ["max(spring.f)", "min(block.v)", "initial(spring.f)", "final(block.v)",
           "at(friction.f, 0.7 s)", "spring.x"]  # fmt: skip


@pytest.fixture
def chosen(monkeypatch):
    """What runs the points of the studies of a test."""
    made = []
    choose = spread.runner_for
    monkeypatch.setattr(sys.modules["blocks.studies.sweep"], "runner_for",
                        lambda *given: made.append(choose(*given)) or made[-1])
    return made


@pytest.mark.parametrize("law", ["coulomb", "stribeck"])
def test_every_run_is_the_one_that_simulate_makes(law, chosen):
    model = stick_slip()
    model.friction.law = law
    over = {"pull.velocity": ["0.05 m/s", "-0.1 m/s"], "friction.coulomb_force": ["5 N", "20 N"],
            "block.v": ["0 m/s", "0.3 m/s"], "spring.stiffness": ["0.5 kN/m"]}
    study = model.sweep(over, "2 s", outputs=OUTPUTS, every="0.1 s", rtol=1e-7)
    assert isinstance(chosen[0], Repeated)
    assert chosen[0].execution == "one by one, in machine code from start to end"
    for point in np.ndindex(2, 2, 2, 1):
        for (path, values), k in zip(over.items(), point, strict=True):
            component, name = path.split(".")
            setattr(getattr(model, component), name, values[k])
        result = model.simulate("2 s", rtol=1e-7)
        alone = [result["spring.f"].max(), result["block.v"].min(), result["spring.f"].initial,
                 result["block.v"].final, result["friction.f"].at("0.7 s")]  # fmt: skip
        for name, value in zip(OUTPUTS, alone, strict=False):
            found = study[name].values[point]
            assert found == pytest.approx(value.m_as(study[name].attrs["units"]), rel=1e-12,
                                          abs=1e-14), name
        course = result["spring.x"].at([f"{t} s" for t in study["time"].values])
        assert study["spring.x"].values[point] == pytest.approx(
            course.m_as(study["spring.x"].attrs["units"]), rel=1e-12)


def test_a_run_that_is_read_with_others_is_what_it_is_alone(chosen):
    model = wired("blocks on a belt", "belt.R frictions.R", "frictions.C blocks.M springs.R",
                  "springs.C belt.C frame.V",
                  belt=VelocitySource(), frame=Reference(), blocks=Mass(count=2),
                  springs=Spring(count=2, stiffness=["80 N/m", "120 N/m"]),
                  frictions=TranslationalFriction(count=2, law="coulomb", coulomb_force="5 N"))
    outputs = ["max(springs.f)", "min(frictions.f)", "final(blocks.v)", "springs.x"]

    def study(*velocities):
        return model.sweep({"belt.velocity": list(velocities)}, "2 s", outputs=outputs,
                           every="0.5 s", start_time="1 s")  # fmt: skip

    together, alone = study("0.1 m/s", "0.3 m/s", "-0.2 m/s"), study("0.3 m/s")
    assert all(isinstance(one, Repeated) and not one.alone for one in chosen)
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
    assert isinstance(chosen[0], Repeated)
    assert chosen[0].execution.endswith("3 of them by themselves after all")
    assert study["status"].values.tolist() == [["finished", "failed"], ["finished", "failed"]]
    assert "breakaway" in study["message"].values[0, 1]
    model.spring.stiffness = "1e7 N/m"
    single = model.simulate("2 s")["spring.f"].final.m_as("N")
    assert study["final(spring.f)"].values[1, 0] == pytest.approx(single, rel=1e-12)


def test_a_study_whose_runs_do_more_than_slide_is_run_one_by_one(chosen):
    model = stick_slip()
    model.sweep({"pull.velocity": ["0.1 m/s", "0.2 m/s"]}, "0.1 s", outputs="final(block.v)",
                method="DOP853")  # fmt: skip
    assert isinstance(chosen[0], InProcess)
    assert chosen[0].execution.endswith("another method was asked for")
