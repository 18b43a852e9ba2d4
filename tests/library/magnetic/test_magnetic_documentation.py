"""What a component declares is what its docstring says."""

from __future__ import annotations

import inspect

import pytest

import library.electromechanical as electromechanical
import library.magnetic as magnetic
from blocks import Component, Input, Output, Parameter, Port, Variable

COMPONENTS = [
    (package, c) for package in (magnetic, electromechanical)
    for c in (getattr(package, name) for name in package.__all__)
    if inspect.isclass(c) and issubclass(c, Component) and c.__name__ != "TwoPort"
]  # fmt: skip
NAMES = {"ids": lambda x: getattr(x, "__name__", x)}


@pytest.mark.parametrize(("package", "component"), COMPONENTS, **NAMES)
def test_a_docstring_names_every_parameter_with_its_unit_and_every_port(package, component):
    text = " ".join(component.__doc__.split())
    for name, declared in component._declared.items():
        if isinstance(declared, Parameter):
            assert name in text.split("Parameters:")[1].split("Ports:")[0], name
            assert declared.doc
        elif isinstance(declared, (Port, Input, Output)):
            assert name in text.split("Ports:")[1]
        elif isinstance(declared, Variable) and declared.initial is not None:
            assert f"{name} ({declared.priority}, " in text.split("Initial target")[1]


@pytest.mark.parametrize(("package", "component"), COMPONENTS, **NAMES)
def test_every_component_stands_in_the_guide_of_the_package(package, component):
    assert f"``{component.__name__}``" in package.__doc__
