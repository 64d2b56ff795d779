"""`schedmate diagnose`: why a job failed and what to do, from its logs."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from schedmate.cli._asking import PersonsAsker
from schedmate.cli._case import open_case, verdict_options
from schedmate.cli._common import console, json_option, no_llm_option, print_json, say, verb

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.handler import Case, Handler
    from schedmate.handler.suspects import Suspicion
    from schedmate.model import Diagnosis

EXAMPLES = """
schedmate diagnose slurm-17.out
schedmate diagnose logs/ --state FAILED --exit-code 1:0 --node gpu041
schedmate diagnose slurm-17.out --node gpu041=down --node gpu042
schedmate diagnose slurm-17.out --system-log dmesg.txt
schedmate diagnose rank*.log --exit-code 137 --json
kubectl logs trainer-0 | schedmate diagnose -
"""
_WITHOUT_THE_MODEL = 5
_LABEL_WIDTH = 9


@verb(examples=EXAMPLES)
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@verdict_options
@click.option(
    "--llm",
    is_flag=True,
    help="Wait for a model as long as llm.deadline_s; exit with 5 when none could be asked.",
)
@no_llm_option
@json_option
def command(
    *,
    logs: tuple[str, ...],
    state: str | None,
    exit_code: str | None,
    nodes: tuple[str, ...],
    system_logs: tuple[str, ...],
    llm: bool,
    no_llm: bool,
    as_json: bool,
) -> int:
    """Why the job with these LOGs failed, whose fault it was and what to do about it.

    A directory means all logs of one job, `-` reads standard input. Rules answer first; a
    language model, where there is one, is asked when they do not know, and given 10 seconds; one
    that reads for itself is asked about every failure, and given a minute.
    If it is wrong, say so with `schedmate rules correct`.
    """
    if llm and no_llm:
        raise click.UsageError("--llm and --no-llm contradict each other")
    with ExitStack() as stack:
        case = open_case(
            logs,
            state=state,
            exit_code=exit_code,
            nodes=nodes,
            system_logs=system_logs,
            stack=stack,
        )
        suspects = _suspects(case)
        case = replace(case, suspects=tuple(one.node for one in suspects))
        diagnosis, problem = _diagnose(case, ask=not no_llm, demand=llm, stack=stack)
    if as_json:
        print_json(diagnosis)
    else:
        _show(diagnosis)
        for one in suspects:
            _row("suspect", f"{one.node}, {one.probability:.0%} sure (see: schedmate nodes)")
    if problem:
        say(f"answered without a language model: {problem}")
    return _WITHOUT_THE_MODEL if problem and llm else 0


def _suspects(case: Case) -> tuple[Suspicion, ...]:
    """Nodes of the case that other people's failures speak against, as far as it is known."""
    if not case.nodes:
        return ()
    import time
    from sqlite3 import Error as StoreError

    from schedmate import config
    from schedmate.model import SchedMateError
    from schedmate.service.records.nodes import NodeKnowledge
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    try:
        with closing(open_store(settings)) as store:
            known = NodeKnowledge(open_scheduler(settings), store)
            return known.suspects_among(case.nodes, time.time())
    except (OSError, SchedMateError, StoreError):
        return ()


def _diagnose(case: Case, *, ask: bool, demand: bool, stack: ExitStack) -> tuple[Diagnosis, str]:
    """Return the diagnosis, and why no model was asked where one could have helped."""
    from schedmate.handler import Handler
    from schedmate.model import SchedMateError

    handler, problem = _open_handler(ask=ask, demand=demand, stack=stack)
    try:
        diagnosis = handler.diagnose(case)
    except SchedMateError as error:  # a store that could be opened and cannot be read
        handler, problem = Handler(), _without_memory(error)
        diagnosis = handler.diagnose(case)
    if diagnosis.decision.retry != "no" and _is_complete(case):
        case = replace(case, complete=True)
        diagnosis = handler.diagnose(case)
    if not ask or not handler.wants_model(diagnosis):
        return diagnosis, ""
    try:
        return handler.ask_model(case, diagnosis), problem
    except SchedMateError as error:
        return diagnosis, str(error)


def _is_complete(case: Case) -> bool:
    """Whether one of its own logs shows that the work was done before it failed."""
    import io

    from schedmate.handler import NamedLog
    from schedmate.tracker import track_file, track_stream

    for order, log in enumerate(case.logs):
        content = log.content if isinstance(log, NamedLog) else log
        if case.reporter(order) != "job":
            continue
        if isinstance(content, bytes):
            progress = track_stream(io.BytesIO(content), name="")
        else:
            progress = track_file(content)
        if progress.complete:
            return True
    return False


def _open_handler(*, ask: bool, demand: bool, stack: ExitStack) -> tuple[Handler, str]:
    """A handler with memory and model; a broken store takes neither the rules nor the answer."""
    from sqlite3 import Error as StoreError

    from schedmate import config
    from schedmate.handler import Handler
    from schedmate.model import SchedMateError
    from schedmate.service.wiring import open_asker, open_store

    settings = config.load()
    try:
        store = stack.enter_context(closing(open_store(settings)))
    except (OSError, SchedMateError, StoreError) as error:
        return _handler_for_reading(settings, error, stack)
    if open_asker(settings, store, allowed=ask) is None:
        return Handler(store), "none is configured or installed (see: schedmate model status)"
    return Handler(store, PersonsAsker(store, demanded=demand)), ""


def _handler_for_reading(
    settings: Settings, problem: Exception, stack: ExitStack
) -> tuple[Handler, str]:
    """A model's answers could not be counted or remembered here: none is asked."""
    from schedmate.handler import Handler
    from schedmate.model import SchedMateError
    from schedmate.service.wiring import open_store_for_reading

    try:
        store = stack.enter_context(closing(open_store_for_reading(settings)))
    except (OSError, SchedMateError):
        return Handler(), _without_memory(problem)
    say("the store can only be read: what is learnt now is not kept")
    return Handler(store), "the store can only be read"


def _without_memory(error: Exception) -> str:
    say(f"corrections and learned rules are not used: {error}")
    return "the store cannot be used"


def _show(diagnosis: Diagnosis) -> None:
    from rich.text import Text

    from schedmate.model.opinions import in_words

    out = console()
    failed = diagnosis.reason != "not_failed"
    out.print(
        Text.assemble(
            (diagnosis.reason, "bold red" if failed else "bold green"),
            f" ({diagnosis.category}), " if failed else ", ",
            f"{diagnosis.confidence:.0%} sure",
            "" if diagnosis.source == "none" else f", by {diagnosis.source}",
            f" {diagnosis.rule}" if diagnosis.rule and "/" not in diagnosis.rule else "",
        )
    )
    _row("cause" if failed else "", diagnosis.summary)
    for number, evidence in enumerate(diagnosis.evidence):
        _row("" if number else "evidence", f"{evidence.file}:{evidence.line}: {evidence.text}")
    if failed:
        excluded = ", ".join(diagnosis.decision.exclude_nodes)
        _row("retry", diagnosis.decision.retry + (f" (not on {excluded})" if excluded else ""))
        _row("why", diagnosis.decision.why)
        _row("suggest", diagnosis.suggestion)
    for label, text in in_words(diagnosis.opinion):
        _row(label, text)


def _row(label: str, text: str) -> None:
    from rich.text import Text

    if text:
        out, margin = console(), _LABEL_WIDTH + 2
        rest = Text(text).wrap(out, max(margin, out.width - margin))
        for number, line in enumerate(rest):
            left = "" if number else f"  {label}"
            out.print(Text.assemble((f"{left:<{margin}}", "dim"), line))
