from .bodies import Body, Gravity, Ground, RigidOffset
from .domain import TwoFrame, planar
from .joints import Prismatic, Revolute

__all__ = ["Body", "Gravity", "Ground", "Prismatic", "Revolute", "RigidOffset", "TwoFrame", "planar"]
