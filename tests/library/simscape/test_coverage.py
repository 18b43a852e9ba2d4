"""What occurs in public models has a counterpart here to the extent that the guide says.

The census counts instances in 526 models, ``tests/data/simscape/block_census.csv``.
"""

from __future__ import annotations

from pathlib import Path

from simscape_corpus import DATA

from library.simscape.coverage import coverage, summary

KINDS = coverage((DATA / "block_census.csv").read_text(encoding="utf-8").splitlines())
GUIDE = Path(__file__).resolve().parents[3] / "docs" / "coming_from_simscape.md"


def test_most_of_the_base_library_has_a_counterpart():
    fully = [k for k in KINDS if k.maps == "fully"]
    assert len(fully) >= 120
    assert sum(k.instances for k in fully) >= 0.93 * sum(k.instances for k in KINDS)


def test_what_is_missing_is_other_media_and_rare():
    for kind in KINDS:
        if kind.maps == "not at all" and kind.instances > 30:
            assert kind.path.split(".")[1] == "moist_air"


def test_the_guide_says_what_is_counted():
    guide = GUIDE.read_text(encoding="utf-8")
    for line in summary(KINDS).split("missing:")[0].splitlines():
        assert line in guide
    for kind in KINDS:
        if kind.maps == "not at all":
            package = kind.path.split(".")[1]
            assert package in guide, kind.path


def test_the_guide_shows_the_text_that_is_written():
    guide = GUIDE.read_text(encoding="utf-8")
    assert (DATA / "converted" / "msd_bungee.py").read_text(encoding="utf-8").rstrip() in guide
