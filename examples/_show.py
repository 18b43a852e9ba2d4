"""What the examples do with a picture: save it, or show it where there is a screen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["show"]


def show(figure: Any, name: str) -> None:
    """Save the figure in the folder given with ``--save``, or show it.

    Without a display it is saved in the working directory, and the file is named.
    """
    import matplotlib
    import matplotlib.pyplot as pyplot

    parser = argparse.ArgumentParser()
    parser.add_argument("--save", metavar="FOLDER", type=Path, help="save the picture here")
    folder = parser.parse_args().save
    if folder is None and matplotlib.get_backend().lower() != "agg":
        pyplot.show()
        return
    file = (folder or Path()) / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=100)
    pyplot.close(figure)
    print(f"\nThe picture is in {file}")
