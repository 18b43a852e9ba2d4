"""What signals were: in room that doubles, read as it was written, however many steps it has."""

import numpy as np

from blocks.system.past import ENDS, Past

STEPS = 20_000


def test_room_for_many_steps_is_made_few_times_and_every_value_stays():
    line = Past(1, 2)
    line.begin(0.0, 0)
    places = set()
    for k in range(STEPS):
        line.extend(np.array([k + 1.0]), np.array([[[2.0 * k], [2.0 * k + 2.0]]]))
        line.make_room(1, 1)
        places.add(int(line.shown[ENDS]))
    one = np.array([0])
    t = np.array([[0.0, 0.5, 1.0, 777.25, STEPS - 0.5, STEPS]])
    assert len(places) <= np.log2(STEPS)
    np.testing.assert_allclose(line.signals(0, t, one, one), 2 * t, rtol=1e-14)


def test_times_beyond_a_piece_are_moved_to_its_ends():
    line = Past(1, 2)
    line.begin(1.0, 0)
    line.extend(np.array([2.0, 4.0]), np.array([[[1.0], [2.0]], [[2.0], [4.0]]]))
    line.begin(4.0, 0)
    line.extend(np.array([5.0]), np.array([[[-1.0], [-2.0]]]))
    one = np.array([0])
    assert line.signals(0, np.array([[0.0, 1.0, 2.0, 4.0, 9.0]]), one, one).tolist() == [
        [1.0, 1.0, 2.0, 4.0, 4.0]]
    assert line.signals(1, np.array([[0.0, 4.5, 9.0]]), one, one).tolist() == [[-1.0, -1.5, -2.0]]
