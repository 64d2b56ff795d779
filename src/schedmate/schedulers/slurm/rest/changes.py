"""Changes jobs through slurmrestd, where it does what the command would do.

It does not for arrays and heterogeneous jobs, whose parts it changes by halves, and its hold is
an administrator's, which the owner of a job could not lift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import NotFound, SchedulerError, SchedulerUnreachable
from schedmate.model.account import account_name
from schedmate.schedulers.slurm.rest import shapes
from schedmate.schedulers.slurm.rest.submitting import job_of, takes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.model import JobId, Submission
    from schedmate.schedulers.slurm.changes import Field, SlurmChanges, Target
    from schedmate.schedulers.slurm.rest.api import RestApi

_FIELDS = {"Nice": "nice", "TimeLimit": "time_limit", "TimeMin": "time_minimum"}
_JOB, _REQUEUE, _SUBMIT = "job/{job_id}", "job/{job_id}/requeue", "job/submit"
_UNLIMITED = -1


class RestChanges:
    """See `SlurmChanges`."""

    def __init__(self, api: RestApi, commands: SlurmChanges) -> None:
        self._api = api
        self._commands = commands

    def submit(self, submission: Submission) -> JobId:
        ours = self._api.client.user() == account_name()
        if not (ours and takes(submission)):
            return self._commands.submit(submission)
        body = job_of(submission, structured=self._is_structured())
        # a job that cannot start yet is queued all the same, with an error that tells so
        answer = self._api.ask("POST", _SUBMIT, body, done_by="job_id")
        job_id = shapes.text(answer.get("job_id"))
        if not job_id.isdecimal():
            raise SchedulerError("slurmrestd gave no job id; the job may have been queued")
        return job_id

    def update(self, target: Target, field: Field, value: str) -> None:
        if not target.is_single or field not in _FIELDS:
            return self._commands.update(target, field, value)
        number = _UNLIMITED if value == "UNLIMITED" else int(value)
        self._api.ask("POST", _JOB, {_FIELDS[field]: number}, job_id=target.name)
        return None

    def set_nices(self, numbers: Mapping[Target, int]) -> dict[JobId, str]:
        others = {target: nice for target, nice in numbers.items() if not target.is_single}
        objections = self._commands.set_nices(others) if others else {}
        for target, nice in numbers.items():
            if target in others:
                continue
            try:
                self._api.ask("POST", _JOB, {"nice": nice}, job_id=target.name)
            except SchedulerUnreachable:
                raise
            except (SchedulerError, NotFound) as error:
                objections[target.name] = str(error)
        return objections

    def cancel(self, target: Target) -> None:
        if not target.is_single:
            return self._commands.cancel(target)
        self._api.ask("DELETE", _JOB, job_id=target.name)
        return None

    def requeue(self, job_id: JobId, *, held: bool = False, marked: str = "") -> None:
        if not self._api.offers(_REQUEUE):
            return self._commands.requeue(job_id, held=held, marked=marked)
        flags = dict.fromkeys(filter(None, ["Hold", marked]), "true") if held else None
        self._api.ask("GET", _REQUEUE, job_id=job_id, query=flags)
        return None

    def signal(self, job_id: JobId, name: str, *, batch: bool) -> None:
        self._commands.signal(job_id, name, batch=batch)

    def hold(self, name: str) -> None:
        self._commands.hold(name)

    def release(self, name: str) -> None:
        self._commands.release(name)

    def by_commands(self) -> list[str]:
        without = [] if self._api.offers(_REQUEUE) else ["requeues"]
        return [*without, "holds", "changes to arrays", "submitted scripts"]

    def _is_structured(self) -> bool:
        """Later versions take an environment as a list and resources as TRES."""
        return self._api.version > "v0.0.38"
