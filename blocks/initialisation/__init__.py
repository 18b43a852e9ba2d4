"""Which consistent values does a run start from?

Targets with priorities, nominal values. Knows the compiled system, no solver.
"""
