"""Reads Slurm through slurmrestd. What it does not offer is read by Slurm's commands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.model import NodeState, NotFound, SchedulerUnreachable
from schedmate.schedulers.slurm import nodes
from schedmate.schedulers.slurm.logs import literal
from schedmate.schedulers.slurm.rest import shapes
from schedmate.schedulers.slurm.values import expand, tres

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedmate.model import JobId
    from schedmate.schedulers.slurm.parsing import Record
    from schedmate.schedulers.slurm.rest.api import RestApi
    from schedmate.schedulers.slurm.rest.shapes import Found
    from schedmate.schedulers.slurm.source import SlurmSource

_ONE_BY_ONE = 20
"""Up to so many jobs are asked for by their ids, more with all jobs at once."""
_UNSET = "N/A"
_NO_JOB = 2**32 - 2
"""What is left of a federation's job that another cluster has started."""
_EXCLUDED = "ExcNodes"
_FIRST_WITH_CONF = "26.05"
"""Slurm's version, at least, where slurmrestd shows the configuration, which does not name it."""


class RestSource:
    """See `SlurmSource`."""

    def __init__(self, api: RestApi, commands: SlurmSource) -> None:
        self._api = api
        self._commands = commands

    def queued(self, ids: set[JobId] | None) -> Iterable[Record]:
        found = [one for one in self._found(ids) if one.get("job_id") != _NO_JOB]
        cut = {str(_array(one)) for one in found if _is_cut(one)}
        rows = [row for one in found if not _is_cut(one) for row in records(one)]
        # the task list of a long array is cut unless slurmrestd runs with SLURM_BITSTR_LEN=0
        listed = {row["JobArrayID"] for row in rows}
        rows += [
            row
            for row in (self._commands.queued(cut) if cut else ())
            if row["JobArrayID"] not in listed
        ]
        return [row for row in rows if ids is None or _is_meant(row["JobArrayID"], ids)]

    def _found(self, ids: set[JobId] | None) -> Iterator[Found]:
        roots = {_root(job_id) for job_id in ids or ()}
        if ids is None or len(roots) > _ONE_BY_ONE:
            yield from self._api.get("jobs", "jobs")
            return
        for root in sorted(roots):
            try:
                yield from self._api.get("job/{job_id}", "jobs", job_id=root)
            except NotFound:
                continue

    def accounted(self, ids: set[JobId] | None, days: int) -> Iterable[Record]:
        """By sacct: v0.0.38 shows neither exit codes nor the runs before a requeue."""
        return self._commands.accounted(ids, days)

    def excluded_nodes(self, ids: set[JobId]) -> dict[JobId, str]:
        return {row["JobArrayID"]: row.get(_EXCLUDED, "") for row in self.queued(ids)}

    def nodes(self) -> list[NodeState]:
        held = _reserved(self._api.get("reservations", "reservations"), time.time())
        found = [_node(one, held) for one in self._api.get("nodes", "nodes")]
        if not found:
            raise SchedulerUnreachable("slurmrestd shows no node, and every cluster has some")
        return found

    def config(self) -> str:
        """In the words of `scontrol show config`."""
        if not self._api.offers("conf"):
            return self._commands.config()
        found = self._api.get("conf", "slurm_conf", dict)
        if not found.get("ClusterName"):
            raise SchedulerUnreachable("slurmrestd shows no complete configuration of Slurm")
        found = {"SLURM_VERSION": _FIRST_WITH_CONF, **found}
        return "".join(f"{name} = {shapes.text(value)}\n" for name, value in found.items())

    def shown(self, what: str, name: str = "") -> list[dict[str, str]]:
        part = {"partition": "partitions", "reservation": "reservations", "licenses": "licenses"}
        if not self._api.offers(part[what]):
            return self._commands.shown(what, name)
        found = [_FACTS[what](one) for one in self._api.get(part[what], part[what])]
        return [one for one in found if not name or name in one.values()]

    def by_commands(self) -> list[str]:
        """What is read by Slurm's commands instead."""
        return ["accounting", "scripts", *([] if self._api.offers("conf") else ["configuration"])]


def records(found: Found) -> Iterator[Record]:
    """What squeue -r shows of it: a row for every task of an array."""
    array, spec = _array(found), shapes.text(found.get("array_task_string"))
    task = shapes.number(found.get("array_task_id"))
    if not array:
        yield _record(found, _own_id(found), None)
    elif task is None and spec:
        for number in shapes.tasks(spec) or ():
            yield _record(found, f"{array}_{number}", number)
    else:
        yield _record(found, str(array) if task is None else f"{array}_{task}", task)


def _record(found: Found, job_id: str, task: int | None) -> Record:
    number, text = shapes.number, shapes.text
    array, whole = _array(found), number(found.get("het_job_id"))
    out, error = _outputs(found, of_array=task is not None)
    return {
        "JobArrayID": job_id,
        "JobID": text(found.get("job_id")),
        "ArrayJobID": str(array) if array else text(found.get("job_id")),
        "ArrayTaskID": _UNSET if task is None else str(task),
        "State": shapes.job_state(found.get("job_state")),
        "Reason": text(found.get("state_description")) or text(found.get("state_reason")),
        "UserName": text(found.get("user_name")),
        "Partition": text(found.get("partition")),
        "Name": text(found.get("name")),
        "WorkDir": text(found.get("current_working_directory")),
        "Command": text(found.get("command")),
        "STDOUT": out,
        "STDERR": error,
        "SubmitTime": text(found.get("submit_time")),
        "StartTime": text(found.get("start_time")),
        "EndTime": text(found.get("end_time")),
        "TimeLimit": shapes.minutes(found.get("time_limit")),
        "exit_code": shapes.exit_code(found.get("exit_code")),
        "RestartCnt": str(number(found.get("restart_cnt")) or 0),
        "Nice": str(shapes.signed(found.get("nice")) or 0),
        "NodeList": text(found.get("nodes")),
        "NumNodes": text(found.get("node_count")),
        # not set for a plain submission that never started
        "NumCPUs": text(found.get("cpus")) or tres(text(found.get("tres_req_str"))).get("cpu", ""),
        "tres-alloc": text(found.get("tres_alloc_str")) or text(found.get("tres_req_str")),
        "tres-per-job": text(found.get("tres_per_job")),
        "tres-per-node": text(found.get("tres_per_node")),
        "PriorityLong": text(found.get("priority")),
        "ReqNodes": text(found.get("required_nodes")),
        "Feature": text(found.get("features")),
        "Reservation": text(found.get("resv_name")),
        "Requeue": "1" if found.get("requeue") else "0",
        "BatchFlag": "1" if found.get("batch_flag") else "0",
        "UserID": text(found.get("user_id")),
        "Account": text(found.get("account")),
        "QOS": text(found.get("qos")),
        "Comment": text(found.get("comment")),
        "MinTime": f"{number(found.get('time_minimum')) or 0}:00",
        "HetJobID": str(whole) if whole else _UNSET,
        "Dependency": text(found.get("dependency")),
        "Licenses": text(found.get("licenses")),
        "Origin": text(found.get("federation_origin")),
        "SiblingsActive": text(found.get("federation_siblings_active")),
        "EligibleTime": text(found.get("eligible_time")),
        "AllocNodes": text(found.get("allocating_node")),
        "AllocSID": text(found.get("alloc_sid")),
        _EXCLUDED: text(found.get("excluded_nodes")),
    }


def _outputs(found: Found, *, of_array: bool) -> tuple[str, str]:
    """Filled in by slurmrestd where it does; where a job names no file, Slurm's own choice."""
    out, error = (shapes.text(found.get(f"standard_{name}")) for name in ("output", "error"))
    if not of_array and found.get("stdout_expanded"):
        out = literal(shapes.text(found["stdout_expanded"]))
        error = literal(shapes.text(found.get("stderr_expanded")))
    elif not out and found.get("batch_flag"):
        out = "slurm-%A_%a.out" if of_array else "slurm-%j.out"
    return out, error


def _array(found: Found) -> int:
    return shapes.number(found.get("array_job_id")) or 0


def _own_id(found: Found) -> str:
    whole = shapes.number(found.get("het_job_id"))
    if not whole:
        return shapes.text(found.get("job_id"))
    return f"{whole}+{shapes.number(found.get('het_job_offset')) or 0}"


def _is_cut(found: Found) -> bool:
    spec = shapes.text(found.get("array_task_string"))
    return bool(_array(found) and spec) and shapes.tasks(spec) is None


def _root(job_id: JobId) -> str:
    return job_id.partition("_")[0].partition("+")[0]


def _is_meant(job_id: JobId, ids: set[JobId]) -> bool:
    return job_id in ids or _root(job_id) in ids


def _node(found: Found, held: dict[str, tuple[str, ...]]) -> NodeState:
    name = shapes.text(found.get("name"))
    states = [*shapes.words(found.get("state")), *shapes.words(found.get("state_flags"))]
    state = "+".join(states)
    reason = shapes.text(found.get("reason"))
    return NodeState(
        name=name,
        hosts=tuple(filter(None, (shapes.text(found.get(one)) for one in ("hostname", "address")))),
        condition=nodes.condition(state),
        state=state.lower(),
        reason=reason,
        since=float(shapes.number(found.get("reason_changed_at")) or 0) or None,
        up_since=float(shapes.number(found.get("boot_time")) or 0) or None,
        partitions=tuple(shapes.words(found.get("partitions"))),
        features=tuple(shapes.words(found.get("active_features"))),
        reservations=held.get(name, ()),
    )


def _reserved(found: Iterable[Found], now: float) -> dict[str, tuple[str, ...]]:
    """The reservations that hold a node now, by node."""
    held: dict[str, tuple[str, ...]] = {}
    for one in found:
        begins, ends = (shapes.number(one.get(f"{edge}_time")) or 0 for edge in ("start", "end"))
        if begins <= now < ends:
            for node in expand(shapes.text(one.get("node_list"))):
                held[node] = (*held.get(node, ()), shapes.text(one.get("name")))
    return held


def _partition_facts(found: Found) -> dict[str, str]:
    """In the words of `scontrol show partition`."""
    bounds, total = found.get("maximums", {}), found.get("nodes")
    state = found.get("state") or found.get("partition", {}).get("state")
    most = bounds.get("nodes", found.get("maximum_nodes_per_job"))
    longest = bounds.get("time", found.get("max_time_limit"))
    least = found.get("minimums", {}).get("nodes", found.get("min nodes per job"))
    count = total.get("total") if isinstance(total, dict) else found.get("total_nodes")
    return {
        "PartitionName": shapes.text(found.get("name")),
        "State": shapes.text(state),
        "MaxTime": shapes.minutes(_none_below_zero(longest)),
        "MinNodes": shapes.text(least),
        "MaxNodes": shapes.text(_none_below_zero(most)) or "UNLIMITED",
        "TotalNodes": shapes.text(count),
    }


def _none_below_zero(value: object) -> object:
    return None if isinstance(value, int) and value < 0 else value


def _reservation_facts(found: Found) -> dict[str, str]:
    return {
        "ReservationName": shapes.text(found.get("name")),
        "StartTime": shapes.text(found.get("start_time")),
        "EndTime": shapes.text(found.get("end_time")),
        "Nodes": shapes.text(found.get("node_list")),
        "Flags": shapes.text(found.get("flags")),
    }


def _licence_facts(found: Found) -> dict[str, str]:
    kept = {"LicenseName": "LicenseName", "Total": "Total", "Free": "Free"}
    return {ours: shapes.text(found.get(theirs)) for theirs, ours in kept.items()}


_FACTS = {
    "partition": _partition_facts,
    "reservation": _reservation_facts,
    "licenses": _licence_facts,
}
