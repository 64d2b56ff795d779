"""What decides how a Slurm orders and starts jobs, as `scontrol show config` prints it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from schedmate.model import BadInput

_DAY_S = 86_400.0
_MINUTE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmParameters:
    """Names are Slurm's, times are seconds. Defaults are Slurm's own, but for the weights: all are
    0 in Slurm, and here those of the example in the manual of priority/multifactor."""

    basic: bool = False
    """`PriorityType=priority/basic`: each later job starts one lower, and no weight counts."""
    weight_age: float = 1000.0
    weight_fairshare: float = 10_000.0
    weight_job_size: float = 1000.0
    weight_partition: float = 0.0
    weight_qos: float = 0.0
    max_age_s: float = 7 * _DAY_S
    decay_half_life_s: float = 7 * _DAY_S
    """Infinite where usage does not decay: `PriorityDecayHalfLife=00:00:00`."""
    calc_period_s: float = 300.0
    favor_small: bool = False
    fair_tree: bool = True
    """Ranks users; without it (`NO_FAIR_TREE`) the factor is 2^(-usage / share)."""
    sched_interval_s: float = 60.0
    batch_sched_delay_s: float = 3.0
    default_queue_depth: int = 100
    bf_interval_s: float = 30.0
    bf_window_s: float = 1440 * _MINUTE_S
    bf_resolution_s: float = 60.0
    bf_max_job_test: int = 500
    bf_max_job_user: int = 0
    """0 is no limit."""
    bf_max_job_start: int = 0
    over_time_limit_s: float = 0.0
    """How long after its limit a job is ended."""
    idle_users: int = 0
    """Users with shares and without jobs, such as root: they rank first in the fair tree."""

    @classmethod
    def read(cls, config: str) -> SlurmParameters:
        """From the whole text; what is not there is as by default in Slurm."""
        values = dict(re.findall(r"^(\w+)\s*=[ \t]*(.*?)[ \t]*$", config, re.MULTILINE))
        if not {"PriorityType", "SchedulerType", "SchedulerParameters"} & set(values):
            raise BadInput(
                "that is no configuration of Slurm: save what `scontrol show config` prints, and "
                "name that file"
            )
        scheduler = _options(values.get("SchedulerParameters", ""))
        flags = values.get("PriorityFlags", "").upper().split(",")
        standard = cls()
        multifactor = values.get("PriorityType", "priority/multifactor").endswith("multifactor")

        def weight(name: str) -> float:
            return _number(values.get(f"PriorityWeight{name}")) or 0.0 if multifactor else 0.0

        def seconds(name: str, default: float) -> float:
            found = _seconds(values.get(name, ""))
            return default if found is None else found

        def whole(name: str, default: int, *, least: int = 0) -> int:
            return int(_at_least(least, name, scheduler.get(name), default))

        def every(name: str, default: float, *, least: float = 1.0) -> float:
            if name in _CAN_BE_OFF and scheduler.get(name) == _OFF:
                return math.inf
            return _at_least(least, name, scheduler.get(name), default)

        return cls(
            basic=not multifactor,
            weight_age=weight("Age"),
            weight_fairshare=weight("FairShare") or weight("Fairshare"),
            weight_job_size=weight("JobSize"),
            weight_partition=weight("Partition"),
            weight_qos=weight("QOS"),
            max_age_s=max(seconds("PriorityMaxAge", standard.max_age_s), 1.0),
            decay_half_life_s=seconds("PriorityDecayHalfLife", standard.decay_half_life_s)
            or math.inf,
            calc_period_s=seconds("PriorityCalcPeriod", 0.0) or standard.calc_period_s,
            favor_small=values.get("PriorityFavorSmall", "No").lower() in ("yes", "true", "1"),
            fair_tree="NO_FAIR_TREE" not in flags,
            sched_interval_s=every("sched_interval", standard.sched_interval_s),
            batch_sched_delay_s=every("batch_sched_delay", standard.batch_sched_delay_s, least=0),
            default_queue_depth=whole("default_queue_depth", standard.default_queue_depth),
            bf_interval_s=every("bf_interval", standard.bf_interval_s),
            bf_window_s=every("bf_window", standard.bf_window_s / _MINUTE_S) * _MINUTE_S,
            bf_resolution_s=every("bf_resolution", standard.bf_resolution_s),
            bf_max_job_test=whole("bf_max_job_test", standard.bf_max_job_test, least=1),
            bf_max_job_user=whole("bf_max_job_user", standard.bf_max_job_user),
            bf_max_job_start=whole("bf_max_job_start", standard.bf_max_job_start),
            over_time_limit_s=(_number(values.get("OverTimeLimit")) or 0.0) * _MINUTE_S,
        )

    def __str__(self) -> str:
        """Those that decide most, as Slurm names them."""
        return (
            f"{self.priority_in_words()}, bf_interval={self.bf_interval_s:g}, "
            f"bf_window={self.bf_window_s / _MINUTE_S:g}, bf_max_job_test={self.bf_max_job_test}"
        )

    def priority_in_words(self) -> str:
        if self.basic:
            return "PriorityType=priority/basic"
        half_life = self.decay_half_life_s
        decay = "none" if math.isinf(half_life) else f"{half_life / _DAY_S:g} days"
        return (
            f"PriorityWeightAge={self.weight_age:g}, FairShare={self.weight_fairshare:g}, "
            f"JobSize={self.weight_job_size:g}, PriorityMaxAge {self.max_age_s / _DAY_S:g} days, "
            f"PriorityDecayHalfLife {decay}"
        )


_OFF = "-1"
_CAN_BE_OFF = ("bf_interval", "sched_interval")


def _at_least(least: float, name: str, text: str | None, default: float) -> float:
    found = _number(text)
    if found is None:
        return default
    if found < least:
        raise BadInput(f"{name}={text} of SchedulerParameters is less than {least:g}; mend it")
    return found


def _options(text: str) -> dict[str, str]:
    """`SchedulerParameters`: names, some of them with values."""
    words = (word.strip().partition("=") for word in text.split(","))
    return {name.lower(): value for name, _, value in words}


def _number(text: str | None) -> float | None:
    """The leading number, as in `0 min`."""
    found = re.match(r"-?\d+(\.\d+)?", text or "")
    return float(found[0]) if found else None


def _seconds(text: str) -> float | None:
    """From `7-00:00:00`, `00:05:00` or `5:00`; None where it is no time or none is set."""
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text)
    if not found:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return days * _DAY_S + hours * 3600.0 + minutes * _MINUTE_S + rest
