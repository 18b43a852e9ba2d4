"""A hundred thousand masses in a gigabyte."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import models
from benchmarks.table import peak_memory

RUN = """
import json
from benchmarks import models
from benchmarks.table import peak_memory
model = models.chain_of_arrays(100_000)
result = model.simulate("2 s", method="dopri5")
last = result["masses.v"].final.m[-3:].tolist()
print(json.dumps([peak_memory(), last, result.statistics["method"]]))
"""


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_masses_runs_within_a_gigabyte():
    pytest.importorskip("llvmlite")
    if np.isnan(peak_memory()):
        pytest.skip("the system does not tell the memory of a process")
    done = subprocess.run([sys.executable, "-c", RUN], check=True, capture_output=True, text=True)
    peak, last, method = json.loads(done.stdout.splitlines()[-1])
    assert method == "dopri5"
    assert peak < 1.0
    # the wave has not come far: the pushed end moves as that of a shorter chain
    slope, start = models.chain_by_hand(400)
    from scipy.integrate import solve_ivp

    hand = solve_ivp(slope, (0, 2), start, method="DOP853", rtol=1e-10, atol=1e-13).y[0::2, -1]
    assert_allclose(last, hand[-3:], rtol=0, atol=2e-7 * np.abs(hand).max() + 1e-8)
