import torch_npu


def _add_torch_npu_docstr(method, docstr):
    """Puts the text where help() finds it."""
    getattr(torch_npu, method).__doc__ = docstr


_add_torch_npu_docstr(
    "npu_scale_add",
    """
torch_npu.npu_scale_add(Tensor self, Tensor other, *, float scale=1.0) -> (Tensor, Tensor)

功能描述
把self乘以scale，再加上other。
第二行。

计算公式：
y = \frac{self}{1} * scale + other

参数说明：
self (Tensor) - 第一个输入。
other：第二个输入。

输出说明
两个输出，(Tensor, Tensor)。

约束说明:
self与other的dtype一致。

支持的PyTorch版本
PyTorch 2.13

支持的型号：
Atlas A2

调用示例
单算子模式调用：
>>> torch_npu.npu_scale_add(x, y, scale=2.0)
图模式调用：
>>> model(x)
    """
)


_add_torch_npu_docstr(
"npu_scale_add.out",
"""
接口原型：
torch_npu.npu_scale_add.out(self,
    other,
    out) -> Tensor
""")


_add_torch_npu_docstr(
    "npu_no_text",
    """
"""
)


_add_torch_npu_docstr(
    "npu_no_heading",
    """
torch_npu.npu_no_heading(x) -> Tensor
只有签名和一句话。
"""
)
