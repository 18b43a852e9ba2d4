"""Arrays and loops of component sources are what the language says of them, entry by entry."""

import numpy as np
import pytest
from benches import final, wire, wired
from benches.electrical import across, circuit
from test_sources import found_in, written

from blocks import BlocksError, Domain
from library.electrical import DCVoltageSource
from library.signal import Constant
from library.simscape import source_text
from library.simscape.__main__ import main
from library.thermal import TemperatureSource

ENDS = "nodes p = foundation.electrical.electrical; n = foundation.electrical.electrical; end"


def resistance(part):
    """What a volt between the ends of a component is, over the current that flows."""
    return 1 / abs(final(across(part, "1 V").simulate("1 s"), "source.i", "A"))


CHAIN = f"""component chain
{ENDS}
parameters N = 4; R0 = {{2, 'Ohm'}}; end
for i = 1:N
components (ExternalAccess = none) R(i) = foundation.electrical.elements.resistor(R = i*R0);
    end end
connections connect(p, R(1).p); connect(R(N).n, n); end
for i = 1:N-1
connections connect(R(i).n, R(i+1).p); end
end end"""


def test_a_chain_in_a_loop_is_the_sum_of_its_parts(tmp_path):
    made = written(CHAIN, tmp_path, "chain")
    assert resistance(made()) == pytest.approx(2 * (1 + 2 + 3 + 4))
    with pytest.raises(BlocksError, match="N is 4 here.*--set N="):
        resistance(made(N=6))


def test_a_number_that_is_given_says_how_many_parts_there_are(tmp_path):
    path = tmp_path / "chain.ssc"
    path.write_text(CHAIN)
    space = {}
    exec(source_text(path, {"N": "7"}), space)
    assert resistance(space["Chain"](R0="1 ohm")) == pytest.approx(28)
    with pytest.raises(BlocksError, match="R0 does not say how many"):
        source_text(path, {"R0": "3"})


PAIR = f"""component pair
{ENDS}
parameters M = 3; end
components few = chain(N = 2, R0 = {{1, 'Ohm'}}); many = chain(N = 2*M, R0 = {{1, 'Ohm'}});
    plain = chain(R0 = {{1, 'Ohm'}}); end
connections connect(p, few.p); connect(few.n, many.p); connect(many.n, plain.p);
    connect(plain.n, n); end end"""


def test_a_composite_says_how_many_parts_its_own_have(tmp_path):
    made = found_in(tmp_path, chain=CHAIN, pair=PAIR)
    assert {"Chain", "Chain2", "Chain6", "Pair"} <= set(made)
    assert resistance(made["Pair"]()) == pytest.approx(3 + 21 + 10)
    with pytest.raises(BlocksError, match="M is 3 here"):
        resistance(made["Pair"](M=2))


GRID = f"""component lattice
{ENDS}
parameters rows = 2; columns = 3; end
for i = 1:rows
for j = 1:columns
if j == 1
components R(i,j) = foundation.electrical.elements.resistor(R = {{6, 'Ohm'}}); end
else
components R(i,j) = foundation.electrical.elements.resistor(R = {{3*i, 'Ohm'}}); end
end end end
for i = 1:rows
connections connect(p, R(i,1).p); connect(R(i,columns).n, n); end
for j = 2:columns
connections connect(R(i,j-1).n, R(i,j).p); end
end end end"""


def test_loops_within_loops_and_conditions_on_counters(tmp_path):
    assert resistance(written(GRID, tmp_path, "lattice")()) == pytest.approx(
        1 / (1 / (6 + 2 * 3) + 1 / (6 + 2 * 6)))


BUNDLE = f"""component bundle
{ENDS}
for i = 1:3
components R(i) = foundation.electrical.elements.resistor(R = {{6, 'Ohm'}});
    S(i) = foundation.electrical.elements.resistor(R = {{3*i, 'Ohm'}}); end
end
connections CONNECTED end
end"""


@pytest.mark.parametrize(("connected", "ohms"), [
    ("connect(p, R.p); connect(R.n, S.p); connect(S.n, n);", 1 / (1 / 9 + 1 / 12 + 1 / 15)),
    ("connect(p, R.p); connect(R(1:2).n, S(2:3).n); connect(S.p, n, R(3).n);",
     1 / (1 / 6 + 1 / 12 + 1 / 15)),
    ("connect(p, [R(1).p R(2).p]); connect([R(1).n; R(2).n], n); connect(S.p, S.n, R(3).p); "
     "connect(R(3).n, n);", 3),
    ("connect(p, vertcat(R(1).p, cat(1, R(2).p, R(size(R, 2)).p)));\n"
     "connect(horzcat(R.n), transpose(S.p)); connect(reshape(S(2:3).n, 2, 1), n);\nend\n"
     "for k = 1:numel(S)-2\nconnections\nconnect(S(k).n, n);\nend\nend\nconnections",
     1 / (1 / 9 + 1 / 12 + 1 / 15)),
    ("connect(repmat(p, 1, 3), R.p); connect(R(:).n, n); connect(S(end).n, S.p, n);", 2)])
def test_arrays_are_connected_entry_with_entry_and_one_end_with_all(connected, ohms, tmp_path):
    made = written(BUNDLE.replace("CONNECTED", connected), tmp_path, "bundle")
    assert resistance(made()) == pytest.approx(ohms)


PLATE = """component plate
parameters N = 3; end
nodes cold = foundation.thermal.thermal; end
for i = 1:N
nodes H(i) = foundation.thermal.thermal; end
components K(i) = foundation.thermal.elements.resistance(resistance = {i, 'K/W'}); end
connections connect(H(i), K(i).A); connect(K(i).B, cold); end
end end"""
STACK = """component stack
parameters cells = 2; end
nodes hot = foundation.thermal.thermal; cold = foundation.thermal.thermal; end
components first = plate(N = cells); second = plate(N = cells); end
connections
    connect(hot, first.cold); connect(first.H, second.H); connect(second.cold, cold); end
end"""


def test_arrays_of_nodes_of_two_parts_are_connected_entry_with_entry(tmp_path):
    model = wired("stack", stack=found_in(tmp_path, plate=PLATE, stack=STACK)["Stack"]())
    model.source, model.sink = (TemperatureSource(temperature=t) for t in ("308 K", "300 K"))
    wire(model, "source.A stack.hot", "stack.cold sink.A")
    run = model.simulate("1 s")
    # two ways side by side, of 1 + 1 and 2 + 2 K/W
    assert abs(run["source.A.Q"].final.to("W").m) == pytest.approx(8 / 2 + 8 / 4)


WINDINGS = """component windings
parameters n = 3; turns = [2 1 4]; end
variables (Access = private) i = {zeros(n, 1), 'A'}; v = {zeros(n, 1), 'V'}; end
for k = 1:n
nodes p(k) = foundation.electrical.electrical; m(k) = foundation.electrical.electrical; end
branches i(k) : p(k).i -> m(k).i; end
equations v(k) == p(k).v - m(k).v; end
end
equations
    zeros(n-1, 1) == ([eye(n-1) zeros(n-1, 1)] - [zeros(n-1, 1) eye(n-1)])./1*(v./turns');
    0 == turns*i; end
end"""


def test_branches_in_a_loop_and_products_of_matrices(tmp_path):
    """An ideal transformer of three windings: voltages as turns, no ampere-turns left."""
    loads = written(CHAIN, tmp_path, "chain")
    model = circuit("transformer", "source.p part.p_1", "part.p_2 small.p", "part.p_3 large.p",
                    "source.n part.m_1 part.m_2 part.m_3 small.n large.n ground.V",
                    part=written(WINDINGS, tmp_path, "windings")(),
                    source=DCVoltageSource(voltage="10 V"), small=loads(R0="0.1 ohm"),
                    large=loads(R0="1.6 ohm"))
    run = model.simulate("1 s")
    np.testing.assert_allclose([final(run, f"part.v_{k}", "V") for k in (1, 2, 3)], [10, 5, 20])
    amperes = [final(run, f"part.i_{k}", "A") for k in (1, 2, 3)]
    np.testing.assert_allclose(amperes, [(5 / 1 * 1 + 20 / 16 * 4) / 2, -5, -20 / 16])


MIXER = """component mixer
inputs u = {zeros(2, 1), 'V'}; end
outputs y = {zeros(3, 1), 'V'}; s = {0, 'V'}; end
parameters A = [1 2; 3 4; 5 6]; end
equations y == A*u; s == sum(y) + max(u); end
end"""
TWICE = """component twice
inputs u = {[0; 0], 'V'}; end
outputs y = {[0; 0; 0], 'V'}; end
components inner = mixer; end
connections connect(u, inner.u); connect(inner.y, y); end
end"""


def test_vector_signals_are_one_for_each_entry(tmp_path):
    found = found_in(tmp_path, mixer=MIXER, twice=TWICE)
    model = wired("signals", "a.y plain.u_1 within.u_1", "b.y plain.u_2 within.u_2",
                  plain=found["Mixer"](), within=found["Twice"](), a=Constant(value="3 V"),
                  b=Constant(value="-1 V"))
    run = model.simulate("1 s")
    for path in ("plain", "within.inner"):
        got = [run[f"{path}.y_{k}"].final.to("V").m for k in (1, 2, 3)]
        np.testing.assert_allclose(got, [1, 5, 9])
    assert run["plain.s"].final.to("V").m == pytest.approx(15 + 3)


EARTHED = f"""component earthed
{ENDS}
components R = foundation.electrical.elements.resistor(R = {{5, 'Ohm'}}); end
connections connect(p, R.p); connect(R.n, n, *); end
end"""
ROOM = """domain room
parameters rho = {1.2, 'kg/m^3'}; end
variables p = {0, 'Pa'}; end
variables (Balancing = true) u = {0, 'm^3/s'}; end
end"""
LEAK = """component leak
nodes a = room; b = room; end
parameters R = {1, 'Pa*s/m^3'}; end
variables u = {0, 'm^3/s'}; end
branches u : a.u -> b.u; end
equations a.p - b.p == R*u; end
end"""
BOX = """component box
nodes a = room; end
parameters (Access = private) R = {10, 'Pa*s*m^-3'}*value(a.rho, 'kg/m^3'); end
components way = leak(R = R); end
connections connect(a, way.a); connect(way.b, *); end
end"""
SUPPLY = """component supply
nodes a = room; end
variables u = {0, 'm^3/s'}; end
branches u : * -> a.u; end
equations a.p == {24, 'Pa'}; end
end"""


def test_a_star_is_the_reference_of_the_domain(tmp_path):
    model = wired("earthed", "source.p part.p", "source.n part.n",
                  part=written(EARTHED, tmp_path, "earthed")(), source=DCVoltageSource())
    run = model.simulate("1 s")
    assert run["part.R.i"].final.to("A").m == pytest.approx(run["source.v"].final.to("V").m / 5)


def test_a_star_in_a_domain_of_the_users_and_a_parameter_of_the_domain(tmp_path):
    found = found_in(tmp_path, room=ROOM, leak=LEAK, box=BOX)
    model = wired("box", "box.a supply.a", box=found["Box"](),
                  supply=written(SUPPLY, tmp_path, "supply")())
    assert model.simulate("1 s")["supply.u"].final.to("m^3/s").m == pytest.approx(24 / 12)
    assert any("a.rho" in str(warning) for warning in model.check().warnings)
    assert any(isinstance(v, Domain) for v in found.values())


@pytest.mark.parametrize(("text", "said"), [
    (CHAIN.replace("N = 4;", "N = {4, 'Ohm'};"), r"line 5\).*: how often a loop repeats follows "
                                                 "from N, which has no number"),
    (CHAIN.replace("R(N).n", "R(9).n"), r"line \d+.*: an entry of R is asked for by one whole "
                                        "number from 1 on, up to 4"),
    (CHAIN.replace("1:N\n", "2:N\n"), "not every entry of R is declared"),
    (BUNDLE.replace("CONNECTED", "connect(R.p, S(1:2).p);"), "arrays of 2 and 3 entries"),
    (CHAIN.replace("N = 4;", "N = 40000;"), "loops repeat more than 10000"),
    (TWICE.replace("inner.u)", "inner.s)"), "a signal of several values and one of a single"),
    (MIXER.replace("A*u", "u*A"), "a product of matrices of 2×1 and 3×2")])
def test_what_does_not_fit_is_refused_with_its_line(text, said, tmp_path):
    with pytest.raises(BlocksError, match=said):
        found_in(tmp_path, **{"mixer": MIXER, text.split("component ")[1].split()[0]: text})


def test_the_command_says_whether_the_class_can_be_made(tmp_path, capsys):
    path = tmp_path / "chain.ssc"
    path.write_text(CHAIN)
    assert main([str(path), "--set", "N=2"]) == 0
    assert "chain.py: builds." in capsys.readouterr().out
    path.write_text(CHAIN.replace("i*R0", "R0/(N - 4)"))
    assert main([str(path)]) == 1
    assert "chain.py: does not build: Chain: its compose() raised" in capsys.readouterr().out


TABLE = """component curve
inputs u = {0, '1'}; end
outputs y = {0, '1'}; end
parameters x = {[0 1 2], '1'}; f = {[0 2 3]', '1'}; end
equations assert(length(x) == length(f), 'x and f must be as long');
    assert(numel(x) < 5, 'x is too long'); y == tablelookup(x, f, u); end
end"""


def test_an_assertion_on_lengths_leaves_them_to_what_is_given(tmp_path):
    made = written(TABLE, tmp_path, "curve")

    def run(**values):
        model = wired("curve", "source.y part.u", part=made(**values), source=Constant(value=1.5))
        return model.simulate("1 s")["part.y"].final.m

    assert run() == pytest.approx(2.5)
    assert run(x=[0, 1, 2, 3], f=[0, 4, 6, 7]) == pytest.approx(5)
    with pytest.raises(BlocksError, match="x is too long"):
        run(x=[0, 1, 2, 3, 4], f=[0, 4, 6, 7, 9])
