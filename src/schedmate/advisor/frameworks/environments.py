"""Reinforcement learning with PyTorch: stable-baselines3, RLlib, tianshou and scripts like theirs.

What such a job counts are steps of the environment: its length is given in those.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    claim,
    is_of,
    last_name,
    named_claims,
    part_of,
    text_of,
)
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.interpret.python.values import Call, Table
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_BASELINES = ("stable_baselines3", "sb3_contrib", "sbx")
_ALGORITHM = {"batch_size": "batch_size", "learning_rate": "learning_rate"}
_RLLIB = {
    "learning_rate": "lr",
    "batch_size": "train_batch_size train_batch_size_per_learner minibatch_size",
}

_GAMES = ("gymnasium", "gym", "envpool", "safety_gymnasium", "pettingzoo", "procgen")
_MAKERS = ("make", "make_vec", "make_vec_env", "make_atari_env")
_NAMES_ONE = words(
    "env env_id env_name environment environment_id environment_name gym_id env_type"
)


def stable_baselines(reading: Reading) -> Iterator[Claim]:
    for call in reading.trace.calls:
        if not is_of(call.callee, *_BASELINES):
            continue
        name = last_name(call.callee)
        if name == "learn":
            yield from claim("max_steps", call.argument("total_timesteps", 0), call)
        elif name == "CheckpointCallback":
            yield from claim("checkpoint_every", call.argument("save_freq", 0), call)
            yield from claim("checkpoint_dir", call.argument("save_path", 1), call)
        elif name.isupper():
            yield from named_claims(_ALGORITHM, call.keywords, call)


def rllib(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "training"):
        if is_of(call.callee, "ray"):
            yield from named_claims(_RLLIB, call.keywords, call)
    for call in calls_of(reading, "RunConfig", "tune.run"):
        if is_of(call.callee, "ray"):
            yield from _stopped(call)


def _stopped(call: Call) -> Iterator[Claim]:
    stop = call.keywords.get("stop")
    if stop is not None and isinstance(stop.data, Table):
        yield from claim("max_steps", part_of(stop, "timesteps_total"), call, confidence=0.85)


def tianshou(reading: Reading) -> Iterator[Claim]:
    names = ("OnpolicyTrainer", "OffpolicyTrainer", "OfflineTrainer", "onpolicy_trainer")
    for call in calls_of(reading, *names, "offpolicy_trainer", "offline_trainer"):
        if is_of(call.callee, "tianshou"):
            fields = {"epochs": "max_epoch max_epochs", "batch_size": "batch_size"}
            yield from named_claims(fields, call.keywords, call)


def environment_steps(reading: Reading) -> Iterator[Claim]:
    """Scripts in the manner of cleanrl: how many steps of the environment, as an option."""
    value = reading.options.get("total_timesteps") or reading.options.get("total-timesteps")
    if _plays(reading) and value is not None and value.known:
        yield Claim(field="max_steps", value=value)


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


FRAMEWORK = Framework(readers=(stable_baselines, rllib, tianshou))
