"""What can be done with the model of a file at the prompt?

``python -m blocks check model.py``, ``run``, ``draw``, ``report``, ``page`` and ``new component``.
Nothing else imports this wing.
"""

from .commands import main

__all__ = ["main"]
