"""Texts in MATLAB's language mean what they mean there, and nothing is run."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from library.simscape.file.workspace import Workspace
from library.simscape.matlab.python_text import python_of
from library.simscape.matlab.scripts import Assign, Load, Run, parse_script
from library.simscape.matlab.syntax import Name, NotUnderstood, parse
from library.simscape.matlab.values import Unknown, evaluate, free_names

NAMES = {"a": np.array([[4.0, 5.0, 6.0]]), "p": {"cell": {"R": 3.0}}, "x": 3.0, "D": 2.0, "m": 5.0}


@pytest.mark.parametrize(("text", "value"), [
    ("60", 60), ("1e-3", 1e-3), (".5", 0.5), ("2d3", 2000), ("-2^2", -4), ("2^-2", 0.25),
    ("-2^-2", -0.25), ("2^3^2", 64), ("3.^2", 9), ("16/1200", 16 / 1200), ("1-2-3", -4),
    ("-(3+4)*2", -14), ("pi*D^2/4", np.pi), ("-inf", -np.inf), ("true", 1), ("~x", 0),
    ("x ~= 3", 0),
    ("x >= 3 && D < 3", 1), ("p.cell.R*2", 6), ("a(2)", 5), ("a(1, 3)", 6), ("a(:)'", [4, 5, 6]),
    ("[1 -2]", [1, -2]), ("[1 - 2]", -1), ("[1, 2;3 4]'", [[1, 3], [2, 4]]), ("[a' a']", None),
    ("[1 2]*1e-3", [1e-3, 2e-3]), ("1:3", [1, 2, 3]), ("0:.1:.3", [0, 0.1, 0.2, 0.3]),
    ("[0:2]'/2", [[0], [0.5], [1]]), ("linspace(0,1,3)", [0, 0.5, 1]),
    ("ones(2)", [[1, 1], [1, 1]]),
    ("max(1, x)", 3), ("min(a)", 4), ("sqrt(4) + abs(-1)", 3), ("value(x, 'mm')", 3),
    ("[1 2] .* [3 4]", [3, 8]), ("[1 2] * [3; 4]", 11), ("12 % a comment", 12),
    ("[1,2,...\n 3]", [1, 2, 3]), ("a(a > 4)", [5, 6]), ("a(a > 1)", [4, 5, 6]), ("a(~[1 0 1])", 5),
    ("cat(1, a, 2*a)", [[4, 5, 6], [8, 10, 12]]), ("vertcat(1, 2)", [[1], [2]]),
    ("horzcat(a, 7)", [4, 5, 6, 7]), ("cumtrapz([0 1 3], [2 4 4])", [0, 3, 11]),
    ("trapz([0 1 3], [2 4 4])", 11), ("round(polyfit([0 1 2], [1 3 7], 2), 9)", [1, 1, 1]),
    ("[1\n2]", [[1], [2]]), ("int32(1)", 1), ("'on'", "on"), ("sum(1:4)", 10),
    ("repmat(1, 1, 2)", [1, 1]), ("0.35/1000", 0.35 / 1000), ("5e-1", 0.5)])
def test_an_expression_has_its_value(text, value):
    found = evaluate(parse(text), NAMES)
    if isinstance(value, str):
        assert found == value
    elif value is not None:
        assert_allclose(np.squeeze(found), np.squeeze(value), rtol=1e-15)


@pytest.mark.parametrize(("text", "python"), [
    ("0.5*rho*Cd", "0.5 * rho * Cd"), ("2^-2", "2**-2"), ("(a+b)*c", "(a + b) * c"), ("-L", "-L"),
    ("-(a+b)", "-(a + b)"), ("a-(b-c)", "a - (b - c)"), ("a/(b*c)", "a / (b * c)"),
    ("a*b/c", "a * b / c"), ("(2^3)^2", "(2**3)**2"), ("pi*D^2/4", "np.pi * D**2 / 4"),
    ("sqrt(k/m)", "np.sqrt(k / m)"), ("p.cell.R", "p_cell_R"), ("a(2)", "a[1]"),
    ("[1 2]*k", "np.array([1, 2]) * k"), ("[1 2; 3 4]", "[[1, 2], [3, 4]]"), ("'on'", "'on'"),
    ("max(a, 0)", "max(a, 0)"), ("-2^2", "-2**2"), ("value(x,'m')", "x")])
def test_an_expression_is_written_as_python(text, python):
    assert python_of(parse(text), lambda path: path.replace(".", "_")) == python


@pytest.mark.parametrize("text", ["0.5*m*x^2", "-(x-m)/D", "x-(m-D)-1", "(x^2)^D", "-x^2",
                                  "x/(m/D)", "max(x, m)*sqrt(D)", "1e-3*(x+m)",
                                  "-x*-m"])  # fmt: skip
def test_the_python_text_has_the_same_value(text):
    python = python_of(parse(text), str)
    assert_allclose(eval(python, {"np": np, **NAMES}), evaluate(parse(text), NAMES), rtol=1e-15)


@pytest.mark.parametrize(
    "text", ["1+", "(1", "[1", "a b", "'x", "1e", "$", "", "f(1", "{1", "a..b"])
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(NotUnderstood):
        parse(text, "block.mass")


def test_a_deep_or_huge_expression_is_refused():
    with pytest.raises(NotUnderstood):
        parse("(" * 3000 + "1" + ")" * 3000)
    with pytest.raises(NotUnderstood):
        parse("-" * 5000 + "1")
    with pytest.raises(NotUnderstood, match="large"):
        evaluate(parse("ones(1e9)"), {})
    with pytest.raises(NotUnderstood, match="large"):
        evaluate(parse("1:1e9"), {})


@pytest.mark.parametrize("text", ["system('ls')", "eval('1')", "__import__", "fopen(1)"])
def test_nothing_is_run(text):
    with pytest.raises((Unknown, NotUnderstood)):
        evaluate(parse(text), {})


def test_an_index_that_may_be_a_condition_is_refused():
    with pytest.raises(NotUnderstood, match="may be a condition"):
        evaluate(parse("a(found)"), NAMES | {"found": np.ones((1, 3))})


def test_names_without_a_value_are_told():
    with pytest.raises(Unknown, match="kt has no value") as caught:
        evaluate(parse("2*kt"), {}, "motor.K")
    assert caught.value.name == "kt"
    assert list(free_names(parse("2*kt + p.R*sqrt(x) + pi"))) == ["kt", "p", "x"]


def test_statements_of_a_script():
    script = parse_script("""
        %% values
        m = 3.6; % kg
        if ~exist('L','var') L = 0.2; end % [m]
        load Data\\p.mat
        p.cell.R = 1e-3;
        init
        loadTorque = 5; load_system('m');
        clear all; close all
        T = [1 2
             3 4]; y = 3
        for i = 1:3
            z(i) = 2;
        end
        if m > 3, q = 2; else q = 3; end
        A = pi*m^2/4;
    """)
    values = {s.target.name: s for s in script if isinstance(s, Assign) and isinstance(
        s.target, Name)}  # fmt: skip
    assert list(values) == ["m", "L", "loadTorque", "T", "y", "A"]
    assert [s for s in script if isinstance(s, Load)] == [Load("Data/p.mat")]
    assert values["m"].comment == "kg"
    assert values["L"].if_missing and values["L"].comment == "[m]"
    assert_allclose(evaluate(values["T"].value, {}), [[1, 2], [3, 4]])
    assert Load("Data/p.mat") in script and Run("init") in script
    assert [s.names for s in [s for s in script if hasattr(s, "names")]] == [("z",), ("q",)]


@pytest.mark.parametrize(("script", "value"), [
    ("u = -3; if u < 0, r = 2.6; u = abs(u); end; q = r", 2.6),
    ("u = 3; r = 1; if u < 0\n r = 2.6;\nend\nq = r", 1),
    ("u = 2; if u == 1, q = 1; elseif u == 2, q = 2; else, q = 3; end", 2),
    ("u = 5; if (u == 1) q = 1; elseif u == 2 q = 2; else q = 3; end", 3),
    ("u = 2; if u > 1\n if u > 3\n q = 4;\n else\n q = 5;\n end\nelse\n q = 6;\nend", 5),
    ("u = 2; if u > 3\n for k = 1:2\n q = 4;\n end\nelse if u > 1, q = 7; end\nend", 7),
    ("q = 1; if [1 0], q = 2; end; if [], q = 3; end", 1),
    ("q = 1; if strange > 2, q = 2; end", None),  # then it is not known what q is
    ("q = 1; if 1 > 0, for k = 1:2, q = k; end; end", None)])
def test_an_if_does_what_its_values_say(script, value):
    space = Workspace([])
    space.run(parse_script(script), "values.m")
    assert space.values.get("q") == value
    assert ("q" in space.unread) == (value is None)


def test_what_an_if_has_given_says_so():
    space = Workspace([])
    space.run(parse_script("u = 2; if u > 1, q = 5; end"), "values.m")
    assert (space.lines["q"].text, space.lines["q"].comment) == ("5", "as u > 1")


def test_a_script_ends_at_its_return():
    assert [s.value.value for s in parse_script("a = 1;\nreturn\nb = 2;")] == [1.0]
