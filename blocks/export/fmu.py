"""What does a model say of itself to other tools? An FMU: its description, and libraries."""

from __future__ import annotations

import re
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree as Xml

import casadi as ca
import numpy as np

from ..exceptions import WrongCall, brief, unknown_name
from ..language.expression import TIME
from ..reading.unit import Unit, unit
from ..results.files import known_ending, whole
from ..simulation.settings import Options
from .header import header
from .program import Program, Variable, coherent, listed
from .targets import PLATFORMS, here, library

__all__ = ["VERSIONS", "export_fmu", "try_out"]

VERSIONS = {"2.0": 2, "3.0": 3}
BASE = {"kilogram": "kg", "meter": "m", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol",
        "candela": "cd", "radian": "rad"}  # fmt: skip
#: Units in which people also read values.
DISPLAYED = {"rad": "deg", "rad/s": "rpm", "Pa": "bar", "K": "degC"}
#: A run of a library in a process of its own.
TRIAL = """
import ctypes, sys
text = ctypes.create_string_buffer(1000)
done = ctypes.CDLL(sys.argv[1]).tried(ctypes.c_double(float(sys.argv[2])), text,
                                      ctypes.c_size_t(1000))
sys.stdout.write(text.value.decode())
sys.exit(not done)
"""
#: When everything is packed: the same model gives the same file.
PACKED = (2020, 1, 1, 0, 0, 0)


def export_fmu(model: Any, path: str | Path, inputs: Iterable[str] | Mapping[str, Any],
               outputs: Sequence[str], parameters: Sequence[str], version: str,
               platforms: Sequence[str] | None, duration: Any, options: Options) -> Path:
    """Write an FMU; see ``Model.export_fmu``."""
    if version not in VERSIONS:
        raise WrongCall("export_fmu(version=…)", f"takes '2.0' or '3.0', but was given "
                        f"{brief(version)}.", given=version)  # fmt: skip
    known_ending(path, "an FMU", ".fmu")
    outputs, parameters, platforms = map(listed, (outputs, parameters, platforms))
    wanted = [here().fmi3] if platforms is None else list(platforms)
    for name in wanted:
        if name not in PLATFORMS:
            raise unknown_name("export_fmu(platforms=…)", name, PLATFORMS, "platforms")
    program = Program(model, inputs, list(outputs), list(parameters), duration, options)
    described = _Description(program, VERSIONS[version], options.rtol)
    text = header(program, "TOKEN", described.places)
    token = described.token = str(uuid.uuid5(uuid.NAMESPACE_OID, text))
    text = text.replace('"TOKEN"', f'"{token}"', 1)
    with whole(Path(path)) as made, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(zipfile.ZipInfo("modelDescription.xml", PACKED), described.text())
        for name in wanted:
            target = PLATFORMS[name]
            folder = target.fmi2 if version == "2.0" else target.fmi3
            with TemporaryDirectory() as place:
                file = library(target, program.image.code, text, "fmu.c",
                               {"FMI_VERSION": VERSIONS[version]}, Path(place))
                if target == here():
                    try_out(file, program)
                packed.writestr(zipfile.ZipInfo(
                    f"binaries/{folder}/{described.identifier}{target.suffix}", PACKED),
                    file.read_bytes(), zipfile.ZIP_DEFLATED)
    return Path(path)


def try_out(file: Path, program: Program) -> None:
    """Let a library run, where nothing else is; refuse it if it does not get to the end."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", TRIAL, str(file), repr(program.t_end)],
                          capture_output=True, text=True)
    if done.returncode:
        raise program.refused(
            "does not get through by machine code alone: "
            f"{done.stdout or done.stderr[-200:] or 'its run has crashed'}.",
            "Simulate it here, or export it for a shorter duration.")


@dataclass
class _Listed:
    """A variable of the description."""

    name: str
    kind: str  # as C knows it, with its place
    place: int
    causality: str
    unit: Unit | None = None
    doc: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    depends: list[str] | None = None  # names; None: perhaps on everything


class _Description:
    """The description of an FMU."""

    def __init__(self, program: Program, version: int, rtol: float) -> None:
        self.program, self.version, self.rtol, self.token = program, version, rtol, ""
        # of the libraries
        self.identifier = re.sub(r"\W", "_", f"m_{program.name}" if not program.name[:1].isalpha()
                                 else program.name, flags=re.ASCII)
        self.units: dict[str, tuple[Unit, dict[str, Unit]]] = {}
        self.listed = [_Listed("time", "independent", 0, "independent", unit("s"), "Time")]
        for one in program.inputs:
            self._add(one, "input", "input", {"start": repr(one.start)})
        for one in program.parameters:
            self._add(one, "parameter", "parameter", {
                "variability": "tunable", "start": repr(one.start), **one.bounds})
        self._list_outputs()
        self.slopes, self.states = list[str](), list[str]()
        if program.may_be_integrated:
            self._list_states()
        if version == 3 and program.may_be_integrated:
            self.listed += [_Listed(f"event_indicator[{k + 1}]", "margin", k, "local", None, name)
                            for k, name in enumerate(program.relations)]
        self.reference = {one.name: k for k, one in enumerate(self.listed)}
        # kind and place of each value reference, as C knows them
        self.places = [(one.kind, one.place) for one in self.listed]

    # -- variables -----------------------------------------------------------------------
    def _list_outputs(self) -> None:
        for one in self.program.outputs:
            if any(one.info.path == known.name for known in self.listed):
                raise WrongCall("export_fmu(outputs=…)", f"names {one.info.path} twice, or is "
                                "an input already.", "Leave one out.", given=one.info.path)
            discrete = {"variability": "discrete"} if one.info.kind == "discrete" else {}
            self._add(one, "output", "output", {
                "initial": "calculated", **discrete, **self.program.sizes(one.info)},
                      self._depends(self.program.expression(one.info)))

    def _list_states(self) -> None:
        """States and their slopes. One that is an output, too, is the same variable."""
        program = self.program
        known = {one.name: one for one in self.listed}
        slopes = program.system.tape.slope
        for one, i, nominal in zip(program.state_infos, program.driver.problem.free,
                                   program.nominals, strict=True):
            name = one.info.path
            if name in known and not program.is_state(one.info, int(i)):
                name += "_state"
            if name not in known:
                self._add(one, "state", "local", {"initial": "calculated"}, None, name)
                known[name] = self.listed[-1]
            known[name].kind, known[name].place = "state", one.place
            known[name].attributes["nominal"] = repr(float(nominal))
            self.states.append(name)
            depends = self._depends(slopes[int(i)])
            slope = _Listed(f"der({name})", "slope", one.place, "local", None,
                            f"Derivative of {name}", {"initial": "calculated"}, depends)
            slope.attributes["derivative"] = name
            self.listed.append(slope)
            self.slopes.append(slope.name)

    def _add(self, one: Variable, kind: str, causality: str, attributes: dict[str, str],
             depends: list[str] | None = None, name: str = "") -> None:
        self.listed.append(_Listed(name or one.info.path, kind, one.place, causality,
                                   one.info.unit, one.info.doc, attributes, depends))

    def _depends(self, expression: ca.SX) -> list[str] | None:
        """Names of inputs, states and time that something depends on at once; None for all."""
        program, tape = self.program, self.program.system.tape
        if not program.may_be_integrated or program.system.clusters or ca.depends_on(
                expression, ca.vertcat(tape.z, tape.u)):
            return None
        by_d, by_x = (np.unique(ca.jacobian_sparsity(expression, by).get_triplet()[1])
                      for by in (tape.d, tape.x))
        names = ["time"] if ca.depends_on(expression, TIME) else []
        names += [one.info.path for one, slot in zip(program.inputs, program.told, strict=True)
                  if slot in by_d]
        free = program.driver.problem.free.tolist()
        return names + [f"\0{free.index(k)}" for k in by_x.tolist() if k in free]

    # -- text ----------------------------------------------------------------------------
    def text(self) -> bytes:
        two, program = self.version == 2, self.program
        root = Xml.Element("fmiModelDescription", {
            "fmiVersion": "2.0" if two else "3.0", "modelName": program.name,
            "guid" if two else "instantiationToken": self.token,
            "generationTool": "blocks", "variableNamingConvention": "structured",
            **({"numberOfEventIndicators": str(len(program.relations))}
               if two and program.may_be_integrated else {})})
        state = "FMUstate" if two else "FMUState"
        can = {"modelIdentifier": self.identifier, f"canGetAndSet{state}": "true",
               f"canSerialize{state}": "true"}  # fmt: skip
        can[f"providesDirectionalDerivative{'' if two else 's'}"] = "true"
        if program.may_be_integrated:
            Xml.SubElement(root, "ModelExchange", can if two else {
                **can, "needsCompletedIntegratorStep": "true"})
        looks = ("canReturnEarlyAfterIntermediateUpdate", "hasEventMode",
                 "mightReturnEarlyFromDoStep", "providesIntermediateUpdate")
        Xml.SubElement(root, "CoSimulation", {
            **can, "canHandleVariableCommunicationStepSize": "true",
            **({} if two else dict.fromkeys(looks, "true"))})
        units = Xml.SubElement(root, "UnitDefinitions")
        categories = Xml.SubElement(root, "LogCategories")
        Xml.SubElement(categories, "Category", {
            "name": "logStatusError", "description": "What cannot go on, and where"})
        Xml.SubElement(root, "DefaultExperiment", {
            "startTime": repr(program.t_start), "stopTime": repr(program.t_end),
            "tolerance": repr(self.rtol)})
        variables = Xml.SubElement(root, "ModelVariables")
        for one in self.listed:
            self._write_variable(variables, one)
        self._write_structure(Xml.SubElement(root, "ModelStructure"))
        self._write_units(units)
        Xml.indent(root)
        return Xml.tostring(root, "utf-8", xml_declaration=True)

    def _write_variable(self, parent: Xml.Element, one: _Listed) -> None:
        two = self.version == 2
        own = {"name": one.name, "valueReference": str(self.reference[one.name]),
               "causality": one.causality}  # fmt: skip
        if one.doc:
            own["description"] = one.doc
        typed = dict(one.attributes)
        own["variability"] = typed.pop("variability", "continuous")
        if "initial" in typed:
            own["initial"] = typed.pop("initial")
        if "derivative" in typed:
            typed["derivative"] = str(self.reference[typed["derivative"]] + two)
        typed |= self._unit(one.unit)
        if not two:
            Xml.SubElement(parent, "Float64", {**own, **typed})
            return
        scalar = Xml.SubElement(parent, "ScalarVariable", own)
        Xml.SubElement(scalar, "Real", typed)

    def _write_structure(self, parent: Xml.Element) -> None:
        two, outputs = self.version == 2, [o.name for o in self.listed if o.causality == "output"]
        initial = dict.fromkeys([*outputs, *self.states, *self.slopes])
        groups = [("Outputs", "Output", outputs, True),
                  ("Derivatives", "ContinuousStateDerivative", self.slopes, True),
                  ("InitialUnknowns", "InitialUnknown", list(initial), False)]
        if not two:
            groups.append(("", "EventIndicator", [
                o.name for o in self.listed if o.kind == "margin"], False))
        for plural, single, names, told in groups:
            if not names:
                continue
            place = Xml.SubElement(parent, plural) if two else parent
            for name in sorted(names, key=self.reference.__getitem__) if two and (
                    single == "InitialUnknown") else names:
                k = self.reference[name]
                known = {"index": str(k + 1)} if two else {"valueReference": str(k)}
                depends = self.listed[k].depends
                if told and depends is not None:
                    own = [self.states[int(d[1:])] if d[0] == "\0" else d for d in depends]
                    known["dependencies"] = " ".join(
                        str(at + two) for at in sorted(self.reference[d] for d in own))
                Xml.SubElement(place, "Unknown" if two else single, known)

    # -- units ---------------------------------------------------------------------------
    def _unit(self, declared: Unit | None) -> dict[str, str]:
        """Names of the SI unit that values are in, and of the unit to show them in."""
        if declared is None or not declared.text or declared.text == "1":
            return {}
        si = coherent(declared)
        shown = self.units.setdefault(si.text, (si, {}))[1]
        if declared.text != si.text:
            shown[declared.text] = declared
            return {"unit": si.text, "displayUnit": declared.text}
        return {"unit": si.text}

    def _write_units(self, parent: Xml.Element) -> None:
        for name, (si, shown) in self.units.items():
            one = Xml.SubElement(parent, "Unit", {"name": name})
            powers: dict[str, Any] = dict(
                si.pint._REGISTRY.Quantity(1, si.pint).to_base_units().unit_items())
            if all(base in BASE and power == int(power) for base, power in powers.items()):
                Xml.SubElement(one, "BaseUnit", {
                    BASE[base]: str(int(power)) for base, power in powers.items()})
            also = DISPLAYED.get(name)
            if also and si.temperature != "difference":
                shown.setdefault(also, unit(also))
            for text, other in shown.items():
                Xml.SubElement(one, "DisplayUnit", {
                    "name": text, "factor": repr(1 / other.factor),
                    **({"offset": repr(-other.offset / other.factor)} if other.offset else {})})
        if not len(parent):
            Xml.SubElement(parent, "Unit", {"name": "1"})
