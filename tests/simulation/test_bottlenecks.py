"""Does a run name who made it slow? Models whose culprit is known beforehand."""

import math

import pytest
from benches import wired

from blocks import ParameterError, load
from blocks.simulation.bottlenecks import FEWER_EVENTS
from library.electrical import ACVoltageSource, Diode, ElectricalReference, Resistor
from library.signal import Integrator, Rounding, Sine
from library.translational import (
    Damper,
    ForceSource,
    HardStop,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)


def chain():
    """Six masses on springs of 100 N/m, but the fourth spring is ten thousand times as stiff."""
    model = wired("chain", wall=Reference())
    last = model.wall.V
    for i in range(6):
        mass, spring, damper = Mass(mass="1 kg"), Spring(
            stiffness="1 MN/m" if i == 3 else "100 N/m", x="10 mm" if i == 0 else "0 mm"), Damper(
            damping="1 N*s/m")  # fmt: skip
        for name, part in (("mass", mass), ("spring", spring), ("damper", damper)):
            model.add(f"{name}{i}", part)
        model.connect(mass.M, spring.R, damper.R)
        model.connect(spring.C, damper.C, last)
        last = mass.M
    return model


def dragged(law):
    return wired("dragged", "body.M rub.R spring.R", "rub.C floor.V pull.C", "pull.R spring.C",
                 body=Mass(mass="1 kg"), floor=Reference(), spring=Spring(stiffness="1 kN/m"),
                 pull=VelocitySource(velocity="0.1 m/s"),
                 rub=TranslationalFriction(law=law, coulomb_force="5 N", breakaway_force="8 N"))


def test_a_stiff_spring_among_soft_ones_holds_an_explicit_method_back():
    slow = chain().simulate("1 s", method="ode45").bottlenecks()
    assert slow[0].component == "spring3" and slow[0].steps > 0.9
    # w = sqrt(2 k / m): an explicit pair of order five is stable up to h w of 1, where nothing
    # damps, to 3.3, where nothing swings
    assert 1.0 <= slow[0].length * math.sqrt(2e6) <= 3.3
    assert slow["spring3"].variable in ("mass2.v", "mass3.v") and "'rodas4'" in slow[0].advice
    assert all(term.steps < 0.05 for term in slow[1:])


def test_a_method_that_steps_over_it_is_not_held_back_by_it():
    slow = chain().simulate("1 s", method="rodas4").bottlenecks()
    assert slow[0].component == "spring0"  # which was pulled
    assert all(term.component != "spring3" or term.steps < 0.05 for term in slow)


def test_bristles_that_bend_are_named():
    slow = dragged("lugre").simulate("0.5 s", method="ode45").bottlenecks()
    assert slow[0].component == "rub" and slow[0].steps > 0.4


def test_who_makes_the_events_is_counted():
    run = dragged("coulomb").simulate("2 s")
    slow = run.bottlenecks()
    assert slow["rub"].events == len(run.events.of("rub")) > 10
    assert slow.shares.restarts > 0.05


def test_a_bouncing_contact_is_named_for_steps_and_events():
    model = wired("ball", "ball.M weight.R stop.R", "weight.C floor.V stop.C",
                  ball=Mass(mass="1 kg"), floor=Reference(), weight=ForceSource(force="-9.81 N"),
                  stop=HardStop(upper_bound="10 m", lower_bound="-0.1 m"))
    run = model.simulate("2 s", method="dopri5")
    (stop, *others) = run.bottlenecks()
    assert stop.component == "stop" and stop.steps > 0.5
    assert stop.events == len(run.events) and all(not other.events for other in others)


def test_the_loop_that_iterates_is_named():
    """A diode behind a resistor is a loop, which the diode bends."""
    model = wired("loops", "source.p limit.p", "limit.n diode.p", "diode.n source.n earth.V",
                  source=ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
                  earth=ElectricalReference(), limit=Resistor(resistance="100 ohm"),
                  diode=Diode(model="exponential"))
    slow = model.simulate("40 ms").bottlenecks()
    assert {term.component: term.iterations for term in slow if term.iterations} == {"diode": 1.0}
    assert "makes it a state" in slow["diode"].advice


def test_known_instants_and_fixed_steps_are_nobodys_fault():
    model = dragged("coulomb")
    fixed = model.simulate("0.2 s", method="backward_euler", step="1 ms").bottlenecks()
    assert not any(term.steps for term in fixed) and fixed.shares.limits > 0.5
    short = chain().simulate("5 ms", method="ode45", max_step="10 us").bottlenecks()
    assert short.shares.limits > 0.9


def test_it_is_told_as_a_table_and_in_the_report(tmp_path):
    run = dragged("coulomb").simulate("0.5 s")
    text = str(run.bottlenecks())
    assert "share of steps" in text and "rub" in text and "steps;" in text
    pytest.importorskip("pandas")
    assert list(run.bottlenecks().to_pandas()["component"])[-1] == "rub"
    assert 'id="bottlenecks"' in run.report().html
    run.save(tmp_path / "run.parquet")
    again = load(tmp_path / "run.parquet")
    with pytest.raises(ParameterError, match="holds samples and no steps. Ask it before the run"):
        again.bottlenecks()
    assert 'id="bottlenecks"' not in again.report().html


def test_advice_on_many_events_is_of_what_makes_them():
    model = wired("counted", "turn.y marks.u", "marks.y sum.u",
                  turn=Sine(amplitude="1", frequency="1 Hz"), marks=Rounding(step=0.01),
                  sum=Integrator())
    (counted,) = model.simulate("1 s").bottlenecks()
    assert counted.component == "marks" and counted.events == 400
    assert counted.advice == FEWER_EVENTS[""]
    rubs = {b.component: b for b in dragged("coulomb").simulate(
        "4 s", method="DOP853", rtol=1e-3).bottlenecks()}
    assert "moreau_jean" in rubs["rub"].advice and "hysteresis" not in rubs["rub"].advice
