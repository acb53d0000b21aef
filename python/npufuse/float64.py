"""A computation in float64, whatever dtypes its source names.

``.to(torch.float32)`` in the source would leave an error of 4e-7 even with
float64 inputs; under this mode every floating dtype means float64: of
arguments, of ``.float()`` and its like, of ``dtype=``, of factories.
"""
import torch
import torch.overrides

WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
CASTS = {
    torch.Tensor.float,
    torch.Tensor.half,
    torch.Tensor.bfloat16,
}
NAMES = {
    "torch.FloatTensor": torch.float64,
    "torch.HalfTensor": torch.float64,
    "torch.BFloat16Tensor": torch.float64,
}


def widen(value):
    """`value` with every floating dtype and tensor in it widened."""
    if isinstance(value, torch.dtype):
        return WIDE.get(value, value)
    if isinstance(value, torch.Tensor):
        return value.to(WIDE[value.dtype]) if value.dtype in WIDE else value
    if isinstance(value, str):
        return NAMES.get(value, value)
    if type(value) in (tuple, list):
        return type(value)(widen(v) for v in value)
    if type(value) is dict:
        return {k: widen(v) for k, v in value.items()}
    return value


class Float64(torch.overrides.TorchFunctionMode):
    """Every floating dtype is float64 inside; see the module's text."""

    def __enter__(self):
        self.default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        return super().__enter__()

    def __exit__(self, *exc):
        torch.set_default_dtype(self.default)
        return super().__exit__(*exc)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in CASTS:
            return widen(args[0])
        if getattr(func, "__name__", "") == "__get__":
            return func(*args, **kwargs)  # a property, such as x.grad_fn
        return widen(func(*widen(args), **widen(kwargs)))
