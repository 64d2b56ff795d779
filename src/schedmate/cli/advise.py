"""`schedmate advise`: what a job is, how long it will take, what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedmate.cli._asking import PersonsAsker
from schedmate.cli._common import (
    console,
    duration,
    json_option,
    no_llm_option,
    print_json,
    say,
    verb,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from schedmate.advisor import Target
    from schedmate.advisor.advisor import Advised
    from schedmate.model import Advice, Evidence, Prediction, Remark, Workload

_EXAMPLES = """\
schedmate advise train.sh                          a script, read from the current directory
schedmate advise --dir ~/gpt train.py --epochs 3   a Python file and its arguments
schedmate advise --json -- torchrun train.py       a command line as it would be run
"""
_OURS_AT_THE_END = {"--json": "as_json", "--llm": "llm", "--no-llm": "no_llm"}
_WITHOUT_THE_MODEL = 5
_MARKS = {"error": "red", "warning": "yellow", "hint": "cyan"}


class _AdviseCommand(click.Command):
    """Separates SCRIPT from `-- COMMAND`, and lets a last `--json` behind a script be ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        rest = super().parse_args(ctx, args)
        words: tuple[str, ...] = ctx.params["words"]
        before = given[len(given) - len(words) - 1 :][:1] if len(words) < len(given) else []
        ctx.params["is_command"] = before == ["--"]
        while not ctx.params["is_command"] and len(words) > 1 and words[-1] in _OURS_AT_THE_END:
            ctx.params[_OURS_AT_THE_END[words[-1]]] = True
            words = words[:-1]
        ctx.params["words"] = words
        return rest


@verb(
    examples=_EXAMPLES,
    cls=_AdviseCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--dir", "directory", default=".", metavar="D", help="The job's directory; default: here."
)
@json_option
@click.option(
    "--llm",
    is_flag=True,
    help="Ask a model about what stays open; exit with 5 when none could be asked.",
)
@no_llm_option
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]…")
def command(
    directory: str,
    as_json: bool,
    llm: bool,
    no_llm: bool,
    words: tuple[str, ...],
    *,
    is_command: bool,
) -> int:
    """Say what a job is, how long it will take and what is wrong with it. Nothing is run.

    SCRIPT is an sbatch or shell script, a Python file or a job file (Kubernetes, Ray, Compose,
    SkyPilot, a Dockerfile, a Makefile), relative to D; what follows it is its own, except a last
    --json, --llm or --no-llm. Write `-- COMMAND…` for a command line. With --llm, or where the
    setting llm.advice is on, a language model is asked about what reading leaves open. Exits with
    3 when neither the program that the job starts nor its duration is known.
    """
    if llm and no_llm:
        raise click.UsageError("--llm and --no-llm contradict each other")
    from schedmate.advisor import Target
    from schedmate.model import NotFound

    make = Target.from_command if is_command else _target_of_script
    advised = _advise(make(Path(directory), words), ask=not no_llm, demand=llm)
    if as_json:
        print_json(advised.advice)
    else:
        _show(advised.advice)
    if advised.problem is not None:
        say(f"answered without a language model: {advised.problem}")
    if advised.problem is not None and llm:
        return _WITHOUT_THE_MODEL
    return NotFound.exit_code if advised.found_nothing else 0


def _target_of_script(directory: Path, words: tuple[str, ...]) -> Target:
    """A script as sbatch takes it, a Python file or a job file; an interpreter is a command."""
    from schedmate.advisor import Target
    from schedmate.advisor.launch.job_files import is_job_file
    from schedmate.service.usecases.named_script import kind_of

    path = directory / words[0]
    is_there = os.path.isfile(path)  # noqa: PTH113 - a name too long for a file is none either
    if is_there and not is_job_file(path) and kind_of(path, words[0]) == "interpreter":
        return Target.from_command(directory, words)
    return Target.from_script(directory, words[0], words[1:])


def _advise(target: Target, *, ask: bool, demand: bool) -> Advised:
    """On `demand` it is a problem that there is no model, should there be anything to ask."""
    from contextlib import closing
    from dataclasses import replace

    from schedmate import config
    from schedmate.advisor import Advisor
    from schedmate.service.usecases.history_import import catch_up
    from schedmate.service.visibility import owners_in, viewer_of
    from schedmate.service.wiring import open_asker, open_store

    settings = config.load()
    catch_up(settings)
    with closing(open_store(settings)) as store:
        is_asked = open_asker(settings, store, allowed=ask and settings.llm.advice) is not None
        asker = PersonsAsker(store, demanded=demand) if demand or is_asked else None
        advised = Advisor(store, store, asker).advise(target)
        viewer = viewer_of(settings)
        advice = viewer.advice(advised.advice, viewer.user, owners_in(store))
        return replace(advised, advice=advice)


def _show(advice: Advice) -> None:
    out = console()
    if advice.summary:
        out.print(f"{advice.summary} (a language model's summary)\n", markup=False)
    out.print(_workload_table(advice.workload, out.width))
    out.print(f"\n{_in_words(advice.prediction)}", markup=False)
    for remark in advice.advice:
        out.print(f"[{_MARKS[remark.level]}]{remark.level}[/]: ", end="")
        out.print(_remark(remark), markup=False)


def _workload_table(workload: Workload, width: int) -> RenderableType:
    from dataclasses import fields

    from schedmate.cli._console import cell
    from schedmate.cli._table import Column, fitted_table

    columns = (
        *(Column("FIELD"), Column("VALUE", folds=True), Column("SOURCE")),
        Column("WHERE", folds=True),
    )
    rows = []
    for field in fields(workload):
        finding = getattr(workload, field.name)
        if finding is not None:
            other = "" if finding.disputed is None else f" or {_value(finding.disputed)}?"
            value = f"{_value(finding.value)}{other}"
            row = (field.name, value, finding.source, _where(finding.evidence))
            rows.append([cell(text) for text in row])
    return fitted_table(columns, rows, width)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _where(evidence: tuple[Evidence, ...]) -> str:
    return f"{evidence[0].file}:{evidence[0].line}" if evidence else ""


def _in_words(prediction: Prediction) -> str:
    from schedmate.service.views.sentences import expected_in_words

    time = prediction.duration_s
    if time is None or time.too_wide:
        return f"How long it takes is not known: {prediction.explanation}."
    about = "" if time.p90 < 1 else "about "
    text = f"Takes {about}{expected_in_words(time, duration)}: {prediction.explanation}."
    if prediction.outcome is not None:
        text += f" Chance to complete: {prediction.outcome.completed:.0%}."
    return text


def _remark(remark: Remark) -> str:
    where = _where(remark.evidence)
    text = f"a language model says: {remark.text}" if remark.by_model else remark.text
    return f"{text} ({where})" if where else text
