"""Sends one message about a job of the local queue, as a process of the job's owner.

The queue's daemon starts it. It tries again while the network is away, and ends.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.service.notifications.messages import Message

_PAUSES_S = (5.0, 30.0, 120.0, 600.0)
_NICE = 10


def main() -> None:
    """`JOB`; where to and about what stands in the environment."""
    os.nice(_NICE)
    number, event = sys.argv[1], os.environ.pop("JOB_MESSAGE_EVENT")
    target = os.environ.pop("JOB_MESSAGE_TO")
    from schedmate import config
    from schedmate.cli._common import duration
    from schedmate.service.notifications.job_messages import message_about
    from schedmate.service.wiring import open_scheduler

    settings = config.load()
    jobs = open_scheduler(settings).jobs([number])
    if not jobs:
        return
    message = message_about(jobs, number, event, duration)
    problem = _send(settings, target, message)
    if problem:
        _note(settings, number, problem)


def _send(settings: Settings, target: str, message: Message) -> str:
    """Why it was not sent; empty where it was."""
    from schedmate.service.notifications.addresses import PermanentError, TemporaryError
    from schedmate.service.notifications.job_messages import send_message

    problem = ""
    for pause_s in (0.0, *_PAUSES_S):
        time.sleep(pause_s)
        try:
            send_message(target, message, settings)
        except TemporaryError as error:
            problem = str(error)
        except PermanentError as error:
            return str(error)
        else:
            return ""
    return problem


def _note(settings: Settings, number: str, problem: str) -> None:
    """Where the owner can find out why nothing came."""
    from schedmate.disk.private import append_private

    when = time.strftime("%Y-%m-%d %H:%M:%S")
    with append_private(settings.state_dir / "notify.log") as log:
        log.write(f"{when} job {number}: not sent: {problem}\n".encode())
