"""Environments that a job of reinforcement learning plays in, by whatever it is trained."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    claim,
    is_of,
    last_name,
    text_of,
)
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_BASELINES = ("stable_baselines3", "sb3_contrib", "sbx")
_GAMES = ("gymnasium", "gym", "envpool", "safety_gymnasium", "pettingzoo", "procgen")
_MAKERS = ("make", "make_vec", "make_vec_env", "make_atari_env")
_NAMES_ONE = words(
    "env env_id env_name environment environment_id environment_name gym_id env_type"
)


def environments(reading: Reading) -> Iterator[Claim]:
    """What such a job learns from is its environment, by the name it is asked for."""
    for call in reading.trace.calls:
        if last_name(call.callee) in _MAKERS and is_of(call.callee, *_GAMES, *_BASELINES):
            named = call.argument("id", 0) or call.keywords.get("env_id")
            if text_of(named):
                yield from claim("dataset", named, call)
                return
    for name, value in reading.options.items() if _plays(reading) else ():
        if last_name(name.lstrip("-").replace("-", "_").lower()) in _NAMES_ONE and text_of(value):
            yield Claim(field="dataset", value=value, confidence=0.85)
            return


def _plays(reading: Reading) -> bool:
    return any(is_of(each.name, *_GAMES) for each in reading.trace.imports)
