"""Where the adapter reads Slurm: its commands or its REST service.

Every answer is whole or an error is raised: exit code 0 without the line of titles that Slurm's
commands always print is no answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from schedmate.model import NotFound, SchedulerError, SchedulerUnreachable
from schedmate.schedulers.slurm import nodes, parsing
from schedmate.schedulers.slurm.logs import literal
from schedmate.schedulers.slurm.values import shown_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.model import JobId, JobState, NodeState
    from schedmate.schedulers.slurm.commands import SlurmCommands
    from schedmate.schedulers.slurm.parsing import Record

MOST_IDS = 5000
"""How many ids fit on one command line; beyond it everything is asked for."""
_SHOWN_EXCLUSIONS = ("JOBID", "EXC_NODES")
_EXPANDS = "--expand-patterns"
_NO_RESERVATIONS = "No reservations in the system"


class SlurmSource(Protocol):
    """Records have the fields of squeue and sacct, with times as seconds since the epoch."""

    def queued(self, ids: set[JobId] | None) -> Iterable[Record]:
        """What the controller holds, ended jobs included: of these ids, or all of it."""

    def accounted(self, ids: set[JobId] | None, days: int) -> Iterable[Record]:
        """What accounting knows of these ids, or of all jobs of so many days."""

    def excluded_nodes(self, ids: set[JobId]) -> dict[JobId, str]:
        """The nodes that these jobs exclude, in Slurm's short form."""

    def nodes(self) -> list[NodeState]:
        """All nodes with the reservations that hold them now."""

    def config(self) -> str:
        """The text of `scontrol show config`."""

    def shown(self, what: str, name: str = "") -> list[dict[str, str]]:
        """The fields of `scontrol show` of partitions, reservations or licenses."""


class CommandSource:
    """See `SlurmSource`: squeue, sacct and scontrol."""

    def __init__(self, slurm: SlurmCommands) -> None:
        self._slurm = slurm
        self._expands: bool | None = None

    def queued(self, ids: set[JobId] | None) -> Iterable[Record]:
        separator = parsing.new_separator()
        which = [] if ids is None or len(ids) > MOST_IDS else ["-j", ",".join(sorted(ids))]
        filled = [_EXPANDS] if self._fills_in_patterns() else []
        form = parsing.squeue_format(separator)
        try:
            text = self._slurm.ask("squeue", "-a", "-r", "-tall", *filled, *which, "-O", form)
        except NotFound:  # only where one single id was asked for
            return []
        rows = filter(parsing.is_job, parsing.table(text, parsing.SQUEUE_FIELDS, separator))
        return map(_as_filled_in, rows) if filled else rows

    def accounted(self, ids: set[JobId] | None, days: int) -> Iterable[Record]:
        separator = parsing.new_separator()
        few = ids is not None and len(ids) <= MOST_IDS
        which = ["-j", ",".join(sorted(ids or ()))] if few else ["-S", f"now-{days}days"]
        form = ",".join(parsing.SACCT_FIELDS)
        text = self._slurm.ask(
            "sacct", "-a", "-X", "-D", "-p", f"--delimiter={separator}", *which, "-o", form
        )
        return parsing.table(text, parsing.SACCT_FIELDS, separator)

    def excluded_nodes(self, ids: set[JobId]) -> dict[JobId, str]:
        """squeue shows them in its short format only."""
        separator = parsing.new_separator()
        form = f"%i{separator}%x{separator}"
        which = ["-j", ",".join(sorted(ids))]
        try:
            text = self._slurm.ask("squeue", "-a", "-r", "-tall", *which, "-o", form)
        except NotFound:  # the controller has let go of it since
            return {}
        rows = parsing.table(text, _SHOWN_EXCLUSIONS, separator)
        return {row["JOBID"]: row["EXC_NODES"] for row in rows}

    def nodes(self) -> list[NodeState]:
        reservations = self.reservations()
        found = nodes.node_states(
            self._slurm.ask("scontrol", "-a", "-o", "show", "node"), reservations
        )
        if not found:
            raise SchedulerUnreachable("scontrol shows no node, and every cluster has some")
        return found

    def reservations(self) -> str:
        text = self._slurm.ask("scontrol", "-a", "-o", "show", "reservation")
        if not text.startswith(("ReservationName=", _NO_RESERVATIONS)):
            raise SchedulerUnreachable("scontrol does not answer which reservations there are")
        return text

    def config(self) -> str:
        text = self._slurm.ask("scontrol", "show", "config")
        if re.search(r"^ClusterName\s*=", text, re.MULTILINE) is None:
            raise SchedulerUnreachable("scontrol shows no complete configuration of Slurm")
        return text

    def shown(self, what: str, name: str = "") -> list[dict[str, str]]:
        text = self._slurm.ask("scontrol", "-a", "-o", "show", what, *([name] if name else []))
        return [shown_fields(line) for line in text.splitlines() if "=" in line]

    def _fills_in_patterns(self) -> bool:
        """Whether this squeue can fill in the patterns of output file names by itself."""
        if self._expands is None:
            try:
                self._expands = _EXPANDS in self._slurm.ask("squeue", "--help")
            except SchedulerUnreachable:
                raise
            except SchedulerError:
                self._expands = False
        return self._expands


def _as_filled_in(row: Record) -> Record:
    return row | {name: literal(row[name]) for name in ("STDOUT", "STDERR")}


class Shown:
    """What Slurm knows of partitions, reservations and licences: see `WaitingFacts`."""

    def __init__(self, source: SlurmSource) -> None:
        self._source = source

    def partition(self, name: str) -> dict[str, str]:
        found = self._show("partition", name.partition(",")[0])
        return found[0] if found else {}

    def job_state(self, job_id: JobId) -> JobState | None:
        """Of an array, of its tasks where all have the same one; None where it is not known."""
        try:
            states = {parsing.state_of(row) for row in self._source.queued({job_id})}
        except (SchedulerError, NotFound):
            return None
        return states.pop() if len(states) == 1 else None

    def reservations(self) -> list[dict[str, str]]:
        return self._show("reservation")

    def licenses(self) -> list[dict[str, str]]:
        return self._show("licenses")

    def nodes(self) -> list[NodeState]:
        try:
            return self._source.nodes()
        except SchedulerError:
            return []

    def _show(self, what: str, name: str = "") -> list[dict[str, str]]:
        try:
            return self._source.shown(what, name)
        except (SchedulerError, NotFound):
            return []
