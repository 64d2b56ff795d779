"""Which nodes fail other users' jobs, and with what probability.

Every node has odds of being faulty. A failure that looks like hardware raises them by how much
likelier it is on a faulty node than on the others of this cluster; time that jobs of that size
spent there unharmed lowers them. Evidence fades, repetitions by the same user count less, and
when many nodes fail at once it is not the nodes. A pure function of the runs and the time.

A job's output proves nothing: any job can print an ECC error. What only a job's own log shows is
worth little per user, nothing for a user without a success elsewhere, and makes a node suspect
only when several different users report it. The scheduler's word and system logs count in full.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from schedmate.model import JobState, NodeRun
from schedmate.model.diagnosis import Reporter
from schedmate.model.nodes import may_be_at_fault

SUSPECT_FROM: Final = 0.5
"""A node is called suspect from this probability on."""
WINDOW_S: Final = 30 * 86400.0
"""What is older is not looked at."""

HARDWARE_LIKE: Final[dict[str, float]] = {
    "gpu_ecc": 1.0,
    "gpu_lost": 1.0,
    "gpu_hardware": 1.0,
    "nvlink": 0.9,
    "node_failure": 0.9,
    "network": 0.6,
    "driver_mismatch": 0.4,
    "nccl_timeout": 0.3,
    "nccl_remote": 0.3,
    "hang": 0.3,
    "cuda_error": 0.2,
    "storage_io": 0.2,
    "cuda_illegal_access": 0.1,
    "segfault": 0.1,
    "killed": 0.05,
    "dataloader_killed": 0.05,
}
"""How likely a failure of that reason is a node's fault."""

_HOUR: Final = 3600.0
_PRIOR: Final = math.log(0.01 / 0.99)
"""Without evidence one node in a hundred is taken to be faulty."""
_FAULTY_RATE: Final = 1 / 12
"""Failures an hour that a faulty node adds."""
_AT_ONCE: Final = 0.2
"""How often a faulty node fails a job as soon as it starts."""
_USUAL_HOURS: Final = 3000.0
"""Node-hours between failures of healthy nodes, before this cluster has shown its own rate."""
_HALF_LIFE_S: Final = 7 * 86400.0
_NEGLIGIBLE: Final = 1e-6
_SUREST: Final = 0.95
"""No single failure makes surer than that."""
_SAME_USER: Final = 0.3
"""What each further failure of the same user is worth of the one before."""
_SAME_JOB: Final = 0.25
_ONE_USERS_LOGS: Final = 1.5
"""How far all that one user's logs show may raise the odds: not by a third of what it takes, so
that two users who agree, and a third who fails there by chance, do not make a node suspect."""
_REAL_WORK_S: Final = 600.0
"""A run that ended well elsewhere and took so long shows that a user's jobs are real."""
_STORM_S: Final = 1800.0
_SHOWN: Final = 10
_BASE: Final = re.compile(r"[_+.]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """One failure held against a node; `weight` is how far it raised the log odds."""

    job_id: str
    user: str
    reason: str
    at: float
    shared: int
    """How many nodes could have been the one."""
    reported_by: Reporter = "job"
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    node: str
    probability: float
    failures: int = 0
    successes: int = 0
    users: int = 0
    """Different users whose failures are held against it."""
    evidence: tuple[Against, ...] = ()
    """The newest ten, newest first."""

    @property
    def suspect(self) -> bool:
        return self.probability >= SUSPECT_FROM


@dataclass(slots=True)
class _Node:
    odds: float = _PRIOR
    updated_at: float = 0.0
    size: int = 0
    """GPUs that the largest job had on it which failed."""
    successes: int = 0
    by_user: Counter[str] = field(default_factory=Counter)
    from_logs: dict[str, float] = field(default_factory=dict)
    """How far each user's logs have raised the odds."""
    jobs: set[str] = field(default_factory=set)
    against: list[Against] = field(default_factory=list)

    def fade(self, now: float) -> None:
        faded = 0.5 ** (max(0.0, now - self.updated_at) / _HALF_LIFE_S)
        self.odds, self.updated_at = (
            _PRIOR + (self.odds - _PRIOR) * faded,
            max(now, self.updated_at),
        )
        self.from_logs = {user: raised * faded for user, raised in self.from_logs.items()}

    def clear(self, run: NodeRun) -> None:
        """A job that used as much of the node as the failed ones ran on it without a failure.

        No node earns more trust than one of which nothing is known: health is not for ever.
        """
        alike = min(1.0, (_per_node(run) + 1) / (self.size + 1))
        survived = _FAULTY_RATE * _hours(run) - math.log1p(-_AT_ONCE)
        self.odds = max(_PRIOR, self.odds - alike * survived)
        self.successes += run.state is JobState.COMPLETED

    def accuse(self, run: NodeRun, weight: float, shared: int) -> None:
        job = _BASE.split(run.job_id, maxsplit=1)[0]
        weight *= _SAME_USER ** self.by_user[run.user] * (_SAME_JOB if job in self.jobs else 1)
        if not _is_grounded(run):
            before = self.from_logs.get(run.user, 0.0)
            weight = min(weight, _ONE_USERS_LOGS - before)
            self.from_logs[run.user] = before + weight
        self.by_user[run.user] += 1
        self.jobs.add(job)
        self.size = max(self.size, _per_node(run))
        self.odds += weight
        self.against.append(
            Against(
                job_id=run.job_id,
                user=run.user,
                reason=_reason(run),
                at=run.ended_at,
                shared=shared,
                reported_by=_reporter(run),
                weight=round(weight, 3),
            )
        )

    def as_suspicion(self, name: str) -> Suspicion:
        return Suspicion(
            node=name,
            probability=round(1 / (1 + math.exp(-self.odds)), 3),
            failures=len(self.against),
            successes=self.successes,
            users=len(self.by_user),
            evidence=tuple(reversed(self.against[-_SHOWN:])),
        )


def suspicions(runs: Iterable[NodeRun], now: float) -> dict[str, Suspicion]:
    """The suspicion of every node that ran a job in the last weeks."""
    recent = sorted(
        (run for run in runs if run.nodes and now - WINDOW_S <= run.ended_at <= now),
        key=lambda run: (run.ended_at, run.job_id),
    )
    base = _BaseRate(recent)
    working = _Workers(recent)
    nodes: dict[str, _Node] = defaultdict(_Node)
    for run in recent:
        hardware_share = _hardware_share(run)
        accused = _accused(run) if hardware_share else ()
        for name in dict.fromkeys(run.nodes):
            node = nodes[name]
            node.fade(run.ended_at)
            if name in accused:
                weight = _weight(hardware_share, base.around(run, name), len(accused))
                if not (_is_grounded(run) or working.elsewhere(run.user, name)):
                    weight = 0.0
                node.accuse(run, weight, len(accused))
            elif hardware_share or _survived(run):
                node.clear(run)
    for node in nodes.values():
        node.fade(now)
    return {name: node.as_suspicion(name) for name, node in sorted(nodes.items())}


def _weight(hardware_share: float, base_rate: float, shared: int) -> float:
    """How far a failure raises the odds of one of the nodes that share it.

    By how much oftener a faulty node fails than the others do, but no further than the reason
    itself allows: a collective that timed out is seven times in ten the code's own fault.
    """
    if hardware_share < _NEGLIGIBLE:
        return 0.0
    by_rate = math.log1p(hardware_share * _FAULTY_RATE / (base_rate * shared))
    share = min(hardware_share, _SUREST) / shared
    by_reason = math.log(share / (1 - share)) - _PRIOR
    return max(0.0, min(by_rate, by_reason))


class _BaseRate:
    """How often the rest of the cluster fails like hardware, an hour and a node."""

    def __init__(self, runs: Sequence[NodeRun]) -> None:
        failed = [(run, _hardware_share(run)) for run in runs if _hardware_share(run)]
        self._hours = sum(_hours(run) * len(run.nodes) for run in runs)
        self._weights = sum(hardware_share for _, hardware_share in failed)
        self._of_node: dict[str, float] = defaultdict(float)
        self._nodes = len({node for run in runs for node in run.nodes}) or 1
        self._times = [run.ended_at for run, _ in failed]
        self._hardware_share = [hardware_share for _, hardware_share in failed]
        self._failed = [run for run, _ in failed]
        for run, hardware_share in failed:
            for node in (accused := _accused(run)):
                self._of_node[node] += hardware_share / len(accused)

    def around(self, run: NodeRun, node: str) -> float:
        """In all, or in the hour around this failure where that was worse for the others."""
        others = max(0.0, self._weights - self._of_node[node])
        usual = (others + 1) / (self._hours + _USUAL_HOURS)
        first = bisect_left(self._times, run.ended_at - _STORM_S)
        last = bisect_right(self._times, run.ended_at + _STORM_S)
        storm = sum(
            self._hardware_share[at]
            for at in range(first, last)
            if node not in self._failed[at].nodes and self._failed[at].job_id != run.job_id
        )
        return max(usual, storm / (self._nodes * 2 * _STORM_S / _HOUR))


class _Workers:
    """Users whose jobs do real work, and on which nodes."""

    def __init__(self, runs: Sequence[NodeRun]) -> None:
        self._nodes: dict[str, set[str]] = defaultdict(set)
        for run in runs:
            if run.state is JobState.COMPLETED and run.ended_at - run.started_at >= _REAL_WORK_S:
                self._nodes[run.user] |= set(run.nodes)

    def elsewhere(self, user: str, node: str) -> bool:
        return bool(self._nodes.get(user, set()) - {node})


def _reporter(run: NodeRun) -> Reporter:
    """A NODE_FAIL state is the scheduler's report, whatever the log shows."""
    return "scheduler" if run.state is JobState.NODE_FAIL else run.reported_by


def _is_grounded(run: NodeRun) -> bool:
    return _reporter(run) != "job"


def _reason(run: NodeRun) -> str:
    return run.reason or ("node_failure" if run.state is JobState.NODE_FAIL else "")


def _hardware_share(run: NodeRun) -> float:
    """How much this failure looks like a node's fault; 0 for what is none."""
    if run.state in (JobState.COMPLETED, JobState.CANCELLED) and not run.reason:
        return 0.0
    if not any(may_be_at_fault(node, _reason(run)) for node in run.nodes):
        return 0.0
    sure = run.confidence if run.reason else 1.0
    return HARDWARE_LIKE.get(_reason(run), 0.0) * sure


def _accused(run: NodeRun) -> tuple[str, ...]:
    named = tuple(node for node in dict.fromkeys(run.nodes) if node in run.blamed)
    return named or tuple(dict.fromkeys(run.nodes))


def _survived(run: NodeRun) -> bool:
    """Whether the nodes did their part: it ended well, by the clock, by a wish or its own fault."""
    return run.state in (JobState.COMPLETED, JobState.CANCELLED, JobState.TIMEOUT) or (
        run.reason not in ("", "unknown") and run.reason not in HARDWARE_LIKE
    )


def _hours(run: NodeRun) -> float:
    return max(0.0, run.ended_at - run.started_at) / _HOUR


def _per_node(run: NodeRun) -> int:
    return run.gpus // max(1, len(run.nodes))
