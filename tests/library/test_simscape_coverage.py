"""Has every block of Simscape's mechanics and physical signals its counterpart, or a reason?

``tests/data/simscape_mechanics_and_signals.csv`` lists the blocks and says where they are from;
``library/other_words.csv`` says what each is here: a component, or how to do without.
"""

import csv
import importlib
from pathlib import Path

from library.othernames import WORDS

FILE = Path(__file__).resolve().parents[1] / "data" / "simscape_mechanics_and_signals.csv"
ROWS = list(csv.DictReader(line for line in FILE.read_text(encoding="utf-8").splitlines()
                           if not line.startswith("#")))  # fmt: skip
#: Add-on blocks whose ports have other names than ours.
OTHER_PORTS = {"Disc Brake", "Disc Friction Clutch", "Dog Clutch", "Unidirectional Clutch",
               "Simple Gear", "Rotational Power Sensor", "Tire (Simple)"}  # fmt: skip


def test_a_block_has_a_counterpart_or_a_reason_why_it_has_none():
    assert len(ROWS) > 100
    found = {row["block"]: WORDS.component(row["block"], "") for row in ROWS}
    assert [block for block, word in found.items() if word is None] == []  # not in the file
    wrong = []
    for block, word in found.items():
        module, _, name = word.component.rpartition(".")
        said = word.sentence(module)
        if not (said.endswith(word.note) if word.note else name in said):
            wrong.append((block, said, word.note or name))
    assert wrong == []


def test_a_counterpart_has_the_conserving_ports_of_its_block():
    wrong, compared = [], 0
    for row in ROWS:
        found = WORDS.component(row["block"], "")
        if row["conserving"] and not found.note and row["block"] not in OTHER_PORTS:
            module, _, name = found.component.rpartition(".")
            compared += 1
            made = getattr(importlib.import_module(f"library.{module}"), name)()
            if not set(row["conserving"].split()) <= made.ports.keys():
                wrong.append((row["block"], [*made.ports], row["conserving"]))
    assert compared > 25
    assert wrong == []
