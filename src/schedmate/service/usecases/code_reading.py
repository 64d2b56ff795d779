"""The code of a run that has ended, read from where it lay: what the daemon would have read.

What is read now is only what ran then if no file of it was written after the run had started, or
if git shows that its content is the same. Everything else is left out, with the reason.
"""

from __future__ import annotations

import errno
import logging
import stat
from collections import OrderedDict
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from schedmate.advisor import Target
from schedmate.advisor.sources.files import MAX_BYTES
from schedmate.advisor.understand.recalled import code_of
from schedmate.files.shared import NoFiles
from schedmate.model import Request
from schedmate.service.usecases import sbatch
from schedmate.service.usecases.work_tree import WorkTree, work_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedmate.files import Reader
    from schedmate.model import Fingerprint, Job, Workload

_CLOCKS_S = 2.0
"""Schedulers cut a start to whole seconds, and a file server's clock is another one."""
_MOST_CACHED = 4000
_log = logging.getLogger("schedmate.history")


class Unread(StrEnum):
    """Why the code of a run is not known."""

    NO_USER = "the owner is unknown on this machine"
    NO_DIRECTORY = "the directory is gone"
    NO_SCRIPT = "the script is gone"
    NO_CODE = "what the script starts is gone or unreadable"
    NO_RIGHTS = "the owner may not read it"
    BINARY = "the script is binary"
    TOO_LARGE = "the script is larger than 1 MB"
    NOTHING = "no code was recognised"
    CHANGED = "changed after the run started"
    TOO_SLOW = "reading took too long"
    CRASHED = "the reader failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCode:
    """`written_at` is when the newest of its files was written last."""

    workload: Workload
    fingerprint: Fingerprint
    written_at: float
    tree: WorkTree | None = None

    def ran_at(self, started: float) -> bool:
        """Whether a run that started then ran this code."""
        latest = started + _CLOCKS_S
        if self.written_at <= latest:
            return True
        return (
            self.tree is not None
            and self.tree.written_at <= latest
            and self.tree.was_checked_out(started)
        )


class CacheInMemory:
    """The newest readings of one process, so that copies of the same code are read once."""

    def __init__(self) -> None:
        self._readings: OrderedDict[str, str] = OrderedDict()

    def cached_reading(self, key: str) -> str | None:
        return self._readings.get(key)

    def cache_reading(self, key: str, reading: str) -> None:
        self._readings[key] = reading
        if len(self._readings) > _MOST_CACHED:
            self._readings.popitem(last=False)


def target_of(job: Job, script_text: str | None = None) -> Target | None:
    """What the run started, the same for all runs of the same code; None where that is unknown.

    `script_text` is what the scheduler kept of the script.
    """
    script, command = _submitted(job.script, job.command)
    if script_text is None:
        script_text = _wrapped(job.command)
    if not job.workdir.startswith("/") or not (script or command or script_text is not None):
        return None
    started = Target.from_job(replace(job, script=script, command=command), script_text)
    request = Request(gpus=job.request.gpus, nodes=job.request.nodes)
    return replace(started, request=request, name="", submitted_at=None)


def _submitted(script: str | None, command: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The script and the command line, without the sbatch that may stand before them."""
    words = tuple(command)
    if not words or _wrapped(words) is not None:
        return script, (script,) if script else ()
    if _is_sbatch(words[0]):
        line = sbatch.split(words[1:])
        if line.is_command or not line.job:
            return (script, (script,)) if script and not line.job else (None, line.job)
        return line.job[0], line.job
    if script is not None and PurePosixPath(words[0]).name == PurePosixPath(script).name:
        return script, (script, *words[1:])
    return None, words


def _is_sbatch(word: str) -> bool:
    return PurePosixPath(word).name == "sbatch"


def _wrapped(command: Sequence[str]) -> str | None:
    """The script that sbatch makes of `--wrap`; Slurm shows the line without the quotes around."""
    if not command or not _is_sbatch(command[0]):
        return None
    flags = [at for at, word in enumerate(command) if word.partition("=")[0] == "--wrap"]
    if not flags:
        return None
    _, _, attached = command[flags[0]].partition("=")
    text = " ".join((attached, *command[flags[0] + 1 :])).strip()
    return f"#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{text}\n"


def read_code(target: Target, earliest: float, cache: CacheInMemory) -> ReadCode | Unread:
    """`earliest` is when the first of its runs started: git is asked only about what is newer."""
    try:
        return _read(target, earliest, cache)
    except OSError as error:
        return Unread.NO_RIGHTS if error.errno in (errno.EACCES, errno.EPERM) else Unread.CRASHED
    except Exception as error:  # noqa: BLE001 - one job's code must not end an import
        _log.info("the code in %s cannot be read: %r", target.workdir, error)
        return Unread.CRASHED


def _read(target: Target, earliest: float, cache: CacheInMemory) -> ReadCode | Unread:
    reader = target.reader
    problem = _no_directory(reader, target.workdir)
    if problem is not None:
        return problem
    files: set[Path] = set()
    if target.script_name is not None and target.script_text is None:
        text = _script(target, reader)
        if isinstance(text, Unread):
            return text
        files.add(target.workdir / target.script_name)
        target = replace(target, script_text=text)
    code = code_of(target, cache)
    if code.incomplete:
        return Unread.NO_CODE
    if code.fingerprint is None:
        return Unread.NOTHING
    written = _written(reader, files | code.files)
    newest = max(written.values(), default=0.0)
    return ReadCode(
        workload=code.workload,
        fingerprint=code.fingerprint,
        written_at=newest,
        tree=work_tree(reader, target.workdir, written) if newest > earliest else None,
    )


def _no_directory(reader: Reader, directory: Path) -> Unread | None:
    if isinstance(reader, NoFiles):
        return Unread.NO_USER
    try:
        found = reader.stat(str(directory))
    except OSError as error:
        rights = error.errno in (errno.EACCES, errno.EPERM)
        return Unread.NO_RIGHTS if rights else Unread.NO_DIRECTORY
    return None if stat.S_ISDIR(found.st_mode) else Unread.NO_DIRECTORY


def _script(target: Target, reader: Reader) -> str | Unread:
    path = target.workdir / (target.script_name or "")
    try:
        found = reader.stat(str(path))
    except OSError as error:
        rights = error.errno in (errno.EACCES, errno.EPERM)
        return Unread.NO_RIGHTS if rights else Unread.NO_SCRIPT
    if not stat.S_ISREG(found.st_mode):
        return Unread.NO_SCRIPT
    if found.st_size > MAX_BYTES:
        return Unread.TOO_LARGE
    data = target.files.read_bytes(path)
    if data is None:
        return Unread.NO_RIGHTS
    if b"\0" in data:
        return Unread.BINARY
    source = target.files.read(path)
    return Unread.NO_SCRIPT if source is None else source.text


def _written(reader: Reader, files: Iterable[Path]) -> dict[Path, float]:
    """When each was written last; one that is gone since it was read counts as written now."""
    written: dict[Path, float] = {}
    for path in files:
        try:
            written[path] = reader.stat(str(path)).st_mtime_ns / 1e9
        except OSError:
            written[path] = float("inf")
    return written
