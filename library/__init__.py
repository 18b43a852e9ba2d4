"""Ready-made components, written on the public interface of ``blocks`` only.

=================  ===========================================================
``translational``  masses, springs, dampers, friction, stops, sources, sensors
=================  ===========================================================

Every domain is a package of its own; import what a model needs::

    from library.translational import Mass, Spring, Reference
"""
