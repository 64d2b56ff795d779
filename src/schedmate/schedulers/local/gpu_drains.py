"""GPUs that are left out: by a person, or since their memory has failed; until they are released.

A file beside the queue, which verbs write and the daemon reads.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from schedmate.disk.lock import locked
from schedmate.model import SchedulerError
from schedmate.schedulers.local.attempt import write_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from schedmate.schedulers.local.gpu_answer import DeviceUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    reason: str
    since: float
    ecc_errors: int = 0
    """How many errors it had when it was left out for them."""


@dataclass(slots=True)
class _Content:
    drains: dict[str, Drain]
    forgiven: dict[str, int]
    """How many errors a GPU had when a person took it back."""


class GpuDrains:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[int, dict[str, Drain]] = (-1, {})

    def all(self) -> dict[str, Drain]:
        """By the name of the GPU; read again only when the file has changed."""
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError:
            return {}
        if stamp != self._read[0]:
            self._read = (stamp, self._load().drains)
        return self._read[1]

    def drain(self, name: str, reason: str, now: float) -> None:
        with self._changing() as content:
            if name in content.drains:
                raise SchedulerError(f"{name} is left out already: {content.drains[name].reason}")
            content.drains[name] = Drain(reason=reason, since=now)

    def resume(self, name: str, reason: str) -> None:
        with self._changing() as content:
            drain = content.drains.get(name)
            if drain is None or drain.reason != reason:
                raise SchedulerError(f"{name} is not left out for {reason!r}")
            del content.drains[name]
            content.forgiven[name] = drain.ecc_errors

    def note_errors(self, uses: Mapping[str, DeviceUse], now: float) -> None:
        """Leave out what has failed; a GPU that was reset since has no errors and is back."""
        if not any(use.ecc_errors for use in uses.values()) and not self.all():
            return
        with self._changing() as content:
            for name, use in uses.items():
                errors, drain = use.ecc_errors, content.drains.get(name)
                if errors is None:
                    continue
                content.forgiven[name] = min(errors, content.forgiven.get(name, 0))
                if drain is None and errors > content.forgiven[name]:
                    reason = f"ECC: {errors} errors in its memory that could not be corrected"
                    content.drains[name] = Drain(reason=reason, since=now, ecc_errors=errors)
                elif drain is not None and drain.ecc_errors > errors:
                    del content.drains[name]

    @contextmanager
    def _changing(self) -> Iterator[_Content]:
        with locked(self._path.with_suffix(".lock")):
            content = self._load()
            before = json.dumps(asdict(content))
            yield content
            if json.dumps(asdict(content)) != before:
                write_private(self._path, json.dumps(asdict(content)))

    def _load(self) -> _Content:
        try:
            read = json.loads(self._path.read_text("utf-8"))
            drains = {str(name): Drain(**one) for name, one in read["drains"].items()}
            return _Content(drains, {str(k): int(v) for k, v in read["forgiven"].items()})
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return _Content({}, {})
