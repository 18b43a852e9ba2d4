"""Events, counters, energy and sentences about a run."""

import subprocess
import sys

import pytest
from benches.recorded import MASSES, Fake, nothing_recorded, result

from blocks.exceptions import UnknownName, WrongCall
from blocks.results import EnergyTerm, EventRecord, Events, Ledger, Recording


def words(thing):
    return [" ".join(line.split()) for line in repr(thing).splitlines()]


def test_an_event_by_rounding_after_the_start_is_shown_at_the_start():
    events = Events([EventRecord(3.4e-21, "brake", "slides forward"),
                     EventRecord(2.5, "brake", "sticks")])  # fmt: skip
    assert "e-21" not in repr(events)
    assert events[0].time == 3.4e-21


def test_events_of_a_component_are_asked_for_by_of():
    with pytest.raises(WrongCall, match=r"result.events.of\('brake'\)"):
        result().events["brake"]


def test_the_fake_is_a_recording():
    assert isinstance(Fake(), Recording)


def test_energy_finds_what_is_missing():
    energy = result().energy()
    assert energy.residual.to("mJ").m == 500
    assert energy.turned_over.to("J").m == (10 + 2 + 7.5) / 2
    assert energy.relative_residual == pytest.approx(0.5 / 9.75)
    assert [Ledger.violation(t) for t in energy] == [0, 0, 0.5]
    assert (energy.supplied - energy.stored - energy.dissipated).to("J").m == 0.5
    assert energy["block"].stored == 2


def test_violations_do_not_cancel():
    energy = Ledger([EnergyTerm("a", "A", 1.0, 0.0, 0.0, 0.0),
                     EnergyTerm("b", "B", -1.0, 0.0, 0.0, 0.0)])  # fmt: skip
    assert energy.residual.to("J").m == 2


def test_work_that_appears_from_nowhere_is_missing():
    energy = Ledger([EnergyTerm("a", "A", 3.0, 3.0, 0.0, 0.0)])
    assert energy.residual.to("J").m == 3


def test_a_returning_swing_is_measured_by_what_was_exchanged():
    swing = [EnergyTerm("m", "Mass", 1e-9, 0.0, 0.0, 0.0, 8.0),
             EnergyTerm("s", "Spring", -1e-9, 0.0, 0.0, 0.0, 8.0)]  # fmt: skip
    assert Ledger(swing).turned_over.m == 8
    assert Ledger(swing).relative_residual == pytest.approx(2.5e-10)
    assert Ledger([]).relative_residual == 0


def test_what_a_lone_body_misses_is_measured_by_what_it_holds():
    flight = Ledger([EnergyTerm("stone", "Body", 0.0, 2e-15, 0.0, 0.0, 0.0, 8.0)])
    assert flight.held.to("J").m == 8
    assert flight.relative_residual == pytest.approx(2.5e-16)
    assert words(flight)[-1] == "unaccounted for: 2 fJ of 8 J held (relative 2.5e-16)"


def test_energy_is_printed_with_units():
    lines = words(result().energy())
    assert lines[0] == "Energy of stick_slip in J"
    assert lines[1] == "component type work_in stored dissipated supplied residual"
    assert lines[3] == "pull VelocitySource -10 0 0 10 0"
    assert lines[5] == "friction TranslationalFriction 8 0 7.5 0 5.0e-01"
    assert lines[-2] == "total 0 2 7.5 10 5.0e-01"
    assert lines[-1] == "unaccounted for: 500 mJ of 9.75 J turned over (relative 5.1e-02)"
    frame = result().energy().to_pandas()
    assert frame.loc["total", "supplied [J]"] == 10
    assert "friction" in result().energy()._repr_html_()


def test_a_long_ledger_puts_arrays_together():
    terms = [EnergyTerm(f"m[{k}]", "Mass", 1e3, 1e3, 0.0, 0.0) for k in range(100)]
    lines = words(Ledger(terms, "chain"))
    assert lines[0] == "Energy of chain in kJ"
    assert lines[3] == "m (100) Mass 100 100 0 0 0"


def test_an_unknown_component_of_the_ledger():
    with pytest.raises(UnknownName, match="Did you mean 'block'"):
        result().energy()["blok"]


def test_events_are_a_table():
    events = result().events
    assert len(events) == 2 and events[0].component == "friction"
    assert words(events)[1] == "time component what" or "time" in words(events)[1]
    assert words(events)[-1] == "2.25 friction sticks"
    assert str(events[-1]) == "2.25 s: friction sticks"
    assert list(events.to_pandas()["time [s]"]) == [1.5, 2.25]
    assert len(events.of("friction")) == 2 and len(events.of("fric")) == 0
    assert repr(nothing_recorded().events) == "no events"


def test_statistics_are_readable():
    statistics = result().statistics
    assert statistics["steps"] == statistics.steps == 1412
    assert words(statistics) == [
        "Statistics", "method rodas4", "why stiff", "steps 1,412", "rejected 12",
        "phases: compile 0.0125 s", "phases: solve 0.25 s",
    ]  # fmt: skip
    with pytest.raises(AttributeError):
        statistics.nothing  # noqa: B018


def test_summary():
    assert words(result()) == [
        "Result of stick_slip", "status finished", "time 0 s to 4 s", "variables 23",
        "samples 402", "method rodas4", "steps 1,412 (12 rejected)", "events 2",
    ]  # fmt: skip
    assert "<table" in result()._repr_html_()
    failed = words(nothing_recorded())
    assert "status failed" in failed and "message no consistent start" in failed


def test_variables_show_arrays_once():
    variables = result().variables
    assert len(variables) == 11 + MASSES
    assert words(variables)[-2:] == ["masses.v mm/s variable velocity", "23 variables"]
    assert [v.path for v in variables.matching("spring.*f")] == ["spring.f", "spring.R.f"]
    assert len(variables.matching("masses.v")) == MASSES
    assert variables.to_pandas().loc["oil.T", "unit"] == "degC"


@pytest.mark.parametrize(
    "path, sentence",
    [
        ("spring.f", "spring.f is the force carried from R to C, in N. It is positive when it "
         "goes from R to C, negative from C to R. Over the run, from 0 s to 4 s, it lies between "
         "-10 N (at 1 s) and 10 N (at 0 s) and ends at 10 N."),
        ("spring.v", "spring.v is the velocity of R minus that of C, in m/s. It is positive when "
         "the value at R is greater than the one at C. Over the run, from 0 s to 4 s, it is "
         "-0.5 m/s throughout."),
        ("spring.R.f", "spring.R.f is the flow into spring at port spring.R, in N. It is positive "
         "when it flows through port spring.R into spring; over all ports joined there it sums "
         "to zero. Over the run, from 0 s to 4 s, it lies between -10 N (at 1 s) and 10 N "
         "(at 0 s) and ends at 10 N."),
        ("oil.T", "oil.T is the temperature, in °C. Over the run, from 0 s to 4 s, it lies "
         "between 20 °C (at 0 s) and 60 °C (at 4 s) and ends at 60 °C."),
        ("switch.on", "switch.on is a variable of switch, a number without unit. It is held "
         "between events and changes only at them. Over the run, from 0 s to 4 s, it lies "
         "between 0 (at 0 s) and 1 (at 1.5 s) and ends at 1."),
    ],
)  # fmt: skip
def test_explain(path, sentence):
    assert result().explain(path) == sentence


def test_explain_an_array():
    told = result().explain("masses.v")
    assert f"There are {MASSES} instances, masses[0].v to masses[11].v." in told
    assert "11 mm/s (at 0 s in masses[11].v)" in told


def test_tables_are_shown_without_optional_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "<td>status</td><td>finished</td>" in result()._repr_html_()
    assert "9.75 J turned over" in repr(result().energy())
    assert "breaks away" in repr(result().events)


def test_nothing_optional_is_imported():
    code = ("import sys, blocks.results; "
            "print([m for m in ('pandas', 'xarray', 'matplotlib', 'networkx', 'rich', 'pyarrow')"
            " if m in sys.modules])")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
