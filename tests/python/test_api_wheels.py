"""`npufuse api` on real torch_npu wheels, against an independent reading.

The reading here goes the other way round: Python's own zipfile and ast for the
texts, a regular expression over the library's bytes for the schemas.
"""
import ast
import hashlib
import json
import os
import re
import struct
import subprocess
import warnings
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import pytest

from wheels import ROOT, VERSIONS, wheel

NPUFUSE = os.environ.get("NPUFUSE_BIN", str(ROOT / "build" / "dev" / "npufuse"))
DOCS = "torch_npu/_op_plugin_docs.py"
LIBRARY = "torch_npu/lib/libtorch_npu.so"
NAMES = {"2.1.0": 155, "2.5.1": 116, "2.7.1": 155, "2.13.0": 217, "2.14.0": 217}
# Entries of 2.13.0 whose text has the heading as a line of its own.
HEADINGS = {
    "功能描述": 204, "接口原型": 123, "函数原型": 5, "参数说明": 210, "输出说明": 138,
    "返回值说明": 5, "约束说明": 133, "支持的型号": 110, "支持的芯片型号": 21,
    "支持的PyTorch版本": 53, "支持版本": 23, "调用示例": 135, "示例": 69,
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "npufuse"


def run(*args):
    return subprocess.run([NPUFUSE, "api", *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)


def api(*args):
    out = run(*args, "--format", "json")
    assert out.returncode == 0, out.stderr.decode()
    return json.loads(out.stdout.decode())


def member(version, name):
    with zipfile.ZipFile(wheel(version)) as archive:
        return archive.read(name)


def entries(version):
    """Name, first line and value of each text, in order, by Python's parser."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # backslashes that escape nothing
        tree = ast.parse(member(version, DOCS))
    for stmt in tree.body:
        if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
            name, text = stmt.value.args
            found.append((name.value, text.lineno, text.value))
    return found


def schemas(version):
    """Every text of the library that has the form of a schema."""
    found = re.findall(rb"(?<=\x00)[A-Za-z_:][\w:.]*\([^\x00]*?\) -> [^\x00]+(?=\x00)",
                       member(version, LIBRARY))
    return {text.decode() for text in found if all(32 <= c < 127 for c in text)}


@pytest.mark.parametrize("version", VERSIONS)
def test_names(version):
    listed = [n["name"] for n in api("list", "--docs-path", wheel(version))["names"]]
    assert len(listed) == NAMES[version] == len(set(listed))
    if version != "2.1.0":  # which has no texts: what is registered is listed
        assert set(listed) == {name for name, _, _ in entries(version)}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """A torch_npu 2.13.0 as an installer leaves it."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel("2.13.0")) as archive:
        for name in (DOCS, LIBRARY):
            archive.extract(name, folder)
    return folder


@pytest.fixture(scope="module")
def shown(unpacked):
    """What show says of each of the 217 names."""
    names = [n["name"] for n in api("list", "--docs-path", unpacked)["names"]]
    return {name: api("show", name, "--docs-path", unpacked) for name in names}


def test_every_text_is_shown_as_it_stands(shown, unpacked):
    lines = (unpacked / DOCS).read_bytes().decode().replace("\r\n", "\n").split("\n")
    by_name = {}
    for name, _, value in entries("2.13.0"):
        by_name.setdefault(name, []).append(value)
    for name, view in shown.items():
        assert len(view["definitions"]) == len(by_name[name])
        assert [d["preferred"] for d in view["definitions"]][-1:] == [True]
        for definition, value in zip(view["definitions"], by_name[name]):
            body = definition["body"]
            span = "\n".join(lines[definition["start_line"] - 1:definition["end_line"]])
            assert span.rstrip() == body.rstrip() or not body
            if "\\" not in body:
                assert body.strip() == value.replace("\r\n", "\n").strip()


def test_sections_lie_where_they_say(shown, unpacked):
    lines = (unpacked / DOCS).read_bytes().decode().replace("\r\n", "\n").split("\n")
    for view in shown.values():
        for section in view["sections"]:
            span = lines[section["start_line"] - 1:section["end_line"]]
            assert section["title"] in span[0]
            last = section["text"].split("\n")[-1]
            assert span[-1].rstrip().endswith(last.rstrip()), (view["name"], section)


def test_heading_counts(shown):
    counts = Counter()
    for name, _, value in entries("2.13.0"):
        found = set()
        for line in value.splitlines():
            text = line.strip().strip("#* ").rstrip(":：").strip("* ")
            if text in HEADINGS:
                found.add(text)
        counts.update(found)
    assert {title: counts[title] for title in HEADINGS} == HEADINGS
    # What is in force of them has the same headings in our reading.
    forced = {name: value for name, _, value in entries("2.13.0")}
    for title in HEADINGS:
        ours = {n for n, v in shown.items() if title in [s["title"] for s in v["sections"]]}
        theirs = {n for n, value in forced.items() if title in {
            line.strip().strip("#* ").rstrip(":：").strip("* ") for line in value.splitlines()}}
        ours -= {"npu_quant_matmul_reduce_sum"}  # whose text stands behind the heading
        theirs -= {"npu_quant_matmul_reduce_sum"}
        assert ours <= theirs
        # Headings that only go on with an open section of examples are not counted.
        assert title in ("示例", "调用示例") or ours == theirs, title


def test_the_later_of_two_texts_is_preferred(shown):
    twice = {n for n, v in shown.items() if len(v["definitions"]) == 2}
    assert twice == {"npu_moe_token_permute", "npu_moe_token_unpermute",
                     "npu_moe_token_permute_with_routing_map"}
    for name in twice:
        first, second = shown[name]["definitions"]
        assert (first["preferred"], second["preferred"]) == (False, True)
        assert first["start_line"] < second["start_line"]


def test_signatures_are_found(shown):
    without = {n for n, v in shown.items() if not v["signatures"]}
    assert without == {  # in which there is none, or that of another function
        "npu_lightning_indexer", "npu_quant_lightning_indexer", "npu_mish",
        "npu_sparse_flash_attention", "npu_kv_quant_sparse_flash_attention",
        "npu_yolo_boxes_encode", "npu_transpose_quant_batchmatmul"}
    assert shown["npu_geglu"]["signatures"][0].startswith("torch_npu.npu_geglu(")
    assert shown["npu_add_rms_norm_quant"]["signatures"][0].startswith("npu_add_rms_norm_quant(")
    # Its examples are numbered, and no part of the constraints.
    roles = [part["role"] for part in shown["npu_rotary_mul"]["sections"]]
    assert roles[-2:] == ["constraints", "examples"]
    # One text describes two functions, one another function than its own.
    assert len(shown["npu_iou"]["signatures"]) == 1
    assert any("'npu_transpose'" in told for told in
               shown["npu_yolo_boxes_encode"]["disagreements"])
    assert not any("npu_ptiou" in told for told in shown["npu_iou"]["disagreements"])
    assert len(shown["npu_fusion_attention_v2"]["signatures"]) == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_schemas(version):
    """The same set as a regular expression finds in the whole library."""
    expected = schemas(version)
    names = {text.split("(")[0].split(".")[0].split("::")[-1] for text in expected}
    assert len(expected) > 150
    ours = set()
    path = wheel(version)
    for name in sorted(names):
        ours |= {r["schema"] for r in api("show", name, "--docs-path", path)["registered"]}
    assert ours == expected


def test_disagreements(shown):
    view = shown["npu_rms_norm"]
    assert view["disagreements"] == [
        "argument 1 is 'self' in the documents and 'input' as registered: pass it by position"]
    assert shown["npu_swiglu"]["registered"][0]["args"][1] == {
        "name": "dim", "type": "int", "default": "-1", "keyword_only": False, "mutated": False}


@pytest.mark.parametrize("version", VERSIONS)
def test_operators_are_in_the_versions_that_ops_names(version):
    out = run("check", "--docs-path", wheel(version), "--format", "json")
    assert out.returncode in (0, 1), out.stderr.decode()
    states = {o["name"]: o for o in json.loads(out.stdout.decode())["operators"]}
    for path in sorted((ROOT / "ops").glob("*.py")):
        text = path.read_text()
        if "module = " in text:
            continue
        stated = re.search(r'^versions = \(?\s*"([^)]*?)"\)?$', text, re.M | re.S).group(1)
        named = version in re.findall(r"\d+\.\d+\.\d+", stated)
        state = states[path.stem]
        assert (state["state"] != "absent") == named, (path.stem, stated)
        if version == "2.13.0":
            assert state["state"] == "same", state


def test_cache(cache, tmp_path):
    path = wheel("2.5.1")
    first = api("show", "npu_rms_norm", "--docs-path", path)
    kept = list(cache.iterdir())
    assert len(kept) == 1 and first["registered"]
    assert api("show", "npu_rms_norm", "--docs-path", path) == first
    whole = kept[0].read_bytes()
    for damaged in (b"", whole[:100], whole[:-4], whole.replace(b"Tensor", b"(((", 1)):
        kept[0].write_bytes(damaged)
        assert api("show", "npu_rms_norm", "--docs-path", path) == first
        assert kept[0].read_bytes() == whole
    kept[0].write_bytes(whole.replace(b"npu_rms_norm(", b"npu_rms_gone("))
    assert api("show", "npu_rms_norm", "--docs-path", path) == first  # its hash differs
    text = whole.replace(b"npu_rms_norm(", b"npu_rms_gone(").rpartition(b"end ")[0]
    kept[0].write_bytes(text + b"end %s\n" % hashlib.sha256(text).hexdigest().encode())
    assert not api("show", "npu_rms_norm", "--docs-path", path)["registered"]  # it is used
    again = api("show", "npu_rms_norm", "--docs-path", path, "--no-cache")
    assert again == first


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert api("show", "npu_swiglu", "--docs-path", wheel("2.5.1"))["registered"]


# ---- damaged and hostile files ----------------------------------------------------


def small_wheel(path, docs, library):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DOCS, docs)
        archive.writestr(LIBRARY, library)
    return path.read_bytes()


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A small text and a small real library with one schema."""
    folder = tmp_path_factory.mktemp("parts")
    source = folder / "lib.c"
    source.write_text('const char text[] = "npu_one(Tensor x, int n=2) -> Tensor";\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "lib.so", source], check=True)
    docs = b'_add("npu_one", """\ntorch_npu.npu_one(x, n=2) -> Tensor\n""")\n'
    return docs, (folder / "lib.so").read_bytes()


def test_a_wheel_cut_anywhere(parts, tmp_path):
    path = tmp_path / "torch_npu-9.0.0-cut.whl"
    whole = small_wheel(path, *parts)
    assert api("show", "npu_one", "--docs-path", path)["registered"]
    for size in list(range(0, len(whole), max(1, len(whole) // 60))) + [len(whole) - 1]:
        path.write_bytes(whole[:size])
        out = run("show", "npu_one", "--docs-path", path)
        assert out.returncode == 2 and str(path) in out.stderr.decode()


def test_a_library_cut_anywhere(parts, tmp_path):
    path = tmp_path / "libtorch_npu.so"
    whole = parts[1]
    for size in range(4, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:size])
        out = run("show", "npu_one", "--docs-path", path)
        assert out.returncode == 2 and b"libtorch_npu.so'" in out.stderr, out
    path.write_bytes(whole)
    assert run("show", "npu_one", "--docs-path", path).returncode == 0


@pytest.mark.parametrize("at, value, message", [
    (4, b"\x01", "no 64-bit little-endian ELF"), (5, b"\x02", "no 64-bit little-endian ELF"),
    (40, b"\xff" * 8, "is cut"), (58, b"\x01\x00", "an odd size"), (60, b"\xff\xff", "is cut"),
])
def test_a_library_with_odd_headers(parts, tmp_path, at, value, message):
    path = tmp_path / "libtorch_npu.so"
    path.write_bytes(parts[1][:at] + value + parts[1][at + len(value):])
    out = run("show", "npu_one", "--docs-path", path)
    assert out.returncode == 2 and message in out.stderr.decode()


def bomb(path, claimed):
    """A wheel whose member is 100 MB of zeros and claims `claimed` bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(100)) + packer.flush()
    name = DOCS.encode()
    sizes = struct.pack("<III", 0, len(data), claimed)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes + struct.pack(
        "<HH", len(name), 0) + name
    entry = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes + struct.pack(
        "<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local) + len(data), 0)
    path.write_bytes(local + data + entry + end)


@pytest.mark.parametrize("claimed, message", [
    (100 << 20, "at most 64 MB are read"), (1000, "is damaged, or not of the size"),
    ((64 << 20) - 1, "is damaged, or not of the size"),
])
def test_a_zip_bomb(tmp_path, claimed, message):
    path = tmp_path / "bomb.whl"
    bomb(path, claimed)
    out = run("list", "--docs-path", path)
    assert out.returncode == 2 and message in out.stderr.decode()


def test_members_on_each_other(parts, tmp_path):
    """The trick of bombs that unpack to far more: members that share bytes."""
    path = tmp_path / "overlap.whl"
    whole = bytearray(small_wheel(path, *parts))
    second = whole.index(b"PK\1\2", whole.index(b"PK\1\2") + 4)
    whole[second + 42:second + 46] = bytes(4)
    path.write_bytes(bytes(whole))
    out = run("list", "--docs-path", path)
    assert out.returncode == 2 and "lie on each other" in out.stderr.decode()


def test_a_gigabyte_of_garbage(tmp_path):
    path = tmp_path / "_op_plugin_docs.py"
    with open(path, "wb") as file:
        file.write(b"garbage ")
        file.truncate(1 << 30)
    out = run("list", "--docs-path", path)
    assert out.returncode == 2
    assert "'%s'" % path in out.stderr.decode()
    path.rename(tmp_path / "torch_npu-1.0.whl")
    out = run("list", "--docs-path", tmp_path / "torch_npu-1.0.whl")
    assert out.returncode == 2 and "no whole zip file" in out.stderr.decode()


def test_no_member_of_that_name(tmp_path):
    path = tmp_path / "other-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other/__init__.py", "")
    out = run("list", "--docs-path", path)
    assert out.returncode == 2 and "has no '%s'" % DOCS in out.stderr.decode()
