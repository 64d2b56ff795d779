"""Trials of learned rules: on healthy lines and logs, on their examples, on given logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Final

from schedmate.files import INVOKER, Reader, files_of
from schedmate.handler.learning.proposals import compiled
from schedmate.handler.reading.lines import blocks, clean
from schedmate.handler.rules import BUILT_IN, RULES
from schedmate.logs import chunks_of, open_regular, plain
from schedmate.model import JobState
from schedmate.model.lessons import LearnedRule
from schedmate.model.ports import History
from schedmate.model.processor_budget import ProcessorBudget

MOST_SECONDS: Final = 30.0
"""Of the processor."""
_WAITS: Final = 10
"""Times as long by the clock, where files do not come."""
_MOST_RUNS: Final = 10_000
_NEWLINE: Final = b"\n"
_SHOWN: Final = 200

OnLog = Callable[[int, int], None]


@dataclass(slots=True)
class Scan:
    """How many of how many logs were read, and what each rule was caught at."""

    logs: int = 0
    of: int = 0
    hits: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HealthyLog:
    path: Path
    user: str
    """Whose run wrote it; it is read with that user's rights."""


def healthy_logs(history: History, *, leave_out: Iterable[Path] = ()) -> tuple[HealthyLog, ...]:
    """Logs of completed runs that can still be read, the newest first.

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
            if run.job.state is JobState.COMPLETED:
                found.append(HealthyLog(path, run.job.user))
    there = set(filter(_is_there, sorted(found, key=lambda log: log.user)))
    return tuple(log for log in found if log in there)


def _is_there(log: HealthyLog) -> bool:
    """To be read; tried for one user after the other, as each has a process of its own."""
    try:
        open_regular(log.path, files_of(log.user)).close()
    except OSError:
        return False
    return True


def scan(
    rules: Sequence[LearnedRule],
    logs: Sequence[HealthyLog],
    *,
    seconds: float = MOST_SECONDS,
    on_log: OnLog | None = None,
) -> Scan:
    """Try the rules on healthy lines that are known, then on the logs while there is time."""
    scanned = Scan(of=len(logs))
    matchers = [Matcher(rule) for rule in rules]
    for matcher in matchers:
        line = next((line for line in harmless_lines() if matcher.matches(line)), None)
        if line is not None:
            scanned.hits[matcher.id] = f"it matches a harmless line: {line[:_SHOWN]}"
    budget = ProcessorBudget(seconds, _WAITS * seconds)
    for number, log in enumerate(logs, 1):
        if budget.is_spent:
            break
        _scan_log(log, [one for one in matchers if one.id not in scanned.hits], scanned)
        scanned.logs = number
        if on_log is not None:
            on_log(number, len(logs))
    return scanned


@cache
def harmless_lines() -> tuple[str, ...]:
    """Healthy lines that come with the program, and the built-in rules' own counter-examples."""
    text = files("schedmate.handler.learning").joinpath("healthy_lines.txt").read_text("utf-8")
    counter = (line for rule in RULES for line in rule.negatives if isinstance(line, str))
    unsuspected = (line for line in counter if BUILT_IN.for_error(line) is None)
    return (*filter(None, text.splitlines()), *unsuspected)


class Matcher:
    """One rule, asked about whole logs at disk speed: only lines with its words are looked at."""

    def __init__(self, rule: LearnedRule) -> None:
        self.id = rule.id
        self._words = tuple(word.encode(errors="replace") for word in rule.words)
        self._search = compiled(rule.pattern).search

    def matches(self, line: str) -> bool:
        return self._search(line) is not None

    def lines_in(self, log: Path, reader: Reader = INVOKER) -> Iterator[str]:
        """`file:line: text` of what it takes for a failure; of an unreadable log, nothing."""
        number = 1
        with suppress(OSError), open_regular(log, reader) as stream:
            for block in blocks(plain(chunks_of(stream))):
                for begin, text in self._found(block, block.lower()):
                    yield f"{log}:{number + block.count(_NEWLINE, 0, begin)}: {text[:_SHOWN]}"
                number += block.count(_NEWLINE)

    def _found(self, block: bytes, lowered: bytes) -> Iterator[tuple[int, str]]:
        for word in self._words:
            at = lowered.find(word)
            while at >= 0:
                begin = block.rfind(_NEWLINE, 0, at) + 1
                end = block.find(_NEWLINE, at)
                end = len(block) if end < 0 else end
                for piece in block[begin:end].split(b"\r"):
                    text = clean(piece)
                    if self.matches(text):
                        yield begin, text
                at = lowered.find(word, end)


def _scan_log(log: HealthyLog, matchers: Sequence[Matcher], scanned: Scan) -> None:
    for matcher in matchers:
        caught = next(matcher.lines_in(log.path, files_of(log.user)), None)
        if caught is not None:
            scanned.hits[matcher.id] = f"it matches a run that ended well: {caught}"


_MOST_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """`found` are lines of the given logs, `caught` the line of a healthy one, if any."""

    rule: str
    missed: tuple[str, ...]
    """Its own examples that it does not match."""
    found: tuple[str, ...]
    caught: str
    healthy_logs: int
    of: int

    @property
    def ok(self) -> bool:
        return not self.missed and not self.caught


def try_rules(
    rules: Sequence[LearnedRule],
    given: Sequence[Path],
    history: History,
    *,
    seconds: float = MOST_SECONDS,
    on_log: OnLog | None = None,
) -> list[Trial]:
    """A log that is given is not held against a rule, even if its run ended well."""
    scanned = scan(rules, healthy_logs(history, leave_out=given), seconds=seconds, on_log=on_log)
    return [
        Trial(
            rule=rule.id,
            missed=tuple(line for line in rule.positives if not matcher.matches(line)),
            found=tuple(
                line for log in given for line in islice(matcher.lines_in(log), _MOST_SHOWN)
            ),
            caught=scanned.hits.get(rule.id, ""),
            healthy_logs=scanned.logs,
            of=scanned.of,
        )
        for rule, matcher in ((rule, Matcher(rule)) for rule in rules)
    ]
