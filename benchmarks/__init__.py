"""How long does it take, compared with a reference run in the same session?

``python -m benchmarks`` prints a table of times and ratios; ``--json FILE`` keeps
them. Ratios compare machines and sessions, seconds do not: a busy machine slows the
reference too. ``python -m benchmarks chain`` runs only what has ``chain`` in its name.

``python -m benchmarks precision`` asks another question: how exact is each friction law, for
how many evaluations (:mod:`benchmarks.precision`)?
"""
