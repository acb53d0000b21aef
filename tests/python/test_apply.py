"""`npufuse apply`: files changed and given back, whatever happens in between."""
import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse")).resolve()
pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary, see NPUFUSE_BIN")
HAS_FAULTS = BINARY.exists() and b"NPUFUSE_FAULT_AT" in BINARY.read_bytes()
needs_faults = pytest.mark.skipif(not HAS_FAULTS, reason="not a build of the tests")

MODEL = '''\
"""Three candidates; the last line has no end."""
import torch
import torch.nn.functional as F


def norm(x, weight):
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (h * weight).to(x.dtype)


def activation(x):  # \u00e9
    return x * torch.sigmoid(1.702 * x)


def gate(x):
    a, b = x.chunk(2, dim=-1)
    return F.silu(a) * b'''


class Project:
    """A folder with a scan of it in which everything is confirmed."""

    def __init__(self, folder, files):
        self.folder = folder
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self("scan", "-q", ".")
        self.ids = [f["id"] for f in self.findings() if f["replacement"]]
        self("confirm", "--statement", "yes, all of them", *self.ids)

    def findings(self):
        return json.loads((self.folder / "fusion_verify/findings.json").read_text())["findings"]

    def journal(self):
        return json.loads((self.folder / "fusion_verify/journal.json").read_text())["files"]

    def __call__(self, *words, code=0, **environment):
        """Runs npufuse; returns what it printed."""
        done = subprocess.run(
            [BINARY, *words], cwd=self.folder, env=dict(os.environ, **environment),
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == code, (words, done.returncode, done.stderr)
        return done.stdout + done.stderr

    def apply(self, *words, **more):
        return self("apply", "--unverified", *words, **more)

    def revert(self, *words, **more):
        return self("apply", "--revert", *words, **more)

    def read(self, name="model.py"):
        return (self.folder / name).read_bytes()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project", {"model.py": MODEL.encode()})


def rendered(folder, data, ids):
    """The text with the candidates `ids`, in a project of its own."""
    other = Project(folder, {"model.py": data})
    if ids:
        other.apply(*ids)
    return other.read()


def test_any_order(tmp_path):
    """Three candidates of a file with CRLF, a mark and no last line end."""
    data = b"\xef\xbb\xbf" + MODEL.replace("\n", "\r\n").encode()
    project = Project(tmp_path / "project", {"model.py": data})
    assert len(project.ids) == 3
    subsets = [c for n in range(4) for c in itertools.combinations(project.ids, n)]
    texts = {frozenset(s): rendered(tmp_path / str(i), data, s) for i, s in enumerate(subsets)}
    assert texts[frozenset()] == data and len(set(texts.values())) == 8
    for order in itertools.permutations(project.ids):
        have = set()
        for one in order:
            project.apply(one)
            have.add(one)
            assert project.read() == texts[frozenset(have)]
        for one in order[1:] + order[:1]:
            project.revert(one)
            have.remove(one)
            assert project.read() == texts[frozenset(have)]
    assert project.read() == data and project.journal() == []


def test_all_at_once_and_twice(project):
    before = project.read()
    assert "applied 3 candidates; 1 file changed" in project.apply()
    after = project.read()
    assert "applied already" in project.apply()
    assert project.read() == after
    compile(after, "model.py", "exec")
    (project.folder / "twin").mkdir()
    again = json.loads(project("scan", "-o", "twin", "--format", "json", "-q", "."))
    assert [f for f in again["findings"] if f["replacement"]] == []
    assert len(again["existing"]) == 3
    assert "took back 3 candidates" in project.revert()
    assert "not applied" in project.revert()
    assert project.read() == before


def test_the_diff_is_what_is_written(project):
    before = project.read()
    diff = project("apply", "--diff", "--unverified")
    assert project.read() == before
    assert not (project.folder / "fusion_verify/journal.json").exists()
    twin = project.folder / "twin"
    twin.mkdir()
    (twin / "model.py").write_bytes(before)
    subprocess.run(["git", "apply", "--directory=twin", "-"], cwd=project.folder,
                   input=diff.encode(), check=True)
    project.apply()
    assert project.read("twin/model.py") == project.read()
    # Beside what is applied already, only the rest is shown.
    project.revert(project.ids[0])
    rest = project("apply", "--diff", project.ids[0])
    assert rest.count("npu_fast_gelu(") + rest.count("npu_rms_norm(") + rest.count(
        "npu_swiglu(") == 1


def test_a_scan_in_between(project):
    """Candidates can be taken back when findings.json no longer has them."""
    before = project.read()
    project.apply(*project.ids[:2])
    two = project.read()
    project.apply(project.ids[2])
    project("scan", "-q", ".")
    project.revert(project.ids[2])
    assert project.read() == two
    project.revert(project.ids[1])
    (project.folder / "fusion_verify/findings.json").unlink()
    project.revert()
    assert project.read() == before


def scan_and_confirm(project, output, path):
    """A second scan, of `path`, with everything in it confirmed."""
    project("scan", "-q", "-o", output, path)
    document = json.loads((project.folder / output / "findings.json").read_text())
    project("confirm", "-o", output, "--statement", "yes",
            *[f["id"] for f in document["findings"]])


def test_the_mode_is_kept(project):
    path = project.folder / "model.py"
    path.chmod(0o751)
    project.apply()
    assert path.stat().st_mode & 0o7777 == 0o751
    project.revert()
    assert path.stat().st_mode & 0o7777 == 0o751


def test_a_link_inside_of_the_root(project):
    """What the link points at is written; the link stays one."""
    link = project.folder / "link.py"
    link.symlink_to("model.py")
    scan_and_confirm(project, "other", "link.py")
    project("apply", "-o", "other", "--unverified")
    assert link.is_symlink() and not (project.folder / "model.py").is_symlink()
    assert b"npu_rms_norm" in project.read()
    # The scan of the real name sees a file that it does not know.
    assert "changed since the scan" in project.apply(project.ids[0], code=3)
    project("apply", "-o", "other", "--revert")
    assert project.read() == MODEL.encode() and link.is_symlink()


def test_a_link_out_of_the_root(project):
    (project.folder / "links").mkdir()
    (project.folder / "links/model.py").symlink_to("../model.py")
    scan_and_confirm(project, "other", "links")
    out = project("apply", "-o", "other", "--unverified", code=3)
    assert "a link that leaves the scanned root" in out
    assert project.read() == MODEL.encode()


def test_installed_packages_are_left_alone(tmp_path):
    folder = tmp_path / "lib/site-packages/pkg"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(MODEL)
    project = Project(tmp_path / "project", {"model.py": MODEL.encode()})
    scan_and_confirm(project, "other", folder)
    assert "belongs to an installed package" in project(
        "apply", "-o", "other", "--unverified", code=3)
    assert (folder / "model.py").read_text() == MODEL


def spoil(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_edited_work_files_smuggle_nothing(project):
    before = project.read()
    findings = project.folder / "fusion_verify/findings.json"
    whole = findings.read_text()
    one = project.ids[0]

    def swap(document):
        for f in document["findings"]:
            f["replacement"] = f["replacement"].replace("else:", "else:  # mine")

    def leave_root(document):
        document["findings"][0]["file"] = "../model.py"

    spoil(findings, swap)
    assert "is not what the code gives" in project.apply(one, code=3)
    findings.write_text(whole)
    spoil(findings, leave_root)
    project.apply(code=2)
    findings.write_text(whole)
    confirmations = project.folder / "fusion_verify/confirmations.json"
    kept = confirmations.read_text()
    spoil(confirmations, lambda d: d["confirmations"][0].update(edits_sha256="0" * 64))
    voided = json.loads(kept)["confirmations"][0]["id"]
    project.apply(voided, code=3)
    confirmations.write_text(kept)
    assert project.read() == before
    project.apply()


def test_files_changed_by_hand(project):
    project.apply(project.ids[0])
    path = project.folder / "model.py"
    mine = path.read_bytes() + b"\n# mine\n"
    path.write_bytes(mine)
    for words in (["--revert"], ["--unverified", *project.ids[1:]]):
        assert "changed since candidates were applied" in project("apply", *words, code=3)
    assert project.read() == mine


def test_two_candidates_of_the_same_lines(project):
    """A rule of the user finds what a bundled one finds."""
    (project.folder / "mine/rules").mkdir(parents=True)
    text = (ROOT / "rules/quick_gelu.py").read_text()
    mine = text.replace('="quick_gelu"', '="my_gelu"')
    (project.folder / "mine/rules/my_gelu.py").write_text(mine)
    project("scan", "-q", "--rules", "mine/rules", "model.py")
    ids = [f["id"] for f in project.findings() if "gelu" in f["id"]]
    project("confirm", "--statement", "both", *ids)
    assert len(ids) == 2
    out = project.apply(code=3)
    assert "'model.py': lines 13-13" in out and "overlap; apply one of the two" in out
    assert project.read() == MODEL.encode()
    project.apply(ids[0])
    assert "overlap" in project.apply(ids[1], code=3)
    project.revert(ids[0])
    project.apply(ids[1])


def test_other_encodings(tmp_path):
    """Only ASCII goes into a file that is not UTF-8."""
    text = "# coding: latin-1\n" + MODEL
    project = Project(tmp_path / "project", {"model.py": text.encode("latin-1")})
    project.apply()
    applied = project.read()
    assert "é".encode("latin-1") in applied and b"npu_rms_norm" in applied
    compile(applied, "model.py", "exec")
    project.revert()
    assert project.read() == text.encode("latin-1")
    inside = text.replace("1.702 * x)", "1.702 * x)  # é")
    project = Project(tmp_path / "other", {"model.py": inside.encode("latin-1")})
    assert "the file is not UTF-8, and the edit has characters beyond" in project.apply(code=3)
    assert project.read() == inside.encode("latin-1")
    project.apply(*[i for i in project.ids if "gelu" not in i])


def test_verified_candidates(project):
    """Without --unverified a task must say `replace`, of this very text."""
    one, two, three = project.ids
    assert "was not verified" in project("apply", one, code=3)
    confirmed = {c["id"]: c for c in json.loads(
        (project.folder / "fusion_verify/confirmations.json").read_text())["confirmations"]}

    def task(candidate, **change):
        own = confirmed[candidate]
        return dict({
            "id": candidate, "slug": "x", "state": "concluded", "stages": [],
            "speed": "faster", "answer": "replace", "reason": "",
            "edits_sha256": own["edits_sha256"], "file_sha256": own["file_sha256"]}, **change)

    tasks = [task(one), task(two, answer="do_not", reason="slower"),
             task(three, edits_sha256="0" * 64)]
    document = {"schema": 1, "launch": {"argv": [], "cwd": "."}, "options": {}, "tasks": tasks}
    (project.folder / "fusion_verify/tasks.json").write_text(json.dumps(document))
    assert "did not pass verification (do_not: slower)" in project("apply", two, code=3)
    assert "was verified with another text" in project("apply", three, code=3)
    assert "applied 1 candidate;" in project("apply")
    assert [f["applied"] for f in project.journal()] == [[one]]


def test_one_at_a_time(project):
    path = project.folder / "fusion_verify/lock"
    with open(path, "w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        assert str(os.getpid()) in project.apply(code=3)
        assert project.read() == MODEL.encode()
    project.apply()


def test_a_file_that_cannot_be_written(tmp_path):
    """Its name leaves no room for that of the file beside it."""
    name = "m" * 250 + ".py"
    project = Project(tmp_path / "project", {name: MODEL.encode()})
    assert "cannot write" in project.apply(code=2)
    assert project.read(name) == MODEL.encode()
    assert "not applied" in project.revert()
    assert project.journal() == []


def count_points(project, *words):
    path = project.folder / "count"
    project("apply", *words, NPUFUSE_FAULT_COUNT=str(path))
    count = int(path.read_text())
    path.unlink()
    return count


def copy(project, folder):
    shutil.copytree(project.folder, folder, symlinks=True)
    twin = Project.__new__(Project)
    twin.folder, twin.ids = folder, project.ids
    return twin


def check_settled(project, text):
    assert project.read() == text
    assert [p.name for p in project.folder.iterdir() if p.name.endswith(".tmp")] == []
    assert all(entry["pending_sha256"] == "" for entry in project.journal())


@needs_faults
@pytest.mark.parametrize("start, words", [
    ("nothing", ["--unverified"]), ("one", ["--unverified"]), ("one", ["--revert"]),
    ("all", ["--revert"]),
])
def test_killed_at_every_point(tmp_path, project, start, words):
    """The file is always whole; the same command run again finishes."""
    pristine = project.read()
    if start != "nothing":
        project.apply(*(project.ids[:1] if start == "one" else []))
    before = project.read()
    measured = copy(project, tmp_path / "measured")
    points = count_points(measured, *words)
    after = measured.read()
    assert points > 8 and before != after
    for point in range(1, points + 1):
        twin = copy(project, tmp_path / ("at%d" % point))
        twin("apply", *words, code=-signal.SIGKILL, NPUFUSE_FAULT_AT=str(point))
        assert twin.read() in (before, after), point
        twin("apply", *words)
        check_settled(twin, after)
        twin.revert()
        check_settled(twin, pristine)
        assert twin.journal() == []


@needs_faults
def test_a_full_disk(tmp_path, project):
    for write in range(1, 5):
        twin = copy(project, tmp_path / ("full%d" % write))
        out = twin.apply(code=2, NPUFUSE_FAULT_FULL=str(write))
        assert "No space left" in out
        assert twin.read() == MODEL.encode() or write == 4
        twin.apply()
        twin.revert()
        check_settled(twin, MODEL.encode())
    assert twin.journal() == []
    full = copy(project, tmp_path / "back")
    full.apply()
    applied = full.read()
    full.revert(code=2, NPUFUSE_FAULT_FULL="2")
    assert full.read() == applied
    full.revert()
    check_settled(full, MODEL.encode())


DRIVER = """
import sys
sys.path[:0] = [sys.argv[1], "."]
import train
from npufuse import emulate
mine = [m for n, m in sorted(sys.modules.items()) if n.startswith("decoder")]
with emulate.answering(*mine):
    train.train(train.parse_args(["--steps", "3", "--use-fused-rmsnorm"]))
print(*sorted(emulate.module().calls), file=sys.stderr)
"""


def losses(folder, *command):
    done = subprocess.run([sys.executable, "-B", *command], cwd=folder, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    found = [float(line.split(" | ")[1].split()[1]) for line in done.stdout.splitlines()]
    return found, done.stderr.split()


def test_the_example_trains(tmp_path):
    """Applied, it trains as before with the else branch, and nearly so with
    emulated operators; taken back, it is what it was."""
    source = ROOT / "examples/tiny_decoder"
    files = {str(p.relative_to(source)): p.read_bytes() for p in source.rglob("*")
             if p.is_file() and p.suffix != ".pyc"}
    project = Project(tmp_path / "project", files)
    plain, _ = losses(project.folder, "train.py", "--steps", "3")
    project.apply()
    applied, _ = losses(project.folder, "train.py", "--steps", "3")
    assert applied == plain and len(plain) == 3
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    fused, calls = losses(project.folder, str(driver), str(ROOT / "python"))
    assert calls == ["npu_fusion_attention", "npu_rms_norm", "npu_rotary_mul", "npu_swiglu"]
    assert all(abs(a - b) < 1e-3 for a, b in zip(fused, plain))
    project.revert()
    assert {name: project.read(name) for name in files} == files
