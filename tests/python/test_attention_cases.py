"""What users of fused attention ran into: what a scan says of each case.

The faults are silent on a device: a mask of the wrong polarity, a bias that is
made a boolean, a causal flag without a mask. So the emitted text is looked at,
and where it is short, run with emulated operators by exec/ (test_generated.py).
"""
import textwrap

import pytest

import generated

needs_binary = pytest.mark.skipif(
    generated.binary() is None, reason="npufuse is not built"
)
pytestmark = needs_binary


def scan(tmp_path, text):
    """The attention findings of a module."""
    (tmp_path / "model.py").write_text(
        "import torch\nimport torch.nn.functional as F\n" + textwrap.dedent(text)
    )
    found = generated.scan(tmp_path / "model.py", tmp_path / "out")["findings"]
    return [f for f in found if f["family"] == "attention"]


def one(tmp_path, text):
    found = scan(tmp_path, text)
    assert len(found) == 1, found
    return found[0]


def test_a_boolean_mask_that_keeps_is_inverted_once(tmp_path):
    f = one(tmp_path, """
        class Plain(torch.nn.Module):
            def forward(self, q, k, v, keep):
                score = q @ k.transpose(-2, -1) * 0.125
                score = score.masked_fill(~keep[:, None], float("-inf"))
                return score.softmax(-1) @ v
        """)
    assert f["verdict"] == "recommend"
    fused = f["replacement"].split("else:")[0]
    assert "drop = ~keep[:, None]" in fused and fused.count("~") == 1
    assert "npu_drop_mask(q, k, None, drop)" in fused and ")[0]" in fused
    assert any("mask polarity" in risk for risk in f["risks"])
    assert '"BNSD"' in fused


@pytest.mark.parametrize("mask, kept", [
    ("scores.masked_fill(m, -1e9)", "m"),
    ("torch.where(m, scores, float('-inf'))", "~m"),
    ("torch.where(m, torch.finfo(scores.dtype).min, scores)", "m"),
    ("scores.masked_fill(m == 0, -torch.inf)", "m == 0"),
    ("scores.masked_fill(torch.logical_not(m), float('-inf'))", "torch.logical_not(m)"),
])
def test_the_polarity_is_that_of_the_fill(tmp_path, mask, kept):
    f = one(tmp_path, f"""
        def attend(q, k, v, m):
            scores = q @ k.transpose(-2, -1)
            scores = {mask}
            return scores.softmax(-1) @ v
        """)
    fused = f["replacement"].split("else:")[0]
    assert f["verdict"] == "recommend"
    call = "npu_drop_mask(q, k, None, %s)"
    assert (call % kept in fused or call % ("(%s)" % kept) in fused
            or "drop = %s\n" % kept in fused), fused


def test_a_bias_is_no_mask(tmp_path):
    f = one(tmp_path, """
        def scores_with_position_bias(q, k, v, rel_bias, scale):
            s = torch.matmul(q, k.transpose(2, 3)) * scale
            s = s + rel_bias
            p = torch.softmax(s, dim=-1, dtype=torch.float32).to(q.dtype)
            return torch.matmul(p, v)
        """)
    assert f["verdict"] == "caution"
    text = " ".join(f["reasons"])
    assert "additive bias would be lost by a bool mask" in text
    assert "cannot prove it is a 0/-inf mask" in text
    assert "npu_is_mask(rel_bias)" in f["replacement"]  # a bias stays with the original


@pytest.mark.parametrize("call, origin", [
    ("self.flash(hidden, self.proj(hidden), hidden, mask)", "nothing in sight shows"),
    ("super().forward(hidden, self.proj(hidden))", "a learned or computed bias"),
])
def test_another_method_of_a_subclass_gives_no_mask(tmp_path, call, origin):
    """The arguments of self.flash(...) stand where those of forward(...) would."""
    found = scan(tmp_path, f"""
        class Plain(torch.nn.Module):
            def __init__(self, d):
                super().__init__()
                self.proj = torch.nn.Linear(d, d)

            def forward(self, hidden, mask=None):
                q, k, v = self.proj(hidden), self.proj(hidden), self.proj(hidden)
                s = torch.matmul(q, k.transpose(-1, -2)) * 0.125
                if mask is not None:
                    s = s + mask
                return torch.matmul(s.softmax(-1), v)

        class Flash(Plain):
            def forward(self, hidden, mask=None):
                return {call}

            def flash(self, query, key, value, mask):
                return launch(query, key, value, mask)
        """)
    assert any(origin in r for f in found for r in f["reasons"]), found


@pytest.mark.parametrize("source", [
    "self.table(torch.arange(k.shape[-2])).permute(2, 0, 1)", "self.weight",
])
def test_a_learned_bias_of_the_caller_is_named(tmp_path, source):
    f = one(tmp_path, f"""
        def attend(q, k, v, attention_mask):
            s = torch.matmul(q, k.transpose(2, 3)) + attention_mask
            return torch.matmul(s.softmax(-1), v)

        class Block(torch.nn.Module):
            def __init__(self, heads):
                super().__init__()
                self.table = torch.nn.Embedding(32, heads)
                self.weight = torch.nn.Parameter(torch.zeros(heads, 8, 8))

            def forward(self, q, k, v):
                attention_mask = {source}
                return attend(q, k, v, attention_mask)
        """)
    assert f["verdict"] == "caution"
    assert any("additive bias would be lost" in reason for reason in f["reasons"])


def test_causality_by_flag_is_fused_already(tmp_path):
    found = scan(tmp_path, """
        def attend(q, k, v):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        """)
    assert [f["verdict"] for f in found] == ["reject"]
    assert "fuses scaled_dot_product_attention already" in found[0]["reasons"][0]


def test_a_flag_beside_a_mask_is_never_lost(tmp_path):
    f = one(tmp_path, """
        class Decoder(torch.nn.Module):
            def __init__(self, causal=True):
                super().__init__()
                self.causal = causal

            def forward(self, q, k, v, mask=None):
                return F.scaled_dot_product_attention(
                    q, k, v, attn_mask=mask, is_causal=self.causal and mask is None)
        """)
    # Without a mask the flag counts: that is left to the original.
    assert f["verdict"] == "caution"
    assert "mask is not None" in f["replacement"].split("else:")[0]


def test_a_mask_without_query_axis_is_expanded(tmp_path):
    f = one(tmp_path, """
        def attend(q, k, v, keep):
            s = q @ k.mT
            s = s.masked_fill(~keep[:, None, None, :], float("-inf"))
            return s.softmax(-1) @ v
        """)
    helper = next(i["text"] for i in f["inserts"] if "def npu_drop_mask" in i["text"])
    assert "query.shape[2], key.shape[2]).contiguous()" in helper


def test_a_window_keeps_its_alignment(tmp_path):
    f = one(tmp_path, """
        def window_attention(q, k, v, window):
            sq, sk = q.shape[-2], k.shape[-2]
            i = torch.arange(sq)[:, None] + (sk - sq)
            j = torch.arange(sk)[None]
            ok = j <= i
            if window != -1:
                ok &= j > i - window
            s = (q @ k.mT) / q.shape[-1] ** 0.5
            return s.masked_fill(~ok, float("-inf")).softmax(-1) @ v
        """)
    fused = f["replacement"].split("else:")[0]
    assert f["verdict"] == "recommend"
    assert "sparse_mode" not in fused  # the whole mask, which is always right
    assert "npu_drop_mask(q, k, None," in fused


def test_packed_rows_with_wide_heads_are_a_caution(tmp_path):
    f = one(tmp_path, """
        class BigHead(torch.nn.Module):
            HEAD_DIM = 256

            def forward(self, q, k, v, cu):
                out = []
                for a, b in zip(cu[:-1], cu[1:]):
                    s = torch.einsum("qhd,khd->hqk", q[a:b], k[a:b]) * self.HEAD_DIM ** -0.5
                    s = s + torch.full_like(s, float("-inf")).triu(1)
                    out.append(torch.einsum("hqk,khd->qhd", s.softmax(-1), v[a:b]))
                return torch.cat(out)
        """)
    assert f["verdict"] == "caution"
    assert any("layout" in reason for reason in f["reasons"])


def test_the_width_of_a_head_is_tested(tmp_path):
    f = one(tmp_path, """
        def attend(q, k, v):
            return (q @ k.mT).softmax(-1) @ v
        """)
    assert "q.shape[-1] <= 768" in f["replacement"]
    assert f["api"] == "torch_npu.npu_fusion_attention"


@pytest.mark.parametrize("repeat", [
    "x.repeat_interleave(n, dim=1)",
    "x[:, :, None].expand(*x.shape[:2], n, *x.shape[2:]).flatten(1, 2)",
])
def test_grouped_heads(tmp_path, repeat):
    found = scan(tmp_path, f"""
        def widen(x, n):
            return {repeat}

        def attend(q, k, v, n: int):
            k = widen(k, n)
            v = widen(v, n)
            return (q @ k.mT).softmax(-1) @ v
        """)
    assert [f["verdict"] for f in found] == ["recommend"]
    if "interleave" in repeat:
        assert found[0]["variant"] == "grouped"
        assert "widen" not in found[0]["replacement"].split("else:")[0]


def test_tiled_heads_are_not_grouped(tmp_path):
    f = one(tmp_path, """
        def attend(q, k, v, n: int):
            k = k.repeat(1, n, 1, 1)
            v = v.repeat(1, n, 1, 1)
            return (q @ k.mT).softmax(-1) @ v
        """)
    assert f["variant"] == "plain"


def test_compiled_code_is_a_caution(tmp_path):
    f = one(tmp_path, """
        class Block(torch.nn.Module):
            def forward(self, q, k, v):
                s = (q @ k.transpose(-1, -2)) * 0.125
                s = s + torch.triu(torch.full((s.size(-2), s.size(-1)), float("-inf")), 1)
                return s.softmax(-1) @ v

        net = torch.compile(Block(), fullgraph=True)
        """)
    assert f["verdict"] == "caution"
    assert any("compiled" in reason and "graph" in reason for reason in f["reasons"])


def test_weights_that_nobody_needs(tmp_path):
    """Dropped by the caller: None; kept by another: the weights stay."""
    text = """
        def attend(q, k, v):
            w = (q @ k.mT).softmax(-1)
            out = w @ v
            return out, w

        def layer(q, k, v):
            out, {name} = attend(q, k, v)
            return out{use}
        """
    dropped = one(tmp_path, text.format(name="_", use=""))
    assert dropped["verdict"] == "recommend"
    assert "w = None" in dropped["replacement"]
    kept = one(tmp_path, text.format(name="w", use=" + w.sum()"))
    assert kept["verdict"] == "caution" and "weights" in kept["variant"]


@pytest.mark.parametrize("body, why", [
    ("s = torch.tanh(s / 30.0) * 30.0", "soft-capped"),
    ("s = torch.cat([s, sinks], dim=-1)", "sink"),
    ("s = s * gate", "multiplied by a tensor"),
    ("s = s.masked_fill(gate, 0.0)", "does not take them out"),
    ("s = s.clamp(min=-5.0, max=5.0)", "clamped"),
])
def test_what_is_not_attention_says_why(tmp_path, body, why):
    f = one(tmp_path, f"""
        def attend(q, k, v, gate: torch.Tensor, sinks: torch.Tensor):
            s = q @ k.mT
            {body}
            return s.softmax(-1) @ v
        """)
    assert f["verdict"] == "reject"
    assert why in f["reasons"][0]
