"""npufuse profile --collect: a few steps of a training, profiled from outside.

torch_npu is played by a package that records how its profiler is called and leaves
the folder that the real one would. On the CPU the profiler is torch's own.
"""
import glob
import json
import os
import subprocess
import sys
import textwrap

import pytest
import test_profile_inputs as inputs

TRAIN = """
import sys, torch
{imports}
model = torch.nn.Linear(4, 4)
other = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = torch.optim.AdamW(model.parameters())
for step in range({steps}):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    other.step()
    print("step", step, flush=True)
"""

FAKE = """
import json, os, shutil
__version__ = "2.7.1"


class Named:
    def __init__(self, **given):
        self.__dict__.update(given)


class profiler:
    ProfilerActivity = Named(CPU="cpu", NPU="npu")
    ProfilerLevel = Named(Level1="Level1")
    AiCMetrics = Named(PipeUtilization="PipeUtilization")
    calls = []

    @staticmethod
    def _ExperimentalConfig(**given):
        return given

    @staticmethod
    def schedule(**given):
        return given

    @staticmethod
    def tensorboard_trace_handler(folder):
        def ready(prof):
            shutil.copytree({source!r}, os.path.join(folder, "h_1_ascend_pt"))
        return ready

    class profile:
        def __init__(self, **given):
            self.ready = given.pop("on_trace_ready")
            self.given, self.steps = given, 0
            self.calls = []

        def start(self):
            self.calls.append("start")

        def step(self):
            self.calls.append("step")
            self.steps += 1
            schedule = self.given["schedule"]
            if self.steps == schedule["warmup"] + schedule["active"]:
                self.ready(self)

        def stop(self):
            self.calls.append("stop")
            with open({log!r}, "w") as file:
                json.dump([self.given, self.calls], file)
"""

folder = inputs.folder


@pytest.fixture
def npu(tmp_path, folder):
    """A place with a torch_npu; returns (environment, log)."""
    packages, log = tmp_path / "packages", tmp_path / "log.json"
    (packages / "torch_npu").mkdir(parents=True)
    text = FAKE.replace("{source!r}", repr(str(folder))).replace("{log!r}", repr(str(log)))
    (packages / "torch_npu" / "__init__.py").write_text(text)
    return dict(os.environ, PYTHONPATH=str(packages)), log


def collect(tmp_path, env=None, steps=50, imports="", options=(), train=TRAIN):
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(train.format(steps=steps, imports=imports)))
    return subprocess.run(
        [inputs.NPUFUSE, "profile", "--format", "json", *options, "--collect",
         str(tmp_path / "out"), "--", sys.executable, str(script)],
        capture_output=True, text=True, env=env or dict(os.environ))


def test_collects_and_mines(tmp_path, npu):
    env, log = npu
    run = collect(tmp_path, env, imports="import torch_npu", steps=100000,
                  options=["--steps", "2", "--skip", "1"])
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert inputs.norms(told)[0]["count"] == 3
    given, calls = json.loads(log.read_text())
    assert calls == ["start", "step", "step", "step", "stop"]
    assert given["schedule"] == {"wait": 0, "warmup": 1, "active": 2, "repeat": 1}
    assert given["experimental_config"]["profiler_level"] == "Level1"
    assert given["experimental_config"]["aic_metrics"] == "PipeUtilization"
    assert given["record_shapes"] and given["with_stack"] and given["with_modules"]
    assert given["activities"] == ["cpu", "npu"]
    assert "steps 3 to 4 of rank 0, by torch_npu 2.7.1 (Level1" in run.stderr
    assert "a step being one of AdamW" in run.stderr
    assert "step 99999" not in run.stderr  # the command was ended once it had enough


def test_needs_enough_steps(tmp_path, npu):
    run = collect(tmp_path, npu[0], imports="import torch_npu", steps=3)
    assert run.returncode == 3 and not run.stdout
    assert "the command made 3 steps, of which 6 are needed" in run.stderr


def test_cpu_trace_is_no_profile_of_an_npu(tmp_path):
    run = collect(tmp_path, options=["--steps", "1", "--skip", "1"])
    assert run.returncode == 3 and not run.stdout
    assert "steps 3 to 3 of rank 0, by torch 2." in run.stderr
    assert "the command ran without an NPU" in run.stderr
    (trace,) = glob.glob(str(tmp_path / "out" / "*_cpu" / "trace_view.json"))
    with open(trace) as file:
        events = json.load(file)["traceEvents"]
    names = {event.get("name") for event in events}
    assert "aten::linear" in names and "nn.Module: Linear_0" in names
    assert any("train.py" in str(name) for name in names)
    steps = {n for n in names if str(n).startswith("Optimizer.step")}
    assert "Optimizer.step#AdamW.step" in steps


def test_other_ranks_are_left_alone(tmp_path, npu):
    env = dict(npu[0], RANK="1")
    run = collect(tmp_path, env, imports="import torch_npu", steps=8)
    assert run.returncode == 3 and "no optimizer of torch stepped" in run.stderr


def test_a_profiler_that_fails(tmp_path, npu):
    env, _ = npu
    run = collect(tmp_path, env, steps=12,
                  imports="import torch_npu\ndel torch_npu.profiler.schedule")
    assert run.returncode == 3 and "nothing was collected: AttributeError" in run.stderr


def test_usage(tmp_path):
    run = subprocess.run([inputs.NPUFUSE, "profile", "--collect", str(tmp_path / "o")],
                         capture_output=True, text=True)
    assert run.returncode == 2 and "takes the command behind '--'" in run.stderr
    (tmp_path / "o" / "x_ascend_pt").mkdir(parents=True)
    run = subprocess.run([inputs.NPUFUSE, "profile", "--collect", str(tmp_path / "o"), "--",
                          "true"], capture_output=True, text=True)
    assert run.returncode == 2 and "holds a profile already" in run.stderr
