"""A password or token written into the script, where every reader of the queue finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.interpret.shell.words import COMMAND_FILE
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Remark
from schedmate.model.redaction import redact

_MAX_LINE = 2000
_REFERENCE = re.compile(
    r"\$\([^)]{0,500}\)|`[^`]{0,500}`|\$\{[^}]{0,100}\}|\$\w{1,100}|<[^<>]{0,100}>"
    r"|(?<=[=:\s\"'])[~.]?/[^\s\"']{0,500}|(?<=[=:\s])[\w.-]{1,100}\.(?:txt|json|ya?ml)\b"
)
"""A variable, a command, a placeholder or a file: where a secret comes from, not the secret."""


def secrets_in_script(checked: Checked) -> Iterator[Remark]:
    command = SourceFile(COMMAND_FILE, " ".join(checked.target.command))
    for source in (*checked.launch.scripts, command):
        for number, line in enumerate(source.lines(), 1):
            if _holds_secret(line[:_MAX_LINE]):
                yield Remark(
                    level="warning",
                    text="a secret seems to be written here; read it from a file instead",
                    evidence=(evidence(source.name, number, line),),
                )
                break


def _holds_secret(line: str) -> bool:
    stated = _REFERENCE.sub("", line)
    return redact(stated) != stated
