"""Evidence facts of candidates: what is said, how sure, and at which lines.

Each case is a project of small files; the first holds the candidate. A fact is
written as (state, part of the claim, lines of its places).
"""
import textwrap

import pytest

import generated

pytestmark = pytest.mark.skipif(
    generated.binary() is None, reason="no npufuse: set NPUFUSE_BIN or build it")

NORM = """\
import torch
from torch import nn

class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    {decorator}
    def forward(self, x):
        {around}
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
"""


def norm(around="if True:", decorator="# plain"):
    """A norm whose result stands in a block that begins with `around` (line 11)."""
    return NORM.format(around=around, decorator=decorator)


def scan(folder, files):
    """The findings of a scan of the files, name: text."""
    for name, text in files.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return generated.scan(folder / "in", folder / "out")["findings"]


def fact(finding, name):
    found = [f for f in finding["facts"] if f["name"] == name]
    assert len(found) == 1, (name, [f["name"] for f in finding["facts"]])
    return found[0]


def check(finding, name, expected):
    state, part, lines = expected
    got = fact(finding, name)
    assert got["state"] == state, got
    assert part in got["claim"], got
    assert [span["start_line"] for span in got["chain"]] == lines, got


TRAIN = """\
import torch

def fit(model, data):
    opt = torch.optim.AdamW(model.parameters())
    for x in data:
        model(x).sum().backward()
        opt.step()
"""

SURROUNDINGS = {
    "nothing": (
        {"m.py": norm()},
        {"graph_mode": ("unknown", "no torch.compile", []),
         "autocast": ("unknown", "no region of autocast", []),
         "gradient": ("unknown", "no backward() and no optimizer", [])}),
    "the repository trains": (
        {"m.py": norm(), "train.py": TRAIN},
        {"gradient": ("unknown", "train elsewhere; the operator has a backward", [4])}),
    "a backward of its own is none": (
        {"m.py": norm(), "f.py": """\
            import torch

            class F(torch.autograd.Function):
                @staticmethod
                def backward(ctx, g):
                    return super().backward(g)
            """},
        {"gradient": ("unknown", "no backward() and no optimizer", [])}),
    "gradients are off": (
        {"m.py": norm("with torch.no_grad():"), "train.py": TRAIN},
        {"gradient": ("proven", "gradients are off", [11])}),
    "inference mode as a decorator": (
        {"m.py": norm(decorator="@torch.inference_mode()")},
        {"gradient": ("proven", "gradients are off", [9])}),
    "where it trains": (
        {"m.py": norm("if self.training:")},
        {"gradient": ("proven", "only where `training` is true", [11])}),
    "where it does not train": (
        {"m.py": norm("if not self.training:")},
        {"gradient": ("proven", "only where `training` is false", [11])}),
    "autocast is on": (
        {"m.py": norm('with torch.autocast("npu", dtype=torch.bfloat16):')},
        {"autocast": ("proven", "autocast is on here", [11])}),
    "autocast is off": (
        {"m.py": norm('with torch.autocast("npu", enabled=False):')},
        {"autocast": ("proven", "autocast is off here", [11])}),
    "autocast by a value": (
        {"m.py": norm('with torch.amp.autocast("npu", enabled=x.is_cuda):')},
        {"autocast": ("unknown", "known at run time", [11])}),
    "autocast elsewhere": (
        {"m.py": norm(), "run.py": """\
            from torch.amp import autocast

            def run(model, x):
                with autocast("npu"):
                    return model(x)
            """},
        {"autocast": ("unknown", "opened elsewhere", [4])}),
    "autocast switched off elsewhere": (
        {"m.py": norm(), "run.py": """\
            import torch

            def run(model, x):
                with torch.autocast("npu", enabled=False):
                    return model(x)
            """},
        {"autocast": ("unknown", "no region of autocast", [])}),
    "compiled itself": (
        {"m.py": norm(decorator="@torch.compile")},
        {"graph_mode": ("proven", "given to torch.compile", [9])}),
    "compiled elsewhere": (
        {"m.py": norm(), "run.py": """\
            import torch

            def prepare(model):
                return torch.compile(model)
            """},
        {"graph_mode": ("unknown", "elsewhere in the scanned files", [4])}),
    "a compiled expression is no graph": (
        {"m.py": norm(), "run.py": 'import re\nP = re.compile("x")\n'},
        {"graph_mode": ("unknown", "no torch.compile", [])}),
    "captured elsewhere": (
        {"m.py": norm(), "run.py": """\
            import torch

            def prepare(model, x):
                return torch.cuda.make_graphed_callables(model, (x,))
            """},
        {"graph_mode": ("unknown", "captured or exported elsewhere", [4])}),
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings(tmp_path, name):
    files, expected = SURROUNDINGS[name]
    found = [f for f in scan(tmp_path, files) if f["family"] == "rms_norm"]
    assert len(found) == 1
    for key, value in expected.items():
        check(found[0], key, value)


SWIGLU = """\
import torch
import torch.nn.functional as F
from torch import nn

class MLP(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.p = nn.Linear(n, 4 * n)

    def forward(self, x, mask, n):
        y = self.p(x)
        {view}
        g, u = y.chunk(2, -1)
        return F.silu(g) * u
"""

ATTENTION = """\
import torch
from torch import nn

class A(nn.Module):
    def __init__(self, n, width=96):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(n, n), nn.Linear(n, n), nn.Linear(n, n)
        self.kept, self.width = None, width

    def forward(self, x):
        b, s, _ = x.shape
        q = self.q(x).view(b, s, 8, {width})
        k = self.k(x).view(b, s, 8, {width})
        v = self.v(x).view(b, s, 8, {width})
        {order}
        {cache}
        scores = {scores}
        w = scores.softmax(-1)
        return {out}
"""


def attention(cache="pass", bnsd=True, width="64"):
    order = ("q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)"
             if bnsd else "pass")
    scores = ("q @ k.transpose(-2, -1) * 0.125" if bnsd
              else "torch.einsum('bqnd,bknd->bnqk', q, k) * 0.125")
    out = "w @ v" if bnsd else "torch.einsum('bnqk,bknd->bqnd', w, v)"
    return ATTENTION.format(order=order, cache=cache, scores=scores, out=out, width=width)


ROPE = """\
import torch

def turn(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)

def rope(q, cos, sin{parameter}):
    cos, sin = cos{axis}, sin{axis}
    return q * cos + turn(q) * sin

class Model(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.q = torch.nn.Linear(n, n)

    def forward(self, x, cos, sin):
        q = self.q(x).view(x.shape[0], x.shape[1], 8, 64).transpose(1, 2)
        return {call}
"""


def rope(axis, parameter="", call="rope(q, cos, sin)"):
    return ROPE.format(axis=axis, parameter=parameter, call=call)


def swiglu(view):
    return SWIGLU.format(view=view)


STATIC = ("unknown", "static as far as seen", [])

INPUTS = {
    "a linear layer's result": (
        "swiglu", swiglu("pass"),
        {"contiguity": ("proven", "contiguous where it is made: y", []),
         "dynamic_shape": STATIC}),
    "turned": (
        "swiglu", swiglu("y = y.transpose(0, 1)"),
        {"contiguity": ("proven", "is a view that is not contiguous: its axes are in another "
                        "order; the replacement copies it first", [12])}),
    "sliced": (
        "swiglu", swiglu("y = y[..., : y.shape[-1] // 2]"),
        {"contiguity": ("proven", "is a view that is not contiguous", [12])}),
    "sliced and joined": (
        "swiglu", swiglu("y = torch.cat((y[..., :8], y[..., 8:16]), -1)"),
        {"contiguity": ("proven", "contiguous where it is made", [])}),
    "rows of the first axis": (
        "swiglu", swiglu("y = y[:8]"),
        {"contiguity": ("proven", "contiguous where it is made", []), "dynamic_shape": STATIC}),
    "a boolean index": (
        "swiglu", swiglu("y = y[mask > 0]"),
        {"dynamic_shape": ("proven", "rows are picked by a boolean index", [12])}),
    "nonzero": (
        "swiglu", swiglu("y = y[torch.nonzero(mask)[:, 0]]"),
        {"dynamic_shape": ("proven", "nonzero or its like", [12])}),
    "cut at a number of the data": (
        "swiglu", swiglu("y = y[: int(mask.sum().item())]"),
        {"dynamic_shape": ("proven", "read off a tensor", [12])}),
    "an index of the caller": (
        "swiglu", swiglu("y = y[mask]"),
        {"dynamic_shape": ("unknown", "an index that a caller gives", [12])}),
    "heads before the sequence": (
        "attention", attention(),
        {"layout": ("proven", "BNSD", [15]), "dynamic_shape": STATIC}),
    "heads behind the sequence": (
        "attention", attention(bnsd=False), {"layout": ("proven", "BSND", [])}),
    "a cache": (
        "attention", attention("k = torch.cat((self.kept, k), dim=2)"),
        {"dynamic_shape": ("proven", "a size of k changes from run to run: what is kept", [16])}),
    "tables by default": (
        "rope", rope(".unsqueeze(axis)", ", axis=1"),
        {"layout": ("unknown", "axis 1 by the parameter's default: BNSD", [8])}),
    "tables along axis 2": (
        "rope", rope(".unsqueeze(2)"), {"layout": ("proven", "axis 2: BSND", [8])}),
    "tables by an index": (
        "rope", rope("[:, None]"), {"layout": ("proven", "axis 1: BNSD", [8])}),
    "tables as they come": (
        "rope", rope(""), {"layout": ("unknown", "is not shown", [])}),
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs(tmp_path, name):
    family, text, expected = INPUTS[name]
    found = [f for f in scan(tmp_path, {"m.py": text}) if f["family"] == family]
    assert len(found) == 1, found
    for key, value in expected.items():
        check(found[0], key, value)


def claims(finding, name):
    return [f["claim"] for f in finding["facts"] if f["name"] == name]


def test_three_inputs_each_with_its_view(tmp_path):
    found = scan(tmp_path, {"m.py": attention()})
    got = [f for f in found[0]["facts"] if f["name"] == "contiguity"]
    assert [f["chain"][0]["start_line"] for f in got] == [15, 15, 15]
    assert [f["claim"].split()[0] for f in got] == ["q", "k", "v"]
    assert all("stated limits ask for no copy" in f["claim"] for f in got)


def test_a_parameter_is_followed_to_the_call(tmp_path):
    found = [f for f in scan(tmp_path, {"m.py": rope(".unsqueeze(1)")})
             if f["family"] == "rope"]
    first = [f for f in found[0]["facts"] if f["name"] == "contiguity"][0]
    assert first["claim"].startswith("as called in line 18, q is a view that is not contiguous")
    assert first["state"] == "unknown"  # another caller may give something else
    assert [span["start_line"] for span in first["chain"]] == [17]


def test_without_a_call_nothing_is_said(tmp_path):
    found = [f for f in scan(tmp_path, {"m.py": rope(".unsqueeze(1)", call="q")})
             if f["family"] == "rope"]
    assert claims(found[0], "contiguity") == ["what was read does not show it: q, cos, sin"]


def test_batches_that_are_padded_to_their_longest(tmp_path):
    loader = """\
        def batches(loader, tok):
            for texts in loader:
                yield tok(texts, padding="longest", return_tensors="pt")
        """
    found = scan(tmp_path, {"m.py": swiglu("pass"), "data.py": loader})
    check(found[0], "dynamic_shape", ("unknown", "padded to its longest member", [3]))


def test_padding_of_a_convolution_is_none(tmp_path):
    other = "import torch\nC = torch.nn.Conv1d(8, 8, 3, padding='same')\n"
    found = scan(tmp_path, {"m.py": swiglu("pass"), "conv.py": other})
    check(found[0], "dynamic_shape", STATIC)


# What the operator's limit on the width of a head is found to be: the fact's state,
# what is said, whether a guard stays; the verdict.
WIDTHS = {
    "written": ("64", "proven", "64 wide where it is made", False, "recommend"),
    "written, too wide": ("1024", "refuted", "1024 wide where it is made", False, "reject"),
    "by default": ("self.width", "unknown", "96 wide by default", True, "recommend"),
    "unknown": ("x.shape[-1] // 8", "unknown", "a head is at most 768 wide", True, "recommend"),
}


@pytest.mark.parametrize("name", WIDTHS)
def test_width_of_a_head(tmp_path, name):
    width, state, claim, guarded, verdict = WIDTHS[name]
    finding = scan(tmp_path, {"m.py": attention(width=width)})[0]
    assert finding["verdict"] == verdict, finding["reasons"]
    limit = [f for f in finding["facts"] if "a head is at most 768 wide" in f["claim"]][0]
    assert limit["state"] == state and claim in limit["claim"], limit
    assert ("768" in limit["guard"]) == guarded
    assert ("768" in finding["replacement"]) == guarded
    if verdict == "reject":
        assert finding["reasons"] == [
            "does not hold: a head is at most 768 wide (1024 wide where it is made)"]


def test_a_default_that_is_too_wide_is_a_caution(tmp_path):
    text = attention(width="self.width").replace("width=96", "width=1024")
    finding = scan(tmp_path, {"m.py": text})[0]
    assert finding["verdict"] == "caution"
    assert finding["reasons"][0] == "unproven: a head is at most 768 wide (1024 wide by default)"
    assert "q.shape[-1] <= 768" in finding["replacement"]
    limit = [f for f in finding["facts"] if "a head is at most 768 wide" in f["claim"]][0]
    assert "width=1024" in limit["chain"][-1]["text"]


def test_rows_of_whole_32_bytes(tmp_path):
    """64 wide is a multiple in every dtype; 72 in float32 alone, which is asked."""
    for width, state in (("64", "unknown"), ("72", "unknown")):
        text = rope(".unsqueeze(1)").replace("8, 64)", f"8, {width})")
        (tmp_path / width).mkdir()
        found = [f for f in scan(tmp_path / width, {"m.py": text}) if f["family"] == "rope"]
        fact_ = [f for f in found[0]["facts"] if "32 bytes" in f["claim"]][0]
        assert fact_["state"] == state
        assert ("64 wide in the first call" in fact_["claim"]) == (width == "64")
        assert "element_size() % 32" in fact_["guard"]


LOOKED_UP = """\
import torch
from torch import nn
from tables import TABLE

def attend(module, query, key, value, scaling):
    weights = torch.matmul(query, key.transpose(2, 3)) * scaling
    weights = nn.functional.softmax(weights, dim=-1)
    return torch.matmul(weights, value)

class A(nn.Module):
    def __init__(self, n, width=96):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(n, n), nn.Linear(n, n), nn.Linear(n, n)
        self.width, self.kind = width, "plain"

    def forward(self, x, past=None):
        b, s, _ = x.shape
        q = self.q(x).view(b, s, 8, self.width).transpose(1, 2)
        k = self.k(x).view(b, s, 8, self.width).transpose(1, 2)
        v = self.v(x).view(b, s, 8, self.width).transpose(1, 2)
        if past is not None:
            k, v = past.update(k, v, 0)
        chosen = TABLE.get(self.kind, attend)
        return chosen(self, q, k, v, scaling=self.width ** -0.5)
"""


def test_a_function_that_is_looked_up_is_followed_to_its_call(tmp_path):
    """The function is the default of a table; a cache gives the keys back."""
    tables = "TABLE = {}\n"
    found = [f for f in scan(tmp_path, {"m.py": LOOKED_UP, "tables.py": tables})
             if f["family"] == "attention"]
    assert len(found) == 1
    check(found[0], "dynamic_shape", (
        "unknown", "as called in line 24, a size of key may change: it is exchanged for what an "
        "object keeps", [22]))
    views = [f for f in found[0]["facts"] if f["name"] == "contiguity"]
    assert views[0]["claim"].startswith("as called in line 24, query is a view")
    assert [s["start_line"] for s in views[0]["chain"]] == [18]
    limit = [f for f in found[0]["facts"] if "a head is at most 768 wide" in f["claim"]][0]
    assert "96 wide by default" in limit["claim"] and limit["guard"]


def test_what_comes_back_from_a_layer_is_no_cache(tmp_path):
    text = swiglu("y = self.p(y) if n else y")
    check(scan(tmp_path, {"m.py": text})[0], "dynamic_shape", STATIC)


def test_dtype_of_the_result(tmp_path):
    """The original's against the operator's, and what is cast where they differ."""
    rounded = """\
        import torch

        def f(x, w):
            h = x.float()
            h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
            return w * h.to(x.dtype)
        """
    found = {f["file"]: f for f in scan(tmp_path, {"a.py": rounded, "b.py": swiglu("pass")})}
    check(found["a.py"], "dtype_out", (
        "proven", "the original gives torch.promote_types(x.dtype, w.dtype), the operator alone "
        "x.dtype: its input is cast", []))
    check(found["b.py"], "dtype_out", ("proven", "original and operator both give y.dtype", []))
    assert "x.to(torch.promote_types(x.dtype, w.dtype))" in found["a.py"]["replacement"]


EXPERTS = """\
import torch
import torch.nn.functional as F
from torch import nn

class Experts(nn.Module):
    def __init__(self, n, e):
        super().__init__()
        self.up = nn.Parameter(torch.empty(e, 2 * n, n))
        self.down = nn.Parameter(torch.empty(e, n, n))
        self.count = e

    def forward(self, x, index, weight):
        out = torch.zeros_like(x)
        for e in range(self.count):
            rows, at = torch.where(index == e)
            y = x[rows]
            g, u = F.linear(y, self.up[e]).chunk(2, dim=-1)
            y = F.linear(F.silu(g) * u, self.down[e]) * weight[rows, at, None]
            out.index_add_(0, rows, y.to(out.dtype))
        return out
"""


def test_experts(tmp_path):
    """A loop over experts has the facts of what stands around it, too."""
    found = {f["rule"]: f for f in scan(tmp_path, {"m.py": EXPERTS, "train.py": TRAIN})}
    check(found["moe_experts"], "gradient", (
        "unknown", "train elsewhere; the operator gives no gradient", [4]))
    check(found["moe_experts"], "dynamic_shape", ("proven", "rows an expert gets", []))
    check(found["swiglu"], "dynamic_shape", (
        "proven", "rows are picked by what nonzero or its like counts", [16]))


RISKS = """\
import torch
import torch.nn.functional as F


def attention(q, k, v):
    return (q @ k.transpose(-2, -1) * 0.125).softmax(-1) @ v


def masked(q, k, v, hidden: torch.Tensor):
    s = (q @ k.transpose(-2, -1) * 0.125).masked_fill(hidden, float("-inf"))
    return s.softmax(-1) @ v


def packed(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def swapped(x):
    up, gate = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def apart(x, w, v):
    return F.silu(F.linear(x, w)) * F.linear(x, v)
"""


def test_risks_speak_of_what_is_there(tmp_path):
    found = {f["qualname"]: " ".join(f["risks"]) for f in scan(tmp_path, {"m.py": RISKS})}
    assert found["attention"] == ""
    assert "polarity" in found["masked"] and "dropout" not in found["masked"]
    assert "copy" not in found["packed"]
    assert "the halves are put in the other order first" in found["swapped"]
    assert "two separate tensors are concatenated" in found["apart"]
