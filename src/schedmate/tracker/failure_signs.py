"""What a log shows of a failure: early warnings of a running job, and an end only failures have."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import EarlyWarning
from schedmate.tracker.doomed_signs import LossSigns, SaveSigns, may_concern

if TYPE_CHECKING:
    from schedmate.tracker.formats import Sighting

_MAX_TEXT = 200
_LOOKED_AT = 800
_NEARLY_ALL = r"(?:9[5-9]|100)(?:\.\d{1,4})?"
_NAN_REPORTS = 3
"""Loss scalers skip a step or two with NaN and are well; it has to go on."""
_OVERFLOWS = 5
_LOSS = lazy_pattern(r"(?:^|[/_. -])loss(?:$|[/_. -])", re.IGNORECASE)

_WORDS: dict[str, tuple[str, str]] = {
    "gpu_oom": (
        (
            r"\b(?:cuda|gpu|hip|device)\b.{0,80}out of memory|\boom\b.{0,80}\b(?:skip|retry|reduc)"
            r"|out of memory.{0,120}\b(?:skip|retry|reduc|trying)|allocator cache flushes since"
        ),
        "ran out of GPU memory {times} and went on",
    ),
    "host_oom": (
        rf"\b(?:ram|(?:host|system) memory)\b.{{0,40}}\b{_NEARLY_ALL} ?%|memory pressure",
        "the host's memory is nearly used up",
    ),
    "disk_full": (
        (
            rf"no space left on device|\bdisk\b.{{0,40}}\b{_NEARLY_ALL} ?%"
            r"|disk (?:is )?(?:nearly |almost )?full|low (?:on )?disk space|low disk"
            r"|running (?:out of|low on) (?:disk|space)|almost out of (?:disk )?space"
        ),
        "the disk is full or nearly so",
    ),
    "loss_nan": (
        r"(?:overflow|nan|inf)\b.{0,80}\b(?:skipp|reduc)|loss scale.{0,40}(?:reduc|decreas)",
        "gradients overflowed {times}",
    ),
    "gpu_hardware": (
        (
            r"\bnvrm: xid\b|uncorrectable ecc|fallen off the bus|nvlink.{0,40}\berror"
            r"|thermal (?:slowdown|throttl)"
        ),
        "the driver reports trouble with a GPU",
    ),
    "storage_io": (
        (
            r"\b(?:nfs|lustre|server)\b.{0,60}not responding|stale file handle"
            r"|(?:failed|could not|unable) to (?:save|write).{0,40}(?:checkpoint|ckpt)"
        ),
        "writing to the file system fails or hangs",
    ),
}
_PATTERNS = {reason: lazy_pattern(words, re.IGNORECASE) for reason, (words, _) in _WORDS.items()}
_ANY = lazy_pattern(
    "|".join(words.replace(_NEARLY_ALL, r"[\d.]{0,8}") for words, _ in _WORDS.values()),
    re.IGNORECASE,
)


def may_warn(text: str) -> bool:
    """Whether lines that differ from this one only in their digits may warn of something."""
    return _ANY.search(text[:_LOOKED_AT]) is not None or may_concern(text)


@dataclass(slots=True)
class Occurrence:
    """`line` counts the lines that were read; `text` is the newest one."""

    times: int
    line: int
    text: str


@dataclass(slots=True)
class WarningSigns:
    """What warned so far and was survived."""

    seen: dict[str, Occurrence] = field(default_factory=dict)
    no_number: dict[str, int] = field(default_factory=dict)
    """How many reports of a loss in a row gave no number."""
    loss: LossSigns = field(default_factory=LossSigns)
    saves: SaveSigns = field(default_factory=SaveSigns)

    def see(self, text: str, line: int) -> None:
        self.saves.see_line(text[:_LOOKED_AT], line)
        for reason, pattern in _PATTERNS.items():
            if pattern.search(text[:_LOOKED_AT]):
                before = self.seen.get(reason)
                times = 1 if before is None else before.times + 1
                self.seen[reason] = Occurrence(times, line, text[:_MAX_TEXT])
                return

    def follow(self, text: str, line: int) -> None:
        """Any line, which may tell how that goes on which was seen before."""
        if self.loss.is_open:
            self.loss.see_line(text)
        if self.saves.is_fresh(line):
            self.saves.see_what_follows(text)

    def report(
        self, sighting: Sighting, epoch: float | None, text: str, line: int, counts: int
    ) -> None:
        """What one line counts and measures."""
        self.saves.report(sighting, line, counts)
        if sighting.metrics:
            self.loss.report(sighting, epoch, text)
        for name, value in sighting.metrics.items():
            self._note_value(name, value)

    def _note_value(self, name: str, value: float) -> None:
        if not _LOSS.search(name):
            return
        if math.isfinite(value):
            self.no_number.pop(name, None)
        else:
            self.no_number[name] = self.no_number.get(name, 0) + 1

    def warnings(self, *, one_of_many: bool = False) -> list[EarlyWarning]:
        """Firm ones first; `one_of_many`: the log counts trials, each of which begins anew."""
        firm = (self.loss.warning(one_of_many=one_of_many), self.saves.warning())
        found = [one for one in firm if one is not None]
        found += [
            EarlyWarning(reason="loss_nan", text=f"{name} has been no number {_times(count)}")
            for name, count in self.no_number.items()
            if count >= _NAN_REPORTS
        ]
        lost = any(one.reason == "loss_nan" for one in found)
        for reason, one in self.seen.items():
            if reason == "loss_nan" and (lost or one.times < _OVERFLOWS):
                continue
            words = _WORDS[reason][1].format(times=_times(one.times))
            found.append(EarlyWarning(reason=reason, text=words, line=one.text))
        return found


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


_TRACEBACK = "Traceback (most recent call last)"
_KILLED = lazy_pattern(r"slurmstepd: error: \*{3} (?:JOB|STEP) \S{1,60} ON .{1,200}? CANCELLED AT ")
_INDENTED = lazy_pattern(r"(?:\[?(?:rank)?\d{1,6}\]?:)?\s")
_MAX_AFTER = 25
"""Launchers add this many lines of their own after a worker's traceback; a run that goes on
after a caught exception soon writes more."""


@dataclass(slots=True)
class FatalEnding:
    """Fed with every line; a line of progress proves that the run survived."""

    lines_since: int | None = None
    """So many lines after the last traceback."""
    killed: bool = False

    @property
    def failed(self) -> bool:
        raised = self.lines_since is not None and self.lines_since <= _MAX_AFTER
        return raised or self.killed

    def see(self, line: str) -> None:
        if _TRACEBACK in line:
            self.lines_since = 0
        elif "slurmstepd" in line and _KILLED.search(line[:1000]):
            self.killed = True
        elif self.lines_since is not None and not _INDENTED.match(line):
            self.lines_since += 1

    def progressed(self) -> None:
        self.lines_since, self.killed = None, False
