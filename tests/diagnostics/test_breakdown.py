"""Is a run that breaks down reported against the component whose equation has no value?"""

import pytest
from benches import wired

from blocks import Parameter, SimulationError, UnknownName, Variable, der, log, quantity, sqrt
from library.translational import ForceSource, Mass, Reference, TwoPort


class Bristle(TwoPort):
    """A force that has no value beyond a limit."""

    limit = Parameter("0.5 m")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("1 N/m^(1/2)") * sqrt(self.limit - self.x)


class Vapour(Bristle):
    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("1 N") * log(1 - self.x / self.limit)


@pytest.mark.parametrize("method", ["auto", "Radau", "rk4"])
@pytest.mark.parametrize(("part", "equation"), [
    (Bristle, "rail.f == sqrt(rail.limit - rail.x)"),
    (Vapour, "rail.f == log(1 - rail.x/rail.limit)"),
])
def test_a_root_or_logarithm_of_a_negative_number_is_laid_at_its_components_door(
    method, part, equation
):
    model = wired("broken", "block.M rail.R", "rail.C ground.V",
                  block=Mass(v="1.5 m/s"), rail=part(), ground=Reference())
    step = "1 ms" if method == "rk4" else None
    with pytest.raises(SimulationError) as caught:
        model.simulate("3 s", method=method, step=step)
    assert caught.value.where == "rail"
    assert equation in str(caught.value)
    assert "a root or logarithm of a negative number" in caught.value.advice
    assert caught.value.result["block.v"].final.m > 0


@pytest.mark.parametrize("method", ["auto", "Radau"])
def test_a_pole_of_a_source_is_laid_at_the_sources_door(method):
    model = wired("pole", "block.M push.R", "push.C ground.V",
                  block=Mass(), ground=Reference(),
                  push=ForceSource(force=lambda t: quantity("1 N*s") / (t - quantity("0.5 s"))))
    with pytest.raises(SimulationError, match=r"push\.S == 1/\(time - 0\.5\)") as caught:
        model.simulate("1 s", method=method)
    assert caught.value.where == "push"
    assert caught.value.time == pytest.approx(0.5, abs=1e-9)


def test_a_motion_that_grows_without_bound_is_no_components_fault():
    class Avalanche(TwoPort):
        def equations(self):
            yield self.f == -quantity("1 N*s^2/m^2") * self.v**2

    model = wired("avalanche", "block.M snow.R", "snow.C ground.V",
                  block=Mass(v="1 m/s"), snow=Avalanche(), ground=Reference())
    with pytest.raises(SimulationError, match="grows without bound") as caught:
        model.simulate("2 s")  # v = 1/(1 - t)
    assert caught.value.where == ""
    assert caught.value.time == pytest.approx(1.0, abs=1e-6)


def test_an_unknown_name_is_an_attribute_of_the_error():
    with pytest.raises(UnknownName) as caught:
        Mass().masss  # noqa: B018
    assert caught.value.name == "masss"
    assert caught.value.nearest == ["mass"]


def test_a_damper_of_the_wrong_sign_is_no_division_by_zero():
    class Fed(TwoPort):
        def equations(self):
            yield self.f == -quantity("1 kN*s/m") * self.v

    model = wired("fed", "block.M fed.R", "fed.C ground.V",
                  block=Mass(v="1 m/s"), fed=Fed(), ground=Reference())
    with pytest.raises(SimulationError, match=r"^block: .* block\.v has grown to .*: look for what "
                       "feeds it, such as a source, or a damper or a resistor of the wrong sign"
                       ) as caught:
        model.simulate("2 s")  # v = exp(1000 t): beyond all numbers from 0.71 s on
    assert caught.value.time == pytest.approx(0.7, abs=0.02)
