"""How well any predictor could rank the jobs of each window that has to learn how fast code runs.

    python -m bench.proof.ranking_ceiling                 # nine windows, one of each cluster
    python -m bench.proof.ranking_ceiling --sites theta   # one

Rank and share of the variance explained as in bench/proof/ranking.py, of one job in three, code
that explains half of the variance. `stated` knows the true pace of each code, `read` as well but
only where the length is read; `paces` learns the paces from the runs that have ended, knowing
exactly which project, copy, version and user each run is of and how much these differ (the best
linear unbiased prediction); `drawn` does that together with how users' and late times differ, by
one Gaussian process of the model that the workload was drawn by. `+ past` is joined with the site's
model by weights that fit the window best, which can only be known afterwards.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.command import command_line, machine
from bench.proof.predictions import KeptKnowledge
from bench.proof.ranking import Ranked, ranked
from bench.proof.settings import Window, all_sites, setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

NAMES = ("stated", "read", "read + past", "paces", "paces + past", "drawn", "semantic")
_EVERY = 3
_LATE, _OF_THE_PROJECT = 350, 150
_PROJECTS, _COPIES, _VERSIONS, _GPUS, _BATCH = 4.0, 0.36, 0.04, 0.09, 0.04
"""Variances of the logarithm of the pace; of the last two by each unit of their logarithm."""
_NOISE = 0.5
"""What is left of the variance of log run times, where code explains half."""
_SITE, _USERS, _LATELY, _REQUESTS = 0.05, 0.1, 0.15, 0.1
_SITE_JOBS, _LATE_JOBS = 100.0, 20.0
"""After so many submissions the site, and what a user does lately, have changed."""
_UNREAD = 0.1


@dataclass(frozen=True, slots=True)
class _Past:
    """All jobs of a setting, the window last, with what only their drawing knows."""

    log_s: Floats
    length: Floats
    """The logarithm; 0 where none is read."""
    read: NDArray[np.bool_]
    known_at: Floats
    submit: Floats
    codes: Places
    """Project, copy, version and user of each."""
    gpus: Floats
    batch: Floats

    def known(self, job: int) -> Places:
        """Those that had ended as it was submitted, the last end last."""
        order = np.argsort(self.known_at, kind="stable")
        return np.asarray(order[self.known_at[order] < self.submit[job]])


def _past(window: Window) -> tuple[_Past, Floats, dict[str, Floats]]:
    """And the stated times, and what is predicted of the window."""
    drawn = setting(window)
    knowledge = KeptKnowledge(drawn, window)
    past, workload, columns = drawn.past, drawn.workload, drawn.columns
    known_at = knowledge.known_at
    if past is not None and past.workload is not None:
        workload, columns = past.workload, past.columns
        known_at = np.concatenate([past.known_at, known_at])
    if workload is None:
        raise SystemExit("a setting of the proof has a workload")
    sub = workload.submission
    read = np.isfinite(sub.read_length)
    copies = sub.project * 1_000_000 + sub.copy
    codes = np.array([sub.project, copies, copies * 10_000 + sub.version, columns.user.codes])
    found = _Past(
        log_s=np.log(np.maximum(columns.duration, 1.0)),
        length=np.log(np.where(read, sub.read_length, 1.0)),
        read=read,
        known_at=known_at,
        submit=columns.submit,
        codes=codes,
        gpus=np.log(np.maximum(columns.gpus, 1)),
        batch=np.log(sub.batch),
    )
    predicted = {name: np.log(knowledge.of(name).p50) for name in ("site_model", "semantic")}
    return found, np.log(workload.stated_s), predicted


def _covariance(past: _Past, jobs: Places, variance: float, *, history: bool) -> Floats:
    """Between the paces of jobs that are read, and between the times of those that are not."""
    same = past.codes[:, jobs, None] == past.codes[:, None, jobs]
    read = np.outer(past.read[jobs], past.read[jobs])
    slopes = _GPUS * np.outer(past.gpus[jobs], past.gpus[jobs])
    slopes = slopes + _BATCH * np.outer(past.batch[jobs], past.batch[jobs])
    paces = read * (same[0] * (_PROJECTS + slopes) + same[1] * _COPIES + same[2] * _VERSIONS)
    if not history:
        return np.asarray(paces)
    apart = np.abs(np.subtract.outer(jobs, jobs))
    asked = past.gpus[jobs][:, None] == past.gpus[jobs]
    users = _USERS + _LATELY * np.exp(-apart / _LATE_JOBS) + _REQUESTS * asked
    times = variance * (_SITE * np.exp(-apart / _SITE_JOBS) + same[3] * users)
    share = np.where(past.read[jobs], _NOISE, 1.0)  # the stated time has the rest of it
    unread = ~past.read[jobs]
    codes = _UNREAD * variance * np.outer(unread, unread) * (same[1] + same[0] / 2)
    return np.asarray(paces + times * np.outer(share, share) + codes)


def _predicted(past: _Past, job: int, *, history: bool) -> float:
    known = past.known(job)
    if not (history or past.read[job]) or not len(known):
        return float("nan")
    project = known[past.codes[0, known] == past.codes[0, job]]
    late = known[-_LATE:]
    variance, usual = max(float(past.log_s[late].var()), 0.05), float(past.log_s[late].mean())
    runs = np.union1d(late, project[-_OF_THE_PROJECT:]) if history else project[past.read[project]]
    jobs = np.append(runs, job)
    among = _covariance(past, jobs, variance, history=history)
    mean = np.full(len(jobs), usual)
    for each in np.unique(past.codes[0, jobs]):
        members = past.read[jobs] & (past.codes[0, jobs] == each)
        mean[members] = usual - past.length[jobs[members]].mean() if members.any() else usual
    noise = variance * np.where(past.read[runs], _NOISE, 1 - _SITE - _USERS - _LATELY - _REQUESTS)
    off = past.log_s[runs] - past.length[runs] - mean[:-1]
    weights = np.linalg.solve(among[:-1, :-1] + np.diag(noise), off)
    return float(mean[-1] + among[-1, :-1] @ weights + past.length[job])


def _in_hindsight(voices: list[Floats], log_s: Floats) -> Floats:
    """The line through them that fits best; one that says nothing of a job stands at its mean."""
    rows = [np.ones(len(log_s))]
    for each in voices:
        said = np.isfinite(each)
        rows += [np.where(said, each - each[said].mean(), 0.0), said.astype(float)]
    line = np.linalg.lstsq(np.array(rows).T, log_s, rcond=None)[0]
    return np.asarray(np.array(rows).T @ line)


def rank_window(window: Window) -> dict[str, Ranked]:
    past, stated, predicted = _past(window)
    first = len(past.log_s) - len(predicted["semantic"])
    jobs = np.arange(first, len(past.log_s), _EVERY)
    log_s, site = past.log_s[jobs], predicted["site_model"][::_EVERY]
    read = np.where(past.read[jobs], stated[jobs], np.nan)
    paces = np.array([_predicted(past, job, history=False) for job in jobs.tolist()])
    voices = {
        "stated": stated[jobs],
        "read": read,
        "read + past": _in_hindsight([read, site], log_s),
        "paces": paces,
        "paces + past": _in_hindsight([paces, site], log_s),
        "drawn": np.array([_predicted(past, job, history=True) for job in jobs.tolist()]),
        "semantic": predicted["semantic"][::_EVERY],
    }
    alike = np.ones(len(jobs))
    return {name: ranked(np.exp(voices[name]), np.exp(log_s), alike) for name in NAMES}


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--sites", default="", help="names, instead of the development clusters")
    arguments: Any = parser.parse_args()
    began, chosen = time.monotonic(), arguments.sites.split(",")
    sites = [
        site.name
        for site in all_sites()
        if (site.name in chosen if arguments.sites else not site.held_out)
    ]
    print(f"{'r2 / rank':24}" + "".join(f"{name:>14}" for name in NAMES))
    rows = []
    for window in (
        Window(site=site, seed=int(seed)) for site in sites for seed in arguments.seeds.split(",")
    ):
        found = rank_window(window)
        rows.append([(found[name].explained, found[name].rank) for name in NAMES])
        cells = "".join(f"{f'{one:.2f} / {other:.2f}':>14}" for one, other in rows[-1])
        print(f"{window.site:20} {window.seed:3}{cells}", flush=True)
    cells = "".join(f"{f'{one:.2f} / {other:.2f}':>14}" for one, other in np.mean(rows, axis=0))
    print(f"{'mean':24}{cells}\n\n{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()
