"""Advice for those who cannot wait: the best there is within a deadline, and the rest later.

A question is read twice beside the asker: first the script's own text, without opening a file, then
the job's code with the rights of its user. What is ready at the deadline is the answer.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.files.shared import NoFiles
from schedmate.model import (
    Advice,
    Prediction,
    Request,
    SchedMateError,
    StoreError,
    StoreUnavailable,
    Workload,
)
from schedmate.model.advice import AdviceState
from schedmate.model.wire import from_json
from schedmate.service.visibility import Viewer, owners_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schedmate.advisor import Target
    from schedmate.store import Store

_log = logging.getLogger("schedmate.advice")
_MOST_WAITING = 32
_MOST_KEPT = 500
_NOTHING_YET = Advice(
    workload=Workload(),
    prediction=Prediction(basis="none", explanation="the job has not been read yet"),
)


class TooManyQuestions(SchedMateError):
    """Advice is never worth a queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceQuestion:
    """A script or a command line in a directory, or a workload record, of one user."""

    user: str
    workdir: str = ""
    script: str | None = None
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    request: Request = field(default_factory=Request)
    workload: Mapping[str, Any] | None = None
    name: str = ""


@dataclass(slots=True)
class AdviceTicket:
    """One question on its way; `changed` is set whenever there is a better answer."""

    id: str
    asker: str
    question: AdviceQuestion
    advice: Advice = _NOTHING_YET
    state: AdviceState = "reading"
    asked_at: float = field(default_factory=time.time)
    failure: StoreError | None = None
    """Why there is no answer, and none to come."""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def fail(self, error: StoreError) -> None:
        with self.changed:
            self.failure, self.state = error, "final"
            self.changed.notify_all()

    def improve(self, advice: Advice, state: AdviceState) -> None:
        with self.changed:
            self.advice, self.state = advice, state
            self.changed.notify_all()

    def answer(self) -> tuple[Advice, AdviceState]:
        """StoreError where the store could not be read for it."""
        with self.changed:
            if self.failure is not None:
                raise self.failure
            return self.advice, self.state

    def wait(self, seconds: float) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.state == "final", seconds)


class QuickAdvice:
    """Answers in `threads` of its own; what was answered can be asked for again for a while."""

    def __init__(self, open_store: Callable[[], Store], *, threads: int = 2) -> None:
        self._open_store = open_store
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="advice")
        self._lock = threading.Lock()
        self._waiting: deque[str] = deque()
        self._kept: OrderedDict[str, AdviceTicket] = OrderedDict()

    def rehearse(self) -> None:
        """Import what answers need, so that the first asker does not wait for it."""
        question = AdviceQuestion(user="", script="python train.py\n")
        ticket = AdviceTicket("", "", question)
        with self._lock:
            self._waiting.append(ticket.id)
        self._pool.submit(self._work, ticket, Viewer(user="", operator=False), None)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def ask(self, viewer: Viewer, question: AdviceQuestion, *, within_s: float) -> AdviceTicket:
        """What is known after `within_s` at most."""
        workload = None if question.workload is None else workload_of(question.workload)
        ticket = AdviceTicket(secrets.token_urlsafe(12), viewer.user, question)
        with self._lock:
            if len(self._waiting) >= _MOST_WAITING:
                raise TooManyQuestions("too many questions at once; ask again in a second")
            self._waiting.append(ticket.id)
            self._kept[ticket.id] = ticket
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._pool.submit(self._work, ticket, viewer, workload)
        ticket.wait(within_s)
        return ticket

    def ticket(self, viewer: Viewer, ticket_id: str) -> AdviceTicket | None:
        """Of one's own question only."""
        with self._lock:
            found = self._kept.get(ticket_id)
        known = found is not None and (viewer.operator or found.asker == viewer.user)
        return found if known else None

    def _opened(self) -> Store:
        """Once the daemon runs its settings are right: what cannot be opened is away for now."""
        try:
            return self._open_store()
        except SchedMateError as error:
            raise StoreUnavailable(str(error)) from error

    def _work(self, ticket: AdviceTicket, viewer: Viewer, workload: Workload | None) -> None:
        try:
            with closing(self._opened()) as store:
                _answer(ticket, viewer, workload, store)
        except StoreError as error:
            ticket.fail(error)
        except Exception:  # noqa: BLE001 - whatever a question makes the advisor stumble over
            _log.warning("no advice on a question of %s", ticket.asker, exc_info=True)
            ticket.improve(ticket.advice, "final")
        finally:
            with self._lock:
                self._waiting.remove(ticket.id)


def _answer(ticket: AdviceTicket, viewer: Viewer, workload: Workload | None, store: Store) -> None:
    from schedmate.advisor import Advisor

    question = ticket.question

    def shown(advice: Advice) -> Advice:
        return viewer.advice(advice, question.user, owners_in(store))

    target = target_of(question)
    if workload is not None:
        ticket.improve(shown(_of_record(store, target, workload)), "final")
        return
    advisor = Advisor(store, store)
    blind = replace(target, by=NoFiles(question.user))
    early = advisor.advise(blind).advice
    # what is missing without its files is no remark about the job
    ticket.improve(shown(replace(early, advice=())), "preliminary")
    if question.workdir:
        early = advisor.advise(target).advice
    ticket.improve(shown(early), "final")


def workload_of(values: Mapping[str, Any]) -> Workload:
    """A record from plain values; BadInput where a field is unknown or of another type."""
    stated = {
        name: None if value is None else {"value": value, "source": "cli"}
        for name, value in values.items()
    }
    return from_json(Workload, stated)


def target_of(question: AdviceQuestion) -> Target:
    """Files are read with the rights of the question's user, never with the daemon's."""
    from schedmate.advisor import Target
    from schedmate.advisor.interpret.shell.directives import read_directives
    from schedmate.advisor.sources.files import SourceFile
    from schedmate.service.usecases.submission import request_of

    name = question.command[0] if question.command else "script"
    request = question.request
    if question.script is not None:
        asked = read_directives(SourceFile(name, question.script))
        request = _filled(request, request_of(asked))
    return Target(
        workdir=Path(question.workdir or "/nonexistent"),
        command=question.command or (name, *question.args),
        script_text=question.script,
        script_name=None if question.script is None else name,
        args=question.args,
        request=request,
        user=question.user,
        name=question.name or Path(name).stem,
        submitted_at=time.time(),
    )


def _filled(stated: Request, in_script: Request) -> Request:
    """What the question states beats what the script's directives do."""
    default = Request()
    changes = {
        name: getattr(in_script, name)
        for name in ("gpus", "gpu_type", "nodes", "cpus", "memory_mb", "time_limit_s", "partition")
        if getattr(stated, name) == getattr(default, name)
    }
    return replace(stated, **changes)


def _of_record(store: Store, target: Target, workload: Workload) -> Advice:
    from schedmate.advisor.predict.without_runs import is_untaught, predict_alone

    if is_untaught(store):
        return Advice(workload=workload, prediction=predict_alone(target, None, workload))
    from schedmate.advisor.predict.prediction import predict

    made = predict(store, target, None, workload, now=time.time())
    return Advice(workload=workload, prediction=made)
