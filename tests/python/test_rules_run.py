"""Each bundled rule, run: its replacement gives what its reference gives."""
import inspect

import pytest
import torch

from npufuse import cases, emulate, rule

RULES = rule.load_all()
VARIANTS = [(r, v) for r in RULES for v in rule.variants(r)]
IDS = ["%s-%s" % (r.id, v.name) for r, v in VARIANTS]
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def sample(r, variant, dtype, weight_dtype=None):
    """The rule's own sample with the variant's settings; leaves with grad."""
    values = dict(r.sample(), **variant.settings)
    for name, value in values.items():
        if cases.is_float(value):
            wanted = weight_dtype if name == "weight" and weight_dtype else dtype
            values[name] = value.to(wanted).requires_grad_(name not in rule.constants(r))
    return values


def outcome(function, values, dtype=None, backward=True):
    """Output and gradients by input name; `dtype` is what the caller casts to,
    as emitted code does with the eager result's dtype."""
    values = {
        k: v.detach().requires_grad_(v.requires_grad) if cases.is_float(v) else v
        for k, v in values.items()
    }
    y = rule.call(function, values)
    y = y if dtype is None else y.to(dtype)
    if not backward:
        return y.detach(), {}
    torch.manual_seed(5)
    y.backward(torch.randn(y.shape).to(y.dtype))
    return y.detach(), {
        k: v.grad for k, v in values.items() if cases.is_float(v)
    }


def same(actual, expected, rounding):
    """Equal dtype and shape, close for a value that was rounded to `rounding`."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    tolerance = TOLERANCE[rounding]
    scale = max(1.0, expected.double().abs().max().item())
    error = (actual.double() - expected.double()).abs().max().item()
    assert error <= tolerance * scale, error


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("r, variant", VARIANTS, ids=IDS)
def test_replacement_equals_reference(r, variant, dtype):
    values = sample(r, variant, dtype)
    wanted, wanted_grads = outcome(r.reference, values)
    before = emulate.module().calls[r.meta["operator"]]
    has_backward = rule.has_backward(r)  # else written for code without gradients only
    got, got_grads = outcome(r.replacement, values, wanted.dtype, has_backward)
    assert emulate.module().calls[r.meta["operator"]] == before + 1
    same(got, wanted, dtype)
    for name, grad in wanted_grads.items() if has_backward else ():
        assert (grad is None) == (got_grads[name] is None), name
        if grad is not None:
            same(got_grads[name], grad, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("weight_dtype", DTYPES, ids=str)
def test_rms_norm_with_a_weight_of_another_dtype(dtype, weight_dtype):
    r = [r for r in RULES if r.id == "rms_norm"][0]
    for variant in rule.variants(r):
        values = sample(r, variant, dtype, weight_dtype)
        wanted, _ = outcome(r.reference, values)
        got, _ = outcome(r.replacement, values, wanted.dtype)
        rounding = max((dtype, weight_dtype), key=TOLERANCE.get)
        same(got, wanted, rounding)


def test_small_weights_survive_one_plus():
    """1 + w rounded to bfloat16 loses w = 0.003; the replacement must not."""
    r = [r for r in RULES if r.id == "rms_norm"][0]
    x = torch.randn(64, 64)
    weight = torch.full((64,), 0.003).bfloat16()
    y = r.replacement(x, weight, 1e-6, one_plus=True)
    plain = r.replacement(x, None, 1e-6)
    torch.testing.assert_close(y, plain * (1 + weight.float()))
    assert not torch.equal(y, plain)


@pytest.mark.parametrize("r, variant", VARIANTS, ids=IDS)
def test_requires_holds_for_the_sample(r, variant):
    refused = []
    for dtype in DTYPES:
        try:
            return rule.call(r.requires, sample(r, variant, dtype))
        except AssertionError as error:
            refused.append(str(error))
    pytest.fail("; ".join(refused))


@pytest.mark.parametrize("r, variant", VARIANTS, ids=IDS)
def test_the_variant_tree_is_the_reference(r, variant):
    """The folded tree computes what the reference does with its settings."""
    import ast

    module = ast.fix_missing_locations(
        ast.Module(body=[variant.function], type_ignores=[])
    )
    scope = dict(r.reference.__globals__)
    exec(compile(module, r.path, "exec"), scope)
    values = sample(r, variant, torch.float32)
    assert torch.equal(
        rule.call(scope["reference"], values), rule.call(r.reference, values)
    )


@pytest.mark.parametrize(
    "name, values",
    [
        ("rms_norm", dict(x=torch.ones(2, 3, 4), weight=torch.ones(3, 4))),
        ("swiglu", dict(gate=torch.ones(2, 4), up=torch.ones(2, 1))),
        ("swiglu", dict(x=torch.ones(2, 7))),
        ("swiglu", dict(x=torch.ones(0, 8))),
        ("geglu", dict(gate=torch.ones(2, 4), up=torch.ones(1, 4))),
        ("geglu", dict(x=torch.ones(2, 7))),
    ],
)
def test_requires_refuses(name, values):
    r = [r for r in RULES if r.id == name][0]
    with pytest.raises(AssertionError):
        rule.call(r.requires, values)


@pytest.mark.parametrize("r", RULES, ids=lambda r: r.id)
def test_contract(r):
    """A rule names an operator that exists; parameters agree."""
    assert (emulate.folder("ops") / (r.meta["operator"] + ".py")).is_file()
    known = set(inspect.signature(r.reference).parameters)
    for function in (r.replacement, r.requires):
        assert set(inspect.signature(function).parameters) <= known
    assert set(r.sample()) <= known


def test_ids_are_unique():
    assert len({r.id for r in RULES}) == len(RULES)


def test_the_label_says_emulated():
    assert rule.LABEL == "emulated" and emulate.is_emulated(rule.torch_npu)


GOOD = dict(id="a", family="b", operator="c", priority="low", gain="d")


@pytest.mark.parametrize(
    "change",
    [dict(id=None), dict(priority="urgent"), dict(colour="red"), dict(gain="")],
)
def test_a_wrong_announcement_is_refused(change):
    with pytest.raises(ValueError):
        rule.rule(**dict(GOOD, **change))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "from npufuse.rule import rule\n"
        "rule(id='a', family='b', operator='c', priority='low', gain='d')\n",
    ],
)
def test_an_incomplete_rule_file_is_refused(tmp_path, text):
    (tmp_path / "x.py").write_text(text)
    with pytest.raises(ValueError):
        rule.load(tmp_path / "x.py")


def test_rules_of_the_user_are_loaded_like_bundled_ones(tmp_path):
    source = (emulate.folder("rules") / "quick_gelu.py").read_text()
    (tmp_path / "mine.py").write_text(source.replace('"quick_gelu"', '"mine"'))
    assert [r.id for r in rule.load_all(tmp_path)] == ["mine"]
