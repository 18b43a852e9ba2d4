"""What a component declares is what its docstring says."""

from __future__ import annotations

import importlib
import inspect

import pytest

import library.signal
from blocks import Component, Input, Output, Parameter, Port, Variable

PACKAGES = [importlib.import_module(f"library.{name}") for name in (
    "electrical", "electromechanical", "gas", "isothermal_liquid", "magnetic", "mechanisms",
    "moist_air", "planar", "rotational", "signal", "thermal", "thermal_liquid", "translational",
    "two_phase")]
SIGNALS = {getattr(library.signal, name) for name in library.signal.__all__}
COMPONENTS = [
    pytest.param(package, component, id=f"{package.__name__.split('.')[1]}.{component.__name__}")
    for package in PACKAGES
    for component in (getattr(package, name) for name in package.__all__)
    if inspect.isclass(component) and issubclass(component, Component)
    and component.__name__ not in ("TwoPort", "TwoFrame", "PressedFriction")  # bases of others
    and component.__bases__[0] not in SIGNALS and component is not library.signal.Or  # as those
]


@pytest.mark.parametrize(("package", "component"), COMPONENTS)
def test_a_docstring_names_all_that_is_declared_with_units_and_starts(package, component):
    text = " ".join(component.__doc__.split())
    for name, declared in component._declared.items():
        if isinstance(declared, Parameter):
            unit = str(declared.unit)
            assert (f"{name} ({unit}" if unit not in ("", "1") else name) in text
            assert declared.doc
        elif isinstance(declared, (Port, Input, Output)):
            assert name in text.split("Ports:")[1]
        elif isinstance(declared, Variable) and declared.initial is not None:
            assert f"{name} ({declared.priority}, " in text.split("Initial target")[1]


@pytest.mark.parametrize(("package", "component"), [
    one for one in COMPONENTS if one.values[0] is not library.signal])
def test_every_component_stands_in_the_guide_of_its_package(package, component):
    assert f"``{component.__name__}``" in package.__doc__
