"""The page of a verification: made from a report.json, read as a browser would.

The structure is read with html.parser; the script is run in a headless Chromium
where there is one, and its texts are looked for in the page that comes out.
"""
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse")).resolve()
CHROMIUM = next(filter(None, map(shutil.which, (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary")

ID = "rms_norm:pkg/norm.py:Norm.forward:0123abcd"
SLUG = "rms_norm-pkg-norm.py-Norm.forward-0123abcd"


def step(n, base, fused):
    return {"step": n, "phase": None, "base_loss": base, "fused_loss": fused,
            "base_time": 0.01, "fused_time": 0.02}


def report(**changes):
    """A verification that passed, with `changes` to its members."""
    times = [0.01 + 0.0001 * (i % 7) for i in range(60)]
    made = {
        "schema": 1, "lang": "en",
        "basic_info": {"task_name": "t", "candidate_name": ID, "baseline_status": "Pass",
                       "fused_status": "Pass", "final_conclusion": "Pass", "work_dir": "w",
                       "hardware": "", "world_size": 1, "rank_count": 1},
        "conclusion": {"answer": "replace", "speed": "faster", "sentence": "",
                       "reason": "THE-REASON", "emulated": False},
        "candidate": {"id": ID, "family": "rms_norm", "api": "torch_npu.npu_rms_norm",
                      "rule": "rms_norm", "rule_version": "0123", "variant": "weight",
                      "verdict": "recommend", "file": "pkg/norm.py", "start_line": 5,
                      "end_line": 7, "qualname": "Norm.forward", "switch": "S", "risks": ["R1"]},
        "confirmation": {"by": "statement", "statement": "MY-WORDS",
                         "confirmed_at": "2026-12-02T14:00:00Z"},
        "candidates": [{"id": ID, "slug": SLUG, "state": "concluded", "answer": "replace",
                        "reason": "r", "html": SLUG + ".html"}],
        "stages": [{"name": n, "status": "pass", "reason": "", "emulated": False}
                   for n in ("unit", "loss", "performance")],
        "unit": {"schema": 1, "status": "pass", "reason": "", "label": "device", "cases": [
            {"name": "CASE-A", "mode": "float32", "source": "sample", "inputs": "x 2x4",
             "tensor": "output", "dtype_original": "float32", "dtype_fused": "float32",
             "cosine": 1.0, "max_abs_err": None, "norm_ratio": 1.0, "original_error": 1e-7,
             "fused_error": 1e-7, "limit": 1e-5, "original_gate": True, "status": "pass",
             "reason": ""}]},
        "commands": {"baseline_cmd": "python train.py", "fused_cmd": "", "script_path": "train.py",
                     "data_path": "", "ckpt_path": "", "environment": []},
        "diffs": [{"file_path": "pkg/norm.py", "hunks": [
            {"old_line": 5, "new_line": 9, "old_code": "    a\n    b\n",
             "new_code": "    if x:\n        c\n    else:\n        a\n        b\n"}]}],
        "metrics": [step(n, 2.0, 2.0) for n in range(60)],
        "repeat": [], "thresholds": {"max_rel_diff": 0.01, "first_fail_step": None,
                                     "worst_rel_diff": 0, "repeat_rel_diff": 0,
                                     "common_steps": 60},
        "counts": [{"arm": "fused", "rank": 3, "fused": 41, "else": 0, "emulated": 0}],
        "performance": {"speed": "faster", "ratio": 0.5, "low": 0.49, "high": 0.51,
                        "minimum_effect": 0.01, "noise": 0.02, "reason": "SPEED-REASON", "runs": [
                            {"name": n, "arm": a, "median": 0.01, "p95": 0.011, "dropped": 5,
                             "times": times} for n, a in (("A1", "baseline"), ("B1", "fused"))]},
        "environment": {"python": "3.11", "torch": "2.7", "npufuse": "0.1.0"},
        "dropped": [], "files": [{"what": "log", "path": "log.txt"}],
    }
    made.update(changes)
    return made


def emulated(**changes):
    return report(
        conclusion={"answer": "undecided", "speed": "not_measured", "reason": "needs an NPU",
                    "emulated": True}, performance=None,
        basic_info=dict(report()["basic_info"], final_conclusion="Blocked"), **changes)


def failed(**changes):
    return report(
        conclusion={"answer": "do_not", "speed": "not_measured", "reason": "it differs",
                    "emulated": False}, performance=None,
        basic_info=dict(report()["basic_info"], final_conclusion="Fail"),
        stages=[{"name": "unit", "status": "pass", "reason": "", "emulated": False},
                {"name": "loss", "status": "fail", "reason": "it differs", "emulated": False},
                {"name": "performance", "status": "skipped", "reason": "", "emulated": False}],
        **changes)


@pytest.fixture
def page(tmp_path):
    """page(report) -> the path of its page."""
    work = tmp_path / "fusion_verify"
    work.mkdir()
    (work / "tasks.json").write_text(json.dumps({"schema": 1, "tasks": [{"id": ID}]}))

    def make(data):
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        (work / f"{SLUG}.report.json").write_text(text)
        run = subprocess.run([BINARY, "report"], cwd=tmp_path, text=True, capture_output=True)
        assert run.returncode == 0, run.stderr
        return work / f"{SLUG}.html"

    make.folder = tmp_path
    return make


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.data, self.tags, self.outside = "", [], []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.inside = values.get("id") == "data"
        self.outside += [v for k, v in values.items() if k in ("src", "href")]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, text):
        if self.inside:
            self.data += text


def test_one_file_with_its_data(page):
    data = report()
    text = page(data).read_text()
    reader = Reader(text)
    assert json.loads(reader.data) == data
    assert reader.outside == []  # nothing is loaded
    assert "npufuse:" not in re.sub(r"<script[\s\S]*?</script>", "", text)
    assert reader.tags.count("script") == 3 and "uPlot" in text


HOSTILE = "</script><script>alert(1)</script><!-- \u2028\u2029 & \"' </style>"


def test_hostile_text_stays_data(page):
    data = report()
    data["diffs"][0]["hunks"][0]["new_code"] = HOSTILE
    data["conclusion"]["reason"] = HOSTILE
    reader = Reader(page(data).read_text())
    assert json.loads(reader.data) == data
    assert reader.tags.count("script") == 3


@pytest.mark.parametrize("text, words", [
    ('{"schema": 1', "not valid JSON"), ("[]", "is no report")])
def test_a_damaged_report(page, text, words):
    page(report())
    path = page.folder / "fusion_verify" / f"{SLUG}.report.json"
    path.write_text(text)
    run = subprocess.run([BINARY, "report"], cwd=page.folder, text=True, capture_output=True)
    assert run.returncode == 2 and words in run.stderr and SLUG in run.stderr


def test_nothing_verified(page):
    run = subprocess.run([BINARY, "report"], cwd=page.folder, text=True, capture_output=True)
    assert run.returncode == 3 and "no candidate was verified yet" in run.stderr


# ---- in a browser --------------------------------------------------------------------


class Shown(HTMLParser):
    """The text of the page that the script made."""

    def __init__(self, text):
        super().__init__()
        self.words, self.hidden = [], False
        self.canvases = 0
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.hidden = tag in ("script", "style", "noscript")
        self.canvases += tag == "canvas"

    def handle_endtag(self, tag):
        self.hidden = False

    def handle_data(self, text):
        if not self.hidden:
            self.words.append(text)


def browse(path):
    run = subprocess.run(
        [CHROMIUM, "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--virtual-time-budget=3000", "--dump-dom", path.as_uri()],
        text=True, capture_output=True, timeout=120)
    faults = [line for line in run.stderr.splitlines() if ":CONSOLE" in line]
    assert faults == []
    return Shown(run.stdout)


browser = pytest.mark.skipif(CHROMIUM is None, reason="no headless Chromium on this machine")


@browser
def test_a_passed_page_in_a_browser(page):
    shown = browse(page(report()))
    for words in ("Pass", "Precision holds and the step time is lower: replace.", "THE-REASON",
                  "MY-WORDS", "pkg/norm.py:5-7", "no failing step", "CASE-A", "SPEED-REASON",
                  "0.5, 95 % interval 0.49 to 0.51", "41", "rows 1 to 25 of 60",
                  "information missing"):
        assert words in shown.text, words
    assert shown.canvases == 2  # losses and their difference
    assert "emulated" not in shown.text.replace("emulated calls", "")


@browser
def test_a_failed_page_in_a_browser(page):
    metrics = [step(n, 2.0, 2.0 if n else 2.5) for n in range(60)]  # step 0 is a step
    metrics[7]["fused_loss"] = None
    shown = browse(page(failed(metrics=metrics)))
    for words in ("Fail", "The results differ: do not replace.", "first failing step 0",
                  "no number at 1 steps", "Precision failed, so step time says nothing here."):
        assert words in shown.text, words


@browser
def test_a_log_of_few_digits_that_the_gate_passed(page):
    metrics = [step(n, 0.3, 0.31 if n == 4 else 0.3) for n in range(60)]
    shown = browse(page(report(metrics=metrics)))
    assert "no failing step" in shown.text
    assert "on record is none; these losses alone give 4." in shown.text


@browser
def test_an_emulated_page_in_chinese(page):
    shown = browse(page(emulated(lang="zh")))
    for words in ("阻塞", "条件不足，尚不能下结论。", "仿真", "仿真算子不能给出耗时结论。", "信息缺失"):
        assert words in shown.text, words


@browser
def test_an_empty_report_is_a_page(page):
    shown = browse(page({"schema": 1}))
    assert "The conclusion is missing." in shown.text


@browser
def test_100000_steps_and_hostile_text(page):
    data = report(metrics=[step(n, 2 + 1 / (n + 1), 2 + 1 / (n + 1)) for n in range(100000)])
    data["conclusion"]["reason"] = HOSTILE
    shown = browse(page(data))
    assert "rows 1 to 25 of 100000" in shown.text
    assert "alert(1)" in shown.text  # as text
