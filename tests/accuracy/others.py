#!/usr/bin/env python3
"""Scans files of other authors and scores the findings by labels.

    tests/accuracy/others.py --bin build/dev/npufuse [--show] [--half HALF] [--raise]

others/labels.jsonl holds the labels; others/README.md says how they were made
and how each file is had: from a package (requirements/others.json, fetched by
its hash) or from a checkout below the folder that NPUFUSE_CORPUS names
(others/checkouts.json). What cannot be had is named and left out. A file
belongs to the half `tune` or `held`: rules may be made better by what is missed
in `tune`; `held` says what that was worth, and so do `fresh` to `fresh5`,
whose projects were first seen when most rules were there.

Closes with `N passed, N failed[, N skipped]`.
"""
import argparse
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import check

HERE = Path(__file__).resolve().parent / "others"
ROOT = HERE.parents[2]
DEPS = ROOT / "deps" / "others"
PACKAGES = ROOT / "requirements" / "others.json"
HALVES = ("tune", "held", "fresh", "fresh2", "fresh3", "fresh4", "fresh5")

# Files without labels that the labelled ones import from, or that make their modules.
CONTEXT = {
    "AI-Study-Han/Zero-Chatgpt": ("pretrain/model/configuration_miaomiao.py",
                                  "sft/model/configuration_miaomiao.py"),
    "ByteDance-Seed/Bagel": ("modeling/qwen2/configuration_qwen2.py",),
    "OpenMOSS/CoLLiE": ("collie/module.py",),
    "Physical-Intelligence/openpi": (
        "src/openpi/models_pytorch/transformers_replace/models/gemma/configuration_gemma.py",),
    "apple/corenet": ("corenet/modeling/layers/activation/__init__.py",
                      "corenet/modeling/layers/activation/swish.py"),
    "apple/ml-4m": ("fourm/models/fm.py",),
    "cooper12121/llama3-8x8b-MoE": ("modeling_file/configuration_llama_moe.py",),
    "databricks/megablocks": ("megablocks/layers/arguments.py", "megablocks/layers/mlp.py"),
    "epfLLM/Megatron-LLM": ("megatron/model/utils.py",),
    "evintunador/minLlama3": ("params.py",),
    "facebookresearch/metaseq": ("metaseq/utils.py",),
    "k2-fsa/icefall": ("egs/librispeech/ASR/zipformer/scaling.py",),
    "mit-han-lab/efficientvit": ("efficientvit/models/nn/act.py",
                                 "efficientvit/models/utils/network.py"),
    "naver-ai/rope-vit": ("SwinTransformer/models/swin_transformer.py",),
    "open-lm-engine/lm-engine": ("lm_engine/modeling_utils/activations/__init__.py",
                                 "lm_engine/modeling_utils/activations/utils.py"),
    "opendilab/DI-engine": ("ding/torch_utils/network/nn_module.py",),
}

# half: family: at least so many sites are found, in the files of packages and
# in all files. --raise writes what is reached.
BAR = HERE / "found.json"

sys.path.insert(0, str(ROOT / "tools"))
import fetch  # noqa: E402


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def read_labels():
    text = (HERE / "labels.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


# ---- the files --------------------------------------------------------------


def members(name, data, wanted):
    """(file, bytes) of the wanted files of a wheel or a source archive."""
    if name.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for file in wanted:
                yield file, archive.read(file)
        return
    top = name[:-len(".tar.gz")]
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for file in wanted:
            yield file, archive.extractfile("%s/%s" % (top, file)).read()


def unpack(package, wanted):
    """Puts the labelled files into deps/others; raises SystemExit offline."""
    folder = DEPS / package["name"]
    stamp = folder / "pinned"
    there = stamp.is_file() and stamp.read_text() == package["sha256"]
    if there and all((folder / file).is_file() for file in wanted):
        return folder
    data = fetch.archive_of(package)
    for file, text in members(package["file"], data, wanted):
        fetch.write(folder / file, text)
    fetch.write(stamp, package["sha256"].encode())
    return folder


def package_folder(package, wanted):
    """The folder with a package's files; None where it cannot be fetched."""
    try:
        return unpack(package, wanted)
    except SystemExit:  # fetch has said why
        return None


def checkout_folder(source, wanted):
    """The folder of a checkout; None where files of it are missing."""
    folder = Path(os.environ.get("NPUFUSE_CORPUS", "")) / source
    if "NPUFUSE_CORPUS" not in os.environ:
        return None
    missing = [file for file in wanted if not (folder / file).is_file()]
    if missing:
        print("%s has no %s" % (folder, missing[0]))
    return None if missing else folder


def wanted_files(labels):
    wanted = {source: set(files) for source, files in CONTEXT.items()}
    for label in labels:
        wanted.setdefault(label["source"], set()).add(label["file"])
    return {source: sorted(files) for source, files in sorted(wanted.items())}


def find_folders(wanted):
    """source: its folder, of those that can be had."""
    packages = {p["name"]: p for p in read_json(PACKAGES)}
    folders, online = {}, True
    for source, files in wanted.items():
        if source not in packages:
            folders[source] = checkout_folder(source, files)
        elif online:  # one that cannot be fetched is enough: no more waiting
            folders[source] = package_folder(packages[source], files)
            online = folders[source] is not None
    return {source: folder for source, folder in folders.items() if folder}


def gather(labels, tree):
    """Copies what can be had to tree/SOURCE/FILE.

    The labels of it, and the sources that are left out."""
    wanted = wanted_files(labels)
    folders = find_folders(wanted)
    for source, folder in folders.items():
        for file in wanted[source]:
            (tree / source / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / file, tree / source / file)
    left_out = [source for source in wanted if source not in folders]
    if left_out:
        print("skipped: %s (NPUFUSE_CORPUS names the folder of checkouts; "
              "packages are fetched)" % ", ".join(left_out))
    return [label for label in labels if label["source"] in folders], left_out


# ---- the figures ------------------------------------------------------------


def placed(label):
    """A label as check.py reads it: the file as the scan calls it."""
    return dict(label, file="%s/%s" % (label["source"], label["file"]))


def judge(half, family, t, bars):
    """Prints a line; the checks by name. `bars`: (what, found, at least)."""
    print("%s %-9s found %d of %d, recommended %d of %d yes, false %d and soft %d "
          "of %d no, extra %d of %d" % (
              half, family, t["found"], t["sites"], t["recommended"], t["yes"],
              t["false"], t["soft"], t["no"], t["extra"], t["written"]))
    checks = {"false": t["false"] == 0}
    for what, found, least in bars:
        checks["found in " + what] = found >= least
        if found < least:
            print("  %d found in %s, %d before" % (found, what, least))
    if t["false"]:
        print("  a recommend on a no site: --show names it")
    return checks


def score_half(half, labels, findings, options):
    """The checks of one half; options.reached gets what was found."""
    part = [placed(l) for l in labels if l["half"] == half]
    print("%s: %d labels in %d files" % (half, len(part), len({l["file"] for l in part})))
    packaged = [l for l in part if l["source"] in options.packages]
    results = []
    for family in check.BARS:
        totals = check.score(family, part, findings, options.show)
        reached = [check.score(family, packaged, findings, False)["found"], totals["found"]]
        options.reached[half][family] = reached
        before = options.bar.get(half, {}).get(family, [0, 0])
        bars = [("packages", reached[0], before[0]), ("all files", reached[1], before[1])]
        results += judge(half, family, totals, bars[:options.bars]).values()
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--raise", dest="write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        labels, left_out = gather(read_labels(), Path(folder))
        findings = check.scan(options.bin, Path(folder))["findings"] if labels else []
    options.packages = {p["name"] for p in read_json(PACKAGES)}
    options.bar = read_json(BAR)
    options.reached = {half: {} for half in HALVES}
    options.bars = 2 if not left_out else 0 if options.packages & set(left_out) else 1
    results = []
    for half in ([options.half] if options.half else HALVES) if labels else ():
        results += score_half(half, labels, findings, options)
    if options.write:
        BAR.write_text(json.dumps(options.reached, indent=1) + "\n")
    print("%d passed, %d failed, %d skipped" % (
        sum(results), len(results) - sum(results), len(left_out)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
