from .bodies import Body, Gravity, Ground, RigidOffset
from .contact import Contact
from .curves import Circle, Curve, Ellipse, Line, ParametricCurve, SplineCurve
from .domain import TwoFrame, planar
from .joints import Prismatic, Revolute

__all__ = [
    "Body", "Circle", "Contact", "Curve", "Ellipse", "Gravity", "Ground", "Line",
    "ParametricCurve", "Prismatic", "Revolute", "RigidOffset", "SplineCurve", "TwoFrame", "planar",
]  # fmt: skip
