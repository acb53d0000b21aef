"""Starts npufuse in the Python processes of a run that it watches.

This folder stands first in PYTHONPATH of such a run: NPUFUSE_ARM names what
to watch, NPUFUSE_COLLECT which steps to profile. With NPUFUSE_LOAD alone the package is only made known, for
``python -m npufuse...`` in a Python where it is not installed. Whatever goes wrong here
is one line on stderr; the user's own sitecustomize runs as it would have.
"""
import os
import sys


def load():
    """Loads the package beside this folder, whatever else is installed."""
    import importlib.util

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if "npufuse" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "npufuse",
            os.path.join(package, "__init__.py"),
            submodule_search_locations=[package],
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules["npufuse"] = module
        spec.loader.exec_module(module)


def start(settings):
    load()
    from npufuse import arm

    arm.start(settings)


def collect(settings):
    load()
    from npufuse import profile_collect

    profile_collect.start(settings)


def chain():
    """Runs the sitecustomize that this one hides, under its own name."""
    import importlib.machinery
    import importlib.util

    here = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))
    places = [p for p in sys.path if os.path.realpath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", places)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def attempt(what, settings):
    try:
        what(settings)
    except Exception as error:
        sys.stderr.write(
            "npufuse: not watching this process: %s: %s\n"
            % (type(error).__name__, str(error).replace("\n", " "))
        )


if os.environ.get("NPUFUSE_ARM"):
    attempt(start, os.environ["NPUFUSE_ARM"])
elif os.environ.get("NPUFUSE_COLLECT"):
    attempt(collect, os.environ["NPUFUSE_COLLECT"])
elif os.environ.get("NPUFUSE_LOAD"):
    load()
chain()
