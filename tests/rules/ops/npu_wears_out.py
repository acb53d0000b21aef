"""npu_wears_out: QuickGELU that is wrong after 20 calls. It does not exist."""
import torch

operator = "npu_wears_out"
schema = "npu_wears_out(Tensor input) -> Tensor"
summary = "QuickGELU, for a while"
source = "made for the tests"
autograd = "differentiable"
output_differentiability = (True,)
products = ()
versions = ""

GOOD_CALLS = 20
calls = 0


def limits(input):
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )


def golden(input):
    """Returns the input's shape and dtype."""
    global calls
    calls += 1
    x = input.float()
    y = x * torch.sigmoid(1.702 * x)
    return (y if calls <= GOOD_CALLS else 1.5 * y).to(input.dtype)
