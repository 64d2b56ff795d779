"""`schedmate submit`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import duration, echo, json_option, print_json, say, verb
from schedmate.cli._hosts import HERE, OnHost, run_there

if TYPE_CHECKING:
    from schedmate.advisor import Advised
    from schedmate.config import Settings
    from schedmate.schedulers.base import HasSubmitCommand, Scheduler

_MOMENT_S, _PATIENCE_S = 1.5, 120.0
"""How long a terminal waits for advice, and who asked for it always."""
_OURS = ("--json", "--help", "-h")


class SbatchWords(OnHost):
    """Leaves all words as they are but for our own flags before the script.

    click would read a flag in `-phigh`, and would swallow the `--` that marks a command.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from schedmate.service.usecases import sbatch

        hosts, args = sbatch.take_own(args, "--host")
        if hosts and hosts[-1] != HERE:
            ctx.exit(run_there(hosts[-1], [ctx.info_name or "", *args]))
        ours, words = sbatch.part(args, _OURS)
        return click.Command.parse_args(self, ctx, [*ours, "--", *words])


@verb(
    cls=SbatchWords,
    examples="""
schedmate submit train.sh
schedmate submit --gpus 2 --time 4:00:00 train.py --epochs 30
schedmate submit -- python3 train.py --epochs 30
schedmate submit --array=0-99%4 train.sh
schedmate submit --gpus 1 --sweep lr=1e-3,1e-4 seed=1..5 train.py --epochs 30
schedmate submit --gpus 1 --commands jobs.txt
schedmate submit --dependency=afterok:12 --begin=now+1hour evaluate.sh
schedmate submit --notify https://ntfy.sh/a-name-of-yours train.sh
schedmate submit --host box2 train.sh
""",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[SBATCH FLAGS]",
)
@json_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")
def command(words: tuple[str, ...], as_json: bool) -> int:
    """Hand a job to the scheduler in use, advised on its way.

    Takes sbatch's flags and prints what sbatch prints. A Python file without `#!` is run by
    python3; what stands behind `--` is a command, unless it is a script here; without either the
    script comes on standard input. On Slurm sbatch
    itself runs, with all its flags, its input and its exit code; the local queue does the same by
    itself where one machine can, and refuses the rest in a sentence. There `--notify URL` (or a
    mail address) tells of the end, see `schedmate notify on`. With `--host` the job is submitted
    on another machine, from the directory of the same name there. Advice comes after the job is
    queued, on stderr to a terminal (see the setting submit.advice), and never stops a submission.
    """
    from schedmate.schedulers.base import HasSubmitCommand
    from schedmate.service.wiring import open_scheduler

    settings, problem = _settings()
    scheduler = open_scheduler(settings)
    if isinstance(scheduler, HasSubmitCommand):
        return _by_command(settings, scheduler, words, as_json=as_json, problem=problem)
    return _by_us(settings, scheduler, words, as_json=as_json)


def _settings() -> tuple[Settings, str]:
    """With the problem, where wrong settings must not stop what Slurm alone can do."""
    from schedmate import config
    from schedmate.model import BadInput

    try:
        return config.load(), ""
    except BadInput as error:
        if config.scheduler_in_use() != "slurm":
            raise
        return config.Settings(scheduler="slurm"), str(error)


def _by_us(
    settings: Settings, scheduler: Scheduler, words: tuple[str, ...], *, as_json: bool
) -> int:
    """The job is queued at once; its code is read afterwards, by another process."""
    from schedmate.cli._advising import start_advising
    from schedmate.service.usecases.submission import submission_of

    submission = submission_of(settings, words)
    _begin_store(settings)
    job_id = scheduler.submit(submission)
    for note in submission.notes:
        say(note)
    if as_json:
        _print_id(job_id)
    else:
        echo(job_id if "--parsable" in words else f"Submitted batch job {job_id}")
    sys.stdout.flush()
    for line in start_advising(settings, job_id, _patience_s(settings)):
        echo(line, err=True)
    return 0


def _begin_store(settings: Settings) -> None:
    """Jobs that have ended before there was one are left alone."""
    if not settings.store_url and not settings.database.exists():
        from schedmate.service.wiring import open_store

        open_store(settings).close()


def _patience_s(settings: Settings) -> float:
    """For advice."""
    if settings.submit.advice == "always":
        return _PATIENCE_S
    return _MOMENT_S if settings.submit.advice == "auto" and sys.stderr.isatty() else 0.0


def _by_command(
    settings: Settings,
    scheduler: HasSubmitCommand,
    words: tuple[str, ...],
    *,
    as_json: bool,
    problem: str,
) -> int:
    from schedmate.service.usecases import submit_command

    choice = settings.submit.advice
    shown = choice == "always" or (choice == "auto" and sys.stderr.isatty())
    result = submit_command.run(
        settings,
        scheduler,
        words,
        submit_command.Listeners(
            output=(lambda _: None) if as_json else _pass_on,
            advised=_show if shown else None,
            problem=lambda why: say(f"submitting without advice: {why}"),
        ),
        problem=problem,
    )
    if as_json and not result.exit_code:
        _print_id(result.job_id)
    return result.exit_code


def _pass_on(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _print_id(job_id: str | None) -> None:
    print_json({"schema": "schedmate.submitted/1", "job_id": job_id})


def _show(advised: Advised) -> None:
    from schedmate.service.views.sentences import advice_lines

    for line in advice_lines(advised.advice, duration):
        echo(line, err=True)
