"""Is a word of another tool answered with the one to use here?

Simscape's blocks and parameters: ``tests/data/simscape_blocks.csv`` (what they are called
here) and ``simscape_parameters.csv`` (all that occur), which say where they are from.
"""

import csv
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from benches import declared, wired

import blocks
import library.electrical as el
import library.electromechanical as em
import library.isothermal_liquid as il
import library.magnetic as ma
import library.mechanisms as me
import library.planar as pl
import library.rotational as ro
import library.signal as si
import library.thermal as th
import library.translational as tr
from blocks import BlocksError, Component, UnknownName, quantity
from blocks.exceptions import WrongCall, WrongImport
from blocks.native import COMPILED
from blocks.solvers import METHODS
from library.othernames import PACKAGES, WORDS

DATA = Path(__file__).resolve().parents[1] / "data"
# joined and selected by connect() and slices, without a component
MISSING = {"PS Concatenate", "PS Selector"}


def rows(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def class_of(component):
    module, _, name = component.rpartition(".")
    return getattr(importlib.import_module(f"library.{module}"), name)


def names_of(made):
    return {*declared(made), *made.parameters, *made.variables, *made.ports}


def answer(call, kind=UnknownName):
    with pytest.raises(kind) as caught:
        call()
    return caught.value


# -- the table itself ------------------------------------------------------------------------------
def test_every_row_leads_to_a_class_and_a_keyword_that_exist():
    assert len(WORDS.rows) > 1800
    for row in WORDS.rows:
        made = class_of(row.component)()
        assert issubclass(type(made), Component)
        if row.here:
            assert row.here in names_of(made), row
        else:
            assert row.note or not row.word, row
        assert row.word not in names_of(made), row


def test_no_word_is_explained_twice_for_one_class():
    keys = [(row.component, row.word) for row in WORDS.rows if row.word]
    assert len(keys) == len(set(keys)) > 850


# -- Simscape --------------------------------------------------------------------------------------
def test_a_parameter_of_simscape_is_answered_with_its_name_here():
    wrong, listed = [], rows("simscape_blocks.csv")
    assert len(listed) > 150
    for row in listed:
        there, here = row["parameter"], row["name"]
        if there != here:
            try:
                found = class_of(row["component"])(**{there: "1 N"})
            except UnknownName as error:
                found = str(error), error.nearest
                if f"Simscape's {there} is {here} here." in found[0] and found[1] == [here]:
                    continue
            wrong.append((row["component"], found, f"Simscape's {there} is {here} here."))
    assert wrong == []


def test_no_parameter_of_a_block_with_a_counterpart_is_left_without_an_answer():
    unanswered, listed = [], rows("simscape_parameters.csv")
    assert len(listed) > 700
    of_block = cache(lambda block: class_of(WORDS.component(block, "").component)())
    for row in listed:
        if row["block"] in MISSING:
            continue
        made = of_block(row["block"])
        if row["parameter"] in names_of(made):
            continue
        error = answer(lambda made=made, row=row: setattr(made, row["parameter"], "1 N"))
        if re.search(r"Did you mean|variables are:", str(error)):
            unanswered.append((row["block"], row["parameter"]))
    assert unanswered == []


@pytest.mark.parametrize(("call", "said"), [
    (lambda: ro.RotationalSpring(spr_rate_unit="N*m/deg"), "stiffness='1 N*m/rad'"),
    (lambda: ro.Inertia(w_priority="high"), "w=Target('1 rad/s', priority="),
    (lambda: tr.HardStop(x_nominal_value=1), "x=Target(nominal='1 m')"),
    (lambda: tr.HardStop(v_tol="1 mm/s"), "no threshold"),
    (lambda: si.Sine(frequency_angular="1 rad/s"), "Simscape's frequency_angular is frequency"),
    (lambda: ro.Inertia(w0="1 rad/s"), "given as w itself"),
    (lambda: tr.Spring(x_start="1 mm"), "given as x itself")])
def test_what_goes_with_a_parameter_is_answered_too(call, said):
    assert said in str(answer(call))


@pytest.mark.parametrize(("package", "name", "said"), [
    (tr, "IdealTranslationalMotionSensor", "MotionSensor here"),
    (tr, "TranslationalDamper", "Damper here"),
    (ro, "IdealAngularVelocitySource", "AngularVelocitySource here"),
    (ro, "MechanicalRotationalReference", "RotationalReference here"),
    (me, "DiscFrictionClutch", "DiscClutch here"), (si, "PSLookupTable1D", "Table1D here"),
    (tr, "PSGain", "Gain in library.signal"),
    (si, "TransportDelay", "Simulink's Transport Delay is Delay here"),
    (si, "ZeroPole", "TransferFunction(numerator=gain * np.poly(zeros)"),
    (si, "NDLookupTable", "Table1D, Table2D or Table3D"),
    (si, "SignalGenerator", "Sine, Pulse or RepeatingSequence"),
    (si, "PulseGenerator", "Pulse here"), (si, "PIDController", "PID here"),
    (tr, "Scope", "every variable is in the result"),
    (ro, "Mass", "from library.translational import Mass"),
    (pl, "GearBox", "from library.mechanisms import GearBox"), (ro, "Damper", "RotationalDamper"),
    (em, "RotationalEMF", "RotationalElectromechanicalConverter here"),
    (ma, "ConstantReluctance", "FundamentalReluctance here"),
    (ma, "DCMotor", "from library.electromechanical import DCMotor"), (tr, "Dampr", "'Damper'"),
    (ro, "Reference", "Did you mean 'RotationalReference'?"),
    (ro, "Wheel", "Did you mean 'RollingWheel' of library.mechanisms"),
    (th, "Valve", "'CheckValve' of library.isothermal_liquid"),
    (el, "Voltage", "Did you mean 'VoltageSensor' or"),
    (th, "Therm", "Did you mean 'ThermalMass' or"), (il, "Cylinder", "DoubleActingActuator here"),
    (th, "Thermostat", "a heater has on_value='0 W'")])
def test_a_component_of_another_name_or_place_is_found(package, name, said):
    assert not hasattr(package, name)
    with pytest.raises(UnknownName, match=re.escape(said)):
        getattr(package, name)
    with pytest.raises(WrongImport, match=re.escape(said)):
        exec(f"from {package.__name__} import {name}")


def test_functions_of_another_name_are_found():
    assert not hasattr(blocks, "ln")
    with pytest.raises(UnknownName, match="It is called log here"):
        blocks.ln  # noqa: B018  # what it raises
    with pytest.raises(WrongImport, match="from blocks import log"):
        exec("from blocks import ln")


@pytest.mark.parametrize(("name", "said"), [
    ("fit", "from blocks.analysis import fit"),
    ("optimize", "from blocks.analysis import optimise"), ("odeint", "A run is model.simulate"),
    ("linearize", "It is a method: model.linearise"), ("plot", "It is a method: result.plot"),
    ("Result", "from blocks.results import Result"), ("Mass", "from library.translational")])
def test_what_a_toolkit_may_have_at_its_top_is_said_to_be_elsewhere(name, said):
    assert not hasattr(blocks, name)
    with pytest.raises(WrongImport, match=re.escape(said)):
        exec(f"from blocks import {name}")


@pytest.mark.parametrize("package", ["library", *PACKAGES])
def test_names_that_nobody_knows_are_missing_as_in_any_module(package):
    module = importlib.import_module(package)
    assert not hasattr(module, "setup_module") and not hasattr(module, "_private")
    with pytest.raises(ImportError, match="cannot import name 'Zzzzz'"):
        exec(f"from {package} import Zzzzz")


@pytest.mark.parametrize("package", ["electrical", "rotational"])
def test_a_package_that_has_the_name_of_its_domain_is_imported_from_the_library(package):
    code = f"from library import {package}; print({package}.__name__)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, text=True,
                             capture_output=True).stdout  # fmt: skip
    assert printed.strip() == f"library.{package}"


@pytest.mark.parametrize(("name", "said"), [
    ("Spring", "from library.translational import Spring"),
    ("hydraulics", "liquids are in library.isothermal_liquid"),
    ("pneumatics", "gases are in library.gas"), ("mechanical", "it is in library.translational")])
def test_the_library_itself_says_where_its_components_are(name, said):
    with pytest.raises(ImportError, match=re.escape(said)):
        exec(f"from library import {name}")
    with pytest.raises(ModuleNotFoundError, match=rf"no library.{name}\. "):
        exec(f"import library.{name}")
    assert importlib.util.find_spec(f"library.{name}") is None


# -- Modelica and textbooks ------------------------------------------------------------------------
@pytest.mark.parametrize(("call", "said"), [
    (lambda: ro.Inertia(J="1 kg*m^2"), "Modelica's J is inertia here."),
    (lambda: ro.RotationalSpringDamper(c="1 N*m/rad"), "Modelica's c is stiffness here."),
    (lambda: tr.Damper(c="1 N*s/m"), "often called c is damping here."),
    (lambda: si.Step(startTime="1 s"), "Modelica's startTime is start here."),
    (lambda: em.DCMotor(kt="1 N*m/A"), "kt is back_emf_constant here"),
    (lambda: pl.Contact(mu=0.3), "mu is friction here"),
    (lambda: si.PID(Kp=2), "Kp is proportional here"),
    (lambda: ro.RotationalSpringDamper(spring_rate="1 N*m/rad"), "is stiffness here"),
    (lambda: tr.SpringDamper(damping_coefficient="1 N*s/m"), "is damping here"),
    (lambda: tr.SpringDamper(b="1 N*s/m"), "often called b is damping here"),
    (lambda: el.ControlledVoltageSource().S, "often called S is vT here"),
    (lambda: tr.Mass(velocity="1 m/s"), "velocity is v here"),
    (lambda: ro.Inertia(speed="1 rad/s"), "speed is w here"),
    (lambda: tr.Spring(deflection="1 mm"), "deflection is x here"),
    (lambda: el.Resistor(current="1 A"), "current is i here"),
    (lambda: si.DiscretePID(period="1 ms"), "period is sample_time here"),
    (lambda: me.DiscClutch(torque="20 N*m"), "A TorqueLimiter is given a torque"),
    (lambda: el.ACVoltageSource(rms="230 V"), "the peak is given"),
    (lambda: il.LocalRestriction(diameter="2 mm"), "the area of the opening"),
    (lambda: th.ConvectiveHeatTransfer(h="9 W/(m^2*K)"), "heat_transfer_coefficient here"),
    (lambda: el.Inductor(initial_current="2 A"), "initial target is given as i_L itself"),
    (lambda: tr.Spring(initial_deformation="2 mm"), "target is given as x itself"),
    (lambda: il.IsothermalLiquidProperties(rho="850 kg/m^3"), "rho is density here")])
def test_usual_letters_are_answered(call, said):
    assert said in str(answer(call))


@pytest.mark.parametrize("row", rows("names_elsewhere.csv"),
                         ids=lambda r: f"{r['package']} {r['names'].partition(' ')[0]}")
def test_a_class_of_another_tool_is_answered_with_ours_or_what_to_do(row):
    """A name that is not ours is told what it is here, or that it has no counterpart."""
    package = importlib.import_module(f"library.{row['package']}")
    for name in row["names"].split():
        found = WORDS.component(name, row["package"])
        if hasattr(package, name):
            continue
        said = str(answer(lambda name=name: getattr(package, name), AttributeError))
        elsewhere = f"It is in library.{{}}: from library.{{}} import {name}."
        assert found is not None and found.sentence(row["package"]) in said or any(
            elsewhere.replace("{}", p.rpartition(".")[2]) in said for p in PACKAGES), name


@pytest.mark.parametrize(("package", "name", "said"), [
    (el, "Conductor", "it is a Resistor, with resistance= 1 / G."),
    (el, "IdealOpeningSwitch", "it is a Switch, with a Not before vT"),
    (el, "Short", "connect the two nodes"),
    (ma, "Ground", "Modelica's Ground is MagneticReference here."),
    (ma, "ConstantPermeance", "it is a FundamentalReluctance"),
    (si, "OnOffController", "it is a Relay of reference - u"),
    (si, "Add3", "Sum(signs='+++')"), (si, "Memory", "UnitDelay holds the last sample"),
    (si, "BusCreator", "Simulink's Bus Creator has no counterpart of its own"),
    (pl, "World", "Modelica's World is Gravity here."),
    (em, "IM_SquirrelCage", "there are no machines for alternating current")])
def test_what_to_take_instead_is_said(package, name, said):
    assert said in str(answer(lambda: getattr(package, name), AttributeError))


class Buffer(tr.Spring):
    """A spring of a user's own."""


def test_a_class_derived_from_one_here_answers_the_same():
    assert "spr_rate is stiffness" in str(answer(lambda: Buffer(spr_rate="1 N/m")))


def test_a_word_is_answered_where_it_is_read_or_set_later():
    spring = tr.Spring()
    assert "spr_rate is stiffness" in str(answer(lambda: spring.spr_rate))
    assert "spr_rate is stiffness" in str(answer(lambda: setattr(spring, "spr_rate", "1 N/m")))


# -- values without names --------------------------------------------------------------------------
@pytest.mark.parametrize(("call", "written"), [
    (lambda: tr.Spring("3 N/mm"), "Spring(stiffness='3 N/mm')"),
    (lambda: ro.Inertia("1 rad/s", "2 kg*m^2"), "Inertia(w='1 rad/s', inertia='2 kg*m^2')"),
    (lambda: tr.Mass(4), "Mass(mass='4 kg')"),
    (lambda: tr.Damper(quantity(2, "N*s/m")), "Damper(damping='2 N*s/m')"),
    (lambda: tr.TranslationalFriction("lugre"), "TranslationalFriction(law='lugre')"),
    (lambda: ro.TorqueSource(lambda t: t), "TorqueSource(torque=lambda t: …)"),
    (lambda: ro.RotationalSpring("1 kg"), "keywords are: law, stiffness"),
    (lambda: tr.Reference("ground"), "keywords are: count")])
def test_a_value_without_its_name_is_answered_with_the_call(call, written):
    error = answer(call, WrongCall)
    assert isinstance(error, TypeError) and isinstance(error, BlocksError)
    assert written in str(error)


# -- runs ------------------------------------------------------------------------------------------
@pytest.fixture
def model():
    return wired("falls", body=tr.Mass())


@pytest.mark.parametrize(("option", "said"), [
    ("tfinal", "simulate('2 s')"), ("stopTime", "simulate('2 s')"), ("T", "simulate('2 s')")])
def test_the_end_is_the_duration(model, option, said):
    assert said in str(answer(lambda: model.simulate(**{option: "2 s"})))


@pytest.mark.parametrize(("option", "here"), [
    ("tspan", "duration"), ("startTime", "start_time"), ("integrator", "method"),
    ("relTol", "rtol"), ("AbsTol", "atol"), ("stepsize", "step"), ("hmax", "max_step"),
    ("InitialStep", "first_step"), ("saveat", "times"), ("outputInterval", "every"),
    ("numberOfIntervals", "every")])
def test_options_of_others_are_answered_with_ours(model, option, here):
    for call in (lambda: model.simulate("1 s", **{option: 1}),
                 lambda: model.sweep({"body.mass": ["1 kg"]}, "1 s", outputs=["final(body.v)"],
                                     **{option: 1})):  # fmt: skip
        error = answer(call)
        assert error.nearest == [here]
        assert here in str(error)


def test_a_run_without_a_duration_or_with_two_times_says_what_to_write(model):
    for call in (model.simulate, lambda: model.simulate((0, 4)),
                 lambda: model.simulate("0 s", "4 s"), lambda: model.simulate("1 s", "Radau", 3)):
        assert "simulate('4 s'" in str(answer(call, WrongCall))


@pytest.mark.parametrize(("method", "here"), [
    ("ode15s", "rodas4"), ("expm", "rodas4"), ("DASSL", "rodas4"), ("ForwardEuler", "euler"),
    ("siconos", "moreau_jean"), ("LSODA", "auto"), ("dopri", "dopri5"), ("rodas44", "rodas4"),
    ("rodas", "rodas4")])
def test_unknown_methods_are_answered_with_the_nearest_and_the_list_of_all(model, method, here):
    told = answer(lambda: model.simulate("1 s", method=method))
    assert f"Did you mean {here!r}? The methods are: auto, " in str(told)
    assert told.nearest == [here]
    assert all(name in str(told) for name in (*METHODS, *COMPILED, "moreau_jean"))
    with pytest.raises(UnknownName, match=f"Did you mean {here!r}[?] The methods are: auto, "):
        model.sweep({"method": [method]}, "1 s", outputs=["final(body.v)"])


@pytest.mark.parametrize(("name", "said"), [
    ("integrate", "model.simulate('4 s')"), ("wire", "model.connect"), ("validate", "model.check"),
    ("plot", "model.draw"), ("add_part", "model.add"), ("export", "model.export_fmu("),
    ("compose", "classes of components"), ("pareto", "from blocks.analysis import pareto"),
    ("report", "model.simulate('4 s'), and then result.report"), ("bode", "model.linearise(")])
def test_what_a_model_is_asked_for_in_other_words(model, name, said):
    assert said in str(answer(lambda: getattr(model, name)))


@pytest.mark.parametrize(("name", "said"), [
    ("eigenvalues", ".poles()"), ("damp", ".damping()"), ("margin", ".margins()"),
    ("impulse", ".impulse_response()"), ("frequency_response", ".response('"),
    ("poless", "'poles'")])
def test_what_a_linear_model_is_asked_for_in_other_words(model, name, said):
    assert said in str(answer(lambda: getattr(model.linearise(), name)))


def test_what_is_loaded_later_is_among_the_names_of_its_package():
    for package in blocks, blocks.analysis, blocks.results:
        assert set(package.__all__) <= set(dir(package))
        assert not {"Any", "TYPE_CHECKING", "import_module"} & set(dir(package))


@pytest.mark.parametrize(("options", "said"), [
    ({"unit": "mm/s"}, "units='mm/s'"), ({"filename": "x.png"}, "save="),
    ({"figsize": (3, 4)}, "figure is returned"), ({"titel": "x"}, "'title'")])
def test_options_of_pictures_are_answered(model, options, said):
    run = model.simulate("1 s")
    assert said in str(answer(lambda: run.plot("body.v", **options), WrongCall))


def test_options_of_tables_are_answered(model):
    run = model.simulate("1 s")
    assert "every=" in str(answer(lambda: run.table("body.v", dt="1 s"), WrongCall))
    assert run.table(["body.v"], units="mm/s", every="1 s").columns[0] == "body.v [mm/s]"


def test_any_part_of_the_library_may_be_imported_first():
    """Names of packages that are about to be imported are no words to be explained."""
    program = """
import importlib, pathlib, sys
for file in sorted(pathlib.Path("library").glob("*")):
    if file.suffix == ".py" or (file / "__init__.py").exists():
        for loaded in [m for m in sys.modules if m.split(".")[0] == "library"]:
            del sys.modules[loaded]
        importlib.import_module(f"library.{file.stem}".removesuffix(".__init__"))
        print(file)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          cwd=Path(__file__).parents[2])  # fmt: skip
    assert done.returncode == 0, done.stdout.splitlines()[-1] + done.stderr
    assert len(done.stdout.splitlines()) > 15
