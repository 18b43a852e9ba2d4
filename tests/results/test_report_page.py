"""The report of a run: one file, with what was built, given and measured in it."""

import base64
import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Component, ParameterError, Port, load
from blocks.exceptions import WrongCall
from blocks.results import EnergyTerm
from blocks.results.page.run_page import energy_flow, thinned
from library.translational import (
    Damper,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
    translational,
)


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


def stick_slip():
    return wired("stick-slip", "pull.R spring.R", "spring.C block.M friction.R",
                 "pull.C friction.C ground.V",
                 pull=VelocitySource(velocity="0.1 m/s"), ground=Reference(),
                 spring=Spring(stiffness="1000 N/m"), block=Mass(mass="1 kg"),
                 friction=TranslationalFriction(law="stribeck", breakaway_force="25 N",
                                                coulomb_force="20 N"))


@pytest.fixture(scope="module")
def run():
    return stick_slip().simulate("2 s")


def test_the_report_is_one_file_with_everything_in_it(run, tmp_path):
    run.report(save=tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    outline = Outline(page)
    assert outline.open == [] and outline.outside == []
    assert outline.headings == ["Network", "Curves", "Parameters", "Start values", "Events",
                                "Energy", "Sticking", "Bottlenecks", "Statistics",
                                "Versions"]  # fmt: skip
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


def test_a_million_samples_weigh_little_and_keep_their_extremes():
    model = wired("long", "block.M spring.R", "spring.C ground.V",
                  block=Mass(mass="1 kg", v="1 m/s"), spring=Spring(stiffness="1e4 N/m"),
                  ground=Reference())
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
    ways = re.findall(r'd="M([\d.]+) ([\d.]+)C[\d. ]+V[\d.]+C[\d. ]+ ([\d.]+)Z"', drawn)
    assert len(ways) == 4
    tall = [float(low) - float(top) for (_, top, low) in ways]
    assert_allclose(np.array(tall) / 190 * 12, [10, 2, 9, 3], atol=0.02)
    assert "source: 10 J supplied" in drawn and "spring: 2 J released" in drawn
    assert energy_flow([EnergyTerm("mass", "M", 0, 0, 0, 0)]) == ""


def test_findings_are_told_and_the_model_is_drawn_as_it_was():
    model = wired("drifting", "block.M damper.R", "damper.C ground.V",
                  block=Mass(v="1 m/s"), damper=Damper(), ground=Reference())
    result = model.simulate("1 s")
    model.more = Mass()
    page = result.report().html
    network = page.split('id="panels"')[0]
    assert "<svg" in network and "damper: Damper" in network and "more" not in network
    assert "damping = 100 N·s/m" in page


def test_composites_open_in_the_report():
    class Leg(Component):
        """A spring with a damper."""

        R, C = Port(translational), Port(translational)

        def compose(self):
            self.spring, self.damper = Spring(stiffness="200 N/m"), Damper()
            self.connect(self.R, self.spring.R, self.damper.R)
            self.connect(self.C, self.spring.C, self.damper.C)

    model = wired("legs", "body.M leg.R", "leg.C ground.V",
                  body=Mass(v="1 m/s"), leg=Leg(), ground=Reference())
    page = model.simulate("1 s").report().html
    closed, opened = page.split("<details>")[:2]
    assert "leg.spring: Spring" not in closed
    assert "leg.spring: Spring" in opened
    assert "stiffness = 200 N/m" in opened


def test_a_run_that_keeps_few_variables_has_a_report_that_says_so(tmp_path):
    model = stick_slip()
    model.simulate("1 s", record=["block.v"]).save(tmp_path / "run.nc")
    for result in (model.simulate("1 s", record=["block.v"]), load(tmp_path / "run.nc")):
        page = result.report().html
        assert Outline(page).open == []
        energy = re.search(r'<section id="energy">(.*?)</section>', page, re.S)[1]
        assert "needs variables of the whole model, of which record= has kept 1" in energy


def test_a_notebook_shows_the_same_page(run):
    page = run.report("block.v")
    assert page._repr_html_().startswith("<iframe srcdoc=")
    assert "save('run.html')" in repr(page)
    with pytest.raises(Exception, match="there is no folder"):
        page.save("/nowhere/at/all/run.html")
    with pytest.raises(ParameterError, match="writes a page of HTML, but .* ends in '.pdf'"):
        run.report(save="run.pdf")


def test_a_long_network_is_folded_where_only_wires_run():
    model = wired("row", "ground.V pull.C",
                  ground=Reference(), pull=VelocitySource(velocity="0.1 m/s"))
    last = model.pull.R
    for k in range(9):
        spring, mass = model.add(f"spring{k}", Spring()), model.add(f"mass{k}", Mass())
        model.connect(last, spring.R)
        model.connect(spring.C, mass.M)
        last = mass.M
    drawn = model.draw()
    boxes = re.findall(r'viewBox="(\S+) 0 (\S+) \S+" role', drawn.folded("row"))
    starts, widths = np.array(boxes, dtype=float).T
    assert len(starts) > 3 and widths.max() <= 358  # of a page on a screen of 390
    assert_allclose(starts[1:], np.cumsum(widths)[:-1], atol=0.3)
    assert widths.sum() == pytest.approx(drawn.width, abs=0.5)
    for left, _, right, _ in drawn.picture.areas.values():
        assert not ((left < starts) & (starts < right)).any()


def test_a_report_holds_another_page(run):
    inside = run.report("block.v")
    report = run.report(page=inside).html
    section = re.search(r'<section id="simulate">.*?</section>', report, re.DOTALL)[0]
    shown = re.search(r'srcdoc="([^"]*)"', section)[1]
    assert unescape(shown) == inside.html
    with pytest.raises(WrongCall, match=r"takes a page, but was given 'demo\.html'"):
        run.report(page="demo.html")
