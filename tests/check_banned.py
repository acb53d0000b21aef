#!/usr/bin/env python3
"""What must not be written: unsafe calls of C, memory and exits outside
their layers, and in any file of the repository paths of one machine, names
of package registries and open ends."""
import re
import sys

from ctext import show, sources, strip, tracked_files

# (pattern, folders of src where it is allowed, what to do)
CALLS = [
    (r"strcpy|strcat|strncpy|strncat|sprintf|vsprintf|gets", (),
     "use Buf or arena_printf"),
    (r"strtok", (), "it writes to its input; split a Str"),
    (r"system|popen", (), "no shell: start the program itself"),
    (r"atoi|atol|atof", (), "they hide errors: use strtol, strtod"),
    (r"malloc|calloc|realloc|free|strdup|strndup", ("base",),
     "memory comes from an Arena or a Buf"),
    (r"exit|_exit|_Exit|abort", ("base", "cli"),
     "report through Err, or BUG for mistakes of ours"),
]


def word(*parts):
    """Joined here, so that this file does not hold what it looks for."""
    return "".join(parts)


# (pattern, prefixes of files where it is allowed, what it is)
WORDS = [
    (word(r"(?<![\w.])/wo", r"rk/"), (), "a path of one machine"),
    (word(r"(?<![\w.])/ro", r"ot/"), (), "a path of one machine"),
    (word(r"\.\./sha", r"red\b"), (), "a folder outside the repository"),
    (word(r"(?<![\w.])/t", r"mp/"), ("tests/", ".ci/", "bench/"),
     "a path of one machine"),
    (word(r"py", r"pi\.org|python", r"hosted\.org|npm", r"js\.org|deb\.",
          r"debian\.org|crates", r"\.io"), (), "a registry's host"),
    (word(r"\b(?:TO", r"DO|FIX", r"ME|X", r"XX)\b"), (),
     "an open end: write the case that shows it"),
]


def check_calls(path):
    code = strip(path.read_text(encoding="utf-8"))
    folder = path.parent.name
    for pattern, allowed, advice in CALLS:
        if folder in allowed:
            continue
        # `.free(` and `->free(` are fields, not the function.
        for match in re.finditer(rf"(?<![\w.>])({pattern})\s*\(", code):
            line = code.count("\n", 0, match.start()) + 1
            yield (f"{show(path)}:{line}: {match.group(1)} is banned here: "
                   f"{advice}")


def check_words(path):
    data = path.read_bytes()
    if b"\0" in data[:4096]:
        return
    name = show(path)
    for number, line in enumerate(
            data.decode("utf-8", "replace").splitlines(), 1):
        for pattern, allowed, what in WORDS:
            match = re.search(pattern, line)
            if match and not name.startswith(allowed or ("\0",)):
                yield f"{name}:{number}: {what}: '{match.group(0)}'"


def main():
    problems = []
    files = tracked_files()
    for path in files:
        problems += check_words(path)
    for path in sources("src"):
        problems += check_calls(path)
    for problem in problems:
        print(problem)
    bad = {problem.split(":")[0] for problem in problems}
    print(f"{len(files) - len(bad)} passed, {len(bad)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
