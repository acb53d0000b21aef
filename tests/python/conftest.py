"""Makes the package of this source tree importable, whatever is installed."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(autouse=True)
def repeatable():
    torch = sys.modules.get("torch")  # not every test needs it
    if torch is not None:
        torch.manual_seed(20240607)
        torch.set_num_threads(1)
