"""What is taken as a quantity, the exact words for what is not; SI's units; headings."""

import pickle

import numpy as np
import pandas
import pint
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import exceptions
from blocks.analysis import fit
from blocks.exceptions import (
    AngleFrequencyError,
    BlocksError,
    MissingUnit,
    UnitError,
    UnknownUnit,
    WrongDimension,
)
from blocks.language.expression import as_expression
from blocks.reading.headings import heading_parts, is_time
from blocks.results import read_csv
from blocks.units import describe, from_si, quantity, registry, to_si, unit
from library.tables import table
from library.translational import Mass, Reference, Spring

PI = np.pi
OTHER = pint.UnitRegistry()


@pytest.mark.parametrize(("given", "expected", "si"), [
    ("2 kN", "N", 2000.0),
    ("2kN", "N", 2000.0),
    ("-.5 mN", "N", -5e-4),
    ("1e3 N", "N", 1000.0),
    ("5 N m", "N*m", 5.0),
    ("1 kg·m²", "kg*m^2", 1.0),
    ("3 sec", "s", 3.0),
    ("5 um", "m", 5e-6),
    ("5 µm", "m", 5e-6),
    ("60 rpm", "rad/s", 2 * PI),
    ("1 turn/s", "rad/s", 2 * PI),
    ("360 deg/s", "rad/s", 2 * PI),
    ("90 deg", "rad", PI / 2),
    ("20 degC", "K", 293.15),
    ("212 degF", "K", 373.15),
    ("3 delta_degC", "K", 3.0),
    ("3 %", "", 0.03),
    (3, "", 3.0),
    ("2 %", "%", 0.02),
    ("3 kHz", "Hz", 3000.0),
    (OTHER.Quantity(3, "kN"), "N", 3000.0),
    (OTHER.Quantity([1, 2], "kN"), "N", [1000.0, 2000.0]),
    (["1 N", "2 kN"], "N", [1.0, 2000.0]),
    (np.array(["1 N", "2 kN"]), "N", [1.0, 2000.0]),
    (np.array([1.0, 2.0]), "", [1.0, 2.0]),
    (quantity([20, 30], "degC"), "K", [293.15, 303.15])])
def test_a_value_with_a_unit_is_read_in_SI(given, expected, si):
    assert_allclose(to_si(given, unit(expected)), si, rtol=1e-12)


@pytest.mark.parametrize(("given", "expected", "kind", "text"), [
    ("5 kg", "N", WrongDimension,
     "a.b: takes N or any unit convertible to it, but was given 5 kg. Did you mean 'kgf'?"),
    ("1 m", "", WrongDimension,
     "a.b: takes a plain number, but was given 1 m. Give it without a unit."),
    ("5 Nm", "N*m", UnknownUnit,
     "a.b: was given '5 Nm': 'Nm' is not a unit. Did you mean 'N*m'?"),
    (5, "N", MissingUnit,
     "a.b: takes N, but was given the bare number 5. Write '5 N' if that is what you mean."),
    ("5", "N", MissingUnit,
     "a.b: takes N, but was given '5' without a unit. Write '5 N' if that is what you mean."),
    (np.array([1.0, 2.0]), "N", MissingUnit,
     "a.b: takes N, but was given the bare number […]. "
     "Write quantity([…], 'N') if that is what you mean."),
    (1, "rad", MissingUnit,
     "a.b: takes rad, but was given the bare number 1. "
     "Write '1 rad', or '1 deg', if that is what you mean."),
    (2, "%", MissingUnit,
     "a.b: takes %, but was given the bare number 2. Write '200 %' if a fraction is meant, "
     "'2 %' if it counts %."),
    (np.float64(0.5), "%", MissingUnit,
     "a.b: takes %, but was given the bare number 0.5. Write '50 %' if a fraction is meant, "
     "'0.5 %' if it counts %."),
    (np.nan, "N", MissingUnit,
     "a.b: takes N, but was given the bare number nan. It is not a finite number. "
     "Write for example '1 N'."),
    ([np.float64(285.0), 290], "K", MissingUnit,
     "a.b: takes K, but was given the bare number 285.0. "
     "Write '285 K' if that is what you mean."),
    (None, "N", MissingUnit,
     "a.b: takes N, but was given None. Write for example '1 N'."),
    ("abc", "N", UnknownUnit,
     "a.b: was given 'abc': 'abc' cannot be read as a quantity. "
     "Write a number and a unit, such as '5 N' or '0.1 m/s'."),
    ("5 Ns/m", "N*s/m", UnknownUnit,
     "a.b: was given '5 Ns/m': 'Ns/m' is not a unit. Did you mean 'N*s/m'?"),
    ("1 kmh", "m/s", UnknownUnit,
     "a.b: was given '1 kmh': 'kmh' is not a unit. Did you mean 'km/hour'?"),
    ("5 mh", "H", WrongDimension, "a.b: takes H or any unit convertible to it, but was given 5 mh. "
     "Did you mean 'mH' or 'MH'?"),
    ("5 Mf", "F", UnknownUnit,
     "a.b: was given '5 Mf': 'Mf' is not a unit. Did you mean 'MF' or 'mF'?"),
    ("5 nm", "N*m", WrongDimension, "a.b: takes N*m or any unit convertible to it, but was given "
     "5 nm. Did you mean 'N*m'?"),
    ("5 kgm2", "kg*m^2", UnknownUnit,
     "a.b: was given '5 kgm2': 'kgm2' is not a unit. Did you mean 'kg*m^2'?"),
    ("1,500 N", "N", UnknownUnit, "a.b: was given '1,500 N': ',500 N' is not a unit. Write "
     "decimals with a point: '1.500 N', thousands without: '1500 N'."),
    ("1,5 N", "N", UnknownUnit,
     "a.b: was given '1,5 N': ',5 N' is not a unit. Write decimals with a point: '1.5 N'."),
    (1 + 2j, "", UnknownUnit,
     "a.b: takes a plain number, but was given (1+2j), which is a complex number. "
     "Give it without a unit."),
    ("2 Hz", "rad/s", AngleFrequencyError,
     "a.b: is an angular quantity in rad/s, but was given 2 Hz. One turn is 2π rad: "
     "write '2 turn/s', or the angular value in rad/s."),
    ("2 kHz", "rpm", AngleFrequencyError,
     "a.b: is an angular quantity in rpm, but was given 2 kHz. One turn is 2π rad: "
     "write '2000 turn/s', or the angular value in rad/s."),
    ("120 rpm", "Hz", AngleFrequencyError,
     "a.b: is a frequency in Hz, but was given the angular value 120 rpm. "
     "Write '2 Hz' (one turn per period)."),
    (quantity([1, 2], "Hz"), "rad/s", AngleFrequencyError,
     "a.b: is an angular quantity in rad/s, but was given [1 2] Hz. Use turn/s or rad/s."),
    ("0.1 V/Hz", "V/rpm", AngleFrequencyError,
     "a.b: is an angular quantity in V/rpm, but was given 0.1 V/Hz. Use turn/s or rad/s."),
    ("300 turns", "", AngleFrequencyError,
     "a.b: takes a plain number, but was given 300 turns, in which a turn is 2π rad. "
     "Write '300' if turns are counted, '1884.96' if an angle is meant."),
    ("100 A*turns", "A", AngleFrequencyError,
     "a.b: takes A, but was given 100 A*turns, in which a turn is 2π rad. "
     "Write '100 A' if turns are counted, '628.319 A' if an angle is meant."),
    ("5 mm/rev", "mm", AngleFrequencyError,
     "a.b: takes mm, but was given 5 mm/rev, in which a turn is 2π rad. "
     "Write '5 mm' if turns are counted, '0.795775 mm' if an angle is meant."),
    (quantity([1, 2], "nH/turn^2"), "H", AngleFrequencyError,
     "a.b: takes H, but was given [1 2] nH/turn**2, in which a turn is 2π rad. "
     "Leave the turns out if they are counted, or give the angle in rad."),
    ("100 A-turns", "A", UnknownUnit,
     "a.b: was given '100 A-turns': 'A-turns' is not a unit. Did you mean 'A'?")])  # fmt: skip
def test_what_does_not_fit_is_refused_in_these_words(given, expected, kind, text):
    with pytest.raises(UnitError) as caught:
        to_si(given, unit(expected), "a.b")
    assert type(caught.value) is kind
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == text
    assert caught.value.where.partition("[")[0] == "a.b"
    assert str(caught.value.expected) == (expected or "1")


@pytest.mark.parametrize("current", ["3 A*turn", quantity([1, 2], "A*turn")])
def test_turns_that_are_counted_are_refused_in_equations_too(current):
    """300 turns times an ampere are 300 A, and were 1885 A in a function of time."""
    with pytest.raises(AngleFrequencyError, match="in which a turn is 2π rad"):
        as_expression(quantity(current))


@pytest.mark.parametrize(("angle", "value"), [("2 turn/s", 4 * np.pi), ("90 deg", np.pi / 2),
                                              ("5 mm/turn", 5e-3 / (2 * np.pi)),
                                              ("360 deg/V", 2 * np.pi)])
def test_angles_stand_in_equations_alone_and_under_what_they_multiply(angle, value):
    assert float(as_expression(angle).sx) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("given", ["2 Hz", "2 kHz", quantity([1, 2], "Hz")])
def test_the_unit_advised_for_a_frequency_is_one_that_is_accepted(given):
    with pytest.raises(AngleFrequencyError) as caught:
        to_si(given, unit("rad/s"))
    advised = caught.value.advice.partition("write '")[2].partition("'")[0] or "1 turn/s"
    expected = 2 * PI * np.max(quantity(given).to("Hz").magnitude)
    if np.ndim(quantity(given).magnitude) == 0:
        assert to_si(advised, unit("rad/s")) == pytest.approx(expected)
    else:
        assert to_si(advised, unit("rad/s")) == pytest.approx(2 * PI)


@pytest.mark.parametrize("given", ["120 rpm", "1 rad/s", "1 turn/s"])
def test_the_frequency_advised_for_an_angular_value_is_its_number_of_turns(given):
    with pytest.raises(AngleFrequencyError) as caught:
        to_si(given, unit("Hz"))
    advised = caught.value.advice.partition("'")[2].partition("'")[0]
    turns = to_si(given, unit("rad/s")) / (2 * PI)
    assert to_si(advised, unit("Hz")) == pytest.approx(turns, rel=1e-5)


@pytest.mark.parametrize("text", ["rpm", "degC", "kN/mm", "N*s/m", "%", "degF"])
@pytest.mark.parametrize("number", [-3.5, 0.0, 12.0, [1.0, 2.0]])
def test_a_value_shown_in_a_unit_is_read_back_as_itself(text, number):
    assert_allclose(to_si(from_si(number, unit(text)), unit(text)), number, atol=1e-12)


def test_dimensions_are_named_in_units_people_know():
    assert describe(unit("kg*m/s^2").dimension) == "N"
    assert describe(unit("N/(m/s)").dimension) == "N*s/m"
    assert describe(unit("").dimension) == "dimensionless"
    assert registry().Unit(describe(unit("kg*m^3/s^7").dimension)).dimensionality == unit(
        "kg*m^3/s^7").dimension


# -- the tree of errors ------------------------------------------------------------------


def classes(base):
    return [base] + [c for sub in base.__subclasses__() for c in classes(sub)]


def test_every_exception_is_public_and_drawn_in_the_tree():
    mine = [c for c in classes(BlocksError) if c.__module__ == exceptions.__name__]
    assert {c.__name__ for c in mine} == set(exceptions.__all__)
    for c in mine:
        assert c.__name__ in exceptions.__doc__
        assert c.__doc__


def test_every_exception_has_its_own_code():
    codes = [getattr(exceptions, name).code for name in exceptions.__all__]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("name", exceptions.__all__)
def test_every_error_pickles_with_its_data(name):
    kind = getattr(exceptions, name)
    error = kind("a.b", "is wrong.", "Do this.", code="special.code", time=1.5, variables=("a.x",))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error) == "a.b: is wrong. Do this."
    assert (copy.code, copy.time, copy.variables) == ("special.code", 1.5, ("a.x",))
    with pytest.raises(AttributeError):
        _ = copy.unheard_of


def test_a_unit_error_pickles_with_unit_and_value():
    with pytest.raises(WrongDimension) as caught:
        to_si("5 kg", unit("N"), "a.b")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.expected == unit("N")
    assert copy.given == "5 kg"


def test_quantities_go_on_where_pint_is_given_another_registry():
    assert to_si("3 zm", unit("m")) == pytest.approx(3e-21)
    before = pint.get_application_registry().get()
    pint.set_application_registry(OTHER)
    try:
        assert quantity("3 zm*s").to("m*s").magnitude == pytest.approx(3e-21)
        assert to_si(from_si(6e-21, unit("zm/s")) * quantity("2 s"), unit("m")) == pytest.approx(
            1.2e-20)
    finally:
        pint.set_application_registry(before)


NAMES = ["m", "s", "A", "K", "rad", "Hz", "N", "Pa", "J", "W", "V", "ohm", "F", "H", "T", "Wb"]


def test_a_unit_of_si_is_pints():
    wrong = []
    for text in ("kg", *(p + n for n in NAMES for p in ("", "m", "k")), "", "kN/mm", "N*s/m",
                 "m**0.5", "kg*m^2/s^3", "Hz/V", "mrad/s"):
        read, pints = unit(text), pint.Unit(text.replace("^", "**"))
        factor = pint.Quantity(1.0, pints).to_base_units().magnitude
        dimension = dict(pints.dimensionality)
        found = (read.factor, read.offset, read.dimension, dict(read.pint.dimensionality),
                 read.pint, quantity(f"2 {text}").to(pints).magnitude)
        wanted = pytest.approx(factor, rel=1e-15), 0, dimension, dimension, pints, 2
        wrong += [(text, found, wanted)] * (found != wanted)
    assert wrong == []


@pytest.mark.parametrize("text, angular, frequency", [
    ("rad/s", True, False), ("krad", True, False), ("kHz", False, True), ("1/s", False, False)])
def test_angles_and_frequencies_are_told_apart(text, angular, frequency):
    assert (unit(text).angular, unit(text).frequency) == (angular, frequency)


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
