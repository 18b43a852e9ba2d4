"""Decisions that models have asked for: they obey the laws, interpreted as compiled."""

import json
from pathlib import Path

import numpy as np
import pytest

from blocks.machine import compiling
from blocks.nonsmooth.complementarity import Status, solve

#: Rows of masses that rub on each other, boxes on feet, gears with losses, brakes that share.
RECORDED = [{name: np.array(value) for name, value in given.items()} for given in json.loads(
    Path(__file__).with_name("decisions.json").read_text(encoding="utf-8"))]


def test_interpreted_and_compiled_decisions_are_the_same_to_the_last_bit(monkeypatch):
    assert len(RECORDED) > 40
    compiled = [vars(solve(**given)) for given in RECORDED]
    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    interpreted = [vars(solve(**given)) for given in RECORDED]
    assert [(number, name, other[name], one[name])
            for number, (one, other) in enumerate(zip(compiled, interpreted, strict=True))
            for name in one if not np.array_equal(one[name], other[name])] == []


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_what_is_decided_obeys_every_law(number):
    given = RECORDED[number]
    D, b, known = given["D"], given["b"], given.get("known", np.zeros(len(given["b"]), dtype=bool))
    found, none = solve(**given), np.zeros_like(D)
    L, H = given.get("by_lower", none), given.get("by_upper", none)
    if found.status is Status.NO_SOLUTION:  # what slides presses its own contact faster than it
        left = (D + D[:, known] @ L[known])[~known][:, ~known]  # pushes back
        assert np.linalg.det(left) < 0
        return
    x, rate = found.effort, b - D @ found.effort
    low, high = given["lower"] + L @ x, given["upper"] + H @ x
    bounds = np.where(np.isfinite(high), np.abs(high), 0.0) + np.abs(low)
    size = 1e-8 * max(np.abs(b).max(), np.abs(D @ x).max()) + given["noise"].max() + (
        1e-15 * np.abs(D) @ bounds).max()
    own = np.where(np.diag(D) > 0, np.diag(D), 1.0)
    natural = own * np.abs(x - np.clip(x + rate / own, low, np.maximum(low, high)))
    assert natural[~known].max(initial=0.0) <= size
    assert np.abs(x - low)[known].max(initial=0.0) <= 1e-9 * np.abs(x).max()
