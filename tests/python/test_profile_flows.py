"""Other flows of known runs: by hand, by autograd, and with masks made on the way."""
import pytest
from test_profile_patterns import runs_twice, mine, spell, FILLER

# name, kernels, pattern; the run is all of the kernels
FLOWS = [
    ("squares summed by one kernel", """
        Cast X > W
        SquareSumV1 W > R
        Muls R > R
        Adds R > R
        Rsqrt R > R
        Mul W R > W
        Cast W > X
        Mul X L > X""", "rms_norm"),
    ("a root by a power", """
        Cast X > W
        PowTensorScalar W N > W
        ReduceMeanV2 W I > R
        Adds R > R
        Pow R N > R
        Mul W R > W
        Cast W > X
        Mul X L > X""", "rms_norm"),
    ("the gradient of a norm, its mean spread", """
        Mul X X > X
        ReduceSum X > L
        Mul X L > X
        Cast X > W
        Mul W W > W
        ReduceSum W > R
        Mul W R > W
        Pow R N > R
        Muls R > R
        Mul R R > R
        BroadcastTo R > W
        Divs W > W
        Pow W N > W
        Muls W > W
        Mul W W > W
        Add W W > W
        Cast W > X""", "rms_norm_bwd"),
    ("the gradient of a gate by sigmoid", """
        Mul G G > G
        Mul G G > G
        Mul G G > G
        Mul G G > G
        SigmoidGrad G G > G
        Add G G > G""", "swiglu_bwd"),
    ("a softmax in its steps", """
        BatchMatMulV2 Q KT > S
        Muls S > S
        Add S MB > S
        ReduceMax S I > SR
        Sub S SR > S
        Exp S > S
        ReduceSum S I > SR
        RealDiv S SR > S
        BatchMatMulV2 S Q > Q""", "fusion_attention"),
    ("a mask made between", """
        BatchMatMulV2 Q KT > S
        Muls S > S
        Cast M > MB
        Sub MB NB > MB
        Muls MB > MB
        Add S MB > S
        SoftmaxV2 S > S
        BatchMatMulV2 S Q > Q""", "fusion_attention"),
    ("AdamW with both moments corrected", """
        Muls V > V
        Muls V > V
        Add V V > V
        Muls V > V
        Mul V V > V
        Muls V > V
        Add V V > V
        Divs V > V
        Divs V > V
        Sqrt V > V
        Adds V > V
        RealDiv V V > V
        Muls V > V
        Sub V V > V""", "fused_adamw"),
]

# The same kernels, and no such run.
NONE = [
    ("scores that are capped by tanh", """
        BatchMatMulV2 Q KT > S
        RealDiv S NB > S
        Tanh S > S
        Muls S > S
        SoftmaxV2 S > S
        BatchMatMulV2 S Q > Q"""),
    ("a quotient of scores and no exponential", """
        BatchMatMulV2 Q KT > S
        Muls S > S
        ReduceMax S I > SR
        Sub S SR > S
        ReduceSum S I > SR
        RealDiv S SR > S
        BatchMatMulV2 S Q > Q"""),
    ("a sum of squares that no root follows", """
        Cast X > W
        SquareSumV1 W > R
        Muls R > R
        Adds R > R
        Mul W R > W"""),
    ("an update that squares nothing", """
        Muls V > V
        Add V V > V
        Muls V > V
        Add V V > V
        Sqrt V > V
        Adds V > V
        Addcdiv V V V > V"""),
]


@pytest.mark.parametrize("case", FLOWS, ids=lambda c: c[0])
def test_a_flow_is_found_whole(tmp_path, case):
    _, text, pattern = case
    runs, starts, length = runs_twice(tmp_path, text)
    found = [run for run in runs if run["kind"] == "fusion"]
    assert [(run["pattern"], run["occurrences"]) for run in found] == \
        [(pattern, [[start, start + length - 1] for start in starts])]


@pytest.mark.parametrize("case", NONE, ids=lambda c: c[0])
def test_a_flow_that_lacks_a_step_is_none(tmp_path, case):
    runs, _, _ = runs_twice(tmp_path, case[1])
    assert [run["pattern"] for run in runs if run["kind"] == "fusion"] == []


def test_a_late_decay_belongs_to_the_update_in_front(tmp_path):
    """Weights of one shape: only the ends of the series tell which way it is."""
    update = spell("""
        Muls V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Adds V > V
        Addcdiv V V V > V""")
    decay = spell("Muls V > V")
    at = len(FILLER)
    for rows, ranges in [
            ((update + decay) * 3, [[at, at + 7], [at + 8, at + 15], [at + 16, at + 23]]),
            ((decay + update) * 3, [[at, at + 7], [at + 8, at + 15], [at + 16, at + 23]]),
            (update + (decay + update) * 2, [[at, at + 6], [at + 7, at + 14], [at + 15, at + 22]]),
    ]:
        runs = mine(tmp_path, FILLER + rows + FILLER)
        assert [run["occurrences"] for run in runs if run["pattern"] == "fused_adamw"] == [ranges]


def test_the_last_scaling_of_clipping_is_no_decay(tmp_path):
    update = spell("""
        Muls V > V
        Axpy V V > V
        Muls V > V
        Addcmul V V V > V
        Sqrt V > V
        Adds V > V
        Addcdiv V V V > V""")
    scale = spell("Muls V > V")
    at = len(FILLER)
    runs = mine(tmp_path, FILLER + scale * 3 + update * 3 + FILLER)
    assert [run["occurrences"] for run in runs if run["pattern"] == "fused_adamw"] == \
        [[[at + 3, at + 9], [at + 10, at + 16], [at + 17, at + 23]]]
    decayed = mine(tmp_path, FILLER + scale * 2 + (scale + update) * 3 + FILLER)
    assert [run["occurrences"] for run in decayed if run["pattern"] == "fused_adamw"] == \
        [[[at + 2, at + 9], [at + 10, at + 17], [at + 18, at + 25]]]
