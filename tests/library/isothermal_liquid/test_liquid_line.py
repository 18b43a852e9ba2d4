"""A whole circuit against the same equations written and integrated by hand."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from benchmarks.hydraulics import PATHS, PUBLISHED, START, cylinder_line, cylinder_line_by_hand
from blocks import quantity


def test_a_cylinder_between_two_valves_moves_as_by_hand():
    scale = np.array([1e7, 1e7, 1e7, 0.1, 0.1])
    by_hand = solve_ivp(cylinder_line_by_hand, (0, 2), START, method="LSODA", rtol=1e-10,
                        atol=1e-12 * scale, max_step=0.02)  # fmt: skip
    run = cylinder_line().simulate("2 s", rtol=1e-9, method="rodas4")
    at = by_hand.t[::200]
    for k, (path, unit) in enumerate(PATHS.items()):
        ours = run[path].at(quantity(at, "s")).to(unit).magnitude
        assert_allclose(ours, by_hand.y[k, ::200], rtol=0, atol=1e-6 * scale[k], err_msg=path)
        final = run[path].final.to(unit).magnitude
        # published for a liquid of constant density, that is without p/beta = 1 %
        assert_allclose(final, PUBLISHED[k], rtol=4e-3)
    assert run.energy().relative_residual < 1e-5
