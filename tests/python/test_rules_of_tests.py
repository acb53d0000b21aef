"""The rules under tests/rules: about plain torch, and wrong ones."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from layers import LAYERS
import torch

import generated
from npufuse import emulate, rule

TESTS = Path(__file__).resolve().parents[1]
BINARY = Path(os.environ.get("NPUFUSE_BIN", TESTS.parent / "build/dev/npufuse"))
needs_binary = pytest.mark.skipif(not BINARY.exists(), reason="no binary, see NPUFUSE_BIN")
PLAIN = rule.load_all(TESTS / "rules" / "rules")
WRONG = rule.load_all(TESTS / "rules" / "wrong")


def name(r):
    return r.id


def scan(folder, rules, rule_id, path):
    done = subprocess.run(
        [BINARY.resolve(), "scan", "-q", "--format", "json", "--rules", TESTS / "rules" / rules,
         "--rule", rule_id, path],
        cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("r", PLAIN, ids=name)
def test_plain_torch_is_native(r):
    assert rule.label(r) == "native"
    spec = emulate.execute(rule.operator_file(r), "op")
    assert emulate.native(spec) is getattr(torch, r.meta["operator"])
    assert not hasattr(emulate.module(), r.meta["operator"])


@pytest.mark.parametrize("r", PLAIN, ids=name)
def test_plain_rules_are_right(r):
    values = r.sample()
    got, wanted = rule.call(r.replacement, values), rule.call(r.reference, values)
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


@needs_binary
@pytest.mark.parametrize("r", PLAIN, ids=name)
def test_plain_rules_are_written(tmp_path, r):
    """The switch guards; nothing of torch_npu is written; applied code is known."""
    script = TESTS / "trial" / "train_cpu.py"
    (finding,) = scan(tmp_path, "rules", r.id, script)["findings"]
    switch = finding["switch"]["name"]
    assert finding["api"] == "torch." + r.meta["operator"]
    assert "if %s" % switch in finding["replacement"]
    assert [piece["order"] for piece in finding["inserts"]] == [0, 2]
    text = generated.apply(script.read_text(), [finding])
    assert "torch_npu" not in text and "npu_fused_ready" not in text
    module = {"__name__": "applied"}
    exec(compile(text, "applied", "exec"), module)
    layer = (module["TanhGate"] if "gate" in r.id else module["SumLinear"])(16, 16)
    x = torch.randn(4, 16)
    fused = layer(x)
    module[switch] = False
    torch.testing.assert_close(fused, layer(x), rtol=1e-5, atol=1e-5)
    (tmp_path / "applied.py").write_text(text)
    again = scan(tmp_path, "rules", r.id, "applied.py")
    assert again["findings"] == []
    assert [e["api"] for e in again["existing"]] == [finding["api"]]


@needs_binary
def test_another_call_of_torch_is_no_fused_form(tmp_path):
    (tmp_path / "model.py").write_text(
        "import torch\n\n\ndef f(x, w, v):\n"
        "    y = torch.matmul(x, v)\n"
        "    return (y.unsqueeze(-1) * w).sum(dim=-2)\n")
    assert len(scan(tmp_path, "rules", "faster_product", "model.py")["findings"]) == 1


@needs_binary
@pytest.mark.parametrize("r", WRONG, ids=name)
def test_wrong_rules_are_emitted(tmp_path, r):
    (tmp_path / "model.py").write_text(LAYERS)
    (finding,) = scan(tmp_path, "wrong", r.id, "model.py")["findings"]
    assert finding["verdict"] == "recommend"
    assert "torch_npu.%s(" % r.meta["operator"] in finding["replacement"]


def outcome(function, values):
    """Output, and gradients of the tensors by name (None: nothing flows)."""
    leaves = {k: v.detach().requires_grad_() if torch.is_tensor(v) else v
              for k, v in values.items()}
    y = rule.call(function, leaves)
    if y.requires_grad:
        y.float().sum().backward()
    return y.detach(), {k: v.grad for k, v in leaves.items() if torch.is_tensor(v)}


def differs(r, values):
    """What the replacement has wrong, as words."""
    wanted, wanted_grads = outcome(r.reference, values)
    got, got_grads = outcome(r.replacement, values)
    found = set()
    if got.dtype != wanted.dtype:
        found.add("dtype")
    if not torch.allclose(got.float(), wanted.float(), rtol=2e-2, atol=1e-2):
        found.add("value")
    if any((got_grads[k] is None) != (wanted_grads[k] is None) for k in got_grads):
        found.add("gradient")
    return found


def half(values):
    return {k: v.bfloat16() if torch.is_tensor(v) else v for k, v in values.items()}


def test_wrong_rules_are_wrong():
    wrong = {r.id: r for r in WRONG}
    for rule_id in ("wrong_one_plus", "wrong_swapped_halves"):
        assert "value" in differs(wrong[rule_id], wrong[rule_id].sample())
    norm = wrong["wrong_dropped_epsilon"]
    small = dict(norm.sample(), x=1e-3 * norm.sample()["x"])
    assert differs(norm, norm.sample()) == set()
    assert "value" in differs(norm, small)
    assert differs(wrong["wrong_missing_gradient"],
                   wrong["wrong_missing_gradient"].sample()) == {"gradient"}
    assert differs(wrong["wrong_lost_cast"], half(wrong["wrong_lost_cast"].sample())) == {"dtype"}


def test_the_state_dependent_rule_wears_out():
    r = [r for r in WRONG if r.id == "wrong_state_dependent"][0]
    worn = emulate.module().npu_wears_out.spec
    worn.calls = 0
    values = r.sample()
    assert [differs(r, values) for _ in range(20)] == [set()] * 20
    assert differs(r, values) == {"value"}
    worn.calls = 0
