"""An FMU as a component: signals, parameters and states of a run."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blocks import (
    Component,
    Discrete,
    Input,
    Output,
    Parameter,
    Variable,
    call_python,
    der,
    every,
    initially,
    quantity,
    time,
    when,
)
from blocks.exceptions import unknown_name

from .description import Description, Scalar, described
from .instances import NEVER, Exchanged, Stepped

__all__ = ["FMU", "FMUComponent"]

_numbers = itertools.count()
_classes: dict[tuple[str, str | None, int], type[FMUComponent]] = {}


def FMU(file: str | Path, kind: str | None = None, **values: Any) -> FMUComponent:
    """A component that is an FMU of version 2.0 or 3.0.

    Its inputs, outputs, parameters and states have the names of the FMU, with an underscore for
    what Python does not take in a name: ``push.S`` is ``push_S``. They are in the units of the
    FMU, and values are given in any unit of the same dimension. An input that nothing is
    connected to has its start value, which is the parameter ``push_S_start``.

    For model exchange, the FMU's states are integrated with those of the model, its events located
    with theirs. For co-simulation it takes its own steps between communication points: inputs are
    held over such a step, outputs from its end to that of the next one.

    FMUs are run by FMPy (extra ``export``). Every component has its own copy.

    Parameters
    ----------
    file : path
    kind : "model exchange" or "co-simulation"
        The first one that the FMU offers by default.
    **values : parameters of the FMU, start values of its states
        With co-simulation also ``communication_step``, which is what the FMU proposes by default,
        else 1 ms.

    Raises
    ------
    ParameterError
        Where the file is no such FMU.
    MissingPackage
        Without FMPy.
    SimulationError
        Where the FMU fails in a run; with what it has logged.

    Examples
    --------
    ``model.pump = FMU("pump.fmu", displacement="20 cm^3/rev")``
    """
    cls = _class_of(str(Path(file).absolute()), kind, next(_numbers))
    words = {v.name: v.word for v in cls.described.parameters + cls.described.states}
    given: dict[str, Any] = {
        words.get(name, name): float(value) if isinstance(value, bool) else value
        for name, value in values.items()}
    known = [n for n, d in vars(cls).items() if isinstance(d, (Parameter, Variable))]
    for name in given:
        if name not in known:
            raise unknown_name(f"FMU({Path(file).name!r})", name, known, "parameters and variables")
    return _owned(cls(**given))


def _class_of(file: str, kind: str | None, number: int) -> type[FMUComponent]:
    """The class of a component, each of which has its own FMU."""
    if (file, kind, number) not in _classes:
        d = described(Path(file), kind)
        base = ExchangedComponent if d.kind == "model exchange" else SteppedComponent
        name = "".join(c if c.isalnum() else "_" for c in d.name) or "FMU"
        doc = f"{d.fmi.description or d.name}: {d.file.name}, by {d.kind}."
        _classes[file, kind, number] = type(name if name[0].isalpha() else f"FMU_{name}", (base,), {
            "__doc__": doc, "__module__": __name__, "described": d, "key": (file, kind, number),
            **base.declarations(d)})
    return _classes[file, kind, number]


def _copied(key: tuple[str, str | None, int]) -> FMUComponent:
    """A component without values, to be filled by pickle."""
    cls = _class_of(*key)
    made = cls.__new__(cls)
    return made if cls.asked.owner() is not None else _owned(made)


def _owned(made: FMUComponent) -> FMUComponent:
    """Let a component's FMU know whose it is."""
    type(made).asked.owner = weakref.ref(made)
    return made


class FMUComponent(Component):
    """What FMUs as components have in common; made by :func:`FMU`."""

    described: Description
    asked: Any
    key: tuple[str, str | None, int]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        _, _, *state = tuple(super().__reduce_ex__(protocol))
        return (_copied, (self.key,), *state)

    @staticmethod
    def declarations(d: Description) -> dict[str, Any]:
        """Signals and parameters."""
        made: dict[str, Any] = {}
        for v in d.parameters:
            made[v.word] = Parameter(_value(v), doc=v.doc, **_bounds(v))
        for v in d.inputs:
            made[f"{v.word}_start"] = Parameter(_value(v), doc=f"{v.name} where it is open")
            made[v.word] = Input(v.unit, default=f"{v.word}_start", doc=v.doc)
        for v in d.outputs:
            made[v.word] = Output(v.unit, doc=v.doc)
        return made

    def numbers(self, variables: list[Scalar]) -> list[Any]:
        return [getattr(self, v.word) for v in variables]


def _value(v: Scalar) -> Any:
    """The start value of the FMU, with its unit."""
    text = v.text(v.start or 0.0)
    return text if v.unit != "1" else float(text)


def _bounds(v: Scalar) -> dict[str, Any]:
    return {side: v.text(bound) if v.unit != "1" else bound
            for side, bound in (("minimum", v.least), ("maximum", v.most)) if bound is not None}


class ExchangedComponent(FMUComponent):
    """An FMU whose states are integrated by the run."""

    fmu_state = Discrete("1", 0, doc="Number of the discrete state that events have led to")
    fmu_next = Discrete("s", f"{NEVER} s", doc="When the FMU's next known event is")

    @staticmethod
    def declarations(d: Description) -> dict[str, Any]:
        made, asked = FMUComponent.declarations(d), Exchanged(d)
        made["asked"] = asked
        for k, v in enumerate(d.states):
            kind = Output if v.word in made else Variable
            made[v.word] = kind(v.unit, _start(asked, k, v), priority="high",
                                nominal=quantity(abs(v.factor * v.nominal), v.unit)
                                if not v.offset else None, doc=v.doc)
        for k in range(d.margins):
            made[f"fmu_side{k + 1}"] = Discrete("1", 0, doc=f"Whether event indicator {k + 1} is "
                                                "above zero since the last event")
        for v in d.inputs:
            if v.is_discrete:
                made[f"{v.word}_seen"] = Discrete(v.unit, f"0 {v.unit}".removesuffix(" 1"))
        return made

    def equations(self) -> Iterator[Any]:
        d, asked = self.described, self.asked
        x = self.numbers(d.states)
        given = [self.fmu_state, time, *self.numbers(d.parameters), *x]
        moving = [v for v in d.inputs if not v.is_discrete]

        def found(what: list[Scalar], inputs: list[Scalar], count: int) -> Any:
            def values(*numbers: float) -> list[float]:
                return asked.values(what or None, inputs, *numbers)

            def slope(k: int) -> Any:
                return 0 if k == 0 else lambda *numbers: asked.derivatives(
                    what or None, inputs, k, *numbers)

            arguments = given + self.numbers(inputs)
            return call_python(values, *arguments, unit=["1"] * count,
                               derivatives=[slope(k) for k in range(len(arguments))])

        states = {v.word for v in d.states}
        groups: dict[tuple[str, ...], list[Scalar]] = {}
        for v in d.slopes + [v for v in d.outputs if v.word not in states]:
            needed = tuple(i.word for i in moving if v.depends is None or i.word in v.depends)
            groups.setdefault(needed, []).append(v)
        slope_of = dict(zip((v.word for v in d.slopes), d.states, strict=True))
        for needed, what in groups.items():
            inputs = [v for v in moving if v.word in needed]
            numbers = found(what, inputs, len(what))
            for v, number in zip(what, numbers, strict=True):
                if v.word in slope_of:
                    state = slope_of[v.word]
                    yield der(getattr(self, state.word)) == number * _si(state) / quantity("1 s")
                else:
                    yield getattr(self, v.word) == number * _si(v)
        yield from self.events(x, given, found([], moving, d.margins) if d.margins else [])

    def events(self, x: list[Any], given: list[Any], indicators: list[Any]) -> Iterator[Any]:
        """When the FMU has events, and what they change."""
        d = self.described
        sides = [getattr(self, f"fmu_side{k + 1}") for k in range(d.margins)]
        happens = [time >= self.fmu_next]
        for z, side in zip(indicators, sides, strict=True):
            happens.append((z > 0) & (side < 0.5) | (z < 0) & (side > 0.5))
        seen = {}
        for v in d.inputs:
            if v.is_discrete:
                u, last = getattr(self, v.word), getattr(self, f"{v.word}_seen")
                far = 0.5 if v.kind not in ("Real", "Float64", "Float32") else quantity(0.0, v.unit)
                happens.append((u > last + far) | (u < last - far))
                seen[last] = u
        changed = [self.fmu_state, self.fmu_next, *x, *sides]
        sizes = [1, quantity("1 s"), *map(_si, d.states), *[1] * len(sides)]
        values = call_python(self.asked.event, *given, *self.numbers(d.inputs),
                             unit=["1"] * len(sizes),
                             derivatives=[0] * (len(given) + len(d.inputs)))
        assigned = {one: value * size for one, value, size in zip(changed, values, sizes,
                                                                  strict=True)} | seen
        for one in happens:
            yield when(one, assigned)
        yield initially({one: value for one, value in assigned.items()
                         if not any(one is state for state in x)})


def _start(asked: Exchanged, k: int, v: Scalar) -> Any:
    """The start value of a state, which may follow from parameters."""
    parameters = asked.description.parameters

    def start(c: Any) -> Any:
        given = [getattr(c, p.word) for p in parameters]
        value = call_python(lambda *p: asked.starts(*p)[k], *given) if given else asked.starts()[k]
        return value * _si(v)

    return start


class SteppedComponent(FMUComponent):
    """An FMU that takes its own steps between communication points."""

    fmu_state = Discrete("1", 0, doc="Number of the state that steps have led to")

    @staticmethod
    def declarations(d: Description) -> dict[str, Any]:
        made = FMUComponent.declarations(d)
        made["asked"] = Stepped(d)
        made["communication_step"] = Parameter(f"{d.step!r} s", above=0,
                                               doc="Time between communication points")
        for v in d.inputs + d.outputs:
            made[f"{v.word}_held"] = Discrete(v.unit, f"0 {v.unit}".removesuffix(" 1"))
        return made

    def equations(self) -> Iterator[Any]:
        d = self.described
        held = {v.word: getattr(self, f"{v.word}_held") for v in d.inputs + d.outputs}
        yield every(self.communication_step, {
            self.fmu_state: self.fmu_state,
            **{held[v.word]: getattr(self, v.word) for v in d.inputs},
            **{held[v.word]: held[v.word] for v in d.outputs}})
        for v in d.outputs:
            yield getattr(self, v.word) == held[v.word]

    def at_samples(self, t: float, instance: int, now: dict[str, float], before: dict[str, float]
                   ) -> dict[str, float]:
        d = self.described
        u, held = (tuple(side[f"{v.word}_held"] for v in d.inputs) for side in (now, before))
        p = tuple(float(_one(getattr(self, v.word).to_base_units().magnitude, instance))
                  for v in d.parameters)
        number, outputs = self.asked.step(int(before["fmu_state"]), t, p, u, held)
        return {"fmu_state": float(number), **{
            f"{v.word}_held": value for v, value in zip(d.outputs, outputs, strict=True)}}


def _si(v: Scalar) -> Any:
    """A quantity of one in the SI unit of a variable."""
    return quantity(1.0, quantity(1.0, v.unit).to_base_units().units)


def _one(value: Any, instance: int) -> Any:
    return value[instance] if getattr(value, "ndim", 0) else value
