"""Does a car with six clutches run as the one whose modes a person has written out?

Independent solution: ``benchmarks.drivetrain.ByHand``, with scipy's DOP853 and events.
"""

from numpy.testing import assert_allclose

from benchmarks.drivetrain import RATIOS, ByHand, drivetrain
from blocks import quantity

RTOL = 1e-7


def test_six_clutches_stick_and_slip_when_the_hand_written_ones_do():
    hand = ByHand().run(1e-10, 1e-12, "DOP853")
    result = drivetrain().simulate("60 s", rtol=RTOL, method="DOP853")
    ends = [phase.t_max for phase in hand]
    events = [e for e in result.events if e.component.startswith("clutches")]
    assert len(events) == 21  # eleven clutches close, and ten open again
    for event in events:
        assert min(abs(event.time - end) for end in ends) < 2e-5, event
    times = [2.0, 12.0, 30.0, 40.0, 47.0, 60.0]
    exact = [next(p for p in hand if t <= p.t_max)(t) for t in times]
    speed, engine = (result[n].at(quantity(times, "s")) for n in ("car.v", "engine.w"))
    assert_allclose(speed.to("m/s").m, [y[3] for y in exact], rtol=50 * RTOL)
    assert_allclose(engine.to("rad/s").m, [y[0] for y in exact], rtol=200 * RTOL)
    assert_allclose(engine.m[2] / result["shaft.w"].at("30 s").m, RATIOS[5], rtol=1e-9)
