"""What other tools call the things of a run leads to what they are called here."""

import pytest
from benches import wired

from blocks.exceptions import UnknownName
from library.translational import Mass


@pytest.fixture(scope="module")
def run():
    model = wired("slider", block=Mass(mass="1 kg", v="1 m/s"))
    return model.simulate("1 s")


@pytest.mark.parametrize("name, told", [
    ("to_dataframe", "result.table()"), ("y", "result['part.variable']"),
    ("save_csv", "result.to_csv('run.csv')"), ("t_events", "result.events")])
def test_of_a_result(run, name, told):
    with pytest.raises(UnknownName, match=f"slider: a run has no '{name}'") as caught:
        getattr(run, name)
    assert told in str(caught.value)
    assert not hasattr(run, name)


@pytest.mark.parametrize("name, told", [
    ("values", ".to('…').m"), ("interp", ".at('0.5 s')"), ("argmax", ".max()"), ("last", ".final")])
def test_of_the_values_of_a_variable(run, name, told):
    with pytest.raises(UnknownName, match=rf"block\.v: values have no '{name}'") as caught:
        getattr(run["block.v"], name)
    assert told in str(caught.value)


@pytest.mark.parametrize("nearest, of", [
    ("table", "to_dataframe"), ("save", "export"), ("events", "log")])
def test_what_a_result_is_said_to_have_is_there(run, nearest, of):
    with pytest.raises(UnknownName) as caught:
        getattr(run, of)
    assert caught.value.data["nearest"] == [nearest]
    assert hasattr(run, nearest)


def test_other_names_are_plain_attribute_errors(run):
    for of in run, run["block.v"]:
        with pytest.raises(AttributeError, match="has no attribute 'nowhere'"):
            of.nowhere  # noqa: B018
