"""The skill folder: its form, that what it says of the command and of the
operators is so, and its scripts. tests/docs.py runs its sessions, and
test_skill_api.py asks query_torch_npu_api.py."""
import ast
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "skill" / "ascend-fusion-op-replace"
SCRIPTS = SKILL / "scripts"
PAGES = sorted(SKILL.rglob("*.md"))
NPUFUSE = str(Path(os.environ.get("NPUFUSE", ROOT / "build/dev/npufuse")).resolve())
LINK = re.compile(r"\[[^\]]*\]\(([^)#:\s]+)(?:#[^)]*)?\)")

needs_command = pytest.mark.skipif(not os.access(NPUFUSE, os.X_OK),
                                   reason=f"'{NPUFUSE}' is not built")


def run(*words, code=0, **options):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60, **options)
    assert done.returncode == code, done.stderr
    return done


def script(name, *words, **options):
    return run(sys.executable, SCRIPTS / name, *words, **options)


# ---- form ---------------------------------------------------------------------


def front_matter():
    """The members of SKILL.md's front matter; plain scalars only."""
    text = (SKILL / "SKILL.md").read_text(encoding="utf-8")
    assert text.startswith("---\n")
    head = text[4:text.index("\n---\n", 4)]
    members = {}
    for line in head.split("\n"):
        name, colon, value = line.partition(": ")
        assert colon and re.fullmatch(r"[a-z-]+", name) and name not in members
        # A plain scalar of YAML: what would end it or begin another kind.
        assert value == value.strip() and value[0] not in "!&*-?{}[],#|>@`\"'%"
        assert ": " not in value and " #" not in value and not value.endswith(":")
        members[name] = value
    return members


def test_front_matter_is_that_of_a_skill():
    members = front_matter()
    assert set(members) <= {"name", "description", "license", "compatibility"}
    assert members["name"] == SKILL.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", SKILL.name) and len(SKILL.name) <= 64
    assert 20 <= len(members["description"]) <= 1024
    assert len(members["compatibility"]) <= 500
    for word in ("Ascend", "NPU", "torch_npu", "fused operator", "使用"):
        assert word in members["description"]


def test_the_page_is_short_and_the_folder_has_no_readme():
    lines = (SKILL / "SKILL.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 200
    assert not [path for path in SKILL.rglob("*") if path.name.lower().startswith("readme")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_fences_have_a_language(page):
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            assert inside or re.fullmatch(r"```[a-z]+", line), line
            inside = not inside
    assert not inside


def test_links_are_one_level_deep_and_lead_somewhere():
    targets = set(LINK.findall((SKILL / "SKILL.md").read_text(encoding="utf-8")))
    for target in targets:
        assert (SKILL / target).is_file(), target
    for page in PAGES:
        if page.name != "SKILL.md":
            assert not LINK.findall(page.read_text(encoding="utf-8")), page.name
    linked = {(SKILL / target).resolve() for target in targets}
    assert {page for page in PAGES if page.name != "SKILL.md"} <= linked


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.name)
def test_scripts_are_python_3_8_and_need_nothing_else(path):
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module.split(".")[0])
    beside = {other.stem for other in SCRIPTS.glob("*.py")}
    tried = {"npufuse"}  # the package, where it is installed
    assert modules <= set(sys.stdlib_module_names) | beside | tried
    assert os.access(path, os.X_OK) == ("__main__" in path.read_text(encoding="utf-8"))


# ---- what it says of the command ----------------------------------------------


def commands():
    """[(page, words)] of every command in a shell block of the skill."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```(?:bash|console)\n(.*?)^```$", text, re.M | re.S):
            for line in block.splitlines():
                line = re.sub(r"^\$ ", "", line)
                for part in re.split(r"&&|;|\|", line.split("  #")[0]):
                    if re.match(r"\s*(npufuse|python) ", part):
                        yield page.name, shlex.split(part, comments=True)


def own_words(words):
    """Those before ` -- COMMAND` and before a redirection."""
    for end in ("--", ">", "2>&1"):
        words = words[:words.index(end)] if end in words else words
    return words


@needs_command
def test_every_command_and_option_exists():
    helps, seen = {}, set()
    for page, words in commands():
        if words[0] == "npufuse":
            tool = (NPUFUSE, words[1])
        elif words[1].startswith("$SKILL/"):
            tool = (sys.executable, words[1].replace("$SKILL", str(SKILL)))
            if words[1].endswith("query_torch_npu_api.py"):
                tool += (words[2],)
        else:
            continue  # the user's own program
        if tool not in helps:
            helps[tool] = run(*tool, "--help").stdout
        seen.add(tool[1])
        for option in own_words(words[2:]):
            if re.match(r"-{1,2}[a-z]", option):
                name = option.split("=")[0]
                assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", helps[tool]), (
                    f"{page}: {' '.join(words)}: no {name}")
    assert {"doctor", "scan", "confirm", "capture", "verify", "status", "resume", "apply",
            "report", "steps"} <= seen


# ---- what it says of operators -------------------------------------------------


def sections():
    """{operator: its section} of common_fusion_ops.md."""
    text = (SKILL / "references" / "common_fusion_ops.md").read_text(encoding="utf-8")
    parts = re.split(r"^### (\w+)\n", text, flags=re.M)
    return {name: re.split(r"^## ", body, flags=re.M)[0]
            for name, body in zip(parts[1::2], parts[2::2])}


def facts_of(path):
    """(operator, schema, sentences of limits()) of an operator file, not run."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    values = {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body
              if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    limits = next(node for node in tree.body if getattr(node, "name", "") == "limits")
    sentences = {node.msg.value for node in ast.walk(limits) if isinstance(node, ast.Assert)}
    return values["operator"], values["schema"], sentences


def quoting():
    """Operators of which the reference lists the limits, as those of ops/."""
    return [name for name, body in sections().items() if "\n限制（ops）：\n" in body]


def test_the_reference_quotes_operator_files():
    assert {"npu_rms_norm", "npu_swiglu", "npu_geglu", "npu_fast_gelu"} <= set(quoting())


@pytest.mark.parametrize("name", quoting())
def test_the_reference_says_what_the_operator_file_says(name):
    operator, schema, sentences = facts_of(ROOT / "ops" / f"{name}.py")
    section = sections()[operator]
    assert f"`{schema}`" in section
    told = {line[2:] for line in section.splitlines() if line.startswith("- the ") or
            line[2:] in sentences}
    assert told == sentences


# ---- merge_jsonl.py -------------------------------------------------------------


def rows(count=60, start=0, loss=2.5, **more):
    return [{"step": start + i, "loss": loss + 0.001 * i, "step_time": 0.0125 + i * 1e-5, **more}
            for i in range(count)]


def changed(index, count=60, **change):
    made = rows(count)
    made[index].update(change)
    return made


def coarse(more=0.0, count=60):
    """Losses as a log with two decimals prints them, near the floor of the gate."""
    return [{"step": i, "loss": round(0.9 - 0.01 * i + more, 2)} for i in range(count)]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


PAIRS = {  # name: (base, fused, options, exit code)
    "equal": (lines(rows()), lines(rows()), (), 0),
    "close": (lines(rows()), lines(rows(loss=2.501)), (), 0),
    "beyond": (lines(rows()), lines(changed(7, loss=3.0)), (), 1),
    "beyond at step 0": (lines(rows()), lines(changed(0, loss=3.0)), (), 1),
    "within a wider limit": (lines(rows()), lines(changed(7, loss=2.6)), ("--threshold", "0.05"), 0),
    "nan": (lines(rows()), lines(changed(3, loss=float("nan"))), (), 1),
    "infinite base": (lines(changed(4, loss=float("-inf"))), lines(rows()), (), 1),
    "nan as a text": (lines(rows()), lines(changed(3, loss=None, loss_text="nan")), (), 1),
    "missing loss": (lines(rows()), lines(changed(5, loss=None)), (), 1),
    "ended early": (lines(rows()), lines(rows(40)), (), 1),
    "more steps than the baseline": (lines(rows(50)), lines(rows(60)), (), 0),
    "too short": (lines(rows(10)), lines(rows(10)), (), 3),
    "short is enough": (lines(rows(10)), lines(rows(10)), ("--min-steps", "10"), 0),
    "nothing in common": (lines(rows(50)), lines(rows(50, start=50)), (), 1),
    "empty": ("", "", (), 3),
    "window": (lines(rows(60, loss=0.0)), lines(rows(60, loss=0.0000099)), (), 0),
    "zero losses": (lines([{"step": i, "loss": 0} for i in range(50)]),
                    lines([{"step": i, "loss": 1e-6} for i in range(50)]), (), 0),
    "phases": (lines(changed(2, phase="warmup")), lines(rows(60, phase="active")), (), 0),
    "odd phase": (lines(rows(50, phase="</s>\u00e9\"")), lines(rows(50, phase="x" * 12)), (), 0),
    "duplicates": (lines(rows() + [{"step": 3, "step_time": 9}]),
                   lines([{"step": 3, "loss": 77}] + rows()), (), 0),
    "out of order": (lines(reversed(rows())), lines(rows()), (), 0),
    "mark, CRLF, blanks": ("\ufeff" + lines(rows()).replace("\n", "\r\n") + "\n  \n",
                           lines(rows()), (), 0),
    "large and small": (lines([{"step": i, "loss": 1.23456789e20 / 7, "step_time": 1 / 3}
                               for i in range(50)]),
                        lines([{"step": i, "loss": 1.23456789e20 / 7.01, "step_time": 1e-9 / 3}
                               for i in range(50)]), (), 0),
    "few digits": (lines(coarse()), lines(coarse(0.01)), (), 0),
    "few digits, too far": (lines(coarse()), lines(coarse(0.02)), (), 1),
    "few digits, few losses": (lines(coarse(count=19)), lines(coarse(0.01, count=19)),
                               ("--min-steps", "5"), 1),
    "few and many digits": (lines(coarse() + [{"step": 60, "loss": 0.12345}]),
                            lines(coarse(0.01) + [{"step": 60, "loss": 0.12345}]), (), 1),
    "whole losses": (lines([{"step": i, "loss": 30 + i} for i in range(60)]),
                     lines([{"step": i, "loss": 31 + i} for i in range(60)]), (), 0),
    "no step": (lines([{"loss": 1.0}]), lines(rows()), (), 2),
    "fraction of a step": (lines([{"step": 1.5, "loss": 1.0}]), lines(rows()), (), 2),
    "negative step": (lines([{"step": -1, "loss": 1.0}]), lines(rows()), (), 2),
    "no object": ("[1]\n", lines(rows()), (), 2),
    "cut off": (lines(rows())[:-9], lines(rows()), (), 2),
    "deep": ("[" * 100000 + "\n", lines(rows()), (), 2),
}


def merged(tmp_path, name, *words, environment):
    base, fused, options, code = PAIRS[name]
    (tmp_path / "base.jsonl").write_text(base, encoding="utf-8")
    (tmp_path / "fused.jsonl").write_text(fused, encoding="utf-8")
    return script("merge_jsonl.py", "base.jsonl", "fused.jsonl", *options, *words, code=code,
                  cwd=tmp_path, env=environment)


def no_constant(text):
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize("name", PAIRS)
def test_merge_alone_and_by_npufuse_are_one(tmp_path, name):
    environment = dict(os.environ, NPUFUSE=NPUFUSE)
    is_bad = PAIRS[name][3] == 2
    alone = merged(tmp_path, name, "--no-npufuse", environment=environment)
    if is_bad:
        assert alone.stdout == "" and re.match(r"merge_jsonl: '\w+.jsonl':\d+: ", alone.stderr)
    else:
        array = json.loads(alone.stdout, parse_constant=no_constant)
        assert [row["step"] for row in array] == sorted({row["step"] for row in array})
        assert alone.stderr.startswith("max_rel_diff=")
    if not os.access(NPUFUSE, os.X_OK):
        pytest.skip(f"'{NPUFUSE}' is not built")
    other = merged(tmp_path, name, environment=environment)
    assert other.stdout == alone.stdout
    # The message of bad input differs, and says which of the two it was.
    assert other.stderr.startswith("npufuse: ") if is_bad else other.stderr == alone.stderr


def test_merge_golden(tmp_path):
    done = merged(tmp_path, "beyond at step 0", "--no-npufuse", environment={})
    assert done.stdout.splitlines()[:3] == [
        "[",
        '  {"step": 0, "phase": null, "base_loss": 2.5, "fused_loss": 3, "base_time": 0.0125, '
        '"fused_time": 0.0125},',
        '  {"step": 1, "phase": null, "base_loss": 2.501, "fused_loss": 2.501, '
        '"base_time": 0.01251, "fused_time": 0.01251},']
    assert done.stderr == (
        "max_rel_diff=0.2 first_fail_step=0\nthe loss differs by 0.2 at step 0 (3, unchanged "
        "2.5), more than 0.01; at most by 0.2\n")


def test_merge_without_a_file_or_with_a_bad_limit(tmp_path):
    words = ("merge_jsonl.py", "--no-npufuse", "none.jsonl", "none.jsonl")
    assert "cannot read 'none.jsonl'" in script(*words, code=2, cwd=tmp_path).stderr
    assert "--threshold" in script(*words, "--threshold", "nan", code=2, cwd=tmp_path).stderr


# ---- validation_report_template.html -----------------------------------------------

TEMPLATE = SKILL / "assets" / "validation_report_template.html"
PLACE = re.compile(r"const REPORT_DATA = \{.*?\n\};", re.S)
CHROMIUM = next(filter(None, map(shutil.which, (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")


def given(**changes):
    """What a user of the skill fills in: the members and no others."""
    made = {
        "basic_info": {"task_name": "TASK", "candidate_name": "CANDIDATE",
                       "baseline_status": "Pass", "fused_status": "Pass",
                       "final_conclusion": "Pass", "work_dir": "WORK", "hardware": "",
                       "world_size": 8, "rank_count": 8},
        "commands": {"baseline_cmd": "BASE-COMMAND", "fused_cmd": "FUSED-COMMAND",
                     "script_path": "", "data_path": "", "ckpt_path": ""},
        "diffs": [{"file_path": "a.py", "hunks": [
            {"old_line": 3, "new_line": 3, "old_code": "old < 1\n", "new_code": "new < 2\n"}]}],
        "metrics": [{"step": i, "phase": None, "base_loss": 2.0, "fused_loss": 2.0,
                     "base_time": 0.2, "fused_time": 0.1} for i in range(60)],
        "thresholds": {"max_rel_diff": 0.01, "first_fail_step": None},
    }
    made.update(changes)
    return made


def fill(data):
    text = "const REPORT_DATA = " + json.dumps(data).replace("<", "\\u003c") + ";"
    page, count = PLACE.subn(lambda match: text, TEMPLATE.read_text(encoding="utf-8"))
    assert count == 1
    return page


def browse(tmp_path, page):
    """The text that a browser shows; what it complains of fails the test."""
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    done = run(CHROMIUM, "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
               "--virtual-time-budget=2000", "--dump-dom", path.as_uri())
    assert "CONSOLE" not in done.stderr, done.stderr
    shown = re.sub(r"<(script|style|noscript).*?</\1>", "", done.stdout, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", shown)).split()), done.stdout


def test_template_is_made_of_the_page():
    run(sys.executable, ROOT / "tools" / "skill_template.py", "--check")


def test_template_is_one_file_with_an_empty_record():
    text = TEMPLATE.read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    assert not re.search(r"""(?:src|href)=|https?://(?!www\.w3\.org/2000/svg)""", text)
    data = json.loads(PLACE.search(text).group(0)[len("const REPORT_DATA = "):-1])
    assert set(data) == set(given())
    for name in ("basic_info", "commands", "thresholds"):
        assert set(data[name]) == set(given()[name])
    assert not any(data["basic_info"].values()) and data["metrics"] == []  # nothing made up


@needs_browser
def test_template_as_it_is_says_what_is_missing(tmp_path):
    text, _ = browse(tmp_path, TEMPLATE.read_text(encoding="utf-8"))
    assert "信息缺失" in text and "结论缺失" in text and "没有损失记录" in text


@needs_browser
def test_template_filled_in(tmp_path):
    text, page = browse(tmp_path, fill(given()))
    for words in ("CANDIDATE", "TASK", "BASE-COMMAND", "new < 2", "通过", "无不达标步",
                  "每侧仅一次运行", "0.5", "共同步数 60"):
        assert words in text
    assert page.count("<canvas") == 2
    assert text.count("100 ms") > 1


@needs_browser
def test_template_of_a_failure_shows_no_times(tmp_path):
    data = given()
    data["metrics"][0]["fused_loss"] = float("nan")
    data["basic_info"]["final_conclusion"] = "Fail"
    data["thresholds"]["first_fail_step"] = 0
    text, _ = browse(tmp_path, fill(data))
    assert "结果不一致" in text and "首个不达标步 0" in text and "无数值" in text
    assert "精度不通过，耗时对比没有意义" in text


@needs_browser
def test_template_hostile_and_damaged(tmp_path):
    bad = "</script><script>document.title = 'OWNED'</script>"
    text, page = browse(tmp_path, fill(given(diffs=[{"file_path": bad, "hunks": [
        {"old_line": None, "new_line": None, "old_code": bad, "new_code": None}]}])))
    assert bad in text and "<title>OWNED" not in page
    odd = dict(given(), metrics="none", diffs=None, basic_info=None, commands=None)
    text, _ = browse(tmp_path, fill(odd))
    assert "信息缺失" in text
