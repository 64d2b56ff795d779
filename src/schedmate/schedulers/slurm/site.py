"""What `scontrol show config` says of a site. Pure: text in, values out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedmate.model import priority


@dataclass(frozen=True, slots=True)
class SlurmSite:
    has_accounting: bool = False
    nice_range: int = priority.NICE_RANGE
    cluster: str = ""
    keeps_scripts: bool = False
    """Accounting stores batch scripts, so that they outlive the controller's memory."""

    @classmethod
    def read(cls, config: str, nice_range: int | None = None) -> SlurmSite:
        """`nice_range` is the site's own choice. Otherwise no job is set back by more than ageing
        gives it back within PriorityMaxAge.
        """
        values = dict(re.findall(r"^(\w+)\s*=[ \t]*(\S*)", config, re.MULTILINE))
        weight = values.get("PriorityWeightAge", "")
        ages = values.get("PriorityType", "").endswith("multifactor") and weight.isdecimal()
        return cls(
            has_accounting=values.get("AccountingStorageType", "").endswith("slurmdbd"),
            cluster=values.get("ClusterName", ""),
            keeps_scripts="job_script" in values.get("AccountingStoreFlags", "").split(","),
            nice_range=nice_range or priority.nice_range(int(weight) if ages else None),
        )

    def most_nice(self, points: int | None, nice: int) -> int | None:
        """How far a job of this priority may be set back; None where it has no place."""
        return priority.most_nice(points, nice, self.nice_range)
