"""Emitted code: that it keeps the original, and that it computes the same.

Each file of exec/ is scanned, its findings are applied to a copy, and both
are run forward and backward with emulated operators. The same checks are
first tried on findings written by hand, right ones and wrong ones.
"""
import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import generated
from generated import MODES

HERE = Path(__file__).resolve().parent
FILES = sorted((HERE / "exec").glob("*.py"))
EXAMPLE = generated.ROOT / "examples" / "tiny_decoder"
needs_binary = pytest.mark.skipif(
    generated.binary() is None, reason="npufuse is not built"
)

# ------------------------------------------------------ the sources themselves


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_source_runs(path):
    """Each exec file works by itself, in every mode that it takes."""
    module = generated.load(path)
    pair = generated.Pair(path, path, [])
    assert module.EXPECT
    for mode in ("fp32", "bf16", "fp16", "autocast"):
        expected = len(module.inputs(torch.float32))
        assert len(list(generated.cases(pair, mode))) == expected, mode
        generated.check_eager(pair, mode)


# ------------------------------------------------------------- real findings


@pytest.fixture(scope="module")
def scanned(tmp_path_factory):
    """Findings of exec/, and of the rewritten copies."""
    folder = tmp_path_factory.mktemp("generated")
    shutil.copytree(
        HERE / "exec", folder / "before", ignore=shutil.ignore_patterns("__*")
    )
    first = generated.scan(folder / "before", folder / "out1")
    (folder / "after").mkdir()
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        findings = generated.written(first, path.name)
        if findings:
            text = generated.apply(text, findings)
        (folder / "after" / path.name).write_text(text, encoding="utf-8")
    second = generated.scan(folder / "after", folder / "out2")
    return folder, first, second


@pytest.fixture(params=FILES, ids=lambda p: p.stem)
def pair(request, scanned):
    folder, first, _ = scanned
    path = request.param
    findings = generated.written(first, path.name)
    if not findings:
        pytest.fail("no finding with a replacement in " + path.name)
    return generated.Pair(
        folder / "before" / path.name, folder / "after" / path.name, findings
    )


@needs_binary
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_found(path, scanned):
    counts = {}
    for finding in generated.written(scanned[1], path.name):
        counts[finding["family"]] = counts.get(finding["family"], 0) + 1
    assert counts == generated.load(path).EXPECT


@needs_binary
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_applied_text(path, scanned):
    findings = generated.written(scanned[1], path.name)
    if not findings:
        pytest.fail("no finding with a replacement in " + path.name)
    text = path.read_text(encoding="utf-8")
    generated.check_applied(text, findings)
    for finding in findings:  # each one alone, too
        generated.check_applied(text, [finding])


@needs_binary
@pytest.mark.parametrize("mode", MODES)
def test_fused_equals_original(pair, mode):
    ran = generated.check_fused(pair, mode)
    assert ran or mode not in ("fp32", "bf16", "fp16", "autocast")


@needs_binary
@pytest.mark.parametrize("mode", ("fp32", "bf16", "autocast"))
def test_outside_the_limits_stays_eager(pair, mode):
    generated.check_excluded(pair, mode)


@needs_binary
def test_other_configurations_stay_eager(pair):
    generated.check_others(pair)


@needs_binary
@pytest.mark.parametrize("mode", ("fp32", "bf16", "fp16", "autocast"))
def test_without_a_device_nothing_changes(pair, mode):
    generated.check_eager(pair, mode)


@needs_binary
def test_the_switch_of_the_project_decides(pair):
    generated.check_switched_off(pair)


@needs_binary
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_second_scan_finds_it_fused(path, scanned):
    _, first, second = scanned
    assert generated.written(second, path.name) == []
    operators = {
        generated.operator_of(f) for f in generated.written(first, path.name)
    }
    have = {
        e["api"].rpartition(".")[2]
        for e in second["existing"]
        if e["file"] == path.name
    }
    assert operators <= have


# Trains with every device predicate of the project answering yes.
DRIVER = """
import sys
sys.path[:0] = sys.argv[1:3]
import train
from npufuse import emulate
mine = [m for n, m in sorted(sys.modules.items()) if n.startswith("decoder")]
with emulate.answering(*mine):
    train.train(train.parse_args(sys.argv[3:]))
print(*sorted(emulate.module().calls), file=sys.stderr)
"""


def losses(command, environment=None):
    """The losses that a training run printed, and its last words."""
    result = subprocess.run(
        [sys.executable, "-B", *command, "--steps", "5"],
        env=dict(os.environ, **(environment or {})),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    lines = [line.split(" | ")[1] for line in result.stdout.splitlines()]
    return [float(line.split()[1]) for line in lines], result.stderr.split()


@needs_binary
def test_example_project(tmp_path):
    """What is found in the example applies and trains: without a device as
    before, to the digit; with emulated operators the same but for rounding."""
    source = tmp_path / "project"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__"))
    found = generated.written(generated.scan(source, tmp_path / "out"))
    by_file = {}
    for finding in found:
        by_file.setdefault(finding["file"], []).append(finding)
    for name, findings in by_file.items():
        text = (source / name).read_text(encoding="utf-8")
        changed = generated.check_applied(text, findings)
        (source / name).write_text(changed, encoding="utf-8")
    assert {f["family"] for f in found} >= {"rms_norm", "swiglu"}

    wanted, _ = losses([EXAMPLE / "train.py"])
    assert losses([source / "train.py"])[0] == wanted
    switches = {
        f["switch"]["name"]: generated.ENV_ON
        for f in found
        if f["switch"]["kind"] == "environment"
    }
    package = generated.ROOT / "python"
    driver = ["-c", DRIVER, package, source, "--use-fused-rmsnorm"]
    got, operators = losses(driver, switches)
    assert max(abs(a - b) for a, b in zip(got, wanted)) < 2e-3
    # Those of other families need operators that are not emulated yet.
    emulated = vars(generated.emulate.module())
    expected = {generated.operator_of(f) for f in found} & set(emulated)
    assert set(operators) == expected


# ----------------------------------------------------- findings made by hand

IMPORT = '''\
try:  # npufuse: absent, or present without a working driver
    import torch_npu
except Exception:
    torch_npu = None


def npu_fused_ready(operator, *tensors):
    """Whether torch_npu has `operator` and every tensor is on an NPU."""
    return hasattr(torch_npu, operator) and all(t.device.type == "npu" for t in tensors)


'''


def by_hand(name, start, end, operator, guard, body, **switch):
    """A finding for the lines of an exec file: `body` under `guard`."""
    text = (HERE / "exec" / (name + ".py")).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    first = next(i for i, l in enumerate(lines) if start in l)
    last = next(i for i, l in enumerate(lines[first:], first) if end in l)
    original = "".join(lines[first : last + 1])
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    condition = 'npu_fused_ready("%s", %s)' % (operator, guard)
    replacement = "%sif %s:\n" % (indent, condition)
    for line in body:
        replacement += "%s    %s\n" % (indent, line)
    replacement += "%selse:\n" % indent
    for line in original.splitlines(keepends=True):
        replacement += "    " + line if line.strip() else line
    tree = ast.parse(text)
    after = next(
        n.lineno
        for n in tree.body
        if not isinstance(n, (ast.Import, ast.ImportFrom, ast.Expr))
    )
    return text, {
        "api": "torch_npu." + operator,
        "file": name + ".py",
        "start_line": first + 1,
        "end_line": last + 1,
        "original": original,
        "replacement": replacement,
        "inserts": [{"line": after, "order": 1, "text": IMPORT}],
        "switch": dict({"kind": "device_only", "name": ""}, **switch),
    }


def norm_finding(name, tensor, body, start="= x.float()", end="return"):
    guard = '%s) and (%s.dim() >= 2' % (tensor, tensor)
    return by_hand(name, start, end, "npu_rms_norm", guard, [body])


NORM = "return torch_npu.npu_rms_norm(%s, %s, epsilon=%s)[0]"
HAND = {
    "rms_llama": lambda: norm_finding(
        "rms_llama",
        "hidden_states",
        (
            "return torch_npu.npu_rms_norm(hidden_states, "
            "self.weight if self.weight.dtype == hidden_states.dtype else "
            "self.weight.float(), epsilon=self.variance_epsilon)[0]"
            ".to(torch.promote_types(self.weight.dtype, hidden_states.dtype))"
        ),
        start="input_dtype =",
    ),
    "rms_gemma": lambda: norm_finding(
        "rms_gemma",
        "x",
        NORM % ("x", "1.0 + self.weight.float()", "self.eps"),
        start="output = self._norm",
    ),
    "rms_no_weight": lambda: norm_finding(
        "rms_no_weight",
        "x",
        NORM % ("x", "torch.ones(x.shape[-1], device=x.device)", "self.eps"),
    ),
    "swiglu_swapped": lambda: by_hand(
        "swiglu_swapped",
        "x, gate =",
        "return",
        "npu_swiglu",
        "x) and (x.numel() > 0",
        [
            "x, gate = x.chunk(2, dim=-1)",
            "return torch_npu.npu_swiglu(torch.cat([gate, x], dim=-1), dim=-1)",
        ],
    ),
    "swiglu_split": lambda: by_hand(
        "swiglu_split",
        "gate, up =",
        "return",
        "npu_swiglu",
        "packed) and (packed.numel() > 0",
        ["return torch_npu.npu_swiglu(packed.contiguous(), dim=-1)"],
    ),
    "geglu_swapped": lambda: by_hand(
        "geglu_swapped",
        "x, gate =",
        "return",
        "npu_geglu",
        "x",
        [
            "return torch_npu.npu_geglu(self.proj(x), dim=-1, approximate=0, "
            "activate_left=False)[0]"
        ],
    ),
    "quick_gelu": lambda: by_hand(
        "quick_gelu",
        "return x",
        "return x",
        "npu_fast_gelu",
        "x",
        ["return torch_npu.npu_fast_gelu(x)"],
    ),
}


def hand_pair(tmp_path, text, finding):
    original = HERE / "exec" / finding["file"]
    rewritten = tmp_path / finding["file"]
    rewritten.write_text(generated.check_applied(text, [finding]))
    return generated.Pair(original, rewritten, [finding])


@pytest.mark.parametrize("name", HAND)
def test_right_findings_pass(name, tmp_path):
    pair = hand_pair(tmp_path, *HAND[name]())
    ran = {mode: generated.check_fused(pair, mode) for mode in MODES}
    assert all(ran[mode] for mode in ("fp32", "bf16", "fp16", "autocast"))
    generated.check_excluded(pair, "fp32")
    generated.check_eager(pair, "bf16")


# name, what a faulty emitter writes, instead of, the mode that shows it
FAULTS = [
    ("rms_llama", "epsilon=self.variance_epsilon", "epsilon=1e-6", "fp32"),
    (
        "rms_llama",
        ".to(torch.promote_types(self.weight.dtype, hidden_states.dtype))",
        "",
        "bf16-input",
    ),
    ("rms_gemma", "1.0 + self.weight.float()", "1.0 + self.weight", "bf16"),
    ("rms_gemma", "1.0 + self.weight.float()", "self.weight", "fp32"),
    ("rms_gemma", "self.weight.float()", "self.weight.detach().float()", "fp32"),
    ("swiglu_swapped", "[gate, x]", "[x, gate]", "fp32"),
    ("swiglu_split", "packed.contiguous()", "packed", "fp32"),
    ("geglu_swapped", "activate_left=False", "activate_left=True", "fp32"),
    ("geglu_swapped", "approximate=0", "approximate=1", "fp32"),
    ("quick_gelu", "npu_fast_gelu(x)", "npu_fast_gelu(x).float()", "bf16"),
]


@pytest.mark.parametrize("name, right, wrong, mode", FAULTS)
def test_wrong_values_are_caught(name, right, wrong, mode, tmp_path):
    text, finding = HAND[name]()
    assert right in finding["replacement"]
    finding["replacement"] = finding["replacement"].replace(right, wrong, 1)
    pair = hand_pair(tmp_path, text, finding)
    with pytest.raises((AssertionError, RuntimeError)):
        generated.check_fused(pair, mode)


def test_a_missing_guard_term_is_caught(tmp_path):
    text, finding = HAND["swiglu_swapped"]()
    finding["replacement"] = finding["replacement"].replace(
        " and (x.numel() > 0)", ""
    )
    pair = hand_pair(tmp_path, text, finding)
    with pytest.raises((AssertionError, RuntimeError)):
        generated.check_excluded(pair, "fp32")


def test_a_branch_that_never_runs_is_caught(tmp_path):
    text, finding = HAND["quick_gelu"]()
    finding["replacement"] = finding["replacement"].replace(
        "if npu_fused", "if False and npu_fused"
    )
    pair = hand_pair(tmp_path, text, finding)
    with pytest.raises(AssertionError, match="did not run"):
        generated.check_fused(pair, "fp32")


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("    return x * torch", "    return torch"),
        ("1.702 * x)\n", "1.702*x)\n"),
        ("1.702 * x)\n", "1.702 * x)  # kept\n"),
        ("else:\n", "else:\n            x = x + 0\n"),
        ("else:", "elif True:"),
        ('"npu_fast_gelu", x', '"npu_gelu", x'),
        ("if npu_fused_ready", "if not npu_fused_ready"),
        ('if npu_fused_ready("npu_fast_gelu", x)', "if x.is_npu"),
    ],
)
def test_a_changed_original_is_caught(right, wrong):
    text, finding = HAND["quick_gelu"]()
    replacement = finding["replacement"]
    at = replacement.rindex(right)
    finding["replacement"] = (
        replacement[:at] + wrong + replacement[at + len(right) :]
    )
    with pytest.raises(AssertionError):
        generated.check_applied(text, [finding])


def test_a_missing_import_is_caught():
    text, finding = HAND["quick_gelu"]()
    finding["inserts"] = []
    with pytest.raises(AssertionError, match="guarded import"):
        generated.check_applied(text, [finding])


def test_a_narrow_import_guard_is_caught():
    text, finding = HAND["quick_gelu"]()
    finding["inserts"][0]["text"] = IMPORT.replace("Exception", "ImportError")
    with pytest.raises(AssertionError, match="guarded import"):
        generated.check_applied(text, [finding])


def test_a_stale_original_is_caught():
    text, finding = HAND["quick_gelu"]()
    with pytest.raises(AssertionError):
        generated.check_applied(text.replace("1.702", "1.703"), [finding])


def test_equal_inserts_are_made_once():
    text, finding = HAND["quick_gelu"]()
    other = dict(finding, start_line=1, end_line=1)
    other["original"] = text.splitlines()[0]
    other["replacement"] = other["original"]
    assert generated.apply(text, [finding, other]).count("import torch_npu") == 1
