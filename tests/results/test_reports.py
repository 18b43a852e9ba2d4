"""Events, counters, energy and sentences about a run, its report, and what a notebook shows."""

import base64
import json
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from benches import wired
from benches.exported_models import stick_slip
from benches.recorded import MASSES, Fake, nothing_recorded, result
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import Component, EnergyWarning, Model, Parameter, Port, load, quantity
from blocks.analysis import free
from blocks.exceptions import FileError, UnknownName, WrongCall
from blocks.results import EnergyBalance, EnergyTerm, EventRecord, Events, Recording
from blocks.results.page.run_page import energy_flow, thinned


def words(thing):
    return [" ".join(line.split()) for line in repr(thing).splitlines()]


def test_an_event_by_rounding_after_the_start_is_shown_at_the_start():
    events = Events([EventRecord(3.4e-21, "brake", "slides forward"),
                     EventRecord(2.5, "brake", "sticks")])  # fmt: skip
    assert "e-21" not in repr(events)
    assert events[0].time == 3.4e-21


def test_events_of_a_component_are_asked_for_by_of():
    with pytest.raises(WrongCall, match=r"result.events.of\('brake'\)"):
        result().events["brake"]


def test_the_fake_is_a_recording():
    assert isinstance(Fake(), Recording)


def test_energy_finds_what_is_missing():
    energy = result().energy()
    assert energy.residual.to("mJ").m == 500
    assert energy.throughput.to("J").m == (10 + 2 + 7.5) / 2
    assert energy.relative_residual == pytest.approx(0.5 / 9.75)
    assert [t.violation for t in energy] == [0, 0, 0.5]
    assert (energy.supplied - energy.stored - energy.dissipated).to("J").m == 0.5
    assert energy["block"].stored == 2


def test_violations_do_not_cancel():
    energy = EnergyBalance([EnergyTerm("a", "A", 1.0, 0.0, 0.0, 0.0),
                     EnergyTerm("b", "B", -1.0, 0.0, 0.0, 0.0)])  # fmt: skip
    assert energy.residual.to("J").m == 2


def test_work_that_appears_from_nowhere_is_missing():
    assert EnergyBalance([EnergyTerm("a", "A", 3.0, 3.0, 0.0, 0.0)]).residual.to("J").m == 3


def test_a_returning_swing_is_measured_by_what_was_exchanged():
    swing = [EnergyTerm("m", "Mass", 1e-9, 0.0, 0.0, 0.0, 8.0),
             EnergyTerm("s", "Spring", -1e-9, 0.0, 0.0, 0.0, 8.0)]  # fmt: skip
    assert EnergyBalance(swing).throughput.m == 8
    assert EnergyBalance(swing).relative_residual == pytest.approx(2.5e-10)
    assert EnergyBalance([]).relative_residual == 0
    off = EnergyTerm("p", "Pipe", 94.0, 100.0, 0.0, 0.0, 200.0, 0.0, 9.0)  # no integral resolves it
    with pytest.warns(EnergyWarning, match="no integral over time resolves"):
        EnergyBalance([off]).warn(1e-4)


def test_what_a_lone_body_misses_is_measured_by_what_it_holds():
    flight = EnergyBalance([EnergyTerm("stone", "Body", 0.0, 2e-15, 0.0, 0.0, 0.0, 8.0)])
    assert flight.peak_stored.to("J").m == 8
    assert flight.relative_residual == pytest.approx(2.5e-16)
    assert words(flight)[-1] == "unaccounted for: 2 fJ of 8 J held (relative 2.5e-16)"


def test_energy_is_printed_with_units():
    lines = words(result().energy())
    assert lines[0] == "Energy of stick_slip in J"
    assert lines[1] == "component type work_in stored dissipated supplied residual"
    assert lines[3] == "pull VelocitySource -10 0 0 10 0"
    assert lines[5] == "friction TranslationalFriction 8 0 7.5 0 5.0e-01"
    assert lines[-2] == "total 0 2 7.5 10 5.0e-01"
    assert lines[-1] == "unaccounted for: 500 mJ of 9.75 J turned over (relative 5.1e-02)"
    assert result().energy().to_pandas().loc["total", "supplied [J]"] == 10
    assert "friction" in result().energy()._repr_html_()


def test_a_long_ledger_puts_arrays_together():
    terms = [EnergyTerm(f"m[{k}]", "Mass", 1e3, 1e3, 0.0, 0.0) for k in range(100)]
    lines = words(EnergyBalance(terms, "chain"))
    assert lines[0] == "Energy of chain in kJ"
    assert lines[3] == "m (100) Mass 100 100 0 0 0"


def test_an_unknown_component_of_the_ledger():
    with pytest.raises(UnknownName, match="Did you mean 'block'"):
        result().energy()["blok"]


def test_events_are_a_table():
    events = result().events
    assert len(events) == 2 and events[0].component == "friction"
    assert words(events)[1] == "time component what" or "time" in words(events)[1]
    assert words(events)[-1] == "2.25 friction sticks"
    assert str(events[-1]) == "2.25 s: friction sticks"
    assert list(events.to_pandas()["time [s]"]) == [1.5, 2.25]
    assert len(events.of("friction")) == 2 and len(events.of("fric")) == 0
    assert repr(nothing_recorded().events) == "no events"


def test_statistics_are_readable():
    statistics = result().statistics
    assert statistics["steps"] == statistics.steps == 1412
    assert words(statistics) == ["Statistics", "method rodas4", "why stiff", "steps 1,412",
                                 "rejected 12", "phases: compile 0.0125 s", "phases: solve 0.25 s"]
    with pytest.raises(AttributeError):
        statistics.nothing  # noqa: B018


def test_summary():
    assert words(result()) == [
        "Result of stick_slip", "status finished", "time 0 s to 4 s", "variables 23", "samples 402",
        "method rodas4", "steps 1,412 (12 rejected)", "events 2"]  # fmt: skip
    assert "<table" in result()._repr_html_()
    failed = words(nothing_recorded())
    assert "status failed" in failed and "message no consistent start" in failed


def test_variables_show_arrays_once():
    variables = result().variables
    assert len(variables) == 11 + MASSES
    assert words(variables)[-2:] == ["masses.v mm/s variable velocity", "23 variables"]
    assert [v.path for v in variables.matching("spring.*f")] == ["spring.f", "spring.R.f"]
    assert len(variables.matching("masses.v")) == MASSES
    assert variables.to_pandas().loc["oil.T", "unit"] == "degC"
    assert variables["spring.f"].path == "spring.f"
    with pytest.raises(UnknownName, match="Did you mean 'spring.f'"):
        variables["spring.F"]


@pytest.mark.parametrize("path, sentence", [
    ("spring.f", "spring.f is the force carried from R to C, in N. It is positive when it "
     "goes from R to C, negative from C to R. Over the run, from 0 s to 4 s, it lies between "
     "-10 N (at 1 s) and 10 N (at 0 s) and ends at 10 N."),
    ("spring.v", "spring.v is the velocity of R minus that of C, in m/s. It is positive when "
     "the value at R is greater than the one at C. Over the run, from 0 s to 4 s, it is "
     "-0.5 m/s throughout."),
    ("spring.R.f", "spring.R.f is the flow into spring at port spring.R, in N. It is positive "
     "when it flows through port spring.R into spring; over all ports joined there it sums "
     "to zero. Over the run, from 0 s to 4 s, it lies between -10 N (at 1 s) and 10 N "
     "(at 0 s) and ends at 10 N."),
    ("oil.T", "oil.T is the temperature, in °C. Over the run, from 0 s to 4 s, it lies "
     "between 20 °C (at 0 s) and 60 °C (at 4 s) and ends at 60 °C."),
    ("switch.on", "switch.on is a variable of switch, a number without unit. It is held "
     "between events and changes only at them. Over the run, from 0 s to 4 s, it lies "
     "between 0 (at 0 s) and 1 (at 1.5 s) and ends at 1.")])  # fmt: skip
def test_explain(path, sentence):
    assert result().explain(path) == sentence


def test_explain_an_array():
    told = result().explain("masses.v")
    assert f"There are {MASSES} instances, masses[0].v to masses[11].v." in told
    assert "11 mm/s (at 0 s in masses[11].v)" in told


def test_tables_are_shown_without_optional_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "<td>status</td><td>finished</td>" in result()._repr_html_()
    assert "9.75 J turned over" in repr(result().energy())
    assert "breaks away" in repr(result().events)


def test_nothing_optional_is_imported():
    code = ("import sys, blocks.results; "
            "print([m for m in ('pandas', 'xarray', 'matplotlib', 'networkx', 'rich', 'pyarrow')"
            " if m in sys.modules])")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- the report of a run: one file ------------------------------------------------------------
class Outline(HTMLParser):
    """Tags that are opened and closed, and what they refer to."""

    SINGLE = {"meta", "input", "br", "rect", "circle", "path"}

    def __init__(self, page):
        super().__init__()
        self.open, self.headings, self.outside, self.cells = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.outside += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]
        if tag not in self.SINGLE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag not in self.SINGLE:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


@pytest.fixture(scope="module")
def run():
    return stick_slip("stribeck").simulate("2 s")


def test_the_report_is_one_file_with_everything_in_it(run, tmp_path):
    run.report(save=tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    outline = Outline(page)
    assert outline.open == [] and outline.outside == []
    assert outline.headings == ["Network", "Curves", "Parameters", "Start values", "Events",
                                "Energy", "Sticking", "Bottlenecks", "Statistics", "Versions"]
    assert "stiffness = 1000 N/m, preload = 0 N" in " ".join(outline.cells)
    assert "velocity = 0.1 m/s" in outline.cells
    assert not re.search(r">-0(\.0*)?<", page)


def test_curves_are_those_of_the_run_in_its_units(run):
    data = data_of(run.report("block.v", "spring.f").html)
    assert [(p["unit"], [c["name"] for c in p["curves"]]) for p in data["panels"]] == [
        ("m/s", ["block.v"]), ("N", ["spring.f"])]  # fmt: skip
    curve = data["panels"][1]["curves"][0]
    assert_allclose(numbers(curve["t"], "<f8"), run.time.to("s").m)
    assert_allclose(numbers(curve["y"], "<f4"), run["spring.f"].to("N").m, rtol=1e-6, atol=1e-5)
    assert [e[0] for e in data["events"]] == [float(e.time) for e in run.events]


def test_a_report_says_how_many_curves_it_leaves_out():
    model = wired("many", blocks=tr.Mass(count=9, v="1 m/s"), **{
        f"alone{k}": tr.Mass(v="1 m/s") for k in range(30)})  # fmt: skip
    page = model.simulate("0.1 s").report().html
    shown = [c["name"] for panel in data_of(page)["panels"] for c in panel["curves"]]
    others = {*(f"blocks[{k}].v" for k in range(9)), *(f"alone{k}.v" for k in range(30))} - {*shown}
    told = re.search(r"(\d+) of 39 curves are shown. Name others: .*report\(&#x27;(.+?)&", page)
    assert int(told[1]) == len(shown) == 24 and told[2] in others


def test_a_million_samples_weigh_little_and_keep_their_extremes():
    model = wired("long", "block.M spring.R", "spring.C ground.V",
                  block=tr.Mass(mass="1 kg", v="1 m/s"), spring=tr.Spring(stiffness="1e4 N/m"),
                  ground=tr.Reference())
    result = model.simulate("10 s", every="10 us")
    assert len(result.time) > 1_000_000
    page = result.report().html
    assert len(page) < 1e6
    for panel in data_of(page)["panels"]:
        for curve in panel["curves"]:
            shown, all_of_it = numbers(curve["y"], "<f4"), result[curve["name"]].si
            assert len(shown) <= 8002
            assert_allclose([shown.min(), shown.max()], [all_of_it.min(), all_of_it.max()],
                            rtol=1e-6)  # fmt: skip


def test_thinning_keeps_every_spike_and_the_gaps():
    t = np.linspace(0, 1, 100_001)
    y = np.sin(40 * t)
    y[[777, 50_003]] = 9, -9
    y[70_000:72_000] = np.nan
    kept_t, kept_y = thinned(t, y, 500)
    assert len(kept_t) <= 1002 and np.all(np.diff(kept_t) > 0)
    assert {9.0, -9.0} <= set(kept_y) and np.isnan(kept_y).any()
    assert_allclose(kept_y, np.interp(kept_t, t, y))
    assert kept_t[0] == 0 and kept_t[-1] == 1


def test_bands_of_the_energy_flow_are_as_wide_as_the_energies():
    terms = [EnergyTerm("source", "S", -10.0, 0, 0, 10.0), EnergyTerm("spring", "P", -2, -2, 0, 0),
             EnergyTerm("mass", "M", 3.0, 3.0, 0, 0), EnergyTerm("rub", "D", 9.0, 0, 9.0, 0)]
    drawn = energy_flow(terms)
    ways = [np.array(re.findall(r"([\d.]+) ([\d.]+)", way), dtype=float)
            for way in re.findall(r'd="(M[^"]*Z)" style', drawn)]
    tall = [way[-1, 1] - way[0, 1] for way in ways]
    assert_allclose(np.array(tall) / 190 * 12, [10, 2, 9, 3], atol=0.02)
    words = re.findall(r">([^<]+)</text>", drawn)
    assert words[:4] == ["source", "10 J supplied", "spring", "2 J released"]
    assert float(re.search(r' width="([\d.]+)"', drawn)[1]) <= 358  # of a page on a telephone
    assert energy_flow([EnergyTerm("mass", "M", 0, 0, 0, 0)]) == ""


def test_findings_are_told_and_the_model_is_drawn_as_it_was():
    model = wired("drifting", "block.M damper.R", "damper.C ground.V",
                  block=tr.Mass(v="1 m/s"), damper=tr.Damper(), ground=tr.Reference())
    result = model.simulate("1 s")
    model.more = tr.Mass()
    page = result.report().html
    network = page.split('id="panels"')[0]
    assert "<svg" in network and "damper: Damper" in network and "more" not in network
    assert "damping = 100 N·s/m" in page


def test_composites_open_in_the_report():
    class Leg(Component):
        """A spring with a damper."""

        R, C = Port(tr.translational), Port(tr.translational)

        def compose(self):
            self.spring, self.damper = tr.Spring(stiffness="200 N/m"), tr.Damper()
            self.connect(self.R, self.spring.R, self.damper.R)
            self.connect(self.C, self.spring.C, self.damper.C)

    model = wired("legs", "body.M leg.R", "leg.C ground.V",
                  body=tr.Mass(v="1 m/s"), leg=Leg(), ground=tr.Reference())
    closed, opened = model.simulate("1 s").report().html.split("<details>")[:2]
    assert "leg.spring: Spring" not in closed
    assert "leg.spring: Spring" in opened
    assert "stiffness = 200 N/m" in opened


def test_a_run_that_keeps_few_variables_has_a_report_that_says_so(tmp_path):
    model = stick_slip("stribeck")
    model.simulate("1 s", record=["block.v"]).save(tmp_path / "run.nc")
    for one in (model.simulate("1 s", record=["block.v"]), load(tmp_path / "run.nc")):
        page = one.report().html
        assert Outline(page).open == []
        energy = re.search(r'<section id="energy">(.*?)</section>', page, re.S)[1]
        assert "needs variables of the whole model, of which record= has kept 1" in energy


def test_a_notebook_shows_the_same_page(run):
    page = run.report("block.v")
    assert page._repr_html_().startswith("<iframe srcdoc=")
    assert "save('run.html')" in repr(page)
    with pytest.raises(Exception, match="there is no folder"):
        page.save("/nowhere/at/all/run.html")
    with pytest.raises(FileError, match="has the ending '.pdf', but a page ends with .html"):
        run.report(save="run.pdf")


def test_a_long_network_stands_in_the_rows_that_a_window_has_room_for():
    model = wired("row", "ground.V pull.C",
                  ground=tr.Reference(), pull=tr.VelocitySource(velocity="0.1 m/s"))
    last = model.pull.R
    for k in range(9):
        spring, mass = model.add(f"spring{k}", tr.Spring()), model.add(f"mass{k}", tr.Mass())
        model.connect(last, spring.R)
        model.connect(spring.C, mass.M)
        last = mass.M
    page = model.simulate("0.1 s").report().html
    widths = {name: float(wide) for name, wide in re.findall(
        r'class="wide at-(\w+)"><svg[^>]* width="(\S+)"', page)}
    assert widths["narrow"] <= 358 < widths["page"] <= 798 < widths["wide"] <= 1168
    assert all(f">spring{k}</text>" in rows for rows in page.split('"wide at-')[1:]
               for k in range(9))


def test_a_report_holds_another_page(run):
    inside = run.report("block.v")
    report = run.report(page=inside).html
    section = re.search(r'<section id="simulate">.*?</section>', report, re.DOTALL)[0]
    assert unescape(re.search(r'srcdoc="([^"]*)"', section)[1]) == inside.html
    with pytest.raises(WrongCall, match=r"takes a page, but was given 'demo\.html'"):
        run.report(page="demo.html")


# -- what a notebook shows where the last line of a cell is a model, a part or what was found -
class Pair(Component):
    """Two masses."""

    weight = Parameter("2 kg", above=0, doc="mass of <each>")

    def compose(self):
        self.one = tr.Mass(mass=self.weight)
        self.two = tr.Mass(mass=self.weight)


def pushed():
    return wired("pushed <hard>", "push.R block.M damper.R", "push.C damper.C wall.V",
                 push=tr.ForceSource(), block=tr.Mass(mass="4 kg", v="0 m/s"),
                 damper=tr.Damper(damping="2 N*s/m"), wall=tr.Reference())


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
    several = tr.Mass(count=2, mass=quantity([1, 2], "kg"))
    assert ["mass", "[1., 2.] kg", "Mass"] in cells(several._repr_html_())
    assert "Mass, 2 of them" in several._repr_html_()
    rough = dict(row[:2] for row in cells(tr.TranslationalFriction(law="stribeck")._repr_html_()))
    assert rough["law"] == "'stribeck'"
    assert rough["coulomb_force"] == "20 N"


def test_a_function_of_time_is_called_one():
    part = tr.ForceSource(force=lambda t: quantity("1 N/s") * t)
    assert ["force", "a function", "Force from C to R"] in cells(part._repr_html_())


def test_a_point_and_a_linear_model_are_tables():
    model = pushed()
    point = model.operating_point({"block.v": "3 m/s", "push.S": free})
    assert ["block.v", "3 m/s"] in cells(point._repr_html_())
    assert ["push.S", "6 N"] in cells(point._repr_html_())  # d v
    linear = model.linearise("push.S", "block.v")
    assert ["poles [1/s]", "-0.5"] in cells(linear._repr_html_())  # - d / m
