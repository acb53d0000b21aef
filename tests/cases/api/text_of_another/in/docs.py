_add("npu_wrong", """
torch_npu.npu_right(Tensor x, int n=2) -> Tensor
功能描述
这是另一个算子的说明。
""")
_add("npu_both", """
func: torch_npu. npu_both (x) -> Tensor
torch_npu.npu_right(x) -> Tensor
- **算子功能**：一段文字说两个算子。
""")
