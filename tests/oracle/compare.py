#!/usr/bin/env python3
"""Compares our syntax trees with those of CPython, node by node.

    compare.py [options] PATH...          files, or folders with their .py files
    compare.py --package torch            an installed package (not imported)
    compare.py --stdlib                   the standard library with its tests
    compare.py --pyodide DIR PATH...      with CPython 3.14 under node

Kinds, fields, positions, constants, operators and contexts must be equal. A
file that CPython rejects must be rejected by us too. The interpreter of this
script is the reference, or CPython 3.14 where --pyodide names a folder with
the npm package of that name (see run.py). Positions inside f-strings are
compared with 3.12 and later only; before they were wrong.
"""
import argparse
import ast
import collections
import importlib.util
import multiprocessing
import re
import subprocess
import sys
import sysconfig
import tempfile
import unicodedata
import warnings
from pathlib import Path

import canon

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ASTDUMP = ROOT / "build" / "dev" / "tests" / "oracle" / "astdump"
FSTRING_POSITIONS = sys.version_info >= (3, 12)


# --- which files -----------------------------------------------------------

def files_below(path):
    path = Path(path)
    if path.is_dir():
        return sorted(p for p in path.rglob("*.py") if p.is_file())
    return [path]


def package_folder(name):
    """The folder of an installed package, found without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin)


def stdlib_files():
    folder = Path(sysconfig.get_paths()["stdlib"])
    return [path for path in files_below(folder)
            if "site-packages" not in path.parts]


# --- what counts as equal --------------------------------------------------

NUMBER = re.compile(r" (int|float|complex)=(\S+)$")
NAMED = re.compile(r"\\\\N\{([^}]*)\}")


def evaluate(match):
    value = ast.literal_eval(match[2])
    if type(value).__name__ != match[1]:
        return match[0]
    return canon.number(value)


def look_up(match):
    try:
        return canon.quoted(unicodedata.lookup(match[1]))[1:-1]
    except KeyError:
        return match[0]


def normal_line(line):
    """Our line as CPython would have it: numbers evaluated, names in NFKC,
    the names of characters looked up."""
    text = line.decode("utf-8", "surrogatepass")
    if text.endswith(" named"):
        text = NAMED.sub(look_up, text[:-len(" named")])
    elif " str=" not in text:
        text = NUMBER.sub(evaluate, text)
        text = unicodedata.normalize("NFKC", text)
    return text.encode("utf-8", "surrogatepass")


def first_difference(ours, theirs):
    """None, or the first lines that differ."""
    if ours == theirs:
        return None
    left, right = ours.split(b"\n"), theirs.split(b"\n")
    for number, pair in enumerate(zip(left, right), 1):
        if pair[0] != pair[1] and normal_line(pair[0]) != pair[1]:
            return (f"line {number} of the dump\n"
                    f"      ours   {pair[0].decode('utf-8', 'replace')}\n"
                    f"      theirs {pair[1].decode('utf-8', 'replace')}")
    if len(left) != len(right):
        return f"{len(left)} lines of ours, {len(right)} of theirs"
    return None


# --- frames ----------------------------------------------------------------

def read_frames(stream):
    """(status, path, content) of astdump's or node.mjs's output."""
    while True:
        head = stream.readline()
        if not head:
            return
        status, size, path = head.decode().rstrip("\n").split(" ", 2)
        yield status, path, stream.read(int(size))


def run_frames(command, paths):
    """The frames that `command` writes for the list of paths."""
    with tempfile.TemporaryFile() as listing, \
            tempfile.TemporaryFile() as errors:
        listing.write("".join(f"{path}\n" for path in paths).encode())
        listing.seek(0)
        child = subprocess.Popen(command, stdin=listing, stderr=errors,
                                 stdout=subprocess.PIPE)
        yield from read_frames(child.stdout)
        if child.wait() != 0:
            errors.seek(0)
            text = errors.read(1000).decode("utf-8", "replace")
            raise RuntimeError(f"{command[0]} ended with "
                               f"{child.returncode}: {text}")


def our_frames(astdump, paths, fstring_positions):
    command = [str(astdump)]
    if not fstring_positions:
        command.append("--no-fstring-positions")
    return run_frames(command, paths)


def python_frames(paths):
    """The same frames from the running interpreter."""
    warnings.simplefilter("ignore")
    for path in paths:
        tree = canon.parse(Path(path).read_bytes())
        if isinstance(tree, str):
            yield "fault", str(path), tree.encode("utf-8", "replace")
        else:
            yield "ok", str(path), canon.dump(tree, FSTRING_POSITIONS)


def pyodide_frames(folder, paths):
    return run_frames(["node", str(HERE / "pyodide.mjs"), str(folder)], paths)


# --- comparing -------------------------------------------------------------

# What became of a file.
EQUAL, REJECTED, DIFFERENT = "equal", "rejected", "different"
TOO_LENIENT, TOO_STRICT = "accepted by us only", "rejected by us only"
GOOD = (EQUAL, REJECTED)
# CPython 3.14 checks the names of `from __future__ import` while parsing; what
# a name means is no business of a parser.
# Nor are the names of characters: we keep \\N{NAME} as written.
NOT_GRAMMAR = re.compile("future feature|not a chance|"
                         "unknown Unicode character name")


def verdict(ours, theirs):
    """(what became of the file, details)"""
    status, _, content = ours
    if theirs[0] != "ok":
        reason = theirs[2].decode("utf-8", "replace")
        if NOT_GRAMMAR.search(reason):
            return REJECTED, reason
        return (TOO_LENIENT if status == "ok" else REJECTED), reason
    if status != "ok":
        return TOO_STRICT, content.split(b"\n", 1)[0].decode("utf-8", "replace")
    found = first_difference(content, theirs[2])
    return (DIFFERENT, found) if found else (EQUAL, "")


def compare_chunk(job):
    """[(path, verdict, details)] of some files."""
    astdump, pyodide, paths = job
    if pyodide:
        pairs = zip(our_frames(astdump, paths, True),
                    pyodide_frames(pyodide, paths))
    else:
        pairs = zip(our_frames(astdump, paths, FSTRING_POSITIONS),
                    python_frames(paths))
    return [(ours[1], *verdict(ours, theirs)) for ours, theirs in pairs]


def chunks(paths, size):
    return [paths[i:i + size] for i in range(0, len(paths), size)]


def compare_files(paths, astdump=ASTDUMP, pyodide=None, jobs=2):
    """[(path, verdict, details)] in the order of `paths`."""
    # Starting CPython under node takes a second, so its chunks are large.
    size = max(1, -(-len(paths) // jobs)) if pyodide else 50
    work = [(astdump, pyodide, chunk)
            for chunk in chunks([str(path) for path in paths], size)]
    if jobs == 1 or len(work) == 1:
        results = map(compare_chunk, work)
        return [row for rows in results for row in rows]
    with multiprocessing.Pool(jobs) as pool:
        return [row for rows in pool.imap(compare_chunk, work) for row in rows]


def report(name, rows, show=20):
    """Prints the counts and what is wrong; True if nothing is."""
    counts = collections.Counter(row[1] for row in rows)
    text = ", ".join(f"{counts[key]} {key}" for key in (
        EQUAL, REJECTED, DIFFERENT, TOO_LENIENT, TOO_STRICT)
        if counts[key] or key == EQUAL)
    print(f"{name}: {len(rows)} files compared: {text}", flush=True)
    wrong = [row for row in rows if row[1] not in GOOD]
    for path, what, details in wrong[:show]:
        print(f"  {path}: {what}\n    {details}")
    if len(wrong) > show:
        print(f"  and {len(wrong) - show} more")
    return not wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--stdlib", action="store_true")
    parser.add_argument("--pyodide", help="folder of node_modules/pyodide")
    parser.add_argument("--astdump", default=ASTDUMP)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    corpora = []
    for name in options.package:
        folder = package_folder(name)
        if folder is None:
            print(f"{name} is not installed")
            continue
        corpora.append((name, files_below(folder)))
    if options.stdlib:
        corpora.append(("standard library", stdlib_files()))
    for path in options.paths:
        corpora.append((path, files_below(path)))
    good = True
    for name, paths in corpora:
        rows = compare_files(paths, options.astdump, options.pyodide,
                             options.jobs)
        good = report(name, rows, options.show) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
