"""The daemon of one account, started with the machine: a unit of systemd, or a line of cron."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.disk.lock import is_held
from schedmate.model import BadInput, SchedMateError
from schedmate.model.account import account_name
from schedmate.service.usecases.installation import (
    Step,
    command_step,
    file_step,
    removal_step,
    templates,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.config import Settings

UNIT = "schedmate-user.service"
_MARK = "# schedmate: started with the machine"
_KEPT = ("SCHEDMATE_CONFIG", "SCHEDMATE_STATE_DIR", "SCHEDMATE_CACHE_DIR")
_ASK_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UserServiceStatus:
    installed: str
    """Where: the unit's file or `crontab`; empty: nowhere."""
    runs: bool
    lingers: bool | None
    """Whether it goes on when the user has logged out; None where that does not matter."""
    in_words: str


def unit_path() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(config).expanduser() / "systemd" / "user" / UNIT


def unit_text() -> str:
    kept = [f'Environment="{name}={os.environ[name]}"' for name in _KEPT if os.environ.get(name)]
    text = (templates() / UNIT).read_text(encoding="utf-8")
    text = text.replace("@SCHEDMATE@", f"{sys.executable} -P -m schedmate")
    return text.replace("@ENVIRONMENT@", "\n".join(kept))


def user_install_steps(settings: Settings, *, start: bool) -> list[Step]:
    if _has_systemd():
        return list(_install_unit(start=start))
    if shutil.which("crontab") is not None:
        return list(_install_line(settings, start=start))
    raise BadInput(
        "this machine has neither systemd nor crontab: start `schedmate serve` from ~/.profile"
    )


def user_uninstall_steps() -> list[Step]:
    steps = []
    if unit_path().exists():
        if _has_systemd():
            steps.append(command_step("systemctl", "--user", "disable", "--now", UNIT))
        steps.append(removal_step(unit_path()))
        if _has_systemd():
            steps.append(command_step("systemctl", "--user", "daemon-reload"))
    lines = _crontab()
    if any(_MARK in line for line in lines):
        kept = [line for line in lines if _MARK not in line]
        steps.append(Step("remove the line of schedmate from the crontab", lambda: _write(kept)))
    return steps


def user_status(settings: Settings) -> UserServiceStatus:
    runs, lingers = is_held(settings.daemon_lock), None
    installed = ""
    if unit_path().exists():
        installed, lingers = str(unit_path()), _lingers()
    elif any(_MARK in line for line in _crontab()):
        installed = "crontab"
    where = f"installed in {installed}" if installed else "not installed"
    running = "the daemon runs" if runs else "no daemon runs"
    hint = "" if installed else "; install it by: schedmate service install --user"
    if lingers is False:
        hint = f"; it ends with your last session until: {linger_command()}"
    return UserServiceStatus(
        installed=installed, runs=runs, lingers=lingers, in_words=f"{where}, {running}{hint}"
    )


def linger_hint() -> str:
    """What to do where jobs would end with the user's last session; empty where nothing."""
    if not _has_systemd() or _lingers():
        return ""
    return (
        "systemd ends it, and the jobs that it started, with your last session; "
        f"to keep both: {linger_command()}"
    )


def linger_command() -> str:
    return f"loginctl enable-linger {shlex.quote(account_name())}"


def _install_unit(*, start: bool) -> Iterator[Step]:
    path, text = unit_path(), unit_text()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        yield file_step(path, text)
    yield command_step("systemctl", "--user", "daemon-reload")
    yield command_step("systemctl", "--user", "enable", UNIT)
    if start:
        yield command_step("systemctl", "--user", "restart", UNIT)


def _install_line(settings: Settings, *, start: bool) -> Iterator[Step]:
    kept = {name: os.environ[name] for name in _KEPT if os.environ.get(name)}
    variables = "".join(f"{name}={shlex.quote(value)} " for name, value in kept.items())
    log = settings.state_dir / "serve.log"
    words = [sys.executable, "-P", "-m", "schedmate", "serve", "--log-file", str(log)]
    line = f"@reboot {variables}{shlex.join(words)} {_MARK}"
    if "%" in line:
        raise BadInput("cron reads % as a line break: choose paths without it")
    lines = [one for one in _crontab() if _MARK not in one]
    if [*lines, line] != _crontab():
        yield Step(f"add to the crontab: {line}", lambda: _write([*lines, line]))
    if start:
        yield Step(f"run {shlex.join(words)}", lambda: _start(words))


def _start(words: list[str]) -> None:
    subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _has_systemd() -> bool:
    return Path("/run/systemd/system").is_dir() and shutil.which("systemctl") is not None


def _lingers() -> bool:
    return Path("/var/lib/systemd/linger", account_name()).exists()


def _crontab() -> list[str]:
    if shutil.which("crontab") is None:
        return []
    listed = subprocess.run(
        ["crontab", "-l"], capture_output=True, text=True, timeout=_ASK_S, check=False
    )
    return listed.stdout.splitlines() if listed.returncode == 0 else []


def _write(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(
        ["crontab", "-"], input=text, capture_output=True, text=True, timeout=_ASK_S, check=False
    )
    if done.returncode:
        raise SchedMateError(f"crontab refuses it: {done.stderr.strip()}")
