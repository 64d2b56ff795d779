"""Runs Slurm's commands and turns their refusals into our errors.

`SCHEDMATE_DEBUG=1` prints every raw answer on stderr, so that a bug report becomes a test.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from schedmate.model import BadInput, NotAllowed, NotFound, SchedulerError, SchedulerUnreachable

if TYPE_CHECKING:
    from collections.abc import Mapping

_STRIPPED = ("SQUEUE_", "SACCT_", "SCONTROL_", "SCANCEL_", "SLURM_TIME_FORMAT")
"""The user's own taste, which would change the answers we have to read."""
_UNREACHABLE = re.compile(
    r"unable to contact|connect failure|connection refused|unable to connect|communication"
    r"|socket timed out|zero bytes|unexpected message|configuration (file|source)|munge"
    r"|authentication|slurmdbd|problem talking to",
    re.IGNORECASE,
)
_UNKNOWN_JOB = re.compile(r"invalid job id|invalid job array|no job_id specified", re.IGNORECASE)
_FORBIDDEN = re.compile(r"invalid user id|access/permission denied", re.IGNORECASE)
"""What an ordinary user asks of another's job; Slurm may exit with 0 all the same."""
_PREFIX = re.compile(r"^(?:\w+: )?(?:error: |fatal: )?")
_LONGEST_COMPLAINT = 400
_OF_CLUSTERS = ("squeue", "sacct", "scontrol", "scancel", "sbatch")
_FEDERATED = ("squeue", "sacct")
_KILLED_S = 1.0
_OF_ACCOUNTING = ("sacct", "sacctmgr")
"""Commands that ask slurmdbd, which may be away while the controller is there."""


@dataclass(frozen=True, slots=True)
class SlurmCommands:
    timeout_s: float = 30.0
    cluster: str = ""
    """Another one than this machine's own, as the accounting names it."""

    def ask(self, *argv: str) -> str:
        """Run a command whose answer is parsed: times come as seconds since the epoch."""
        return self._run(argv, _neutral_environment())

    def own_token(self, lifespan_s: int) -> str:
        """A token for slurmrestd, which is no part of what `SCHEDMATE_DEBUG` shows."""
        argv = ("scontrol", "token", f"lifespan={lifespan_s}")
        return self._run(argv, _neutral_environment(), shown=False)

    def dictate(self, program: str, lines: str) -> list[str]:
        """Run many commands of one program from its input; return the lines of complaint."""
        environment = _neutral_environment()
        done = self._finished((program,), environment, stdin=lines)
        complaints = _text(done.stderr)
        _show((program, lines), done.returncode, _text(done.stdout), complaints)
        if _UNREACHABLE.search(complaints):
            text = _complaint(complaints)
            raise SchedulerUnreachable(f"Slurm cannot be reached ({program}: {text})")
        return complaints.splitlines()

    def submit(
        self, *argv: str, workdir: str, env: Mapping[str, str] | None, stdin: str | None
    ) -> str:
        """Run sbatch in the job's directory; it hands its own environment on to the job."""
        if not Path(workdir).is_dir():
            raise BadInput(f"the working directory {workdir} is not there")
        return self._run(argv, {**os.environ, **(env or {})}, cwd=workdir, stdin=stdin)

    def _run(
        self,
        argv: tuple[str, ...],
        environment: dict[str, str],
        *,
        cwd: str | None = None,
        stdin: str | None = None,
        shown: bool = True,
    ) -> str:
        done = self._finished(argv, environment, cwd=cwd, stdin=stdin)
        answer, complaint = _text(done.stdout), _text(done.stderr)
        _show(argv, done.returncode, answer if shown else "(a token)", complaint)
        if done.returncode or (complaint and not answer):
            _refuse(argv[0], done.returncode, complaint)
        title = f"CLUSTER: {self.cluster}\n"
        return answer.removeprefix(title) if self.cluster else answer

    def _finished(
        self,
        argv: tuple[str, ...],
        environment: dict[str, str],
        *,
        cwd: str | None = None,
        stdin: str | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        program = which(argv[0])
        if program is None:
            raise SchedulerUnreachable(
                f"{argv[0]} is not on the PATH; install Slurm's client commands or set "
                "scheduler = 'local'"
            )
        command = [program, *self._which_cluster(argv[0]), *argv[1:]]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=environment,
                cwd=cwd,
                process_group=0,  # in the caller's session, by which Slurm knows who submits
            )
        except (OSError, ValueError) as error:
            raise SchedulerError(f"{argv[0]} could not be run: {error}") from error
        try:
            output, complaint = process.communicate((stdin or "").encode(), self.timeout_s)
        except subprocess.TimeoutExpired as error:
            raise self._too_late(argv[0], error) from error
        finally:
            _end(process)
        return subprocess.CompletedProcess(command, process.returncode, output, complaint)

    def _which_cluster(self, name: str) -> list[str]:
        """Other clusters of a federation are left out: their jobs are not ours to change."""
        if self.cluster and name in _OF_CLUSTERS:
            return [f"--cluster={self.cluster}"]
        return ["--local"] if name in _FEDERATED else []

    def _too_late(self, name: str, error: subprocess.TimeoutExpired) -> SchedulerUnreachable:
        text = _complaint(_text(error.stderr or b""))
        maybe = "; the job may have been queued all the same" if name == "sbatch" else ""
        return SchedulerUnreachable(
            f"{name} gave no answer in {self.timeout_s:g} s{maybe}{': ' if text else ''}{text}"
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill one that still runs, with its children; one that cannot be killed is not waited for."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_KILLED_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _refuse(name: str, returncode: int, complaint: str) -> None:
    """Raise what the complaint means; a success that only warned is none."""
    text = _complaint(complaint)
    if _UNKNOWN_JOB.search(text):
        raise NotFound(f"Slurm does not know this job ({name}: {text})")
    if _UNREACHABLE.search(text):
        part = "Slurm's accounting (slurmdbd)" if name in _OF_ACCOUNTING else "Slurm"
        raise SchedulerUnreachable(f"{part} cannot be reached ({name}: {text})")
    if _FORBIDDEN.search(text):
        raise NotAllowed(f"{name}: {text}")
    if returncode:
        raise SchedulerError(f"{name}: {text or f'exit code {returncode}'}")


def _neutral_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_STRIPPED)}
    return kept | {"SLURM_TIME_FORMAT": "%s"}


def _complaint(stderr: str) -> str:
    """The error text of the command, without its own name on every line and without repetition."""
    lines = (_PREFIX.sub("", line).strip() for line in stderr.splitlines())
    text = " ".join(dict.fromkeys(line for line in lines if line))
    return text if len(text) <= _LONGEST_COMPLAINT else "…" + text[-_LONGEST_COMPLAINT:]


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _show(argv: tuple[str, ...], returncode: int, answer: str, complaint: str) -> None:
    if os.environ.get("SCHEDMATE_DEBUG", "0") in ("", "0"):
        return
    sys.stderr.write(f"+ {argv!r} -> {returncode}\n{answer!r}\n{complaint!r}\n")
