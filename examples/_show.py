"""What the examples do with a picture: save it, or show it where there is a screen."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

__all__ = ["show"]


def show(figure: Any, name: str, result: Any = None, **film: Any) -> None:
    """Save the figure in the folder given with ``--save``, or show it.

    Without a display it is saved in the working directory, and the file is named. With
    a ``result`` its film is shown, or saved beside the picture (``film``: fps, speed).
    Where another program loads the example, as ``python -m blocks`` does, nothing is shown.
    """
    import matplotlib
    import matplotlib.pyplot as pyplot

    if sys._getframe(1).f_globals["__name__"] != "__main__":
        pyplot.close(figure)
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", metavar="FOLDER", type=Path, help="save the picture here")
    folder = parser.parse_args().save
    if folder is None and matplotlib.get_backend().lower() != "agg":
        playing = None if result is None else result.animate(**film)
        pyplot.show()
        del playing  # it had to live as long as its window
        return
    file = (folder or Path()) / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=100)
    pyplot.close(figure)
    print(f"\nThe picture is in {file}")
    if result is not None:
        result.animate(file.with_suffix(".gif"), **film)
        print(f"The film is in {file.with_suffix('.gif')}")
