"""The test tools themselves: the case runner, the checks, the docs runner."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import all as all_tests  # noqa: E402
import check_banned  # noqa: E402
import ctext  # noqa: E402
import docs  # noqa: E402
import run  # noqa: E402

FAKE = """#!/bin/bash
case $1 in
say) shift; echo "$@" ;;
cat) cat ;;
fail) echo "npufuse: no" >&2; exit 3 ;;
write) mkdir -p out; echo "$2" > out/file ;;
where) pwd ;;
esac
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A folder of cases and a command that is easy to predict."""
    cases = tmp_path / "cases"
    cases.mkdir()
    fake = tmp_path / "npufuse"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    monkeypatch.setattr(run, "CASES", cases)
    monkeypatch.setattr(run, "limit_memory", lambda options: None)

    def make(name, cmd, **files):
        case = cases / name
        case.mkdir(parents=True)
        (case / "cmd").write_text(cmd)
        for file, text in files.items():
            (case / file.replace("_", ".")).write_text(text)
        return case

    def go(*arguments):
        monkeypatch.setattr(sys, "argv", ["run.py", "--bin", str(fake),
                                          *arguments])
        return run.main()

    make.go = go
    return make


def test_silence_and_exit_zero_are_the_default(world):
    world("a/one", "say hello")
    assert world.go() == 0
    world("a/two", "fail")
    assert world.go() == 1


def test_output_is_compared(world, capsys):
    case = world("a/one", "say 'hello  world' # a comment",
                 expect_out="hello  world\n")
    assert world.go() == 0
    (case / "expect.out").write_text("hello world\n")
    assert world.go() == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 1 failed"


def test_one_exit_code_speaks_of_the_last_line(world):
    world("a/one", "say x\nnpufuse fail", expect_exit="3\n",
          expect_err="npufuse: no\n")
    assert world.go() == 0
    world("a/two", "fail\nsay x", expect_exit="0\n",
          expect_err="npufuse: no\n")
    assert world.go("-k", "two") == 1


def test_files_standard_input_and_setup(world):
    case = world("a/one", "cat < name\nwrite 7", expect_out="text\n",
                 setup_sh="echo text > name\n")
    (case / "expect.files" / "out").mkdir(parents=True)
    (case / "expect.files" / "out" / "file").write_text("7\n")
    assert world.go() == 0
    (case / "expect.files" / "out" / "file").write_text("8\n")
    assert world.go() == 1


def test_the_folder_of_the_case_is_hidden(world):
    world("a/one", "where", expect_out="$DIR\n")
    assert world.go() == 0


def test_a_known_bug_must_fail(world, capsys):
    world("a/one.bug", "say wrong", expect_out="right\n")
    assert world.go() == 0
    world("a/two.bug", "say right", expect_out="right\n")
    assert world.go() == 1
    assert "FIXED  a/two.bug" in capsys.readouterr().out


def test_accept_writes_what_was_seen(world):
    case = world("a/one", "say x\nfail")
    (case / "expect.out").write_text("")
    assert world.go("--accept", "a/one") == 0
    assert (case / "expect.out").read_text() == "x\n"
    assert (case / "expect.err").read_text() == "npufuse: no\n"
    assert (case / "expect.exit").read_text() == "3\n"
    assert world.go() == 0


@pytest.mark.parametrize("name, lines, counts", [
    ("closing line", ["1 passed, 0 failed", "12 passed, 3 failed, 4 skipped"],
     (12, 3, 4)),
    ("cmocka", ["[  PASSED  ] 6 test(s).", "[  FAILED  ] 2 test(s), listed:",
                "[  FAILED  ] test_x"], (6, 2, 0)),
    ("pytest", ["= 3 failed, 97 passed, 1 skipped, 2 errors in 1.20s ="],
     (97, 5, 1)),
    ("pytest", ["169 passed in 3.65s"], (169, 0, 0)),
])
def test_counts(name, lines, counts):
    assert all_tests.COUNTS[name](lines, 0) == counts


C_TEXT = """
#define NEW(x) do { \\
    f(x); } while (0)
struct S { int a; };
static const int TABLE[] = {1, 2};
/* a { comment */
static bool one(int a, void (*f)(int, int)) {
    return a == '{' || f == 0; // }
}

MUST_CHECK bool two(void)
{
    if (x) {
        y("}");
    }
}
"""


def test_functions_are_found(tmp_path):
    path = tmp_path / "a.c"
    path.write_text(C_TEXT)
    found = [(f.name, f.line, f.length, f.parameters)
             for f in ctext.functions(path)]
    assert found == [("one", 7, 3, 2), ("two", 11, 6, 0)]


def test_banned_calls(tmp_path, monkeypatch):
    monkeypatch.setattr(ctext, "ROOT", tmp_path)
    path = tmp_path / "src" / "py" / "a.c"
    path.parent.mkdir(parents=True)
    path.write_text('int f(void) { x->free(1); /* gets( */\n'
                    'free(p); puts("system(1)"); return atoi(s); }\n')
    found = [problem.split(": ")[1]
             for problem in check_banned.check_calls(path)]
    assert sorted(found) == ["atoi is banned here", "free is banned here"]


def test_docs_patterns():
    assert docs.matches(["a", "...", "z"], ["a", "b", "c", "z"])
    assert docs.matches(["a", "...", "z"], ["a", "z"])
    assert not docs.matches(["a"], ["a", "b"])
    assert docs.split_commands("$ one\nx\n$ two \\\n> three\ny\n") == [
        ("one", ["x"]), ("two \\\nthree", ["y"])]


def test_the_list_of_parts_is_printed():
    done = subprocess.run([sys.executable, str(TESTS / "all.py"), "--list"],
                          capture_output=True, text=True, check=True,
                          env=dict(os.environ))
    assert "cases asan" in done.stdout.splitlines()
