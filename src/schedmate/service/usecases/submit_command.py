"""`submit` in place of a scheduler's own command: that command runs as it is, advice beside it.

The command gets the user's words, directory, environment and input, and what it prints and how it
ends is the answer. SchedMate reads the code in a thread beside it, and nothing that goes wrong
there, or takes too long, changes the submission.
"""

from __future__ import annotations

import math
import os
import shlex
import sys
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from schedmate.advisor import Advised, Advisor, Target
from schedmate.advisor.interpret.shell.directives import read_directives, read_options
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.disk.lock import is_held
from schedmate.files import INVOKER
from schedmate.model import BadInput
from schedmate.model.account import account_name
from schedmate.service.usecases import sbatch
from schedmate.service.usecases.named_script import Kind, kind_of
from schedmate.service.usecases.submission import request_of
from schedmate.service.usecases.submit import decide, meet_submitted
from schedmate.service.wiring import open_scheduler, open_store
from schedmate.store import KeptAdvice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.config import Settings
    from schedmate.model import JobId
    from schedmate.schedulers.base import CommandResult, HasSubmitCommand

LONGEST_S = 5.0
"""Of the processor: how long advice may take after the scheduler's command has ended."""
_STUCK_S, _LONGEST_WAIT_S = 10.0, 60.0
"""By the clock: without any progress, as where a file system hangs; and in all."""
_LOOK_AGAIN_S = 0.5
_THREAD = "schedmate-advising"
_ANSWERED_AT_ONCE = ("help", "usage", "version", "autocomplete")
_OF_THE_LOCAL_QUEUE = {
    "--notify": "--mail-type, or schedmate notify on",
    "--sweep": "--array",
    "--commands": "--array",
}
_WRAPPED = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What the command gets, and how to read what it submits; None where nothing is to be read."""

    words: tuple[str, ...]
    stdin: bytes | None
    target: Callable[[], Target] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Called as things come; `problem` with the reason why there is no advice.

    Where nothing would be done with it, `advised` is None.
    """

    output: Callable[[bytes], None]
    advised: Callable[[Advised], None] | None
    problem: Callable[[str], None]


def run(
    settings: Settings,
    scheduler: HasSubmitCommand,
    words: Sequence[str],
    listeners: Listeners,
    *,
    problem: str = "",
) -> CommandResult:
    """Submit; `problem` is why advice is out of the question from the start."""
    prepared = prepare(words)
    if problem:
        listeners.problem(problem)
    advising = None
    if prepared.target is not None and not problem:
        advising = _Advising(settings, prepared.target, listeners)
        advising.start()
    result = None
    try:
        result = scheduler.run_submit_command(
            prepared.words,
            stdin=prepared.stdin,
            on_output=listeners.output,
            on_job=lambda job_id: None if advising is None else advising.submitted(job_id),
        )
    finally:
        if advising is not None:
            advising.ended(
                is_refused=result is None or bool(result.exit_code and not result.job_id)
            )
    return result


def is_advising() -> bool:
    """Whether advice is still under way: the interpreter must not be shut down around it."""
    return any(thread.name == _THREAD and thread.is_alive() for thread in threading.enumerate())


def prepare(words: Sequence[str]) -> Prepared:
    """sbatch's own command line as it is; a Python file without `#!` and a command as a script."""
    for flag, instead in _OF_THE_LOCAL_QUEUE.items():
        if sbatch.take_own(words, flag)[0]:
            raise BadInput(f"{flag} is the local queue's; on Slurm: {instead}")
    line = sbatch.split(words)
    if line.unknown or any(name in _ANSWERED_AT_ONCE for name, _ in line.options):
        return Prepared(words=tuple(words), stdin=None, target=None)
    if line.value("wrap") is not None:
        text = _WRAPPED.format(line.value("wrap"))
        return Prepared(words=tuple(words), stdin=None, target=partial(_target, line, text))
    if not line.job:
        return _from_stdin(words, line)
    path = _path_of(line.job[0], is_command=line.is_command)
    if path is not None and (not line.is_command or _is_script(path)):
        kind = _kind_of(path, line.job[0])
        if kind != "batch script":
            started = ("python3",) if kind == "python file" else ()
            return _command(line, (*started, *line.job))
        target = partial(_target, line, None, str(path))
        return Prepared(words=tuple(words), stdin=None, target=target)
    return _command(line, line.job)


def _from_stdin(words: Sequence[str], line: sbatch.CommandLine) -> Prepared:
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return Prepared(words=tuple(words), stdin=None, target=None)
    script = sys.stdin.buffer.read()
    target = partial(_target, line, script.decode(errors="replace"))
    return Prepared(words=tuple(words), stdin=script, target=target)


def _command(line: sbatch.CommandLine, command: tuple[str, ...]) -> Prepared:
    """As a script on standard input, which becomes the command."""
    stated = [*sbatch.variables(os.environ), *line.as_words()]
    named = any(word.startswith("--job-name=") for word in stated)
    name = () if named else (f"--job-name={Path(line.job[0]).name}",)
    return Prepared(
        words=(*line.flags, *name),
        stdin=f"#!/bin/bash\nexec {shlex.join(command)}\n".encode(errors="surrogateescape"),
        target=partial(_target, line, None, command=command),
    )


def _path_of(name: str, *, is_command: bool) -> Path | None:
    """Where sbatch looks for a script: on the PATH first, then here, whatever --chdir states."""
    found = None if "/" in name or is_command else which(name, mode=os.R_OK)
    path = Path(found) if found is not None else Path.cwd() / name
    return path if path.exists() or not is_command else None


def _kind_of(path: Path, name: str) -> Kind:
    """What sbatch refuses it refuses itself, in its own words."""
    try:
        return kind_of(path, name)
    except BadInput:
        if path.suffix == ".py" and path.is_file():
            raise
        return "batch script"


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _text(path: Path) -> str | None:
    source = Files(path.parent, account_name(), by=INVOKER).read(path)
    return None if source is None else source.text


def _target(
    line: sbatch.CommandLine,
    text: str | None,
    script: str | None = None,
    *,
    command: tuple[str, ...] = (),
) -> Target:
    if script is not None:
        text = _text(Path(script))
    asked = read_options([*sbatch.variables(os.environ), *line.as_words()])
    if text is not None:
        asked = read_directives(SourceFile(script or "<stdin>", text)) | asked
    workdir = Path(asked.text("chdir") or Path.cwd()).absolute()
    args = line.job[1:] if script is not None else ()
    return Target(
        workdir=workdir,
        command=command or ((script, *args) if script is not None else ()),
        script_text=text,
        script_name=script,
        args=args,
        request=request_of(asked),
        user=account_name(),
        name=asked.text("job-name") or (Path(script).name if script else "sbatch"),
        by=INVOKER,
    )


class _Advising(threading.Thread):
    """Reads the code while the command submits, and stores what it found under the job's id."""

    def __init__(
        self, settings: Settings, target: Callable[[], Target], listeners: Listeners
    ) -> None:
        super().__init__(name=_THREAD, daemon=True)
        self._settings = settings
        self._target = target
        self._listeners = listeners
        self._known = threading.Event()
        self._job_id: JobId | None = None
        self._is_refused = False
        self._left = False

    def submitted(self, job_id: JobId) -> None:
        self._job_id = job_id
        self._known.set()

    def ended(self, *, is_refused: bool) -> None:
        """The command is over: wait a little for the advice, then leave it."""
        self._is_refused = is_refused
        self._known.set()
        problem = "" if is_refused else self._wait()
        self._left = self.is_alive()
        if self._left and problem:
            self._listeners.problem(problem)

    def _wait(self) -> str:
        """Until it is done, or the reason why it is left; a busy machine is none."""
        spent, now = self._processor_time(), time.monotonic()
        used, progressed_at, until = spent, now, now + _LONGEST_WAIT_S
        while self.is_alive():
            self.join(_LOOK_AGAIN_S)
            before, used, now = used, self._processor_time(), time.monotonic()
            progressed_at = now if used > before else progressed_at
            if used - spent > LONGEST_S:
                return f"reading the code took more than {LONGEST_S:g} s of the processor"
            if now > until or now - progressed_at > _STUCK_S:
                return "the job's files do not answer"
        return ""

    def _processor_time(self) -> float:
        """Of this thread; infinite where it has ended."""
        try:
            return time.clock_gettime(time.pthread_getcpuclockid(self.ident or 0))
        except OSError:
            return math.inf

    def run(self) -> None:
        try:
            self._advise()
        except Exception as error:  # noqa: BLE001 - advice is never in the way of a submission
            self._known.wait()
            if not (self._left or self._is_refused):
                self._listeners.problem(" ".join(str(error).split()) or type(error).__name__)

    def _advise(self) -> None:
        settings = self._settings
        if self._listeners.advised is None and is_held(settings.daemon_lock):
            return  # the daemon reads the code soon enough
        with closing(open_store(settings)) as store:
            advised = Advisor(store, store).advise(self._target())
            self._known.wait()
            if self._left or self._is_refused:
                return
            if self._listeners.advised is not None:
                self._listeners.advised(advised)
            if self._job_id is None:
                return
            scheduler = open_scheduler(settings)
            jobs = meet_submitted(scheduler, store, self._job_id)
            store.keep_advice(self._job_id, KeptAdvice(advised.advice, advised.fingerprint))
            if settings.mode != "observe":
                decide(settings, scheduler, store, jobs, advised.advice)
