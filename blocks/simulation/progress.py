"""How far has a run, a sweep or a fit come, and how long will it go on?"""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable
from typing import Any

__all__ = ["Progress", "time_in_words"]

PATIENCE = 2.0  # seconds after which it is shown to those who have not asked for it
SOON, LATER = 1.0, 10.0  # seconds before which the time left is anybody's guess: at all, and
EARLY = 0.05  # before this share is done, as the beginning may have been compiling
OFTEN, SELDOM = 0.2, 5.0  # seconds between two looks: at a screen, and at lines in a file
BAR = 24  # letters


class Progress:
    """A line with the part that is done and the time left; nothing where nobody looks.

    By default it is ``wanted`` in terminals and notebooks, of what takes more than two seconds.
    ``start`` and ``end`` are what is told at the beginning and at the end; without an end the time
    taken is shown. One that ``counts`` shows ``3/10`` instead of a percentage.
    """

    def __init__(self, wanted: bool | None, start: float, end: float | None = None,
                 name: str = "simulating", counts: bool = False) -> None:
        self.name, self.start, self.end, self.counts = name, start, end, counts
        self.wanted = wanted
        self.screen = None if wanted is False else _screen(bool(wanted))

    def __enter__(self) -> Callable[..., None] | None:
        if self.screen is None:
            return None
        self.began = clock.perf_counter()
        self.due = self.began + (0.0 if self.wanted else PATIENCE)
        return self._tell

    def _tell(self, reached: float, words: str = "") -> None:
        now = clock.perf_counter()
        if now < self.due and not (self.wanted and reached == self.end):
            return
        assert self.screen is not None
        self.due = now + self.screen.pause
        self.screen.show(self._line(reached, words, now - self.began))

    def _line(self, reached: float, words: str, taken: float) -> str:
        if self.end is None:
            return f"{self.name}: {words}, {time_in_words(taken)}"
        share = min(1.0, reached / self.end if self.counts else
                    (reached - self.start) / (self.end - self.start))  # fmt: skip
        full = int(share * BAR)
        told = f"{reached:.0f}/{self.end:.0f}" if self.counts else f"{share:4.0%}"
        done = (reached - self.start) / (self.end - self.start)
        known = 0 < done < 1 and taken > (SOON if done > EARLY else LATER)
        left = f"{time_in_words(taken * (1 / done - 1))} left" if known else ""
        return f"{self.name} {'█' * full}{'░' * (BAR - full)} {told}  {left}".rstrip()

    def __exit__(self, *_: Any) -> None:
        if self.screen is not None:
            self.screen.close()


def time_in_words(seconds: float) -> str:
    """``"3 s"``, ``"2 min 5 s"``, ``"1 h 10 min"``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _screen(asked: bool) -> Any:
    """Where it is shown: a notebook, a terminal, lines of a file for who asked; or nowhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and getattr(shell, "kernel", None) is not None:
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return _Lines() if asked else None


class _Terminal:
    """One line that is written over and over, and wiped away."""

    pause = OFTEN
    shown = False

    def show(self, line: str) -> None:
        self.shown = True
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Lines:
    """A line now and then."""

    pause = SELDOM

    def show(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class _Notebook:
    """One line below the cell, which disappears."""

    pause = OFTEN
    place: Any = None

    def show(self, line: str) -> None:
        from IPython.display import display

        data = {"text/plain": line}
        if self.place is None:
            self.place = display(data, raw=True, display_id=True)
        else:
            self.place.update(data, raw=True)

    def close(self) -> None:
        if self.place is not None:
            self.place.update({"text/plain": ""}, raw=True)
