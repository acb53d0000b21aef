"""query_torch_npu_api.py of the skill: by npufuse and alone it prints the same.

The golden file is what both print for DOCS, which has every oddity that the
texts of torch_npu have, in our own words. NPUFUSE_ACCEPT=1 writes it anew.
Where there are wheels of torch_npu (wheels.py), both are compared on them, too.
"""
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from wheels import ROOT, wheel

SCRIPTS = ROOT / "skill" / "ascend-fusion-op-replace" / "scripts"
SCRIPT = SCRIPTS / "query_torch_npu_api.py"
NPUFUSE = str(Path(os.environ.get("NPUFUSE", ROOT / "build/dev/npufuse")).resolve())
GOLDEN = Path(__file__).resolve().parent / "skill_api_golden.txt"
WAYS = ("alone", "npufuse")

DOCS = r'''# Comment with a quote: "npu_in_comment", """
import torch_npu


def _add_torch_npu_docstr(method, docstr):
    """Never run: "npu_in_def", 'nothing'."""
    raise RuntimeError("this file is read, never run")


_add_torch_npu_docstr(
    "npu_scale",
    """
torch_npu.npu_scale(Tensor self, float scale=1.0,
                    *, int dim=-1) -> (Tensor, Tensor)

功能描述

- **算子功能**：把self沿dim缩放。
- 第二点。

计算公式：
  $y = \frac{self}{1} * \text{scale} \begin{x}\_\[1\]\\ end$

参数说明：
self (Tensor) - 输入。
scale: 倍数。
	dim：轴。

输出说明
两个。

约束说明:
self连续。

dim不为0。
说明：这一行不是标题。
支持的型号：
某型号
支持的PyTorch版本
PyTorch 2.1
调用示例
单算子模式调用：
>>> torch_npu.npu_scale(x, 2.0, dim="a" 'b')[0]

图模式调用：
>>> call("not", "an entry")
    """
)


_add_torch_npu_docstr(
"npu_scale.out",
"""
接口原型：
torch_npu.npu_scale.out(self, *,
    out) -> Tensor
npu_scale(self) -> Tensor
"""
)

_add_torch_npu_docstr(
    "npu_twice",
    """
功能描述
前一段文字。
"""
)

_add_torch_npu_docstr(
    "npu_twice_",
    """
torch_npu. npu_twice_ (x)
torch_npu.npu_thrice(x)
只有签名和一句话，没有标题。
"""
)

_add_torch_npu_docstr("_npu_empty", """
""")

_add_torch_npu_docstr(
    "npu_wrong",
    """
torch_npu.npu_scale(x) -> Tensor
这段文字前面没有标题。

功能描述: 这段文字说的是另一个算子
**约束条件**：
无。
场景限制
一。
场景限制
二。
示例1
>>> 1
**示例二：**
>>> 2
"""
)

_add_torch_npu_docstr(
    "npu_twice",
    """
func: npu_twice(Tensor x,
    int n=2) -> Tensor

功能描述
后一段文字。
    """
)

_add_torch_npu_docstr(
    "npu_marked",
    """
# torch_npu.npu_marked

## 功能说明<a name="a"></a>

页面里的说明。

## 函数原型

```python
torch_npu.npu_marked(x, *, mode='a,b') -> Tensor
torch_npu.npu.npu_marked(x) -> (Tensor[], int)
```

## 参数说明

- **x** (`Tensor`)：必选。

```text
约束说明
```
"""
)

_add_torch_npu_docstr(torch_npu.npu_by_attribute, r"""
算子功能：用属性登记的。
""")

_add_torch_npu_docstr('npu_short', "一行\t文字")
_add_torch_npu_docstr("npu_quotes", \'\'\'
输入：不是标题。
它说 """引号"""，it's "so"。\'\'\',)

if True:
    _add_torch_npu_docstr("npu_inside", """
不在最外层。
""")
print("npu no name", "text")
'''.replace("\\'", "'")

SCHEMAS = (
    "npu_scale(Tensor input, float scale=1.0, *, int dim=-1) -> (Tensor, Tensor)",
    "npu_scale.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!)",
    "npu::npu_only(Tensor(a!) x, int[]? sizes=[1, 2], str mode=\"a,b\", "
    "__torch__.torch.classes.c10d.Group g) -> (Tensor y, int n)",
    "npu_only.Scalar(Scalar x) -> ()", "npu_swiglu(Tensor self, int dim=-1) -> Tensor",
    "npu_no_schema(Tensor x -> Tensor", "a -> b", "name(no argument has a name) -> Tensor, x",
)

TABLE = """# 小表

### npu_swiglu

- 签名：`npu_swiglu(Tensor input, int dim=-1) -> Tensor`（words）
- 公式：前一半被激活

陷阱：

- 词：pitfall

### npu_geglu

- 公式：后一半被激活
"""

PAGE = """\ufeff

# （beta）torch\\_npu.npu\\_page<a name="x"></a>

## 产品支持情况

所有产品

## 功能说明

- API功能：一页一个。

## 函数原型

```python
torch_npu.npu_page(x) -> Tensor
```

## 约束说明

无
"""

QUERIES = """
list
list --prefix npu_t
list --prefix zzz
show npu_scale
show npu_scale --full
show torch_npu.npu_scale.out
show npu_twice
show npu_twice --full
show npu_twice_
show _npu_empty
show npu_wrong
show npu_marked
show npu_by_attribute
show npu_short
show npu_quotes --full
show torch.ops.npu.npu_only
show npu_swiglu
show npu_geglu
show npu_scal
show scale_
show npu_inside
show npu_in_comment
search scale
search TEXT SCALE
search "npu twice" --max 1
search 缩放
search only
search swiglu
search 一半
search pitfall
search words
show npu_swiglu --full
search 没有这个词
--docs-path site/torch_npu show npu_twice_
show npu_twice_ --docs-path site/torch_npu/_op_plugin_docs.py
show npu_scale --docs-path torch_npu-9.1.0-cp311-cp311-any.whl
search page --docs-path pages
list --docs-path pages
show npu_page --docs-path pages
show npu_dash --docs-path pages
search 后一页 --docs-path pages
search npu_dash --docs-path pages
show npu_only --docs-path site/torch_npu/lib/libtorch_npu.so
list --docs-path cut.py
list --docs-path within.py
list --docs-path latin.py
list --docs-path none
list --docs-path garbage.py
list --docs-path nul.py
list --docs-path empty.whl
search ' '
show npu_scale --full extra
""".strip().split("\n")


def library(texts):
    """An ELF file with nothing but read-only data: one string for each text."""
    data = b"\0" + b"\0".join(text.encode("ascii") for text in texts) + b"\0"
    names = b"\0.rodata\0.shstrtab\0"
    table = bytes(64)
    for name, kind, flags, offset, size in ((1, 1, 2, 64, len(data)),
                                            (9, 3, 0, 64 + len(data), len(names))):
        table += struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, offset, size, 0, 0, 1, 0)
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(data) + len(names), 0, 64, 0, 0, 64, 3, 2)
    return head + data + names + table


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a torch_npu that must not be imported, a wheel, and pages."""
    folder = tmp_path_factory.mktemp("place")
    docs = DOCS.replace("\n", "\r\n").encode("utf-8")
    members = {"torch_npu/_op_plugin_docs.py": docs,
               "torch_npu/__init__.py": b"raise RuntimeError('no driver')\n",
               "torch_npu/lib/libtorch_npu.so": library(SCHEMAS),
               "torch_npu-9.1.0.dist-info/METADATA": b"Version: 9.1.0\n"}
    with zipfile.ZipFile(folder / "torch_npu-9.1.0-cp311-cp311-any.whl", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
            (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "site" / name).write_bytes(data)
    files = {"pages/sub/another.md": PAGE, "pages/README.md": "# 目录\n",
             "pages/1.md": "# torch_npu-npu_dash\n\n## 功能说明\n\n前一页。\n",
             "pages/2.md": "# torch_npu.npu_dash\n\n## 功能说明\n\n后一页。\n",
             "pages/3.md": "# torch_npu.npu_x与torch_npu.npu_y接口\n",
             "cut.py": DOCS[:DOCS.index("前一段")], "garbage.py": "x" * 1000,
             "nul.py": "a\0b", "empty.whl": "PK\3\4", "within.py": DOCS[:DOCS.index("前一段")]}
    files["skill/references/common_fusion_ops.md"] = TABLE
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    # Not UTF-8, and cut within a character.
    (folder / "latin.py").write_bytes(DOCS.encode("utf-8").replace("前".encode(), b"\xe9"))
    with open(folder / "within.py", "ab") as file:
        file.write("前".encode()[:2])
    # The script beside a table that does not change with the skill's.
    shutil.copytree(SCRIPTS, folder / "skill" / "scripts",
                    ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def query(words, folder, way="alone", **more):
    """(exit code, standard output, standard error)."""
    copy = folder / "skill" / "scripts" / SCRIPT.name
    path = copy if copy.exists() else SCRIPT
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(folder / "cache"),
                   "NPUFUSE": NPUFUSE, **more}
    if way == "alone":
        words = ["--no-npufuse", *words]
    done = subprocess.run([sys.executable, str(path), *map(str, words)], cwd=folder,
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)
    table = str(path.parent.parent / "references")
    return (done.returncode, done.stdout.decode("utf-8").replace(table, "REFERENCES"),
            done.stderr.decode("utf-8"))


def in_place(line, folder, way):
    words = shlex.split(line)
    if "--docs-path" not in words:
        words += ["--docs-path", "site"]
    return query(words, folder, way)


def need(way):
    if way == "npufuse" and not os.access(NPUFUSE, os.X_OK):
        pytest.skip(f"'{NPUFUSE}' is not built")


@pytest.mark.parametrize("way", WAYS)
def test_golden(place, way):
    need(way)
    told = ""
    for line in QUERIES:
        code, out, _ = in_place(line, place, way)
        told += f"$ {line}\n{out}[{code}]\n\n"
    if os.environ.get("NPUFUSE_ACCEPT") and way == "alone":
        GOLDEN.write_text(told, encoding="utf-8")
    assert told == GOLDEN.read_text(encoding="utf-8")


def test_the_lines_are_those_of_the_file(place):
    source = DOCS.split("\n")
    out = in_place("show npu_scale --full", place, "alone")[1]
    body = re.findall(r"^(\d+): (.*)$", out.split("Full doc:\n")[1], re.M)
    assert len(body) == 34
    for number, text in body:
        assert source[int(number) - 1].rstrip() == text
    for title, start in re.findall(r"^  (\S+): (\d+)-", out, re.M):
        assert source[int(start) - 1].startswith(title)


@pytest.mark.parametrize("way", WAYS)
def test_standard_error(place, way):
    need(way)
    assert in_place("list", place, way)[2] == "\n总计 10 个算子。\n"
    assert "共 2 个结果" in in_place("search npu twice --max 1", place, way)[2]
    missing = in_place("show npu_scal", place, way)[2]
    assert "未找到 API: npu_scal\n相近的名称：npu_scale、" in missing and "https://" in missing
    assert "没有 npu_geglu；以下来自" in in_place("show npu_geglu", place, way)[2]
    disagree = in_place("show npu_scale", place, way)[2]
    assert ("'self' in the documents and 'input' as registered" in disagree) == (
        way == "npufuse")
    wrong = in_place("show npu_wrong", place, way)[2]
    assert "has the signature of 'npu_scale' and none of its own" in wrong
    assert "'cut.py'" in in_place("list --docs-path cut.py", place, way)[2]
    assert "none" in in_place("list --docs-path none", place, way)[2]


# ---- finding torch_npu ----------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_it_is_found_without_importing_it(place, tmp_path, way):
    need(way)
    words = ("show", "npu_twice_")
    site = place / "site"
    expected = query([*words, "--docs-path", site], tmp_path, way)
    assert expected[0] == 0 and "Version: torch_npu 9.1.0\n" in expected[1]
    assert query(words, tmp_path, way, PYTHONPATH=str(site)) == expected
    packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "here.pth").write_text(f"# {tmp_path}\nimport os\n{site}\n")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        assert query(words, tmp_path, way, **{name: str(tmp_path / "venv")}) == expected


@pytest.mark.parametrize("way", WAYS)
def test_without_torch_npu_the_small_table_answers(tmp_path, way):
    need(way)
    code, out, error = query(["list"], tmp_path, way)
    if "小表" not in error:
        pytest.skip("torch_npu is installed here")
    assert code == 0 and "npu_swiglu" in out.split()
    code, out, error = query(["show", "npu_swiglu"], tmp_path, way)
    assert code == 0 and "不是已安装的 torch_npu" in error
    assert "Source: fallback: REFERENCES/common_fusion_ops.md:" in out
    assert "Signature: npu_swiglu(Tensor input, int dim=-1) -> Tensor" in out
    assert query(["show", "npu_absent"], tmp_path, way)[0] == 3
    code, out, _ = query(["search", "swiglu"], tmp_path, way)
    assert code == 0 and "   [fallback] " in out


# ---- npufuse --------------------------------------------------------------------------


def command(folder, text):
    path = folder / "npufuse"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("text", (
    "echo 'npufuse: no command '\"'api'\" >&2; exit 2", "echo '{'", "kill -9 $$",
    "echo '[1]'", "echo '{}'", "echo '{\"found\": true}'"))
def test_a_command_that_does_not_answer_is_done_without(place, tmp_path, text):
    named = command(tmp_path, text)
    words = ["show", "npu_twice_", "--docs-path", place / "site"]
    code, out, error = query(words, tmp_path, "npufuse", NPUFUSE=named)
    assert (code, out) == query(words, tmp_path)[:2]
    assert f"'{named}'" in error and "the files are read here" in error


def test_where_the_command_is_looked_for(place, tmp_path):
    need("npufuse")
    words = ["show", "npu_scale", "--docs-path", place / "site"]
    mark = "不一致"  # which npufuse alone says
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(NPUFUSE, folder / "npufuse")
    assert mark in query(words, tmp_path, "npufuse", NPUFUSE="", NPUFUSE_BIN=NPUFUSE)[2]
    assert mark in query(words, tmp_path, "npufuse", NPUFUSE="", PATH=str(folder))[2]
    assert mark not in query(words, tmp_path, "npufuse", NPUFUSE="", PATH="/nowhere")[2]


# ---- real wheels ------------------------------------------------------------------------


@pytest.mark.parametrize("version", ("2.1.0", "2.13.0"))
def test_real_wheels_both_ways(tmp_path, version):
    need("npufuse")
    path = wheel(version)
    names = query(["list", "--docs-path", path], tmp_path)[1].split()
    for words in (["list"], ["search", "npu", "--max", "100000"], ["show", "npu_rms_norm"],
                  ["show", names[-1], "--full"], ["show", "npu_swigl"]):
        words += ["--docs-path", path]
        assert query(words, tmp_path)[:2] == query(words, tmp_path, "npufuse")[:2]


def test_every_text_of_a_wheel_both_ways(tmp_path):
    need("npufuse")
    sys.path.insert(0, str(SCRIPTS))
    import query_torch_npu_api as module
    path = str(wheel("2.13.0"))
    here = module.Reader(module.install_at(path))
    command = module.Command(NPUFUSE, path)
    assert len(here.last) == 217
    for name in here.last:
        ours, theirs = here.show(name), command.show(name)
        for key in ("docs", "sections", "signatures"):
            assert ours[key] == theirs[key], name
        for key in ("registered", "definitions"):
            assert ours[key] == [{member: item[member] for member in mine} for mine, item in
                                 zip(ours[key], theirs[key])], name


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_is_read_steers_a_terminal(tmp_path, way):
    need(way)
    (tmp_path / "d.py").write_bytes(
        '_add("npu_red", """a \x1b[31mred\x1b[0m \x07 \u202e end""")\n'.encode())
    code, out, err = query(["show", "npu_red", "--full", "--docs-path", "d.py"], tmp_path, way)
    assert code == 0 and "Summary: a ?[31mred?[0m ? ? end" in out and "\x1b" not in out + err
    code, out, err = query(["show", "npu_\x1b[31m", "--docs-path", "d.py"], tmp_path, way)
    assert code == 1 and "npu_?[31m" in err and "\x1b" not in out + err


@pytest.mark.parametrize("way", WAYS)
def test_a_text_of_calls_that_nothing_closes_is_read_in_time(tmp_path, way):
    need(way)
    (tmp_path / "d.py").write_text('f("npu_a", """%s""")\n' % ("torch_npu.npu_a(\n" * 50000))
    code, out, _ = query(["show", "npu_a", "--docs-path", "d.py"], tmp_path, way)
    assert code == 0 and "Signature:" not in out
