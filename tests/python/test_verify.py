"""`npufuse verify`, stage by stage, on a project whose command obeys the test."""
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from trialworld import BINARY, NORM, World

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no binary")


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.confirm()
    before = world.tree()
    yield world
    assert world.tree() == before


def verdict(world, code, answer, state, stages, speed="not_measured"):
    task = world.task()
    assert (task["answer"], task["state"], world.stages(), task["speed"]) == (
        answer, state, stages, speed), task
    exit_codes = {"replace": 0, "do_not": 1, "undecided": 3}
    assert code == exit_codes[answer]
    return task["reason"]


def blocked(world, stages, *options, **more):
    """The reason of a verification that has to end blocked."""
    code, _, _ = world.verify(*options, **more)
    return verdict(world, code, "undecided", "blocked", stages)


LOSS_BLOCKED = ["pass", "blocked", ""]


def test_emulated_precision_passes_and_speed_needs_an_npu(world):
    code, out, err = world.verify()
    reason = verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])
    assert reason == ("precision passed, blocked: needs an NPU: emulated operators say "
                      "nothing about speed")
    assert world.ran() == ["unit", "baseline baseline/loss-1", "baseline baseline/loss-2",
                           f"candidate {world.task()['slug']}/loss-1"]
    assert world.ids[0] in out and reason in out
    assert "fused branch 60 times, original 0 times, operator emulated" in err


def test_files_of_a_verification(world):
    world.verify()
    slug = world.task()["slug"]
    steps = [json.loads(line) for line in (world.work / "baseline.jsonl").open()]
    assert [s["step"] for s in steps] == list(range(60))
    assert steps[0] == {"step": 0, "loss": 5.0, "step_time": 0.00991}
    metrics = json.loads((world.work / f"{slug}.metrics.json").read_text())
    assert metrics[59]["base_loss"] == metrics[59]["fused_loss"] == 4.0 / 60 + 1
    report = json.loads((world.work / f"{slug}.report.json").read_text())
    assert report["basic_info"]["final_conclusion"] == "Blocked"
    assert report["confirmation"]["statement"] == "a test"
    assert report["counts"][-1] == {"arm": "fused", "rank": 0, "fused": 60, "else": 0,
                                    "emulated": 60}
    assert report["thresholds"]["first_fail_step"] is None
    variables = dict(v.split("=", 1) for v in report["commands"]["environment"])
    assert variables["NPUFUSE_ARM"].endswith(f"runs/{slug}/loss-1/arm.json")
    assert f"runs/{slug}/tree" in variables["PYTHONPATH"]
    assert "阻塞" in (world.work / "tasks.md").read_text()
    events = [json.loads(line) for line in (world.work / "events.jsonl").open()]
    assert [e["event"] for e in events] == [
        "verify", "precision_running", "unit pass", "loss pass", "performance_running",
        "performance blocked", "blocked", "end"]


def test_unit_failure_is_a_veto(world):
    world.tell(unit={"status": "fail", "reason": "bfloat16: output is float32"})
    code, _, _ = world.verify()
    reason = verdict(world, code, "do_not", "precision_failed", ["fail", "skipped", "skipped"])
    assert reason == "unit precision failed: bfloat16: output is float32"
    assert world.ran() == ["unit"]


def test_unit_that_cannot_be_made(world):
    world.tell(unit={"status": "crash"})
    reason = blocked(world, ["blocked", "", ""])
    assert reason.endswith("no module named torch")
    assert world.ran() == ["unit"]


@pytest.mark.parametrize("factor, words", [
    (1.02, "the loss differs by 0.02 at step 20"), (None, "the loss is nan at step 20")])
def test_a_loss_that_leaves_is_a_veto_and_ends_the_run(world, factor, words):
    world.tell(candidate={"shift": {"20": factor}, "sleep": 0.01, "steps": 3000})
    code, _, _ = world.verify()
    reason = verdict(world, code, "do_not", "precision_failed", ["pass", "fail", "skipped"])
    assert words in reason
    assert not any("time-" in line for line in world.ran())
    steps = (world.work / f"{world.task()['slug']}.jsonl").read_text().splitlines()
    assert 20 < len(steps) < 60  # it was ended, not waited for
    report = json.loads((world.work / f"{world.task()['slug']}.report.json").read_text())
    assert report["thresholds"]["first_fail_step"] == 20


def test_a_loss_within_the_limit_passes(world):
    world.tell(candidate={"shift": {"20": 1.009}})
    world.verify()
    assert world.stages()[1] == "pass"
    world.verify("--threshold", "0.005")
    assert world.stages()[1] == "fail"


def test_bars_that_are_drawn_twice_at_a_step(world):
    world.tell(baseline={"bar": True}, candidate={"bar": True})
    world.verify()
    assert world.stages()[1] == "pass"
    steps = [json.loads(line) for line in (world.work / "baseline.jsonl").open()]
    assert [s["step"] for s in steps] == list(range(1, 61))
    assert [s["loss"] for s in steps[:3]] == [5.0, 3.0, 4.0 / 3 + 1]


def test_losses_of_one_digit_are_not_told_apart_by_less(world):
    coarse = {"digits": 1, "steps": 60}
    world.tell(baseline=coarse, candidate=dict(coarse, shift={"20": 1.02}))
    world.verify()
    assert world.stages()[1] == "pass"
    report = json.loads((world.work / f"{world.task()['slug']}.report.json").read_text())
    assert report["thresholds"]["worst_rel_diff"] > 0.05  # 1.2 beside 1.1
    world.tell(candidate=dict(coarse, shift={"20": 1.2}))
    world.run("resume")
    assert world.stages()[1] == "pass"  # a run that is kept resolves what it did
    world.verify(NPUFUSE_MACHINE="another, so that it is run again")
    assert world.stages()[1] == "fail"


def test_a_candidate_that_fails_where_the_original_runs(world):
    world.tell(candidate={"steps": 3, "exit": 7, "stderr": "RuntimeError: bad shape\n"})
    code, _, _ = world.verify()
    reason = verdict(world, code, "do_not", "precision_failed", ["pass", "fail", "skipped"])
    assert "with the candidate: the command failed with exit code 7 after 3 steps" in reason
    assert "RuntimeError: bad shape" in reason


def test_a_candidate_that_ends_early(world):
    world.tell(candidate={"steps": 55})
    code, _, _ = world.verify()
    reason = verdict(world, code, "do_not", "precision_failed", ["pass", "fail", "skipped"])
    assert "no loss at step 55" in reason


@pytest.mark.parametrize("baseline, words", [
    ({"steps": 0, "exit": 3, "stderr": "no such data\n"},
     "the unchanged code: the command failed with exit code 3 after 0 steps; its last lines:\n"
     "no such data"),
    ({"steps": 0}, "no step was found in the command's output; name the file that it logs to"),
    ({"steps": 30}, "the run printed 30 steps, 50 are needed"),
    ({"steps": 2, "hang": True}, "the command hangs: no new step for 0.5 s after 2 steps"),
    ({"counts": [{"else": 0}]}, "the command never runs lines 5-7 of 'norm.py'"),
    ({"counts": [{"else": 0, "loaded": 0, "elsewhere": 1}]},
     "the command imports 'norm.py' from outside of the copy that is run"),
    ({"counts": [None]}, "no Python process of the command imports 'norm.py'"),
])
def test_an_unchanged_run_that_is_no_base(world, baseline, words):
    world.tell(baseline=baseline)
    assert words in blocked(world, LOSS_BLOCKED, "--timeout", "0.5")
    assert not any(line.startswith("candidate") for line in world.ran())


def test_a_run_that_does_not_repeat_itself(world):
    world.tell(repeat={"shift": {"7": 1.05}})
    reason = blocked(world, LOSS_BLOCKED)
    assert "the run does not repeat itself: the loss differs by 0.05 at step 7" in reason


def test_a_fused_branch_that_never_ran(world):
    world.tell(candidate={"counts": [{"fused": 0, "else": 60, "emulated": 0}]})
    reason = blocked(world, LOSS_BLOCKED)
    assert reason.startswith("blocked: fused branch never ran in rank 0, the original 60 times "
                             '(guard: NPUFUSE_RMS_NORM and npu_fused_ready("npu_rms_norm", x) and ')


def test_one_rank_without_the_fused_branch(world):
    world.tell(candidate={"counts": [{}, {"fused": 0, "else": 60}]})
    assert "fused branch never ran in rank 1" in blocked(world, LOSS_BLOCKED)


def test_mixed_branches_are_told(world):
    world.tell(candidate={"counts": [{"fused": 40, "else": 20}]})
    world.verify()
    assert "fused branch 40 times, original 20 times" in world.task()["stages"][1]["reason"]


NATIVE = [{"emulated": 0}]


@pytest.mark.parametrize("ms, answer, speed, code, state", [
    (3.0, "replace", "faster", "pass", "concluded"),
    (31.0, "do_not", "slower", "fail", "concluded"),
    (10.0, "do_not", "no_gain", "fail", "concluded"),
])
def test_step_time(world, ms, answer, speed, code, state):
    world.tell(unit={"emulated": False}, candidate={"counts": NATIVE, "ms": ms})
    exit_code, _, _ = world.verify()
    verdict(world, exit_code, answer, state, ["pass", "pass", code], speed)
    slug = world.task()["slug"]
    assert [line.split("/")[-1] for line in world.ran() if "time-" in line] == [
        "time-1-A1", "time-2-B1", "time-3-B2", "time-4-A2", "time-5-A3", "time-6-B3"]
    performance = json.loads((world.work / f"{slug}.report.json").read_text())["performance"]
    assert performance["speed"] == speed
    assert performance["ratio"] == pytest.approx(ms / 10, rel=0.02)


def test_no_performance(world):
    world.tell(unit={"emulated": False}, candidate={"counts": NATIVE})
    code, _, _ = world.verify("--no-performance")
    verdict(world, code, "undecided", "concluded", ["pass", "pass", "skipped"])


def test_a_command_without_step_times(world):
    world.tell(unit={"emulated": False}, candidate={"counts": NATIVE})
    source = (world.folder / "fake_train.py").read_text()
    assert " | step_time_ms %.4f" in source
    bare = source.replace(" | step_time_ms %.4f", "").replace("(step, loss, time_ms)",
                                                              "(step, loss)")
    (world.base / "bare.py").write_text(bare)
    code, _, _ = world.verify(command=("python3", world.base / "bare.py"))
    assert verdict(world, code, "undecided", "blocked",
                   ["pass", "pass", "blocked"]).endswith("the command prints no step time")


def test_steps_in_a_log_file(world):
    log = {"log": "steps.log"}
    world.tell(baseline=log, candidate=log)
    world.verify("--log", "steps.log")
    assert world.stages()[:2] == ["pass", "pass"]
    assert not (world.folder / "steps.log").exists()  # it is in the copies


def test_a_concluded_task_is_not_repeated_unless_the_command_changes(world):
    world.tell(unit={"emulated": False}, candidate={"counts": NATIVE, "ms": 3.0})
    world.verify()
    first = world.ran()
    assert world.run("resume")[0] == 0 and world.ran() == first
    code, _, err = world.verify()
    assert code == 0 and world.ran() == first and "concluded already" in err
    world.verify("--steps", "55")
    assert world.ran().count("baseline baseline/loss-1") == 2


def test_what_was_blocked_is_tried_again(world):
    world.tell(candidate={"counts": [{"fused": 0, "else": 60}]})
    blocked(world, LOSS_BLOCKED)
    ran = world.ran()
    world.tell(candidate={})
    # The environment may be another now: what it was blocked by is run anew.
    code, _, _ = world.run("resume")
    verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])
    assert world.ran()[len(ran):] == ["baseline baseline/loss-1", "baseline baseline/loss-2",
                                      f"candidate {world.task()['slug']}/loss-1"]


def test_a_unit_check_that_was_blocked_is_tried_again(world):
    world.tell(unit={"status": "blocked", "reason": "no module named torch"})
    blocked(world, ["blocked", "", ""])
    world.tell(unit={"status": "pass"})
    code, _, _ = world.run("resume")
    verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])


def test_a_machine_with_another_name_carries_nothing_over(world):
    """As one with an NPU does: what was emulated is made again there."""
    world.verify(NPUFUSE_MACHINE="without")
    ran = world.ran()
    world.run("resume", NPUFUSE_MACHINE="without")
    assert world.ran() == ran
    world.tell(unit={"emulated": False},
               candidate={"counts": NATIVE, "ms": 3.0})
    code, _, _ = world.run("resume", NPUFUSE_MACHINE="with")
    verdict(world, code, "replace", "concluded", ["pass", "pass", "pass"], "faster")
    assert world.ran()[len(ran):len(ran) + 4] == ran


def test_undecided_step_times_are_measured_anew(world):
    world.tell(unit={"emulated": False}, candidate={"counts": NATIVE})
    bare = {"steps": 60, "ms": 0.0}
    world.tell(baseline=bare)
    code, _, _ = world.verify()
    assert code == 3 and world.stages()[2] == "blocked", world.task()
    world.tell(baseline={}, candidate={"counts": NATIVE, "ms": 3.0})
    code, _, _ = world.run("resume")
    verdict(world, code, "replace", "concluded", ["pass", "pass", "pass"], "faster")


def test_a_command_that_cannot_be_started(world):
    code, _, err = world.verify(command=("no-such-launcher", "fake_train.py"))
    assert code == 3 and "cannot start 'no-such-launcher'" in err
    assert world.ran() == []


def two_files(folder):
    world = World(folder, {"norm.py": NORM, "other.py": NORM.replace("norm(", "other(")})
    world.confirm()
    return world


def test_resume_goes_on_with_those_that_were_asked_for(tmp_path):
    world = two_files(tmp_path)
    world.verify(world.ids[1])
    world.run("resume")
    tasks = json.loads((world.work / "tasks.json").read_text())
    assert [t["id"] for t in tasks["tasks"]] == [world.ids[1]]
    assert tasks["launch"]["ids"] == [world.ids[1]]


def test_the_exit_code_speaks_of_those_that_were_asked_for(tmp_path):
    world = two_files(tmp_path)
    world.tell(unit={"status": "fail", "reason": "wrong"})
    assert world.verify(world.ids[0])[0] == 1
    world.tell(unit={"status": "pass", "emulated": False},
               candidate={"counts": NATIVE, "ms": 3.0})
    code, out, _ = world.verify(world.ids[1])
    assert code == 0 and world.ids[0] not in out
    assert world.task(world.ids[0])["answer"] == "do_not"  # and that stays


def test_candidates_that_fail_only_together(tmp_path):
    world = two_files(tmp_path)
    world.tell(unit={"emulated": False},
               candidate={"counts": NATIVE, "ms": 3.0}, together={"shift": {"20": 1.5}})
    code, out, _ = world.verify()
    assert code == 1
    assert "all that passed, in one run: fail" in out
    assert [world.task(i)["answer"] for i in world.ids] == ["replace", "replace"]


def test_a_changed_file_makes_its_task_stale(world):
    world.verify()
    (world.folder / "norm.py").write_text(NORM.replace("eps)", "2 * eps)"))
    code, _, err = world.verify()
    assert code == 3 and world.ids[0] in err
    assert (world.task()["state"], world.task()["answer"]) == ("stale", "undecided")
    assert "过期" in (world.work / "tasks.md").read_text()
    (world.folder / "norm.py").write_text(NORM)
    code, _, _ = world.verify()
    verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])


def test_two_candidates_stand_alone_and_then_together(tmp_path):
    world = two_files(tmp_path)
    assert len(world.ids) == 2
    world.verify()
    slugs = [world.task(i)["slug"] for i in world.ids]
    assert world.ran() == ["unit", "baseline baseline/loss-1", "baseline baseline/loss-2",
                           f"candidate {slugs[0]}/loss-1", "unit",
                           f"candidate {slugs[1]}/loss-1", "candidate together/loss-1"]
    for slug, own, others in ((slugs[0], "norm.py", "other.py"),
                              (slugs[1], "other.py", "norm.py")):
        tree = world.work / "runs" / slug / "tree"
        assert "npu_rms_norm" in (tree / own).read_text()
        assert "npu_rms_norm" not in (tree / others).read_text()
    tasks = json.loads((world.work / "tasks.json").read_text())
    assert tasks["together"]["status"] == "pass"


# ---- refusals ----------------------------------------------------------------------


def test_no_launch_command(world):
    code, _, err = world.run("verify", world.ids[0])
    assert code == 3 and "no launch command" in err


def test_not_confirmed(tmp_path):
    world = World(tmp_path)
    code, _, err = world.verify()
    assert code == 3 and "no candidate is confirmed" in err
    assert world.ran() == []


def test_a_file_that_changed_after_the_confirmation(tmp_path):
    world = World(tmp_path)
    world.confirm()
    (world.folder / "norm.py").write_text(NORM.replace("eps)", "2 * eps)"))
    code, _, err = world.verify()
    assert code == 3 and world.ids[0] in err
    assert world.ran() == []


@pytest.mark.parametrize("field, old, new", [
    ("replacement", "npu_rms_norm(", "npu_rms_norm(2 * "),
    ("original", "rsqrt", "sqrt"),
])
def test_hand_edited_findings(world, field, old, new):
    path = world.work / "findings.json"
    findings = json.loads(path.read_text())
    assert old in findings["findings"][0][field]
    edited = findings["findings"][0][field].replace(old, new)
    findings["findings"][0][field] = edited
    path.write_text(json.dumps(findings))
    code, _, err = world.verify(world.ids[0])
    assert code == 3 and world.ids[0] in err
    assert world.ran() == []


def test_truncated_tasks(world):
    world.verify()
    path = world.work / "tasks.json"
    path.write_text(path.read_text()[:100])
    for words in (["resume"], ["status"]):
        code, _, err = world.run(*words)
        assert code == 2 and "tasks.json':" in err and "not valid JSON" in err


# ---- interruption --------------------------------------------------------------------


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def started(world, slow):
    """A verification whose unchanged run is under way."""
    world.tell(baseline={"sleep": slow})
    process = world.start("verify", "--python", world.python, "--", "python3", "fake_train.py")
    log = world.work / "runs/baseline/loss-1/log.txt"
    wait_for(lambda: log.exists() and b"step 3" in log.read_bytes())
    return process


def test_two_at_once(world):
    process = started(world, 0.05)
    code, _, err = world.run("resume")
    assert code == 3 and f"npufuse process {process.pid} is at work" in err
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_interrupted_and_resumed(world):
    process = started(world, 0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and "npufuse resume" in err
    world.tell(baseline={})
    code, _, _ = world.run("resume")
    assert verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])
    assert world.ran().count("unit") == 1  # it was made to its end before


def test_a_killed_npufuse_takes_its_command_along(world):
    process = started(world, 0.05)
    process.kill()
    process.communicate(timeout=60)
    log = world.work / "runs/baseline/loss-1/log.txt"
    time.sleep(0.3)
    size = log.stat().st_size
    time.sleep(0.3)
    assert log.stat().st_size == size
    world.tell(baseline={})
    code, _, _ = world.run("resume")
    verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])


def test_workers_that_outlive_a_killed_npufuse_are_ended(world):
    """A worker in a session of its own, as torchrun starts them."""
    world.tell(baseline={"sleep": 0.05})
    process = world.start("verify", "--python", world.python, "--", "sh", "-c",
                          "setsid python3 fake_train.py & wait")
    log = world.work / "runs/baseline/loss-1/log.txt"
    wait_for(lambda: log.exists() and b"step 3" in log.read_bytes())
    process.kill()
    process.communicate(timeout=60)
    world.tell(baseline={})
    code, _, err = world.run("resume")
    assert "ended 1 processes that an earlier verification left" in err
    verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])


def test_disk_full(world):
    for at in range(1, 12):
        code, _, err = world.verify(NPUFUSE_FAULT_FULL=str(at))
        assert code == 2 and "No space left on device" in err, (at, code, err)
        for path in world.work.glob("*.json"):
            json.loads(path.read_text())
    code, _, _ = world.verify()
    verdict(world, code, "undecided", "blocked", ["pass", "pass", "blocked"])


def test_environment_of_the_command(world):
    """What a run sees: its copy, the hook first in PYTHONPATH, its arm.json."""
    script = world.base / "elsewhere" / "see.py"
    script.parent.mkdir()
    script.write_text(
        "import json, os, sys\n"
        "json.dump([os.getcwd(), os.environ['PYTHONPATH'], sys.argv[1:]],"
        " open(os.environ['NPUFUSE_ARM'] + '.seen', 'w'))\n"
        "exec(open('fake_train.py').read())\n")
    world.verify(command=("python3", script, world.folder / "norm.py"), PYTHONPATH="/elsewhere")
    arm = world.work / "runs/baseline/loss-1/arm.json.seen"
    folder, path, argv = json.loads(arm.read_text())
    tree = str(world.work / "runs/baseline/tree")
    assert folder == os.path.realpath(tree)
    parts = path.split(":")
    assert parts[0].endswith("npufuse/_site") and parts[1:] == [folder, "/elsewhere"]
    assert argv == [folder + "/norm.py"]


# ---- where the copy begins -------------------------------------------------------------

REAL_TRAIN = """\
import os, sys
print("module", sys.modules[%r].__file__, "root", os.getcwd(), flush=True)
exec(open(os.environ["FAKE"]).read())
"""


def package_world(tmp_path, script, module, scanned="models"):
    """models/norm.py in a project that is started from outside of the folder
    that was scanned; `script` imports `module` and says where from."""
    world = World(tmp_path)
    fake = world.base / "fake_train.py"
    (world.folder / "fake_train.py").rename(fake)
    shutil.rmtree(world.work)
    (world.folder / scanned).mkdir(parents=True)
    (world.folder / "norm.py").rename(world.folder / scanned / "norm.py")
    (world.base / "stub").mkdir()
    (world.base / "stub" / "torch.py").write_text("Tensor = object\n")
    path = world.folder / script
    path.parent.mkdir(exist_ok=True)
    path.write_text("import %s\n%s" % (module, REAL_TRAIN % module))
    world.environment.update(FAKE=str(fake), PYTHONPATH=str(world.base / "stub"))
    world.run("scan", "-q", scanned, check=True)
    world.ids = [f["id"] for f in world.findings()["findings"]]
    world.confirm()
    return world


@pytest.mark.parametrize("script, module, package", [
    ("train.py", "models.norm", False),
    ("train.py", "models.norm", True),
    ("scripts/train.py", "models.norm", True),
    ("models/train.py", "norm", False),
])
def test_the_scanned_folder_is_a_part_of_the_project(tmp_path, script, module, package):
    world = package_world(tmp_path, script, module)
    if package:
        (world.folder / "models" / "__init__.py").write_text("")
    code, _, err = world.verify(command=("python3", script))
    assert code == 3 and world.stages() == ["pass", "pass", "blocked"], err
    log = (world.work / "runs" / world.task()["slug"] / "loss-1/log.txt").read_text()
    tree = os.path.realpath(world.work / "runs" / world.task()["slug"] / "tree")
    assert f"module {tree}/models/norm.py root {tree}\n" in log
    assert "npu_rms_norm" in open(tree + "/models/norm.py").read()
    arm = json.loads((world.work / "runs/baseline/loss-1/arm.json").read_text())
    assert arm["candidates"][0]["file"] == "models/norm.py"
    assert arm["root"] == os.path.realpath(world.folder)


def test_an_installed_package_inside_of_the_project(tmp_path):
    """Only the package is copied; it is found before the installed one."""
    packages = "env/site-packages"
    world = package_world(tmp_path, "train.py", "pkg.norm", scanned=packages + "/pkg")
    (world.folder / packages / "other").mkdir()
    world.environment["PYTHONPATH"] += os.pathsep + str(world.folder / packages)
    code, _, err = world.verify(command=("python3", "train.py"))
    assert code == 3 and world.stages() == ["pass", "pass", "blocked"], err
    tree = Path(os.path.realpath(world.work / "runs" / world.task()["slug"] / "tree"))
    log = (tree.parent / "loss-1/log.txt").read_text()
    assert f"module {tree}/pkg/norm.py root {os.path.realpath(world.folder)}\n" in log
    assert [p.name for p in tree.iterdir()] == ["pkg"]


def test_paths_of_the_command_lead_where_they_did(world):
    """Relative paths out of the project, and absolute ones into it."""
    (world.base / "data").mkdir()
    (world.base / "data" / "x.txt").write_text("data")
    script = world.folder / "see.py"
    script.write_text(
        "import json, os, sys\n"
        "json.dump([open(w.split('=')[-1]).read() for w in sys.argv[1:-1]] + sys.argv[1:],"
        " open(os.environ['NPUFUSE_ARM'] + '.seen', 'w'))\n"
        "exec(open('fake_train.py').read())\n")
    norm = world.folder / "norm.py"
    world.verify(command=("python3", "see.py", "../data/x.txt", "--data=../data/x.txt",
                          f"--code={norm}", "../data/new.log"))
    script.unlink()
    arm = world.work / "runs" / world.task()["slug"] / "loss-1/arm.json.seen"
    first, second, third, *words = json.loads(arm.read_text())
    assert first == second == "data" and "npu_rms_norm" in third
    data = os.path.realpath(world.base / "data")
    tree = os.path.realpath(world.work / "runs" / world.task()["slug"] / "tree")
    assert words == [data + "/x.txt", f"--data={data}/x.txt", f"--code={tree}/norm.py",
                     data + "/new.log"]


def test_a_file_behind_a_link_is_not_copied_in_vain(tmp_path):
    world = World(tmp_path)
    (world.base / "outside").mkdir()
    (world.folder / "norm.py").rename(world.base / "outside" / "norm.py")
    (world.folder / "linked").symlink_to("../outside")
    world.run("scan", "-q", ".", check=True)
    world.ids = [f["id"] for f in world.findings()["findings"]]
    world.confirm()
    code, _, err = world.verify()
    assert code == 2 and "cannot copy 'linked/norm.py' with its candidates" in err
    assert world.ran() == []
