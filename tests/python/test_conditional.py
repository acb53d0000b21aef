"""What a condition asks for is looked for in the code: tests/accuracy/conditional.py."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "accuracy"))
import conditional  # noqa: E402

SOURCE = '''import torch
from torch.nn.functional import silu


def gated(self, x, gate):
    """The gate: x * silu(gate)."""
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
    y = self.weight * y
    # y * gate
    return y * silu(gate)


def other(gate, y):
    return y * silu(gate)
'''
LABEL = {"file": "model.py", "start": 7, "end": 8, "family": "rms_norm",
         "variant": "gated_after_norm", "why": "the gate multiply stays outside",
         "replaceable": "conditional"}
CALL = "    y = torch_npu.npu_rms_norm(x, gamma, epsilon=self.eps)[0]\n"
GAMMA = "    gamma = self.weight\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(SOURCE)
    return tmp_path


def finding(replacement, start=7, end=8):
    original = "".join(line + "\n" for line in SOURCE.split("\n")[start - 1:end])
    return {"file": "model.py", "family": "rms_norm", "verdict": "recommend",
            "start_line": start, "end_line": end, "original": original,
            "replacement": replacement}


def gather(folder, hit, **label):
    labels = [dict(LABEL, **label)]
    return conditional.gather(labels, [hit], folder, lambda *_: True)


def test_the_lines_that_hold_a_condition_are_named(folder):
    [(_, _, held, missing)] = gather(folder, finding(GAMMA + CALL))
    assert missing == []
    assert held == [("emitted", "gamma = self.weight"), ("stays", "return y * silu(gate)")]


def test_a_replacement_without_the_line_fails(folder, capsys):
    ones = "    gamma = torch.ones(x.shape[-1])\n"
    hit = finding(ones + CALL)
    assert not conditional.judge([LABEL], [hit], folder, lambda *_: True)
    assert "condition not held: model.py:7" in capsys.readouterr().out


def test_a_line_of_the_original_is_not_emitted(folder):
    original = finding("")["original"]
    [(_, _, _, missing)] = gather(folder, finding(original + CALL))
    assert len(missing) == 1


def test_what_is_replaced_does_not_stay(folder):
    """Neither a docstring, a comment nor another function counts."""
    [(_, _, _, missing)] = gather(folder, finding(GAMMA + CALL, 7, 10))
    assert [text.split(":")[0] for text in missing] == ["stays"]


def test_a_condition_that_nothing_speaks_of_fails(folder):
    [(_, _, held, missing)] = gather(folder, finding(GAMMA + CALL), variant="new", why="new")
    assert (held, len(missing)) == ([], 1)


def test_only_recommends_on_conditional_sites_count(folder):
    hit = finding(CALL)
    assert gather(folder, hit, replaceable="yes") == []
    assert gather(folder, dict(hit, verdict="caution")) == []


def test_the_page_has_each_line_once_for_all_sites(folder):
    hit = finding(GAMMA + CALL)
    labels = [LABEL, dict(LABEL, start=6)]
    text = "\n".join(conditional.page(
        conditional.gather(labels, [hit], folder, lambda *_: True)))
    assert "2 sites, 1 kinds of condition" in text
    assert text.count("+ gamma = self.weight") == 1
    assert "- model.py:7\n- model.py:6" in text
