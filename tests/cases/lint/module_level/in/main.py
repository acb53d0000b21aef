import torch
from ops import fused, half, norm
import ops as o

if __name__ == "__main__":  # npu
    x = torch.ones(2, 4)
    print(fused(x, axis=-1))
    print(norm(x, x[0], eps=1e-6)[0])
    print(o.torch_npu.npu_rms_norm(x)[0])
    print(half(x), [norm(y, x[0])[0] for y in x])


class Model:
    table = torch.compile(fused)(torch.ones(2), axis=0)

    def forward(self, x):
        call = lambda y: fused(y, axis=1)
        return call(x)
