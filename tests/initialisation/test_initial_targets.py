"""What becomes of initial targets that the circuit ties together."""

import warnings

import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Target
from blocks.initialisation.initial_values import InitialWarning
from library.translational import Mass, Reference, Spring


def in_series(first, second, stiffness="100 N/m"):
    """Two springs that carry one force: deformations in the ratio of compliances."""
    return wired("series", "body.M a.R", "a.C b.R", "b.C ground.V",
                 body=Mass(), a=Spring(stiffness="100 N/m", x=first),
                 b=Spring(stiffness=stiffness, x=second), ground=Reference())


def in_parallel(first, second):
    return wired("parallel", "body.M a.R b.R", "a.C b.C ground.V",
                 body=Mass(), a=Spring(x=first), b=Spring(x=second), ground=Reference())


def joined(first, second):
    """Two masses on one node."""
    return wired("joined", "a.M b.M", a=Mass(v=first), b=Mass(v=second))


def start(model, name, unit):
    run = model.simulate("1 us")
    return [run[f"{part}.{name}"].initial.to(unit).magnitude for part in "ab"]


def low(value):
    return Target(value, priority="low")


def quietly(model, name, unit):
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitialWarning)
        return start(model, name, unit)


def test_two_low_targets_in_series_meet_in_the_middle():
    assert_allclose(quietly(in_series(low("0.1 m"), low("0.3 m")), "x", "m"), 0.2, rtol=1e-10)


def test_a_high_target_in_series_wins_over_a_low_one():
    assert_allclose(quietly(in_series("0.1 m", low("0.3 m")), "x", "m"), 0.1, rtol=1e-10)
    assert_allclose(quietly(in_series(low("0.3 m"), "0.1 m"), "x", "m"), 0.1, rtol=1e-10)


def test_two_high_targets_in_series_are_a_warning_and_a_compromise():
    with pytest.warns(InitialWarning, match=r"a\.x.*b\.x") as warned:
        found = start(in_series("0.1 m", "0.3 m"), "x", "m")
    assert_allclose(found, 0.2, rtol=1e-10)
    (one,) = warned  # it names the line that asked for the run
    assert one.filename == __file__
    assert one.lineno == start.__code__.co_firstlineno + 1


def test_the_force_balance_holds_however_targets_conflict():
    # twice as stiff: x_b = x_a / 2; least squares of (x_a - 0.1, x_a/2 - 0.3) is x_a = 0.2
    found = quietly(in_series(low("0.1 m"), low("0.3 m"), stiffness="200 N/m"), "x", "m")
    assert_allclose(found, [0.2, 0.1], rtol=1e-10)


def test_low_targets_of_a_variable_nobody_ties_are_met():
    assert_allclose(
        quietly(in_parallel(low("0.1 m"), low("0.3 m")), "x", "m"), [0.1, 0.3], rtol=1e-12
    )


def test_springs_in_parallel_keep_their_own_deformations():
    # velocity-based mechanics knows no places, so nothing says that both are equally long
    assert_allclose(quietly(in_parallel("0.1 m", "0.3 m"), "x", "m"), [0.1, 0.3], rtol=1e-12)


def test_low_velocities_of_joined_masses_meet_in_the_middle():
    assert_allclose(quietly(joined(low("1 m/s"), low("3 m/s")), "v", "m/s"), 2.0, rtol=1e-10)


def test_a_high_velocity_of_a_joined_mass_wins_over_a_low_one():
    assert_allclose(quietly(joined(low("3 m/s"), "1 m/s"), "v", "m/s"), 1.0, rtol=1e-10)


def test_a_velocity_somebody_gave_wins_over_the_default_of_a_joined_mass():
    model = wired("joined", "a.M b.M", a=Mass(v=low("3 m/s")), b=Mass())
    assert_allclose(quietly(model, "v", "m/s"), 3.0, rtol=1e-10)


def test_two_high_velocities_of_joined_masses_are_a_warning_and_a_compromise():
    with pytest.warns(InitialWarning, match=r"a\.v.*b\.v"):
        found = start(joined("1 m/s", "3 m/s"), "v", "m/s")
    assert_allclose(found, 2.0, rtol=1e-10)


def test_nominal_values_weigh_conflicting_targets():
    # (x - 0.1)/0.1 against (x - 0.3)/0.2: minimum of their squares at 0.14
    first = Target("0.1 m", priority="low", nominal="0.1 m")
    second = Target("0.3 m", priority="low", nominal="0.2 m")
    assert_allclose(quietly(in_series(first, second), "x", "m"), 0.14, rtol=1e-10)


def test_the_table_of_the_start_keeps_the_units_the_targets_were_written_in():
    model = in_series("30 mm", Target("2 cm", priority="low"))
    model.body.v = "36 km/hour"
    rows = {p: (a, b) for p, a, b in zip(*(model.initial_values().columns[c] for c in (
        "variable", "target", "start")), strict=True)}  # fmt: skip
    assert rows["body.v"] == ("36 km/h", "36 km/h")
    assert rows["a.x"] == ("30 mm", "30 mm")
    assert rows["b.x"] == ("2 cm", "3 cm")  # equal stiffness, one force
