"""Has every block of Simscape's mechanics and physical signals its counterpart, or a reason?

``tests/data/simscape_mechanics_and_signals.csv`` lists the blocks and says where they are from;
``library/other_words.csv`` says what each is here: a component, or how to do without.
"""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import pytest

from library.othernames import WORDS

FILE = Path(__file__).resolve().parents[1] / "data" / "simscape_mechanics_and_signals.csv"
ROWS = list(csv.DictReader(line for line in FILE.read_text(encoding="utf-8").splitlines()
                           if not line.startswith("#")))  # fmt: skip
#: Add-on blocks whose ports have other names than ours.
OTHER_PORTS = {"Disc Brake", "Disc Friction Clutch", "Dog Clutch", "Unidirectional Clutch",
               "Simple Gear", "Rotational Power Sensor", "Tire (Simple)"}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["block"])
def test_a_block_has_a_counterpart_or_a_reason_why_it_has_none(row):
    found = WORDS.component(row["block"], "")
    assert found is not None, f"{row['block']} is not in library/other_words.csv"
    module, _, name = found.component.rpartition(".")
    said = found.sentence(module)
    assert (name in said) if not found.note else said.endswith(found.note)


@pytest.mark.parametrize("row", [r for r in ROWS if r["conserving"]], ids=lambda r: r["block"])
def test_a_counterpart_has_the_conserving_ports_of_its_block(row):
    found = WORDS.component(row["block"], "")
    if found.note or row["block"] in OTHER_PORTS:
        return
    module, _, name = found.component.rpartition(".")
    made = getattr(importlib.import_module(f"library.{module}"), name)()
    assert set(row["conserving"].split()) <= made.ports.keys()
