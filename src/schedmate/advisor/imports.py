"""Local modules that a Python file imports, found without parsing it.

The cache's key needs the files before anything is parsed, so this reads text: an `import` in a
string counts too, which at worst adds a file of the job's own to the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from schedmate.advisor.launch import Entry
from schedmate.advisor.sources import Files, SourceFile

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
    allowed = (entry.import_root, files.workdir)
    search = _Search(*allowed)
    found = [(entry.source, 0)]
    seen = {entry.source.path}
    total = len(entry.source.text)
    for source, depth in found:
        for path in search.imported_by(source):
            if path in seen or len(found) >= MAX_FILES:
                continue
            seen.add(path)
            imported = files.read(path, inside=allowed)
            if imported is not None and total + len(imported.text) <= _MAX_TOTAL:
                total += len(imported.text)
                found.append((imported, depth + 1))
    return found


class _Search:
    def __init__(self, root: Path, workdir: Path) -> None:
        self._roots = list(dict.fromkeys((root, workdir, workdir / "src")))
        self._allowed = (root.absolute(), workdir.absolute())
        self._found: dict[tuple[Path, str], list[Path]] = {}

    def imported_by(self, source: SourceFile) -> Iterator[Path]:
        package = None if source.path is None else source.path.parent
        for dots, module in _references(source.text):
            if not dots:
                yield from self._first(self._roots, module)
            elif package is not None:
                above = package
                for _ in range(min(dots, 20) - 1):
                    above = above.parent
                yield from self._first([above], module)

    def _first(self, roots: list[Path], module: str) -> list[Path]:
        for root in roots:
            key = (root, module)
            if key not in self._found:
                self._found[key] = list(self._files(root, module))
            if self._found[key]:
                return self._found[key]
        return []

    def _files(self, root: Path, module: str) -> Iterator[Path]:
        """The module's file, and those of the packages around it, which run first."""
        if not any(root.absolute().is_relative_to(allowed) for allowed in self._allowed):
            return
        parts = [part for part in module.split(".") if part]
        for end in range(1, len(parts) + 1):
            base = root.joinpath(*parts[:end])
            for candidate in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
                if _is_file(candidate):
                    yield candidate
                    break


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


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
