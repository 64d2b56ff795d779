"""From a script or a command line to what really runs. Nothing is executed on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell import (
    Asked,
    Command,
    Word,
    command_words,
    read_directives,
)
from schedmate.advisor.interpret.shell.code_text import doubts
from schedmate.advisor.interpret.shell.spans import sides_of
from schedmate.advisor.launch.applied import applied
from schedmate.advisor.launch.command_words import (
    SHELLS,
    behind_dashes,
    first_line,
    inline,
    is_command,
    is_shell_text,
    names_a_file,
    reads_commands,
    shell_code,
    shell_line,
    starts_copies,
    without_unset,
    wrapped,
)
from schedmate.advisor.launch.commonplace import COMMONPLACE
from schedmate.advisor.launch.containers import commands_in
from schedmate.advisor.launch.entries import python_words
from schedmate.advisor.launch.guessing import guessed_runs, not_taken, of_same_name
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
from schedmate.advisor.launch.recipes import tool_of
from schedmate.advisor.launch.run import INLINE, STDIN, Entry, Launch, PythonRun
from schedmate.advisor.launch.runners import MAX_NESTING, Runners
from schedmate.advisor.launch.spawned import started_by
from schedmate.advisor.launch.started import Started
from schedmate.advisor.launch.target import Target
from schedmate.advisor.launch.walking import walked
from schedmate.advisor.sources.files import SourceFile

_SHELL_FILE = re.compile(r".*\.(?:sh|bash|slurm|sbatch|job|zsh|lsf|pbs|sub|run|cmd)")
_SHELL_OPTIONS_WITH_VALUE = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))
_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]{0,80}", re.ASCII)
_MAX_LAUNCHERS = 20
_MAX_RUNS = 200
_MAX_SCRIPTS = 60


_STARTS_PYTHON = re.compile(r"#!.*(?:python|uv run)")


def resolve(target: Target) -> Launch:
    resolver = _Resolver(target)
    runs, asked = _started(resolver)
    main = resolver.launch(runs, asked).main
    runs += [] if main is None else of_same_name(resolver, main)
    runs += [] if main is None else started_by(main, resolver.unwrap)
    if main is None or any(main.command == words[0] for words, _ in resolver.lost):
        runs += guessed_runs(resolver, resolver.unwrap)
    if resolver.launch(runs, asked).main is None and not resolver.missing:
        widened, _ = _started(_Resolver(target, all_ways=True))
        runs += not_taken(widened)
    launch = resolver.launch(runs, asked)
    main = launch.main
    return launch if main is None or asked.options else replace(launch, asked=main.asked)


def _started(resolver: _Resolver) -> tuple[list[PythonRun], Asked]:
    target = resolver.target
    if target.script_text is None:
        return resolver.command(target.command), Asked({})
    path = target.workdir / (target.script_name or "<script>")
    source = SourceFile(target.files.name_of(path), target.script_text, path)
    asked = read_directives(source)
    return resolver.script(source, target.args, asked), asked


class _Resolver(Runners):
    """Takes commands apart, script by script."""

    def command(self, words: Sequence[str]) -> list[PythonRun]:
        self.commands.append(tuple(words))
        text = shell_line(words)
        if text is not None:
            return self.text(Word(text, command_words(words)[0].evidence), (), Started())
        return self.unwrap(command_words(words), Started())

    def script(self, source: SourceFile, args: Sequence[str], asked: Asked) -> list[PythonRun]:
        """A script by its first line: Python itself, or a shell."""
        self.scripts.append(source)
        self.enter(source, asked.text("chdir"))
        first = source.text.partition("\n")[0]
        word, *arguments = command_words((source.name, *args))
        jobs = describe(source)
        if jobs is not None:
            started = Started(asked=asked)
            runs = [run for each in jobs for run in self._described(each, arguments, started)]
            if not runs:
                self.lost.append(((Word(source.name, first_line(source)), *arguments), started))
            return runs
        tool = tool_of(source)
        if tool is not None:
            return self.recipe_of(tool, arguments, source, Started(asked=asked))
        if source.name.endswith(".ipynb"):
            return [self.file_run(word, arguments, Started())]
        if source.name.endswith(".py") or _STARTS_PYTHON.match(first):
            parent = (source.path or self.target.workdir).parent
            entry = Entry(name=source.name, source=source, import_root=parent)
            self.commands.append(("python", source.name, *args))
            return [Started().run(entry, word, arguments, self.target.workdir)]
        if first.startswith("#!") and "sh" not in first:
            return []
        return self._shell(source, arguments, Started(asked=asked))

    def _shell(
        self, source: SourceFile, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        self.walked += 1
        script = walked(source, arguments, started, self.finder, all_ways=self.all_ways)
        self.written |= script.written
        self.presumed |= script.presumed
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
            words = without_unset(words)
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
            started = self.moved(peeled.workdir, started)
            if not peeled.rest and started.stdin and reads_commands(name):
                return self.nested(started.stdin, (), started)
            words = peeled.rest
        return []

    def _submitted(self, peeled: Peeled, started: Started) -> list[PythonRun]:
        """`sbatch job.sh`, `sbatch --wrap …`, `sbatch <<EOF`, `bsub python train.py`."""
        options = peeled.launched.options
        if "wrap" in options:
            return self.text(options["wrap"], (), started)
        if not peeled.rest:
            return self.nested(started.stdin, (), started) if started.stdin else []
        first, *arguments = peeled.rest
        source = self.finder.find(first, started.cwd)
        if source is None or source.name.endswith(".py"):
            return self.unwrap(peeled.rest, started)
        self.scripts.append(source)
        written = self.finder.written_as(first, started.cwd) is not None
        runs = self.nested(source, arguments, started)
        return [replace(run, first_of_several=written and run.varies) for run in runs]

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
            return self.unwrap(words, replace(started, nesting=started.nesting + 1))
        workdir = None if job.cwd is None else Word(job.cwd)
        peeled = Peeled(words, Launched(""), mounts=job.mounts, workdir=workdir)
        return self._contained(peeled, started, job)

    def _contained(
        self,
        peeled: Peeled,
        started: Started,
        job: Described | None = None,
    ) -> list[PythonRun]:
        """A command in a container, or what the container's image runs by itself."""
        if started.nesting >= MAX_NESTING:
            return []
        started = replace(started, nesting=started.nesting + 1)
        image = self.images.image(job, peeled.own, self.finder)
        copies = () if image is None else image.copies
        before = self.finder
        self.finder = replace(before, mounts=(*peeled.mounts, *copies, *before.mounts))
        workdir = peeled.workdir
        if image is not None:
            started = replace(started, env={**image.env, **started.env})
            workdir = workdir or Word(image.workdir)
        started = self.moved(workdir, started)
        found: list[PythonRun] = []
        for words in commands_in(peeled.rest, image, job.entrypoint if job else None):
            runs = self.unwrap(words, started)
            found = found or runs
            if any(run.entry.source is not None for run in runs):
                found = runs
                break
        self.finder = before
        return found

    def _applied(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """`kubectl apply -f job.yaml`, `docker compose run train`."""
        meant = applied(words)
        if meant is None or started.nesting >= MAX_NESTING:
            return []
        for file in meant.files:
            source = self.finder.find(file, started.cwd)
            jobs = None if source is None else describe(source, meant.service)
            if source is not None and jobs:
                self.scripts.append(source)
                made = [replace(job, words=meant.command or job.words) for job in jobs[:_MAX_RUNS]]
                return [run for job in made for run in self._described(job, (), started)]
        return []

    def _start(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        name = program(words[0])
        self.images.note(words)
        if PYTHON.fullmatch(name):
            return self._python(words[1:], started)
        if name.endswith((".py", ".ipynb")):
            return [self.file_run(words[0], words[1:], started)]
        if name in SHELLS:
            return self._run_shell(words[1:], started)
        if _SHELL_FILE.fullmatch(name):
            return self._shell_file(words[0], words[1:], started)
        if name in ("make", "gmake", "just", "jupyter", "papermill", "snakemake"):
            return self.indirect(name, words[1:], started)
        return (
            self.task(name, words, started)
            or self.staged(name, words, started)
            or self._program(words, started)
        )

    def _python(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        kind, at = python_words(words)
        if kind in ("file", "module") and starts_copies(words[at:]):
            return [self.file_run(words[at + 1], words[at + 2 :], started)]
        if kind == "file":
            return [self.file_run(words[at], words[at + 1 :], started)]
        if kind == "module" and at < len(words):
            entry = self.finder.module(words[at], started.cwd)
            if entry.source is None and names_a_file(words[at:]):
                self.lost.append((tuple(words[at:]), started))
            return [self.run_of(entry, words[at], words[at + 1 :], started)]
        if kind == "inline" and at < len(words):
            source = inline(words[at])
            return [
                self.run_of(self.text_entry(INLINE, source), words[at], words[at + 1 :], started)
            ]
        if kind == "stdin" and started.stdin is not None:
            word = Word("-", started.here)
            return [
                self.run_of(self.text_entry(STDIN, started.stdin), word, words[at + 1 :], started)
            ]
        return []

    def _run_shell(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """`bash -c 'TEXT'`, `bash FILE`, `bash <<EOF`."""
        index = 0
        while index < len(words) and words[index].text.startswith(("-", "+")):
            text = words[index].text
            if re.fullmatch(r"-[a-z]*c", text) and index + 1 < len(words):
                return self.text(words[index + 1], words[index + 3 :], started)
            index += 2 if text in _SHELL_OPTIONS_WITH_VALUE else 1
        if index < len(words):
            return self._shell_file(words[index], words[index + 1 :], started)
        return self.nested(started.stdin, (), started) if started.stdin else []

    def text(self, word: Word, arguments: Sequence[Word], started: Started) -> list[PythonRun]:
        if self.walked >= _MAX_SCRIPTS:
            return []
        source, values = shell_code(word)
        doubtful = frozenset(doubts(word.spans))
        return self.nested(source, arguments, replace(started, values=values, doubtful=doubtful))

    def _shell_file(
        self, file: Word, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        source = self.finder.find(file, started.cwd)
        if source is None:
            if self.finder.missing(file, started.cwd):
                self.missing.append(file)
            self.lost.append(((file, *arguments), started))
            return []
        self.scripts.append(source)
        runs = self.nested(source, arguments, started)
        return runs or self._handed_on(source, arguments, started)

    def _handed_on(
        self, source: SourceFile, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        """A wrapper that runs what it is given, in a way that only a shell would follow."""
        hands_on = "$@" in source.text or "$*" in source.text
        return self.unwrap(arguments, started) if hands_on and is_command(arguments) else []

    def nested(
        self, source: SourceFile, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        too_much = started.nesting >= MAX_NESTING or self.walked >= _MAX_SCRIPTS
        if too_much or not self.enters(source, arguments, started):
            return []
        before = self.finder
        if source.path is not None:
            self.finder = replace(before, script_dir=source.path.parent)
        runs = self._shell(source, arguments, started.inside(read_directives(source)))
        self.finder = before
        self.active.pop()
        return runs

    def _program(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """A console script of the job's package, a script without an ending, or a program."""
        name = program(words[0])
        runs = self._applied(words, started)
        if runs or name in COMMONPLACE or name in LAUNCHERS:
            return runs
        missing = self.finder.missing_program(words[0], started.cwd)
        if not words[0].known or not _PROGRAM.fullmatch(name) or missing:
            self.lost.append((tuple(words), started))
            return []
        source = self.finder.find(words[0], started.cwd)
        if source is not None and ("/" in words[0].text or source.text.startswith("#!")):
            return self._by_first_line(source, words, started)
        behind = behind_dashes(words)
        if behind:
            return self.unwrap(behind, started.under(Peeled(behind, Launched(name))))
        entry = self.finder.program(words[0], started.cwd)
        inner = self._wrapped(words, started) if entry.source is None else []
        if inner:
            return inner
        if entry.source is None and ("/" in words[0].text or names_a_file(words)):
            self.lost.append((tuple(words), started))
        return [self.run_of(entry, words[0], words[1:], started)]

    def _wrapped(self, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """Behind a program that is not known: the command that it is given, if that is there."""
        at = wrapped(words)
        if at is not None:
            runs = self.unwrap(words[at:], started)
        else:
            texts = [word for word in words[1:] if is_shell_text(word)]
            runs = self.text(texts[0], (), started) if len(texts) == 1 else []
        return [run for run in runs if run.entry.source is not None]

    def _by_first_line(
        self, source: SourceFile, words: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        first = source.text.partition("\n")[0]
        if "python" in first:
            return [self.file_run(words[0], words[1:], started)]
        self.scripts.append(source)
        return self.nested(source, words[1:], started) if "sh" in first else []
