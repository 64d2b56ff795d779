"""What every store must do with tokens and notices; part of the store's contract."""

# ruff: noqa: S101 - these are tests: asserts are how they speak, numbers what they expect
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model.access import Notice, Subscription, Token

if TYPE_CHECKING:
    from schedmate.store import Store


class PeopleContract:
    def test_a_token_is_found_by_its_digest_alone(self, store: Store) -> None:
        token = Token(id="t1", user="ada", name="laptop'; --", created_at=5.0)
        store.keep_token(token, "d1")
        store.keep_token(replace(token, id="t0", created_at=9.0), "d2")
        assert store.token_of("d1") == token
        assert store.token_of("t1") is None
        assert [one.id for one in store.tokens()] == ["t1", "t0"]

    def test_a_revoked_token_stays_revoked(self, store: Store) -> None:
        store.keep_token(Token(id="t1", user="ada", created_at=5.0), "d1")
        assert store.change_token("t1", revoked_at=7.0)
        assert store.change_token("t1", revoked_at=9.0, used_at=8.0)
        assert not store.change_token("t2", revoked_at=7.0)
        [kept] = store.tokens()
        assert (kept.revoked_at, kept.used_at) == (7.0, 8.0)

    def test_tokens_are_dropped_some_time_after_their_end(self, store: Store) -> None:
        token = Token(id="endless", user="ada", created_at=1.0)
        store.keep_token(token, "d0")
        store.keep_token(replace(token, id="expired", expires_at=5.0), "d1")
        store.keep_token(replace(token, id="revoked", expires_at=99.0), "d2")
        store.keep_token(replace(token, id="later", expires_at=20.0), "d3")
        store.change_token("revoked", revoked_at=9.0)
        store.drop_tokens(ended_before=10.0)
        assert {one.id for one in store.tokens()} == {"endless", "later"}
        assert store.token_of("d1") is None

    def test_a_user_has_one_subscription(self, store: Store) -> None:
        store.subscribe(Subscription(user="ada", channels=("mail",)))
        store.subscribe(Subscription(user="ada", channels=("slack",), kinds=("failed",)))
        assert store.subscription("ada") == store.subscriptions()[0]
        assert [one.channels for one in store.subscriptions()] == [("slack",)]
        assert store.subscription("bob") is None
        assert store.unsubscribe("ada")
        assert not store.unsubscribe("ada")

    def test_a_notice_is_put_once_and_claimed_once(self, store: Store) -> None:
        assert store.put_notice(_notice(), due=10.0)
        assert not store.put_notice(_notice(), due=10.0)
        assert store.put_notice(_notice(attempt=1), due=20.0)
        assert not store.claim_notices(now=9.0, until=99.0, limit=10)
        assert store.claim_notices(now=10.0, until=15.0, limit=10) == [_notice()]
        assert not store.claim_notices(now=11.0, until=99.0, limit=10)
        assert store.claim_notices(now=15.0, until=16.0, limit=10) == [_notice()]

    def test_a_settled_notice_is_not_sent_again(self, store: Store) -> None:
        for attempt in range(3):
            store.put_notice(_notice(attempt=attempt), due=1.0)
        sent, later, given_up = store.claim_notices(now=1.0, until=2.0, limit=10)
        store.settle_notices([sent], sent=True)
        store.settle_notices([later], sent=False, again_at=50.0)
        store.settle_notices([given_up], sent=False)
        assert store.waiting_notices() == 1
        assert store.claim_notices(now=50.0, until=60.0, limit=10) == [later]
        assert not store.put_notice(sent, due=1.0)
        store.drop_notices(before=100.0)
        assert store.put_notice(sent, due=1.0)
        assert not store.put_notice(later, due=1.0)


def _notice(attempt: int = 0) -> Notice:
    return Notice(job_id="1", attempt=attempt, kind="failed", user="ada", at=5.0, text="gpu_oom")
