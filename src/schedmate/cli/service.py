"""`schedmate service`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import echo, echo_lines, json_option, print_json, say, verb

if TYPE_CHECKING:
    from schedmate.service.usecases.installation import Machine, Step

_root_option = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("/"),
    show_default=True,
    help="Write below this directory only, for a package or an image.",
)
_user_option = click.option(
    "--user", "of_user", is_flag=True, help="For this account alone, without root's rights."
)
_dry_option = click.option("--dry-run", is_flag=True, help="Print what would be done.")


@click.group()
def command() -> None:
    """Run the daemon as a service: install, status, show, uninstall.

    For a site it runs as user `schedmate` without root's rights; a second, small service reads
    users' files as their owners. With `--user` it is the daemon of this account: a unit of its
    systemd, or an @reboot line of cron, so that the local queue goes on after a reboot. With
    `--queue` root also serves one queue for all accounts, and runs each job as its owner.
    """


@verb(
    examples="""
schedmate service install --user
schedmate service install --dry-run
sudo schedmate service install
sudo schedmate service install --queue
"""
)
@_user_option
@click.option(
    "--queue", is_flag=True, help="With a queue for all accounts of this machine, run by root."
)
@_root_option
@_dry_option
@click.option("--no-start", is_flag=True, help="Neither enable nor start it.")
@json_option
def install(
    *, of_user: bool, queue: bool, root: Path, dry_run: bool, no_start: bool, as_json: bool
) -> None:
    """Make the user, the settings and the units, and start them; also after an upgrade."""
    if of_user and queue:
        raise click.UsageError("a queue for all accounts is root's: --queue without --user")
    if of_user:
        _install_for_user(dry_run=dry_run, start=not no_start, as_json=as_json)
        return
    from schedmate.service.usecases.installation import Machine, install_steps

    machine = Machine(root.resolve())
    steps = install_steps(machine, start=not no_start, queue=queue)
    _carry_out(steps, machine, dry_run=dry_run, as_json=as_json)


@verb(examples="schedmate service uninstall --dry-run\nsudo schedmate service uninstall --purge")
@_user_option
@_root_option
@_dry_option
@click.option("--purge", is_flag=True, help="Also remove the state and changed settings.")
@json_option
def uninstall(of_user: bool, root: Path, dry_run: bool, purge: bool, as_json: bool) -> None:
    """Stop it and remove everything but the state and settings that were changed."""
    if of_user:
        from schedmate.service.usecases.user_service import user_uninstall_steps

        _carry_out(user_uninstall_steps(), None, dry_run=dry_run, as_json=as_json)
        return
    from schedmate.service.usecases.installation import Machine, uninstall_steps

    machine = Machine(root.resolve())
    steps = uninstall_steps(machine, purge=purge)
    _carry_out(steps, machine, dry_run=dry_run, as_json=as_json)


def _install_for_user(*, dry_run: bool, start: bool, as_json: bool) -> None:
    from schedmate import config
    from schedmate.service.usecases.user_service import linger_hint, user_install_steps

    steps = user_install_steps(config.load(), start=start)
    _carry_out(steps, None, dry_run=dry_run, as_json=as_json)
    if hint := linger_hint():
        say(hint)


@verb(examples="schedmate service status\nschedmate service status --json")
@json_option
def status(as_json: bool) -> None:
    """Whether the daemon of this account is installed, runs, and goes on after a logout."""
    from schedmate import config
    from schedmate.service.usecases.user_service import user_status

    found = user_status(config.load())
    if as_json:
        print_json(
            {
                "schema": "schedmate.service_status/1",
                "installed": found.installed or None,
                "runs": found.runs,
                "lingers": found.lingers,
            }
        )
    else:
        echo(found.in_words)


@verb(examples="schedmate service show")
@json_option
def show(as_json: bool) -> None:
    """Print the units as they would be installed."""
    from schedmate.service.usecases.installation import units

    texts = units()
    if as_json:
        print_json({"schema": "schedmate.units/1", "units": texts})
        return
    for name, text in texts.items():
        echo_lines(f"# {name}\n{text}")


def _carry_out(steps: list[Step], machine: Machine | None, *, dry_run: bool, as_json: bool) -> None:
    """Without a machine: for this account alone."""
    from schedmate.service.usecases.installation import Machine, carry_out

    if not dry_run:
        carry_out(steps, machine or Machine(), of_user=machine is None)
    if as_json:
        done = [step.text for step in steps]
        print_json({"schema": "schedmate.service/1", "steps": done, "dry_run": dry_run})
        return
    for step in steps:
        echo(f"{'would ' if dry_run else ''}{step.text}")
    if not steps:
        echo("nothing to do")


command.add_command(install)
command.add_command(uninstall)
command.add_command(status)
command.add_command(show)
