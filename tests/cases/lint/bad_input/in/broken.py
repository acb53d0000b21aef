import torch_npu
def f(:
    torch_npu.npu_swiglu(1, axis=1)


def g(x):
    return torch_npu.npu_swiglu(x, axis=1)
