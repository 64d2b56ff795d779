"""Other ways to predict a job's duration, as baselines.

A method learns from ends and predicts at submissions; it never sees what had not ended by then.
"""

from __future__ import annotations

import math
import zlib
from bisect import insort
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from schedmate.advisor.predict.distributions import empirical, quantile
from schedmate.advisor.predict.jobs import EndedJob, Facts, replay
from schedmate.model import Spread

_RETRAIN_BY = 1.25
_FIRST = 200
_TEXTS = 3000
_SIMILAR = 0.7
_HASHES = 1024
_LEVELS = (0.1, 0.5, 0.9)


class Method(Protocol):
    def predict(self, facts: Facts) -> Spread | None: ...

    def ended(self, run: EndedJob) -> None: ...


class MedianBy:
    """The quantiles of all that ended with the same key, else of all."""

    def __init__(self, key: Callable[[Facts], object]) -> None:
        self._key = key
        self._times: dict[object, list[float]] = defaultdict(list)

    def predict(self, facts: Facts) -> Spread | None:
        times = self._times.get(self._key(facts)) or self._times.get(None)
        return Spread(*(_at(times, level) for level in _LEVELS)) if times else None

    def ended(self, run: EndedJob) -> None:
        for key in {self._key(run.facts), None}:
            insort(self._times[key], run.duration_s)


def _at(ordered: Sequence[float], level: float) -> float:
    return ordered[round(level * (len(ordered) - 1))]


class RecentBy:
    """The quantiles of the last thirty that ended with the same key, else of all."""

    def __init__(self, key: Callable[[Facts], object]) -> None:
        self._key = key
        self._times: dict[object, deque[float]] = defaultdict(lambda: deque(maxlen=30))
        self._all = MedianBy(lambda _: None)

    def predict(self, facts: Facts) -> Spread | None:
        times = self._times.get(self._key(facts))
        return empirical([*times]) if times else self._all.predict(facts)

    def ended(self, run: EndedJob) -> None:
        self._times[self._key(run.facts)].append(run.duration_s)
        self._all.ended(run)


class LastTwo:
    """The mean of the user's last two; as spread, the quantiles of the user's last thirty."""

    def __init__(self) -> None:
        self._times: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=30))
        self._all = MedianBy(lambda _: None)

    def predict(self, facts: Facts) -> Spread | None:
        times = self._times.get(facts.user)
        if not times:
            return self._all.predict(facts)
        last = [*times][-2:]
        middle, spread = sum(last) / len(last), empirical([*times])
        return Spread(min(spread.p10, middle), middle, max(spread.p90, middle))

    def ended(self, run: EndedJob) -> None:
        self._times[run.facts.user].append(run.duration_s)
        self._all.ended(run)


class Limit:
    """What was asked for; the spread is what past jobs used of it."""

    def __init__(self) -> None:
        self._shares: deque[float] = deque(maxlen=1000)

    def predict(self, facts: Facts) -> Spread | None:
        if facts.limit_s is None:
            return None
        shares = self._shares or [1.0]
        low, high = (facts.limit_s * quantile([*shares], level) for level in (0.1, 0.9))
        return Spread(min(low, facts.limit_s), facts.limit_s, max(high, facts.limit_s))

    def ended(self, run: EndedJob) -> None:
        if run.facts.limit_s:
            self._shares.append(run.duration_s / run.facts.limit_s)


class Trees:
    """LightGBM's quantiles of log time from the request, user and hour.

    Retrained whenever a quarter more has ended. A prediction depends on the last training and the
    job alone, so all jobs between two trainings are predicted at once.
    """

    def __init__(self, runs: Sequence[EndedJob]) -> None:
        self._ids: dict[tuple[str, str], int] = {}
        self._predicted: dict[str, Spread] = {}
        rows: list[list[float]] = []
        times: list[float] = []
        asked: list[Facts] = []
        models: list[Any] = []
        due = _FIRST
        for event in replay(runs):
            if event.kind == "end":
                rows.append(self._row(event.run.facts))
                times.append(event.run.duration_s)
            elif event.kind == "submit":
                if len(rows) >= due:
                    self._ask(models, asked)
                    models, due = _trained(rows, times), int(len(rows) * _RETRAIN_BY)
                asked.append(event.run.facts)
        self._ask(models, asked)

    def predict(self, facts: Facts) -> Spread | None:
        return self._predicted.get(facts.job_id)

    def ended(self, run: EndedJob) -> None:
        """The constructor has seen every end."""

    def _ask(self, models: Sequence[Any], asked: list[Facts]) -> None:
        if models and asked:
            rows = np.array([self._row(facts) for facts in asked])
            logs = np.sort([model.predict(rows) for model in models], axis=0)
            for facts, three in zip(asked, np.maximum(np.expm1(logs), 0.0).T, strict=True):
                self._predicted[facts.job_id] = Spread(*three.tolist())
        asked.clear()

    def _row(self, facts: Facts) -> list[float]:
        hours = facts.submitted_at / 3600
        numbers = [facts.gpus, facts.cpus, facts.nodes, facts.limit_s or math.nan, hours % 24]
        words = (("user", facts.user), ("partition", facts.partition), ("stem", facts.stem))
        ids = [self._ids.setdefault(each, len(self._ids)) for each in words]
        return [*numbers, hours // 24 % 7, *ids]


def _trained(rows: Sequence[Sequence[float]], times: Sequence[float]) -> list[Any]:
    import lightgbm  # noqa: PLC0415 - so that --fast needs none

    options = {"objective": "quantile", "verbose": -1, "num_threads": 1, "learning_rate": 0.1}
    words = list(range(len(rows[0]) - 3, len(rows[0])))
    data = lightgbm.Dataset(
        np.array(rows), np.log1p(times), categorical_feature=words, free_raw_data=False
    )
    return [lightgbm.train({**options, "alpha": level}, data, 80) for level in _LEVELS]


class Qssf:
    """After Helios' QSSF: 0.1 of the user's jobs of a similar name, 0.9 of the trees."""

    def __init__(self, trees: Trees) -> None:
        self._trees = trees
        self._times: dict[str, deque[tuple[str, float]]] = defaultdict(lambda: deque(maxlen=30))

    def predict(self, facts: Facts) -> Spread | None:
        spread = self._trees.predict(facts)
        similar = [
            seconds
            for name, seconds in self._times[facts.user]
            if not name or SequenceMatcher(None, name, facts.name).ratio() > _SIMILAR
        ]
        if spread is None or not similar:
            return spread
        weights = [0.8**age for age in range(len(similar))]
        rolling = float(np.average(similar[::-1], weights=weights))
        middle = 0.1 * rolling + 0.9 * spread.p50
        return Spread(min(spread.p10, middle), middle, max(spread.p90, middle))

    def ended(self, run: EndedJob) -> None:
        self._times[run.facts.user].append((run.facts.name, run.duration_s))


class NearestText:
    """The five nearest by TF-IDF of three letters of name and command, among the last 3,000."""

    def __init__(self) -> None:
        self._terms = np.zeros((_TEXTS, _HASHES), np.float32)
        self._times = np.zeros(_TEXTS)
        self._count = 0
        self._seen = np.zeros(_HASHES)

    def predict(self, facts: Facts) -> Spread | None:
        mine = _letters(facts)
        known = min(self._count, _TEXTS)
        if not mine.any() or not known:
            return None
        idf = np.log((1 + self._count) / (1 + self._seen)) + 0.1
        theirs = self._terms[:known] * idf.astype(np.float32)
        norms = np.linalg.norm(theirs, axis=1) + 1e-9
        nearest = np.argsort(-(theirs @ (mine * idf).astype(np.float32)) / norms, kind="stable")[:5]
        return empirical(self._times[nearest].tolist())

    def ended(self, run: EndedJob) -> None:
        place = self._count % _TEXTS
        self._terms[place] = _letters(run.facts)
        self._times[place] = run.duration_s
        self._seen += self._terms[place] > 0
        self._count += 1


def _letters(facts: Facts) -> NDArray[np.float32]:
    text = f"{facts.name} {facts.command}".lower().strip().encode()
    counts = np.zeros(_HASHES, np.float32)
    for at in range(len(text) - 2):
        counts[zlib.crc32(text[at : at + 3]) % _HASHES] += 1
    return counts
