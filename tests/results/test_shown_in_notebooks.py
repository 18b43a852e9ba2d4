"""What does a notebook show where the last line of a cell is a model, a part or what was found?"""

from benches import wired

from blocks import Component, Model, Parameter, quantity
from blocks.analysis import free
from library.translational import Damper, ForceSource, Mass, Reference, TranslationalFriction


class Pair(Component):
    """Two masses."""

    weight = Parameter("2 kg", above=0, doc="mass of <each>")

    def compose(self):
        self.one = Mass(mass=self.weight)
        self.two = Mass(mass=self.weight)


def pushed():
    return wired("pushed <hard>", "push.R block.M damper.R", "push.C damper.C wall.V",
                 push=ForceSource(), block=Mass(mass="4 kg", v="0 m/s"),
                 damper=Damper(damping="2 N*s/m"), wall=Reference())


def test_a_model_is_its_schematic_and_an_empty_one_its_text():
    model = pushed()
    assert model._repr_html_() == model.draw().svg()
    assert "pushed &lt;hard&gt;" in model._repr_html_()
    assert Model("empty")._repr_html_() is None


def cells(page):
    """The rows of a table, cell by cell."""
    rows = page.partition("<tbody>")[2].partition("</tbody>")[0].split("<tr>")[1:]
    return [[cell.partition("</td>")[0] for cell in row.split("<td>")[1:]] for row in rows]


def test_a_part_is_a_table_of_what_it_is_set_to():
    model = pushed()
    assert cells(model.block._repr_html_()) == [
        ["mass", "4 kg", "Mass"], ["v", "0 m/s", "velocity (initial target, high priority)"]]
    assert "<b>block: Mass</b>" in model.block._repr_html_()
    assert cells(Pair()._repr_html_()) == [
        ["weight", "2 kg", "mass of &lt;each&gt;"], ["one", "Mass", "part"],
        ["two", "Mass", "part"]]
    several = Mass(count=2, mass=quantity([1, 2], "kg"))
    assert ["mass", "[1., 2.] kg", "Mass"] in cells(several._repr_html_())
    assert "Mass, 2 of them" in several._repr_html_()
    rough = dict(row[:2] for row in cells(TranslationalFriction(law="stribeck")._repr_html_()))
    assert rough["law"] == "'stribeck'"
    assert rough["coulomb_force"] == "20 N"


def test_a_function_of_time_is_called_one():
    part = ForceSource(force=lambda t: quantity("1 N/s") * t)
    assert ["force", "a function", "Force from C to R"] in cells(part._repr_html_())


def test_a_point_and_a_linear_model_are_tables():
    model = pushed()
    point = model.operating_point({"block.v": "3 m/s", "push.S": free})
    assert ["block.v", "3 m/s"] in cells(point._repr_html_())
    assert ["push.S", "6 N"] in cells(point._repr_html_())  # d v
    linear = model.linearise("push.S", "block.v")
    assert ["poles [1/s]", "-0.5"] in cells(linear._repr_html_())  # - d / m
