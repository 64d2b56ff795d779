"""The API as methods that return our values."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from schedmate.client.transport import Address, Transport, problem_of
from schedmate.model import PastRun, ServerUnreachable
from schedmate.model.wire import from_json
from schedmate.service.views.answers import (
    AdvisedAnswer,
    EtaAnswer,
    Identity,
    JobAnswer,
    JobProgress,
    RunAnswer,
    ScheduledPrediction,
    SimilarRuns,
    SiteStatus,
    SubscriptionAnswer,
    Summary,
    WhyAnswer,
)
from schedmate.service.views.job_view import JobView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from schedmate.model import JobId
    from schedmate.model.access import Subscription

_PAGE = 1000


class Client:
    """Errors are those of `schedmate.model.errors`: NotFound, NotSignedIn, ServerUnreachable."""

    def __init__(self, server: str, *, token: str | None = None, timeout_s: float = 30.0) -> None:
        """`server` is a URL or `unix:/path`; over the socket and loopback no token is needed."""
        self._transport = Transport(Address.of(server), token, timeout_s)

    def me(self) -> Identity:
        """Who the server takes the caller for."""
        return from_json(Identity, self._transport.get("me"))

    def jobs(
        self, *, state: str = "", user: str = "", partition: str = "", q: str = ""
    ) -> Iterator[JobView]:
        """The queue, page after page."""
        query = {"state": state, "user": user, "partition": partition, "q": q, "limit": _PAGE}
        for page in self._pages(("jobs",), query):
            yield from (from_json(JobView, one) for one in page["jobs"])

    def job(self, job_id: JobId) -> JobAnswer:
        return from_json(JobAnswer, self._transport.get("jobs", job_id))

    def progress(self, job_id: JobId) -> JobProgress:
        return from_json(JobProgress, self._transport.get("jobs", job_id, "progress"))

    def prediction(self, job_id: JobId) -> ScheduledPrediction:
        return from_json(ScheduledPrediction, self._transport.get("jobs", job_id, "prediction"))

    def predictions(self, *, state: str = "PENDING,RUNNING") -> Iterator[ScheduledPrediction]:
        """Of all jobs in these states, in the order of submission."""
        for page in self._pages(("predictions",), {"state": state, "limit": _PAGE}):
            yield from (from_json(ScheduledPrediction, one) for one in page["predictions"])

    def why(self, job_id: JobId) -> WhyAnswer:
        return from_json(WhyAnswer, self._transport.get("jobs", job_id, "why"))

    def eta(self, job_id: JobId) -> EtaAnswer:
        return from_json(EtaAnswer, self._transport.get("jobs", job_id, "eta"))

    def similar(self, job_id: JobId) -> SimilarRuns:
        return from_json(SimilarRuns, self._transport.get("jobs", job_id, "similar"))

    def history(self, *, user: str = "", limit: int = 50) -> list[PastRun]:
        """The newest runs first."""
        runs: list[PastRun] = []
        for page in self._pages(("history",), {"user": user, "limit": min(limit, _PAGE)}):
            runs += (from_json(PastRun, one) for one in page["runs"])
            if len(runs) >= limit:
                break
        return runs[:limit]

    def past_run(self, job_id: JobId) -> RunAnswer:
        return from_json(RunAnswer, self._transport.get("history", job_id))

    def summary(self) -> Summary:
        return from_json(Summary, self._transport.get("summary"))

    def advise(
        self,
        *,
        script: str | None = None,
        command: Sequence[str] | None = None,
        workload: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> AdvisedAnswer:
        """What is known within 0.2 s; until its state is `final`, `advised(id)` may know more.

        `more` are the other fields of the request: workdir, args, gpus, nodes, partition, …
        """
        asked = {"script": script, "command": command, "workload": workload, **more}
        body = {name: value for name, value in asked.items() if value is not None}
        return from_json(AdvisedAnswer, self._transport.post("advise", body=body))

    def advised(self, advice_id: str) -> AdvisedAnswer:
        return from_json(AdvisedAnswer, self._transport.get("advise", advice_id))

    def status(self) -> SiteStatus:
        """For operators only."""
        return from_json(SiteStatus, self._transport.get("status"))

    def subscription(self) -> SubscriptionAnswer:
        return from_json(SubscriptionAnswer, self._transport.get("me", "notifications"))

    def subscribe(self, wanted: Subscription) -> SubscriptionAnswer:
        """For the asking user, whatever `wanted` names."""
        body = {"channels": wanted.channels, "kinds": wanted.kinds, "mail": wanted.mail}
        answer = self._transport.put("me", "notifications", body=body)
        return from_json(SubscriptionAnswer, answer)

    def unsubscribe(self) -> SubscriptionAnswer:
        return from_json(SubscriptionAnswer, self._transport.delete("me", "notifications"))

    def events(self) -> Iterator[list[JobId] | None]:
        """The ids of jobs as they change, None where all should be asked for; ends with it."""
        connection, answer = self._transport.open("GET", ("events",), {}, None)
        try:
            if answer.status != HTTPStatus.OK:
                raise problem_of(answer.status, json.loads(answer.read()))
            for line in answer:
                name, _, value = line.decode().rstrip("\r\n").partition(": ")
                if name == "data":
                    yield json.loads(value)["jobs"]
        except OSError as error:
            raise ServerUnreachable(f"the stream of events broke off ({error})") from error
        finally:
            connection.close()

    def _pages(self, path: tuple[str, ...], query: dict[str, Any]) -> Iterator[Any]:
        while True:
            page = self._transport.get(*path, **query)
            yield page
            if page["next"] is None:
                return
            query = dict(parse_qsl(page["next"].removeprefix("?")))
