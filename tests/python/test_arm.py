"""The hook in the processes of a watched run: what it counts, and that the
user's program does not notice it.

Programs are real processes, started with the environment of a run.
"""
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "python" / "npufuse" / "_site"

GUARDED = '''\
"""Doc of the module."""
from __future__ import annotations
import sys
torch_npu = None


def npu_fused_ready(operator, *tensors):
    return "yes" in sys.argv and all(t > 0 for t in tensors)


def npu_op(x):
    return x * 2


class __Doubler:
    def forward(self, x: missing):
        """Doc of the function."""
        if npu_fused_ready("npu_op"):
            y = x + 0
            if npu_fused_ready("npu_op", y):
                return npu_op(y)
            else:
                return y * 2
        else:
            return x * 2


Doubler = __Doubler
'''
PLAIN = '''\
def forward(x):
    """Doc."""
    y = x * 2
    return y
'''


class Project:
    """An overlay with one candidate, its original root beside it."""

    def __init__(self, folder):
        self.folder, self.tree, self.root = folder, folder / "tree", folder / "root"
        for place in (self.tree, self.root, folder / "counts", folder / "capture"):
            place.mkdir()
        self.settings = {
            "schema": 1,
            "mode": "run",
            "role": "candidate",
            "counts": str(folder / "counts"),
            "capture": str(folder / "capture"),
            "emulate": False,
            "root": str(self.root),
            "tree": str(self.tree),
            "ops": [],
            "candidates": [],
        }

    def write(self, name, text, both=False):
        for place in (self.tree, self.root) if both else (self.tree,):
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def candidate(self, name, text, marker, **changes):
        """`name` holds `text`; its candidate begins at the line of `marker`."""
        self.write(name, text, both=True)
        lines = textwrap.dedent(text).splitlines()
        line = next(i for i, l in enumerate(lines, 1) if marker in l)
        self.settings["candidates"].append(
            dict(
                {
                    "id": "x",
                    "file": name,
                    "qualname": "f",
                    "start_line": line,
                    "end_line": line,
                    "edited": True,
                    "module": "torch_npu",
                    "operator": "npu_op",
                    "predicate": "npu_fused_ready",
                    "inputs": [],
                },
                **changes
            )
        )

    def start(self, *words, path=(), environment=None, **more):
        (self.folder / "arm.json").write_text(json.dumps(self.settings))
        names = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        names["NPUFUSE_ARM"] = str(self.folder / "arm.json")
        names["PYTHONPATH"] = os.pathsep.join(
            str(p) for p in (SITE, self.tree, *path)
        )
        names.update(environment or {})
        return subprocess.Popen(
            [sys.executable, *map(str, words)],
            cwd=str(self.tree),
            env=names,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more
        )

    def run(self, *words, code=0, quiet=True, **more):
        process = self.start(*words, **more)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, (process.returncode, out, err)
        if quiet:
            assert "npufuse" not in err, err
        self.err = err
        return out

    def counts(self):
        """Each process's counts, and that its file is well formed."""
        found = []
        for path in sorted((self.folder / "counts").iterdir()):
            lines = path.read_text().splitlines()
            assert lines[0] == "npufuse 00000000000000000001"
            assert all(len(l.split(" ")[1]) == 20 for l in lines)
            pairs = [l.split(" ") for l in lines]
            found.append({k: int(v) for k, v in pairs[1:] if int(v)})
        return found


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def guarded(project, name="pkg/mod.py"):
    project.candidate(name, GUARDED, 'if npu_fused_ready("npu_op"):')
    project.write("pkg/__init__.py", "", both=True)


USE = "from pkg.mod import Doubler; print([Doubler().forward(x) for x in (1, -1, 2)])"

# -------------------------------------------------------------------- counting


def test_branches_are_counted(project):
    guarded(project)
    assert project.run("-c", USE, "yes") == "[2, -2, 4]\n"
    assert project.counts() == [{"0.loaded": 1, "0.fused": 2, "0.else": 1}]


def test_without_the_outer_guard_the_else_is_counted(project):
    guarded(project)
    assert project.run("-c", USE) == "[2, -2, 4]\n"
    assert project.counts() == [{"0.loaded": 1, "0.else": 3}]


def test_an_unedited_span_is_counted_as_else(project):
    project.candidate("mod.py", PLAIN, "y = x * 2", edited=False)
    out = project.run("-c", "import mod; print(mod.forward(4), mod.forward.__doc__)")
    assert out == "8 Doc.\n"
    assert project.counts() == [{"0.loaded": 1, "0.else": 1}]


def test_the_module_of_the_original_root_counts_elsewhere(project):
    guarded(project)
    words = "import sys; sys.path.insert(0, %r); " % str(project.root) + USE
    project.run("-c", words, "yes")
    assert project.counts() == [{"0.elsewhere": 1}]


def test_a_link_into_the_overlay_is_recognised(project, tmp_path):
    guarded(project)
    (tmp_path / "link").symlink_to(project.tree)
    project.run("-c", "import sys; sys.path.insert(0, %r); " % str(tmp_path / "link")
                + USE, "yes")
    assert project.counts() == [{"0.loaded": 1, "0.fused": 2, "0.else": 1}]


def test_nothing_of_the_source_is_lost(project):
    guarded(project)
    project.run("-c", """
import inspect, pkg.mod as m
assert m.__doc__ == "Doc of the module." and m.Doubler.forward.__doc__ == "Doc of the function."
assert m.Doubler.forward.__annotations__ == {"x": "missing"}
assert m.Doubler.forward.__code__.co_firstlineno == 16
assert "npu_fused_ready" in inspect.getsource(m.Doubler.forward)
try: m.Doubler().forward("a")
except TypeError as e: assert e.__traceback__.tb_next.tb_lineno == 19, e.__traceback__.tb_next.tb_lineno
else: raise SystemExit("no error")
""", "yes")
    assert not list(project.tree.rglob("mod.*.pyc"))
    assert list(project.tree.rglob("__init__.*.pyc"))  # others' are as ever


def test_old_byte_code_is_not_taken(project):
    guarded(project)
    project.run("-c", USE, environment={"NPUFUSE_ARM": ""})
    assert list(project.tree.rglob("mod.*.pyc"))
    project.run("-c", USE, "yes")
    assert project.counts()[0]["0.fused"] == 2


def test_a_name_that_the_file_uses_is_not_taken(project):
    text = GUARDED.replace("x + 0", "x + _npufuse_arm_").replace(
        "import sys\n", "import sys\n_npufuse_arm_ = 0\n")
    project.candidate("pkg/mod.py", text, 'if npu_fused_ready("npu_op"):')
    assert project.run("-c", USE, "yes") == "[2, -2, 4]\n"
    assert project.counts()[0]["0.fused"] == 2


def test_a_killed_process_has_told_its_counts(project):
    guarded(project)
    process = project.start("-c", USE.replace("print", "print", 1)
                            + "; sys = __import__('sys'); sys.stdout.flush(); "
                            "__import__('time').sleep(60)", "yes")
    assert process.stdout.readline() == "[2, -2, 4]\n"
    process.kill()
    process.communicate()
    assert project.counts() == [{"0.loaded": 1, "0.fused": 2, "0.else": 1}]


def test_a_fork_has_its_own_counts(project):
    guarded(project)
    project.run("-c", """
import os
from pkg.mod import Doubler
Doubler().forward(1)
if os.fork() == 0:
    Doubler().forward(1); Doubler().forward(1)
    os._exit(0)
os.wait()
if os.fork() == 0:
    os._exit(0)  # counts nothing: no file
os.wait()
""", "yes")
    assert project.counts() == [
        {"0.loaded": 1, "0.fused": 1}, {"0.fused": 2}]


def test_threads_lose_no_count(project):
    guarded(project)
    project.run("-c", """
import sys, threading
from pkg.mod import Doubler
sys.setswitchinterval(1e-6)
def work():
    for _ in range(2000): Doubler().forward(1)
all = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in all]; [t.join() for t in all]
""", "yes")
    assert project.counts() == [{"0.loaded": 1, "0.fused": 8000}]


@pytest.mark.parametrize("name", ["RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"])
def test_the_rank_is_told(project, name):
    guarded(project)
    project.run("-c", USE, environment={name: "3", "LOCAL_RANK": "1"})
    assert project.counts()[0]["rank"] == 3


def test_a_rank_that_is_set_late_is_told(project):
    guarded(project)
    project.run("-c", "import os, pkg.mod; os.environ['RANK'] = '5'; " + USE)
    assert project.counts()[0]["rank"] == 5


def test_several_candidates_of_one_file(project):
    text = PLAIN + PLAIN.replace("forward", "other").replace("y = ", "z = y = ")
    for marker in ("    y = x", "    z = y"):
        project.candidate("mod.py", text, marker, edited=False)
    project.run("-c", "import mod; mod.other(1); mod.other(1); mod.forward(1)")
    assert project.counts() == [
        {"0.loaded": 1, "1.loaded": 1, "0.else": 1, "1.else": 2}]


# --------------------------------------------------------------------- scripts

SCRIPT = GUARDED + '''

import atexit, os, threading
if __name__ == "__main__":
    assert sys.modules["__main__"].Doubler is Doubler
    atexit.register(lambda: print("atexit", flush=True))
    threading.Timer(0.1, print, ("thread",), {"flush": True}).start()
    print(sys.argv[1:], os.path.basename(__file__), __spec__, sys.path[0] != "")
    print(Doubler().forward(1), flush=True)
    if "raise" in sys.argv: raise ValueError("wrong")
    if "exit" in sys.argv: sys.exit(7)
    if "text" in sys.argv: sys.exit("said")
    if "interrupt" in sys.argv: raise KeyboardInterrupt
'''


def script(project, name="train.py"):
    project.candidate(name, SCRIPT, 'if npu_fused_ready("npu_op"):')


@pytest.mark.parametrize("word, code", [
    ("plain", 0), ("raise", 1), ("exit", 7), ("text", 1)])
def test_the_main_script_is_counted_and_ends_as_without_us(project, word, code):
    script(project)
    words = ("train.py", "yes", word)
    plain = project.run(*words, code=code, environment={"NPUFUSE_ARM": ""})
    before = project.err
    assert project.run(*words, code=code) == plain
    assert project.err == before  # tracebacks too: no frame of ours
    assert "atexit" in plain and "thread" in plain
    assert project.counts() == [{"0.loaded": 1, "0.fused": 1}]


def test_an_interrupted_script(project):
    script(project)
    process = project.start("train.py", "yes", "interrupt")
    _, err = process.communicate()
    assert process.returncode in (130, -signal.SIGINT)
    assert err.endswith("KeyboardInterrupt\n") and "arm.py" not in err


def test_a_script_by_a_relative_path_and_a_link(project, tmp_path):
    script(project, "sub/train.py")
    (tmp_path / "link.py").symlink_to(project.tree / "sub" / "train.py")
    project.run("sub/../sub/train.py", "yes")
    assert project.counts() == [{"0.loaded": 1, "0.fused": 1}]
    project.run(tmp_path / "root" / "sub" / "train.py", "yes")
    assert {"0.elsewhere": 1} in project.counts()


def test_a_script_sees_debuggers(project):
    script(project)
    project.write("trace.py", """
        import sys
        def trace(frame, event, argument):
            if frame.f_code.co_name == "forward" and event == "line":
                print("line", frame.f_lineno)
            return trace
        sys.settrace(trace)
    """)
    text = (project.tree / "train.py").read_text()
    (project.tree / "train.py").write_text(text.replace("import sys\n", "import sys, trace\n"))
    assert "line 21" in project.run("train.py", "yes")


def test_a_module_that_is_run(project):
    script(project, "pkg/main.py")
    project.write("pkg/__init__.py", "")
    out = project.run("-m", "pkg.main", "yes")
    assert "ModuleSpec(name='pkg.main'" in out
    assert project.counts() == [{"0.loaded": 1, "0.fused": 1}]


def test_what_multiprocessing_spawns(project):
    text = GUARDED + '''
import multiprocessing, os
def work(rank):
    os.environ["RANK"] = str(rank)
    Doubler().forward(1)
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    all = [context.Process(target=work, args=(r,)) for r in (1, 2)]
    [p.start() for p in all]; [p.join() for p in all]
    assert [p.exitcode for p in all] == [0, 0]
'''
    project.candidate("train.py", text, 'if npu_fused_ready("npu_op"):')
    project.run("train.py", "yes")
    ran = [c for c in project.counts() if "0.fused" in c]
    assert sorted(c["rank"] for c in ran) == [1, 2]
    assert all(c["0.fused"] == 1 for c in ran)


def test_a_script_with_a_syntax_error(project):
    project.candidate("train.py", GUARDED, 'if npu_fused_ready("npu_op"):')
    (project.tree / "train.py").write_text("def (:\n")
    project.run("train.py", code=1, quiet=False)
    assert "SyntaxError" in project.err and "npufuse" not in project.err


def test_a_file_by_its_path(project):
    """As dynamic module loaders do it: no finder is asked."""
    guarded(project)
    project.run("-c", """
import importlib.util as u
s = u.spec_from_file_location("anything", "pkg/mod.py")
m = u.module_from_spec(s); s.loader.exec_module(m); m.Doubler().forward(1)
""", "yes")
    assert project.counts() == [{"0.loaded": 1, "0.fused": 1}]


# --------------------------------------------------- whatever is odd is no harm


def test_the_next_sitecustomize_runs(project, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("mark = 5\n")
    guarded(project)
    out = project.run("-c", "import sitecustomize; print(sitecustomize.mark, "
                      "sitecustomize.__file__)", path=[tmp_path / "mine"])
    assert out.split() == ["5", str(tmp_path / "mine" / "sitecustomize.py")]


def test_an_error_of_the_next_sitecustomize_is_its_own(project, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("1 / 0\n")
    guarded(project)
    project.run("-c", USE, "yes", path=[tmp_path / "mine"], quiet=False)
    assert "ZeroDivisionError" in project.err
    assert project.counts()[0]["0.fused"] == 2


@pytest.mark.parametrize("settings", [
    "", "[]", '{"schema": 9}', '{"schema": 1, "mode": "run"}'])
def test_a_broken_arm_file_is_one_line(project, settings, tmp_path):
    guarded(project)
    (tmp_path / "bad.json").write_text(settings)
    out = project.run("-c", USE, quiet=False,
                      environment={"NPUFUSE_ARM": str(tmp_path / "bad.json")})
    assert out == "[2, -2, 4]\n"
    assert len(project.err.splitlines()) == 1 and "npufuse: " in project.err


def test_counts_that_cannot_be_written_are_one_line(project):
    guarded(project)
    project.settings["counts"] = str(project.folder / "absent" / "counts")
    assert project.run("-c", USE, "yes", quiet=False) == "[2, -2, 4]\n"
    assert len(project.err.splitlines()) == 1 and "cannot count" in project.err


def test_a_candidate_that_is_not_there_is_one_line(project):
    guarded(project)
    project.settings["candidates"][0]["start_line"] = 3
    assert project.run("-c", USE, quiet=False) == "[2, -2, 4]\n"
    assert project.err == "npufuse: 'pkg/mod.py': not counted: no 'if' at line 3\n"
    assert project.counts() == [{"0.loaded": 1}]


def test_start_is_quick(project):
    """The hook may cost a process a few hundredths of a second, no more."""
    guarded(project)

    def best(environment):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            project.run("-c", "pass", environment=environment)
            times.append(time.perf_counter() - begin)
        return min(times)

    assert best({}) - best({"NPUFUSE_ARM": ""}) < 0.15


# ------------------------------------------------------------ torch, emulation

NORM = '''
import torch

try:
    import torch_npu
except Exception:
    torch_npu = None


def npu_fused_ready(operator, *tensors):
    """Whether torch_npu has `operator` and every tensor is on an NPU."""
    return hasattr(torch_npu, operator) and all(
        t.device.type == "npu" for t in tensors
    )


class Norm(torch.nn.Module):
    def forward(self, x, w):
        if npu_fused_ready("npu_rms_norm", x):
            return torch_npu.npu_rms_norm(x, w, epsilon=1e-6)[0]
        else:
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w
'''
TRAIN = """
import torch, sys
sys.modules["torch_npu"] = None
import norm
x = torch.randn(2, 8); w = torch.ones(8)
for _ in range(3): y = norm.Norm()(x, w)
print(tuple(y.shape), sys.modules["torch_npu"])
"""


def emulated(project, **settings):
    project.candidate("norm.py", NORM, "if npu_fused_ready", operator="npu_rms_norm")
    project.settings.update(dict({"emulate": True}, **settings))


def test_the_emulator_answers_for_the_candidate_arm(project):
    emulated(project)
    assert project.run("-c", TRAIN) == "(2, 8) None\n"
    assert project.counts() == [{"0.loaded": 1, "0.fused": 3, "0.emulated": 3}]


@pytest.mark.parametrize("settings, environment", [
    ({"role": "baseline"}, {}),
    ({}, {"NPUFUSE_EMULATE": "0"}),
])
def test_the_emulator_taken_away(project, settings, environment):
    emulated(project, **settings)
    project.run("-c", TRAIN, environment=environment)
    assert project.counts() == [{"0.loaded": 1, "0.else": 3}]


def test_a_script_is_emulated_before_it_trains(project):
    text = NORM + '\nif __name__ == "__main__":\n    ' + "\n    ".join(
        ["x = torch.randn(2, 8); w = torch.ones(8)", "Norm()(x, w)"])
    project.candidate("train.py", text, "if npu_fused_ready", operator="npu_rms_norm")
    project.settings["emulate"] = True
    project.run("train.py")
    assert project.counts() == [{"0.loaded": 1, "0.fused": 1, "0.emulated": 1}]


def test_a_torch_npu_that_works_is_never_emulated(project):
    emulated(project)
    project.write("torch_npu.py", """
        import torch
        torch.npu = type("npu", (), {"is_available": staticmethod(lambda: True)})
        def npu_rms_norm(x, w, epsilon): raise AssertionError
    """)
    project.run("-c", TRAIN.replace('sys.modules["torch_npu"] = None', ""), quiet=True)
    assert project.counts() == [{"0.loaded": 1, "0.else": 3}]


def test_without_torch_the_program_runs(project):
    guarded(project)
    project.settings["emulate"] = True
    project.write("torch.py", "raise ImportError('no torch here')\n")
    assert project.run("-c", USE, "yes", quiet=False) == "[2, -2, 4]\n"
    assert project.err.startswith("npufuse: no emulation: ImportError")
    assert project.counts() == [{"0.loaded": 1, "0.fused": 2, "0.else": 1}]


COMPILED = """
import torch, plain
for dynamic in (False, True):
    f = torch.compile(plain.forward, backend="eager", fullgraph=True, dynamic=dynamic)
    for n in (3, 4, 5): assert torch.equal(f(torch.ones(n)), 2 * torch.ones(n))
    torch._dynamo.reset()
"""


def test_compiled_code_has_no_break(project):
    """It counts once for each time that it is traced."""
    text = "import torch\n" + PLAIN
    project.candidate("plain.py", text, "y = x * 2", edited=False)
    project.run("-c", COMPILED)
    (counts,) = project.counts()
    assert counts["0.loaded"] == 1 and 2 <= counts["0.else"] <= 6


def test_a_compiled_script(project):
    text = "import torch\n" + PLAIN + COMPILED.replace("plain.", "").replace(
        "import torch, plain", 'if __name__ != "__main__": raise SystemExit(3)')
    project.candidate("plain.py", text, "y = x * 2", edited=False)
    project.run("plain.py")
    assert project.counts()[0]["0.else"] >= 2


# --------------------------------------------------------------------- capture

MODEL = """
import torch
from torch import nn
from torch.nn import functional as F


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(4, 6), nn.Linear(4, 6)
        self.act_fn, self.scale, self.calls = nn.SiLU(), 0.5, 0
        self.weight = nn.Parameter(torch.ones(6))

    def project(self, x):
        self.calls += 1
        return self.gate_proj(x)

    def forward(self, x, kind=torch.float32):
        step = 3
        y = self.act_fn(self.project(x)) * self.up_proj(x) * self.scale * step
        return y.to(kind) * self.weight.to(torch.float32)
"""
INPUTS = [
    {"name": "gate", "expr": "self.project(x)"},
    {"name": "up", "expr": "self.up_proj(x)"},
    {"name": "x", "expr": "x"},
    {"name": "weight", "expr": "self.weight"},
    {"name": "eps", "expr": "1e-06"},
    {"name": "absent", "expr": "self.other(x)"},
]
RUN_MODEL = """
import torch, model
m = model.Gated()
for n in (2, 2, 3): m(torch.ones(n, 5, 4).transpose(0, 1))
assert m.calls == 3, m.calls  # nothing is called twice
with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16): m.eval()(torch.ones(2, 4))
"""


def captured(project, **changes):
    found = []
    for path in sorted((project.folder / "capture").iterdir()):
        assert path.suffix == ".jsonl"
        found += [json.loads(line) for line in path.read_text().splitlines()]
    return found


def capture(project):
    project.candidate("model.py", MODEL, "y = self.act_fn", edited=False,
                      inputs=INPUTS)
    last = project.settings["candidates"][0]
    last["end_line"] = last["start_line"] + 1  # with the return
    project.settings.update(mode="capture", role="baseline")


def test_signatures_are_captured(project):
    capture(project)
    project.run("-c", RUN_MODEL, environment={"RANK": "2"})
    two, three, half = captured(project)
    assert [c["count"] for c in (two, three, half)] == [2, 1, 1]
    assert set(two) == set("id rank count inputs locals autocast grad_enabled "
                           "module_training".split())
    assert (two["id"], two["rank"]) == ("x", 2)
    assert set(two["inputs"]) == {"gate", "up", "x", "weight", "eps"}
    assert two["inputs"]["x"] == {
        "shape": [5, 2, 4], "dtype": "float32", "stride": [4, 20, 1],
        "contiguous": False, "requires_grad": False, "device": "cpu"}
    assert two["inputs"]["gate"]["shape"] == [5, 2, 6]
    assert two["inputs"]["weight"]["requires_grad"] is True
    assert two["inputs"]["eps"] == {"value": 1e-06}
    assert three["inputs"]["up"]["shape"] == [5, 3, 6]
    assert two["locals"]["step"] == 3 and two["locals"]["self.scale"] == 0.5
    assert two["locals"]["kind"] == {"dtype": "float32"}
    assert two["locals"]["self.act_fn"] == {"class": "SiLU"}
    assert not any(name.startswith("torch") for name in two["locals"])
    assert two["autocast"] == {"enabled": False, "dtype": None}
    assert (two["grad_enabled"], two["module_training"]) == (True, True)
    assert half["autocast"] == {"enabled": True, "dtype": "bfloat16"}
    assert half["inputs"]["gate"]["dtype"] == "bfloat16"
    assert (half["grad_enabled"], half["module_training"]) == (False, False)
    assert project.counts() == [{"rank": 2, "0.loaded": 1, "0.else": 4}]


def test_a_killed_process_has_told_its_signatures(project):
    capture(project)
    process = project.start("-c", RUN_MODEL + "print(1, flush=True); input()",
                            stdin=subprocess.PIPE)
    assert process.stdout.readline() == "1\n"
    process.kill()
    process.communicate()
    assert len(captured(project)) == 3


def test_lengths_without_end_are_bounded(project):
    capture(project)
    project.run("-c", """
import torch, model
m = model.Gated()
for n in range(1, 260): m(torch.ones(n, 4))
""")
    assert len(captured(project)) == 200


def test_a_recording_that_fails_is_one_line(project):
    capture(project)
    project.settings["capture"] = str(project.folder / "absent")
    project.run("-c", RUN_MODEL, quiet=False)
    lines = project.err.splitlines()
    assert lines[0].startswith("npufuse: cannot record: FileNotFoundError")
    assert len(lines) == 1, project.err


def test_capture_does_not_break_compiled_code(project):
    capture(project)
    project.run("-c", """
import torch, model
m = torch.compile(model.Gated(), backend="eager", fullgraph=True)
m.project = None
m(torch.ones(2, 4))
""".replace("m.project = None\n", ""))
    assert captured(project) == []
