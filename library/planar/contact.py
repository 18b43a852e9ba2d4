"""Two outlines that touch: the normal force, friction, impact and detachment."""

import numpy as np

from blocks import (
    Option,
    Parameter,
    Variable,
    contact,
    der,
    dry_friction,
    maximum,
    minimum,
    partial,
    quantity,
    require,
    sqrt,
    where,
)
from blocks.shapes import Arrow, Cone, Outline, Vertex

from .. import symbols
from ..heat import Struck
from .curves import Circle, Corner, Curve, Line, shown_place, tightest
from .domain import TwoFrame, turned

STEEP = 1e5  # friction that is lost in rounding where the normal force ends
ROUND = (Circle, Line)  # their nearest points are found without iteration


class Contact(Struck, TwoFrame):
    """Contact of an outline of F with an outline of B: they touch or they are apart.

    Where the outlines are nearest to each other their tangents are parallel; gap is
    the distance there, N >= 0 the normal force while it is zero, T the friction
    force against the slip of F over B::

        gap > 0:  N == 0            gap == 0:  N is what keeps it from closing
        slip != 0: T == friction N sign(slip)
        slip == 0: |T| <= static_friction N, what keeps it rolling

    Touching with a velocity is an impact by Newton's law with ``restitution``, along the
    tangent by Coulomb's with an impulse of at most friction times the normal one. The
    nearest points are sought from where they last were, at the start from the values of
    xi_F and xi_B (``xi_F=Target("-90 deg", priority="none")`` is a guess, ``xi_F="-90 deg"``
    a demand that places the bodies): each outline should be near
    the other in one place only (a corner or a second hollow needs a Contact of its own).

    Outlines are ``Circle``, ``Corner``, ``Line`` (endless, or with a length and two ends),
    ``Ellipse``, ``ParametricCurve`` and ``SplineCurve``. A static_friction of 0 is the same as
    friction; otherwise it is no less. The heat of an impact, which is set free at once, leaves at
    the port H within some release_time.

    Notes
    -----
    Signs: (nx, ny) is the normal from B to F, the tangent is (ny, -nx); with a floor as
    base that is upwards and to the right. N (nx, ny) - T (ny, -nx) acts on F. xi_F and
    xi_B are the parameters of the touching points, for curves other than circles and
    lines. The energy lost is T slip; what an impact takes is added by the ledger.
    """

    symbol = symbols.CONTACT

    curve = Option(Circle("0.1 m"), doc="outline in the frame F")
    base = Option(Line(), doc="outline in the frame B")
    smooth = Option(False, doc="whether there is no friction")
    friction = Parameter(0.3, minimum=0, when=lambda c: not c.smooth,
                         doc="coefficient of friction while sliding")  # fmt: skip
    static_friction = Parameter(0.0, minimum=0, when=lambda c: not c.smooth,
                                doc="coefficient of friction at rest, if larger")  # fmt: skip
    restitution = Parameter(0.0, minimum=0, maximum=1, doc="share of the speed that comes back")
    gap = Variable("m", "0 m", priority="none", doc="distance of the outlines")
    N = Variable("N", doc="normal force")
    T = Variable("N", when=lambda c: not c.smooth, doc="friction force against the slip")
    slip = Variable("m/s", doc="velocity of F over B at the contact, along the tangent")
    x = Variable("m", doc="place of the contact, to the right")
    y = Variable("m", doc="place of the contact, upwards")
    nx = Variable("", doc="normal from B to F, x component")
    ny = Variable("", doc="normal from B to F, y component")
    xi_F = Variable("rad", when=lambda c: _is_sought(c.curve, c.base),
                    doc="parameter of the nearest point of the outline of F")  # fmt: skip
    xi_B = Variable("rad", when=lambda c: _is_sought(c.base, c.curve),
                    doc="parameter of the nearest point of the outline of B")  # fmt: skip
    rate_F = Variable("rad/s", when=lambda c: _is_sought(c.curve, c.base), doc="rate of xi_F")
    rate_B = Variable("rad/s", when=lambda c: _is_sought(c.base, c.curve), doc="rate of xi_B")
    energy_stored = Variable("J", when=lambda c: c.keeps_heat, doc="heat that has not left yet")

    @property
    def rigid(self):
        return True

    def verify(self):
        for name, c in (("curve", self.curve), ("base", self.base)):
            if not isinstance(c, Curve):
                yield f"{name} is {c!r}, which is no curve: give a Circle, Line, Ellipse, …"
                return
            for fault in c.faults():
                yield f"its {name}, a {type(c).__name__}, {fault}"
                return
        if isinstance(self.curve, Line) and isinstance(self.base, Line):
            yield ("two straight lines never touch in one point: give one of the bodies a "
                   "Corner where it touches, and every corner a Contact of its own")
            return
        if isinstance(self.curve, Corner) and isinstance(self.base, Corner):
            yield "two corners hardly ever meet: let a corner touch the Line of a side"
            return
        for line, other in ((self.curve, self.base), (self.base, self.curve)):
            if isinstance(line, Line) and line.length is not None and (
                    not isinstance(other, Circle) or other.inside or not other.radius):
                kind = "bowl" if getattr(other, "inside", False) else type(other).__name__
                yield (f"a line with a length touches circles from outside, and no {kind}: leave "
                       "the length out, or round the other one off, such as Circle('1 mm')")
                return
        if getattr(self.curve, "inside", False) and getattr(self.base, "inside", False):
            yield "curve and base are both hollow, with their free sides inside: turn one outside"
            return
        bend, where = tightest((self.curve, self.base))
        if bend <= 0 and isinstance(self.curve, Circle) and isinstance(self.base, Circle):
            disc, bowl = sorted((self.curve, self.base), key=lambda c: c.inside)
            yield (f"the disc of radius {1e3 * disc.radius:.4g} mm does not fit into the bowl of "
                   f"radius {1e3 * bowl.radius:.4g} mm")
        elif bend <= 0:
            names = type(self.curve).__name__, type(self.base).__name__
            yield (f"the {names[0]} does not fit into the {names[1]}: near {where} of the hollow "
                   "one its curvature is not larger, so that they would touch in two places")

        if not self.smooth and 0 < self.static_friction < self.friction:
            yield (f"static_friction is {self.static_friction:~P} and friction "
                   f"{self.friction:~P}: rest holds no less than sliding, exchange them")

    def advise(self):
        if not self.smooth and self.friction > STEEP:
            yield (f"friction is {self.friction:~P}. Above {STEEP:g} the instants at which a "
                   "contact slips and opens are no longer told apart; 100 never slips either.")

    def equations(self):
        on_F = _Side(self.F, self.curve, self.xi_F)
        on_B = _Side(self.B, self.base, self.xi_B)
        # the guide gives the normal, the other one is a point at a distance if it is round
        swap = isinstance(self.curve, Line) or (
            isinstance(self.base, Circle) and not isinstance(self.curve, Circle))
        guide, other = (on_F, on_B) if swap else (on_B, on_F)
        if isinstance(other.curve, Circle):
            centre = other.place(*other.centre)
            point, (nx, ny) = guide.nearest(centre)
            reach = other.curve.side * other.curve.radius * quantity("1 m")
            gap = (centre[0] - point[0]) * nx + (centre[1] - point[1]) * ny - reach
            away = centre[0] - reach * nx, centre[1] - reach * ny
            if guide.xi is not None:
                tx, ty = guide.tangent
                yield (centre[0] - point[0]) * tx + (centre[1] - point[1]) * ty == 0
        else:
            away, (tx, ty) = other.touching, other.tangent
            point, (nx, ny) = guide.nearest(away)
            facing = other.curve.side * (nx * ty - ny * tx)
            yield require(facing < 0, "the nearest points found are on the far side of an outline. "
                          "Give guesses near the sides that face each other, such as "
                          "xi_F=Target('-90 deg', priority='none').")
            gap = (away[0] - point[0]) * nx + (away[1] - point[1]) * ny
            yield nx * tx + ny * ty == 0
            if guide.xi is not None:
                gx, gy = guide.tangent
                yield (away[0] - point[0]) * gx + (away[1] - point[1]) * gy == 0
        for name, side, rate in (("curve", on_F, self.rate_F), ("base", on_B, self.rate_B)):
            if side.xi is not None:
                yield rate == der(side.xi)
                yield from _ends(name, side.curve, side.xi, gap)
        if swap:
            nx, ny, point, away = -nx, -ny, away, point
        yield self.nx == nx
        yield self.ny == ny
        yield self.x == point[0]
        yield self.y == point[1]
        yield self.gap == gap
        # both at the place where the force acts, so that its power is that of the slip
        ux, uy = (a - b for a, b in zip(on_F.velocity(away), on_B.velocity(away), strict=True))
        approach, slip = -(ux * nx + uy * ny), ux * ny - uy * nx
        yield self.slip == slip
        yield contact(self.N, gap, approach, restitution=self.restitution)
        push = self.N * nx, self.N * ny
        lost = self.N * approach
        if not self.smooth:
            most = maximum(self.friction, self.static_friction)
            yield dry_friction(self.T, slip, static=most * self.N, kinetic=self.friction * self.N)
            push = push[0] - self.T * ny, push[1] + self.T * nx
            lost = lost + self.T * slip
        F = self.F
        yield F.fx == -push[0]
        yield F.fy == -push[1]
        yield F.t == -((away[0] - F.x) * push[1] - (away[1] - F.y) * push[0])
        if self.keeps_heat:
            yield from self.heat_of_impacts(lost)
        else:
            yield self.power_dissipated == lost

    def shapes(self):
        for name, curve in (("F", self.curve), ("B", self.base)):
            frame = (f"{name}.x", f"{name}.y", f"{name}.phi")
            if isinstance(curve, Corner):
                yield Vertex(frame, (curve.x, curve.y))
                continue
            yield Outline(frame, curve.outline, filled=curve.closed and curve.side > 0,
                          endless=isinstance(curve, Line) and curve.length is None)
            if isinstance(curve, Circle) and not curve.inside and curve.radius:
                r = curve.radius
                yield Outline(frame, np.array([[curve.x - r, curve.x + r], [curve.y, curve.y]]))
        if not self.smooth:
            slope = np.maximum(self.friction.magnitude, self.static_friction.magnitude)
            yield Cone(("x", "y"), ("nx", "ny"), slope, ("N",))
        yield Arrow(("x", "y"), ("F.fx", "F.fy"), sign=-1.0)


class _Side:
    """One of the two outlines, in the world."""

    def __init__(self, frame, curve, xi):
        self.frame, self.curve, self.xi = frame, curve, xi

    def place(self, px, py):
        rx, ry = turned(self.frame.phi, px, py)
        return self.frame.x + rx, self.frame.y + ry

    def velocity(self, point):
        f = self.frame
        return f.vx - f.w * (point[1] - f.y), f.vy + f.w * (point[0] - f.x)

    @property
    def centre(self):
        assert isinstance(self.curve, Circle)
        return quantity(self.curve.x, "m"), quantity(self.curve.y, "m")

    @property
    def touching(self):
        return self.place(*self.curve.point(self.xi))

    @property
    def tangent(self):
        """Derivative of the place by the parameter."""
        return turned(self.frame.phi, *(partial(p, self.xi) for p in self.curve.point(self.xi)))

    def nearest(self, other):
        """The point nearest to another one, and the unit normal to the free side there."""
        if isinstance(self.curve, Circle):
            cx, cy = self.place(*self.centre)
            dx, dy = other[0] - cx, other[1] - cy
            # from its centre all points are as near: take the lowest
            dy = where(dx**2 + dy**2 > 0, dy, quantity("-1 m"), events=False)
            far = sqrt(dx**2 + dy**2)
            dx, dy = dx / far, dy / far
            r = quantity(self.curve.radius, "m")
            return (cx + r * dx, cy + r * dy), (self.curve.side * dx, self.curve.side * dy)
        if isinstance(self.curve, Line):
            ox, oy = self.place(*self.curve.point(0.0))
            ex, ey = self.place(*self.curve.point(1.0))
            tx, ty = (ex - ox) / quantity("1 m"), (ey - oy) / quantity("1 m")
            along = (other[0] - ox) * tx + (other[1] - oy) * ty
            if self.curve.length is None:
                return (ox + along * tx, oy + along * ty), (-ty, tx)
            # continuous with its first derivative at the ends: no event there
            half = quantity(self.curve.length / 2, "m")
            along = minimum(maximum(along, -half), half)
            px, py = ox + along * tx, oy + along * ty
            dx, dy = other[0] - px, other[1] - py
            far = sqrt(dx**2 + dy**2)
            return (px, py), (dx / far, dy / far)
        tx, ty = self.tangent
        far = sqrt(tx**2 + ty**2)
        side = self.curve.side
        return self.touching, (side * ty / far, -side * tx / far)


def _ends(name, curve, xi, gap):
    """An outline with two ends is not touched beyond them."""
    if curve.closed:
        return
    start, end = curve.interval
    near = 1e-6 * float(np.ptp(curve.outline))
    apart = gap / quantity("1 m") - near
    places = curve.places([start, end])[0]
    for inner, (x, y) in ((xi - start, places[:, 0]), (end - xi, places[:, 1])):
        yield require(maximum(inner, apart) >= 0, f"its {name} is touched beyond its end at "
                      f"{shown_place(x, y)}. Make the curve longer, or end the run before.")


def _is_sought(curve, other):
    """Whether the parameter of the nearest point on a curve is an unknown."""
    return isinstance(curve, Curve) and not isinstance(curve, ROUND)
