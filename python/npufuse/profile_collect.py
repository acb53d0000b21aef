"""Profiles a few steps of the user's training, from inside its process.

Started by ``_site/sitecustomize.py`` with the path of collect.json:

    {"schema": 1, "folder": "/abs", "steps": 3, "skip": 2}

A step ends where the first optimizer that steps has stepped. After `skip` steps one
more warms the profiler up, then `steps` are recorded: by torch_npu's profiler where
the process has loaded torch_npu (Level1, PipeUtilization, shapes, stacks, modules), else
by torch's own on the CPU. Only rank 0 is recorded. What comes of it is told in
`folder`/collected-<pid>.json:

    {"schema": 1, "by": "torch_npu"|"torch", "first": N, "last": N, "optimizer": NAME,
     "torch": VERSION, "torch_npu": VERSION or "", "fault": "" or a sentence}

A fault of ours is one line on stderr; the user's process goes on without us.
"""
import atexit
import importlib.abc
import importlib.machinery
import json
import os
import sys

from npufuse.counts import rank

SCHEMA = 1
HOOKED = "torch.optim.optimizer"


def fault(error):
    """One line on stderr; never raises."""
    try:
        text = "%s: %s" % (type(error).__name__, error)
        sys.stderr.write("npufuse: not profiling: %s\n" % text.replace("\n", " "))
        return text
    except Exception:
        return "a fault"


class Collector:
    """Counts the steps of one process and profiles some of them."""

    def __init__(self, settings):
        self.folder = settings["folder"]
        self.count, self.skip = int(settings["steps"]), int(settings["skip"])
        self.seen = 0  # steps that have ended
        self.optimizer = None  # the first one that stepped
        self.profiler = None
        self.by = ""
        self.is_over = False

    def stepped(self, optimizer):
        """Called after each step of any optimizer."""
        if self.is_over:
            return
        if self.optimizer is None:
            self.optimizer = optimizer
        if optimizer is not self.optimizer:
            return
        self.seen += 1
        try:
            self.go_on()
        except Exception as error:
            self.end(fault(error))

    def go_on(self):
        if self.profiler is not None:
            self.profiler.step()
            if self.seen >= self.skip + 1 + self.count:
                self.end("")
        elif self.seen >= self.skip:
            self.profiler = self.make()
            self.profiler.start()

    def make(self):
        import torch

        npu = sys.modules.get("torch_npu")
        self.by = "torch" if npu is None else "torch_npu"
        os.makedirs(self.folder, exist_ok=True)
        return cpu_profiler(torch, self) if npu is None else npu_profiler(npu, self)

    def end(self, reason):
        """Stops the profiler and tells what came of it; once."""
        if self.is_over:
            return
        self.is_over = True
        try:
            if self.profiler is not None:
                self.profiler.stop()
        except Exception as error:
            reason = reason or fault(error)
        self.tell(reason)

    def ended_early(self):
        """At the end of the process."""
        if self.is_over or not self.seen:
            return
        needed = self.skip + 1 + self.count
        self.end("the command made %d steps, of which %d are needed: %d are passed over, one "
                 "warms the profiler up" % (self.seen, needed, self.skip))

    def tell(self, reason):
        first = self.skip + 2  # counted from 1
        told = {"schema": SCHEMA, "by": self.by, "first": first, "last": first + self.count - 1,
                "optimizer": type(self.optimizer).__name__, "torch": version("torch"),
                "torch_npu": version("torch_npu"), "fault": reason}
        path = os.path.join(self.folder, "collected-%d.json" % os.getpid())
        try:
            with open(path + ".part", "w", encoding="utf-8") as file:
                json.dump(told, file)
            os.rename(path + ".part", path)
        except OSError as error:
            fault(error)


def version(name):
    return str(getattr(sys.modules.get(name), "__version__", ""))


def npu_profiler(npu, collector):
    """torch_npu's profiler; it writes a *_ascend_pt folder by itself."""
    own = npu.profiler
    config = own._ExperimentalConfig(
        profiler_level=own.ProfilerLevel.Level1,
        aic_metrics=own.AiCMetrics.PipeUtilization,
        data_simplification=False,
    )
    return own.profile(
        activities=[own.ProfilerActivity.CPU, own.ProfilerActivity.NPU],
        schedule=own.schedule(wait=0, warmup=1, active=collector.count, repeat=1),
        on_trace_ready=own.tensorboard_trace_handler(collector.folder),
        record_shapes=True,
        with_stack=True,
        with_modules=True,
        experimental_config=config,
    )


def cpu_profiler(torch, collector):
    """torch's profiler, for the operators of the host."""
    own = torch.profiler

    def ready(profiler):
        name = "host_%d_cpu" % os.getpid()
        folder = os.path.join(collector.folder, name)
        os.makedirs(folder, exist_ok=True)
        profiler.export_chrome_trace(os.path.join(folder, "trace_view.json"))

    return own.profile(
        activities=[own.ProfilerActivity.CPU],
        schedule=own.schedule(wait=0, warmup=1, active=collector.count, repeat=1),
        on_trace_ready=ready,
        record_shapes=True,
        with_stack=True,
        with_modules=True,
    )


def hook(module, collector):
    """Has every optimizer tell its steps."""
    def after(optimizer, _args, _kwargs):
        collector.stepped(optimizer)

    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is None:
        raise RuntimeError("this torch cannot tell when an optimizer steps; it takes 2.0 or later")
    register(after)


class Watcher(importlib.abc.MetaPathFinder):
    """Hooks torch.optim.optimizer when it is imported, then steps aside."""

    def __init__(self, collector):
        self.collector = collector

    def find_spec(self, name, path=None, target=None):
        if name != HOOKED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        run, collector = spec.loader.exec_module, self.collector

        def exec_module(module):
            run(module)
            try:
                hook(module, collector)
            except Exception as error:
                fault(error)

        spec.loader.exec_module = exec_module
        return spec


def start(path):
    """Profiles this process by the file collect.json at `path`."""
    with open(path, encoding="utf-8") as file:
        settings = json.load(file)
    if settings.get("schema") != SCHEMA:
        raise ValueError("collect.json has schema %r" % settings.get("schema"))
    if rank() != 0:
        return
    collector = Collector(settings)
    atexit.register(collector.ended_early)
    sys.meta_path.insert(0, Watcher(collector))
