"""How does a run go from a consistent start to its end, event by event?

The loop over episodes, zero crossings, time events, what is recorded. Knows no component by name.
"""
