"""Which processes went on after an alarm: signs of life, and output that is none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from schedmate.handler.reading.lines import DIGITS, LogLine, clean
from schedmate.logs import opened, stamped_at

if TYPE_CHECKING:
    from collections.abc import Iterable

_STACK: Final = re.compile(
    r"\s{0,12}(?:"
    r"frame #\d{1,4}: "  # c10
    r"|#\d{1,4}:? {1,4}(?:0x|Object |Source )"  # gdb, backward
    r"|(?:PC: )?@ {1,20}0x[0-9a-f]{1,20}"  # glog
    r"|\[[\w.-]{1,80}:\d{1,9}\] \[ ?\d{1,3}\] "  # Open MPI
    r"|\S{1,200}\([\w+]{0,100}\)\s?\[0x[0-9a-f]{1,20}\]"  # backtrace_symbols
    r'|File "[^"]{1,300}", line \d{1,7} in '  # faulthandler
    r"|(?:Current t|T)hread 0x[0-9a-f]{1,20} "
    r"|Stack \(most recent call last\)"
    r"|Exception raised from .{0,300}\(most recent call first\)"
    r")"
)
_CLEARING_UP: Final = re.compile(
    r"\bSIG(?:TERM|KILL)\b|[Kk]illing subprocess|closing signal"
    r"|^(?:srun|slurmstepd|mpirun|mpiexec|wandb|ninja): "
    r"|torch[./]distributed[./]elastic|\[launch(?:er)?\.py:"
)
_SUMMARY: Final = re.compile(
    r"\s{0,4}(?:time|host|rank|exitcode|error_file|traceback) {1,12}: "
    r"|[=*-]{20,400}$|Root Cause \(first observed|Failures:$|\s{0,4}<NO_OTHER_FAILURES>"
    r"|\S{1,200} FAILED$"
)
"""torchrun's table of the ranks that failed."""


def is_stack(text: str) -> bool:
    """A call within a crash dump; the line above the dump shows what happened."""
    return _STACK.match(text) is not None


def is_clearing_up(text: str) -> bool:
    """What launchers print while they end the processes."""
    return _CLEARING_UP.search(text) is not None or _SUMMARY.match(text) is not None


_MOST_WATCHED: Final = 64
_LONG_ENOUGH: Final = 4 << 20
"""Bytes of others' lines after which a process that was silent so long counts as dead."""
_MOST_LINES: Final = 30
_FEW_BYTES: Final = 1000


@dataclass(slots=True)
class Survival:
    """Whether a process went on, shared by all its alarms since its last calm line."""

    went_on: bool = False


@dataclass(slots=True)
class _Watch:
    survival: Survival
    mark: bytes
    since: int


class LivenessWatch:
    def __init__(self) -> None:
        self._watched: dict[str, _Watch] = {}
        self._passed = 0

    @property
    def watching(self) -> bool:
        return bool(self._watched)

    def survival(self, line: LogLine, raw: bytes) -> Survival:
        """Watch the process that wrote this line."""
        watch = self._watched.get(line.stream)
        if watch is None:
            if len(self._watched) >= _MOST_WATCHED:
                del self._watched[next(iter(self._watched))]
            watch = self._watched[line.stream] = _Watch(Survival(), _mark(line, raw), self._passed)
        return watch.survival

    def calm(self, block: bytes, start: int, end: int) -> None:
        """Mark the writers of these calm lines as alive."""
        if not self._watched or start >= end:
            return
        if end - start < _FEW_BYTES:
            lines = block[start:end].split(b"\n")
            alive = {opened(text).stream for line in lines if (text := clean(line))}
        else:
            alive = {
                stream
                for stream, watch in self._watched.items()
                if _is_alive(watch.mark, block, start, end)
            }
        self._settle(alive, end - start)

    def _settle(self, alive: set[str], passed: int) -> None:
        for stream in alive & self._watched.keys():
            self._watched.pop(stream).survival.went_on = True
        self._passed += passed
        while self._watched:
            stream, watch = next(iter(self._watched.items()))
            if self._passed - watch.since <= _LONG_ENOUGH:
                break
            del self._watched[stream]


def _is_alive(mark: bytes, block: bytes, start: int, end: int) -> bool:
    if mark:
        return block.find(mark, max(0, start - 1), end) >= 0
    return _has_unmarked(block[start : min(end, start + (1 << 14))])


def _mark(line: LogLine, raw: bytes) -> bytes:
    """Bytes that its other lines have too; a time before the rank is different in each."""
    if not line.stream:
        return b""
    before = clean(raw).removesuffix(line.text).rstrip()
    if before.strip() == line.stream:
        return b"\n" + before.encode()
    return b" " + line.stream.rpartition(" ")[2].encode()


def _has_unmarked(lines: bytes) -> bool:
    for raw in lines.split(b"\n")[:_MOST_LINES]:
        text = clean(raw)
        if text and not opened(text).stream:
            return True
    return False


PROGRESS: Final = re.compile(
    r"\b(?:step|epoch|iter|iteration|batch|loss|round|episode)s?\b.{0,60}\d|\d(?:it/s|s/it)\b",
    re.IGNORECASE,
)
_SHORTEST: Final = 4
_ENOUGH: Final = 2
"""One line may have been in the pipe when the process died."""


class Routine:
    """The end of a log, line by line, beside what was usual before the first alarm in it."""

    def __init__(self, lines: Iterable[tuple[int, bytes]], first_alarm: int) -> None:
        written = [(number, raw) for number, raw in lines if len(raw.strip()) >= _SHORTEST]
        usual = {_template(raw) for number, raw in written if number < first_alarm}
        self._written = written
        self._all: list[int] = []
        self._of_stream: dict[str, list[int]] = {}
        for number, raw in written:
            if number <= first_alarm:
                continue
            text = clean(raw)
            for _ in range(_life_in(text, before=_template(raw) in usual)):
                self._all.append(number)
                self._of_stream.setdefault(opened(text).stream, []).append(number)

    @cached_property
    def _streams(self) -> Counter[str]:
        """Lines of each stream; asked for rarely."""
        return Counter(opened(clean(raw)).stream for _, raw in self._written)

    def goes_on_after(self, number: int, stream: str, *, raised: bool) -> bool:
        """Whether the process that writes this stream went on with it.

        A prefix that only one printed line has names no process: any line shows that it went on.
        """
        known = stream and (raised or self._streams[stream] > 1)
        usual = self._of_stream.get(stream, []) if known else self._all
        return len(usual) - bisect_right(usual, number) >= _ENOUGH


def _life_in(text: str, *, before: bool) -> int:
    """One usual line is enough where a logger wrote it: it was not late, it has a time."""
    if is_clearing_up(text) or is_stack(text):
        return 0
    progress = PROGRESS.search(text) is not None
    if not (before or progress) or (text[:1].isspace() and not (before and progress)):
        return 0
    return 1 if stamped_at(text) is None else _ENOUGH


def _template(raw: bytes) -> bytes:
    return raw.translate(None, DIGITS).strip()
