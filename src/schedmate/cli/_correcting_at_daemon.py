"""`schedmate rules correct` with `server`: the daemon corrects, and teaches all where one may."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.cli._common import echo, print_json, say
from schedmate.cli._site import client_of
from schedmate.handler.learning import check_correction
from schedmate.model import BadInput, NotSignedIn

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.service.views.answers import CorrectedAnswer

_OWN_STORE = "or unset `server` (SCHEDMATE_SERVER=) to teach your own store"


def correct(
    settings: Settings,
    *,
    targets: tuple[str, ...],
    reason: str,
    note: str,
    no_rule: bool,
    as_json: bool,
    **only_here: Any,
) -> None:
    """`no_rule`: this attempt alone; `only_here`: what is about logs that this machine reads."""
    check_correction(reason)
    if len(targets) != 1 or targets[0] == "-" or Path(targets[0]).exists():
        raise BadInput(
            f"what failures teach is kept by the daemon at {settings.server}: give the id of a"
            f" job, {_OWN_STORE}"
        )
    if unsent := [name for name, value in only_here.items() if value]:
        flags = ", ".join(f"--{name.removesuffix('s').replace('_', '-')}" for name in unsent)
        raise BadInput(
            f"the daemon at {settings.server} corrects a job by its id, a reason and a note:"
            f" leave {flags} out, {_OWN_STORE}"
        )
    found, for_all = _sent(settings, targets[0], reason, note, for_all=not no_rule)
    if as_json:
        print_json(found)
    else:
        echo(f"job {found.job_id} is {reason}: {found.diagnosis.summary}")
        reach = "such failures of all jobs are" if for_all else "this attempt alone is"
        say(f"{reach} answered so{' from now on' if for_all else ''}")
        say(f"undo it: schedmate rules withdraw {found.job_id}")


def _sent(
    settings: Settings, job_id: str, reason: str, note: str, *, for_all: bool
) -> tuple[CorrectedAnswer, bool]:
    """For all where one is an operator there, as the verb does in a store of one's own."""
    client = client_of(settings)
    if for_all:
        with suppress(NotSignedIn):
            return client.correct(job_id, reason, note=note, for_all=True), True
    return client.correct(job_id, reason, note=note), False
