"""How components are drawn in a schematic: the signs engineers know.

Two-ports lie between (-3, 0) and (3, 0); lengths are steps of the grid.
"""

from blocks.shapes import Symbol, arc, circle, line


def _box(x, y, filled=False):
    return line((-x, -y), (x, -y), (x, y), (-x, y), (-x, -y), filled=filled)


def _ends(inner):
    return line((-3, 0), (-inner, 0)), line((inner, 0), (3, 0))


BOX = Symbol()  # for a class that has not the sign of its base

# -- references: below (0, 0) ----------------------------------------------------------------
WALL = Symbol(line((-1.2, 0), (1.2, 0)), *(line((x, 0), (x - 0.6, -0.7))
              for x in (-0.6, 0, 0.6, 1.2)), half=(1.8, 0.9))  # fmt: skip
EARTH = Symbol(line((-1.1, 0), (1.1, 0)), line((-0.7, -0.4), (0.7, -0.4)),
               line((-0.3, -0.8), (0.3, -0.8)), half=(1.1, 0.9))  # fmt: skip
TANK = Symbol(line((0, 0), (0, -1.2)), line((-1.3, -0.7), (-1.3, -2), (1.3, -2), (1.3, -0.7)),
              line((-0.9, -1.5), (0.9, -1.5)), half=(1.3, 2))  # fmt: skip
END = Symbol(line((0, 0), (0, -0.9)), line((-0.7, -0.9), (0.7, -0.9)), half=(0.8, 1))
OPEN = Symbol(*_ends(0.9), circle(-0.7, 0, 0.2), circle(0.7, 0, 0.2), half=(3, 0.6))

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
              line((-1.4, 1), (1.4, 1), (1.4, -1), (-1.4, -1)), line((1.4, 0), (3, 0)),
              named=True)  # fmt: skip
GAP = Symbol(line((-3, 0), (-0.8, 0)), line((-0.8, 0.9), (-0.8, -0.9)),
             line((0.2, 0.9), (0.2, -0.9)), line((0.2, 0), *((0.2 + 0.5 * k + 0.25, 0.6 * (-1) ** k)
             for k in range(4)), (2.2, 0), (3, 0)), named=True)  # fmt: skip
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
              line((-1.2, 0), (1.2, 0), dashed=True), half=(3, 1.8), named=True)  # fmt: skip
FORCE_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((0.9, 0), (-0.8, 0)),
                      line((-0.3, 0.5), (-0.9, 0), (-0.3, -0.5)), half=(3, 1.6),
                      source=True)  # fmt: skip
MOTION_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="v", half=(3, 1.6), source=True)
TURNING_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="ω", half=(3, 1.6), source=True)
INERTER = Symbol(*_ends(1.7), _box(1.7, 0.9), letters="b", half=(3, 1))
DRAG = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="v²", half=(3, 1.6))
TURNING_DRAG = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="ω²", half=(3, 1.6))
VEHICLE = Symbol(line((-2.4, -0.7), (-2.4, 0.2), (-1.4, 0.4), (-0.8, 1.3), (0.9, 1.3), (1.5, 0.4),
                      (2.4, 0.1), (2.4, -0.7), (-2.4, -0.7)), circle(-1.3, -0.9, 0.5),
                 circle(1.3, -0.9, 0.5), half=(2.4, 1.4), rigid=True)  # fmt: skip
WHEEL_AND_AXLE = Symbol(*_ends(1.5), circle(0, 0, 1.5), circle(0, 0, 0.5), half=(3, 1.6))
WHEEL = Symbol(*_ends(1.4), circle(0, 0, 1.4), circle(0, 0, 0.2, filled=True),
               line((-2, -1.4), (2, -1.4)), half=(3, 1.5))  # fmt: skip
RACK = Symbol(line((-3, 0), (-1.3, 0)), circle(-0.3, 0, 1), line((1.9, -1.3), (1.9, 0), (3, 0)),
              line((-1.9, -1.6), (1.9, -1.6)), line(*((-1.9 + 0.38 * k, -1.2 if k % 2 else -1.6)
              for k in range(11))), half=(3, 1.7))  # fmt: skip
SCREW = Symbol(_box(1.3, 0.9), line((-3, 0), (3, 0)), *(line((x - 0.3, -0.6), (x + 0.3, 0.6))
               for x in (-2.3, -1.8, 1.8, 2.3)), half=(3, 1))  # fmt: skip
CRANK = Symbol(line((-3, 0), (-1.3, 0)), circle(-1.3, 0, 1.1),
               line((-1.3, 0), (-0.6, 0.8), (1.7, 0)),
               line((1.3, 0.5), (2.3, 0.5), (2.3, -0.5), (1.3, -0.5), (1.3, 0.5)),
               line((2.3, 0), (3, 0)), half=(3, 1.2))  # fmt: skip
LEVER = Symbol(line((-3, 0), (0.6, 0)), line((0.6, 2), (0.6, -2)), line((3, 2), (0.6, 2)),
               line((3, -2), (0.6, -2)), *(circle(0.6, y, 0.25, filled=True) for y in (-2, 0, 2)),
               half=(3, 2.3), left=("C",), right=("A", "B"))  # fmt: skip
PLANETS = Symbol(circle(0, 0, 2.2), circle(0, 0, 0.7), circle(0, 1.45, 0.7), circle(0, -1.45, 0.7),
                 line((-3, 0), (-1.2, 0), (0, 1.45)), line((-1.2, 0), (0, -1.45)),
                 line((0.92, 2), (3, 2)),
                 line((0, 0), (1.2, -2.4), (2.4, -2.4), (2.4, -2), (3, -2)),
                 half=(3, 2.4), left=("C",), right=("R", "S"))  # fmt: skip
DIFFERENTIAL = Symbol(_box(1.8, 1.2), line((-3, 0), (-1.8, 0)), *(
    line((-0.8, s * 0.9), (0.8, s * 0.9), (0, 0), (-0.8, s * 0.9)) for s in (1, -1)), *(
    line((0, s * 0.9), (0, s * 2), (3, s * 2)) for s in (1, -1)), half=(3, 2.2), left=("D",),
    right=("S1", "S2"))  # fmt: skip

# -- mechanics in a plane --------------------------------------------------------------------
DISC = Symbol(circle(0, 0, 1.5), line((-0.5, 0), (0.5, 0)), line((0, -0.5), (0, 0.5)),
              half=(1.5, 1.5), rigid=True)  # fmt: skip
CONTACT = Symbol(*_ends(2), circle(-1, 0, 1), circle(1, 0, 1), half=(3, 1.1))
HINGE = Symbol(*_ends(0.5), circle(0, 0, 0.5), half=(3, 0.7))
SLIDER = Symbol(line((-3, 0), (1.2, 0)), line((-1.4, 0.5), (1.4, 0.5), (1.4, -0.5), (-1.4, -0.5)),
                line((1.4, 0), (3, 0)), half=(3, 0.8))  # fmt: skip
FORCE_ARROW = Symbol(line((0, 0), (0, -2.4)), line((-0.5, -0.8), (0, 0), (0.5, -0.8)),
                     half=(0.8, 2.5), source=True)  # fmt: skip
WEIGHT = Symbol(line((0, 0), (0, -2.4)), line((-0.5, -1.6), (0, -2.4), (0.5, -1.6)),
                half=(0.8, 2.5), source=True)  # fmt: skip
TORQUE_ARROW = Symbol(line((0, 0), (0, -1.2)), arc(0, -1.2, 1, -60, 200),
                      line((-1.3, -1.1), (-0.94, -1.54), (-0.5, -1.3)), half=(1.3, 2.3),
                      source=True)  # fmt: skip

# -- electrical ------------------------------------------------------------------------------
RESISTOR = Symbol(*_ends(1.8), _box(1.8, 0.65), half=(3, 0.9))
CAPACITOR = Symbol(*_ends(0.3), line((-0.3, 1.1), (-0.3, -1.1)), line((0.3, 1.1), (0.3, -1.1)),
                   half=(3, 1.2))  # fmt: skip
COIL = Symbol(*_ends(2), *(arc(x, 0, 0.5, 180, 0) for x in (-1.5, -0.5, 0.5, 1.5)), half=(3, 0.9))
DIODE = Symbol(*_ends(0.8), line((-0.8, 0.9), (-0.8, -0.9), (0.8, 0), (-0.8, 0.9)),
               line((0.8, 0.9), (0.8, -0.9)), half=(3, 1.1))  # fmt: skip
SWITCH = Symbol(line((-3, 0), (-1.4, 0)), line((1.4, 0), (3, 0)), line((-1.2, 0.1), (1.2, 1.2)),
                circle(-1.2, 0, 0.2), circle(1.2, 0, 0.2), half=(3, 1.3))  # fmt: skip
CHANGEOVER = Symbol(line((-3, 0), (-1.4, 0)), circle(-1.2, 0, 0.2), line((-1.1, 0.2), (1.1, 1.8)),
                    *(line((1.4, y), (3, y)) for y in (2, -2)),
                    *(circle(1.2, y, 0.2) for y in (2, -2)), half=(3, 2.2), left=("p",),
                    right=("n1", "n2"))  # fmt: skip
THYRISTOR = Symbol(*DIODE.strokes, line((0.8, 0), (1.6, -0.9)), half=(3, 1.1), named=True)
_PLUS = line((-2.6, 0.9), (-1.9, 0.9)), line((-2.25, 1.25), (-2.25, 0.55))
VOLTAGE_SOURCE = Symbol(line((-3, 0), (3, 0)), circle(0, 0, 1.5), *_PLUS, half=(3, 1.6),
                        source=True)  # fmt: skip
CURRENT_SOURCE = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((-0.9, 0), (0.9, 0)),
                        line((0.3, 0.5), (0.9, 0), (0.3, -0.5)), half=(3, 1.6),
                        source=True)  # fmt: skip
VOLTMETER = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="V", half=(3, 1.6), named=True)
AMMETER = Symbol(*_ends(1.5), circle(0, 0, 1.5), letters="A", half=(3, 1.6), named=True)
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
TRANSISTOR = Symbol(line((-3, 0), (-1, 0), (-1, -0.7)), line((1, -0.7), (1, 0), (3, 0)),
                    line((-1.3, -0.7), (1.3, -0.7)), line((-1, -1.1), (1, -1.1)),
                    line((1.4, 0.3), (2, 0), (1.4, -0.3), (1.4, 0.3), filled=True),
                    line((-2.3, 0), (-2.3, 1.1), (2.3, 1.1), (2.3, 0)),
                    line((-0.5, 1.6), (-0.5, 0.6)), line((0.5, 1.6), (-0.5, 1.1), (0.5, 0.6),
                    (0.5, 1.6)), half=(3, 1.7), named=True)  # fmt: skip
GYRATOR = Symbol(arc(-2.6, 0, 2.4, 56.4, -56.4), arc(2.6, 0, 2.4, 123.6, 236.4), *(
    line((3 * s, y), (1.27 * s, y)) for s in (-1, 1) for y in (-2, 2)), half=(3, 2),
    left=("p1", "n1"), right=("p2", "n2"))  # fmt: skip


def _controlled(by_current, current, right):
    """A source in a diamond, and what it follows at its left."""
    followed = [line((-3, 2), (-1.6, 2), (-1.6, -2), (-3, -2)),
                line((-1.9, 0.4), (-1.6, -0.2), (-1.3, 0.4))] if by_current else [
        *(line((-3, y), (-1.8, y)) for y in (2, -2)), *(circle(-1.6, y, 0.2) for y in (2, -2))]
    inner = [line((1, -0.7), (1, 0.7)), line((0.7, 0.2), (1, 0.7), (1.3, 0.2))] if current else [
        line((0.7, 0.5), (1.3, 0.5)), line((1, 0.2), (1, 0.8)), line((0.7, -0.5), (1.3, -0.5))]
    return Symbol(*followed, *inner, line((1, 1.4), (2.3, 0), (1, -1.4), (-0.3, 0), (1, 1.4)),
                  *(line((1, 1.4 * s), (1, 2 * s), (3, 2 * s)) for s in (1, -1)), half=(3, 2),
                  left=("p1", "n1"), right=right)  # fmt: skip


VOLTAGE_BY_VOLTAGE = _controlled(False, False, ("p2", "n2"))
VOLTAGE_BY_CURRENT = _controlled(True, False, ("p2", "n2"))
CURRENT_BY_VOLTAGE = _controlled(False, True, ("head", "tail"))
CURRENT_BY_CURRENT = _controlled(True, True, ("head", "tail"))
_WINDING = (line((-3, 2), (-1.3, 2)), line((-3, -2), (-1.3, -2)),
            *(arc(-1.3, y, 0.5, -90, 90) for y in (1.5, 0.5, -0.5, -1.5)))  # fmt: skip
LINEAR_MOTOR = Symbol(*_WINDING,
                      line((-0.3, 0.7), (1.5, 0.7), (1.5, -0.7), (-0.3, -0.7), (-0.3, 0.7)),
                      line((1.5, 0), (2.2, 0), (2.2, 2), (3, 2)), line((-0.4, -2), (3, -2)),
                      *(line((x, -1.6), (x + 0.3, -2)) for x in (0, 0.6, 1.2, 1.8)),
                      half=(3, 2.2), left=("p", "n"), right=("R", "C"))  # fmt: skip
PIEZO = Symbol(line((-3, 2), (0, 2), (0, 1)), line((-3, -2), (0, -2), (0, -1)), _box(1.2, 0.6),
               line((-1.2, 1), (1.2, 1)), line((-1.2, -1), (1.2, -1)),
               line((1.2, 0.3), (2, 0.3), (2, 2), (3, 2)),
               line((1.2, -0.3), (2, -0.3), (2, -2), (3, -2)), half=(3, 2.2), left=("p", "n"),
               right=("R", "C"))  # fmt: skip
COIL_ON_CORE = Symbol(*_WINDING, line((3, 2), (0, 2), (0, -2), (3, -2)),
                      line((0.6, 1.5), (0.6, -1.5)), half=(3, 2.2), left=("p", "n"),
                      right=("N", "S"))  # fmt: skip

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
TEMPERATURE = Symbol(line((0, 0), (0, -0.4)), circle(0, -1.8, 1.4), line((-0.6, -1.2), (0.6, -1.2)),
                     line((0, -1.2), (0, -2.5)), half=(1.4, 3.2), source=True)  # fmt: skip
COLUMN = Symbol(*_ends(2.2), _box(2.2, 0.65), *(line((x, 0.65), (x, -0.65)) for x in (-0.73, 0.73)),
                *(line((x + 0.25, 0.65), (x - 0.25, -0.65)) for x in (-1.46, 0, 1.46)),
                half=(3, 0.9))  # fmt: skip
CHECK_VALVE = Symbol(*DIODE.strokes, half=(3, 1.1), named=True)
RELIEF_VALVE = Symbol(*_ends(1.2), _box(1.2, 1.2), line((-1.2, 0), (1.2, 0)),
                      line((0.3, 0.5), (1.2, 0), (0.3, -0.5), (0.3, 0.5), filled=True),
                      line((0, 1.2), (0.5, 1.4), (-0.5, 1.7), (0.5, 2), (-0.5, 2.3)),
                      half=(3, 2.4), named=True)  # fmt: skip
PIPE = Symbol(*_ends(2), line((-2, 0.5), (2, 0.5)), line((-2, -0.5), (2, -0.5)),
              *(line((x, 0.8), (x, -0.8)) for x in (-2, 2)), half=(3, 0.9), left=("A",),
              right=("B",))  # fmt: skip
CHAMBER = Symbol(line((0, 0), (0, -0.6)), circle(0, -1.7, 1.1), half=(1.2, 2.8))
ACCUMULATOR = Symbol(line((0, 0), (0, -0.5)), arc(0, -1.5, 1, 0, 180), arc(0, -2.3, 1, 180, 360),
                     line((-1, -1.5), (-1, -2.3)), line((1, -1.5), (1, -2.3)),
                     line((-1, -1.9), (1, -1.9)), half=(1.1, 3.3))  # fmt: skip


def _machine(inward, right):
    """A circle with a shaft at its left and a triangle that tells whither the liquid pushes."""
    base, tip = (1.95, 1.15) if inward else (1.15, 1.95)
    return Symbol(circle(0, 0, 2), line((0, 2), (3, 2)), line((0, -2), (3, -2)),
                  *(line((-1.95, s * 0.4), (-2.4, s * 0.4), (-2.4, s * 2), (-3, s * 2))
                    for s in (1, -1)),
                  line((-0.6, base), (0.6, base), (0, tip), (-0.6, base), filled=True),
                  half=(3, 2.2), left=("R", "C"), right=right)  # fmt: skip


PUMP, HYDRAULIC_MOTOR = _machine(False, ("B", "A")), _machine(True, ("A", "B"))
_CASE = (line((-2, 1), (1, 1), (1, 0.25)), line((1, -0.25), (1, -1), (-2, -1), (-2, 1)),
         line((-0.6, 1), (-0.6, -1)), line((-0.6, 0), (2, 0), (2, 2), (3, 2)),
         line((0.6, -1), (0.6, -2), (3, -2)))  # fmt: skip
CYLINDER = Symbol(*_CASE, line((-3, 0), (-2, 0)), half=(3, 2.2), left=("A",), right=("R", "C"))
DOUBLE_CYLINDER = Symbol(*_CASE, line((-3, 2), (-1.6, 2), (-1.6, 1)),
                         line((-3, -2), (0.2, -2), (0.2, -1)), half=(3, 2.2), left=("A", "B"),
                         right=("R", "C"))  # fmt: skip
VANE = Symbol(circle(0, 0, 1.4), line((0, 0), (0, 1.4)), line((-3, 0), (-1.4, 0)),
              line((0.9, 1.07), (0.9, 2), (3, 2)), line((0.9, -1.07), (0.9, -2), (3, -2)),
              half=(3, 2.2), left=("A",), right=("R", "C"))  # fmt: skip

# -- measuring and signals -------------------------------------------------------------------
METER = Symbol(*_ends(1.5), circle(0, 0, 1.5), line((-0.7, -0.7), (0.7, 0.7)),
               line((0.1, 0.6), (0.7, 0.7), (0.6, 0.1)), half=(3, 1.6), named=True)  # fmt: skip
INTEGRATOR = Symbol(_box(1.8, 1.4), letters="∫", half=(1.8, 1.4))
WAVE = Symbol(_box(1.8, 1.4), line((-1.3, -0.7), (-0.6, -0.7), (-0.6, 0.7), (0.4, 0.7), (0.4, -0.7),
              (1.3, -0.7)), half=(1.8, 1.4))  # fmt: skip
