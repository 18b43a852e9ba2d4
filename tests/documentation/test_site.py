"""Is every public name on a page of the site, and does every link there lead somewhere?

The pages are written without running an example, and made a site by Sphinx, which warns of
nothing.
"""

import importlib
import inspect
import re
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from benches.exported_models import example

import blocks
from blocks import Component, quantity
from docs.__main__ import make
from docs.site import source
from docs.site.api import public_names
from docs.site.components import component_page, laws, variants
from docs.site.equations import mathml
from docs.site.gallery import PAGES, gallery, run_all, run_example
from docs.site.named import named
from docs.site.reference import reference_pages
from docs.site.signs import directions
from docs.site.traced import packages, traced
from docs.site.words import markdown
from library.electrical import Gyrator
from library.translational import HardStop, Spring, TranslationalFriction

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the pages."""
    folder = tmp_path_factory.mktemp("site") / "source"
    assert source.write_source(folder) == []
    return folder


@pytest.fixture(scope="module")
def html(site):
    """The folder of the site, where Sphinx is installed, as it is in continuous integration."""
    for needed in ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_design",
                   "sphinx_copybutton"):  # fmt: skip
        pytest.importorskip(needed)
    assert make(site.parent) == 0
    return site.parent / "html"


def pages_of(folder):
    return {f.relative_to(folder).with_suffix("").as_posix(): f.read_text(encoding="utf-8")
            for f in folder.rglob("*.md")}  # fmt: skip


@pytest.mark.slow
def test_every_public_component_has_a_page(site):
    lacking = []
    for package in packages():
        module = importlib.import_module(package)
        for name in module.__all__:
            public = getattr(module, name)
            if inspect.isclass(public) and issubclass(public, Component):
                home = next(p for p in packages() if public in packages()[p])
                place = site / "components" / home.removeprefix("library.") / f"{name}.md"
                lacking += [] if place.exists() else [f"{package}.{name}"]
    assert lacking == []
    assert sum(map(len, packages().values())) > 240


@pytest.mark.slow
def test_every_public_name_of_blocks_is_on_a_page_of_its_own_kind(site):
    pages = public_names()
    shown = [name for names in pages.values() for module, name in names if module == "blocks"]
    assert sorted(shown) == sorted(blocks.__all__)
    models = {name for module, name in pages["models"] if module == "blocks"}
    assert models == {"Model", "compare", "load", "quantity"}  # and not for want of a page


@pytest.mark.slow
def test_equations_are_mathml_of_known_signs_and_no_wider_than_a_telephone(site):
    shown = [(name, element) for name, text in pages_of(site).items()
             for element in re.findall(r"<math.*?</math>", text)]
    assert len(shown) > 15_000
    assert [name for name, element in shown if "<mo>?</mo>" in element] == []
    wide = {name for name, element in shown if _width(ElementTree.fromstring(element)) > 45}
    assert wide == {"components/signal/Pulse"}  # whose one condition scrolls


def _width(element):
    """In characters; of a fraction that of its wider half."""
    inside = [_width(child) for child in element]
    whole = max(inside) if element.tag == "mfrac" else sum(inside)
    return whole + len(element.text or "")


@pytest.mark.parametrize(("text", "shown"), [
    ("f == a - (b - c)", "f = a − ( b − c )"),
    ("f == a - b - c", "f = a − b − c"),
    ("f == -(a + b)*c", "f = − ( a + b ) · c"),
    ("y == (-a)^2", "y = ( − a ) 2"),
    ("y == a*(b/c)^2", "y = a · ( b c ) 2"),
    ("m*der(v) == R.f", "m · v ˙ = f R"),
    ("y == where(a > 0, b, where(c < 0, 1, 0))", "y = { b if a > 0 1 if c < 0 0 otherwise"),
    ("y == table(…", "y == table(…")])  # fmt: skip
def test_an_equation_keeps_what_brackets_and_signs_say(text, shown):
    assert " ".join(" ".join(ElementTree.fromstring(mathml(text)).itertext()).split()) == shown


def test_signs_are_read_off_the_equations():
    assert directions(traced(Spring)) == [("R", "C", "f", "v")]
    assert directions(traced(Gyrator)) == [("p1", "n1", "i1", "v1"), ("n2", "p2", "i2", "")]


def test_the_page_of_a_component_tells_what_its_class_says():
    page = component_page(Spring)
    for row in ("| `stiffness` | N/m | `1000 N/m` | greater than 0 N/m | Stiffness. |",
                "| `x` | m | 0 m | high | Deformation, R against C. |",
                "| `law` | `linear` or `table` | `'linear'` | How the force follows from x. |",
                "| Simscape | Translational Spring | `spr_rate` | `stiffness` |  |",
                "| Modelica | Spring | `c` | `stiffness` |  |"):  # fmt: skip
        assert row in page
    assert "preload and stiffness in a drive at constant velocity | 1e-15" in page
    assert "(../../gallery/mass_spring_damper.md)" in page
    assert "With `model='full'`:" in component_page(HardStop)


def test_a_docstring_for_the_terminal_becomes_markdown():
    text = 'Mode:\n\n* ``a="b"``: |v| * 2\n  + more\n\nSee :class:`~x.Spring`::\n\n    a\n\n    b'
    assert markdown(text, {"Spring": "Spring.md"}.get).split("\n\n") == [
        "Mode:", '- `a="b"`: \\|v\\| \\* 2\n  \\+ more', "See [`Spring`](Spring.md):",
        "```text\n    a", "    b\n```"]  # fmt: skip


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_its_links_lead_somewhere(html):
    html = {f: f.read_text(encoding="utf-8") for f in html.rglob("*.html")
            if "_static" not in f.parts}  # fmt: skip
    names = {f: set(re.findall(r'\bid="([^"]+)"', text)) for f, text in html.items()}
    wrong, followed = [], 0
    for file, text in html.items():
        for link in set(re.findall(r'(?:href|src)="([^"]*)"', text)):
            followed += 1
            path, _, name = unquote(link.partition("?")[0]).partition("#")
            place = (file.parent / path).resolve() if path else file
            if "://" not in link and not link.startswith(("data:", "mailto:")) and (
                    not place.exists() or name and place in names and name not in names[place]):
                wrong.append(f"{file.name}: {link}")
    assert wrong == []
    assert followed > 40_000


@pytest.mark.slow
def test_no_page_links_to_a_host_that_does_not_exist(site):
    hosts = {host for text in pages_of(site).values()
             for host in re.findall(r"\]\(https?://([^/)]+)", text)}  # fmt: skip
    assert hosts == {"docs.xarray.dev", "fmi-standard.org", "jobqueue.dask.org",
                     "pint.readthedocs.io"}


def test_every_law_of_a_component_is_on_its_page_the_default_one_first():
    page = component_page(HardStop).partition("## Equations")[2]
    heads = re.findall(r"^With `model='([^']*)'`", page, re.M)
    assert heads == ["smooth", "full", "undamped rebound", "restitution"]
    assert "`model='smooth'` (default)" in page and "Too long" not in page
    told = " ".join(option for option, *_ in variants(TranslationalFriction))
    assert told.startswith("`law='simscape'`")
    assert {law for law in TranslationalFriction.law.named if f"law='{law}'" not in told} == set()


def test_a_long_equation_becomes_short_lines_that_mean_the_same():
    law = ("f == where(x - b > 0, maximum(x - b, 0)*stiffness*(3 - 2*maximum(x - b, 0)/depth)"
           " + damping*v/(maximum(x - b, 0)*stiffness + damping), 0)")  # fmt: skip
    lines = named([law], {"x"}).lines()
    assert max(map(len, lines)) < 85 and len(lines) > 2
    given = {"x": 0.3, "b": 0.1, "stiffness": 7.0, "depth": 2.0, "damping": 5.0, "v": 0.4,
             "maximum": max, "where": lambda c, a, b: a if c else b}  # fmt: skip
    for line in reversed(lines):
        name, _, value = line.partition(" == ")
        given[name] = eval(value.replace("^", "**"), {}, dict(given))
    p = 0.2
    by_hand = p * 7 * (3 - 2 * p / 2) + 5 * 0.4 / (p * 7 + 5)
    assert given["f"] == pytest.approx(by_hand, rel=1e-14)


def test_a_row_of_numbers_is_told_by_its_name_and_length():
    """And an equation too long to be shown by the name on its left, not by half of itself."""
    texts = [f"A.fit_{i}_{j} == {i - j}.5e-3" for i in range(3) for j in range(2)]
    texts += ["A.mdot == 0", "A.low_0 == 1", f"v == {'x + ' * 600}x", f"{'x*' * 1200}x == 1"]
    shown, numbers, hidden = laws(HardStop, texts, set())
    assert [" ".join(line.split()) for line in shown.lines()] == ["A.mdot == 0", "A.low_0 == 1"]
    assert numbers == "Rows of numbers, how many in brackets: `A.fit` (6)."
    assert hidden.endswith("the equation of `v` and 1 equation with more than a name on the left.")


def test_the_reference_in_the_repository_is_that_of_the_classes():
    """After a change to a component: python -m docs reference."""
    folder = ROOT / "docs" / "reference"
    pages = dict(reference_pages())
    assert sorted(pages) == sorted(f.name for f in folder.iterdir())
    old = [n for n, text in pages.items() if (folder / n).read_text(encoding="utf-8") != text]
    assert old == [], "python -m docs reference writes them anew"


SIGNS = {"abs_", "and", "arctan2", "atan2", "between", "cos", "cosh", "delayed", "der", "exp",
         "floor", "log", "maximum", "minimum", "not", "or", "sign", "sin", "sinh", "sqrt", "tan",
         "tanh", "time", "where", "with"}


def test_every_letter_of_a_formula_is_told_in_the_tables_beside_it():
    """Or below the formula. Entries of a table, of a vector and of what is held have numbers."""
    untold, looked_up = {}, 0
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        for part in re.split("^## ", page.read_text(encoding="utf-8"), flags=re.M)[1:]:
            formulas = "\n".join(re.findall(r"^```text\n(.*?)^```", part, re.M | re.S))
            told = {name for row in re.findall(r"^\| (`[^|]*)", part, re.M)
                    for name in re.findall(r"`(\w+)`", row)}
            told |= set(re.findall(r"^ *(\w+) = ", formulas, re.M)) | SIGNS
            told |= {re.sub(r"\d+$", "", name) for name in told}
            used = set(re.findall(r"(?<![\w.])[A-Za-z]\w*", formulas))
            looked_up += len(used)
            if left := {n for n in used if n not in told and re.sub(r"_?\d+$", "", n) not in told}:
                untold[part.partition("\n")[0]] = left
    assert untold == {}
    assert looked_up > 3500


@pytest.mark.slow
def test_searching_words_finds_the_component_of_that_name(html):
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    # a main entry of exactly these words comes first; one that is none comes last
    assert re.search(r'"hard stop":\[\[\d+,"[^"]*",true\]', index)


def test_an_example_that_takes_too_long_is_given_up_by_name(capsys):
    tasks = {"sleeper.py": (time.sleep, (60,)), "quick.py": (time.sleep, (0,)),
             "wrong.py": (exit, (3,))}  # fmt: skip
    failed = sorted(run_all(tasks, 1.0))
    assert failed == ["sleeper.py: not done after 1 s", "wrong.py: ended with code 3"]
    assert "[3/3] sleeper.py, 1 s" in capsys.readouterr().out


@pytest.mark.skipif(find_spec("ziglang") is None, reason="ziglang compiles pages")
@pytest.mark.parametrize(("models", "asked", "ending"), [
    (["late", "free"], "model.simulate('1 s')", "html"),
    (["late"], "model.simulate('1 s')", "refused"),
    (["free"], "model.sweep({'value.value': [1.0]}, '1 s', outputs=['final(sum.y)'])", "html")])
def test_an_example_is_shown_by_the_first_of_its_own_models_that_leaves(
        models, asked, ending, tmp_path, monkeypatch):
    """Or by ``model``, where it simulates none itself."""
    script, out = tmp_path / "shown.py", tmp_path / "out"
    out.mkdir()
    script.write_text(
        "from blocks import Model\n"
        "from library.signal import Constant, Integrator, PythonFunction\n"
        f"for name in {models}:\n"
        "    model = Model(name)\n"
        "    model.value, model.sum = Constant(value=1.0), Integrator()\n"
        "    if name == 'late':\n"
        "        model.late = PythonFunction(function=lambda t, u: u)\n"
        "        model.connect(model.value.y, model.late.u)\n"
        "        model.connect(model.late.y, model.sum.u)\n"
        "    else:\n"
        "        model.connect(model.value.y, model.sum.u)\n"
        f"    {asked}\n", encoding="utf-8")
    monkeypatch.chdir(out)  # and back
    monkeypatch.setattr("sys.argv", ["shown"])
    run_example(script, out)
    assert {f.name for f in out.iterdir()} == {"shown.txt", f"shown.{ending}"}
    made = (out / f"shown.{ending}").read_text()
    assert ("uses functions in Python" if ending == "refused" else "<title>free") in made


def test_pictures_and_pages_of_the_gallery_have_texts_for_who_does_not_see_them(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "dry_friction.png").touch()
    (pictures / "dry_friction.html").touch()
    (pictures / "pendulum.refused").write_text("Python has to decide")
    gallery(tmp_path, pictures)
    refused = (tmp_path / "gallery" / "pendulum.md").read_text(encoding="utf-8")
    assert "does not simulate in a page:\n\n```text\nPython has to decide\n" in refused
    card = (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert re.search(r":img-top: gallery/pictures/dry_friction.png\n:img-alt: \w{3}", card)
    page = (tmp_path / "gallery" / "dry_friction.md").read_text(encoding="utf-8")
    assert re.search(r"!\[\w[^\]]+\]\(pictures/dry_friction.png\)", page)
    assert re.search(r'<iframe src="pictures/dry_friction.html" title="\w[^"]*, simulated"', page)


@pytest.mark.parametrize("name", ["dc_motor_sticking_load", "mass_spring_damper", "stick_slip"])
def test_sliders_of_the_gallery_begin_where_the_example_stands(name):
    model = example(name)
    for path, (low, high) in PAGES[name]["sliders"].items():
        assert quantity(low) < model[path] < quantity(high), path


@pytest.mark.slow
def test_the_front_page_says_how_to_install_under_which_licence_and_what_for(site):
    page = pages_of(site)["index"]
    for words in ("pip install", "MIT licence", "For engineers"):
        assert words in page
