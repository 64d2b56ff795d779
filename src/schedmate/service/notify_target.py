"""Where messages about jobs of the local queue go: what `--notify` takes, and the usual one.

A URL of a webhook is a password: it is kept in a private file and never printed whole.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from schedmate.disk.private import open_private
from schedmate.model.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.config import Settings

MAIL, OFF = "mail", "none"
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,190}")
_LONGEST = 2000


def is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None


def is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def check_target(target: str, settings: Settings) -> None:
    """BadInput where nothing can be sent there from here."""
    if is_url(target):
        if len(target) > _LONGEST or not target.isprintable() or not _host(target):
            raise BadInput("--notify wants a whole URL, as https://ntfy.sh/a-name-of-yours")
        return
    if target != MAIL and not is_address(target):
        raise BadInput(
            "--notify wants a URL (Slack, Mattermost, Discord, ntfy or your own), a mail address "
            f"or `mail`, not {target!r}"
        )
    if not settings.mail.host and find_sendmail() is None:
        raise BadInput(
            "no mail can be sent from here: there is no sendmail, and the setting mail.host names "
            "no server; give --notify a URL, as https://ntfy.sh/a-name-of-yours"
        )


def hide_secret(target: str) -> str:
    return f"{target.partition(':')[0]}://{_host(target)}/…" if is_url(target) else target


def find_sendmail() -> str | None:
    """The machine's own mail program."""
    return shutil.which("sendmail", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib")


def read_usual_target(settings: Settings) -> str | None:
    """Where messages about every job go that says nothing of its own; None: nowhere."""
    try:
        return _file(settings).read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def write_usual_target(settings: Settings, target: str | None) -> None:
    if target is None:
        with suppress(FileNotFoundError):
            _file(settings).unlink()
        return
    check_target(target, settings)
    settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = open_private(_file(settings), os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        file.write(f"{target}\n")


def _file(settings: Settings) -> Path:
    return settings.state_dir / "notify-to"


def _host(url: str) -> str:
    """Empty where there is none."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - most jobs are told of nowhere

    try:
        found = urlsplit(url)
        port = found.port
    except ValueError:
        return ""
    return "" if port == 0 else found.hostname or ""
