"""``python -m blocks``: check, run and draw the model of a file, write a page or a component."""

import sys

from .prompt import main

if __name__ == "__main__":
    sys.exit(main())
