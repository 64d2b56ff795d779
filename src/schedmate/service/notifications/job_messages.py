"""What the owner of a job of the local queue hears when it begins or ends, and where `--notify`
says to."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.handler import Case, Handler
from schedmate.model import JobState, SchedMateError
from schedmate.model.access import Subscription
from schedmate.service.notifications.addresses import PermanentError, Target, TemporaryError
from schedmate.service.notifications.channels import Mail, Slack, Webhook
from schedmate.service.notifications.messages import Message, clean_line
from schedmate.service.notify_target import MAIL, find_sendmail, is_url
from schedmate.site_settings import MailSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.config import Settings
    from schedmate.model import Job
    from schedmate.service.notifications.channels import Channel
    from schedmate.service.views.sentences import Written

_TEXT_ONLY = re.compile(
    r"hooks\.slack\.com/|chat\.googleapis\.com/|[\w.-]+\.webhook\.office\.com/|[\w.:-]+/hooks/"
)
"""Slack, Google Chat, Teams; Mattermost and Rocket.Chat: they take a text and nothing else."""
_DISCORD = re.compile(r"(?:\w+\.)?discord(?:app)?\.com/api/webhooks/")
_NTFY = re.compile(r"ntfy[\w.:-]*/")
_MOST_FAILED = 8
_SENDMAIL_S = 30.0


def send_message(target: str, message: Message, settings: Settings) -> None:
    """Or raise TemporaryError or PermanentError."""
    mail = "" if target == MAIL else target
    wanted = Subscription(user=message.user, channels=(MAIL,), mail=mail)
    _channel(target, settings).send(message, wanted)


def _channel(target: str, settings: Settings) -> Channel:
    if not is_url(target):
        return Mail(settings.mail) if settings.mail.host else _Sendmail()
    place, to = target.partition("://")[2], Target(target, private=True)
    if _TEXT_ONLY.match(place):
        return Slack(to)
    if _DISCORD.match(place):
        return _Discord(to)
    return _PlainText(to) if _NTFY.match(place) else Webhook(to)


@dataclass(frozen=True, slots=True)
class _Discord:
    target: Target

    def send(self, message: Message, subscription: Subscription) -> None:  # noqa: ARG002 - one URL
        body = {"content": message.text[:1900], "allowed_mentions": {"parse": []}}
        self.target.post(json.dumps(body).encode(), "application/json")


@dataclass(frozen=True, slots=True)
class _PlainText:
    target: Target

    def send(self, message: Message, subscription: Subscription) -> None:  # noqa: ARG002 - one URL
        self.target.post(message.text.encode(), "text/plain; charset=utf-8")


class _Sendmail:
    """By the machine's own mail program, where no server is named."""

    def send(self, message: Message, subscription: Subscription) -> None:
        program = find_sendmail()
        if program is None:
            raise PermanentError("there is no sendmail any more")
        sender = f"{subscription.user}@{socket.gethostname()}"
        to = subscription.mail or subscription.user
        letter = Mail(MailSettings(sender=sender)).letter(message, to)
        try:
            subprocess.run(
                [program, "-i", "--", to],
                input=letter.as_bytes(),
                check=True,
                capture_output=True,
                timeout=_SENDMAIL_S,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise TemporaryError(f"sendmail failed: {error}") from None


def message_about(jobs: Sequence[Job], number: str, event: str, written: Written) -> Message:
    """Of a job, or of all tasks of an array."""
    first, host = jobs[0], socket.gethostname()
    name = f"job {number} ({first.name})" if first.name else f"job {number}"
    if event == "BEGIN":
        where = ", ".join(first.nodes) or host
        return Message(first.user, clean_line(f"{name} has begun on {where}"), (), ())
    if len(jobs) > 1 or first.tasks > 1:
        return _about_array(jobs, f"{name} on {host}")
    took = _run_time(first)
    after = "" if took is None else f" after {written(took)}"
    if not first.state.failed:
        title = f"{name} on {host} ended{after}: {first.state}"
        return Message(first.user, clean_line(title), (), ())
    reason, lines = _why(first)
    title = f"{name} on {host} failed{after}: {reason}"
    return Message(first.user, clean_line(title), (*lines, f"more: schedmate why {number}"), ())


def _about_array(jobs: Sequence[Job], name: str) -> Message:
    counts: Counter[JobState] = Counter()
    for job in jobs:
        counts[job.state] += job.tasks
    failed = [job.id for job in jobs if job.state.failed]
    ended = ", ".join(f"{number} {state}" for state, number in counts.most_common())
    title = f"{name} {'failed in part' if failed else 'ended'}: {ended}"
    named, more = ", ".join(failed[:_MOST_FAILED]), len(failed) - _MOST_FAILED
    lines = [f"failed: {named}{f' and {more} more' if more > 0 else ''}"] if failed else []
    return Message(jobs[0].user, clean_line(title), tuple(lines), ())


def _run_time(job: Job) -> float | None:
    if job.start_time is None or job.end_time is None:
        return None
    return max(0.0, job.end_time - job.start_time)


def _why(job: Job) -> tuple[str, tuple[str, ...]]:
    """In a few words, and the lines that show it."""
    try:
        found = Handler().diagnose(Case.of_job(job))
    except SchedMateError:
        return str(job.state), ()
    shown = [f"  {one.text}" for one in found.evidence[:3]]
    advice = [f"what to do: {found.suggestion}"] if found.suggestion else []
    return f"{found.reason}: {found.summary}", tuple(map(clean_line, (*shown, *advice)))
