"""Ctrl-C ends a study at any instant: no lock is left held, no run is taken for a failed one."""

from __future__ import annotations

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from blocks import quantity

from . import bench

SPEEDS = quantity([1, 2, 3, 4, 5, 6], "m/s")


def interrupted_at(count):
    """Trace function that presses Ctrl-C at the count-th line executed by the executor's module."""
    seen = 0

    def line(frame, event, argument):
        nonlocal seen
        if event == "line":
            seen += 1
            if seen == count:
                signal.raise_signal(signal.SIGINT)
        return line

    def call(frame, event, argument):
        within = frame.f_globals.get("__name__", "").startswith("concurrent.futures")
        return line if within else None

    return call


def test_ctrl_c_inside_an_executor_leaves_it_in_order():
    model = bench.coasting()
    statuses = set()
    for count in range(1, 400, 23):
        pool = ThreadPoolExecutor(2)
        before = sys.gettrace()
        sys.settrace(interrupted_at(count))
        try:
            with pytest.warns(UserWarning, match="of 6 runs were made"):
                data = model.sweep({"mass.v": SPEEDS}, "10 ms", outputs=["final(mass.v)"],
                                   executor=pool)  # fmt: skip
        except pytest.fail.Exception:  # no line so late: nothing was interrupted
            assert (data.status == "finished").all()
            break
        finally:
            sys.settrace(before)
        statuses |= set(data.status.values)
        ending = threading.Thread(target=pool.shutdown, daemon=True)
        ending.start()
        ending.join(20)
        assert not ending.is_alive(), f"interrupted at line {count}, the executor does not end"
    assert "not run" in statuses
    assert statuses <= {"finished", "not run"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("swallowed", [True, False])
def test_an_interrupt_that_becomes_another_error_is_no_failed_run(swallowed):
    def stop(result):
        speed = result["mass.v"].initial
        if speed > quantity("2.5 m/s"):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                if not swallowed:
                    raise NotImplementedError("Wrong number or type of arguments") from None
        return speed

    with pytest.warns(UserWarning, match="2 of 6 runs were made"):
        data = bench.coasting().sweep({"mass.v": SPEEDS}, "1 s", outputs={"left": stop})
    assert list(data.status.values) == ["finished"] * 2 + ["not run"] * 4
