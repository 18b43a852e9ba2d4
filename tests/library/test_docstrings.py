"""What a component declares is what its docstring says."""

import importlib
import inspect

import library.signal
from blocks import Component, Input, Output, Parameter, Port, Variable

PACKAGES = [importlib.import_module(f"library.{name}") for name in (
    "electrical", "electromechanical", "gas", "isothermal_liquid", "magnetic", "mechanisms",
    "moist_air", "planar", "rotational", "signal", "thermal", "thermal_liquid", "translational",
    "two_phase")]
SIGNALS = {getattr(library.signal, name) for name in library.signal.__all__}
COMPONENTS = [
    (package, component) for package in PACKAGES
    for component in (getattr(package, name) for name in package.__all__)
    if inspect.isclass(component) and issubclass(component, Component)
    and component.__name__ not in ("TwoPort", "TwoFrame", "PressedFriction")  # bases of others
    and component.__bases__[0] not in SIGNALS and component is not library.signal.Or  # as those
]


def is_said(text, name, declared):
    if isinstance(declared, Parameter):
        unit = str(declared.unit)
        return declared.doc and (f"{name} ({unit}" if unit not in ("", "1") else name) in text
    if isinstance(declared, (Port, Input, Output)):
        return name in text.partition("Ports:")[2]
    if isinstance(declared, Variable) and declared.initial is not None:
        return f"{name} ({declared.priority}, " in text.partition("Initial target")[2]
    return True


def test_a_docstring_names_all_that_is_declared_with_units_and_starts():
    assert len(COMPONENTS) > 300
    assert [f"{component.__name__}.{name}" for _, component in COMPONENTS
            for name, declared in component._declared.items()
            if not is_said(" ".join(component.__doc__.split()), name, declared)] == []


def test_every_component_stands_in_the_guide_of_its_package():
    assert [component.__name__ for package, component in COMPONENTS
            if package is not library.signal
            and f"``{component.__name__}``" not in package.__doc__] == []
