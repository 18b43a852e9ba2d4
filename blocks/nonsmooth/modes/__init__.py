"""Which elements stick or touch, and with what effort, between events?

Compiled once for a system: who the ``elements`` are, ``law_functions`` and ``bound_functions``, and
efforts while modes are held (``solved_modes``, by ``kept_factors`` where D is constant). In a run:
the ``state``, the ``delassus`` operator and an ``evaluation`` of the laws at a point; ``efforts``
of the modes, ``margins`` to their end, ``decisions`` on those that follow (``impacts``; for machine
code ``islands``), ``indeterminacy`` of efforts at rest, and friction that depends on efforts
(``load_dependence``, ``painleve``). ``laws`` puts all together. Efforts and flows are counted in
units in which elements weigh the same (``law_expressions``).

Nodes without mass have equations of their own (``massless_nodes``, ``mode_equations``,
``held_network``, ``mode_search``, ``node_velocities``), and so have laws that look at the load
(``load_laws``, which says which laws a network needs, ``load_efforts``, ``load_functions``).

Words: an element is *idle* where its law leaves it no choice, *dead* where nothing it does changes
its own rate, *open* where the motion does not determine its effort (static indeterminacy), and it
*holds* a state that is constant while it sticks.
"""
