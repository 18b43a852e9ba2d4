"""Friction maps: the law they were made with is found, and what they cannot tell is said."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benches import wired

from blocks import cos, quantity, sin
from blocks.exceptions import ParameterError
from library.friction_studies.identification import CURVES, identify_friction
from library.friction_studies.motion import identify_friction_motion
from library.translational import Reference, TranslationalFriction, VelocitySource

DATA = Path(__file__).parents[1] / "data/analysis"


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
