"""`./test`: what it installs, what it says last, and what it makes of flaky tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from schedmate.testing.site_slurm import find_site_slurm

pytestmark = pytest.mark.processes
ROOT = Path(__file__).parents[2]
FOR_SHELLS = (
    *("bash", "env", "dirname", "readlink", "id", "mktemp", "tail", "rm"),
    *("sleep", "chmod", "taskset"),
)
SUITE = """\
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range({flaky}))
def test_flaky(number):
    before = Path(f"before-{{number}}")
    assert before.exists() or before.touch()

def test_elsewhere():
    pytest.skip("needs a moon")
"""


def programs(directory: Path, **scripts: str) -> str:
    """A PATH with these scripts, this Python and what shells cannot do without."""
    directory.mkdir()
    for name in FOR_SHELLS:
        (directory / name).symlink_to(shutil.which(name) or "")
    (directory / "python3").symlink_to(sys.executable)
    for name, text in scripts.items():
        program = directory / name.replace("_", "-")
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)
    return str(directory)


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        env={"HOME": os.environ["HOME"], **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )


COSTLY = """\
import multiprocessing, time

def test_computes():
    until = time.process_time() + 1.2
    while time.process_time() < until:
        pass

def test_starts():
    child = multiprocessing.get_context("spawn").Process(target=print)
    child.start()
    child.join()

def test_is_cheap():
    pass
"""


def checked(clone: Path, suite: str, *words: str) -> subprocess.CompletedProcess[str]:
    (clone / "scripts").mkdir()
    (clone / "tests").mkdir()
    shutil.copy(ROOT / "scripts" / "check", clone / "scripts")
    shutil.copy(ROOT / "tests" / "conftest.py", clone / "tests")
    shutil.copy(ROOT / "pyproject.toml", clone)
    (clone / "tests" / "test_suite.py").write_text(suite)
    path = programs(clone / "bin", ruff="exit 0", mypy="exit 0")
    one_core = ("taskset", "--cpu-list", str(min(os.sched_getaffinity(0))))
    return run(*one_core, sys.executable, clone / "scripts" / "check", *words, PATH=path)


def test_two_flaky_tests_are_named_last_and_what_is_skipped_before_them(tmp_path):
    done = checked(tmp_path, SUITE.format(flaky=2))

    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(
        """
skipped here: 1 tests
     1  needs a moon
To install what is missing and run these too, as root: ./test --everything

flaky: 2 tests failed beside the others and passed alone
        tests/test_suite.py::test_flaky[0]
        tests/test_suite.py::test_flaky[1]
"""
    )


def test_more_flaky_tests_fail_the_run(tmp_path):
    done = checked(tmp_path, SUITE.format(flaky=3))

    assert done.returncode == 1
    assert "flaky: 3 tests failed beside the others and passed alone; more than 2" in done.stdout


def test_a_costly_test_without_a_mark_fails_by_itself(tmp_path):
    done = checked(tmp_path, COSTLY, "--fast")

    assert done.returncode == 1
    assert "2 failed, 1 passed" in done.stdout
    assert " s of the processor, of 1 s" in done.stdout
    assert "make it cheaper, or mark it `slow`" in done.stdout
    assert "subprocess.Popen in a test that is not marked `processes`" in done.stdout


@pytest.fixture
def clone(tmp_path):
    """A clone whose environments and checks are there and say that they were asked for."""
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "scripts", clone / "scripts")
    shutil.copy(ROOT / "test", clone)
    copy = clone / "src" / "schedmate" / "testing"
    copy.mkdir(parents=True)
    shutil.copy(ROOT / "src/schedmate/testing/site_slurm.py", copy)
    for name in ("make-env", "make-frameworks-env"):
        (clone / "scripts" / name).write_text(f'#!/bin/bash\necho {name} "$1" apt: $APT\n')
    (clone / "scripts" / "check").write_text("import sys\nprint('check', *sys.argv[1:])\n")
    venv = clone / ".venv-test" / "bin"
    venv.mkdir(parents=True)
    for name in ("python", "python3"):
        (venv / name).symlink_to(sys.executable)
    return clone


@pytest.mark.parametrize("words", [(), ("--fast",), ("tests/tracker", "-q")], ids=str)
def test_no_package_is_installed_unasked(clone, tmp_path, words):
    path = programs(tmp_path / "bin", apt_get="echo installs $*")
    done = run(clone / "test", *words, PATH=path)

    assert done.stdout == f"make-env .venv-test apt: no\n{' '.join(('check', *words))}\n"


LOCKED = """\
echo "$*" >>{asked}
[ $(wc -l <{asked}) -gt 1 ] || {{ echo "E: Could not get lock /var/lib/apt/lists/lock"; exit 100; }}
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
def test_everything_waits_until_another_installation_is_done(clone, tmp_path):
    asked = tmp_path / "asked"
    path = programs(tmp_path / "bin", apt_get=LOCKED.format(asked=asked))
    (tmp_path / "bin" / "wc").symlink_to(shutil.which("wc"))
    words = (clone / "test", "--everything", "tests/tracker")
    done = run(*words, PATH=path, BESIDE_SLURM="yes", POLICY_RC_D=str(tmp_path / "policy"))

    assert asked.read_text().splitlines()[:2] == ["-qq update"] * 2
    assert "DPkg::Lock::Timeout=900 install -y" in asked.read_text()
    assert "chromium" in asked.read_text()
    assert done.stdout.splitlines() == [
        "make-env .venv-test apt: yes",
        "make-frameworks-env  apt: yes",
        "make-env .venv-test apt: yes",
        "check tests/tracker",
    ]
    assert not (tmp_path / "policy").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
def test_what_an_installation_brings_is_not_called_missing(clone, tmp_path):
    plugins = tmp_path / "lib" / "some-arch" / "slurm-wlm"
    path = programs(tmp_path / "bin", apt_get=f"mkdir -p {plugins}; : >{plugins}/auth_jwt.so")
    (tmp_path / "bin" / "mkdir").symlink_to(shutil.which("mkdir"))
    environment = {"BESIDE_SLURM": "yes", "POLICY_RC_D": str(tmp_path / "policy")}
    install = clone / "scripts" / "install-test-packages"
    done = run(install, PATH=path, LIBRARIES=str(tmp_path / "lib"), **environment)

    assert "installing slurmctld" in done.stderr
    assert (plugins / "auth_jwt.so").exists()
    assert "auth_jwt" not in done.stderr


def test_everything_refuses_on_a_machine_of_a_site(clone, tmp_path):
    path = programs(tmp_path / "bin", apt_get="echo installs $*")
    refused = run(clone / "test", "--everything", PATH=path, SLURM_CONF="/etc/passwd")

    assert refused.returncode == 2
    assert "belongs to a site's Slurm: /etc/passwd" in refused.stderr
    assert "./test --everything --beside-slurm does it" in refused.stderr
    assert "installs" not in refused.stdout


class TestTheSlurmOfASite:
    @pytest.fixture(autouse=True)
    def nothing_said(self, monkeypatch):
        for name in ("SLURM_CONF", "BESIDE_SLURM"):
            monkeypatch.delenv(name, raising=False)

    def daemon(self, root: Path, name: str, **environment: str) -> None:
        process = root / "proc" / "1234"
        process.mkdir(parents=True)
        (process / "comm").write_text(f"{name}\n")
        settings = "\0".join("=".join(one) for one in environment.items())
        (process / "environ").write_text(settings)

    def test_is_none_where_nothing_is_configured(self, tmp_path):
        self.daemon(tmp_path, "sshd")
        assert find_site_slurm(tmp_path) is None

    def test_is_its_config(self, tmp_path):
        config = tmp_path / "etc/slurm/slurm.conf"
        config.parent.mkdir(parents=True)
        config.touch()
        assert find_site_slurm(tmp_path) == str(config)

    @pytest.mark.parametrize("environment", [{}, {"SLURM_CONF": "/srv/slurm.conf"}], ids=str)
    def test_is_a_daemon_that_runs(self, tmp_path, environment):
        self.daemon(tmp_path, "slurmd", **environment)
        assert find_site_slurm(tmp_path) == "a running slurmd (process 1234)"

    def test_is_no_private_cluster(self, tmp_path):
        self.daemon(tmp_path, "slurmd", SLURM_CONF="/tmp/schedmate-slurm-1/etc/slurm.conf")
        assert find_site_slurm(tmp_path) is None

    def test_is_overlooked_where_that_is_asked_for(self, tmp_path, monkeypatch):
        self.daemon(tmp_path, "slurmd")
        monkeypatch.setenv("BESIDE_SLURM", "yes")
        assert find_site_slurm(tmp_path) is None
