"""The folder that Sphinx reads: pages written by hand, and pages made from classes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docs.site import gallery
from docs.site.api import api_pages
from docs.site.components import component_page, domain_page, other_words, page_of, table
from docs.site.traced import packages

__all__ = ["write_source"]

ROOT = Path(__file__).resolve().parents[2]


def write_source(source: Path, pictures: Path | None = None) -> list[str]:
    """Write all pages; returns which examples failed.

    Without a folder of pictures nothing is run: the gallery has no pictures then.
    """
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "site" / "pages", source)
    shutil.copytree(ROOT / "docs" / "images", source / "images")
    for page in (ROOT / "docs").glob("*.md"):
        if page.stem == "examples":  # the gallery shows them here
            continue
        text = page.read_text(encoding="utf-8")
        _write(source / page.name, re.sub(r"(?<=\]\()\.\./([^)]*)", _inside, text))
    failed = gallery.run_examples(pictures) if pictures is not None else []
    gallery.gallery(source, pictures)
    curves = source / "images" / "friction_curves.png"
    drawn = source / "images" / "stick_slip.png" if pictures is None else pictures / curves.name
    if drawn.exists():
        shutil.copy(drawn, curves)
    for package, classes in packages().items():
        _write(source / "components" / f"{package.removeprefix('library.')}.md",
               domain_page(package))  # fmt: skip
        for cls in classes:
            _write(source / f"{page_of(cls)}.md", component_page(cls))
    for page, text in api_pages():
        _write(source / "api" / f"{page}.md", text)
    _write(source / "reference.md", _reference())
    _write(source / "other_names.md", _other_names())
    return failed


def _inside(link: re.Match[str]) -> str:
    """Where the site has what a page finds beside the folder of the pages."""
    if link[1] == "README.md":
        return "index.md"
    example = re.fullmatch(r"examples/(\w+)\.py", link[1])
    if example:
        return f"gallery/{example[1]}.md"
    raise ValueError(f"A page links to ../{link[1]}, which is no part of the site.")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _reference() -> str:
    """The page that lists components, what is checked of them, messages, and public names."""
    domains = [f"components/{p.removeprefix('library.')}" for p in packages()]
    checked = [f"{f.stem.partition('_')[2].replace('_', ' ').capitalize()} <{f.stem}>"
               for f in sorted((ROOT / "docs").glob("components_*.md"))]  # fmt: skip
    api = [f"api/{page}" for page, _ in api_pages()]
    parts = ["# Reference"]
    for title, pages in {"Components": domains, "How components are checked": checked,
                         "Messages": ["messages"], "Public names": api}.items():  # fmt: skip
        listed = "\n".join(pages)
        parts.append(f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n{listed}\n```")
    return "\n\n".join(parts) + "\n"


def _other_names() -> str:
    """What other tools call the components."""
    places = {page_of(c).removeprefix("components/").replace("/", "."): page_of(c)
              for classes in packages().values() for c in classes}  # fmt: skip
    parts = ["# Names in other tools", "Parameters are on the pages of the components."]
    for tool in ("Simscape", "Simulink", "Modelica"):
        rows = {}
        for row in other_words():
            if row["tool"] == tool and row["component"]:
                place = places.get(row["component"])
                here = f"[`{row['component']}`]({place}.md)" if place else f"`{row['component']}`"
                rows[row["block"], here] = [row["block"], here]
        parts += [f"## {tool}", table(["there", "here"], list(rows.values()))]
    return "\n\n".join(parts) + "\n"
