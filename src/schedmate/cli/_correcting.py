"""`schedmate rules correct`: whose failure it was, which line shows it, what was learnt."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate import config
from schedmate.cli import _rules
from schedmate.cli._case import open_case
from schedmate.cli._common import echo
from schedmate.cli._logs import check_names
from schedmate.handler import Case, Handler
from schedmate.handler.learning import Lesson, Teaching, check_correction
from schedmate.handler.reading import LogLine
from schedmate.handler.reading.lines import blocks, pieces, read_line
from schedmate.logs import chunks_of, open_regular, pieces_of, plain
from schedmate.model import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.files import Reader
    from schedmate.handler import NamedLog
    from schedmate.model import Job
    from schedmate.service.views.answers import CorrectedAnswer
    from schedmate.store import Store


def correct(
    store: Store,
    *,
    targets: tuple[str, ...],
    reason: str,
    line: int | None,
    text: str | None,
    note: str,
    no_rule: bool,
    state: str | None,
    exit_code: str | None,
    nodes: tuple[str, ...],
    system_logs: tuple[str, ...],
) -> Lesson:
    from schedmate.service.usecases.audit import CORRECTION
    from schedmate.service.usecases.interventions import record_correction
    from schedmate.service.usecases.persons_decisions import original_diagnosis
    from schedmate.store import KeptCorrection

    check_correction(reason)
    with ExitStack() as stack:
        job = _job(store, targets)
        if job is None:
            case = open_case(
                targets,
                state=state,
                exit_code=exit_code,
                nodes=nodes,
                system_logs=system_logs,
                stack=stack,
            )
        else:
            case = Case.of_job(job)
        shown = _pointed_at(case, line, text)
        about = " ".join(targets) if job is None else f"job {job.id}"
        on_log = stack.enter_context(_rules.bar("checking"))
        before = None if job is None else original_diagnosis(store, job)
        handler = Handler(store)
        lesson = handler.correct(
            case,
            reason,
            _rules.origin_here(about=about, note=note, owner=case.user),
            line=shown,
            teaching=Teaching(store, on_log=on_log),
            make_rule=not no_rule,
        )
        if job is not None and before is not None:
            made = KeptCorrection(by=_rules.person(), at=time.time(), for_all=True, before=before)
            record_correction(store, job, handler.diagnose(case), made)
    _rules.record(store, CORRECTION, about, f"is {reason}")
    return _seen(lesson)


def withdraw(job_id: str) -> CorrectedAnswer:
    """By the site's daemon where one is named: its corrections are not in one's own store."""
    from schedmate.cli._site import client_of
    from schedmate.service.usecases.audit import WITHDRAWAL
    from schedmate.service.usecases.persons_decisions import withdraw_correction
    from schedmate.service.views.answers import CorrectedAnswer

    settings = config.load()
    if settings.server:
        return client_of(settings).withdraw(job_id)
    with closing(_rules.open_experience()) as store:
        job = _known_job(store, job_id)
        diagnosis = withdraw_correction(store, job, operator=_rules.viewer().operator)
        _rules.record(store, WITHDRAWAL, f"job {job.id}", f"is {diagnosis.reason} again")
    return CorrectedAnswer(job_id=job.id, attempt=job.restarts, diagnosis=diagnosis)


def _seen(lesson: Lesson) -> Lesson:
    """The rule may have been learnt before, from another user's log."""
    sees = _rules.viewer()
    rule = None if lesson.rule is None else sees.rule(lesson.rule)
    refused = lesson.rule is not None and bool(lesson.rule.refused)
    problem = sees.refusal(lesson.problem) if refused else lesson.problem
    return replace(lesson, rule=rule, problem=problem)


def show(lesson: Lesson) -> None:
    past = lesson.failure
    echo(f"{past.id}: such failures are {past.reason} from now on: {past.line.strip()}")
    if lesson.rule is not None and not lesson.problem:
        echo(f"rule {_rules.sentence(lesson.rule)}")
    elif lesson.problem:
        echo(f"no rule was made of it: {lesson.problem}")
    echo(f"undo it: schedmate rules remove {past.id}", err=True)


def _job(store: Store, targets: tuple[str, ...]) -> Job | None:
    """A single word that is no file is a job's id."""
    check_names(targets)
    if len(targets) != 1 or targets[0] == "-" or Path(targets[0]).exists():
        return None
    return _known_job(store, targets[0])


def _known_job(store: Store, job_id: str) -> Job:
    from schedmate.service.views.job_view import job_view
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler

    settings = config.load()
    viewer = viewer_of(settings)
    job = job_view(open_scheduler(settings), store, viewer, job_id).job
    if not viewer.may_read(job.user):
        raise BadInput(f"job {job.id} belongs to {job.user}: they or an operator can correct it")
    return job


def _pointed_at(case: Case, number: int | None, text: str | None) -> LogLine | None:
    if number is None and text is None:
        return None
    found = [line for log in _lines(case) for line in log if _is_it(line, number, text)]
    if not found:
        wanted = f"line {number}" if number is not None else f"{text!r}"
        raise BadInput(f"{wanted} is not in the log")
    if len({line.order for line in found}) > 1 and text is None:
        raise BadInput("several logs have such a line: point at it with --text")
    return found[-1]


def _is_it(line: LogLine, number: int | None, text: str | None) -> bool:
    if not line.text:
        return False
    return (number is None or line.number == number) and (text is None or text in line.text)


def _lines(case: Case) -> Iterator[Iterator[LogLine]]:
    for order, log in enumerate(case.logs):
        yield _lines_of(log, order, case.reader)


def _lines_of(log: Path | NamedLog, order: int, reader: Reader) -> Iterator[LogLine]:
    content = log if isinstance(log, Path) else log.content
    name = str(log) if isinstance(log, Path) else log.name
    number = 1
    for block in blocks(plain(_chunks(content, reader))):
        for at, raw in pieces(block, number):
            yield read_line(raw, file=name, order=order, number=at)
        number += block.count(b"\n")


def _chunks(content: Path | bytes, reader: Reader) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield from pieces_of(content)
        return
    with suppress(OSError), open_regular(content, reader) as stream:
        yield from chunks_of(stream)
