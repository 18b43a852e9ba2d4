"""What a component declares is what its docstring says."""

from __future__ import annotations

import inspect

import pytest

import library.electrical as package
from blocks import Component, Input, Output, Parameter, Port, Variable

COMPONENTS = [
    c for c in (getattr(package, name) for name in package.__all__)
    if inspect.isclass(c) and issubclass(c, Component) and c is not package.TwoPort
]  # fmt: skip


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda c: c.__name__)
def test_a_docstring_names_every_parameter_with_its_unit_and_every_port(component):
    text = " ".join(component.__doc__.split())
    for name, declared in component._declared.items():
        if isinstance(declared, Parameter):
            unit = str(declared.unit)
            assert f"{name} ({unit})" in text or f"{name} ({unit}," in text, name
            assert declared.doc
        elif isinstance(declared, (Port, Input, Output)):
            assert name in text.split("Ports:")[1]
        elif isinstance(declared, Variable) and declared.initial is not None:
            assert f"{name} ({declared.priority}, " in text.split("Initial target")[1]


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda c: c.__name__)
def test_every_component_stands_in_the_guide_of_the_package(component):
    assert f"``{component.__name__}``" in package.__doc__
