"""What a policy gets from the parts of SchedMate that stand beside it, each at its own hook.

| policy | advisor | tracker |
|---|---|---|
| first come, first served, any backfill | the mind's nice numbers | - |
| shortest first of any kind | how long a job will run | - |
| any that preempts | the Gittins index of the prediction | where a run is headed |
| Lucid | how long a job will run; no profiling of long ones that are sure | slow pairs are parted |
| Pollux, Sia | how a job's likes scale | - |

Shorter plans for backfilling (the ninth tenth of the prediction instead of the user's limit) were
tried and made EASY worse: they are wrong one time in ten, and the order has the gain already.

The handler changes what happens to jobs, whatever the policy: hung ones are stopped, and those
whose node failed come back at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedmate.policies import POLICIES, Foreseen, Policy, Seen, ordering
from schedmate.policies.lucid import Lucid
from schedmate.policies.lucid_profiler import Profiling
from schedmate.policies.pollux import Pollux
from schedmate.policies.sia import Sia
from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.engine import Recovery, Watcher
from schedmate.simulator.estimates import Estimates
from schedmate.simulator.knowledge import Knowledge
from schedmate.simulator.mate.handler import Handler, Users, without_hanging
from schedmate.simulator.mate.ordering import nice_numbers
from schedmate.simulator.mate.tracker import Tracker
from schedmate.simulator.overlay import Meaning
from schedmate.simulator.plan import Plan
from schedmate.simulator.seen import doubt, seen_of
from schedmate.simulator.setting import Setting

SURE = 1.0
"""A job whose prediction has less doubt than this need not be profiled."""
LONG = 2.0
"""Times what profiling takes that a job must be expected to run for profiling to be a loss."""
EXPONENT_OFF = 0.05
"""How far the scaling of a job's likes is from its own (standard deviation). Assumed."""
SLOW_PAIR = 0.6
"""Below this pace two jobs that share GPUs are parted."""
_CHECKPOINT_S = 3600.0
"""Where nothing is known of a job's checkpoints."""

ORDERED = frozenset({"fifo", "first-fit", "easy", "conservative", "multifactor"})
PREEMPTIVE = frozenset({"srtf", "srsf", "tiresias", "las", "gittins"})
WATCHING = frozenset({"srtf", "srsf"})
"""Who asks what remains of a running job."""
ELASTIC: dict[str, type[Sia]] = {"pollux": Pollux, "sia": Sia}


@dataclass(frozen=True, eq=False, slots=True)
class Ready:
    """All that a run needs beyond its setting."""

    policy: Policy
    columns: Columns
    seen: Seen
    eligible: Floats
    watcher: Watcher | None
    recovery: Recovery


def make_ready(setting: Setting, plan: Plan, knowledge: Knowledge) -> Ready:
    advised = "advisor" in plan.parts
    estimates = knowledge.of("advisor" if advised else POLICIES[plan.policy]().source)
    tracker = _tracker(setting, plan)
    policy = _policy(setting, plan, estimates, tracker)
    columns = _columns(setting, plan)
    nice = _nice(columns, estimates) if advised and plan.policy in ORDERED else None
    cost = estimates.cost_s
    return Ready(
        policy=policy,
        columns=columns,
        seen=seen_of(columns, estimates, nice),
        eligible=columns.submit + cost if cost.any() else columns.submit,
        watcher=tracker if plan.policy in WATCHING and not advised else None,
        recovery=_recovery(setting, plan),
    )


def _policy(setting: Setting, plan: Plan, estimates: Estimates, tracker: Tracker | None) -> Policy:
    advised = "advisor" in plan.parts
    sure = doubt(estimates) < SURE
    if advised and plan.policy in PREEMPTIVE:
        return Foreseen(tracker.tracked if tracker else None)
    if plan.policy == "lucid":
        return _lucid(sure & (estimates.p50 > LONG * Profiling().seconds), plan)
    if advised and plan.policy in ELASTIC and setting.meaning is not None:
        return ELASTIC[plan.policy](seed=_Paces(setting, setting.meaning, sure))
    return POLICIES[plan.policy]()


def _lucid(known: NDArray[np.bool_], plan: Plan) -> Policy:
    """Short jobs end in the profiler before they could be started elsewhere: let them."""
    skipped = known.tolist()
    return Lucid(
        skip_profiling=skipped.__getitem__ if "advisor" in plan.parts else None,
        unpack_below=SLOW_PAIR if "tracker" in plan.parts else None,
    )


class _Paces:
    """What the likes of a job show of its pace on more or fewer GPUs."""

    def __init__(self, setting: Setting, meaning: Meaning, sure: NDArray[np.bool_]) -> None:
        dice = np.random.default_rng([setting.seed, len(sure)])
        off = dice.normal(0.0, EXPONENT_OFF, len(sure))
        self._exponent = np.where(sure, meaning.gpu_exponent + off, np.nan).tolist()
        self._gpus = setting.columns.gpus.tolist()

    def __call__(self, job: int, gpus: int) -> float:
        return float((gpus / self._gpus[job]) ** self._exponent[job])


def _columns(setting: Setting, plan: Plan) -> Columns:
    if "handler" not in plan.parts or setting.meaning is None:
        return setting.columns
    return replace(
        setting.columns, duration=without_hanging(setting.columns.duration, setting.meaning)
    )


def _nice(columns: Columns, estimates: Estimates) -> Floats:
    return nice_numbers(columns, estimates, ordering("ssf"))


def _tracker(setting: Setting, plan: Plan) -> Tracker | None:
    if "tracker" not in plan.parts or setting.meaning is None:
        return None
    return Tracker(setting.meaning, seed=setting.seed)


def _recovery(setting: Setting, plan: Plan) -> Recovery:
    if setting.meaning is None:
        every = np.full(len(setting.columns), _CHECKPOINT_S)
    else:
        every = setting.meaning.checkpoint_every_s
    if "handler" in plan.parts:
        return Handler(every, setting.columns.duration, seed=setting.seed)
    return Users(every, seed=setting.seed)
