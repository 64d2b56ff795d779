"""Commands that start what a job file describes: `kubectl apply -f`, `docker compose run`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.launchers import program
from schedmate.advisor.sources.words import words

_VERBS = {
    "kubectl": words("apply create replace"),
    "oc": words("apply create replace"),
    "sky": words("launch exec jobs"),
    "mcli": words("run"),
    "dstack": words("apply run"),
    "argo": words("submit"),
    "det": words("experiment e"),
    "az": words("ml"),
    "condor_submit": frozenset(),
}
_COMPOSE = words("docker-compose podman-compose")
_COMPOSE_FILES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
_VALUED = words(
    "-f --file -p --project-name --profile --env-file -e --env -v --volume -w --workdir -u --user "
    "--name --entrypoint --publish"
)
_FILE = re.compile(r".*\.(?:ya?ml|json|sub|submit|jdl|condor)")


@dataclass(frozen=True, slots=True)
class Applied:
    """The files that may be meant; of a compose file the service, and the command in its place."""

    files: tuple[Word, ...]
    service: str | None = None
    command: tuple[Word, ...] = ()


def applied(command: Sequence[Word]) -> Applied | None:
    """None where the command starts nothing from a file."""
    name, rest = program(command[0]), command[1:]
    if name in ("docker", "podman") and rest and rest[0].text == "compose":
        return _composed(rest[1:])
    if name in _COMPOSE:
        return _composed(rest)
    verbs = _VERBS.get(name)
    if verbs is None or (verbs and not verbs.intersection(word.text for word in rest[:3])):
        return None
    found = (Word(word.text.rpartition("=")[2], word.evidence, word.known) for word in rest)
    return Applied(tuple(word for word in found if _FILE.fullmatch(word.text)))


def _composed(rest: Sequence[Word]) -> Applied:
    files, plain, at = [], [], 0
    while at < len(rest):
        text = rest[at].text
        name, equals, value = text.partition("=")
        if name in ("-f", "--file"):
            files.append(Word(value) if equals else rest[min(at + 1, len(rest) - 1)])
        if text.startswith("-"):
            at += 2 if name in _VALUED and not equals else 1
            continue
        plain.append(rest[at])
        at += 1
        if len(plain) == 2 and plain[0].text in ("run", "exec"):  # noqa: PLR2004 - verb and service
            break
    service = plain[1].text if len(plain) > 1 else None
    return Applied(
        tuple(files) or tuple(Word(name) for name in _COMPOSE_FILES), service, tuple(rest[at:])
    )
