"""Writes the logs of real.toml by real programs, on a CPU: as root, with .venv-frameworks.

python -m bench.corpora.doomed_first_sight.produce
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

_HERE = Path(__file__).parent
_PYTHON = _HERE.parents[2] / ".venv-frameworks/bin/python"


def main() -> None:
    stated = tomllib.loads((_HERE / "real_programs.toml").read_text())
    heads = stated.pop("heads")
    for name, one in stated.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        before = one.get("before") or heads.get(one.get("on"), "")
        program = heads.get(one.get("head"), "") + one["program"]
        with tempfile.TemporaryDirectory() as place:
            Path(place, "train.py").write_text(program)
            shell = f"{before}{_PYTHON} -W ignore train.py 2>&1"
            done = subprocess.run(
                ["bash", "-c", shell], cwd=place, stdout=subprocess.PIPE, check=False
            )
        text = done.stdout.replace(place.encode(), b"/home/ada").replace(
            str(_HERE.parents[2]).encode(), b"/opt"
        )
        Path(_HERE, "real", f"{name}.log").write_bytes(text)
        print(f"{name}: exit code {done.returncode}, {len(text)} bytes", flush=True)


if __name__ == "__main__":
    main()
