"""Where public data sets are that are too large for the repository."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def data_dir() -> Path:
    """SCHEDMATE_DATA, else `shared/data` beside the repository."""
    return Path(os.environ.get("SCHEDMATE_DATA") or ROOT.parent / "shared" / "data")
