"""`schedmate submit`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from schedmate.cli._common import duration, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.advisor import Advised


class _KeepsDashes(click.Command):
    """click swallows a leading `--`, which marks a command here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            args.insert(args.index("--"), "--")
        return super().parse_args(ctx, args)


@verb(
    cls=_KeepsDashes,
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
def command(words: tuple[str, ...], as_json: bool) -> None:
    """Hand a job to the scheduler in use, advised first.

    Takes sbatch's flags and prints what sbatch prints. A Python file is run by python3; what
    stands behind `--` is a command. What the advisor has to say goes to stderr and never stops
    a submission.
    """
    from schedmate import config
    from schedmate.service.usecases.submit import submission_of, submit

    settings = config.load()
    submitted = submit(settings, submission_of(settings, words))
    if as_json:
        print_json({"schema": "schedmate.submitted/1", "job_id": submitted.job_id})
    else:
        bare = "--parsable" in words
        echo(submitted.job_id if bare else f"Submitted batch job {submitted.job_id}")
    if submitted.advised is not None:
        _say(submitted.advised)


def _say(advised: Advised) -> None:
    prediction = advised.advice.prediction
    spread = prediction.duration_s
    if spread is not None:
        from schedmate.service.views.sentences import expected_in_words

        expected = expected_in_words(spread, duration)
        echo(f"expected to run {expected}: {prediction.explanation}", err=True)
    for remark in advised.advice.advice:
        echo(f"{remark.level}: {remark.text}", err=True)
