"""Ready-made components, written on the public interface of ``blocks`` only.

=====================  ====================================================
Every domain is a package of its own; import what a model needs::

    from library.translational import Mass, Spring, Reference

The laws that domains share are functions in ``friction``, ``contact`` and ``tables``;
``tables.table`` and ``measurements.columns`` read measured data. How heat leaves a component,
and what may follow its temperature, is said in ``heat``.
"""

from .othernames import tell_what_is_missing

tell_what_is_missing(__name__)
