"""What a script asks its scheduler for, in the words of Slurm whichever scheduler it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedmate.advisor.interpret.shell.words import Word
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence
from schedmate.model.batch_options import SHORT, BatchOptions, read_script_options, read_words


@dataclass(frozen=True, slots=True)
class Asked(BatchOptions):
    """The same with what a job is told of them."""

    @classmethod
    def of_words(cls, options: Mapping[str, Word]) -> Asked:
        """Options of `sbatch` or `srun` on a command line of a script."""
        found: dict[str, tuple[str, Evidence]] = {}
        for name, word in options.items():
            full = SHORT.get(f"-{name}", name.replace("_", "-"))
            if word.known and word.evidence:
                found[full] = word.text, word.evidence[0]
        return cls(found)

    def variables(self) -> dict[str, Word]:
        """What the scheduler tells the job of what it asked for."""
        gpus, nodes, tasks = self.gpus, self.nodes, self.tasks
        on_node = None if gpus is None else gpus[0] // max(nodes or 1, 1)
        stated: dict[str, tuple[object, str]] = {
            "SLURM_NNODES": (nodes, "nodes"),
            "SLURM_JOB_NUM_NODES": (nodes, "nodes"),
            "SLURM_NTASKS": (tasks, "ntasks" if self.text("ntasks") else "ntasks-per-node"),
            "SLURM_NPROCS": (tasks, "ntasks" if self.text("ntasks") else "ntasks-per-node"),
            "SLURM_NTASKS_PER_NODE": (self.text("ntasks-per-node"), "ntasks-per-node"),
            "SLURM_GPUS_PER_NODE": (self.text("gpus-per-node"), "gpus-per-node"),
            "SLURM_GPUS_PER_TASK": (self.text("gpus-per-task"), "gpus-per-task"),
            "SLURM_GPUS": (self.text("gpus"), "gpus"),
            "SLURM_CPUS_PER_TASK": (self.text("cpus-per-task"), "cpus-per-task"),
            "SLURM_JOB_NAME": (self.text("job-name"), "job-name"),
            "SLURM_JOB_PARTITION": (self.text("partition"), "partition"),
        }
        found = {
            variable: Word(str(value), self._line_of(name))
            for variable, (value, name) in stated.items()
            if value is not None
        }
        if gpus is not None and on_node:
            found["SLURM_GPUS_ON_NODE"] = Word(str(on_node), gpus[1])
        return found

    def array_tasks(self) -> tuple[Word, ...]:
        """Some of the numbers that the jobs of an array get: the first two and the last."""
        found = self.options.get("array")
        if found is None:
            return ()
        numbers: list[int] = []
        for part in found[0].partition("%")[0].split(",")[:100]:
            span = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7})(?::(\d{1,5}))?)?", part.strip(), re.ASCII)
            if span is None:
                return ()
            first, last, step = int(span[1]), int(span[2] or span[1]), int(span[3] or 1)
            numbers += [*range(first, last + 1, max(step, 1))[:2], last]
        chosen = dict.fromkeys((*numbers[:2], *numbers[-1:]))
        return tuple(Word(str(number), (found[1],)) for number in chosen)


def read_directives(source: SourceFile) -> Asked:
    """As sbatch does: only the lines before the first command count."""
    return Asked(
        {
            name: (value, evidence(source.name, number, line))
            for number, line, name, value in read_script_options(source.lines())
        }
    )


def read_options(words: Sequence[str]) -> Asked:
    """The same options where they stand on sbatch's own command line."""
    line = evidence("<command>", 1, shlex.join(words))
    return Asked({name: (value, line) for name, value in read_words(list(words))})
