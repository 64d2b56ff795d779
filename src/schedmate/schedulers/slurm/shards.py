"""Lends GPUs in parts: how many shards a waiting job asks for, and on which GPUs runs share them.

A waiting job's number of shards can be changed. Its GPUs cannot be turned into shards: up to
23.02.5 Slurm keeps what a job asked for beside what it is to ask for, and refuses both together.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from schedmate.model import NotFound, SchedulerError
from schedmate.schedulers.slurm import gres
from schedmate.schedulers.slurm.job_ids import checked_id
from schedmate.schedulers.slurm.refusals import refuse_unless_pending
from schedmate.schedulers.slurm.values import shown_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import LentGpus
    from schedmate.schedulers.slurm.changes import Field
    from schedmate.schedulers.slurm.commands import SlurmCommands
    from schedmate.schedulers.slurm.parsing import Record

_NODES_S = 600.0
"""How long what nodes have is taken to be unchanged."""


class LendsGpus:
    """Part of the adapter: see `SharesGpus`."""

    _slurm: SlurmCommands
    _lent: tuple[float, LentGpus | None] | None = None

    if TYPE_CHECKING:
        _record: Callable[[JobId], Record]
        _update: Callable[[JobId, Field, str], None]

    def lent_gpus(self) -> LentGpus | None:
        now = time.monotonic()
        if self._lent is None or now - self._lent[0] > _NODES_S:
            text = self._slurm.ask("scontrol", "-a", "-o", "show", "node")
            found = [shown_fields(line).get("Gres", "") for line in text.splitlines()]
            self._lent = now, gres.lent_gpus(found)
        return self._lent[1]

    def set_shards(self, job_id: JobId, shards: int) -> None:
        """A type that it asks for stays: Slurm takes no number without it."""
        record = self._record(checked_id(job_id))
        refuse_unless_pending(record)
        wanted = gres.shards_instead(record["tres-per-node"], shards)
        if wanted is None:
            raise SchedulerError("it asks for no shards of a GPU, and Slurm turns no GPU into them")
        self._update(job_id, "Gres", wanted)

    def shared_gpus(self, jobs: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        found = {}
        for job in jobs:
            with suppress(NotFound):
                ask = ("scontrol", "-a", "-d", "-o", "show", "job", checked_id(job.id))
                found[job.id] = gres.gpus_in_use(self._slurm.ask(*ask))
        return found
