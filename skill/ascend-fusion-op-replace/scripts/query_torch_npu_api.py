#!/usr/bin/env python3
"""Looks an operator up in what torch_npu says of it on this machine.

    query_torch_npu_api.py show NAME [--full]
    query_torch_npu_api.py search WORD... [--max N]
    query_torch_npu_api.py list [--prefix TEXT]

Read are `_op_plugin_docs.py` of the installed torch_npu, as text, and the
schemas that its shared library registers (`Registered:`, whose names of arguments
are the ones to call with). torch_npu is found by its files and never imported,
so no NPU and no driver is needed. --docs-path names that file, a wheel, an
unpacked torch_npu, or a folder of op-plugin's Markdown pages instead. Every
answer names its file and lines.

With npufuse at hand (on the PATH, as the Python package, or named by NPUFUSE or
NPUFUSE_BIN) this is `npufuse api`, which also says on standard error where
documents and registration disagree; without it the same is read here.

Where there is no torch_npu, and for operators that it does not describe, the
small table of ../references/common_fusion_ops.md answers, marked `fallback`.

Exit code: 0 found; 1 not found; 2 wrong usage or input; 3 there is no torch_npu
here and the small table does not know the name either. Needs Python 3.8 alone.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the folder of the skill stays as it is
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from torch_npu_docs import (DOCS_NAME, PUBLIC_DOCS, Entry, NoDocs, Reader, complain,
                            find_install, holds_all, install_at, say, summary_of,
                            trimmed)  # noqa: E402

TABLE = Path(__file__).resolve().parent.parent / "references" / "common_fusion_ops.md"
SUMMARY_WIDTH = 150

# ---- npufuse ---------------------------------------------------------------------------


def find_npufuse():
    """The command; None if there is none."""
    for named in (os.environ.get("NPUFUSE"), os.environ.get("NPUFUSE_BIN"), "npufuse"):
        path = shutil.which(named) if named else None
        if path:
            return path
    try:
        from npufuse._find import find_npufuse_bin
        return find_npufuse_bin()
    except Exception:  # whatever a package of that name does, this goes on without
        return None


class NoAnswer(Exception):
    """The command npufuse did not do what it was asked."""


# What is read of an answer.
MEMBERS = {"show": {"definitions", "docs", "registered", "sections", "signatures"},
           "search": {"results"}, "list": {"names"}}


class Command:
    """The same answers by `npufuse api`. Raises NoAnswer where the command has no
    `api` or does not answer with the JSON that is documented."""

    def __init__(self, path, docs_path):
        self.path = path
        self.docs_path = docs_path

    def ask(self, verb, *words):
        options = ["--format", "json"]
        if self.docs_path:
            options += ["--docs-path", self.docs_path]
        try:
            done = subprocess.run([self.path, "api", verb] + options + list(words),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=300)
            said = done.stderr.decode("utf-8", "replace").splitlines()
            if done.returncode == 2 and said and not any("'api'" in line for line in said):
                raise NoDocs(re.sub(r"\Anpufuse: ", "", said[-1]))
            answer = json.loads(done.stdout.decode("utf-8"))
            needed = MEMBERS[verb] if answer.get("found", True) else {"near"}
            if not needed <= set(answer):
                raise ValueError("members are missing")
        except (OSError, subprocess.SubprocessError, AttributeError, ValueError) as error:
            raise NoAnswer("'%s' does not answer: %s" % (self.path, error))
        for line in said:
            if line.startswith("npufuse: '"):  # a file that could not be read, or not whole
                say(line, file=sys.stderr)
        return answer

    def show(self, name):
        answer = self.ask("show", "--", name)
        answer.setdefault("found", True)
        return answer

    def search(self, words):
        return self.ask("search", "--max", "100000", "--", *words)

    def list(self, prefix):
        return self.ask("list", *(["--prefix", prefix] if prefix else []))


# ---- the small table ---------------------------------------------------------------------


class Table:
    """common_fusion_ops.md: each `### name` is an entry."""

    def __init__(self):
        self.entries = {}
        try:
            lines = TABLE.read_text(encoding="utf-8").split("\n")
        except OSError:
            lines = []
        starts = [i for i, line in enumerate(lines) if line.startswith("#")] + [len(lines)]
        for start, end in zip(starts, starts[1:]):
            title = re.fullmatch(r"###\s+`?([A-Za-z_][\w.]*)`?\s*", lines[start])
            if title:
                body, line = trimmed("\n".join(lines[start + 1:end]), start + 2)
                self.entries[title.group(1)] = Entry(title.group(1), str(TABLE), line, body)

    def signatures(self, name):
        found = re.search(r"`(%s\([^`]*)`" % re.escape(name), self.entries[name].body)
        return [found.group(1)] if found else []

    def summary(self, name):
        for line in self.entries[name].body.split("\n"):
            if line.strip() and name + "(" not in line:
                return line.lstrip("- ")
        return ""

    def search(self, words):
        """Names of which the first lines hold the words; not the sources in brackets."""
        words, found = [word.lower() for word in words], []
        for name, entry in self.entries.items():
            told = re.sub(r"（[^）]*）", "", entry.body.split("\n\n")[0])
            if holds_all(words, name.lower(), told.lower()):
                found.append(name)
        return found


# ---- printing ----------------------------------------------------------------------------


def print_numbered(first_line, text):
    for number, line in enumerate(text.split("\n"), first_line):
        say("%d: %s" % (number, line.rstrip()))


def print_sections(sections):
    titled = [part for part in sections if part["title"]]
    say("\nSections:" if titled else "\nSections: unavailable")
    for part in titled:
        say("  %s: %d-%d" % (part["title"], part["start_line"], part["end_line"]))


def print_constraints(sections):
    """Whole, even without --full: a decision rests on them."""
    told = [part for part in sections if part["role"] == "constraints" and part["text"]]
    if told:
        say("\nConstraints:")
    for part in told:
        print_numbered(part["end_line"] - part["text"].count("\n"), part["text"])


def place(text):
    return "%s:%d-%d" % (text["path"], text["start_line"], text["end_line"])


def print_head(name, source, answer):
    say("API: torch_npu.%s\nSource: %s" % (name, source))
    if answer["docs"]["version"]:
        say("Version: torch_npu %s" % answer["docs"]["version"])


def print_calls(signatures, answer):
    for line in signatures:
        say("Signature: %s" % line)
    for schema in answer["registered"]:
        say("Registered: %s" % schema["schema"])
    for text in answer["definitions"][:-1]:
        say("Superseded: %s (the later text counts)" % place(text))


def print_documented(name, answer, full):
    text = answer["definitions"][-1]
    sections = answer["sections"]
    print_head(name, place(text), answer)
    if summary_of(sections):
        say("Summary: %s" % summary_of(sections))
    print_calls(answer["signatures"], answer)
    print_sections(sections)
    if not full:
        print_constraints(sections)
        say("\nHint: use --full to print the full doc body.")
        return
    say("\nFull doc:")
    print_numbered(text["start_line"], text["body"])
    for text in answer["definitions"][:-1]:
        say("\nSuperseded doc:")
        print_numbered(text["start_line"], text["body"])


NOTHING = {"docs": {"version": ""}, "definitions": [], "registered": []}


def print_undocumented(name, table, answer, full):
    """An operator that the table knows, or of which nothing but the schema is known."""
    entry = table.entries.get(name)
    if not entry:
        print_head(name, "registered in the shared library; no text", answer)
        print_calls([], answer)
        say("\nSections: unavailable")
        complain("torch_npu 没有 %s 的文档；公开文档：%s" % (name, PUBLIC_DOCS))
        return
    print_head(name, "fallback: %s:%d-%d" % (entry.path, entry.first_line, entry.end_line()),
               answer)
    say("Summary: %s" % table.summary(name))
    print_calls(table.signatures(name), answer)
    say("\nSections: unavailable")
    if full:
        say("\nFull doc:")
        print_numbered(entry.first_line, entry.body)
    else:
        say("\nHint: use --full to print the full doc body.")


# ---- the three verbs ----------------------------------------------------------------------


def bare_name(name):
    return re.sub(r"\A(?:torch_npu\.|torch\.ops\.npu\.|npu::)", "", name.strip())


def show(source, table, options):
    name = bare_name(options.name)
    answer = source.show(name) if source else {"found": False, "near": []}
    for line in answer.get("disagreements", ()):
        complain("文档与注册的 schema 不一致：%s" % line)
    if answer["found"] and answer["definitions"]:
        print_documented(name, answer, options.full)
        return 0
    if answer["found"] or name in table.entries:
        if source and not answer["found"]:
            complain("这个 torch_npu 没有 %s；以下来自本技能的小表" % name)
        print_undocumented(name, table, answer if answer["found"] else NOTHING, options.full)
        return 0
    near = answer["near"]
    complain("未找到 API: %s%s\n公开文档：%s" % (
        name, "\n相近的名称：" + "、".join(near) if near else "", PUBLIC_DOCS))
    return 1


def shortened(text):
    return text if len(text) <= SUMMARY_WIDTH else text[:SUMMARY_WIDTH - 3] + "..."


def search(source, table, options):
    words = " ".join(options.words).split()
    if not words:
        complain("search 需要至少一个词")
        return 2
    hits = source.search(words)["results"] if source else []
    told = {name: "[fallback] " + table.summary(name) for name in table.search(words)}
    # What is registered without a text is told by the table, where that knows it.
    rows = [(hit["name"], hit["summary"] if hit["start_line"] else
             told.pop(hit["name"], "[registered] 无文档")) for hit in hits]
    for item in source.list("")["names"] if source and told else ():
        if item["start_line"]:
            told.pop(item["name"], None)
    rows += told.items()
    if not rows:
        complain("未找到匹配 '%s' 的算子。" % " ".join(words))
        return 1
    shown = rows[:options.max]
    say("搜索 '%s' 找到 %d 个结果（上限 %d）:\n" % (
        " ".join(words), len(shown), options.max))
    for number, (name, summary) in enumerate(shown, 1):
        say("%d. %s\n   %s\n" % (number, name, shortened(summary)) if summary
              else "%d. %s\n" % (number, name))
    if len(rows) > len(shown):
        complain("共 %d 个结果，--max 可以看到更多" % len(rows))
    return 0


def list_names(source, table, options):
    names = ([item["name"] for item in source.list(options.prefix)["names"]] if source else
             [name for name in table.entries if name.startswith(options.prefix)])
    names = sorted(set(names))
    for name in names:
        say(name)
    sys.stdout.flush()
    say("\n总计 %d 个算子。" % len(names), file=sys.stderr)
    return 0 if names else 1


# ---- the command line ---------------------------------------------------------------------


def number_of(text):
    value = int(text)
    if not 1 <= value <= 100000:
        raise ValueError
    return value


def add_common(parser, **defaults):
    parser.add_argument("--docs-path", metavar="PATH", help="%s, a wheel, an unpacked torch_npu, "
                        "or a folder of Markdown pages" % DOCS_NAME, **defaults)
    parser.add_argument("--no-npufuse", action="store_true",
                        help="do not look for the command npufuse", **defaults)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common(parser)  # before the verb or behind it
    common = argparse.ArgumentParser(add_help=False)
    add_common(common, default=argparse.SUPPRESS)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="show|search|list")
    part = verbs.add_parser("show", parents=[common], help="one operator")
    part.add_argument("name", metavar="NAME")
    part.add_argument("--full", action="store_true", help="all of its text")
    part.set_defaults(run=show)
    part = verbs.add_parser("search", parents=[common], help="operators that speak of all words")
    part.add_argument("words", nargs="+", metavar="WORD")
    part.add_argument("--max", type=number_of, default=10, metavar="N", help="at most N (10)")
    part.set_defaults(run=search)
    part = verbs.add_parser("list", parents=[common], help="names")
    part.add_argument("--prefix", default="", metavar="TEXT", help="that begin with TEXT")
    part.set_defaults(run=list_names)
    return parser.parse_args()


def answer(options):
    """Runs the verb by npufuse, or else here; NoDocs where there is no torch_npu."""
    table = Table()
    install = None if options.docs_path else find_install()
    command = None if options.no_npufuse else find_npufuse()
    if command:
        try:
            where = options.docs_path or (install.path if install else None)
            return options.run(Command(command, where), table, options)
        except NoAnswer as error:
            complain("%s; the files are read here" % error)
    if options.docs_path:
        install = install_at(options.docs_path)
    if not install:
        raise NoDocs("no torch_npu for %s, in VIRTUAL_ENV, CONDA_PREFIX or for python3 on PATH"
                     % sys.executable)
    return options.run(Reader(install), table, options)


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    options = read_options()
    try:
        return answer(options)
    except (NoDocs, OSError) as reason:
        complain(reason)
        if options.docs_path:
            return 2
    complain("答案来自本技能的小表 references/%s，不是已安装的 torch_npu" % TABLE.name)
    return 0 if options.run(None, Table(), options) == 0 else 3


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends quietly
    sys.exit(main())
