"""`pip install .` in an empty environment gives a working command."""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "tiny_decoder"

pytestmark = pytest.mark.skipif(not (ROOT / "src/cli/main.c").exists(),
                                reason="there is no command yet")


def clean_environment():
    """Without what this test run or a developer sets for the source tree."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "NPUFUSE", "VIRTUAL_ENV"))}


def run(*words, cwd, code=0):
    done = subprocess.run([str(word) for word in words], cwd=cwd, text=True,
                          env=clean_environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == code, done.stdout
    return done.stdout


def make_environment(folder):
    run(sys.executable, "-m", "venv", folder, cwd=ROOT)
    return folder / "bin"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of what git knows, so that nothing else can be needed."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    copy = tmp_path_factory.mktemp("source")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def installed(source, tmp_path_factory):
    """The scripts folder of an environment with npufuse in it."""
    scripts = make_environment(tmp_path_factory.mktemp("venv"))
    run(scripts / "pip", "install", "--quiet", ".", cwd=source)
    return scripts


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(npufuse VERSION ([\d.]+)", text).group(1)


def test_the_command_runs(installed, tmp_path):
    out = run(installed / "npufuse", "--version", cwd=tmp_path)
    assert version() in out
    assert run(installed / "python", "-m", "npufuse", "--version",
               cwd=tmp_path) == out


def test_the_package_knows_its_version_and_command(installed, tmp_path):
    out = run(installed / "python", "-c", "import npufuse; print("
              "npufuse.__version__, npufuse.find_npufuse_bin())",
              cwd=tmp_path)
    assert out.split() == [version(), str(installed / "npufuse")]


def test_a_link_to_the_command_finds_its_rules(installed, tmp_path):
    (tmp_path / "linked").symlink_to(installed / "npufuse")
    shutil.copytree(EXAMPLE, tmp_path / "model")
    run(tmp_path / "linked", "scan", "model", cwd=tmp_path)


def test_it_scans_the_example_from_another_folder(installed, tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "model")
    work = tmp_path / "elsewhere"
    work.mkdir()
    run(installed / "npufuse", "scan", "../model", cwd=work)
    report = work / "fusion_verify" / "report.md"
    assert "npu_rms_norm" in report.read_text(encoding="utf-8")
    assert (work / "fusion_verify" / "findings.json").is_file()


def test_the_runtime_is_found_by_any_python(installed, tmp_path):
    """The package comes with its hook; this environment has no torch."""
    out = run(installed / "npufuse", "rules", "test", "--python",
              installed / "python", cwd=tmp_path, code=3)
    assert "has no torch that works: No module named 'torch'" in out


def test_the_wheel_of_the_sdist_holds_rules_and_ops(source, tmp_path):
    # `build` makes the sdist, then the wheel from that sdist alone. What was
    # fetched before is carried, so the wheel needs no registry then.
    shutil.copytree(ROOT / "deps", source / "deps", dirs_exist_ok=True)
    run(sys.executable, "-m", "build", "-o", tmp_path, source, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert "-py3-none-" in wheel.name
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("rules", "ops"):
        for path in (source / folder).rglob("*.py"):
            assert f"npufuse/{path.relative_to(source)}" in names
    for path in (source / "python" / "npufuse").rglob("*.py"):
        assert str(path.relative_to(source / "python")) in names
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        carried = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"CMakeLists.txt", "src/LAYERS", "Makefile", "deps/yyjson/yyjson.c",
            "deps/yyjson/pinned", "deps/deflate/lib/deflate_decompress.c",
            "deps/uplot/uPlot.iife.min.js"} <= carried
    assert "npufuse/pages/report.html" in names
    assert "npufuse/pages/profile.html" in names
