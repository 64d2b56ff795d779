"""Each policy in the fewest words, with no thought of time."""

from __future__ import annotations

from collections.abc import Callable

from simulator.reference.clock import RefJob, Rule


def _free(running: list[RefJob], gpus: int) -> int:
    return gpus - sum(job.gpus for job in running)


def strict(key: Callable[[RefJob], float]) -> Rule:
    def rule(_second, waiting, running, gpus):
        chosen = list(running)
        for job in sorted(waiting, key=lambda j: (key(j), j.number)):
            if job.gpus > _free(chosen, gpus):
                break
            chosen.append(job)
        return chosen

    return rule


def first_fit(key: Callable[[RefJob], float]) -> Rule:
    def rule(_second, waiting, running, gpus):
        chosen = list(running)
        for job in sorted(waiting, key=lambda j: (key(j), j.number)):
            if job.gpus <= _free(chosen, gpus):
                chosen.append(job)
        return chosen

    return rule


def preemptive(key: Callable[[RefJob], float]) -> Rule:
    def rule(_second, waiting, running, gpus):
        chosen = []
        for job in sorted([*waiting, *running], key=lambda j: (key(j), j.number)):
            if job.gpus <= _free(chosen, gpus):
                chosen.append(job)
        return chosen

    return rule


def two_queues(_second, waiting, running, gpus):
    chosen = []
    for job in sorted([*waiting, *running], key=lambda j: (j.second_queue, j in waiting, j.number)):
        if job.gpus <= _free(chosen, gpus):
            chosen.append(job)
    return chosen


def _free_at(time: int, now: int, running: list[RefJob], gpus: int) -> int:
    """By plan; who outlived his is expected to end now."""
    return _free([j for j in running if max(now, j.last_start + j.planned) > time], gpus)


def easy(second, waiting, running, gpus):
    chosen = list(running)
    line = sorted(waiting, key=lambda j: j.number)
    while line and line[0].gpus <= _free(chosen, gpus):
        chosen.append(_as_if_started(line.pop(0), second))
    if not line:
        return chosen
    head, *others = line
    by = second
    while _free_at(by, second, chosen, gpus) < head.gpus:
        by += 1
    beside = _free_at(by, second, chosen, gpus) - head.gpus
    for job in others:
        in_time = second + job.planned <= by
        if job.gpus <= _free(chosen, gpus) and (in_time or job.gpus <= beside):
            chosen.append(_as_if_started(job, second))
            beside -= 0 if in_time else job.gpus
    return chosen


def conservative(second, waiting, running, gpus):
    horizon = sum(j.planned for j in [*waiting, *running]) + 2
    free = [_free_at(second + ahead, second, running, gpus) for ahead in range(horizon)]
    chosen = list(running)
    for job in sorted(waiting, key=lambda j: j.number):
        begin = next(
            ahead
            for ahead in range(horizon)
            if min(free[ahead : ahead + max(job.planned, 1)]) >= job.gpus
        )
        for ahead in range(begin, begin + job.planned):
            free[ahead] -= job.gpus
        if begin == 0 and job.gpus <= _free(chosen, gpus):
            chosen.append(job)
    return chosen


def _as_if_started(job: RefJob, second: int) -> RefJob:
    job.last_start = second
    return job


def _remaining(job: RefJob) -> int:
    return max(job.expected - job.served, 0)


RULES: dict[str, Rule] = {
    "fifo": strict(lambda job: job.submit),
    "first-fit": first_fit(lambda job: job.submit),
    "easy": easy,
    "conservative": conservative,
    "sjf": strict(lambda job: job.expected),
    "ssf": strict(lambda job: job.expected * job.gpus),
    "sjf first fit": first_fit(lambda job: job.expected),
    "ssf first fit": first_fit(lambda job: job.expected * job.gpus),
    "srtf": preemptive(_remaining),
    "srsf": preemptive(lambda job: _remaining(job) * job.gpus),
    "tiresias": two_queues,
}
