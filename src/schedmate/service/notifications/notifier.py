"""Watches the jobs of those who subscribed, and sends what there is to say, a few at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict, deque
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from schedmate.model import SchedMateError
from schedmate.model.access import CORRECTION
from schedmate.model.rare_warning import RareWarning
from schedmate.service.notifications.addresses import PermanentError, TemporaryError
from schedmate.service.notifications.channels import channels_of
from schedmate.service.notifications.detecting import (
    FRESH_S,
    PATIENCE_S,
    is_undiagnosed,
    notices_in,
)
from schedmate.service.notifications.messages import message_of
from schedmate.service.views.board import Board
from schedmate.service.wiring import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from schedmate.config import Settings
    from schedmate.model import JobId
    from schedmate.model.access import Notice, Subscription
    from schedmate.service.notifications.channels import Channel
    from schedmate.service.views.sentences import Written
    from schedmate.site_settings import NotifySettings
    from schedmate.store import Store

_log = logging.getLogger("schedmate.notify")
_LOOK_S = 3.0
_CLAIM_S = 300.0
"""Longer than sending takes: another sender takes over what one that died had claimed."""
_AT_ONCE = 1000
_HOUR_S, _DAY_S = 3600.0, 86_400.0
_RETRY_S = 60.0
_KEPT_S = 30 * _DAY_S
Counts = Counter[tuple[str, str]]
"""By channel and outcome: sent, failed, retried."""


class Notifier:
    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        settings: NotifySettings,
        written: Written,
        counts: Counts | None = None,
    ) -> None:
        self._store, self._channels, self._settings = store, channels, settings
        self._written = written
        self._board = Board(store)
        self._undiagnosed: set[JobId] = set()
        self._batch_due: dict[str, float] = {}
        self._sent: defaultdict[str, deque[float]] = defaultdict(deque)
        self._tries: Counter[str] = Counter()
        self._tidied_at = 0.0
        self._since: float | None = None
        """What ended before was there when this notifier first looked, and is old."""
        self.counts: Counts = Counter() if counts is None else counts

    def look(self, now: float) -> None:
        """Write down what has happened, and send what is due."""
        if self._since is None:
            self._since = now - PATIENCE_S
        wanted = {one.user: one for one in self._store.subscriptions()}
        changed = set(self._board.refresh()) | self._undiagnosed
        self._undiagnosed.clear()
        for job_id in changed if wanted else ():
            self._consider(job_id, wanted, now)
        self._send_due(wanted, now)
        if now - self._tidied_at > _DAY_S:
            self._tidied_at = now
            self._store.drop_notices(before=now - _KEPT_S)

    def _consider(self, job_id: JobId, wanted: Mapping[str, Subscription], now: float) -> None:
        view = self._board.view(job_id)
        if view is None or view.job.user not in wanted:
            return
        since = max(self._since or 0.0, now - FRESH_S)
        if is_undiagnosed(view, since):
            self._undiagnosed.add(job_id)
        attempt = view.job.restarts
        last = self._store.run(job_id, attempt - 1) if attempt else None
        last_ended_at = None if last is None else last.job.end_time
        found = notices_in(view, now, self._written, since=since, last_ended_at=last_ended_at)
        for notice in found:
            ended_at = view.job.end_time if notice.attempt == attempt else last_ended_at
            if notice.kind not in wanted[notice.user].kinds:
                continue
            if notice.kind == "failed" and self._is_corrected(job_id, ended_at or now):
                continue
            self._store.put_notice(notice, due=self._due(notice.user, now))

    def _is_corrected(self, job_id: JobId, ended_at: float) -> bool:
        """What a person has corrected since it failed is known to people already."""
        acts = self._store.acts(about=f"job {job_id}", action=CORRECTION, limit=1)
        return any(act.at >= ended_at for act in acts)

    def _due(self, user: str, now: float) -> float:
        """What comes while a batch waits goes with it."""
        due = self._batch_due.get(user, 0.0)
        if due <= now:
            due = self._batch_due[user] = now + self._settings.wait_s
        return due

    def _send_due(self, wanted: Mapping[str, Subscription], now: float) -> None:
        by_user: defaultdict[str, list[Notice]] = defaultdict(list)
        for notice in self._store.claim_notices(now=now, until=now + _CLAIM_S, limit=_AT_ONCE):
            by_user[notice.user].append(notice)
        for user, notices in by_user.items():
            subscription = wanted.get(user)
            if subscription is None:
                self._store.settle_notices(notices, sent=False)
            elif (later := self._has_to_wait(user, now)) is not None:
                self._store.settle_notices(notices, sent=False, again_at=later)
            else:
                self._send(subscription, notices, now)

    def _has_to_wait(self, user: str, now: float) -> float | None:
        """Until when, where the user has had enough messages in the last hour."""
        sent = self._sent[user]
        while sent and sent[0] <= now - _HOUR_S:
            sent.popleft()
        return sent[0] + _HOUR_S if len(sent) >= self._settings.messages_an_hour else None

    def _send(self, subscription: Subscription, notices: Sequence[Notice], now: float) -> None:
        """Once it got through by one channel it is not sent again by another."""
        user = subscription.user
        message = message_of(user, notices, self._settings.link)
        outcomes = []
        for name in subscription.channels:
            channel = self._channels.get(name)
            if channel is None:
                continue
            about = {"user": user, "channel": name}
            try:
                channel.send(message, subscription)
                outcomes.append("sent")
            except PermanentError as error:
                _log.warning("no message to %s by %s: %s", user, name, error, extra=about)
                outcomes.append("failed")
            except TemporaryError as error:
                _log.warning("a message to %s by %s waits: %s", user, name, error, extra=about)
                outcomes.append("retried")
            self.counts[name, outcomes[-1]] += 1
        if "sent" in outcomes:
            self._sent[user].append(now)
            del self._tries[user]
            self._store.settle_notices(notices, sent=True)
        elif "retried" in outcomes and now - min(one.at for one in notices) < _DAY_S:
            self._tries[user] += 1
            pause = min(_RETRY_S * 2 ** (self._tries[user] - 1), _HOUR_S)
            self._store.settle_notices(notices, sent=False, again_at=now + pause)
        else:
            self._store.settle_notices(notices, sent=False)


@contextmanager
def notifying(settings: Settings, written: Written, counts: Counts | None = None) -> Iterator[None]:
    """In a thread beside the daemon, where the settings name a channel."""
    channels = channels_of(settings)
    if not channels:
        yield
        return
    stop = threading.Event()
    warn = RareWarning(_log, "notifications wait: %s")

    def run() -> None:
        with closing(open_store(settings)) as store:
            notifier = Notifier(store, channels, settings.notify, written, counts)
            while not stop.is_set():
                try:
                    notifier.look(time.time())
                except SchedMateError as error:
                    warn(error)
                except Exception:  # noqa: BLE001 - the next look may succeed
                    _log.exception("notifications wait")
                stop.wait(_LOOK_S)

    thread = threading.Thread(target=run, name="notify", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(5.0)
