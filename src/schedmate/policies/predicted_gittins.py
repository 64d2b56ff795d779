"""The Gittins index of each job's predicted run time: SchedMate's answer to policies that preempt.

A prediction is a distribution, and how long a job has run says where in it the job must be. The
index is the best rate at which a job may be expected to end from here; the highest for the fewest
GPUs goes first. A sure prediction makes this shortest remaining service first; an uncertain one
makes it least attained service; a job that outlives its prediction sinks by itself.

The run time is taken to be log-normal around the prediction, except for one job in seven, whose
prediction may be far off: without those, a job that outlives a sure prediction would be expected to
end at any moment for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import erf, sqrt

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.base import Answers, JobColumns, Policy, Tracked
from schedmate.policies.disciplines import UNKNOWN_S, Staged, Stages

Array = NDArray[np.float64]

_STEP = 0.1
_LEAST, _MOST = 0.1, 2.5
_FAR_OFF = 1 / 7
_FAR_OFF_SIGMA = 1.0
"""Added to log_sigma."""
_SHARES = np.array([0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99, 0.997])
"""Ages are looked at by which these shares of such jobs have ended."""
_GRID = 800


@dataclass(frozen=True, slots=True, eq=False)
class GittinsRanks:
    """For a job predicted to run for 1: from these ages on it has these ranks, the first from the
    start. A rank is the inverse of the index: low goes first."""

    ages: Array
    ranks: Array


AGES = len(_SHARES)


def ranks_of(log_sigma: float) -> GittinsRanks:
    """For the nearest tenth of log_sigma."""
    return _ranks(round(min(max(log_sigma, _LEAST), _MOST) / _STEP))


@cache
def _ranks(tenths: int) -> GittinsRanks:
    sigma = tenths * _STEP
    times = np.exp(np.linspace(-5.0, 6.0, _GRID) * (sigma + _FAR_OFF_SIGMA))
    ended = np.array([_ended_by(time, sigma) for time in times.tolist()])
    ages = np.interp(_SHARES, ended, times)
    ranks = [_rank(age, times, ended, sigma) for age in (0.0, *ages.tolist())]
    return GittinsRanks(ages, np.array(ranks))


def _rank(age: float, times: Array, ended: Array, sigma: float) -> float:
    """The least service for an end: what is expected over the chance, over all times to stop."""
    later = times > age
    stops = np.concatenate([[age], times[later]])
    share = np.concatenate([[_ended_by(age, sigma)], ended[later]])
    left = 1.0 - share
    service = np.cumsum((left[1:] + left[:-1]) / 2 * np.diff(stops))
    chance = np.maximum(share[1:] - share[0], 1e-12)
    return float(np.min(service / chance))


def _ended_by(time: float, sigma: float) -> float:
    if time <= 0.0:
        return 0.0
    close, far = _below(time, sigma), _below(time, sigma + _FAR_OFF_SIGMA)
    return (1 - _FAR_OFF) * close + _FAR_OFF * far


def _below(time: float, sigma: float) -> float:
    return 0.5 * (1.0 + erf(float(np.log(time)) / sigma / sqrt(2.0)))


_UNKNOWN_SIGMA = 2.0
"""The log_sigma of a job without a prediction."""
_LEAST_LEFT = 0.02
"""The share of a tracked run that is left at least: it ends when it ends."""


class PredictedGittins(Staged):
    name = "predicted-gittins"
    asks_for = frozenset({"duration"})

    def __init__(self, tracked: Tracked | None = None) -> None:
        self._tracked = tracked

    def stages(self, jobs: JobColumns) -> Stages:
        predicted = self._predicted(jobs)
        if self._tracked is None:
            return predicted
        return _with_logs(predicted, self._tracked, np.asarray(jobs.gpus, dtype=np.float64))

    def _predicted(self, jobs: JobColumns) -> Stages:
        expected = _or(jobs.expected, UNKNOWN_S)
        tenths = np.round(_or(jobs.log_sigma, _UNKNOWN_SIGMA), 1)
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        bounds = np.empty((len(gpus), AGES))
        keys = np.empty((len(gpus), AGES + 1))
        for log_sigma in np.unique(tenths).tolist():
            alike = tenths == log_sigma
            ranks = ranks_of(log_sigma)
            bounds[alike] = expected[alike, np.newaxis] * ranks.ages
            keys[alike] = (expected[alike] * gpus[alike])[:, np.newaxis] * ranks.ranks
        return Stages(bounds, keys)


def _with_logs(predicted: Stages, tracked: Tracked, gpus: Array) -> Stages:
    """A stage more, from the first line of the log on; from there on no job takes longer than its
    log shows, though it may well end before."""
    since = tracked.since_s[:, np.newaxis]
    bounds = np.sort(np.hstack([predicted.bounds, since]), axis=1)
    starts = np.insert(bounds, 0, 0.0, axis=1)
    from_log = starts >= since
    stage = np.arange(starts.shape[1]) - (starts > since)
    stage[from_log & (starts == since)] -= 1
    keys = np.take_along_axis(predicted.keys, np.maximum(stage, 0), axis=1)
    whole = tracked.whole_s[:, np.newaxis]
    left = np.maximum(whole - starts, _LEAST_LEFT * whole) * gpus[:, np.newaxis]
    return Stages(bounds, np.where(from_log, np.minimum(keys, left), keys))


def _or(values: object, otherwise: float) -> Array:
    known = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(known), otherwise, known)


class AnsweredByIndex(Policy):
    """A policy that orders by service: predictions and logs replace its order by the index."""

    @classmethod
    def answered(cls, answers: Answers) -> Policy:
        return PredictedGittins(answers.tracked) if answers.sure is not None else cls()
