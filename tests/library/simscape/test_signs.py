"""Which way do sources push and meters read? A meter placed as in the file reads Simscape's sign.

What is expected is what the pages of the blocks say, and for current sources a published run of
Simscape R2022b: 1 A over a resistance, measured from the source's + to its -, reads positive.
"""

import csv
from importlib import import_module
from importlib.resources import files

import pytest
from benches import declared
from simscape_corpus import built
from slx_writer import Drawn, constant, converted, note_of, solver

from blocks import Port

E = "foundation.electrical."
M = "foundation.mechanical."
T = "foundation.thermal."
SOLVER = solver()
OLD, NEW = "R2016b", "R2022b"


def two(first, second):
    return {first: "a", second: "g"}


def given(unit, value="2"):
    return constant("signal", "s", value, unit)


GROUND = Drawn(f"{E}elements.reference", "ground", {"V": "g"})
LOAD = Drawn(f"{E}elements.resistor", "load", {"p": "a", "n": "g"}, {"R": ("5", "Ohm")})
VOLTAGE = Drawn(f"{E}sensors.voltage", "meter", {"p": "a", "n": "g", "V": "out"})
TAP = Drawn(f"{E}sensors.current", "meter", {"p": "a", "n": "b", "I": "out"})
BEHIND = Drawn(f"{E}elements.resistor", "load", {"p": "b", "n": "g"}, {"R": ("5", "Ohm")})
CONTROLLED = {"p": "a", "n": "g", "vT": "s"}
SLIDE = [Drawn(f"{M}translational.reference", "ground", {"V": "g"}),
         Drawn(f"{M}translational.mass", "mass", {"M": "a"}, {"mass": ("4", "kg")})]
TURN = [Drawn(f"{M}rotational.reference", "ground", {"W": "g"}),
        Drawn(f"{M}rotational.inertia", "mass", {"I": "a"}, {"inertia": ("4", "kg*m^2")})]
COLD = [Drawn(f"{T}elements.reference", "ground", {"H": "g"}),
        Drawn(f"{T}elements.mass", "mass", {"M": "a"}, {
            "mass": ("4", "kg"), "sp_heat": ("1", "J/(kg*K)"), "T": ("300", "K", "High")})]
WARM = Drawn(f"{T}sensors.temperature", "meter", {"A": "a", "B": "g", "T": "out"})
# what is drawn, the port of the meter, and what it reads after 1 s
CASES = {
    "DC voltage": ([GROUND, LOAD, VOLTAGE, Drawn(f"{E}sources.dc_voltage", "source", two(
        "p", "n"), {"v0": ("2", "V")})], "V", 2),
    "AC voltage": ([GROUND, LOAD, VOLTAGE, Drawn(f"{E}sources.ac_voltage", "source", two(
        "p", "n"), {"amp": ("2", "V"), "shift": ("90", "deg"), "frequency": ("1", "Hz"),
                    "omega": ("0", "rad/s")})], "V", 2),
    "controlled voltage": ([GROUND, LOAD, VOLTAGE, given("V"), Drawn(
        f"{E}sources.controlled_voltage", "source", CONTROLLED)], "V", 2),
    "DC current": ([GROUND, LOAD, VOLTAGE, Drawn(f"{E}sources.dc_current", "source", two(
        "p", "n"), {"i0": ("2", "A")})], "V", 10),
    "AC current": ([GROUND, LOAD, VOLTAGE, Drawn(f"{E}sources.ac_current", "source", two(
        "p", "n"), {"amp": ("2", "A"), "shift": ("90", "deg"), "frequency": ("1", "Hz")})],
        "V", 10),
    "DC current of the electrical library": ([GROUND, LOAD, VOLTAGE, Drawn(
        "ee.sources.current_source", "source", two("p", "n"), {
            "dc_current": ("2", "A"), "ac_current": ("0", "A")})], "V", 10),
    "AC current of the electrical library": ([GROUND, LOAD, VOLTAGE, Drawn(
        "ee.sources.current_source", "source", two("p", "n"), {
            "dc_current": ("0", "A"), "ac_current": ("2", "A"), "ac_shift": ("90", "deg"),
            "ac_frequency": ("1", "Hz")})], "V", 10),
    "controlled current": ([GROUND, LOAD, VOLTAGE, given("A"), Drawn(
        f"{E}sources.controlled_current", "source", {"head": "a", "tail": "g", "iT": "s"})],
        "V", 10),
    "current sensor": ([GROUND, TAP, BEHIND, Drawn(f"{E}sources.dc_voltage", "source", two(
        "p", "n"), {"v0": ("10", "V")})], "I", 2),
    "force": ([*SLIDE, given("N"), Drawn(f"{M}sources.force", "source", {
        "R": "a", "C": "g", "S": "s"}), Drawn(f"{M}sensors.velocity", "meter", {
            "R": "a", "C": "g", "V": "out", "P": "open"})], "V", 0.5),
    "velocity and force sensor": ([SLIDE[0], given("m/s"), Drawn(
        f"{M}sources.velocity", "source", {"R": "a", "C": "g", "S": "s"}), Drawn(
            f"{M}sensors.force", "meter", {"R": "a", "C": "b", "F": "out"}), Drawn(
                f"{M}translational.damper", "load", {"R": "b", "C": "g"},
                {"D": ("3", "N*s/m")})], "F", 6),
    "torque": ([*TURN, given("N*m"), Drawn(f"{M}sources.torque", "source", {
        "R": "a", "C": "g", "S": "s"}), Drawn(f"{M}sensors.angular_velocity", "meter", {
            "R": "a", "C": "g", "W": "out", "A": "open"})], "W", 0.5),
    "speed and torque sensor": ([TURN[0], given("rad/s"), Drawn(
        f"{M}sources.angular_velocity", "source", {"R": "a", "C": "g", "S": "s"}), Drawn(
            f"{M}sensors.torque", "meter", {"R": "a", "C": "b", "T": "out"}), Drawn(
                f"{M}rotational.damper", "load", {"R": "b", "C": "g"},
                {"D": ("3", "N*m*s/rad")})], "T", 6),
    "heat": ([*COLD, WARM, given("W"), Drawn(f"{T}sources.controlled_heat_flow", "source", {
        "A": "g", "B": "a", "S": "s"})], "T", 300.5),
    "constant heat": ([*COLD, WARM, Drawn(f"{T}sources.heat_flow", "source", {
        "A": "g", "B": "a"}, {"heat_flow": ("2", "W")})], "T", 300.5),
    "temperature and heat flow sensor": ([COLD[0], given("K"), Drawn(
        f"{T}sources.controlled_temperature", "source", {"A": "g", "B": "a", "S": "s"}), Drawn(
            f"{T}sensors.heat_flow", "meter", {"A": "a", "B": "b", "H": "out"}), Drawn(
                f"{T}elements.resistance", "load", {"A": "b", "B": "g"},
                {"resistance": ("0.5", "K/W")})], "H", 4)}


@pytest.mark.parametrize("release", [OLD, NEW])
@pytest.mark.parametrize("name", CASES)
def test_a_meter_reads_the_sign_that_simscape_shows(name, release, tmp_path):
    blocks, port, expected = CASES[name]
    run = built(converted(tmp_path, [*blocks, SOLVER], release).text, tmp_path).simulate("1 s")
    assert run[f"meter.{port}"].final.m == pytest.approx(expected, rel=1e-5)


def test_a_direction_without_evidence_is_told_in_text_and_report(tmp_path):
    G = "foundation.magnetic."
    blocks = [Drawn(f"{G}elements.reference", "ground", {"M": "g"}),
              Drawn(f"{G}sources.flux", "source", {"N": "a", "S": "g"}, sides=(["N"], ["S"])),
              Drawn(f"{G}elements.reluctance", "load", {"N": "a", "S": "g"}), SOLVER]
    result = converted(tmp_path, blocks, NEW)
    assert "/source: Direction not verified: compare one sign with" in " ".join(result.text.split())
    assert "Direction not verified" in note_of(result, "/source")[1]


def rows(name):
    text = files("library.simscape.tables").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if line[:1] not in ("#", "")))


def test_every_block_with_two_sides_says_how_its_sign_is_known():
    """Also of kinds that have a counterpart for some of their choices only."""
    known = {row["path"]: row["evidence"] for row in rows("directions.csv")}
    assert set(known.values()) <= {"page", "run", "symmetric", "none"}
    two_sided = set()
    for path, here in {(row["path"].partition(" ")[0], row["here"]) for row in rows(
            "components.csv") if not row["parameter"] and row["here"]}:
        module, _, name = here.rpartition(".")
        component = getattr(import_module(f"library.{module}"), name)
        ports = [p.domain for p in declared(component).values() if isinstance(p, Port)]
        if len(ports) > len(set(ports)):
            two_sided.add(path)
    assert len(two_sided) > 100
    assert not two_sided - known.keys(), "say in directions.csv how these count"
