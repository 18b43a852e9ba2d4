"""Does a page come to the numbers of Python's run, wherever its sliders stand?"""

import json
import math
import os
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from time import sleep

import numpy as np
import pytest
from benches import few, wire, wired
from benches.exported_models import buck, dropped, late, stick_slip
from benches.parts import Pendulum
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks import Component, Discrete, Model, Parameter, Variable, cos, der, quantity, when, where
from blocks.exceptions import ParameterError, UnknownName, WrongCall
from library.signal import Pulse

pytest.importorskip("llvmlite", reason="models are exported as machine code")
NODE, CHROMIUM = shutil.which("node"), shutil.which("chromium")
compiled = pytest.mark.skipif(find_spec("ziglang") is None,
                              reason="ziglang compiles pages, and is not here")


def on_node(test):
    """A test of what a page runs, by node."""
    return compiled(pytest.mark.skipif(NODE is None, reason="node is not here")(test))


RUN = """
const fs = require("fs"), [html, script, asked] = process.argv.slice(1);
const {Run} = new Function(fs.readFileSync(script, "utf8") + "; return {Run};")();
const data = JSON.parse(fs.readFileSync(html, "utf8").match(/id="data">([^]*?)<\\/script>/)[1]);
const {values, program} = JSON.parse(asked), width = data.panels.flatMap(p => p.curves).length;
const positions = data.sliders.map(s => {
  const wanted = values[s.path] ?? s.values[s.start];
  return s.values.findIndex(v => Math.abs(v - wanted) <= 1e-12 * Math.abs(wanted));
});
Run.made(data.programs[program], data.sliders, data.span, width).then(run => {
  for (let again = 0; again < 2; again++) { run.begin(positions); run.go(Infinity); }
  const [t, ...rows] = run.points().map(row => Array.from(row));
  console.log(JSON.stringify({positions, t, rows, events: run.events(), failure: run.failure}));
});
"""


def oscillator():
    """1 kg at 1 m/s on 50 N/m and 2 N*s/m."""
    return wired("oscillator", "mass.M spring.R damper.R", "floor.V spring.C damper.C",
                 mass=tr.Mass(mass="1 kg", v="1 m/s"), floor=tr.Reference(),
                 spring=tr.Spring(stiffness="50 N/m"), damper=tr.Damper(damping="2 N*s/m"))


def pulled():
    """The same, with 10 N in the spring at the start, x = f / k."""
    model = oscillator()
    model.spring.f = "10 N"
    return model


def rubbing():
    """1 kg that a spring pulls with 10 N, which friction holds up to 15 N."""
    return wired("rubbing", "mass.M spring.R friction.R", "floor.V spring.C friction.C",
                 mass=tr.Mass(mass="1 kg"), floor=tr.Reference(),
                 spring=tr.Spring(stiffness="100 N/m", x="0.1 m"),
                 friction=tr.TranslationalFriction(law="coulomb", coulomb_force="2 N",
                                                   breakaway_force="15 N"))


def pulsed():
    """The oscillator, pushed by 10 N for half of every 0.7 s."""
    model = oscillator()
    wire(model, "mass.M push.R", "floor.V push.C", "pulse.y push.S",
         push=tr.ForceSource(), pulse=Pulse(amplitude="10 N", period="0.7 s"))
    return model


def on_a_road():
    """1 kg on a spring over a road with a hump, which neither jumps nor has a kink."""
    hump = lambda t: where(  # noqa: E731
        (t > quantity("0.5 s")) & (t < quantity("1 s")),
        quantity("1 cm") * (1 - cos(4 * math.pi * (t / quantity("1 s") - 0.5))), 0)
    return wired("road", "road.R spring.R", "spring.C mass.M", "road.C ground.V",
                 road=tr.PositionSource(position=hump), ground=tr.Reference(),
                 spring=tr.Spring(stiffness="100 N/m"), mass=tr.Mass())


class Rods(Component):
    """A double pendulum in Cartesian coordinates: points of 1 kg on rods of 1 m, from the right."""

    x1, y1 = Variable("m", "1 m", priority="high"), Variable("m", "0 m")
    x2, y2 = Variable("m", "1 m", priority="high"), Variable("m", "1 m")
    u1, v1, u2, v2 = (Variable("m/s", "0 m/s", priority=p) for p in ("low", "high", "low", "high"))
    a, b = Variable("N/m"), Variable("N/m")

    def equations(self):
        m, g, length = quantity("1 kg"), quantity("9.81 m/s^2"), quantity("1 m")
        x, y = self.x2 - self.x1, self.y2 - self.y1
        for at, speed in zip((self.x1, self.y1, self.x2, self.y2),
                             (self.u1, self.v1, self.u2, self.v2), strict=True):
            yield der(at) == speed
        yield m * der(self.u1) == -self.a * self.x1 + self.b * x
        yield m * der(self.v1) == -self.a * self.y1 + self.b * y - m * g
        yield m * der(self.u2) == -self.b * x
        yield m * der(self.v2) == -self.b * y - m * g
        yield self.x1**2 + self.y1**2 == length**2
        yield x**2 + y**2 == length**2


SLIDERS = {"spring.stiffness": ("500 N/m", "3 kN/m"), "pull.velocity": ("0.02 m/s", "0.3 m/s"),
           "friction.coulomb_force": ("10 N", "24 N")}
CASES = {
    "stick-slip": (stick_slip, ["block.v", "friction.f"], "2 s", SLIDERS),
    "simscape": (lambda: stick_slip("simscape"), ["block.v", "friction.f"], "1 s", SLIDERS),
    "loaded": (lambda: stick_slip("kikuuwe"), ["block.v", "friction.f"], "1 s", SLIDERS),
    "road": (on_a_road, ["mass.v", "road.x"], "2 s", {"spring.stiffness": ("50 N/m", "400 N/m")}),
    "bouncing": (dropped, ["stop.x", "mass.v"], "2 s", {
        "stop.restitution": ("0.3", "0.9"), "weight.force": ("-15 N", "-5 N")}),
    "oscillator": (oscillator, ["mass.v", "spring.f"], "3 s", {
        "spring.stiffness": ("10 N/m", "100 N/m"), "damper.damping": ("1 N*s/m", "20 N*s/m"),
        "mass.mass": ("0.5 kg", "2 kg")}),
    "heavy": (stick_slip, ["block.v"], "2 s", {"block.mass": ("0.5 kg", "2 kg")}),
    "rubbing": (rubbing, ["mass.v"], "1 s", {"friction.breakaway_force": ("2 N", "22 N")}),
    "pulled": (pulled, ["spring.f"], "2 s", {"spring.stiffness": ("20 N/m", "120 N/m")}),
    # nominal values are those of parameters of the same dimension
    "wide": (dropped, ["stop.x"], "1 s", {"stop.upper_bound": ("2 m", "102 m")}),
    "late": (late, ["mass.v", "late.y"], "1.5 s", {
        "gain.gain": ("5 N/m", "30 N/m"), "mass.mass": ("0.5 kg", "2 kg")}),
    "pulsed": (pulsed, ["mass.v"], "3 s", {"pulse.amplitude": ("2 N", "20 N")}),
    "buck": (buck, ["coil.i", "load.v"], "0.2 ms", {
        "load.resistance": ("1 ohm", "4 ohm"), "source.voltage": ("20 V", "30 V")}),
    # states are chosen anew: four choices of six
    "rods": (lambda: wired("rods", rods=Rods()), [f"rods.{x}" for x in ("x1", "y2", "u2", "a")],
             "4 s", {}),
    "swing": (lambda: wired("swing", bob=Pendulum(x="0.7 m", y="-0.5 m", gravity="9.81 m/s^2")),
              ["bob.x", "bob.y", "bob.tension"], "3 s", {
        "bob.length": ("0.8 m", "2 m"), "bob.gravity": ("1.62 m/s^2", "9.81 m/s^2")})}
OPTIONS = {"buck": {"rtol": 1e-10}, **dict.fromkeys(("rods", "swing"), {
    "method": "dopri5", "rtol": 1e-8})}


@cache
def paged(name):
    make, show, duration, sliders = CASES[name]
    file = Path(mkdtemp()) / "model.html"
    make().page(file, sliders=sliders, show=show, duration=duration,
                **OPTIONS.get(name, {"rtol": 1e-6}))
    return file


def there(file, values=None, program=0):
    """What the run of a page comes to."""
    script = Path(blocks.__file__).parent / "export" / "page_run.js"
    asked = json.dumps({"values": values or {}, "program": program})
    done = subprocess.run([NODE, "-e", RUN, str(file), str(script), asked], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def data_of(file):
    return json.loads(re.search(r'id="data">(.*?)</script>', file.read_text(), re.DOTALL)[1])


def compared(model, found, show, duration, rtol, within, **options):
    """Values of a page beside those of Python's run; not at instants where they jump."""
    here = model.simulate(duration, rtol=rtol, **options)
    assert not found["failure"] and -1 not in found["positions"]
    t, end = np.array(found["t"]), float(here.time[-1].to("s").m)
    assert t[-1] == end
    jumps = np.array([float(event.time) for event in here.events] or [-1.0])
    apart = np.abs(t[:, None] - jumps).min(axis=1) > 1e-9 * end
    for path, row in zip(show, found["rows"], strict=True):
        wanted = here[path].at(quantity(t[apart], "s")).to_base_units().m
        away = np.abs(np.array(row)[apart] - wanted)
        assert away.max() <= within * max(np.ptp(wanted), 1e-9), path
    return here


@on_node
@few(6, ("name", "values"), [
    pytest.param(name, values, marks=[pytest.mark.slow] * (name in (
        "bouncing", "heavy", "pulsed", "buck", "rubbing", "wide")))  # each position is a start
    for name, values in (
        ("stick-slip", {}), ("stick-slip", {"spring.stiffness": 1500.0, "pull.velocity": 0.2}),
        ("stick-slip", {"friction.coulomb_force": 12.0}), ("simscape", {}),
        ("simscape", {"spring.stiffness": 2000.0, "friction.coulomb_force": 24.0}),
        ("loaded", {"spring.stiffness": 2000.0}), ("road", {"spring.stiffness": 200.0}),
        ("bouncing", {}), ("bouncing", {"stop.restitution": 0.5, "weight.force": -12.0}),
        ("oscillator", {}), ("oscillator", {"spring.stiffness": 100.0, "damper.damping": 5.0,
                                            "mass.mass": 0.5}),
        ("heavy", {"block.mass": 1.7}), ("late", {}),
        ("late", {"gain.gain": 11.0, "mass.mass": 1.4}), ("pulsed", {}),
        ("pulsed", {"pulse.amplitude": 14.0}), ("pulled", {"spring.stiffness": 80.0}),
        ("buck", {}), ("buck", {"load.resistance": 4.0, "source.voltage": 21.0}),
        ("wide", {"stop.upper_bound": 82.0}), ("rubbing", {"friction.breakaway_force": 5.0}),
        ("rubbing", {"friction.breakaway_force": 12.0}), ("rods", {}), *(
            ("swing", {"bob.length": length, "bob.gravity": gravity})
            for length, gravity in ((1.0, 9.81), (1.5, 9.81), (0.8, 1.62))))])
def test_a_page_comes_to_the_numbers_of_pythons_run(name, values):
    make, show, duration, sliders = CASES[name]
    model, found = make(), there(paged(name), values)
    for path, value in values.items():
        owner, _, parameter = path.rpartition(".")
        unit = quantity(sliders[path][0]).units
        setattr(getattr(model, owner), parameter, quantity(value, str(unit)))
    here = compared(model, found, show, duration, within=1e-9 if name == "road" else 1e-12,
                    **OPTIONS.get(name, {"rtol": 1e-6}))
    told = [(event.component, event.description) for event in here.events]
    assert [(who, what) for _, who, what in found["events"]] == told
    assert_allclose([t for t, *_ in found["events"]], [float(e.time) for e in here.events],
                    rtol=1e-12)
    if name == "pulled":  # what follows the slider at the start
        assert_allclose(found["rows"][0][0], 10.0, rtol=1e-12)
    if name == "rubbing":
        assert (max(np.abs(found["rows"][0])) == 0) == (values["friction.breakaway_force"] > 10)


@on_node
def test_a_switch_takes_another_program(tmp_path):
    file = tmp_path / "page.html"
    stick_slip().page(file, switches={"friction.law": ["simscape", "coulomb"]}, show=["block.v"],
                      duration="1 s")
    assert [one["choice"] for one in data_of(file)["programs"]] == [[1], [0]]
    compared(stick_slip(), there(file), ["block.v"], "1 s", 1e-6, 1e-12)
    compared(stick_slip("simscape"), there(file, program=1), ["block.v"], "1 s", 1e-6, 1e-9)


@on_node
def test_factors_of_a_band_are_rounded_as_in_python(tmp_path):
    # they are taken by products that are added without rounding, which WebAssembly does not have
    model = wired("chain", "springs.R dampers.R masses.M",
                  "springs[1:].C dampers[1:].C masses[:-1].M", "springs[0].C dampers[0].C wall.V",
                  wall=tr.Reference(), masses=tr.Mass(count=30, v="1 m/s"),
                  springs=tr.Spring(count=30, stiffness="50 N/m"), dampers=tr.Damper(count=30))
    file = tmp_path / "page.html"
    model.page(file, show=["masses[29].v"], duration="1 s", method="rodas4")
    here, found = model.simulate("1 s", method="rodas4"), there(file)
    wanted = here["masses[29].v"].at(quantity(np.array(found["t"]), "s")).to("m/s").m
    assert_allclose(found["rows"][0], wanted, rtol=0, atol=1e-12)


class Functions(Component):
    """Functions whose arguments move through a range while time goes on."""

    a, b = Parameter("1", above=0), Parameter("1")
    e, l, p = Variable("1"), Variable("1"), Variable("1")  # noqa: E741
    rest = Variable("1", "0", priority="high")

    def equations(self):
        t = blocks.time / quantity("1 s")
        yield self.e == blocks.exp(self.b * t)
        yield self.l == blocks.log(self.a + t)
        yield self.p == (self.a + t) ** self.b
        yield der(self.rest) == -self.rest / quantity("1 s")


@on_node
def test_exponentials_logarithms_and_powers_are_those_of_python_to_the_bit(tmp_path):
    model, count, file = Model("functions"), 40, tmp_path / "page.html"
    some = np.random.default_rng(0)
    a = np.concatenate([10.0 ** some.uniform(-9, 9, count // 2), some.uniform(0, 1, count // 2)])
    b = some.choice([-0.2, 0.25, 0.5, 1.4, 1.75, 3.1, -7.3, 12.7], count)
    model.all = Functions(count=count, a=a, b=b)
    model.page(file, show=["all.e", "all.l", "all.p"], duration="1 s")
    found = there(file)
    names = [curve["name"] for curve in data_of(file)["panels"][0]["curves"]]
    assert len(names) == 3 * count and len(found["t"]) > 900
    for name, row in zip(names, found["rows"], strict=True):
        k = int(name[4 : name.index("]")])
        for t, value in zip(found["t"], row, strict=True):
            wanted = (math.exp(b[k] * t) if name.endswith("e") else
                      math.log(a[k] + t) if name.endswith("l") else math.pow(a[k] + t, b[k]))
            assert float(value) == wanted, (name, t)


class Rally(Component):
    """A ball between two walls, whose hits are counted."""

    at, speed = Variable("m", "0 m", priority="high"), Variable("m/s", "1 m/s", priority="high")
    hits, last = Discrete("1", 0), Discrete("mm", "0 mm")
    length = Parameter("0.3 m")

    def equations(self):
        yield der(self.at) == self.speed
        yield der(self.speed) == -self.speed / quantity("10 s")
        turned = {self.speed: -self.speed, self.hits: self.hits + 1}
        yield when(self.at > self.length, {**turned, self.last: self.at})
        yield when(self.at < 0, turned)


@on_node
def test_what_events_assign_is_told_as_in_python_and_values_are_those_of_the_model(tmp_path):
    model, file = Model("rally"), tmp_path / "page.html"
    model.ball = Rally()
    model.ball.length = "40 cm"
    model.page(file, sliders={"ball.length": ("20 cm", "80 cm")}, show=["ball.at"], duration="3 s")
    for length in (40.0, 60.0):
        model.ball.length = quantity(length, "cm")
        found = there(file, {"ball.length": length})
        here = compared(model, found, ["ball.at"], "3 s", 1e-6, 1e-12)
        told = [(event.component, event.description) for event in here.events]
        assert [(who, what) for _, who, what in found["events"]] == told
        assert told[0][1].endswith(f"hits becomes 1, last becomes {10 * length:g} mm")
    assert "<td>length = 0.4 m</td>" in file.read_text()  # neither as slid nor as it is now


@on_node
@pytest.mark.parametrize(("make", "show", "step"), [
    (stick_slip, ["block.v", "friction.f", "spring.f"], "1 ms"),
    (dropped, ["stop.x", "mass.v", "stop.f"], "3 ms")])
def test_time_steps_leave_with_their_efforts(make, show, step, tmp_path):
    file, options = tmp_path / "page.html", {"method": "moreau_jean", "step": step}
    make().page(file, show=show, duration="2 s", **options)
    found, here = there(file), make().simulate("2 s", **options)
    t, jumps = np.array(found["t"]), [float(event.time) for event in here.events]
    apart = np.abs(t[:, None] - [0.0, *jumps]).min(axis=1) > 1e-9
    for path, row in zip(show, found["rows"], strict=True):
        wanted = here[path].at(quantity(t[apart], "s")).to_base_units().m
        assert_allclose(np.array(row)[apart], wanted, rtol=0, atol=1e-12 * np.ptp(wanted))
    assert len(jumps) > 3 and not found["failure"] and t[-1] == 2.0
    assert found["events"] == [[e, event.component, event.description]
                               for e, event in zip(jumps, here.events, strict=True)]


@on_node
def test_sliders_move_time_steps(tmp_path):
    file, options = tmp_path / "page.html", {"method": "moreau_jean", "step": "1 ms"}
    stick_slip().page(file, show=["block.v"], duration="1 s", **options, sliders={
        "spring.stiffness": ("500 N/m", "3 kN/m"), "friction.coulomb_force": ("10 N", "24 N")})
    found = there(file, {"spring.stiffness": 1500.0, "friction.coulomb_force": 12.0})
    model = stick_slip()
    model.spring.stiffness, model.friction.coulomb_force = "1.5 kN/m", "12 N"
    here, t = model.simulate("1 s", **options), np.array(found["t"])
    wanted = here["block.v"].at(quantity(t, "s")).to("m/s").m
    assert -1 not in found["positions"] and np.ptp(wanted) > 0.1
    assert_allclose(found["rows"][0], wanted, rtol=0, atol=1e-12)


def test_time_steps_beside_relations_stay():
    model = stick_slip()
    model.ball = Rally()
    with pytest.raises(ParameterError, match="moreau_jean in Python"):
        model.page(duration="1 s", method="moreau_jean", step="1 ms")


# -- what cannot be moved ------------------------------------------------------------------------
@pytest.mark.parametrize(("make", "sliders", "said"), [
    (buck, {"drive.period": ("10 us", "40 us")}, r"drive\.period.*known beforehand"),
    (dropped, {"stop.upper_bound": ("2 m", "102 m"), "stop.lower_bound": ("-60 m", "0.5 m")},
     r"both stop\.upper_bound and stop\.lower_bound"),
    (stick_slip, {"friction.coulomb_force": ("5 N", "30 N")},
     r"friction\.coulomb_force = 30\.0 N.* below")])
def test_sliders_that_no_page_can_follow_are_refused(make, sliders, said):
    show = {buck: "coil.i", dropped: "stop.x", stick_slip: "block.v"}[make]
    with pytest.raises(ParameterError, match=said):
        make().page(show=[show], duration="0.1 ms" if make is buck else "1 s", sliders=sliders)


@pytest.mark.parametrize(("error", "given"), [
    (UnknownName, {"show": ["mass.w"]}), (UnknownName, {"show": "mass.w"}),
    (UnknownName, {"sliders": {"spring.k": ("1 N/m", "2 N/m")}}),
    (WrongCall, {"sliders": {"spring.stiffness": "50 N/m"}}),
    (ParameterError, {"sliders": {"spring.stiffness": ("60 N/m", "90 N/m")}}),
    (ParameterError, {"sliders": {"mass.mass": ("-1 kg", "2 kg")}}),
    (UnknownName, {"switches": {"spring.stiffness": ["1 N/m"]}}),
    (ParameterError, {"switches": {"spring.law": ["rubber"]}}),
    (WrongCall, {"sliders": ["spring.stiffness"]})])
def test_what_is_wrong_is_said(error, given, tmp_path):
    with pytest.raises(error):
        oscillator().page(tmp_path / "a.html", **given)
    assert not list(tmp_path.iterdir())


# -- the page itself -----------------------------------------------------------------------------
class Browser:
    """Chromium without a window, told what to do by DevTools' messages over a pipe."""

    def __init__(self, folder):
        (come, self.to), (self.of, go) = os.pipe(), os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{come} 4>&{go}', "bash", CHROMIUM, "--headless=new",
             "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={folder}", "about:blank"], pass_fds=(come, go),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(come)
        os.close(go)
        self.number, self.rest, self.session = 0, b"", {}
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self("Target.attachToTarget", targetId=target,
                                          flatten=True)["sessionId"]}

    def __call__(self, method, **given):
        self.number += 1
        message = {"id": self.number, "method": method, "params": given, **self.session}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.of, 1 << 20) or pytest.fail("Chromium has ended")
            one, _, self.rest = self.rest.partition(b"\0")
            told = json.loads(one)
            if told.get("id") == self.number:
                return told["result"]

    def value(self, expression):
        return self("Runtime.evaluate", expression=expression,
                    returnByValue=True)["result"].get("value")

    def shown_after(self, link):
        """What the page shows once its link is another one and its run is over."""
        for _ in range(600):
            shown = self.value("""document.body?.dataset.run !== undefined
              && document.body.dataset.run === String(latest)
              && {hash: location.hash, label: document.querySelector("label").innerText,
                  wide: document.documentElement.scrollWidth - innerWidth,
                  values: [...document.querySelectorAll("#values tbody tr")].map(
                    row => [...row.cells].map(cell => cell.textContent))}""")
            if shown and shown["hash"] != link:
                return shown
            sleep(0.05)
        return pytest.fail("the page does not get there")

    def close(self):
        self("Browser.close")
        self.process.wait(30)


@compiled
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium shows the page, and is not here")
def test_a_reader_drags_a_slider(tmp_path):
    page, browser = paged("stick-slip"), Browser(tmp_path)
    browser("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1,
            mobile=True)
    browser("Page.navigate", url=page.as_uri())
    first = browser.shown_after(None)
    left, top, width, height, at = browser.value(
        "(r => [r.left, r.top, r.width, r.height, slider0.value / slider0.max])"
        "(slider0.getBoundingClientRect())")
    for kind, part in (("mousePressed", at), ("mouseMoved", 0.5), ("mouseMoved", 0.7),
                       ("mouseReleased", 0.7)):
        browser("Input.dispatchMouseEvent", type=kind, x=left + 8 + part * (width - 16),
                y=top + height / 2, button="left", buttons=1, clickCount=1)
    dragged = browser.shown_after(first["hash"])
    for kind in ("rawKeyDown", "keyUp"):
        browser("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight",
                windowsVirtualKeyCode=39)
    moved = browser.shown_after(dragged["hash"])
    browser.close()
    for shown in (dragged, moved):
        model, stiffness = stick_slip(), float(shown["hash"].removeprefix("#spring.stiffness="))
        assert f"{stiffness:g} N/m" in shown["label"] and shown["wide"] <= 0
        model.spring.stiffness = quantity(stiffness, "N/m")
        here = model.simulate("2 s")
        for name, final, *_ in shown["values"]:
            assert_allclose(float(final), here[name].final.to_base_units().m, rtol=1e-6)
    assert first["values"] != dragged["values"] != moved["values"]


@compiled
def test_a_page_needs_nothing_from_a_network_and_is_small():
    text = paged("stick-slip").read_text()
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(text) < 500_000
