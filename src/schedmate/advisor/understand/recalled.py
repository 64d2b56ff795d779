"""A job's files read, or recalled where they have not changed since they were read."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.cache import Recollection
from schedmate.advisor.understand.fingerprint import fingerprint
from schedmate.advisor.understand.understanding import Understanding
from schedmate.model import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.advisor.interpret.python.parsed import Unparsable
    from schedmate.advisor.launch.run import Launch
    from schedmate.advisor.launch.target import Target
    from schedmate.advisor.sources.files import Files
    from schedmate.advisor.understand.read_job import Completer
    from schedmate.model import Fingerprint, ReadingCache

_log = logging.getLogger("schedmate.advisor")


@dataclass(frozen=True, slots=True)
class CodeOfJob:
    """What a job is by its files, without a prediction.

    `files` are those it was read from, without a script whose text the target has already.
    """

    workload: Workload
    fingerprint: Fingerprint | None
    files: frozenset[Path]
    incomplete: bool
    """A script or the program that it starts could not be read."""


def code_of(target: Target, cache: ReadingCache) -> CodeOfJob:
    launch = resolve(target)
    understood, _, files = recalled_or_read(target, launch, cache)
    prints = fingerprint(launch, understood, target.request)
    given = 0 if target.script_text is None else 1
    read = frozenset(
        (*_launched(launch, given), *(path for path, known in files.seen.items() if known))
    )
    return CodeOfJob(understood.workload, prints, read, _is_incomplete(launch))


def recalled_or_read(
    target: Target, launch: Launch, cache: ReadingCache, completer: Completer | None = None
) -> tuple[Understanding, tuple[Unparsable, ...], Files]:
    """Only what was read from files that all parse is kept: a hit means nothing is wrong."""
    recollection = Recollection.of(
        cache, target, launch, asks="" if completer is None else completer.kind
    )
    files = target.files
    known = recollection.recall(files)
    if known is not None:
        return known, (), files
    from schedmate.advisor.understand.reading import understand

    files = target.files
    try:
        understood, problems = understand(launch, files, target.request, completer)
    except Exception as error:  # noqa: BLE001 - no code may end those who only read it
        _log.warning("the code in %s could not be read: %r", target.workdir, error)
        if completer is not None:
            return recalled_or_read(target, launch, cache)
        return Understanding(workload=Workload()), (), files
    if not problems and (completer is None or completer.problem is None):
        for name in () if completer is None else sorted(completer.also_read):
            files.read(files.workdir / name, inside=files.roots)
        recollection.keep(files, understood)
    return understood, problems, files


def _is_incomplete(launch: Launch) -> bool:
    if launch.missing_scripts:
        return True
    entry = None if launch.main is None else launch.main.entry
    return entry is not None and (
        entry.missing or (entry.source is None and entry.name.endswith((".py", ".ipynb")))
    )


def _launched(launch: Launch, given: int) -> Iterator[Path]:
    """The first scripts were given as text, so nothing was read for them."""
    own = launch.scripts[:given]
    entries = (run.entry.source for run in launch.runs)
    for source in (*launch.scripts[given:], *entries):
        if source is not None and source.path is not None and source not in own:
            yield source.path
