"""Whether this machine belongs to a site's Slurm, beside which no private one is started unasked.

Run as a program it prints what was found, and exits with 1 where there is none. It needs nothing
but Python, because `scripts/install-test-packages` asks before there is an environment.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

BESIDE = "BESIDE_SLURM"
"""The variable that allows it; `./test --everything --beside-slurm` sets it."""
_CONFIGS = (
    "etc/slurm/slurm.conf",
    "etc/slurm-llnl/slurm.conf",
    "usr/local/etc/slurm.conf",
    "opt/slurm/etc/slurm.conf",
    "run/slurm/conf/slurm.conf",
)
_DAEMONS = {"slurmctld", "slurmd", "slurmdbd", "slurmrestd", "sackd"}


def find_site_slurm(root: Path = Path("/")) -> str | None:
    """A site's slurm.conf or one of its daemons on this machine; a private cluster is none."""
    if os.environ.get(BESIDE) == "yes":
        return None
    named = os.environ.get("SLURM_CONF", "")
    for config in (root / name for name in _CONFIGS):
        if config.exists():
            return str(config)
    if named and Path(named).exists() and not _is_private(named):
        return named
    for process in sorted((root / "proc").glob("[0-9]*")):
        name = _daemon(process)
        if name is not None:
            return f"a running {name} (process {process.name})"
    return None


def _daemon(process: Path) -> str | None:
    try:
        name = (process / "comm").read_text().strip()
        if name not in _DAEMONS:
            return None
        environment = (process / "environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return None
    settings = dict(entry.partition(b"=")[::2] for entry in environment.split(b"\0"))
    return None if _is_private(os.fsdecode(settings.get(b"SLURM_CONF", b""))) else name


def _is_private(config: str) -> bool:
    """Whether it is a cluster of `slurm_cluster`, which lives in a temporary directory."""
    return any(
        Path(config).is_relative_to(place)
        for place in {"/tmp", tempfile.gettempdir()}  # noqa: S108
    )


if __name__ == "__main__":
    found = find_site_slurm()
    if found:
        sys.stdout.write(f"{found}\n")
    sys.exit(found is None)
