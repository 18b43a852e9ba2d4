"""A start that was found is found again without solving, until something changes."""

import numpy as np
import pytest
from benches import wire, wired

from blocks import Component, Discrete, Model, Parameter, Variable, der, every, quantity
from library.thermal import ConductingRod, RadiativeHeatTransfer, TemperatureSource
from library.translational import Damper, Mass, Reference, Spring, TranslationalFriction


def oscillator(**parts):
    model = wired("oscillator", "mass.M spring.R damper.R", "ground.V spring.C damper.C",
                  mass=Mass(mass="1 kg"), spring=Spring(stiffness="10 N/m", x="5 cm"),
                  damper=Damper(damping="1 N*s/m"), ground=Reference())
    for name, part in parts.items():
        model.add(name, part)
        model.connect(getattr(model, name).R, model.mass.M)
        model.connect(getattr(model, name).C, model.ground.V)
    return model


@pytest.mark.parametrize("parts", [{}, {"friction": lambda: TranslationalFriction(law="coulomb")}])
def test_a_second_run_gives_the_same_numbers(parts):
    model = oscillator(**{name: make() for name, make in parts.items()})
    first = model.simulate("1 s")["mass.v"].magnitude
    assert np.array_equal(model.simulate("1 s")["mass.v"].magnitude, first)


def test_values_and_targets_are_starts_of_their_own():
    model = oscillator()
    assert model.simulate("0.1 s")["spring.x"].initial.to("cm").magnitude == pytest.approx(5)
    model.spring.x = "7 cm"
    assert model.simulate("0.1 s")["spring.x"].initial.to("cm").magnitude == pytest.approx(7)
    model.spring.stiffness = "20 N/m"
    assert model.simulate("0.1 s")["spring.f"].initial.to("N").magnitude == pytest.approx(1.4)


def test_a_run_that_is_asked_the_same_is_the_same_and_with_other_times_another():
    model = oscillator()
    first, again = (model.simulate("1 s", rtol=1e-8) for _ in range(2))
    assert np.array_equal(first["mass.v"].magnitude, again["mass.v"].magnitude)
    assert first.statistics["method"] == again.statistics["method"]
    assert first.recording.accuracy[0] == again.recording.accuracy[0] == 1e-8
    model.simulate("1 s", rtol=1e-8, times=quantity([0.25, 0.5], "s"))  # not to be compared
    sampled = model.simulate("1 s", rtol=1e-8, times=quantity([0.5, 0.75], "s"))
    assert sampled.time.magnitude.tolist() == [0.5, 0.75]


def test_what_was_decided_is_decided_anew_where_values_have_changed():
    model = oscillator()
    mild = model.simulate("1 s")
    assert "stiff" not in mild.statistics["why"] or "not stiff" in mild.statistics["why"]
    model.damper.damping = "1e6 N*s/m"
    assert model.simulate("1 s").statistics["method"] != mild.statistics["method"]
    model.damper.damping = "1 N*s/m"
    back = model.simulate("1 s")
    assert back.statistics["method"] == mild.statistics["method"]
    assert np.array_equal(back["mass.v"].magnitude, mild["mass.v"].magnitude)
    assert back.recording.made_with().parameters["damper.damping"].to("N*s/m").magnitude == 1


def test_the_fastest_rate_of_a_rod_with_an_unknown_at_its_end_needs_no_full_matrix():
    model = Model("rod")
    model.hot, model.cold = (TemperatureSource(temperature=f"{T} K") for T in (1000, 300))
    wire(model, "hot.A rod.A", "rod.B end.A", "end.B cold.A",
         rod=ConductingRod(segments=40), end=RadiativeHeatTransfer())
    problem = model.simulate("1 s").recording.problem
    y = problem.solver_vector()
    assert problem.algebraic == 1
    full = problem.slope_jacobian(1.0, y).toarray()
    product = problem._jacobian_product(1.0, y)
    for column in np.eye(problem.size)[::7]:
        np.testing.assert_allclose(product(column), full @ column, rtol=0,
                                   atol=1e-12 * abs(full).max())
    problem.z *= 1 + 1e-9  # as an event may leave it
    here = problem.z.copy()
    assert problem.fastest_rate(1.0, y) == pytest.approx(
        np.abs(np.linalg.eigvals(full)).max(), rel=0.05)
    assert np.array_equal(problem.z, here)  # who looks changes nothing


class Switched(Component):
    """A decay whose sampled gain is 0 before the first sample, at the start, and 1 after."""

    rate = Parameter("5e6 1/s")
    x = Variable("1", 1.0, priority="high")
    gain = Discrete("1", 0.0)

    def equations(self):
        yield every("10 s", {self.gain: 1.0})
        yield der(self.x) == -self.rate * self.gain * self.x - quantity("0.1 1/s") * self.x**2


@pytest.mark.parametrize("looked", [False, True])
def test_the_method_is_that_of_the_point_at_which_a_run_moves_off(looked):
    """Whether a check or an earlier run has decided there before, or nobody."""
    model = wired("switched", part=Switched())
    if looked:
        model.check()
    runs = [model.simulate("3 s") for _ in range(2)]
    assert runs[0].statistics["method"] == runs[1].statistics["method"]
    assert runs[0].statistics["why"] == runs[1].statistics["why"]
    assert "became stiff" not in runs[0].statistics["why"]
    assert np.array_equal(runs[0]["part.x"].magnitude, runs[1]["part.x"].magnitude)
