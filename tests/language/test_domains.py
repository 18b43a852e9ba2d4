"""Domains as data, and components that follow one of many laws."""

import pickle

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
from blocks import BlocksError, Component, Domain, Parameter, Port, UnitError, Variable, quantity
from library.frictionlaws import FrictionLaw, LoadLaw, shift, velocity
from library.rotational import RotationalFriction
from library.translational import Mass, Reference, TranslationalFriction, translational

rail = Domain("rail", across={"v": "m/s", "x": "m"}, through={"f": "N"}, rates={"x": "v"},
              parameters={"slope": "2 m/s^2", "drag": "0 N*s/m"})  # fmt: skip


class Wagon(Component):
    P = Port(rail)
    mass = Parameter("1 kg", above=0)
    x, v = Variable("m"), Variable("m/s")

    def equations(self):
        yield self.x == self.P.x
        yield self.v == self.P.v
        yield self.mass * (blocks.der(self.v) - self.P.slope) == self.P.f - self.P.drag * self.v


class Coupling(Component):
    R, C = Port(rail), Port(rail)
    stiffness, length = Parameter("1 kN/m"), Parameter("1 m")

    def equations(self):
        yield self.R.f == self.stiffness * (self.R.x - self.C.x - self.length)
        yield self.R.f + self.C.f == 0


class Wall(Component):
    P = Port(rail)
    x = Parameter("0 m")

    def equations(self):
        yield self.P.x == self.x


class Weather(Component):
    P = Port(rail, sets=True)
    slope, drag = Parameter("0 m/s^2"), Parameter("0 N*s/m")

    def equations(self):
        yield self.P.slope == self.slope
        yield self.P.drag == self.drag
        yield self.P.f == 0


def test_positions_follow_their_velocities_at_every_node():
    run = wired("free", wagon=Wagon(x="3 m", v="1 m/s")).simulate("2 s", rtol=1e-10)
    assert_allclose([run["wagon.x"].final.m, run["wagon.P.v"].final.m], [3 + 2 + 4, 1 + 4])


def test_two_bodies_at_one_node_share_position_and_velocity():
    model = wired("joined", "a.P b.P", a=Wagon(x="1 m", v="0 m/s"), b=Wagon(mass="3 kg"))
    assert model.structure().states == 2
    run = model.simulate("1 s", rtol=1e-10)
    assert_allclose([run["b.x"].final.m, run["b.v"].final.m], [2, 2])


def test_a_position_held_by_a_wall_has_no_velocity():
    run = wired("held", "wagon.P wall.P", wagon=Wagon(), wall=Wall(x="5 m")).simulate("1 s")
    assert [run[f"wagon.{n}"].final.m for n in ("x", "v")] == [5, 0]
    assert_allclose(run["wall.P.f"].final.m, 2.0)  # into the wall


def test_a_parameter_of_a_domain_is_the_same_throughout_a_circuit_and_not_beyond():
    model = wired("two circuits", "a.P spring.R", "spring.C b.P weather.P",
                  a=Wagon(x="0 m"), b=Wagon(x="-1 m"), spring=Coupling(),
                  weather=Weather(slope="-3 m/s^2"), alone=Wagon())
    run = model.simulate("1 s", rtol=1e-10)
    assert_allclose([run[f"{n}.v"].final.m for n in ("a", "b", "alone")], [-3, -3, 2], rtol=1e-9)
    model.weather.slope = "1 m/s^2"  # a value, no new structure
    assert_allclose(model.simulate("1 s", rtol=1e-10)["a.v"].final.m, 1, rtol=1e-9)


def test_a_parameter_set_twice_in_a_circuit_is_refused_with_both_names():
    model = wired("twice", "wagon.P sun.P rain.P", wagon=Wagon(), sun=Weather(), rain=Weather())
    text = str(model.check())
    assert "sun" in text
    assert "rain" in text


def test_energy_counts_forces_with_their_velocities():
    model = wired("energy", "wall.P spring.C", "spring.R wagon.P",
                  wagon=Wagon(x="1.5 m"), wall=Wall(), spring=Coupling())
    run = model.simulate("1 s", rtol=1e-10)
    with pytest.warns(blocks.EnergyWarning, match="wagon and spring say nothing of energy"):
        (spring,) = [t for t in run.energy() if t.component == "spring"]
    stretch = run["wagon.x"].magnitude - 1
    assert_allclose(spring.work_in, 500 * (stretch[-1] ** 2 - stretch[0] ** 2), rtol=1e-6)
    assert np.ptp(stretch) > 0.5


def test_a_rate_of_another_dimension_is_refused():
    with pytest.raises(UnitError, match="not the time derivative of x"):
        Domain("wrong", across={"x": "m", "v": "m"}, through={"f": "N"}, rates={"x": "v"})
    with pytest.raises(blocks.UnknownName, match="'w'"):
        Domain("wrong", across={"x": "m", "v": "m/s"}, through={"f": "N"}, rates={"x": "w"})


def test_what_is_typical_of_no_variable_is_refused():
    with pytest.raises(blocks.UnknownName, match="'w'"):
        Domain("wrong", across={"v": "m/s"}, through={"f": "N"}, typical={"w": "1 m/s"})
    with pytest.raises(UnitError, match="Domain wrong.v"):
        Domain("wrong", across={"v": "m/s"}, through={"f": "N"}, typical={"v": "1 m"})


heat = Domain("heat", across={"T": "K"}, through={"Q": "W"}, power=lambda port: port.Q)


class Store(Component):
    M = Port(heat)
    capacity = Parameter("10 J/K", above=0)
    T, energy_stored = Variable("K", "300 K", priority="high"), Variable("J")

    def equations(self):
        yield self.T == self.M.T
        yield self.capacity * blocks.der(self.T) == self.M.Q
        yield self.energy_stored == self.capacity * self.T


class Path(blocks.Branch, domain=heat, ports=("A", "B")):
    conductance = Parameter("2 W/K", above=0)

    def equations(self):
        yield self.conductance * self.T == self.Q


def test_energy_is_what_the_domain_says_it_is():
    model = wired("two", "hot.M bar.A", "bar.B cold.M",
                  hot=Store(T="400 K"), cold=Store(capacity="30 J/K"), bar=Path())
    run = model.simulate("30 s", rtol=1e-9)
    rate = 2 * (1 / 10 + 1 / 30)
    assert_allclose(run["hot.T"].final.m, 325 + 75 * np.exp(-rate * 30), rtol=1e-8)
    energy = run.energy()
    assert abs(energy.residual.to("J").m) < 1e-6 * 750
    moved, terms = 10 * (400 - run["hot.T"].final.m), {t.component: t for t in energy}
    assert_allclose(terms["cold"].work_in, moved, rtol=1e-7)
    assert_allclose(terms["bar"].work_in, 0, atol=1e-9)


def test_a_branch_has_the_ports_it_names():
    run = wired("one", "store.M bar.A", store=Store(), bar=Path()).simulate("1 s")
    assert run["bar.A.Q"].final.m == 0  # nothing is connected to B
    assert "R" not in dir(Path)


def test_a_name_that_hides_a_port_is_refused():
    with pytest.raises(blocks.NamingError,
                       match="Leak.A: hides the port 'A' of its base") as caught:
        class Leak(Path):
            A = Parameter("1 m^2")
    assert "ports=" in caught.value.advice


def test_a_domain_whose_product_is_no_power_has_to_state_it():
    with pytest.raises(UnitError, match=r"Domain liquid.power: mdot \* p is no power") as caught:
        Domain("liquid", across={"p": "Pa"}, through={"mdot": "kg/s"})
    assert "power=lambda port" in caught.value.advice
    with pytest.raises(UnitError, match="Domain liquid.power: is no power"):
        Domain("liquid", across={"p": "Pa"}, through={"mdot": "kg/s"},
               power=lambda port: port.p * port.mdot)
    Domain("liquid", across={"p": "Pa"}, through={"mdot": "kg/s"}, power=lambda port: 0)
    Domain("liquid", across={"p": "Pa"}, through={"mdot": "kg/s"}, parameters={"density": "1 kg/l"},
           power=lambda port: port.p * port.mdot / port.density)


charges = Domain("charges", across={"u": "V"}, through={"q": "C"},
                 power=lambda port: port.u * blocks.der(port.q))


class Plates(blocks.Branch, domain=charges, ports=("a", "b")):
    capacity = Parameter("2 F", above=0)
    energy_stored = Variable("J")

    def equations(self):
        yield self.q == self.capacity * self.u
        yield self.energy_stored == self.q * self.u / 2


class Pump(blocks.Branch, domain=charges, ports=("a", "b")):
    supplies = True

    voltage = Parameter("3 V", varying=True)

    def equations(self):
        yield self.u == self.voltage


class Earth(Component):
    grounds = True

    E = Port(charges)

    def equations(self):
        yield self.E.u == 0


@pytest.mark.parametrize("voltage", [
    lambda t: quantity("3 V") * blocks.sin(quantity("2 1/s") * t),
    lambda t: blocks.where(t < quantity("1 s"), quantity("3 V"), quantity("-5 V")),
], ids=["smooth", "jumps"])  # fmt: skip
def test_a_derivative_in_a_power_is_one_of_the_course(voltage):
    """The equations know no derivative of q: there is nothing to integrate."""
    model = wired("charged", "pump.a first.a", "first.b second.a", "second.b pump.b earth.E",
                  pump=Pump(voltage=voltage), first=Plates(), second=Plates(capacity="1 F"),
                  earth=Earth())
    run = model.simulate("2 s", rtol=1e-9)
    assert run.statistics["states"] == 0
    energy = run.energy()
    assert energy.relative_residual < 1e-9
    start, end = run["pump.u"].at(["0 s", "2 s"]).to("V").m
    assert_allclose(energy["pump"].supplied, (end**2 - start**2) / 3, rtol=1e-9)


def test_a_derivative_that_makes_no_power_is_refused():
    with pytest.raises(UnitError, match="Domain charges.power"):
        Domain("charges", across={"u": "V"}, through={"q": "C"}, power=lambda port: port.u * port.q)


def rail_again(**changes):
    """The rail as another file would declare it."""
    return Domain(**{"name": "rail", "across": {"v": "m/s", "x": "m"}, "through": {"f": "N"},
                     "rates": {"x": "v"},
                     "parameters": {"slope": "2 m/s^2", "drag": "0 N*s/m"}, **changes})


def test_domains_that_say_the_same_are_one():
    """Wagons whose rails are declared twice move as one, on one slope and against one drag."""
    class Other(Wagon):
        P = Port(rail_again())

    model = wired("train", "first.P second.P weather.P", first=Wagon(mass="1 kg", v="6 m/s"),
                  second=Other(mass="2 kg"), weather=Weather(slope="4 m/s^2", drag="3 N*s/m"))
    run = model.simulate("1 s", rtol=1e-9)
    end = 2 + (6 - 2) * np.exp(-2)  # (1 + 2) (dv/dt - 4) = -(3 + 3) v
    for path in ("first", "second"):
        assert_allclose(run[f"{path}.v"].final.to("m/s").m, end, rtol=1e-8)


@pytest.mark.parametrize("changes", [
    {"name": "road"}, {"through": {"f": "kN"}}, {"rates": {}},
    {"parameters": {"slope": "3 m/s^2", "drag": "0 N*s/m"}},
], ids=lambda c: next(iter(c)))  # fmt: skip
def test_domains_that_say_something_else_are_not(changes):
    class Other(Component):
        P = Port(rail_again(**changes))

    told = "converts one domain into the other|two domains of one name"
    with pytest.raises(blocks.ConnectionRefused, match=told):
        wired("train", "first.P second.P", first=Wagon(), second=Other())


def test_variables_of_a_domain_have_names_and_units_of_their_own():
    with pytest.raises(UnitError, match=r"Domain heat\.across: takes names and units.*'T'"):
        Domain("heat", across="T", through={"Q": "W"})
    with pytest.raises(blocks.NamingError, match="Domain wires: 'e' is across and through"):
        Domain("wires", across={"e": "V"}, through={"e": "A"})


# -- laws with their own parameters -----------------------------------------------------------
class Rational(FrictionLaw):
    """F_C v/(|v| + half)."""

    half = Parameter(1e-3, velocity, above=0, doc="Velocity of half the force")

    def force(self, c):
        return c.coulomb * c.flow / (abs(c.flow) + c.half)


class Trail(FrictionLaw):
    """Viscous, and remembers how far it went."""

    way = Variable(shift, 0, priority="high")

    def equations(self, c):
        yield blocks.der(c.way) == c.flow
        yield c.effort == c.coulomb * c.flow / c.breakaway_velocity

    uses = ("coulomb", "breakaway_velocity")


def sliding(friction, **body):
    model = blocks.Model("sliding")
    model.body, model.friction, model.ground = Mass(**body), friction, Reference()
    model.connect(model.body.M, model.friction.R)
    model.connect(model.friction.C, model.ground.V)
    return model


def test_a_law_of_ones_own_is_given_as_it_is_or_with_values():
    for friction in (TranslationalFriction(law=Rational, half="0.5 m/s", coulomb_force="2 N"),
                     TranslationalFriction(law=Rational(half="0.5 m/s", coulomb_force="2 N")),
                     TranslationalFriction(law=Rational(half="9 m/s"), half="0.5 m/s",
                                           coulomb_force="2 N")):  # fmt: skip
        assert friction.half.to("m/s").magnitude == 0.5
        run = sliding(friction, v="1.5 m/s").simulate("1 us", method="rk4", step="1 us")
        assert_allclose(run["friction.f"].at("0 s").to("N").magnitude, 2 * 1.5 / 2.0)


def test_a_law_has_units_of_force_or_torque():
    assert str(TranslationalFriction(law="quinn").band.units) == "meter / second"
    assert str(RotationalFriction(law="quinn").band.units) == "radian / second"
    assert RotationalFriction(law="lugre").stiffness.check("[torque]")


def test_variables_of_a_law_are_in_the_result_and_have_targets():
    friction = TranslationalFriction(law=Trail, coulomb_force="0 N", way="3 m")
    run = sliding(friction, v="2 m/s").simulate("1 s", rtol=1e-9)
    assert_allclose(run["friction.way"].final.to("m").magnitude, 5.0, rtol=1e-9)


def test_values_of_a_law_change_between_runs_without_a_new_assembly():
    model = sliding(TranslationalFriction(law=Rational, coulomb_force="2 N"), v="1 m/s")
    before = model.compile()
    model.friction.half = "2 m/s"
    assert model.compile() is before
    table = model.sweep({"friction.half": ["1 m/s", "3 m/s"]}, "1 us",
                        outputs={"f": "initial(friction.f)"})  # fmt: skip
    assert_allclose(table["f"].values, [1.0, 0.5])


def test_another_law_brings_other_parameters_and_takes_the_old_ones_away():
    friction = TranslationalFriction(law=Rational, half="1 cm/s", coulomb_force="2 N")
    friction.law = "quinn"
    assert friction.band.to("mm/s").magnitude == 1.0
    assert friction.coulomb_force.to("N").magnitude == 2.0
    with pytest.raises(blocks.UnknownName, match="half"):
        _ = friction.half
    friction.law = Rational(half="3 cm/s")
    assert friction.half.to("cm/s").magnitude == pytest.approx(3)


def test_laws_can_be_swept():
    model = sliding(TranslationalFriction(law="coulomb", coulomb_force="2 N"), v="1 m/s")
    table = model.sweep({"friction.law": ["coulomb", "quinn", "karnopp"]}, "0.2 s",
                        outputs={"v": "final(body.v)"})  # fmt: skip
    assert_allclose(table["v"].values, 1 - 2 * 0.2, rtol=1e-6)


def test_a_model_with_a_law_can_be_pickled():
    model = sliding(TranslationalFriction(law=Rational, half="1 m/s", coulomb_force="2 N"),
                    v="1 m/s")  # fmt: skip
    twin = pickle.loads(pickle.dumps(model))
    runs = [m.simulate("1 s", rtol=1e-9)["body.v"].final.magnitude for m in (model, twin)]
    assert runs[0] == runs[1]
    assert twin.friction.law is Rational


@pytest.mark.parametrize("make", [TranslationalFriction, RotationalFriction])
@pytest.mark.parametrize(("wrong", "words"), [
    ({"law": "quin"}, ["law", "'quinn'"]),
    ({"law": 3}, ["law", "takes the name of a law or a law object", "3", "lugre"]),
    ({"law": "coulomb", "band": "1 mm"}, ["band", "has no meaning with law='coulomb'", "'quinn'"]),
    ({"law": "quinn", "weight": 0.3}, ["weight", "law='quinn'", "'quinn_3'"]),
    ({"law": "quinn", "bnad": "1 mm"}, ["'bnad'", "'band'"]),
    ({"law": "quinn_3", "weight": 0.6}, ["weight", "at most 0.5", "0.6"]),
    ({"law": "quinn", "band": "1 N"}, ["band", "/s", "1 N"]),
    ({"normal_force": "3 N"}, ["normal_force", "normal=False"])])  # fmt: skip
def test_what_a_law_does_not_have_is_refused_by_name(make, wrong, words):
    with pytest.raises(BlocksError) as error:
        make(**wrong)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("law", ["viscous", "tanh", "karnopp", "quinn", "kikuuwe", "awrejcewicz"])
def test_a_band_of_no_width_is_refused(law):
    for band in ("0 m/s", "-1 mm/s"):
        with pytest.raises(blocks.ParameterError,
                           match=r"band: must be greater than 0 m/s, but is"):
            TranslationalFriction(law=law, band=band)


@pytest.mark.parametrize("law", ["simscape", "stribeck", "lugre", "elasto_plastic", "gms",
                                 "leuven"])  # fmt: skip
def test_a_negative_stribeck_velocity_is_refused(law):
    with pytest.raises(blocks.ParameterError,
                       match=r"breakaway_velocity: must be greater than 0 m/s"):
        TranslationalFriction(law=law, breakaway_velocity="-1 mm/s")


@pytest.mark.parametrize("law", ["coulomb", "quinn", "karnopp_1985", "lugre", "gms"])
def test_less_friction_at_rest_than_in_motion_is_refused(law):
    model = sliding(TranslationalFriction(law=law, breakaway_force="9 N", coulomb_force="10 N"))
    with pytest.raises(BlocksError, match="friction: breakaway_force is 9.0 N and thus below "
                                          "coulomb_force, which is 10.0 N"):  # fmt: skip
        model.simulate("1 s")


def test_springs_and_sliders_of_different_number_are_refused():
    model = sliding(TranslationalFriction(law="maxwell_slip", shares=[0.5, 0.5]))
    with pytest.raises(BlocksError, match="4 values but shares has 2"):
        model.simulate("1 s")


def test_a_law_must_not_hide_what_the_component_has():
    class Hiding(FrictionLaw):
        coulomb_force = Parameter("1 N")

        def force(self, c):
            return c.coulomb

    with pytest.raises(blocks.NamingError, match="coulomb_force"):
        TranslationalFriction(law=Hiding)
    with pytest.raises(blocks.NamingError, match="ports or options"):
        class Ported(blocks.Replacement):
            port = blocks.Port(translational)


def test_a_law_may_bring_what_the_component_has_for_other_laws_only():
    class Warm(blocks.Replacement):
        heat = Variable("W", doc="of the law")

        def equations(self, c):
            yield c.heat == blocks.quantity("3 W")

    class Cold(blocks.Replacement):
        def equations(self, c):
            yield c.heat == blocks.quantity("1 W")

    class Part(blocks.Component):
        law = blocks.Replaceable("cold", {"cold": Cold, "warm": Warm})
        heat = Variable("W", when=lambda c: c.law == "cold", doc="of the component")

        def equations(self):
            yield from type(self).law.named[self.law]().equations(self)

    for law, watts in (("cold", 1), ("warm", 3)):
        assert wired("part", part=Part(law=law)).simulate("1 s")["part.heat"].final.m == watts


def test_arrays_of_friction_have_one_value_of_a_law_for_each():
    model = wired("array", "bodies.M frictions.R", "frictions.C ground.V",
                  bodies=Mass(count=3, v="1 m/s"),
                  frictions=TranslationalFriction(law=Rational, count=3, coulomb_force="2 N",
                                                  half=["1 m/s", "3 m/s", "1 um/s"]),
                  ground=Reference())
    run = model.simulate("1 us")
    forces = [run[f"frictions[{k}].f"].at("0 s").magnitude for k in range(3)]
    assert_allclose(forces, [1.0, 0.5, 2.0], rtol=1e-5)


def test_a_law_of_the_load_of_ones_own_needs_one_method():
    class Half(LoadLaw):
        """Holds half of the load."""

        def force(self, c):
            return c.load / 2

    run = sliding(TranslationalFriction(law=Half), v="1 m/s").simulate("1 s", rtol=1e-9)
    assert_allclose(run["body.v"].final.magnitude, 1.0)
    assert np.all(run["friction.load"].to("N").magnitude == 0)
