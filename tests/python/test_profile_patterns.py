"""Each known run by itself: what is found, where, and which operator is named.

The first part has the runs of kernels that other tools look for by their types, one
by one, on the shapes that such code has. The second has look-alikes: the same types,
and a flow of shapes that is no such run.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "prof"))

import kernels  # noqa: E402

BIN = os.environ.get("NPUFUSE_BIN") or str(ROOT / "build" / "dev" / "npufuse")

# What stands around: kernels that no run takes in.
FILLER = kernels.parse_all("""
Conv2D 1,3,50,50 fp32; 8,3,3,3 fp32 -> 1,8,48,48 fp32
MaxPool 1,8,48,48 fp32 -> 1,8,24,24 fp32
TopK 700 fp32 -> 10 fp32; 10 int32
""") * 3

X = {
    "X": "2,64,128 bf16", "W": "2,64,128 fp32", "R": "2,64,1 fp32", "L": "128 bf16",
    "RB": "2,64,1 bf16", "LW": "128 fp32",
    "Q": "2,8,64,32 bf16", "KT": "2,8,32,64 bf16", "S": "2,8,64,64 bf16",
    "SW": "2,8,64,64 fp32", "M": "2,1,64,64 bool", "MB": "2,1,64,64 bf16",
    "B": "131072 uint8", "BX": "2048 uint8", "N": "1 fp32", "NB": "1 bf16", "I": "1 int64",
    "H": "2,8,64,16 bf16", "C": "2,1,64,32 bf16", "QW": "2,8,64,32 fp32",
    "HC": "2,1,64,16 bf16", "A": "2,8,64,16,1 bf16", "P": "2,8,64,16,2 bf16",
    "G": "128,512 bf16", "G2": "128,1024 bf16", "T": "128,128 bf16", "GW": "128,512 fp32",
    "WG": "128,512 bf16", "WD": "512,128 bf16", "QH": "2,64,8,32 bf16", "QKV": "2,64,8,96 bf16",
    "V": "300,40 fp32", "E": "256 int64", "ER": "256 int32", "TE": "128,96 bf16",
    "TP": "256,96 bf16", "TK": "128,2,96 bf16", "PR": "128,2,1 bf16", "TO": "128,96 bf16",
    "GN": "2,32,16,16 bf16", "GC": "32 bf16", "VR": "300 fp32", "PV": "50,7 fp32",
    "TR": "256,1 bf16", "TR1": "128,1 bf16", "QS": "2,64,256 bf16",
    "QF": "16,64,32 bf16", "KF": "16,32,64 bf16", "SF": "16,64,64 bf16", "MF": "2,1,64,64 fp32",
    "GL": "512 bf16", "VF": "16,64,16 bf16", "KVT": "2,8,64,96 bf16",
    "VW": "16,64,48 bf16", "SR": "2,8,64,1 bf16",
}


def spell(text):
    """Kernels with tensors by the names above: "Mul X R > X"."""
    out = []
    for line in text.strip().splitlines():
        typ, *words = line.split()
        cut = words.index(">")
        sides = ["; ".join(X[w] for w in side) for side in (words[:cut], words[cut + 1:])]
        out.append(kernels.parse(f"{typ} {sides[0]} -> {sides[1]}"))
    return out


def mine(tmp_path, rows, *options):
    path = tmp_path / "kernel_details.csv"
    path.write_text(kernels.table(rows), encoding="utf-8")
    done = subprocess.run([BIN, "profile", str(path), "--format", "json", "-q", *options],
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)["runs"]


def runs_twice(tmp_path, text):
    """The runs of twice the kernels, and where these begin."""
    run = spell(text)
    rows = FILLER + run + FILLER + run + FILLER
    starts = [len(FILLER), 2 * len(FILLER) + len(run)]
    return mine(tmp_path, rows), starts, len(run)


# name, kernels, pattern, operator, [first, last] of the run within the kernels
KNOWN = [
    ("bias_dropout_add", """
        Add X L > X
        DropOutDoMask X BX NB > X
        Add X X > X""", "bias_dropout_add", None, 0, 2),
    ("FA with MaskedFill", """
        BatchMatMul Q KT > S
        Mul S NB > S
        Cast S > SW
        Mul SW N > SW
        MaskedFill SW M N > SW
        SoftmaxV2 SW > SW
        Cast SW > S
        DropOutDoMask S B NB > S
        AsStrided QKV > Q
        BatchMatMul S Q > Q
        Transpose Q > QH""", "fusion_attention", "torch_npu.npu_fusion_attention", 0, 9),
    ("FA with transposes", """
        Transpose QH > Q
        Transpose QH > Q
        Transpose QH > Q
        Mul Q NB > Q
        Transpose Q > KT
        BatchMatMulV2 Q KT > S
        MaskedFill S M NB > S
        Cast S > SW
        SoftmaxV2 SW > SW
        Cast SW > S
        DropOutDoMask S B NB > S
        BatchMatMulV2 S Q > Q
        Transpose Q > QH""", "fusion_attention", "torch_npu.npu_fusion_attention", 5, 11),
    ("FA backward", """
        Transpose QH > Q
        BatchMatMulV2 Q KT > S
        Transpose S > S
        Transpose Q > Q
        BatchMatMulV2 S Q > Q
        ZerosLike S > S
        DropOutDoMask S B NB > S
        Cast S > SW
        SoftmaxGrad SW SW > SW
        Cast SW > S
        MaskedFill S M NB > S
        BatchMatMulV2 S Q > Q
        BatchMatMulV2 S Q > Q
        Mul Q NB > Q""", "fusion_attention_bwd", "torch_npu.npu_fusion_attention", 1, 12),
    ("FA with Maximum", """
        BatchMatMul Q KT > S
        RealDiv S NB > S
        Add S MB > S
        Maximum S NB > S
        SoftmaxV2 S > SW
        Cast SW > S
        BatchMatMul S Q > Q""", "fusion_attention", "torch_npu.npu_fusion_attention", 0, 6),
    ("FA with Maximum and casts", """
        BatchMatMulV2 Q KT > S
        RealDiv S NB > S
        Add S MB > S
        Cast S > SW
        Maximum SW N > SW
        Cast SW > S
        SoftmaxV2 S > S
        AsStrided QKV > Q
        BatchMatMulV2 S Q > Q""", "fusion_attention", "torch_npu.npu_fusion_attention", 0, 8),
    ("FA with BroadcastTo", """
        BatchMatMulV2 Q KT > S
        RealDiv S NB > S
        Add S MB > S
        Cast S > SW
        SoftmaxV2 SW > SW
        Cast SW > S
        BroadcastTo Q > Q
        BatchMatMulV2 S Q > Q""", "fusion_attention", "torch_npu.npu_fusion_attention", 0, 7),
    ("RMSNORM with all casts", """
        Cast X > W
        Square W > W
        ReduceMeanD W > R
        Add R N > R
        Rsqrt R > R
        Cast R > RB
        Cast RB > R
        Mul W R > W
        Cast W > X
        Cast X > W
        Mul W LW > W
        Cast W > X""", "rms_norm", "torch_npu.npu_rms_norm", 0, 11),
    ("RMSNorm with MemSet", """
        Cast X > W
        Square W > W
        MemSet R > R
        ReduceMean W I > R
        Add R N > R
        Rsqrt R > R
        Mul W R > W
        Cast W > X
        Mul X L > X""", "rms_norm", "torch_npu.npu_rms_norm", 0, 8),
    ("npu_rms_norm", """
        Cast X > W
        Square W > W
        ReduceMeanD W > R
        Add R N > R
        Rsqrt R > R
        Mul W R > W
        Cast W > X
        Mul X L > X""", "rms_norm", "torch_npu.npu_rms_norm", 0, 7),
    ("LayerNorm", """
        Cast X > W
        LayerNorm W LW LW > W R R
        Cast W > X""", "layer_norm_cast", "torch.nn.functional.layer_norm", 0, 2),
    ("AddLayerNorm", """
        Add X X > X
        LayerNorm X L L > X R R""", "add_layer_norm", "torch_npu.npu_add_layer_norm", 0, 1),
    ("AddLayerNorm, LayerNormV3", """
        Add X X > X
        LayerNormV3 X L L > X R R""", "add_layer_norm", "torch_npu.npu_add_layer_norm", 0, 1),
    ("GeluAdd", """
        Gelu X > X
        Add X X > X""", "gelu_add", None, 0, 1),
    ("RotaryMul with Slice and Cast", """
        Mul Q C > Q
        Slice Q > H
        Neg H > H
        Slice Q > H
        ConcatD H H > Q
        Cast Q > QW
        Mul QW C > QW
        Add Q QW > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 7),
    ("RotaryMul with AsStrided", """
        Mul Q C > Q
        AsStrided Q > H
        Neg H > H
        AsStrided Q > H
        ConcatD H H > Q
        Mul Q C > Q
        Add Q Q > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 6),
    ("RotaryMul and npu_rotary_mul, its prefix", """
        Mul Q C > Q
        Slice Q > H
        Neg H > H
        Slice Q > H
        ConcatD H H > Q
        Mul Q C > Q
        Add Q Q > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 6),
    ("FFN", """
        MatMulV2 T WG > G
        Swish G > G
        MatMulV2 T WG > G
        Mul G G > G
        MatMulV2 G WD > T""", "swiglu", "torch_npu.npu_swiglu", 1, 3),
    ("npu_swiglu", """
        Slice G2 > G
        Slice G2 > G
        Swish G > G
        Mul G G > G""", "swiglu", "torch_npu.npu_swiglu", 0, 3),
    ("npu_scaled_masked_softmax", """
        Cast S > SW
        Mul SW N > SW
        MaskedFill SW M N > SW
        SoftmaxV2 SW > SW
        Cast SW > S""", "scaled_masked_softmax", "torch_npu.npu_scaled_masked_softmax", 0, 4),
    ("GatherElement", """
        Transpose V > V
        Transpose V > V
        GatherElement V V > V
        Transpose V > V""", "affinity_gather_elements", None, 2, 2),
]

MORE = [
    ("rms_norm in pieces of float32", """
        Pow W N > W
        ReduceSum W I > R
        RealDiv R N > R
        Add R N > R
        Sqrt R > R
        RealDiv W R > W
        Mul W LW > W""", "rms_norm", "torch_npu.npu_rms_norm", 0, 6),
    ("neighbours as pairs", """
        Mul Q C > Q
        StridedSliceD Q > H
        Neg H > H
        StridedSliceD Q > H
        Pack H H > P
        Mul Q C > Q
        Add Q Q > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 6),
    ("halves apart", """
        Slice Q > H
        Slice Q > H
        Mul H HC > H
        Mul H HC > H
        Sub H H > H
        Mul H HC > H
        Mul H HC > H
        Add H H > H
        ConcatD H H > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 8),
    ("pairs apart", """
        StridedSliceD Q > H
        StridedSliceD Q > H
        Mul H HC > H
        Mul H HC > H
        Sub H H > H
        Mul H HC > H
        Mul H HC > H
        Add H H > H
        Pack H H > P""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 8),
    ("rotary backward by gradients of slices", """
        Mul Q C > Q
        Mul Q C > Q
        Slice Q > H
        Slice Q > H
        Neg H > H
        StridedSliceGrad H > Q
        StridedSliceGrad H > Q
        Add Q Q > Q
        Add Q Q > Q""", "rotary_mul_bwd", "torch_npu.npu_rotary_mul", 0, 8),
    ("rotary backward by zeros and copies", """
        Mul Q C > Q
        Mul Q C > Q
        Neg H > H
        ZerosLike Q > Q
        ViewCopy H > H
        ZerosLike Q > Q
        ViewCopy H > H
        Add Q Q > Q
        Add Q Q > Q""", "rotary_mul_bwd", "torch_npu.npu_rotary_mul", 0, 8),
    ("rotary of heads that a view put first, cut by AsStrided", """
        Transpose QS > Q
        Mul Q C > Q
        AsStrided QS > H
        Neg H > H
        Transpose QH > Q
        AsStrided QS > H
        ConcatD H H > Q
        Mul Q C > Q
        Transpose QH > Q
        Add Q Q > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 1, 9),
    ("rotary cut by ViewCopy", """
        Mul Q C > Q
        ViewCopy H I I I QS I I I > H
        Neg H > H
        ViewCopy H I I I QS I I I > H
        ConcatD H H > Q
        Mul Q C > Q
        Add Q Q > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 6),
    ("rotary backward, one part after the other", """
        Mul Q C > Q
        StridedSlice Q I I > H
        Neg H > H
        ZerosLike Q > Q
        ViewCopy Q I I I H I I I > Q
        StridedSlice Q I I > H
        ZerosLike Q > Q
        ViewCopy Q I I I H I I I > Q
        Add Q Q > Q
        Mul Q C > Q
        Add Q Q > Q""", "rotary_mul_bwd", "torch_npu.npu_rotary_mul", 0, 10),
    ("rotary where each product cuts its half", """
        Slice Q > H
        Mul H HC > H
        Slice Q > H
        Mul H HC > H
        Sub H H > H
        Slice Q > H
        Mul H HC > H
        Slice Q > H
        Mul H HC > H
        Add H H > H
        ConcatD H H > Q""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 10),
    ("rotary of neighbours, in float32 from the stack on", """
        Cast Q > QW
        Mul QW C > QW
        Slice Q > H
        Neg H > H
        Slice Q > H
        Pack H H > P
        Cast Q > QW
        Mul QW C > QW
        Add QW QW > QW""", "rotary_mul", "torch_npu.npu_rotary_mul", 0, 8),
    ("attention with the mask cast between, heads and batch as one axis", """
        BatchMatMulV2 QF KF > SF
        RealDiv S NB > S
        Cast MF > MB
        Add S MB > S
        SoftmaxV2 S > S
        Transpose QH > Q
        BatchMatMulV2 SF QF > QF""", "fusion_attention", "torch_npu.npu_fusion_attention", 0, 6),
    ("attention whose values are narrower", """
        BatchMatMulV2 QF KF > SF
        Muls S > S
        Add S MB > S
        SoftmaxV2 S > S
        Transpose QKV > KVT
        Slice KVT > VF
        BatchMatMulV2 SF VF > VF""", "fusion_attention", "torch_npu.npu_fusion_attention", 0, 6),
    ("attention backward whose values are narrower", """
        BatchMatMulV2 VF VF > SF
        BatchMatMulV2 SF VF > VF
        SoftmaxGrad S S > S
        Muls S > S
        BatchMatMulV2 SF QF > QF
        BatchMatMulV2 SF QF > QF""", "fusion_attention_bwd", "torch_npu.npu_fusion_attention", 0, 5),
    ("swiglu backward around the products of the one gradient", """
        Mul G G > G
        Mul G G > G
        MatMulV2 WG G > T
        MatMulV2 G WD > T
        ReduceSum G I > GL
        SwishGrad G G > G
        MatMulV2 G WD > T""", "swiglu_bwd", "torch_npu.npu_swiglu", 0, 5),
    ("swiglu backward of halves that are cut anew", """
        Slice G2 > G
        Mul G G > G
        Mul G G > G
        Slice G2 > G
        SwishGrad G G > G
        ConcatD G G > G2""", "swiglu_bwd", "torch_npu.npu_swiglu", 0, 5),
    ("geglu around a product", """
        MatMulV2 T WG > G
        Gelu G > G
        MatMulV2 T WG > G
        Mul G G > G""", "geglu", "torch_npu.npu_geglu", 1, 3),
    ("geglu backward around products", """
        Mul G G > G
        Mul G G > G
        MatMulV2 WG G > T
        MatMulV2 G WD > T
        GeluGrad G G G > G""", "geglu_bwd", "torch_npu.npu_geglu", 0, 4),
    ("gelu written out", """
        Muls X > X
        Pow X N > X
        Muls X > X
        Add X X > X
        Muls X > X
        Tanh X > X
        Adds X > X
        Mul X X > X""", "gelu", "torch_npu.npu_gelu", 0, 7),
    ("gelu written out, backward", """
        Mul X X > X
        Mul X X > X
        TanhGrad X X > X
        Muls X > X
        Muls X > X
        Square X > X
        Muls X > X
        Mul X X > X
        Add X X > X
        Muls X > X
        Add X X > X""", "gelu_bwd", "torch_npu.npu_gelu", 0, 10),
    ("gelu by erf", """
        Muls X > X
        RealDiv X N > X
        Erf X > X
        Adds X > X
        Mul X X > X""", "gelu", "torch_npu.npu_gelu", 0, 4),
    ("quick gelu", """
        Muls X > X
        Sigmoid X > X
        Mul X X > X""", "quick_gelu", "torch_npu.npu_fast_gelu", 0, 2),
    ("layer norm whose difference is computed twice", """
        Cast X > W
        ReduceMean W I > R
        Sub W R > W
        Square W > W
        ReduceMean W I > R
        Sub W R > W
        Adds R > R
        Rsqrt R > R
        Mul W R > W
        Mul LW W > W
        Cast W > X""", "layer_norm", "torch.nn.functional.layer_norm", 0, 10),
    ("rms_norm backward in float32, with the gradient of the way around", """
        Mul W LW > W
        Mul W W > W
        ReduceSum W I > LW
        Mul W W > W
        Mul W R > W
        ReduceSum W I > R
        Add W W > W
        Pow R N > R
        Muls R > R
        Mul R R > R
        BroadcastTo R I > W
        RealDiv W N > W
        Mul W W > W
        Add W W > W""", "rms_norm_bwd", "torch_npu.npu_rms_norm", 0, 13),
    ("swiglu by sigmoid", """
        SplitVD G2 > G G
        Sigmoid G > G
        Mul G G > G
        Mul G G > G""", "swiglu", "torch_npu.npu_swiglu", 0, 3),
    ("swiglu backward with its concat", """
        Mul G G > G
        Mul G G > G
        SwishGrad G G > G
        ConcatD G G > G2""", "swiglu_bwd", "torch_npu.npu_swiglu", 0, 3),
    ("geglu", """
        SplitVD G2 > G G
        Gelu G > G
        Mul G G > G""", "geglu", "torch_npu.npu_geglu", 0, 2),
    ("bias and gelu", """
        Add X L > X
        Gelu X > X""", "bias_gelu", None, 0, 1),
    ("gelu alone", """
        Gelu X > X""", "fast_gelu", "torch_npu.npu_fast_gelu", 0, 0),
    ("group norm and silu", """
        GroupNorm GN GC GC > GN
        Swish GN > GN""", "group_norm_silu", "torch_npu.npu_group_norm_silu", 0, 1),
    ("softmax backward", """
        SoftmaxGrad SW SW > SW
        MaskedFill SW M N > SW
        Mul SW N > SW
        Cast SW > S""", "scaled_masked_softmax_bwd", "torch_npu.npu_scaled_masked_softmax", 0, 2),
    ("moe permute", """
        Sort E > E ER
        FloorDiv E I > E
        GatherV2 TE E I > TP""", "moe_token_permute", "torch_npu.npu_moe_token_permute", 0, 2),
    ("moe permute, two sorts", """
        Sort E > E ER
        Sort ER > ER ER
        GatherV2 TE ER I > TP""", "moe_token_permute", "torch_npu.npu_moe_token_permute", 0, 2),
    ("moe unpermute", """
        GatherV2 TP E I > TP
        Mul TK PR > TK
        ReduceSum TK I > TO""", "moe_token_unpermute", "torch_npu.npu_moe_token_unpermute", 0, 2),
    ("moe unpermute, rows added", """
        Mul TP TR > TP
        InplaceIndexAdd TO ER TP > TO""",
     "moe_token_unpermute", "torch_npu.npu_moe_token_unpermute", 0, 1),
    ("moe unpermute, rows put back", """
        ScatterNdUpdate TK ER TP > TK
        Mul TK PR > TK
        ReduceSum TK I > TO""", "moe_token_unpermute", "torch_npu.npu_moe_token_unpermute", 0, 2),
    ("confusion transpose", """
        Transpose QH > Q
        Transpose Q > KT""", "confusion_transpose", "torch_npu.npu_confusion_transpose", 0, 1),
    ("a weight's gradient, accumulated", """
        MatMulV2 T WG > WG
        Add GW WG > GW""", "matmul_add", "mindspeed.ops.npu_matmul_add_fp32", 0, 1),
    ("addmm", """
        MatMulV2 T WG > G
        Muls G > G
        Muls G > G
        Add G G > G""", "addmm", "torch.addmm", 0, 3),
    ("Adam with decay in the gradient", """
        Axpy V V > V
        Muls V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Divs V > V
        Adds V > V
        Addcdiv V V V > V""", "fused_adam", "torch_npu.optim.NpuFusedAdam", 0, 8),
    ("Adam with decay in the gradient, lerp", """
        Add V V > V
        Lerp V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Divs V > V
        Adds V > V
        Addcdiv V V V > V""", "fused_adam", "torch_npu.optim.NpuFusedAdam", 0, 7),
    ("RMSprop", """
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Adds V > V
        Addcdiv V V V > V""", "fused_rmsprop", "torch_npu.optim.NpuFusedRMSprop", 0, 4),
    ("RMSpropTF", """
        Square V > V
        Sub V V > V
        Axpy V V > V
        Adds V > V
        Sqrt V > V
        Addcdiv V V V > V""", "fused_rmsprop_tf", "torch_npu.optim.NpuFusedRMSpropTF", 0, 5),
    ("Adadelta", """
        Muls V > V
        Addcmul V V V > V
        Adds V > V
        Sqrt V > V
        Adds V > V
        Sqrt V > V
        RealDiv V V > V
        Mul V V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V""", "fused_adadelta", "torch_npu.optim.NpuFusedAdadelta", 0, 10),
    ("BertAdam", """
        Muls V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Adds V > V
        RealDiv V V > V
        Muls V > V
        Add V V > V
        Muls V > V
        Neg V > V
        Add V V > V""", "fused_bert_adam", "torch_npu.optim.NpuFusedBertAdam", 0, 11),
    ("Lamb", """
        Muls V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Adds V > V
        RealDiv V V > V
        Axpy V V > V
        Square V > V
        ReduceSum V I > N
        Sqrt N > N
        Square V > V
        ReduceSum V I > N
        Sqrt N > N
        RealDiv N N > N
        Mul V N > V
        Add V V > V""", "fused_lamb", "torch_npu.optim.NpuFusedLamb", 0, 16),
    ("AdamW with the decay behind it", """
        Muls V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Adds V > V
        Addcdiv V V V > V
        Axpy V V > V""", "fused_adamw", "torch_npu.optim.NpuFusedAdamW", 0, 7),
    ("swiglu backward, one gradient after the other", """
        Mul G G > G
        SiluGrad G G > G
        Mul G G > G""", "swiglu_bwd", "torch_npu.npu_swiglu", 0, 2),
    ("AdamP", """
        Muls V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        RealDiv V > V
        Adds V > V
        RealDiv V V > V
        LpNormReduceV2 V > VR
        LpNormUpdateV2 VR > VR
        Adds VR > VR
        LpNormReduceV2 V > VR
        LpNormUpdateV2 VR > VR
        Adds VR > VR
        Mul V V > V
        ReduceSum V I > VR
        Abs VR > VR
        RealDiv VR VR > VR
        RealDiv VR VR > VR
        ReduceMax VR I > N
        LessEqual N N > N
        RealDiv V VR > V
        Mul V V > V
        ReduceSum V I > VR
        Mul V VR > V
        Sub V V > V
        Muls V > V
        Axpy V V > V""", "fused_adamp", "torch_npu.optim.NpuFusedAdamP", 0, 27),
    ("AdamW by lists", """
        ForeachMulScalar V PV > V PV
        ForeachLerpScalar V PV V PV > V PV
        ForeachMulScalar V PV > V PV
        ForeachAddcmulScalar V PV V PV V PV > V PV
        ForeachSqrt V PV > V PV
        ForeachDivScalarList V PV > V PV
        ForeachAddScalar V PV > V PV
        ForeachAddcdivScalarList V PV V PV V PV > V PV""",
     "fused_adamw", "torch_npu.optim.NpuFusedAdamW", 0, 7),
    ("AdamW by lists in two pieces", """
        ForeachMulScalarInplace V PV > V PV
        ForeachMulScalarInplace LW > LW
        ForeachLerpScalar V PV V PV > V PV
        ForeachLerpScalar LW LW > LW
        ForeachMulScalar V PV > V PV
        ForeachMulScalar LW > LW
        ForeachAddcmulScalar V PV V PV V PV > V PV
        ForeachAddcmulScalar LW LW LW > LW
        ForeachSqrt V PV > V PV
        ForeachSqrt LW > LW
        ForeachDivScalarListV2 V PV > V PV
        ForeachDivScalarListV2 LW > LW
        ForeachAddScalar V PV > V PV
        ForeachAddScalar LW > LW
        ForeachAddcdivScalarList V PV V PV V PV > V PV
        ForeachAddcdivScalarList LW LW LW > LW""",
     "fused_adamw", "torch_npu.optim.NpuFusedAdamW", 0, 15),
    ("AdamW by lists, a sum", """
        ForeachMulScalar V PV > V PV
        ForeachMulScalar V PV > V PV
        ForeachAddList V PV V PV > V PV
        ForeachMulScalar V PV > V PV
        ForeachAddcmulScalar V PV V PV V PV > V PV
        ForeachMaximumList V PV V PV > V PV
        ForeachSqrt V PV > V PV
        ForeachDivScalar V PV > V PV
        ForeachAddScalar V PV > V PV
        ForeachAddcdivScalar V PV V PV V PV > V PV""",
     "fused_adamw", "torch_npu.optim.NpuFusedAdamW", 0, 9),
    ("Adam by lists", """
        ForeachAddList V PV V PV > V PV
        ForeachLerpScalar V PV V PV > V PV
        ForeachMulScalar V PV > V PV
        ForeachAddcmulScalar V PV V PV V PV > V PV
        ForeachSqrt V PV > V PV
        ForeachDivScalar V PV > V PV
        ForeachAddScalar V PV > V PV
        ForeachAddcdivScalar V PV V PV V PV > V PV""",
     "fused_adam", "torch_npu.optim.NpuFusedAdam", 0, 7),
    ("RMSprop by lists", """
        ForeachMulScalar V PV > V PV
        ForeachAddcmulScalar V PV V PV V PV > V PV
        ForeachSqrt V PV > V PV
        ForeachAddScalar V PV > V PV
        ForeachAddcdivScalar V PV V PV V PV > V PV""",
     "fused_rmsprop", "torch_npu.optim.NpuFusedRMSprop", 0, 4),
]


@pytest.mark.parametrize("case", KNOWN + MORE, ids=lambda c: c[0])
def test_a_run_is_found(tmp_path, case):
    _, text, pattern, api, first, last = case
    runs, starts, _ = runs_twice(tmp_path, text)
    found = [run for run in runs if run["pattern"] == pattern and not run["part_of"]]
    assert [run["pattern"] for run in found] == [pattern], [r["pattern"] for r in runs]
    assert found[0]["api"] == api
    assert found[0]["occurrences"] == [[at + first, at + last] for at in starts]
    known = [run["pattern"] for run in runs if run["kind"] == "fusion"]
    assert known == [pattern] or found[0]["kind"] == "affinity", known


def test_sgd_by_its_loop(tmp_path):
    one = spell("""
        Muls V > V
        Axpy V V > V
        Axpy V V > V""")
    runs = mine(tmp_path, FILLER + one * 5 + FILLER)
    sgd = [run for run in runs if run["pattern"] == "fused_sgd"]
    first = len(FILLER)
    assert sgd[0]["occurrences"] == [[first + 3 * i, first + 3 * i + 2] for i in range(5)]
    assert sgd[0]["api"] == "torch_npu.optim.NpuFusedSGD"
    runs = mine(tmp_path, FILLER + one * 3 + FILLER)
    assert "fused_sgd" not in [run["pattern"] for run in runs]


def test_clipping_takes_its_factor_in(tmp_path):
    rows = spell("LpNormReduceV2 V > N\nLpNormUpdateV2 N > N\n" * 4 + """LpNormReduceV2 E > N
        LpNormUpdateV2 N > N
        Adds N > N
        Reciprocal N > N
        Muls N > N
        Minimum N N > N""")
    runs = mine(tmp_path, FILLER + rows + FILLER)
    clip = [run for run in runs if run["pattern"] == "clip_grad_norm"]
    assert clip[0]["occurrences"] == [[len(FILLER), len(FILLER) + len(rows) - 1]]


def test_a_decoder_with_some_fused_kernels(tmp_path):
    """Attention around a fused softmax, its random bits on another stream; the sum of a
    norm is the norm's, so the dropout in front of it has no sum of its own."""
    attention = spell("""
        BatchMatMul Q KT > S
        Mul S NB > S
        ScaledMaskedSoftmax S M > S
        DropOutDoMask S B NB > S
        AsStrided QKV > Q
        BatchMatMul S Q > Q""")
    bits = kernels.parse("DSAStatelessGenBitMask 1 uint8; 1 int64 -> 131072 uint8", stream=17)
    behind = spell("""
        Transpose Q > QH
        MatMul T T > T
        BroadcastTo L > X
        Add X X > X
        DropOutDoMask X BX NB > X
        Add X X > X
        LayerNormV3 X L L > X R R""")
    layer = attention[:3] + [bits] + attention[3:] + behind
    runs = mine(tmp_path, FILLER + layer * 4 + FILLER)
    first, length = len(FILLER), len(layer)
    found = {run["pattern"]: run["occurrences"] for run in runs}
    assert found["fusion_attention"] == [
        [first + i * length, first + i * length + 6] for i in range(4)]
    assert found["add_layer_norm"] == [
        [first + i * length + 12, first + i * length + 13] for i in range(4)]
    assert "bias_dropout_add" not in found
    assert found["custom"] == [
        [first + i * length + 9, first + i * length + 11] for i in range(4)]


# The same types, and no such run.
SILENT = [
    ("half a rotation: nobody adds it up", "rotary_mul", """
        Mul Q C > Q
        Slice Q > H
        Neg H > H
        Slice Q > H
        ConcatD H H > Q
        Mul Q C > Q"""),
    ("a norm of one axis and a factor of another", "rms_norm", """
        Cast X > W
        Square W > W
        ReduceMeanD W > R
        Add R N > R
        Rsqrt R > R
        Mul GW GW > GW"""),
    ("transposes of two tensors", "confusion_transpose", """
        Transpose QH > Q
        Transpose QH > Q"""),
    ("a transpose and a plain copy", "confusion_transpose", """
        Transpose QH > Q
        TensorMove Q > Q"""),
    ("the end of one gradient and the start of the next", "rotary_mul_bwd", """
        Mul Q C > Q
        Add Q Q > Q
        Mul Q C > Q
        Slice Q > H
        Neg H > H
        ViewCopy H > H
        ViewCopy H > H
        Add Q Q > Q"""),
    ("values that are wider than keys", "fusion_attention", """
        BatchMatMulV2 QF KF > SF
        Muls S > S
        SoftmaxV2 S > S
        BatchMatMulV2 SF VW > VW"""),
    ("a number added in front of a softmax", "scaled_masked_softmax", """
        Muls S > S
        Add S NB > S
        SoftmaxV2 S > S"""),
    ("tanh of no cube", "gelu", """
        Muls X > X
        Tanh X > X
        Adds X > X
        Mul X X > X"""),
    ("a gradient of another size behind the products", "swiglu_bwd", """
        Mul G G > G
        Mul G G > G
        MatMulV2 WG G > T
        MatMulV2 T T > T
        SwishGrad T T > T"""),
    ("NAdam: a second quotient", "fused_adamw", """
        Lerp V V > V
        Muls V > V
        Addcmul V V V > V
        Muls V > V
        Sqrt V > V
        Adds V > V
        Addcdiv V V V > V
        Addcdiv V V V > V"""),
    ("NAdam by lists", "fused_adamw", """
        ForeachMulScalar V PV > V PV
        ForeachLerpScalar V PV V PV > V PV
        ForeachMulScalar V PV > V PV
        ForeachAddcmulScalar V PV V PV V PV > V PV
        ForeachSqrt V PV > V PV
        ForeachAddScalar V PV > V PV
        ForeachAddcdivScalar V PV V PV V PV > V PV
        ForeachAddcdivScalar V PV V PV V PV > V PV"""),
    ("norms along an axis, as Adafactor has them", "clip_grad_norm", """
        LpNormReduceV2 PV > N
        LpNormUpdateV2 N > N
        LpNormReduceV2 PV > VR
        LpNormUpdateV2 VR > VR
        LpNormReduceV2 PV > VR
        LpNormUpdateV2 VR > VR"""),
    ("there and back", "confusion_transpose", """
        Transpose QH > Q
        Transpose Q > QH"""),
    ("a sum that stays short", "matmul_add", """
        MatMulV2 T WG > WG
        Add WG WG > WG"""),
    ("a sum of activations", "matmul_add", """
        MatMulV2 T T > T
        Add W X > W"""),
    ("rows that are not those of the sort", "moe_token_permute", """
        Sort E > E ER
        GatherV2 TE I I > TE"""),
    ("weights of other rows", "moe_token_unpermute", """
        GatherV2 TP E I > TP
        Mul TK NB > TK
        ReduceSum TK I > TO"""),
    ("rows of one expert are added", "moe_token_unpermute", """
        Mul TO TR1 > TO
        InplaceIndexAdd TP ER TO > TP"""),
    ("lists that are only scaled", "fused_adamw", """
        ForeachMulScalar V PV > V PV
        ForeachLerpScalar V PV V PV > V PV
        ForeachMulScalar V PV > V PV
        ForeachSqrt V PV > V PV
        ForeachAddScalar V PV > V PV"""),
    ("the approximation itself", "fast_gelu", "FastGelu X > X"),
    ("silu of another tensor", "swiglu", """
        Slice G2 > G
        Slice G2 > G
        Swish T > T
        Mul G G > G"""),
]


@pytest.mark.parametrize("case", SILENT, ids=lambda c: c[0])
def test_a_look_alike_is_not(tmp_path, case):
    _, pattern, text = case
    runs, _, _ = runs_twice(tmp_path, text)
    assert pattern not in [run["pattern"] for run in runs]


DOCS = '''
f("npu_scaled_masked_softmax", """
接口原型
torch_npu.npu_scaled_masked_softmax(x, mask) -> Tensor
功能描述
computes softmax of a scaled and masked tensor
""")
f("npu_softmax_with_tanh", """
功能描述
one thing and another
""")
f("npu_maximum", """
功能描述
writes a maximum, a sum, a product; softmaximum is no word of it
""")
'''


def test_operators_near_to_a_run_of_unknown_kind(tmp_path):
    (tmp_path / "torch_npu").mkdir()
    docs = tmp_path / "torch_npu" / "_op_plugin_docs.py"
    docs.write_text(DOCS, encoding="utf-8")
    unknown = spell("""
        SoftmaxV2 X > X
        Tanh X > X
        Mul X X > X""")
    runs = mine(tmp_path, (FILLER + unknown) * 4, "--docs-path", str(docs))
    assert [(run["pattern"], run["near"]) for run in runs] == [
        ("custom", ["npu_softmax_with_tanh", "npu_scaled_masked_softmax"])]


def test_a_loop_is_its_body(tmp_path):
    body = spell("""
        Maximum X X > X
        Mul X X > X
        Sub X X > X""")
    runs = mine(tmp_path, (FILLER + body * 4) * 3)
    custom = [run for run in runs if run["pattern"] == "custom"]
    assert [(run["sequence"], run["count"]) for run in custom] == [("Maximum Mul Sub", 12)]


def test_one_kernel_over_and_over_is_no_run(tmp_path):
    runs = mine(tmp_path, (FILLER + spell("Muls X > X") * 2) * 5)
    assert [run["pattern"] for run in runs] == []


def test_words_of_any_operator_find_nothing(tmp_path):
    docs = tmp_path / "_op_plugin_docs.py"
    docs.write_text(DOCS, encoding="utf-8")
    unknown = spell("Maximum X X > X\nMul X X > X")
    runs = mine(tmp_path, (FILLER + unknown) * 4, "--docs-path", str(docs))
    assert [(run["pattern"], run["near"]) for run in runs] == [("custom", [])]


def test_a_named_torch_npu_has_to_be_there(tmp_path):
    path = tmp_path / "kernel_details.csv"
    path.write_text(kernels.table(FILLER), encoding="utf-8")
    done = subprocess.run([BIN, "profile", str(path), "--docs-path", str(tmp_path / "none")],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "none" in done.stderr
