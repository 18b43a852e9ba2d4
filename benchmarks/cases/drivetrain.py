"""A car with six gears, six clutches and a shift controller; and the same by hand.

By hand means: the modes of the clutches thought through by a person and written out in
Python, with scipy's LSODA between them and its events to find their ends. Both sides
solve the same equations, exact friction among them, and are held to the same error
against a tight solution: tolerances mean different things to different methods.
``python -m benchmarks.cases.drivetrain`` prints time and error of both over the tolerance.
"""

from __future__ import annotations

import time as clock
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import copysign
from typing import Any

import numpy as np

from blocks import (
    Component,
    Discrete,
    Input,
    Model,
    Output,
    Parameter,
    initially,
    maximum,
    minimum,
    quantity,
    time,
    when,
    where,
)
from library.mechanisms import DiscBrake, DiscClutch, GearBox, RollingWheel
from library.rotational import (
    Inertia,
    RotationalMotionSensor,
    RotationalReference,
    RotationalSpringDamper,
    TorqueSource,
)
from library.signal import Table2D, TimeTable
from library.translational import MotionSensor, Reference, VehicleBody

__all__ = ["ByHand", "ShiftController", "cases", "drivetrain"]

DURATION = 60.0
RATIOS = (3.8, 2.3, 1.55, 1.15, 0.9, 0.72)
FINAL = 3.5
UP = (9.0, 15.0, 21.5, 28.0, 34.0)  # m/s, to the next gear
DOWN = (6.0, 11.0, 17.0, 23.0, 29.0)  # m/s, back again
CLAMP, LAUNCH, RAMP = 4000.0, 4.0, 0.4  # N, s, s
SPEEDS = (0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0, 7000.0)  # rpm
THROTTLES = (0.0, 0.5, 1.0)
TORQUES = (
    (40.0, 0.0, -15.0, -25.0, -35.0, -45.0, -55.0, -70.0),
    (90.0, 120.0, 140.0, 145.0, 130.0, 105.0, 70.0, 0.0),
    (110.0, 190.0, 230.0, 250.0, 250.0, 235.0, 200.0, 60.0),
)  # N*m, a row per throttle
PEDAL = ((0.0, 4.0, 6.0, 36.0, 36.5, 60.0), (0.25, 0.5, 1.0, 1.0, 0.0, 0.0))
BRAKE = ((0.0, 37.0, 38.0, 52.0, 53.0, 60.0), (0.0, 0.0, 11000.0, 11000.0, 0.0, 0.0))  # N
ENGINE, SHAFT, WHEELS, CAR = 0.2, 0.05, 3.0, 1400.0  # kg*m^2 and kg
STIFFNESS, DAMPING = 12e3, 120.0  # of the half shafts, N*m/rad and N*m*s/rad
RADIUS = 0.3  # m
LEVER = 4 * 0.13  # friction surfaces times effective radius of a clutch, m
STATIC, KINETIC = 0.35, 0.3
BRAKING = 2 * 0.15 * KINETIC  # pads, radius, coefficient
AIR, ROLLING = 1.18 * 0.35 * 2.2 / 2, 0.01 * CAR * 9.81  # N*s^2/m^2, N


class ShiftController(Component):
    """Chooses gears by speed, with hysteresis, and hands over from clutch to clutch.

    Shifts up above ``up[gear]`` and down below ``down[gear]``. During a shift the force
    on the new clutch rises to ``clamp`` within ``ramp`` while that on the old one falls.
    The first gear takes the time ``launch`` to close.
    """

    up = Parameter(["10 m/s"], doc="Speeds to shift up, one per step")
    down = Parameter(["5 m/s"], doc="Speeds to shift down, one per step")
    clamp = Parameter("4 kN", above=0, doc="Force on a closed clutch")
    launch = Parameter("4 s", above=0, doc="Time to close the first clutch")
    ramp = Parameter("0.4 s", above=0, doc="Duration of a shift")
    v = Input("m/s", doc="speed of the car")
    N = Output(lambda c: ["N"] * (len(c.up) + 1), doc="forces on the clutches")
    gear = Discrete("1", 1.0)
    last = Discrete("1", 0.0, doc="the gear before")
    since = Discrete("s", "0 s", doc="when the last shift began")

    def equations(self) -> Iterator[Any]:
        steps = len(self.up)
        above, below = quantity("1 km/s"), quantity("-1 km/s")  # from the last and first gear
        for k in range(steps):
            above = where(self.gear < steps + 0.5 - k, self.up[steps - 1 - k], above, events=False)
            below = where(self.gear > k + 1.5, self.down[k], below, events=False)
        shift = {self.last: self.gear, self.since: time}
        yield initially({self.since: time})
        yield when(self.v > above, {self.gear: self.gear + 1, **shift})
        yield when(self.v < below, {self.gear: self.gear - 1, **shift})
        duration = where(self.last < 0.5, self.launch, self.ramp, events=False)
        done = minimum(maximum((time - self.since) / duration, 0), 1)
        for k, force in enumerate(self.N, 1):
            closing = where(abs(self.gear - k) < 0.5, done, 0, events=False)
            opening = where(abs(self.last - k) < 0.5, 1 - done, 0, events=False)
            yield force == self.clamp * (closing + opening)


def drivetrain() -> Model:
    """Engine, six clutches and gears, half shafts, wheels, car; pedals and controller."""
    model = Model("six speeds")
    model.pedal = TimeTable(times=quantity(PEDAL[0], "s"), values=list(PEDAL[1]))
    model.brake_force = TimeTable(times=quantity(BRAKE[0], "s"), values=quantity(BRAKE[1], "N"))
    model.map = Table2D(x1=list(THROTTLES), x2=quantity(SPEEDS, "rpm"),
                        values=quantity(TORQUES, "N*m"), extrapolation="nearest")  # fmt: skip
    model.torque = TorqueSource()
    model.engine = Inertia(inertia=quantity(ENGINE, "kg*m^2"), w="1000 rpm")
    model.engine_speed = RotationalMotionSensor()
    model.clutches = DiscClutch(count=len(RATIOS), static_coefficient=STATIC,
                                kinetic_coefficient=KINETIC)  # fmt: skip
    model.gears = GearBox(count=len(RATIOS), ratio=list(RATIOS))
    model.shaft = Inertia(inertia=quantity(SHAFT, "kg*m^2"))
    model.final = GearBox(ratio=FINAL)
    model.half_shafts = RotationalSpringDamper(stiffness=quantity(STIFFNESS, "N*m/rad"),
                                               damping=quantity(DAMPING, "N*m*s/rad"))
    model.wheels = Inertia(inertia=quantity(WHEELS, "kg*m^2"))
    model.brake = DiscBrake(kinetic_coefficient=KINETIC)
    model.tyre = RollingWheel(radius=quantity(RADIUS, "m"))
    model.car = VehicleBody(mass=quantity(CAR, "kg"), frontal_area="2.2 m^2",
                            drag_coefficient=0.35)  # fmt: skip
    model.speed = MotionSensor()
    model.controller = ShiftController(up=quantity(UP, "m/s"), down=quantity(DOWN, "m/s"),
                                       clamp=quantity(CLAMP, "N"), launch=quantity(LAUNCH, "s"),
                                       ramp=quantity(RAMP, "s"))
    model.housing, model.road = RotationalReference(), Reference()

    model.connect(model.pedal.y, model.map.u1)
    model.connect(model.engine_speed.W, model.map.u2)
    model.connect(model.map.y, model.torque.S)
    model.connect(model.torque.R, model.engine.I, model.engine_speed.R, model.clutches.C)
    model.connect(model.clutches.R, model.gears.S)
    model.connect(model.gears.O, model.shaft.I, model.final.S)
    model.connect(model.final.O, model.half_shafts.R)
    model.connect(model.half_shafts.C, model.wheels.I, model.brake.R, model.tyre.A)
    model.connect(model.tyre.H, model.car.H, model.speed.R)
    model.connect(model.speed.V, model.controller.v)
    model.connect(model.brake_force.y, model.brake.N)
    for k in range(len(RATIOS)):
        model.connect(getattr(model.controller, f"N{k + 1}"), model.clutches[k].N)
    model.connect(model.torque.C, model.engine_speed.C, model.brake.C, model.housing.W)
    model.connect(model.speed.C, model.road.V)
    return model


# -- by hand -------------------------------------------------------------------------------
def _line(x: float, xs: tuple[float, ...], ys: tuple[float, ...]) -> float:
    """Table, held outside: faster for a single number than numpy.interp."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    k = bisect_right(xs, x) - 1
    return ys[k] + (ys[k + 1] - ys[k]) * (x - xs[k]) / (xs[k + 1] - xs[k])


SPEEDS_SI = tuple(2 * np.pi / 60 * n for n in SPEEDS)


def _engine(throttle: float, w: float) -> float:
    k = 0 if throttle < THROTTLES[1] else 1
    share = (throttle - THROTTLES[k]) / (THROTTLES[k + 1] - THROTTLES[k])
    return (1 - share) * _line(w, SPEEDS_SI, TORQUES[k]) + share * _line(w, SPEEDS_SI,
                                                                       TORQUES[k + 1])


@dataclass
class ByHand:
    """The drivetrain as scalars: engine speed, shaft speed, twist of the half shafts, speed.

    In every phase each clutch under pressure either slips in a known direction or
    sticks; scipy's events end a phase.
    """

    gear: int = 1
    last: int = 0
    since: float = 0.0
    stuck: int = 0  # the gear whose clutch sticks, 0 for none

    def __post_init__(self) -> None:
        self.sign: dict[int, float] = {}

    @property
    def duration(self) -> float:
        return RAMP if self.last else LAUNCH

    def forces(self, t: float) -> list[tuple[int, float]]:
        """(gear, force) of the clutches under pressure."""
        done = min(max((t - self.since) / self.duration, 0.0), 1.0)
        pressed = [(self.gear, CLAMP * done)]
        if self.last and done < 1:
            pressed.append((self.last, CLAMP * (1 - done)))
        return pressed

    def rates(self, t: float, y: Any) -> tuple[float, float, float, float, float]:
        """Slopes of the four unknowns, and the torque of the clutch that sticks."""
        w, shaft, twist, v = y
        rate = shaft / FINAL - v / RADIUS
        half = STIFFNESS * twist + DAMPING * rate
        drive = _engine(_line(t, *PEDAL), w)
        load = half / FINAL
        for k, force in self.forces(t):
            if k != self.stuck:
                torque = KINETIC * LEVER * force * self.sign[k]
                drive -= torque
                load -= RATIOS[k - 1] * torque
        if self.stuck:
            i = RATIOS[self.stuck - 1]
            acceleration = (i * drive - load) / (i * i * ENGINE + SHAFT)
            held = drive - ENGINE * i * acceleration
            slopes = i * acceleration, acceleration
        else:
            held = 0.0
            slopes = drive / ENGINE, -load / SHAFT
        pull = half - BRAKING * _line(t, *BRAKE) * (v > 0)
        road = AIR * v * abs(v) + ROLLING * np.tanh(v / 0.01)
        car = (pull / RADIUS - road) / (CAR + WHEELS / RADIUS**2)
        return (*slopes, rate, car, held)

    def slope(self, t: float, y: Any) -> tuple[float, ...]:
        return self.rates(t, y)[:4]

    def slip(self, k: int, y: Any) -> float:
        return y[0] - RATIOS[k - 1] * y[1]

    def grip(self, t: float, y: Any) -> float:
        """What the clutch that sticks could carry more."""
        force = dict(self.forces(t))[self.stuck]
        return STATIC * LEVER * force - abs(self.rates(t, y)[4])

    # -- what ends a phase, in which direction it crosses zero, and what then happens
    def watched(self) -> list[tuple[Any, float, Callable[[float, Any], None]]]:
        found: list[tuple[Any, float, Any]] = []
        for k, _ in self.forces(self.begun):
            if k != self.stuck:
                found.append((lambda t, y, k=k: self.slip(k, y), -self.sign[k],
                              lambda t, y, k=k: self.meet(t, y, k)))
        if self.stuck:
            found.append((self.grip, -1.0, self.release))
        if self.gear <= len(UP):
            found.append((lambda t, y: y[3] - UP[self.gear - 1], 1.0,
                          lambda t, y: self.shift(t, y, self.gear + 1)))  # fmt: skip
        if self.gear > 1:
            found.append((lambda t, y: y[3] - DOWN[self.gear - 2], -1.0,
                          lambda t, y: self.shift(t, y, self.gear - 1)))  # fmt: skip
        return found

    def meet(self, t: float, y: Any, k: int) -> None:
        """Clutch k has no slip any more: it sticks if it can."""
        before, self.stuck = self.stuck, k
        if before or self.grip(t, y) < 0:
            self.stuck, self.sign[k] = before, -self.sign[k]
        else:
            y[0] = RATIOS[k - 1] * y[1]

    def release(self, t: float, y: Any) -> None:
        """The clutch that sticks slips, in the direction of the torque it carried."""
        self.sign[self.stuck] = copysign(1.0, self.rates(t, y)[4])
        self.stuck = 0

    def shift(self, t: float, y: Any, to: int) -> None:
        self.gear, self.last, self.since = to, self.gear, t
        self.sign[to] = copysign(1.0, self.slip(to, y))

    def run(self, rtol: float, atol: float, method: str = "LSODA") -> list[Any]:
        """Dense solutions of all phases."""
        from scipy.integrate import solve_ivp

        t, y = 0.0, np.array([SPEEDS_SI[1], 0.0, 0.0, 0.0])
        known = sorted({*PEDAL[0], *BRAKE[0], DURATION})
        self.sign[1] = 1.0
        phases = []
        while t < DURATION:
            self.begun = t
            stop = min(s for s in (*known, self.since + self.duration) if s > t)
            watched = self.watched()
            for function, direction, _ in watched:
                function = getattr(function, "__func__", function)
                function.terminal, function.direction = True, direction
            done = solve_ivp(self.slope, (t, stop), y, method=method, rtol=rtol, atol=atol,
                             events=[f for f, _, _ in watched], dense_output=True)  # fmt: skip
            assert done.success, done.message
            phases.append(done.sol)
            t, y = float(done.t[-1]), done.y[:, -1].copy()
            for (_, _, action), times in zip(watched, done.t_events, strict=True):
                if len(times):
                    action(t, y)
        return phases


# -- comparison ----------------------------------------------------------------------------
ERROR = 2e-3  # m/s of the speed, which reaches 50 m/s: a twentieth of what a pixel shows
TIMES = np.linspace(0.0, DURATION, 6001)


def _speed_by_hand(phases: list[Any]) -> np.ndarray:
    starts = np.array([phase.t_min for phase in phases])
    at = np.searchsorted(starts, TIMES, side="right") - 1
    return np.array([phases[k](t)[3] for k, t in zip(at, TIMES, strict=True)])


@cache
def _exact() -> np.ndarray:
    return _speed_by_hand(ByHand().run(1e-12, 1e-13, "DOP853"))


_model = cache(drivetrain)


def toolkit(rtol: float) -> tuple[float, float]:
    """Seconds for a run of the compiled model, and the largest error of the speed."""
    model = _model()
    model.compile()
    began = clock.perf_counter()
    result = model.simulate(f"{DURATION} s", rtol=rtol)
    seconds = clock.perf_counter() - began
    return seconds, float(np.abs(result["car.v"].at(quantity(TIMES, "s")).m - _exact()).max())


def by_hand(rtol: float) -> tuple[float, float]:
    began = clock.perf_counter()
    phases = ByHand().run(rtol, rtol * 1e-2)
    seconds = clock.perf_counter() - began
    return seconds, float(np.abs(_speed_by_hand(phases) - _exact()).max())


TOLERANCES = tuple(10.0**-k for k in np.arange(3, 7.5, 0.5))


@cache
def loosest(side: Callable[[float], tuple[float, float]]) -> float:
    """The loosest tolerance at which a side keeps the error."""
    return next(rtol for rtol in TOLERANCES if side(rtol)[1] <= ERROR)


def cases() -> Iterator[Any]:
    """For ``python -m benchmarks``."""
    from ..timing import Case

    yield Case(f"drivetrain 60 s, speed within {ERROR * 1e3:g} mm/s", lambda: _seconds(toolkit),
               "LSODA, hand-written; goal 1.5", lambda: _seconds(by_hand))


def _seconds(side: Callable[[float], tuple[float, float]]) -> float:
    return side(loosest(side))[0]


if __name__ == "__main__":
    print(f"{'rtol':>8}{'toolkit':>12}{'error':>14}{'by hand':>12}{'error':>14}")
    toolkit(1e-3)  # functions are made with the first run
    for tolerance in TOLERANCES:
        mine, other = toolkit(tolerance), by_hand(tolerance)
        print(f"{tolerance:>8.1e}{mine[0] * 1e3:>9.0f} ms{mine[1]:>10.1e} m/s"
              f"{other[0] * 1e3:>9.0f} ms{other[1]:>10.1e} m/s")  # fmt: skip
