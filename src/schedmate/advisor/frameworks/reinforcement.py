"""Trainers of reinforcement learning: stable-baselines3, RLlib and tianshou.

What such a job counts are steps of the environment: its length is given in those.
"""

from __future__ import annotations

from schedmate.advisor.frameworks.contract import Framework, Sample, Settings
from schedmate.advisor.frameworks.doors import called
from schedmate.advisor.interpret.python.values import Table, Value

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


FRAMEWORK = Framework(
    settings={
        "model": _algorithm,
        "batch_size": f"{_of((*_ALGORITHMS, *_TRAINERS), 'batch_size')} training.train_batch_size "
        "training.train_batch_size_per_learner training.minibatch_size",
        "learning_rate": f"{_of(_ALGORITHMS, 'learning_rate')} training.lr",
        "max_steps": "learn.total_timesteps RunConfig.stop.timesteps_total "
        "run.stop.timesteps_total",
        "epochs": f"{_of(_TRAINERS, 'max_epoch')} {_of(_TRAINERS, 'max_epochs')}",
        "checkpoint_every": "CheckpointCallback.save_freq",
        "checkpoint_dir": "CheckpointCallback.save_path",
    },
    confidence={"model": 0.7},
    calls=called(
        ("stable_baselines3", "sb3_contrib", "sbx", "ray", "tianshou"),
        {"learn": "total_timesteps", "CheckpointCallback": "save_freq save_path"},
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
                "train.py": "from ray import tune\nfrom ray.rllib.algorithms.ppo import PPOConfig\n"
                "config = PPOConfig().training(lr=1e-4, train_batch_size=4000)\n"
                "tune.run('PPO', stop={'timesteps_total': 50_000})\n",
            },
            claims={"learning_rate": 1e-4, "batch_size": 4000, "max_steps": 50_000},
        ),
    ),
)
