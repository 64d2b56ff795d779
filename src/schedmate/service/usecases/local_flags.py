"""What the local queue makes of sbatch's flags: each works, is named as without meaning, or is
refused in a sentence."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from schedmate.model.batch_options import other_gres
from schedmate.model.errors import BadInput
from schedmate.model.warning_signal import read_signal
from schedmate.service.notify_target import MAIL, OFF, check_target, read_usual_target
from schedmate.service.wiring import memory_is_enforced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schedmate.config import Settings
    from schedmate.model.batch_options import BatchOptions

WORKING: Final = frozenset(
    """
    array begin chdir comment cpus-per-gpu cpus-per-task dependency error exclude exclusive export
    gpus gpus-per-node gpus-per-task gres hold job-name kill-on-invalid-dep mail-type mail-user
    mem mem-per-cpu mem-per-gpu nice nodelist nodes ntasks ntasks-per-node open-mode output parsable
    quiet requeue
    signal time tres-per-node tres-per-task wrap
    """.split()  # noqa: SIM905 - a table is easier to read and compare
)
MEANINGLESS: Final = frozenset(
    "account clusters get-user-env partition profile qos reservation verbose wckey".split()  # noqa: SIM905
)
"""Where in a site a job belongs: one machine has no such places."""
_INSTEAD: Final = {
    "no-requeue": "--comment=schedmate=off leaves a job alone",
    "wait": "schedmate logs -f waits for the end",
    "test-only": "schedmate advise answers without queuing",
    "constraint": "choose a kind of GPU by --gres=gpu:TYPE:NUMBER",
}
_MEMORY: Final = re.compile(r"(\d{1,12})([KMGT]?)B?", re.ASCII | re.IGNORECASE)
_KILOBYTES: Final = {"k": 1, "": 1 << 10, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30}
_MAIL_TYPES: Final = frozenset("NONE BEGIN END FAIL ALL".split())  # noqa: SIM905
_WITHOUT_EXPORT: Final = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")
"""What a login would set as well."""
_NAME: Final = re.compile(r"[A-Za-z_]\w{0,200}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRequest:
    cpus: int | None = None
    memory_mb: int | None = None
    env: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    """What the queue keeps for the run, by the flags' long names."""
    notes: tuple[str, ...] = ()
    """What is without meaning on one machine, or not as strong as asked for."""


def read_local_flags(
    asked: BatchOptions,
    settings: Settings,
    environment: Mapping[str, str],
    notify: str | None = None,
) -> LocalRequest:
    """BadInput for what can not be had; `notify` is where messages go, in our own flag's words."""
    _refuse_others(asked)
    gpus = 0 if asked.gpus is None else asked.gpus[0]
    cpus = _cpus(asked, gpus)
    memory_mb = _memory_mb(asked, cpus or 1, gpus)
    return LocalRequest(
        cpus=cpus,
        memory_mb=memory_mb,
        env=exported(asked.text("export"), environment),
        options=_options(asked) | _messages(asked, settings, notify),
        notes=tuple(_notes(asked, memory_mb)),
    )


def _notes(asked: BatchOptions, memory_mb: int | None) -> Iterator[str]:
    without = " ".join(f"--{name}" for name in sorted(MEANINGLESS & asked.options.keys()))
    if without:
        yield f"without meaning on one machine, and left out: {without}"
    if memory_mb is not None and not memory_is_enforced():
        yield (
            f"its memory is looked at twice a second and it is ended above {memory_mb} MB: "
            "this account gets no cgroup, by which the kernel would see to it"
        )


def _refuse_others(asked: BatchOptions) -> None:
    for name in asked.options:
        if name not in WORKING | MEANINGLESS:
            instead = f": {_INSTEAD[name]}" if name in _INSTEAD else ""
            raise BadInput(f"the local queue cannot do --{name}{instead}; submit without it")
    for name in ("gres", "tres-per-node", "tres-per-task"):
        if other := other_gres(asked.text(name) or ""):
            raise BadInput(f"--{name} names {other}, and the local queue hands out GPUs only")
    if (asked.nodes or 1) > 1:
        raise BadInput("the local queue has one node: submit without --nodes, or with --nodes=1")
    if (asked.tasks or 1) > 1:
        raise BadInput(
            "the local queue starts one task: start the others by torchrun or mpirun, "
            "and submit without --ntasks"
        )


def _cpus(asked: BatchOptions, gpus: int) -> int | None:
    """In all."""
    most = len(os.sched_getaffinity(0))
    for name, times in (("cpus-per-task", 1), ("cpus-per-gpu", gpus)):
        text = asked.text(name)
        if text is None:
            continue
        if not (text.isascii() and text.isdecimal() and int(text)):
            raise BadInput(f"--{name} wants a number above 0, not {text!r}")
        if int(text) * times > most:
            raise BadInput(f"--{name}={text} is more than the {most} cores of this machine")
        return int(text) * times or None
    return None


def _memory_mb(asked: BatchOptions, cpus: int, gpus: int) -> int | None:
    """None: as much as there is, which is what 0 asks for."""
    for name, times in (("mem", 1), ("mem-per-cpu", cpus), ("mem-per-gpu", gpus)):
        text = asked.text(name)
        if text is None:
            continue
        found = _MEMORY.fullmatch(text)
        if found is None:
            raise BadInput(f"--{name} wants an amount such as 500M or 16G, not {text!r}")
        megabytes = -(-int(found[1]) * _KILOBYTES[found[2].lower()] // 1024) * times
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        if megabytes > most:
            raise BadInput(f"--{name}={text} is more than the {most} MB of this machine")
        return megabytes or None
    return None


def exported(stated: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """`ALL`, `NONE`, names, or `NAME=VALUE`, as --export has them."""
    if stated is None or stated == "":
        return dict(environment)
    words = [word.strip() for word in stated.split(",")]
    every = "ALL" in (word.upper() for word in words)
    kept = (
        environment
        if every
        else {name: environment[name] for name in _WITHOUT_EXPORT if name in environment}
    )
    found = dict(kept)
    for word in words:
        name, given, value = word.partition("=")
        if word.upper() in ("ALL", "NONE", "NIL"):
            continue
        if not _NAME.fullmatch(name):
            raise BadInput(f"--export wants ALL, NONE, or names of variables, not {word!r}")
        if given or name in environment:
            found[name] = value if given else environment[name]
    return found


def _options(asked: BatchOptions) -> dict[str, str]:
    kept = ("comment", "kill-on-invalid-dep")
    found = {name: text for name in kept if (text := asked.text(name))}
    if "exclusive" in asked.options:
        found["exclusive"] = "1"
    mode = asked.text("open-mode")
    if mode is not None:
        if mode not in ("append", "truncate"):
            raise BadInput(f"--open-mode wants append or truncate, not {mode!r}")
        found["open-mode"] = mode
    stated = asked.text("signal")
    if stated is not None:
        read_signal(stated)
        found["signal"] = stated
        if asked.time_limit_s is None:
            raise BadInput("--signal comes before the time limit: submit with --time as well")
    return found


def _messages(asked: BatchOptions, settings: Settings, notify: str | None) -> dict[str, str]:
    """Where they go and about what: `--mail-type` alone is mail, `--notify` alone is the end."""
    types, user = asked.text("mail-type"), asked.text("mail-user")
    wanted = {word.strip().upper() for word in (types or "NONE").split(",")}
    if not wanted <= _MAIL_TYPES:
        known = ", ".join(sorted(_MAIL_TYPES))
        raise BadInput(f"--mail-type knows {known}, not {', '.join(sorted(wanted - _MAIL_TYPES))}")
    mail = (user or MAIL) if wanted != {"NONE"} else None
    target = notify or mail or read_usual_target(settings)
    if target is None or target == OFF:
        return {}
    check_target(target, settings)
    kinds = {} if mail is None else {"mail-type": ",".join(sorted(wanted))}
    return {"notify": target} | kinds
