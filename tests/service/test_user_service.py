"""`service --user`: the daemon of one account, started with the machine."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.model import BadInput
from schedmate.service.usecases import user_service

STAND_INS = {
    "crontab": 'if [ "$1" = -l ]; then cat "$HOME/tab"; else cat > "$HOME/tab"; fi',
    "systemctl": 'echo "$@" >> "$HOME/asked"',
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(user_service, "_has_systemd", lambda: False)
    return tmp_path


def stand_in(home, name):
    program = home / "bin" / name
    program.write_text(f"#!/bin/sh\n{STAND_INS[name]}\n")
    program.chmod(0o755)


def service(*words):
    done = CliRunner().invoke(root, ["service", *words], catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


@pytest.mark.processes
def test_a_line_of_cron_beside_others(home):
    stand_in(home, "crontab")
    (home / "tab").write_text("0 3 * * * backup\n")

    dry = service("install", "--user", "--no-start", "--dry-run")
    written = service("install", "--user", "--no-start")

    mine = (home / "tab").read_text().splitlines()
    assert dry == f"would {written}"
    assert written == f"add to the crontab: {mine[1]}\n"
    assert mine[0] == "0 3 * * * backup"
    assert mine[1].startswith(
        f"@reboot SCHEDMATE_CONFIG=/dev/null SCHEDMATE_STATE_DIR={home}/state"
    )
    assert "-m schedmate serve --log-file" in mine[1]
    assert service("install", "--user", "--no-start") == "nothing to do\n"
    assert service("status") == "installed in crontab, no daemon runs\n"
    assert "remove the line" in service("uninstall", "--user")
    assert (home / "tab").read_text() == "0 3 * * * backup\n"
    assert json.loads(service("status", "--json"))["installed"] is None


@pytest.mark.processes
def test_a_unit_of_the_users_systemd(home, monkeypatch):
    stand_in(home, "systemctl")
    monkeypatch.setattr(user_service, "_has_systemd", lambda: True)
    monkeypatch.setattr(user_service, "_lingers", lambda: False)

    written = service("install", "--user")

    unit = home / ".config" / "systemd" / "user" / "schedmate-user.service"
    assert f"write {unit}" in written
    assert "loginctl enable-linger" in written
    text = unit.read_text()
    assert "@" not in text
    assert f'Environment="SCHEDMATE_STATE_DIR={home}/state"' in text
    assert "KillMode=process" in text, "jobs outlive a restart of the daemon"
    asked = (home / "asked").read_text().splitlines()
    assert [line.split()[1] for line in asked] == ["daemon-reload", "enable", "restart"]
    assert "ends with your last session until: loginctl" in service("status")
    service("uninstall", "--user")
    assert not unit.exists()
    assert "disable --now" in (home / "asked").read_text()


def test_neither_of_both(home, monkeypatch):
    monkeypatch.setattr(user_service.shutil, "which", lambda name: None)
    with pytest.raises(BadInput, match=r"from ~/.profile"):
        service("install", "--user")
    assert not list((home / "bin").iterdir())
