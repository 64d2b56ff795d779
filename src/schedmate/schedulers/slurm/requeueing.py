"""Queueing a job again, in steps that any later daemon can go on with.

Slurm lets nodes be excluded only while a job waits, and starts a waiting job at any time. So
the job is queued again *held* (`requeuehold`), gets its exclusions and its time, and is released.
`SPECIAL_EXIT`, which requeuehold sets in the same instant, marks our hold: no
other hold is ever released. Which step comes next is read from Slurm, so a crash loses nothing.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model import SchedulerError, SchedulerUnreachable
from schedmate.schedulers.slurm import parsing, values
from schedmate.schedulers.slurm.changes import Target
from schedmate.schedulers.slurm.values import expand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import JobId
    from schedmate.schedulers.slurm.changes import Field, SlurmChanges
    from schedmate.schedulers.slurm.parsing import Record

_OURS, _HELD_AS = "SPECIAL_EXIT", "SpecialExit"
_CREDENTIAL_S = 2.0
"""slurmd refuses, as revoked, a credential from the second in which the last run ended."""
_JUST_NOW_S = 150.0
"""A requeued job is kept back for two minutes; a start time beyond that was set by a person."""
_log = logging.getLogger("schedmate.slurm")


@dataclass(frozen=True, slots=True)
class Requeueing:
    """One job's way back into the queue. `look` reads it, `excluded` its list of excluded nodes."""

    changes: SlurmChanges
    look: Callable[[JobId], Record]
    excluded: Callable[[JobId], str]
    job_id: JobId
    run: int
    exclude_nodes: Sequence[str] = ()
    delay_s: float = 0.0
    held: bool = False

    def go_on(self) -> bool:
        """Take every step that can be taken now; True when none is left."""
        seen = self.look(self.job_id)
        if seen["RestartCnt"] == str(self.run):
            self._queue_again(seen)
            seen = self.look(self.job_id)
        if seen["RestartCnt"] != str(self.run + 1):
            raise SchedulerError(f"job {self.job_id} has been queued again meanwhile")
        if parsing.is_stopping(seen):
            return False
        if seen["State"] == _OURS and not self.held:
            return self._finish_and_release()
        if values.state(seen["State"]).ended or seen["State"] == "RUNNING":
            raise SchedulerError(f"job {self.job_id} has been queued again meanwhile")
        self._exclude()
        self._hurry(seen)
        if not self.held or parsing.is_held(seen):
            return True
        # something else has queued it again: the job itself at a signal, or Slurm with its node
        self.changes.hold(self.job_id)
        return parsing.is_held(self.look(self.job_id))

    def _queue_again(self, seen: Record) -> None:
        state = values.state(seen["State"])
        if not (state.ended or seen["State"] == "RUNNING"):
            raise SchedulerError(f"job {self.job_id} is {seen['State'].lower()} already")
        if "+" in self.job_id:
            raise SchedulerError(
                f"job {self.job_id} is a part of a heterogeneous job: requeue it as a whole"
            )
        if not parsing.can_requeue(seen):
            raise SchedulerError(
                f"Slurm does not queue job {self.job_id} again: it was submitted with "
                "--no-requeue or is no batch job"
            )
        # one that a person holds stays held when it is requeued, and is not ours to release
        ours = (self.exclude_nodes or self.delay_s) and not parsing.is_held(seen)
        marked = _HELD_AS if ours and not self.held else ""
        self.changes.requeue(self.job_id, held=self.held or bool(marked), marked=marked)

    def _finish_and_release(self) -> bool:
        """Whatever Slurm refuses here, the job does not stay held."""
        refusals = []
        wait = math.ceil(max(_CREDENTIAL_S, self.delay_s))
        for step in (self._exclude, lambda: self._update("StartTime", f"now+{wait}")):
            try:
                step()
            except SchedulerUnreachable:
                raise
            except SchedulerError as error:
                refusals.append(str(error))
        try:
            self.changes.release(self.job_id)
        except SchedulerUnreachable:
            raise
        except SchedulerError as error:
            _log.warning("job %s is still held, to be released later: %s", self.job_id, error)
            return False
        if refusals:
            raise SchedulerError(f"it was queued again, but: {'; '.join(refusals)}")
        return self.look(self.job_id)["State"] != _OURS

    def _exclude(self) -> None:
        """Add to the nodes that are excluded already."""
        before = self.excluded(self.job_id) if self.exclude_nodes else ""
        more = [node for node in self.exclude_nodes if node not in expand(before)]
        if more:
            self._update("ExcNodeList", ",".join(filter(None, [before, *more])))

    def _hurry(self, seen: Record) -> None:
        """Without a start time Slurm keeps a requeued job back for two minutes: no more is lost."""
        queued = values.epoch(seen["SubmitTime"]) or 0.0
        if self.delay_s or time.time() - queued > _JUST_NOW_S:
            return
        try:
            self._update("StartTime", f"now+{math.ceil(_CREDENTIAL_S)}")
        except SchedulerError as error:
            _log.info("job %s waits two minutes: %s", self.job_id, error)

    def _update(self, field: Field, value: str) -> None:
        self.changes.update(Target(self.job_id), field, value)
