"""From the words of a command to the file, module or program that they start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.console_scripts import console_script
from schedmate.advisor.launch.run import Entry
from schedmate.advisor.sources.elsewhere import ends, ends_of_file, known_end
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.advisor.sources.notebooks import code_of

_CONFIGS = (".yaml", ".yml", ".json", ".toml", ".py", ".gin", ".cfg", ".ini", ".jsonnet")
_MAX_PACKAGES = 40
_PYTHON_STARTS = {
    "-m": "module",
    "-c": "inline",
    "-": "stdin",
    **dict.fromkeys(("-V", "--version", "-h", "--help"), "nothing"),
}


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks for what a command names: where it runs, where the script lies, where the job does.

    Containers and clusters give the job's directory other names, so the end of a path that is
    nowhere is looked for too.
    """

    files: Files
    start: Path
    script_dir: Path
    written: Mapping[str, SourceFile]
    mounts: tuple[tuple[str, str], ...] = ()
    """Directories of a container and what they are here, the nearest first."""

    def base(self, cwd: str | None) -> Path:
        inside = self.inside(cwd or ".")
        return Path(os.path.normpath(self.start / (cwd or "."))) if inside is None else inside

    def inside(self, path: str) -> Path | None:
        """What a path of a container is in the job's own tree."""
        if not path.startswith("/"):
            return None
        whole = os.path.normpath(path)
        for place, here in sorted(self.mounts, key=lambda each: -len(each[0])):
            end = os.path.relpath(whole, place)
            own = None if end.startswith("..") else self._mounted(here)
            if own is not None:
                return Path(os.path.normpath(own / end))
        return None

    def _mounted(self, here: str) -> Path | None:
        if not set(here) & set("$`~"):
            place = Path(os.path.normpath(self.start / here))
            return place if self._is_own(place) else None
        if not known_end(here):
            return self.start
        below = (self.start / end for end in ends(here))
        return next((place for place in below if self._has_directory(place)), None)

    def read(self, path: Path) -> SourceFile | None:
        name = self.files.name_of(Path(os.path.normpath(path)))
        if name in self.written:
            return self.written[name]
        return self.files.read(path, inside=self.files.roots)

    def find(self, word: Word, cwd: str | None) -> SourceFile | None:
        return self.written_as(word, cwd) or next(self._found(word, cwd), None)

    def written_as(self, word: Word, cwd: str | None) -> SourceFile | None:
        """What the script wrote under the same name, be that unknown: `$TMP`, `$(mktemp)`."""
        return self.written.get(os.path.normpath(os.path.join(cwd or ".", word.text)))  # noqa: PTH118 - text with variables in it

    def _found(self, word: Word, cwd: str | None) -> Iterator[SourceFile]:
        for path in self._candidates(word, cwd):
            source = self.read(path)
            if source is not None:
                yield source

    def _candidates(self, word: Word, cwd: str | None) -> Iterator[Path]:
        places = self._places(cwd)
        inside = self.inside(word.text)
        if inside is not None:
            yield inside
        if word.known:
            for place in places:
                yield Path(os.path.normpath(place / word.text))
        if word.known and not word.text.startswith(("/", "~", "..")):
            return
        for end in ends(word.text):
            for place in places:
                yield Path(os.path.normpath(place / end))

    def _places(self, cwd: str | None) -> list[Path]:
        """A script that lies deep is often started from a directory above it."""
        around = [self.script_dir, *self.script_dir.parents]
        inside = [each for each in around if self._is_own(each)]
        return list(dict.fromkeys((self.base(cwd), self.start, self.files.workdir, *inside)))

    def directory(self, path: str, cwd: str | None) -> str | None:
        """The directory of the job that is meant by one which is not there, from its start."""
        inside = self.inside(path)
        if inside is not None and self.files.is_directory(inside):
            return os.path.relpath(inside, self.start)
        if "\0" in path or self._has_directory(Path(os.path.normpath(self.base(cwd) / path))):
            return None
        for end in ends(path):
            for place in self._places("."):
                if self._has_directory(place / end):
                    return os.path.relpath(place / end, self.start)
                if place.name == end and self._is_own(place):
                    return os.path.relpath(place, self.start)
        return None

    def has_directory(self, path: str) -> bool:
        """Whether a path, from the start or of a container, is a directory of the job."""
        place = self.base(path)
        return self._is_own(place) and self._has_directory(place)

    def _has_directory(self, path: Path) -> bool:
        return self.files.directories.kind(str(path.parent), path.name) is True

    def own_config(self, text: str) -> str | None:
        """The config that is meant by a path of which only the end is known."""
        if not text.endswith(_CONFIGS):
            return None
        for end in ends_of_file(text):
            for place in self._places("."):
                path = Path(os.path.normpath(place / end))
                if self.read(path) is not None:
                    return str(path)
        return self._only_one(text.rpartition("/")[2])

    def _only_one(self, name: str) -> str | None:
        """The one file of that name anywhere below the job's directory."""
        if not list(ends_of_file(name)):
            return None
        below = self.files.directories.files_below(str(self.files.workdir))
        found = [each for each in below if each.rpartition("/")[2] == name]
        return str(self.files.workdir / found[0]) if len(found) == 1 else None

    def exists(self, path: str, cwd: str | None) -> bool:
        """Whether a file or directory of the job's own is there."""
        if cwd is None or "\0" in path:
            return False
        place = Path(os.path.normpath(self.base(cwd) / path))
        return self._is_own(place) and (
            self.files.name_of(place) in self.written or self.files.may_be_there(place)
        )

    def missing(self, word: Word, cwd: str | None) -> bool:
        """Whether it is known not to be there: unknown for places outside the job's."""
        if not word.known or cwd is None or word.text.startswith("~"):
            return False
        path = Path(os.path.normpath(self.base(cwd) / word.text))
        if not self._is_own(path) or not self.files.is_directory(self.base(cwd)):
            return False
        return not self.files.may_be_there(path)

    def _is_own(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self.files.roots)

    def missing_program(self, word: Word, cwd: str | None) -> bool:
        return "/" in word.text and self.missing(word, cwd)

    def file(self, word: Word, cwd: str | None) -> Entry:
        source = self.find(word, cwd)
        if source is not None and word.text.endswith(".ipynb"):
            source = code_of(source)
        path = source.path if source and source.path else self.base(cwd) / word.text
        return Entry(
            name=_entry_name(source, word),
            source=source,
            import_root=path.parent,
            missing=source is None and self.missing(word, cwd),
        )

    def module(self, word: Word, cwd: str | None) -> Entry:
        relative = word.text.replace(".", "/")
        roots = self._places(cwd)
        if word.known:
            for root in dict.fromkeys((*roots, *(root / "src" for root in roots))):
                for candidate in (f"{relative}.py", f"{relative}/__main__.py"):
                    source = self.read(root / candidate)
                    if source is not None:
                        return Entry(name=source.name, source=source, import_root=root)
        return self._module_below(word, relative) or Entry(
            name=f"-m {word.text}", source=None, import_root=self.base(cwd)
        )

    def _module_below(self, word: Word, relative: str) -> Entry | None:
        """The one of that name anywhere in the tree, as `PYTHONPATH` may lead to it."""
        if not word.known or "." not in word.text:
            return None
        for ending in (".py", "/__main__.py"):
            below = self.files.directories.files_below(str(self.files.workdir))
            end = f"/{relative}{ending}"
            found = [each for each in below if each.endswith(end)]
            source = self.read(self.files.workdir / found[0]) if len(found) == 1 else None
            if source is not None:
                root = self.files.workdir / found[0].removesuffix(end)
                return Entry(name=source.name, source=source, import_root=root)
        return None

    def program(self, word: Word, cwd: str | None) -> Entry:
        """A console script of the job's own package, or a program from elsewhere."""
        name = PurePosixPath(word.text).name
        top = self.files.workdir
        below = (top / each for each in self.files.directories.folders(str(top))[:_MAX_PACKAGES])
        for root in dict.fromkeys((self.base(cwd), self.start, top, *below)):
            script = console_script(name, root, self.read)
            if script is not None:
                return Entry(
                    name=script.source.name,
                    source=script.source,
                    import_root=script.root,
                    function=script.function,
                )
        return Entry(name=name, source=None, import_root=self.base(cwd), is_program=True)


class Surroundings:
    """What a script may see of the job's directory."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def read(self, path: str, cwd: str | None) -> SourceFile | None:
        return self._finder.find(Word(path, known="$" not in path), cwd)

    def exists(self, path: str, cwd: str | None) -> bool:
        return self._finder.exists(path, cwd)

    def directory(self, path: str, cwd: str | None) -> str | None:
        return self._finder.directory(path, cwd)


def _entry_name(source: SourceFile | None, word: Word) -> str:
    """As it would be called from the job's directory."""
    if source is None:
        return word.text if word.known else "/".join(known_end(word.text)) or word.text
    return PurePosixPath(word.text).as_posix() if source.path is None else source.name


def python_words(words: Sequence[Word]) -> tuple[str, int]:
    """What Python starts: "module", "inline", "file", "stdin", and where it stands."""
    index = 0
    while index < len(words):
        text = words[index].text
        kind = _PYTHON_STARTS.get(text)
        if kind is not None:
            return kind, index + (kind in ("module", "inline"))
        if not text.startswith("-") and not _may_be_nothing(words, index):
            return "file", index
        index += 2 if text in ("-X", "-W", "--check-hash-based-pycs") else 1
    return "stdin", index


def _may_be_nothing(words: Sequence[Word], index: int) -> bool:
    """`python $OPTIONS train.py`, where nothing sets the options."""
    word, following = words[index], words[index + 1 : index + 2]
    if word.known or "/" in word.text or ".py" in word.text or not following:
        return False
    return following[0].text == "-m" or following[0].text.endswith(".py")
