"""The arms of the live experiment, and how clusters and daemons are set up in compressed time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.live.replayed_jobs import SPEED
from schedmate.core import PreemptionLimits
from schedmate.core.doomed_limits import DoomedLimits
from schedmate.core.fairness import FairnessLimits

_WEEK_MINUTES = round(7 * 24 * 60 / SPEED)
CLUSTER: Final = {
    "SchedulerParameters": "bf_interval=1,bf_continue,bf_resolution=1,sched_interval=1,"
    "batch_sched_delay=1",
    "PriorityWeightAge": "1000",
    "PriorityWeightFairshare": "10000",
    "PriorityWeightJobSize": "1000",
    "PriorityWeightPartition": "50000",
    "PriorityMaxAge": f"0-00:{_WEEK_MINUTES}:00",
    "PriorityDecayHalfLife": f"0-00:{_WEEK_MINUTES}:00",
    "PriorityCalcPeriod": "1",
    "PartitionName": "main Nodes=ALL Default=YES MaxTime=120 DefaultTime=60 DefMemPerCPU=100 "
    "TRESBillingWeights=CPU=0.0,GRES/gpu=1.0 State=UP",
}
"""Weights of the example in Slurm's manual, a week being as much shorter as all else; the
partition's weight is the room that nice numbers need above Slurm's floor."""
DAEMON: Final = {
    "SCHEDMATE_SCHEDULER": "slurm",
    "SCHEDMATE_MODE": "act",
    "SCHEDMATE_SETTLE_S": "0",
    "SCHEDMATE_SLURM__POLL_S": "1",
    "SCHEDMATE_HANG__MINUTES": "0.15",
    "SCHEDMATE_LONGEST_WAIT_S": "15",
    "SCHEDMATE_LLM__ENABLED": "false",
    "SCHEDMATE_NICE_RANGE": "40000",
    "SCHEDMATE_ACTIONS_AN_HOUR": f"{200 * SPEED:.0f}",
    "SCHEDMATE_FAIRNESS__LATE_HOURS": f"{FairnessLimits().late_hours / SPEED:.4f}",
}
"""The nice range is as wide as fair share weighs, over the costs that occur here. The bound
on being overtaken is as much shorter as all else."""
_LIMITS, _DOOMED = PreemptionLimits(), DoomedLimits()
GIVE_BACK_S: Final = 15.0
LEVERS: Final = {
    "SCHEDMATE_PREEMPTION__AFTER_MINUTES": f"{_LIMITS.after_s / 60 / SPEED:.4f}",
    "SCHEDMATE_PREEMPTION__ENDS_SOON_MINUTES": f"{_LIMITS.ends_soon_s / 60 / SPEED:.4f}",
    "SCHEDMATE_PREEMPTION__GIVE_BACK_MINUTES": f"{GIVE_BACK_S / 60:.4f}",
    "SCHEDMATE_DOOMED__MINUTES": f"{_DOOMED.after_s / 60 / SPEED:.4f}",
    "SCHEDMATE_TIME_LIMITS__CARRY_ON": "3",
}
"""As much shorter as all else, but for the time in which Slurm has to start who was made way for:
ten minutes would be 0.8 seconds, in which no Slurm starts a job."""
CONSENT: Final = "schedmate=preemptible,schedmate=stop-nan"
"""What every owner writes beside a job where the levers are used."""
_PROVISIONAL = int(DAEMON["SCHEDMATE_NICE_RANGE"]) // 2
UNPLACED: Final = (0, _PROVISIONAL)
"""Nice numbers of jobs that have not been read."""


@dataclass(frozen=True, slots=True)
class ArmKind:
    """What runs beside Slurm: the module that is called as `schedmate`, and whether it has levers
    beside the order of the queue."""

    title: str
    module: str = ""
    levers: bool = False

    @property
    def settings(self) -> dict[str, str]:
        return {**DAEMON, **(LEVERS if self.levers else {})}


PLAIN: Final = "plain"
ARMS: Final = {
    PLAIN: ArmKind("Slurm alone"),
    "history": ArmKind("order by history", "bench.live.history_control"),
    "las": ArmKind("stack without predictions", "bench.live.las_control", levers=True),
    "order": ArmKind("order", "bench.live.compressed_time"),
    "stack": ArmKind("stack", "bench.live.compressed_time", levers=True),
}
"""`history` is the control of `order`, `las` that of `stack`: with nice numbers alone, least
attained service is the order of Slurm, as no waiting job has been served."""
DAEMONS: Final = tuple(name for name in ARMS if name != PLAIN)
