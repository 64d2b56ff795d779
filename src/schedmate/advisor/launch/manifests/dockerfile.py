"""What an image runs and where it has the job's files, from its Dockerfile or definition file."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.manifests.base import Mounts, shell_text
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.advisor.sources.words import words

_NAME = re.compile(r"(?i)(?:.*[.-])?(?:dockerfile|containerfile)(?:[.-].*)?")
_INSTRUCTIONS = words("FROM ENV ARG WORKDIR COPY ADD ENTRYPOINT CMD")
_ENV = re.compile(r"([A-Za-z_]\w{0,100})=(\"[^\"]{0,500}\"|'[^']{0,500}'|\S{0,500})", re.ASCII)
_USE = re.compile(r"\$\{?([A-Za-z_]\w{0,100})(?::-([^}]{0,200}))?\}?", re.ASCII)
_SECTION = re.compile(r"%(\w{1,40})\b")
_MAX_TEXT = 20_000


@dataclass(slots=True)
class Image:
    """`copies` are places in the image and what of the job's tree was copied there."""

    entrypoint: tuple[Word, ...] = ()
    command: tuple[Word, ...] = ()
    workdir: str = "/"
    env: dict[str, Word] = field(default_factory=dict)
    copies: Mounts = ()


def is_dockerfile(source: SourceFile) -> bool:
    return _NAME.fullmatch(PurePosixPath(source.name).name) is not None


def is_definition(source: SourceFile) -> bool:
    return source.name.endswith((".def", ".singularity")) or (
        PurePosixPath(source.name).name.startswith("Singularity")
    )


def image_of(source: SourceFile) -> Image:
    return _definition(source) if is_definition(source) else _dockerfile(source)


def _dockerfile(source: SourceFile) -> Image:
    """Of several stages the last, with what those before it copied."""
    image = Image()
    for number, name, text in _instructions(source):
        line = (evidence(source.name, number, f"{name} {text}"),)
        if name == "FROM":
            image = Image(copies=image.copies)
        elif name in ("ENV", "ARG"):
            image.env |= _variables(text, line)
        elif name == "WORKDIR":
            image.workdir = posixpath.join(image.workdir, _put_in(text, image))
        elif name in ("COPY", "ADD"):
            image.copies = (*_copied(text, image), *image.copies)
        elif name == "ENTRYPOINT":
            image.entrypoint = _started(text, line)
        elif name == "CMD":
            image.command = _started(text, line)
    return image


def _instructions(source: SourceFile) -> Iterator[tuple[int, str, str]]:
    """Each with the number of its first line; a backslash continues it."""
    pending, first = "", 0
    for number, line in enumerate(source.lines(), 1):
        if not pending:
            first = number
        elif line.lstrip().startswith("#"):
            continue
        pending += line.rstrip("\\") if line.endswith("\\") else line
        if line.endswith("\\") and len(pending) < _MAX_TEXT:
            continue
        name, _, text = pending.strip().partition(" ")
        if name.upper() in _INSTRUCTIONS:
            yield first, name.upper(), text.strip()
        pending = ""


def _variables(text: str, line: tuple) -> dict[str, Word]:  # type: ignore[type-arg]
    found = {name: Word(value.strip("\"'"), line) for name, value in _ENV.findall(text)}
    if not found:
        name, _, value = text.partition(" ")
        found = {name: Word(value.strip(), line)} if name.isidentifier() and value else {}
    return found


def _put_in(text: str, image: Image) -> str:
    known = {name: word.text for name, word in image.env.items()}
    return _USE.sub(lambda found: known.get(found[1], found[2] or found[0]), text.strip("\"'"))


def _copied(text: str, image: Image) -> Iterator[tuple[str, str]]:
    """Nothing of what comes from another stage; a file goes where its own name says."""
    if "--from" in text:
        return
    parts = _listed(text) or [part for part in text.split() if not part.startswith("--")]
    if len(parts) < 2:  # noqa: PLR2004 - from and to
        return
    *sources, target = (_put_in(part, image) for part in parts)
    place = posixpath.normpath(posixpath.join(image.workdir, target))
    for each in sources:
        plain = each.lstrip("/") or "."
        name = PurePosixPath(plain).name
        into = target.endswith("/") or target == "." or len(sources) > 1
        if "*" in plain:
            yield place, posixpath.dirname(plain) or "."
        elif "." in name and name != "." and into:
            yield posixpath.join(place, name), plain
        else:
            yield place, plain


def _listed(text: str) -> list[str]:
    """`["python", "train.py"]`"""
    if not text.startswith("["):
        return []
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [str(item) for item in items] if isinstance(items, list) else []


def _started(text: str, line: tuple) -> tuple[Word, ...]:  # type: ignore[type-arg]
    listed = _listed(text)
    return tuple(Word(item, line) for item in listed) if listed else shell_text(Word(text, line))


def _definition(source: SourceFile) -> Image:
    """Of Apptainer: `%runscript`, `%files`, `%environment`."""
    image, section, start = Image(), "", 0
    texts: dict[str, list[str]] = {}
    for number, line in enumerate(source.lines(), 1):
        found = _SECTION.match(line)
        if found is not None:
            section, start = found[1], number
            texts[section] = [""] * start
        elif section:
            texts[section].append(line)
    script = texts.get("runscript") or texts.get("startscript")
    if script:
        number = next((n for n, line in enumerate(script, 1) if line.strip()), 1)
        body = "\n".join(script[number - 1 :])
        text = Word(body, (evidence(source.name, number, script[number - 1]),))
        image.entrypoint = (*shell_text(text), Word("runscript", text.evidence))
    for line in texts.get("files", ()):
        parts = line.split()
        if parts:
            image.copies += ((parts[-1].rstrip("/"), parts[0]),)
    for number, line in enumerate(texts.get("environment", ()), 1):
        image.env |= _variables(
            line.strip().removeprefix("export "), (evidence(source.name, number, line),)
        )
    return image
