"""A profile from kernels written as lines, for tests of single runs:

    Mul 1,64,32 bf16; 1,64,1 fp32 -> 1,64,32 bf16

The type, the inputs, the outputs. A time, a stream and the rest are added.
"""
import dataclasses

DTYPES = {"bf16": "DT_BF16", "fp16": "FLOAT16", "fp32": "FLOAT", "fp64": "DOUBLE",
          "int64": "INT64", "int32": "INT32", "bool": "BOOL", "uint8": "UINT8"}
CUBE = ("MatMul", "BatchMatMul", "Gemm")
HEADER = ("Step Id,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
          "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
          "Output Formats")
START_NS = 1_712_345_678_901_234_000


@dataclasses.dataclass
class Kernel:
    typ: str
    inputs: list
    outputs: list
    step: int = 1
    stream: int = 2
    state: str = "dynamic"
    core: str = ""

    def __post_init__(self):
        if not self.core:
            self.core = "AI_CORE" if self.typ.startswith(CUBE) else "AI_VECTOR_CORE"


def tensor(text):
    """"1,64 bf16" as (dims, dtype)."""
    dims, dtype = text.split()
    return "" if dims == "[]" else dims, DTYPES[dtype]


def parse(line, **more):
    """One kernel of a line."""
    typ, _, rest = line.strip().partition(" ")
    sides = [[tensor(t) for t in side.split(";") if t.strip()] for side in rest.split("->")]
    return Kernel(typ, sides[0], sides[1], **more)


def parse_all(text, **more):
    return [parse(line, **more) for line in text.strip().splitlines() if line.strip()]


def cells(tensors):
    return ['"""' + ";".join(dims for dims, _ in tensors) + '"""',
            ";".join(dtype for _, dtype in tensors), ";".join("ND" for _ in tensors)]


def table(kernels, duration_ns=20_000, gap_ns=1_000):
    """The text of kernel_details.csv."""
    lines, now = [HEADER], START_NS
    for kernel in kernels:
        row = [kernel.step, kernel.stream, f"aclnn{kernel.typ}", kernel.typ, kernel.state,
               kernel.core, f"{now // 1000}.{now % 1000:03d}\t",
               f"{duration_ns // 1000}.{duration_ns % 1000:03d}"]
        lines.append(",".join(map(str, row + cells(kernel.inputs) + cells(kernel.outputs))))
        now += duration_ns + gap_ns
    return "\n".join(lines) + "\n"
