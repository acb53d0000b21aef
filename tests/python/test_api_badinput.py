"""`npufuse api` on sources that are no good: an end in time, a clear message, the
right exit code, and no byte that steers a terminal."""
import json
import os
import subprocess
import sys

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
