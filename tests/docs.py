#!/usr/bin/env python3
"""Runs the console blocks of README*.md, docs/*.md and the skill, and compares.

In a block that starts with ```console, each line `$ command` is run by bash
in a copy of examples/, with the npufuse of this tree on the PATH; blocks of
one document share their folder. The lines below a command are what it must
print (standard output and error); a line `...` stands for any lines. A
comment `<!-- not run: reason -->` directly above a block leaves it out. $SKILL
is the folder of the skill.

Relative links between the documents must lead somewhere, too.

`tests/docs.py --accept` writes what was printed in place of what differs; a
block with a line `...` is left as it is. Read the diff.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKILL = ROOT / "skill" / "ascend-fusion-op-replace"
BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.*?) -->\n)?"
    r"^```console\n(?P<text>.*?)^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)#:\s]+)(?:#[^)]*)?\)")


ACCEPTED = []  # command, lines as they are, lines as they should be


def documents():
    return [*sorted(ROOT.glob("README*.md")),
            *sorted((ROOT / "docs").rglob("*.md")),
            *sorted(SKILL.rglob("*.md"))]


def split_commands(text):
    """[(command, expected lines)] of a block."""
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif (commands and not commands[-1][1] and
                (line + " ").startswith("> ")):
            commands[-1] = (commands[-1][0] + "\n" + line[2:], [])
        elif commands:
            commands[-1][1].append(line)
    return commands


def matches(expected, got):
    """Whether the lines are equal; `...` matches any run of lines."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += re.escape(line.rstrip()) + r"\n"
    text = "".join(line.rstrip() + "\n" for line in got)
    return re.fullmatch(pattern, text) is not None


def environment(folder):
    command = Path(os.environ.get("NPUFUSE",
                                  ROOT / "build" / "dev" / "npufuse"))
    return {
        "PATH": f"{command.parent}:{Path(sys.executable).parent}:"
                f"{os.environ.get('PATH', '')}",
        "HOME": str(folder), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
        "NPUFUSE_RULES": str(ROOT / "rules"), "SKILL": str(SKILL),
    }


def run_command(command, expected, folder, where):
    done = subprocess.run(["bash", "-c", command], cwd=folder, text=True,
                          env=environment(folder), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=120)
    got = done.stdout.splitlines()
    if matches(expected, got):
        return True
    if "--accept" in sys.argv and not any(l.strip() == "..." for l in expected):
        ACCEPTED.append((command, expected, [line.rstrip() for line in got]))
    print(f"{where}: $ {command}")
    print("  expected:")
    print("".join(f"    {line}\n" for line in expected), end="")
    print(f"  got (exit code {done.returncode}):")
    print("".join(f"    {line}\n" for line in got[:60]), end="")
    return False


def run_document(path, counts):
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    with tempfile.TemporaryDirectory(prefix="npufuse-docs-") as folder:
        folder = Path(folder).resolve() / "examples"
        if (ROOT / "examples").is_dir():
            shutil.copytree(ROOT / "examples", folder,
                            ignore=shutil.ignore_patterns("fusion_verify"))
        else:
            folder.mkdir()
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start("text")) + 1
            if block["reason"]:
                print(f"{name}:{line}: skipped: {block['reason']}")
                counts["skipped"] += 1
                continue
            for command, expected in split_commands(block["text"]):
                ok = run_command(command, expected, folder, f"{name}:{line}")
                counts["passed" if ok else "failed"] += 1


def accept(path):
    """Writes the accepted outputs into the document."""
    text = path.read_text(encoding="utf-8")
    for command, old, new in ACCEPTED:
        head = "$ " + command.replace("\n", "\n> ") + "\n"
        before = head + "".join(line + "\n" for line in old)
        text = text.replace(before, head + "".join(line + "\n" for line in new))
    if ACCEPTED:
        path.write_text(text, encoding="utf-8")
    ACCEPTED.clear()


def check_links(path, counts):
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"),
                  flags=re.M | re.S)
    for target in LINK.findall(text):
        if (path.parent / target).exists():
            counts["passed"] += 1
        else:
            print(f"{path.relative_to(ROOT)}: dead link: {target}")
            counts["failed"] += 1


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in documents():
        counts["passed"] += 1  # it could be read
        run_document(path, counts)
        accept(path)
        check_links(path, counts)
    tail = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{tail}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
