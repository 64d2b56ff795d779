"""What a rule must never match: lines of runs that ended well."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from schedmate.handler.learning.proposing import compiled
from schedmate.handler.reading.lines import blocks, clean
from schedmate.handler.rules import BUILT_IN, RULES
from schedmate.model import JobState
from schedmate.model.lessons import LearnedRule
from schedmate.model.ports import History

MOST_SECONDS: Final = 30.0
_MOST_RUNS: Final = 10_000
_DIGITS: Final = b"0123456789"

OnLog = Callable[[int, int], None]


@dataclass(slots=True)
class Scan:
    """How many of how many logs were read, and what each rule was caught at."""

    logs: int = 0
    of: int = 0
    hits: dict[str, str] = field(default_factory=dict)


def healthy_logs(history: History, *, leave_out: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Logs of completed runs that are still there, the newest first.

    A file belongs to the last run that wrote it.
    """
    seen = {path.absolute() for path in leave_out}
    found = []
    for run in history.recent_runs(limit=_MOST_RUNS):
        for name in run.job.logs:
            path = Path(run.job.workdir, name).absolute()
            if path in seen:
                continue
            seen.add(path)
            if run.job.state is JobState.COMPLETED and path.is_file():
                found.append(path)
    return tuple(found)


def scan(
    rules: Sequence[LearnedRule],
    logs: Sequence[Path],
    *,
    seconds: float = MOST_SECONDS,
    on_log: OnLog | None = None,
) -> Scan:
    """Try the rules on healthy lines that are known, then on the logs while there is time."""
    told = Scan(of=len(logs))
    readers = [_Reader(rule) for rule in rules]
    for reader in readers:
        line = next((line for line in harmless_lines() if reader.matches(line)), None)
        if line is not None:
            told.hits[reader.id] = f"it matches a harmless line: {line[:200]}"
    until = time.monotonic() + seconds
    for number, log in enumerate(logs, 1):
        if time.monotonic() > until:
            break
        _scan_log(log, [reader for reader in readers if reader.id not in told.hits], told)
        told.logs = number
        if on_log is not None:
            on_log(number, len(logs))
    return told


@cache
def harmless_lines() -> tuple[str, ...]:
    """Healthy lines that come with the program, and the built-in rules' own counter-examples."""
    text = files("schedmate.handler.learning").joinpath("healthy_lines.txt").read_text("utf-8")
    counter = (line for rule in RULES for line in rule.negatives if isinstance(line, str))
    unsuspected = (line for line in counter if BUILT_IN.for_error(line) is None)
    return (*filter(None, text.splitlines()), *unsuspected)


class _Reader:
    def __init__(self, rule: LearnedRule) -> None:
        self.id = rule.id
        self._words = tuple(word.encode(errors="replace") for word in rule.words)
        self._search = compiled(rule.pattern).search

    def matches(self, line: str) -> bool:
        return self._search(line) is not None

    def caught_in(self, block: bytes, lowered: bytes) -> Iterator[int]:
        """Where a line begins that it takes for a failure."""
        for word in self._words:
            at = lowered.find(word)
            while at >= 0:
                begin = max(block.rfind(b"\n", 0, at), block.rfind(b"\r", 0, at)) + 1
                end = block.find(b"\n", at)
                end = len(block) if end < 0 else end
                if self.matches(clean(block[begin:end])):
                    yield begin
                at = lowered.find(word, end)


def _scan_log(log: Path, readers: Sequence[_Reader], told: Scan) -> None:
    number = 1
    try:
        with log.open("rb") as stream:
            for block in blocks(stream):
                lowered = block.lower()
                for reader in readers:
                    caught = next(reader.caught_in(block, lowered), None)
                    if caught is not None and reader.id not in told.hits:
                        line = number + block.count(b"\n", 0, caught)
                        text = clean(block[caught : caught + 1000].split(b"\n", 1)[0])
                        told.hits[reader.id] = (
                            f"it matches a run that ended well: {log}:{line}: {text[:200]}"
                        )
                number += block.count(b"\n")
    except OSError:
        return
