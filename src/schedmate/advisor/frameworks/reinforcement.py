"""Trainers of reinforcement learning: stable-baselines3, RLlib and tianshou.

What such a job counts are steps of the environment: its length is given in those.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from schedmate.advisor.frameworks.calls import last_name, text_of
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import called
from schedmate.advisor.interpret.python.values import Call, KnownPrefix, Table, Value

_ALGORITHMS = (
    *("PPO", "A2C", "DQN", "SAC", "TD3", "DDPG", "TQC", "TRPO", "ARS", "QRDQN", "CrossQ"),
    *("RecurrentPPO", "MaskablePPO"),
)
_TRAINERS = (
    *("OnpolicyTrainer", "OffpolicyTrainer", "OfflineTrainer"),
    *("onpolicy_trainer", "offpolicy_trainer", "offline_trainer"),
)


def _of(calls: tuple[str, ...], setting: str) -> str:
    return " ".join(f"{call}.{setting}" for call in calls)


def _algorithm(settings: Settings) -> Value | None:
    """Its policy has a plain network: people call the job by its algorithm."""
    for name in _ALGORITHMS:
        given = settings.get(name)
        if given is not None and isinstance(given.data, Table):
            lines = [line for part in given.data.parts.values() for line in part.lines]
            return Value(name, (*lines[:1], *(() if settings.at is None else (settings.at.line,))))
    return None


def _saved_in(settings: Settings) -> Value | None:
    """The callback's directory, or that of what `model.save("models/best")` writes."""
    given = settings.first("CheckpointCallback.save_path")
    path = settings.get("save.path")
    if given is not None or path is None:
        return given
    if isinstance(path, KnownPrefix):
        place = path.directory
    else:
        place = str(PurePosixPath(text_of(path) or "").parent)
    return restated(path, place) if place.strip("./") else None


def _saved_every(settings: Settings) -> Value | None:
    """`for …: model.learn(N); model.save(…)`: N steps of the environment."""
    given, call = settings.first("CheckpointCallback.save_freq"), settings.at
    if given is not None:
        return given
    if not isinstance(call, Call) or settings.get("save") is None or not call.loops:
        return None
    learns = (
        each
        for each in settings.reading.trace.calls
        if last_name(each.callee) == "learn" and each.loops == call.loops
    )
    return next((each.argument("total_timesteps", 0) for each in learns), None)


FRAMEWORK = Framework(
    settings={
        "model": _algorithm,
        "batch_size": f"{_of((*_ALGORITHMS, *_TRAINERS), 'batch_size')} training.train_batch_size "
        "training.train_batch_size_per_learner training.minibatch_size",
        "learning_rate": f"{_of(_ALGORITHMS, 'learning_rate')} training.lr",
        "max_steps": "learn.total_timesteps RunConfig.stop.timesteps_total "
        "run.stop.timesteps_total",
        "epochs": f"{_of(_TRAINERS, 'max_epoch')} {_of(_TRAINERS, 'max_epochs')}",
        "checkpoint_every": _saved_every,
        "checkpoint_dir": _saved_in,
    },
    confidence={"model": 0.7},
    calls=called(
        ("stable_baselines3", "sb3_contrib", "sbx", "ray", "tianshou"),
        {"learn": "total_timesteps", "CheckpointCallback": "save_freq save_path", "save": "path"},
    ),
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "from stable_baselines3 import PPO\n"
                "from stable_baselines3.common.callbacks import CheckpointCallback\n"
                "model = PPO('MlpPolicy', 'CartPole-v1', learning_rate=3e-4, batch_size=256)\n"
                "model.learn(1_000_000, callback=CheckpointCallback(10_000, 'out'))\n",
            },
            claims={
                "model": "PPO",
                "learning_rate": 3e-4,
                "batch_size": 256,
                "max_steps": 1_000_000,
                "checkpoint_every": 10_000,
                "checkpoint_dir": "out",
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "from stable_baselines3 import DQN\n"
                "model = DQN('MlpPolicy', 'CartPole-v1')\n"
                "for part in range(1, 6):\n"
                "    model.learn(total_timesteps=2_000, reset_num_timesteps=False)\n"
                "    model.save(f'models/{2_000 * part}')\n",
            },
            claims={
                "model": "DQN",
                "max_steps": 2_000,
                "checkpoint_every": 2_000,
                "checkpoint_dir": "models",
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "from ray import tune\nfrom ray.rllib.algorithms.ppo import PPOConfig\n"
                "config = PPOConfig().training(lr=1e-4, train_batch_size=4000)\n"
                "tune.run('PPO', stop={'timesteps_total': 50_000})\n",
            },
            claims={"learning_rate": 1e-4, "batch_size": 4000, "max_steps": 50_000},
        ),
    ),
)
