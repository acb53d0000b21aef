"""Tests of a device that decide nothing for an NPU, or the other way round."""
import torch
import torch.nn.functional as F


def only_there(x, gate):
    if gate.device.type == "mps":
        gate = F.gelu(gate)
    else:
        gate = F.relu(gate)
    return x * gate  # clean: relu where an NPU runs


def turned(x, gate):
    if not gate.device.type != "cuda":
        return x * F.gelu(gate)  # allow: geglu recommend|caution
    return x * F.relu(gate)  # clean: relu where an NPU runs


def of_another(x, gate, index):
    act = F.gelu(gate) if index.device.type != "cpu" else F.relu(gate)
    return x * act  # clean: index may be on the CPU


def an_npu_among_them(x, gate):
    act = F.relu(gate) if gate.device.type in ("npu", "cuda") else F.gelu(gate)
    return x * act  # clean: relu where an NPU runs


def either(x, gate, fast):
    act = F.gelu(gate) if gate.device.type != "mps" and fast else F.relu(gate)
    return x * act  # clean: fast decides


def named_by_a_setting(x, gate, name):
    act = F.gelu(gate) if gate.device.type != name else F.relu(gate)
    return x * act  # clean: name may be npu


def for_another_device(q, k, v):
    if q.device.type == "cuda":
        return (q @ k.transpose(-1, -2) * 0.125).softmax(-1) @ v  # expect: attention caution
    return (q @ k.transpose(-1, -2) * 0.25).softmax(-1) @ v  # expect: attention recommend


def left_before(q, k, v):
    if q.device.type != "cuda":
        return v
    return (q @ k.transpose(-1, -2) * 0.125).softmax(-1) @ v  # expect: attention caution


def left_on_others(q, k, v):
    if q.device.type in ("cuda", "mps"):
        return v
    with torch.no_grad():
        return (q @ k.transpose(-1, -2) * 0.125).softmax(-1) @ v  # expect: attention recommend
