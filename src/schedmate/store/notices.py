"""What users want to hear of, and what is still to be sent to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from schedmate.model.access import Notice, Subscription
from schedmate.model.wire import loads
from schedmate.store.bodies import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.store.database import Database


class Notices(Protocol):
    """A notice is one row: it is put once, and claimed by one sender at a time."""

    def subscribe(self, subscription: Subscription) -> None:
        """In the place of the user's earlier one."""

    def unsubscribe(self, user: str) -> bool: ...

    def subscription(self, user: str) -> Subscription | None: ...

    def subscriptions(self) -> Sequence[Subscription]: ...

    def put_notice(self, notice: Notice, *, due: float) -> bool:
        """False where there is one of this kind about this attempt already."""

    def claim_notices(self, *, now: float, until: float, limit: int) -> Sequence[Notice]:
        """Those that are due; no one else gets them before `until`."""

    def settle_notices(
        self, notices: Sequence[Notice], *, sent: bool, again_at: float | None = None
    ) -> None:
        """Sent or given up; with `again_at` they are due again then."""

    def waiting_notices(self) -> int: ...

    def drop_notices(self, *, before: float) -> None:
        """Settled ones that are older; a notice about the same attempt could come again."""


_KEY = "scheduler = ? AND job_id = ? AND attempt = ? AND kind = ?"
_WAITING, _SENT, _GIVEN_UP = "waiting", "sent", "given up"


class NoticeTables:
    """Part of the store; see `Notices`."""

    _db: Database
    _scheduler: str

    def subscribe(self, subscription: Subscription) -> None:
        self._db.put("subscriptions", [(subscription.user, dumps(subscription))])

    def unsubscribe(self, user: str) -> bool:
        return self._db.run('DELETE FROM subscriptions WHERE "user" = ?', (user,)) > 0

    def subscription(self, user: str) -> Subscription | None:
        row = self._db.one('SELECT body FROM subscriptions WHERE "user" = ?', (user,))
        return None if row is None else loads(Subscription, row[0])

    def subscriptions(self) -> list[Subscription]:
        rows = self._db.rows('SELECT body FROM subscriptions ORDER BY "user"')
        return [loads(Subscription, body) for (body,) in rows]

    def put_notice(self, notice: Notice, *, due: float) -> bool:
        return (
            self._db.run(
                "INSERT INTO notices (scheduler, job_id, attempt, kind, at, state, due, body)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (scheduler, job_id, attempt, kind) DO NOTHING",
                (*self._key(notice), notice.at, _WAITING, due, dumps(notice)),
            )
            == 1
        )

    def claim_notices(self, *, now: float, until: float, limit: int) -> list[Notice]:
        rows = self._db.rows(
            "SELECT due, body FROM notices WHERE scheduler = ? AND state = ? AND due <= ?"
            " ORDER BY due LIMIT ?",
            (self._scheduler, _WAITING, now, limit),
        )
        found = [(due, loads(Notice, body)) for due, body in rows]
        return [
            notice
            for due, notice in found
            if self._db.run(
                f"UPDATE notices SET due = ? WHERE {_KEY} AND state = ? AND due = ?",  # noqa: S608
                (until, *self._key(notice), _WAITING, due),
            )
            == 1
        ]

    def settle_notices(
        self, notices: Sequence[Notice], *, sent: bool, again_at: float | None = None
    ) -> None:
        with self._db.transaction():
            for notice in notices:
                if again_at is not None:
                    self._db.run(
                        f"UPDATE notices SET due = ? WHERE {_KEY}",  # noqa: S608 - as above
                        (again_at, *self._key(notice)),
                    )
                    continue
                state = _SENT if sent else _GIVEN_UP
                self._db.run(
                    f"UPDATE notices SET state = ? WHERE {_KEY}",  # noqa: S608 - as above
                    (state, *self._key(notice)),
                )

    def waiting_notices(self) -> int:
        row = self._db.one(
            "SELECT count(*) FROM notices WHERE scheduler = ? AND state = ?",
            (self._scheduler, _WAITING),
        )
        return int(row[0])

    def drop_notices(self, *, before: float) -> None:
        self._db.run("DELETE FROM notices WHERE state <> ? AND at < ?", (_WAITING, before))

    def _key(self, notice: Notice) -> tuple[str, str, int, str]:
        return self._scheduler, notice.job_id, notice.attempt, notice.kind
