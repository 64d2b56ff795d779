"""The contract of a log format: one line in, what it says about progress out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Checkpoint, EndsBy, Phase, Unit

Ordinal = Literal["begun", "ended"]

MAX_COUNT = 1e15
"""No count in a log is larger; what is, is something else."""

NUMBER = r"[-+]?(?:\d{1,15}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?|nan|NaN|[-+]?inf"
_PADDED = r"(?:(?<=nan|inf)\.0{1,4})?"
"""Lightning pads `nan` to the width of a number."""
_PAIR = lazy_pattern(
    r"(?<![\w/.])([^\W\d][\w./@-]{0,39}(?: [A-Za-z_(][\w./@()-]{0,20}){0,3})"
    rf" ?[:=\uff1a] ?({NUMBER}){_PADDED}(?![\w:/]|\.\d|,\d{{3}}(?!\d))"
)
_PAIRS = lazy_pattern(r"^.{0,100}\d[^ /]?/[^ ]{0,12} ")
"""Counts that stand before a name and are no part of it: `it350/1583 loss=0.3`."""
_MAX_METRICS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one line says. Everything is as printed; nothing is derived from other lines."""

    unit: Unit | None = None
    current: float | None = None
    total: float | None = None
    """Without a current it is announced: so many units will be done, in all or per epoch."""
    series: str = ""
    """Which of several counts this is: a bar's description, without its numbers."""
    ordinal: Ordinal | None = None
    """Current names an epoch, perhaps from 0, that has begun or ended; None: it is a quantity."""
    epoch: float | None = None
    epochs: float | None = None
    per_epoch: bool = False
    """Current and total start anew with every epoch."""
    steps_per_epoch: float | None = None
    """Announced beside something else."""
    share: float | None = None
    """Per cent of the run that are done, printed beside a count without a total."""
    elapsed_s: float | None = None
    at: float | None = None
    """The time of day the line was written, where only its format knows how to read it."""
    rate_per_s: float | None = None
    eta_s: float | None = None
    """What the job itself says about the time left."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None
    phase: Phase | None = None
    """What the job is doing, where the line says so."""
    cap_s: float | None = None
    """The run will stop by itself after so many seconds of training."""
    ended_by: EndsBy | None = None
    """The line says that the run stops here, and why."""
    links: tuple[str, ...] = ()
    """Web pages of the run."""
    preliminary: bool = False
    """The line is of a phase that others follow: a warm-up, a burn-in."""
    confidence: float = 1.0
    """In what the numbers mean; less than 1 where a format reads by resemblance."""

    def checkpoint_seen(self, at: float | None) -> Checkpoint | None:
        """The one that its line tells of, which was seen then."""
        if self.checkpoint is None:
            return None
        saving = self.phase == "checkpointing"
        return replace(self.checkpoint, saved_at=at, saving=saving)


@dataclass(frozen=True, slots=True)
class Sample:
    """A line and what must be read from it; None: this is not of the format."""

    line: str
    sighting: Sighting | None


class LineFormat(Protocol):
    """`read` never raises, keeps no state and takes linear time on any text."""

    @property
    def name(self) -> str: ...

    @property
    def hints(self) -> tuple[str, ...]:
        """Lower-case pieces; a line that holds none of them is never of this format."""

    @property
    def samples(self) -> tuple[Sample, ...]: ...

    def read(self, line: str) -> Sighting | None: ...


def metrics_in(text: str, *, without: frozenset[str] = frozenset()) -> dict[str, float]:
    """All `name: 1.5` and `name=1.5` of a text, by normalised names."""
    found: dict[str, float] = {}
    for name, value in _PAIR.findall(text):
        key = metric_name(_PAIRS.sub("", name) if "/" in name else name)
        named = without.isdisjoint((key, key.rpartition("_")[2])) and not key.endswith(".py")
        if named and len(found) < _MAX_METRICS:
            found[key] = float(value)
    return found


def metric_name(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


_CLOCK = lazy_pattern(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{2})(?!\d)")


def clock_seconds(text: str) -> float | None:
    """`[H:]MM:SS` as seconds."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    return int(hours or 0) * 3600.0 + int(minutes) * 60.0 + int(seconds)


SPAN = r"(?:\d{1,6} days?, )?\d{1,6}:\d{2}:\d{2}"
"""How Python prints a timedelta of whole seconds."""
_SPAN = lazy_pattern(r"(?:(\d{1,6}) days?, )?(\d{1,6}:\d{2}:\d{2})")
_FASTEST_S = 1e-9


def span_seconds(text: str) -> float | None:
    """`[N day[s], ]H:MM:SS` as seconds."""
    found = _SPAN.fullmatch(text)
    seconds = None if found is None else clock_seconds(found[2])
    if found is None or seconds is None:
        return None
    return int(found[1] or 0) * 86_400.0 + seconds


def counted(current: str, total: str) -> tuple[float, float] | None:
    """A count and its total, where these digits can be that."""
    done, all_of_it = float(current), float(total)
    return (done, all_of_it) if done <= all_of_it and 0 < all_of_it < MAX_COUNT else None


def rate_of(seconds_each: float | None) -> float | None:
    """How many a second, where one takes so long."""
    if seconds_each is None or not _FASTEST_S < seconds_each < MAX_COUNT:
        return None
    return 1 / seconds_each
