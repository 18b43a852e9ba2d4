"""Does a run stay what it was while its model is edited?

What is read of a run after an edit is compared with what is read of the same run of a model that
nobody edits, and forces with the laws and values of the components that gave them.
"""

import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Model, load, quantity
from library.planar import Body
from library.translational import Damper, Mass, Reference, Spring, TranslationalFriction


def held_by_two(friction="tanh"):
    """A block between two springs, on a floor."""
    model = Model("held")
    model.block, model.floor = Mass(mass="1 kg", v="1 m/s"), Reference()
    model.soft = Spring(stiffness="100 N/m", x="1 mm")
    model.stiff = Spring(stiffness="300 N/m", x="-5 mm")
    model.rub = TranslationalFriction(law=friction)
    join(model, "soft", "stiff", "rub")
    return model


def join(model, *names):
    model.connect(model.block.M, *(model[name].R for name in names))
    model.connect(model.floor.V, *(model[name].C for name in names))


def exchange(model):
    """The names of two parts."""
    soft, stiff = model.soft, model.stiff
    del model.soft, model.stiff
    model.soft, model.stiff = stiff, soft
    join(model, "soft", "stiff")


def add_and_connect(model):
    wire(model, "more.M block.M", "soft.R soft.C", free=Mass(mass="1 kg"), more=Mass(mass="1 kg"))


def replace(model):
    del model.stiff
    model.stiff = Damper()
    join(model, "stiff")


def choose(model):
    """Another law, and other values."""
    model.rub.law = "coulomb"
    model.soft.stiffness, model.block.mass = "7 N/m", "9 kg"


EDITS = [exchange, add_and_connect, replace, choose]


def everything(result, folder):
    """What a run says, by where it says it."""
    result.save(folder / "run.nc")
    result.to_csv(folder / "run.csv")
    kept = load(folder / "run.nc")
    page = result.report().html
    return {
        "table": result.table(every="0.1 s").to_csv(),
        "file": kept.table(every="0.1 s").to_csv(), "file of parameters": str(kept.parameters),
        "csv": (folder / "run.csv").read_text(), "variables": str(result.variables),
        "dataset": str(result.to_xarray()), "parameters": str(result.parameters),
        "energy": str(result.energy()), "sticking": str(result.sticking()),
        "events": str(result.events), "shapes": repr(result.recording.shapes()),
        "scene": [len(axes.lines) for axes in result.draw("0 s").axes],
        "curves": [axes.get_ylabel() for axes in result.plot().axes],
        "schematic": page[page.index('id="network"') : page.index('id="panels"')],
    }


@pytest.fixture(scope="module")
def unedited(tmp_path_factory):
    return everything(held_by_two().simulate("0.3 s"), tmp_path_factory.mktemp("unedited"))


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_run_says_the_same_after_an_edit(edit, unedited, tmp_path):
    model = held_by_two()
    result = model.simulate("0.3 s")
    edit(model)
    said = everything(result, tmp_path)
    for name, value in unedited.items():
        assert said[name] == value, name
    for name, stiffness in (("soft", 100.0), ("stiff", 300.0)):
        assert_allclose(result[f"{name}.f"].m, stiffness * result[f"{name}.x"].m, atol=1e-12)


def test_a_run_between_an_edit_and_the_next_is_its_own(tmp_path):
    model = held_by_two()
    before = model.simulate("0.3 s")
    exchange(model)
    after = model.simulate("0.3 s")
    before.save(tmp_path / "before.nc")
    for run in (before, load(tmp_path / "before.nc")):
        for mine, its in (("soft", "stiff"), ("stiff", "soft")):
            assert_allclose(run[f"{mine}.f"].final.m, after[f"{its}.f"].final.m, rtol=1e-9)
            assert run.parameters[f"{mine}.stiffness"] == after.parameters[f"{its}.stiffness"]


def test_arrays_and_parts_of_composites_keep_their_numbers():
    model = wired("row", blocks=Mass(mass="1 kg", v=quantity([1.0, 2.0, 3.0], "m/s"), count=3))
    result = model.simulate("1 s")
    blocks = model.blocks
    del model.blocks
    model.blocks, model.others = Mass(v="7 m/s"), blocks
    assert [result[f"blocks[{k}].v"].final.m for k in range(3)] == [1.0, 2.0, 3.0]
    assert result["blocks.v"].m.shape[0] == 3
    assert "others.v" not in result and "blocks.v" in result


def test_points_and_linear_models_keep_their_names():
    model = held_by_two()
    point = model.operating_point()
    linear = model.linearise(["soft.stiffness"], ["stiff.x"])
    equations = model.equations()
    exchange(model)
    del model.rub
    other = held_by_two()
    assert str(point) == str(other.operating_point())
    assert str(linear) == str(other.linearise(["soft.stiffness"], ["stiff.x"]))
    assert str(equations) == str(other.equations())


def test_shapes_are_drawn_with_the_names_and_values_of_the_run():
    model = wired("thrown", body=Body(center_x="0.1 m", vx="1 m/s"))
    result = model.simulate("0.1 s")
    model.body.center_x = "0.3 m"
    del model.body
    line, mark = result.recording.shapes()
    assert line.points.max() == 0.1 and mark.point[0] == 0.1
    handles = [result[f"body.{name}"].infos[0].index for name in ("x", "y", "phi")]
    assert list(line.frame_at) == handles
