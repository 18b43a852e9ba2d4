"""What do the options of a run come to, and which are refused?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError, UnknownName, WrongCall, brief, did_you_mean, nearest
from ..numerics.arrays import Array
from ..numerics.tolerances import STEP_REST
from ..reading.foreign_words import option_elsewhere
from ..renamed import OPTIONS as OLD
from ..results.values.times import sample_times as times_asked_for
from ..solvers import Method
from ..units import to_si, unit

__all__ = ["HANDED_ON", "Options", "RecordOptions", "Settings", "end_of_run", "options_named",
           "positive_time", "record_options", "refuse_no_mapping", "refuse_positional",
           "refuse_unknown_options", "sample_times"]  # fmt: skip

LOST = 0.5  # part of a duration that rounding may take


class Options(NamedTuple):
    """What a user asks of a run, as given to ``Model.simulate``, which explains it."""

    start_time: Any = "0 s"
    method: str = "auto"
    rtol: float = 1e-6
    atol: Any = None
    step: Any = None
    max_step: Any = None
    first_step: Any = None
    every: Any = None
    times: Any = None
    progress: bool | None = None
    record: Any = None
    record_every: Any = None
    record_to: Any = None
    initial: Any = None  # states, torn unknowns, relations, and discrete values but for nan
    driven: bool = False  # by a program, step by step


#: Those that are a user's, and those of them that whoever makes many runs hands on to these.
OF_RUNS = tuple(name for name in Options._fields if name != "driven")
HANDED_ON = tuple(name for name in OF_RUNS if name not in ("progress", "initial"))


@dataclass(frozen=True)
class RecordOptions:
    """Which variables are kept of a run, and how."""

    variables: tuple[str, ...]  # paths
    # steps that become one polynomial; None: as many as variables are followed closely by
    every: int | None = None
    file: Any = None  # that they go to, if any


@dataclass(frozen=True)
class Settings:
    """How a run is made; all in SI units."""

    t_start: float
    t_end: float
    method: type[Method]
    rtol: float
    max_step: float = np.inf
    first_step: float | None = None
    step: float | None = None
    may_switch: bool = False  # to another method, where that suits the motion better


def positive_time(value: object, name: str, where: str = "") -> float:
    """A time option of ``simulate`` in s, or one of what is named.

    Raises ParameterError for what is no positive, finite time.
    """
    where = where or f"simulate({name}=…)"
    number = to_si(value, unit("s"), where)
    if not (isinstance(number, float) or np.ndim(number) == 0) or not 0 < number < np.inf:
        raise ParameterError(where, f"must be a positive time, but is {value}.",
                             "Write for example '4 s'.", given=value)
    return float(number)


def end_of_run(t0: float, duration: float) -> float:
    """When a run ends that can be told apart from its start."""
    t1 = t0 + duration
    if not np.isfinite(t0):
        raise ParameterError("simulate(start_time=…)", f"must be a time, but is {t0:g} s.",
                             "Write for example '0 s'.", given=t0)
    if not t1 - t0 > LOST * duration:
        raise ParameterError("simulate(start_time=…)", f"is {t0:g} s, where times are told apart "
                             f"by {np.spacing(t0):.2g} s: a run of {duration:g} s is lost there.",
                             "Begin nearer to 0 s.", given=t0)  # fmt: skip
    return t1


def sample_times(every: object, times: object, t0: float, t1: float) -> Array | None:
    """Times at which a run is sampled, if any are asked for; at equal distances, its end too."""
    chosen = times_asked_for(np.array([t0, t1]), every, times, "simulate")
    if every is None or chosen is None:
        return chosen
    h = to_si(every, unit("s"), "simulate(every=…)")
    return np.append(chosen[chosen < t1 - STEP_REST * h], t1)


def record_options(options: Options) -> RecordOptions | None:
    """What of a run is kept, None for everything.

    Raises ParameterError for what names no variables, no number of steps, or keeps a file of
    nothing.
    """
    record, every = options.record, options.record_every
    if record is None:
        for name in ("record_every", "record_to"):
            if getattr(options, name) is not None:
                raise ParameterError(f"simulate({name}=…)", "is about variables that are named.",
                                     "Name them: record=['spring.x', 'spring.f'].")
        return None
    paths = (record,) if isinstance(record, str) else record
    if not isinstance(paths, (list, tuple)) or not paths or not all(
            isinstance(p, str) for p in paths):
        raise ParameterError("simulate(record=…)", f"takes paths of variables, but is "
                             f"{brief(record)}.", "Write for example record=['spring.x', "
                             "'spring.f'].", given=record)  # fmt: skip
    if every is not None and (not isinstance(every, int) or isinstance(every, bool) or every < 1):
        raise ParameterError("simulate(record_every=…)", f"is a number of steps, but is "
                             f"{brief(every)}.", "Write for example record_every=10; sample times "
                             "are every='1 ms'.", given=every)  # fmt: skip
    return RecordOptions(tuple(paths), every, options.record_to)


def refuse_unknown_options(options: Mapping[str, object],
                           known: Iterable[str] = (*OF_RUNS, "sensitivities", "until"),
                           call: str = "simulate({0})") -> None:
    """Refuse options that are not known, with the one that was meant."""
    known = list(dict.fromkeys(known))
    for name, given in options.items():
        if name in known:
            continue
        sentence, here = option_elsewhere(name, given, call)
        if (now := OLD["simulate"].get(name, name)) in OF_RUNS:
            sentence = f"{now}= is an option of model.simulate() alone."
        raise UnknownName(
            f"{call.partition('(')[0]}()", f"there is no option {name!r}.",
            sentence or did_you_mean(name, known, "options"),
            name=name, known=known, nearest=[here] if here else nearest(name, known),
        )  # fmt: skip


def refuse_no_mapping(given: object, where: str, example: str) -> None:
    """Refuse what gives no value to each of its paths."""
    if not isinstance(given, Mapping):
        raise ParameterError(where, f"takes a mapping, but was given {brief(given)}.",
                             f"Write for example {example}.", given=given)


def options_named(function: Callable[..., Any]) -> list[str]:
    """The options that a function names itself."""
    return [p.name for p in signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]


def refuse_positional(duration: object, nameless: tuple[object, ...]) -> None:
    """Say how long to run, and name all else."""
    if duration is None:
        raise WrongCall("simulate()", "has to be told how long to run.",
                        "Write for example simulate('4 s').")
    span: Any = [duration, *nameless] if nameless else duration
    if isinstance(span, (list, tuple)) and len(span) == 2:
        raise WrongCall("simulate()", f"takes the duration alone without a name, but was given "
                        f"{span[0]!r} and {span[1]!r}.", "Give the duration, and the start where "
                        "it is not 0 s: simulate('4 s', start_time='1 s').", given=span)
    if nameless:
        raise WrongCall("simulate()", f"takes the duration alone without a name, but was given "
                        f"{len(span)} values.", "Name all else: simulate('4 s', rtol=1e-8).",
                        given=span)  # fmt: skip
