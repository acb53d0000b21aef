"""torch.matmul, for rules about plain PyTorch."""
import torch

module = "torch"
operator = "matmul"
schema = "matmul(Tensor input, Tensor other) -> Tensor"
summary = "matrix product"
source = "PyTorch documentation: torch.matmul"
autograd = "differentiable"


def limits(input, other):
    assert input.dim() == 2, "the input has two dimensions"
    assert other.dim() == 2, "the other has two dimensions"
