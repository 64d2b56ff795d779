"""What one job's page shows beside its view: its record field by field, logs, quoted files."""

from __future__ import annotations

import stat
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.files import files_of, mode_of
from schedmate.model import JobState, NotFound, Workload
from schedmate.service.records.log_files import MOST_LOGS, logs_of
from schedmate.service.visibility import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedmate.model import Evidence, Job
    from schedmate.service.views.job_view import JobView


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordField:
    """One value of the workload record, where it came from, and the lines that state it."""

    name: str
    value: str
    source: str
    confidence: float
    evidence: tuple[Evidence, ...]


def record_fields(workload: Workload) -> list[RecordField]:
    """Those that are stated somewhere, in the order of the record."""
    found = []
    for field in fields(Workload):
        claim = getattr(workload, field.name)
        if claim is not None:
            found.append(
                RecordField(
                    name=field.name.replace("_", " "),
                    value=_in_words(claim.value),
                    source=claim.source,
                    confidence=claim.confidence,
                    evidence=claim.evidence,
                )
            )
    return found


def job_logs(view: JobView) -> tuple[Path, ...]:
    """The logs of a job whose text the viewer may see; empty for any other."""
    if not view.job.logs:
        return ()
    return logs_of(view.job, None if view.advice is None else view.advice.workload)


def logs_of_attempts(view: JobView) -> tuple[Path, ...]:
    """`job_logs`, then those of earlier attempts; some may not be there (yet)."""
    earlier = (Path(log) for log in view.job.earlier_logs)
    return tuple(islice(dict.fromkeys((*job_logs(view), *earlier)), MOST_LOGS))


def written_logs(view: JobView, logs: Iterable[Path]) -> frozenset[Path]:
    """Those that are there now."""
    reader = files_of(view.job.user)
    return frozenset(path for path in logs if stat.S_ISREG(mode_of(reader, str(path))))


def absence(view: JobView, path: Path | None) -> str:
    """Why a log is not there; None: its scheduler names none."""
    job = view.job
    if str(path) in job.earlier_logs:
        return "This log is gone: it was deleted or moved."
    if job.state is JobState.PENDING:
        what = f"Attempt {job.restarts + 1}" if job.restarts else "This job"
        return f"{what} has not started yet: it has no log."
    if not job.started and job.state.ended:
        return "This job never started: it has no log."
    if path is None:
        return "No log of this job is known."
    if job.state.ended:
        return "This log is gone: it was deleted or moved."
    return "This log is not there: nothing was written to it yet, or it was deleted or moved."


def quoted_file(view: JobView, name: str) -> Path:
    """A file that the job's own page quotes a line of; no other name is opened."""
    if name not in set(_quoted(view)) or name == HIDDEN:
        raise NotFound(f"nothing that is known of job {view.job.id} quotes {name}")
    return path_of(view.job, name)


def path_of(job: Job, name: str) -> Path:
    """Evidence names a file relative to the job's directory, or as it was given."""
    return Path(job.workdir, name)


def is_file_name(name: str) -> bool:
    """`<command>` and `<scheduler>` are no files."""
    return bool(name) and not name.startswith("<")


def _quoted(view: JobView) -> Iterator[str]:
    evidence: list[Evidence] = []
    if view.advice is not None:
        evidence += [one for field in record_fields(view.advice.workload) for one in field.evidence]
        evidence += [one for remark in view.advice.advice for one in remark.evidence]
    evidence += [one for found in view.diagnoses.values() for one in found.evidence]
    yield from (one.file for one in evidence if is_file_name(one.file))
    if view.job.script:
        yield view.job.script


def _in_words(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case tuple():
            return ", ".join(map(str, value))
    return str(value)
