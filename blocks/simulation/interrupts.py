"""What does Ctrl-C end, and what SIGTERM?

Python raises ``KeyboardInterrupt`` between any two instructions of the main thread. SIGTERM, with
which batch systems and ``kill`` stop what was started without a terminal, does so in studies.
Where that is inside a library, the library may make another error of it, lose it,
or be left holding a lock that another thread waits for ever after. CasADi's C code asks its
Python wrappers for the shape of an expression and loses whatever they raise.
"""

from __future__ import annotations

# What ``signal`` calls to set a handler, without making an enumeration of what comes back: that
# takes some microseconds, three times in a run.
import _signal as quick
import _thread
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["forget_interrupt", "interruptible", "postponed", "terminable"]

STOPPING = signal.SIGINT, signal.SIGTERM

CASADI_LASTS = 1e-3  # s, when it is tried again

_pressed = 0
_again = threading.Timer(0, _thread.interrupt_main)


def _count(number: int, frame: Any) -> None:
    global _pressed, _again
    _pressed += 1
    if frame is not None and frame.f_globals.get("__name__", "").startswith("casadi."):
        _again = threading.Timer(CASADI_LASTS, _thread.interrupt_main, (number,))
        _again.start()
    else:
        signal.default_int_handler(number, frame)


class interruptible:  # noqa: N801  # a function to who uses it; a generator takes three times as long
    """Ctrl-C ends what is inside with KeyboardInterrupt, whatever a library makes of it."""

    def __enter__(self) -> None:
        self._before, self._previous = _pressed, _taken_over(_count)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _give_back(self._previous)
        if _pressed > self._before:
            _again.cancel()
            if _again.is_alive():  # what is on its way already comes here, not behind
                _again.join()
            if kind is None or issubclass(kind, Exception):
                raise KeyboardInterrupt from None


def forget_interrupt() -> None:
    """See to it that a process goes on to its own end after an interrupt that was understood.

    Python notes one that has ended a text which is executed, such as that of a named tuple in an
    import, and dies by the signal in the end, whoever took care of it; the next text makes it
    forget.
    """
    exec("")


@contextlib.contextmanager
def postponed(tell: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls a function, which must not wait for a lock; a second one raises."""

    def told(number: int, frame: Any) -> None:
        signal.signal(number, signal.default_int_handler)
        tell()

    previous = _taken_over(told)
    try:
        yield
    finally:
        _give_back(previous)


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM ends what is inside as Ctrl-C does, unless the program makes something else of it."""
    own = threading.current_thread() is threading.main_thread() and signal.getsignal(
        signal.SIGTERM) == signal.SIG_DFL
    if own:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        if own:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _taken_over(handler: Callable[[int, Any], None]) -> list[tuple[int, Any]]:
    """Signals, and their handlers before this one; those stay that are not Python's own, or
    cannot be replaced."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return [(number, quick.signal(number, handler)) for number in STOPPING
            if quick.getsignal(number) in (signal.default_int_handler, _count)]


def _give_back(previous: list[tuple[int, Any]]) -> None:
    for number, handler in previous:
        quick.signal(number, handler)
