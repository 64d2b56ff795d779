"""Files of Docker Compose: each service is a command in a container."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.interpret.shell import Asked, Word
from schedmate.advisor.launch.launchers.base import mounted
from schedmate.advisor.launch.manifests.base import Described, asking
from schedmate.advisor.launch.manifests.documents import Part, variables

_DEFAULT = re.compile(r"\$\{(\w{1,100}):?-([^}]{0,200})\}", re.ASCII)


def is_compose(part: Part) -> bool:
    services = part.get("services")
    if services is None:
        return False
    keys = ("image", "build", "command", "entrypoint", "extends")
    return any(each.get(key) is not None for _, each in services.items() for key in keys)


def described(document: Part, only: str | None = None) -> list[Described]:
    services = document.get("services")
    found = list(services.items()) if services is not None else []
    return [_service(each) for name, each in found if only in (None, name)]


def _service(service: Part) -> Described:
    entrypoint, workdir = service.get("entrypoint"), service.get("working_dir")
    return Described(
        words=_words(service.get("command")),
        entrypoint=None if entrypoint is None else _words(entrypoint),
        env=variables(service.get("environment")),
        cwd=None if workdir is None else workdir.text,
        mounts=tuple(_mounts(service.get("volumes"))),
        asked=_asked(service),
        image=_dockerfile(service.get("build")),
        context=_context(service.get("build")),
        in_container=True,
    )


def _words(part: Part | None) -> tuple[Word, ...]:
    """A text is taken apart as a shell would, but no shell runs it."""
    if part is None:
        return ()
    word = part.word
    if part.text is None:
        return tuple(replace(each.word, text=_plain(each.text or "")) for each in part.parts())
    try:
        texts = shlex.split(_plain(part.text))
    except ValueError:
        texts = part.text.split()
    return tuple(replace(word, text=text) for text in texts)


def _plain(text: str) -> str:
    return _DEFAULT.sub(lambda found: found[2], text).replace("$$", "$")


def _mounts(part: Part | None) -> Iterator[tuple[str, str]]:
    for each in part.parts() if part is not None else ():
        source, target = each.get("source"), each.get("target")
        pair = mounted(_plain(each.text or ""))
        if pair is not None:
            yield pair
        elif source is not None and target is not None and source.text and target.text:
            yield target.text, source.text


def _asked(service: Part) -> Asked:
    devices = service.get("deploy", "resources", "reservations", "devices")
    for device in devices.parts() if devices is not None else ():
        count = device.get("count")
        if count is not None and count.number():
            return asking(gpus=(count.number() or 0, count.evidence))
    return Asked({})


def _context(build: Part | None) -> str:
    if build is None:
        return "."
    context = build if build.text is not None else build.get("context")
    return (context.text if context is not None else None) or "."


def _dockerfile(build: Part | None) -> str | None:
    if build is None:
        return None
    if build.text is not None:
        return f"{build.text.rstrip('/')}/Dockerfile"
    context, file = build.get("context"), build.get("dockerfile")
    name = file.text if file is not None and file.text else "Dockerfile"
    return f"{context.text}/{name}" if context is not None and context.text else name
