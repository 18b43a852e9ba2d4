"""The documentation; ``python -m docs build`` makes a site of it."""
