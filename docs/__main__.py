"""Make the documentation a site, and look at it.

    python -m docs build    writes build/docs/html
    python -m docs serve    the same, then shows it at http://127.0.0.1:8000

``build`` needs the extra ``docs``. It runs every example for the gallery; their pictures are kept
until code changes. What Sphinx warns of is an error.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "docs"


def build(folder: Path = BUILD, pictures: bool = True) -> int:
    """Write the site; returns 0 where nothing is wrong. Without pictures no example is run."""
    try:
        from sphinx.cmd.build import main as sphinx
    except ImportError:
        print("The site needs Sphinx: pip install -e '.[docs]'", file=sys.stderr)
        return 2
    from docs.site.source import write_source

    failed = write_source(folder / "source", folder / "pictures" if pictures else None)
    if failed:
        print("These examples failed:", *failed, sep="\n  ", file=sys.stderr)
        return 1
    options = ["-q", "-W", "--keep-going", "-E", "-j", "auto", "-b", "html",
               "-c", str(ROOT / "docs" / "site")]  # fmt: skip
    status = sphinx([*options, str(folder / "source"), str(folder / "html")])
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
    parser.add_argument("command", choices=("build", "serve"))
    parser.add_argument("--port", type=int, default=8000, help="of serve")
    given = parser.parse_args()
    status = build()
    return status if status or given.command == "build" else serve(port=given.port)


if __name__ == "__main__":
    sys.exit(main())
