"""Moreau-Jean steps in machine code, against the same loops and equations as Python runs them."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from benchmarks.planar import disc, poured
from blocks import Model, quantity
from blocks.machine import compiling
from library.planar import Body, Circle, Contact, Ground, Line


def dropped(restitution: float) -> Model:
    """A spinning disc that falls on a floor."""
    return wired("dropped", "ground.P floor.B", "disc.P floor.F",
                 ground=Ground(),
                 disc=Body(inertia="5 g*m^2", x="0 m", y="0.15 m", phi="0 rad", vx="1 m/s",
                           vy="0 m/s", w="20 rad/s"),
                 floor=Contact(curve=Circle("0.1 m"), base=Line(), restitution=restitution,
                               friction=0.2))


CASES = {
    "disc in a circle": (disc, "0.4 s", "1 ms", ["disc.x", "disc.w", "touch.N", "touch.T"]),
    "plastic": (lambda: dropped(0.0), "0.3 s", "2 ms", ["disc.x", "disc.w", "floor.N", "floor.T"]),
    "rebounds": (lambda: dropped(0.6), "0.5 s", "2 ms", ["disc.vx", "disc.vy", "floor.T"]),
    "two discs": (lambda: poured(2), "0.4 s", "5 ms", ["discs.x", "discs.w", "floor.N"]),
    "frictionless": (lambda: poured(4, smooth=True), "0.4 s", "5 ms", ["discs.y", "pairs.N"]),
    "with friction": (lambda: poured(4), "0.4 s", "5 ms", ["discs.x", "discs.w", "floor.N"]),
}


@pytest.mark.parametrize("case", CASES)
def test_steps_in_machine_code_are_those_of_python_to_rounding(case, monkeypatch):
    pytest.importorskip("llvmlite")
    make, end, step, names = CASES[case]
    model = make()
    compiled = model.simulate(end, method="moreau_jean", step=step)
    assert "machine code" in str(compiled.statistics)
    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    interpreted = model.simulate(end, method="moreau_jean", step=step)
    assert "machine code" not in str(interpreted.statistics)
    times = quantity(np.linspace(0, quantity(end).to("s").m, 40), "s")
    for name in names:
        a, b = (run[name].at(times).m for run in (compiled, interpreted))
        assert_allclose(a, b, rtol=0, atol=1e-9 * max(1.0, np.abs(b).max()))
