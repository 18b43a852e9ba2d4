"""Public models as they lie in their repositories, with the files that belong to them.

``python tests/library/simscape/simscape_corpus.py`` writes the texts anew that they become; read
what has changed before you keep it.
"""

import json
import runpy
import shutil
import tempfile
import zipfile
from pathlib import Path

from library.simscape import convert

DATA = Path(__file__).resolve().parents[2] / "data" / "simscape"
CORPUS = DATA / "corpus"
MANIFEST = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))["models"]


def placed(name, folder):
    """The model beside its scripts and data, under the names it calls them by."""
    for script in MANIFEST[name].get("scripts", ()):
        to = folder / script["original"]
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CORPUS / script["file"], to)
    return Path(shutil.copy(CORPUS / f"{name}.slx", folder / f"{name}.slx"))


def converted(name, folder):
    scripts = [folder / s["original"] for s in MANIFEST[name].get("scripts", ())
               if s["original"].endswith(".m")]
    return convert(placed(name, folder), scripts=scripts)


def built(text, folder):
    """The model that a text builds."""
    file = folder / "converted.py"
    file.write_text(text, encoding="utf-8")
    return runpy.run_path(str(file))["build"]()


def parts_of(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


if __name__ == "__main__":
    for model in MANIFEST:
        with tempfile.TemporaryDirectory() as place:
            text = converted(model, Path(place)).text
        (DATA / "converted" / f"{model}.py").write_text(text, encoding="utf-8")
