"""`#SBATCH` lines: what a script asks its scheduler for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedmate.advisor.shell.words import Word
from schedmate.advisor.sources import SourceFile, evidence
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
    "-b": "begin",
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
        """What Slurm tells the job of what it asked for."""
        found: dict[str, Word] = {}
        return found

    def text(self, name: str) -> str | None:
        found = self.options.get(name)
        return None if found is None else found[0]

    @property
    def nodes(self) -> int | None:
        return _count(self.text("nodes"))

    @property
    def gpus(self) -> tuple[int, tuple[Evidence, ...]] | None:
        """In all, with the lines it was worked out from."""
        total = self._counted("gpus")
        if total is not None:
            return total
        nodes = self.nodes or 1
        for name in ("gpus-per-node", "gres"):
            found = self._counted(name)
            if found is not None:
                return found[0] * nodes, (*found[1], *self._line_of("nodes"))
        return self._per_task()

    def _per_task(self) -> tuple[int, tuple[Evidence, ...]] | None:
        per_task = self._counted("gpus-per-task")
        tasks = _count(self.text("ntasks"))
        if per_task is None or tasks is None:
            return None
        return per_task[0] * tasks, (*per_task[1], *self._line_of("ntasks"))

    @property
    def time_limit_s(self) -> float | None:
        return slurm_seconds(self.text("time") or "")

    def _counted(self, name: str) -> tuple[int, tuple[Evidence, ...]] | None:
        found = self.options.get(name)
        if found is None:
            return None
        count = _gres_gpus(found[0]) if name == "gres" else _last_count(found[0])
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
            for name, value in _options(_words(stripped.removeprefix("#SBATCH"))):
                options[name] = value, evidence(source.name, number, line)
    return Asked(options)


def read_options(words: Sequence[str]) -> Asked:
    """The same options where they stand on sbatch's own command line."""
    line = evidence("<command>", 1, shlex.join(words))
    return Asked({name: (value, line) for name, value in _options(list(words))})


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return []


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
    """`gpu`, `gpu:4`, `gpu:a100:4`, several kinds with commas between."""
    counts = []
    for kind in text.split(","):
        found = re.match(
            r"(?:gres[:/])?gpu(?::[A-Za-z][\w.-]*)?(?::(\d{1,7}))?(?:\(.*)?$", kind, re.ASCII
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
