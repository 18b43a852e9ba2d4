"""How far a run has come is shown where somebody looks, with the time left."""

import io
import sys

import pytest

from blocks.simulation import progress
from blocks.simulation.progress import Progress, time_in_words


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when a test says so."""
    now = [100.0]
    monkeypatch.setattr(progress.clock, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("seconds", "words"), [
    (3.4, "3 s"), (125, "2 min 5 s"), (4205, "1 h 10 min"),
])
def test_times_are_words(seconds, words):
    assert time_in_words(seconds) == words


def test_a_long_run_shows_its_part_and_the_time_left_and_wipes_them_away(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(None, 10.0, 20.0) as tell:
        clock(1)
        tell(11.0)
        assert sys.stderr.getvalue() == ""  # most runs end before anybody waits
        clock(3)
        tell(12.0)
    line = sys.stderr.getvalue()
    assert " 20%  16 s left" in line
    assert line.endswith("\r\x1b[K")


def test_the_time_left_is_not_guessed_from_a_slow_beginning(clock, capsys):
    with Progress(True, 0.0, 100.0) as tell:
        clock(2)
        tell(0.5)  # of which most went into compiling
        clock(10)
        tell(3.0)
    first, later = capsys.readouterr().err.splitlines()
    assert first.endswith("0%") and later.endswith("3%  6 min 28 s left")


def test_without_a_screen_only_who_asks_is_told(clock, capsys):
    with Progress(None, 0.0, 1.0) as tell:
        assert tell is None
    with Progress(True, 2, 4, "runs", counts=True) as tell:
        clock(10)
        tell(3)
        clock(1)  # lines in a file are few
        tell(3)
        tell(4)
    first, last = capsys.readouterr().err.splitlines()
    assert first.endswith("3/4  10 s left")
    assert last.endswith("4/4")


def test_what_has_no_known_end_shows_the_time_taken(clock, capsys):
    with Progress(True, 0, name="fit") as tell:
        clock(70)
        tell(3, "run 3, misfit 2")
    assert capsys.readouterr().err == "fit: run 3, misfit 2, 1 min 10 s\n"
