"""Everything that can go wrong, as one tree.

::

    BlocksError
    |-- ModelError                  a mistake in a model, found before integration
    |   |-- UnitError (ValueError)
    |   |   |-- WrongDimension      a quantity of another dimension
    |   |   |-- MissingUnit         a bare number where a unit is needed
    |   |   |-- UnknownUnit         a text that is no unit
    |   |   `-- AngleFrequencyError Hz where rad/s is meant, or the reverse
    |   |-- EquationError           an equation that cannot be read or balanced
    |   |-- ParameterError (ValueError)   a value out of bounds, NaN, of wrong size
    |   |-- UnknownName (AttributeError)  misspelt; the nearest names are given
    |   |-- WrongCall (TypeError)   a value without its name, or with a word of another tool
    |   |-- WrongImport (ImportError)     a component that is called otherwise here
    |   |-- NamingError (ValueError)      duplicate or reserved name
    |   |-- ConnectionRefused (ValueError)  ports that cannot be joined
    |   |-- StructureError          the network has no unique solution
    |   |-- InitialisationError     no consistent start
    |   `-- CheckError              several findings of ``model.check()``
    |-- FileError (OSError)         a file that cannot be read or written
    |-- SimulationError (RuntimeError)    a run that failed; carries the partial result
    `-- MissingPackage (ImportError)      an optional package is needed

    KeyboardInterrupt
    `-- Interrupted                 Ctrl-C ended a run; carries the partial result

Every error keeps its data as attributes, has a stable ``code``, survives
pickling, and says first what is wrong and then what to do.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, ParamSpec, TypeVar

from .renamed import OPTIONS, current_options

__all__ = ["AngleFrequencyError", "BlocksError", "CheckError", "ConnectionRefused", "EquationError",
           "FileError", "InitialisationError", "MissingPackage", "MissingUnit", "ModelError",
           "NamingError", "ParameterError", "SimulationError", "StructureError", "UnitError",
           "UnknownName", "UnknownUnit", "WrongCall", "WrongDimension", "WrongImport"]


class BlocksError(Exception):
    """Root of all errors of the toolkit.

    Attributes
    ----------
    where : str
        Dotted path of the component, port, parameter or equation.
    problem : str
        What is wrong, in one sentence.
    advice : str
        What to do about it.
    data : dict
        Further facts, also readable as attributes.
    says_where : bool
        Whether ``problem`` names the place itself; otherwise the text begins with it.
    """

    code: ClassVar[str] = "error"

    def __init__(self, where: str, problem: str, advice: str = "", *, says_where: bool = False,
                 **data: Any) -> None:
        super().__init__(where, problem, advice)
        self.where, self.problem, self.advice, self.data = where, problem, advice, data
        self.says_where = says_where
        if "name" in data:  # AttributeError and ImportError have a place for it
            self.name = data["name"]
        if "code" in data:
            self.code = data["code"]  # type: ignore[misc]

    def __getattr__(self, name: str) -> Any:
        data = self.__dict__.get("data", {})
        if name in data:
            return data[name]
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return (partial(type(self), says_where=self.says_where, **self.data),
                (self.where, self.problem, self.advice))

    def __str__(self) -> str:
        text = with_advice(self.statement, self.advice)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        return text.encode(encoding, "backslashreplace").decode(encoding)  # as in a traceback

    @property
    def statement(self) -> str:
        """What is wrong, and where."""
        headed = self.where and not self.says_where
        return f"{self.where}: {self.problem}" if headed else self.problem


def with_advice(problem: str, advice: str) -> str:
    """What is wrong and what to do, as one text: the advice after a list starts a line."""
    if not advice:
        return problem.rstrip()
    listing = problem.rpartition("\n")[2].startswith(" ")
    end = "\n" if listing else " " if problem.endswith((".", ":", "?", "!")) else ". "
    return f"{problem}{end}{advice}"


class ModelError(BlocksError):
    """A mistake in a model, found before integration."""

    code = "model"


class UnitError(ModelError, ValueError):
    """A unit that does not fit."""

    code = "unit"


class WrongDimension(UnitError):
    """A quantity of another dimension than the one expected."""

    code = "unit.dimension"


class MissingUnit(UnitError):
    """A bare number where a unit is needed."""

    code = "unit.missing"


class UnknownUnit(UnitError):
    """A text that cannot be read as a quantity or unit."""

    code = "unit.unknown"


class AngleFrequencyError(UnitError):
    """A frequency in Hz where an angular velocity is meant, or the reverse."""

    code = "unit.hertz"


class EquationError(ModelError):
    """An equation of a component class that cannot be read or balanced."""

    code = "equation"


class ParameterError(ModelError, ValueError):
    """A parameter value out of bounds, not finite, or of the wrong size."""

    code = "parameter"


class UnknownName(ModelError, AttributeError):
    """A name that does not exist; ``nearest`` holds similar ones that do."""

    code = "name.unknown"


class WrongCall(ModelError, TypeError):
    """A call that Python would refuse: values without names, options that do not exist."""

    code = "call"


class WrongImport(ModelError, ImportError):
    """A component that is called otherwise here, or is somewhere else."""

    code = "name.import"


#: Whose lines no warning points at: the toolkit's, and what its calls go through.
WITHIN = {__name__.partition(".")[0], "library", "contextlib", "numpy"}

_CALL = re.compile(r"(\w+)\((?:(\w+)=…)?\)")
_MEANT = {"point": "at", "file": "save", "filename": "save", "path": "save", "plot": "draw"}
_P = ParamSpec("_P")
_R = TypeVar("_R")
_Class = TypeVar("_Class", bound=type)


def told_how_to_call(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A public function whose arguments, where Python refuses them, are answered with its call."""
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]  # of a class
    old_names = OPTIONS.get(name, {}).keys()
    of_model = function.__code__.co_varnames[:1] == ("model",)

    @wraps(function)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if old_names and not old_names.isdisjoint(kwargs):
            kwargs = current_options(name, kwargs)  # type: ignore[assignment]
        if of_model and args and not hasattr(args[0], "simulate"):
            raise WrongCall(f"{name}()", f"takes a model first, but was given {brief(args[0])}.",
                            f"Write {name}(model, …).")
        try:
            return function(*args, **kwargs)
        except BlocksError as error:  # of one of these arguments: as the user has called it
            inner, option = found.groups() if (found := _CALL.match(error.where)) else ("", "")
            given = kwargs.keys() | signature(function).bind(*args, **kwargs).arguments.keys()
            if inner and (option or error.data.get("name")) in given:
                error.where = error.where.replace(inner, name, 1)
            raise
        except OSError as error:  # of a file that cannot be
            if error.filename is None:
                raise
            raise FileError(error.filename, f"cannot be opened: {error.strerror}.",
                            "Name a file in a folder that is there.") from None
        except TypeError as error:
            if "os.PathLike" in str(error):
                raise WrongCall(f"{name}()", f"takes the name of a file: {error}.",
                                "Give it as text, or as a Path.") from None
            form = signature(function)
            try:
                form.bind(*args, **kwargs)
            except TypeError as refusal:
                said = f"{refusal}"
            else:
                raise  # from within
            shown = form.replace(return_annotation=Signature.empty, parameters=[
                p.replace(annotation=Parameter.empty) for p in form.parameters.values()
                if p.name != "self"])
            call = type(args[0]).__name__ if function.__name__ == "__init__" else name
            for option in kwargs.keys() - form.parameters.keys():
                meant = nearest(_MEANT.get(option, option), shown.parameters)
                if meant and nearest(option, re.findall(r"'(\w+)'", said)):  # it, or what lacks
                    raise WrongCall(f"{call}()", f"there is no option {option!r}.",
                                    f"Did you mean {' or '.join(map(repr, meant))}?") from None
            raise WrongCall(f"{call}()", f"{said}.", f"It is called as {call}{shown}.") from None

    vars(called)["told"] = True
    return called


def calls_told(kind: _Class) -> _Class:
    """A class whose public methods are :func:`told_how_to_call`."""
    for name, made in list(vars(kind).items()):
        if isinstance(made, FunctionType) and (name[0] != "_" or name == "__init__") and (
                "told" not in vars(made)):  # by a function that is a method, too
            setattr(kind, name, told_how_to_call(made))
    return kind


def missing_in(home: str, name: str, advice: str) -> ModelError:
    """What a package says of a name that it lacks, for its ``__getattr__`` to raise.

    ``from home import name`` keeps the words of an ``ImportError`` alone; to all others who ask,
    such as ``hasattr``, what is missing is an attribute.
    """
    asks = sys._getframe(2).f_code.co_filename
    kind = WrongImport if asks == "<frozen importlib._bootstrap>" else UnknownName
    return kind(home, f"there is no {name!r}.", advice, name=name)


class NamingError(ModelError, ValueError):
    """A name that is taken, reserved or not an identifier."""

    code = "name"


class ConnectionRefused(ModelError, ValueError):
    """Ports that cannot be joined."""

    code = "connection"


class StructureError(ModelError):
    """The network has no unique solution, whatever the numbers are."""

    code = "structure"


class InitialisationError(ModelError):
    """No consistent initial state could be found."""

    code = "initial"


class CheckError(ModelError):
    """Findings of ``model.check()`` that prevent a run."""

    code = "check"


class FileError(BlocksError, OSError):
    """A file that is missing, damaged, of another kind, or cannot be written."""

    code = "file"


class Interrupted(KeyboardInterrupt):  # noqa: N818  # it is no error
    """Ctrl-C ended a run, and all around it that does not ask for what there is.

    Attributes
    ----------
    result : Result, or None
        Everything computed before; None where the first step had not begun.
    """

    def __init__(self, result: Any = None) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        if self.result is None:
            return "interrupted before the first step"
        return (f"{self.result.message or 'interrupted at the end'}; the result until then is this "
                "error's .result")


class SimulationError(BlocksError, RuntimeError):
    """A run failed; ``result`` holds everything computed before.

    Attributes
    ----------
    result : Result
        The partial result.
    time : float
        Simulation time of the failure in seconds.
    variables : tuple of str
        Paths of the variables that could not be solved, worst first.
    """

    code = "simulation"


class MissingPackage(BlocksError, ImportError):
    """An optional package is needed for what was asked."""

    code = "package"


LONGEST_NAME = 1000  # characters of a name or path; nothing longer is looked up
MOST_COMPARED = 5000  # names that a misspelt one is compared with


def brief(value: Any, most: int = 60) -> str:
    """What someone gave, as it is shown in a message: in quotes, in one line, cut where it is
    long."""
    if isinstance(value, str):
        text = repr(value[: most + 1])
        return text if len(text) <= most + 2 else f"{text[: most - 14]}…{text[0]}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever cannot be printed, such as a whole number of 5000 digits
        return f"something of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 15]}…"


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Known names similar to a misspelt one, best first."""
    from difflib import get_close_matches

    name, names = str(name), list(known)
    if len(name) > LONGEST_NAME:
        return []
    same = [k for k in names if k.lower() == name.lower()]
    return same or get_close_matches(name, names, n=3, cutoff=0.55)


def did_you_mean(name: str, known: Iterable[str], kind: str = "names") -> str:
    """Advice for a misspelt name: the nearest ones, or the list of all."""
    names = sorted(known)
    hits = nearest(name, names)
    if hits:
        return f"Did you mean {' or '.join(repr(h) for h in hits)}?"
    if not names:
        return f"There are no {kind} here."
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"The {kind} are: {shown}."


def unknown_name(where: str, name: str, known: Iterable[str], kind: str,
                 instead: tuple[str, str] = ("", "")) -> UnknownName:
    """The error for a misspelt name of some kind ('parameters', 'ports', …).

    ``instead`` is a sentence on a word of another tool, and the name to take.
    """
    names = list(islice(known, MOST_COMPARED))
    sentence, here = instead
    return UnknownName(
        where,
        f"there is no {brief(name, 200)} among its {kind}." if where
        else f"the model has no {brief(name, 200)} among its {kind}.",
        sentence or did_you_mean(name, names, kind),
        name=name,
        known=names,
        nearest=[here] if here else nearest(name, names),
    )


def need_package(package: str, purpose: str, extra: str = "") -> MissingPackage:
    """The error for a package that is not installed; an optional one belongs to an extra."""
    folder = Path(__file__).parents[1]
    checkout = extra and (folder / "pyproject.toml").exists()
    wanted = f'-e "{folder}[{extra}]"' if checkout else package
    return MissingPackage("", f"{purpose} needs the package {package}, which is not installed.",
                          f"Install it with: pip install {wanted}", package=package,
                          extra=extra)


def optional_package(module: str, purpose: str, extra: str = "") -> Any:
    """A module of a package that may not be installed, or the error that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise need_package(module.partition(".")[0], purpose, extra) from None


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's that led here, however far above it is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (
            WITHIN):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
