"""What every store must do with what failures have taught; part of the store's contract."""

# ruff: noqa: S101 - these are tests: asserts are how they speak, numbers what they expect
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from schedmate.model.lessons import LearnedRule, Origin, PastFailure

if TYPE_CHECKING:
    from schedmate.model.lessons import Teacher
    from schedmate.store import Store


def an_origin(teacher: Teacher = "llm", **parts: Any) -> Origin:
    values: dict[str, Any] = {"by": "somebody", "about": "a.log", "at": 5.0, **parts}
    return Origin(teacher=teacher, **values)


def a_past_failure(name: str, *signatures: str, **parts: Any) -> PastFailure:
    values: dict[str, Any] = {
        "reason": "data_error",
        "line": f"record 3 of {name} is cut short",
        "confidence": 0.7,
        "origin": an_origin(),
        **parts,
    }
    return PastFailure(id=name, signatures=signatures, **values)


def a_learned_rule(name: str = "r1", **parts: Any) -> LearnedRule:
    values: dict[str, Any] = {
        "reason": "data_error",
        "pattern": r"record \d{1,9} of shard \d{1,9} is cut short",
        "words": (" is cut short",),
        "positives": ("record 371 of shard 3 is cut short",),
        "origin": an_origin(),
        **parts,
    }
    return LearnedRule(id=name, **values)


class LessonsContract:
    def test_an_empty_one_has_learnt_nothing(self, store: Store) -> None:
        assert store.recall_failures(["x"]) == {}
        assert store.recall_failures([]) == {}
        assert not store.past_failures()
        assert not store.learned_rules()
        assert not store.forget_failure("x")
        assert not store.remove_rule("x")
        store.count_rule_hit("x", at=1.0)

    def test_a_failure_is_recalled_by_each_of_its_signatures(self, store: Store) -> None:
        text = "üñïcødé; DROP TABLE past_failures -- 'x'"
        one = a_past_failure("one", text, "b", line=text, origin=an_origin(note=text))
        store.remember_failure(one)
        assert store.recall_failures([text, "b", "c"]) == {text: one, "b": one}

    def test_a_persons_word_goes_before_a_models(self, store: Store) -> None:
        told = a_past_failure("told", "a", reason="network", origin=an_origin("operator"))
        store.remember_failure(told)
        guessed = a_past_failure("guessed", "a", "b")
        store.remember_failure(guessed)
        assert store.recall_failures(["a", "b"]) == {"a": told, "b": guessed}
        assert store.forget_failure("told")
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
