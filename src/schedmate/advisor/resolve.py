"""From a script or a command line to what really runs. Nothing is executed on the way."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schedmate.advisor.launch import Entry, Launch, PythonRun
from schedmate.advisor.launchers import (
    PYTHON,
    environment,
    killed_after,
    outputs,
    program,
    strip_one,
)
from schedmate.advisor.shell import Asked, Command, Word, command_words, read_directives, walk
from schedmate.advisor.sources import SourceFile
from schedmate.advisor.target import Target

_SHELLS = {"bash", "sh", "zsh", "dash", "ksh"}
_SHELL_FILE = re.compile(r".*\.(?:sh|bash|slurm|sbatch|job|zsh)")
_PYTHON_OPTIONS_WITH_VALUE = {"-X", "-W", "--check-hash-based-pycs"}
_MAX_NESTING = 3
_MAX_LAUNCHERS = 20
_MAX_RUNS = 200


def resolve(target: Target) -> Launch:
    resolver = _Resolver(target)
    asked = Asked({})
    if target.script_text is None:
        runs = resolver.unwrap(command_words(target.command))
    else:
        source = _script(target)
        asked = read_directives(source)
        resolver.scripts.append(source)
        resolver.change_directory(asked.text("chdir"))
        runs = resolver.script(source, target.args)
    return Launch(
        runs=tuple(runs),
        scripts=tuple(resolver.scripts),
        commands=tuple(resolver.commands),
        asked=asked,
        missing_scripts=tuple(resolver.missing),
    )


def _script(target: Target) -> SourceFile:
    path = target.workdir / (target.script_name or "<script>")
    return SourceFile(target.files.name_of(path), target.script_text or "", path)


class _Resolver:
    def __init__(self, target: Target) -> None:
        self._files = target.files
        self._workdir = target.workdir
        self._start = target.workdir
        self.scripts: list[SourceFile] = []
        self.commands: list[tuple[str, ...]] = []
        self.missing: list[Word] = []

    def change_directory(self, where: str | None) -> None:
        if where:
            self._start = self._workdir / where

    def script(self, source: SourceFile, arguments: Sequence[str]) -> list[PythonRun]:
        """A script by its first line: Python itself, or a shell."""
        first = source.text.partition("\n")[0]
        if source.name.endswith(".py") or (first.startswith("#!") and "python" in first):
            word = command_words((source.name, *arguments))[0]
            parent = (source.path or self._start).parent
            entry = Entry(name=source.name, source=source, import_root=parent)
            arguments_words = command_words((source.name, *arguments))[1:]
            return [PythonRun(entry=entry, arguments=arguments_words, command=word)]
        if first.startswith("#!") and "sh" not in first:
            return []
        return self._shell(source, tuple(arguments), nesting=0)

    def _shell(
        self,
        source: SourceFile,
        arguments: tuple[str, ...],
        *,
        nesting: int,
        env: Mapping[str, Word] | None = None,
        launchers: tuple[str, ...] = (),
        cap: Word | None = None,
    ) -> list[PythonRun]:
        known = {name: word.text for name, word in (env or {}).items() if word.known}
        before = {"SLURM_SUBMIT_DIR": ".", "PWD": ".", **known}
        runs: list[PythonRun] = []
        script = walk(source, arguments, set_before=before)
        self.commands += [("export", name, value) for name, value in script.exports.items()]
        for command in script.commands:
            self.commands.append(tuple(word.text for word in command.words))
            if command.piped and runs and program(command.words[0]) == "tee":
                runs[-1] = _with_logs(runs[-1], _tee_files(command))
            elif len(runs) < _MAX_RUNS:
                runs += self.unwrap(
                    command.words, command, nesting=nesting, launchers=launchers, cap=cap
                )
        return runs

    def unwrap(
        self,
        words: Sequence[Word],
        command: Command | None = None,
        *,
        nesting: int = 0,
        launchers: tuple[str, ...] = (),
        cap: Word | None = None,
    ) -> list[PythonRun]:
        """Take launchers off until Python, a script or something unknown is left."""
        env = dict(command.env) if command else {}
        if command is None:
            self.commands.append(tuple(word.text for word in words))
        logs: tuple[Word, ...] = ()
        for _ in range(_MAX_LAUNCHERS):
            if not words:
                return []
            step = strip_one(words)
            if step is None:
                break
            env |= environment(words)
            cap = killed_after(words) or cap
            logs = (*logs, *outputs(words, step[0]))
            words, launchers = step[0], (*launchers, step[1])
        started = _Started(command, launchers, env, nesting, cap, logs)
        return self._start_program(words, started)

    def _start_program(self, words: Sequence[Word], started: _Started) -> list[PythonRun]:
        name = program(words[0])
        if PYTHON.fullmatch(name):
            return list(self._python(words[1:], started))
        if name.endswith(".py"):
            return [self._run_file(words[0], words[1:], started)]
        if name in _SHELLS or name in (".", "source", "eval") or _SHELL_FILE.fullmatch(name):
            return self._nested(name, words, started)
        return []

    def _python(self, words: Sequence[Word], started: _Started) -> Iterator[PythonRun]:
        index = 0
        while index < len(words):
            text = words[index].text
            if text == "-m" and index + 1 < len(words):
                yield self._run_module(words[index + 1], words[index + 2 :], started)
                return
            if text.startswith("-c") or text == "-":
                return
            if not text.startswith("-"):
                yield self._run_file(words[index], words[index + 1 :], started)
                return
            index += 2 if text in _PYTHON_OPTIONS_WITH_VALUE else 1

    def _run_file(self, file: Word, arguments: Sequence[Word], started: _Started) -> PythonRun:
        source, missing = self._find(file, started)
        path = source.path if source and source.path else self._base(started) / file.text
        entry = Entry(
            name=source.name if source else file.text,
            source=source,
            import_root=path.parent,
            missing=missing,
        )
        return started.run(entry, file, arguments)

    def _run_module(self, module: Word, arguments: Sequence[Word], started: _Started) -> PythonRun:
        base = self._base(started)
        relative = module.text.replace(".", "/")
        for candidate in (f"{relative}.py", f"{relative}/__main__.py"):
            source = self._files.read(base / candidate)
            if source is not None:
                entry = Entry(name=source.name, source=source, import_root=base)
                return started.run(entry, module, arguments)
        entry = Entry(name=f"-m {module.text}", source=None, import_root=base)
        return started.run(entry, module, arguments)

    def _nested(self, name: str, words: Sequence[Word], started: _Started) -> list[PythonRun]:
        if started.nesting >= _MAX_NESTING:
            return []
        found = self._inline(name, words) or self._script_file(name, words, started)
        if found is None:
            return []
        source, arguments = found
        return self._shell(
            source,
            tuple(word.text for word in arguments),
            nesting=started.nesting + 1,
            env=started.env,
            launchers=started.launchers,
            cap=started.cap,
        )

    def _inline(self, name: str, words: Sequence[Word]) -> tuple[SourceFile, Sequence[Word]] | None:
        """`bash -c 'TEXT'` and `eval TEXT`: evidence is the command line itself."""
        if name == "eval":
            return SourceFile("<command>", " ".join(word.text for word in words[1:])), ()
        for index, word in enumerate(words[1:], 1):
            if not word.text.startswith("-"):
                return None
            if re.fullmatch(r"-[a-z]*c", word.text) and index + 1 < len(words):
                return SourceFile("<command>", words[index + 1].text), words[index + 3 :]
        return None

    def _script_file(
        self, name: str, words: Sequence[Word], started: _Started
    ) -> tuple[SourceFile, Sequence[Word]] | None:
        direct = _SHELL_FILE.fullmatch(name) is not None
        index = 0 if direct else 1
        while index < len(words) and not direct and words[index].text.startswith("-"):
            index += 1
        if index >= len(words):
            return None
        source, missing = self._find(words[index], started)
        if source is None:
            if missing:
                self.missing.append(words[index])
            return None
        self.scripts.append(source)
        return source, words[index + 1 :]

    def _find(self, file: Word, started: _Started) -> tuple[SourceFile | None, bool]:
        """The file that a word names, and whether it is known not to be there."""
        if not file.known:
            return None, False
        base = self._base(started)
        for directory in dict.fromkeys((base, self._workdir)):
            path = Path(os.path.normpath(directory / file.text))
            source = self._files.read(path)
            if source is not None:
                return source, False
        return None, base.is_dir() and not _exists(base / file.text)

    def _base(self, started: _Started) -> Path:
        where = started.command.cwd if started.command else "."
        base = self._start if where is None else self._start / where
        return Path(os.path.normpath(base))


@dataclass(frozen=True, slots=True)
class _Started:
    """What is known of a command when its launchers are off."""

    command: Command | None
    launchers: tuple[str, ...]
    env: Mapping[str, Word]
    nesting: int
    cap: Word | None = None
    logs: tuple[Word, ...] = ()

    def run(self, entry: Entry, command: Word, arguments: Sequence[Word]) -> PythonRun:
        return PythonRun(
            entry=entry,
            arguments=tuple(arguments),
            command=command,
            launchers=self.launchers,
            env=self.env,
            conditional=self.command.conditional if self.command else False,
            log_files=_log_files((*self.logs, *(self.command.outputs if self.command else ()))),
            killed_after=self.cap,
        )


def _tee_files(command: Command) -> tuple[Word, ...]:
    return tuple(word for word in command.words[1:] if not word.text.startswith("-"))


def _with_logs(run: PythonRun, files: Sequence[Word]) -> PythonRun:
    return replace(run, log_files=(*run.log_files, *_log_files(files)))


def _log_files(words: Sequence[Word]) -> tuple[Word, ...]:
    return tuple(word for word in words if word.known and not word.text.startswith(("/dev/", "&")))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return True
