"""How components are drawn in a schematic: the signs engineers know.

Two-ports lie between (-3, 0) and (3, 0); lengths are steps of the grid.
"""

from __future__ import annotations

from blocks.shapes import Symbol, arc, circle, line

__all__ = [
    "AMMETER", "BOX", "CAPACITOR", "CLUTCH", "COIL", "CURRENT_SOURCE", "DAMPER", "DIODE",
    "EARTH", "FLOW_SOURCE", "FORCE_SOURCE", "FRICTION", "GAP", "GEAR", "INERTIA", "INTEGRATOR",
    "MAGNET", "MASS", "METER", "MOTOR", "MOTION_SOURCE", "ONE_WAY", "OPAMP", "RESISTOR",
    "RESTRICTION", "ROD", "SPRING", "SPRING_DAMPER", "STOP", "SWITCH", "TANK",
    "THERMAL_MASS", "THERMAL_RESISTANCE", "TRANSFORMER", "TURNING_SOURCE", "VOLTAGE_SOURCE",
    "VOLTMETER", "WALL", "WAVE",
]  # fmt: skip


def _box(x: float, y: float, filled: bool = False):  # type: ignore[no-untyped-def]
    return line((-x, -y), (x, -y), (x, y), (-x, y), (-x, -y), filled=filled)


def _ends(inner: float):  # type: ignore[no-untyped-def]
    return line((-3, 0), (-inner, 0)), line((inner, 0), (3, 0))


BOX = Symbol()  # for a class that has not the sign of its base

# -- references: below (0, 0) ----------------------------------------------------------------
WALL = Symbol(line((-1.2, 0), (1.2, 0)), *(line((x, 0), (x - 0.6, -0.7))
              for x in (-0.6, 0, 0.6, 1.2)), half=(1.8, 0.9))  # fmt: skip
EARTH = Symbol(line((-1.1, 0), (1.1, 0)), line((-0.7, -0.4), (0.7, -0.4)),
               line((-0.3, -0.8), (0.3, -0.8)), half=(1.1, 0.9))  # fmt: skip
TANK = Symbol(line((0, 0), (0, -1.2)), line((-1.3, -0.7), (-1.3, -2), (1.3, -2), (1.3, -0.7)),
              line((-0.9, -1.5), (0.9, -1.5)), half=(1.3, 2))  # fmt: skip

# -- mechanics -------------------------------------------------------------------------------
_ZIGZAG = [(-2, 0), (-1.67, 0.8), (-1, -0.8), (-0.33, 0.8), (0.33, -0.8), (1, 0.8), (1.67, -0.8),
           (2, 0)]  # fmt: skip
SPRING = Symbol(line((-3, 0), *_ZIGZAG, (3, 0)))
DAMPER = Symbol(line((-3, 0), (0.1, 0)), line((0.1, 0.7), (0.1, -0.7)),
                line((-1, 1), (1, 1), (1, -1), (-1, -1)), line((1, 0), (3, 0)))  # fmt: skip
SPRING_DAMPER = Symbol(
    *_ends(2.3), line((-2.3, 0.9), (-2.3, -0.9)), line((2.3, 0.9), (2.3, -0.9)),
    line((-2.3, 0.9), (-1.5, 0.9), *((x, 0.9 + 0.45 * s) for x, s in
         ((-1.2, 1), (-0.6, -1), (0, 1), (0.6, -1), (1.2, 1))), (1.5, 0.9), (2.3, 0.9)),
    line((-2.3, -0.9), (0.1, -0.9)), line((0.1, -0.5), (0.1, -1.3)),
    line((-0.7, -0.3), (0.7, -0.3), (0.7, -1.5), (-0.7, -1.5)), line((0.7, -0.9), (2.3, -0.9)),
    half=(3, 1.5))  # fmt: skip
MASS = Symbol(_box(2.2, 1.4), letters="m", half=(2.2, 1.4), rigid=True)
INERTIA = Symbol(_box(1.2, 1.6), letters="J", half=(1.2, 1.6), rigid=True)
FRICTION = Symbol(line((-3, 0.5), (1.4, 0.5)), line((-1.4, -0.5), (3, -0.5)),
                  line((-3, 0), (-3, 0.5)), line((3, 0), (3, -0.5)),
                  *(line((x, 0.5), (x + 0.5, -0.5)) for x in (-1.2, -0.7, -0.2, 0.3, 0.8)),
                  half=(3, 1))  # fmt: skip
STOP = Symbol(line((-3, 0), (0, 0)), line((0, 0.6), (0, -0.6)),
              line((-1.4, 1), (-1.4, 0.35)), line((-1.4, -0.35), (-1.4, -1)),
              line((-1.4, 1), (1.4, 1), (1.4, -1), (-1.4, -1)), line((1.4, 0), (3, 0)))  # fmt: skip
GAP = Symbol(line((-3, 0), (-0.8, 0)), line((-0.8, 0.9), (-0.8, -0.9)),
             line((0.2, 0.9), (0.2, -0.9)), line((0.2, 0), *((0.2 + 0.5 * k + 0.25, 0.6 * (-1) ** k)
             for k in range(4)), (2.2, 0), (3, 0)))  # fmt: skip
ROD = Symbol(line((-3, 0.25), (3, 0.25)), line((-3, -0.25), (3, -0.25)), half=(3, 0.7))
CLUTCH = Symbol(line((-3, 0), (-0.4, 0)), line((-0.4, 1.4), (-0.4, -1.4)),
                line((0.1, -1.4), (0.55, -1.4), (0.55, 1.4), (0.1, 1.4), (0.1, -1.4), filled=True),
                line((0.5, 0), (3, 0)))  # fmt: skip
ONE_WAY = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((-0.9, 0), (0.8, 0)),
                 line((0.2, 0.5), (0.8, 0), (0.2, -0.5)), half=(3, 1.6))  # fmt: skip
GEAR = Symbol(line((-3, 0), (-1.2, 0)), line((-1.2, -1.7), (-1.2, 1.0)), line((1.2, 0), (3, 0)),
              line((1.2, -1.0), (1.2, 1.7)), line((-1.7, 1), (-0.7, 1)),
              line((0.7, 1.7), (1.7, 1.7)),
              line((-1.7, -1.7), (-0.7, -1.7)), line((0.7, -1), (1.7, -1)),
              line((-1.2, 0), (1.2, 0), dashed=True), half=(3, 1.8))  # fmt: skip
FORCE_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((0.9, 0), (-0.8, 0)),
                      line((-0.3, 0.5), (-0.9, 0), (-0.3, -0.5)), half=(3, 1.6),
                      source=True)  # fmt: skip
MOTION_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="v", half=(3, 1.6), source=True)
TURNING_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="ω", half=(3, 1.6), source=True)

# -- electrical ------------------------------------------------------------------------------
RESISTOR = Symbol(*_ends(1.8), _box(1.8, 0.65), half=(3, 0.9))
CAPACITOR = Symbol(*_ends(0.3), line((-0.3, 1.1), (-0.3, -1.1)), line((0.3, 1.1), (0.3, -1.1)),
                   half=(3, 1.2))  # fmt: skip
COIL = Symbol(*_ends(2), *(arc(x, 0, 0.5, 180, 0) for x in (-1.5, -0.5, 0.5, 1.5)), half=(3, 0.9))
DIODE = Symbol(*_ends(0.8), line((-0.8, 0.9), (-0.8, -0.9), (0.8, 0), (-0.8, 0.9)),
               line((0.8, 0.9), (0.8, -0.9)), half=(3, 1.1))  # fmt: skip
SWITCH = Symbol(line((-3, 0), (-1.4, 0)), line((1.4, 0), (3, 0)), line((-1.2, 0.1), (1.2, 1.2)),
                circle(-1.2, 0, 0.2), circle(1.2, 0, 0.2), half=(3, 1.3))  # fmt: skip
_PLUS = line((-2.6, 0.9), (-1.9, 0.9)), line((-2.25, 1.25), (-2.25, 0.55))
VOLTAGE_SOURCE = Symbol(line((-3, 0), (3, 0)), circle(0, 0, 1.5), *_PLUS, half=(3, 1.6),
                        source=True)  # fmt: skip
CURRENT_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((-0.9, 0), (0.9, 0)),
                        line((0.3, 0.5), (0.9, 0), (0.3, -0.5)), half=(3, 1.6),
                        source=True)  # fmt: skip
VOLTMETER = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="V", half=(3, 1.6))
AMMETER = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="A", half=(3, 1.6))
TRANSFORMER = Symbol(*(arc(-0.8, y, 0.5, -90, 90) for y in (1.5, 0.5, -0.5, -1.5)),
                     *(arc(0.8, y, 0.5, 90, 270) for y in (1.5, 0.5, -0.5, -1.5)),
                     line((-3, 2), (-0.8, 2)), line((-3, -2), (-0.8, -2)),
                     line((3, 2), (0.8, 2)), line((3, -2), (0.8, -2)), half=(3, 2),
                     left=("p1", "n1"), right=("p2", "n2"))  # fmt: skip
OPAMP = Symbol(line((-2.4, 2.6), (-2.4, -2.6), (2.4, 0), (-2.4, 2.6)), line((-3, 2), (-2.4, 2)),
               line((-3, -2), (-2.4, -2)), line((2.4, 0), (3, 0)), line((-2, 1.4), (-1.4, 1.4)),
               line((-1.7, 1.7), (-1.7, 1.1)), line((-2, -1.4), (-1.4, -1.4)), half=(3, 2.6),
               left=("p", "n"), right=("out",))  # fmt: skip
MOTOR = Symbol(circle(0, 0, 2), line((-3, 2), (0, 2)), line((-3, -2), (0, -2)),
               line((1.95, 0.4), (2.4, 0.4)), line((1.95, -0.4), (2.4, -0.4)),
               line((2.4, 0.4), (2.4, 2), (3, 2)), line((2.4, -0.4), (2.4, -2), (3, -2)),
               letters="M", half=(3, 2.2), left=("p", "n"), right=("R", "C"))  # fmt: skip

# -- heat, liquids, magnets ------------------------------------------------------------------
THERMAL_MASS = Symbol(line((0, 0), (0, -0.6)), line((-1.5, -0.6), (1.5, -0.6), (1.5, -2.8),
                      (-1.5, -2.8), (-1.5, -0.6)), line((-0.6, -2.4), (-0.6, -1.0)),
                      line((0, -2.4), (0, -1.0)), line((0.6, -2.4), (0.6, -1.0)),
                      half=(1.5, 2.9))  # fmt: skip
THERMAL_RESISTANCE = Symbol(*_ends(1.8), _box(1.8, 0.65), *(line((x, 0.65), (x - 0.5, -0.65))
                            for x in (-1, -0.2, 0.6, 1.4)), half=(3, 0.9))  # fmt: skip
FLOW_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((-0.6, 0.9), (0.9, 0), (-0.6, -0.9),
                     (-0.6, 0.9)), half=(3, 1.6), source=True)  # fmt: skip
RESTRICTION = Symbol(line((-3, 0), (3, 0)), arc(0, 1.35, 1, 225, 315), arc(0, -1.35, 1, 135, 45),
                     half=(3, 0.9))  # fmt: skip
MAGNET = Symbol(*_ends(1.8), _box(1.8, 0.8), line((0, 0.8), (0, -0.8)), half=(3, 1), source=True)

# -- measuring and signals -------------------------------------------------------------------
METER = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((-0.7, -0.7), (0.7, 0.7)),
               line((0.1, 0.6), (0.7, 0.7), (0.6, 0.1)), half=(3, 1.6))  # fmt: skip
INTEGRATOR = Symbol(_box(1.8, 1.4), letters="∫", half=(1.8, 1.4))
WAVE = Symbol(_box(1.8, 1.4), line((-1.3, -0.7), (-0.6, -0.7), (-0.6, 0.7), (0.4, 0.7), (0.4, -0.7),
              (1.3, -0.7)), half=(1.8, 1.4))  # fmt: skip
