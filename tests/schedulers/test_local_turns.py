"""Fair turns between users, as a pure function of what they used."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import pytest

from schedmate.schedulers.local.turns import CHARGE_S, HALF_LIFE_S, RecentUse, take_turns


@dataclass(frozen=True)
class Waiting:
    number: int
    user: str
    gpus: int = 1


def ordered(waiting, used=None):
    return take_turns(
        waiting, used or {}, user_of=lambda job: job.user, gpus_of=lambda job: job.gpus
    )


def users(jobs):
    return "".join(job.user for job in jobs)


def test_one_user_keeps_the_given_order():
    waiting = [Waiting(number, "a") for number in (3, 1, 2)]

    assert ordered(waiting, {"a": 5.0}) == waiting


def test_five_hundred_jobs_do_not_lock_out_one():
    waiting = [*(Waiting(number, "a") for number in range(500)), Waiting(500, "b")]

    assert users(ordered(waiting, {"a": 8 * CHARGE_S}))[:2] == "ba"
    assert users(ordered(waiting))[:3] == "aba"


def test_wide_jobs_count_by_their_gpus():
    waiting = [*(Waiting(n, "a", 4) for n in range(3)), *(Waiting(n, "b", 1) for n in range(3, 12))]

    assert users(ordered(waiting)) == "abbbbabbbbab"


@pytest.mark.parametrize("seed", range(30))
def test_turns_are_fair_whatever_waits(seed):
    """Nothing is lost, own orders hold, and no user is behind another by more than one job."""
    chance = random.Random(seed)
    waiting = [
        Waiting(number, chance.choice("abc"), chance.choice((0, 1, 2, 8)))
        for number in range(chance.randrange(60))
    ]
    used = {user: chance.uniform(0, 20 * CHARGE_S) for user in "abc"}

    found = ordered(waiting, used)

    assert Counter(found) == Counter(waiting)
    for user in "abc":
        mine = [job.number for job in found if job.user == user]
        assert all(first < second for first, second in pairwise(mine))
    so_far = dict(used)
    for place, job in enumerate(found):
        others = {one.user for one in found[place:]}
        assert so_far[job.user] <= min(so_far[user] for user in others)
        so_far[job.user] += (job.gpus or 0.125) * CHARGE_S


def test_use_fades_by_half_in_an_hour():
    use = RecentUse()
    use.add("a", 2, 1000.0, 1100.0)

    fresh = use.by_user(1100.0, [])["a"]
    later = use.by_user(1100.0 + HALF_LIFE_S, [])["a"]

    assert fresh == pytest.approx(200.0, rel=0.02)
    assert later == pytest.approx(fresh / 2)


@pytest.mark.parametrize("seed", range(10))
def test_use_is_the_same_in_whatever_order_runs_are_told(seed):
    chance = random.Random(seed)
    runs = [
        (chance.choice("ab"), chance.randrange(9), start, start + chance.uniform(60, 9000))
        for start in (chance.uniform(0, 20_000) for _ in range(12))
    ]
    found = []
    for told in (runs, chance.sample(runs, len(runs))):
        use = RecentUse()
        for run in told:
            use.add(*run)
        found.append(use.by_user(30_000.0, [("a", 1, 29_000.0)]))

    assert found[0] == pytest.approx(found[1], abs=3.0)


def test_what_is_held_counts_at_once():
    assert RecentUse().by_user(50.0, [("a", 8, 50.0)]) == {"a": 8 * CHARGE_S}
