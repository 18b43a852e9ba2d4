"""Ready-made components, written on the public interface of ``blocks`` only.

=================  ===========================================================
``translational``  masses, springs, dampers, friction, stops, sources, sensors
``rotational``     the same for shafts
``mechanisms``     gears, cranks, clutches and wheels between the two
``planar``         bodies, joints and outlines in contact, in a plane
``electrical``     resistors, capacitors, inductors, op-amps, sources, sensors
``signal``         blocks for signals: sources, filters, tables, logic
=================  ===========================================================

Every domain is a package of its own; import what a model needs::

    from library.translational import Mass, Spring, Reference

The laws that domains share are functions in ``friction``, ``contact`` and ``tables``.
"""

from .othernames import missing

__getattr__ = missing(__name__)
