"""How well a log in an unknown format is understood, by the truth about every line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO

from bench.corpora.unknown_formats.labels import Line, Log, Truth, written
from schedmate.model import Asker, ModelError
from schedmate.tracker import track_stream
from schedmate.tracker.unknown import Learner, ask
from schedmate.tracker.unknown.pattern import read_with

_NEWEST = 16
_BELIEVED = 0.5
"""A total with more confidence than this is shown as true."""


@dataclass(frozen=True, slots=True)
class Score:
    """How one log was understood."""

    name: str
    step: bool
    total: bool
    wrong_total: bool
    """A total that is not the truth's."""
    confidence: float
    shown: str
    """What was read, for the report."""

    @property
    def right(self) -> bool:
        return self.step and self.total

    @property
    def harmful(self) -> bool:
        return self.wrong_total and self.confidence > _BELIEVED


def score_learner(log: Log, asker: Asker | None = None) -> Score:
    learner, lines = Learner(), written(log)
    believed = 0.0, 0.0
    for order, line in enumerate(lines):
        text, truths = _parts(line)
        seen = learner.feed(text, order, None)
        learner.replay()
        if seen and seen.total and not any(_same(seen.total, truth[1]) for truth in truths):
            believed = max(believed, (learner.confidence, seen.total))
    if asker is not None:
        settle(learner, asker)
    return _score(log.__name__, learner, lines, believed)


def score_tracker(log: Log) -> Score:
    """The same through the whole tracker, where exact formats read what they know."""
    lines = written(log)
    data = "\n".join([*(_parts(line)[0] for line in lines), ""]).encode()
    seen = track_stream(BytesIO(data), name=log.__name__)
    truths = [truth for line in lines for truth in _parts(line)[1]]
    shown = f"{seen.current}/{seen.total} {seen.unit} by {seen.format}"
    if not truths:
        fine = seen.current is None or seen.confidence <= _BELIEVED
        return Score(log.__name__, fine, fine, seen.total is not None, seen.confidence, shown)
    step = any(_same(seen.current, truth[0]) for truth in truths[-_NEWEST:])
    total = any(_same(seen.total, truth[1]) for truth in truths)
    wrong = seen.total is not None and not total
    return Score(log.__name__, step, total, wrong, seen.confidence, shown)


def _parts(line: Line) -> tuple[str, tuple[Truth, ...]]:
    return (line, ()) if isinstance(line, str) else (line[0], line[1:])


def settle(learner: Learner, asker: Asker) -> None:
    question = learner.question()
    if question is None:
        return
    with suppress(ModelError):
        learner.settle(question, ask(question, asker).value)


def _score(name: str, learner: Learner, lines: list[Line], believed: tuple[float, float]) -> Score:
    """By the newest line that it reads, which must be one of the newest quarter."""
    seen = None
    truths: tuple[Truth, ...] = ()
    for line in reversed(lines[-max(8, len(lines) // 4) :]):
        text, truths = _parts(line)
        seen = read_with(learner.pattern, text) if learner.pattern else None
        if seen is not None:
            break
    if seen is None or seen.current is None:
        has_progress = any(_parts(line)[1] for line in lines)
        fine = not has_progress and learner.confidence <= _BELIEVED
        return Score(name, fine, fine, believed[0] > _BELIEVED, believed[0], "-")
    if not any(_parts(line)[1] for line in lines) and learner.confidence <= _BELIEVED:
        return Score(name, True, True, False, learner.confidence, "a guess")
    shown = f"{seen.current:g}/{seen.total and f'{seen.total:g}'} {seen.unit}"
    fitting = [truth for truth in truths if _same(seen.current, truth[0])]
    step = bool(fitting)
    total = any(_same(seen.total, truth[1]) for truth in fitting)
    wrong = seen.total is not None and not any(_same(seen.total, t[1]) for t in truths)
    if believed[0] > _BELIEVED:
        return Score(name, step, total, True, believed[0], f"{shown}, was {believed[1]:g}")
    return Score(name, step, total, wrong, learner.confidence, shown)


def _same(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return abs(one - two) <= 1e-9 + 1e-6 * abs(two)
