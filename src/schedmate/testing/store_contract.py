"""What every store must do.

A store joins by subclassing; everything else is inherited:

    class TestMine(StoreContract):
        def open(self, path: Path, scheduler: str) -> Store:
            return MyStore(path, scheduler=scheduler)

`open` with the same path opens the same store again.
`pytest.register_assert_rewrite("schedmate.testing.store_contract")` in a conftest.py makes its
failures explain themselves.
"""

# ruff: noqa: S101, PLR2004 - these are tests: asserts are how they speak, numbers what they expect
from __future__ import annotations

import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from schedmate.model import (
    Action,
    Blame,
    Checkpoint,
    Evidence,
    Finding,
    Fingerprint,
    JobState,
    LearnedPattern,
    LlmCall,
    Mark,
    NodeRun,
    PastRun,
    Request,
    RunProfile,
    Workload,
)
from schedmate.store import KeptAdvice, KeptProgress, Spending
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run, a_progress, an_advice
from schedmate.testing.identity_contract import IdentityContract
from schedmate.testing.lessons_contract import LessonsContract
from schedmate.testing.overview_contract import OverviewContract
from schedmate.testing.people_contract import PeopleContract

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.store import Store

ODD_TEXTS = (
    "",
    "two words",
    "üñïcødé 训练 🚀",
    "it's; DROP TABLE runs --",
    "\r\n\t",
    "x" * 100_000,
)
PRINT = Fingerprint(code="c0de", arguments="a4g5")


class StoreContract(IdentityContract, LessonsContract, OverviewContract, PeopleContract):
    def open(self, path: Path, scheduler: str) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "store"

    @pytest.fixture
    def store(self, path: Path) -> Iterator[Store]:
        with closing(self.open(path, "local")) as store:
            yield store

    def test_says_when_it_was_made_for_ever(self, path: Path) -> None:
        before = time.time()
        with closing(self.open(path, "local")) as store:
            created = store.created_at()
        assert before - 0.1 <= created <= time.time() + 0.1
        with closing(self.open(path, "slurm")) as again:
            assert again.created_at() == created

    def test_an_empty_one_knows_nothing(self, store: Store) -> None:
        assert store.run("1") is None
        assert store.run("1", 0) is None
        assert not store.recent_runs()
        assert not store.runs_with_fingerprint(PRINT)
        assert not store.runs_of_code("c0de")
        assert store.advice("1") is None
        assert store.progress("1", 0) is None
        assert store.diagnoses("1") == {}
        assert not store.actions()
        assert store.cached_reading("x") is None
        assert store.cached_answer("x") is None
        assert store.learned_pattern("x") is None
        assert store.tracking("1", 0) is None
        assert store.tokens_spent(since=0) == 0
        assert store.spending() == Spending(questions=0, calls=0, tokens=0, seconds=0)

    @pytest.mark.parametrize("text", ODD_TEXTS)
    def test_everything_comes_back_as_it_was(self, store: Store, text: str) -> None:
        run, advice = _rich_run(text), KeptAdvice(an_advice(7.5), PRINT)
        progress = a_progress(log=text, checkpoint=Checkpoint(path=text, step=3))
        diagnosis = a_diagnosis(summary=text)
        store.keep_run(run)
        store.keep_advice("1", advice)
        store.keep_progress("1", 2, progress, at=5.5)
        store.keep_diagnosis("1", 2, diagnosis)
        store.cache_reading(text, text)
        store.cache_answer(text, text)
        store.learn_pattern(text, _pattern(text))
        store.keep_tracking("1", 3, text)
        assert store.run("1") == run
        assert store.learned_pattern(text) == _pattern(text)
        assert store.tracking("1", 3) == text
        assert store.advice("1") == advice
        assert store.progress("1", 2) == KeptProgress(progress, 5.5)
        assert store.progress("1", 3) is None
        assert store.diagnoses("1") == {2: diagnosis}
        assert store.cached_reading(text) == text
        assert store.cached_answer(text) == text

    def test_everything_is_there_after_reopening(self, path: Path) -> None:
        action = _action()
        with closing(self.open(path, "local")) as store:
            store.keep_run(a_past_run())
            store.intend(action, at=5.0)
            store.record_call(_call(at=1.0))
        with closing(self.open(path, "local")) as again:
            assert again.run("1") == a_past_run()
            assert [record.action for record in again.actions(state="intended")] == [action]
            assert again.spending().questions == 1

    def test_the_newest_value_counts(self, store: Store) -> None:
        for seconds in (1.0, 2.0):
            store.keep_advice("1", KeptAdvice(an_advice(seconds), None))
            store.keep_progress("1", 0, a_progress(current=seconds), at=seconds)
            store.keep_diagnosis("1", 0, a_diagnosis(confidence=seconds))
            store.cache_answer("key", str(seconds))
            store.learn_pattern("key", _pattern(str(seconds)))
            store.keep_tracking("1", 0, str(seconds))
        assert store.advice("1") == KeptAdvice(an_advice(2.0), None)
        assert store.progress("1", 0) == KeptProgress(a_progress(current=2.0), 2.0)
        assert store.diagnoses("1") == {0: a_diagnosis(confidence=2.0)}
        assert store.cached_answer("key") == "2.0"
        assert store.learned_pattern("key") == _pattern("2.0")
        assert store.tracking("1", 0) == "2.0"

    def test_attempts_of_a_job_are_kept_apart(self, store: Store) -> None:
        first, second = _run("1", attempt=0, ended=10), _run("1", attempt=1, ended=20)
        store.keep_runs([second, first])
        assert store.run("1") == second
        assert store.run("1", 0) == first
        assert store.run("1", 2) is None
        assert list(store.recent_runs()) == [second, first]

    def test_the_same_attempt_again_replaces_it(self, store: Store) -> None:
        store.keep_run(_run("1", ended=10))
        store.keep_run(_run("1", ended=30))
        assert list(store.recent_runs()) == [_run("1", ended=30)]

    def test_runs_come_newest_first_and_limited(self, store: Store) -> None:
        store.keep_runs([_run(str(number), ended=100 - number) for number in range(20)])
        assert [run.job.id for run in store.recent_runs(limit=3)] == ["0", "1", "2"]
        assert [run.job.id for run in store.runs_of_code("c0de")][:3] == ["0", "1", "2"]
        assert len(store.recent_runs()) == 20

    def test_runs_are_found_by_user_code_arguments_and_reason(self, store: Store) -> None:
        other = Fingerprint(code="c0de", arguments="other")
        foreign = Fingerprint(code="foreign", arguments="a4g5")
        store.keep_run(_run("1", ended=1, marks=PRINT))
        store.keep_run(_run("2", ended=2, marks=other, user="bob"))
        store.keep_run(_run("3", ended=3, marks=foreign))
        store.keep_run(_run("4", ended=4, marks=None, user="bob"))
        assert _ids(store.runs_with_fingerprint(PRINT)) == ["1"]
        assert _ids(store.runs_of_code("c0de")) == ["2", "1"]
        assert _ids(store.recent_runs(user="bob")) == ["4", "2"]
        assert _ids(store.recent_runs(user="unknown")) == []
        for job_id, reason in (("1", "gpu_oom"), ("2", "gpu_oom"), ("4", "disk_full")):
            store.keep_diagnosis(job_id, 0, a_diagnosis(reason))
        found = partial(store.page_of_runs, limit=5, offset=0)
        assert _ids(found(user=None, reason="gpu_oom")) == ["2", "1"]
        assert _ids(found(user="bob", reason="gpu_oom")) == ["2"]

    def test_a_job_that_never_ran_is_remembered_too(self, store: Store) -> None:
        run = PastRun(job=a_job(state=JobState.CANCELLED, start_time=None, end_time=None))
        store.keep_run(run)
        assert store.run("1") == run

    def test_many_runs_are_kept_all_or_none(self, store: Store) -> None:
        bad = PastRun(job=a_job(id="3", submit_time="no time"))
        with pytest.raises(Exception):  # noqa: B017, PT011 - any complaint will do
            store.keep_runs([_run("1"), _run("2"), bad, None])  # type: ignore[list-item]
        assert not store.recent_runs()

    def test_schedulers_share_the_past_but_not_their_jobs(self, path: Path) -> None:
        with (
            closing(self.open(path, "local")) as local,
            closing(self.open(path, "slurm")) as slurm,
        ):
            local.keep_run(_run("1", ended=1, name="here"))
            slurm.keep_run(_run("1", ended=2, name="there"))
            local.keep_advice("1", KeptAdvice(an_advice(1.0), None))
            local.keep_progress("1", 0, a_progress(), at=1.0)
            local.keep_diagnosis("1", 0, a_diagnosis())
            local.keep_tracking("1", 0, "here")
            local.learn_pattern("code", _pattern("x"))
            assert slurm.tracking("1", 0) is None
            assert slurm.learned_pattern("code") == _pattern("x")
            assert local.intend(_action(), at=1.0)
            assert slurm.advice("1") is None
            assert slurm.progress("1", 0) is None
            assert slurm.diagnoses("1") == {}
            assert not slurm.actions()
            assert slurm.intend(_action(), at=1.0)
            assert _name(local.run("1")) == "here"
            assert _name(slurm.run("1")) == "there"
            assert [run.job.name for run in local.recent_runs()] == ["there", "here"]
            assert list(local.sources_of("1")) == ["slurm", "local"]
            assert not local.sources_of("2")

    def test_attempts_with_code_are_those_of_one_scheduler(self, path: Path) -> None:
        with (
            closing(self.open(path, "local")) as local,
            closing(self.open(path, "slurm")) as slurm,
        ):
            local.keep_run(_run("1", ended=1, marks=PRINT))
            local.keep_run(_run("1", attempt=1, ended=2, marks=PRINT))
            local.keep_run(_run("2", ended=3, marks=None))
            slurm.keep_run(_run("3", ended=4, marks=PRINT))
            assert local.attempts_with_code() == {("1", 0), ("1", 1)}
            assert slurm.attempts_with_code() == {("3", 0)}

    def test_runs_are_told_as_their_nodes_see_them(self, store: Store) -> None:
        where = {"nodes": ("n1", "n2"), "request": Request(gpus=16, nodes=2)}
        failed = a_job(id="7", state=JobState.FAILED, end_time=500.0, **where)
        found = a_diagnosis("nccl_timeout", confidence=0.8, blame=Blame(nodes=("n2",)))
        store.keep_run(PastRun(job=failed))
        store.keep_run(PastRun(job=a_job(id="8", state=JobState.COMPLETED, nodes=("n1",))))
        store.keep_run(PastRun(job=a_job(id="9", state=JobState.COMPLETED)))
        store.keep_run(PastRun(job=a_job(id="5", state=JobState.FAILED, end_time=9.0, **where)))
        store.keep_diagnosis("7", 0, found)
        store.keep_diagnosis("7", 1, a_diagnosis("segfault"))
        newest, older = store.node_runs(since=100.0)
        assert (newest.job_id, newest.nodes, newest.reason) == ("8", ("n1",), "")
        assert older == NodeRun(
            job_id="7",
            user=failed.user,
            nodes=("n1", "n2"),
            state=JobState.FAILED,
            gpus=16,
            started_at=1010.0,
            ended_at=500.0,
            reason="nccl_timeout",
            confidence=0.8,
            blamed=("n2",),
        )
        assert len(store.node_runs(since=100.0, limit=1)) == 1

    def test_following_is_forgotten_with_the_end_of_the_attempt(self, store: Store) -> None:
        store.keep_tracking("1", 0, "half way")
        store.keep_tracking("2", 0, "of another job")
        assert store.tracking("1", 1) is None
        store.keep_run(_run("1", attempt=0))
        assert store.tracking("1", 0) is None
        store.keep_tracking("1", 1, "the next attempt")
        store.keep_run(_run("1", attempt=0))
        assert store.tracking("1", 1) == "the next attempt"
        assert store.tracking("2", 0) == "of another job"

    def test_a_learnt_format_can_be_forgotten(self, store: Store) -> None:
        for workload in ("mine", "yours"):
            store.learn_pattern(workload, _pattern(workload))
        store.unlearn_pattern("mine")
        store.unlearn_pattern("unknown")
        assert store.learned_pattern("mine") is None
        assert store.learned_pattern("yours") == _pattern("yours")

    def test_what_is_done_together_is_done_or_not(self, store: Store) -> None:
        with store.together():
            store.keep_tracking("1", 0, "kept")
            store.keep_run(_run("2"))
        with pytest.raises(ZeroDivisionError):
            _keep_and_fail(store)
        assert store.tracking("1", 0) == "kept"
        assert _ids(store.recent_runs()) == ["2"]

    def test_an_action_is_intended_once(self, store: Store) -> None:
        assert store.intend(_action(), at=1.0)
        assert not store.intend(_action(why="other words, same action"), at=2.0)
        assert not store.intend(_action(), at=2.0, state="observed")
        (record,) = store.actions()
        assert (record.state, record.at, record.action.why) == ("intended", 1.0, "because")
        store.settle(_action(), "done", at=3.0, note="went well")
        assert not store.intend(_action(), at=4.0)
        (record,) = store.actions()
        assert (record.state, record.at, record.note) == ("done", 3.0, "went well")

    def test_other_attempts_kinds_and_values_are_other_actions(self, store: Store) -> None:
        assert store.intend(_action(), at=1.0)
        assert store.intend(_action(attempt=1), at=2.0)
        assert store.intend(_action(kind="cancel"), at=3.0)
        assert store.intend(_action(kind="set_nice", value=5.0), at=4.0, state="observed")
        assert store.intend(_action(kind="set_nice", value=6.0), at=5.0)
        assert store.intend(_action(job_id="2"), at=6.0)
        assert [record.at for record in store.actions()] == [1, 2, 3, 4, 5, 6]
        assert [record.at for record in store.actions(job_id="2")] == [6]
        assert [record.at for record in store.actions(state="observed")] == [4]
        assert not store.actions(job_id="2", state="observed")

    def test_settling_changes_that_action_only(self, store: Store) -> None:
        store.intend(_action(), at=1.0)
        store.intend(_action(attempt=1), at=2.0)
        store.settle(_action(attempt=1), "failed", at=3.0)
        assert [record.state for record in store.actions()] == ["intended", "failed"]

    def test_spending_adds_up(self, store: Store) -> None:
        for at in (10.0, 20.0, 30.0):
            store.record_call(_call(at=at))
        assert store.tokens_spent(since=20.0) == 24
        assert store.tokens_spent(since=31.0) == 0
        assert store.spending() == Spending(questions=3, calls=6, tokens=36, seconds=4.5)


def _rich_run(text: str) -> PastRun:
    seen = (Evidence(file="train.py", line=3, text=text),)
    return PastRun(
        job=a_job(state=JobState.FAILED, name=text, restarts=2, exit_code=1, logs=("/tmp/a",)),  # noqa: S108 - only a text
        fingerprint=PRINT,
        workload=Workload(
            model=Finding(value=text, source="code", evidence=seen, confidence=0.25),
            log_files=Finding(value=("a", "b"), source="config"),
            resumes=Finding(value=False, source="cli"),
        ),
        steps_done=12.5,
        startup_s=0.1,
        profile=RunProfile(
            unit="step", curve=(Mark(0.5, 0), Mark(60.0, 12.5)), total=20, ends_by="cap"
        ),
    )


def _keep_and_fail(store: Store) -> None:
    with store.together():
        store.keep_tracking("1", 0, "lost")
        store.keep_runs([_run("3"), _run("4")])
        raise ZeroDivisionError


def _pattern(expression: str) -> LearnedPattern:
    return LearnedPattern(expression=expression, unit="epoch", total=9, learnt_from="llm")


def _run(
    job_id: str,
    *,
    attempt: int = 0,
    ended: float = 50.0,
    marks: Fingerprint | None = PRINT,
    user: str = "ada",
    name: str = "train",
) -> PastRun:
    job = a_job(
        id=job_id,
        state=JobState.COMPLETED,
        restarts=attempt,
        end_time=float(ended),
        user=user,
        name=name,
    )
    return PastRun(job=job, fingerprint=marks)


def _action(**parts: object) -> Action:
    values = {"kind": "requeue", "job_id": "1", "attempt": 0, "why": "because", **parts}
    return Action(**values)  # type: ignore[arg-type]


def _call(at: float) -> LlmCall:
    return LlmCall(
        at=at,
        purpose="diagnosis",
        model="small",
        outcome="ok",
        calls=2,
        prompt_tokens=10,
        answer_tokens=2,
        seconds=1.5,
    )


def _ids(runs: object) -> list[str]:
    return [run.job.id for run in runs]  # type: ignore[attr-defined]


def _name(run: PastRun | None) -> str | None:
    return None if run is None else run.job.name
