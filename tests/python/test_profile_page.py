"""The page of a profile: its data, and in Chromium what it shows."""
import json
import re
import shutil
import subprocess

import pytest
import test_profile_inputs as inputs

CHROMIUM = next(filter(None, map(shutil.which, (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)

folder = inputs.folder
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


def browse(path):
    run = subprocess.run(
        [CHROMIUM, "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=3000",
         "file://" + str(path)], capture_output=True, text=True, timeout=60)
    return re.sub(r"<script.*?</script>", "", run.stdout, flags=re.S)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium")
@pytest.mark.parametrize("lang, words", [
    ("en", ["Where the device time goes", "Roofline of the runs", "Bound by", "not known"]),
    ("zh", ["设备时间去向", "各序列的 Roofline", "瓶颈", "未知"]),
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
