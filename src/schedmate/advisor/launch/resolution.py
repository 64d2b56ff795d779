"""What was found of a job so far, and where its files are looked for."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell import Asked, Word
from schedmate.advisor.launch.containers import Images
from schedmate.advisor.launch.entries import Finder
from schedmate.advisor.launch.run import Entry, Launch, PythonRun
from schedmate.advisor.launch.started import Started
from schedmate.advisor.launch.target import Target
from schedmate.advisor.sources.elsewhere import known_end
from schedmate.advisor.sources.files import SourceFile

MOST_LOST = 20


class Resolution:
    def __init__(self, target: Target, *, all_ways: bool = False) -> None:
        self.target = target
        self.all_ways = all_ways
        self.scripts: list[SourceFile] = []
        self.commands: list[tuple[str, ...]] = []
        self.missing: list[Word] = []
        self.written: dict[str, SourceFile] = {}
        self.presumed: set[tuple[str, int]] = set()
        self.finder = Finder(target.files, target.workdir, target.workdir, self.written)
        self.images = Images()
        self.lost: list[tuple[tuple[Word, ...], Started]] = []
        """Commands of which it is not known what they start."""
        self.active: list[object] = []
        """The scripts that are being read, each as it was called."""
        self.walked = 0

    def launch(self, runs: Sequence[PythonRun], asked: Asked) -> Launch:
        return Launch(
            runs=tuple(runs),
            scripts=tuple(self.scripts),
            commands=tuple(self.commands),
            asked=asked,
            missing_scripts=tuple(self.missing),
            written=self.written,
            presumed=frozenset(self.presumed),
            lost=tuple(words for words, _ in self.lost[:MOST_LOST]),
        )

    def enter(self, source: SourceFile, where: str | None) -> None:
        workdir = self.target.workdir
        start = workdir / where if where and not set(where) & set("%$~") else workdir
        script_dir = workdir if source.path is None else source.path.parent
        self.finder = replace(self.finder, start=start, script_dir=script_dir)

    def enters(self, source: SourceFile, arguments: Sequence[Word], started: Started) -> bool:
        """Whether a script is not being read already as it is called now: with the same arguments
        and variables it would call itself for ever."""
        env = {name: word.text for name, word in started.env.items()}
        called = (source.text, [word.text for word in arguments], env)
        if called in self.active:
            self.lost.append(((Word(source.name, started.here), *arguments), started))
            return False
        self.active.append(called)
        return True

    def moved(self, workdir: Word | None, started: Started) -> Started:
        """Where a launcher starts its command, if that is a directory of the job."""
        if workdir is None:
            return started
        path = posixpath.join(started.cwd or ".", workdir.text)
        if self.finder.base(path) == self.finder.start or self.finder.has_directory(path):
            return replace(started, cwd=path)
        meant = self.finder.directory(workdir.text, started.cwd)
        return started if meant is None else replace(started, cwd=meant)

    def text_entry(self, name: str, source: SourceFile) -> Entry:
        return Entry(name=name, source=source, import_root=self.finder.start)

    def file_run(self, file: Word, arguments: Sequence[Word], started: Started) -> PythonRun:
        entry = self.finder.file(file, started.cwd)
        if entry.source is None and not file.known and not known_end(file.text):
            self.lost.append(((file, *arguments), started))
        return self.run_of(entry, file, arguments, started)

    def run_of(
        self, entry: Entry, word: Word, arguments: Sequence[Word], started: Started
    ) -> PythonRun:
        cwd = None if started.cwd is None else self.finder.base(started.cwd)
        return started.run(entry, word, [self._readable(each) for each in arguments], cwd)

    def _readable(self, word: Word) -> Word:
        """A file that the script writes itself is known, whatever its name will be; so is a
        config of the job, wherever the other machine has it."""
        if word.known:
            return word
        name, equals, path = word.text.rpartition("=")
        if posixpath.normpath(path) in self.written:
            return replace(word, known=True)
        meant = self.finder.own_config(path)
        return word if meant is None else replace(word, text=f"{name}{equals}{meant}", known=True)
