"""npufuse: finds PyTorch code that a fused Ascend NPU operator can replace.

The command is a program in C; this package carries its rules and the small
runtime that they import. `npufuse.find_npufuse_bin()` tells where the command
is, `python -m npufuse` runs it.
"""
from npufuse._find import find_npufuse_bin

__all__ = ["__version__", "find_npufuse_bin"]


def __getattr__(name):
    # On demand: importing a rule's names should not read package metadata.
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version
        try:
            return version("npufuse")
        except PackageNotFoundError:  # a source tree that is not installed
            return "0+unknown"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
