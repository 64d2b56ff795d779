"""Local modules that a Python file imports, found without parsing it.

The cache's key needs the files before anything is parsed, so this reads text: an `import` in a
string counts too, which at worst adds a file of the job's own to the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from schedmate.advisor.launch.run import Entry
from schedmate.advisor.sources.files import Files, SourceFile

_FROM = re.compile(
    r"^[ \t]*from[ \t]+(?P<dots>\.*)(?P<module>[\w.]*)[ \t]+import[ \t]+"
    r"(?:\((?P<many>[^)]{0,10000})\)|(?P<names>[^\n#]*))",
    re.MULTILINE,
)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+(?P<names>[^\n#;]+)", re.MULTILINE)
_NAME = re.compile(r"(?:^|,)\s*(?:#[^\n]*\s*)*([A-Za-z_][\w.]*)")
MAX_FILES = 200
_MAX_TOTAL = 8_000_000


def with_local_imports(entry: Entry, files: Files) -> list[tuple[SourceFile, int]]:
    """The entry point and the files of the job that it imports, with how far away each is."""
    if entry.source is None:
        return []
    search = _Search(entry.import_root, files)
    found = [(entry.source, 0)]
    seen = {str(entry.source.path)}
    total = len(entry.source.text)
    for source, depth in found:
        for path in search.imported_by(source):
            if path in seen or len(found) >= MAX_FILES:
                continue
            seen.add(path)
            imported = files.read(Path(path), inside=files.roots)
            if imported is not None and total + len(imported.text) <= _MAX_TOTAL:
                total += len(imported.text)
                found.append((imported, depth + 1))
    return found


class _Search:
    def __init__(self, root: Path, files: Files) -> None:
        workdir = files.workdir
        self._roots = list(dict.fromkeys(map(str, (root, workdir, workdir / "src"))))
        self._directories = files.directories
        self._found: dict[tuple[str, str], list[str]] = {}

    def imported_by(self, source: SourceFile) -> Iterator[str]:
        package = None if source.path is None else str(source.path.parent)
        for dots, module in dict.fromkeys(_references(source.text)):
            if not dots:
                yield from self._first(self._roots, module)
            elif package is not None:
                above = package
                for _ in range(min(dots, 20) - 1):
                    above = above.rpartition("/")[0] or "/"
                yield from self._first([above], module)

    def _first(self, roots: list[str], module: str) -> list[str]:
        for root in roots:
            key = (root, module)
            if key not in self._found:
                self._found[key] = list(self._files(root, module))
            if self._found[key]:
                return self._found[key]
        return []

    def _files(self, directory: str, module: str) -> Iterator[str]:
        """The module's file, and those of the packages around it, which run first."""
        kind = self._directories.kind
        for part in filter(None, module.split(".")):
            below = f"{directory}/{part}"
            is_folder = kind(directory, part)
            if is_folder and kind(below, "__init__.py") is False:
                yield f"{below}/__init__.py"
            elif kind(directory, f"{part}.py") is False:
                yield f"{below}.py"
            if not is_folder:
                return
            directory = below


def _references(text: str) -> Iterator[tuple[int, str]]:
    """Dots in front, and a dotted name that may be a module or something inside one."""
    for found in _FROM.finditer(text):
        module = found["module"]
        for name in _NAME.findall(found["many"] or found["names"] or ""):
            yield len(found["dots"]), f"{module}.{name}" if module else name
        yield len(found["dots"]), module
    for found in _IMPORT.finditer(text):
        for name in _NAME.findall(found["names"]):
            yield 0, name
