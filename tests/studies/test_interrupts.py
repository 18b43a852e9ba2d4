"""Ctrl-C ends a study at any instant: no lock is left held, no run is taken for a failed one.

No lock is left held in workers, either, that were made while another thread held it.
"""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import quantity
from library.translational import Mass, Reference, Spring

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


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{root!r}, {tests!r}]
from blocks import quantity
from studies import bench
data = bench.coasting().sweep({{"mass.v": quantity([1, 2, 3, 4, 5, 6], "m/s")}}, "10 ms",
                              outputs=[bench.endless], executor=2)
print(*data.status.values)
"""


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to one process", "to all of them"])
def test_workers_do_not_outlive_the_study(send, tmp_path):
    tests = Path(__file__).resolve().parent.parent
    script = SCRIPT.format(root=str(tests.parent), tests=str(tests))
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "SWEEP_LOG": str(tmp_path / "log")})  # fmt: skip
    while not (tmp_path / "log").exists() and process.poll() is None:
        time.sleep(0.01)
    send(process.pid, signal.SIGINT)
    printed, said = process.communicate(timeout=60)  # runs under way last a day
    assert (process.returncode, said) == (0, "")
    assert set(printed.split()) <= {"finished", "not", "run"}
    assert "not run" in printed


class Impatient:
    """Presses Ctrl-C shortly after the first runs are shown."""

    def __init__(self, *given, **more):
        self.timer = threading.Timer(0.05, _thread.interrupt_main)

    def __enter__(self):
        return lambda done: self.timer.ident or self.timer.start()

    def __exit__(self, *_):
        self.timer.join()


@pytest.mark.parametrize("workers", [None, 2])
def test_ctrl_c_ends_a_study_in_machine_code(workers, monkeypatch):
    pytest.importorskip("llvmlite")
    model = wired("oscillator", "block.M spring.R", "spring.C wall.V",
                  block=Mass(mass="1 kg"), wall=Reference(), spring=Spring(stiffness="100 N/m"))
    speeds = quantity(np.linspace(1, 2, 100_000), "m/s")
    model.sweep({"block.v": speeds[:2]}, "1 s", outputs=["final(block.v)"], method="dopri5")
    monkeypatch.setattr(sys.modules["blocks.studies.sweep"], "Progress", Impatient)
    with pytest.warns(UserWarning, match="of 100000 runs were made"):  # which would take minutes
        data = model.sweep({"block.v": speeds}, "20 s", outputs=["final(block.v)"], rtol=1e-9,
                           executor=workers, method="dopri5")  # fmt: skip
    made = data.status.values == "finished"
    assert 0 < made.sum() < 100_000
    assert_allclose(data["final(block.v)"][made], speeds.m[made] * np.cos(200), rtol=1e-5)
    assert np.isnan(data["final(block.v)"][~made]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_worker_does_not_wait_for_threads_it_has_not():
    """A study is assembled in one thread while another one makes its workers."""
    from blocks.studies import runner

    held, let_go = threading.Event(), threading.Event()

    def assembling():
        with runner.ASSEMBLY:
            held.set()
            let_go.wait(1.0)

    thread = threading.Thread(target=assembling)
    thread.start()
    held.wait()
    process = os.fork()
    if not process:  # in the worker
        os._exit(0 if runner.ASSEMBLY.acquire(timeout=20) else 1)
    let_go.set()
    thread.join()
    assert os.waitpid(process, 0)[1] == 0
    assert runner.ASSEMBLY.acquire(timeout=20)
    runner.ASSEMBLY.release()
