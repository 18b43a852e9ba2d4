"""DC motors of files meet the closed forms of what their data sheets say.

With the voltage V, the resistance R, the constant k and the damping d a motor without load turns
with w = k V/R / (k²/R + d).
"""

import numpy as np
import pytest
from benches import meets
from numpy.testing import assert_allclose
from simscape_corpus import built
from slx_writer import Drawn, converted, note_of, solver

from library.electromechanical import SeparatelyExcitedMotor
from library.simscape import add_counterpart
from library.simscape.physical import mapping

MOTOR = "ee.electromech.brushed.dc_motor"
OLD = "elec.actuators.rotational.dc_motor"
EL, ROT = "foundation.electrical.", "foundation.mechanical.rotational."
ENUM = "ee.enum."
WORDS = {"parameterization": ("circuit_param", "torque_speed", "load_speed"),
         "emf_or_torque": ("kv", "ki"), "lam_param": ("damping", "current")}
GROUPS = {"parameterization": "dcparam_option"}
VALUES = {
    "Ra": ("2", "Ohm"), "La": ("1", "mH"), "Kv": ("10", "V/krpm"), "Ki": ("0.05", "N*m/A"),
    "T_stall": ("0.5", "N*m"), "w_max": ("100", "rad/s"), "w_rated": ("80", "rad/s"),
    "P_rated": ("8", "W"), "V_rated": ("12", "V"), "J": ("1", "g*cm^2"),
    "lam": ("1e-3", "N*m/(rad/s)"), "i_noload": ("0.3", "A"), "V_i_noload": ("12", "V"),
    "speed0": ("0", "rpm"), "alpha": ("3.93e-3", "1/K"), "Tmeas": ("25", "degC"),
    "thermal_mass": ("100", "J/K"), "initial_temperature": ("25", "degC")}
# what files since R2020a hold beside
FIELD = {
    "field_option": (f"{ENUM}field_option.pm", "1"), "Rf": ("100", "Ohm"), "Lf": ("1", "H"),
    "Laf": ("0.15", "H"), "If0": ("0", "A"),
    "enable_fault_armature": (f"{ENUM}faults.faultEnable.no", "1"), "rev_faulted": ("1/3", "1"),
    "G_faulted_armature": ("1e-5", "S"), "enable_fault_field":
    (f"{ENUM}faults.faultEnable.no", "1"), "fault_action": (f"{ENUM}faults.faultAction.none", "1")}
K = 10 / (2 * np.pi * 1000 / 60)  # of Kv


def motor(path=MOTOR, nodes=None, sides=(), choices=(1, 1, 1), **values):
    """A motor with choices by number, as words where the path is the new one."""
    said = {name: (str(k) if path.startswith(OLD) else
                   f"{ENUM}{GROUPS.get(name, name)}.{words[k - 1]}", "1")
            for (name, words), k in zip(WORDS.items(), choices, strict=True)}
    rest = {} if path.startswith(OLD) else FIELD
    nodes = {"p": "a", "R": "w", "n": "g", "C": "h"} | (nodes or {})
    return Drawn(path, "motor", nodes, {**said, **VALUES, **rest, **values},
                 options={"SourceType": "DC Motor"}, sides=sides or (["p", "R"], ["n", "C"]))


def fed(machine, *others):
    """A motor on 12 V."""
    return [machine, Drawn(f"{EL}sources.dc_voltage", "cell", {"p": "a", "n": "g"},
                           {"v0": ("12", "V")}),
            Drawn(f"{EL}elements.reference", "earth", {"V": "g"}),
            Drawn(f"{ROT}reference", "frame", {"W": "h"}), solver(), *others]


def at_rest(folder, blocks, release="R2020b", **settings):
    return built(converted(folder, blocks, release, **settings).text, folder).operating_point()


def without_load(k, resistance, damping):
    return k * 12 / resistance / (k**2 / resistance + damping)


@pytest.mark.parametrize(("path", "release"), [(MOTOR, "R2020b"), (OLD, "R2016b")],
                         ids=["words", "numbers"])
@pytest.mark.parametrize(("choices", "speed", "current"), [
    ((1, 1, 1), without_load(K, 2, 1e-3), 1e-3 * without_load(K, 2, 1e-3) / K),
    ((1, 2, 1), without_load(0.05, 2, 1e-3), 1e-3 * without_load(0.05, 2, 1e-3) / 0.05),
    ((1, 2, 2), (12 - 0.3 * 2) / 0.05, 0.3),
    ((2, 1, 1), 100, 1e-3 * 100 / (0.12 - 1e-3 * 12 / 0.5)), ((2, 1, 2), 100, 0.3),
    ((3, 1, 2), 100, 0.3),
], ids=["constant", "torque", "idle", "stall", "stall and idle", "rated and idle"])
def test_a_motor_without_load_turns_as_its_numbers_say(path, release, choices, speed, current,
                                                       tmp_path):
    file = converted(tmp_path, fed(motor(path, choices=choices)), release)
    assert [e.outcome for e in file.entries if e.path == "/motor"] == ["mapped"]
    point = built(file.text, tmp_path).operating_point()
    meets(point, {"motor.w rad/s": (speed, 1e-12), "motor.i A": (current, 1e-12)})


def test_a_motor_starts_with_its_speed(tmp_path):
    text = converted(tmp_path, fed(motor(speed0=("300", "rpm")))).text
    run = built(text, tmp_path).simulate("1 us")
    assert_allclose(run["motor.w_rotor"].initial.to("rad/s").m, 10 * np.pi, rtol=1e-12)


WOUND = {"field_option": (f"{ENUM}field_option.wound", "1"), "lam": ("0", "N*m/(rad/s)")}
FIELD_SIDES = (["p", "fp", "R"], ["n", "fn", "C"])


@pytest.mark.parametrize(("blocks", "script", "speed"), [
    (fed(motor(choices=(3, 1, 1)), Drawn(f"{ROT}damper", "load", {"R": "w", "C": "h"}, {
        "D": ("8/80^2", "N*m/(rad/s)")})), "", 80),
    (fed(motor(Ra=("2*R_m", "Ohm"), Kv=("k_m", "V/(rad/s)"))), "R_m = 3; k_m = R_m/100;",
     without_load(0.03, 6, 1e-3)),
    # the field draws 0.12 A at 12 V, so the constant is 0.15 H times that
    (fed(motor(nodes={"fp": "a", "fn": "g"}, sides=FIELD_SIDES, **WOUND)), "", 12 / (0.15 * 0.12)),
], ids=["rated load", "workspace", "field winding"])  # fmt: skip
def test_a_motor_meets_its_load_its_script_and_its_field(blocks, script, speed, tmp_path):
    point = at_rest(tmp_path, blocks, PreLoadFcn=script)
    assert_allclose(point["motor.w"].to("rad/s").m, speed, rtol=1e-12)


def test_a_motor_with_a_thermal_port_warms(tmp_path):
    """Held and insulated: C dT/dt = V²/R(T), so T follows from a quadratic equation."""
    machine = motor(f"{MOTOR}_thermal", {"R": "h", "H": "t"}, (["p", "R"], ["n", "H", "C"]),
                    initial_temperature=("45", "degC"), La=("1", "uH"))  # fmt: skip
    end = Drawn("foundation.thermal.elements.perfect_insulator", "end", {"A": "t"})
    run = built(converted(tmp_path, fed(machine, end)).text, tmp_path).simulate("60 s", rtol=1e-9)
    factor = np.sqrt((1 + 3.93e-3 * 20)**2 + 2 * 3.93e-3 * 12**2 / 2 / 100 * 60)
    assert_allclose(run["motor.T"].final.to("K").m, 298.15 + (factor - 1) / 3.93e-3, rtol=1e-6)


# -- what is not taken is told ---------------------------------------------------------------------
@pytest.mark.parametrize(("machine", "name"), [
    (motor(nodes={"fp": "a", "fn": "g"}, sides=FIELD_SIDES, **WOUND), "SeparatelyExcitedMotor"),
    (motor(f"{OLD}_thermal", {"H": "t"}, (["p", "R"], ["n", "H", "C"])), "ThermalDCMotor"),
], ids=["field", "thermal"])  # fmt: skip
def test_ports_that_a_file_does_not_name_are_told(machine, name, tmp_path):
    ends = [Drawn("foundation.thermal.elements.perfect_insulator", "end", {"A": "t"})]
    result = converted(tmp_path, fed(machine, *ends["t" not in machine.nodes.values():]), "R2016b")
    outcome, note = note_of(result, "/motor")
    assert outcome == "missing"
    assert f"It is {name} here, but neither the file nor another that was seen says which" in note
    assert "has no counterpart in this form" in " ".join(result.text.split())
    assert not built(result.text, tmp_path).check().errors


def test_ports_that_a_file_does_not_name_may_be_said(tmp_path, monkeypatch):
    table = dict(mapping._table())
    monkeypatch.setattr(mapping, "_table", lambda: table)
    add_counterpart(MOTOR, SeparatelyExcitedMotor, ports={
        "lconn1": "p", "lconn2": "ep", "lconn3": "R", "rconn1": "n", "rconn2": "en", "rconn3": "C"})
    machine = motor(nodes={"fp": "a", "fn": "g"}, sides=FIELD_SIDES, **WOUND)
    point = at_rest(tmp_path, fed(machine), "R2016b")
    assert_allclose(point["motor.w"].to("rad/s").m, 12 / (0.15 * 0.12), rtol=1e-12)


def test_ports_that_are_not_here_are_told(tmp_path):
    machine = motor(f"{MOTOR}_thermal", {"H": "t", "fp": "a", "fn": "g"},
                    (["p", "fp", "R"], ["n", "fn", "H", "C"]), **WOUND)  # fmt: skip
    outcome, note = note_of(converted(tmp_path, fed(machine)), "/motor")
    assert outcome == "missing"
    assert "field_option = ee.enum.field_option.wound: this choice is not known here" in note
    assert "ThermalDCMotor here has no port fp or fn" in note


@pytest.mark.parametrize(("given", "outcome", "said"), [
    ({"enable_fault_armature": (f"{ENUM}faults.faultEnable.yes", "1")}, "approximated",
     "enable_fault_armature = ee.enum.faults.faultEnable.yes has no counterpart here"),
    ({"parameterization": (f"{ENUM}dcparam_option.other", "1")}, "missing",
     "this choice is not known here; parameterization may be 'equivalent circuit',")])
def test_what_a_motor_here_has_not_is_told(given, outcome, said, tmp_path):
    result = converted(tmp_path, fed(motor(**given)))
    assert note_of(result, "/motor")[0] == outcome
    assert said in note_of(result, "/motor")[1]
    assert said in " ".join(result.text.replace('"', "").split())


def test_faults_that_are_off_say_nothing(tmp_path):
    off = {f"enable_fault_{part}": ("simscape.enum.onoff.off", "1")
           for part in ("armature", "field")}
    assert note_of(converted(tmp_path, fed(motor(**off))), "/motor") == ("mapped", "")


@pytest.mark.parametrize(("path", "title", "said"), [
    ("ee.electromech.brushed.universal_motor", "Universal Motor",
     "Simscape's Universal Motor is SeriesMotor in library.electromechanical. Give it the stub's "
     "values by hand"),
    ("ee.electromech.motor", "Motor & Drive",
     "Simscape's Motor & Drive has no counterpart of its own: TorqueSource behind a lag"),
    ("mine.electromech.motor", "My Motor", "It has no counterpart here.")])
def test_a_gap_says_what_to_take_here(path, title, said, tmp_path):
    machine = Drawn(path, "motor", {"p": "a", "R": "w", "n": "g", "C": "h"},
                    options={"SourceType": title}, sides=(["p", "R"], ["n", "C"]))  # fmt: skip
    outcome, note = note_of(converted(tmp_path, fed(machine)), "/motor")
    assert outcome == "missing"
    assert said in note
