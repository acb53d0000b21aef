"""What runs inside every Python process of a watched run.

Started by ``_site/sitecustomize.py`` with the path of arm.json. It counts, in
exactly the files of the candidates, which branch ran (counts.py), or records
what the original statements were given (capture.py). Where the run is on a
machine without an NPU, and only for the candidate's arm, the module's device
predicate is answered by the emulator.

Source is read where Python reads it: a loader's get_code() for imports and
``python -m``, runpy for what multiprocessing spawns, and the audit event
"cpython.run_file" for ``python train.py``. No byte code is written for a
candidate's file. A fault of ours is one line on stderr; the user's process
goes on without us.
"""
import atexit
import importlib.machinery
import json
import os
import runpy
import sys

from npufuse.counts import Counts, rank

SCHEMA = 1
_arm = None  # of this process, set by start()


def fault(text):
    """One line on stderr; never raises."""
    try:
        sys.stderr.write("npufuse: %s\n" % str(text).replace("\n", " "))
    except Exception:
        pass


def describe(error):
    return "%s: %s" % (type(error).__name__, error)


class Arm:
    """arm.json, and what was found of it in this process."""

    def __init__(self, settings):
        if settings.get("schema") != SCHEMA:
            raise ValueError("arm.json has schema %r" % settings.get("schema"))
        self.capturing = settings["mode"] == "capture"
        self.capture_folder = settings.get("capture") or ""
        self.ops = settings.get("ops") or []
        self.candidates = settings["candidates"]
        self.emulate = (
            bool(settings.get("emulate"))
            and settings["role"] == "candidate"
            and os.environ.get("NPUFUSE_EMULATE") != "0"
        )
        self.counts = Counts(settings["counts"], len(self.candidates))
        self.inside = self.by_file(settings["tree"])
        self.outside = self.by_file(settings["root"])
        self.names = {os.path.basename(path) for path in self.inside}
        self.recorder = None

    def by_file(self, folder):
        """{real path: [number of a candidate, ...]} of the files in a folder."""
        found = {}
        for number, candidate in enumerate(self.candidates):
            path = os.path.realpath(os.path.join(folder, candidate["file"]))
            found.setdefault(path, []).append(number)
        return found

    def find(self, path):
        """(real path, candidates inside, candidates elsewhere) of a file."""
        if os.path.basename(path) not in self.names:
            return path, (), ()
        real = os.path.realpath(path)
        inside = self.inside.get(real, ())
        return real, inside, () if inside else self.outside.get(real, ())

    def tree_of(self, path, numbers):
        """The syntax tree of a candidate's file with our statements in it."""
        import ast

        from npufuse import instrument

        with open(path, "rb") as file:
            source = file.read()
        tree = ast.parse(source, path)
        name = instrument.free_name(source.decode("latin-1"))
        users, answered = [], {}
        for number in numbers:
            candidate = self.candidates[number]
            try:
                user = instrument.top_level(tree, candidate["start_line"])
                self.instrument(tree, number, name)
            except instrument.NotFound as error:
                fault("'%s': not counted: %s" % (candidate["file"], error))
                continue
            users.append(user)
            place = self.answered_after(tree, candidate)
            if place is not None:
                answered.setdefault(place, []).append(number)
        if users:
            instrument.insert_runtime(tree, users, answered, name)
        return tree

    def instrument(self, tree, number, name):
        from npufuse import instrument

        candidate = self.candidates[number]
        if self.capturing:
            from npufuse import capture

            if self.recorder is None:
                self.recorder = capture.Recorder(self.capture_folder)
                atexit.register(record, "write")
            self.recorder.instrument(tree, number, candidate, name)
        keys = ("fused", "else")
        slots = {k: self.counts.slot(number, k) for k in keys}
        instrument.add_counts(tree, candidate, slots, name)

    def answered_after(self, tree, candidate):
        from npufuse import instrument

        emulated = candidate.get("module") == "torch_npu"
        if not (self.emulate and candidate.get("edited") and emulated):
            return None
        return instrument.binding(tree, candidate.get("predicate") or "")

    def note(self, numbers, key):
        for number in numbers:
            count(self.counts.slot(number, key))

    def code_of(self, path, make):
        """Our code object for a candidate's file, None for any other.

        `make` turns a syntax tree into a code object.
        """
        try:
            real, inside, elsewhere = self.find(path)
            self.note(elsewhere, "elsewhere")
            if not inside:
                return None
            tree = self.tree_of(real, inside)
            code = make(tree)
            self.note(inside, "loaded")
            return code
        except SyntaxError:
            return None  # Python says it better
        except Exception as error:
            fault("'%s': not counted: %s" % (path, describe(error)))
            return None


# ------------------------------------------------- names that our code uses


def compiling():
    """Whether torch.compile reads the caller. arrive() puts torch's own
    function here, which it folds to True."""
    torch = sys.modules.get("torch")
    asked = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    return asked is not None and asked()


def arrive():
    """Runs when a candidate's module reaches its first candidate."""
    torch = sys.modules.get("torch")
    asked = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    if asked is not None:
        globals()["compiling"] = asked


_broken = False  # counting failed once: said, and left alone
_deaf = False  # recording failed once
_running = None  # the candidate whose fused branch was entered last


def count(slot):
    global _broken, _running
    try:
        _arm.counts.add(slot)
        _running = slot
    except Exception as error:
        if not _broken:
            _broken = True
            fault("cannot count: " + describe(error))


def traced(slot):
    """Counts a branch that is compiled, once for each time it is traced."""
    count(slot)
    return True


# torch.compile calls it while it traces and takes its value as a constant.
traced._dynamo_marked_constant = True


def answer(numbers):
    """Lets the emulator answer for the candidates of the calling module."""
    try:
        from npufuse import arm_emulate

        arm_emulate.answer(_arm, numbers, sys._getframe(1).f_globals)
    except Exception as error:
        fault("no emulation: " + describe(error))


def record(method, *arguments):
    """Calls the recorder; its first fault is said, and ends the recording."""
    global _deaf
    if _deaf:
        return
    try:
        getattr(_arm.recorder, method)(*arguments)
    except Exception as error:
        _deaf = True
        fault("cannot record: " + describe(error))


def enter(number):
    record("enter", number, sys._getframe(1))


def value(number, name, found):
    """`found`, noted as an input of a candidate."""
    if compiling():
        return found
    record("value", number, name, found, sys._getframe(1))
    return found


# ----------------------------------------------------------- where code is read


def watch_imports(arm):
    loader = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self, fullname):
        path = getattr(self, "path", "")
        code = arm.code_of(path, lambda tree: self.source_to_code(tree, path))
        return original(self, fullname) if code is None else code

    loader.get_code = get_code


def compiled(path):
    return lambda tree: compile(tree, path, "exec", dont_inherit=True)


def watch_runpy(arm):
    """multiprocessing runs the main script again in what it spawns."""
    original = runpy._get_code_from_file

    def get_code_from_file(*args):
        path = os.fspath(args[-1])
        code = arm.code_of(path, compiled(path))
        if code is None:
            return original(*args)
        # Until Python 3.11: (run_name, fname) and a pair as the result.
        return code if len(args) == 1 else (code, path)

    runpy._get_code_from_file = get_code_from_file


def watch_script(arm):
    """``python train.py``: the script is run from the audit hook, in
    __main__, and the process ends as it would have."""
    script = sys.argv[0] if getattr(sys, "argv", None) else ""
    if not any(arm.find(script)[1:]):
        return
    state = {"seen": False}

    def hook(event, args):
        if event == "cpython.run_file" and not state["seen"]:
            state["seen"] = True
            path = args[0]
            code = arm.code_of(path, compiled(path))
            if code is not None:
                run_script(path, code)

    hook.__cantrace__ = True  # debuggers and coverage see the script
    sys.addaudithook(hook)


def run_script(path, code):
    """Runs code as the main script; always leaves by SystemExit."""
    names = sys.modules["__main__"].__dict__
    names["__file__"], names["__cached__"] = path, None
    names["__loader__"] = importlib.machinery.SourceFileLoader("__main__", path)
    try:
        exec(code, names)
    except SystemExit:
        raise
    except BaseException as error:
        raise SystemExit(show_error(error)) from None
    raise SystemExit(0)


def show_error(error):
    """Prints an error as Python does, without our frames; returns its code."""
    trace = error.__traceback__.tb_next
    kind = type(error)
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    sys.last_exc = error
    try:
        sys.excepthook(kind, error.with_traceback(trace), trace)
    except BaseException as other:
        sys.__excepthook__(type(other), other, other.__traceback__)
    return 130 if kind is KeyboardInterrupt else 1


def start(path):
    """Watches this process by the file arm.json at `path`."""
    global _arm
    with open(path, encoding="utf-8") as file:
        arm = Arm(json.load(file))
    _arm = arm
    watch_imports(arm)
    watch_runpy(arm)
    watch_script(arm)
