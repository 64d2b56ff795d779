"""The API as methods that return our values."""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from schedmate.client.transport import Address, Transport, problem_of
from schedmate.model import PastRun, ServerUnreachable
from schedmate.model.access import Token
from schedmate.model.lessons import LearnedRule, PastFailure
from schedmate.model.wire import from_json
from schedmate.service.views.answers import (
    ActsPage,
    AdvisedAnswer,
    CorrectedAnswer,
    CurvesAnswer,
    EtaAnswer,
    FileAnswer,
    JobAnswer,
    JobProgress,
    JobsPage,
    LogAnswer,
    RevertedAnswer,
    RunAnswer,
    ScheduledPrediction,
    SimilarRuns,
    StoppedAnswer,
    WhyAnswer,
)
from schedmate.service.views.job_view import JobView
from schedmate.service.views.site_answers import (
    AccuracyAnswer,
    ClusterAnswer,
    FailuresAnswer,
    Identity,
    ModelAnswer,
    NewToken,
    NodeAnswer,
    NotificationTest,
    PauseAnswer,
    RuleAnswer,
    SiteStatus,
    SubscriptionAnswer,
    Summary,
    TokenAnswer,
    WaitingJob,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from schedmate.model import JobId
    from schedmate.model.access import Subscription

_PAGE = 250


class Client:
    """Errors are those of `schedmate.model.errors`: NotFound, NotSignedIn, ServerUnreachable."""

    def __init__(
        self,
        server: str,
        *,
        token: str | None = None,
        timeout_s: float = 30.0,
        connect_s: float | None = None,
    ) -> None:
        """`server` is a URL or `unix:/path`; over the socket and loopback no token is needed.

        `connect_s` bounds the wait for a connection, where it is shorter.
        """
        self._transport = Transport(Address.of(server), token, timeout_s, connect_s)

    def me(self) -> Identity:
        """Who the server takes the caller for."""
        return from_json(Identity, self._transport.get("me"))

    def page_of_jobs(self, **query: str | int) -> JobsPage:
        """One page of the queue; `query` has state, id, user, partition, q, sort, limit, offset."""
        return from_json(JobsPage, self._transport.get("jobs", **query))

    def jobs(
        self, *, state: str = "", ids: str = "", user: str = "", partition: str = "", q: str = ""
    ) -> Iterator[JobView]:
        """The queue, page after page; several states, ids and users have commas between."""
        query = {"state": state, "id": ids, "user": user, "partition": partition, "q": q}
        query |= {"limit": str(_PAGE)}
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
        for page in self._pages(("predictions",), {"state": state}):
            yield from (from_json(ScheduledPrediction, one) for one in page["predictions"])

    def why(self, job_id: JobId) -> WhyAnswer:
        return from_json(WhyAnswer, self._transport.get("jobs", job_id, "why"))

    def eta(self, job_id: JobId) -> EtaAnswer:
        return from_json(EtaAnswer, self._transport.get("jobs", job_id, "eta"))

    def similar(self, job_id: JobId) -> SimilarRuns:
        return from_json(SimilarRuns, self._transport.get("jobs", job_id, "similar"))

    def log(self, job_id: JobId, **query: Any) -> LogAnswer:
        """A part of a log; `query` has file, at, line, q, show, limit, or is a page's `next`."""
        return from_json(LogAnswer, self._transport.get("jobs", job_id, "log", **query))

    def search_log(self, job_id: JobId, words: str, *, file: int = 0) -> Iterator[LogAnswer]:
        """Page after page of lines with these words, to the end of the log."""
        for page in self._pages(("jobs", job_id, "log"), {"q": words, "file": file}):
            yield from_json(LogAnswer, page)

    def quoted_file(self, job_id: JobId, name: str, *, line: int = 1) -> FileAnswer:
        """The lines around one that evidence quotes."""
        answer = self._transport.get("jobs", job_id, "file", name=name, line=line)
        return from_json(FileAnswer, answer)

    def curves(self, job_id: JobId) -> CurvesAnswer:
        return from_json(CurvesAnswer, self._transport.get("jobs", job_id, "curves"))

    def acts(self, job_id: JobId) -> ActsPage:
        """What people did to a job through SchedMate."""
        return from_json(ActsPage, self._transport.get("jobs", job_id, "acts"))

    def correct(
        self, job_id: JobId, reason: str, *, note: str = "", for_all: bool = False
    ) -> CorrectedAnswer:
        """What its newest attempt really died of; `for_all` such failures only for operators."""
        body = {"reason": reason, "note": note, "for_all": for_all}
        answer = self._transport.post("jobs", job_id, "correct", body=body)
        return from_json(CorrectedAnswer, answer)

    def withdraw(self, job_id: JobId) -> CorrectedAnswer:
        """Take the correction of its newest attempt back: its diagnosis is the one from before."""
        answer = self._transport.post("jobs", job_id, "withdraw", body={})
        return from_json(CorrectedAnswer, answer)

    def revert(self, job_id: JobId, *, dry_run: bool = False) -> RevertedAnswer:
        """Undo what SchedMate did to a job; for operators only."""
        body = {"dry_run": dry_run}
        return from_json(RevertedAnswer, self._transport.post("jobs", job_id, "revert", body=body))

    def stop(self, job_id: JobId) -> StoppedAnswer:
        """End a run that goes on for nothing; for its owner and operators."""
        return from_json(StoppedAnswer, self._transport.post("jobs", job_id, "stop", body={}))

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

    def cluster(self, *, hours: int = 24, by: str = "user") -> ClusterAnswer:
        """With the first of those who wait; `waiting()` has all."""
        return from_json(ClusterAnswer, self._transport.get("cluster", hours=hours, by=by))

    def waiting(self) -> Iterator[WaitingJob]:
        """Who waits for what and until when, in the order of their turns."""
        for page in self._pages(("cluster",), {"limit": _PAGE}):
            yield from (from_json(WaitingJob, one) for one in page["waiting"])

    def nodes(self, *, q: str = "", suspect: bool = False) -> Iterator[NodeAnswer]:
        """The most suspect first."""
        query = {"q": q, "suspect": "true" if suspect else "", "limit": _PAGE}
        for page in self._pages(("nodes",), query):
            yield from (from_json(NodeAnswer, one) for one in page["nodes"])

    def failures(self, *, days: int = 30) -> FailuresAnswer:
        return from_json(FailuresAnswer, self._transport.get("failures", days=days))

    def accuracy(self) -> AccuracyAnswer:
        return from_json(AccuracyAnswer, self._transport.get("accuracy"))

    def model_use(self, *, days: int = 30) -> ModelAnswer:
        return from_json(ModelAnswer, self._transport.get("model", days=days))

    def rules(self, *, proposed: bool | None = None) -> Iterator[LearnedRule]:
        query = {"proposed": "" if proposed is None else str(proposed).lower(), "limit": _PAGE}
        for page in self._pages(("rules",), query):
            yield from (from_json(LearnedRule, one) for one in page["rules"])

    def decide_on_rule(self, rule_id: str, *, accept: bool) -> RuleAnswer:
        """Accept or refuse what a model proposes; for operators only."""
        decision = "accept" if accept else "refuse"
        return from_json(RuleAnswer, self._transport.post("rules", rule_id, decision, body={}))

    def corrections(self) -> Iterator[PastFailure]:
        for page in self._pages(("corrections",), {"limit": _PAGE}):
            yield from (from_json(PastFailure, one) for one in page["corrections"])

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

    def pause(self, for_s: float | None = None) -> PauseAnswer:
        """Let the daemon do nothing, for so long or until `resume`; for operators only."""
        return from_json(PauseAnswer, self._transport.post("pause", body={"for_s": for_s}))

    def resume(self) -> PauseAnswer:
        return from_json(PauseAnswer, self._transport.post("resume", body={}))

    def audit(
        self, *, user: str = "", action: str = "", about: str = "", limit: int = 200
    ) -> ActsPage:
        """Who did what, the newest first; for operators only."""
        query = {"user": user, "action": action, "about": about, "limit": min(limit, _PAGE)}
        found = ActsPage(acts=(), next=None)
        for page in self._pages(("audit",), query):
            found = replace(found, acts=(*found.acts, *from_json(ActsPage, page).acts))
            if len(found.acts) >= limit:
                break
        return replace(found, acts=found.acts[:limit])

    def tokens(self) -> Iterator[Token]:
        """One's own, for operators those of all; the newest first."""
        for page in self._pages(("tokens",), {"limit": _PAGE}):
            yield from (from_json(Token, one) for one in page["tokens"])

    def create_token(
        self, *, name: str = "", days: float = 90.0, user: str = "", scope: str = "user"
    ) -> NewToken:
        """Its secret is in this answer and nowhere else."""
        body = {"name": name, "days": days, "user": user, "scope": scope}
        return from_json(NewToken, self._transport.post("tokens", body=body))

    def revoke_token(self, token_id: str) -> TokenAnswer:
        return from_json(TokenAnswer, self._transport.delete("tokens", token_id))

    def subscription(self) -> SubscriptionAnswer:
        return from_json(SubscriptionAnswer, self._transport.get("me", "notifications"))

    def subscribe(self, wanted: Subscription) -> SubscriptionAnswer:
        """For the asking user, whatever `wanted` names."""
        body = {"channels": wanted.channels, "kinds": wanted.kinds, "mail": wanted.mail}
        answer = self._transport.put("me", "notifications", body=body)
        return from_json(SubscriptionAnswer, answer)

    def unsubscribe(self) -> SubscriptionAnswer:
        return from_json(SubscriptionAnswer, self._transport.delete("me", "notifications"))

    def test_notifications(self, channel: str = "") -> NotificationTest:
        """Send a message that only says that messages arrive, by one channel or one's own."""
        body = {"channel": channel} if channel else {}
        answer = self._transport.post("me", "notifications", "test", body=body)
        return from_json(NotificationTest, answer)

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
