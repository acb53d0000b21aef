"""`npufuse api` on sources that are no good: an end in time, a clear message, the
right exit code, and no byte that steers a terminal."""
import json
import os
import subprocess

import generated
import pytest

BINARY = generated.binary()
pytestmark = pytest.mark.skipif(
    BINARY is None, reason="no npufuse: set NPUFUSE_BIN or build it")
LIMIT_S = 20


def api(*words, cwd, **env):
    """The finished process; its output as text."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LANG": "C.UTF-8", **env}
    return subprocess.run([str(BINARY), "api", *words], cwd=cwd, env=clean, timeout=LIMIT_S,
                          capture_output=True, text=True, errors="surrogateescape")


@pytest.mark.parametrize("body", [
    "torch_npu.npu_a(\n" * 300_000,
    "接口原型\n" + "".join("torch_npu.npu_a(x%d)\n" % i for i in range(100_000)),
    "功能描述\n" * 300_000,
    "接口原型\n" + "torch_npu.npu_a(x" * 200_000,
    "x" * 8_000_000,
], ids=["open_calls", "many_signatures", "many_headings", "nested_calls", "one_line"])
def test_a_text_of_any_shape_is_read_in_time(tmp_path, body):
    (tmp_path / "d.py").write_text('f("npu_a", """%s""")\n' % body)
    shown = api("show", "npu_a", "--docs-path", "d.py", "--format", "json", cwd=tmp_path)
    assert shown.returncode == 0
    page = json.loads(shown.stdout)
    assert len(page["signatures"]) <= 64
    assert len(page["sections"]) <= 1000
    found = api("search", "a", "--docs-path", "d.py", cwd=tmp_path)
    assert found.returncode == 0 and found.stdout.startswith("npu_a\t1\t")


PAGE = "# torch_npu.%s\n\n## 功能说明\n\n%s\n"


def test_a_folder_of_pages_with_bad_ones_gives_the_others(tmp_path):
    pages = tmp_path / "pages"
    (pages / "sub").mkdir(parents=True)
    (pages / "a.md").write_text(PAGE % ("npu_a", "first"))
    (pages / "cr.md").write_bytes((PAGE % ("npu_cr", "returns")).replace("\n", "\r").encode())
    (pages / "bytes.md").write_bytes(b"# torch_npu.npu_bytes\n\n\xff\xfe \0 text\n")
    (pages / "large.md").write_bytes(b"\0" * (5 << 20))
    (pages / "gone.md").symlink_to("nowhere.md")
    (pages / "loop.md").symlink_to("loop.md")
    (pages / "sub" / "above").symlink_to("..")
    (pages / "folder.md").mkdir()
    os.mkfifo(pages / "pipe.md")
    listed = api("list", "--docs-path", "pages", cwd=tmp_path)
    assert listed.returncode == 0
    assert sorted(listed.stdout.split()) == ["npu_a", "npu_bytes", "npu_cr"]
    assert "pages/large.md" in listed.stderr and "could not be read: 1" in listed.stderr
    shown = api("show", "npu_cr", "--docs-path", "pages", "--format", "json", cwd=tmp_path)
    assert json.loads(shown.stdout)["sections"][0]["text"] == "returns"
    shown = api("show", "npu_bytes", "--docs-path", "pages", "--format", "json", cwd=tmp_path)
    assert json.loads(shown.stdout)["definitions"][0]["body"].strip() == "\ufffd\ufffd \0 text"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_costs_nothing_else(tmp_path):
    (tmp_path / "pages" / "shut").mkdir(parents=True, mode=0o700)
    (tmp_path / "pages" / "a.md").write_text(PAGE % ("npu_a", "first"))
    (tmp_path / "pages" / "shut").chmod(0)
    listed = api("list", "--docs-path", "pages", cwd=tmp_path)
    (tmp_path / "pages" / "shut").chmod(0o700)
    assert (listed.returncode, listed.stdout) == (0, "npu_a\n")
    assert "pages/shut" in listed.stderr


@pytest.mark.parametrize("inside, path", [
    ("site", "torch_npu/"), ("site", "torch_npu"), ("site", "."), ("site/torch_npu", "."),
    ("site/torch_npu", "_op_plugin_docs.py"), (".", "site/torch_npu/_op_plugin_docs.py"),
])
def test_the_version_is_found_however_the_package_is_named(tmp_path, inside, path):
    package = tmp_path / "site" / "torch_npu"
    package.mkdir(parents=True)
    (package / "_op_plugin_docs.py").write_text('f("npu_a", """text""")\n')
    (tmp_path / "site" / "torch_npu-2.9.0.dist-info").mkdir()
    shown = api("show", "npu_a", "--docs-path", path, "--format", "json", cwd=tmp_path / inside)
    assert json.loads(shown.stdout)["docs"]["version"] == "2.9.0"
