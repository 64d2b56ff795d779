"""What every store must do with what failures have taught; part of the store's contract."""

# ruff: noqa: S101 - these are tests: asserts are how they speak, numbers what they expect
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import JobState
from schedmate.store import KeptCorrection
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_learned_rule,
    a_past_failure,
    a_past_run,
    an_origin,
)

if TYPE_CHECKING:
    from schedmate.store import Store


class LessonsContract:
    def test_an_empty_one_has_learnt_nothing(self, store: Store) -> None:
        assert store.recall_failures(["x"]) == {}
        assert store.recall_failures([]) == {}
        assert not store.past_failures()
        assert not store.learned_rules()
        assert not store.forget_failure("x")
        assert not store.remove_rule("x")
        store.count_rule_hit("x", at=1.0)
        assert not store.forget_lessons(teacher="llm")

    def test_a_failure_is_recalled_by_each_of_its_signatures(self, store: Store) -> None:
        text = "üñïcødé; DROP TABLE past_failures -- 'x'"
        one = a_past_failure("one", text, "b", line=text, origin=an_origin(note=text))
        store.remember_failure(one)
        assert store.recall_failures([text, "b", "c"]) == {text: one, "b": one}

    def test_a_correction_is_kept_with_the_diagnosis_before_it(self, store: Store) -> None:
        before, after = a_diagnosis(summary="ünï 'x' \udcff {}"), a_diagnosis("network")
        made = KeptCorrection(by="ada", at=5.0, for_all=True, before=before, taught=after)
        store.keep_diagnosis("1", 0, after, correction=made)
        kept = store.correction("1", 0)
        assert kept is not None
        assert (kept.by, kept.at, kept.for_all, kept.taught) == ("ada", 5.0, True, after)
        assert kept.before.reason == before.reason
        assert store.diagnoses("1") == {0: after}
        assert store.job_facts(["1"])["1"].diagnoses == {0: after}
        assert store.correction("1", 1) is None
        store.keep_diagnosis("1", 0, kept.before)
        assert store.correction("1", 0) is None

    def test_a_persons_word_goes_before_a_models(self, store: Store) -> None:
        stated = a_past_failure("stated", "a", reason="network", origin=an_origin("operator"))
        store.remember_failure(stated)
        guessed = a_past_failure("guessed", "a", "b")
        store.remember_failure(guessed)
        assert store.recall_failures(["a", "b"]) == {"a": stated, "b": guessed}
        assert store.forget_failure("stated")
        assert store.recall_failures(["a"]) == {"a": guessed}

    def test_the_newest_word_of_one_teacher_counts(self, store: Store) -> None:
        store.remember_failure(a_past_failure("old", "a", "b"))
        new = a_past_failure("new", "a", origin=an_origin(at=6.0))
        store.remember_failure(new)
        assert store.recall_failures(["a"]) == {"a": new}
        again = replace(new, reason="network", signatures=("c",))
        store.remember_failure(again)
        assert store.recall_failures(["a", "c"]) == {"c": again}
        assert [past.id for past in store.past_failures()] == ["new", "old"]
        assert not store.past_failures(teacher="operator")
        assert len(store.past_failures(limit=1)) == 1

    def test_rules_are_kept_counted_and_removed(self, store: Store) -> None:
        first, second = a_learned_rule("z", origin=an_origin(at=1.0)), a_learned_rule("a")
        store.keep_rule(second)
        store.keep_rule(first)
        assert list(store.learned_rules()) == [first, second]
        store.count_rule_hit("a", at=7.0)
        store.count_rule_hit("a", at=9.0)
        assert store.learned_rules()[1] == replace(second, hits=2, last_hit=9.0)
        store.keep_rule(replace(store.learned_rules()[1], enabled=False))
        assert store.learned_rules()[1] == replace(second, hits=2, last_hit=9.0, enabled=False)
        assert store.remove_rule("a")
        assert list(store.learned_rules()) == [first]

    def test_all_that_one_teacher_taught_is_forgotten_at_once(self, store: Store) -> None:
        theirs = a_past_failure("stated", "a", origin=an_origin("operator"))
        store.remember_failure(theirs)
        store.remember_failure(a_past_failure("guessed", "a", "b"))
        kept = a_learned_rule("added", origin=an_origin("operator"))
        store.keep_rule(kept)
        store.keep_rule(a_learned_rule("proposed"))
        store.keep_rule(a_learned_rule("accepted", accepted_by="ada"))
        assert set(store.forget_lessons(teacher="llm")) == {"guessed", "proposed", "accepted"}
        assert store.recall_failures(["a", "b"]) == {"a": theirs}
        assert list(store.past_failures()) == [theirs]
        assert list(store.learned_rules()) == [kept]

    def test_a_nul_in_a_text_hides_nothing(self, store: Store) -> None:
        """A person's note, a log's line or a job's name may have one."""
        odd = "a\0b\\u0000c\0\0"
        kept = "a\ufffdb\\u0000c\ufffd\ufffd"
        run = a_past_run(job=a_job(name=odd, state=JobState.FAILED))
        store.keep_run(run)
        store.keep_diagnosis("1", 0, a_diagnosis("network", summary=odd))
        store.keep_listed([run.job])
        assert store.diagnoses("1")[0].summary == kept
        stated = a_diagnosis("network", summary=odd)
        made = KeptCorrection(by=odd, at=5.0, for_all=False, before=stated)
        store.keep_diagnosis("1", 0, stated, correction=made)
        [found] = store.page_of_runs(user=None, reason="network", limit=5, offset=0)
        assert found.job.name == kept
        assert not store.page_of_runs(user=odd, reason="network", limit=5, offset=0)
        assert store.failure_reason(run) == "network"
        assert set(store.job_facts(["1", odd])) >= {"1"}
