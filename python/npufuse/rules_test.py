"""``python -m npufuse.rules_test [ID...] [--rules DIR]...``: tests rules.

A row of tab-separated text for each variant of each rule: rule, variant,
"emulated", "device" or "native", tensors compared, verdict. Without --rules
the bundled rules are tested, with it those of the folders named.

Exit code: 0 all pass, 1 one fails, 2 wrong usage or rule file, 3 this Python
has no torch, 4 a fault of npufuse.
"""
import sys
import traceback
from pathlib import Path


def read(words):
    """(ids, folders) of "ID... [--rules DIR]..."; ValueError if they are wrong."""
    ids, folders, words = [], [], list(words)
    while words:
        word = words.pop(0)
        if word == "--rules":
            if not words or not Path(words[0]).is_dir():
                raise ValueError("--rules takes a folder, not '%s'" % "".join(words[:1]))
            folders.append(words.pop(0))
        else:
            ids.append(word)
    return ids, folders


def chosen(ids, folders):
    """The rules to test; ValueError for one that is not there or not sound."""
    from npufuse import rule

    try:
        rules = rule.load_all(*folders)
    except (Exception, SystemExit) as error:  # the file is the user's
        text = "a rule file does not run: %s: %s"
        raise ValueError(text % (type(error).__name__, error)) from None
    known = {r.id for r in rules}
    for wanted in ids:
        if wanted not in known:
            raise ValueError("no rule '%s' ('npufuse rules list' names them)" % wanted)
    return [r for r in rules if not ids or r.id in ids]


def test(rules):
    """Prints the table; returns how many rows say fail."""
    import torch

    from npufuse import rule_check

    torch.set_num_threads(1)
    failed = 0
    for r in rules:
        for name, variant, label, count, reason in rule_check.check_rule(r):
            failed += bool(reason)
            verdict = "fail: " + reason if reason else "pass"
            row = "%s\t%s\t%s\t%d\t%s" % (name, variant, label, count, verdict)
            print(row.replace("\n", " "), flush=True)
    return failed


def main(words):
    try:
        import torch  # noqa: F401
    except Exception as error:
        text = "npufuse: '%s' has no torch that works: %s\n"
        sys.stderr.write(text % (sys.executable, error))
        return 3
    try:
        return 1 if test(chosen(*read(words))) else 0
    except ValueError as error:
        sys.stderr.write("npufuse: %s\n" % error)
        return 2
    except Exception:
        traceback.print_exc()
        return 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
