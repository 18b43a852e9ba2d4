"""Sources that jump by hundreds of volts across a junction whose law is an exponential."""

from functools import cache

import numpy as np
import pytest
from benches.clamp import CAPACITANCE, HALF, RESISTANCE, clamps
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import wrightomega

from blocks import exp, quantity
from library.electrical import TwoPort

pytest.importorskip("llvmlite")  # of which most methods are

SATURATION, THERMAL = 1e-12, 0.025


class Junction(TwoPort):
    """Shockley's law, whatever the exponent."""

    def equations(self):
        yield self.i == quantity(SATURATION, "A") * (exp(self.v / quantity(THERMAL, "V")) - 1)


def node(source, store):
    """The voltage of a junction between two resistors: Wright's omega function."""
    middle = (source + store + SATURATION * RESISTANCE) / 2
    share = SATURATION * RESISTANCE / (2 * THERMAL)
    return middle - THERMAL * wrightomega(np.log(share) + middle / THERMAL).real


TIMES = np.arange(0.5, 30) * 1e-4


@cache
@cache
def stores(amplitude):
    """The voltage of the capacitors, half period by half period."""
    times, voltage, begun, out = TIMES, 0.0, 0.0, []
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


@pytest.mark.parametrize("amplitude, count, method", [
    (10, 3, "auto"), (10, 3, "DOP853"), (325, 3, "dopri5"), (325, 3, "rodas4"), (325, 30, "auto"),
    (325, 30, "rodas4")])
def test_junctions_clamp_a_source_that_jumps(amplitude, count, method):
    run = clamps(Junction, count, amplitude).simulate("3 ms", rtol=1e-7, method=method)
    at = quantity(TIMES, "s")
    store, clamp, source = (np.array(run[path].at(at).m)
                            for path in ("store.vc", "clamp.v", "source.v"))
    assert_allclose(store, np.tile(stores(amplitude), (count, 1)), rtol=1e-5, atol=1e-6 * amplitude)
    assert_allclose(clamp, node(source, store), rtol=1e-8)
