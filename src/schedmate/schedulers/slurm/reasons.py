"""Why Slurm does not start a job, in words, and what would help. Pure but for `facts`.

Only what more is known of a reason is asked for: the partition, reservations, nodes or licences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from schedmate.model import JobState
from schedmate.model.job import awaited_in, dependency_anew
from schedmate.schedulers.base import Obstacle
from schedmate.schedulers.slurm import values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job, JobId, NodeState

Facts = dict[str, str]

_TURN = frozenset({"", "None", "Priority", "Resources", "Cleaning", "SchedDefer", "Prolog"})
"""It waits for its turn, or is about to start."""
_LIMIT = re.compile(
    r"(?P<whose>QOS|Assoc|)(?P<kind>Grp|Max|Min)(?P<what>[A-Z]\w*?)(?P<run>Run)?"
    r"(?P<spent>Minutes|Mins)?(?P<per>PerJob|PerNode|PerUser|PerAccount)?(?:Limit|NotSatisfied)?"
)
_WHAT = {
    "Cpu": "CPUs", "CPU": "CPUs", "GRES": "GPUs or other GRES", "Mem": "memory",
    "Memory": "memory", "Node": "nodes", "Jobs": "running jobs", "Job": "running jobs",
    "SubmitJobs": "submitted jobs", "SubmitJob": "submitted jobs", "Wall": "wall time",
    "WallDuration": "wall time", "BB": "burst buffers", "License": "licences",
    "Billing": "billing units", "Energy": "energy", "Unknown": "a resource",
}  # fmt: skip
_DEPENDENCIES = {
    "after": "job {id} to start",
    "afterany": "job {id} to end",
    "afterok": "job {id} to succeed",
    "afternotok": "job {id} to fail",
    "aftercorr": "the same task of array {id} to succeed",
    "afterburstbuffer": "the burst buffer of job {id}",
}
_AGAIN = {
    JobState.COMPLETED: "was queued again and has succeeded since",
    JobState.PENDING: "has been queued again and waits",
    JobState.RUNNING: "has been queued again and runs",
}
_UNAVAILABLE = re.compile(r"UnavailableNodes:\s*(\S+)")


class WaitingFacts(Protocol):
    """What else Slurm knows; an empty answer where it cannot be asked."""

    def job_state(self, job_id: JobId) -> JobState | None: ...

    def partition(self, name: str) -> Facts: ...

    def reservations(self) -> Sequence[Facts]: ...

    def nodes(self) -> Sequence[NodeState]: ...

    def licenses(self) -> Sequence[Facts]: ...


def obstacle(job: Job, facts: WaitingFacts) -> Obstacle | None:
    """None for a job that waits for its turn only, and for a reason that is not known here.

    Of jobs that were cancelled before they ran only those with a dependency are explained.
    """
    reason = job.reason.replace("_", " ")
    if reason in _TURN:
        return None
    word = reason.partition(",")[0].partition("(")[0].strip()
    explain = _EXPLAINED.get(word)
    if job.state.ended and explain is not _never_satisfied:
        return None
    if explain is not None:
        return explain(_Case(job, reason, facts))
    if reason.startswith("Nodes required for job are DOWN"):
        return _nodes(_Case(job, reason, facts))
    found = _LIMIT.fullmatch(word)
    return None if found is None else _limit(job, found)


@dataclass(frozen=True, slots=True)
class _Case:
    job: Job
    reason: str
    facts: WaitingFacts

    @property
    def change(self) -> str:
        return f"scontrol update JobId={self.job.id}"

    @property
    def partition(self) -> str:
        return self.job.request.partition or ""


def dependency_in_words(text: str) -> str:
    """`afterok:7(failed),after:9(unfulfilled)` as what it waits for."""
    either = "?" in text
    found = []
    for one in awaited_in(text):
        words = _DEPENDENCIES.get(one.kind, f"{one.kind} {{id}}").format(id=one.job_id)
        found.append(words + (", which failed" if one.state == "failed" else ""))
    if "singleton" in text:
        found.append("its user's other jobs of this name to end")
    return (" or " if either else " and ").join(found) or text


def _depends(case: _Case) -> Obstacle:
    return Obstacle(text=f"waits for {dependency_in_words(case.job.dependency) or 'another job'}")


def _never_satisfied(case: _Case) -> Obstacle:
    """Slurm does not forget that a job failed, even where that succeeds when it is queued again."""
    job = case.job
    what = dependency_in_words(job.dependency) or "a job that did not end as it asks"
    failed = [one.job_id for one in awaited_in(job.dependency) if one.state == "failed"]
    again = {one: state for one in failed if (state := case.facts.job_state(one)) in _AGAIN}
    since = " and ".join(f"job {one} {_AGAIN[state]}" for one, state in again.items())
    text = f"it waits for {what}" + (f"; {since}" if since else "")
    renewed = again and len(again) == len(failed)
    if job.state.ended:
        remedy = "submit it anew" if renewed else ""
        return Obstacle(text=f"never started and was cancelled: {text}", remedy=remedy)
    anew = f"{case.change} Dependency={dependency_anew(job.dependency)}"
    drop = f"cancel it, or drop the dependency with {case.change} Dependency="
    return Obstacle(
        text=f"never starts: {text}",
        remedy=f"give it its dependency anew with {anew}" if renewed else drop,
    )


def _bad_constraints(case: _Case) -> Obstacle:
    request = case.job.request
    asked = [
        f"--constraint={request.features}" if request.features else "",
        f"--nodelist={','.join(request.required_nodes)}" if request.required_nodes else "",
        f"{request.gpus} GPUs" if request.gpus else "",
        f"{request.nodes} nodes" if request.nodes > 1 else "",
        f"{request.cpus} CPUs" if request.cpus else "",
        f"{request.memory_mb} MB" if request.memory_mb else "",
    ]
    what = ", ".join(word for word in asked if word)
    return Obstacle(
        text=f"never starts: no nodes of partition {case.partition} have what it asks for ({what})",
        remedy=f"ask for less with {case.change}, or cancel it and submit it anew",
    )


def _begins(case: _Case) -> Obstacle | None:
    if case.job.eligible_time is None:
        return Obstacle(text="waits for its start time")
    return None  # the view counts the seconds


def _reservation(case: _Case) -> Obstacle:
    name = case.job.request.reservation
    found = [one for one in case.facts.reservations() if one.get("ReservationName") == name]
    when = _future(found[0].get("StartTime", "")) if found else ""
    if when:
        return Obstacle(text=f"waits for its reservation {name}, which begins {when}")
    state = "is in use" if found else "is not there any more"
    remedy = f"take it out of the reservation with {case.change} ReservationName="
    return Obstacle(
        text=f"waits for its reservation {name}, which {state}", remedy="" if found else remedy
    )


def _maintenance(case: _Case) -> Obstacle:
    upkeep = [one for one in case.facts.reservations() if "MAINT" in one.get("Flags", "")]
    first = min(upkeep, key=lambda one: one.get("StartTime", ""), default={})
    begins, ends = _future(first.get("StartTime", "")), _future(first.get("EndTime", ""))
    name = first.get("ReservationName", "")
    text = f"waits for the end of maintenance{f' {name}' if name else ''}"
    if not begins:
        return Obstacle(text=f"{text}{f', {ends}' if ends else ''}")
    shorter = f"a time limit that ends before it starts it sooner: {case.change} TimeLimit=…"
    return Obstacle(
        text=f"{text} ({begins} to {ends}): its time limit reaches into it", remedy=shorter
    )


def _nodes(case: _Case) -> Obstacle:
    if "maintenance" in case.reason:
        return _maintenance(case)
    named = _UNAVAILABLE.search(case.reason)
    wanted = values.expand(named[1].rstrip(")")) if named else case.job.request.required_nodes
    bad = [one for one in case.facts.nodes() if one.condition != "up"]
    bad = [one for one in bad if not wanted or one.name in wanted]
    shown = ", ".join(
        f"{one.name} is {one.state}{f' ({one.reason})' if one.reason else ''}" for one in bad[:4]
    )
    if not shown and "reserved" in case.reason.lower():
        return Obstacle(text="waits for nodes that are reserved for others")
    asks = f"{case.change} ReqNodeList=" if case.job.request.required_nodes else ""
    return Obstacle(
        text=f"waits for nodes that are not available{f': {shown}' if shown else ''}",
        remedy=f"do not ask for these nodes: {asks}" if asks else "",
    )


def _partition_state(case: _Case) -> Obstacle:
    state = case.facts.partition(case.partition).get("State", "").lower() or "down"
    return Obstacle(
        text=f"waits: partition {case.partition} is {state} and starts no jobs",
        remedy=f"wait for an administrator, or move it with {case.change} Partition=…",
    )


def _partition_time(case: _Case) -> Obstacle:
    most = case.facts.partition(case.partition).get("MaxTime", "")
    limit = case.job.request.time_limit_s
    asked = "no limit" if limit is None else values.time_text(limit)
    return Obstacle(
        text=f"never starts: its time limit ({asked}) is above the most of partition "
        f"{case.partition}{f' ({most})' if most else ''}",
        remedy=f"lower it with {case.change} TimeLimit={most or '…'}",
    )


def _partition_nodes(case: _Case) -> Obstacle:
    facts = case.facts.partition(case.partition)
    bounds = f"{facts.get('MinNodes', '?')} to {facts.get('MaxNodes', '?')}"
    has = f" of {facts['TotalNodes']}" if facts.get("TotalNodes") else ""
    return Obstacle(
        text=f"never starts: it asks for {case.job.request.nodes} nodes, and partition "
        f"{case.partition} gives a job {bounds}{has}",
        remedy=f"ask for another number with {case.change} NumNodes=…, or another partition",
    )


def _licences(case: _Case) -> Obstacle:
    wanted = {word.partition(":")[0].partition("@")[0] for word in case.job.licenses.split(",")}
    shown = ", ".join(
        f"{one.get('LicenseName')} has {one.get('Free', '?')} of {one.get('Total', '?')} free"
        for one in case.facts.licenses()
        if one.get("LicenseName", "").partition("@")[0] in wanted
    )
    asked = case.job.licenses or "those it asks for"
    return Obstacle(text=f"waits for licences ({asked}){f': {shown}' if shown else ''}")


def _limit(job: Job, found: re.Match[str]) -> Obstacle:
    """`QOSMaxJobsPerUserLimit`, `AssocGrpCPUMinutesLimit` and their like."""
    request = job.request
    whose = {
        "QOS": f"QOS {request.qos}".rstrip(),
        "Assoc": f"account {request.account}".rstrip(),
        "": f"account {request.account}".rstrip(),
    }[found["whose"]]
    what = _WHAT.get(found["what"], found["what"])
    change = f"scontrol update JobId={job.id}"
    if found["kind"] == "Min":
        return Obstacle(
            text=f"never starts: it asks for fewer {what} than {whose} demands",
            remedy="ask for more, or submit it with another QOS",
        )
    if found["per"] in ("PerJob", "PerNode"):
        fix = f"{change} TimeLimit=…" if found["what"] == "WallDuration" else f"{change}, or anew"
        place = "a job" if found["per"] == "PerJob" else "a node"
        return Obstacle(
            text=f"never starts: it asks for more {what} than {whose} allows {place}",
            remedy=f"ask for less with {fix}; sacctmgr show qos,assoc shows the limits",
        )
    by = "its user" if found["per"] == "PerUser" or found["kind"] == "Max" else "all its users"
    if found["spent"] and not found["run"]:
        return Obstacle(
            text=f"waits: {whose} has used up its budget of {what} by time",
            remedy="it starts when the recorded use decays or an administrator raises the limit",
        )
    soon = " for the time they may still run" if found["run"] else ""
    return Obstacle(
        text=f"waits: {by} together have as many {what}{soon} as {whose} allows",
        remedy=f"it starts when other jobs of {whose} end",
    )


def _as(text: str, remedy: str = "") -> Callable[[_Case], Obstacle]:
    return lambda case: Obstacle(
        text=text.format(partition=case.partition, request=case.job.request),
        remedy=remedy.format(change=case.change),
    )


_EXPLAINED: dict[str, Callable[[_Case], Obstacle | None]] = {
    "Dependency": _depends,
    "DependencyNeverSatisfied": _never_satisfied,
    "BadConstraints": _bad_constraints,
    "Constraints": _bad_constraints,
    "BeginTime": _begins,
    "Reservation": _reservation,
    "ReservationDeleted": _reservation,
    "ReservationInvalid": _reservation,
    "ReqNodeNotAvail": _nodes,
    "NodeDown": _nodes,
    "PartitionDown": _partition_state,
    "PartitionInactive": _partition_state,
    "PartitionTimeLimit": _partition_time,
    "PartitionNodeLimit": _partition_nodes,
    "PartitionConfig": _partition_nodes,
    "Licenses": _licences,
    "JobArrayTaskLimit": _as(
        "waits: its array runs as many tasks at once as it allows itself",
        "allow more with {change} ArrayTaskThrottle=…",
    ),
    "InvalidAccount": _as(
        "never starts: account {request.account} may not be used",
        "give it another one with {change} Account=…",
    ),
    "AccountNotAllowed": _as(
        "never starts: account {request.account} is not allowed in partition {partition}",
        "give it another one with {change} Account=… or Partition=…",
    ),
    "InvalidQOS": _as(
        "never starts: QOS {request.qos} may not be used", "choose another with {change} QOS=…"
    ),
    "QOSNotAllowed": _as(
        "never starts: QOS {request.qos} is not allowed in partition {partition}",
        "choose another with {change} QOS=… or Partition=…",
    ),
    "QOSUsageThreshold": _as(
        "waits: its account has used more than QOS {request.qos} allows it to",
        "it starts when the recorded use decays",
    ),
    "QOSTimeLimit": _as(
        "never starts: its time limit is above the most of QOS {request.qos}",
        "lower it with {change} TimeLimit=…",
    ),
    "AssociationTimeLimit": _as(
        "never starts: its time limit is above the most of account {request.account}",
        "lower it with {change} TimeLimit=…",
    ),
    **dict.fromkeys(
        ("QOSJobLimit", "QOSResourceLimit"),
        _as("waits: QOS {request.qos} allows no more", "it starts when others of it end"),
    ),
    **dict.fromkeys(
        ("AssociationJobLimit", "AssociationResourceLimit", "AccountingPolicy"),
        _as("waits: account {request.account} allows no more", "it starts when others of it end"),
    ),
    "MaxMemPerLimit": _as(
        "never starts: it asks for more memory per node or CPU than the site allows",
        "ask for less with {change} MinMemoryNode=…",
    ),
    **dict.fromkeys(
        ("DeadLine", "Deadline"), _as("never starts: it cannot end before its deadline")
    ),
    "FedJobLock": _as("waits for another cluster of the federation, which may start it"),
}


def _future(text: str) -> str:
    """A time of `scontrol`, as seconds since the epoch, in words; empty for one that has passed."""
    at = values.epoch(text)
    if at is None or at < datetime.now().timestamp():  # noqa: DTZ005 - seconds have no zone
        return ""
    return datetime.fromtimestamp(at).astimezone().isoformat(" ", "minutes")
