"""Programs that run what a file of the project names: make, just, Snakemake, DVC, pixi."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.recipes import recipe
from schedmate.advisor.launch.resolution import Resolution
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.launch.snakefiles import workflow
from schedmate.advisor.launch.stages import STAGES, stage_texts
from schedmate.advisor.launch.started import Started
from schedmate.advisor.launch.tasks import RUNNERS, task_text
from schedmate.advisor.sources.files import SourceFile

MAX_NESTING = 6


class Runners(Resolution):
    @abstractmethod
    def text(self, word: Word, arguments: Sequence[Word], started: Started) -> list[PythonRun]:
        """What shell text runs."""

    @abstractmethod
    def nested(
        self, source: SourceFile, arguments: Sequence[Word], started: Started
    ) -> list[PythonRun]:
        """What a script runs that another one starts."""

    def task(self, name: str, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """`poe train`, and `train` behind `pixi run`."""
        behind = started.launched[-1].name if started.launched else ""
        runner, named = (name, words[1:]) if name in RUNNERS else (behind, words)
        if runner not in RUNNERS or started.nesting >= MAX_NESTING:
            return []
        base = self.finder.base(started.cwd)
        text = task_text(runner, named, base, self.finder.read)
        return [] if text is None else self.text(text, (), started)

    def staged(self, name: str, words: Sequence[Word], started: Started) -> list[PythonRun]:
        """`dvc repro train`, `mlflow run .`, `task train`."""
        if name not in STAGES or started.nesting >= MAX_NESTING:
            return []
        texts = stage_texts(name, words[1:], self.finder.base(started.cwd), self.finder.read)
        return [run for text in texts for run in self.text(text, (), started)]

    def indirect(self, name: str, words: Sequence[Word], started: Started) -> list[PythonRun]:
        if name in ("jupyter", "papermill"):
            notebooks = [word for word in words if word.text.endswith(".ipynb")]
            return [self.file_run(notebooks[0], words, started)] if notebooks else []
        if name == "snakemake":
            base = self.finder.base(started.cwd)
            files = workflow(words, base, self.finder.read)
            self.scripts += files
            return [run for each in files for run in self.nested(each, (), started)]
        return self.recipe_of(name, words, None, started)

    def recipe_of(
        self, tool: str, words: Sequence[Word], file: SourceFile | None, started: Started
    ) -> list[PythonRun]:
        found = recipe(tool, words, self.finder.base(started.cwd), self.finder.read, file)
        if found is None:
            return []
        self.scripts.append(found.text)
        where = self.moved(found.directory, started)
        return self.nested(found.text, (), where)
