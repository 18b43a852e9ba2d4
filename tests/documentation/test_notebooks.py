"""Do the notebooks run in a kernel, and does each cell show what its reader looks for, once?"""

import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def executed():
    """The cells with code of all notebooks, run one notebook after the other in one kernel."""
    nbclient, nbformat = (pytest.importorskip(name) for name in ("nbclient", "nbformat"))
    pytest.importorskip("ipykernel")
    books = {f.stem: nbformat.read(f, as_version=4) for f in sorted(EXAMPLES.glob("*.ipynb"))}
    cells = [cell for book in books.values() for cell in book.cells]
    for k, cell in enumerate(cells):
        cell.id = f"cell-{k}"
    whole = nbformat.v4.new_notebook(cells=cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MPLBACKEND", raising=False)  # the kernel has one of its own
        nbclient.NotebookClient(whole, timeout=120, kernel_name="python3",
                                resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    return {name: {"".join(c.source): c.outputs for c in book.cells if c.cell_type == "code"}
            for name, book in books.items()}  # fmt: skip


def shown(cells, code):
    """What the cell that ends with some code shows, by kind."""
    (outputs,) = [found for source, found in cells.items() if source.rstrip().endswith(code)]
    (one,) = outputs  # once
    return one.data


def test_a_notebook_shows_schematic_tables_pictures_and_the_page_of_a_run(executed):
    cells = executed["first_look"]
    drawing = shown(cells, "model.draw()")["text/html"]
    assert "<title>spring: Spring\nstiffness = 200 N/m" in drawing  # where one points
    assert "no mistakes found" in shown(cells, "model.check()")["text/html"]
    tables = {"\nrun": "finished", "run.energy()": "dissipated",
              "run.sticking()": "break-aways", "\nboth": "coulomb_force"}  # fmt: skip
    for code, words in tables.items():
        data = shown(cells, code)
        assert words in data["text/html"] and words in data["text/plain"]
    for code in ('run.plot("block.v", "spring.x")', "both.plot()"):
        assert len(shown(cells, code)["image/png"]) > 5000
    assert shown(cells, "run.report()")["text/html"].startswith("<iframe")


def test_a_controller_holds_the_speed_that_was_worked_out_by_hand(executed):
    shows = shown(executed["controller"], "~P}\"")["text/plain"]
    volts, amperes = map(float, re.fullmatch(r"'([\d.]+) V and ([\d.]+) A'", shows).groups())
    assert volts == pytest.approx(2.2, abs=1e-3) and amperes == pytest.approx(0.2, abs=1e-3)
