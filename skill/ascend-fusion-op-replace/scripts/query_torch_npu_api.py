#!/usr/bin/env python3
"""What the installed torch_npu says about its operators.

    query_torch_npu_api.py show NAME [--full]
    query_torch_npu_api.py search WORD... [--max N]
    query_torch_npu_api.py list [--prefix P]

Reads torch_npu's _op_plugin_docs.py as text; nothing is imported. It is looked for
in --docs-path, then in the site-packages of this Python. Exit code 0: found;
1: no such name; 2: no torch_npu, or bad usage. Plain Python 3, no dependency.
"""
import argparse
import difflib
import os
import re
import site
import sys

FILE = "_op_plugin_docs.py"
MAX_BYTES = 64 << 20
HEADINGS = (
    "功能描述", "算子功能", "接口说明", "接口原型", "函数原型", "参数说明", "参数解释", "输入说明",
    "关键字参数", "输出说明", "返回值说明", "约束说明", "约束条件", "输入约束", "计算公式",
    "支持的型号", "支持的芯片型号", "支持的PyTorch版本", "支持版本", "调用示例", "示例",
)


def find_docs(path):
    """The documentation file; None if there is none."""
    places = [path] if path else []
    if not path:
        folders = list(sys.path)
        for get in (getattr(site, "getsitepackages", list), site.getusersitepackages):
            found = get()
            folders += [found] if isinstance(found, str) else found
        places = [os.path.join(f, "torch_npu") for f in folders]
    for place in places:
        for candidate in (place, os.path.join(place, FILE),
                          os.path.join(place, "torch_npu", FILE)):
            if os.path.isfile(candidate):
                return candidate
    return None


def read_entries(path):
    """{name: (first line, [lines])}; of two entries of a name the later one counts.

    The text is taken as it is written: escapes such as the \\f of \\frac are not
    interpreted, which shows formulas better than __doc__ does.
    """
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        lines = file.read(MAX_BYTES).replace("\r\n", "\n").split("\n")
    entries, at = {}, 0
    while at < len(lines):
        if not re.match(r"\s*_add_torch_npu_docstr\(\s*$", lines[at]):
            at += 1
            continue
        name = re.match(r'\s*"([\w.]+)"', lines[at + 1]) if at + 1 < len(lines) else None
        start = at + 3
        end = start
        while end < len(lines) and lines[end].strip() != '"""':
            end += 1
        if name and end < len(lines):
            entries[name.group(1)] = (start + 1, lines[start:end])
        at = end + 1
    return entries


def heading_of(line):
    text = line.strip().strip("#*").strip().rstrip(":：").strip()
    return text if text in HEADINGS else None


def sections(entry):
    """[(heading or "", first line, last line, text)]"""
    first, lines = entry
    marks = [(0, "")] + [(i, heading_of(l)) for i, l in enumerate(lines) if heading_of(l)]
    found = []
    for (start, heading), (end, _) in zip(marks, marks[1:] + [(len(lines), None)]):
        body = "\n".join(lines[start:end]).strip("\n")
        if body.strip():
            found.append((heading, first + start, first + end - 1, body))
    return found


def show(entries, path, name, full):
    name = name.split("torch_npu.")[-1]
    if name not in entries:
        near = difflib.get_close_matches(name, entries, 5, 0.5)
        print("no operator '%s' in '%s'%s" % (
            name, path, "; near: " + ", ".join(near) if near else ""), file=sys.stderr)
        return 1
    print("name: %s\nsource: %s" % (name, path))
    for heading, first, last, body in sections(entries[name]):
        example = heading in ("调用示例", "示例")
        print("\n[%s] lines %d-%d" % (heading or "signature", first, last))
        print(body if full or not example else "  (--full shows it)")
    return 0


def search(entries, words, most):
    words = [w.lower() for w in words]
    found = [(sum(w in name.lower() for w in words), name) for name, (_, lines) in entries.items()
             if all(w in (name + "\n".join(lines)).lower() for w in words)]
    for _, name in sorted(found, key=lambda f: (-f[0], f[1]))[:most]:
        print(name)
    return 0 if found else 1


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--docs-path", help="the file, or the folder of torch_npu")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("show")
    verb.add_argument("name")
    verb.add_argument("--full", action="store_true", help="with the examples")
    verb = verbs.add_parser("search")
    verb.add_argument("words", nargs="+")
    verb.add_argument("--max", type=int, default=20)
    verb = verbs.add_parser("list")
    verb.add_argument("--prefix", default="")
    args = parser.parse_args(argv)
    path = find_docs(args.docs_path)
    if path is None:
        print("no torch_npu is installed for this Python; --docs-path names its folder or '%s'"
              % FILE, file=sys.stderr)
        return 2
    entries = read_entries(path)
    if args.verb == "show":
        return show(entries, path, args.name, args.full)
    if args.verb == "search":
        return search(entries, args.words, args.max)
    names = sorted(name for name in entries if name.startswith(args.prefix))
    print("\n".join(names))
    return 0 if names else 1


if __name__ == "__main__":
    sys.exit(main())
