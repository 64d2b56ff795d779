"""From a script or a command line to what really runs. Nothing is executed on the way."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell import (
    Asked,
    Command,
    Word,
    command_words,
    read_directives,
    walk,
)
from schedmate.advisor.interpret.shell.code_text import as_code, beginning, doubts
from schedmate.advisor.interpret.shell.csh import as_sh, is_csh
from schedmate.advisor.interpret.shell.pieces import sides_of, text_of
from schedmate.advisor.interpret.shell.words import COMMAND_FILE
from schedmate.advisor.launch.applied import applied
from schedmate.advisor.launch.commonplace import COMMONPLACE
from schedmate.advisor.launch.containers import Images, commands_in
from schedmate.advisor.launch.entries import Finder, python_words
from schedmate.advisor.launch.launchers import (
    LAUNCHERS,
    PYTHON,
    Launched,
    Peeled,
    environment,
    program,
    submits,
    take_off,
)
from schedmate.advisor.launch.manifests import Described, describe
from schedmate.advisor.launch.recipes import recipe, tool_of
from schedmate.advisor.launch.run import INLINE, STDIN, Entry, Launch, PythonRun
from schedmate.advisor.launch.started import Started
from schedmate.advisor.launch.target import Target
from schedmate.advisor.sources.files import SourceFile

_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
_SHELL_FILE = re.compile(r".*\.(?:sh|bash|slurm|sbatch|job|zsh|lsf|pbs|sub|run|cmd)")
_SHELL_OPTIONS_WITH_VALUE = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))
_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]{0,80}", re.ASCII)
_MAX_NESTING = 6
_MAX_LAUNCHERS = 20
_MAX_RUNS = 200
_MAX_SCRIPTS = 60
_MAX_LINES = 20_000


_DIRECTORIES = dict.fromkeys(
    ("SLURM_SUBMIT_DIR", "PBS_O_WORKDIR", "LS_SUBCWD", "SGE_O_WORKDIR"), Word(".")
)
"""Where the job was submitted."""

_STARTS_PYTHON = re.compile(r"#!.*(?:python|uv run)")
_STARTS_COPIES = re.compile(
    r"(?:^|[/.])(?:multiproc|dist_?launch|launch(?:er)?|dist_?run)(?:\.py)?$"
)


def _starts_copies(words: Sequence[Word]) -> bool:
    """A launcher of the job's own: `python multiproc.py train.py …`, `python -m multiproc …`."""
    return (
        len(words) > 1
        and _STARTS_COPIES.search(words[0].text) is not None
        and words[1].known
        and words[1].text.endswith(".py")
    )


def resolve(target: Target) -> Launch:
    resolver = _Resolver(target)
    asked = Asked({})
    if target.script_text is None:
        runs = resolver.command(target.command)
    else:
        source = _script(target)
        asked = read_directives(source)
        runs = resolver.script(source, target.args, asked)
    launch = Launch(
        runs=tuple(runs),
        scripts=tuple(resolver.scripts),
        commands=tuple(resolver.commands),
        asked=asked,
        missing_scripts=tuple(resolver.missing),
        written=resolver.written,
    )
    main = launch.main
    return launch if main is None or asked.options else replace(launch, asked=main.asked)


def _script(target: Target) -> SourceFile:
    path = target.workdir / (target.script_name or "<script>")
    return SourceFile(target.files.name_of(path), target.script_text or "", path)


class _Resolver:
    def __init__(self, target: Target) -> None:
        self._target = target
        self.scripts: list[SourceFile] = []
        self.commands: list[tuple[str, ...]] = []
        self.missing: list[Word] = []
        self.written: dict[str, SourceFile] = {}
        self._finder = Finder(target.files, target.workdir, target.workdir, self.written)
        self._images = Images()
        self._active: list[str] = []
        self._walked = 0

    def command(self, words: Sequence[str]) -> list[PythonRun]:
        self.commands.append(tuple(words))
        return self.unwrap(command_words(words), Started())

    def script(self, source: SourceFile, args: Sequence[str], asked: Asked) -> list[PythonRun]:
        """A script by its first line: Python itself, or a shell."""
        self.scripts.append(source)
        self._enter(source, asked.text("chdir"))
        first = source.text.partition("\n")[0]
        word, *arguments = command_words((source.name, *args))
        jobs = describe(source)
        if jobs is not None:
            started = Started(asked=asked)
            return [run for each in jobs for run in self._described(each, arguments, started)]
        tool = tool_of(source)
        if tool is not None:
            return self._recipe(tool, arguments, source, Started(asked=asked))
        if source.name.endswith(".ipynb"):
            return [self._file(word, arguments, Started())]
        if source.name.endswith(".py") or _STARTS_PYTHON.match(first):
            parent = (source.path or self._target.workdir).parent
            entry = Entry(name=source.name, source=source, import_root=parent)
            self.commands.append(("python", source.name, *args))
            return [Started().run(entry, word, arguments, self._target.workdir)]
        if first.startswith("#!") and "sh" not in first:
            return []
        return self._shell(source, arguments, Started(asked=asked))

    def _enter(self, source: SourceFile, where: str | None) -> None:
        workdir = self._target.workdir
        start = workdir / where if where and not set(where) & set("%$~") else workdir
        script_dir = workdir if source.path is None else source.path.parent
        self._finder = replace(self._finder, start=start, script_dir=script_dir)

    def _shell(
        self, source: SourceFile, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        self._walked += 1
        if is_csh(source.text):
            source = replace(source, text=as_sh(source.text))
        script = walk(
            source,
            arguments,
            set_before={**_DIRECTORIES, **started.asked.variables(), **started.values},
            exported=started.env,
            surroundings=_Surroundings(self._finder),
            cwd=started.cwd,
            doubtful=started.doubtful,
        )
        self.written |= script.written
        self.scripts += script.sourced
        self.commands += [("export", name, value) for name, value in script.exports.items()]
        runs: list[PythonRun] = []
        submitted = [each for each in script.captured if submits(program(each.words[0]))]
        for command in (*submitted, *script.commands):
            self.commands.append(tuple(word.text for word in command.words))
            if command.piped and runs and program(command.words[0]) == "tee":
                files = [word for word in command.words[1:] if not word.text.startswith("-")]
                runs[-1] = started.with_logs(runs[-1], files)
            elif len(runs) < _MAX_RUNS:
                runs += self._command(command, started.running(command))
        return runs

    def _command(self, command: Command, started: Started) -> list[PythonRun]:
        """Where it is not decided which program runs, those on all sides."""
        runs = self.unwrap(command.words, started)
        if any(run.entry.source is not None for run in runs):
            return runs
        undecided = replace(started, conditional=True)
        sides = [self.unwrap(words, undecided) for words in sides_of(command.words)]
        found = [run for side in sides for run in side if run.entry.source is not None]
        return found or runs

    def unwrap(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """Take launchers off until Python, a script or something unknown is left."""
        for _ in range(_MAX_LAUNCHERS):
            words = _without_unset(words)
            own = environment(words)
            words, started = words[len(own) :], started.with_env(own)
            if not words:
                return []
            peeled = take_off(words)
            if peeled is None:
                return self._start(words, started)
            name, here = program(words[0]), words[0].evidence
            started = replace(started.under(peeled), here=here)
            if submits(name):
                return self._submitted(peeled, started)
            launcher = LAUNCHERS.get(name)
            if peeled.mounts or (launcher is not None and launcher.runs_image):
                return self._contained(peeled, started)
            started = self._moved(peeled.workdir, started)
            if not peeled.rest and started.stdin and _reads_commands(name):
                return self._nested(started.stdin, (), started)
            words = peeled.rest
        return []

    def _submitted(self, peeled: Peeled, started: Started) -> list[PythonRun]:
        """`sbatch job.sh`, `sbatch --wrap …`, `sbatch <<EOF`, `bsub python train.py`."""
        options = peeled.launched.options
        if "wrap" in options:
            return self._text(options["wrap"], (), started)
        if not peeled.rest:
            return self._nested(started.stdin, (), started) if started.stdin else []
        first, *arguments = peeled.rest
        source = self._finder.find(first, started.cwd)
        if source is not None and not source.name.endswith(".py"):
            self.scripts.append(source)
            return self._nested(source, arguments, started)
        return self.unwrap(peeled.rest, started)

    def _moved(self, workdir: Word | None, started: Started) -> Started:
        """Where a launcher starts its command, if that is a directory of the job."""
        if workdir is None:
            return started
        path = posixpath.join(started.cwd or ".", workdir.text)
        if self._finder.base(path) == self._finder.start or self._finder.has_directory(path):
            return replace(started, cwd=path)
        meant = self._finder.directory(workdir.text, started.cwd)
        return started if meant is None else replace(started, cwd=meant)

    def _described(
        self, job: Described, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        """A command of a job file; `arguments` are put behind it."""
        self.written |= job.written
        own = (*(job.entrypoint or ()), *job.words)
        self.commands += [tuple(word.text for word in own)] if own else []
        started = replace(
            started.with_env(job.env),
            asked=job.asked | started.asked,
            here=own[0].evidence if own else (),
        )
        words = (*job.words, *arguments)
        if not job.in_container:
            return self.unwrap(words, started)
        workdir = None if job.cwd is None else Word(job.cwd)
        peeled = Peeled(words, Launched(""), mounts=job.mounts, workdir=workdir)
        return self._contained(peeled, started, job.image, job.entrypoint)

    def _contained(
        self,
        peeled: Peeled,
        started: Started,
        file: str | None = None,
        entrypoint: tuple[Word, ...] | None = None,
    ) -> list[PythonRun]:
        """A command in a container, or what the container's image runs by itself."""
        image = self._images.image(file, peeled.own, self._finder)
        copies = () if image is None else image.copies
        before = self._finder
        self._finder = replace(before, mounts=(*peeled.mounts, *copies, *before.mounts))
        workdir = peeled.workdir
        if image is not None:
            started = replace(started, env={**image.env, **started.env})
            workdir = workdir or Word(image.workdir)
        started = self._moved(workdir, started)
        found: list[PythonRun] = []
        for words in commands_in(peeled.rest, image, entrypoint):
            runs = self.unwrap(words, started)
            found = found or runs
            if any(run.entry.source is not None for run in runs):
                found = runs
                break
        self._finder = before
        return found

    def _applied(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """`kubectl apply -f job.yaml`, `docker compose run train`."""
        meant = applied(words)
        if meant is None:
            return []
        for file in meant.files:
            source = self._finder.find(file, started.cwd)
            jobs = None if source is None else describe(source, meant.service)
            if source is not None and jobs:
                self.scripts.append(source)
                own = {"words": meant.command} if meant.command else {}
                made = [replace(job, **own) for job in jobs]
                return [run for job in made for run in self._described(job, (), started)]
        return []

    def _start(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        name = program(words[0])
        self._images.note(words)
        if PYTHON.fullmatch(name):
            return self._python(words[1:], started)
        if name.endswith((".py", ".ipynb")):
            return [self._file(words[0], words[1:], started)]
        if name in _SHELLS:
            return self._run_shell(words[1:], started)
        if _SHELL_FILE.fullmatch(name):
            return self._shell_file(words[0], words[1:], started)
        if name in ("make", "gmake", "just", "jupyter", "papermill"):
            return self._indirect(name, words[1:], started)
        return self._program(words, started)

    def _python(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        kind, at = python_words(words)
        if kind in ("file", "module") and _starts_copies(words[at:]):
            return [self._file(words[at + 1], words[at + 2 :], started)]
        if kind == "file":
            return [self._file(words[at], words[at + 1 :], started)]
        if kind == "module" and at < len(words):
            entry = self._finder.module(words[at], started.cwd)
            return [self._run(entry, words[at], words[at + 1 :], started)]
        if kind == "inline" and at < len(words):
            source = _inline(words[at])
            return [self._run(self._written(INLINE, source), words[at], words[at + 1 :], started)]
        if kind == "stdin" and started.stdin is not None:
            word = Word("-", started.here)
            return [self._run(self._written(STDIN, started.stdin), word, words[at + 1 :], started)]
        return []

    def _written(self, name: str, source: SourceFile) -> Entry:
        return Entry(name=name, source=source, import_root=self._finder.start)

    def _file(self, file: Word, arguments: Sequence[Word], started: Started) -> PythonRun:
        return self._run(self._finder.file(file, started.cwd), file, arguments, started)

    def _run(
        self, entry: Entry, word: Word, arguments: Sequence[Word], started: Started
    ) -> PythonRun:
        cwd = None if started.cwd is None else self._finder.base(started.cwd)
        return started.run(entry, word, [self._readable(each) for each in arguments], cwd)

    def _readable(self, word: Word) -> Word:
        """A file that the script writes itself is known, whatever its name will be; so is a
        config of the job, wherever the other machine has it."""
        if word.known:
            return word
        name, equals, path = word.text.rpartition("=")
        if posixpath.normpath(path) in self.written:
            return replace(word, known=True)
        meant = self._finder.own_config(path)
        return word if meant is None else replace(word, text=f"{name}{equals}{meant}", known=True)

    def _run_shell(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """`bash -c 'TEXT'`, `bash FILE`, `bash <<EOF`."""
        index = 0
        while index < len(words) and words[index].text.startswith(("-", "+")):
            text = words[index].text
            if re.fullmatch(r"-[a-z]*c", text) and index + 1 < len(words):
                return self._text(words[index + 1], words[index + 3 :], started)
            index += 2 if text in _SHELL_OPTIONS_WITH_VALUE else 1
        if index < len(words):
            return self._shell_file(words[index], words[index + 1 :], started)
        return self._nested(started.stdin, (), started) if started.stdin else []

    def _text(self, word: Word, arguments: Sequence[Word], started: Started) -> list[PythonRun]:
        if self._walked >= _MAX_SCRIPTS:
            return []
        source, values = _code(word)
        doubtful = frozenset(doubts(word.pieces))
        return self._nested(source, arguments, replace(started, values=values, doubtful=doubtful))

    def _shell_file(
        self, file: Word, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        source = self._finder.find(file, started.cwd)
        if source is None:
            if self._finder.missing(file, started.cwd):
                self.missing.append(file)
            return []
        self.scripts.append(source)
        runs = self._nested(source, arguments, started)
        return runs or self._handed_on(source, arguments, started)

    def _handed_on(
        self, source: SourceFile, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        """A wrapper that runs what it is given, in a way that only a shell would follow."""
        name = program(arguments[0]) if arguments and arguments[0].known else ""
        starts = PYTHON.fullmatch(name) or name in LAUNCHERS or name.endswith(".py")
        hands_on = "$@" in source.text or "$*" in source.text
        return self.unwrap(arguments, started) if starts and hands_on else []

    def _nested(
        self, source: SourceFile, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        too_much = started.nesting >= _MAX_NESTING or self._walked >= _MAX_SCRIPTS
        if too_much or source.text in self._active:
            return []
        self._active.append(source.text)
        before = self._finder
        if source.path is not None:
            self._finder = replace(before, script_dir=source.path.parent)
        runs = self._shell(source, arguments, started.inside(read_directives(source)))
        self._finder = before
        self._active.pop()
        return runs

    def _indirect(self, name: str, words: Sequence[Word], started: Started) -> list[PythonRun]:
        if name in ("jupyter", "papermill"):
            notebooks = [word for word in words if word.text.endswith(".ipynb")]
            return [self._file(notebooks[0], words, started)] if notebooks else []
        return self._recipe(name, words, None, started)

    def _recipe(
        self, tool: str, words: Sequence[Word], file: SourceFile | None, started: Started
    ) -> list[PythonRun]:
        found = recipe(tool, words, self._finder.base(started.cwd), self._finder.read, file)
        if found is None:
            return []
        self.scripts.append(found.text)
        where = self._moved(found.directory, started)
        return self._nested(found.text, (), where)

    def _program(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """A console script of the job's package, a script without an ending, or a program."""
        name = program(words[0])
        if name in COMMONPLACE or name in LAUNCHERS or not words[0].known:
            return self._applied(words, started)
        if not _PROGRAM.fullmatch(name) or self._finder.missing_program(words[0], started.cwd):
            return []
        if "/" in words[0].text:
            source = self._finder.find(words[0], started.cwd)
            if source is not None:
                return self._by_first_line(source, words, started)
        behind = _behind_dashes(words)
        if behind:
            return self.unwrap(behind, started.under(Peeled(behind, Launched(name))))
        entry = self._finder.program(words[0], started.cwd)
        return [self._run(entry, words[0], words[1:], started)]

    def _by_first_line(
        self, source: SourceFile, words: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        first = source.text.partition("\n")[0]
        if "python" in first:
            return [self._file(words[0], words[1:], started)]
        self.scripts.append(source)
        return self._nested(source, words[1:], started) if "sh" in first else []


class _Surroundings:
    """What a script may see of the job's directory."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def read(self, path: str, cwd: str | None) -> SourceFile | None:
        return self._finder.find(Word(path, known="$" not in path), cwd)

    def exists(self, path: str, cwd: str | None) -> bool:
        return self._finder.exists(path, cwd)

    def directory(self, path: str, cwd: str | None) -> str | None:
        return self._finder.directory(path, cwd)


def _inline(word: Word) -> SourceFile:
    """Text on a command line; its lines are those of the script where it stands."""
    first = beginning(word.pieces)
    lines = word.evidence if first is None else first.at[0].evidence(first.at[1])
    line = lines[-1] if lines else None
    if line is None or line.file == COMMAND_FILE:
        return SourceFile(COMMAND_FILE, word.text)
    return SourceFile(line.file, "\n" * min(max(line.line - 1, 0), _MAX_LINES) + word.text)


def _code(word: Word) -> tuple[SourceFile, dict[str, Word]]:
    """The same as shell text, in which values from elsewhere are variables."""
    if text_of(word.pieces) != word.text:
        return _inline(word), {}
    text, values = as_code(word.pieces)
    variables = {
        name: Word(text_of(pieces), pieces[0].at[0].evidence(pieces[0].at[1]), pieces=pieces)
        for name, pieces in values.items()
    }
    return _inline(replace(word, text=text)), variables


def _reads_commands(name: str) -> bool:
    return name in LAUNCHERS and LAUNCHERS[name].reads_commands


def _behind_dashes(words: Sequence[Word]) -> tuple[Word, ...]:
    """`tool run --its-own -- python train.py`: what clearly is a command behind the dashes."""
    texts = [word.text for word in words]
    if "--" not in texts:
        return ()
    rest = tuple(words[texts.index("--") + 1 :])
    name = program(rest[0]) if rest else ""
    starts = PYTHON.fullmatch(name) or name in LAUNCHERS or name in _SHELLS
    return rest if starts or name.endswith((".py", ".sh")) else ()


def _without_unset(words: Sequence[Word]) -> Sequence[Word]:
    """Behind variables that nobody sets and that may hold a launcher, or nothing."""
    while len(words) > 1 and not words[0].known and words[0].text.startswith("$"):
        if not words[0].text.strip("${}").isidentifier():
            break
        words = words[1:]
    return words
