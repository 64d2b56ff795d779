"""A trace out of thin air, so that everything works without a download."""

from __future__ import annotations

import numpy as np

from schedmate.model import BadInput
from schedmate.simulator.traces.base import Trace, TraceJob
from schedmate.simulator.traces.drawing import Drawn, draw
from schedmate.simulator.traces.gathering import nothing_thrown_away
from schedmate.simulator.traces.profiles import PROFILES, Profile

GPUS_A_NODE = 8
_WORDS = (
    "bert",
    "resnet",
    "gpt",
    "vit",
    "unet",
    "gan",
    "asr",
    "detr",
    "rl",
    "sweep",
    "eval",
    "sft",
)
DEFAULT_PROFILE = "philly"


def synthetic(
    jobs: int, *, gpus: int, load: float = 0.9, seed: int = 0, like: str = DEFAULT_PROFILE
) -> Trace:
    """Draw `jobs` jobs that keep `gpus` GPUs busy for the share `load` of the time they arrive in.

    `like` names the cluster whose published figures they have: philly, helios or acme.
    """
    profile = profile_named(like)
    drawn = draw(profile, jobs, gpus=gpus, load=load, rng=np.random.default_rng(seed))
    kind = "synthetic" if like == DEFAULT_PROFILE else f"synthetic {like}"
    with nothing_thrown_away():
        return Trace(name=f"{kind} (seed {seed})", jobs=_jobs(drawn, profile), gpus=gpus)


def profile_named(name: str) -> Profile:
    if name not in PROFILES:
        raise BadInput(f"there is no profile {name!r}; known are {', '.join(PROFILES)}")
    return PROFILES[name]


def name_of_series(number: int) -> str:
    return f"{_WORDS[number % len(_WORDS)]}-{number}"


def _jobs(drawn: Drawn, profile: Profile) -> tuple[TraceJob, ...]:
    names = {number: name_of_series(number) for number in set(drawn.series.tolist())}
    users = [f"user{number}" for number in range(profile.users)]
    groups = [f"vc{number % profile.groups}" for number in range(profile.users)]
    states = [ending.state for ending in profile.endings]
    numbers = (drawn.submit, drawn.duration, drawn.gpus, drawn.ending, drawn.limit)
    rows = zip(*(each.tolist() for each in (*numbers, drawn.user, drawn.series)), strict=True)
    return tuple(
        TraceJob(
            job_id=str(number),
            user=users[user],
            submit_time=submit,
            duration=duration,
            gpus=size,
            status=states[ending],
            name=names[series],
            group=groups[user],
            nodes=-(-size // GPUS_A_NODE),
            time_limit=limit,
        )
        for number, (submit, duration, size, ending, limit, user, series) in enumerate(
            rows, start=1
        )
    )
