"""Which files a scan reads, against `git ls-files`, on made-up projects."""
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse"))
NAMES = ["a", "b", "ab", "abc", "foo", "lib"]
PARTS = ["a", "b", "ab", "abc", "foo", "lib", "*", "?", "**", "a*", "*b",
         "[ab]", "[!a]", "[a-b]*", "*.py", "a.py", "f?o", "**b", "[b", "a**b",
         "\\a", "[]a]", "[^b]?"]

pytestmark = [
    pytest.mark.skipif(not BINARY.exists(), reason="no binary"),
    pytest.mark.skipif(not shutil.which("git"), reason="no git"),
]


def make_tree(root, rnd):
    for _ in range(18):
        folder = root.joinpath(*rnd.choices(NAMES, k=rnd.randint(0, 3)))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (rnd.choice(NAMES) + ".py")).touch()


def make_pattern(rnd):
    text = "/".join(rnd.choices(PARTS, k=rnd.randint(1, 3)))
    text = rnd.choice(["", "", "/"]) + text + rnd.choice(["", "", "/"])
    return rnd.choice(["", "", "", "!"]) + text + rnd.choice(["", "  "])


def folders_of(root):
    return [Path(folder) for folder, _, _ in sorted(os.walk(root))
            if ".git" not in Path(folder).parts]


def git(*words, folder):
    return subprocess.run(["git", *words], cwd=folder, capture_output=True,
                          text=True)


def count_by_git(folder):
    listed = git("ls-files", "-o", "--exclude-standard", "-z", ".",
                 folder=folder).stdout
    return sum(name.endswith(".py") for name in listed.split("\0"))


def count_by_scan(folder, output):
    result = subprocess.run(
        [BINARY.resolve(), "scan", "-q", "--format", "json", "-o", output,
         "."], cwd=folder, capture_output=True, text=True)
    if re.search("no Python files", result.stderr):
        return 0
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["counts"]["files"]


@pytest.mark.parametrize("seed", range(60))
def test_reads_what_git_does_not_ignore(seed, tmp_path):
    rnd = random.Random(seed)
    project = tmp_path / "project"
    project.mkdir()
    git("init", "-q", folder=project)
    make_tree(project, rnd)
    folders = folders_of(project)
    for folder in [project, *rnd.sample(folders, 2)]:
        lines = [make_pattern(rnd) for _ in range(rnd.randint(1, 4))]
        (folder / ".gitignore").write_text("\n".join(lines) + "\n")
    start = rnd.choice(folders)
    ignored = git("check-ignore", "-q", str(start), folder=project)
    if start != project and ignored.returncode == 0:
        start = project  # a PATH that is ignored itself is read
    assert count_by_scan(start, tmp_path / "out") == count_by_git(start)
