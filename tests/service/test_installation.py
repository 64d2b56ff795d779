"""The units, and what `schedmate service` does to a machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.model import BadInput
from schedmate.service.usecases import installation
from schedmate.service.usecases.installation import units

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)
MOST_EXPOSED = 2.5
"""Of 10, by systemd's own measure."""


@pytest.fixture
def service(monkeypatch):
    # the environment of the tests may lie anywhere
    monkeypatch.setattr(installation, "_HIDDEN", ())

    def run(*words):
        return CliRunner().invoke(root, ["service", *words], catch_exceptions=True)

    return run


def files(directory):
    return {str(one.relative_to(directory)) for one in directory.rglob("*") if one.is_file()}


def test_below_another_root_only_files_are_written_and_removed(service, tmp_path):
    expected = {f"etc/systemd/system/{name}" for name in installation.UNITS}

    assert service("install", "--root", str(tmp_path)).exit_code == 0
    assert files(tmp_path) == {*expected, "etc/schedmate/config.toml"}
    assert service("install", "--root", str(tmp_path)).output == "nothing to do\n"
    assert service("uninstall", "--root", str(tmp_path)).exit_code == 0
    assert files(tmp_path) == set()


def test_changed_settings_and_the_state_stay_unless_purged(service, tmp_path):
    service("install", "--root", str(tmp_path))
    config = tmp_path / "etc/schedmate/config.toml"
    config.write_text('mode = "act"\n')
    state = tmp_path / "var/lib/schedmate/schedmate.sqlite3"
    state.parent.mkdir(parents=True)
    state.write_text("x")

    service("install", "--root", str(tmp_path))
    assert config.read_text() == 'mode = "act"\n', "an upgrade leaves the settings"
    service("uninstall", "--root", str(tmp_path))
    assert files(tmp_path) == {"etc/schedmate/config.toml", "var/lib/schedmate/schedmate.sqlite3"}
    service("uninstall", "--root", str(tmp_path), "--purge")
    assert files(tmp_path) == set()


def test_a_dry_run_changes_nothing(service, tmp_path):
    shown = service("install", "--root", str(tmp_path), "--dry-run", "--json")
    steps = json.loads(shown.output)["steps"]
    assert len(steps) == 4
    assert all(step.startswith("write ") for step in steps)
    assert list(tmp_path.iterdir()) == []


def test_an_installation_that_the_service_would_not_see_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/root/venv")
    with pytest.raises(BadInput, match="/opt/schedmate"):
        installation.install_steps(installation.Machine(), start=False)


@needs_systemd
@pytest.mark.processes
def test_the_units_are_valid_and_closed(tmp_path):
    for name, text in units().items():
        assert "@" not in re.sub(r"~?@[a-z-]+\b", "", text), "a mark that was not filled in"
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in units()]
    verified = subprocess.run(
        ["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False
    )
    about_ours = [line for line in verified.stderr.splitlines() if "schedmate" in line]
    assert (verified.returncode, about_ours) == (0, [])
    for name in units():
        if name.endswith(".service"):
            measured = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", str(tmp_path / name)],
                capture_output=True,
                text=True,
                check=True,
            )
            (level,) = re.findall(r"exposure level.*: ([\d.]+)", measured.stdout)
            assert float(level) <= MOST_EXPOSED


def test_a_queue_for_all_accounts_is_one_more_unit_and_stays_at_an_upgrade(service, tmp_path):
    unit = tmp_path / "etc/systemd/system/schedmate-queue.service"
    config = tmp_path / "etc/schedmate/config.toml"

    assert service("install", "--queue", "--root", str(tmp_path)).exit_code == 0
    assert "shared = true" in config.read_text()
    assert "KillMode=process" in unit.read_text()
    assert service("install", "--root", str(tmp_path)).output == "nothing to do\n"
    service("uninstall", "--root", str(tmp_path))
    assert files(tmp_path) == set()


def test_one_account_alone_serves_no_queue_for_all(service):
    assert service("install", "--user", "--queue").exit_code == 2


@needs_systemd
@pytest.mark.processes
def test_the_unit_of_the_queue_is_valid(tmp_path):
    for name, text in units(queue=True).items():
        (tmp_path / name).write_text(text)
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / installation.QUEUE_UNIT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (verified.returncode, "schedmate" in verified.stderr) == (0, False)
