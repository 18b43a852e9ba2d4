"""What a component source says of its parts, ports and starts is so in the class, or is told."""

from __future__ import annotations

import math

import pytest
from test_sources import written

from blocks import BlocksError, Model

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
