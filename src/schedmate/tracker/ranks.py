"""Which rank's lines count where several write one log: the first that counts anything."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.logs import is_bare_number, unwrap

_REPEATED = 3


@dataclass(slots=True)
class Ranks:
    """A bare number before a line is a rank only where it does not rise like a count."""

    leader: int | None = None
    numbered: int = 0
    """Lines that begin with a bare number ..."""
    changes: int = 0
    """... and how often it was another than on the line before."""
    last: int = -1

    def unwrap(self, line: str) -> tuple[int | None, str]:
        rank, text = unwrap(line)
        if rank is None or not is_bare_number(line):
            return rank, text
        self.numbered += 1
        self.changes += rank != self.last
        self.last = rank
        believed = rank == 0 or self.numbered >= _REPEATED * self.changes
        return (rank, text) if believed else (None, line)

    def counts(self, rank: int | None) -> bool:
        """Whether a count in a line of this rank is the run's; the first one decides."""
        if self.leader is None:
            self.leader = rank
        return rank is None or rank == self.leader
