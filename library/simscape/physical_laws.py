"""Which blocks have their whole law written in the text of a model?

A law is units of signals, and equations in the names of the ports and parameters of the file. It
takes the place of a component where the library has none with the same ports.
"""

from __future__ import annotations

__all__ = ["law_of"]

_LAWS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "ee.sensors.power_sensor": ({"P": "W"}, (
        "self.s.v == self.p.v", "self.s.i + self.p.i + self.n.i == 0", "self.n.i == 0",
        "self.P == (self.p.v - self.n.v) * self.s.i")),
    "sdl.sensors.rotational_power_sensor": ({"P": "W"}, (
        "self.S.w == self.R.w", "self.S.t + self.R.t + self.C.t == 0", "self.C.t == 0",
        "self.P == self.S.t * (self.R.w - self.C.w)")),
    "sdl.sensors.translational_power_sensor": ({"P": "W"}, (
        "self.S.v == self.R.v", "self.S.f + self.R.f + self.C.f == 0", "self.C.f == 0",
        "self.P == self.S.f * (self.R.v - self.C.v)")),
    "ee.sources.rail_positive": ({}, ("self.p.v == self.v0",)),
    "sdl.couplings.springs.var_rot_damper": ({"B": "N*m*s/rad"}, (
        "self.R.t + self.C.t == 0",
        "self.R.t == maximum(self.B, self.Bmin) * (self.R.w - self.C.w)")),
    "sdl.tires.vehicle_body": ({"V": "m/s", "wind": "m/s", "NR": "N", "NF": "N", "beta": "rad"}, (
        "self.V == self.H.v",
        "self.mass * der(self.H.v) == self.H.f - self.mass * self.g * sin(self.beta)"
        " - self.rho * self.Cd * self.area / 2 * (self.V + self.wind) * abs_(self.V + self.wind)",
        "self.NF * self.n_w * (self.x_f + self.x_r) =="
        " self.x_r * self.mass * self.g * cos(self.beta) - self.y_c * self.H.f",
        "self.NR * self.n_w * (self.x_f + self.x_r) =="
        " self.x_f * self.mass * self.g * cos(self.beta) + self.y_c * self.H.f")),
}
_OFF = {"sdl.tires.vehicle_body": ("mass_var", "Cd_var", "model_pitch")}


def law_of(kind: str) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Units of signals, equations, and the parameters that must be off; nothing of most blocks."""
    units, equations = _LAWS.get(kind, ({}, ()))
    return units, equations, _OFF.get(kind, ())
