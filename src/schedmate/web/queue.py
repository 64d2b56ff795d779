"""The queue as somebody asked for it: filtered, sorted, one page of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query
from pydantic import AfterValidator

from schedmate.model import JobState, array_of
from schedmate.model.job import is_among
from schedmate.model.state_filter import STATE_NAMES
from schedmate.service.views.attention import attention_rank, is_noticed
from schedmate.service.views.queue_order import numbers_in
from schedmate.service.visibility import Viewer
from schedmate.web.paging import MOST

if TYPE_CHECKING:
    from schedmate.service.views.job_view import JobView

PAGE = 100
ANYONE = Viewer(user="", operator=True)
Sort = Literal["", "attention", "id", "user", "submitted", "ends", "predicted", "progress"]
_STATE_WORDS = (*STATE_NAMES, *(state.lower() for state in STATE_NAMES))
_ONE_STATE = f"(?:{'|'.join(_STATE_WORDS)})"


def _known_states(text: str) -> str:
    unknown = [word for word in text.split(",") if text and word not in _STATE_WORDS]
    if unknown:
        raise ValueError(
            f"no state is called {unknown[0]!r}; the states are {', '.join(STATE_NAMES)}"
        )
    return text


States = Annotated[
    str,
    AfterValidator(_known_states),
    Query(
        description="States with commas between, each exactly itself; `failing` stands for all "
        "that ended otherwise than well or by someone's wish: FAILED, TIMEOUT, NODE_FAIL, "
        "OUT_OF_MEMORY, PREEMPTED.",
        json_schema_extra={"pattern": f"^(?:{_ONE_STATE}(?:,{_ONE_STATE})*)?$"},
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a query string asks for; the same words for the page and the API."""

    state: States = ""
    id: str = ""
    """Ids with commas between; an array's stands for its tasks too."""
    user: str = ""
    """Names with commas between."""
    partition: str = ""
    q: str = ""
    """Words of which each is in the id, the name, the user, a node or a reason of a failure."""
    reason: str = ""
    """What an attempt died of: `gpu_oom`; then past jobs are listed too."""
    sort: Sort = ""
    down: bool = False
    offset: Annotated[int, Query(ge=0)] = 0
    limit: Annotated[int, Query(ge=1, le=MOST)] = PAGE

    @property
    def filters(self) -> bool:
        """Whether it asks for less than the whole queue, states apart."""
        return bool(self.id or self.user or self.partition or self.q or self.reason)

    def url(self, **changed: object) -> str:
        """The query string of this with something changed, without what is the default."""
        return _url(self, tuple(changed.items()))

    @property
    def before(self) -> int | None:
        """Where the page before this one begins."""
        return max(0, self.offset - self.limit) if self.offset else None

    def sorted_by(self, sort: Sort) -> str:
        """The way to another order, or to the reverse of this one."""
        return self.url(sort=sort, down=self.sort == sort and not self.down, offset=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    views: Sequence[JobView]
    total: int
    """How many there are on all pages."""
    states: Counter[JobState]
    """Of all that fit but for their state: what a choice of another state would show."""


def find(
    views: Sequence[JobView],
    wanted: Wanted,
    now: float,
    shown: Callable[[JobView], JobView] = lambda view: view,
    viewer: Viewer = ANYONE,
) -> Found:
    """`views` are in the order of the queue.

    `shown` is what the viewer may see of a view, and is made of those on the page alone. No one
    finds a job by what they may not read; it is sorted by numbers that everyone sees.
    """
    fitting = [view for view in views if not wanted.filters or _fits(view, wanted, viewer.may_read)]
    states = Counter(view.job.state for view in fitting)
    chosen = [view for view in fitting if is_among(view.job.state, wanted.state)]
    if wanted.sort == "attention":
        noticed = {view.job.id for view in chosen if is_noticed(view)}
        chosen.sort(key=lambda view: attention_rank(view.job, viewer, noticed))
        if wanted.down:
            chosen.reverse()
    elif wanted.sort:
        chosen.sort(key=_KEYS[wanted.sort](now), reverse=wanted.down)
    elif wanted.down:
        chosen.reverse()
    page = chosen[wanted.offset : wanted.offset + wanted.limit]
    return Found(views=list(map(shown, page)), total=len(chosen), states=states)


def last_page(wanted: Wanted, found: Found) -> Wanted | None:
    """Where the page is behind the end of what there is; None where it is not."""
    if not found.total or wanted.offset < found.total:
        return None
    return replace(wanted, offset=(found.total - 1) // wanted.limit * wanted.limit)


def next_page(wanted: Wanted, found: Found) -> Wanted | None:
    following = wanted.offset + len(found.views)
    return replace(wanted, offset=following) if following < found.total else None


def _fits(view: JobView, wanted: Wanted, may_read: Callable[[str], bool]) -> bool:
    job = view.job
    if wanted.user and job.user not in wanted.user.split(","):
        return False
    if wanted.id and not {job.id, array_of(job.id)} & set(wanted.id.split(",")):
        return False
    if wanted.partition and wanted.partition not in (job.request.partition or "").split(","):
        return False
    if not wanted.q and not wanted.reason:
        return True
    readable = may_read(job.user)
    reasons = {one.reason for one in view.diagnoses.values()} if readable else set()
    if wanted.reason and wanted.reason not in reasons:
        return False
    name = job.name if readable else ""
    text = " ".join((job.id, name, job.user, *job.nodes, *reasons)).lower()
    return all(word in text for word in wanted.q.lower().split())


_Key = Callable[["JobView"], tuple[object, ...]]
_KEYS: dict[Sort, Callable[[float], _Key]] = {
    "id": lambda _: lambda view: (numbers_in(view.job.id),),
    "user": lambda _: lambda view: (view.job.user, numbers_in(view.job.id)),
    "submitted": lambda _: lambda view: (view.job.submit_time, numbers_in(view.job.id)),
    "predicted": lambda _: (
        lambda view: _last(None if view.predicted is None else view.predicted.p50)
    ),
    "progress": lambda _: (
        lambda view: _last(None if view.progress is None else view.progress.fraction)
    ),
    "ends": lambda now: lambda view: _last(_left(view, now)),
}
"""By what else a queue is sorted, at a time."""


def _left(view: JobView, now: float) -> float | None:
    left = view.remaining_s(now)
    return None if left is None else left.p50


def _last(value: float | None) -> tuple[object, ...]:
    """Unknown ones come after the known ones."""
    return (value is None, value or 0.0)


@lru_cache(maxsize=2000)
def _url(wanted: Wanted, changed: tuple[tuple[str, object], ...]) -> str:
    """A page of the queue has one for each row, the same for all jobs of a user."""
    values = {one.name: getattr(wanted, one.name) for one in fields(wanted)} | dict(changed)
    kept = {one.name: values[one.name] for one in fields(wanted) if values[one.name] != one.default}
    return "?" + urlencode({name: _word(value) for name, value in kept.items()})


def _word(value: object) -> str:
    return "1" if value is True else str(value)
