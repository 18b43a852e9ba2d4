"""Equations and expressions of component sources say the same here, or are refused."""

import math

import numpy as np
import pytest
from benches import wired
from scipy.interpolate import Akima1DInterpolator, RegularGridInterpolator
from test_sources import written

from blocks import BlocksError
from library.signal import Constant, Ramp
from library.simscape import source_text
from library.thermal import TemperatureSource


def law(folder, equations, declared=""):
    """The class of a component with an input u, variables a and b and the given equations."""
    return written(f"component law\ninputs\nu = {{0, '1'}};\nend\n"
                   f"variables\na = {{0, '1'}}; b = {{0, '1'}};\nend\n{declared}\n"
                   f"equations\n{equations}\nend\nend\n", folder, "law")


def run_of(part, source, duration="2 s"):
    return wired("law", "source.y part.u", part=part, source=source).simulate(duration)


def values_at(made, u, **options):
    """a and b where the input is u."""
    run = run_of(made(**options), Constant(value=u))
    return run["part.a"].final.m, run["part.b"].final.m


@pytest.mark.parametrize(("equations", "declared", "expected"), [
    # what the cases state of different things is not lost: a, b by the equations that hold
    ("if u > 1\na == 1; b == 2;\nelse\nb == 3; a + b == 10;\nend", "", [(0, {}, (7, 3)),
                                                                      (2, {}, (1, 2))]),
    ("if u > 1\nif u > 2\na == 1;\nelse\na + b == 9;\nend\nelse\na == 3;\nend\na - b == 1;", "",
     [(0, {}, (3, 2)), (1.5, {}, (5, 4)), (3, {}, (1, 0))]),
    ("if u > 1\nif u > 2\na == 1;\nelse\nb == 7;\nend\nelse\na == 3;\nend\na + b == 10;", "",
     [(0, {}, (3, 7)), (1.5, {}, (3, 7)), (3, {}, (1, 9))]),
    # three cases, the same things in another order, names within
    ("if u > 2\na == u; b == 1;\nelseif u > 1\nlet\nc = 2*u;\nin\nb == c; a == c + 1;\nend\n"
     "else\nb == 4; a == b;\nend", "", [(0, {}, (4, 4)), (1.5, {}, (4, 3)), (3, {}, (3, 1))]),
    # a name of a let holds within it
    ("let\nk = 10;\nin\nb == k*a;\nend\na == k*u;", "k = {2, '1'};",
     [(1, {}, (2, 20)), (1, {"k": 3}, (3, 30))]),
    ("let\nk = 2*j; j = u + 1;\nin\nlet\nj = 9;\nin\nb == j + k;\nend\na == j;\nend",
     "k = {2, '1'};", [(2, {}, (3, 15))]),
    # entries of an array are numbers
    ("a == k(2)*u + c(1); b == tablelookup(2*[0 1 2] + 1, -k.*[1 1 1], u);",
     "k = {[1 2 4], '1'}; c = [7; 8];", [(3, {}, (13, -2)), (3, {"k": [0, 5, 9]}, (22, -5))]),
    # a switch
    ("if f\na == 1;\nelseif u > 2\na == 2;\nelse\na == 3;\nend\n"
     "if f ~= true\nb == 4;\nelse\nb == 5; assert(u < 9);\nend", "f = true;",
     [(1, {}, (1, 5)), (1, {"f": False}, (3, 4)), (3, {"f": False}, (2, 4))])])
def test_the_equations_that_hold_are_those_of_the_source(equations, declared, expected, tmp_path):
    made = law(tmp_path, equations, f"parameters\n{declared}\nend")
    for u, given, values in expected:
        assert values_at(made, u, **given) == pytest.approx(values)


def test_an_assertion_within_an_if_is_checked_where_its_case_holds(tmp_path):
    made = law(tmp_path, "if u > 1\nassert(u < 3, 'u is large'); a == 1;\n"
                         "elseif u > 0\na == 2;\nelse\na == 3; assert(u > -1, 'u is small');\nend\n"
                         "b == 0;")
    for u, a in ((-0.5, 3), (0.5, 2), (2, 1)):
        assert values_at(made, u) == pytest.approx((a, 0))
    for u, said in ((4, "u is large"), (-2, "u is small")):
        with pytest.raises(BlocksError, match=said):
            values_at(made, u)


ARRAYS = "parameters\nk = {[1 2], '1'}; c = {3, '1'};\nend"
UNEQUAL = "unequal numbers of equations"


@pytest.mark.parametrize(("line", "equations", "declared", "said"), [
    (10, "if u > 1\na == 1; b == 2;\nelse\na == 1;\nend", "", UNEQUAL),
    (11, "a == 1;\nif u > 1\nb == 1;\nend", "", UNEQUAL),
    (12, "a == 1;\nb == 2;\nwhile u\nend", "", "'while' among equations"),
    (11, "a == 1;\nlet\nk = 2*j; j = k;\nin\nb == k;\nend", "", "follows from itself"),
    (13, "b == 0;\nder(x) == [1 2 3]*{1, '1/s'};", "variables\nx = {[1 2], '1'};\nend",
     "arrays of 2 and 3 entries are joined"),
    (13, "b == 0;\na == tablelookup([0 1], x, u);", "variables\nx = {[1 2], '1'};\nend",
     "x is asked for as a whole"),
    (13, "b == 0;\na == 1/k;", ARRAYS, "products of matrices are not read"),
    (13, "b == 0;\na == [1 2]*[3 4];", ARRAYS,
     "a product of matrices of 1×2 and 1×2 entries has no value"),
    (13, "b == 0;\nif u > 1\na == 2*k;\nelse\na == 1;\nend", ARRAYS,
     "the cases of an if have unequal numbers"),
    (13, "b == 0;\na == tablelookup([0 c], k, u);", ARRAYS,
     "an array of values that follow from others is not read"),
    *((13, f"b == 0;\na == k({at});", ARRAYS, "an entry of k is asked for by one whole number")
      for at in "0u"),
    ("", "b == 0;\na == g;", "intermediates\ng = h + 1; h = 2*g;\nend", "g follows from itself"),
    *((11, f"b == 0;\na == tablelookup([0 1 2], [0 1 4], u, {words});", "", said)
      for words, said in (
          ("interpolation = spline", "interpolation of a table is spline, but linear, smooth"),
          ("extrapolation = 1", "extrapolation of a table is computed, but linear, nearest"),
          ("hold = 1", "a table with hold is not known")))])
def test_what_cannot_be_read_is_refused_with_its_place(line, equations, declared, said, tmp_path):
    with pytest.raises(BlocksError, match=said) as caught:
        law(tmp_path, equations, declared)
    assert caught.value.where.startswith(f"law.ssc (line {line}")


@pytest.mark.parametrize(("condition", "otherwise"), [("u == 0", False), ("u ~= 0", True),
                                                      ("~(u ~= 0) && u == b", False)])
def test_numbers_are_equal_to_the_last_bit(condition, otherwise, tmp_path):
    """sin(u)/u with its limit at zero, as the input leaves zero and as it starts there."""
    cases = ["a == 2;", "a == sin(u)/u;"]
    first, second = reversed(cases) if otherwise else cases
    made = law(tmp_path, f"if {condition}\n{first}\nelse\n{second}\nend\nb == u;")
    run = run_of(made(), Ramp(slope="1/s", start="0.5 s"))
    for t in (0.1, 0.51, 0.9, 1.5):
        u = max(t - 0.5, 0)
        expected = math.sin(u) / u if u else 2
        assert run["part.a"].at(f"{t} s").m == pytest.approx(expected, rel=1e-9)
    for n, a in ((2.0, 5), (2.4, 6)):
        made = law(tmp_path, "if n == 2 && u < 3\na == 5;\nelse\na == 6;\nend\nb == 0;",
                   "parameters\nn = 2;\nend")
        assert values_at(made, 0, n=n)[0] == a


@pytest.mark.parametrize(("value", "expected"), [  # the port is at 300 K
    ("value(A.T, 'degC')", 26.85), ("value(A.T, 'degC', 'affine')", 26.85),
    ("value(A.T, 'degF', 'absolute')", 80.33), ("value(A.T, 'degC', 'linear')", 300),
    ("value(A.T - T, 'deltaK')", 290), ("value(T, 'K')", 10), ("value(C, 'K')", 283.15),
    ("value(C, 'K', 'linear')", 10), ("value({value(C, 'degC') + 1, 'degC'}, 'K')", 284.15),
    ("value({2*value(C, 'degC'), 'degF'} - {20, 'degF'}, 'deltaC')", 0),
    ("2*{value(T, 'K') + 1, '1'}", 22), ("value(A.T - {20, 'degC'}, 'K')", 6.85)])
def test_a_temperature_is_a_number_in_a_unit(value, expected, tmp_path):
    made = written("component law\nnodes\nA = foundation.thermal.thermal;\nend\n"
                   "parameters\nT = {10, 'K'}; C = {10, 'degC'};\nend\n"
                   "variables\nQ = {0, 'W'}; y = {0, '1'};\nend\nbranches\nQ : A.Q -> *;\nend\n"
                   f"equations\nQ == {{0, 'W'}};\ny == {value};\nend\nend\n", tmp_path, "law")
    model = wired("law", "part.A room.A", part=made(), room=TemperatureSource(temperature="300 K"))
    assert model.simulate("1 s")["part.y"].final.m == pytest.approx(expected, abs=1e-9)


def test_a_computed_parameter_has_its_unit(tmp_path):
    made = law(tmp_path, "a == value(R, 'kOhm'); b == value(C, 'K') + x;",
               "parameters\nk = {2, '1'}; x = -3; angle = {pi/2, 'rad'}; twice = 2*k;\nend\n"
               "parameters (Access = private)\nR = {1000*k, 'Ohm'}; C = {k + 1, 'degC'};\nend")
    assert values_at(made, 0) == pytest.approx((2, 273.15))
    assert values_at(made, 0, k=4, x=1) == pytest.approx((4, 279.15))
    assert made(angle="1 rad").angle.m == 1
    assert "twice follows from other parameters and cannot be given." in made.__doc__
    assert "R follows" not in made.__doc__


COMPOSITE = """component composite
    nodes p = foundation.electrical.electrical; n = foundation.electrical.electrical; end
    parameters k = {4, '1'}; m = {200, 'g'}; end
    parameters (Access = private) R = {2*k, 'Ohm'}; end
    components r1 = foundation.electrical.elements.resistor(R = R);
        r2 = foundation.electrical.elements.resistor(R = {k + 1, 'Ohm'});
        r3 = foundation.electrical.elements.resistor(R = {value(m, 'kg'), 'kOhm'});
        r4 = foundation.electrical.elements.resistor(R = {log10(k), 'Ohm'}); end
    connections
        connect(p, r1.p); connect(r1.n, r2.p); connect(r2.n, r3.p); connect(r3.n, r4.p);
        connect(r4.n, n); end
end"""


def test_values_of_parts_are_computed_from_parameters(tmp_path):
    made = written(COMPOSITE, tmp_path, "composite")()
    found = [made[name].resistance.to("ohm").m for name in ("r1", "r2", "r3", "r4")]
    assert found == pytest.approx([8, 5, 200, math.log10(4)])


@pytest.mark.parametrize(("equations", "value"), [
    ("a == if u > 1, 2*u else 3 end; b == 0;", lambda u: (2 * u if u > 1 else 3, 0)),
    ("b == 0; a == 1 + if u > 2\n4\nelseif u > 1\n5\nelse\n6\nend*2;",
     lambda u: (1 + 2 * (4 if u > 2 else 5 if u > 1 else 6), 0)),
    ("let\nc = if u > 2, 4 else if u > 1, 5 else 6 end end;\nin\na == c; b == c;\nend",
     lambda u: 2 * (4 if u > 2 else 5 if u > 1 else 6,)),
    ("a == if o == my.one, u else -u end + 1; b == if o == my.two, 1 elseif u > 1, 2 else 3 end;",
     lambda u: (u + 1, 2 if u > 1 else 3)),
    # functions that others say
    ("a == ceil(u); b == fix(u);", lambda u: (np.ceil(u), np.fix(u))),
    ("a == round(2*u); b == rem(u, 1);", lambda u: (np.floor(2 * u + 0.5), np.fmod(u, 1))),
    ("a == power(u, 2); b == hypot(u, 2) + 1;", lambda u: (u**2, np.hypot(u, 2) + 1)),
    ("a == 2*minus(u, 1); b == if xor(u > 0, u > 1), 4 else 5 end;",
     lambda u: (2 * (u - 1), 4 if 0 < u <= 1 else 5)),
    ("a == if not(or(lt(u, 0), ge(u, 2))), 4 else 5 end; b == 0;",
     lambda u: (4 if 0 <= u < 2 else 5, 0))])
def test_values_are_those_of_their_cases_and_functions(equations, value, tmp_path):
    made = law(tmp_path, equations, "parameters\no = my.one;\nend")
    for u in (-1.3, 0.5, 0.6, 1.3, 1.5, 2.4, 2.5):
        assert values_at(made, u) == pytest.approx(value(u))


@pytest.mark.parametrize("action", ["Action = simscape.enum.assert.action.warn",
                                    "Action = simscape.enum.assert.action.none", "Warn = true"])
def test_an_assertion_that_only_warns_stops_no_run(action, tmp_path):
    made = law(tmp_path, f"a == u; b == 0; assert(u < 1, 'u is large', {action});")
    assert values_at(made, 5) == (5, 0)
    assert "Not checked here, as it stops no run there: u is large." in made.__doc__
    made = law(tmp_path, "a == u; b == 0; assert(u < 1, 'u is large', "
                         "Action = simscape.enum.assert.action.error);")
    with pytest.raises(BlocksError, match="u is large"):
        values_at(made, 5)


def test_arrays_that_follow_from_others_are_read_by_entries(tmp_path):
    made = law(tmp_path, "der(x) == -{1, '1/s'}*rate'.*x; a == sum(x); b == rate(3) + numel(x);",
               """parameters
w = {[1 2 4], '1'}; high = {3, '1'};
end
intermediates
rate = w.*[2 high/2 1];
end
variables
x = {value = {[1; 2; 3], '1'}, priority = priority.high};
end""")
    run = run_of(made(), Constant(value=0))
    assert run["part.a"].final.m == pytest.approx(
        math.exp(-4) + 2 * math.exp(-6) + 3 * math.exp(-8), rel=1e-4)
    assert run["part.b"].final.m == 7
    with pytest.raises(BlocksError, match="w must have 3 entries"):
        run_of(made(w=[1, 2]), Constant(value=0))


def test_products_and_functions_of_arrays_have_their_values(tmp_path):
    made = law(tmp_path, "a == [1 2]*[3; 4] + max(k) - min([4 5 u]); b == sum(x); x == 2*u;",
               "parameters\nk = {[1 2], '1'};\nend\nvariables\nx = {[0 0 0], '1'};\nend")
    assert values_at(made, 3) == pytest.approx((11 + 2 - 3, 18))
    made = law(tmp_path, "b == M(2,1)*u; [a; a]*2 == M*[u; 1] + [0; s*u] - [2; 4]; s == -1;",
               "parameters\nM = {[2 2; 3 4], '1'};\nend\nvariables\ns = {0, '1'};\nend")
    with pytest.raises(BlocksError, match=r"2\*a == M_0\*u \+ M_1 - 2\n"
                                          r" +2\*a == M_2\*u \+ M_3 \+ s\*u - 4"):
        values_at(made, 1)


def test_an_assertion_that_is_not_understood_is_told_and_the_rest_is_read(tmp_path):
    made = law(tmp_path, "assert(all(sort(k) > 0), 'k must rise'); a == k(2); b == u;",
               "parameters\nk = {[1 2 3], '1'};\nend")
    assert values_at(made, 5) == (2, 5)
    model = wired("law", part=made())
    assert any("Not checked here: k must rise (law.ssc (line 12): sort(…) is not known here)."
               in " ".join(finding.problem.split()) for finding in model.check().warnings)


def test_a_delay_and_an_integral(tmp_path):
    made = law(tmp_path, "a == delay(u, tau, History = 5, MaximumDelay = {9, 's'}) + delay(u, tau);"
                         "b == value(integ(2*u), 's') + value(integ(u*v, tau)/v, 's');",
               "parameters\ntau = {0.5, 's'}; v = {3, 'V'};\nend")
    run = run_of(made(), Ramp(slope="1/s"))
    for t in (0.2, 0.7, 1.6):
        before = max(t - 0.5, 0)
        assert run["part.a"].at(f"{t} s").m == pytest.approx(2 * before if t > 0.5 else 5)
        expected = t**2 + (t**2 - before**2) / 2
        assert run["part.b"].at(f"{t} s").m == pytest.approx(expected, rel=1e-5)


def test_functions_of_other_sources_are_written_out(tmp_path):
    for name, text in {
            "ratio": "out = ratio(a, b)\n% of two numbers\ndefinitions\nout = half(a)/more;\n"
                     "more = b + 1;\nend", "half": "y = half(x)\ndefinitions\ny = x/2;\nend",
            "again": "y = again(x)\ndefinitions\ny = again(x);\nend", "two": "[y, z] = two(x)",
            "turn": "y = turn(x)\ndefinitions\ny = z; z = y;\nend"}.items():
        (tmp_path / f"{name}.ssc").write_text(f"\nfunction {text}\nend\n")
    made = law(tmp_path, "a == 3*my.pack.ratio(u + 1, b); b == half(more);",
               "parameters\nmore = 6;\nend")
    assert values_at(made, 3) == pytest.approx((3 * (4 / 2) / (3 + 1), 3))
    for text, said in (("half(u, 1)", "takes 1 values, but is given 2"),
                       ("again(u)", "the function again calls itself"),
                       ("two(u)", "a function of several results is not read"),
                       ("turn(u)", "turn.* follows from itself")):
        with pytest.raises(BlocksError, match=said) as caught:
            law(tmp_path, f"a == {text}; b == 0;")
        assert ".ssc" in caught.value.where


# -- tables ---------------------------------------------------------------------------------------
X, Y = np.arange(5.0), np.arange(5.0) ** 2
GRID = np.array([[0.0, 1.0, 4.0], [2.0, 2.0, 8.0], [3.0, 7.0, 1.0]])


def in_grid(u, held=False):
    """The value at (u, 3 - u) of the table GRID over 0, 1, 2 and 1, 2, 3."""
    at = np.clip([u, 3 - u], [0, 1], [2, 3]) if held else [u, 3 - u]
    return float(RegularGridInterpolator([np.arange(3.0), np.arange(1.0, 4.0)], GRID,
                                         bounds_error=False, fill_value=None)(at)[0])


@pytest.mark.parametrize(("words", "curve"), [
    *((words, lambda u: np.interp(u, X, Y) if u < 4 else 16 + 7 * (u - 4))
      for words in ("", ", extrapolation = linear")),
    (", interpolation = linear, extrapolation = nearest", lambda u: np.interp(u, X, Y)),
    *((f", interpolation = {smooth}, extrapolation = {nearest}",
       lambda u: Akima1DInterpolator(X, Y, method="makima")(min(u, 4))) for smooth, nearest in (
        ("smooth", "nearest"),
        ("simscape.enum.interpolation.smooth", "simscape.enum.extrapolation.nearest")))])
def test_a_table_is_read_as_it_says(words, curve, tmp_path):
    made = law(tmp_path, f"a == tablelookup([0 1 2 3 4], y, u{words}); b == 0;",
               "parameters\ny = [0 1 4 9 16];\nend")
    for u in (0.4, 1.5, 3.7, 5.0):
        assert values_at(made, u)[0] == pytest.approx(float(curve(u)))


@pytest.mark.parametrize("held", [False, True])
def test_a_table_of_two_axes_is_read(held, tmp_path):
    words = ", extrapolation = nearest" if held else ""
    made = law(tmp_path, f"a == tablelookup(x, [1 2 3], f, u, b{words}); b == 3 - u;",
               "parameters\nx = {[0 1 2], '1'}; f = {[0 1 4; 2 2 8; 3 7 1], '1'};\nend")
    for u in (0.3, 1.5, 1.9, *((2.5,) if held else ())):
        assert values_at(made, u)[0] == pytest.approx(in_grid(u, held))


@pytest.mark.parametrize(("table", "end"), [
    ("tablelookup([0 1 2], [0 1 4], u, interpolation = smooth, extrapolation = error)", 2),
    ("tablelookup([0 1 2], [0 1.5], [0 1; 2 3; 4 5], u, u, extrapolation = error)", 1.5)])
def test_a_table_that_ends_stops_the_run(table, end, tmp_path):
    part = law(tmp_path, f"a == {table}; b == 0;")()
    with pytest.raises(BlocksError, match="a table ends here") as caught:
        run_of(part, Ramp(slope="1/s"), "3 s")
    assert caught.value.time == pytest.approx(end, abs=1e-6)


def test_a_table_whose_points_do_not_increase_is_refused(tmp_path):
    made = law(tmp_path, "a == tablelookup(x, [0 1 4], u); b == 0;",
               "parameters\nx = {[0 1 2], '1'};\nend")
    with pytest.raises(BlocksError, match="the points 'x' must increase"):
        values_at(made, 1, x=[2, 1, 0])


# -- what options choose ------------------------------------------------------------------------
@pytest.mark.parametrize(("condition", "holds_at"), [
    ("o == my.one", {"one"}), ("my.one == o", {"one"}), ("~(o == my.one)", {"two", "other"}),
    ("o ~= my.one", {"two", "other"}), ("o == my.one || o == my.two", {"one", "two"}),
    ("~(o == my.one || o == my.two)", {"other"}), ("~(o == my.one) && o ~= my.two", {"other"}),
    ("u > 0 && o == my.two", {"two"}), ("o == my.two && u > 0", {"two"}),
    ("o == my.two && u < 0 || o == my.one", {"one"}), ("~(o == my.two && u > 0)", {"one", "other"}),
])  # fmt: skip
def test_options_choose_equations(condition, holds_at, tmp_path):
    made = law(tmp_path, f"b == 0;\nif {condition}\na == 1;\nelse\na == 2;\nend\n"
                         "if o == my.one || o == my.two\nend", "parameters\no = my.one;\nend")
    for option in ("one", "two", "other"):
        assert values_at(made, 1, o=option)[0] == (1 if option in holds_at else 2)
    with pytest.raises(BlocksError, match="there is no 'three' among its choices"):
        made(o="three")


def test_values_that_many_options_choose_are_written_once(tmp_path):
    """Twelve shapes, each with factors that are declared under it; one without the second."""
    shapes = [f"s{k}" for k in range(12)]
    sections = "".join(
        f"{'elseif' if k else 'if'} shape == my.{shape}\nparameters (Access = private)\n"
        f"g = {k + 2}*k; h = {{{k}, 'm'}};\nend\n" for k, shape in enumerate(shapes))
    more = "".join(f"if shape == my.{shape}\nintermediates\nf = {k}*k;\nend\nend\n"
                   for k, shape in enumerate(shapes[:5]))
    made = law(tmp_path, "a == g; b == value(2*h, 'm');\nif shape == my.s3\n"
                         "assert(f > 8, 'f is small');\nend",
               f"parameters\nshape = my.s0; k = {{1, '1'}};\nend\n{sections}end\n{more}")
    for k in (0, 5, 11):
        assert values_at(made, 0, shape=f"s{k}", k=3) == pytest.approx((3 * (k + 2), 2 * k))
    assert values_at(made, 0, shape="s3", k=3) == pytest.approx((15, 6))
    with pytest.raises(BlocksError, match="f is small"):  # 3 k is not
        values_at(made, 0, shape="s3", k=2)
    assert len((tmp_path / "law.py").read_text()) < 3000


def test_a_long_law_without_brackets_and_a_long_sentence_keep_to_the_width(tmp_path):
    names = [f"a_coefficient_of_the_law_of_the_cell_{k}" for k in range(4)]
    declared = "\n".join(f"{name} = {{{k + 1}, '1'}};" for k, name in enumerate(names))
    said = "This cell is of the older kind and is kept for models that have it: take the new one."
    made = written(
        f"component cell\nparameters\n{declared}\nend\noutputs\ny = {{0, '1'}};\nend\nequations\n"
        f"y == {' + '.join(names)};\nassert({names[0]} > 0, '{said} {said}');\nend\nend\n",
        tmp_path, "cell")
    assert max(map(len, source_text(tmp_path / "cell.ssc").splitlines())) <= 100
    assert wired("cell", cell=made()).simulate("1 s")["cell.y"].final.m == 10
