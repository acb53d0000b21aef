"""findings.json against schema/findings.schema.json and docs/formats.md.

    NPUFUSE_BIN=build/dev/npufuse pytest tests/python/test_schema.py
    NPUFUSE_FINDINGS=fusion_verify/findings.json pytest ... -k given
"""
import copy
import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schema/findings.schema.json").read_text())
DOCS = (ROOT / "docs/formats.md").read_text()
GOLDEN = ROOT / "tests/unit/golden/findings.json"
BINARY = Path(os.environ.get("NPUFUSE_BIN", ROOT / "build/dev/npufuse"))
CHECKER = jsonschema.Draft202012Validator(SCHEMA)


def check(document):
    CHECKER.validate(document)
    counts, findings = document["counts"], document["findings"]
    assert counts["findings"] == len(findings)
    assert counts["existing"] == len(document["existing"])
    assert counts["skipped"] == len(document["skipped"])
    assert sum(counts["by_verdict"].values()) == len(findings)
    assert sum(counts["by_family"].values()) == len(findings)
    ids = [finding["id"] for finding in findings]
    assert len(ids) == len(set(ids))
    for finding in findings:
        assert finding["start_line"] <= finding["end_line"]
        assert not finding["file"].startswith("/")


def test_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_sample():
    check(json.loads(GOLDEN.read_text()))


@pytest.mark.skipif("NPUFUSE_FINDINGS" not in os.environ,
                    reason="no NPUFUSE_FINDINGS")
def test_given():
    check(json.loads(Path(os.environ["NPUFUSE_FINDINGS"]).read_text()))


@pytest.mark.skipif(not BINARY.exists(), reason="no binary, see NPUFUSE_BIN")
def test_scan_of_example(tmp_path):
    def scan():
        result = subprocess.run(
            [BINARY.resolve(), "scan", "--format", "json",
             ROOT / "examples/tiny_decoder"],
            cwd=tmp_path, capture_output=True)
        assert result.returncode == 0, result.stderr.decode()
        return result.stdout

    first = scan()
    assert scan() == first
    assert (tmp_path / "fusion_verify/findings.json").read_bytes() == first
    document = json.loads(first)
    check(document)
    assert document["counts"]["files"] > 0


def test_example_of_docs():
    block = re.search(r"```json\n(.*?)```", DOCS, re.S).group(1)
    definitions = {**SCHEMA["$defs"]["finding"], "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(definitions).validate(json.loads(block))


def names(part):
    """Every property name of the schema."""
    if isinstance(part, list):
        return set().union(*map(names, part)) if part else set()
    if not isinstance(part, dict):
        return set()
    return set(part.get("properties", {})).union(*map(names, part.values()))


def test_docs_name_every_field():
    documented = set(re.findall(r"`([a-z0-9_]+)`", DOCS))
    documented |= set(re.findall(r"`\w+\.([a-z0-9_]+)`", DOCS))
    assert names(SCHEMA) - documented == set()


def one_finding():
    return copy.deepcopy(json.loads(GOLDEN.read_text()))


@pytest.mark.parametrize("spoil", [
    lambda d: d.update(extra=1),
    lambda d: d.pop("root"),
    lambda d: d.update(schema=2),
    lambda d: d["findings"][0].update(verdict="maybe"),
    lambda d: d["findings"][0].update(replacement="x = 1\n"),
    lambda d: d["findings"][0].update(reasons=[]),
    lambda d: d["findings"][0].pop("switch"),
    lambda d: d["findings"][0]["facts"][0].update(state="true"),
    lambda d: d["findings"][0].update(start_line=0),
    lambda d: d["skipped"][0].update(line=-1),
    lambda d: d["findings"][3].update(replacement=""),
])
def test_spoilt_documents_are_refused(spoil):
    document = one_finding()
    spoil(document)
    with pytest.raises(jsonschema.ValidationError):
        check(document)
