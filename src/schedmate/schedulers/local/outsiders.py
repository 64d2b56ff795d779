"""GPUs that others use: left alone while they do, and for a while after a longer use. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from schedmate.schedulers.local.gpu_answer import DeviceUse

_SETTLED_S = 10.0
"""Who has used a GPU so long comes back to it: between two of their programs it is still theirs."""
_QUIET_S = 30.0
"""How long a GPU of somebody else's has to be quiet before it is free."""
LEAST_MB = 64
"""A program that holds less has no work on the GPU: a service of the driver, a probe."""
_UNLISTED_MB, _UNLISTED_SHARE, _UNLISTED_BUSY = 1024, 0.05, 0.1
"""Memory or work on a GPU of which no program is listed, as in a container: more than a screen
takes."""


@dataclass(frozen=True, slots=True)
class Outsider:
    """A process that is none of our runs'; without a number where only its use is seen."""

    pid: int | None
    user: str = ""

    def __str__(self) -> str:
        if self.pid is None:
            return "a process that is not listed"
        return f"pid {self.pid}, {self.user}" if self.user else f"pid {self.pid}"


def outsiders_on(
    use: DeviceUse,
    *,
    ours: bool,
    owner_of: Callable[[int], str | None],
    is_ours: Callable[[int], bool],
) -> tuple[Outsider, ...]:
    """Who else uses the GPU; `ours`: one of our runs had it when it was asked.

    `owner_of` is None for a process that has ended since.
    """
    living = [one for one in use.processes if owner_of(one.pid) is not None]
    found = tuple(
        Outsider(one.pid, owner_of(one.pid) or "")
        for one in living
        if (one.memory_mb is None or one.memory_mb >= LEAST_MB) and not is_ours(one.pid)
    )
    if found or ours or living:
        return found
    memory, total = use.memory_mb or 0, use.total_mb or 0
    used = memory > max(_UNLISTED_MB, _UNLISTED_SHARE * total) or (use.busy or 0) >= _UNLISTED_BUSY
    return (Outsider(None),) if used else ()


@dataclass(slots=True)
class _Use:
    since: float
    until: float
    by: tuple[Outsider, ...]


@dataclass(slots=True)
class Outsiders:
    """Remembers from answer to answer who used what."""

    _uses: dict[str, _Use] = field(default_factory=dict)
    _now: frozenset[str] = frozenset()

    def note(self, seen: Mapping[str, tuple[Outsider, ...]], at: float) -> None:
        """What an answer of that time shows, of every GPU that others use."""
        self._now = frozenset(name for name, by in seen.items() if by)
        for name in self._now:
            begun = self._uses[name].since if name in self._uses else at
            self._uses[name] = _Use(begun, at, seen[name])
        self._forget(at)

    def using(self, now: float) -> dict[str, tuple[Outsider, ...]]:
        """The GPUs that must not be handed out now, and for whose sake."""
        self._forget(now)
        return {name: use.by for name, use in self._uses.items()}

    def _forget(self, now: float) -> None:
        for name in self._uses.keys() - self._now:
            use = self._uses[name]
            patient = use.until - use.since >= _SETTLED_S
            if not patient or now - use.until >= _QUIET_S:
                del self._uses[name]


def name_users(using: Mapping[str, Collection[Outsider]]) -> str:
    """` (pid 331, ada)`: the first of them; empty where nobody is known."""
    first = next((str(one) for by in using.values() for one in by), "")
    return f" ({first})" if first else ""
