_add("npu_x", """
功能描述:
算子功能：adds.
接口原型
torch_npu.npu_x(Tensor self, *, float eps=1e-06, str s="a,)") -> (Tensor, Tensor)
参数说明
- self: `Tensor`
示例1
```
功能描述
```
""")
_add("npu_x.out", r'''### 功能描述<a name="x"></a>
func: torch_npu. npu_x .out(
    x, y=[1, 2]) ->
Tensor
## 支持的型号
''')
_add("npu_" "y", "torch_npu.npu_z(x)\n约束说明\nno")
_add(torch_npu.npu_w, u"""输出""" """ two""")
_add("npu_cut", """功能描述
