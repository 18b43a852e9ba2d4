"""Make the documentation a site, and look at it.

    python -m docs build        writes build/docs/html
    python -m docs serve        the same, then shows it at http://127.0.0.1:8000

    python -m docs reference    writes docs/reference, which is read without a site

``build`` needs the extra ``docs``, and ``export`` for pages that simulate. It runs every example
for the gallery, says how far it is, and names those that fail or are not done after twenty minutes;
their pictures are kept until code changes. What Sphinx warns of is an error.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "docs"


def build(folder: Path = BUILD, pictures: bool = True) -> int:
    """Write the site; returns 0 where nothing is wrong. Without pictures no example is run."""
    from docs.site.source import write_source

    if find_spec("sphinx") is None:
        print("The site needs Sphinx: pip install -e '.[docs,export]'", file=sys.stderr)
        return 2

    print(f"Writing the pages{', and running every example' * pictures} …", flush=True)
    failed = write_source(folder / "source", folder / "pictures" if pictures else None)
    if failed:
        print("These examples failed:", *failed, sep="\n  ", file=sys.stderr)
        return 1
    return make(folder)


def make(folder: Path) -> int:
    """Make the pages in ``folder / "source"`` a site; returns 0 where nothing is wrong."""
    from sphinx.cmd.build import main as sphinx

    print("Making them a site …", flush=True)
    options = ["-q", "-W", "--keep-going", "-E", "-j", "auto", "-b", "html",
               "-c", str(ROOT / "docs" / "site")]  # fmt: skip
    status = sphinx([*options, str(folder / "source"), str(folder / "html")])
    for page in (folder / "source" / "gallery" / "pictures").glob("*.html"):
        place = folder / "html" / "gallery" / "pictures"
        place.mkdir(exist_ok=True)
        shutil.copy(page, place)
    if status == 0:
        print(f"The site is in {folder / 'html' / 'index.html'}")
    return status


def serve(folder: Path = BUILD, port: int = 8000) -> int:
    """Show the site to a browser on this machine."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder / "html")
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{port} (end with Ctrl-C)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs",
                                     description="Make the documentation a site.")  # fmt: skip
    parser.add_argument("command", choices=("build", "serve", "reference"))
    parser.add_argument("--port", type=int, default=8000, help="of serve")
    given = parser.parse_args()
    from docs.site.reference import write_reference

    write_reference(ROOT / "docs" / "reference")
    if given.command == "reference":
        return 0
    status = build()
    return status if status or given.command == "build" else serve(port=given.port)


if __name__ == "__main__":
    sys.exit(main())
