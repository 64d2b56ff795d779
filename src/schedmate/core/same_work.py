"""Whether another job goes on with the work of a run that has failed, by what is known of both.

Only what its owner submitted about as it ended, or since, is compared: many jobs of one user are
alike, and those that were submitted before are others of a series.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import basename, normpath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from schedmate.model import Fingerprint, Job

_AS_IT_ENDED_S, _AS_IT_ENDED = 10.0, 0.5
"""Who reads the log may see a failure so long, or that share of the run, before its end."""
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_PLACE = re.compile(
    r"""^\s*(?:cd|pushd)\s+(?:--\s+)?["']?(/[^\s"';&|]+)"""
    r"""|^\#SBATCH\s+(?:-D\s*|--chdir[=\s]\s*)["']?(/[^\s"']+)""",
    re.MULTILINE,
)
_SUBMITS_IN_CODE = re.compile(
    r"""["'](?:sbatch|qsub|bsub)(?:["'\s])|["']scontrol["'\s,]+requeue"""
    r"|^\s*(?:import|from)\s+(?:submitit|simple_slurm|pyslurm|dask_jobqueue|parsl|executorlib)\b",
    re.MULTILINE,
)
_SETS_UP: Final = re.compile(
    r"\s*(?:(?:cd|pushd|module|ml|source|\.|export|unset|set|ulimit|conda|mamba|micromamba|mkdir|echo"
    r"|date|hostname|env|nvidia-smi)(?:\s|$)|\w+=\S*\s*$)"
)
_FILE: Final = re.compile(r"[\w.~-]*(?:/[\w.~-]*)*(?:/|\.)[A-Za-z][\w./-]*")
_ALIKE: Final = 0.7
"""Of the words of two scripts: one is an edited copy of the other."""
_NOWHERE: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a job does, as far as its script and its code were read."""

    script: str | None = None
    fingerprint: Fingerprint | None = None
    checkpoints: str | None = None
    """The directory of its checkpoints, where that is known in full."""


def code_submits_jobs(code: str) -> bool:
    """Whether a program submits or requeues jobs by itself, as far as its text shows."""
    return _SUBMITS_IN_CODE.search(code) is not None


def names_job(text: str, other: Job, parent: Job) -> bool:
    """Whether a program of `parent` that submits jobs shows that this is one of them: by where, and
    by its script, which one that was wrapped or piped has not."""
    is_there = other.workdir == parent.workdir or other.workdir in text
    return is_there and basename(other.script or "") in text


def is_rival(other: Job, its: Work, job: Job, own: Work) -> bool:
    """Whether `other`, which was submitted since `job` began, does the same work or works in the
    same place."""
    if _places(other, its) & _places(job, own):
        return True
    ended, ran_s = job.end_time, job.run_time_s or 0.0
    if ended is None or other.submit_time < ended - min(_AS_IT_ENDED_S, _AS_IT_ENDED * ran_s):
        return False
    as_much = _says_as_much(other.command[1:], job.command[1:])
    return (
        _is_copy(other, its, job, own)
        or (as_much and own.fingerprint is not None and its.fingerprint == own.fingerprint)
        or (own.checkpoints is not None and its.checkpoints == own.checkpoints)
        or bool(set(other.logs) & set(job.logs) - _NOWHERE)
    )


def _is_copy(other: Job, its: Work, job: Job, own: Work) -> bool:
    """A script under another name may have been edited; the same one with other arguments is the
    next of a series. One that cannot be read is known by its name, once the run is over; a command
    without any script says itself what it does."""
    if its.script is None or own.script is None:
        has_script = its.script or own.script or other.script or job.script
        is_same = other.name == job.name
        if not has_script and other.command and job.command:
            is_same = _says_as_much(other.command, job.command)
        return is_same and other.submit_time >= (job.end_time or 0.0)
    theirs, ours = _words(its.script), _words(own.script)
    if other.script == job.script and other.script is not None:
        return theirs == ours and _says_as_much(other.command[1:], job.command[1:])
    alike = (theirs & ours).total() >= _ALIKE * max(theirs.total(), ours.total(), 1)
    return alike and _files(theirs) == _files(ours)


def _says_as_much(words: Sequence[str], before: Sequence[str]) -> bool:
    """The same words, or more of them, such as `--resume`: with another one it is other work."""
    return not Counter(before) - Counter(words)


def _words(script: str) -> Counter[str]:
    """Of the programs it starts: how it sets up its environment many jobs of a user share."""
    lines = _COMMENT.sub("", script).splitlines()
    return Counter(word for line in lines if not _SETS_UP.match(line) for word in line.split())


def _files(words: Counter[str]) -> set[str]:
    """The words that may name files: programs, data, configurations."""
    return {word for word in words if _FILE.fullmatch(word)}


def _places(job: Job, work: Work) -> set[str]:
    """The directories that it works in by itself. A place that it only begins in counts as well:
    its relative paths may be used before it leaves."""
    found = _PLACE.findall(work.script or "")
    named = {normpath(one) for pair in found for one in pair if one}
    return {place for place in {normpath(job.workdir), *named} if basename(place)}
