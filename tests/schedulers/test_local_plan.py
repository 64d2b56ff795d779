"""Which waiting jobs start: order, reservation, backfill, cores."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import pytest

from schedmate.model import JobState, Request
from schedmate.schedulers.local.entry import QueueEntry
from schedmate.schedulers.local.plan import Machine, expected_end, in_order, plan

NOW = 10_000.0


@dataclass(frozen=True)
class Gpu:
    name: str


def choose(entry, free):
    wanted = entry.request.gpus
    return tuple(one.name for one in free[:wanted]) if len(free) >= wanted else None


def machine(gpus=8, cores=64):
    devices = [Gpu(str(number)) for number in range(gpus)]
    return Machine(devices, devices, cores, choose)


def job(number, gpus=1, *, limit=None, predicted=None, cpus=None, **parts):
    usual = {
        "name": "job",
        "user": "ada",
        "workdir": "/",
        "command": (),
        "script": None,
        "request": Request(gpus=gpus, time_limit_s=limit, cpus=cpus),
        "stdout": "",
        "stderr": "",
        "nice": 0,
        "state": JobState.PENDING,
        "submit_time": float(number),
        "eligible_time": 0.0,
        "start_time": None,
        "end_time": None,
        "exit_code": None,
        "signal": None,
        "restarts": 0,
        "slots": (),
        "ending": None,
        "signalled_at": None,
        "reason": "",
        "held": False,
        "predicted_s": predicted,
    }
    return QueueEntry(id=number, **{**usual, **parts})


def running(number, *slots, since=NOW - 100, gpus=None, **parts):
    count = len(slots) if gpus is None else gpus
    return job(number, count, state=JobState.RUNNING, slots=slots, start_time=since, **parts)


def started(waiting, beside=(), **parts):
    found = plan(in_order(waiting), beside, machine(**parts), NOW)
    return [(start.entry.id, start.devices, start.backfilled) for start in found]


def numbers(waiting, beside=(), **parts):
    return [number for number, _, _ in started(waiting, beside, **parts)]


WIDE = job(1, 8)


def test_jobs_start_in_their_order_while_there_is_room():
    assert started([job(1, 3), job(2, 2), job(3, 4)], gpus=6) == [
        (1, ("0", "1", "2"), False),
        (2, ("3", "4"), False),
    ]


@pytest.mark.parametrize(
    ("behind", "starts"),
    [
        (job(2, limit=800), True),
        (job(2, limit=1000), False),
        (job(2, predicted=800), True),
        (job(2, limit=5000, predicted=800), True),
        (job(2, predicted=1000), False),
        (job(2), False),
    ],
    ids=["limit", "long limit", "prediction", "both", "long prediction", "nothing"],
)
def test_a_job_goes_past_a_wide_one_where_it_ends_before_its_reservation(behind, starts):
    """Job 0 ends 900 s from now at the latest."""
    beside = [running(0, "0", "1", "2", "3", limit=1000)]

    assert numbers([WIDE, behind], beside) == ([2] if starts else [])


def test_on_gpus_that_the_reservation_does_not_need_anything_starts():
    beside = [running(0, "0", "1", "2", "3", "4", "5", limit=1000)]

    assert started([job(1, 6), job(2), job(3), job(4)], beside) == [
        (2, ("6",), True),
        (3, ("7",), True),
    ]


def test_of_running_jobs_the_prediction_counts_until_they_are_overdue():
    on = ("0", "1", "2", "3")
    short = job(2, limit=300)
    assert numbers([WIDE, short], [running(0, *on, limit=9000, predicted=500)]) == [2]
    assert numbers([WIDE, short], [running(0, *on, limit=9000, predicted=300)]) == []
    overdue = running(0, *on, predicted=50, since=NOW - 100)
    assert expected_end(overdue, NOW) == NOW + 100, "as long again as it has run"
    assert numbers([WIDE, job(2, limit=90), job(3, limit=110)], [overdue]) == [2]


def test_after_a_prediction_has_failed_only_limits_count():
    beside = [
        running(0, "0", "1", limit=1000),
        running(9, "2", predicted=50, backfilled=True, since=NOW - 100),
    ]
    assert numbers([WIDE, job(2, predicted=10), job(3, limit=50)], beside) == [3]


def test_a_job_wider_than_the_machine_reserves_nothing():
    assert numbers([job(1, 9), job(2)], [running(0, "0")]) == [2]


def test_jobs_without_gpus_take_cores_and_others_only_those_they_ask_for():
    cpu = [job(number, 0) for number in range(1, 6)]
    assert numbers([*cpu, job(9, 8)], cores=4) == [1, 2, 3, 4, 9]
    assert numbers([job(1, 1, cpus=3), job(2, 0), job(3, 0)], cores=4) == [1, 2]
    beside = [running(0, limit=200, cpus=4, gpus=0)]
    assert numbers([job(1, 0), job(2, 4)], beside, cores=4) == [2]


def test_many_jobs_without_gpus_keep_no_gpu_job_waiting():
    many = [job(number, 0) for number in range(1, 1200)]
    starts = plan([*many, job(2000, 1)], [], machine(cores=2), NOW)
    assert [start.entry.id for start in starts] == [1, 2, 2000]


def test_what_is_on_top_and_what_is_nice():
    waiting = [job(1, nice=5), job(2), job(3, top_at=7.0), job(4, top_at=8.0)]
    assert [entry.id for entry in in_order(waiting)] == [4, 3, 2, 1]


def simulate(jobs, gpus=8):
    """When all have ended; `jobs` are GPUs, duration and limit."""
    waiting = [job(number, wide, limit=limit) for number, (wide, _, limit) in enumerate(jobs)]
    ends, beside, now = {}, [], 0.0
    while waiting or beside:
        for start in plan(in_order(waiting), beside, machine(gpus), now):
            waiting.remove(start.entry)
            beside.append(replace(start.entry, slots=start.devices, start_time=now))
            ends[start.entry.id] = now + jobs[start.entry.id][1]
        taken = [name for entry in beside for name in entry.slots]
        assert len(taken) == len(set(taken)), "a GPU was given twice"
        now = min(ends[entry.id] for entry in beside)
        beside = [entry for entry in beside if ends[entry.id] > now]
    return now


@pytest.mark.parametrize("exactness", [1.0, 1.2])
def test_forty_mixed_jobs_end_within_ten_percent_of_the_ideal(exactness):
    """On average over eight workloads; the ideal is all GPUs busy until the end."""
    excess = []
    for seed in range(8):
        chance = random.Random(seed)
        jobs = []
        for _ in range(40):
            duration = chance.uniform(1, 6)
            jobs.append((chance.choice((1, 1, 1, 2, 2, 4, 4, 8)), duration, exactness * duration))
        ideal = sum(wide * duration for wide, duration, _ in jobs) / 8
        excess.append(simulate(jobs) / ideal)
    assert sum(excess) / len(excess) < 1.10


@pytest.mark.parametrize(
    ("waited", "behind", "starts"),
    [
        (10, {"limit": 40}, True),
        (10, {"predicted": 40}, True),
        (10, {"limit": 60}, False),
        (55, {"limit": 10}, False),
        (10, {}, False),
    ],
    ids=["a short one", "by its prediction", "too long for it", "it has waited enough", "unknown"],
)
def test_short_jobs_go_past_a_wide_one_until_it_has_waited_a_minute(waited, behind, starts):
    beside = [running(1, *"0123456", since=NOW - 1, limit=2)]
    wide = job(2, 8, submit_time=NOW - waited, eligible_time=NOW - waited)
    waiting = [wide, job(3, 1, submit_time=NOW - 5, **behind)]

    found = plan(waiting, beside, Machine(*_halves(), 64, choose), NOW)

    assert [start.entry.id for start in found] == ([3] if starts else [])


def _halves():
    devices = [Gpu(str(number)) for number in range(8)]
    return devices, devices[7:]
