"""Which model does a file hold?

A file of Python is imported, so what stands under ``if __name__ == "__main__":`` is not run.
What is taken of it: the name after a colon (``drives.py:hoist``); else the model called
``model``; else the only model; else the function ``build()``; else the only class of a model.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ..exceptions import FileError, ModelError, UnknownName, brief, did_you_mean, nearest
from ..model import Model, load

__all__ = ["model_in_file"]

ADVICE = ("Call the model 'model', write a function build() that returns it, or say which one: "
          "{0}:NAME.")  # fmt: skip


def model_in_file(given: str) -> Model:
    """The model of a file of Python, or of one that ``model.save()`` wrote.

    Parameters
    ----------
    given : str
        ``"drives.py"``, ``"drives.py:hoist"`` or ``"drives.json"``.

    Raises
    ------
    FileError
        For a file that is missing or of another kind.
    ModelError
        For a file that holds no model, or several.
    """
    path, colon, name = given.rpartition(":")
    if not colon or name.endswith((".py", ".json")) or "/" in name or "\\" in name:
        path, name = given, ""
    file = Path(path)
    if not file.is_file():
        raise FileError(path, "is a folder." if file.is_dir() else "there is no such file.",
                        "Name a file that holds a model, model.py or model.json.")
    if file.suffix == ".json":
        model = load(file)
        assert isinstance(model, Model)
        return model
    if file.suffix != ".py":
        raise FileError(path, f"is no model: its name ends with {file.suffix!r}.",
                        "Models stand in files of Python (.py), and in those that model.save() "
                        "wrote (.json).")  # fmt: skip
    module = _imported(file)
    return _made(_named(module, name, path) if name else _chosen(module, path), path)


def _imported(file: Path) -> ModuleType:
    """The module of a file, which finds others beside it."""
    sys.path.insert(0, str(file.resolve().parent))
    name = f"_{file.stem}" if file.stem in sys.modules else file.stem  # numpy.py stays itself
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _named(module: ModuleType, name: str, path: str) -> Any:
    names = [n for n, value in vars(module).items() if _makes_models(value)]
    if not hasattr(module, name):
        raise UnknownName(path, f"there is no {brief(name)} in it.",
                          did_you_mean(name, names, "models, functions and classes"),
                          name=name, known=names, nearest=nearest(name, names))
    return getattr(module, name)


def _chosen(module: ModuleType, path: str) -> Any:
    """The model that is meant where none is named."""
    own = vars(module)
    models = {n: v for n, v in own.items() if isinstance(v, Model)}
    if len({id(v) for v in models.values()}) == 1:
        return next(iter(models.values()))
    if "model" in models:
        return models["model"]
    if models:
        raise ModelError(path, f"holds several models: {', '.join(models)}.",
                         f"Say which one, such as {path}:{next(iter(models))}.")
    if inspect.isfunction(own.get("build")):
        return own["build"]
    classes = [v for v in own.values() if inspect.isclass(v) and issubclass(v, Model)
               and v.__module__ == module.__name__]  # fmt: skip
    if len(classes) == 1:
        return classes[0]
    raise ModelError(path, "holds no model." if not classes else
                     f"holds several classes of models: {', '.join(c.__name__ for c in classes)}.",
                     ADVICE.format(path))  # fmt: skip


def _makes_models(value: Any) -> bool:
    return isinstance(value, Model) or inspect.isfunction(value) or (
        inspect.isclass(value) and issubclass(value, Model))


def _made(value: Any, path: str) -> Model:
    """The model itself, or what a function or class makes without being told anything."""
    if isinstance(value, Model):
        return value
    name = getattr(value, "__name__", "it")
    if not callable(value):
        raise ModelError(path, f"{brief(value)} is no model.", ADVICE.format(path))
    needed = [p.name for p in inspect.signature(value).parameters.values()
              if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD,
                                                     p.KEYWORD_ONLY)]  # fmt: skip
    needed = [] if inspect.isclass(value) and value.__init__ is Model.__init__ else needed
    if needed:
        raise ModelError(path, f"{name}() needs to be told {', '.join(needed)}.",
                         "Give defaults, as in  def build(mass='2 kg').")
    model = value()
    if not isinstance(model, Model):
        raise ModelError(path, f"{name}() returns {brief(model)}, which is no model.",
                         "End it with  return model.")
    return model
