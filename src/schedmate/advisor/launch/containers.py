"""Images that are built from the job's own tree, and what a container of one runs."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePosixPath

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.entries import Finder
from schedmate.advisor.launch.launchers import program
from schedmate.advisor.launch.manifests import Described, Image, image_of, is_dockerfile
from schedmate.advisor.sources.files import SourceFile

_FILES = ("Dockerfile", "docker/Dockerfile", "Containerfile", ".docker/Dockerfile")
_BUILDERS = frozenset(("docker", "podman", "nvidia-docker", "buildah"))
_DEFINED = frozenset(("apptainer", "singularity"))


class Images:
    """By name the files that a script builds its images from, and the directories that those
    copy from."""

    def __init__(self) -> None:
        self._built: dict[str, tuple[Word, str]] = {}

    def note(self, words: Sequence[Word]) -> None:
        """`docker build -t NAME -f FILE CONTEXT`, `apptainer build NAME.sif NAME.def`."""
        texts = [word.text for word in words]
        if "build" not in texts[1:3]:
            return
        plain = [word for word in words[2:] if not word.text.startswith("-")]
        if program(words[0]) in _DEFINED and len(plain) > 1:
            self._built[_name(plain[-2].text)] = (plain[-1], ".")
        elif program(words[0]) in _BUILDERS and plain:
            file = _behind(words, ("-f", "--file"))
            context = plain[-1].text.rstrip("/")
            built = file or Word(f"{context}/Dockerfile", plain[-1].evidence)
            name = _behind(words, ("-t", "--tag"))
            key = _name(name.text) if name is not None else ""
            self._built[key] = (built, context or ".")

    def image(self, job: Described | None, own: Sequence[Word], finder: Finder) -> Image | None:
        """By the file that is named, the image's name, or where such files usually lie."""
        name = own[-1].text if own else ""
        built, context = self._built.get(_name(name), (None, "."))
        if job is not None and job.image is not None:
            source, context = finder.find(Word(job.image), "."), job.context
        elif built is not None:
            source = finder.find(built, ".")
        else:
            source = _usual(name, finder)
        return None if source is None else _in_context(image_of(source), context)


def _usual(name: str, finder: Finder) -> SourceFile | None:
    if name.endswith((".sif", ".simg", ".img")):
        return finder.find(Word(str(PurePosixPath(name).with_suffix(".def"))), ".")
    places = (finder.read(root / each) for root in finder.files.roots for each in _FILES)
    found = next((source for source in places if source is not None), None)
    return found or _only_dockerfile(finder)


def _in_context(image: Image, context: str) -> Image:
    """What is copied is named from the directory that the image is built in."""
    copies = tuple((place, posixpath.join(context, each)) for place, each in image.copies)
    return image if context == "." else replace(image, copies=copies)


def commands_in(
    words: Sequence[Word], image: Image | None, entrypoint: tuple[Word, ...] | None
) -> Iterator[tuple[Word, ...]]:
    """What a container may run, the likeliest first: the image's own entry point may take the
    words that stand behind it, or be one that runs them."""
    if entrypoint is not None:
        yield (*entrypoint, *words)
        return
    if words and not words[0].text.startswith("-"):
        yield tuple(words)
    if image is not None:
        yield (*image.entrypoint, *(words or image.command))


def _only_dockerfile(finder: Finder) -> SourceFile | None:
    root = finder.files.workdir
    below = finder.files.directories.files_below(str(root))
    named = [each for each in below if is_dockerfile(SourceFile(each, ""))]
    return finder.read(Path(root / named[0])) if len(named) == 1 else None


def _behind(words: Sequence[Word], names: tuple[str, ...]) -> Word | None:
    for word, following in pairwise(words):
        if word.text in names:
            return following
    return None


def _name(text: str) -> str:
    """Without a tag."""
    path, slash, name = text.rpartition("/")
    return f"{path}{slash}{name.partition(':')[0]}"
