"""Mechanics in a plane: bodies, joints, forces and outlines in contact.

The domain's across variables are place and angle of a frame in the world, x and y
in m and phi in rad, and their rates vx, vy and w; its through variables are the force
fx, fy in N and the torque t in N*m, counted positive into a component, at the
origin of the frame. Gravity is a parameter of the domain: 9.81 m/s^2 against y unless
a ``Gravity`` component is connected to the mechanism.

Sign convention
---------------
x points to the right, y upwards, angles and torques are positive counterclockwise.
A connection joins frames rigidly: ports that meet at a node share place and angle.
Components between two bodies have the ports B (base) and F (follower): what they
name is F as seen from B, and the force or torque they name acts from B on F (the
opposite acts on B). The port A of a joint belongs to the rotational or
translational domain; what is connected there acts from B on F as well.

Places belong to the components: ``Body(x="1 m")`` and ``Revolute(phi="30 deg")`` set
the start; in a closed loop give some of them and let the others follow.

Which class to take
-------------------
=====================  =========================================================
bodies and frames      ``Body``, ``Ground``, ``RigidOffset``, ``Gravity``
joints                 ``Revolute``, ``Prismatic``, ``RollingWheel``
outlines in contact    ``Contact`` with ``Circle``, ``Corner``, ``Line``,
                       ``Ellipse``, ``ParametricCurve``, ``SplineCurve``
forces                 ``Force``, ``Torque``, ``SpringDamper``
1-D domains            port A of the joints, ``RotationalBridge``,
                       ``TranslationalBridge``
sensors                ``MotionSensor``, ``RelativeSensor``, ``ForceSensor``
own components         ``planar`` (the domain), ``TwoFrame`` (the base)
=====================  =========================================================
"""

from ..othernames import tell_what_is_missing
from .bodies import Body, Gravity, Ground, RigidOffset
from .contact import Contact
from .curves import Circle, Corner, Curve, Ellipse, Line, ParametricCurve, SplineCurve
from .domain import TwoFrame
from .domain import planar as planar
from .forces import Force, RotationalBridge, SpringDamper, Torque, TranslationalBridge
from .joints import Prismatic, Revolute, RollingWheel
from .sensors import ForceSensor, MotionSensor, RelativeSensor

__all__ = ["Body", "Circle", "Contact", "Corner", "Curve", "Ellipse", "Force", "ForceSensor",
           "Gravity", "Ground", "Line", "MotionSensor", "ParametricCurve", "Prismatic",
           "RelativeSensor", "Revolute", "RigidOffset", "RollingWheel", "RotationalBridge",
           "SplineCurve", "SpringDamper", "Torque", "TranslationalBridge", "TwoFrame"]

tell_what_is_missing(__name__)
