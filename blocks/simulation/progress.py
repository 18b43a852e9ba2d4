"""How far has a run come?"""

from __future__ import annotations

from typing import Any

__all__ = ["Progress"]


class Progress:
    """A progress bar, or nothing; imports rich only where it is shown."""

    def __init__(self, wanted: bool | None, t0: float, t1: float) -> None:
        import sys

        self.on = sys.stderr.isatty() and hasattr(sys, "ps1") if wanted is None else wanted
        self.t0, self.t1 = t0, t1
        self.bar: Any = None

    def __enter__(self) -> Any:
        if not self.on:
            return None
        try:
            from rich.progress import Progress
        except ImportError:
            return None
        self.bar = Progress(transient=True)
        self.bar.start()
        task = self.bar.add_task("simulating", total=self.t1 - self.t0)
        return lambda t: self.bar.update(task, completed=t - self.t0)

    def __exit__(self, *_: Any) -> None:
        if self.bar is not None:
            self.bar.stop()
