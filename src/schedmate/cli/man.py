"""`schedmate man`"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click

from schedmate.cli._common import echo, json_option, print_json, verb
from schedmate.model import NotFound


@verb(
    examples="""
schedmate man
schedmate man track
schedmate man --write ~/.local/share/man/man1
"""
)
@click.argument("name", metavar="[VERB]", required=False)
@click.option(
    "--write",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the pages of all verbs into this directory, for man(1) to find.",
)
@json_option
def command(name: str | None, directory: Path | None, as_json: bool) -> None:
    """The manual of a verb, or of all; without a terminal its source."""
    from schedmate.cli import VERBS
    from schedmate.cli._manual import manual, page_name

    if name is not None and name not in VERBS:
        raise NotFound(f"no verb is called {name!r}; schedmate --help lists them")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        files = [directory / f"{page_name(one)}.1" for one in (None, *VERBS)]
        for one, file in zip((None, *VERBS), files, strict=True):
            file.write_text(manual(one), encoding="utf-8")
        if as_json:
            print_json({"schema": "schedmate.man/1", "files": [str(file) for file in files]})
        else:
            echo(f"{len(files)} pages are in {directory}: man schedmate")
        return
    page = manual(name)
    if as_json:
        print_json({"schema": "schedmate.man/1", "page": page})
    elif sys.stdout.isatty() and (reader := shutil.which("man")):
        subprocess.run([reader, "-l", "-"], input=page.encode(), check=False)
    else:
        click.echo(page, nl=False)
