"""What occurs in public models has a counterpart here to the extent that the guide says.

The census counts instances in 526 models, ``tests/data/simscape/block_census.csv``. Every block of
Simscape's mechanics and physical signals, ``tests/data/simscape_mechanics_and_signals.csv``, is a
component or has a reason in ``library/other_words.csv``.
"""

import csv
import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from simscape_corpus import DATA

from library.othernames import WORDS
from library.simscape.physical.keywords import SETTINGS
from library.simscape.physical.mapping import counterpart_of, keyword_of
from library.simscape.physical.signals import SIGNALS

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "coming_from_simscape.md"
BESIDE = {"foundation.signal.sinks.terminator"}  # it only ends a line
IN_PART = {  # what is not taken, beside parameters without a keyword
    "foundation.signal.functions.concatenate":
        "where selectors, sums or converters take its vector",
    "foundation.signal.nonlinear.selector": "of a vector that is joined in the model"}


class Kind(NamedTuple):
    """A kind of block; it maps fully, in part (and why no more), or not at all."""

    path: str
    instances: int
    maps: str
    why: str


def maps(path, parameters):
    if path in IN_PART:
        return "in part", IN_PART[path]
    if path in BESIDE or path.removeprefix("foundation.signal.") in SIGNALS:
        return "fully", ""
    counterpart = counterpart_of(path)
    if counterpart is None or counterpart.component is None:
        return "not at all", ""
    lacking = [name for name in parameters if not any(keyword_of(counterpart, name))
               and name not in counterpart.choices and name not in SETTINGS]
    return ("in part", f"without {', '.join(lacking)}") if lacking else ("fully", "")


def counted(census):
    rows = csv.DictReader(line for line in census if not line.startswith("#"))
    kinds = [Kind(row["component"], int(row["instances"]), *maps(
        row["component"], row["parameters"].split())) for row in rows]
    return sorted(kinds, key=lambda kind: (-kind.instances, kind.path))


KINDS = counted((DATA / "block_census.csv").read_text(encoding="utf-8").splitlines())


def summary():
    """Shares of instances and numbers of kinds, and what is missing of those in part."""
    instances = Counter()
    for kind in KINDS:
        instances[kind.maps] += kind.instances
    yield from (f"{word}: {sum(k.maps == word for k in KINDS)} kinds, "
                f"{100 * instances[word] / instances.total():.1f} % of the instances"
                for word in ("fully", "in part", "not at all"))
    yield from (f"  {k.path}: {k.why}" for k in KINDS if k.maps == "in part")
    for fluid in ("thermal_liquid", "gas", "moist_air", "two_phase_fluid"):
        mine = [k for k in KINDS if k.path.split(".")[1] == fluid]
        full = sum(k.instances for k in mine if k.maps == "fully")
        yield f"{fluid}: {full} of {sum(k.instances for k in mine)} instances fully"


def test_most_of_the_base_library_has_a_counterpart():
    fully = [k for k in KINDS if k.maps == "fully"]
    assert len(fully) >= 152
    assert sum(k.instances for k in fully) >= 0.96 * sum(k.instances for k in KINDS)


def test_what_is_missing_is_other_media_and_rare():
    for kind in KINDS:
        if kind.maps == "not at all" and kind.instances > 30:
            assert kind.path.split(".")[1] == "moist_air"


def test_the_guide_says_what_is_counted():
    guide = GUIDE.read_text(encoding="utf-8")
    for line in summary():
        assert line in guide
    for kind in KINDS:
        if kind.maps == "not at all":
            assert kind.path.split(".")[1] in guide, kind.path


def test_the_guide_shows_the_text_that_is_written():
    guide = GUIDE.read_text(encoding="utf-8")
    assert (DATA / "converted" / "msd_bungee.py").read_text(encoding="utf-8").rstrip() in guide


def test_the_guide_names_components_that_are_here_and_counterparts_as_known():
    lines = (DATA.parent / "simscape_blocks.csv").read_text(encoding="utf-8").splitlines()
    known = {(row["block"], row["component"])
             for row in csv.DictReader(line for line in lines if not line.startswith("#"))}
    table = GUIDE.read_text(encoding="utf-8").partition("## The blocks you meet first")[2]
    shown = {pair for row in re.findall(r"^\| (.+) \| (.+) \|$", table.partition("\n## ")[0], re.M)
             for pair in zip(row[0].split("; "), re.findall(r"`(\w+\.\w+)`", row[1]), strict=False)}
    assert len(shown) > 40
    for _, name in shown:
        module, _, name = name.partition(".")
        assert name in import_module(f"library.{module}").__all__
    blocks = {block for block, _ in known}
    compared = {pair for pair in shown if pair[0] in blocks}
    assert len(compared) > 20 and compared <= known


# -- every block of mechanics and signals ----------------------------------------------------------
LISTED = (DATA.parent / "simscape_mechanics_and_signals.csv").read_text(encoding="utf-8")
ROWS = list(csv.DictReader(x for x in LISTED.splitlines() if not x.startswith("#")))
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
            made = getattr(import_module(f"library.{module}"), name)()
            if not set(row["conserving"].split()) <= made.ports.keys():
                wrong.append((row["block"], [*made.ports], row["conserving"]))
    assert compared > 25
    assert wrong == []
