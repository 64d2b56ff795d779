"""The shared queue of a machine as any account sees it: fulfils `Scheduler`."""

from __future__ import annotations

import errno
import os
import random
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.model import Job, JobId, SchedulerUnreachable
from schedmate.schedulers.base import Obstacle, Rights
from schedmate.schedulers.local.submitting import prepare
from schedmate.schedulers.shared.protocol import (
    BUSY,
    MOST_ANSWERED,
    Answer,
    Message,
    Question,
    peer_of,
    read_answer,
    receive,
    send,
    write_message,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedmate.model import Activity, NodeState, Spread, Submission

_ANSWER_S = 60.0
_AWAY_S, _CONNECT_AGAIN_S = 2.0, 0.05
_AWAY = frozenset((errno.ENOENT, errno.ECONNREFUSED))


class SharedScheduler:
    """Asks the account that serves the queue, which has to be root or this account."""

    name = "local"

    def __init__(self, path: Path, *, answer_s: float = _ANSWER_S, away_s: float = _AWAY_S) -> None:
        self._path = path
        self._away_s = away_s
        self._answer_s = answer_s

    def submit(self, submission: Submission) -> JobId:
        """What the job needs is read here, with this account's rights."""
        prepared = prepare(submission)
        question = Question(
            verb="submit",
            submission=replace(prepared.submission, env=None),
            umask=prepared.umask,
            limits=prepared.limits,
        )
        answer = self._ask(question, prepared.submission.env, prepared.script)
        return str(answer.text)

    def jobs(self, ids: Sequence[JobId] | None = None) -> list[Job]:
        wanted = None if ids is None else tuple(ids)
        return list(self._ask(Question(verb="jobs", ids=wanted)).jobs)

    def nodes(self, names: Sequence[str] | None = None) -> list[NodeState]:
        wanted = None if names is None else tuple(names)
        return list(self._ask(Question(verb="nodes", ids=wanted)).nodes)

    def script(self, job_id: JobId) -> str | None:
        return self._ask(Question(verb="script", job_id=job_id)).text

    def cancel(self, job_id: JobId) -> None:
        self._ask(Question(verb="cancel", job_id=job_id))

    def requeue(
        self,
        job_id: JobId,
        *,
        run: int,
        exclude_nodes: Sequence[str] = (),
        delay_s: float = 0.0,
        held: bool = False,
    ) -> bool:
        question = Question(
            verb="requeue",
            job_id=job_id,
            run=run,
            nodes=tuple(exclude_nodes),
            delay_s=delay_s,
            held=held,
        )
        return self._ask(question).flag

    def may_run_on(self, job: Job, node: NodeState) -> bool:
        """A job with GPUs runs on nodes that are GPUs; of which kind only the server knows."""
        return (":" in node.name) == bool(job.request.gpus)

    def needed_nodes(self, job: Job) -> int:
        """See `GivesGpusAsNodes`."""
        return max(1, job.request.gpus)

    def hold(self, job_id: JobId) -> None:
        self._ask(Question(verb="hold", job_id=job_id))

    def release(self, job_id: JobId) -> None:
        self._ask(Question(verb="release", job_id=job_id))

    def set_nice(self, job_id: JobId, nice: int) -> None:
        self._ask(Question(verb="set_nice", job_id=job_id, number=nice))

    def set_time_limit(self, job_id: JobId, seconds: float | None) -> None:
        self._ask(Question(verb="set_time_limit", job_id=job_id, seconds=seconds))

    def move_to_top(self, job_id: JobId) -> None:
        """See `MovesToTop`: among this account's own jobs."""
        self._ask(Question(verb="move_to_top", job_id=job_id))

    def set_excluded(self, job_id: JobId, nodes: Sequence[str]) -> None:
        """See `ExcludesNodes`."""
        self._ask(Question(verb="set_excluded", job_id=job_id, nodes=tuple(nodes)))

    def drain(self, node: str, reason: str) -> None:
        """See `DrainsNodes`; for operators."""
        self._ask(Question(verb="drain", nodes=(node,), reason=reason))

    def resume(self, node: str, reason: str) -> None:
        """See `DrainsNodes`; for operators."""
        self._ask(Question(verb="resume", nodes=(node,), reason=reason))

    def trouble(self) -> str:
        """See `ReportsTrouble`."""
        return self._ask(Question(verb="trouble")).text or ""

    def waiting_tasks(self, job_id: JobId) -> list[JobId]:
        """See `ListsTasks`."""
        return list(self._ask(Question(verb="waiting_tasks", job_id=job_id)).ids)

    def set_dependency(self, job_id: JobId, dependency: str) -> None:
        """See `RenewsDependencies`."""
        self._ask(Question(verb="set_dependency", job_id=job_id, dependency=dependency))

    def set_predictions(self, predictions: Mapping[JobId, Spread]) -> None:
        """See `TakesPredictions`; of other accounts' jobs for operators only."""
        self._ask(Question(verb="set_predictions", predictions=dict(predictions)))

    def obstacle(self, job: Job) -> Obstacle | None:
        """See `ExplainsWaiting`."""
        answer = self._ask(Question(verb="obstacle", ids=(job.id,)))
        return Obstacle(text=answer.text, remedy=answer.remedy) if answer.text else None

    def activity(self, jobs: Sequence[Job]) -> dict[JobId, Activity]:
        """See `MeasuresActivity`; of other accounts' jobs for operators only."""
        return self._ask(Question(verb="activity", ids=tuple(job.id for job in jobs))).activity

    def written_files(self, jobs: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        """See `KnowsOpenFiles`; of other accounts' jobs for operators only."""
        asked = Question(verb="written_files", ids=tuple(job.id for job in jobs))
        return {job: frozenset(files) for job, files in self._ask(asked).files.items()}

    def rights(self) -> Rights:
        """See `KnowsRights`."""
        operator = self._ask(Question(verb="rights")).flag
        return Rights(everyone=operator, role="operator" if operator else "user")

    def _ask(
        self, question: Question, env: dict[str, str] | None = None, script: bytes | None = None
    ) -> Answer:
        """While the server has its hands full with this account's questions: again, a bit later."""
        data = write_message(Message(question, env or {}, script))
        until, pause_s = time.monotonic() + self._answer_s, 0.02
        while True:
            answer = self._exchange(data, until)
            if answer.error != BUSY:
                return answer
            if time.monotonic() + pause_s > until:
                raise SchedulerUnreachable(f"the shared queue is busy: {answer.text}")
            time.sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - who asks at once parts ways
            pause_s = min(1.0, 2 * pause_s)

    def _exchange(self, data: bytes, until: float) -> Answer:
        with self._connect() as connection:
            self._check_server(peer_of(connection)[1])
            try:
                send(connection, data, until)
            except TimeoutError:
                raise self._is_late() from None
            except OSError:
                pass  # it may have answered before it had read all of it
            try:
                return read_answer(receive(connection, MOST_ANSWERED, until))
            except TimeoutError:
                raise self._is_late() from None
            except OSError as error:
                raise SchedulerUnreachable(
                    f"the shared queue went away: {error.strerror}"
                ) from error

    def _connect(self) -> socket.socket:
        """A service that is started again is away for a moment."""
        until = time.monotonic() + self._away_s
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(self._path))
            except OSError as error:
                connection.close()
                if error.errno not in _AWAY or time.monotonic() > until:
                    raise SchedulerUnreachable(
                        f"the shared queue at {self._path} does not answer ({error.strerror}); "
                        "ask who runs this machine: systemctl status schedmate-queue"
                    ) from error
                time.sleep(_CONNECT_AGAIN_S)
            else:
                return connection

    def _is_late(self) -> SchedulerUnreachable:
        return SchedulerUnreachable(f"no answer of the shared queue in {self._answer_s:g} s")

    def _check_server(self, uid: int) -> None:
        """Commands and environments are for whom may run them only."""
        if uid not in (0, os.geteuid()):
            raise SchedulerUnreachable(
                f"the socket {self._path} is served by account {uid} and not by root: nothing is "
                "sent there"
            )
