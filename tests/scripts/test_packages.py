"""The wheel has all that is not Python too, and the container file can be built and started."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import schedmate

pytestmark = pytest.mark.processes
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "schedmate"


def test_the_wheel_has_every_file_of_the_package(tmp_path):
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())

    ours = {
        f"schedmate/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours - packed == set()
    assert "schedmate/design/static/uplot.min.js" in packed
    assert "schedmate/packaging/systemd/schedmate.service" in packed


def why_no_container() -> str:
    """Why no container can be built here; nothing where one can."""
    builder = shutil.which("podman") or shutil.which("docker")
    if builder is None:
        return "neither podman nor docker is installed"
    asked = [builder, "info"]
    answer = subprocess.run(asked, check=False, capture_output=True, text=True, timeout=60)
    if answer.returncode:
        return f"{builder} does not work here: {answer.stderr.strip().splitlines()[-1]}"
    base = _base_image()
    asked = [builder, "pull", "-q", base]
    pulled = subprocess.run(asked, check=False, capture_output=True, timeout=250)
    return f"{base} cannot be fetched" if pulled.returncode else ""


def _base_image() -> str:
    lines = (ROOT / "packaging" / "Containerfile").read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("ARG PYTHON="))


@pytest.mark.timeout(1800)
def test_the_container_is_built_and_starts(tmp_path):
    reason = why_no_container()
    if reason:
        pytest.skip(reason)
    builder = shutil.which("podman") or shutil.which("docker")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    words = [builder, "build", "-q", "-f", "packaging/Containerfile", "-t", "schedmate-test", "."]
    subprocess.run(words, cwd=clone, check=True)
    started = [builder, "run", "--rm", "schedmate-test", "--version"]
    answer = subprocess.run(started, check=True, capture_output=True, text=True)
    assert schedmate.__version__ in answer.stdout
