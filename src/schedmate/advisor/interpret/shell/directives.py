"""What a script asks its scheduler for, in the words of Slurm whichever scheduler it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedmate.advisor.interpret.shell.dialects import other_directive
from schedmate.advisor.interpret.shell.words import Word
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence

_SHORT = {
    "-G": "gpus",
    "-N": "nodes",
    "-t": "time",
    "-J": "job-name",
    "-n": "ntasks",
    "-D": "chdir",
    "-o": "output",
    "-e": "error",
    "-p": "partition",
    "-a": "array",
    "-A": "account",
    "-C": "constraint",
    "-b": "begin",
    "-c": "cpus-per-task",
    "-d": "dependency",
    "-H": "hold",
    "-W": "wait",
}
_DAY, _HOUR, _MINUTE = 86400, 3600, 60
_MAX_COUNT = 1_000_000
_MAX_LINE = 5000


@dataclass(frozen=True, slots=True)
class Asked:
    """Options as written, the last of each name, with their lines."""

    options: dict[str, tuple[str, Evidence]]

    def __or__(self, stronger: Asked) -> Asked:
        """Both together; what `stronger` says counts."""
        return Asked({**self.options, **stronger.options})

    @classmethod
    def of_words(cls, options: Mapping[str, Word]) -> Asked:
        """Options of `sbatch` or `srun` on a command line of a script."""
        found: dict[str, tuple[str, Evidence]] = {}
        for name, word in options.items():
            full = _SHORT.get(f"-{name}", name.replace("_", "-"))
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

    def text(self, name: str) -> str | None:
        found = self.options.get(name)
        return None if found is None else found[0]

    @property
    def nodes(self) -> int | None:
        return _count(self.text("nodes"))

    @property
    def tasks(self) -> int | None:
        """In all."""
        total = _count(self.text("ntasks"))
        per_node = _count(self.text("ntasks-per-node"))
        if total is not None or per_node is None:
            return total
        return per_node * (self.nodes or 1)

    @property
    def gpus(self) -> tuple[int, tuple[Evidence, ...]] | None:
        """In all, with the lines it was worked out from."""
        total = self._counted("gpus")
        if total is not None:
            return total
        nodes = self.nodes or 1
        for name in ("gpus-per-node", "gres", "tres-per-node"):
            found = self._counted(name)
            if found is not None:
                return min(found[0] * nodes, _MAX_COUNT), (*found[1], *self._line_of("nodes"))
        return self._per_task()

    @property
    def gpu_type(self) -> str | None:
        """`h100` of `--gres=gpu:h100:2` or `--gpus=h100:2`; a count is no type."""
        gres = ",".join(filter(None, map(self.text, ("gres", "tres-per-node", "tres-per-task"))))
        found = set(re.findall(r"\bgpu:([^:,=()]{1,80})", gres))
        for name in ("gpus", "gpus-per-node", "gpus-per-task"):
            found.add((self.text(name) or "").partition(":")[0])
        named = {one for one in found if one and not one.isdecimal()}
        return named.pop() if len(named) == 1 else None

    def _per_task(self) -> tuple[int, tuple[Evidence, ...]] | None:
        per_task = self._counted("gpus-per-task") or self._counted("tres-per-task")
        tasks = self.tasks
        if per_task is None or tasks is None:
            return None
        names = ("ntasks",) if self.text("ntasks") else ("ntasks-per-node", "nodes")
        lines = (line for name in names for line in self._line_of(name))
        return min(per_task[0] * tasks, _MAX_COUNT), (*per_task[1], *lines)

    @property
    def time_limit_s(self) -> float | None:
        return slurm_seconds(self.text("time") or "")

    def _counted(self, name: str) -> tuple[int, tuple[Evidence, ...]] | None:
        found = self.options.get(name)
        if found is None:
            return None
        generic = name == "gres" or name.startswith("tres")
        count = _gres_gpus(found[0]) if generic else _last_count(found[0])
        return None if count is None else (count, (found[1],))

    def _line_of(self, name: str) -> tuple[Evidence, ...]:
        found = self.options.get(name)
        return () if found is None else (found[1],)


def read_directives(source: SourceFile) -> Asked:
    """As sbatch does: only the lines before the first command count."""
    options: dict[str, tuple[str, Evidence]] = {}
    for number, line in enumerate(source.lines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            break
        if stripped.startswith("#SBATCH"):
            found = _options(_words(stripped.removeprefix("#SBATCH")))
        else:
            found = iter(other_directive(stripped))
        for name, value in found:
            options[name] = value, evidence(source.name, number, line)
    return Asked(options)


def read_options(words: Sequence[str]) -> Asked:
    """The same options where they stand on sbatch's own command line."""
    line = evidence("<command>", 1, shlex.join(words))
    return Asked({name: (value, line) for name, value in _options(list(words))})


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text[:_MAX_LINE], comments=True)
    except ValueError:
        return text[:_MAX_LINE].split()


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    while words:
        word = words.pop(0)
        if word.startswith("--") and "=" in word:
            name, _, value = word[2:].partition("=")
            yield name, value
        elif word.startswith("--"):
            yield word[2:], words.pop(0) if words and not words[0].startswith("-") else ""
        elif word[:2] in _SHORT:
            attached = word[2:].removeprefix("=")
            yield _SHORT[word[:2]], attached or (words.pop(0) if words else "")


def _count(text: str | None) -> int | None:
    """A number of nodes or tasks; of a range `2-4` the part that is granted at least."""
    found = re.match(r"(\d{1,7})(?:-\d+)?$", text or "", re.ASCII)
    return None if found is None else min(int(found[1]), _MAX_COUNT)


def _last_count(text: str) -> int | None:
    """`4`, `a100:4`."""
    found = re.search(r"(?:^|:)(\d{1,7})$", text, re.ASCII)
    return None if found is None else int(found[1])


def _gres_gpus(text: str) -> int | None:
    """`gpu`, `gpu:4`, `gpu:a100:4`, `gpu:1g.20gb`, several kinds with commas between."""
    counts = []
    for kind in text.split(","):
        found = re.match(
            r"(?:gres[:/])?gpu(?::(?:[A-Za-z]|\d+[A-Za-z.])[\w.-]*)?(?::(\d{1,7}))?(?:\(.*)?$",
            kind,
            re.ASCII,
        )
        if found is not None:
            counts.append(int(found[1] or 1))
    return sum(counts) if counts else None


def slurm_seconds(text: str) -> float | None:
    """`MM`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`; None for anything else."""
    found = re.fullmatch(r"(?:(\d{1,6})-)?(\d{1,8})(?::(\d{1,6}))?(?::(\d{1,6}))?", text, re.ASCII)
    if found is None:
        return None
    days, *rest = (None if part is None else int(part) for part in found.groups())
    first, second, third = (part or 0 for part in rest)
    if days is not None:
        return float(days * _DAY + first * _HOUR + second * _MINUTE + third)
    if rest[2] is not None:
        return float(first * _HOUR + second * _MINUTE + third)
    return float(first * _MINUTE + second)
