"""What a component declares is what help() says of it."""

import importlib
import inspect
import re

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


def is_said(text, name, declared, of_signals):
    """Whether help() has a line of it, with its unit and start, and words below that.

    Inputs and outputs of blocks for signals need no words: they are u and y.
    """
    if isinstance(declared, Variable) and declared.initial is None and not isinstance(
            declared, (Input, Output)):
        return True
    words = "" if of_signals and isinstance(declared, (Input, Output)) else r"\n    \S"
    line = re.search(rf"^{name} : (.*){words}", text, re.M)
    unit = str(declared.unit) if isinstance(declared, Parameter) else ""
    return line is not None and (unit if unit != "1" else "") in line[1]


def test_help_says_all_that_is_declared_with_units_and_starts():
    assert len(COMPONENTS) > 300
    assert [f"{component.__name__}.{name}" for package, component in COMPONENTS
            for name, declared in component._declared.items()
            if isinstance(declared, (Parameter, Port, Variable))
            and not is_said(component.__doc__, name, declared, package is library.signal)] == []


def test_a_docstring_says_what_no_declaration_does():
    """Equations, signs, what is neglected; help() adds parameters, ports and starts to that."""
    assert [component.__name__ for _, component in COMPONENTS
            if len(component.__doc__.partition("Keywords\n---")[0].split()) < 10] == []


def test_every_component_stands_in_the_guide_of_its_package():
    assert [component.__name__ for package, component in COMPONENTS
            if package is not library.signal
            and f"``{component.__name__}``" not in package.__doc__] == []
