"""A model leaves Python.

::

    program    a run at its start, as functions of machine code over one piece of memory
    image      that piece of memory, with the addresses in it
    targets    how code becomes a shared library, for this machine or another
    header     what the source in C knows of a model
    fmu        the description of an FMU, and its file
    c_library  a library in C: its header, example and files
    page       a page that simulates in a browser
    program.c  the run in C
    fmu.c, fmi2.c, fmi3.c  the functions of FMI about it
    c_library.c  those of a library in C
    page.c, page_run.js, page.js  the run as a page has it, and the page

What the wing asks of the core stands at the top of :mod:`blocks.export.program`.
"""

from .c_library import export_c
from .fmu import export_fmu
from .page import page

__all__ = ["export_c", "export_fmu", "page"]
