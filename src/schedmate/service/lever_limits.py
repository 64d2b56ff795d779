"""A site's settings of what may be done to its jobs, in the engine's units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.core import PreemptionLimits, SharingLimits

if TYPE_CHECKING:
    from schedmate.site_settings import PreemptionSettings, SharingSettings


def preemption_limits(settings: PreemptionSettings) -> PreemptionLimits:
    return PreemptionLimits(
        partitions=frozenset(settings.partitions),
        qos=frozenset(settings.qos),
        at_most=settings.at_most,
        after_s=60 * settings.after_minutes,
        ends_soon_s=60 * settings.ends_soon_minutes,
        lost_gpu_hours=settings.lost_gpu_hours,
        give_back_s=60 * settings.give_back_minutes,
        widest=settings.widest,
        worth=settings.worth,
    )


def sharing_limits(settings: SharingSettings) -> SharingLimits:
    return SharingLimits(
        partitions=frozenset(settings.partitions),
        qos=frozenset(settings.qos),
        memory=settings.memory,
        utilization=settings.utilization,
        least_pace=settings.least_pace,
        hardly_begun_s=60 * settings.begin_anew_minutes,
    )
