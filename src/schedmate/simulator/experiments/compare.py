"""One setting under several plans, and all that is assumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from schedmate.core import TimeLimits
from schedmate.design.words import plural
from schedmate.policies import POLICIES, Answers
from schedmate.simulator.engine.outcome import Code, PolicyComparison, SimulationOutcome
from schedmate.simulator.estimators.controls import BLIND, LAS, controls_of
from schedmate.simulator.experiments.execute import Backend
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge
from schedmate.simulator.experiments.plan import Plan, plan
from schedmate.simulator.experiments.run import PolicyRun, run
from schedmate.simulator.experiments.setting import Setting
from schedmate.simulator.shell.tracking import LOOK_S
from schedmate.simulator.synthetic import Levers

OnProgress = Callable[[str, int, int], None]

_NO_CODE = (
    "SchedMate knows no code here: it predicts from user, name and request alone, and the tracker "
    "has no log to read"
)
_RECORDED = (
    "what SchedMate knows of code was read from the jobs' own, {} of {}: no code is synthetic, and "
    "the tracker has no log to read"
)
_NONE_READ = (
    "no code was read, 0 of {}: SchedMate predicts from user, name and request alone, as the "
    "control site_model does, and the tracker has no log to read"
)
_SEMI_SYNTHETIC = (
    "semi-synthetic: each job was given a training project of ours, whose numbers explain {:.0%} "
    "of the variance of log run times; the rest is chance. What SchedMate predicts comes from that "
    "code, in order of time"
)


def compare(
    setting: Setting,
    policies: Sequence[str],
    *,
    backend: Backend = "auto",
    controls: bool = False,
    on_progress: OnProgress | None = None,
) -> list[PolicyRun]:
    """Each of them on the same jobs and the same cluster, with the same predictions; `controls`
    adds to each with an advisor its runs by every other predictor."""
    chosen = [plan(name) for name in policies]
    knowledge = Knowledge(setting)
    knowledge.on_progress = _named(on_progress, "predictions")
    runs = [
        run(setting, each, knowledge, backend=backend, on_progress=_named(on_progress, each.name))
        for each in chosen
    ]
    if not controls:
        return runs
    return [
        replace(one, controls=controlled(setting, each, knowledge, one, on_progress=on_progress))
        for each, one in zip(chosen, runs, strict=True)
    ]


def controlled(
    setting: Setting,
    of: Plan,
    knowledge: Knowledge,
    semantic: PolicyRun,
    *,
    on_progress: OnProgress | None = None,
) -> dict[str, PolicyRun]:
    """The same plan by each control; `semantic` is the run by SchedMate's own predictions. Empty
    for a plan that no prediction takes part in."""
    if "advisor" not in of.parts:
        return {}
    blind = replace(setting, levers=replace(setting.levers, blind=True))
    return {
        name: semantic
        if name == SEMANTIC
        else run(
            blind if name == BLIND else setting,
            of,
            knowledge,
            predictor={LAS: "none", BLIND: SEMANTIC}.get(name, name),
            on_progress=_named(on_progress, f"{of.name} by {name}"),
        )
        for name in controls_of(setting.levers)
    }


def comparison(setting: Setting, runs: Sequence[PolicyRun]) -> PolicyComparison:
    """The JSON of `schedmate simulate`. Where no code was read, no control is called `semantic`."""
    load = setting.load
    controls = controls_of(setting.levers)
    shown = [name for name in controls if name != SEMANTIC or setting.code != "none"]
    return PolicyComparison(
        trace=setting.name,
        jobs=len(setting.columns),
        gpus=setting.gpus,
        assumptions=tuple(assumptions(setting, runs_planned(runs))),
        policies={each.policy: each.summary for each in runs},
        kinds={each.name: POLICIES[each.policy].kind for each in runs_planned(runs)},
        controls={
            each.policy: {name: each.controls[name].summary for name in shown}
            for each in runs
            if each.controls
        },
        load=None if load == float("inf") else load,
        code_read=setting.code_read,
        code=_code_of(setting, runs_planned(runs)),
    )


def _code_of(setting: Setting, plans: Sequence[Plan]) -> dict[str, Code]:
    """Of plans with SchedMate, and of policies that draw on a synthetic workload themselves."""
    synthetic = setting.code == "synthetic"
    return {
        each.name: setting.code
        for each in plans
        if each.parts or (synthetic and "throughput" in POLICIES[each.policy].asks_for)
    }


AS_IT_WAS = "as it was"
"""The row of what really happened, where a trace says when its jobs started."""


def as_it_was(setting: Setting) -> list[PolicyRun]:
    """The jobs as they really ran: none where a start is unknown."""
    columns = setting.columns
    if columns.start is None:
        return []
    start = np.maximum(columns.start, columns.submit)
    outcome = SimulationOutcome.unbroken(columns, start, start + columns.duration)
    return [PolicyRun(AS_IT_WAS, columns, setting.gpus, outcome, 0.0)]


def runs_planned(runs: Sequence[PolicyRun]) -> list[Plan]:
    """The plans of those that were simulated."""
    return [plan(each.policy) for each in runs if each.policy != AS_IT_WAS]


def _named(on_progress: OnProgress | None, name: str) -> Callable[[int, int], None] | None:
    if on_progress is None:
        return None
    return lambda done, total: on_progress(name, done, total)


def assumptions(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    """In plain words: what a figure rests on."""
    return [
        _cluster(setting),
        f"the jobs ask for {_load(setting)} the cluster gives while they arrive",
        *setting.notes,
        *_of_the_plans(setting, plans),
        *_of_the_workload(setting, plans),
    ]


def _cluster(setting: Setting) -> str:
    if setting.kinds:
        kinds = ", ".join(f"{each.gpus} {each.name} ({each.speed:g}x)" for each in setting.kinds)
        return (
            f"GPUs of {len(setting.kinds)} kinds: {kinds}; a job runs on one kind, at that speed, "
            "on the first that has room unless the policy chooses"
        )
    if setting.node_sizes:
        largest = max(setting.node_sizes)
        return (
            f"{plural(setting.gpus, 'GPU')} on {plural(len(setting.node_sizes), 'node')} of at "
            f"most {largest}; a job is {_placed(setting)}; "
            f"{plural(len(setting.faults), 'node failure')}"
        )
    return f"one pool of {plural(setting.gpus, 'GPU')} of one kind, handed out by the gang"


def _placed(setting: Setting) -> str:
    return "kept together where it can be, else slower" if setting.spread else "kept together"


def _load(setting: Setting) -> str:
    load = setting.load
    return "more than" if load == float("inf") else f"{load:.2f} times what"


def _of_the_plans(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    lines = [f"a job that was stopped pays {setting.restart_s:g} s when it resumes"]
    unaided = dict.fromkeys(each.policy for each in plans if "advisor" not in each.parts)
    oracles = [name for name in unaided if POLICIES[name].source == "oracle"]
    predicted = [name for name in unaided if POLICIES[name].source == "history"]
    if oracles:
        lines.append(f"{', '.join(oracles)}: knows every run time beforehand (oracle)")
    if predicted and setting.error is None:
        lines.append(
            f"{', '.join(predicted)}: by predictions, the rolling mean of the user's similar jobs "
            f"({predicted[0]}-oracle knows the true run times)"
        )
    lines += _parameters(setting, plans)
    lines += _steering(setting, plans)
    idle = dict.fromkeys(each.name for each in plans if changes_nothing(each))
    if idle:
        lines.append(
            f"{', '.join(idle)}: the tracker alone changes nothing; it needs the advisor's "
            "predictions to order by, or the handler to end what hangs"
        )
    if setting.left_out:
        left_out = (
            "1 job that asks" if setting.left_out == 1 else f"{setting.left_out} jobs that ask"
        )
        lines.append(f"left out: {left_out} for more GPUs")
    return lines


def _parameters(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    """Of a site, by policy that goes by any."""
    origin = "of the file" if setting.site.slurm else "by default (--slurm-config names a site's)"
    used = {
        name: POLICIES[name]().at_site(setting.site).goes_by
        for name in dict.fromkeys(each.policy for each in plans)
    }
    return [f"{name}, parameters {origin}: {by}" for name, by in used.items() if by]


def changes_nothing(of: Plan) -> bool:
    """Whether a tracker is all it has, and its policy makes no use of what one measures."""
    if of.parts != {"tracker"}:
        return False
    policy = POLICIES[of.policy]
    watched, alone = (policy.answered(Answers(part_slow_pairs=each)) for each in (True, False))
    settings = [vars(each) for each in (watched, alone)]
    return type(watched) is type(alone) and all(
        name in settings[1] and np.all(value == settings[1][name])
        for name, value in settings[0].items()
    )


def _steering(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    ordered = dict.fromkeys(
        each.policy
        for each in plans
        if "advisor" in each.parts and POLICIES[each.policy].kind == "beside"
    )
    if not ordered:
        return []
    largest = {name: setting.nice_range or _nice_range(setting, name) for name in ordered}
    ranges = ", ".join(f"{name} {most}" for name, most in largest.items())
    line = (
        f"beside {', '.join(ordered)}: the daemon's decision engine, which sees the queue every "
        f"{LOOK_S:g} s, orders by {setting.ordering} and sets nice numbers as the Slurm adapter "
        f"bounds them (largest: {ranges})"
    )
    lines = [line, *_pulled(setting.levers)]
    lowered = dict.fromkeys(each.policy for each in plans if "limits" in each.parts)
    if lowered:
        lines.append(f"with +limits, beside {', '.join(lowered)}: {_lowered()}")
    return lines


def _pulled(levers: Levers) -> list[str]:
    """What is assumed of the jobs to which more is done."""
    lines = []
    if levers.resumable:
        lines.append(
            f"{levers.resumable:.0%} of the jobs, by code, resume from their checkpoints; known of "
            f"a code once one of its runs was seen to go on ({levers.proven:.0%} of those that "
            f"have saved); {levers.opted_in:.0%} of the users agree"
        )
    if levers.shareable:
        lines.append(
            f"{levers.shareable:.0%} of the jobs, by code, may share GPUs, at 0.76 to 1 of their "
            "pace; known of a code once a run of it was measured"
        )
    if levers.doomed:
        lines.append(
            f"{levers.doomed:.0%} of the jobs show in time that they come to nothing, and are "
            f"ended with {levers.saved:.0%} of their run left"
        )
    return lines


def _nice_range(setting: Setting, policy: str) -> int:
    return POLICIES[policy]().at_site(setting.site).nice_range


def _lowered() -> str:
    limits = TimeLimits(lower=True)
    return (
        "the limits of waiting jobs whose code is known are lowered to "
        f"{limits.margin:g} times the 99th percentile of their prediction and a guard, at least "
        f"{limits.shortest_s / 60:g} minutes; a run that might miss its lowered limit gets its own "
        "back"
    )


def _of_the_workload(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    if not any(each.parts for each in plans):
        return []
    if setting.code_read is not None:
        jobs = plural(len(setting.columns), "job")
        read = setting.code_read
        return [_RECORDED.format(read, jobs) if read else _NONE_READ.format(jobs)]
    if setting.workload is None:
        return [_NO_CODE]
    return [_SEMI_SYNTHETIC.format(setting.workload.explained)]
