"""The ready fluids: what the file says of them, and the command that computes it."""

import sys
from pathlib import Path

import pytest

import library
from library.media import main, media

FILE = Path(library.__file__).with_name("media.json")


def test_the_ready_fluids_are_small_and_say_where_they_are_from_and_how_far_off_they_are():
    assert FILE.stat().st_size < 300e3
    for kind in ("liquids", "gases", "two_phases", "moist_air"):
        assert len(media(kind)) >= 3
        for fluid in media(kind).values():
            assert fluid["source"].startswith("CoolProp, ")
            assert fluid["errors"]


def test_help_of_the_command_computes_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["media", "--help"])
    before = FILE.stat().st_mtime_ns
    with pytest.raises(SystemExit, match="0"):
        main()
    assert "usage: python -m library.media" in capsys.readouterr().out
    assert FILE.stat().st_mtime_ns == before
