"""`schedmate slurm`: what is specific to Slurm."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import echo, echo_lines, json_option, print_json, say, verb

if TYPE_CHECKING:
    from schedmate.config import Settings

_SCHEMA = "schedmate.hook/1"


@click.group(
    epilog="\b\nExamples:\n"
    "  schedmate slurm install-hook --dry-run     show the file that would be written\n"
    "  schedmate slurm uninstall-hook             take it away again"
)
def command() -> None:
    """Slurm's own hooks: advice for everyone who calls sbatch."""


_directory = click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    help="Where cli_filter.lua belongs; default: beside slurm.conf.",
)


@verb(
    name="install-hook",
    examples="""
schedmate slurm install-hook --dry-run
schedmate slurm install-hook
schedmate slurm install-hook --dir /etc/slurm/schedmate
""",
)
@_directory
@click.option("--dry-run", is_flag=True, help="Print the file instead of writing it.")
@click.option("--always", is_flag=True, help="Ask also where stderr of sbatch is no terminal.")
@json_option
def install_verb(directory: Path | None, dry_run: bool, always: bool, as_json: bool) -> None:
    """Write cli_filter.lua, with which sbatch shows SchedMate's advice.

    sbatch asks the daemon on the same machine by its socket (setting hook.socket) and waits for
    at most 0.2 s; without an answer it submits as always. A file of that name that SchedMate did
    not write is left alone.
    """
    from schedmate import config
    from schedmate.schedulers.slurm import hook
    from schedmate.schedulers.slurm.commands import SlurmCommands

    settings = config.load()
    nice = settings.nice_at_submission
    sharing = settings.sharing
    lent = hook.LentAtSubmission(
        shards=sharing.shards_at_submission, partitions=sharing.partitions, qos=sharing.qos
    )
    text = hook.hook_text(settings.advice_socket, always=always, nice=nice, lent=lent)
    is_enabled = True
    if directory is None:
        place = hook.place_of_hook(SlurmCommands(settings.slurm.timeout_s).ask)
        directory, is_enabled = place.directory, place.is_enabled
    path = directory.absolute() / hook.NAME
    private = _private_directory(settings)
    if private is not None:
        say(
            f"other users cannot reach {settings.advice_socket}: {private} is private; set "
            "hook.socket to a path in a directory that everyone may enter, e.g. "
            "/run/schedmate/advice.sock, for the daemon and here"
        )
    if dry_run:
        if path.exists() or path.is_symlink():
            hook.refuse_foreign(path)
        echo_lines(text.rstrip("\n"))
        echo(f"would be written to {path}", err=True)
        return
    hook.install(path.parent, text)
    if as_json:
        print_json({"schema": _SCHEMA, "path": str(path), "installed": True})
    else:
        echo(f"written to {path}")
    if not is_enabled:
        echo("Slurm uses it once slurm.conf has the line CliFilterPlugins=lua", err=True)


def _private_directory(settings: Settings) -> Path | None:
    """The directory on the way to the socket that other users may not enter."""
    socket = settings.advice_socket
    if socket.is_relative_to(settings.state_dir.absolute()) and not settings.state_dir.exists():
        return settings.state_dir  # it will be made for its owner alone
    for directory in reversed(socket.parents):
        if directory.exists() and not directory.stat().st_mode & stat.S_IXOTH:
            return directory
    return None


@verb(name="uninstall-hook", examples="schedmate slurm uninstall-hook")
@_directory
@json_option
def uninstall_verb(directory: Path | None, as_json: bool) -> None:
    """Remove cli_filter.lua where SchedMate wrote it and nothing has changed it since.

    While slurm.conf names the plugin nothing is removed: sbatch would refuse every job.
    """
    from schedmate import config
    from schedmate.model import BadInput
    from schedmate.schedulers.slurm import hook
    from schedmate.schedulers.slurm.commands import SlurmCommands

    settings = config.load()
    if directory is None:
        place = hook.place_of_hook(SlurmCommands(settings.slurm.timeout_s).ask)
        if place.is_enabled:
            raise BadInput(
                "sbatch would fail without the file: take CliFilterPlugins=lua out of slurm.conf "
                "and run scontrol reconfigure first"
            )
        directory = place.directory
    path = hook.uninstall(directory.absolute())
    if as_json:
        print_json({"schema": _SCHEMA, "path": str(path), "installed": False})
    else:
        echo(f"removed {path}")


for _verb in (install_verb, uninstall_verb):
    command.add_command(_verb)
