"""`schedmate service`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import echo, echo_lines, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.service.usecases.installation import Machine, Step

_root_option = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("/"),
    show_default=True,
    help="Write below this directory only, for a package or an image.",
)
_dry_option = click.option("--dry-run", is_flag=True, help="Print what would be done.")


@click.group()
def command() -> None:
    """Run the daemon as a service of systemd: install, show, uninstall.

    The daemon runs as user `schedmate` without root's rights; a second, small service reads
    users' files as their owners.
    """


@verb(examples="schedmate service install --dry-run\nsudo schedmate service install")
@_root_option
@_dry_option
@click.option("--no-start", is_flag=True, help="Neither enable nor start it.")
@json_option
def install(root: Path, dry_run: bool, no_start: bool, as_json: bool) -> None:
    """Make the user, the settings and the units, and start them; also after an upgrade."""
    from schedmate.service.usecases.installation import Machine, install_steps

    machine = Machine(root.resolve())
    steps = install_steps(machine, start=not no_start)
    _carry_out(steps, machine, dry_run=dry_run, as_json=as_json)


@verb(examples="schedmate service uninstall --dry-run\nsudo schedmate service uninstall --purge")
@_root_option
@_dry_option
@click.option("--purge", is_flag=True, help="Also remove the state and changed settings.")
@json_option
def uninstall(root: Path, dry_run: bool, purge: bool, as_json: bool) -> None:
    """Stop it and remove everything but the state and settings that were changed."""
    from schedmate.service.usecases.installation import Machine, uninstall_steps

    machine = Machine(root.resolve())
    steps = uninstall_steps(machine, purge=purge)
    _carry_out(steps, machine, dry_run=dry_run, as_json=as_json)


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


def _carry_out(steps: list[Step], machine: Machine, *, dry_run: bool, as_json: bool) -> None:
    from schedmate.service.usecases.installation import carry_out

    if not dry_run:
        carry_out(steps, machine)
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
command.add_command(show)
