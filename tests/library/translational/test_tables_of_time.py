"""Sources that follow a table of time."""

import numpy as np
import pytest
from benches import seconds, values
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

from blocks import quantity
from library.translational import Damper, table


def test_a_table_is_linear_between_its_points_and_held_outside():
    motion = table(["1 s", "2 s", "4 s"], ["10 mm/s", "30 mm/s", "-10 mm/s"])
    run = driven(Damper(), motion).simulate("5 s")
    t = seconds(run)
    assert_allclose(
        values(run, "part.v", "mm/s"), np.interp(t, [1, 2, 4], [10, 30, -10]), atol=1e-11
    )


def test_the_jump_of_a_table_is_stepped_onto():
    push = table(quantity([0, 1, 1, 2, 2, 3], "s"), quantity([0, 0, 6, 6, 0, 0], "N"))
    run = thrown(Damper(damping="0 N*s/m"), mass="2 kg", velocity="0 m/s", force=push).simulate(
        "3 s", rtol=1e-8
    )
    assert_allclose(values(run, "body.v", "m/s", [1.0, 1.5, 2.0, 3.0]), [0, 1.5, 3, 3], atol=1e-9)
    assert_allclose(run["push.S"].at("1 s", side="left").to("N").magnitude, 0)
    assert_allclose(run["push.S"].at("1 s", side="right").to("N").magnitude, 6)


@pytest.mark.parametrize(
    ("times", "heights", "text"),
    [(["1 s", "0 s"], ["0 N", "1 N"], "decrease"), (["0 s", "1 s"], ["0 N"], "as many")],
)
def test_a_table_in_disorder_is_refused(times, heights, text):
    with pytest.raises(ValueError, match=text):
        table(times, heights)
