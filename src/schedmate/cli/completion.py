"""`schedmate completion`"""

from __future__ import annotations

import os
from pathlib import Path

import click

from schedmate.cli._common import json_option, print_json, say, verb
from schedmate.model import BadInput

_SHELLS = ("bash", "zsh", "fish")


@verb(
    examples="""
eval "$(schedmate completion bash)"
schedmate completion bash > ~/.local/share/bash-completion/completions/schedmate
schedmate completion fish > ~/.config/fish/completions/schedmate.fish
"""
)
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@json_option
def command(shell: str | None, as_json: bool) -> None:
    """Print what makes the shell complete verbs, options and the ids of jobs.

    Without a name it is for the shell in $SHELL.
    """
    from click.shell_completion import get_completion_class

    from schedmate.cli import root

    name = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(name) if name in _SHELLS else None
    if kind is None:
        raise BadInput(f"name a shell: {', '.join(_SHELLS)}")
    script = kind(root, {}, "schedmate", "_SCHEDMATE_COMPLETE").source()
    if as_json:
        print_json({"schema": "schedmate.completion/1", "shell": name, "script": script})
        return
    click.echo(script, nl=False)
    if shell is None:
        say(f"for {name}; schedmate completion --help shows where it belongs")
