"""Findings are chosen, shown, raised and catalogued; a run that breaks down names a component."""

import pickle
import re
from pathlib import Path

import pytest
from benches import wired
from benches.wrong_models import sound

import blocks
import library.translational as tr
from blocks import Parameter, SimulationError, UnknownName, Variable, der, log, quantity, sqrt
from blocks.diagnostics import SEVERITIES, Finding, Findings
from blocks.exceptions import CheckError, StructureError


def three_mistakes():
    return sound("a.R b.R damper.R", "a.C b.C ground.V", "push.R block.M",
                 "short.R short.C block.M",
                 a=tr.VelocitySource(velocity="0 m/s"), b=tr.VelocitySource(velocity="0 m/s"),
                 push=tr.ForceSource(force="1 N"), spring=tr.Spring(), short=tr.Spring())


def test_one_check_names_all_mistakes_errors_first():
    findings = three_mistakes().check()
    assert [f.code for f in findings] == [
        "conflict.across", "conflict.through", "reference.missing", "network.shorted",
        "network.unconnected", "network.unconnected"]  # fmt: skip


def test_findings_are_chosen_by_code_family_and_severity():
    findings = three_mistakes().check()
    assert [f.code for f in findings.filter("conflict")] == ["conflict.across", "conflict.through"]
    assert len(findings.filter("conflict.across", "error")) == 1
    assert len(findings.warnings) == 1
    assert "network.shorted" in findings
    assert "signal.loop" not in findings
    assert findings[0] in findings
    assert len(findings[1:]) == 5


def test_several_errors_are_raised_together_and_carry_all_findings():
    findings = three_mistakes().check()
    with pytest.raises(CheckError) as caught:
        findings.raise_errors()
    assert caught.value.code == "check"
    assert caught.value.findings == findings
    text = str(caught.value)
    assert text.startswith("demo: 3 mistakes prevent a run:\n  1. a and b both prescribe ")
    assert "\n  3. The translational circuit of spring has no Reference" in text
    assert pickle.loads(pickle.dumps(caught.value)).findings == findings


def test_a_single_error_is_raised_as_itself():
    model = sound("push.R block.M", push=tr.ForceSource(force="1 N"))
    with pytest.raises(StructureError) as caught:
        model.simulate("1 s")
    assert caught.value.code == "conflict.through"
    assert caught.value.where == "push.C, push"
    assert caught.value.findings == model.check()
    assert str(caught.value) == str(model.check().errors[0])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.where, str(copy)) == ("push.C, push", str(caught.value))


def test_compiling_a_singular_network_says_the_same_as_the_check():
    model = three_mistakes()
    with pytest.raises(StructureError) as caught:
        model.compile()
    assert [f.code for f in caught.value.findings.errors] == [
        "conflict.across", "conflict.through", "reference.missing"]  # fmt: skip


def test_nothing_is_raised_where_there_are_no_errors():
    model = sound()
    model.loose = tr.Mass()
    model.check().raise_errors()


def test_the_printed_check_shows_severity_code_problem_and_repair():
    model = sound("push.R block.M", push=tr.ForceSource(force="1 N"))
    assert str(model.check()) == (
        "demo: 1 error\n"
        "error   conflict.through\n"
        "        push.C is connected to nothing, so the force that push prescribes has nothing to "
        "act on.\n"
        "        -> Connect push.C to a component or to a Reference.")
    assert repr(model.check()) == str(model.check())


def test_notebooks_get_a_table_with_escaped_text():
    finding = Finding("signal.loop", "warning", ("a",), "a < b", "break & repair")
    page = Findings([finding], "demo")._repr_html_()
    assert "<p>demo: 1 warning</p>" in page
    assert "a &lt; b" in page
    assert "break &amp; repair" in page


def test_pandas_shows_every_finding():
    pytest.importorskip("pandas")
    frame = three_mistakes().check().to_pandas()
    assert list(frame.columns) == ["code", "severity", "where", "problem", "advice"]
    assert frame["where"][0] == "a, b"


def test_a_check_is_kept_until_values_or_structure_change():
    model = sound()
    first = model.check()
    assert model.check() is first
    model.block.mass = "3 kg"
    assert model.check() is not first
    model.loose = tr.Mass()
    assert "network.unconnected" in model.check()


def test_a_mistake_in_a_chain_of_thousands_is_still_named():
    n = 3000
    model = wired("chain", "s.C m.M", "s[1:].R m[:-1].M", "s[0].R ground.V", "pull.R m[1234].M",
                  "pull.C ground.V",
                  ground=tr.Reference(), m=tr.Mass(count=n), s=tr.Spring(count=n),
                  pull=tr.VelocitySource(count=2, velocity="1 m/s"))
    assert [f.where for f in model.check().errors] == [("pull[0]", "pull[1]")]


# -- the catalogue -------------------------------------------------------------------------------
def catalogue():
    page = Path(__file__).parents[2] / "docs" / "messages.md"
    rows = re.findall(r"^\| (`[^|]+`) \|(.*)\|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {code: cells for codes, cells in rows for code in re.findall(r"`([a-z.]+)`", codes)}


def test_every_code_is_in_the_catalogue_and_every_entry_is_a_code():
    used = set(SEVERITIES)
    for file in Path(blocks.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        used |= set(re.findall(r"\bcode(?:: ClassVar\[str\])? ?= ?\"([a-z]+(?:\.[a-z]+)*)\"", text))
    assert set(catalogue()) == used


def test_the_catalogue_gives_the_severity_of_every_finding():
    for code, cells in catalogue().items():
        if code in SEVERITIES and code != "parameter":
            assert cells.split("|")[0].strip() == SEVERITIES[code], code


# -- a run that breaks down is reported against the component whose equation has no value -----
class Bristle(tr.TwoPort):
    """A force that has no value beyond a limit."""

    limit = Parameter("0.5 m")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("1 N/m^(1/2)") * sqrt(self.limit - self.x)


class Vapour(Bristle):
    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("1 N") * log(1 - self.x / self.limit)


@pytest.mark.parametrize("method", ["auto", "Radau", "rk4"])
@pytest.mark.parametrize(("part", "equation"), [
    (Bristle, "rail.f == sqrt(rail.limit - rail.x)"),
    (Vapour, "rail.f == log(1 - rail.x/rail.limit)")])
def test_a_root_or_logarithm_of_a_negative_number_is_laid_at_its_components_door(
    method, part, equation):
    model = wired("broken", "block.M rail.R", "rail.C ground.V",
                  block=tr.Mass(v="1.5 m/s"), rail=part(), ground=tr.Reference())
    step = "1 ms" if method == "rk4" else None
    with pytest.raises(SimulationError) as caught:
        model.simulate("3 s", method=method, step=step)
    assert caught.value.where == "rail"
    assert equation in str(caught.value)
    assert "a root or logarithm of a negative number" in caught.value.advice
    assert caught.value.result["block.v"].final.m > 0


@pytest.mark.parametrize("method", ["auto", "Radau"])
def test_a_pole_of_a_source_is_laid_at_the_sources_door(method):
    model = wired("pole", "block.M push.R", "push.C ground.V",
                  block=tr.Mass(), ground=tr.Reference(),
                  push=tr.ForceSource(force=lambda t: quantity("1 N*s") / (t - quantity("0.5 s"))))
    with pytest.raises(SimulationError, match=r"push\.S == 1/\(time - 0\.5\)") as caught:
        model.simulate("1 s", method=method)
    assert caught.value.where == "push"
    assert caught.value.time == pytest.approx(0.5, abs=1e-9)


def test_a_motion_that_grows_without_bound_is_no_components_fault():
    class Avalanche(tr.TwoPort):
        def equations(self):
            yield self.f == -quantity("1 N*s^2/m^2") * self.v**2

    model = wired("avalanche", "block.M snow.R", "snow.C ground.V",
                  block=tr.Mass(v="1 m/s"), snow=Avalanche(), ground=tr.Reference())
    with pytest.raises(SimulationError, match="grows without bound") as caught:
        model.simulate("2 s")  # v = 1/(1 - t)
    assert caught.value.where == ""
    assert caught.value.time == pytest.approx(1.0, abs=1e-6)


def test_an_unknown_name_is_an_attribute_of_the_error():
    with pytest.raises(UnknownName) as caught:
        tr.Mass().masss  # noqa: B018
    assert caught.value.name == "masss"
    assert caught.value.nearest == ["mass"]


def test_a_damper_of_the_wrong_sign_is_no_division_by_zero():
    class Fed(tr.TwoPort):
        def equations(self):
            yield self.f == -quantity("1 kN*s/m") * self.v

    model = wired("fed", "block.M fed.R", "fed.C ground.V",
                  block=tr.Mass(v="1 m/s"), fed=Fed(), ground=tr.Reference())
    with pytest.raises(SimulationError, match=r"^block: .* block\.v has grown to .*: look for what "
                       "feeds it, such as a source, or a damper or a resistor of the wrong sign"
                       ) as caught:
        model.simulate("2 s")  # v = exp(1000 t): beyond all numbers from 0.71 s on
    assert caught.value.time == pytest.approx(0.7, abs=0.02)
