"""The units under a real systemd, in namespaces of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from schedmate.testing.slurm_cluster import why_not

SCRIPT = Path(__file__).parents[2] / "scripts" / "service-under-systemd"
PATIENCE_S = 1300


def reason_to_skip():
    """None where the script can run."""
    missing = [name for name in ("systemd-run", "unshare", "ip") if shutil.which(name) is None]
    if missing or not Path("/lib/systemd/systemd").exists():
        return "systemd, unshare or ip is not installed"
    if why_not() is not None:
        return why_not()
    asked = ("/usr/bin/python3", "-c", "import sys; print(sys.version_info[:2])")
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    if found != str(sys.version_info[:2]):
        return "this Python is of another version than the system's"
    places = Path(sysconfig.get_path("purelib")).parts
    return "this Python is below a home directory" if places[1] in ("home", "root", "tmp") else None


@pytest.mark.slurm
def test_the_units_start_work_and_go_away_again():
    reason = reason_to_skip()
    if reason is not None:
        pytest.skip(reason)

    done = subprocess.run(
        [SCRIPT],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )

    passed = [line for line in done.stdout.splitlines() if line.startswith("ok: ")]
    assert done.returncode == 0, done.stdout + done.stderr
    assert passed[0] == "ok: both units start"
    assert passed[-1] == "ok: nothing is left of the queue"
