"""One setting under several plans, and all that is assumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schedmate.policies import POLICIES
from schedmate.simulator.execute import Way
from schedmate.simulator.knowledge import Knowledge
from schedmate.simulator.plan import Plan, plan
from schedmate.simulator.result import Comparison
from schedmate.simulator.run import PolicyRun, run
from schedmate.simulator.setting import Setting

OnProgress = Callable[[str, int, int], None]

_NO_CODE = (
    "SchedMate knows no code here: it foretells from user, name and request alone, and the tracker "
    "has no log to read"
)
_SEMI_SYNTHETIC = (
    "semi-synthetic: each job was given a training project of ours that takes as long as the trace "
    "says; what SchedMate foretells of it comes from its real code, in order of time"
)


def compare(
    setting: Setting,
    policies: Sequence[str],
    *,
    way: Way = "auto",
    on_progress: OnProgress | None = None,
) -> list[PolicyRun]:
    """Each of them on the same jobs and the same cluster, with the same predictions."""
    chosen = [plan(name) for name in policies]
    knowledge = Knowledge(setting)
    return [
        run(setting, each, knowledge, way=way, on_progress=_named(on_progress, each.name))
        for each in chosen
    ]


def comparison(setting: Setting, runs: Sequence[PolicyRun]) -> Comparison:
    """The JSON of `schedmate simulate`."""
    load = setting.load
    return Comparison(
        trace=setting.name,
        jobs=len(setting.columns),
        gpus=setting.gpus,
        assumptions=tuple(assumptions(setting, [plan(each.policy) for each in runs])),
        policies={each.policy: each.summary for each in runs},
        load=None if load == float("inf") else load,
    )


def _named(on_progress: OnProgress | None, name: str) -> Callable[[int, int], None] | None:
    if on_progress is None:
        return None
    return lambda done, total: on_progress(name, done, total)


def assumptions(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    """In plain words, for people who want to know what a figure rests on."""
    return [
        _cluster(setting),
        f"the jobs ask for {_load(setting)} the cluster gives while they arrive",
        *setting.notes,
        *_of_the_plans(setting, plans),
        *_of_the_meaning(setting, plans),
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
            f"{setting.gpus} GPUs on {len(setting.node_sizes)} nodes of at most {largest}; "
            f"a job is {_placed(setting)}; {len(setting.faults)} node failures"
        )
    return f"one pool of {setting.gpus} GPUs of one kind, handed out by the gang"


def _placed(setting: Setting) -> str:
    return "kept together where it can be, else slower" if setting.spread else "kept together"


def _load(setting: Setting) -> str:
    load = setting.load
    return "more than" if load == float("inf") else f"{load:.2f} times what"


def _of_the_plans(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    unaided = [each.policy for each in plans if "advisor" not in each.parts]
    oracles = [name for name in dict.fromkeys(unaided) if POLICIES[name]().source == "oracle"]
    told = [f"a job that was stopped pays {setting.restart_s:g} s when it goes on"]
    if oracles:
        told.append(f"{', '.join(oracles)}: knows every duration beforehand (oracle)")
    if setting.left_out:
        told.append(f"{setting.left_out} jobs that ask for more GPUs are left out")
    return told


def _of_the_meaning(setting: Setting, plans: Sequence[Plan]) -> list[str]:
    if not any(each.parts for each in plans):
        return []
    return [_NO_CODE if setting.meaning is None else _SEMI_SYNTHETIC]
