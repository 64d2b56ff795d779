"""`schedmate run`"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import json_option, print_json, say, verb
from schedmate.cli.submit import SbatchWords

if TYPE_CHECKING:
    from schedmate.cli._terminal_run import Door
    from schedmate.model import Submission
    from schedmate.schedulers.base import Scheduler


@verb(
    cls=SbatchWords,
    examples="""
schedmate run --gpus 1 -- python3
schedmate run --gpus 2 --time 2:00:00 -- bash
schedmate run train.py --epochs 1
""",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[SBATCH FLAGS]",
)
@json_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[--] COMMAND [ARGS]...")
def command(words: tuple[str, ...], as_json: bool) -> int:
    """Wait in the queue, then run a command at this terminal with the GPUs that it was given.

    Takes what `submit` takes. Keyboard, screen, window size and Ctrl-C are the command's own, and
    its exit code is this verb's. The job ends with the command, and with the terminal. What it
    prints is in no log. On Slurm that is srun.
    """
    from schedmate import config
    from schedmate.cli._terminal_run import Door
    from schedmate.model import BadInput
    from schedmate.service.usecases.submission import submission_of
    from schedmate.service.wiring import open_scheduler

    if not words:
        raise BadInput("name a command to run at this terminal: schedmate run -- python3")
    settings = config.load()
    if settings.scheduler != "local":
        raise BadInput("run is for the local queue; on Slurm: srun --pty COMMAND")
    submission = submission_of(settings, words)
    if submission.tasks:
        raise BadInput("one terminal runs one command: no --array")
    door = Door()
    try:
        return _run(open_scheduler(settings), submission, door, as_json=as_json)
    finally:
        door.close()


def _run(scheduler: Scheduler, submission: Submission, door: Door, *, as_json: bool) -> int:
    from schedmate.cli._terminal_run import run_at_terminal

    # it is not tried again: its terminal has gone on
    options = {**submission.options, "interactive": door.place, "comment": "schedmate=off"}
    queued = replace(submission, options=options, stdout=os.devnull, stderr=None)
    job_id = scheduler.submit(queued)
    for note in submission.notes:
        say(note)
    if as_json:
        print_json({"schema": "schedmate.run/1", "job_id": job_id})
    try:
        holder, env = door.wait(lambda: next(iter(scheduler.jobs([job_id])), None))
    except BaseException:
        scheduler.cancel(job_id)
        raise
    with holder:
        ended = run_at_terminal(submission.command, submission.workdir, env, holder)
    return ended.as_exit_code
