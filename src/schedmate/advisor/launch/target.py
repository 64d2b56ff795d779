"""What is to be advised on: a script or a command line in a directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.advisor.launch.manifests import describe
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.advisor.sources.project_root import project_root
from schedmate.files import INVOKER, Reader, files_of
from schedmate.model import BadInput, Job, NotFound, Request, Subject, Submission
from schedmate.model.account import account_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A job before anyone has looked into it.

    `command` is what will be started; with a script it is the script and its `args`.
    `submitted_at` keeps runs that ended later out of its prediction.
    """

    workdir: Path
    command: tuple[str, ...]
    script_text: str | None = None
    script_name: str | None = None
    args: tuple[str, ...] = ()
    request: Request = field(default_factory=Request)
    user: str
    name: str
    submitted_at: float | None = None
    by: Reader | None = None
    """Who reads its files, where a person names them; else they are read as its user could."""
    job_id: str = field(default="", compare=False)
    comment: str = field(default="", compare=False)

    @property
    def subject(self) -> Subject:
        """Whose job a model would be asked about."""
        return Subject(
            user=self.user, job_id=self.job_id, workdir=str(self.workdir), comment=self.comment
        )

    @property
    def reader(self) -> Reader:
        return self.by or files_of(self.user)

    @property
    def files(self) -> Files:
        return Files(self.workdir, self.user, beside=self._beside(), by=self.by)

    def _beside(self) -> tuple[Path, ...]:
        """The project around; and a Python script that lies elsewhere imports what is there."""
        path = self.workdir / (self.script_name or "")
        outside = not path.is_relative_to(self.workdir) or ".." in path.parts
        own = (path.parent,) if outside and path.suffix == ".py" else ()
        root = project_root(self.workdir, self.reader)
        return own if root is None else (*own, root)

    @classmethod
    def from_submission(cls, submission: Submission, user: str) -> Target:
        """A script that cannot be read is not an error here: advice never stops a submission."""
        workdir = Path(submission.workdir)
        files = Files(workdir, user, by=INVOKER)
        text = None if submission.script is None else _text(files, submission.script)
        return cls(
            workdir=workdir,
            command=submission.command,
            script_text=text,
            script_name=submission.script,
            args=submission.command[1:] if submission.script else (),
            request=submission.request,
            user=user,
            name=submission.name,
            by=INVOKER,
        )

    @classmethod
    def from_job(cls, job: Job, script_text: str | None) -> Target:
        """`script_text` is what the scheduler kept; the file may have changed since."""
        return cls(
            workdir=Path(job.workdir),
            command=job.command,
            script_text=script_text,
            script_name=job.script,
            args=job.command[1:] if job.script or script_text is not None else (),
            request=job.request,
            user=job.user,
            name=job.name,
            submitted_at=job.submit_time,
            job_id=job.id,
            comment=job.comment,
        )

    @classmethod
    def from_script(cls, workdir: Path, script: str, args: Sequence[str]) -> Target:
        """A script that a person names; it has to be there and readable."""
        directory = _directory(workdir)
        text = _demanded_text(workdir, script)
        if describe(SourceFile(script, text)) == []:
            raise BadInput(
                f"{workdir / script} describes no job; name a shell script, a Python file or a job "
                "file (Kubernetes, Ray, Compose, SkyPilot), or write the command line: -- python …"
            )
        return cls(
            workdir=directory,
            command=(script, *args),
            script_text=text,
            script_name=script,
            args=tuple(args),
            user=account_name(),
            name=Path(script).stem,
            by=INVOKER,
        )

    @classmethod
    def from_command(cls, workdir: Path, command: Sequence[str]) -> Target:
        return cls(
            workdir=_directory(workdir),
            command=tuple(command),
            user=account_name(),
            name=Path(command[0]).name,
            by=INVOKER,
        )


def _text(files: Files, script: str) -> str | None:
    source = files.read(files.workdir / script)
    return None if source is None else source.text


def _directory(workdir: Path) -> Path:
    if not workdir.exists():
        raise NotFound(f"there is no directory {workdir}; name the job's directory with --dir")
    if not workdir.is_dir():
        raise BadInput(f"{workdir} is not a directory; name the job's directory with --dir")
    return workdir.absolute()


def _demanded_text(workdir: Path, script: str) -> str:
    path = workdir / script
    try:
        if path.is_dir():
            raise BadInput(f"{path} is a directory; name the script that the job runs")
        if not path.exists():
            raise NotFound(f"there is no script {path}; for a command line write: -- {script} …")
    except (OSError, ValueError) as error:  # a loop of links, a name too long, a NUL in it
        raise BadInput(f"{script!r} cannot be opened: {error}") from error
    files = Files(workdir, account_name(), by=INVOKER)
    data = files.read_bytes(path)
    if data is None:
        raise BadInput(f"{path} cannot be read: it has to be a readable file of at most 1 MB")
    if b"\0" in data:
        raise BadInput(f"{path} is a binary file; name a shell script or a Python file")
    return _text(files, script) or ""
