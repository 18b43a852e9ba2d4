"""How long does it take, compared with a reference run in the same session?

``python -m benchmarks`` prints the table of the README: our times beside plain C at the
same error (:mod:`benchmarks.table`); ``benchmarks.json`` (``--json FILE``) keeps it and
``growth.png`` (``--picture FILE``) shows the growth with the size. Ratios compare machines
and sessions, seconds do not: a busy machine slows the reference too.

``python -m benchmarks chain`` times further cases, those with ``chain`` in their name,
against SciPy; ``drivetrain`` and ``planar`` are among them.

``python -m benchmarks beyond`` times eight problems of electricity, heat, oil and magnetism
(:mod:`benchmarks.cases.domains`), each side at its fastest with an error near 1e-6
(:mod:`benchmarks.beyond`). ``python -m benchmarks tolerances`` runs small ones of them by six
methods from 1e-4 to 1e-11 (:mod:`benchmarks.tolerances`).

``python -m benchmarks cliffs`` asks how the cost of families of models grows with their size
(:mod:`benchmarks.cliffs`).

``python -m benchmarks friction`` runs many blocks on exact friction
(:mod:`benchmarks.frictionscale`). ``python -m benchmarks precision`` asks another question:
how exact is each friction law, for how many evaluations (:mod:`benchmarks.precision`)?
"""
