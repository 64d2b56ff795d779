"""What an assistant may ask: each tool looks, and none changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from schedmate.model import BadInput
from schedmate.model.job import is_among
from schedmate.model.state_filter import check_states
from schedmate.model.wire import to_json
from schedmate.service.views.queue_row import queue_row
from schedmate.service.views.sentences import eta_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import JobId
    from schedmate.service.views.answers import SimilarRuns
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.sentences import Written

_MOST_JOBS = 200
_FEW_JOBS = 50


class Knowledge(Protocol):
    """Where answers come from: the site's daemon, or this machine."""

    def views(self) -> Sequence[JobView]: ...

    def view(self, job_id: JobId) -> JobView: ...

    def why(self, job_id: JobId) -> str: ...

    def similar(self, job_id: JobId) -> SimilarRuns: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: str
    title: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...] = ()
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]]

    def described(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": {name: dict(one) for name, one in self.properties.items()},
                "required": list(self.required),
                "additionalProperties": False,
            },
            "annotations": {
                "title": self.title,
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }

    def call(self, arguments: Any) -> Mapping[str, Any]:
        """BadInput, which the assistant can read and mend, where an argument is wrong."""
        if not isinstance(arguments, dict):
            raise BadInput("arguments must be an object")
        for name in arguments:
            if name not in self.properties:
                raise BadInput(f"{self.name} has no argument {name!r}")
        for name in self.required:
            if name not in arguments:
                raise BadInput(f"{self.name} needs the argument {name!r}")
        for name, value in arguments.items():
            kind = int if self.properties[name]["type"] == "integer" else str
            if not isinstance(value, kind) or isinstance(value, bool):
                raise BadInput(f"{name} must be {'an integer' if kind is int else 'a string'}")
        return self.answer(arguments)


def tools_of(known: Knowledge, now: Callable[[], float], written: Written) -> list[Tool]:
    """`written` puts seconds into words."""
    job_id = {"type": "string", "description": "A job id: 12, 12_3 (array task), 12+1 (het part)."}

    def jobs(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        states, user = str(arguments.get("state", "")), arguments.get("user")
        check_states(states)
        fitting = [
            view
            for view in known.views()
            if is_among(view.job.state, states) and (user is None or view.job.user == user)
        ]
        most = max(1, min(int(arguments.get("limit", _FEW_JOBS)), _MOST_JOBS))
        rows = [_row(view, now(), written) for view in fitting[:most]]
        return {"jobs": rows, "total": len(fitting)}

    def why(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        view = known.view(arguments["job_id"])
        found = view.diagnosis
        return {
            "job_id": view.job.id,
            "state": view.job.state.value,
            "answer": known.why(arguments["job_id"]),
            "diagnosis": None if found is None else to_json(found),
        }

    def eta(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        view, at = known.view(arguments["job_id"]), now()
        left = view.remaining_s(at)
        return {
            "job_id": view.job.id,
            "state": view.job.state.value,
            "answer": eta_sentence(view, at, written),
            "remaining_s": None if left is None else to_json(left),
            "predicted_s": None if view.predicted is None else to_json(view.predicted),
        }

    def similar(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = to_json(known.similar(arguments["job_id"]))
        return found

    def whole(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = to_json(known.view(arguments["job_id"]))
        return found

    return [
        Tool(
            name="list_jobs",
            title="List jobs",
            description="The queue: state, predicted and remaining time, progress, what is known "
            "of each job. Only the text of your own jobs is shown.",
            properties={
                "state": {
                    "type": "string",
                    "description": "States with commas between: PENDING, RUNNING, FAILED, … "
                    "or failing: all that failed in any way.",
                },
                "user": {"type": "string", "description": "Only jobs of this user."},
                "limit": {"type": "integer", "description": f"At most; {_FEW_JOBS} by default."},
            },
            answer=jobs,
        ),
        Tool(
            name="why",
            title="Why a job failed or waits",
            description="Why a job waits, runs on or failed, in one sentence; for a failure also "
            "its reason, the lines of its log that show it, and what to do.",
            properties={"job_id": job_id},
            required=("job_id",),
            answer=why,
        ),
        Tool(
            name="eta",
            title="When a job ends",
            description="When a job ends: p10, p50 and p90 in seconds from now, and in words.",
            properties={"job_id": job_id},
            required=("job_id",),
            answer=eta,
        ),
        Tool(
            name="similar_jobs",
            title="Past jobs like this one",
            description="The past jobs that a job's prediction goes by: how similar they were, how "
            "long they took, how they ended.",
            properties={"job_id": job_id},
            required=("job_id",),
            answer=similar,
        ),
        Tool(
            name="show_job",
            title="One job's whole view",
            description="All that is known of one job: request, workload record with evidence, "
            "prediction, progress, diagnoses by attempt, decisions.",
            properties={"job_id": job_id},
            required=("job_id",),
            answer=whole,
        ),
    ]


def _row(view: JobView, now: float, written: Written) -> dict[str, Any]:
    row = queue_row(view, now, written)
    return {
        "job_id": view.job.id,
        "name": view.job.name,
        "user": view.job.user,
        "state": view.job.state.value,
        "gpus": view.job.request.gpus,
        "predicted_s": row.predicted_s,
        "run_time_s": row.run_time_s,
        "progress": row.fraction,
        "remaining_s": None if row.left_s is None else row.left_s.p50,
        "note": row.note,
    }
