"""The gallery: every example as a page that simulates, with its picture, what it prints, and its
text."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import multiprocessing
import os
import re
import runpy
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from multiprocessing.connection import wait
from pathlib import Path
from textwrap import fill
from time import monotonic
from typing import Any

from blocks import Model
from blocks.exceptions import ParameterError
from docs.site import friction_curves

__all__ = ["examples", "gallery", "run_all", "run_example", "run_examples"]

#: Seconds after which an example is taken to hang. Those that work most take 80 s of a processor,
#: and took up to four times as long where others were at work on it.
LONGEST = 1200.0
#: What a reader moves, and sees, in the page of an example; of others the states. What simulates
#: nothing by itself has a duration here.
PAGES: dict[str, dict[str, Any]] = {
    "bouncing_stop": {"sliders": {"stop.restitution": ("0.3", "0.9")},
                      "show": ["stop.x", "mass.v"]},
    "dc_motor_sticking_load": {
        "sliders": {"shaft.stiffness": ("0.5 N*m/rad", "10 N*m/rad"),
                    "supply.voltage": ("12 V", "48 V")},
        "show": ["motor.i", "load.w", "shaft.t"]},
    "friction_laws": {"sliders": {"spring.stiffness": ("50 N/m", "200 N/m")},
                      "switches": {"friction.law": ["karnopp", "quinn", "kikuuwe", "tanh"]},
                      "show": ["block.v", "friction.f"]},
    "gymnasium_cart": {"sliders": {"push.force": ("-20 N", "20 N")}, "duration": "5 s",
                       "show": ["place.P", "cart.v", "friction.f"]},
    "heap_of_discs": {"show": ["discs.x", "discs.y"]},
    "hunting_axis": {"sliders": {"I.gain": ("10 kN/(m*s)", "60 kN/(m*s)")},
                     "show": ["sensor.x", "carriage.v", "friction.f"]},
    "mass_spring_damper": {"sliders": {"spring.stiffness": ("50 N/m", "2 kN/m")}},
    "pandas_export": {"show": ["damper.f", "shaker.f"]},
    "pareto_front": {"sliders": {"ball.angle": ("10 deg", "60 deg")},
                     "show": ["ball.x", "ball.y"]},
    "quarter_car": {"sliders": {"suspension.damping": ("0.5 kN*s/m", "5 kN*s/m")},
                    "show": ["tyre.f", "road.x", "body.v"]},
    "quarter_car_comfort": {"sliders": {"suspension.damping": ("0.2 kN*s/m", "6 kN*s/m")},
                            "show": ["body.v", "tyre.f"], "duration": "4 s"},
    "stick_slip": {"sliders": {"spring.stiffness": ("0.5 kN/m", "3 kN/m")},
                   "show": ["block.v", "friction.f"]},
    "sweep_friction": {"sliders": {"friction.coulomb_force": ("5 N", "25 N"),
                                   "belt.velocity": ("40 mm/s", "340 mm/s")},
                       "show": ["block.v", "friction.f"], "duration": "2 s"},
    "two_clutches": {"show": ["engine.w", "vehicle.w"]},
}
#: Methods whose steps leave Python; in place of others a page takes the one that suits.
LEAVE = ("auto", "dopri5", "DOP853", "rodas4", "rk4", "euler", "trapezoidal", "backward_euler",
         "moreau_jean")
OPTIONS = "start_time", "rtol", "atol", "step", "max_step"

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {".py", ".c", ".js", ".css", ".html", ".txt"}


def examples() -> list[Path]:
    """The examples by name."""
    return sorted((ROOT / "examples").glob("[a-z]*.py"))


def _version() -> str:
    """Changes with every file that an example may depend on."""
    files = [f for folder in ("blocks", "library", "examples")
             for f in sorted((ROOT / folder).rglob("*.[chjpt]*")) if f.suffix in SOURCES]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def run_example(example: Path, folder: Path) -> None:
    """Run one, in a process of its own, and keep its page, what it prints, or why it failed.

    Its page is the first model that it simulates itself, and that leaves; where it simulates
    nothing, that of its name ``model``.
    """
    printed, file = io.StringIO(), folder / f"{example.stem}.html"
    sys.argv = [example.name, "--save", str(folder)]
    os.chdir(folder)
    with contextlib.redirect_stdout(printed), _first_run_as_page(file):
        try:
            names = runpy.run_path(str(example), run_name="__main__")
            if not (file.exists() or file.with_suffix(".refused").exists()):
                _write_page(names["model"], file)
        except Exception as error:  # the build says which, and goes on with the others
            (folder / f"{example.stem}.failed").write_text(f"{type(error).__name__}: {error}")
            return
    text = re.sub(r"\n*The (picture|film) is in .*", "", printed.getvalue()).rstrip()
    (folder / f"{example.stem}.txt").write_text(text, encoding="utf-8")


def _write_page(model: Model, file: Path, **options: Any) -> None:
    """Write a model as the page of an example, or a text that says why it is refused."""
    if find_spec("ziglang") is None:
        return
    refused = file.with_suffix(".refused")
    try:
        model.page(file, **PAGES.get(file.stem, {}), **options)
        refused.unlink(missing_ok=True)
    except ParameterError as error:
        if error.code != "export.refused":  # but a mistake above
            raise
        if not refused.exists():
            refused.write_text(str(error), encoding="utf-8")


@contextlib.contextmanager
def _first_run_as_page(file: Path) -> Iterator[None]:
    """Write the first model that an example itself simulates, and that leaves, as a page."""
    simulate: Any = Model.simulate

    def simulated(model: Model, duration: Any = None, *args: Any, **given: Any) -> Any:
        if not file.exists() and sys._getframe(1).f_globals["__name__"] == "__main__":
            options = {name: given[name] for name in OPTIONS if name in given}
            if (method := given.get("method", "auto")) in LEAVE:
                options["method"] = method
            else:
                options.pop("step", None)
            _write_page(model, file, duration=duration, **options)
        return simulate(model, duration, *args, **given)

    Model.simulate = simulated  # type: ignore[method-assign]
    try:
        yield
    finally:
        Model.simulate = simulate  # type: ignore[method-assign]


def run_examples(folder: Path, longest: float = LONGEST) -> list[str]:
    """Pictures and printed words of all examples, and the picture of all friction laws, in a
    folder that is kept while no code changes.

    Says how far it is. Returns what failed, or took more than ``longest`` seconds.
    """
    done = folder / "version.txt"
    if done.exists() and done.read_text() == _version():
        return []
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if find_spec("ziglang") is None:
        print("Examples are no pages that simulate: ziglang is not installed.", flush=True)
    os.environ["MPLBACKEND"] = "agg"
    sys.path.insert(0, str(ROOT / "examples"))
    _imports()
    tasks = {e.name: (run_example, (e, folder)) for e in examples()}
    tasks["friction curves"] = (friction_curves.draw, (folder / "friction_curves.png",))
    failed = list(run_all(tasks, longest))
    for file in sorted(folder.glob("*.failed")):
        failed = [f for f in failed if not f.startswith(f"{file.stem}.py:")]
        failed.append(f"{file.stem}.py: {file.read_text()}")
    if not failed:
        done.write_text(_version())
    return failed


def run_all(tasks: Mapping[str, tuple[Callable[..., object], tuple[Any, ...]]],
            longest: float) -> Iterator[str]:
    """Call each function in a process of its own, as many at once as there are processors.

    Yields names, with the reason, of those that end badly or not within ``longest`` seconds.
    """
    context = multiprocessing.get_context("fork")
    waiting, running, ended = list(tasks), {}, 0
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            process = context.Process(target=tasks[name][0], args=tasks[name][1])
            process.start()
            running[name] = process, monotonic()
        wait([process.sentinel for process, _ in running.values()], timeout=0.5)
        for name, (process, start) in list(running.items()):
            took = monotonic() - start
            if process.is_alive() and took < longest:
                continue
            late = process.is_alive()
            if late:
                process.kill()
            process.join()
            del running[name]
            ended += 1
            if late:
                yield f"{name}: not done after {longest:g} s"
            elif process.exitcode:
                yield f"{name}: ended with code {process.exitcode}"
            print(f"[{ended}/{len(tasks)}] {name}, {took:.0f} s", flush=True)


def _imports() -> None:
    """Import once what all examples import."""
    import matplotlib.pyplot  # noqa: F401
    import pandas  # noqa: F401
    import xarray  # noqa: F401

    import library.translational  # noqa: F401


def _page(example: Path, pictures: Path) -> tuple[str, str]:
    """Title and page of an example."""
    text = example.read_text(encoding="utf-8")
    doc = ast.get_docstring(ast.parse(text)) or example.stem
    first, _, rest = doc.partition("\n\n")
    title = " ".join(first.split())
    parts = [f"# {title}", f"`python examples/{example.name}`"]
    if rest:
        parts.append(f"```text\n{rest}\n```")
    parts += [f"![{title}](pictures/{p.name})"
              for p in sorted(pictures.glob(f"{example.stem}.[gp]*"))]  # fmt: skip
    if (pictures / f"{example.stem}.html").exists():
        place = f"pictures/{example.stem}.html"
        parts.append('```{raw} html\n<p>It simulates here, or '
                     f'<a href="{place}">by itself</a>:</p><iframe src="{place}" '
                     f'title="{title}, simulated" width="100%" height="640" loading="lazy">'
                     "</iframe>\n```")
    elif (pictures / f"{example.stem}.refused").exists():
        why = (pictures / f"{example.stem}.refused").read_text(encoding="utf-8")
        parts.append(f"It does not simulate in a page:\n\n```text\n{fill(why, 88)}\n```")
    printed = pictures / f"{example.stem}.txt"
    if printed.exists() and printed.read_text().strip():
        parts.append(f"It prints\n\n```text\n{printed.read_text()}\n```")
    code = text.partition('"""')[2].partition('"""')[2].strip()
    parts.append(f"Its text\n\n```python\n{code}\n```")
    return title, "\n\n".join(parts) + "\n"


def gallery(source: Path, pictures: Path | None) -> None:
    """Write the pages, and the one that shows all."""
    (source / "gallery").mkdir(parents=True, exist_ok=True)
    pictures = pictures or source / "none"
    if pictures.exists():
        shutil.copytree(pictures, source / "gallery" / "pictures", dirs_exist_ok=True)
    cards = []
    for example in examples():
        title, text = _page(example, pictures)
        (source / "gallery" / f"{example.stem}.md").write_text(text, encoding="utf-8")
        picture = f"gallery/pictures/{example.stem}.png"
        shown = f":img-top: {picture}\n:img-alt: What the example draws: {title}\n" * (
            pictures / f"{example.stem}.png").exists()  # fmt: skip
        cards.append(f":::{{grid-item-card}}\n{shown}:link: gallery/{example.stem}\n"
                     f":link-type: doc\n\n{title}\n:::")  # fmt: skip
    listed = "\n".join(f"{e.stem.replace('_', ' ').capitalize()} <gallery/{e.stem}>"
                       for e in examples())  # fmt: skip
    (source / "gallery.md").write_text(
        "# Gallery\n\nEvery example runs from a checkout, "
        "`python examples/dry_friction.py`, and prints a number that can be checked by hand.\n\n"
        "::::{grid} 1 2 3 3\n:gutter: 3\n\n" + "\n\n".join(cards) + "\n::::\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n", encoding="utf-8")  # fmt: skip
