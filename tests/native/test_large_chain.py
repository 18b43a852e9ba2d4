"""A hundred thousand masses in a gigabyte."""

import json
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import models
from benchmarks.table import peak_memory
from blocks import Component, Discrete, Variable, der, quantity, when

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


class Triangle(Component):
    """Rises and falls between 0 and 1 by 1 a second."""

    falls, y = Discrete("1", "0"), Variable("1", "0.5", priority="high")

    def equations(self):
        yield der(self.y) == quantity("1 1/s") * (1 - 2 * self.falls)
        yield when(self.y > 1, {self.falls: 1})
        yield when(self.y < 0, {self.falls: 0})


def test_events_of_a_model_with_twenty_thousand_states_run_in_machine_code():
    model = models.chain_of_arrays(10_000)
    model.triangle = Triangle()
    run = model.simulate("4 s", method="dopri5")
    assert run.statistics.events == 4 and "events in Python" not in run.statistics
    times = np.linspace(0, 4, 81)
    found = run["triangle.y"].at(quantity(times, "s")).m
    assert_allclose(found, 1 - np.abs(1 - (times + 0.5) % 2), rtol=0, atol=1e-6)
