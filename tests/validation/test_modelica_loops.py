"""Examples of the Modelica Standard Library whose equations are left open, or have several
solutions: tanks at rest, a pump that stops, an amplifier that feeds back on itself.

Components are written here as a user would write them. Data, licence and tolerances:
``tests/data/validation``. Switching times are closed forms.
"""

import numpy as np
import pytest
from coolant import cooling, two_tanks
from feedback import LAWS, multivibrator, switching_times
from numpy.testing import assert_allclose
from published import cases, compare, published, simulate

from blocks import Model, quantity


def test_two_tanks_find_their_level():
    run = simulate(two_tanks(Model("two tanks")), "hydraulic_two_tanks")
    compare("hydraulic_two_tanks", run, {
        "openTank1.m": ("left.m", "kg"), "openTank1.H": ("left.H", "J"),
        "openTank2.m": ("right.m", "kg"), "openTank2.H": ("right.H", "J")})
    t = run.time.to("s").magnitude
    assert_allclose(run["left.m"].to("kg").magnitude, 0.5 + 0.4 * np.exp(-4 * t), atol=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "BDF"])
def test_a_pump_drops_out(method):
    run = simulate(cooling(Model("cooling")), "cooling_pump_drop_out", method=method, rtol=1e-7)
    compare("cooling_pump_drop_out", run,
            {"heatCapacitor.T": ("mass.T", "K"), "pipe.T": ("pipe.T", "K")})


@pytest.mark.parametrize("law", LAWS)
def test_a_multivibrator_switches_where_its_branches_end(law):
    case = cases()["electrical_opamp_multivibrator"]
    run = simulate(multivibrator(Model("multivibrator"), law), case["name"])
    switched = switching_times(1.0)
    found = np.unique(np.round([e.time for e in run.events.of("op")], 9))
    assert_allclose(found, switched, atol=2e-9)
    reference, signals = published(case["name"]), case["signals"]
    t = reference["time"]
    quiet = np.abs(t[:, None] - switched).min(axis=1) > case["event_window"]
    for column, path, unit in (("c.v", "c.v", "V"), ("opAmp.out.v", "op.out.v", "V"),
                               ("opAmp.out.i", "op.out.i", "A")):
        rows = quiet if signals[column].get("jumps") else np.ones(len(t), dtype=bool)
        ours = run[path].at(quantity(t[rows], "s")).to(unit).magnitude
        assert_allclose(ours, reference[column][rows], rtol=0, atol=signals[column]["tolerance"],
                        err_msg=column)
