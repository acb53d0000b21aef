import torch_npu
torch_npu.npu_swiglu(1, axis=1)
