"""Two hundred texts a person may type: the value of each in SI, or the piece that is refused.

Values are worked out by hand from the definitions of the units (1 inch = 25.4 mm,
1 lbf = 4.4482216152605 N, 1 hp = 550 ft lbf/s).
"""

import math

import numpy as np
import pint
import pytest

from blocks import quantity
from blocks.exceptions import MissingUnit, UnitError, UnknownUnit
from blocks.reading.grammar import factors_of, number_and_unit
from blocks.units import to_si, unit

PI = math.pi

GOOD = [  # text, declared unit, value in SI
    # numbers
    ("3 N", "N", 3), ("3N", "N", 3), ("  3 N  ", "N", 3), ("3\tN\n", "N", 3), ("3.5 N", "N", 3.5),
    ("3. N", "N", 3), (".5 N", "N", 0.5), ("0.5e1 N", "N", 5), ("5e-1 N", "N", 0.5),
    ("5E+2 N", "N", 500), ("1.e2 N", "N", 100), ("1e3N", "N", 1000), ("007 N", "N", 7),
    ("+4 N", "N", 4), ("-4 N", "N", -4), ("−4 N", "N", -4), ("−4.5e−2 N", "N", -0.045),
    ("- 4 N", "N", -4), ("-0 N", "N", 0), ("1e-300 N", "N", 1e-300), ("1e300 N", "N", 1e300),
    ("3\N{NO-BREAK SPACE}N", "N", 3), ("3\N{NARROW NO-BREAK SPACE}kN", "N", 3000),
    ("12345678901234567890 N", "N", 12345678901234567890.0),
    # plain numbers
    ("0.3", "", 0.3), ("-2", "", -2), ("1e-3", "", 1e-3), ("5 %", "", 0.05), ("5%", "", 0.05),
    ("3 ‰", "", 0.003), ("2 dimensionless", "", 2),
    # units of one name
    ("2 kg", "kg", 2), ("2 g", "kg", 2e-3), ("2 t", "kg", 2000), ("2 mg", "kg", 2e-6),
    ("2 kilogram", "kg", 2), ("2 kilograms", "kg", 2), ("2 lb", "kg", 0.90718474),
    ("4 mm", "m", 4e-3), ("4 cm", "m", 0.04), ("4 km", "m", 4000), ("4 um", "m", 4e-6),
    ("4 µm", "m", 4e-6), ("4 μm", "m", 4e-6), ("4 nm", "m", 4e-9), ("4 Mm", "m", 4e6),
    ("4 metres", "m", 4), ("4 meter", "m", 4), ("2 inch", "m", 0.0508), ("2 in", "m", 0.0508),
    ("2 ft", "m", 0.6096), ("6 s", "s", 6), ("6 ms", "s", 6e-3), ("6 us", "s", 6e-6),
    ("6 sec", "s", 6), ("6 seconds", "s", 6), ("6 min", "s", 360), ("6 h", "s", 21600),
    ("6 hour", "s", 21600), ("2 day", "s", 172800), ("7 mN", "N", 7e-3), ("7 MN", "N", 7e6),
    ("7 newton", "N", 7), ("7 lbf", "N", 7 * 4.4482216152605), ("8 J", "J", 8),
    ("8 kWh", "J", 8 * 3.6e6), ("8 kJ", "J", 8000), ("9 W", "W", 9), ("9 MW", "W", 9e6),
    ("9 hp", "W", 9 * 550 * 0.3048 * 4.4482216152605), ("2 Pa", "Pa", 2), ("2 bar", "Pa", 2e5),
    ("2 MPa", "Pa", 2e6), ("5 V", "V", 5), ("5 mA", "A", 5e-3), ("5 ohm", "ohm", 5),
    ("5 Ω", "ohm", 5), ("5 kΩ", "ohm", 5000), ("5 uF", "F", 5e-6), ("5 mH", "H", 5e-3),
    ("3 Hz", "Hz", 3), ("3 kHz", "Hz", 3000), ("90 deg", "rad", PI / 2), ("90°", "rad", PI / 2),
    ("2 turn", "rad", 4 * PI), ("5 mrad", "rad", 5e-3), ("30 rpm", "rad/s", PI),
    ("2 liter", "m^3", 2e-3),
    # products, quotients and powers
    ("2 N*m", "N*m", 2), ("2 N m", "N*m", 2), ("2 N·m", "N*m", 2), ("2 N⋅m", "N*m", 2),
    ("2 N×m", "N*m", 2), ("2*N*m", "N*m", 2), ("2 kN*mm", "N*m", 2), ("2 (N*m)", "N*m", 2),
    ("2 N/m", "N/m", 2), ("2 N / m", "N/m", 2), ("2 kN/m", "N/m", 2000), ("2 N/mm", "N/m", 2000),
    ("2 N*s/m", "N*s/m", 2), ("2 N/(m/s)", "N*s/m", 2), ("2 N/m*s", "N*s/m", 2),
    ("2 kg/s", "N*s/m", 2), ("2 N m/rad", "N*m/rad", 2), ("2 N*m*s/rad", "N*m*s/rad", 2),
    ("2 kg*m^2", "kg*m^2", 2), ("2 kg*m**2", "kg*m^2", 2), ("2 kg·m²", "kg*m^2", 2),
    ("2 kg m^2", "kg*m^2", 2), ("2 g*cm^2", "kg*m^2", 2e-7), ("2 m/s^2", "m/s^2", 2),
    ("2 m/s/s", "m/s^2", 2), ("2 m s^-2", "m/s^2", 2), ("2 m s⁻²", "m/s^2", 2),
    ("2 m*s^(-2)", "m/s^2", 2), ("2 m s^−2", "m/s^2", 2), ("2 m ** 1 / s ** 2", "m/s^2", 2),
    ("36 km/h", "m/s", 10), ("36 km/hour", "m/s", 10), ("36 kph", "m/s", 10), ("2 1/s", "1/s", 2),
    ("2/s", "1/s", 2), ("2 / s", "1/s", 2), ("2 s^-1", "1/s", 2), ("1/s", "1/s", 1),
    ("2 m^0.5", "m^0.5", 2), ("2 m^(1/2)", "m^0.5", 2), ("2 m^1.5/m", "m^0.5", 2),
    ("2 N/mm²", "Pa", 2e6), ("2 m³/s", "m^3/s", 2), ("2 (kg/s)^2", "kg^2/s^2", 2),
    ("2 deg/s", "rad/s", PI / 90), ("2 turn/s", "rad/s", 4 * PI), ("2 rad/s²", "rad/s^2", 2),
    ("2 W/(m^2*K)", "W/(m^2*K)", 2), ("2 J/(kg*degC)", "J/(kg*K)", 2), ("2 1/min", "Hz", 1 / 30),
    ("30 rev/min", "rad/s", np.pi), ("2 cm^3/rev", "m^3/rad", 1e-6 / np.pi),
    ("2 newton * second / meter", "N*s/m", 2), ("2 N*s^3/m^3", "N*s^3/m^3", 2),
    # temperatures
    ("20 degC", "K", 293.15), ("20 °C", "K", 293.15), ("-40 degF", "K", 233.15),
    ("20 K", "degC", 20), ("5 delta_degC", "K", 5), ("9 delta_degF", "K", 5),
    ("5 K", "delta_degC", 5), ("18 delta_degF", "delta_degC", 10), ("5 Δ°C", "delta_degC", 5),
]  # fmt: skip

BAD = [  # text, declared unit, what is not understood
    # no number, or more than one
    ("", "N", ""), ("   ", "N", ""), ("N", "N", "N"), ("mm", "m", "mm"), ("N*m", "N*m", "N*m"),
    ("(5) N", "N", "(5)"), ("(5 N)", "N", "(5"), ("[5] N", "N", "[5]"), ("{5} N", "N", "{5}"),
    ("{} N", "N", "{}"), ("{force} N", "N", "{force}"), ("{force:.3f} N", "N", "{force:.3f}"),
    ("%s N", "N", "%s"), ("%(f)s N", "N", "%(f)s"), ("five N", "N", "five N"), ("x N", "N", "x N"),
    ("--5 N", "N", "--5"), ("+-5 N", "N", "+-5"), ("±5 N", "N", "±5"), ("~5 N", "N", "~5"),
    ("<5 N", "N", "<5"), ("=5 N", "N", "=5"), ("'5 N'", "N", "'5"), ("5 5 N", "N", "5"),
    ("5 1", "", "1"), ("1 000 N", "N", "000"), ("1_000 N", "N", "_000"), ("1'000 N", "N", "'000"),
    ("1,000 N", "N", ",000"), ("1,5 N", "N", ",5"), ("5, N", "N", ","), ("5; N", "N", ";"),
    ("5 N, 3 N", "N", ","), ("5..2 N", "N", ".2"), ("5.2.1 N", "N", ".1"), ("e5 N", "N", "e5 N"),
    ("0x10 N", "N", "x10"), ("5 N2m", "N*m", "N2m"), ("1e400 N", "N", "1e400"),
    ("-1e999 N", "N", "-1e999"), ("٣ N", "N", "٣"), ("５ N", "N", "５"), ("½ N", "N", "½"),
    ("³ N", "N", "³"), ("None", "N", "None"), ("True", "", "True"), ("1+2j", "", "+2j"),
    # dashes
    ("–5 N", "N", "–"), ("—5 N", "N", "—"), ("‑5 N", "N", "‑"), ("‐5 N", "N", "‐"),
    ("－5 N", "N", "－"), ("5–3 N", "N", "–3"), ("5 m–1", "1/m", "–1"),
    ("5e–3 N", "N", "–3"),
    # arithmetic
    ("5 + 3 N", "N", "+"), ("5 N + 3 N", "N", "+"), ("5 N - 3 N", "N", "-"), ("2*3 N", "N", "3"),
    ("1/3 N", "N", "3"), ("2**3 N", "N", "**3"), ("2^3 N", "N", "^3"), ("5 N/2", "N", "2"),
    ("5 m/100", "m", "100"), ("sqrt(2) N", "N", "sqrt(2) N"), ("2 sqrt(N)", "N", "(N)"),
    ("1 kg^2^2", "kg^4", "^2^2"), ("1 kg**2**2", "kg^4", "**2**2"), ("1 kg^99", "kg", "^99"),
    ("1 kg^1e2", "kg", "e2"), ("1 kg^(2+1)", "kg^3", "^(2+1)"), ("1 kg^x", "kg", "^x"),
    ("1 m²²²", "m^2", "²²²"), ("1 m²^2", "m^4", "²^2"), ("1 m^(1/0)", "m", "^(1/0)"),
    # units that break off, or hold what does not belong there
    ("5 m/s.", "m/s", "."), ("5 m/s,", "m/s", ","), ("5 m/s;", "m/s", ";"), ("5 N!", "N", "!"),
    ("5 N?", "N", "?"), ("5 [N]", "N", "[N]"), ("5 <N>", "N", "<N>"), ("5 {N}", "N", "{N}"),
    ('5 "N"', "N", '"N"'), ("5 N/", "N", ""), ("5 N*", "N", ""), ("5 N^", "N", "^"),
    ("5 N//m", "N/m", "/m"), ("5 N***m", "N*m", "***m"), ("5 (N", "N", ""), ("5 N)", "N", ")"),
    ("5 N*(m", "N*m", ""), ("5 ()", "", ")"), ("5 N m)", "N*m", ")"), ("5 $", "", "$"),
    ("5 N # load", "N", "#"), ("5 N\\m", "N/m", "\\m"), ("5 N|m", "N*m", "|m"),
    ("5 N\N{ZERO WIDTH SPACE}m", "N*m", "\N{ZERO WIDTH SPACE}m"), ("5 N÷m", "N/m", "÷m"),
    ("5 N:m", "N/m", ":m"), ("5 N-m", "N*m", "-m"), ("5 J/kg K", "J/(kg*K)", "K"),
    ("5 N/m s", "N*s/m", "s"), ("5 N(m)", "N*m", "(m)"), ("5 m^2.5.5", "m^2", ".5"),
    ("5 Ym^20", "m^20", None),
    # names that do not exist or mean something else
    ("5 kgs", "kg", "kgs"), ("5 Kg", "kg", "Kg"), ("5 KG", "kg", "KG"), ("5 Nm", "N*m", "Nm"),
    ("5 kNm", "N*m", "kNm"), ("5 Ns/m", "N*s/m", "Ns"), ("5 m2", "m^2", "m2"),
    ("5 foo", "N", "foo"), ("5 кг", "kg", "кг"), ("5 kmh", "m/s", "kmh"), ("5 dB", "", "dB"),
    ("5 ㎏", "kg", "㎏"), ("5 m per s", "m/s", "per"), ("5 square m", "m^2", "square"),
    ("5 __class__", "", "__class__"), ("5 inf", "", "inf")]  # fmt: skip


def test_the_table_holds_two_hundred_texts_and_each_once():
    texts = [row[0] for row in GOOD + BAD]
    assert len(texts) == len(set(texts)) >= 200


def test_a_text_is_read_as_the_value_it_says():
    wrong = []
    for text, declared, si in GOOD:
        try:
            found = to_si(text, unit(declared)), quantity(text).to_base_units().magnitude
        except UnitError as refused:
            found = refused
        wanted = (pytest.approx(si, rel=1e-12, abs=1e-300),) * 2
        wrong += [(text, found, wanted)] * (found != wanted)
    assert wrong == []


@pytest.mark.parametrize(("text", "declared", "piece"), BAD)
def test_a_text_is_refused_with_the_piece_that_is_not_understood(text, declared, piece):
    with pytest.raises(UnknownUnit) as caught:
        to_si(text, unit(declared), "box.load")
    if piece is not None:
        assert caught.value.piece == piece
        assert repr(piece)[1:-1] in str(caught.value)
    assert str(caught.value).startswith("box.load: ")
    assert caught.value.advice
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["nan N", "inf N", "-inf N"])
def test_a_number_that_is_none_is_left_to_whoever_needs_a_finite_one(text):
    assert not np.isfinite(to_si(text, unit("N")))


def test_what_our_own_tables_and_quantities_print_is_read_back():
    for text in ("N*s/m", "m/s^2", "kg*m^2", "1/s", "rpm", "degC", "delta_degC", "%", "ohm",
                 "W/(m^2*K)", "m^0.5", "N*m/rad"):  # fmt: skip
        for shape in ("{:~P}", "{:~C}", "{:~}", "{:P}", "{:C}", "{}"):
            shown = shape.format(unit(text).pint)
            assert unit(shown) == unit(shown.strip())
            assert unit(shown).dimension == unit(text).dimension
            assert unit(shown).factor == pytest.approx(unit(text).factor)
            value = to_si(shape.format(quantity(2.5, text)), unit(text))
            assert value == pytest.approx(to_si(quantity(2.5, text), unit(text)))


@pytest.mark.parametrize(("text", "shown"), [
    ("N*m", "N·m"), ("m*N", "N·m"), ("s*V/rad", "V·s/rad"), ("W/(m^2*K)", "W/m²/K"),
    ("J/(kg*K)", "J/kg/K"), ("m^2*kg", "kg·m²"), ("A*h", "A·h"), ("s*Pa", "Pa·s"),
    ("m*ohm", "Ω·m"), ("N*s*m/rad", "N·m·s/rad")])
def test_units_print_in_the_order_in_which_engineers_write_them(text, shown):
    assert f"{quantity(1, text):~P}" == f"1 {shown}"


# -- texts made to hang or to blow up ----------------------------------------------------

BOMBS = [
    "9**9**9**9 N", "1 N**9**9**9", "1 N^9^9^9^9", "9e9e9 N", "1e999999999 N", "1 N^1e308",
    "1 N^(9999999999)", "1 N^" + "9" * 100000, "9" * 1000000, "9" * 1000000 + " N",
    "1 " + "m" * 1000000, "m" * 1000000, "1 " + "kg*" * 300000, "1 " + "kg*" * 300000 + "kg",
    "1 " + "(" * 100000 + "N" + ")" * 100000, "1 " + "(" * 90 + "N" + ")" * 90, "(" * 1000000,
    "[" * 1000000, "{" * 1000000, "-" * 1000000, " " * 1000000 + "x", "1" + " " * 1000000 + "x",
    "1 N" + "^2" * 90, "1 N" + "²" * 190, "1 " + "N/" * 90, "1 " + "N " * 90 + "!", "1 Ym" + "^20",
    "1 " + "*".join(["Ym"] * 60), "1 " + "/".join(["ym"] * 60), "1 " + "a" * 190,
    "1 " + "kilo" * 40 + "gram", "\0" * 1000, "1 N\0", "1e9" + "0" * 180 + "1 N",
    "__import__('os').getcwd()", "1 __import__('os')", "1 lambda: 0", "1 N if 1 else N",
    "1 os.system", "f'{1}' N", "1 {0.__class__}", "%99999999d N"]  # fmt: skip


@pytest.mark.parametrize("text", BOMBS, ids=range(len(BOMBS)))
def test_a_text_made_to_hang_is_refused_in_few_words_and_never_read_by_pint(text, monkeypatch):
    newton = unit("N")

    def evaluated(*_, **__):
        raise AssertionError("pint was given a text")

    for name in ("parse_expression", "parse_units"):
        monkeypatch.setattr(pint.UnitRegistry, name, evaluated)
    monkeypatch.setattr(pint.util.ParserHelper, "from_string", evaluated)
    with pytest.raises(UnitError) as caught:
        to_si(text, newton, "box.load")
    assert len(str(caught.value)) < 400
    for call in (lambda: unit(text), lambda: quantity(text), lambda: quantity(text, "N"),
                 lambda: quantity([text], "N"), lambda: quantity(np.array([text]), "N")):
        with pytest.raises(UnitError):
            call()


def test_the_grammar_knows_names_and_powers_only():
    assert number_and_unit("−2.5e3 kN·m/s²") == (-2500.0, "kN·m/s²")
    assert factors_of("kN·m/s²") == {"kN": 1, "m": 1, "s": -2}
    assert factors_of("a/(b/c^2)^-1.5") == {"a": 1, "b": 1.5, "c": -3}
    assert factors_of("m/m") == {}


def test_two_names_of_one_unit_are_one_unit():
    assert to_si("3 m*meter/metre^2", unit("")) == 3
    assert to_si("3 m*meter", unit("m^2")) == 3
    assert to_si("3 kN*m/meter", unit("N")) == 3000


@pytest.mark.parametrize("given", [5, None, ["m"], {"m": 1}, b"m", object()], ids=range(6))
def test_a_unit_that_is_no_text_is_refused(given):
    with pytest.raises(UnknownUnit, match="is not a unit"):
        unit(given)


def test_a_number_without_unit_is_refused_where_one_is_needed():
    with pytest.raises(MissingUnit, match="Write '7 N' if that is what you mean"):
        to_si("7", unit("N"), "box.load")


def test_random_texts_are_read_or_refused_and_nothing_else():
    source = np.random.default_rng(7)
    pieces = ["5", "-3", "1e3", ".5", "−1", "N", "m", "kg", "s", "mm", "rad", "Hz", "degC", "%",
              "°", "delta_degC", "*", "/", "^", "**", "(", ")", " ", "·", "²", "⁻¹", "2", "(1/2)",
              ".", ",", "kN", "Nm", "–", "[", "{", "}", "pi", "dB", "+", "\n", "½", "é", "_", "'",
              "\0"]  # fmt: skip
    read = 0
    for _ in range(4000):
        text = "".join(source.choice(pieces, source.integers(1, 8)))
        try:
            assert isinstance(quantity(text).magnitude, float)
            read += 1
            assert not set(text) & set("{}[]'½–\0")
        except UnitError as error:
            assert len(str(error)) < 400
    assert read > 100


def test_a_wrong_unit_of_many_names_is_refused_at_once():
    names = "N m s g A V W J K F H T C S Pa bar mol rad deg mm cm km um ms us kg mg kN mN kW mV"
    for other in ("t", "nm", "ns"):
        with pytest.raises(UnitError) as caught:
            to_si(f"1 {other}*{'*'.join(names.split())}", unit("N"), "box.load")
        assert len(str(caught.value)) < 400
