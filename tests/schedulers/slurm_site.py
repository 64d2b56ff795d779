"""Slurm's own commands, where a test plays the user or the operator."""

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

LATER = "--begin=now+1week"


def scontrol(*words):
    subprocess.run(["scontrol", *words], check=True)


def apart(bench):
    """A directory of its own for a job, so that jobs that come later are none of its successors."""
    return tempfile.mkdtemp(dir=bench.directory)


def kill_steps(cluster, job_id):
    """Of this cluster alone: others on the machine have jobs of the same number."""
    title, ours = f"slurmstepd: [{job_id}.".encode(), f"SLURM_CONF={cluster.config}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if not (process / "cmdline").read_bytes().startswith(title):
                continue
            if ours in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
