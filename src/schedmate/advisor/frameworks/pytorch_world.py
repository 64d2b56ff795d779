"""All readers of PyTorch and what is built on it."""

from __future__ import annotations

from schedmate.advisor.frameworks.accelerate import accelerate
from schedmate.advisor.frameworks.base import Reader
from schedmate.advisor.frameworks.composer import composer
from schedmate.advisor.frameworks.deepspeed import deepspeed
from schedmate.advisor.frameworks.detectron import detectron2
from schedmate.advisor.frameworks.endings import running_out_of_time, stopping_early
from schedmate.advisor.frameworks.fastai import fastai
from schedmate.advisor.frameworks.launched import accelerate_launch, spread_by_launcher, submitit
from schedmate.advisor.frameworks.lightning import (
    lightning,
    lightning_checkpoints,
    lightning_optimizers,
)
from schedmate.advisor.frameworks.log_files import logging_to_files
from schedmate.advisor.frameworks.megatron import megatron
from schedmate.advisor.frameworks.mmengine import mmengine
from schedmate.advisor.frameworks.named_options import fairseq
from schedmate.advisor.frameworks.optimizers import optimizers
from schedmate.advisor.frameworks.own_shapes import module_shapes
from schedmate.advisor.frameworks.reinforcement import (
    environment_steps,
    environments,
    rllib,
    stable_baselines,
    tianshou,
)
from schedmate.advisor.frameworks.resuming import resuming, trainer_resumes
from schedmate.advisor.frameworks.torch_architecture import model_configs, torch_modules
from schedmate.advisor.frameworks.torch_checkpoints import saving
from schedmate.advisor.frameworks.torch_data import loader_batches
from schedmate.advisor.frameworks.torch_datasets import datasets
from schedmate.advisor.frameworks.torch_loops import accumulation, training_loops
from schedmate.advisor.frameworks.torch_models import models, sequence_lengths
from schedmate.advisor.frameworks.torch_parallel import torch_parallelism
from schedmate.advisor.frameworks.torch_precision import torch_precision
from schedmate.advisor.frameworks.torchtitan import torchtitan
from schedmate.advisor.frameworks.training_arguments import callbacks, training_arguments
from schedmate.advisor.frameworks.ultralytics import ultralytics

PYTORCH_WORLD: tuple[Reader, ...] = (
    loader_batches,
    optimizers,
    torch_precision,
    torch_parallelism,
    training_loops,
    accumulation,
    saving,
    resuming,
    stopping_early,
    running_out_of_time,
    logging_to_files,
    models,
    sequence_lengths,
    torch_modules,
    model_configs,
    module_shapes,
    datasets,
    lightning,
    lightning_checkpoints,
    lightning_optimizers,
    training_arguments,
    trainer_resumes,
    callbacks,
    accelerate,
    accelerate_launch,
    spread_by_launcher,
    submitit,
    deepspeed,
    megatron,
    mmengine,
    detectron2,
    fairseq,
    torchtitan,
    ultralytics,
    fastai,
    composer,
    stable_baselines,
    rllib,
    tianshou,
    environment_steps,
    environments,
)
