#!/usr/bin/env python3
"""Writes kernel profiles whose fusable runs are known, for the tests of `profile`.

A small decoder is trained eagerly: each module becomes the kernels that PyTorch
launches for it, a module after the other, forward, backward, optimizer. `Spelling`
says how kernels are named and what comes between them; `Dialect` how the file is
written. The truth is the list of [first_row, last_row] of every run.

    profgen.py OUT.csv [--seed N] [--set name=value ...]   truth on stdout as JSON
"""
import argparse
import dataclasses
import json
import random
from collections import defaultdict

BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "int64": 8, "bool": 1, "uint8": 1}
VOCABULARY = 1000
START_NS = 1_712_345_678_901_234_000


@dataclasses.dataclass
class Spelling:
    layers: int = 2
    steps: int = 2
    batch: int = 1
    seq: int = 64
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 32
    inner: int = 448           # of the MLP
    low: str = "bf16"          # dtype of activations
    slice: str = "Slice"       # Slice, StridedSliceD, AsStrided, SplitVD
    muls: str = "Mul"          # of a tensor by a number: Mul, Muls
    adds: str = "Add"
    square: str = "Pow"        # Pow, Square, Mul
    mean: str = "ReduceMean"   # ReduceMean, ReduceMeanD
    sum: str = "ReduceSum"     # ReduceSum, ReduceSumD, ReduceSumOp
    silu: str = "Swish"
    matmul: str = "MatMulV2"   # a name, or "mixed"
    mlp: str = "split"         # split, merged
    extra_cast: float = 0.0    # chance of a pair of casts inside a run
    memset: float = 0.0        # chance of a MemSet before a reduction
    bias: bool = False         # linear layers add a bias kernel
    dropout: bool = False      # of attention
    end_dropout: bool = False  # in front of the residual sums; with bias a run of its own
    weight_cast: bool = False  # weights are kept in float32, as under autocast
    tiled: bool = False        # matrix weights in FRACTAL_NZ
    masked_fill: bool = False  # the mask by MaskedFill instead of Add
    rotate_first: bool = False  # rotate_half comes before x * cos
    wide_gate: bool = False    # silu in float32
    lerp: bool = False
    decay: str = "first"       # of the weights, in AdamW: first, last, none
    addcmul: str = "Addcmul"   # "apart": square, scale, add
    addcdiv: str = "Addcdiv"   # "apart": divide, scale, add
    rsqrt: str = "Rsqrt"       # Rsqrt, Pow, Sqrt+Reciprocal
    fill: str = "MaskedFill"
    softmax_grad: str = "SoftmaxGrad"
    wide_cast: float = 0.0     # chance of a cast to the short dtype and back
    final_norm: bool = True
    embedding: bool = True
    comm: float = 0.0          # chance of a communication row before a kernel
    side_stream: float = 0.0   # chance of a row of another stream
    stall: float = 0.001
    host_bound: float = 0.2
    rows: int = 0              # cut the file after so many; 0: do not


@dataclasses.dataclass
class Dialect:
    old: bool = False          # Block Dim, no Device_id, no tab
    op_summary: bool = False
    one_core: bool = False     # 910A, 310P: no aic_/aiv_
    pipes: bool = True
    step: bool = True
    stream: bool = True
    crlf: bool = False
    bom: bool = False
    brackets: bool = False     # [2,4096] in shapes
    short_dtypes: bool = False  # BF16 in place of DT_BF16
    shuffle: bool = False      # rows out of order, as slices put together
    separator: str = ","


def numel(shape):
    n = 1
    for dim in shape:
        n *= dim
    return n


class T:
    """A tensor: its shape, dtype and format."""

    def __init__(self, shape, dtype, form="ND"):
        self.shape, self.dtype, self.form = tuple(shape), dtype, form

    def as_(self, dtype):
        return T(self.shape, dtype, self.form)


class K:
    """A kernel: its type, its tensors, the core it runs on."""

    def __init__(self, typ, ins, outs, core="vector", api=None):
        self.typ, self.ins, self.outs, self.core = typ, ins, outs, core
        self.api = api or typ


class Model:
    """The kernels of a step, as (label, kernels); label None is no run."""

    def __init__(self, spelling, rng):
        self.s, self.rng = spelling, rng
        s = spelling
        self.width = s.heads * s.head_dim
        self.x = T((s.batch, s.seq, self.width), s.low)
        self.row = T((s.batch, s.seq, 1), "fp32")
        self.weight = T((self.width,), s.low)
        self.q = T((s.batch, s.heads, s.seq, s.head_dim), s.low)
        self.kv = T((s.batch, s.kv_heads, s.seq, s.head_dim), s.low)
        self.table = T((s.batch, 1, s.seq, s.head_dim), s.low)
        self.scores = T((s.batch, s.heads, s.seq, s.seq), s.low)
        self.gate = T((s.batch, s.seq, s.inner), s.low)
        self.one = T((1,), "fp32")

    # Small parts.

    def muls(self, t):
        ins = [t] if self.s.muls == "Muls" else [t, self.one]
        return K(self.s.muls, ins, [t])

    def adds(self, t):
        ins = [t] if self.s.adds == "Adds" else [t, self.one]
        return K(self.s.adds, ins, [t])

    def cast(self, t, dtype):
        return K("Cast", [t], [t.as_(dtype)])

    def linear_name(self):
        if self.s.matmul == "mixed":
            return self.rng.choice(["MatMulV2", "MatMulV3", "MatMul"])
        return self.s.matmul

    def weight_of(self, k, n):
        if self.s.tiled and k % 16 == 0 and n % 16 == 0:
            return T((n // 16, k // 16, 16, 16), self.s.low, "FRACTAL_NZ")
        return T((k, n), self.s.low)

    def linear(self, m, k, n, bias=True):
        out = T((m, n), self.s.low)
        kernels = [K(self.linear_name(), [T((m, k), self.s.low), self.weight_of(k, n)], [out],
                     "cube", "Matmul")]
        if self.s.weight_cast and bias:
            kernels.insert(0, self.cast(T((k, n), "fp32"), self.s.low))
        if self.s.bias and bias:
            kernels.append(K("Add", [out, T((n,), self.s.low)], [out]))
        return kernels

    def product(self, a, b, out):
        name = "BatchMatMul" + self.rng.choice(["V2", "V3"]) \
            if self.s.matmul == "mixed" else "BatchMatMulV2"
        return K(name, [a, b], [out], "cube", "BatchMatMul")

    def halves(self, whole, half):
        if self.s.slice == "SplitVD":
            return [K("SplitVD", [whole], [half, half])]
        return [K(self.s.slice, [whole], [half]), K(self.s.slice, [whole], [half])]

    def noise(self, kernels):
        """Kernels that change nothing, put between those of a run."""
        out = []
        for i, kernel in enumerate(kernels):
            reduces = kernel.typ.startswith("Reduce")
            if i and reduces and self.rng.random() < self.s.memset:
                out.append(K("MemSet", [self.one], [kernel.outs[0]]))
            out.append(kernel)
            last = i + 1 == len(kernels)
            made = kernel.outs[0]
            if not last and made.dtype == self.s.low and self.rng.random() < self.s.extra_cast:
                out += [self.cast(made, "fp32"), self.cast(made.as_("fp32"), self.s.low)]
            if not last and made.dtype == "fp32" and self.rng.random() < self.s.wide_cast:
                out += [self.cast(made, self.s.low), self.cast(made.as_(self.s.low), "fp32")]
        return out

    # Modules.

    def rms_norm(self):
        x, wide = self.x, self.x.as_("fp32")
        if self.s.square == "Mul":
            square = K("Mul", [wide, wide], [wide])
        else:
            ins = [wide, self.one] if "Pow" in self.s.square else [wide]
            square = K(self.s.square, ins, [wide])
        axes = [] if self.s.mean == "ReduceMeanD" else [T((1,), "int64")]
        return self.noise([
            self.cast(x, "fp32"), square, K(self.s.mean, [wide] + axes, [self.row]),
            self.adds(self.row), *(K(typ, [self.row], [self.row])
                                   for typ in self.s.rsqrt.split("+")),
            K("Mul", [wide, self.row], [wide]), self.cast(wide, self.s.low),
            K("Mul", [self.weight, x], [x])])

    def rms_norm_bwd(self):
        x, wide, row = self.x, self.x.as_("fp32"), self.row
        return self.noise([
            K("Mul", [x, self.weight], [x]), K("Mul", [x, x], [x]),
            K(self.s.sum, [x], [self.weight]), self.cast(x, "fp32"),
            K("Mul", [wide, wide], [wide]), K(self.s.sum, [wide], [row]),
            K("Mul", [row, row], [row]), K("RealDiv", [row], [row]),
            K("Mul", [wide, row], [wide]), K("Mul", [wide, row], [wide]),
            K("Add", [wide, wide], [wide]), self.cast(wide, self.s.low)])

    def rotary(self, big, backward):
        half = T(big.shape[:-1] + (big.shape[-1] // 2,), big.dtype)
        parts = self.halves(big, half)
        neg = K("Neg", [half], [half])
        turn = (parts + [neg]) if backward or len(parts) == 1 else [parts[0], neg, parts[1]]
        turn.append(K("ConcatD", [half, half], [big]))
        cos = K("Mul", [big, self.table], [big])
        sin = K("Mul", [big, self.table], [big])
        first = turn + [cos] if self.s.rotate_first and not backward else [cos] + turn
        return self.noise(first + [sin, K("Add", [big, big], [big])])

    def attention(self):
        sc, q = self.scores, self.q
        wide = sc.as_("fp32")
        mask = T((self.s.batch, 1, self.s.seq, self.s.seq), "bool")
        if self.s.masked_fill:
            masked = K(self.s.fill, [sc, mask, self.one], [sc])
        else:
            masked = K("Add", [sc, mask.as_(self.s.low)], [sc])
        drop = []
        if self.s.dropout:
            bits = T((numel(sc.shape) // 8,), "uint8")
            drop = [K("StatelessDropOutGenMask", [T((4,), "int64")], [bits]),
                    K("DropOutDoMask", [sc, bits, self.one], [sc])]
        return self.noise([self.product(q, q, sc), self.muls(sc), masked,
                           self.cast(sc, "fp32"), K("SoftmaxV2", [wide], [wide]),
                           self.cast(wide, self.s.low)] + drop + [self.product(sc, q, q)])

    def attention_bwd(self):
        sc, q = self.scores, self.q
        wide = sc.as_("fp32")
        drop = [K("Mul", [sc, sc], [sc])] if self.s.dropout else []
        return self.noise([self.product(q, q, sc), self.product(sc, q, q)] + drop +
                          [self.cast(sc, "fp32"), K(self.s.softmax_grad, [wide, wide], [wide]),
                           self.cast(wide, self.s.low), self.muls(sc),
                           self.product(sc, q, q), self.product(sc, q, q)])

    def adamw(self, shape):
        t = T(shape, "fp32")
        first = [K("Lerp", [t, t], [t])] if self.s.lerp else \
            [self.muls(t), K("Add", [t, t], [t])]
        add = K("Add", [t, t], [t])
        second = [K("Mul", [t, t], [t]), self.muls(t), add] if self.s.addcmul == "apart" else \
            [K(self.s.addcmul, [t, t, t], [t])]
        update = [K("RealDiv", [t, t], [t]), self.muls(t), add] if self.s.addcdiv == "apart" else \
            [K(self.s.addcdiv, [t, t, t], [t])]
        run = first + [self.muls(t)] + second + [
            K("Sqrt", [t], [t]), K("RealDiv", [t], [t]), self.adds(t)] + update
        decay = [self.muls(t)]
        return {"first": decay + run, "last": run + decay, "none": run}[self.s.decay]

    # The step.

    def layer(self):
        s, x = self.s, self.x
        tokens, kv_width = s.batch * s.seq, s.kv_heads * s.head_dim
        heads_last = T((s.batch, s.seq, s.heads, s.head_dim), s.low)
        kv_last = T((s.batch, s.seq, s.kv_heads, s.head_dim), s.low)
        yield "rms_norm", self.rms_norm()
        for width in (self.width, kv_width, kv_width):
            yield None, self.linear(tokens, self.width, width)
        yield None, [K("Transpose", [heads_last], [self.q])]
        yield None, [K("Transpose", [kv_last], [self.kv])] * 2
        yield "rotary_mul", self.rotary(self.q, False)
        yield "rotary_mul", self.rotary(self.kv, False)
        if s.kv_heads != s.heads:
            yield None, [K("BroadcastTo", [self.kv], [self.q])] * 2
        yield "fusion_attention", self.attention()
        yield None, [K("Transpose", [self.q], [heads_last])]
        yield None, self.linear(tokens, self.width, self.width) + self.drop_x()
        yield "add_rms_norm", [K("Add", [x, x], [x])]
        yield "rms_norm", self.rms_norm()
        *mlp, (_, down) = self.mlp(tokens)
        yield from mlp
        rest = down[-1:] + self.drop_x() + [K("Add", [x, x], [x])]
        yield None, down[:-1]
        yield "bias_dropout_add" if s.bias and s.end_dropout else None, rest

    def drop_x(self):
        if not self.s.end_dropout:
            return []
        bits = T((numel(self.x.shape) // 8,), "uint8")
        return [K("DropOutDoMask", [self.x, bits, self.one], [self.x])]

    def mlp(self, tokens):
        s, g = self.s, self.gate
        silu, mul = [K(s.silu, [g], [g])], K("Mul", [g, g], [g])
        if s.wide_gate:
            wide = g.as_("fp32")
            silu = [self.cast(g, "fp32"), K(s.silu, [wide], [wide]), self.cast(wide, s.low)]
        if s.mlp == "merged":
            both = T(g.shape[:-1] + (2 * s.inner,), s.low)
            yield None, self.linear(tokens, self.width, 2 * s.inner)
            yield "swiglu", self.noise(self.halves(both, g) + silu + [mul])
        else:
            yield None, self.linear(tokens, self.width, s.inner)
            yield "swiglu:begin", silu
            yield None, self.linear(tokens, self.width, s.inner)
            yield "swiglu:end", [mul]
        yield None, self.linear(tokens, s.inner, self.width)

    def layer_bwd(self):
        s, x, g = self.s, self.x, self.gate
        tokens, kv_width = s.batch * s.seq, s.kv_heads * s.head_dim

        def both(k, n):
            return self.linear(tokens, n, k, False) + self.linear(k, tokens, n, False)
        yield None, both(s.inner, self.width)
        yield "swiglu_bwd", self.noise([
            K("Mul", [g, g], [g]), K("Mul", [g, g], [g]), K(s.silu + "Grad", [g, g], [g])])
        yield None, both(self.width, s.inner) * 2 + [K("Add", [x, x], [x])]
        yield "rms_norm_bwd", self.rms_norm_bwd()
        yield None, both(self.width, self.width)
        yield "fusion_attention_bwd", self.attention_bwd()
        if s.kv_heads != s.heads:
            yield None, [K("ReduceSum", [self.q], [self.kv])] * 2
        yield "rotary_mul_bwd", self.rotary(self.kv, True)
        yield "rotary_mul_bwd", self.rotary(self.q, True)
        yield None, both(self.width, self.width) + both(self.width, kv_width) * 2
        yield None, [K("Add", [x, x], [x])] * 2
        yield "rms_norm_bwd", self.rms_norm_bwd()

    def step(self):
        s, x = self.s, self.x
        tokens = s.batch * s.seq
        if s.embedding:
            yield None, [K("GatherV3", [T((VOCABULARY, self.width), s.low),
                                        T((s.batch, s.seq), "int64")], [x])]
        for _ in range(s.layers):
            yield from self.layer()
        if s.final_norm:
            yield "rms_norm", self.rms_norm()
            yield None, self.linear(tokens, self.width, VOCABULARY)
            yield None, self.linear(tokens, VOCABULARY, self.width, False)
            yield "rms_norm_bwd", self.rms_norm_bwd()
        for _ in range(s.layers):
            yield from self.layer_bwd()
        sizes = [(self.width, self.width), (self.width, s.inner), (self.width,)]
        for _ in range(s.layers):
            for shape in sizes:
                yield "fused_adamw", self.adamw(shape)


CORES = {"cube": "AI_CORE", "vector": "AI_VECTOR_CORE", "aicpu": "AI_CPU"}


class Writer:
    """Rows of a file, their times and the truth about them."""

    def __init__(self, spelling, dialect, rng):
        self.s, self.d, self.rng = spelling, dialect, rng
        self.rows, self.now, self.before = [], START_NS, (START_NS, 0)
        self.truth = defaultdict(list)
        self.sums = defaultdict(lambda: [0, 0, 0])  # device ns, gaps ns, bytes
        self.task = 0

    def full(self):
        return self.s.rows and len(self.rows) >= self.s.rows

    def row(self, kernel, stream, step, start, duration):
        self.task += 1
        wait = max(0, start - self.before[0] - self.before[1])
        self.before = (start, duration)
        self.rows.append((kernel, stream, step, start, duration, wait, self.task))

    def distract(self, step):
        if self.rng.random() < self.s.comm:
            comm = K("hcom_allReduce_", None, None, "comm")
            self.row(comm, "N/A", step, self.now, 150_000)
        if self.rng.random() < self.s.side_stream:
            t = T((64, 64), "fp32")
            kernel = self.rng.choice([K("Cast", [t], [t.as_("bf16")]), K("Add", [t, t], [t]),
                                      K("Cast", [t.as_("int64")], [t], "aicpu")])
            self.row(kernel, 7, step, self.now, 2_000)

    def kernel(self, kernel, step, slow):
        self.distract(step)
        wait = self.rng.randrange(50, 900)
        if slow:
            wait += self.rng.randrange(5_000, 25_000)
        if self.rng.random() < self.s.stall:
            wait += self.rng.randrange(1_000_000, 4_000_000)
        moved = sum(numel(t.shape) * BYTES[t.dtype] for t in kernel.ins + kernel.outs)
        duration = 1_200 + int(moved / 1.1 / 1000 * 1000)
        start = self.now + wait
        self.row(kernel, 2, step, start, duration)
        self.now = start + duration
        return duration, wait, moved

    def run(self, label, kernels, step, slow):
        first = None
        for kernel in kernels:
            if self.full():
                return
            cost = self.kernel(kernel, step, slow)
            here = len(self.rows) - 1
            if first is None:
                first = here
                costs = [cost]
            else:
                costs.append(cost)
        if label:
            self.note(label, first, len(self.rows) - 1, costs)

    def note(self, label, first, last, costs):
        name, _, part = label.partition(":")
        if name == "add_rms_norm":
            self.add = (first, costs)
            return
        if part == "begin":
            self.begun = (first, costs)
            return
        if part == "end":
            first, costs = self.begun[0], self.begun[1] + costs
        if name == "rms_norm" and self.add and self.add[0] == self.last_kernel(first):
            self.record("add_rms_norm", self.add[0], last, self.add[1] + costs)
        self.add = None
        self.record(name, first, last, costs)

    def last_kernel(self, row):
        """The row before `row` on the main stream."""
        row -= 1
        while self.rows[row][1] != 2:
            row -= 1
        return row

    def record(self, name, first, last, costs):
        self.truth[name].append([first, last])
        total = self.sums[name]
        total[0] += sum(c[0] for c in costs)
        total[1] += sum(c[1] for c in costs[1:])
        total[2] += sum(c[2] for c in costs)

    def fill(self, model):
        self.add = None
        for step in range(1, self.s.steps + 1):
            for label, kernels in model.step():
                slow = self.rng.random() < self.s.host_bound
                self.run(label, kernels, step, slow)
                if self.full():
                    return
            self.now += 80_000


DTYPES = {"bf16": "DT_BF16", "fp16": "FLOAT16", "fp32": "FLOAT", "int64": "INT64",
          "bool": "BOOL", "uint8": "UINT8"}
SHORT = {"bf16": "BF16", "fp16": "FP16", "fp32": "float", "int64": "int64",
         "bool": "bool", "uint8": "uint8"}
TENSOR_COLUMNS = ["Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
                  "Output Data Types", "Output Formats"]
SPLIT_PIPES = ["aicore_time(us)", "aic_mac_ratio", "aic_scalar_ratio", "aic_mte1_ratio",
               "aic_mte2_ratio", "aic_fixpipe_ratio", "aiv_time(us)", "aiv_vec_ratio",
               "aiv_scalar_ratio", "aiv_mte2_ratio", "aiv_mte3_ratio"]
ONE_PIPES = ["aicore_time(us)", "total_cycles", "vec_ratio", "mac_ratio", "scalar_ratio",
             "mte1_ratio", "mte2_ratio", "mte3_ratio", "icache_miss_rate", "memory_bound"]


def columns(d):
    block = "Block Dim" if d.old or d.one_core else "Block Num"
    names = ["Op Name", "OP Type", "Task Type", "Task Start Time(us)",
             "Task Duration(us)", "Task Wait Time(us)"] if d.op_summary else \
        ["Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)"]
    lead = (["Step Id"] if d.step else []) + ([] if d.old else ["Device_id"])
    lead += ["Model ID", "Task ID"] + (["Stream ID"] if d.stream else [])
    pipes = [] if not d.pipes else ONE_PIPES if d.one_core else SPLIT_PIPES
    return lead + names[:2] + ["OP State"] + names[2:] + [block] + TENSOR_COLUMNS + pipes


def micro(ns, tab=""):
    return f"{ns // 1000}.{ns % 1000:03d}{tab}"


def tensors(ts, d):
    dims = ";".join(("[%s]" if d.brackets else "%s") % ",".join(map(str, t.shape)) for t in ts)
    names = SHORT if d.short_dtypes else DTYPES
    return ['"""' + dims + '"""', ";".join(names[t.dtype] for t in ts),
            ";".join(t.form for t in ts)]


def pipe_cells(kernel, d):
    cube = kernel.core == "cube"
    if d.one_core:
        return ["3.1", "9000", "0.1" if cube else "0.4", "0.9" if cube else "0", "0.05",
                "0.2", "0.8", "0.5", "0.01", "0.9"]
    if cube:
        return ["9.1", "0.9", "0.1", "0.5", "0.6", "0.1"] + ["0"] * 5
    return ["0"] * 6 + ["3.1", "0.2", "0.1", "0.8", "0.5"]


def line(row, d):
    kernel, stream, step, start, duration, wait, task = row
    comm = kernel.core == "comm"
    core = "COMMUNICATION" if comm else "AI_CORE" if d.one_core else CORES[kernel.core]
    name = f"{kernel.typ}_{task}" if comm else f"aclnn{kernel.api}_{kernel.typ}_{kernel.typ}"
    cells = ([step] if d.step else []) + ([] if d.old else [0])
    cells += [4294967295, task & 65535] + ([stream] if d.stream else [])
    cells += [name, kernel.typ, "N/A" if comm else "dynamic", core,
              micro(start, "" if d.old else "\t"), micro(duration), micro(wait), 0 if comm else 24]
    rest = len(columns(d)) - len(cells)
    if comm:
        cells += ["N/A"] * rest
    else:
        cells += tensors(kernel.ins, d) + tensors(kernel.outs, d)
        cells += pipe_cells(kernel, d) if d.pipes else []
    return d.separator.join(map(str, cells))


def generate(spelling, dialect, seed):
    """The text of the file and the truth about it."""
    rng = random.Random(seed)
    writer = Writer(spelling, dialect, rng)
    writer.fill(Model(spelling, rng))
    lines = [line(row, dialect) for row in writer.rows]
    place = list(range(len(lines)))
    if dialect.shuffle:  # slices one behind the other, the last one first
        cut = len(lines) // 3
        place = place[cut:] + place[:cut]
    where = {row: i for i, row in enumerate(place)}
    end = "\r\n" if dialect.crlf else "\n"
    text = end.join([dialect.separator.join(columns(dialect))] + [lines[i] for i in place]) + end
    truth = {name: sorted([where[a], where[b]] for a, b in ranges)
             for name, ranges in writer.truth.items()}
    sums = {name: {"device_us": s[0] / 1000, "gap_us": s[1] / 1000, "bytes": s[2]}
            for name, s in writer.sums.items()}
    return ("\ufeff" if dialect.bom else "") + text, {"occurrences": truth, "sums": sums}


def settings(pairs):
    """--set name=value, into a Spelling and a Dialect."""
    spelling, dialect = Spelling(), Dialect()
    for pair in pairs:
        name, _, value = pair.partition("=")
        target = spelling if hasattr(spelling, name) else dialect
        kind = type(getattr(target, name))
        setattr(target, name, value in ("1", "true", "yes") if kind is bool else kind(value))
    return spelling, dialect


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    text, truth = generate(*settings(args.set), args.seed)
    with open(args.out, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
