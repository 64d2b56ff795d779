"""What `scontrol show config` reports of a site. Pure: text in, values out."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FEW = 1000
"""The range of nice numbers where ageing has no weight. With priority/basic each later job starts
one lower, so that so many may overtake."""
_FLOOR = 2
"""Slurm never lowers a priority below 1, where nice numbers no longer order jobs."""
_LEAST = 10
"""A smaller range orders nothing."""


@dataclass(frozen=True, slots=True)
class Site:
    has_accounting: bool = False
    nice_range: int = _FEW

    @classmethod
    def read(cls, config: str, nice_range: int | None = None) -> Site:
        """`nice_range` is the site's own choice. Otherwise no job is set back by more than ageing
        gives it back within PriorityMaxAge.
        """
        values = dict(re.findall(r"^(\w+)\s*=[ \t]*(\S*)", config, re.MULTILINE))
        weight = values.get("PriorityWeightAge", "")
        ages = values.get("PriorityType", "").endswith("multifactor") and weight.isdecimal()
        return cls(
            has_accounting=values.get("AccountingStorageType", "").endswith("slurmdbd"),
            nice_range=nice_range or (int(weight) if ages else 0) or _FEW,
        )

    def most_nice(self, priority: int | None, nice: int) -> int | None:
        """How far a job may be set back; None where it has no place to be given."""
        if priority is None or priority < _FLOOR:  # 0 means that it is held
            return None
        room = min(self.nice_range, priority + nice - _FLOOR)
        return room if room >= _LEAST else None
