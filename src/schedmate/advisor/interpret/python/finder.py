"""Where the modules of a job are: its own files, never what is installed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from schedmate.advisor.interpret.python.references import LocalModule
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.sources.elsewhere import ends, is_elsewhere
from schedmate.advisor.sources.files import Files
from schedmate.advisor.sources.words import words

_MAX_PARENTS = 20
_STANDARD = words(
    "os sys re json math "
    "argparse dataclasses typing collections functools itertools logging pathlib time random "
    "datetime copy types ast enum importlib subprocess contextlib abc warnings inspect shutil "
    "pickle glob"
)


class Finder:
    """Looks modules up in the import roots; nothing outside the job's directories is looked at."""

    def __init__(
        self, run: PythonRun, files: Files, libraries: frozenset[str] = frozenset()
    ) -> None:
        self._libraries = _STANDARD | libraries
        root, workdir = run.entry.import_root, files.workdir
        self.allowed = files.roots
        self._absolute = tuple(Path(os.path.normpath(each.absolute())) for each in self.allowed)
        self._roots: list[Path] = []
        self._directories = files.directories
        self._modules: dict[tuple[str, str], LocalModule | None] = {}
        self._by_path: dict[str, LocalModule] = {}
        for each in (root, run.cwd or workdir, workdir, *_python_path(run, files)):
            self.add_root(each)
        for each in (workdir / "src", root / "src", *_package_roots(root, self._absolute)):
            self.add_root(each)

    def add_root(self, root: Path, *, first: bool = False) -> None:
        absolute = Path(os.path.normpath(root.absolute()))
        inside = any(absolute.is_relative_to(each) for each in self._absolute)
        if inside and absolute not in self._roots and len(self._roots) < _MAX_PARENTS:
            self._roots.insert(0 if first else len(self._roots), absolute)
            self._modules.clear()

    def find(self, name: str) -> LocalModule | None:
        """By its absolute dotted name."""
        head, _, rest = name.partition(".")
        if head in self._libraries:
            return None
        for root in self._roots:
            found = self.submodule_at(root, head, head)
            if found is not None:
                return self.below(found, rest) if rest else found
        return None

    def below(self, module: LocalModule, rest: str) -> LocalModule | None:
        found: LocalModule | None = module
        for part in rest.split("."):
            if found is None or found.directory is None:
                return None
            found = self.submodule_at(found.directory, part, f"{found.name}.{part}")
        return found

    def above(self, module: LocalModule, dots: int) -> LocalModule | None:
        """The package that `dots` dots in front of an import mean."""
        directory = module.directory or (module.path.parent if module.path else None)
        if directory is None:
            return None
        name = module.name if module.directory else module.name.rpartition(".")[0]
        for _ in range(min(dots, _MAX_PARENTS) - 1):
            directory, name = directory.parent, name.rpartition(".")[0]
        if not any(
            Path(os.path.normpath(directory.absolute())).is_relative_to(each)
            for each in self._absolute
        ):
            return None
        return self._package(directory, name)

    def submodule_at(self, directory: Path, part: str, name: str) -> LocalModule | None:
        key = (str(directory), part)
        if key not in self._modules:
            self._modules[key] = self._look(directory, part, name)
        return self._modules[key]

    def _look(self, directory: Path, part: str, name: str) -> LocalModule | None:
        kind = self._directories.kind
        folder, file = f"{directory}/{part}", kind(str(directory), f"{part}.py")
        if kind(str(directory), part) and (
            kind(folder, "__init__.py") is not None or (file is None and self._holds_code(folder))
        ):
            return self._package(directory / part, name)
        if file is False:
            path = directory / f"{part}.py"
            return self._by_path.setdefault(str(path), LocalModule(name, path, None))
        return None

    def _holds_code(self, folder: str) -> bool:
        """A directory without `__init__.py` is a package if it has modules, or packages."""
        directories = self._directories
        if directories.kind(folder, "*.py") is not None:
            return True
        return any(
            directories.kind(f"{folder}/{name}", "*.py") is not None
            for name in directories.folders(folder)[:50]
        )

    def _package(self, directory: Path, name: str) -> LocalModule:
        has_code = self._directories.kind(str(directory), "__init__.py") is not None
        module = LocalModule(name, directory / "__init__.py" if has_code else None, directory)
        return self._by_path.setdefault(f"{directory}/", module)

    def adopt(self, module: LocalModule) -> LocalModule:
        """A module that is known by its file already, or this one from now on."""
        return self._by_path.setdefault(str(module.path), module)


def _python_path(run: PythonRun, files: Files) -> list[Path]:
    word, workdir = run.env.get("PYTHONPATH"), files.workdir
    found: list[Path] = []
    for part in [] if word is None else word.text.split(":")[:_MAX_PARENTS]:
        if part and "$" not in part:
            found.append(workdir / part)
        if is_elsewhere(part):
            found += (workdir / end for end in ends(part) if files.is_directory(workdir / end))
    return found


def _package_roots(root: Path, allowed: Iterable[Path]) -> list[Path]:
    """Above the package that the entry point is in: it may be installed from this checkout."""
    found = []
    current = Path(os.path.normpath(root.absolute()))
    inside = tuple(allowed)
    for _ in range(_MAX_PARENTS):
        parent = current.parent
        if parent == current or not any(parent.is_relative_to(each) for each in inside):
            break
        found.append(parent)
        current = parent
    return found
