"""The labels are whole, and the shares are counted as they say."""

import re

import numpy as np
import pytest

from bench.corpora.advice_cases import BLIND, HELD_OUT, read_cases
from bench.corpora.shares import blind_jobs, read_rows, sample_counts, sampled_jobs
from bench.proof.proportions import Proportion, weighted_share
from bench.proof.shares_failing import Runs, measure, repeats, sign_of
from bench.proof.shares_resuming import WORDS, labelled_trainings

COMMIT = re.compile(r"[0-9a-f]{40}")


def runs(*rows: tuple[str, float, float, str]) -> Runs:
    users, gpus, ran, status = zip(*rows, strict=True)
    return Runs(
        user=list(users),
        gpus=np.array(gpus),
        run_s=np.array(ran),
        limit_s=np.zeros(len(rows)),
        status=np.array(status),
    )


def test_each_sampled_job_can_be_found_again():
    jobs = sampled_jobs()

    assert len({(job.repository, job.script) for job in jobs}) == len(jobs)
    for job in jobs:
        assert COMMIT.fullmatch(job.commit), job
        assert job.resumes in {*WORDS, "unclear", "none"}, job
        assert (job.resumes == "none") == (job.kind != "training"), job
        assert job.where, job


def test_what_was_drawn_is_accounted_for():
    counts = sample_counts()
    away = counts["no_snapshot"] + counts["script_gone"] + counts["no_gpu"]

    assert counts["candidates"] - away == len(sampled_jobs())
    assert len(labelled_trainings()) >= 60


def test_a_job_that_resumes_saves_its_whole_state():
    for job in labelled_trainings():
        if job.resumes == "yes":
            assert (job.saves, job.state) == ("regular", "full"), job


def test_labels_read_again_are_of_known_jobs():
    known = {(job.repository, job.script) for job in sampled_jobs()}
    cases = {case.name for case in read_cases(BLIND, HELD_OUT)}

    assert {(row["repository"], row["script"]) for row in read_rows("second_pass.jsonl")} <= known
    assert {row["case"] for row in read_rows("others.jsonl")} <= cases
    assert {(row["repository"], row["script"]) for row in read_rows("shapes.jsonl")} <= known


@pytest.mark.parametrize("cluster", ["Philly", "Acme"])
def test_published_shares_make_up_the_failed_time(cluster):
    shares = [
        row["percent_of_failed_time"]
        for row in read_rows("published_failures.jsonl")
        if row["cluster"] == cluster
    ]

    assert sum(shares) == pytest.approx(100, abs=1)


def test_wilsons_interval():
    assert Proportion(5, 77).interval == pytest.approx((0.0281, 0.1432), abs=1e-4)
    assert Proportion(0, 94).interval == pytest.approx((0.0, 0.0393), abs=1e-4)
    assert Proportion(0, 0).interval == (0.0, 1.0)


def test_a_share_by_weight():
    share, (low, high) = weighted_share([True, False, False], [2.0, 1.0, 1.0])

    assert share == 0.5
    assert 0.0 <= low < share < high <= 1.0


def test_repeats_begin_with_the_third_failure_in_a_row():
    failing = runs(
        ("ada", 1, 100, "Failed"),
        ("bob", 1, 100, "Failed"),
        ("ada", 1, 900, "Failed"),
        ("ada", 2, 100, "Failed"),
        ("ada", 1, 905, "Failed"),
        ("ada", 1, 910, "Failed"),
        ("ada", 1, 910, "Pass"),
        ("ada", 1, 910, "Failed"),
    )

    assert np.flatnonzero(repeats(failing, alike=False)).tolist() == [4, 5]
    assert np.flatnonzero(repeats(failing, alike=True)).tolist() == [5]


def test_failures_of_hidden_users_are_no_series():
    hidden = runs(*[("0", 1, 100, "Failed")] * 4)

    assert not repeats(hidden, alike=False).any()


def test_time_after_the_first_minutes():
    found = measure(
        runs(("ada", 2, 1600, "Failed"), ("ada", 1, 100, "Failed"), ("b", 1, 700, "Pass"))
    )

    assert found["failed_time"] == pytest.approx(3300 / 4000)
    assert found["after_minutes_time"] == pytest.approx(2000 / 4000)
    assert found["short_of_failed_jobs"] == 0.5


def test_a_missing_file_after_hours_was_not_known_before():
    assert sign_of("FileNotFoundError: [Errno 2] x", 5) == "before the start"
    assert sign_of("FileNotFoundError: [Errno 2] x", 64530) == "later, or ended from outside"
    assert sign_of("TypeError: x", 5) == "first 10 minutes"


def test_jobs_to_judge_the_advisor_are_not_those_it_was_written_with():
    known = {job.repository for job in sampled_jobs()}
    for job in blind_jobs():
        assert job.repository not in known
        assert job.resumes in WORDS
        assert bool(job.script) != bool(job.command)
        assert job.resumes != "yes" or (job.saves_at and job.loads_at), job
