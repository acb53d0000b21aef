_add("npu_twice", """
torch_npu.npu_twice(x) -> Tensor
功能描述
旧的文本。
""")
_add("npu_other", '''
功能描述: 与冒号在同一行。
参数说明
    说明：
    dim：不是标题。
''')
_add("npu_twice", """
# torch_npu.npu_twice

## 功能描述

**新的文本**。

## 函数原型

```python
torch_npu.npu_twice(x, *, times=2) -> Tensor
```

## 参数说明

- **x** (`Tensor`)：输入。

```python
# 约束说明
```
""")
