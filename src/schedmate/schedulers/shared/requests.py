"""What a shared queue does for whom, and who sees what of others' jobs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from schedmate.disk.database import storable
from schedmate.model import BadInput, Job, NotFound, Request, SchedulerError
from schedmate.model.account import account_name
from schedmate.model.errors import NotAllowed
from schedmate.schedulers.local.submitting import LIMITS, Account, Prepared
from schedmate.schedulers.shared.protocol import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedmate.model import Submission
    from schedmate.schedulers.local import LocalScheduler
    from schedmate.schedulers.shared.protocol import Message, Question

_SHOWN: Final = frozenset(
    (
        *("id", "name", "user", "state", "submit_time", "first_submit", "start_time", "end_time"),
        *("restarts", "nodes", "nice", "eligible_time", "held", "tasks", "gpus"),
    )
)
"""What everybody sees of a job; new fields are hidden until they stand here."""
MOST_OF_ONE: Final = 20_000
"""Jobs and tasks of one account that have not ended."""
_MOST: Final = 10**9
_LONGEST_NAME: Final = 1000
_CHANGES: Final[dict[str, Callable[[LocalScheduler, Question], object]]] = {
    "cancel": lambda queue, asked: queue.cancel(asked.job_id),
    "hold": lambda queue, asked: queue.hold(asked.job_id),
    "release": lambda queue, asked: queue.release(asked.job_id),
    "move_to_top": lambda queue, asked: queue.move_to_top(asked.job_id),
    "set_nice": lambda queue, asked: queue.set_nice(
        asked.job_id, max(-_MOST, min(_MOST, asked.number))
    ),
    "set_time_limit": lambda queue, asked: queue.set_time_limit(asked.job_id, asked.seconds),
    "set_dependency": lambda queue, asked: queue.set_dependency(asked.job_id, asked.dependency),
    "set_excluded": lambda queue, asked: queue.set_excluded(asked.job_id, asked.nodes),
    "requeue": lambda queue, asked: queue.requeue(
        asked.job_id,
        run=asked.run,
        exclude_nodes=asked.nodes,
        delay_s=asked.delay_s,
        held=asked.held,
    ),
}
"""Of a job, by its owner and operators."""


class SharedRequests:
    """Answers one question after the other on behalf of the accounts that ask."""

    def __init__(self, queue: LocalScheduler, operators: Iterable[str]) -> None:
        self._queue = queue
        self._operators = frozenset(operators)

    def answer(self, uid: int, message: Message) -> Answer:
        question, user = message.question, account_name(uid)
        if not 0 <= question.delay_s < math.inf or not 0 <= (question.seconds or 0) < math.inf:
            raise BadInput("a time is out of range")
        if question.verb == "submit":
            return self._submit(uid, message)
        if question.verb in _CHANGES:
            self._check_owner(question, user)
            return Answer(flag=bool(_CHANGES[question.verb](self._queue, question)))
        ask = self._asked().get(question.verb)
        if ask is None:
            raise BadInput(f"the shared queue does not know {question.verb[:40]!r}")
        return ask(question, user)

    def _asked(self) -> dict[str, Callable[[Question, str], Answer]]:
        return {
            "jobs": self._jobs,
            "nodes": lambda question, _: Answer(nodes=tuple(self._queue.nodes(question.ids))),
            "rights": lambda _, user: Answer(flag=self._sees_all(user)),
            "script": self._script,
            "set_predictions": self._set_predictions,
            "drain": lambda question, user: self._leave_out(question, user, self._queue.drain),
            "resume": lambda question, user: self._leave_out(question, user, self._queue.resume),
            "trouble": lambda *_: Answer(text=self._queue.trouble()),
            "obstacle": self._obstacle,
            "waiting_tasks": lambda question, _: Answer(
                ids=tuple(self._queue.waiting_tasks(question.job_id))
            ),
            "activity": lambda question, user: Answer(
                activity=self._queue.activity(self._own(question, user))
            ),
            "written_files": lambda question, user: Answer(
                files={
                    job: tuple(sorted(files))
                    for job, files in self._queue.written_files(self._own(question, user)).items()
                }
            ),
        }

    def _submit(self, uid: int, message: Message) -> Answer:
        question = message.question
        if question.submission is None:
            raise BadInput("there is no job to submit")
        check_submission(question.submission, message.env)
        account = Account(uid=uid, user=account_name(uid))
        self._check_room(account.user, max(1, len(question.submission.tasks)))
        prepared = Prepared(
            submission=replace(question.submission, env=message.env),
            script=message.script,
            umask=question.umask & 0o777,
            limits=_known_limits(question.limits),
        )
        return Answer(text=self._queue.accept(prepared, account))

    def _check_room(self, user: str, more: int) -> None:
        """One account's jobs fill neither the disk nor the time of everybody."""
        unfinished = self._queue.count_unfinished(user)
        if unfinished + more > MOST_OF_ONE:
            raise SchedulerError(
                f"{user} has {unfinished} jobs that wait or run, and this queue takes "
                f"{MOST_OF_ONE} of one account: submit more when some have ended"
            )

    def _jobs(self, question: Question, user: str) -> Answer:
        jobs = self._queue.jobs(question.ids)
        return Answer(jobs=tuple(job if self._is_open(job, user) else shown(job) for job in jobs))

    def _script(self, question: Question, user: str) -> Answer:
        visible = self._is_open(self._job(question), user)
        return Answer(text=self._queue.script(question.job_id) if visible else None)

    def _set_predictions(self, question: Question, user: str) -> Answer:
        wanted = question.predictions
        if not all(0 <= spread.p90 < math.inf for spread in wanted.values()):
            raise BadInput("a time is out of range")
        own = {job.id for job in self._queue.jobs(tuple(wanted)) if self._is_open(job, user)}
        self._queue.set_predictions({job: spread for job, spread in wanted.items() if job in own})
        return Answer()

    def _leave_out(
        self, question: Question, user: str, change: Callable[[str, str], None]
    ) -> Answer:
        """GPUs are the machine's: who may see and cancel everybody's jobs may drain them."""
        if not self._sees_all(user):
            raise NotAllowed("only operators and root can drain and resume GPUs of this queue")
        if len(question.reason) > _LONGEST_NAME or not _is_text(question.reason):
            raise BadInput("the reason is no short text")
        for node in question.nodes:
            change(node, question.reason)
        return Answer()

    def _obstacle(self, question: Question, user: str) -> Answer:
        for job in self._own(question, user):
            found = self._queue.obstacle(job)
            if found is not None:
                return Answer(text=found.text, remedy=found.remedy)
        return Answer()

    def _own(self, question: Question, user: str) -> list[Job]:
        return [job for job in self._queue.jobs(question.ids) if self._is_open(job, user)]

    def _is_open(self, job: Job, user: str) -> bool:
        return job.user == user or self._sees_all(user)

    def _check_owner(self, question: Question, user: str) -> None:
        job = self._job(question)
        owner = job.user
        if not self._is_open(job, user):
            raise NotAllowed(
                f"job {question.job_id} is {owner}'s: only {owner} and operators can change it"
            )

    def _job(self, question: Question) -> Job:
        found = self._queue.jobs([question.job_id])
        if not found:
            raise NotFound(f"the shared queue knows no job {question.job_id[:40]}")
        return found[0]

    def _sees_all(self, user: str) -> bool:
        return user in self._operators or user == account_name(os.geteuid())


def check_submission(submission: Submission, env: Mapping[str, str]) -> None:
    """BadInput for what no client of ours sends: any program can write to the socket."""
    request = submission.request
    tasks = (word for task in submission.tasks for word in task.command)
    words = (
        *(*submission.command, *tasks, *submission.options, *submission.options.values()),
        *(submission.name, submission.workdir, submission.script, submission.dependency),
        *(submission.stdout, submission.stderr),
    )
    amounts = (request.gpus, request.cpus, request.memory_mb, request.nodes, submission.most_tasks)
    times = (request.time_limit_s, request.time_min_s, submission.begin)
    problem = (
        (not submission.command and "there is no command to run")
        or (not submission.workdir.startswith("/") and "the working directory is no full path")
        or (not all(map(_is_text, words)) and "its words are no text")
        or (any(not 0 <= (one or 0) <= _MOST for one in amounts) and "an amount is out of range")
        or (any(not 0 <= (one or 0) < math.inf for one in times) and "a time is out of range")
        or (abs(submission.nice) > _MOST and "its nice number is out of range")
        or (len(submission.name) > _LONGEST_NAME and "its name is too long")
        or (any(_is_strange(*pair) for pair in env.items()) and "its environment is none")
    )
    if problem:
        raise BadInput(f"the job is refused: {problem}")


def _is_text(word: str | None) -> bool:
    return word is None or ("\0" not in word and storable(word) == word)


def _is_strange(name: str, value: str) -> bool:
    return not name or "=" in name or "\0" in name or "\0" in value


def _known_limits(limits: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    return {name: limits[name] for name in LIMITS if name in limits}


def shown(job: Job) -> Job:
    """What other accounts see of it."""
    kept = {one.name: getattr(job, one.name) for one in fields(Job) if one.name in _SHOWN}
    asked = Request(gpus=job.request.gpus, time_limit_s=job.request.time_limit_s)
    return Job(**kept, workdir="", request=asked)
