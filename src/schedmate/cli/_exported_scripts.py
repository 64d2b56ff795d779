"""Batch scripts that were saved beside an export of accounting, and the code that they start."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.files import INVOKER, files_of
from schedmate.files.shared import NoFiles
from schedmate.model import BadInput, NotFound
from schedmate.model.account import account_name
from schedmate.schedulers.slurm.history import scripts_apart
from schedmate.service.usecases.code_reading import target_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.advisor import Target
    from schedmate.model import Job, JobId

_ID = re.compile(r"(?<!\d)\d{1,12}(?:_\d{1,9})?(?!\d)")
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class ExportedScripts:
    """By job, and the directory in which they lie."""

    texts: Mapping[JobId, str] = field(default_factory=dict)
    place: Path | None = None

    @classmethod
    def read(cls, path: Path) -> ExportedScripts:
        """A directory of scripts with the job id in their names, or what `sacct -B` printed."""
        try:
            if path.is_dir():
                return cls(_of_directory(path), path.resolve())
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            raise NotFound(f"there is no directory or file {path} with scripts") from None
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror or error}") from error
        found = scripts_apart(text)
        if not found:
            raise BadInput(
                f"{path} has no scripts of jobs: name a directory with files such as 812.sh, or "
                "save what `sacct --batch-script --allusers` prints"
            )
        return cls(found, path.resolve().parent)

    def of(self, job_id: JobId) -> str | None:
        """Tasks of an array and later runs of a job have the script that was submitted."""
        whole, _, _ = job_id.partition("#")
        array, _, _ = whole.partition("_")
        return self.texts.get(whole, self.texts.get(array))

    def target(self, job: Job) -> Target | None:
        """What the run started, with the rights of its owner, or of the invoker, whose the scripts
        are, where this machine does not know the owner; where its directory is not here, in that
        of the scripts, with the invoker's."""
        text = self.of(job.id)
        if text is None or self.place is None:
            return target_of(job, text)
        here = _is_here(job.workdir)
        if here and not isinstance(files_of(job.user), NoFiles):
            return target_of(job, text)
        found = target_of(job if here else replace(job, workdir=str(self.place)), text)
        return None if found is None else replace(found, user=account_name(), by=INVOKER)


def _of_directory(path: Path) -> dict[JobId, str]:
    found: dict[JobId, str] = {}
    for file in sorted(path.iterdir()):
        ids = _ID.findall(file.name)
        if len(ids) == 1 and file.is_file() and file.stat().st_size <= _MOST_BYTES:
            text = file.read_text(encoding="utf-8", errors="replace")
            found[ids[0]] = (scripts_apart(text) or {}).get(ids[0], text)
    return found


def _is_here(workdir: str) -> bool:
    try:
        return bool(workdir) and Path(workdir).is_dir()
    except OSError:
        return True  # it is there, and its owner may read it
