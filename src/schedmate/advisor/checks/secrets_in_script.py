"""A password or token written into the script, where every reader of the queue finds it."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.secrets import holds_secret
from schedmate.advisor.shell.words import COMMAND_FILE
from schedmate.advisor.sources import SourceFile, evidence
from schedmate.model import Remark

_MAX_LINE = 2000


def secrets_in_script(checked: Checked) -> Iterator[Remark]:
    command = SourceFile(COMMAND_FILE, " ".join(checked.target.command))
    for source in (*checked.launch.scripts, command):
        for number, line in enumerate(source.lines(), 1):
            if holds_secret(line[:_MAX_LINE]):
                yield Remark(
                    level="warning",
                    text="a secret seems to be written here; read it from a file instead",
                    evidence=(evidence(source.name, number, line),),
                )
                break
