"""`schedmate model exam` and `schedmate model log`."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.model.exam import ExamResult
    from schedmate.model.ledger import Exchange

MODEL_LOG_SCHEMA = "schedmate.model.log/1"
MODEL_EXAM_SCHEMA = "schedmate.model.exam/1"


@verb(
    name="exam",
    examples="""
schedmate model exam
schedmate model exam --json
""",
)
@json_option
def exam_verb(as_json: bool) -> None:
    """Ask the model fixed questions with known answers, and keep the tier that follows.

    It says how much the model is asked from now on: nothing, to choose among what is listed, or
    to read for itself. What may follow from an answer is the same at every tier.
    """
    from schedmate import config
    from schedmate.llm.exam.taking import examine
    from schedmate.service.wiring import open_store

    settings = config.load()
    with closing(open_store(settings)) as store, _bar() as on_question:
        result = examine(
            settings.llm, cache_dir=settings.cache_dir, ledger=store, on_question=on_question
        )
    if as_json:
        print_json({"schema": MODEL_EXAM_SCHEMA, **exam_facts(result)})
        return
    for score in result.scores:
        skipped = "" if score.asked else "  not asked: reading is out of reach"
        echo(f"{score.kind:<11} {score.right} of {score.questions} right{skipped}")
    echo(f"tier        {result.tier} ({result.tokens} tokens, {result.seconds:g} s)")
    if settings.llm.tier != "auto":
        echo(f"it stays {settings.llm.tier} by the setting llm.tier")


@verb(
    name="log",
    examples="""
schedmate model log
schedmate model log --job 4711
schedmate model log --purpose read_failure --last 1 --json
""",
)
@click.option("--job", "job_id", metavar="JOB", help="Only what was sent about this job.")
@click.option("--purpose", help="Only what was asked for this.")
@click.option("--last", type=click.IntRange(1, 1000), default=5, show_default=True)
@json_option
def log_verb(job_id: str | None, purpose: str | None, last: int, as_json: bool) -> None:
    """Show every byte that was sent to a model, and what came back, the newest last.

    You see what was sent about your own jobs; operators see all.
    """
    from schedmate import config
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_store

    settings = config.load()
    viewer = viewer_of(settings)
    user = None if viewer.operator else viewer.user
    with closing(open_store(settings)) as store:
        found = store.exchanges(user=user, job_id=job_id, purpose=purpose, limit=last)
    if as_json:
        print_json({"schema": MODEL_LOG_SCHEMA, "exchanges": [_facts(one) for one in found[::-1]]})
        return
    if not found:
        echo("nothing was sent to a model")
    for one in reversed(found):
        _show(one)


def exam_facts(result: ExamResult) -> dict[str, Any]:
    scores = [
        {"kind": each.kind, "right": each.right, "asked": each.asked, "questions": each.questions}
        for each in result.scores
    ]
    return {
        "tier": result.tier,
        "model": result.model,
        "at": result.at,
        "scores": scores,
        "tokens": result.tokens,
        "seconds": result.seconds,
    }


def _facts(exchange: Exchange) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(exchange)


def _show(exchange: Exchange) -> None:
    import json
    from datetime import datetime

    when = datetime.fromtimestamp(exchange.at).astimezone().isoformat(" ", "seconds")
    about = f" about job {exchange.job_id}" if exchange.job_id else ""
    of = f" of {exchange.user}" if exchange.user else ""
    echo(f"=== {when} {exchange.purpose}{about}{of}, to {exchange.model} at {exchange.endpoint}")
    body = json.loads(exchange.sent)
    for message in body.pop("messages"):
        echo(f"--- {message['role']}")
        for line in message["content"].split("\n"):
            echo(line)
    echo("--- with")
    echo(json.dumps(body, ensure_ascii=False))
    echo(f"--- {exchange.outcome}")
    for line in exchange.received.split("\n"):
        echo(line)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    talk = console(stderr=True)
    columns = ("examining the model", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=talk, disable=not talk.is_terminal) as progress:
        task = progress.add_task("exam", total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield show
