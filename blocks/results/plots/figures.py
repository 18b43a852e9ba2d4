"""Figures of matplotlib, that windows, files and notebooks show once each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...exceptions import optional_package
from ..files import writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # which annotations name: matplotlib is loaded with the first figure

__all__ = ["Figure", "bare_figure", "finished_figure", "shown_figure"]


def bare_figure(purpose: str, **options: Any) -> Figure:
    """A figure that is no window's; a notebook shows it as what a cell comes to.

    The message where matplotlib is missing tells the purpose.
    """
    module = optional_package("matplotlib.figure", purpose, "plot")
    if _in_notebook():  # which learns to show figures when pyplot first asks for its backend
        import matplotlib.pyplot as pyplot

        pyplot.draw_if_interactive()
    return module.Figure(**options)


def shown_figure(purpose: str, **options: Any) -> Figure:
    """A figure that ``plt.show()`` shows; in a notebook, which would show it twice, a bare one."""
    pyplot = optional_package("matplotlib.pyplot", purpose, "plot")
    return bare_figure(purpose, **options) if _in_notebook() else pyplot.figure(**options)


def finished_figure(figure: Figure, save: Any, title: str = "") -> Figure:
    """A figure with its title, written to a file where one is asked for."""
    if title:
        figure.suptitle(title, fontsize="medium")
    if save is not None:
        with writing(save) as place:
            figure.savefig(place, dpi=150)
    return figure


def _in_notebook() -> bool:
    import matplotlib

    return "inline" in matplotlib.get_backend().lower()
