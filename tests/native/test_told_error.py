"""Is the error of a step told where the estimate of the pair vanishes by chance?"""

import numpy as np
import pytest

from blocks.machine.signatures import run_code
from blocks.native.stages import ATOL, ERROR_NORM, NEW, ROWS, STAGE_TIMES, arithmetic
from blocks.native.step_control import told_error

LARGEST = 1.0956e-5  # of the estimate of the pair, over (h omega)^5, where nothing but time counts


def estimates(h, phase, rtol):
    """Those of a step along the integral of cos(t + phase), which is about 1 large."""
    k, found = np.zeros((len(ROWS), 1)), np.empty(3)
    k[0], k[NEW], k[ATOL] = np.cos(phase), 1.0, 0.0
    k[1:7, 0] = np.cos(phase + h * np.array(STAGE_TIMES))
    run_code(arithmetic()[ERROR_NORM], np.ones(1), k, found, np.array([1]), np.array([h, rtol]))
    return found[0], found[2]


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-10])
@pytest.mark.parametrize("h", [0.1, 0.5, 1.9])
def test_no_phase_of_a_sine_hides_the_error_of_a_step(h, rtol):
    """The pair's own estimate is a sine of the phase, by the closed form of its weights."""
    own, told = [], []
    for phase in np.linspace(0, np.pi, 721):
        error, lower = estimates(h, phase, rtol)
        own.append(error * rtol)
        told.append(told_error(error, lower, rtol) * rtol)
    assert min(own) < 5e-3 * max(own)
    assert max(own) == pytest.approx(LARGEST * h**5, rel=0.05)
    assert max(told) == max(own)
    assert min(told) > 0.25 * max(own)
