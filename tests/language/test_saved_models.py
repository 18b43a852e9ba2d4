"""What a model has, and whether one that was written as text is the same."""

import inspect
import json
import pydoc

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks import Branch, Component, Input, Model, Parameter, UnknownName, load, quantity
from blocks.exceptions import ConnectionRefused, EquationError, FileError, ParameterError
from blocks.language.model_file import exact, read_value
from blocks.units import to_si, unit
from library.signal import Constant, Gain, Product, StateSpace, Sum
from library.tables import table
from library.thermal import ConductingRod
from library.translational import Mass, MotionSensor, Reference, Spring, TranslationalFriction


@pytest.fixture
def model():
    return wired("row", "block.M springs.R", "floor.V springs.C",
                 block=Mass(), springs=Spring(count=3), floor=Reference())


def test_parts_parameters_variables_and_ports_are_listed(model):
    assert list(model.parts) == ["block", "springs", "floor"]
    assert model.parts["block"] is model.block
    mass = model.block.parameters["mass"]
    assert (mass.unit, mass.default, mass.value, mass.doc) == (
        "kg", quantity("1 kg"), quantity("1 kg"), "Mass")
    assert model.parameters["block.mass"] == mass
    assert model.block.variables["v"].unit == "m/s"
    assert model.block.ports["M"].unit == "translational"
    assert "Rigid body" in repr(model.parts) and "1000.0 N/m" in repr(model.springs.parameters)


def test_values_are_given_by_the_paths_that_read_them(model):
    model["block.mass"], model["springs[1].stiffness"] = "3 kg", "7 N/m"
    model["block.v"] = "2 m/s"
    assert model.block.mass == model["block.mass"] == quantity("3 kg")
    assert model["springs[1].stiffness"] == quantity("7 N/m")
    assert model.block.variables["v"].value == quantity("2 m/s")
    with pytest.raises(UnknownName, match="no 'mas'.*Did you mean 'mass'"):
        model["block.mas"] = "3 kg"
    for wrong in ("x", "", "0:1:0", "0:1:2:3"):
        with pytest.raises(UnknownName, match="numbers no instance"):
            model[f"springs[{wrong}].stiffness"]


def test_a_path_names_the_same_instances_wherever_it_is_given(model):
    """A slice and a number from the end: read, given, in a run, and as input of a linear model."""
    model["springs[1:].stiffness"] = "2 kN/m"
    assert model["springs[-1].stiffness"] == quantity("2 kN/m")
    with model.values({"springs[:-1].stiffness": "5 kN/m"}):
        assert model.springs.stiffness.to("kN/m").m.tolist() == [5, 5, 2]
    model["block.v"] = "1 m/s"
    swept = model.sweep({"springs[::2].stiffness": ["5 kN/m"]}, "30 ms", rtol=1e-9,
                        outputs=["final(block.v)"])
    assert swept["final(block.v)"].item() == pytest.approx(np.cos(np.sqrt(12e3) * 0.03))
    run = model.simulate("30 ms", sensitivities=["springs[0:2].stiffness"])
    assert [len(run[f"springs[{k}].f"]) for k in ("::2", "-1")] == [2, len(run.time)]
    w, t = np.sqrt(5e3), 0.03  # v = cos(w t), w**2 = k1 + k2 + k3 by 1 kg
    assert run.sensitivities["block.v", "springs[0:2].stiffness"].final.m == pytest.approx(
        -2 * t * np.sin(w * t) / (2 * w), rel=1e-5)
    linear = model.linearise(["springs[-1].stiffness"], ["block.v"])
    assert [one.path for one in linear.inputs] == ["springs[-1].stiffness"]


def test_values_hold_within_a_block_of_code_alone(model):
    model["block.v"] = "1 m/s"

    def turns():  # of 1 kg by springs of 1 kN/m each: omega = sqrt(3000 / m)
        return np.arccos(model.simulate("30 ms", rtol=1e-9)["block.v"].final.to("m/s").m) / 0.03

    assert turns() == pytest.approx(np.sqrt(3000), rel=1e-6)
    with pytest.raises(RuntimeError), model.values({"block.mass": "4 kg", "springs[0].stiffness": (
            "6 kN/m")}) as same:
        assert same is model and turns() == pytest.approx(np.sqrt(8000 / 4), rel=1e-6)
        raise RuntimeError
    assert turns() == pytest.approx(np.sqrt(3000), rel=1e-6)


def test_an_option_goes_back_with_its_law(model):
    model.rub = TranslationalFriction(law="coulomb")
    before = list(model.rub.parameters)
    with model.values({"rub.law": "stribeck"}):
        assert "breakaway_velocity" in model.rub.parameters
    assert model.rub.law == "coulomb" and list(model.rub.parameters) == before


def test_values_of_a_run_are_none_of_the_model(model):
    with pytest.raises(ParameterError, match=r"simulate\(rtol=…\)"), model.values({"rtol": 1e-3}):
        pass


def test_a_model_has_nothing_that_an_author_of_components_defines():
    for hook in ("advise", "at_samples", "compose", "port_equations", "shapes", "verify"):
        assert hasattr(Component, hook) and not hasattr(Model, hook)
        with pytest.raises(EquationError, match=rf"is a model, which has no {hook}\(\)"):
            type("Rig", (Model,), {hook: lambda self: None})


def test_a_part_is_not_called_like_a_list(model):
    with pytest.raises(blocks.NamingError, match="reserved"):
        model.parts = Mass()


# -- numbered ports ---------------------------------------------------------------------------
def last(model, path):
    return model.simulate("1 s")[path].final.magnitude


def sources(*values):
    model = Model("vector")
    model.sources = Constant(count=len(values), value=quantity(np.array(values, dtype=float), "N"))
    return model


def test_an_array_is_joined_with_the_numbered_inputs_of_a_block():
    model = sources(1, 2, 4)
    model.total = Sum(unit="N", signs="+-+")
    model.connect(model.sources.y, model.total.u)
    assert last(model, "total.y") == 3
    assert repr(model.total.u) == "<ports total.u1, total.u2, total.u3>"
    assert len(model.total.u) == 3


def test_slices_and_lists_select():
    model = sources(1, 2, 4, 8)
    model.total, model.other = Sum(unit="N", signs="+++"), Sum(unit="N", signs="++")
    model.connect(model.sources[1:3].y, model.total.u[:2])
    model.connect(model.sources[3].y, model.total.u[-1])
    model.connect(model.sources[0].y, model.other.u)  # one signal for both
    assert (last(model, "total.y"), last(model, "other.y")) == (14, 2)


def test_numbered_outputs_are_joined_with_numbered_inputs_and_arrays():
    model = sources(3, 5)
    model.block = StateSpace(A=[[-1.0]], B=[[0.0, 0.0]], C=[[0.0]] * 2, D=[[0, 1.0], [1.0, 0]],
                             input="N", output="N")
    model.gains = Gain(count=2, gain="2", input="N")
    model.product = Product(units="N, N")
    model.connect(model.sources.y, model.block.u)
    model.connect(model.block.y[[1, 0]], model.product.u)
    model.connect(model.block.y, model.gains.u)
    assert last(model, "product.y") == 15
    assert_allclose(last(model, "gains.y"), [10, 6])


def test_an_array_of_sensors_is_summed():
    model = wired("sensors", "bodies.M sensors.R", "sensors.C ground.V", "sensors.V total.u",
                  bodies=Mass(count=3, v=["1 m/s", "2 m/s", "4 m/s"]),
                  sensors=MotionSensor(count=3), ground=Reference(),
                  total=Sum(unit="m/s", signs="+++"))
    assert last(model, "total.y") == 7


@pytest.mark.parametrize(("join", "said"), [
    (lambda m: m.connect(m.sources.y, m.total.u), r"total.u \(2\) and sources.y \(3\): numbered"),
    (lambda m: m.connect(m.sources[0].y, m.many.u), "the numbered ports of an array are joined"),
    (lambda m: m.connect(m.lengths.y, m.total.u), "lengths.y is in m and total.u1 in N"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(join, said):
    model = sources(1, 2, 4)
    model.total, model.many = Sum(unit="N"), Sum(unit="N", count=2)
    model.lengths = Constant(count=2, value="1 m")
    with pytest.raises(ConnectionRefused, match=said):
        join(model)
    assert not model._connections


def test_a_number_that_is_not_there_is_named():
    with pytest.raises(UnknownName, match=r"u\[2\]: is none of the 2 ports.*called u1, u2"):
        _ = Sum().u[2]


# -- models as texts --------------------------------------------------------------------------
def bump(t):
    """A force that a module gives a name to."""
    return 3 * t * quantity("1 N/s")


def oscillator():
    model = Model("oscillator")
    model.block, model.spring = tr.Mass(mass="2 kg"), tr.Spring(stiffness="8 N/mm", x="10 mm")
    model.damper, model.ground = tr.Damper(damping="1 N*s/m"), tr.Reference()
    model.block.v = blocks.Target("1 km/h", priority="low", nominal="1 m/s")
    model.connect(model.block.M, model.spring.R, model.damper.R)
    model.connect(model.spring.C, model.damper.C, model.ground.V)
    model.nominal_values("1 kN")
    return model


def kept(model, tmp_path):
    """The model again; what it writes is what was read."""
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    return again


def test_a_model_comes_back_with_its_values_and_runs_the_same(tmp_path):
    model = oscillator()
    again = kept(model, tmp_path)
    assert again.name == "oscillator" and str(again.equations()) == str(model.equations())
    a, b = model.simulate("1 s"), again.simulate("1 s")
    assert np.array_equal(a["block.v"].m, b["block.v"].m)
    assert len(a.differences(b)) == 0
    assert again.block._targets["v"][1] == "low" and again._nominal_table == model._nominal_table


def test_the_text_is_for_people_and_for_version_control(tmp_path):
    oscillator().save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert '"stiffness": "8 N/mm"' in text or '"stiffness": "8000 N/m"' in text
    assert '"class": "library.translational:Spring"' in text
    assert '    "block.M, spring.R, damper.R",\n' in text
    other = oscillator()
    other.block.mass = "2.5 kg"
    other.save(tmp_path / "other.json")
    lines = zip(text.splitlines(), (tmp_path / "other.json").read_text().splitlines(), strict=True)
    assert [pair for pair in lines if pair[0] != pair[1]] == [
        ('        "mass": "2 kg"', '        "mass": "2.5 kg"')]


def test_arrays_laws_tables_and_named_functions_come_back(tmp_path):
    model = wired("many", "bodies.M[:-1] links.R", "bodies.M[1:] links.C",
                  "bodies.M[0] rub.R pull.R push.R", "ground.V rub.C pull.C push.C",
                  bodies=tr.Mass(mass=quantity([1, 2, 3, 4], "kg"), count=4),
                  links=tr.Spring(stiffness="8 N/m", count=3),
                  rub=tr.TranslationalFriction(law="stribeck"),
                  pull=tr.ForceSource(force=table(["0 s", "1 s"], ["0 N", "0.1 N"])),
                  push=tr.ForceSource(force=bump), total=Sum(signs="+-"), ground=tr.Reference())
    del model.total
    again = kept(model, tmp_path)
    a, b = model.simulate("0.5 s"), again.simulate("0.5 s")
    assert np.array_equal(a["bodies.v"].m, b["bodies.v"].m) and len(a.differences(b)) == 0
    text = (tmp_path / "model.json").read_text()
    assert "bodies[0:3].M, links.R" in text and "library.tables:TableOfTime" in text


def test_what_was_changed_within_a_composite_comes_back(tmp_path):
    model = wired("oven", rod=ConductingRod())
    name, part = next((n, p) for n, p in model.rod._parts().items() if p._declared)
    parameter = next(n for n, d in part._declared.items()
                     if type(d).__name__ == "Parameter" and np.ndim(d.default) == 0)
    setattr(part, parameter, 1.0625 * getattr(part, parameter) + getattr(part, parameter))
    assert getattr(kept(model, tmp_path).rod[name], parameter) == getattr(part, parameter)
    assert set(json.loads((tmp_path / "model.json").read_text())["parts"]["rod"]["inside"]) == {
        name}


@pytest.mark.parametrize("value,text", [
    (0.1, "mm"), (1 / 3, "N*s/m"), (np.pi, "rad"), (np.pi / 3, "deg"), (1e-300, "kg"),
    (293.15, "degC"), (1234.56789, "rpm"), (0.7, "")])
def test_numbers_come_back_to_the_bit(value, text):
    assert to_si(read_value(json.loads(json.dumps(exact(value, unit(text))))), unit(text)) == value


# -- what cannot be written or read --------------------------------------------------------------
def test_what_cannot_be_text_is_refused_by_name(tmp_path):
    model = oscillator()
    model.pull = tr.ForceSource(force=lambda t: t * quantity("1 N/s"))
    with pytest.raises(FileError, match=r"pull\.force: is a function without a name, and cannot be "
                                        r"written as text\. Define it at the top of a module"):
        model.save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()

    class Local(tr.Mass):
        """Within a function."""

    del model.pull
    model.own = Local()
    with pytest.raises(FileError, match="own: is Local, which is made within a function"):
        model.save(tmp_path / "model.json")


@pytest.mark.parametrize("name", ["model.nc", "model.fmu", "model"])
def test_a_model_is_kept_under_a_name_that_load_reads_as_one(tmp_path, name):
    with pytest.raises(FileError, match=r"a file that keeps a model ends with .json. .*model.json"):
        oscillator().save(tmp_path / name)
    assert not (tmp_path / name).exists()


def changed(tmp_path, **facts):
    oscillator().save(tmp_path / "model.json")
    told = json.loads((tmp_path / "model.json").read_text())
    told |= facts
    (tmp_path / "model.json").write_text(json.dumps(told))
    return tmp_path / "model.json"


@pytest.mark.parametrize("facts,said", [
    ({"version": 99, "written by": "blocks-toolkit 7"},
     r"newer version \(format 99, blocks-toolkit 7\)"),
    ({"format": "other"}, "is no saved model"),
    ({"parts": {"block": {"class": "no_such_package:Mass"}}},
     r"parts\.block: it is 'no_such_package:Mass', but there is no module 'no_such_package' here"),
    ({"parts": {"block": {"class": "library.translational:Mas"}}},
     r"library\.translational has no 'Mas'\. Did you mean 'Mass'"),
    ({"parts": {"block": {"class": "os:system"}}}, "'os:system' is no component"),
    ({"parts": {"block": {"values": {}}}}, r"parts\.block: there is no 'class'"),
    ({"parts": {"block": {"class": "library.translational:Mass", "values": {"mass": "2 m"}}}},
     r"parts\.block: Mass\.mass: takes kg"),
    ({"connections": ["block.M, spring.X"]}, r"spring\.X: Spring has no port 'X'"),
    ({"connections": ["block.M, sprin.R"]}, "Did you mean 'spring'")])  # fmt: skip
def test_a_file_that_is_not_right_is_named_with_the_place(tmp_path, facts, said):
    with pytest.raises(FileError, match=said) as caught:
        load(changed(tmp_path, **facts))
    assert str(caught.value).count("model.json") == 1


def test_a_damaged_or_missing_model_is_named(tmp_path):
    file = changed(tmp_path)
    file.write_text(file.read_text()[:100])
    with pytest.raises(FileError, match="cannot be read as a saved model"):
        load(file)
    with pytest.raises(FileError, match="there is no such file"):
        load(tmp_path / "none.json")
    del_name = changed(tmp_path)
    told = json.loads(del_name.read_text())
    del told["name"]
    del_name.write_text(json.dumps(told))
    with pytest.raises(FileError, match="the model: there is no 'name'"):
        load(del_name)


# -- signature and help -----------------------------------------------------------------------
class Absorber(Branch, domain=tr.translational):
    """Damps by fluid.

    Equation: f = viscosity v.
    """

    law = blocks.Option("thin", ("thin", "thick"), doc="kind of fluid")
    viscosity = Parameter("3 N*s/m", above=0, varying=True, doc="viscosity at v = 0")
    share = Parameter(0.5, minimum=0, maximum=1)
    x = blocks.Variable("mm", "2 mm", priority="low", doc="v integrated")

    def equations(self):
        yield self.f == self.viscosity * self.v


def test_a_signature_shows_options_parameters_and_initial_targets_with_their_defaults():
    assert str(inspect.signature(Absorber)) == (
        "(*, law='thin', viscosity='3 N*s/m', share=0.5, x='2 mm', count=None)")
    assert str(inspect.signature(tr.Mass)) == "(*, mass='1 kg', v='0 m/s', count=None)"


def test_help_shows_unit_default_bounds_and_meaning():
    text = inspect.getdoc(Absorber)
    assert text.startswith("Damps by fluid.\n\nEquation: f = viscosity v.\n\nKeywords\n--------\n")
    for words in (
        "law : 'thin' or 'thick', default 'thin'\n    Kind of fluid.",
        "viscosity : N*s/m, default 3 N*s/m, greater than 0 N*s/m, or a function of time\n"
        "    Viscosity at v = 0.",
        "share : number, default 0.5, at least 0, at most 1\n",
        "x : mm, initial target 2 mm (low)\n    v integrated.",
        "R : translational port\n    Rod side, positive end."):
        assert words in text
    assert "Absorber(*, law='thin', viscosity='3 N*s/m'" in pydoc.plain(pydoc.render_doc(Absorber))


def test_defaults_of_a_signature_are_accepted_as_values():
    for cls in (Absorber, tr.Spring, tr.Mass, Gain):
        given = {n: p.default for n, p in inspect.signature(cls).parameters.items()}
        if cls is tr.Spring:
            del given["deformations"], given["forces"]  # of law="table"
        assert isinstance(cls(**given), cls)


def test_units_that_follow_from_values_are_told_as_such():
    text = inspect.getdoc(Gain)
    assert "gain : in any unit, default 1" in text
    assert "y : output, in the unit that follows from the others" in text


def test_a_class_without_text_of_its_own_shows_its_declarations():
    class Bare(Component):
        width = Parameter("4 mm")
        u = Input("mm", default="width")
        A = blocks.Port(tr.translational)

    assert inspect.getdoc(Bare).startswith("Keywords\n--------\nwidth : mm, default 4 mm\n")
    assert "\nu : input, mm; width while nothing is connected\n" in inspect.getdoc(Bare)


def test_a_class_without_text_of_its_own_has_that_of_its_base_beside_its_own_declarations():
    class Sled(tr.Mass):
        runner = Parameter("4 mm")

    own, base = inspect.getdoc(Sled), inspect.getdoc(tr.Mass)
    assert own.partition("Keywords")[0] == base.partition("Keywords")[0] != ""
    assert "runner : mm, default 4 mm" in own


def test_a_class_with_keywords_of_its_own_keeps_its_signature_and_text():
    assert list(inspect.signature(Model).parameters) == ["name"]
    assert "Keywords" not in Model.__doc__


def test_an_array_has_a_length_and_is_walked_through():
    model = wired("three", masses=tr.Mass(count=3, mass=["1 kg", "2 kg", "3 kg"]))
    assert len(model.masses) == 3
    assert [m.mass.m for m in model.masses] == [1, 2, 3]
    assert [m.mass.m for m in model.masses[1:]] == [2, 3]
    assert len(model.masses[1:]) == 2
    assert model.masses[1:][0].mass == quantity("2 kg")
    assert model.masses


def test_a_single_component_has_no_length_but_is_there():
    mass = tr.Mass()
    assert mass
    for use in (len, list):
        with pytest.raises(TypeError, match=r"Mass is a single component, not an array; .*count="):
            use(mass)
    with pytest.raises(TypeError, match="^a model is no array: its parts are model.parts$"):
        len(Model("no array"))


@pytest.mark.parametrize("when", ["made", "later"])
def test_a_stiffness_has_no_place_beside_a_table_of_forces(when):
    spring = tr.Spring(law="table")
    with pytest.raises(blocks.ParameterError,
                       match=r"stiffness: has no meaning with law='table'\. Leave "
                       "it out, or choose law='linear'"):  # fmt: skip
        if when == "made":
            tr.Spring(law="table", stiffness="2 N/m")
        else:
            spring.stiffness = "2 N/m"
    spring.law = "linear"
    spring.stiffness = "2 N/m"
    assert spring.stiffness == quantity("2 N/m")
