"""Numba is loaded when a kernel is used, and its code is kept where that is possible."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import schedmate

pytestmark = pytest.mark.processes

PACKAGE = Path(schedmate.__file__).parent


def python(code: str, **environment: str) -> str:
    others = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
        env={**others, **environment},
    )
    return done.stdout.strip()


def test_importing_the_simulator_does_not_load_numba():
    code = "import sys, schedmate.simulator.kernels; print('numba' in sys.modules)"

    assert python(code, PYTHONPATH=str(PACKAGE.parent)) == "False"


def test_compiled_code_goes_to_the_users_cache_where_the_package_cannot_be_written_to(tmp_path):
    pytest.importorskip("numba")
    (tmp_path / "site").mkdir()
    # stands in the way of a directory, which holds for root as well, as a mode would not
    (tmp_path / "site" / "__pycache__").write_text("")
    (tmp_path / "site" / "doubling.py").write_text(
        "from schedmate.simulator.kernels.compiled import compiled\n"
        "@compiled\n"
        "def double(number): return 2 * number\n"
    )

    doubled = python(
        "from doubling import double; print(double(21))",
        PYTHONPATH=f"{tmp_path / 'site'}{os.pathsep}{PACKAGE.parent}",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )

    assert doubled == "42"
    assert list((tmp_path / "cache").rglob("*.nbi"))
