"""Random models over every class of the library, as scripts, and what becomes of them.

A model is written line by line as a user would write it, and every line is carried out
at once: a line that is refused by name is dropped, and the rest goes on. What is left
is a script that can be printed and run again.

``PYTHONPATH=tests python tests/robustness/random_models.py FIRST COUNT`` does so with models of
these seeds, one after the other, and tells those that end as none may, or take more than ten times
the median of models with as many parts.
"""

import signal as clock
import sys
import time
import warnings
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from benches import declared

import blocks
import library.electrical as E
import library.electromechanical as D
import library.gas as N
import library.isothermal_liquid as L
import library.magnetic as G
import library.mechanisms as M
import library.moist_air as A
import library.planar as P
import library.rotational as R
import library.signal as S
import library.thermal as H
import library.thermal_liquid as W
import library.translational as T
import library.two_phase as F
from blocks import BlocksError, Component, EnergyWarning, Input, Model, Output, Parameter, Port
from blocks.language.declarations import Discrete, Variable
from blocks.language.replaceable import Replaceable

MODULES = {"T": T, "R": R, "M": M, "P": P, "S": S, "E": E, "G": G, "D": D, "H": H,
           "L": L, "W": W, "N": N, "A": A, "F": F}
BASES = {"TwoPort", "TwoFrame", "PressedFriction"}
CLASSES = {f"{letter}.{name}": getattr(module, name) for letter, module in MODULES.items()
           for name in module.__all__ if isinstance(getattr(module, name), type)
           and issubclass(getattr(module, name), Component) and name not in BASES}
# which modules are mixed
GROUPS = ("TRM", "TRMH", "TRMS", "PS", "TRMPSH", "S", "P", "E", "ES", "EG", "EGTD", "ETRD", "H",
          "EH", "L", "LTR", "LTRS")  # fmt: skip
# those of fluids that carry heat, drawn by themselves
FLUIDS = ("W", "WTRH", "N", "NTRH", "A", "ATRH", "F", "FTRH")
EXTREME = (0, -1, 1, 1e-300, 1e-30, 1e-9, 1e9, 1e30, 1e300, -1e9, float("inf"), float("nan"))
UNITS = ("1", "1", "m", "m/s", "N", "rad", "N*m")
CURVES = ("P.Circle('0.1 m')", "P.Circle('1 m', inside=True)", "P.Line()", "P.Line('0.3 rad')",
          "P.Ellipse('0.2 m', '0.1 m')", "P.Corner()")  # fmt: skip
METHODS = ("auto", "auto", "auto", "auto", "ode45", "Radau", "BDF", "DOP853",
           "trapezoidal", "backward_euler", "moreau_jean", "ode23s")  # fmt: skip
EXPLICIT = ("ode45", "DOP853", "ode23s")
WAVES = ("sin({r} * t / quantity('1 s'))", "where(t < quantity('0.03 s'), 1.0, -1.0)",
         "exp(-{r} * t / quantity('1 s'))", "(t / quantity('1 s'))",
         "sign(sin({r} * t / quantity('1 s')))")  # fmt: skip
HEAD = """\
from math import inf, nan
from blocks import *
import library.translational as T, library.rotational as R, library.mechanisms as M
import library.planar as P, library.signal as S, library.thermal as H
import library.electrical as E, library.magnetic as G, library.electromechanical as D
import library.isothermal_liquid as L, library.thermal_liquid as W
import library.gas as N, library.moist_air as A, library.two_phase as F
m = Model("random")
"""
ENDLESS = 1_000_000_000  # additions in the time of a run that counts as endless
CLOSED = 0.05  # of the energy turned over that may be missing without a word, by a fixed step


class Endless(BaseException):
    """A run has used up its time."""


def time_of_additions(count, tried=200_000):
    """Processor time that so many additions in plain Python take here and now, in s."""
    start = time.process_time()
    total = 0
    for k in range(tried):
        total += k
    return (time.process_time() - start) * count / tried


@contextmanager
def limited(work):
    """Raise :class:`Endless` when this process has worked as long as so many additions take.

    Counted so, since what a second holds differs from machine to machine. Compiled code on the
    way may make another exception of it.
    """
    over = False
    seconds = time_of_additions(work)

    def stop(*_):
        nonlocal over
        over = True
        raise Endless

    before = clock.signal(clock.SIGPROF, stop)
    clock.setitimer(clock.ITIMER_PROF, seconds, 1.0)  # again, should it come where nobody hears
    try:
        yield
    except Exception as error:
        if over:
            raise Endless from error
        raise
    finally:
        clock.setitimer(clock.ITIMER_PROF, 0)
        clock.signal(clock.SIGPROF, before)


@dataclass
class Outcome:
    """What became of a model: ``kind`` and, for a defect, what was seen."""

    kind: str  # "finished", "refused", "stopped" or the name of a defect
    detail: str = ""
    script: str = ""
    cause: BaseException | None = field(default=None, repr=False)
    parts: int = 0

    @property
    def good(self):
        return self.kind in ("finished", "refused", "stopped")


class Writer:
    """Writes and carries out the lines of one model."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.wild = self.random.random() < 0.35  # whether values are extreme
        self.lines = []
        self.scope = {}
        self.crash = None
        exec(HEAD, self.scope)
        self.model: Model = self.scope["m"]

    @property
    def script(self):
        return HEAD + "\n".join(self.lines)

    # -- choosing ------------------------------------------------------------------------
    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def do(self, line):
        """Carry a line out; whether it was accepted."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(line, self.scope)
        except BlocksError:
            return False
        except Exception as error:
            if self.crash is None:
                self.crash = error
                self.lines.append(line)
            return False
        self.lines.append(line)
        return True

    # -- values --------------------------------------------------------------------------
    def number(self, default):
        size = abs(default) if np.isfinite(default) and default else 1.0
        kind = self.random.random()
        if kind < 0.7 or not self.wild:
            value = size * 10 ** self.random.uniform(-1.5, 1.5)
            return float(f"{value:.3g}") * (-1 if self.chance(0.1 * self.wild) else 1)
        if kind < 0.8:
            return 0.0
        return float(self.pick(EXTREME))

    def value(self, declared):
        """The text of a value for a parameter."""
        unit = declared.unit.text
        default = np.asarray(declared.default, dtype=float) / (declared.unit.factor or 1.0)
        if default.ndim:
            factor = 1.0 if self.chance(0.5) else self.number(1.0)
            with np.errstate(invalid="ignore"):
                values = default * factor
            values = values + self.random.uniform(-0.5, 0.5, default.shape) * self.chance(0.3)
            if default.ndim == 1 and self.chance(0.1 * self.wild):
                values = values[:-1]
            text = np.array2string(values, separator=", ", precision=4).replace("\n", "")
            return f"quantity({text}, {unit!r})"
        number = self.number(float(default))
        if declared.varying and self.chance(0.4):
            wave = self.pick(WAVES).format(r=float(f"{10 ** self.random.uniform(-1, 2):.3g}"))
            return f"lambda t: quantity({number!r}, {unit!r}) * {wave}"
        return f"'{number!r} {unit}'" if unit and np.isfinite(number) else (
            f"quantity({number!r}, {unit!r})")

    def option(self, name, declared):
        if isinstance(declared, Replaceable):
            return repr(self.pick(list(declared.named)))
        if declared.choices is not None:
            return repr(self.pick(declared.choices))
        if isinstance(declared.default, bool):
            return repr(self.pick([True, False]))
        if name in ("unit", "input", "output"):
            return repr(self.pick(UNITS))
        if name == "signs":
            return repr(self.pick(["+", "+-", "++", "--+"]))
        if name == "units":
            return repr(self.pick(["1, 1", "m, 1", "N, s"]))
        if name in ("curve", "base"):
            return self.pick(CURVES)
        return repr(int(self.random.integers(-1, 4)))

    def target(self, declared):
        number = float(f"{self.random.uniform(-2, 2) * 10.0 ** self.random.integers(-3, 2):.3g}")
        if self.chance(0.1 * self.wild):
            number = float(self.pick(EXTREME[:-2]))
        text = f"'{number!r} {declared.unit.text}'"
        if self.chance(0.3):
            return f"Target({text}, priority={self.pick(['high', 'low', 'none'])!r})"
        return text

    # -- parts ---------------------------------------------------------------------------
    def part(self, k, name):
        cls = CLASSES[name]
        keywords = {}
        found = declared(cls)
        for n, d in found.items():
            if isinstance(d, blocks.Option) and self.chance(0.5):
                keywords[n] = self.option(n, d)
        law = keywords.get("law", "").strip("'")
        if isinstance(of := found.get("law"), Replaceable):
            for n, d in of.named[law or of.default].declarations.items():
                if isinstance(d, Parameter) and self.chance(0.25):
                    keywords[n] = self.value(d)
        for n, d in found.items():
            if isinstance(d, Parameter) and self.chance(0.4):
                keywords[n] = self.value(d)
            elif isinstance(d, Variable) and not isinstance(d, (Input, Output, Discrete)) \
                    and self.chance(0.15):
                keywords[n] = self.target(d)
        if self.chance(0.03):
            keywords["count"] = "2"
        while True:  # what is refused is left out
            given = ", ".join(f"{n}={v}" for n, v in keywords.items())
            if self.do(f"m.p{k} = {name}({given})") or self.crash is not None:
                return
            if not keywords:
                return
            keywords.pop(self.pick(list(keywords)))

    # -- wiring --------------------------------------------------------------------------
    def ports(self):
        """Text and declaration of every port of the model."""
        for n, part in self.model.parts.items():
            for name in () if "." in n else part.ports:
                if "." not in name:  # else of an inner part
                    yield f"m.{n}.{name}", getattr(part, name).port

    def wire(self):
        ports = list(self.ports())
        domains = {}
        for text, d in ports:
            if isinstance(d, Port):
                domains.setdefault(d.domain.name, []).append(text)
        for texts in domains.values():
            parts = len({t.split(".")[1] for t in texts})
            nodes = [[] for _ in range(int(self.random.integers(2, max(3, parts))))]
            taken = set()
            for text in texts:
                k = int(self.random.integers(len(nodes)))
                if (text.split(".")[1], k) in taken and self.chance(0.8):
                    k = (k + 1) % len(nodes)
                taken.add((text.split(".")[1], k))
                if not self.chance(0.03):  # else open
                    nodes[k].append(text)
            for node in nodes:
                if len(node) > 1:
                    self.do(f"m.connect({', '.join(node)})")
        outputs = [(t, d) for t, d in ports if isinstance(d, Output)]
        for text, d in ports:
            if isinstance(d, Input) and not self.chance(0.05 * self.wild):
                self.feed(text, d, outputs)
        if self.chance(0.2 * self.wild) and ports:  # nonsense
            self.do(f"m.connect({self.pick(ports)[0]}, {self.pick(ports)[0]})")

    def feed(self, text, declared, outputs):
        fitting = [t for t, d in outputs if d.unit.dimension == declared.unit.dimension]
        if fitting and self.chance(0.6):
            self.do(f"m.connect({self.pick(fitting)}, {text})")
            return
        name = text.split(".")
        source = f"source_{name[1]}_{name[2]}"
        unit = declared.unit.text
        number = self.number(1.0)
        number = number if np.isfinite(number) else 1.0
        line = self.pick((
            f"S.Constant(value=quantity({number!r}, {unit!r}))",
            f"S.Sine(amplitude=quantity({number!r}, {unit!r}), frequency='7 Hz')",
            f"S.Step(final=quantity({number!r}, {unit!r}), start='20 ms')",
            f"S.Pulse(amplitude=quantity({number!r}, {unit!r}), period='30 ms', width=0.4)"))
        if self.do(f"m.{source} = {line}"):
            self.do(f"m.connect(m.{source}.y, {text})")


def written(seed, groups=GROUPS):
    """A random model, written and built."""
    writer = Writer(seed)
    group = writer.pick(groups)
    names = [n for n in CLASSES if n[0] in group]
    count = int(writer.random.integers(1, 7))
    grounds = {"T": "T.Reference", "R": "R.RotationalReference", "P": "P.Ground",
               "E": "E.ElectricalReference", "G": "G.MagneticReference", "L": "L.Reservoir",
               "W": "W.Reservoir", "N": "N.Reservoir", "A": "A.Reservoir", "F": "F.Reservoir"}
    bodies = {"T": "T.Mass", "R": "R.Inertia", "P": "P.Body", "E": "E.Resistor",
              "G": "G.Reluctance", "L": "L.ConstantVolumeChamber",
              "W": "W.ConstantVolumeChamber", "N": "N.ConstantVolumeChamber",
              "A": "A.ConstantVolumeChamber", "F": "F.ConstantVolumeChamber"}
    chosen = [writer.pick(names) for _ in range(count)]
    for letter in grounds:
        if letter in group:
            chosen += [grounds[letter]] * writer.chance(0.9)
            chosen += [bodies[letter]] * writer.chance(0.7)
    for k, name in enumerate(chosen):
        if writer.crash is None:
            writer.part(k, name)
    if writer.crash is None:
        writer.wire()
    return writer


def outcome_of(seed, work=ENDLESS, groups=GROUPS):
    """Write a random model, check it, run it, and say what became of it.

    A run that takes longer than so many additions counts as endless.
    """
    try:
        with limited(work):
            writer = written(seed, groups)
    except Endless:
        return Outcome("endless construction")
    if writer.crash is not None:
        return Outcome("crash", _text(writer.crash), writer.script, writer.crash)
    method = writer.pick(METHODS)
    duration = writer.pick(("20 ms", "0.1 s", "0.1 s", "0.5 s"))
    fixed = ", step='1 ms'" if method in ("trapezoidal", "backward_euler", "moreau_jean") else ""
    doing = "m.check().raise_errors()"
    run = f"r = m.simulate({duration!r}, method={method!r}{fixed})"
    cause = None
    try:
        with limited(work), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            errors = writer.model.check().errors
            if errors:
                kind, detail = "refused", errors[0].code
            else:
                doing += f"\n{run}"
                exec(run, writer.scope)
                kind, detail = _judged(writer.scope["r"])
    except Endless as error:
        kind, detail, cause = "endless run" if run in doing else "endless check", "", error
        if run in doing and method in EXPLICIT:
            return Outcome("stopped", "by us: the chosen method does not suit a stiff model")
        if any("more are left to the end of the run" in str(w.message) for w in said):
            return Outcome("stopped", "by us: a warning told how long it takes")
    except BlocksError as error:
        kind, detail, cause = _stop(error), _text(error), error
    except Exception as error:
        kind, detail, cause = "crash", _text(error), error
    return Outcome(kind, detail, f"{writer.script}\n{doing}", cause,
                   sum("." not in path for path in writer.model.parts))


def _stop(error):
    """A stop after the start is named; a refusal only by simulate() is a defect.

    A solver that does not get away from the start has tried, and an explicit one that was chosen
    for a stiff model does not suit it, which check() cannot know.
    """
    if hasattr(error, "result"):
        tried = error.time > 0 or error.code in ("simulation", "simulation.stiff")
        return "stopped" if tried else "refused late"
    if error.where.startswith("simulate(") or error.code in (
            "parameter.instants", "simulation.stiff"):  # the latter by what time alone does
        return "refused"  # a method or a duration that does not suit
    return "refused late"


def _text(error):
    return f"{type(error).__name__}: {error}"


def _judged(result):
    """Whether a finished run has finite values only, and its ledger closes or it says so."""
    recording = result.recording
    times = np.linspace(*recording.times[[0, -1]], 7)
    with np.errstate(all="ignore"):
        values = recording.values(range(len(recording.catalog)), times)
    for k in np.flatnonzero(np.isnan(values).any(axis=1)):
        return "nan", list(recording.catalog)[k]
    for shown in (result, result.events, result.statistics, result.sticking()):
        repr(shown)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ledger = result.energy()
    open_ = ledger.residual.magnitude > 1e-9 and not ledger.relative_residual <= CLOSED
    if open_ and not any(issubclass(w.category, EnergyWarning) for w in said):
        return "ledger", f"{ledger.relative_residual:.2g}"
    return "finished", ""


def time_of_second_run(outcome):
    """Processor time of the run of a finished model once all is compiled, in s."""
    scope = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(outcome.script, scope)
        start = time.process_time()
        exec(outcome.script.splitlines()[-1], scope)
    return time.process_time() - start


def main(first, count):
    """Tell what becomes of so many models."""
    kinds, took = Counter(), defaultdict(list)
    for seed in range(first, first + count):
        outcome = outcome_of(seed, groups=GROUPS + FLUIDS if seed % 5 == 0 else GROUPS)
        kinds[outcome.kind] += 1
        if not outcome.good:
            print(f"# seed {seed}: {outcome.kind} {outcome.detail}\n{outcome.script}\n", flush=True)
        if outcome.kind == "finished":
            took[outcome.parts].append((time_of_second_run(outcome), seed))
        if (seed - first) % 100 == 99:
            print(f"# {time.strftime('%H:%M')} up to {seed}: {dict(kinds)}", flush=True)
    for parts, runs in sorted(took.items()):
        median = float(np.median([seconds for seconds, _ in runs]))
        slow = [f"{seed} ({seconds:.2g} s)" for seconds, seed in sorted(runs, reverse=True)
                if seconds > 10 * median]
        print(f"# {parts} parts: {len(runs)} runs, median {median:.2g} s, {len(slow)} above ten "
              f"times that: {', '.join(slow[:12])}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
