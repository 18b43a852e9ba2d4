"""Model files are read as an independent reader read them; damaged and hostile ones are refused.

The models are public ones with their licences, ``tests/data/simscape/corpus/licences``; what they
contain was read by another program, ``corpus/*.json``.
"""

import base64
import io
import json
import shutil
from pathlib import Path

import pytest
from simscape_corpus import parts_of, zipped

from blocks import FileError
from library.simscape.file.diagram import read_diagram
from library.simscape.file.nodes import name_ports
from library.simscape.physical.node_units import NodeUnits

CORPUS = Path(__file__).resolve().parents[2] / "data" / "simscape" / "corpus"
MODELS = sorted(CORPUS.glob("*.slx"))
# what the other reader took for a property of a parameter, and a drawing that it kept
BESIDE = {"IconShape"}
RUN = ("StartTime", "StopTime", "SolverName", "MaxStep", "FixedStep")


def blocks_of(system, path=""):
    for block in system.blocks.values():
        yield f"{path}/{block.name}", block
        if block.system is not None:
            yield from blocks_of(block.system, f"{path}/{block.name}")


@pytest.mark.parametrize("file", MODELS, ids=lambda f: f.stem)
def test_a_public_model_holds_what_another_reader_found(file):
    expected = json.loads(file.with_suffix(".json").read_text())
    diagram = read_diagram(file)
    assert diagram.release == expected["release"]
    assert diagram.callbacks == expected["callbacks"]
    run = expected["run"]  # its tolerances are those of the solver block in two files
    assert {k: diagram.settings.get(k) for k in RUN} == {k: run.get(k) for k in RUN}
    found = {block.sid: (path, block) for path, block in blocks_of(diagram.root)}
    assert found.keys() == {b["sid"] for b in expected["blocks"]}
    for row in expected["blocks"]:
        path, block = found[row["sid"]]
        assert (path, block.kind) == (row["path"], row["kind"])
        name_ports(block)
        if row.get("ports_from") in ("list", "id", "table"):
            assert block.ports == row["ports"]
        for name, value in row["parameters"].items():
            if isinstance(value, str):
                assert name in BESIDE or block.options[name] == value
                continue
            own = block.values[name]
            assert (own.text, own.unit) == (value["value"], value.get("unit", ""))
            assert own.specify == ({"on": True, "off": False}[value["specify"]]
                                   if "specify" in value else None)


@pytest.mark.parametrize("file", MODELS, ids=lambda f: f.stem)
def test_lines_join_the_ports_that_another_reader_found(file):
    expected = json.loads(file.with_suffix(".json").read_text())
    root = read_diagram(file).root
    found = {block.sid: (path, block) for path, block in blocks_of(root)}
    nodes = []
    for ends in NodeUnits(root).groups.to_sets():
        ports = [f"{path}.{block.ports.get(end, end)}" for sid, end in ends for path,
                 block in [found[sid]] if block.system is None and block.block_type != "PMIOPort"]
        nodes += [sorted(ports)] if len(ports) > 1 else []
    assert sorted(nodes) == sorted(sorted(n) for n in expected["nodes"])


# -- containers -------------------------------------------------------------------------------
def test_a_text_package_is_read_like_the_archive(tmp_path):
    file = CORPUS / "msd_bungee.slx"
    text = io.BytesIO()
    text.write(b"# MathWorks OPC Text Package\nModel {\n}\n__MWOPC_PACKAGE_BEGIN__ R2024b\n")
    for name, data in parts_of(file).items():
        plain = name.endswith((".xml", ".rels"))
        text.write(f"__MWOPC_PART_BEGIN__ /{name}{'' if plain else ' BASE64'}\n".encode())
        text.write((data if plain else base64.encodebytes(data)) + b"\n")
    text.write(b"__MWOPC_PACKAGE_END__\n")
    (tmp_path / "msd_bungee.mdl").write_bytes(text.getvalue())
    one, other = read_diagram(file), read_diagram(tmp_path / "msd_bungee.mdl")
    assert one.root == other.root
    assert one.settings == other.settings


@pytest.mark.parametrize(("content", "said"), [
    (b"", "it is empty"), (bytes(4096), "all its bytes are zero"),
    (b'Model {\n Name "old"\n}', "old text format"), (b"PK\x03\x04 and then nothing", "damaged"),
    (b"some words", "neither a zip archive nor a text package")])
def test_a_file_of_another_kind_is_named(tmp_path, content, said):
    (tmp_path / "model.slx").write_bytes(content)
    with pytest.raises(FileError, match=said) as caught:
        read_diagram(tmp_path / "model.slx")
    assert caught.value.advice
    assert "model.slx" in caught.value.where


def test_a_damaged_file_is_named(tmp_path):
    file = tmp_path / "model.slx"
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_diagram(file)
    parts, root = parts_of(CORPUS / "msd_bungee.slx"), "simulink/systems/system_root.xml"
    parts[root] = parts[root][:2000]
    with pytest.raises(FileError, match="XML is damaged") as caught:
        read_diagram(zipped(parts, file))
    assert "system_root.xml" in caught.value.where
    del parts[root]
    with pytest.raises(FileError, match=f"no part '{root}'"):
        read_diagram(zipped(parts, file))
    content = (CORPUS / "msd_bungee.slx").read_bytes()
    for size in (10, 1000, len(content) // 2, len(content) - 30):
        file.write_bytes(content[:size])
        with pytest.raises(FileError):
            read_diagram(file)


# -- files of unknown origin ---------------------------------------------------------------------
BOMB = b"""<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;">
<!ENTITY z SYSTEM "file:///etc/hostname">]><ModelInformation><Model><System>&y;&z;</System></Model>
</ModelInformation>"""
ITSELF = (b'<System><Block BlockType="SubSystem" Name="inner" SID="1"><System Ref="system_root"/>'
          b'</Block></System>')


@pytest.mark.parametrize(("part", "content", "said"), [
    ("simulink/blockdiagram.xml", BOMB, "declares entities"),
    ("simulink/blockdiagram.xml", b"<a>" * 5000 + b"</a>" * 5000, "deep"),
    ("simulink/systems/system_root.xml", ITSELF, "contains itself"),
    ("large", bytes(2_000_000), "holds more than")], ids=["entities", "depth", "circle", "size"])
def test_a_part_that_would_take_time_or_space_is_refused(part, content, said, tmp_path,
                                                         monkeypatch):
    monkeypatch.setattr("library.simscape.file.archive.LARGEST", 1_000_000)
    with pytest.raises(FileError, match=said):
        read_diagram(zipped(parts_of(CORPUS / "dc_motor.slx") | {part: content},
                            tmp_path / "model.slx"))


def test_a_locked_file_is_named(tmp_path):
    file = shutil.copy(CORPUS / "msd_bungee.slx", tmp_path / "model.slx")
    content = bytearray(Path(file).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(signature, at + 4)
    Path(file).write_bytes(content)
    with pytest.raises(FileError, match="locked by a password"):
        read_diagram(file)
