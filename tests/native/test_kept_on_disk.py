"""What numba compiles is kept on disk where that is possible, and nothing depends on it."""

from __future__ import annotations

import importlib.util

import pytest

pytest.importorskip("numba")

TEXT = """
from blocks.native.disk_cache import compiled

@compiled
def cube(x):
    return x * x * x
"""


def loaded(folder):
    """The module, as a new process would import it."""
    file = folder / "cubes.py"
    if not file.exists():
        file.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("cubes", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cube


def test_a_function_is_compiled_once_for_all_processes(tmp_path):
    assert loaded(tmp_path)(3.0) == 27
    again = loaded(tmp_path)
    assert again(2.0) == 8
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("kind", ["nbc", "nbi"])
@pytest.mark.parametrize("content", [b"", b"nothing of the kind"])
def test_a_damaged_file_is_written_anew(kind, content, tmp_path):
    assert loaded(tmp_path)(3.0) == 27
    files = list(tmp_path.rglob(f"*.{kind}"))
    assert files
    for file in files:
        file.write_bytes(content)
    assert loaded(tmp_path)(2.0) == 8
    assert sum(loaded(tmp_path).stats.cache_hits.values()) == 0
    healed = loaded(tmp_path)
    assert healed(2.0) == 8
    assert sum(healed.stats.cache_hits.values()) == 1


def test_without_a_folder_that_can_be_written_it_is_compiled_all_the_same(tmp_path, monkeypatch):
    from numba.core import caching

    kind = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # of older versions
    monkeypatch.setattr(kind, "_locator_classes", [])
    assert loaded(tmp_path)(3.0) == 27
    assert not list(tmp_path.rglob("*.nb?"))


def test_a_full_disk_does_not_stop_a_compilation(tmp_path, monkeypatch):
    from numba.core import caching

    def full(*given):
        raise OSError("No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert loaded(tmp_path)(3.0) == 27
