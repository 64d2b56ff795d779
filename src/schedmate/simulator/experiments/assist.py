"""How SchedMate takes part in a run: beside an unmodified scheduler, or inside one that asks.

A policy of kind `beside` is an unmodified scheduler: the simulated daemon (`simulator.shell`) sees
its jobs and steers it with what a live adapter has, by instructions of the decision engine.
A policy of kind `asking` gets answers (`Policy.answered`): predicted run times, where runs are
headed, how jobs scale with GPUs. The daemon does not order its queue; with the handler it requeues
what failed or hangs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from schedmate.core import DecisionEngine, DecisionLimits, SharingLimits, TimeLimits
from schedmate.core.doomed_limits import DoomedLimits
from schedmate.policies import POLICIES, JobColumns, Policy, ordering
from schedmate.simulator.engine.running import Watcher
from schedmate.simulator.engine.steering import Recovery
from schedmate.simulator.estimators.predictor import Predictor
from schedmate.simulator.experiments.answers import answers
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge
from schedmate.simulator.experiments.plan import Plan
from schedmate.simulator.experiments.recovery import Owners
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.shell.levering import LeverSide
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.simulator.shell.tracking import LOOK_S, Silences, Tracker
from schedmate.simulator.traces.columns import Floats

if TYPE_CHECKING:
    from schedmate.simulator.shell.diagnosing import Diagnoses


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """All that a run needs beyond its setting."""

    policy: Policy
    jobs: JobColumns
    eligible: Floats
    watcher: Watcher | None
    recovery: Recovery
    shell: SimulatedDaemon | None


def prepare(
    setting: Setting, plan: Plan, knowledge: Knowledge, *, predictor: str = SEMANTIC
) -> Prepared:
    """`predictor` is the source of what the advisor predicts: its own, or a control's."""
    declared = POLICIES[plan.policy]
    recovery = Owners(setting.columns, setting.workload, setting.job_levers, seed=setting.seed)
    tracker = _tracker(setting, plan)
    beside = declared.kind == "beside" and bool(plan.parts)
    advised = "advisor" in plan.parts
    predicting = knowledge.in_run(predictor, setting) if advised and beside else None
    # what an unmodified scheduler knows is its own
    estimates = knowledge.of(predictor if advised and not beside else declared.source)
    watched = beside or "handler" in plan.parts
    policy = declared.answered(answers(setting, plan, estimates, tracker))
    if plan.values and type(policy) is declared:
        policy = declared.tuned(plan.values)
    policy = policy.at_site(setting.site)
    submit = setting.columns.submit
    return Prepared(
        policy=policy,
        jobs=job_columns(setting.columns, estimates),
        # a scheduler that asks waits for the answer; one that does not starts jobs unread
        eligible=submit + estimates.cost_s if not beside and estimates.cost_s.any() else submit,
        watcher=tracker if "progress" in policy.asks_for else None,
        recovery=recovery,
        shell=_shell(setting, plan, predicting, tracker, recovery) if watched else None,
    )


def _shell(
    setting: Setting,
    plan: Plan,
    predictor: Predictor | None,
    tracker: Tracker | None,
    recovery: Recovery,
) -> SimulatedDaemon:
    # without predictions there is nothing to order by
    order = ordering(setting.ordering if predictor is not None else "fifo")
    return SimulatedDaemon(
        DecisionEngine(
            order,
            _limits(setting),
            TimeLimits(lower="limits" in plan.parts),
        ),
        setting.columns,
        predictor=predictor,
        tracker=tracker,
        silences=_silences(setting),
        diagnoses=_diagnoses(recovery) if "handler" in plan.parts else None,
        comments=_comments(setting),
        levers=_levers(setting) if predictor is not None else None,
    )


def _limits(setting: Setting) -> DecisionLimits:
    """With levers, the site lets all jobs make way and share; who does not want to says so."""
    levers, everywhere = setting.levers, frozenset(setting.columns.group.words)
    return DecisionLimits(
        fairness=setting.fairness,
        preemption=replace(
            setting.preemption, partitions=everywhere if levers.resumable else frozenset()
        ),
        doomed=DoomedLimits(stop=frozenset({"nan"} if levers.doomed else ())),
        sharing=SharingLimits(partitions=everywhere if levers.shareable else frozenset()),
    )


def _comments(setting: Setting) -> dict[int, str]:
    jobs = setting.job_levers
    if jobs is None:
        return {}
    return {int(job): "schedmate=keep" for job in np.flatnonzero(~jobs.consents)}


def _levers(setting: Setting) -> LeverSide | None:
    jobs = setting.job_levers
    return None if jobs is None else LeverSide(setting.levers, jobs, look_s=LOOK_S)


def _diagnoses(recovery: Recovery) -> Diagnoses:
    from schedmate.simulator.shell.diagnosing import Diagnoses  # noqa: PLC0415 - loads all rules

    return Diagnoses(recovery)


def _tracker(setting: Setting, plan: Plan) -> Tracker | None:
    if "tracker" not in plan.parts or setting.workload is None:
        return None
    return Tracker(setting.workload, seed=setting.seed)


def _silences(setting: Setting) -> Silences | None:
    if setting.workload is None:
        return None
    return Silences.drawn(setting.columns, setting.workload, seed=setting.seed)
