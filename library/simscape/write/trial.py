"""Does the text of a converted model build, check and run, and will anything move in it?

The text is run as it was written, for one millisecond: it holds only what the writers write.
"""

from __future__ import annotations

import runpy
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blocks import BlocksError

if TYPE_CHECKING:
    from .plan import Script

__all__ = ["Trial", "try_text"]

SHORT = "1 ms"
# gaps that drive something
_SOURCES = ("source", "supply", "battery", "engine", "cell", "generator", "turbine", "solar",
            "chirp")


@dataclass
class Trial:
    """What became of a text when it was tried: how far it came, each asks for the one before."""

    builds: bool = False
    checks: bool = False
    runs: bool = False
    said: list[str] = field(default_factory=list)  # what stood in the way, and what the run has not
    model: Any = None  # that was built

    @property
    def sentence(self) -> str:
        steps = {"build": self.builds, "check": self.checks, "run": self.runs}
        words = [f"{word}s" for word, holds in steps.items() if holds]
        words += [f"does not {word}" for word, holds in steps.items() if not holds][:1]
        end = ": " if self.said and not self.runs else ". "
        return f"{', '.join(words)}{end}{' '.join(self.said)}".strip()


def try_text(path: Path, script: Script) -> Trial:
    """Build, check and run a text that has been written from a script with its gaps and plots."""
    trial = Trial()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trial.model = runpy.run_path(str(path))["build"]()
            trial.builds = True
            errors = trial.model.check().errors
            trial.said += [str(error) for error in errors[:1]]
            trial.said += [f"model.check() says {len(errors) - 1} more."] * (len(errors) > 1)
            trial.checks = not errors
            if trial.checks:
                method = script.solver.get("method")  # of a local solver, in steps that fit
                result = trial.model.simulate(SHORT, **(
                    {"method": method.strip('"'), "step": "0.1 ms"} if method else {}))
                absent = [name for name in script.plots if name not in result]
                trial.said += [f"{name} is plotted but not in the result." for name in absent]
                trial.runs = not absent
        except Exception as error:  # whatever a text can raise says that it does not work
            trial.said.append(f"{type(error).__name__}: {error}" if not isinstance(
                error, BlocksError) else str(error))
    stops = [entry.path for entry in script.entries if entry.outcome == "missing"
             and any(word in entry.kind.lower() for word in _SOURCES)]
    if stops:
        more = f" and {len(stops) - 3} more" if len(stops) > 3 else ""
        trial.said.append(f"It will not move as in the model: {', '.join(stops[:3])}{more} "
                          f"{'is a gap' if len(stops) == 1 else 'are gaps'}.")
    return trial
