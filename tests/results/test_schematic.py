"""Schematics: what an engineer would draw, measured on the geometry."""

import runpy
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from benches import few, wired
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

import library.electrical as el
import library.isothermal_liquid as liquid
import library.translational as tr
from blocks import Component, Model, Parameter, ParameterError, Port
from blocks.drawing.network import drawn_network
from blocks.exceptions import ModelError, UnknownName
from blocks.results.schematic.drawing import draw_schematic
from library.mechanisms import GearBox

SLACK = 1.0  # pixels that two things may share
FONT = FontProperties(family="DejaVu Sans")


def overlap(a, b, slack=SLACK):
    return min(a[2], b[2]) - max(a[0], b[0]) > slack and min(a[3], b[3]) - max(a[1], b[1]) > slack


def text_box(t):
    """Left, top, right, bottom of a text's ink, as the font says."""
    ink = TextPath((0, 0), t.words, size=t.size, prop=FONT)
    points = ink.vertices[ink.codes != ink.CLOSEPOLY]  # curves stay within them
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    start = t.x - (x1 * {"start": 0, "middle": 0.5, "end": 1}[t.anchor])
    return start + x0, t.y - y1, start + x1, t.y - y0


def wires(picture):
    """Wires as (line, start, end); arrow heads are no wires."""
    for p in picture.lines:
        if p.kind == "wire" and not p.filled and len(p.points) < 8:
            for a, b in zip(p.points, p.points[1:], strict=False):
                yield p, a, b


def box_of(a, b, grown=0.0):
    (x0, x1), (y0, y1) = sorted((a[0], b[0])), sorted((a[1], b[1]))
    return x0 - grown, y0 - grown, x1 + grown, y1 + grown


def faults(drawn):
    """Sentences; none for a good drawing."""
    picture, found = drawn.picture, []
    assert picture.areas and picture.texts and any(wires(picture))
    texts = [(t, text_box(t)) for t in picture.texts]
    for (t, a), (u, b) in combinations(texts, 2):
        if overlap(a, b, 0.0):
            found.append(f"the texts {t.words!r} and {u.words!r} overlap")
    for p, a, b in wires(picture):
        if min(abs(a - b)) > 1e-6:
            found.append(f"a wire of net {p.owner} is aslant: {a}, {b}")
        line = box_of(a, b, 0.5)
        for owner, area in picture.areas.items():
            left, top, right, bottom = area
            if overlap(line, (left + 1.5, top + 1.5, right - 1.5, bottom - 1.5), 0.0):
                found.append(f"a wire of net {p.owner} runs through {owner}: {a}, {b}")
        for t, box in texts:
            if overlap(line, box, 0.0):
                found.append(f"a wire of net {p.owner} runs through the text {t.words!r}")
    areas = list(picture.areas.items())
    for (one, a), (two, b) in combinations(areas, 2):
        if overlap(a, b):
            found.append(f"{one} lies on {two}")
    for owner, area in areas:
        for t, box in texts:
            if t.owner != owner and overlap(area, box):
                found.append(f"the text {t.words!r} lies on {owner}")
    for t, box in texts:
        if not (box[0] >= 0 and box[1] >= 0 and box[2] <= drawn.width and box[3] <= drawn.height):
            found.append(f"the text {t.words!r} leaves the picture")
    for p in picture.lines:
        low, high = p.points.min(axis=0), p.points.max(axis=0)
        if min(low) < 0 or high[0] > drawn.width or high[1] > drawn.height:
            found.append(f"a line of {p.owner} leaves the picture at {high}")
    return found + shared(picture)


def shared(picture):
    """Wires of two nets that lie on each other."""
    known = [(p, *map(np.array, (a, b))) for p, a, b in wires(picture) if p.owner]
    for (p, a, b), (q, c, d) in combinations(known, 2):
        if p.owner == q.owner:
            continue
        for along in (0, 1):
            across = 1 - along
            if max(abs(a[across] - b[across]), abs(c[across] - d[across])) > 1e-6:
                continue
            if abs(a[across] - c[across]) < 2.0:
                both = (min(max(a[along], b[along]), max(c[along], d[along]))
                        - max(min(a[along], b[along]), min(c[along], d[along])))  # fmt: skip
                if both > 0.5:
                    return [f"wires of the nets {p.owner} and {q.owner} share a way at {a}, {c}"]
    return []


EXAMPLES = Path(__file__).parents[2] / "examples"
TWELVE = ["mass_spring_damper", "stick_slip", "buck_converter", "dc_motor_sticking_load",
          "rod_with_radiation", "six_speed", "solenoid_valve", "cylinder_hunts", "quarter_car",
          "brake_fade", "engine_crank", "hoist"]  # fmt: skip


CORPUS = Path(__file__).parents[1] / "data" / "simscape" / "converted"


class Stop(Exception):
    """The model is built."""


@pytest.fixture
def example(monkeypatch):
    """The model of an example, as far as its first run."""

    def built(name):
        def keep(model, *_, **__):
            raise Stop(model)

        monkeypatch.setattr(Model, "simulate", keep)
        monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
        with pytest.raises(Stop) as stopped:
            runpy.run_path(str(EXAMPLES / f"{name}.py"))
        return stopped.value.args[0]

    return built


@pytest.mark.parametrize("name", TWELVE)
def test_no_wire_crosses_a_symbol_and_no_texts_overlap(name, example):
    drawn = example(name).draw(values=True)
    assert faults(drawn) == []
    for width in (798, 358):  # of a page, and of a telephone
        rows = drawn.within(width)
        assert faults(rows) == [] and rows.width <= width
        assert rows.picture.areas.keys() == drawn.picture.areas.keys()


def test_a_picture_is_the_same_twice(example):
    first, second = (example("solenoid_valve").draw(values=True).svg() for _ in range(2))
    assert first == second
    with pytest.raises(ModelError, match="a width in pixels, but was given 'wide'"):
        example("hoist").draw().within("wide")


@pytest.mark.parametrize("name", [
    pytest.param(file.stem, marks=[pytest.mark.slow] * (file.stem == "house_piping"))
    for file in sorted(CORPUS.glob("*.py"))])
def test_schematics_of_converted_models_are_as_tidy(name):
    model = runpy.run_path(str(CORPUS / f"{name}.py"), run_name=name)["build"]()
    assert faults(model.draw(values=True, open=True)) == []


def chain():
    return wired("chain", "a.M soft.R", "soft.C b.M stiff.R", "stiff.C c.M hold.R",
                 "hold.C ground.V", a=tr.Mass(mass="1 kg"), b=tr.Mass(mass="2 kg"), c=tr.Mass(),
                 soft=tr.Spring(stiffness="5 N/m"), stiff=tr.Spring(stiffness="9 kN/m"),
                 hold=tr.Damper(), ground=tr.Reference())


@pytest.mark.parametrize("kind, first, second", [
    (liquid.CheckValve, "A", "B"), (liquid.PressureReliefValve, "A", "B"), (el.MOSFET, "D", "S"),
    (el.IGBT, "C", "E"), (el.Thyristor, "A", "K"), (GearBox, "S", "O"), (tr.HardStop, "R", "C"),
    (tr.ForceSensor, "R", "C"), (el.VoltageSensor, "p", "n")])
def test_ports_that_cannot_be_exchanged_are_named_each_at_its_end(kind, first, second):
    drawn = wired("pair", f"a.{second} b.{first}", a=kind(), b=kind()).draw()
    x = {(t.owner, t.words): t.x for t in drawn.picture.texts if t.words in (first, second)}
    order = [x["a", first], x["a", second], x["b", first], x["b", second]]
    assert order in (sorted(order), sorted(order, reverse=True))
    assert faults(drawn) == []


def test_one_sees_which_way_a_valve_opens():
    """The tip of its triangle is at B, whichever way round it is drawn; a relief valve's, too."""
    for kind in (liquid.CheckValve, liquid.PressureReliefValve):
        drawn = wired("valves", "one.B two.B", one=kind(), two=kind()).draw()
        for path in ("one", "two"):
            x = {t.words: t.x for t in drawn.picture.texts if t.owner == path}
            tip = next(p.points for p in drawn.picture.lines if p.owner == path
                       and len(p.points) == 4 and np.array_equal(p.points[0], p.points[-1]))
            shaft = tip[np.isclose(tip[:, 0], np.median(tip[:, 0]))]
            point = tip[np.argmax(np.abs(tip[:, 0] - shaft[0, 0])), 0]
            assert (point > shaft[0, 0]) == (x["B"] > x["A"])


def middle(drawn, path):
    left, top, right, bottom = drawn.picture.areas[path]
    return (left + right) / 2, (top + bottom) / 2


def test_a_chain_is_straight_and_its_ground_is_below():
    drawn = chain().draw()
    x, y = np.array([middle(drawn, p) for p in ("a", "soft", "b", "stiff", "c")]).T
    np.testing.assert_allclose(y, y[0])
    assert np.all(np.diff(x) > 60) or np.all(np.diff(x) < -60)
    grounds = [p.points[:, 1].min() for p in drawn.picture.lines if p.kind == "ground"]
    assert min(grounds) > drawn.picture.areas["hold"][3] - 1 > y[0]


def test_wires_join_what_the_model_joins():
    """Pieces of wire of one node hang together, and reach the symbols of its components."""
    model = wired("low pass", "source.p coil.p", "coil.n load.p store.p spare.p",
                  "source.n load.n store.n spare.n ground.V",
                  source=el.DCVoltageSource(voltage="5 V"), ground=el.ElectricalReference(),
                  coil=el.Inductor(), load=el.Resistor(), store=el.Capacitor(),
                  spare=el.Capacitor())
    drawn = model.draw()
    assert len(loose_ends(drawn)) == 2 and all(n == 1 for n in loose_ends(drawn).values())


def loose_ends(drawn):
    """By net: how many pieces its wires fall into."""
    pieces, found = {}, {}
    for p, a, b in wires(drawn.picture):
        if p.owner:
            pieces.setdefault(p.owner, []).append((*np.minimum(a, b) - 1, *np.maximum(a, b) + 1))
    for net, boxes in pieces.items():
        left = set(range(len(boxes)))
        while left:
            found[net] = found.get(net, 0) + 1
            todo = [left.pop()]
            while todo:
                k = todo.pop()
                new = {j for j in left if overlap(boxes[k], boxes[j], -1e-9)}
                left -= new
                todo += new
    return found


@few(2, "seed", [3, 10, 17, 24])
def test_any_network_is_drawn_without_faults(seed):
    draw = np.random.default_rng(seed)
    model, kinds = Model("random"), [el.Resistor, el.Capacitor, el.Inductor, el.DCVoltageSource,
                                     el.OpAmp]
    model.ground = el.ElectricalReference()
    nodes = [[model.ground.V], *([] for _ in range(7))]
    for k in range(18):
        part = model.add(f"part_{k}", kinds[draw.choice(5, p=[0.4, 0.2, 0.2, 0.1, 0.1])]())
        for port in ("p", "n", "out")[: 2 + isinstance(part, el.OpAmp)]:
            nodes[int(draw.integers(8))].append(getattr(part, port))
    for ports in nodes:
        if len(ports) > 1:
            model.connect(*ports)
    drawn = draw_schematic(model.name, *drawn_network(model.network, model)).within(np.inf)
    assert faults(drawn) == faults(drawn.within(500)) == []
    assert set(loose_ends(drawn).values()) == {1}


def test_rows_tell_where_wires_go_on_and_are_as_high_as_what_they_hold():
    """Of a ring of 26 parts: a letter at both ends of every cut, and no wire without a part."""
    model = wired("ring", *(f"s{k}.R m{k}.M s{(k + 1) % 13}.C" for k in range(13)),
                  **{f"m{k}": tr.Mass() for k in range(13)},
                  **{f"s{k}": tr.Spring() for k in range(13)})
    drawn = model.draw()
    assert drawn.within(np.inf).width > 1000 > 798 >= drawn.width and faults(drawn) == []
    letters = Counter(t.words for t in drawn.picture.texts if not t.owner and len(t.words) == 1)
    assert letters == {"a": 2, "b": 2}
    ways = np.array([box_of(a, b) for _, a, b in wires(drawn.picture)])
    areas = np.array(list(drawn.picture.areas.values()))
    covered = np.zeros(int(drawn.height), dtype=bool)
    for _, top, _, low in [*ways, *areas]:
        covered[int(top) : int(low) + 1] = True
    gaps = np.diff(np.flatnonzero(covered))
    assert gaps.max() <= 60  # names, and the space between two rows


class Absorber(Component):
    """A mass on a spring and a damper."""

    A = Port(tr.translational, doc="where it is mounted")
    mass = Parameter("1 kg", above=0)

    def compose(self):
        self.body, self.spring, self.damper = tr.Mass(mass=self.mass), tr.Spring(), tr.Damper()
        self.connect(self.A, self.spring.R, self.damper.R)
        self.connect(self.spring.C, self.damper.C, self.body.M)


def machine():
    return wired("machine", "machine.M absorber.A push.R", "push.C ground.V", machine=tr.Mass(),
                 absorber=Absorber(), push=tr.ForceSource(), ground=tr.Reference())


def test_a_composite_is_a_box_until_it_is_opened():
    closed, opened = machine().draw(), machine().draw(open="absorber")
    assert "absorber.body" not in closed.picture.areas
    frame = next(p.points for p in opened.picture.lines if p.kind == "frame")
    for part in ("absorber.body", "absorber.spring", "absorber.damper"):
        left, top, right, bottom = opened.picture.areas[part]
        assert frame[:, 0].min() < left < right < frame[:, 0].max()
        assert frame[:, 1].min() < top < bottom < frame[:, 1].max()
    assert faults(opened) == faults(closed) == []
    assert machine().draw(open=True).svg() == opened.svg()
    assert machine().draw(open=False).svg() == closed.svg()


def test_a_composite_is_opened_whose_port_leads_nowhere():
    model = wired("loose", "push.C ground.V", absorber=Absorber(), push=tr.ForceSource(),
                  ground=tr.Reference())
    assert faults(model.draw(open="absorber")) == []


def test_what_cannot_be_opened_is_said():
    with pytest.raises(UnknownName, match=r"no 'absorbr' among its composites. Did you mean 'abs"):
        machine().draw(open="absorbr")
    with pytest.raises(ParameterError, match=r"draw\(open='machine'\): has no parts to show"):
        machine().draw(open="machine")
    with pytest.raises(ParameterError, match="the network has no components"):
        Model("empty").draw()


def test_findings_are_red_beside_the_parts_they_are_about():
    model = wired("faulty", "block.M one.R two.R", "one.C two.C ground.V",
                  block=tr.Mass(), ground=tr.Reference(), one=tr.VelocitySource(velocity="1 m/s"),
                  two=tr.VelocitySource(velocity="2 m/s"))
    drawn = model.draw()
    red = {t.words for t in drawn.picture.texts if t.wrong}
    assert {"one (1)", "two (1)"} <= red and "block" not in red
    assert any(w.startswith("(1) one and two both prescribe the velocity") for w in red)
    assert {p.owner for p in drawn.picture.lines if p.wrong} == {"one", "two"}
    assert faults(drawn) == []


def test_values_are_written_as_engineers_write_them():
    words = {t.words for t in chain().draw(values=True).picture.texts}
    assert {"1 kg", "2 kg", "5 N/m", "9000 N/m"} <= words
    model = wired("coil", coil=el.Inductor(inductance="1e-4 H"))
    assert "100 µH" in {t.words for t in model.draw(values=True).picture.texts}


def test_pointing_at_a_part_tells_its_values():
    root = ElementTree.fromstring(chain().draw().svg())
    told = {e.text for e in root.iter("{http://www.w3.org/2000/svg}title")}
    assert any(t.startswith("soft: Spring\nstiffness = 5 N/m") for t in told)


def test_short_arrays_are_drawn_one_by_one_and_long_ones_as_one():
    def row(n):
        model = wired("row", "masses[:-1].M springs.R", "masses[1:].M springs.C",
                      masses=tr.Mass(count=n), springs=tr.Spring(count=n - 1))
        return model.draw()

    assert "springs[2]" in row(5).picture.areas
    assert {t.words for t in row(500).picture.texts} >= {"masses ×500", "springs ×499"}
    assert faults(row(5)) == faults(row(500)) == []


def test_many_parts_become_clusters_that_hold_them_all():
    model = Model("long")
    last = model.add("m0", tr.Mass())
    for k in range(1, 60):
        mass, spring = model.add(f"m{k}", tr.Mass()), model.add(f"s{k}", tr.Spring())
        model.connect(last.M, spring.R)
        model.connect(spring.C, mass.M)
        last = mass
    drawn = model.draw()
    counts = [t.words for t in drawn.picture.texts if t.words.endswith(" parts")]
    assert 3 < len(drawn.picture.areas) <= 60
    assert sum(int(c.split()[0]) for c in counts) == 119
    assert faults(drawn) == []


def test_pictures_are_written_in_the_format_of_their_name(tmp_path):
    drawn = chain().draw(tmp_path / "chain.svg")
    assert (tmp_path / "chain.svg").read_text(encoding="utf-8") == drawn.svg()
    drawn.save(tmp_path / "chain.png")
    assert (tmp_path / "chain.png").read_bytes()[1:4] == b"PNG"
    with pytest.raises(Exception, match="there is no folder"):
        drawn.save(tmp_path / "nowhere" / "chain.svg")


def test_a_drawing_goes_into_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    drawn = chain().draw(ax=ax)
    assert {"a", "soft", "hold"} <= {t.get_text() for t in ax.texts}
    assert ax.get_ylim() == (drawn.height, 0)


def test_an_unknown_end_is_drawn_open_and_a_reference_alone_stands_with_its_name():
    drawn = wired("loose", spring=tr.Spring(), ground=tr.Reference()).draw()
    assert {"spring", "ground"} <= set(drawn.picture.areas)
    assert faults(drawn) == []
