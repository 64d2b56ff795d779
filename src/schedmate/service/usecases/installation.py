"""SchedMate as a service of systemd: what is written where, and how all of it goes away again."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import schedmate
from schedmate.config import SITE_FILE
from schedmate.files import helper
from schedmate.model import BadInput, NotFound, SchedMateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USER = "schedmate"
UNITS = ("schedmate.service", "schedmate-files.service", "schedmate-files.socket")
QUEUE_UNIT = "schedmate-queue.service"
STATE = Path("/var/lib/schedmate")
_QUEUE_STATE = Path("/var/lib/schedmate-queue")
_UNIT_DIRECTORY = Path("/etc/systemd/system")
_OTHER_DIRECTORIES = (Path("/var/cache/schedmate"), Path("/var/log/schedmate"))
_SETTINGS = """\
# The settings of this site; SIGHUP (systemctl reload schedmate) makes the daemon read them again.
scheduler = "slurm"
mode = "observe"
"""
_QUEUE_SETTINGS = f"""\
# The settings of this machine; SIGHUP (systemctl reload schedmate) makes the daemon read them.
scheduler = "local"
mode = "observe"
operators = ["{USER}"]
server = "unix:/run/schedmate/api.sock"

[local]
shared = true

[web]
socket = "/run/schedmate/api.sock"
"""
_HIDDEN = (Path("/home"), Path("/root"), Path("/run/user"), Path("/tmp"), Path("/var/tmp"))  # noqa: S108
"""What the units do not let the daemon see."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change to the machine: what it is, and how it is made."""

    text: str
    make: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it is installed; below another `root` only files are written, as for an image."""

    root: Path = Path("/")

    def path(self, place: Path) -> Path:
        return self.root / place.relative_to("/")

    @property
    def is_this(self) -> bool:
        return self.root == Path("/")

    @property
    def has_systemd(self) -> bool:
        return self.is_this and Path("/run/systemd/system").is_dir()


def units(*, queue: bool = False) -> dict[str, str]:
    """The text of each unit, for this installation of SchedMate; with one for a shared queue."""
    program = f"{sys.executable} -P -m schedmate"
    filled = {
        "@SCHEDMATE@": program,
        "@PYTHON@": sys.executable,
        "@HELPER@": str(Path(helper.__file__).resolve()),
    }
    names = (*UNITS, QUEUE_UNIT) if queue else UNITS
    texts = {name: (templates() / name).read_text(encoding="utf-8") for name in names}
    for mark, value in filled.items():
        texts = {name: text.replace(mark, value) for name, text in texts.items()}
    return texts


def templates() -> Path:
    package = Path(schedmate.__file__).parent
    for folder in (package / "packaging" / "systemd", package.parents[1] / "packaging" / "systemd"):
        if folder.is_dir():
            return folder
    raise NotFound("the units are missing from this installation; install it again")


def install_steps(machine: Machine, *, start: bool, queue: bool = False) -> list[Step]:
    """With `queue` the machine gets a queue for all its accounts, which an upgrade keeps."""
    _check_places()
    queue = queue or (machine.path(_UNIT_DIRECTORY) / QUEUE_UNIT).exists()
    return list(_install(machine, start=start, queue=queue))


def _check_places() -> None:
    needed = (Path(sys.executable), Path(sys.prefix), Path(schedmate.__file__).resolve())
    for path in needed:
        hiding = next((place for place in _HIDDEN if path.is_relative_to(place)), None)
        if hiding is not None:
            raise BadInput(
                f"{path} is below {hiding}, which the service does not see; install SchedMate "
                "elsewhere, for example: python3 -m venv /opt/schedmate"
            )


def _install(machine: Machine, *, start: bool, queue: bool) -> Iterator[Step]:
    if machine.is_this and not _user_exists():
        flags = ("--system", "--user-group", "--no-create-home", "--shell=/usr/sbin/nologin")
        yield command_step("useradd", *flags, f"--home-dir={STATE}", USER)
    if machine.is_this and STATE.exists():
        yield Step(f"give {STATE} to {USER}", lambda: _give(STATE, USER))
    settings = machine.path(SITE_FILE)
    if not settings.exists():
        yield file_step(settings, _QUEUE_SETTINGS if queue else _SETTINGS)
    for name, text in units(queue=queue).items():
        path = machine.path(_UNIT_DIRECTORY) / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield file_step(path, text)
    if machine.has_systemd:
        yield command_step("systemctl", "daemon-reload")
        if start:
            started = (*([QUEUE_UNIT] if queue else []), UNITS[2], UNITS[0])
            yield command_step("systemctl", "enable", *started)
            yield command_step("systemctl", "restart", *started)


def uninstall_steps(machine: Machine, *, purge: bool) -> list[Step]:
    return list(_uninstall(machine, purge=purge))


def _uninstall(machine: Machine, *, purge: bool) -> Iterator[Step]:
    places = [machine.path(_UNIT_DIRECTORY) / name for name in (QUEUE_UNIT, *UNITS)]
    installed = [path for path in places if path.exists()]
    if machine.has_systemd and installed:
        yield command_step("systemctl", "disable", "--now", *(path.name for path in installed))
    for path in installed:
        yield removal_step(path)
    if machine.has_systemd and installed:
        yield command_step("systemctl", "daemon-reload")
    settings = machine.path(SITE_FILE)
    ours = (_SETTINGS, _QUEUE_SETTINGS)
    if settings.exists() and (purge or settings.read_text(encoding="utf-8") in ours):
        yield removal_step(settings)
        yield Step(
            f"remove {settings.parent} if it is empty", lambda: _remove_empty(settings.parent)
        )
    for place in (*_OTHER_DIRECTORIES, *([_QUEUE_STATE] if purge else [])):
        if machine.path(place).exists():
            yield removal_step(machine.path(place))
    state = machine.path(STATE)
    if state.exists() and purge:
        yield removal_step(state)
    elif state.exists() and machine.is_this:
        # the number of a user that is gone may be another's one day
        yield Step(f"give {state} to root", lambda: _give(state, "root"))
    if machine.is_this and _user_exists():
        yield command_step("userdel", USER)


def carry_out(steps: list[Step], machine: Machine, *, of_user: bool = False) -> None:
    if machine.is_this and os.geteuid() != 0 and not of_user:
        raise BadInput("only root can do this; --dry-run shows what would be done")
    for step in steps:
        step.make()


def file_step(path: Path, text: str) -> Step:
    def write() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)

    return Step(f"write {path}", write)


def removal_step(path: Path) -> Step:
    def remove() -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    return Step(f"remove {path}", remove)


def _remove_empty(directory: Path) -> None:
    if not any(directory.iterdir()):
        directory.rmdir()


def command_step(*words: str) -> Step:
    def run() -> None:
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise SchedMateError(f"{words[0]} is not installed here") from None
        if done.returncode:
            raise SchedMateError(f"{' '.join(words)} failed: {done.stderr.strip()}")

    return Step(f"run {' '.join(words)}", run)


def _give(directory: Path, user: str) -> None:
    entry = pwd.getpwnam(user)
    for path in (directory, *directory.rglob("*")):
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def _user_exists() -> bool:
    try:
        pwd.getpwnam(USER)
    except KeyError:
        return False
    return True
