"""What a component source says of its parts, ports and starts is so in the class, or is told."""

from __future__ import annotations

import math

import pytest
from test_sources import COUNTER, written

from blocks import BlocksError, Model
from library.electrical import DCVoltageSource, ElectricalReference
from library.signal import Constant
from library.thermal import ThermalMass

SPRING = """
component spring
    outputs
        y = {0, '1'};
    end
    parameters
        stiffness = {2, 'N/m'};
    end
    equations
        assert(stiffness > {3, 'N/m'}, 'The stiffness (of the spring, in "N/m") between wheel and body must be large');
        y == 1;
    end
end
"""  # noqa: E501


def test_a_long_message_stays_whole(tmp_path):
    model = Model("spring")
    model.spring = written(SPRING, tmp_path, "spring")()
    with pytest.raises(BlocksError, match=r"The stiffness \(of the spring, in \"N/m\"\) between "
                                          "wheel and body must be large"):
        model.simulate("1 s")


TANK = """
domain tank
    parameters
        density = {1000, 'kg/m^3'};
    end
    variables
        p = {0, 'Pa'};
    end
    variables (Balancing = true)
        q = {0, 'm^3/s'};
    end
end
"""
OF_TANKS = """
component NAME
    nodes
        A = my.tank;
    end
    variables
        q = {0, 'm^3/s'};
        h = {value = {3, 'm'}, priority = priority.NAMED};
    end
    branches
        q : A.q -> *;
    end
    equations
        LAW
    end
end
"""


def test_sources_that_are_converted_one_by_one_share_their_domain(tmp_path):
    (tmp_path / "tank.ssc").write_text(TANK)
    volume = written(OF_TANKS.replace("NAMED", "high").replace("NAME", "volume").replace(
        "LAW", "{2, 'm^2'}*h.der == q; A.p == {9810, 'Pa/m'}*h;"), tmp_path, "volume")
    orifice = written(OF_TANKS.replace("NAMED", "none").replace("NAME", "orifice").replace(
        "LAW", "q == {1e-5, 'm^3/s/Pa'}*A.p; h == {0, 'm'};"), tmp_path, "orifice")
    model = Model("tanks")
    model.volume, model.orifice = volume(), orifice()
    model.connect(model.volume.A, model.orifice.A)
    run = model.simulate("10 s", rtol=1e-9)
    assert run["volume.h"].final.m == pytest.approx(3 * math.exp(-9810e-5 / 2 * 10), rel=1e-7)


WARM = """
component warm
    nodes
        p = foundation.electrical.electrical;
        n = foundation.electrical.electrical;
    end
    parameters
        thermal_port = simscape.enum.onoff.off;
        shunt = simscape.enum.onoff.off;
    end
    variables
        i = {0, 'A'};
        v = {0, 'V'};
    end
    branches
        i : p.i -> n.i;
    end
    equations
        v == p.v - n.v;
        v == {2, 'Ohm'}*i;
    end
    if thermal_port == simscape.enum.onoff.on
        nodes
            H = foundation.thermal.thermal;
        end
        variables
            Q = {0, 'W'};
        end
        branches
            Q : * -> H.Q;
        end
        equations
            Q == v*i;
        end
    end
    if shunt == simscape.enum.onoff.on
        variables
            beside = {0, 'A'};
        end
        branches
            beside : p.i -> n.i;
        end
        equations
            v == {4, 'Ohm'}*beside;
        end
    end
end
"""


@pytest.mark.parametrize("shunt", ["off", "on"])
@pytest.mark.parametrize("heat", ["off", "on"])
def test_branches_are_there_under_their_conditions(heat, shunt, tmp_path):
    model = Model("warm")
    model.part = written(WARM, tmp_path, "warm")(thermal_port=heat, shunt=shunt)
    model.source, model.ground = DCVoltageSource(voltage="6 V"), ElectricalReference()
    model.connect(model.source.p, model.part.p)
    model.connect(model.source.n, model.part.n, model.ground.V)
    if heat == "on":
        model.mass = ThermalMass(mass="1 kg", specific_heat="3 J/(kg*K)", T="300 K")
        model.connect(model.part.H, model.mass.M)
    run = model.simulate("1 s")
    assert run["source.i"].final.to("A").m == pytest.approx(-3 - 1.5 * (shunt == "on"))
    if heat == "on":
        assert run["mass.T"].final.to("K").m == pytest.approx(300 + 6 * 3 / 3)


def test_values_that_choose_sections_are_refused(tmp_path):
    source = WARM.replace("shunt = simscape.enum.onoff.off", "shunt = 1").replace(
        "shunt == simscape.enum.onoff.on", "shunt > 2")
    with pytest.raises(BlocksError, match="warm: values choose which sections there are"):
        written(source, tmp_path, "warm")


DECAY = """
component decay
    parameters
        x0 = {2, '1'};
        still = my.choice.no;
    end
    variables
        x = START;
        y = {0, '1'};
    end
    equations
        x.der == -x*{1, '1/s'} + y*{1, '1/s'};
        y.der == -y*{1, '1/s'};
    end
    INITIAL
end
"""
INITIAL = "equations (Initial = true)\n{};\nend\n"


@pytest.mark.parametrize(("start", "initial", "given", "begins"), [
    ("{value = {3, '1'}, priority = priority.high}", "", {}, (3, 0)),
    ("{value = x0, priority = priority.high}", "", {}, (2, 0)),
    ("{value = {3*x0, '1'}, priority = priority.high}", "", {"x0": 5}, (15, 0)),
    ("{value = x0, priority = priority.low}", "", {"x0": 5}, (5, 0)),
    ("{value = x0, priority = priority.high}", "", {"x": 9}, (9, 0)),
    ("{0, '1'}", "x == {3, '1'}", {}, (3, 0)),
    ("{0, '1'}", "2*x0 == x", {"x0": 5}, (10, 0)),
    ("{0, '1'}", "x.der == 0; y == x0", {"x0": 5}, (5, 5)),
    ("{0, '1'}", "x + y == 6; x - y == x0", {}, (4, 2)),
    ("{0, '1'}", "if still == my.choice.yes\nx == 8;\nelse\nx == x0;\nend", {}, (2, 0)),
    ("{0, '1'}", "if still == my.choice.yes\nx == 8;\nelse\nx == x0;\nend", {"still": "yes"}, (8, 0)),
])  # fmt: skip
def test_a_run_starts_as_the_source_says(start, initial, given, begins, tmp_path):
    source = DECAY.replace("START", start).replace(
        "INITIAL", INITIAL.format(initial) if initial else "")
    model = Model("decay")
    model.part = written(source, tmp_path, "decay")(**given)
    assert not model.check().warnings
    run = model.simulate("1 s")
    assert [run[f"part.{name}"].initial.m for name in "xy"] == pytest.approx(begins)


def test_a_counter_starts_from_a_parameter(tmp_path):
    source = COUNTER.replace("ups = {0, '1'}", "ups = {first, '1'}").replace(
        "    inputs", "    parameters\n        first = {4, '1'};\n    end\n    inputs", 1)
    model = Model("count")
    model.wave = Constant(value=2)
    model.counter = written(source, tmp_path, "counter")(first=7)
    model.connect(model.wave.y, model.counter.u)
    run = model.simulate("1 s")  # x = 2 t passes 1 at 0.5 s
    assert [run["counter.y"].at(t).m for t in ("0.4 s", "0.6 s")] == [7, 8]


@pytest.mark.parametrize(("start", "initial", "said"), [
    ("{value = x0, priority = priority.none}", "", "x is sought at the start is computed there"),
    ("{0, '1'}", "assert(x0 > 0, 'x0 is positive')", "Not checked here, at the start: x0 is pos"),
])  # fmt: skip
def test_what_a_start_lacks_is_told(start, initial, said, tmp_path):
    source = DECAY.replace("START", start).replace(
        "INITIAL", INITIAL.format(initial) if initial else "")
    assert said in " ".join(written(source, tmp_path, "decay").__doc__.split())
