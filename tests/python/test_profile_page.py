"""The page of a profile: its data, and in Chromium what it shows."""
import json
import os
import re
import shutil
import subprocess

import pytest
import test_profile_dynamic as dynamic
import test_profile_inputs as inputs
from test_profile_dynamic import kernels

CHROMIUM = next(filter(None, map(shutil.which, (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)

folder = inputs.folder
BOOK = 'f("npu_own_softmax", """\ntorch_npu.npu_own_softmax(x) -> Tensor\nA softmax.\n""")\n'
HOSTILE = "</script><b>Mul</b>"


def make(folder, *options):
    path = folder / "page.html"
    run = subprocess.run([inputs.NPUFUSE, "profile", "-q", "--html", str(path), *options,
                          str(folder)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return path


def data_of(path):
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">\n(.*?)</script>', text, re.S)
    return text, json.loads(found.group(1))


def test_data_of_the_page(folder):
    text, data = data_of(make(folder, "--bandwidth", "1000", "--peak", "100", "--lang", "en"))
    run = data["runs"][0]
    assert run["pattern"] == "rms_norm" and run["count"] == 3
    big, row = 2048 * 4096, 2048
    assert run["operations"] == 3 * (5 * big + 3 * row)  # what each kernel writes
    assert data["chip"]["gb_per_s"] == 1000 and data["lang"] == "en"
    assert run["roof_us"] * 1000 * 1e3 == pytest.approx(run["external_bytes"])
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", text)
    assert "src=" not in text and "@import" not in text


def test_changing_shapes_and_near_operators_on_the_page(tmp_path):
    table = tmp_path / "kernel_details.csv"
    extra = """Softmax 4,16,64 bf16 -> 4,16,64 bf16
        Abs 4,16,64 bf16 -> 4,16,64 bf16
        Index 100,64 bf16;16 int64 -> 16,64 bf16"""
    rows = [row for n in range(1, 5) for row in dynamic.step(n, 64 + 16 * n, more=extra)]
    table.write_text(kernels.table(rows), encoding="utf-8")
    (tmp_path / "book.py").write_text(BOOK, encoding="utf-8")
    path = make(tmp_path, "--docs-path", str(tmp_path / "book.py"), "--lang", "en")
    data = data_of(path)[1]
    kinds = {run["kind"]: run for run in data["runs"]}
    assert kinds["custom"]["near"] == ["npu_own_softmax"]
    assert kinds["affinity"]["near"] == [] and "index_select" in kinds["affinity"]["note"]
    assert [(s["type"], s["shapes"]) for s in data["dynamic"]["sites"]] == [("Tanh", 4), ("Exp", 4)]
    if not CHROMIUM:
        return
    shown = browse(path)
    assert "npu_own_softmax" in shown and "2 of 7, over 4 steps" in shown
    assert "80,32" in shown and "custom fused kernel" in shown


def browse(path):
    run = subprocess.run(
        [CHROMIUM, "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=3000",
         "file://" + str(path)], capture_output=True, text=True, timeout=60)
    return re.sub(r"<script.*?</script>", "", run.stdout, flags=re.S)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium")
@pytest.mark.parametrize("lang, words", [
    ("en", ["Where the device time goes", "Roofline of the runs", "Bound by", "not known",
            "Shapes that change"]),
    ("zh", ["设备时间去向", "各序列的 Roofline", "瓶颈", "未知", "变化的形状", "每次算子 204.000 us",
            "芯片未知：上限为相对值"]),
])
def test_page_in_a_browser(folder, lang, words):
    table = folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    rows = [r for n in range(3) for r in inputs.norm_rows(n, inputs.START + 1000 * n)]
    odd = list(rows[-1])
    odd[4], odd[6] = HOSTILE, "%d.250\t" % (inputs.START + 9000)
    inputs.write_table(table, rows + [odd])
    shown = browse(make(folder, "--lang", lang))
    for word in words + ["rms_norm", "torch_npu.npu_rms_norm", "net/norm.py:17", "0-7"]:
        assert word in shown
    assert "<canvas" in shown
    assert "<b>Mul" not in shown and "&lt;b&gt;Mul" in shown


def test_sentences_have_their_chinese():
    """What the report says of operators and bounds is in the page's table of sentences."""
    root = os.path.join(inputs.HERE, "..", "..")

    def text_of(name):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            return re.sub(r'"\s*\+?\s*\n\s*"', "", file.read())
    table = text_of("assets/profile/sentences.js")
    said = re.findall(r'\.note = "([^"]+)"', text_of("src/prof/pattern.c") +
                      text_of("src/prof/pattern_late.c"))
    said += re.findall(r'BOUND_\w+, 0, "([^"]+)"', text_of("src/prof/bound.c"))
    said += re.findall(r'STR\("(no [^"]+|the trace [^"]+|the chip [^"]+)"\)',
                       text_of("src/prof/notes.c") + text_of("src/prof/inputs.c") +
                       text_of("src/cli/profile_load.c") + text_of("src/cli/profile_near.c"))
    assert len(said) > 25
    assert [s for s in said if f'"{s}"' not in table] == []
