"""Rank and attempt from the name of a log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_RANK: Final = re.compile(
    r"(?:^|[^a-z])(?:global_?)?(?:rank|worker|proc|task)[_.=-]?(\d{1,6})(?!\d)"
)
_TORCHRUN: Final = re.compile(r"attempt_(\d{1,4})/(\d{1,6})/std(?:out|err)")
_ATTEMPT: Final = re.compile(r"(?:^|[^a-z])(?:attempt|restart)[_.=-]?(\d{1,4})(?!\d)")
_NUMBERED: Final = re.compile(r"(.{0,300}\d{1,12}_)(\d{1,6})\.(?:out|err|log)$")


@dataclass(frozen=True, slots=True)
class Origin:
    rank: int | None = None
    attempt: int = 0


def origins(names: Sequence[str]) -> tuple[Origin, ...]:
    """`slurm-17_3.out` is a rank's only where others of job 17 stand beside it."""
    stems = [found[1] for name in names if (found := _NUMBERED.match(name))]
    return tuple(_origin(name.lower(), _numbered(name, stems)) for name in names)


def _numbered(name: str, stems: Sequence[str]) -> int | None:
    found = _NUMBERED.match(name)
    return int(found[2]) if found and stems.count(found[1]) > 1 else None


def _origin(name: str, numbered: int | None) -> Origin:
    torchrun = _TORCHRUN.search(name)
    if torchrun is not None:
        return Origin(rank=int(torchrun[2]), attempt=int(torchrun[1]))
    ranks = _RANK.findall(name)
    attempt = _ATTEMPT.search(name)
    return Origin(
        rank=int(ranks[-1]) if ranks else numbered,
        attempt=int(attempt[1]) if attempt else 0,
    )
