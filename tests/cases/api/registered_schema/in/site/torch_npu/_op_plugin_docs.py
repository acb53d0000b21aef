_add("npu_scale_add", """
torch_npu.npu_scale_add(self, other, scale=2.0, dim=-1) -> Tensor
功能描述
文档与注册不一致。
""")
