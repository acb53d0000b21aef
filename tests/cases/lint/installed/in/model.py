import torch_npu


def old_name(x, w):
    return torch_npu.npu_rms_norm(input=x, gamma=w)[0]


def new_argument(x, w):
    return torch_npu.npu_rms_norm(x, w, epsilon=1e-6)[0]


def registered_only(x, y):
    return torch_npu.npu_only_registered(x, other=y).float()


def right(x, w):
    return torch_npu.npu_rms_norm(self=x, gamma=w)[0]


def absent(x):
    return torch_npu.npu_swiglu(x, axis=1)
