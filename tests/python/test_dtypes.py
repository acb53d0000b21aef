"""What dtype a value has under autocast by the NPU's lists, as `dump` shows it."""
import subprocess

import pytest

import generated

needs_binary = pytest.mark.skipif(generated.binary() is None, reason="npufuse is not built")

WRITTEN = {
    # exp is computed in float32: so is the SiLU that is made of it.
    "x / (1 + torch.exp(-x)) * y": "autocast(",
    "x * torch.sigmoid(x) * y": "promote(",
    "x * (1 / (1 + torch.exp(-x.float()))) * y": "promote(torch.float32,",
}


@needs_binary
@pytest.mark.parametrize("code", sorted(WRITTEN))
def test_silu_by_hand(code, tmp_path):
    path = tmp_path / "m.py"
    path.write_text("import torch\n\n\ndef gate(x, y):\n    return %s\n" % code)
    command = [generated.binary(), "dump", str(path), "-f", "gate"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    dtype = lines[-2].rpartition(" : ")[2]
    assert dtype.startswith(WRITTEN[code]), lines
