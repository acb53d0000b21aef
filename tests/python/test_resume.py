"""A verification that is killed anywhere ends, resumed, as if it had not been.

The points are those before and after every write, append, rename and removal
(src/base/fault.h). They are counted, 50 are drawn, and at each one npufuse
kills itself.
"""
import json
import random
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from trialworld import BINARY, NORM, World

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary")

DRAWS, SEED = 50, 20261202
FILES = {"norm.py": NORM, "other.py": NORM.replace("norm(", "other(")}


def make(folder):
    """Two candidates: one is emulated, one native and three times faster."""
    world = World(folder, FILES)
    world.confirm()
    world.tell(candidate={"counts": [{"emulated": 0}], "ms": 3.0}, unit={"emulated": False})
    return world


def strip(text, world):
    text = text.replace(str(world.base), "BASE")
    return re.sub(r'"launch_sha256": "[0-9a-f]{64}"', "", text)  # holds the folder


def outcome(world):
    """All that verification leaves behind, but for clocks and places."""
    found = {}
    for path in sorted(world.work.glob("*")):
        if path.suffix not in (".json", ".jsonl", ".md", ".html"):
            continue
        if path.name not in ("events.jsonl",):
            found[path.name] = strip(path.read_text(), world)
    return found


def completed(world):
    """Runs whose result is there: they must not be made again."""
    runs = world.work / "runs"
    return {str(p.parent.relative_to(runs)) for p in runs.rglob("result.json")
            if p.parent.name != "unit"}


def finish(world):
    """Goes on after the kill; returns the exit code."""
    code, _, err = world.run("resume")
    if code == 3 and "nothing to go on with" in err:
        code, _, _ = world.verify()
    return code


def check(base, undisturbed, at):
    world = make(base)
    code, _, _ = world.verify(NPUFUSE_FAULT_AT=str(at))
    assert code == -9, f"point {at}: not killed"
    done, before = completed(world), world.ran()
    for path in world.work.glob("*.json"):
        json.loads(path.read_text())  # whole at any moment
    assert finish(world) == 0, f"point {at}"
    after = world.ran()[len(before):]
    again = [line.split()[-1] for line in after if line != "unit"]
    assert not done & set(again), f"point {at}: {done & set(again)} made twice"
    assert outcome(world) == undisturbed, f"point {at}"
    for line in (world.work / "events.jsonl").read_text().splitlines():
        try:
            json.loads(line)
        except ValueError:  # cut by the kill; what follows begins a new line
            assert line.startswith('{"time"'), f"point {at}"
    assert {k: v for k, v in world.tree().items() if k in FILES} == {
        k: v.encode() for k, v in FILES.items()}
    shutil.rmtree(base)


def test_50_kill_points(tmp_path):
    (tmp_path / "whole").mkdir()
    world = make(tmp_path / "whole")
    count = tmp_path / "count"
    code, _, _ = world.verify(NPUFUSE_FAULT_COUNT=str(count))
    assert code == 0
    if not count.exists():
        pytest.skip("the binary was built without NPUFUSE_FAULTS")
    points = int(count.read_text())
    assert points > 100
    undisturbed = outcome(world)
    draws = random.Random(SEED).sample(range(1, points + 1), DRAWS)
    folders = []
    for at in draws:
        folders.append(tmp_path / f"at{at}")
        folders[-1].mkdir()
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(check, folders, [undisturbed] * DRAWS, draws):
            pass
