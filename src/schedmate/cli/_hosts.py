"""Other machines with a queue of their own, reached by the system's ssh: the same verb runs there.

A verb is handed over in the words it was called with, and its output and exit code come back. A job
of another machine is called `box2:17`.
"""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from schedmate.cli._site import QueueAsked, QueueShown
    from schedmate.config import Settings
    from schedmate.service.views.job_view import JobView

HERE = "here"
_WORDS = "schedmate.words"
_JOB_THERE = re.compile(r"([A-Za-z0-9][\w.-]{0,63}):(\d{1,18}(?:_\d{1,9})?)", re.ASCII)
_CONNECT_S, _ANSWER_S = 5, 30.0
_ASK_EVERY_S = 5.0
_NOT_REACHED, _NO_PROGRAM = 255, 127
_IN_A_DIRECTORY = ("submit", "run")


class OnHost(click.Command):
    """A verb that can be handed to another machine: by `--host`, or by jobs called `box2:17`."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.append(host_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        host, words = _named_by_jobs(args)
        if host is not None:
            ctx.exit(run_there(host, [ctx.info_name or "", *words]))
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)


def host_option() -> click.Option:
    return click.Option(
        ["--host"],
        metavar="NAME",
        is_eager=True,
        expose_value=False,
        callback=_hand_over,
        help="Do this on that machine of the setting hosts, by ssh; `here`: only on this one.",
    )


def _hand_over(ctx: click.Context, _: click.Parameter, host: str | None) -> None:
    ctx.meta["schedmate.here"] = host == HERE
    if host is None or host == HERE or ctx.resilient_parsing:
        return
    words = _without_host(ctx.meta[_WORDS])
    ctx.exit(run_there(host, [ctx.info_name or "", *words]))


def is_kept_here(ctx: click.Context) -> bool:
    """Whether `--host here` asks for no other machine."""
    return bool(ctx.meta.get("schedmate.here"))


def _without_host(words: Sequence[str]) -> list[str]:
    """But for what stands behind `--`, which is a job's own."""
    kept: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*kept, word, *left]
        if word == "--host":
            del left[:1]
        elif not word.startswith("--host="):
            kept.append(word)
    return kept


def _named_by_jobs(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """The machine of the jobs that are named, and the words as they are there."""
    found = [_JOB_THERE.fullmatch(word) for word in words]
    named = {one[1] for one in found if one is not None}
    if not named:
        return None, list(words)
    from schedmate import config
    from schedmate.model import BadInput

    known = named & config.load().hosts.keys()
    if not known:
        return None, list(words)
    if len(named) > 1 or any(re.fullmatch(r"\d{1,18}(?:_\d{1,9})?", word) for word in words):
        raise BadInput("name jobs of one machine at a time")
    return known.pop(), [one[2] if one else word for one, word in zip(found, words, strict=True)]


def run_there(host: str, words: Sequence[str]) -> int:
    """The verb's exit code; its input and output are this process's."""
    import subprocess

    from schedmate import config
    from schedmate.model import SchedulerUnreachable

    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    command = ssh_command(config.load(), host, words, at_terminal=at_terminal)
    sys.stdout.flush()
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise SchedulerUnreachable(f"ssh cannot be run: {error.strerror}") from error
    if code == _NOT_REACHED:
        raise SchedulerUnreachable(
            f"{host} cannot be reached: ssh says why above, and `ssh {host}` must work without "
            "a password"
        )
    if code == _NO_PROGRAM:
        raise SchedulerUnreachable(_no_program(host))
    return code if code >= 0 else 1


def _no_program(host: str) -> str:
    return f"{host} has no schedmate where ssh looks: set hosts.{host}.program to its full path"


def ssh_command(
    settings: Settings, host: str, words: Sequence[str], *, at_terminal: bool = False
) -> list[str]:
    """BadInput where the settings do not name it."""
    import shlex
    from pathlib import Path

    from schedmate.model import BadInput

    known = settings.hosts.get(host)
    if known is None:
        listed = ", ".join(sorted(settings.hosts)) or "none"
        raise BadInput(
            f"the setting hosts names no machine {host} (there are: {listed}); add it to the "
            f"settings: [hosts.{host}]"
        )
    verb = shlex.join([known.program, *words])
    if words[0] in _IN_A_DIRECTORY:
        verb = f"{_enter(host, Path.cwd())}; exec {verb}"
    return [
        *("ssh", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}"),
        *(("-t",) if at_terminal else ("-T",)),
        *("--", known.address or host, verb),
    ]


def _enter(host: str, directory: Path) -> str:
    """The directory of the same name there; one below the home is below the home there too."""
    import shlex

    home = directory.home()
    inside = directory.is_relative_to(home)
    name = str(directory.relative_to(home)) if inside else str(directory)
    missing = (
        f"schedmate: {host} has no directory {name}: copy it there first, for example by rsync"
    )
    return (
        f"cd -- {shlex.quote(name)} 2>/dev/null || {{ echo {shlex.quote(missing)} >&2; exit 2; }}"
    )


def with_other_hosts(settings: Settings, wanted: QueueAsked, here: QueueShown) -> QueueShown:
    """What this machine shows, and behind it the others; one that is away is a sentence."""
    from concurrent.futures import ThreadPoolExecutor

    from schedmate.cli._common import say

    with ThreadPoolExecutor(max(1, len(settings.hosts))) as pool:
        answers = pool.map(lambda host: _queue_there(settings, host, wanted), settings.hosts)
    shown, problems = _joined(here, answers)
    for problem in problems:
        say(problem)
    return shown


class WatchedHosts:
    """The queues of the other machines as last heard: each is asked again and again, so that one
    that is slow or away holds up nobody."""

    def __init__(self, settings: Settings, wanted: QueueAsked, hosts: Iterable[str]) -> None:
        import threading

        self._settings = settings
        self._wanted = wanted
        self._hosts = tuple(hosts)
        self._known: dict[str, QueueShown | str] = {}
        for host in self._hosts:
            threading.Thread(target=self._ask_on, args=(host,), daemon=True).start()

    def beside(self, here: QueueShown) -> tuple[QueueShown, str]:
        """All machines, what runs before what waits, and the sentences about those away."""
        from dataclasses import replace

        from schedmate.service.views.queue_order import queue_place

        known = (self._known[host] for host in self._hosts if host in self._known)
        shown, problems = _joined(here, known)
        views = sorted(shown.views, key=lambda view: cast("int", queue_place(view.job)[0]))
        return replace(shown, views=views), "; ".join(problems)

    def _ask_on(self, host: str) -> None:
        while True:
            self._known[host] = _queue_there(self._settings, host, self._wanted)
            time.sleep(_ASK_EVERY_S)


def _joined(here: QueueShown, others: Iterable[QueueShown | str]) -> tuple[QueueShown, list[str]]:
    """One queue of all that have answered, and the sentences of those that have not."""
    from schedmate.cli._site import QueueShown

    shown, problems = here, []
    for found in others:
        if isinstance(found, str):
            problems.append(found)
            continue
        shown = QueueShown(
            views=[*shown.views, *found.views],
            total=shown.total + found.total,
            folds={**shown.folds, **found.folds},
            states=shown.states + found.states,
        )
    return shown, problems


def _queue_there(settings: Settings, host: str, wanted: QueueAsked) -> QueueShown | str:
    """Or why it is not shown."""
    import subprocess

    flags = [
        *(["-u", ",".join(wanted.users)] if wanted.users else []),
        *(["-s", wanted.states] if wanted.states else []),
    ]
    command = ssh_command(settings, host, ["jobs", "--json", "--host", HERE, *flags])
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_ANSWER_S, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return f"{host} does not answer within {_ANSWER_S:g} s: its jobs are not shown"
    except OSError as error:
        return f"ssh cannot be run: {error.strerror}; the jobs of {host} are not shown"
    if done.returncode == _NO_PROGRAM:
        return f"{_no_program(host)}; its jobs are not shown"
    views = _read_views(done.stdout) if not done.returncode else None
    if views is None:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        why = f" ({last[0]})" if last else ""
        how = "cannot be reached" if done.returncode == _NOT_REACHED else "gives no whole answer"
        return f"{host} {how}{why}: its jobs are not shown"
    return _named_after(host, views, wanted)


def _named_after(host: str, views: Sequence[JobView], wanted: QueueAsked) -> QueueShown:
    from dataclasses import replace

    from schedmate.cli._site import folded_queue

    found = folded_queue(views, wanted)
    return replace(
        found,
        views=[
            replace(view, job=replace(view.job, id=f"{host}:{view.job.id}"))
            for view in found.views[: wanted.most]
        ],
        folds={f"{host}:{job_id}": folded for job_id, folded in found.folds.items()},
    )


def _read_views(answer: bytes) -> list[JobView] | None:
    import json

    from schedmate.model import SchedMateError
    from schedmate.model.wire import from_json
    from schedmate.service.views.job_view import JobView

    try:
        return [from_json(JobView, one) for one in json.loads(answer)["jobs"]]
    except (ValueError, LookupError, TypeError, SchedMateError):
        return None
