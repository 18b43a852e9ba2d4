"""Targets that contradict each other and derivatives that are not finite are found before a run."""

import warnings

import pytest
from benches import wire, wired
from benches.translational import OneWay
from benches.wrong_models import Pole, Split, UnboundedMass, only, says, sound

import blocks
import library.translational as tr
from blocks import Component, InitialWarning, Parameter, Target, Variable, der, quantity, sin, time
from blocks.exceptions import InitialisationError, SimulationError
from library.electrical import Capacitor, DCVoltageSource, ElectricalReference
from library.signal import Constant
from library.thermal import ThermalMass, VariableThermalResistance


def test_different_high_targets_of_joined_masses_conflict():
    model = sound()
    model.block.v = "2 m/s"
    wire(model, "other.M block.M", other=tr.Mass(v="1 m/s"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # check() tells it, it does not warn
        finding = only(model)
    assert (finding.code, finding.severity) == ("initial.conflict", "warning")
    says(finding, "initial.conflict", ("block.v", "other.v"),
         "block.v = 2 m/s and other.v = 1 m/s cannot all be met … starts with block.v = 1.5 m/s "
         "and other.v = 1.5 m/s. … v=Target('1 m/s', priority='low')")
    model.other.v = Target("1 m/s", priority="low")
    assert len(model.check()) == 0


def test_a_target_that_the_network_overrules_is_to_be_removed():
    model = wired("charged", "source.p store.p", "source.n store.n ground.V",
                  source=DCVoltageSource(voltage="5 V"), store=Capacitor(vc="1 V"),
                  ground=ElectricalReference())
    says(only(model), "initial.conflict", ["store.vc"], "store.vc = 1 V cannot be met … starts "
         "with store.vc = 5 V. … Remove it or let it give way: vc=Target('1 V', priority='low').")


def test_a_stop_that_starts_beyond_its_bound_is_told_to_start_within():
    model = sound("stop.R block.M", "stop.C ground.V",
                  stop=tr.HardStop(model="restitution", upper_bound="0.1 m", x="0.2 m"))
    says(only(model), "contact.overlap", ["stop"], "overlap by 100 mm … upper_bound")


def test_conflicting_targets_are_found_in_a_long_chain():
    n = 1000
    model = wired("chain", m=tr.Mass(count=n), s=tr.Spring(count=n), extra=tr.Mass(v="1 m/s"))
    model.m.v = [f"{k} m/s" for k in range(n)]
    wire(model, "s.R m.M", "s[:-1].C m[1:].M", "extra.M m[700].M")
    conflict = model.check().filter(code="initial.conflict")
    assert len(conflict) == 1
    assert conflict[0].where == ("m[700].v", "extra.v")


def test_a_mass_of_zero_is_found_with_its_parameter():
    model = sound("other.M spring.R", "spring.C ground.V",
                  other=UnboundedMass(mass="0 kg"), spring=tr.Spring())
    says(only(model), "initial.dependent", ["other"],
         "An equation of other determines nothing … \n    other.mass*der(other.v) == other.M.f\n"
         "Give other.mass a value other than zero")
    with pytest.raises(InitialisationError):
        model.check().raise_errors()


def test_two_dampers_without_damping_leave_the_node_between_them_open():
    model = sound("a.R block.M", "a.C b.R", "b.C ground.V",
                  a=tr.Damper(damping="0 N*s/m"), b=tr.Damper(damping="0 N*s/m"))
    says(only(model), "initial.dependent", "ab",
         "a and b depend on each other … \n    a.f == a.damping*a.v\n    b.f == b.damping*b.v … "
         "Give a.damping and b.damping a value other than zero")
    model.a.damping = "1 N*s/m"
    assert len(model.check()) == 0


@pytest.mark.parametrize(("stiffness", "free_length"), [(1e5, 0.01), (879e3, 1e-7)])
def test_what_gives_way_with_nothing_at_its_port_is_open_on_one_side(stiffness, free_length):
    """A gap that starts compressed carries nothing where it moves at k x / d, and where it is
    faster; any mass or damper at its port settles that."""
    model = sound()
    model.gap = tr.ElastoGap(stiffness=f"{stiffness} N/m", damping="150 N*s/m",
                             free_length=f"{free_length} m")
    model.connect(model.gap.C, model.ground.V)
    finding, = model.check().errors
    says(finding, "initial.undetermined", ["gap.v"],
         "nothing determines gap.v: whatever is on one side … A port of gap is connected to")
    wire(model, "gap.R load.R", "load.C ground.V", load=tr.Damper(damping="2 N*s/m"))
    assert len(model.check()) == 0


def test_a_law_that_starts_at_its_corner_and_leaves_it_is_not_open():
    """A damper of one direction in series with a spring that the motion pulls from the start on."""
    model = sound()
    model.damper.damping = "0 N*s/m"
    model.block.v, model.spring, model.gives = "1 m/s", tr.Spring(), OneWay()
    wire(model, "block.M spring.R", "spring.C gives.R", "gives.C ground.V")
    assert len(model.check()) == 0
    with pytest.raises(SimulationError, match="no equation determines them") as stopped:
        model.simulate("10 s", method="dopri5")  # it comes back, and nothing holds the node
    assert "Give the node a mass" in stopped.value.advice
    assert "spring.C = gives.R" in stopped.value.advice


def test_a_derivative_that_is_not_finite_is_named_with_its_equation():
    model = wired("pole", p=Pole())
    says(only(model), "initial.derivative", ["p.x"],
         "p.x is not a finite number at the start (inf) … \n    der(p.x) == 1/p.x … division by "
         "zero … at p (p.x = 0 m). … sign(d) * sqrt(abs_(d)) for d / sqrt(abs_(d))")
    model.p.x = "1 m"
    assert len(model.check()) == 0


def test_a_node_that_bodies_hold_is_given_no_thermal_mass():
    """Two bodies of different temperatures that no resistance keeps apart."""
    model = wired("joined", "a.M r.A", "b.M r.B", "zero.y r.R",
                  a=ThermalMass(), b=ThermalMass(T="400 K"), zero=Constant(value="0 K/W"),
                  r=VariableThermalResistance())
    error, = model.check().errors
    assert error.advice.startswith("Look for a division by zero")


def test_a_source_without_a_value_at_the_start_is_named():
    model = sound("push.R block.M", "push.C ground.V",
                  push=tr.ForceSource(
                      force=lambda t: quantity("1 N") * blocks.sqrt(t / quantity("1 s") - 1)))
    says(only(model), "initial.derivative", ["block.v"],
         "not a finite number at the start (nan) … \n    push.S == sqrt(time - 1)")


def test_equations_that_contradict_each_other_are_found_without_a_derivative():
    says(only(wired("split", s=Split())), "initial.dependent", "s",
         "repeat or contradict each other … \n    s.x + s.y == 1\n    s.x + s.y == 2 … of s")


class Arc(tr.TwoPort):
    """Force and deformation lie on an ellipse."""

    most, reach = Parameter("1 N"), Parameter("1 m")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield (self.f / self.most) ** 2 + (self.x / self.reach) ** 2 == 1


@pytest.mark.parametrize(("x", "force"), [("0.6 m", 0.8), ("2 m", None)])
def test_a_start_beyond_the_reach_of_a_law_is_not_found(x, force):
    model = wired("arc", "block.M arc.R", "arc.C ground.V", block=tr.Mass(), ground=tr.Reference(),
                  arc=Arc(x=x, f=Target("1 N", priority="none")))
    if force:
        assert len(model.check()) == 0
        assert model.simulate("10 ms")["arc.f"].initial.m == pytest.approx(force, rel=1e-9)
        return
    says(only(model), "initial.failed", ["block.f"],
         "at t = 0 s the algebraic unknowns block.f could not be solved for … Give initial targets")


def test_a_stop_and_a_port_left_open_are_told_without_a_crash():
    model = wired("open", "stop.C ground.V", "spring.C ground.V",
                  block=tr.Mass(), stop=tr.HardStop(), spring=tr.Spring(), ground=tr.Reference())
    assert "initial.derivative" in model.check()
    assert any("stop" in f.advice for f in model.check().errors)


def test_a_position_prescribed_through_too_many_integrations_is_refused_in_words():
    class Chain(Component):
        """x1 is prescribed, and follows from u through eight integrations."""

        x, u = Variable(lambda c: ["1"] * 8), Variable("1/s")

        def equations(self):
            for before, after in zip(self.x, self.x[1:], strict=False):
                yield der(before) == after * quantity("1 1/s")
            yield der(self.x[-1]) == self.u
            yield self.x[0] == sin(quantity("1 rad/s") * time)

    finding = only(wired("far", chain=Chain()))
    says(finding, "structure.endless", finding.where,
         "What chain prescribes … more than 7 times:\n    chain.x1 == sin(time)")


def test_sums_that_contradict_each_other_are_named_and_not_differentiated():
    class Twice(Component):
        """Says the difference of p and q twice, as another function of time each time."""

        p, q, x, y = Variable("1"), Variable("1"), Variable("1"), Variable("1")

        def equations(self):
            yield self.p - self.q == self.x
            yield self.p - self.q == self.y
            yield self.x == sin(quantity("1 rad/s") * time)
            yield self.y == blocks.cos(quantity("1 rad/s") * time)

    finding = only(wired("twice", twice=Twice()))
    says(finding, "structure.singular", ("twice",), "twice.x == sin(time)\n"
         "    twice.y == cos(time)\nwhile nothing determines twice.p and twice.q.")


def test_a_target_for_what_is_computed_for_results_only_is_said_to_have_no_effect():
    model = wired("swing", "block.M spring.R", "spring.C ground.V", block=tr.Mass(v="1 m/s"),
                  ground=tr.Reference(), spring=tr.Spring(energy_stored="5 J"))
    (finding,) = model.check()
    assert (finding.code, finding.severity) == ("initial.computed", "warning")
    assert finding.where == ("spring.energy_stored",)
    assert "has no effect" in finding.problem
    for start in (model.initial_values, lambda: model.simulate("0.1 s")):  # so does a run
        with pytest.warns(InitialWarning, match="target of spring.energy_stored has no effect"):
            start()


def test_a_preset_that_the_network_overrules_is_told():
    model = wired("charged at once", "source.p store.p", "source.n store.n ground.V",
                  source=DCVoltageSource(voltage="5 V"), store=Capacitor(),
                  ground=ElectricalReference())
    finding = only(model)
    assert (finding.code, finding.severity) == ("initial.default", "info")
    says(finding, "initial.default", ["store.vc"], "store.vc = 5 V instead of 0 V, which its class")
    model.source.voltage = "0 V"
    assert len(model.check()) == 0


def test_a_preset_that_gives_way_to_what_was_asked_for_is_no_news():
    model = sound()
    model.block.v, model.other = "2 m/s", tr.Mass()
    model.connect(model.other.M, model.block.M)
    assert len(model.check()) == 0
