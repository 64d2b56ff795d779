"""Runs the example jobs for real, each with its output in one log as a scheduler keeps it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Ran:
    log: Path
    exit_code: int

    @property
    def text(self):
        return self.log.read_text()


def command(script, *words):
    """Alone in its directory, and any warning of numpy's is an error."""
    return [sys.executable, "-I", "-W", "error", str(EXAMPLES / script), *words]


@pytest.fixture
def run(tmp_path):
    def run_script(script, *words, log="job.log", **environment):
        path = tmp_path / log
        with path.open("wb") as output:
            done = subprocess.run(
                command(script, *words),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=tmp_path,
                env=os.environ | environment,
                check=False,
                timeout=120,
            )
        return Ran(path, done.returncode)

    return run_script


@pytest.fixture
def start(tmp_path):
    """Start a script that will not end; it is killed after the test."""
    started = []

    def start_script(script, *words):
        path = tmp_path / "job.log"
        with path.open("wb") as output:
            started.append(subprocess.Popen(command(script, *words), stdout=output))
        return started[-1], path

    yield start_script
    for process in started:
        process.kill()
        process.wait()
