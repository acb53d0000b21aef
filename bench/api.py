"""See api.sh."""
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NPUFUSE = os.environ["NPUFUSE"]
RUNS = 21


def find_wheel():
    folder = Path(os.environ.get("NPUFUSE_WHEELS", str(ROOT / "deps" / "wheels")))
    found = sorted(folder.glob("torch_npu-2.13.0-*.whl"))
    if not found:
        sys.exit("api.py: no torch_npu-2.13.0-*.whl in '%s'; the tests fetch it" % folder)
    return found[0]


def median_ms(command, before=None):
    times = []
    for _ in range(RUNS):
        if before:
            before()
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def row(text, value, limit=None):
    verdict = "" if limit is None else "  <= %d: %s" % (limit, "yes" if value <= limit else "NO")
    print("%-58s %7.1f ms%s" % (text, value, verdict))


def main():
    wheel = find_wheel()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        with zipfile.ZipFile(wheel) as archive:
            for name in ("torch_npu/_op_plugin_docs.py", "torch_npu/lib/libtorch_npu.so"):
                archive.extract(name, folder)
        library = folder + "/torch_npu/lib/libtorch_npu.so"
        show = [NPUFUSE, "api", "show", "npu_rms_norm", "--docs-path"]
        row("show, unpacked torch_npu (texts and schemas)", median_ms(show + [folder]), 20)
        row("search, unpacked torch_npu",
            median_ms([NPUFUSE, "api", "search", "rms", "norm", "--docs-path", folder]), 30)
        row("schemas of libtorch_npu.so alone (97 MB)", median_ms(show + [library]), 300)

        def forget():
            subprocess.run(["rm", "-rf", folder + "/cache"], check=True)

        row("show, wheel, the library unpacked and read", median_ms(show + [str(wheel)], forget), 300)
        row("show, wheel, kept from before", median_ms(show + [str(wheel)]), 20)
        script = ROOT / "skill/ascend-fusion-op-replace/scripts/query_torch_npu_api.py"
        if script.is_file():
            docs = folder + "/torch_npu/_op_plugin_docs.py"
            os.environ["PATH"] = "/usr/bin:/bin"
            row("peer: the skill's script by itself, show", median_ms(
                [sys.executable, str(script), "show", "npu_rms_norm", "--docs-path", docs]))


if __name__ == "__main__":
    main()
