#!/usr/bin/env python3
"""Looks an operator up in the documentation that torch_npu has on this machine.

    query_torch_npu_api.py show NAME [--full]
    query_torch_npu_api.py search WORD... [--max N]
    query_torch_npu_api.py list [--prefix TEXT] [--max N]

Read is `_op_plugin_docs.py` of the installed torch_npu, as text: torch_npu is
found, not imported, so no NPU and no driver is needed. --docs-path names that
file, or a folder that holds it, of another installation. Every answer names its
file and lines.

Where there is no torch_npu, the small table of ../references/common_fusion_ops.md
answers, and says so on standard error.

Exit code: 0 found; 1 not found; 2 wrong usage or input; 3 there is no
documentation here and the small table does not know the name either.
Needs Python 3.8 alone.
"""
import argparse
import ast
import difflib
import importlib.util
import re
import signal
import sys
from pathlib import Path

FILE_NAME = "_op_plugin_docs.py"
REGISTER = "_add_torch_npu_docstr"
TABLE = Path(__file__).resolve().parent.parent / "references" / "common_fusion_ops.md"
MAX_BYTES = 64 << 20
SHORT_LINES = 12  # of a section, without --full

# Headings as the docstrings spell them, and what they are called here.
SECTIONS = {
    "description": ("功能描述实现", "功能实现描述", "功能描述", "算子功能", "接口说明"),
    "prototype": ("接口原型", "函数原型"),
    "parameters": ("参数说明", "参数解释", "输入说明", "关键字参数", "参数"),
    "outputs": ("输出说明", "返回值说明"),
    "constraints": ("约束说明", "约束条件", "输入约束", "场景限制"),
    "formula": ("计算公式为", "计算公式"),
    "products": ("支持的型号", "支持的芯片型号", "产品支持情况"),
    "versions": ("支持的PyTorch版本", "支持版本"),
    "examples": ("调用示例", "示例"),
}
ROLE_OF = {heading: role for role, headings in SECTIONS.items() for heading in headings}
ALWAYS_WHOLE = ("prototype", "constraints")  # what a decision rests on


class NoDocs(Exception):
    pass


class Entry:
    """One documented name: its lines, and where they stand."""

    def __init__(self, name, path, first_line, lines):
        self.name = name
        self.path = path
        self.first_line = first_line
        self.lines = lines
        self.other_lines = []  # where the same name is registered before

    def place(self, first=0, last=None):
        last = len(self.lines) - 1 if last is None else last
        return "%s:%d-%d" % (self.path, self.first_line + first, self.first_line + last)

    def sections(self):
        """[(role, heading, index of the heading, index behind the last line)]."""
        found = []
        for i, line in enumerate(self.lines):
            word = line.strip().strip("#*").strip().rstrip(":：").strip()
            if word in ROLE_OF:
                found.append([ROLE_OF[word], word, i, len(self.lines)])
                if len(found) > 1:
                    found[-2][3] = i
        return found

    def signature(self):
        """The first call of the name, until its parentheses balance; "" if none."""
        spelled = re.compile(r"(?:torch_npu\.\s*(?:npu\.)?)?%s\s*\(" % re.escape(self.name))
        for i, line in enumerate(self.lines):
            match = spelled.search(line)
            if not match:
                continue
            text = line[match.start():].split("`")[0].strip()
            while text.count("(") > text.count(")") and i + 1 < len(self.lines):
                i += 1
                text += " " + self.lines[i].strip()
            return text
        return ""

    def summary(self):
        """The first line of the description; else the first that says anything
        besides a heading and the signature."""
        told = [start for role, _, start, _ in self.sections() if role == "description"]
        headings = [start for _, _, start, _ in self.sections()]
        spelled = self.name + "("
        for i in range(told[0] + 1 if told else 0, len(self.lines)):
            line = self.lines[i].strip()
            if line and i not in headings and spelled not in line.replace(" (", "("):
                return line.lstrip("- ").strip()
        return self.signature()


# ---- finding and reading ------------------------------------------------------


def docs_file(given):
    """The path of the documentation; NoDocs where there is none."""
    if given:
        path = Path(given)
        for place in (path, path / FILE_NAME, path / "torch_npu" / FILE_NAME):
            if place.is_file():
                return place
        raise NoDocs("'%s' is neither %s nor a folder that holds it" % (given, FILE_NAME))
    try:
        spec = importlib.util.find_spec("torch_npu")  # finds, does not import
    except (ImportError, ValueError, AttributeError):
        spec = None
    for folder in (spec and spec.submodule_search_locations) or ():
        place = Path(folder) / FILE_NAME
        if place.is_file():
            return place
    raise NoDocs("torch_npu is not installed for %s" % sys.executable)


def text_of(node, lines):
    """The characters between the quotes as they are written: the docstrings are
    full of LaTeX, whose backslashes Python would take for escapes."""
    first, last = node.lineno - 1, node.end_lineno - 1
    part = lines[first:last + 1]
    part[-1] = part[-1].encode("utf-8")[:node.end_col_offset].decode("utf-8", "replace")
    part[0] = part[0].encode("utf-8")[node.col_offset:].decode("utf-8", "replace")
    text = re.sub(r"^[rRuUbBfF]*(\"\"\"|'''|\"|')", "", "\n".join(part))
    return re.sub(r"(\"\"\"|'''|\"|')$", "", text)


def strings_of(node):
    """The two string arguments of a registering call; None if it is none."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != REGISTER:
        return None
    if len(node.args) < 2:
        return None
    name, text = node.args[:2]
    if not all(isinstance(part, ast.Constant) and isinstance(part.value, str)
               for part in (name, text)):
        return None
    return name.value, text


def read_entries(path):
    """{name: Entry}, in the order of the file. Of a name that is registered twice
    the later text counts, as it does in Python."""
    if path.stat().st_size > MAX_BYTES:
        raise NoDocs("'%s' has more than %d bytes" % (path, MAX_BYTES))
    source = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NoDocs("'%s' cannot be read: %s" % (path, error))
    lines = source.split("\n")
    entries = {}
    for node in ast.walk(tree):
        found = strings_of(node)
        if not found:
            continue
        name, text = found
        entry = Entry(name, str(path), text.lineno, text_of(text, lines).split("\n"))
        before = entries.pop(name, None)
        if before:
            entry.other_lines = before.other_lines + [before.first_line]
        entries[name] = entry
    if not entries:
        raise NoDocs("'%s' documents no operator" % path)
    return entries


def read_table():
    """The entries of the small table: each `### name` is one."""
    entries, lines = {}, []
    try:
        lines = TABLE.read_text(encoding="utf-8").split("\n")
    except OSError:
        pass
    starts = [i for i, line in enumerate(lines) if line.startswith("#")] + [len(lines)]
    for start, end in zip(starts, starts[1:]):
        match = re.match(r"###\s+`?([A-Za-z_][\w.]*)`?\s*$", lines[start])
        if match:
            body = lines[start + 1:end]
            while body and not body[-1].strip():
                body.pop()
            entries[match.group(1)] = Entry(match.group(1), str(TABLE), start + 2, body)
    return entries


# ---- the three verbs ----------------------------------------------------------


def plain_name(name):
    return re.sub(r"^torch_npu\.", "", name.strip())


def show(entries, options):
    name = plain_name(options.name)
    entry = entries.get(name)
    if entry is None:
        near = difflib.get_close_matches(name, entries, n=5, cutoff=0.6)
        print("query_torch_npu_api: no entry '%s'%s" % (
            name, "; near it: " + ", ".join(near) if near else ""), file=sys.stderr)
        return 1
    print("%s  %s" % (entry.name, entry.place()))
    for line in entry.other_lines:
        print("  also registered at line %d; the later text counts" % line)
    if entry.signature():
        print("signature: " + entry.signature())
    if options.full or not entry.sections():
        print("\n".join(line.rstrip() for line in entry.lines))
        return 0
    for role, heading, start, end in entry.sections():
        show_section(entry, (role, heading), start, end)
    print("(--full prints all of it)")
    return 0


def show_section(entry, titles, start, end):
    body = [line.rstrip() for line in entry.lines[start + 1:end]]
    while body and not body[-1].strip():
        body.pop()
    print("\n[%s] %s  %s" % (*titles, entry.place(start, start + len(body))))
    whole = titles[0] in ALWAYS_WHOLE or len(body) <= SHORT_LINES
    print("\n".join(body if whole else body[:SHORT_LINES]))
    if not whole:
        print("... %d more lines" % (len(body) - SHORT_LINES))


def print_rows(entries, limit):
    for entry in entries[:limit]:
        print("%s\t%s:%d\t%s" % (entry.name, entry.path, entry.first_line, entry.summary()[:100]))
    if len(entries) > limit:
        print("and %d more (--max N)" % (len(entries) - limit), file=sys.stderr)
    if not entries:
        print("query_torch_npu_api: nothing found", file=sys.stderr)
    return 0 if entries else 1


def search(entries, options):
    """Names that hold every word first, then texts that do."""
    words = [plain_name(word).lower() for word in options.words]
    named = [e for e in entries.values() if all(word in e.name.lower() for word in words)]
    told = [e for e in entries.values() if e not in named and all(
        word in (e.name + "\n" + "\n".join(e.lines)).lower() for word in words)]
    return print_rows(named + told, options.max)


def list_names(entries, options):
    found = [entries[name] for name in sorted(entries) if name.startswith(options.prefix)]
    return print_rows(found, options.max)


def at_least_one(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--docs-path", metavar="PATH",
                        help="%s, or a folder that holds it" % FILE_NAME)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="show|search|list")
    part = verbs.add_parser("show", parents=[common], help="one operator")
    part.add_argument("name", metavar="NAME")
    part.add_argument("--full", action="store_true", help="all of its text")
    part.set_defaults(run=show)
    part = verbs.add_parser("search", parents=[common], help="operators that speak of the words")
    part.add_argument("words", nargs="+", metavar="WORD")
    part.add_argument("--max", type=at_least_one, default=20, metavar="N")
    part.set_defaults(run=search)
    part = verbs.add_parser("list", parents=[common], help="names")
    part.add_argument("--prefix", default="", metavar="TEXT")
    part.add_argument("--max", type=at_least_one, default=1000, metavar="N")
    part.set_defaults(run=list_names)
    return parser.parse_args()


def main():
    options = read_options()
    try:
        return options.run(read_entries(docs_file(options.docs_path)), options)
    except NoDocs as reason:
        if options.docs_path:
            print("query_torch_npu_api: %s" % reason, file=sys.stderr)
            return 2
        print("query_torch_npu_api: %s; this is the small table of this skill" % reason,
              file=sys.stderr)
    return 0 if options.run(read_table(), options) == 0 else 3


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends quietly
    sys.exit(main())
