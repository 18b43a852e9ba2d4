"""Object code is kept on disk where that is possible, and nothing depends on it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

import pytest

from blocks.machine import compiling
from blocks.machine.functions import machine_code

pytest.importorskip("llvmlite.binding")

new_engine = compiling._engine.__wrapped__


def cube(x: float) -> float:
    return x * x * x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own, as for a new process."""
    monkeypatch.setattr(compiling, "folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def compiled(monkeypatch):
    """What is compiled, and not taken from disk."""
    texts, emit = [], compiling._emitted
    monkeypatch.setattr(compiling, "_emitted",
                        lambda *given: (texts.append(given), emit(*given))[1])
    return texts


def compiled_as_in_a_new_process(monkeypatch):
    monkeypatch.setattr(compiling, "_addresses", {})
    engine = new_engine()
    monkeypatch.setattr(compiling, "_engine", lambda: engine)
    return machine_code(cube)


def test_code_is_kept_for_one_kind_of_processor(monkeypatch):
    found = set()
    for name in ("one", "other"):
        monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda name=name: name)
        found.add(compiling.made_for.__wrapped__())
    assert len(found) == 2


def test_a_function_is_compiled_once_for_all_processes(folder, compiled, monkeypatch):
    for x in (2.0, 3.0):
        assert compiled_as_in_a_new_process(monkeypatch)(x) == x**3
    assert len(compiled) == 1


@pytest.mark.parametrize("damage", [
    lambda content: b"", lambda content: b"nothing of the kind", lambda content: content[:-1],
    lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:]])  # fmt: skip
def test_a_damaged_file_is_written_anew(damage, folder, compiled, monkeypatch):
    compiled_as_in_a_new_process(monkeypatch)(2.0)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert compiled_as_in_a_new_process(monkeypatch)(3.0) == 27
    assert len(compiled) == 2 and file.read_bytes() == whole


def test_without_a_folder_it_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(compiling, "folder", lambda: None)
    assert compiled_as_in_a_new_process(monkeypatch)(3.0) == 27


@pytest.mark.parametrize("given", ["", "file/in/which/nothing/can/be/made"])
def test_a_folder_that_cannot_be_used_is_none(given, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("BLOCKS_CACHE", given and str(tmp_path / given))
    assert compiling.folder.__wrapped__() is None


def test_a_full_disk_does_not_stop_a_compilation(folder, monkeypatch):
    def full(file, content):
        file.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    assert compiled_as_in_a_new_process(monkeypatch)(3.0) == 27
    assert list(folder.iterdir()) == []


def test_what_was_not_used_for_longest_goes_first(folder, monkeypatch):
    for k in range(12):
        file = folder / f"f{k:02}.o"
        file.touch()
        os.utime(file, (k, k))
    monkeypatch.setattr(compiling, "MOST_KEPT", 12)
    compiled_as_in_a_new_process(monkeypatch)(3.0)
    assert sorted(f.name for f in folder.glob("f??.o")) == [f"f{k:02}.o" for k in range(1, 12)]


SCRIPT = """
from benchmarks.cases.models import block_on_belt
run = block_on_belt().simulate("3 s")
print(run.statistics["method"], run.statistics["steps"], len(run.events),
      *(float(run[name].final.m).hex() for name in ("block.v", "spring.x")))
"""


def test_a_script_gives_the_same_to_the_last_bit_whatever_is_kept(tmp_path):
    printed = {subprocess.run(
        [sys.executable, "-c", SCRIPT], check=True, text=True, capture_output=True,
        env={**os.environ, "BLOCKS_CACHE": kept}).stdout
        for kept in (str(tmp_path), str(tmp_path))}  # fmt: skip
    assert list(tmp_path.glob("*.o"))
    assert len(printed) == 1, printed


def test_functions_are_compiled_from_an_archive(tmp_path, monkeypatch):
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("of_an_archive.py", "from __future__ import annotations\n"
                        "def square(x: float) -> float:\n    return x * x\n")
    monkeypatch.syspath_prepend(archive)
    from of_an_archive import square

    assert machine_code(square)(3.0) == 9.0


def test_code_of_an_archive_that_has_changed_is_another(tmp_path, monkeypatch):
    archive = tmp_path / "archive.zip"
    monkeypatch.setattr(compiling, "__file__", str(archive / "blocks" / "machine" / "compiling.py"))
    found = set()
    for time in (1e9, 2e9):
        archive.touch()
        os.utime(archive, (time, time))
        found.add(compiling._sources.__wrapped__())
    assert len(found) == 2
