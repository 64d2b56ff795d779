"""`schedmate submit`"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import duration, echo, json_option, print_json, say, verb

if TYPE_CHECKING:
    from schedmate.advisor import Advised
    from schedmate.config import Settings
    from schedmate.schedulers.base import HasSubmitCommand

_OURS = ("--json", "--help", "-h")


class _SbatchWords(click.Command):
    """Leaves all words as they are but for our own flags before the script.

    click would read a flag in `-phigh`, and would swallow the `--` that marks a command.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from schedmate.service.usecases import sbatch

        ours, words = sbatch.part(args, _OURS)
        return super().parse_args(ctx, [*ours, "--", *words])


@verb(
    cls=_SbatchWords,
    examples="""
schedmate submit train.sh
schedmate submit --gpus 2 --time 4:00:00 train.py --epochs 30
schedmate submit -- python3 train.py --epochs 30
""",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[SBATCH FLAGS]",
)
@json_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")
def command(words: tuple[str, ...], as_json: bool) -> int:
    """Hand a job to the scheduler in use, advised on its way.

    Takes sbatch's flags and prints what sbatch prints. A Python file without `#!` is run by
    python3; what stands behind `--` is a command, unless it is a script here. On Slurm sbatch
    itself runs, with all its flags, its input and its exit code. Advice goes to stderr (on Slurm
    only to a terminal, see the setting submit.advice) and never stops a submission.
    """
    from schedmate.schedulers.base import HasSubmitCommand
    from schedmate.service.wiring import open_scheduler

    settings, problem = _settings()
    scheduler = open_scheduler(settings)
    if isinstance(scheduler, HasSubmitCommand):
        return _by_command(settings, scheduler, words, as_json=as_json, problem=problem)
    return _by_us(settings, words, as_json=as_json)


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


def _by_us(settings: Settings, words: tuple[str, ...], *, as_json: bool) -> int:
    from schedmate.service.usecases.submit import submission_of, submit

    submitted = submit(settings, submission_of(settings, words))
    if as_json:
        _print_id(submitted.job_id)
    else:
        bare = "--parsable" in words
        echo(submitted.job_id if bare else f"Submitted batch job {submitted.job_id}")
    if submitted.advised is not None and settings.submit.advice != "never":
        _show(submitted.advised)
    return 0


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
    if submit_command.is_advising():  # it may hang in a file system
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(result.exit_code)
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
