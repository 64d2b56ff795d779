"""`cli_filter.lua`: written beside slurm.conf and taken away again, but never a site's own."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.model import BadInput, NotFound, SchedulerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Ask = Callable[..., str]

NAME = "cli_filter.lua"
DEADLINE_S = 0.2
_MARK = re.compile(r"-- written by schedmate slurm install-hook; digest ([0-9a-f]{64})\n")
_SAFE_PATH = re.compile(r"/[\w./+@ -]{1,100}")
_PLAIN_NAME = re.compile(r"[\w.+@-]{1,100}")
_LONGEST = 107
"""Bytes of the path of a socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPlace:
    """Where Slurm looks for the file, and whether it is set up to use it."""

    directory: Path
    is_enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LentAtSubmission:
    """How many parts of a GPU are asked for in place of a whole one, and where by all jobs."""

    shards: int = 0
    partitions: tuple[str, ...] = ()
    qos: tuple[str, ...] = ()


def hook_text(
    socket: Path, *, always: bool = False, nice: int = 0, lent: LentAtSubmission | None = None
) -> str:
    """The file; its first line lets a later version know whether anyone has changed it."""
    path = str(socket)
    if not _SAFE_PATH.fullmatch(path) or len(os.fsencode(path)) > _LONGEST:
        raise BadInput(f"hook.socket must be a short absolute path of plain characters, not {path}")
    lent = lent or LentAtSubmission()
    template = resources.files("schedmate.schedulers.slurm").joinpath(NAME).read_text("utf-8")
    body = (
        template.replace("@SOCKET@", path)
        .replace("@DEADLINE_S@", f"{DEADLINE_S:g}")
        .replace("@ALWAYS@", "true" if always else "false")
        .replace("@NICE@", str(nice))
        .replace("@SHARDS@", str(lent.shards))
        .replace("@PARTITIONS@", _lua_set(lent.partitions))
        .replace("@QOS@", _lua_set(lent.qos))
    )
    digest = hashlib.sha256(body.encode()).hexdigest()
    return f"-- written by schedmate slurm install-hook; digest {digest}\n{body}"


def _lua_set(names: Iterable[str]) -> str:
    """Of names that need no escapes."""
    odd = [name for name in names if not _PLAIN_NAME.fullmatch(name)]
    if odd:
        raise BadInput(f"{odd[0]!r} is no name of a partition or QOS that the hook can have")
    return "{ " + " ".join(f'["{name}"] = true,' for name in names) + " }"


def install(directory: Path, text: str) -> Path:
    """Write it, or replace an older one of ours, in one step."""
    path = directory / NAME
    if not directory.is_dir():
        raise NotFound(f"there is no directory {directory}")
    if path.is_symlink() or path.exists():
        refuse_foreign(path)
    beside = directory / f".{NAME}.{os.getpid()}"
    try:
        beside.write_text(text, encoding="utf-8")
        beside.chmod(0o644)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def uninstall(directory: Path) -> Path:
    path = directory / NAME
    if not (path.is_symlink() or path.exists()):
        raise NotFound(f"there is no {path}")
    refuse_foreign(path)
    path.unlink()
    return path


def refuse_foreign(path: Path) -> None:
    """One that SchedMate did not write, or that someone has changed since."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if not path.is_symlink() else ""
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    found = _MARK.match(text)
    if found is None:
        raise BadInput(
            f"{path} is not SchedMate's and stays as it is; to use both, write SchedMate's into "
            "another directory (--dir) and call it from there: "
            f'`local schedmate = dofile("DIR/{NAME}")`, then `schedmate.advise(options)` in '
            "slurm_cli_pre_submit"
        )
    if hashlib.sha256(text[found.end() :].encode()).hexdigest() != found[1]:
        raise BadInput(f"{path} was changed after SchedMate wrote it; move it away first")


def place_of_hook(ask: Ask) -> HookPlace:
    """`ask` runs a command of Slurm."""
    shown = ask("scontrol", "show", "config")
    values = {
        name.strip(): value.strip()
        for name, equals, value in (line.partition("=") for line in shown.splitlines())
        if equals
    }
    config = values.get("SLURM_CONF", "")
    if not config.startswith("/"):
        raise SchedulerError("Slurm does not state where its slurm.conf is; name it with --dir")
    plugins = values.get("CliFilterPlugins", "").replace("cli_filter/", "").split(",")
    return HookPlace(directory=Path(config).parent, is_enabled="lua" in plugins)
