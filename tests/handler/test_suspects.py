"""Which nodes are suspect, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.handler.suspects import HARDWARE_LIKE, suspicions
from schedmate.model import JobState, NodeRun

HOUR, DAY = 3600.0, 86400.0
NOW = 100 * DAY
numbers = count(1)


def a_run(node="n1", *, user="ada", reason="", ago=HOUR, hours=4.0, **parts):
    """A job of eight GPUs that ended so long ago, well unless the scheduler gives a reason."""
    nodes = (node,) if isinstance(node, str) else node
    values = {
        "job_id": str(next(numbers)),
        "user": user,
        "nodes": nodes,
        "state": JobState.FAILED if reason else JobState.COMPLETED,
        "gpus": 8 * len(nodes),
        "started_at": NOW - ago - hours * HOUR,
        "ended_at": NOW - ago,
        "reason": reason,
        "confidence": 0.9 if reason else 0.0,
        "reported_by": "scheduler",
    }
    return NodeRun(**(values | parts))


def background(days=12, nodes=20):
    """A healthy cluster: every node busy all the time, a user's error now and then."""
    return [
        a_run(
            f"n{number}",
            user=f"u{number % 7}",
            ago=(day + 1) * DAY + number * 60,
            hours=20,
            reason="key_error" if (day + number) % 5 == 0 else "",
        )
        for day in range(days)
        for number in range(nodes)
    ]


def sure(runs, node="n1"):
    return suspicions([*background(), *runs], NOW)[node].probability


def test_a_healthy_cluster_has_no_suspects():
    found = suspicions(background(), NOW)

    assert len(found) == 20
    assert max(one.probability for one in found.values()) <= 0.01
    assert not any(one.suspect or one.failures for one in found.values())


def test_users_own_errors_count_against_no_node():
    errors = [a_run(user=f"u{n}", reason="import_error", ago=n * HOUR) for n in range(30)]

    assert sure(errors) <= 0.01


def test_failures_of_different_users_weigh_more_than_of_one():
    several = [a_run(user=f"u{n}", reason="cuda_error", ago=HOUR * n) for n in range(4)]
    single = [a_run(user="u0", reason="cuda_error", ago=HOUR * n) for n in range(4)]
    array = [a_run(user="u0", reason="cuda_error", ago=HOUR * n, job_id=f"9_{n}") for n in range(4)]

    assert sure(array) < sure(single) < 0.5 < sure(several)


def test_the_more_a_reason_looks_like_hardware_the_more_it_weighs():
    reasons = ["gpu_ecc", "network", "nccl_timeout", "segfault", "killed"]
    weights = [sure([a_run(reason=reason)]) for reason in reasons]

    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 0.5 > weights[2]


def test_a_failure_shared_by_many_nodes_says_little_about_each():
    wide = tuple(f"n{number}" for number in range(8))

    assert sure([a_run(wide, reason="nccl_timeout")]) < sure([a_run(reason="nccl_timeout")])


def test_the_node_that_is_in_all_of_them_stands_out():
    runs = [
        a_run(("n1", f"n{n + 2}"), user=f"u{n}", reason="nccl_timeout", ago=n * HOUR)
        for n in range(4)
    ]
    found = suspicions([*background(), *runs], NOW)

    assert found["n1"].suspect
    assert [name for name, one in found.items() if one.suspect] == ["n1"]
    assert (found["n1"].failures, found["n1"].users) == (4, 4)
    assert [one.user for one in found["n1"].evidence] == ["u0", "u1", "u2", "u3"]
    assert all(one.shared == 2 for one in found["n1"].evidence)


def test_a_node_that_is_named_takes_the_blame_alone():
    run = a_run(("n1", "n2", "n3"), reason="gpu_ecc", blamed=("n2",))
    found = suspicions([*background(), run], NOW)

    assert found["n2"].suspect
    assert found["n1"].failures == found["n3"].failures == 0


def test_successes_of_jobs_of_that_size_clear_it():
    failures = [a_run(user=f"u{n}", reason="gpu_ecc", ago=2 * DAY + n * HOUR) for n in range(2)]
    accused = suspicions(failures, NOW)["n1"].probability
    small = [a_run(gpus=0, ago=2 * DAY - n * HOUR, hours=0.9) for n in range(40)]
    large = [a_run(gpus=8, ago=2 * DAY - n * HOUR, hours=0.9) for n in range(40)]

    assert accused > 0.5
    assert suspicions([*failures, *large], NOW)["n1"].probability < 0.1
    assert suspicions([*failures, *small], NOW)["n1"].probability > 0.3


def test_old_successes_do_not_protect_it():
    before = [a_run(ago=20 * DAY - n * HOUR) for n in range(300)]
    failures = [a_run(user=f"u{n}", reason="gpu_ecc", ago=HOUR) for n in range(2)]

    assert suspicions([*before, *failures], NOW)["n1"].suspect


def test_evidence_fades():
    fresh, old = ([a_run(reason="gpu_ecc", ago=days * DAY)] for days in (0.1, 25))

    assert suspicions(fresh, NOW)["n1"].probability > suspicions(old, NOW)["n1"].probability
    assert suspicions([a_run(reason="gpu_ecc", ago=40 * DAY)], NOW) == {}


def test_when_everything_fails_at_once_it_is_not_the_nodes():
    storm = [a_run(f"n{n}", user=f"u{n}", reason="nccl_timeout", ago=HOUR + n) for n in range(20)]
    found = suspicions([*background(), *storm], NOW)

    assert not any(one.suspect for one in found.values())
    assert sure([a_run(user="u1", reason="nccl_timeout", ago=HOUR)]) > found["n1"].probability


def test_a_node_failure_counts_without_a_diagnosis_and_a_guess_for_less():
    lost = a_run(state=JobState.NODE_FAIL)

    assert sure([lost]) > 0.5
    assert sure([a_run(reason="gpu_ecc", confidence=0.3)]) < sure([a_run(reason="gpu_ecc")])


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.OUT_OF_MEMORY])
def test_an_unexplained_failure_counts_for_nothing(state):
    assert sure([a_run(state=state, user=f"u{n}") for n in range(9)]) <= 0.01


def by_log(*users, reason="gpu_ecc", node="n1", every=HOUR, **parts):
    """Failures that only the jobs' own logs show, one an hour."""
    return [
        a_run(node, user=user, reason=reason, ago=HOUR + n * every, reported_by="job", **parts)
        for n, user in enumerate(users)
    ]


@pytest.mark.parametrize("reason", sorted(HARDWARE_LIKE))
@pytest.mark.parametrize("ids", [str, lambda n: f"77_{n}"], ids=["jobs", "array"])
def test_no_number_of_one_users_logs_makes_a_node_suspect(reason, ids):
    hostile = [
        replace(run, job_id=ids(n), blamed=("n1",))
        for n, run in enumerate(by_log(*["u1"] * 300, reason=reason, every=60.0))
    ]
    found = suspicions([*background(), *hostile], NOW)

    assert not found["n1"].suspect
    assert found["n1"].probability < 0.05
    assert found["n1"].failures == 300


def test_two_users_who_agree_and_a_third_who_fails_by_chance_do_not_either():
    agreed = by_log(*["u1", "u2"] * 100, every=60.0)
    chance = by_log("u3", reason="nccl_timeout", every=DAY)

    assert sure([*agreed, *chance]) < 0.5


def test_several_different_users_do():
    assert sure(by_log("u1", "u2", "u3", "u4")) > 0.5


def test_accounts_without_a_success_elsewhere_count_for_nothing():
    fresh = [f"sock{n}" for n in range(50)]
    here = [a_run(user=user, ago=2 * DAY) for user in fresh]
    short = [a_run("n7", user=user, ago=2 * DAY, hours=0.01) for user in fresh]

    assert sure([*here, *short, *by_log(*fresh)]) <= 0.01


def test_one_word_of_the_scheduler_or_of_a_system_log_counts_in_full():
    for reporter in ("scheduler", "outside"):
        assert sure([a_run(reason="gpu_ecc", user="new", reported_by=reporter)]) > 0.5


def test_the_evidence_says_who_reports_it():
    (one,) = suspicions(by_log("u1"), NOW)["n1"].evidence
    assert (one.reported_by, one.weight) == ("job", 0.0)
    lost = a_run(state=JobState.NODE_FAIL, reported_by="job")
    assert suspicions([lost], NOW)["n1"].evidence[0].reported_by == "scheduler"


some_runs = st.builds(
    a_run,
    st.lists(st.sampled_from(["n1", "n2", "n3"]), max_size=4).map(tuple),
    user=st.sampled_from(["ada", "bob"]),
    reason=st.sampled_from(["", "key_error", "unknown", *HARDWARE_LIKE]),
    ago=st.floats(-1e6, 1e7),
    hours=st.floats(-1, 1e4),
    confidence=st.floats(0, 1),
    state=st.sampled_from(list(JobState)),
    reported_by=st.sampled_from(["job", "scheduler", "outside"]),
    blamed=st.lists(st.sampled_from(["n1", "n9"]), max_size=2).map(tuple),
)


@given(st.lists(some_runs, max_size=12))
def test_whatever_ran_every_node_has_a_probability(runs):
    found = suspicions(runs, NOW)

    assert all(0 <= one.probability <= 1 for one in found.values())
    assert set(found) <= {"n1", "n2", "n3"}
    assert suspicions(reversed(runs), NOW) == found
