"""The question of `npufuse confirm`, asked on a pseudo terminal, and files that
hold applied candidates."""
import hashlib
import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse")).resolve()

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary")

SOURCE = """\
import torch


def norm(x: torch.Tensor, weight, eps):
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    return (h * weight).to(x.dtype)
"""


@pytest.fixture
def project(tmp_path):
    """A scanned folder, and the ID of its only candidate."""
    (tmp_path / "norm.py").write_text(SOURCE)
    subprocess.run([BINARY, "scan", "-q", "norm.py"], cwd=tmp_path, check=True,
                   stdout=subprocess.DEVNULL)
    findings = json.loads((tmp_path / "fusion_verify" / "findings.json").read_text())
    return tmp_path, findings["findings"][0]["id"]


def read_until(fd, text, seconds=30):
    """What the terminal shows, up to `text`; None for `text`: up to its end."""
    shown = b""
    end = time.monotonic() + seconds
    while text is None or text not in shown:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        assert ready, f"no {text!r} within {seconds} s: {shown!r}"
        try:
            data = os.read(fd, 4096)
        except OSError:  # EIO: the process has closed the terminal
            data = b""
        if not data:
            break
        shown += data
    return shown


def confirm_on_a_terminal(folder, id_, answer):
    """(exit code, what was shown before the answer, and after it)."""
    child, fd = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execv(BINARY, [str(BINARY), "confirm", id_])
    before = read_until(fd, b"Type yes: ")
    os.write(fd, answer)
    after = read_until(fd, None)
    os.close(fd)
    return os.WEXITSTATUS(os.waitpid(child, 0)[1]), before, after


def test_yes_confirms(project):
    folder, id_ = project
    code, before, after = confirm_on_a_terminal(folder, id_, b"yes\n")
    assert code == 0
    for part in (id_, "norm.py:5-7, norm", "torch_npu.npu_rms_norm", "verdict: ",
                 "change: lines 3 -> ", " added before them",
                 "risk: ", "Confirm this 1 candidate?"):
        assert part.encode() in before
    assert b"confirmed " + id_.encode() in after
    written = json.loads((folder / "fusion_verify" / "confirmations.json").read_text())
    assert [(c["id"], c["by"], c["statement"]) for c in written["confirmations"]] == [
        (id_, "terminal", "")]


@pytest.mark.parametrize("answer", [b"no\n", b"y\n", b"YES\n", b"yes please\n", b"\n",
                                    b"\x04", b" yes\n", b"yes" * 40 + b"\n"])
def test_anything_else_writes_nothing(project, answer):
    folder, id_ = project
    code, _, after = confirm_on_a_terminal(folder, id_, answer)
    assert code == 3
    assert b"not confirmed: the answer was not yes" in after
    assert not (folder / "fusion_verify" / "confirmations.json").exists()


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def journal_an_edit(folder, text):
    """norm.py becomes `text`, as if npufuse had written it."""
    work = folder / "fusion_verify"
    (work / "pristine").mkdir()
    (work / "pristine" / sha256(SOURCE)).write_text(SOURCE)
    (folder / "norm.py").write_text(text)
    entry = {"file": "norm.py", "pristine_sha256": sha256(SOURCE),
             "current_sha256": sha256(text), "pending_sha256": "",
             "applied": [], "pending": [], "edits": []}
    (work / "journal.json").write_text(
        json.dumps({"schema": 1, "root": ".", "files": [entry]}))


def confirm(folder, id_, **env):
    done = subprocess.run([BINARY, "confirm", id_, "--statement", "yes"], cwd=folder,
                          env={**os.environ, **env},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stderr


def test_applied_edits_are_no_change(project):
    """Until somebody else changes the file, it counts as it was scanned."""
    folder, id_ = project
    journal_an_edit(folder, SOURCE.replace("h = x.float()", "h = x.double()"))
    assert confirm(folder, id_) == (0, "")
    with open(folder / "norm.py", "a") as file:
        file.write("# mine\n")
    code, error = confirm(folder, id_)
    assert code == 3
    assert "'norm.py' was changed since candidates were applied" in error


def test_a_scan_of_applied_edits_speaks_of_them(project):
    folder, _ = project
    journal_an_edit(folder, "# applied\n" + SOURCE)
    subprocess.run([BINARY, "scan", "-q", "norm.py"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    findings = json.loads((folder / "fusion_verify" / "findings.json").read_text())
    finding = findings["findings"][0]
    assert finding["start_line"] == 6
    assert confirm(folder, finding["id"]) == (0, "")


def confirmed(folder):
    path = folder / "fusion_verify" / "confirmations.json"
    return json.loads(path.read_text())["confirmations"] if path.exists() else []


def test_killed_anywhere_it_has_confirmed_or_not(project):
    folder, id_ = project
    counter = folder / "points"
    assert confirm(folder, id_, NPUFUSE_FAULT_COUNT=str(counter))[0] == 0
    if not counter.exists():
        pytest.skip("no faults on demand in this build")
    points = int(counter.read_text())
    assert points >= 2
    outcomes = set()
    for point in range(1, points + 1):
        (folder / "fusion_verify" / "confirmations.json").unlink()
        assert confirm(folder, id_, NPUFUSE_FAULT_AT=str(point))[0] == -9
        outcomes.add(len(confirmed(folder)))
        assert confirm(folder, id_) == (0, "")
        assert [c["id"] for c in confirmed(folder)] == [id_]
    assert outcomes == {0, 1}


def test_a_full_disk_keeps_what_was_confirmed(project):
    folder, id_ = project
    assert confirm(folder, id_) == (0, "")
    before = confirmed(folder)
    code, error = confirm(folder, id_, NPUFUSE_FAULT_FULL="1")
    if code == 0:
        pytest.skip("no faults on demand in this build")
    assert "No space left on device" in error
    assert confirmed(folder) == before
    assert not list((folder / "fusion_verify").glob("*.tmp"))


def test_what_the_report_does_not_show(project):
    """A rule that was put into findings.json by hand derives its own text."""
    folder, id_ = project
    report = folder / "fusion_verify" / "report.md"
    shown = report.read_text()
    assert "npu_rms_norm(x, gamma" in shown
    report.write_text(shown.replace("npu_rms_norm(x, gamma", "npu_rms_norm(x, 2 * gamma"))
    words = [BINARY, "confirm", id_, "--statement", "yes"]
    done = subprocess.run(words, cwd=folder, text=True, capture_output=True)
    assert done.returncode == 3 and "does not show this replacement" in done.stderr
    report.unlink()
    done = subprocess.run(words, cwd=folder, text=True, capture_output=True)
    assert done.returncode == 3 and "anybody could have read" in done.stderr
    report.write_text(shown)
    assert subprocess.run(words, cwd=folder, capture_output=True).returncode == 0
