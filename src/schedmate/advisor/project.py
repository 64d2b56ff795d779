"""The files of a job that matter to what it does, and the keys made of them."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.advisor.imports import with_local_imports
from schedmate.advisor.launch import Launch, PythonRun
from schedmate.advisor.modules import Module, Unparsable, parse
from schedmate.advisor.readers import Reading
from schedmate.advisor.sources import Files, SourceFile

_MAX_CONFIGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """`files` are the main run's, nearest first; `others` start beside it."""

    files: tuple[tuple[SourceFile, int], ...]
    configs: tuple[SourceFile, ...]
    others: tuple[SourceFile, ...]

    @property
    def code(self) -> tuple[SourceFile, ...]:
        return (*(source for source, _ in self.files), *self.others)


def gather(files_of_job: Files, launch: Launch) -> Project:
    """Find the files without parsing any."""
    main = launch.main
    files = () if main is None else tuple(with_local_imports(main.entry, files_of_job))
    configs = () if main is None else tuple(_python_configs(main, files_of_job))
    known = {source.path for source, _ in files} | {source.path for source in configs}
    others = {
        run.entry.source.path: run.entry.source
        for run in launch.runs
        if run.entry.source is not None and run.entry.source.path not in known
    }
    return Project(files=files, configs=configs, others=tuple(others.values()))


def _python_configs(run: PythonRun, files: Files) -> list[SourceFile]:
    """Python files on the command line of the entry point, in the order they apply."""
    base = run.entry.import_root
    named = [
        word.text
        for word in run.arguments
        if word.known and word.text.endswith(".py") and not word.text.startswith("-")
    ]
    found = (files.read(base / name) for name in named[:_MAX_CONFIGS])
    return [source for source in found if source is not None]


@dataclass(frozen=True, slots=True)
class Parsed:
    reading: Reading
    problems: tuple[Unparsable, ...]


def parse_project(project: Project, launch: Launch) -> Parsed:
    modules = [parse(source, depth) for source, depth in project.files]
    configs = [parse(source, 1) for source in project.configs]
    others = [parse(source, 1) for source in project.others]
    return Parsed(
        Reading(
            modules=tuple(module for module in modules if isinstance(module, Module)),
            configs=tuple(module for module in configs if isinstance(module, Module)),
            arguments=launch.main.arguments if launch.main else (),
        ),
        tuple(each for each in (*modules, *configs, *others) if isinstance(each, Unparsable)),
    )
