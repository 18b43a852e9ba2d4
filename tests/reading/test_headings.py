"""Headings say name and unit, and are read alike by all who take tables."""

import pandas
import pytest
from benches import wired

from blocks.analysis import fit
from blocks.reading.headings import heading_parts, is_time
from blocks.results import read_csv
from library.tables import table
from library.translational import Mass, Reference, Spring


@pytest.mark.parametrize("heading, name, unit", [
    ("block.v [m/s]", "block.v", "m/s"), ("F[kN]", "F", "kN"), ("F (kN)", "F", "kN"),
    (" ratio [-] ", "ratio", "1"), ("n []", "n", "1"), ("force (left)", "force (left)", None),
    ("masses[3].v [m/s]", "masses[3].v", "m/s"), ("masses[3].v", "masses[3].v", None),
    ("x", "x", None)])
def test_a_heading_has_a_name_and_perhaps_a_unit(heading, name, unit):
    assert heading_parts(heading) == (name, unit)


@pytest.mark.parametrize("heading", ["time [s]", "Time [s]", "t [ms]", "time (s)", "T (ms)"])
def test_time_is_known_by_all_of_its_headings(heading):
    assert is_time(heading)


@pytest.mark.parametrize("clock, place", [("t [s]", "x [mm]"), ("Time (s)", "x (mm)")])
def test_all_who_read_tables_take_the_same_headings(clock, place, tmp_path):
    data = pandas.DataFrame({clock: [0.0, 0.1, 0.2], place: [10.0, 9.0, 7.0]})
    file = tmp_path / "run.csv"
    data.to_csv(file, index=False)
    read = read_csv(file)
    assert list(read) == ["x"] and f"{read['x'].units:~}" == "mm"
    assert table(file, time=clock, value=place) is not None
    model = wired("row", "block.M spring.R", "floor.V spring.C",
                  block=Mass(), spring=Spring(x="10 mm"), floor=Reference())
    found = fit(model, data, {"block.mass": ("1 kg", "1000 kg")}, compare={place: "spring.x"})
    assert found.status == "finished"
