"""What a model has: parts listed, given by path and changed for a while; ports by their numbers."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Component, Model, NamingError, UnknownName, quantity
from blocks.exceptions import ConnectionRefused, EquationError, ParameterError
from library.signal import Constant, Gain, Product, StateSpace, Sum
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
    with pytest.raises(NamingError, match="reserved"):
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
