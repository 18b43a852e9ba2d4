"""Sources that jump by hundreds of volts across a junction whose law is an exponential."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import wrightomega

from blocks import Model, Parameter, breakpoints, exp, quantity, time, where
from library.electrical import Capacitor, ElectricalReference, Resistor, TwoPort

pytest.importorskip("llvmlite")  # of which most methods are

SATURATION, THERMAL, RESISTANCE, CAPACITANCE, HALF = 1e-12, 0.025, 1e3, 1e-7, 0.5e-3


class Square(TwoPort):
    """A voltage that changes its sign every half a millisecond."""

    amplitude = Parameter("10 V")

    def equations(self):
        phase = time / quantity("1 ms")
        yield breakpoints(quantity("0 s"), quantity("0.5 ms"))
        yield self.v == where(phase - np.floor(phase) < 0.5, -self.amplitude, self.amplitude)


class Junction(TwoPort):
    """Shockley's law, whatever the exponent."""

    def equations(self):
        yield self.i == quantity(SATURATION, "A") * (exp(self.v / quantity(THERMAL, "V")) - 1)


def clamps(amplitude, count):
    """A square wave, and behind resistors junctions to ground beside capacitors."""
    m = Model("clamps")
    m.source, m.ground = Square(amplitude=quantity(amplitude, "V")), ElectricalReference()
    m.wire, m.link = (Resistor(count=count, resistance=quantity(RESISTANCE, "ohm"))
                      for _ in range(2))
    m.clamp = Junction(count=count)
    m.store = Capacitor(count=count, capacitance=quantity(CAPACITANCE, "F"))
    m.connect(m.source.p, m.wire.p)
    m.connect(m.wire.n, m.clamp.p)
    m.connect(m.clamp.p, m.link.p)
    m.connect(m.link.n, m.store.p)
    for end in (m.store.n, m.clamp.n, m.source.n):
        m.connect(end, m.ground.V)
    return m


def node(source, store):
    """The voltage of a junction between two resistors: Wright's omega function."""
    middle = (source + store + SATURATION * RESISTANCE) / 2
    share = SATURATION * RESISTANCE / (2 * THERMAL)
    return middle - THERMAL * wrightomega(np.log(share) + middle / THERMAL).real


def stores(amplitude, times):
    """The voltage of the capacitors, half period by half period."""
    voltage, begun, out = 0.0, 0.0, []
    for k in range(round(times[-1] / HALF)):
        source = amplitude * (-1) ** (k + 1)
        mine = times[(times > begun - 1e-12) & (times < begun + HALF - 1e-12)]
        found = solve_ivp(
            lambda t, v, source=source: (node(source, v) - v) / (RESISTANCE * CAPACITANCE),
            (begun, begun + HALF), [voltage], t_eval=[*mine, begun + HALF], method="Radau",
            rtol=1e-10, atol=1e-12)
        out.extend(found.y[0, :-1])
        begun, voltage = begun + HALF, found.y[0, -1]
    return np.array(out)


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4", "cvode"])
@pytest.mark.parametrize("amplitude, count", [(10, 3), (325, 3), (325, 60)])
def test_junctions_clamp_a_source_that_jumps(amplitude, count, method):
    run = clamps(amplitude, count).simulate("3 ms", rtol=1e-7, method=method)
    times = np.arange(0.5, 30) * 1e-4
    at = quantity(times, "s")
    store, clamp, source = (np.array(run[path].at(at).m)
                            for path in ("store.vc", "clamp.v", "source.v"))
    assert_allclose(store, np.tile(stores(amplitude, times), (count, 1)), rtol=1e-5,
                    atol=1e-6 * amplitude)
    assert_allclose(clamp, node(source, store), rtol=1e-8)
