"""The queue as somebody asked for it: filtered, sorted, one page of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query
from pydantic import AfterValidator

from schedmate.model import JobState
from schedmate.model.job import is_among
from schedmate.model.state_filter import STATE_NAMES
from schedmate.service.views.queue_row import numbers_in, queue_place
from schedmate.web.paging import MOST

if TYPE_CHECKING:
    from schedmate.service.views.job_view import JobView

PAGE = 100
Sort = Literal["", "id", "user", "submitted", "ends", "predicted", "progress"]
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
    user: str = ""
    partition: str = ""
    q: str = ""
    """Words of which each is in the id, the name, the user, a node or a reason of a failure."""
    reason: str = ""
    """What an attempt died of: `gpu_oom`; then past jobs are listed too."""
    sort: Sort = ""
    down: bool = False
    offset: Annotated[int, Query(ge=0)] = 0
    limit: Annotated[int, Query(ge=1, le=MOST)] = PAGE

    def url(self, **changed: object) -> str:
        """The query string of this with something changed, without what is the default."""
        values = {one.name: getattr(self, one.name) for one in fields(self)} | changed
        kept = {
            one.name: values[one.name] for one in fields(self) if values[one.name] != one.default
        }
        return "?" + urlencode({name: _word(value) for name, value in kept.items()})

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
    may_read: Callable[[str], bool] = lambda _: True,
) -> Found:
    """`shown` is what the viewer may see of a view, and is made of those on the page alone.

    No one finds a job by what they may not read; it is sorted by numbers that everyone sees.
    """
    fitting = [view for view in views if _fits(view, wanted, may_read)]
    states = Counter(view.job.state for view in fitting)
    chosen = [view for view in fitting if is_among(view.job.state, wanted.state)]
    chosen.sort(key=_key(wanted.sort, now), reverse=wanted.down)
    page = chosen[wanted.offset : wanted.offset + wanted.limit]
    return Found(views=list(map(shown, page)), total=len(chosen), states=states)


def next_page(wanted: Wanted, found: Found) -> Wanted | None:
    following = wanted.offset + len(found.views)
    return replace(wanted, offset=following) if following < found.total else None


def _fits(view: JobView, wanted: Wanted, may_read: Callable[[str], bool]) -> bool:
    job = view.job
    if wanted.user and job.user != wanted.user:
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


def _key(sort: Sort, now: float) -> Callable[[JobView], tuple[object, ...]]:
    keys: dict[Sort, Callable[[JobView], tuple[object, ...]]] = {
        "id": lambda view: (numbers_in(view.job.id),),
        "user": lambda view: (view.job.user, numbers_in(view.job.id)),
        "submitted": lambda view: (view.job.submit_time, numbers_in(view.job.id)),
        "predicted": lambda view: _last(None if view.predicted is None else view.predicted.p50),
        "progress": lambda view: _last(None if view.progress is None else view.progress.fraction),
        "ends": lambda view: _last(_left(view, now)),
    }
    return keys.get(sort, lambda view: queue_place(view.job))


def _left(view: JobView, now: float) -> float | None:
    left = view.remaining_s(now)
    return None if left is None else left.p50


def _last(value: float | None) -> tuple[object, ...]:
    """Unknown ones come after the known ones."""
    return (value is None, value or 0.0)


def _word(value: object) -> str:
    return "1" if value is True else str(value)
