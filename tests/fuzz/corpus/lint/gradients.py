import torch
import torch.nn as nn
import torch_npu


class Block(nn.Module):
    def forward(self, x, residual, w):
        if self.training:
            y, _, x = torch_npu.npu_add_rms_norm(x, residual, w)
        else:
            y = x
        return y

    def guarded(self, x, residual, w):
        if not self.training:
            y, _, x = torch_npu.npu_add_rms_norm(x, residual, w)
            return y
        return x * w

    def with_no_grad(self, x, residual, w):
        if self.training:
            with torch.no_grad():
                return torch_npu.npu_add_rms_norm(x, residual, w)[0]
        return x


def step(x, residual, w, target):
    y = torch_npu.npu_add_rms_norm(x, residual, w)[0]
    loss = (y - target).pow(2).mean()
    loss.backward()
    return loss


def silent(x, w, ends):
    y = torch_npu.npu_grouped_matmul([x], [w], group_list=ends, split_item=2, group_type=0)[0]
    return torch.autograd.grad(y.sum(), x)


# ---- these are right ----

def another_loss(x, residual, w, target):
    y = torch_npu.npu_add_rms_norm(x, residual, w)[0]
    (x - target).pow(2).mean().backward()
    return y


def detached(x, residual, w, target):
    y = torch_npu.npu_add_rms_norm(x, residual, w)[0].detach()
    (x - y).pow(2).mean().backward()


def differentiable(x, w):
    torch_npu.npu_rms_norm(x, w)[0].sum().backward()


@torch.no_grad()
def measured(x, residual, w):
    y = torch_npu.npu_add_rms_norm(x, residual, w)[0]
    y.sum().backward()


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, ends):
        ctx.save_for_backward(x, w)
        return torch_npu.npu_grouped_matmul([x], [w], group_list=ends, split_item=2, group_type=0)[0]

    @staticmethod
    def backward(ctx, grad):
        return torch_npu.npu_grouped_matmul([grad], [grad], split_item=2, group_type=2)[0], None, None


def served(x, residual, w):
    return torch_npu.npu_add_rms_norm(x, residual, w)[0]
