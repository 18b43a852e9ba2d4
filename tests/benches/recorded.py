"""A recording with closed-form values: nothing here was integrated."""


import numpy as np

from blocks.results import EnergyTerm, EventRecord, Result, VariableInfo
from blocks.results.parameters import MadeWith
from blocks.units import unit

JUMP, END = 1.5, 4.0


def _step(t, side, before, after):
    late = t > JUMP if side == "left" else t >= JUMP
    return np.where(late, after, before)


CURVES = {
    "block.v": ("m/s", "variable", "velocity", lambda t, side: 0.25 * np.sin(np.pi * t)),
    "spring.f": ("N", "variable", "f carried from R to C", lambda t, side: 10 * np.cos(np.pi * t)),
    "spring.v": ("m/s", "variable", "v of R minus v of C", lambda t, side: 0 * t - 0.5),
    "spring.R.f": ("N", "through", "", lambda t, side: 10 * np.cos(np.pi * t)),
    "spring.R.v": ("m/s", "across", "", lambda t, side: 0 * t),
    "friction.f": ("kN", "variable", "", lambda t, side: _step(t, side, 20.0, 5.0)),
    "oil.T": ("degC", "variable", "temperature", lambda t, side: 293.15 + 10 * t),
    "motor.w": ("rpm", "output", "speed", lambda t, side: 2 * np.pi * t),
    "signal.rate": ("Hz", "parameter", "rate", lambda t, side: 0 * t + 50.0),
    "gear.ratio": ("", "parameter", "ratio", lambda t, side: 0 * t + 3.0),
    "switch.on": ("", "discrete", "", lambda t, side: _step(t, side, 0.0, 1.0)),
}  # values in SI
MASSES = 12


class Fake:
    """Samples every 10 ms, both sides of a jump at 1.5 s."""

    name, status, message = "stick_slip", "finished", ""
    states, energy_tolerance = (), None

    def __init__(self, masses=MASSES, catalog=dict):
        self.times = np.sort(np.append(np.arange(401) / 100, JUMP))
        self.calls, self.read = [], 0
        infos, self.curves = {}, []
        for path, (text, kind, doc, curve) in CURVES.items():
            component, _, name = path.partition(".")
            infos[path] = VariableInfo(path, component, name, unit(text), kind, doc, len(infos))
            self.curves.append(curve)
        for k in range(masses):
            path = f"masses[{k}].v"
            infos[path] = VariableInfo(path, f"masses[{k}]", "v", unit("mm/s"), "variable",
                                       "velocity", len(infos))  # fmt: skip
            self.curves.append(lambda t, side, k=k: 0.001 * k * np.exp(-t))
        self.catalog = catalog(infos)
        self.events = [EventRecord(JUMP, "friction", "breaks away"),
                       EventRecord(2.25, "friction", "sticks")]  # fmt: skip
        self.statistics = {"method": "rodas4", "why": "stiff", "steps": 1412, "rejected": 12,
                           "phases": {"compile": 0.0125, "solve": 0.25}}  # fmt: skip

    def values(self, indices, times=None, side="right"):
        self.calls.append(list(indices))
        if times is not None:
            assert np.all(np.diff(times) >= 0)
            return np.array([self.curves[i](times, side) for i in indices])
        left = np.append(np.append(False, np.diff(self.times) == 0)[1:], False)
        return np.array([np.where(left, self.curves[i](self.times, "left"),
                                  self.curves[i](self.times, "right")) for i in indices])

    def energy_terms(self):
        return [EnergyTerm("pull", "VelocitySource", -10.0, 0.0, 0.0, 10.0),
                EnergyTerm("block", "Mass", 2.0, 2.0, 0.0, 0.0),
                EnergyTerm("friction", "TranslationalFriction", 8.0, 0.0, 7.5, 0.0)]  # fmt: skip

    def sticking_terms(self):
        return []

    def bottleneck_terms(self):
        return None

    shared_loads = start_rows = shapes = sticking_terms

    versions = {"blocks-toolkit": "0.1.0"}

    @property
    def knots(self):
        return self.times

    close_times = knots

    def made_with(self):
        return MadeWith()

    def drawn(self, opened=()):
        return None


def result(**changes):
    fake = Fake()
    for name, value in changes.items():
        setattr(fake, name, value)
    return Result(fake)


def nothing_recorded():
    return result(times=np.empty(0), events=[], status="failed", message="no consistent start")
