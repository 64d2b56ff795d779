"""Verbs that look: what the site's daemon knows, or else what this machine shows by itself."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from schedmate.cli._common import duration, say

if TYPE_CHECKING:
    from schedmate.client import Client
    from schedmate.config import Settings
    from schedmate.model import Job, JobId, JobState
    from schedmate.service.views.folding import Fold
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.parts import Parts

T = TypeVar("T")
_TIMEOUT_S = 10.0
_CONNECT_S = 3.0
"""To a machine that answers at all this takes no time, however busy the daemon is."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A job, its parts, and a view of each group of them; of an undivided job one view."""

    views: Sequence[JobView]
    parts: tuple[Parts, ...]
    reasons: Sequence[str] = ()
    """Why each is as it is, where the daemon has answered that."""

    def headed(self, lines: Sequence[str]) -> list[str]:
        heads = [f"{part.in_words()}: " for part in self.parts] or [""]
        return [head + line for head, line in zip(heads, lines, strict=True)]


def asked(
    settings: Settings,
    of_daemon: Callable[[Client], T],
    here: Callable[[], T],
    *,
    for_operators: bool = False,
) -> T:
    """The daemon's answer where there is one, with a note where there is none.

    What is `for_operators` is about the site: a refusal is not followed by one's own state.
    """
    from schedmate.model import NotFound, NotSignedIn, ServerUnreachable

    if not settings.server:
        return here()
    try:
        return of_daemon(client_of(settings))
    except (NotSignedIn, ServerUnreachable) as error:
        if for_operators and isinstance(error, NotSignedIn):
            raise
        say(f"{error}; shown is what this machine knows by itself")
        return here()
    except NotFound as error:
        if for_operators:  # the API hides from others that there is anything
            raise NotSignedIn("the daemon refuses: this is for operators only") from error
        try:
            return here()  # the daemon may not have seen it yet
        except NotFound:
            raise error from None


def client_of(settings: Settings) -> Client:
    """With the user's own token, where one is set."""
    from schedmate.client import Client
    from schedmate.disk.private import open_to_all
    from schedmate.model import BadInput

    token = None if settings.token is None else settings.token.reveal()
    if token is None and settings.token_file is not None:
        if warning := open_to_all(settings.token_file, "token_file"):
            say(warning)
        try:
            token = settings.token_file.expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"token_file {settings.token_file} cannot be read: {error}") from error
    return Client(settings.server, token=token, timeout_s=_TIMEOUT_S, connect_s=_CONNECT_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAsked:
    """Which jobs are asked for; None: all."""

    ids: Sequence[str] | None = None
    users: Sequence[str] | None = None
    states: str = ""
    most: int | None = None
    """So many rows at most: where there are more, those that need attention and one's own first."""
    folded: bool = False
    """The tasks of an array are one row."""
    live: bool = False
    """What runs, then what waits comes first, whosever it is."""

    def fits(self, job: Job) -> bool:
        from schedmate.model import array_of
        from schedmate.model.job import is_among

        return (
            (self.ids is None or not {job.id, array_of(job.id)}.isdisjoint(self.ids))
            and (self.users is None or job.user in self.users)
            and is_among(job.state, self.states)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueShown:
    """In the order of the queue, or where it is a part of it, what matters first."""

    views: Sequence[JobView]
    total: int
    folds: Mapping[JobId, Folded] = field(default_factory=dict)
    """Arrays of which one view stands for all tasks, by its id."""
    states: Counter[JobState] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Folded:
    fold: Fold
    told: Sequence[JobView]


def queue_of(settings: Settings, wanted: QueueAsked) -> QueueShown:
    return asked(
        settings,
        lambda client: _queue_at_daemon(client, wanted),
        lambda: _queue_here(settings, wanted),
    )


def _queue_at_daemon(client: Client, wanted: QueueAsked) -> QueueShown:
    ids, users = ",".join(wanted.ids or ()), ",".join(wanted.users or ())
    if wanted.most is None:
        views = list(client.jobs(ids=ids, user=users, state=wanted.states))
        return folded_queue(views, wanted)
    page = client.page_of_jobs(
        sort="attention", limit=wanted.most, id=ids, user=users, state=wanted.states
    )
    if page.total > len(page.jobs):
        return QueueShown(views=page.jobs, total=page.total)
    from schedmate.service.views.queue_order import queue_place

    ordered = sorted(page.jobs, key=lambda view: queue_place(view.job))
    return folded_queue(ordered, wanted)


def folded_queue(views: Sequence[JobView], wanted: QueueAsked) -> QueueShown:
    """All that there are, as the daemon or another machine has sent them."""
    from schedmate.service.views.job_view import JobView

    jobs, by_id = [view.job for view in views], {view.job.id: view for view in views}
    folds = _rows_of(jobs, wanted)

    def known(of: Sequence[Job]) -> list[JobView]:
        return [by_id.get(job.id) or JobView(job=job, diagnoses={}) for job in of]

    return _shown(folds, jobs, known, total=len(folds))


def _rows_of(jobs: Sequence[Job], wanted: QueueAsked) -> list[Fold]:
    from schedmate.service.views.folding import fold_tasks

    return fold_tasks(jobs) if wanted.folded else [one for job in jobs for one in fold_tasks([job])]


def _shown(
    folds: Sequence[Fold],
    jobs: Sequence[Job],
    views_of: Callable[[Sequence[Job]], list[JobView]],
    *,
    total: int,
) -> QueueShown:
    from schedmate.service.views.folding import count_states

    arrays = [fold for fold in folds if fold.tasks]
    return QueueShown(
        views=views_of([fold.job for fold in folds]),
        total=total,
        folds={fold.job.id: Folded(fold, views_of(fold.told_by)) for fold in arrays},
        states=count_states(jobs),
    )


def _queue_here(settings: Settings, wanted: QueueAsked) -> QueueShown:
    from schedmate.service.met_jobs import met_jobs
    from schedmate.service.views.attention import attention_rank
    from schedmate.service.views.job_view import views_of
    from schedmate.service.views.queue_order import queue_place
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    store, viewer = open_store(settings), viewer_of(settings)
    met = met_jobs(open_scheduler(settings), store, wanted.ids)
    jobs = [job for job in met if wanted.fits(job)]
    jobs.sort(key=queue_place)
    folds = _rows_of(jobs, wanted)
    chosen = folds
    if wanted.most is not None and len(folds) > wanted.most:
        if not wanted.live:
            noticed = store.noticed([job.id for job in jobs if not job.state.ended])
            chosen = sorted(folds, key=lambda fold: attention_rank(fold.job, viewer, noticed))
        chosen = chosen[: wanted.most]
    return _shown(chosen, jobs, lambda of: views_of(of, store, viewer), total=len(folds))


def sight_of(
    settings: Settings, job_id: str, *, reasons: bool = False, first: bool = False
) -> Sight:
    """With `reasons` also why each is as it is; with `first` a view of the first group alone."""

    def of_daemon(client: Client) -> Sight:
        from schedmate.service.views.answers import copied
        from schedmate.service.views.job_view import JobView

        whole = client.job(job_id)
        shown = [part.shown for part in whole.parts][: 1 if first else None]
        views = [whole if one == whole.job.id else client.job(one) for one in shown] or [whole]
        answers = [client.why(view.job.id).answer for view in views] if reasons else ()
        return Sight([copied(JobView, one) for one in views], whole.parts, answers)

    return asked(settings, of_daemon, lambda: _sight_here(settings, job_id, first=first))


def _sight_here(settings: Settings, job_id: str, *, first: bool) -> Sight:
    from schedmate.service.views.job_view import job_view, parts_in
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    scheduler, store, viewer = open_scheduler(settings), open_store(settings), viewer_of(settings)
    parts = parts_in(scheduler, job_id)
    shown = [part.shown for part in parts][: 1 if first else None] or [job_id]
    return Sight([job_view(scheduler, store, viewer, one) for one in shown], parts)


def reasons_of(settings: Settings, job_id: str) -> tuple[Sight, list[str]]:
    """Why a job waits, goes on or failed: one line, or one for each group of its parts."""
    from schedmate.service.views.sentences import why_sentence
    from schedmate.service.wiring import objections, open_scheduler

    sight = sight_of(settings, job_id, reasons=True)
    if sight.reasons:
        return sight, sight.headed(sight.reasons)
    queue, now, objection = open_scheduler(settings).jobs(), time.time(), objections(settings)
    lines = [
        why_sentence(view, queue, now, duration, objection=objection(view.job))
        for view in sight.views
    ]
    return sight, sight.headed(lines)
