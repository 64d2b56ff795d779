"""What an account hands over with a job: read and checked with that account's own rights."""

from __future__ import annotations

import os
import resource
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedmate.model.errors import BadInput, NotFound
from schedmate.model.job import Submission

LIMITS = tuple(name for name in dir(resource) if name.startswith("RLIMIT_"))


@dataclass(frozen=True, slots=True)
class Account:
    """Whose a job is; in a queue of one's own there is but one."""

    uid: int
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A submission that needs nothing more of its account: no file, no environment."""

    submission: Submission
    script: bytes | None = None
    """The text of the script as it was at this moment."""
    umask: int = 0o022
    limits: dict[str, tuple[int, int]] = field(default_factory=dict)


def prepare(submission: Submission) -> Prepared:
    """BadInput or NotFound where this account could not run it."""
    if not submission.command:
        raise BadInput("there is no command to run")
    workdir = Path(submission.workdir)
    if not workdir.is_dir():
        raise BadInput(f"the working directory {submission.workdir} does not exist")
    for pattern in (submission.stdout, submission.stderr):
        if pattern is not None and "%" not in pattern:
            check_log(workdir / pattern)
    env = dict(os.environ if submission.env is None else submission.env)
    return Prepared(
        submission=replace(submission, workdir=str(workdir.resolve()), env=env, script_text=None),
        script=_script(submission, workdir),
        umask=_umask(),
        limits={name: resource.getrlimit(getattr(resource, name)) for name in LIMITS},
    )


def check_log(path: Path) -> None:
    """Opening a pipe would wait for a reader, and a device keeps nothing to read."""
    try:
        mode = path.stat().st_mode
    except OSError:  # not there yet, or for the job to find out
        return
    if not stat.S_ISREG(mode) and str(path) != os.devnull:
        raise BadInput(f"the output cannot go to {path}: that is no file")


def _script(submission: Submission, workdir: Path) -> bytes | None:
    if submission.script is None:
        return None
    if submission.script_text is not None:
        return submission.script_text.encode("utf-8", "surrogateescape")
    path = workdir / submission.script
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no script {path}") from None
    except OSError as error:
        raise BadInput(f"the script {path} cannot be read: {error.strerror}") from error


def _umask() -> int:
    """Without the moment in which it would be another one, as `os.umask` has it."""
    lines = Path("/proc/self/status").read_text("utf-8", "replace").splitlines()
    return next((int(line.split()[1], 8) for line in lines if line.startswith("Umask:")), 0o022)
