"""What failures have taught, as tables: answers by signature, and learned rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model.lessons import LearnedRule, PastFailure, Teacher
from schedmate.model.wire import loads
from schedmate.store.bodies import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.store.database import Database


class Lessons:
    """Fulfils `FailureMemory` and `RuleShelf`."""

    _db: Database

    def recall_failures(self, signatures: Sequence[str]) -> dict[str, PastFailure]:
        rows = self._db.rows(
            "SELECT signature, body FROM failure_signatures JOIN past_failures ON id = failure"
            " WHERE signature IN (SELECT value FROM json_each(?))"
            " ORDER BY failure_signatures.teacher",  # 'operator' comes last and so replaces 'llm'
            (json.dumps(list(signatures)),),
        )
        return {signature: loads(PastFailure, body) for signature, body in rows}

    def remember_failure(self, failure: PastFailure) -> None:
        teacher = failure.origin.teacher
        with self._db.transaction():
            self.forget_failure(failure.id)
            row = failure.id, teacher, failure.origin.at, dumps(failure)
            self._db.put("past_failures", [row])
            rows = ((signature, teacher, failure.id) for signature in failure.signatures)
            self._db.put("failure_signatures", rows)

    def past_failures(
        self, *, teacher: Teacher | None = None, limit: int = 1000
    ) -> list[PastFailure]:
        rows = self._db.rows(
            "SELECT body FROM past_failures WHERE (? IS NULL OR teacher = ?)"
            " ORDER BY at DESC, rowid DESC LIMIT ?",
            (teacher, teacher, limit),
        )
        return [loads(PastFailure, body) for (body,) in rows]

    def forget_failure(self, failure_id: str) -> bool:
        with self._db.transaction():
            self._db.run("DELETE FROM failure_signatures WHERE failure = ?", (failure_id,))
            return self._db.run("DELETE FROM past_failures WHERE id = ?", (failure_id,)) > 0

    def forget_lessons(self, *, teacher: Teacher) -> list[str]:
        with self._db.transaction():
            pasts = self._db.rows("SELECT id FROM past_failures WHERE teacher = ?", (teacher,))
            for (failure,) in pasts:
                self.forget_failure(failure)
            rules = [rule.id for rule in self.learned_rules() if rule.origin.teacher == teacher]
            for rule in rules:
                self.remove_rule(rule)
        return [*(failure for (failure,) in pasts), *rules]

    def learned_rules(self) -> list[LearnedRule]:
        rows = self._db.rows("SELECT body, hits, last_hit FROM learned_rules ORDER BY at, rowid")
        return [
            replace(loads(LearnedRule, body), hits=hits, last_hit=last_hit)
            for body, hits, last_hit in rows
        ]

    def keep_rule(self, rule: LearnedRule) -> None:
        row = rule.id, rule.origin.at, rule.hits, rule.last_hit, dumps(rule)
        self._db.put("learned_rules", [row])

    def remove_rule(self, rule_id: str) -> bool:
        return self._db.run("DELETE FROM learned_rules WHERE id = ?", (rule_id,)) > 0

    def count_rule_hit(self, rule_id: str, *, at: float) -> None:
        self._db.run(
            "UPDATE learned_rules SET hits = hits + 1, last_hit = ? WHERE id = ?", (at, rule_id)
        )
