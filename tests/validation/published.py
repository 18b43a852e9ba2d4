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


def follow(model, name, columns, events=None, **options):
    """A run of the model, every column of which is as published.

    A column is (path, unit[, shift[, scale]]), or the path of a friction element for its mode.
    Rows closer than the event window to an event are left out where a signal jumps or
    is a mode; the events themselves are compared on their own.
    """
    reference, case = published(name), cases()[name]
    run = model.simulate(quantity(case["stop_time"], "s"), **({"rtol": 1e-9} | options))
    signals = case["signals"]
    assert set(columns) == set(signals)
    t = reference["time"]
    events = np.array([0.0, *(case["event_times"] if events is None else events)])
    quiet = np.abs(t[:, None] - events).min(axis=1) > case["event_window"]
    for column, source in columns.items():
        signal, truth = signals[column], reference[column]
        if isinstance(source, str):
            rows = quiet & (truth != FREE)
            assert rows.sum() > 10
            modes = friction_modes(run, source)
            np.testing.assert_array_equal(modes(t[rows]), truth[rows], err_msg=column)
            continue
        path, unit, shift, scale = (*source, *(0.0, 1.0)[len(source) - 2 :])
        rows = quiet if signal.get("jumps") else np.ones(len(t), dtype=bool)
        assert rows.sum() > 10
        ours = run[path].at(quantity(t[rows], "s")).to(unit).magnitude * scale + shift
        assert_allclose(ours, truth[rows], rtol=0, atol=signal["tolerance"], err_msg=column)
    return run


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
