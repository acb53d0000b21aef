"""npu_lost_cast: QuickGELU that forgets to cast back. It does not exist."""
import torch

operator = "npu_lost_cast"
schema = "npu_lost_cast(Tensor input) -> Tensor"
summary = "QuickGELU in float32"
source = "made for the tests"
autograd = "differentiable"
output_differentiability = (True,)
products = ()
versions = ""


def limits(input):
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )


def golden(input):
    """Returns the input's shape in float32."""
    x = input.float()
    return x * torch.sigmoid(1.702 * x)
