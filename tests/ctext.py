"""C source as the static checks see it: files, code without comments and
strings, and the functions in it. A brace scanner, not a parser: it relies on
the formatting of this repository (a function's opening brace ends a line that
starts in column 0 or continues one that does)."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
_NAME = re.compile(r"(\w+)\s*\(")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof"}


def sources(*folders, suffixes=(".c", ".h")):
    """Files below the folders of the repository, sorted."""
    return sorted(path for folder in folders
                  for path in (ROOT / folder).rglob("*")
                  if path.suffix in suffixes)


def show(path):
    return Path(path).relative_to(ROOT).as_posix()


def strip(text):
    """Comments become blanks and literals empty ones; lines stay."""
    def blank(match):
        found = match.group(0)
        if found[0] == "/":
            return re.sub(r"[^\n]", " ", found)
        return found[0] + " " * (len(found) - 2) + found[0]
    return _TOKEN.sub(blank, text)


def strip_macros(text):
    """As `text` with preprocessor lines blanked."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


class Function:
    def __init__(self, path, name, line, length, parameters):
        self.path = path
        self.name = name
        self.line = line
        self.length = length  # from its first line to the closing brace
        self.parameters = parameters


def closing(text, start, opening="{", end="}"):
    """Offset of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == opening:
            depth += 1
        elif text[i] == end:
            depth -= 1
            if depth == 0:
                return i
    return len(text) - 1


def count_parameters(text):
    """`text` is what stands between the parentheses."""
    if text.strip() in ("", "void"):
        return 0
    depth = 0
    count = 1
    for char in text:
        depth += char in "([{"
        depth -= char in ")]}"
        count += char == "," and depth == 0
    return count


def functions(path):
    """The functions that a file defines, in order."""
    text = strip_macros(strip(path.read_text(encoding="utf-8")))
    found = []
    position = 0
    head_start = 0
    while position < len(text):
        char = text[position]
        if char in ";}":
            head_start = position + 1
        if char != "{":
            position += 1
            continue
        end = closing(text, position)
        function = parse_head(path, text, head_start, position, end)
        if function:
            found.append(function)
        position = end + 1
        head_start = position
    return found


def parse_head(path, text, start, brace, end):
    """The Function whose body is text[brace:end], or None if that is a type
    or a table."""
    head = text[start:brace]
    names = [match for match in _NAME.finditer(head)
             if match.group(1) not in KEYWORDS]
    if not names or "=" in head or not head.rstrip().endswith(")"):
        return None
    first = next((m for m in names if not m.group(1).isupper()), names[0])
    opening = start + first.end() - 1
    inside = text[opening + 1:closing(text, opening, "(", ")")]
    start += len(head) - len(head.lstrip())
    line = text.count("\n", 0, start) + 1
    last = text.count("\n", 0, end) + 1
    return Function(path, first.group(1), line, last - line + 1,
                    count_parameters(inside))


def tracked_files():
    """What belongs to the repository: what git tracks or would track."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], capture_output=True)
    if done.returncode == 0:
        names = done.stdout.decode().split("\0")
        paths = [ROOT / name for name in names if name]
        return sorted(path for path in paths if path.is_file())
    skipped = {"build", ".venv", "dist", "node_modules"}
    return sorted(path for path in ROOT.rglob("*") if path.is_file()
                  and not skipped & set(path.relative_to(ROOT).parts))
