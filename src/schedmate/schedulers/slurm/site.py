"""What `scontrol show config` says of a site. Pure: text in, values out."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.model import priority
from schedmate.schedulers.slurm.values import limit_s

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOFT, _SOFT_SINCE = "time_min_as_soft_limit", (23, 11)
"""A Slurm before that takes the word in silence and lets TimeMin shorten limits all the same."""

_MIN_JOB_AGE_S, _PURGED_WITHIN_S = 300.0, 120.0
_PLACES = ("/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf", "/etc/slurm-llnl/slurm.conf")
"""Of its configuration on most sites; the second one where the controller hands it out."""


@dataclass(frozen=True, slots=True)
class SlurmSite:
    has_accounting: bool = False
    nice_range: int = priority.NICE_RANGE
    cluster: str = ""
    nice_an_hour: float | None = None
    """How many nice numbers an hour of ageing outweighs; None where age has no weight."""
    soft_limits: bool = False
    """Backfill plans with TimeMin while TimeLimit ends a job: `time_min_as_soft_limit`. Without it
    TimeMin lets backfill shorten the limit."""
    keep_s: float = _MIN_JOB_AGE_S
    """How long the controller holds a job that has ended: `MinJobAge`."""
    keeps_scripts: bool = False
    """Accounting stores batch scripts, so that they outlive the controller's memory."""

    appends_logs: bool = False
    """A job that is queued again goes on with its log unless its user wants it overwritten."""

    @classmethod
    def read(
        cls,
        config: str,
        nice_range: int | None = None,
        nice_hours: float = priority.NICE_HOURS,
    ) -> SlurmSite:
        """No job is set back by more than ageing gives it back within `nice_hours`, nor by more
        than `nice_range`, the site's own choice in Slurm's points.
        """
        values = dict(re.findall(r"^(\w+)\s*=[ \t]*(\S*)", config, re.MULTILINE))
        weight = values.get("PriorityWeightAge", "")
        multifactor = values.get("PriorityType", "").endswith("multifactor")
        age = int(weight) if multifactor and weight.isdecimal() else 0
        max_age_h = (limit_s(values.get("PriorityMaxAge", "")) or 0.0) / 3600 or priority.NICE_HOURS
        by_hours = priority.nice_range(age, max_age_h, nice_hours)
        return cls(
            has_accounting=values.get("AccountingStorageType", "").endswith("slurmdbd"),
            cluster=values.get("ClusterName", ""),
            keeps_scripts="job_script" in values.get("AccountingStoreFlags", "").split(","),
            keep_s=_min_job_age(values.get("MinJobAge", "")),
            nice_range=nice_range or by_hours,
            nice_an_hour=age / max_age_h if age else None,
            appends_logs=values.get("JobFileAppend") == "1",
            soft_limits=_has_soft_limits(values),
        )

    @property
    def held_for_s(self) -> float:
        """After the end of a job it may be held so long: it is purged some time after it may be."""
        return self.keep_s + _PURGED_WITHIN_S


def configured_cluster() -> str:
    """The name in this machine's slurm.conf; empty where it cannot be read there."""
    places = [os.environ["SLURM_CONF"]] if "SLURM_CONF" in os.environ else _PLACES
    for place in places:
        try:
            text = Path(place).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = re.search(r"^\s*ClusterName\s*=\s*([^\s#]+)", text, re.MULTILINE | re.IGNORECASE)
        return "" if found is None else found[1]
    return ""


def _min_job_age(text: str) -> float:
    """0 stands for ever."""
    return float(text) or math.inf if text.isdecimal() else _MIN_JOB_AGE_S


def _has_soft_limits(values: Mapping[str, str]) -> bool:
    version = tuple(map(int, re.findall(r"\d+", values.get("SLURM_VERSION", ""))[:2]))
    asked_for = _SOFT in values.get("SchedulerParameters", "").lower().split(",")
    return asked_for and version >= _SOFT_SINCE
