"""Domains as data: positions beside velocities, and parameters that a circuit shares."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
from blocks import Branch, Component, Domain, Parameter, Port, UnitError, Variable, der, quantity

rail = Domain("rail", across={"v": "m/s", "x": "m"}, through={"f": "N"}, rates={"x": "v"},
              parameters={"slope": "2 m/s^2", "drag": "0 N*s/m"})  # fmt: skip


class Wagon(Component):
    P = Port(rail)
    mass = Parameter("1 kg", above=0)
    x, v = Variable("m"), Variable("m/s")

    def equations(self):
        yield self.x == self.P.x
        yield self.v == self.P.v
        yield self.mass * (der(self.v) - self.P.slope) == self.P.f - self.P.drag * self.v


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
        yield self.capacity * der(self.T) == self.M.Q
        yield self.energy_stored == self.capacity * self.T


class Path(Branch, domain=heat, ports=("A", "B")):
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
                 power=lambda port: port.u * der(port.q))


class Plates(Branch, domain=charges, ports=("a", "b")):
    capacity = Parameter("2 F", above=0)
    energy_stored = Variable("J")

    def equations(self):
        yield self.q == self.capacity * self.u
        yield self.energy_stored == self.q * self.u / 2


class Pump(Branch, domain=charges, ports=("a", "b")):
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

    model = wired("train", "first.P second.P weather.P",
                  first=Wagon(mass="1 kg", v="6 m/s"), second=Other(mass="2 kg"),
                  weather=Weather(slope="4 m/s^2", drag="3 N*s/m"))
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
