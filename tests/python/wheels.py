"""The wheels of torch_npu that the tests read: requirements/wheels.json.

They are fetched once into deps/wheels/ (135 MB), or taken from the folder that
NPUFUSE_WHEELS names; nothing of them is installed or imported.
"""
import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import fetch  # noqa: E402

WHEELS = json.loads((ROOT / "requirements" / "wheels.json").read_text())
VERSIONS = [wheel["version"] for wheel in WHEELS]


def wheel(version):
    """The path of the wheel of this version. Skips where it cannot be had."""
    entry = next(w for w in WHEELS if w["version"] == version)
    kept = Path(os.environ.get("NPUFUSE_WHEELS", str(fetch.DEPS / "wheels"))) / entry["file"]
    if kept.is_file():
        return kept
    try:
        data = fetch.archive_of(entry)
    except SystemExit:
        pytest.skip("the wheel of torch_npu %s cannot be fetched" % version)
    fetch.write(kept, data)
    return kept
