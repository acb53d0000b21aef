"""How often the branches of the candidates ran, told by a file.

One process writes one file, ``<pid>-<ns>.txt``, mapped into memory: each count
is in the file the moment it is made, so a process that is killed has told it.
Every line is ``<key> <20 digits>``::

    npufuse 1         the version of this format
    rank R            of the process in the job
    0.loaded          the module of candidate 0 was run from the tree
    0.elsewhere       ... was run from the original root instead
    0.fused           the branch with the operator ran
    0.else            the original statements ran
    0.emulated        the operator was emulated
"""
import mmap
import os
import threading
import time

KEYS = ("loaded", "elsewhere", "fused", "else", "emulated")
DIGITS = 20
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "LOCAL_RANK")


def rank():
    """The rank of this process by its environment, 0 where none is told."""
    for name in RANKS:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return 0


class Counts:
    """The counts of one process. A forked child starts again from zero, with
    a file of its own, made when it counts for the first time."""

    def __init__(self, folder, candidates):
        self.folder = folder
        self.keys = ["npufuse", "rank"]
        self.keys += ["%d.%s" % (i, k) for i in range(candidates) for k in KEYS]
        self.branches = {
            self.slot(i, k) for i in range(candidates) for k in ("fused", "else")
        }
        self.clear()
        os.register_at_fork(after_in_child=self.clear)

    def clear(self):
        self.map = None
        self.ranked = False
        self.values = [0] * len(self.keys)
        self.lock = threading.Lock()

    def slot(self, candidate, key):
        """The number by which add() knows a line."""
        return 2 + candidate * len(KEYS) + KEYS.index(key)

    def open(self):
        lines = ["%s %0*d\n" % (k, DIGITS, 0) for k in self.keys]
        self.places, end = [], 0
        for line in lines:
            end += len(line)
            self.places.append(end - DIGITS - 1)
        name = "%d-%d.txt" % (os.getpid(), time.time_ns())
        path = os.path.join(self.folder, name)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            os.write(descriptor, "".join(lines).encode())
            self.map = mmap.mmap(descriptor, end)
        finally:
            os.close(descriptor)
        self.write(0, 1)
        self.write(1, rank())

    def write(self, slot, value):
        start = self.places[slot]
        self.map[start : start + DIGITS] = b"%020d" % value

    def add(self, slot):
        with self.lock:
            if self.map is None:
                self.open()
            if not self.ranked and slot in self.branches:
                # Launchers by function set RANK after the modules are loaded.
                self.ranked = True
                self.write(1, rank())
            self.values[slot] += 1
            self.write(slot, self.values[slot])
