from unittest.mock import MagicMock, patch

import torch
import torch_npu


@patch("torch_npu.npu_rms_norm")
def test_norm(norm):
    torch_npu.npu_rms_norm(torch.ones(2), other=1)


def test_monkey(monkeypatch):
    monkeypatch.setattr(torch_npu, "npu_swiglu", lambda x, axis: x)
    torch_npu.npu_swiglu(torch.ones(2), axis=1)


def test_real():
    torch_npu.npu_geglu(torch.ones(2), axis=1)
