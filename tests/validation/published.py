"""Compares runs with the published results in ``tests/data/validation``."""

import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from blocks import quantity

DATA = Path(__file__).parent.parent / "data" / "validation"
FREE = 2  # mode of a published friction element without normal force


@cache
def cases():
    """Name -> what is known of the case."""
    files = sorted(DATA.glob("*_cases.json"))
    return {c["name"]: c for f in files for c in json.loads(f.read_text())["cases"]}


def published(name):
    """Column name -> values of a case, ``time`` among them."""
    file = DATA / cases()[name]["csv"]
    header = file.read_text().splitlines()[0].split(",")
    return dict(zip(header, np.loadtxt(file, delimiter=",", skiprows=1).T, strict=True))


def simulate(model, name, **options):
    return model.simulate(quantity(cases()[name]["stop_time"], "s"), **({"rtol": 1e-9} | options))


def compare(name, run, columns):
    """Every column of a case against (path, unit[, shift]) or a mode function of time.

    Rows closer than the event window to an event are left out where a signal jumps or
    is a mode; the events themselves are compared on their own.
    """
    reference, case = published(name), cases()[name]
    signals = case["signals"]
    assert set(columns) == set(signals)
    t = reference["time"]
    events = np.array([0.0, *case["event_times"]])
    quiet = np.abs(t[:, None] - events).min(axis=1) > case["event_window"]
    for column, source in columns.items():
        signal, truth = signals[column], reference[column]
        if callable(source):
            rows = quiet & (truth != FREE)
            assert rows.sum() > 10
            np.testing.assert_array_equal(source(t[rows]), truth[rows], err_msg=column)
            continue
        path, unit, *shift = source
        rows = quiet if signal.get("jumps") else np.ones(len(t), dtype=bool)
        assert rows.sum() > 10
        ours = run[path].at(quantity(t[rows], "s")).to(unit).magnitude + sum(shift)
        assert_allclose(ours, truth[rows], rtol=0, atol=signal["tolerance"], err_msg=column)


def friction_modes(run, path):
    """A function of time: 1, 0 or -1 of an exact friction element."""
    recording = run.recording
    laws = recording.problem.laws
    element = next(i for i in range(laws.size) if laws.elements.name(i) == path)
    starts = np.array([e.start for e in recording.episodes])
    modes = np.array([e.modes[element] for e in recording.episodes])
    return lambda t: modes[np.searchsorted(starts, t, side="right") - 1]


def switching_times(run, path):
    """When an exact friction element changed its mode."""
    words = ("sticks", "slides forward", "slides backward")
    return np.array([e.time for e in run.events.of(path) if e.description in words])
