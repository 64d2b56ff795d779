"""What a batch script or sbatch's command line asks for, in the words of Slurm."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from schedmate.model.workload import Evidence

SHORT = {
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
_GRES_GPUS = re.compile(
    r"(?:gres[:/])?gpu(?::(?:[A-Za-z]|\d+[A-Za-z.])[\w.-]*)?(?:[:=](\d{1,7}))?(?:\(.*)?$", re.ASCII
)
_OF_OTHERS = ("#PBS", "#BSUB", "#$", "#flux:", "#FLUX:", "# flux:", "#COBALT")
"""How directives of other schedulers begin."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Options as written, the last of each name, with their lines."""

    options: dict[str, tuple[str, Evidence]]

    def __or__(self, stronger: BatchOptions) -> Self:
        """Both together; what `stronger` says counts."""
        return type(self)({**self.options, **stronger.options})

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
        """In all, with the lines that say so."""
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
        tasks = self.tasks or self.nodes or 1  # one a node, as Slurm has it
        if per_task is None:
            return None
        names = ("ntasks",) if self.text("ntasks") else ("ntasks-per-node", "nodes")
        lines = (line for name in names for line in self._line_of(name))
        return min(per_task[0] * tasks, _MAX_COUNT), (*per_task[1], *lines)

    @property
    def time_limit_s(self) -> float | None:
        """None where there is none, which is what 0 asks for."""
        return slurm_seconds(self.text("time") or "") or None

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


def read_script_options(lines: Iterable[str]) -> Iterator[tuple[int, str, str, str]]:
    """Of every option: the number of its line, the line, its name and its value.

    As sbatch does: only the lines before the first command count.
    """
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return
        if stripped.startswith("#SBATCH"):
            found = read_words(_words(stripped.removeprefix("#SBATCH")))
        elif stripped.startswith(_OF_OTHERS):
            from schedmate.model.dialects import other_directive  # noqa: PLC0415 - few have any

            found = iter(other_directive(stripped))
        else:
            continue
        for name, value in found:
            yield number, line, name, value


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text[:_MAX_LINE], comments=True)
    except ValueError:
        return text[:_MAX_LINE].split()


def read_words(words: list[str]) -> Iterator[tuple[str, str]]:
    """The options among these words, each with its value."""
    while words:
        word = words.pop(0)
        if word.startswith("--") and "=" in word:
            name, _, value = word[2:].partition("=")
            yield name, value
        elif word.startswith("--"):
            yield word[2:], words.pop(0) if words and not words[0].startswith("-") else ""
        elif word[:2] in SHORT:
            attached = word[2:].removeprefix("=")
            yield SHORT[word[:2]], attached or (words.pop(0) if words else "")


def _count(text: str | None) -> int | None:
    """A number of nodes or tasks; of a range `2-4` the part that is granted at least."""
    found = re.match(r"(\d{1,7})(?:-\d+)?$", text or "", re.ASCII)
    return None if found is None else min(int(found[1]), _MAX_COUNT)


def _last_count(text: str) -> int | None:
    """`4`, `a100:4`."""
    found = re.search(r"(?:^|:)(\d{1,7})$", text, re.ASCII)
    return None if found is None else int(found[1])


def _gres_gpus(text: str) -> int | None:
    """`gpu`, `gpu:4`, `gpu:a100:4`, `gpu:1g.20gb`, several kinds with commas between, `none`."""
    counts = [int(found[1] or 1) for kind in text.split(",") if (found := _GRES_GPUS.match(kind))]
    return sum(counts) if counts else 0 if text.strip().lower() == "none" else None


def other_gres(text: str) -> str:
    """What it asks for that is no GPU, or is written as nothing is; empty where there is none."""
    words = (kind for kind in text.split(",") if kind.strip().lower() not in ("", "none"))
    return next((kind for kind in words if _GRES_GPUS.match(kind) is None), "")


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
