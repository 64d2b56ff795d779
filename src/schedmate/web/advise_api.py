"""`POST /api/v1/advise`: what a job is and how long it will take, before it is submitted."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, get_args, get_type_hints

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from schedmate.model import Request as JobRequest
from schedmate.model import Workload
from schedmate.model.batch_script import PATTERN, check_batch_script
from schedmate.service.usecases.quick_advice import (
    AdviceQuestion,
    AdviceTicket,
    QuickAdvice,
    TooManyQuestions,
    workload_of,
)
from schedmate.service.views.answers import AdvisedAnswer
from schedmate.service.visibility import Viewer
from schedmate.web.asking import AKnownViewer
from schedmate.web.etags import fresh_json
from schedmate.web.problems import PROBLEMS, described
from schedmate.web.progress_api import scheduled_advice

router = APIRouter(prefix="/api/v1", responses=PROBLEMS, tags=["advice"])
_MOST_TEXT = 1_000_000
_LARGEST = 10**15
_Word = Annotated[str, Field(max_length=10_000)]
_Words = Annotated[list[_Word], Field(max_length=1000)]
_STRICT = ConfigDict(extra="forbid", strict=True)


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 3.0 is a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_MAY_HAVE_A_POINT = BeforeValidator(_whole)


def _bounded(kind: Any) -> Any:
    """The type of a field's value, within bounds."""
    if kind is int:
        return Annotated[int, Field(ge=0, le=_LARGEST), _MAY_HAVE_A_POINT] | None
    if kind is float:
        return Annotated[float, Field(ge=0, le=_LARGEST)] | None
    if kind is str:
        return Annotated[str, Field(max_length=1000)] | None
    return list[_Word] | None if kind is not bool else bool | None


def _value_types() -> dict[str, Any]:
    """By field of the record: `Finding[int] | None` holds an int."""
    hints = get_type_hints(Workload)
    return {name: get_args(get_args(hint)[0])[0] for name, hint in hints.items()}


WorkloadValues = create_model(  # type: ignore[call-overload] # its fields are known at run time
    "WorkloadValues",
    __config__=_STRICT,
    **{name: (_bounded(kind), None) for name, kind in _value_types().items()},
)


class AdviseBody(BaseModel):
    """A script's text with its arguments, a command line, or a workload record."""

    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={
            "anyOf": [
                {"required": [name], "properties": {name: {"type": kind}}}
                for name, kind in (
                    ("script", "string"),
                    ("command", "array"),
                    ("workload", "object"),
                )
            ]
        },
    )
    script: (
        Annotated[
            str,
            Field(min_length=1, max_length=_MOST_TEXT, json_schema_extra={"pattern": PATTERN}),
        ]
        | None
    ) = None
    """The text of a batch script, as sbatch takes it: its first line begins with `#!`."""
    args: _Words = []
    command: Annotated[list[_Word], Field(min_length=1, max_length=1000)] | None = None
    workdir: Annotated[str, Field(max_length=4096, pattern="^(/.*)?$")] = ""
    """Absolute; its files are read as the asking user could. Empty: no file is read."""
    workload: WorkloadValues | None = None
    gpus: Annotated[int, Field(ge=0, le=100_000), _MAY_HAVE_A_POINT] = 0
    nodes: Annotated[int, Field(ge=1, le=100_000), _MAY_HAVE_A_POINT] = 1
    gpu_type: Annotated[str, Field(max_length=200)] | None = None
    time_limit_s: Annotated[float, Field(gt=0, le=1e9)] | None = None
    partition: Annotated[str, Field(max_length=200)] | None = None
    name: Annotated[str, Field(max_length=1000)] = ""
    user: Annotated[str, Field(max_length=100)] | None = None
    """Whose job it will be; another than the asker only for operators."""
    within_s: Annotated[float, Field(ge=0, le=1)] = 0.15
    """How long the answer may take at most, beside the way to and fro."""


def advisor_of(request: Request) -> QuickAdvice:
    found = request.app.state.advice
    assert isinstance(found, QuickAdvice)  # noqa: S101 - it is there while the application runs
    return found


AnAdvisor = Annotated[QuickAdvice, Depends(advisor_of)]


@router.post(
    "/advise",
    response_model=AdvisedAnswer,
    responses={
        413: described("The body is too large."),
        429: described("Too many questions at once."),
    },
)
def advise(body: AdviseBody, advisor: AnAdvisor, viewer: AKnownViewer) -> Response:
    """How long a job would take and what is wrong with it; nothing is run.

    Answers within 0.2 s with what is known by then, and reads on: ask again under the id. Files
    are read with the rights of the asking user, or not at all.
    """
    question = _question(body, viewer)
    try:
        ticket = advisor.ask(viewer, question, within_s=body.within_s)
    except TooManyQuestions as error:
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, str(error)) from error
    return _answer(ticket)


@router.get(
    "/advise/{advice_id}",
    response_model=AdvisedAnswer,
    responses={404: described("There is no such question of yours, or no longer.")},
)
def advised(advice_id: str, advisor: AnAdvisor, viewer: AKnownViewer) -> Response:
    """The answer to an earlier question as it is now; kept for a while."""
    ticket = advisor.ticket(viewer, advice_id)
    if ticket is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no question {advice_id!r} of yours")
    return _answer(ticket)


def _question(body: AdviseBody, viewer: Viewer) -> AdviceQuestion:
    if body.user is not None and body.user != viewer.user and not viewer.operator:
        raise HTTPException(HTTPStatus.FORBIDDEN, "only operators ask about jobs of other users")
    if body.script is None and body.command is None and body.workload is None:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, "name a script, a command or a workload"
        )
    if body.script is not None:
        check_batch_script(
            "the script", body.script.encode(errors="replace"), otherwise="or name a command"
        )
    stated = None if body.workload is None else body.workload.model_dump(exclude_none=True)
    if stated is not None:
        workload_of(stated)
    return AdviceQuestion(
        user=body.user or viewer.user,
        workdir=body.workdir,
        script=body.script,
        command=tuple(body.command or ()),
        args=tuple(body.args),
        request=JobRequest(
            gpus=body.gpus,
            nodes=body.nodes,
            gpu_type=body.gpu_type,
            time_limit_s=body.time_limit_s,
            partition=body.partition,
        ),
        workload=stated,
        name=body.name,
    )


def _answer(ticket: AdviceTicket) -> Response:
    (advice, state), asked = ticket.answer(), ticket.question.request
    answer = AdvisedAnswer(
        id=ticket.id,
        state=state,
        advice=advice,
        prediction=scheduled_advice(
            advice,
            user=ticket.question.user,
            gpus=asked.gpus,
            nodes=asked.nodes,
            partition=asked.partition,
        ),
    )
    more = {} if state == "final" else {"Location": f"/api/v1/advise/{ticket.id}"}
    return fresh_json(answer, **more)
