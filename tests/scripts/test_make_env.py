"""`./schedmate` and its environment: what is made, when, and what one says where it cannot be."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.processes

LOCKS = ("requirements.lock", "requirements-sim.lock", "requirements-uv.lock")


NOTHING = "no-such-package==1 --hash=sha256:" + "0" * 64
PATH = f"{Path(sys.executable).parent}:/usr/bin:/bin"


def call(clone: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [clone / "schedmate", *words],
        env={"HOME": os.environ["HOME"], "PATH": PATH, "INSTALLER": "pip", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone whose locks ask for nothing, so that no network is needed to set it up."""
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "scripts", clone / "scripts")
    shutil.copy(ROOT / "schedmate", clone)
    module = clone / "src" / "schedmate"
    module.mkdir(parents=True)
    (module / "__init__.py").touch()
    (module / "__main__.py").write_text("import sys\nprint('ran', *sys.argv[1:])\n")
    for name in LOCKS:
        (clone / name).touch()
    return clone


@pytest.fixture(scope="module")
def first_call(clone: Path) -> subprocess.CompletedProcess[str]:
    return call(clone, "jobs")


@pytest.fixture
def set_up(clone, first_call):
    """The clone after its first call, with nothing asked of a simulation's lock."""
    (clone / "requirements-sim.lock").write_text("")
    return clone


def test_the_first_call_sets_up_and_the_second_does_not(first_call, set_up):
    second = call(set_up, "jobs")

    assert (first_call.stdout, second.stdout) == ("ran jobs\n", "ran jobs\n")
    assert "setting up its environment in .venv" in first_call.stderr
    assert second.stderr == ""


def test_only_a_simulation_adds_its_packages(set_up):
    asked_for_help = call(set_up, "simulate", "--help")
    first, second = call(set_up, "simulate", "synthetic"), call(set_up, "simulate", "synthetic")

    assert asked_for_help.stderr == ""
    assert first.stderr == (
        "schedmate: adding the packages of requirements-sim.lock to .venv (once, some seconds)\n"
    )
    assert (first.stdout, second.stdout) == ("ran simulate synthetic\n", "ran simulate synthetic\n")
    assert second.stderr == ""


def test_a_simulation_goes_on_without_what_cannot_be_installed(set_up):
    (set_up / "requirements-sim.lock").write_text(NOTHING)

    done = call(set_up, "simulate", PIP_NO_INDEX="1")

    assert done.stdout == "ran simulate\n"
    assert "could not install the packages" in done.stderr
    assert "simulating without them" in done.stderr


def test_what_uv_cannot_install_pip_does(set_up, tmp_path):
    (set_up / "requirements-sim.lock").write_text("# nothing for pip to do\n")
    asked = tmp_path / "asked"
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\necho "$@" >>{asked}\nexit 2\n')
    uv.chmod(0o755)

    done = call(set_up, "simulate", PATH=f"{tmp_path}:{PATH}", INSTALLER="uv")

    assert done.stdout == "ran simulate\n"
    assert "--require-hashes" in asked.read_text()
    assert "could not install" not in done.stderr


def test_a_set_up_that_was_interrupted_starts_again(set_up):
    (set_up / ".venv" / ".ready").unlink()

    assert "setting up its environment in .venv" in call(set_up).stderr


def test_files_of_the_caller_s_directory_are_never_run(set_up, tmp_path):
    """A job's directory may have a module of any name; the caller may be root."""
    for name in ("click", "yaml", "json", "random", "schedmate"):
        (tmp_path / f"{name}.py").write_text(f"print('{name} of the job runs')\n")
    for program in ("click", "json", "random"):
        with (set_up / "src/schedmate/__main__.py").open("a") as file:
            file.write(f"try:\n    import {program}\nexcept ImportError:\n    pass\n")
    done = subprocess.run(
        [set_up / "schedmate", "jobs"],
        env={"HOME": os.environ["HOME"], "PATH": PATH, "INSTALLER": "pip"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.stdout == "ran jobs\n"


def test_no_process_of_ours_looks_for_modules_where_it_is_started():
    ours = [(path, r'sys\.executable, "-m"') for path in (ROOT / "src").rglob("*.py")]
    ours += [(ROOT / name, r"python\S* -m") for name in ("schedmate", "scripts/private-slurm")]
    assert [path.name for path, start in ours if re.search(start, path.read_text())] == []
