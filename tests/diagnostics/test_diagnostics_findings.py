"""Findings can be chosen, shown anywhere, raised, and are catalogued completely."""

import pickle
import re
from pathlib import Path

import pytest
from benches import wired
from benches.wrong_models import sound

import blocks
from blocks.diagnostics import SEVERITIES, Finding, Findings
from blocks.exceptions import CheckError, StructureError
from library.translational import Damper, ForceSource, Mass, Reference, Spring, VelocitySource


def three_mistakes():
    return sound("a.R b.R damper.R", "a.C b.C ground.V", "push.R block.M",
                 "short.R short.C block.M",
                 a=VelocitySource(velocity="0 m/s"), b=VelocitySource(velocity="0 m/s"),
                 push=ForceSource(force="1 N"), spring=Spring(), short=Spring())


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
    model = sound("push.R block.M", push=ForceSource(force="1 N"))
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
    model.loose = Mass()
    model.check().raise_errors()


def test_the_printed_check_shows_severity_code_problem_and_repair():
    model = sound("push.R block.M", push=ForceSource(force="1 N"))
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
    second = model.check()
    assert second is not first
    model.loose = Mass()
    assert "network.unconnected" in model.check()


def test_a_check_of_thirty_thousand_components_looks_at_each_class_once(monkeypatch):
    from blocks.diagnostics import classes, topology

    n = 10_000
    model = wired("chain", "s.C d.C m.M", "s.R d.R", "s[1:].R m[:-1].M", "s[0].R ground.V",
                  ground=Reference(), m=Mass(count=n), s=Spring(count=n), d=Damper(count=n))
    calls = []
    monkeypatch.setattr(topology, "traits_of",
                        lambda kernel, real=topology.traits_of: calls.append(1) or real(kernel))
    monkeypatch.setattr(classes, "match",
                        lambda *a, real=classes.match: calls.append(1) or real(*a))
    assert len(model.check()) == 0
    assert len(calls) == 2 * 4


def test_a_mistake_in_a_chain_of_thousands_is_still_named():
    n = 3000
    model = wired("chain", "s.C m.M", "s[1:].R m[:-1].M", "s[0].R ground.V", "pull.R m[1234].M",
                  "pull.C ground.V",
                  ground=Reference(), m=Mass(count=n), s=Spring(count=n),
                  pull=VelocitySource(count=2, velocity="1 m/s"))
    errors = model.check().errors
    assert [f.where for f in errors] == [("pull[0]", "pull[1]")]


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
