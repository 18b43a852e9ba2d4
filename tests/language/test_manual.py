"""Do signature and help of a component show what it declares?"""

import inspect
import pydoc
import subprocess
import sys

import pytest

from blocks import (
    Branch,
    Component,
    Input,
    Model,
    Option,
    Parameter,
    ParameterError,
    Port,
    Variable,
    quantity,
)
from library.signal import Gain
from library.translational import Mass, Spring, translational


class Absorber(Branch, domain=translational):
    """Damps by fluid.

    Equation: f = viscosity v.
    """

    law = Option("thin", ("thin", "thick"), doc="kind of fluid")
    viscosity = Parameter("3 N*s/m", above=0, varying=True, doc="viscosity at v = 0")
    share = Parameter(0.5, minimum=0, maximum=1)
    x = Variable("mm", "2 mm", priority="low", doc="v integrated")

    def equations(self):
        yield self.f == self.viscosity * self.v


def test_a_signature_shows_options_parameters_and_initial_targets_with_their_defaults():
    assert str(inspect.signature(Absorber)) == (
        "(*, law='thin', viscosity='3 N*s/m', share=0.5, x='2 mm', count=None)")
    assert str(inspect.signature(Mass)) == "(*, mass='1 kg', v='0 m/s', count=None)"


def test_help_shows_unit_default_bounds_and_meaning():
    text = inspect.getdoc(Absorber)
    assert text.startswith("Damps by fluid.\n\nEquation: f = viscosity v.\n\nKeywords\n--------\n")
    for words in (
        "law : 'thin' or 'thick', default 'thin'\n    Kind of fluid.",
        "viscosity : N*s/m, default 3 N*s/m, greater than 0 N*s/m, or a function of time\n"
        "    Viscosity at v = 0.",
        "share : number, default 0.5, at least 0, at most 1\n",
        "x : mm, initial target 2 mm (low)\n    v integrated.",
        "R : translational port\n    Rod side, positive end.",
    ):
        assert words in text
    assert "Absorber(*, law='thin', viscosity='3 N*s/m'" in pydoc.plain(pydoc.render_doc(Absorber))


def test_defaults_of_a_signature_are_accepted_as_values():
    for cls in (Absorber, Spring, Mass, Gain):
        given = {n: p.default for n, p in inspect.signature(cls).parameters.items()}
        if cls is Spring:
            del given["deformations"], given["forces"]  # of law="table"
        assert isinstance(cls(**given), cls)


def test_units_that_follow_from_values_are_told_as_such():
    text = inspect.getdoc(Gain)
    assert "gain : in any unit, default 1" in text
    assert "y : output, in the unit that follows from the others" in text


def test_a_class_without_text_of_its_own_shows_its_declarations():
    class Bare(Component):
        width = Parameter("4 mm")
        u = Input("N")
        A = Port(translational)

    assert inspect.getdoc(Bare).startswith("Keywords\n--------\nwidth : mm, default 4 mm\n")


def test_a_class_without_text_of_its_own_has_that_of_its_base_beside_its_own_declarations():
    class Sled(Mass):
        runner = Parameter("4 mm")

    own, base = inspect.getdoc(Sled), inspect.getdoc(Mass)
    assert own.partition("Keywords")[0] == base.partition("Keywords")[0] != ""
    assert "runner : mm, default 4 mm" in own


def test_a_class_with_keywords_of_its_own_keeps_its_signature_and_text():
    assert list(inspect.signature(Model).parameters) == ["name"]
    assert "Keywords" not in Model.__doc__


def test_declarations_are_not_described_before_anyone_asks():
    code = ("import sys, blocks.language.documentation as m; m._kind = None; "
            "import library.mechanisms, library.signal; print('fine')")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "fine\n"


def test_an_array_has_a_length_and_is_walked_through():
    model = Model("three")
    model.masses = Mass(count=3, mass=["1 kg", "2 kg", "3 kg"])
    assert len(model.masses) == 3
    assert [m.mass.m for m in model.masses] == [1, 2, 3]
    assert [m.mass.m for m in model.masses[1:]] == [2, 3]
    assert len(model.masses[1:]) == 2
    assert model.masses[1:][0].mass == quantity("2 kg")
    assert model.masses


def test_a_single_component_has_no_length_but_is_there():
    mass = Mass()
    assert mass
    for use in (len, list):
        with pytest.raises(TypeError, match=r"Mass is a single component, not an array; .*count="):
            use(mass)
    with pytest.raises(TypeError, match="^a model is no array: its parts are model.parts$"):
        len(Model("no array"))


@pytest.mark.parametrize("when", ["made", "later"])
def test_a_stiffness_has_no_place_beside_a_table_of_forces(when):
    spring = Spring(law="table")
    with pytest.raises(ParameterError, match=r"stiffness: has no meaning with law='table'\. Leave "
                       "it out, or choose law='linear'"):  # fmt: skip
        if when == "made":
            Spring(law="table", stiffness="2 N/m")
        else:
            spring.stiffness = "2 N/m"
    spring.law = "linear"
    spring.stiffness = "2 N/m"
    assert spring.stiffness == quantity("2 N/m")
