"""All idioms of PyTorch and what is built on it."""

from __future__ import annotations

from schedmate.advisor.idioms.accelerate import accelerate
from schedmate.advisor.idioms.base import Idiom
from schedmate.advisor.idioms.composer import composer
from schedmate.advisor.idioms.deepspeed import deepspeed
from schedmate.advisor.idioms.detectron import detectron2
from schedmate.advisor.idioms.endings import running_out_of_time, stopping_early
from schedmate.advisor.idioms.fastai import fastai
from schedmate.advisor.idioms.launched import accelerate_launch, spread_by_launcher, submitit
from schedmate.advisor.idioms.lightning import (
    lightning,
    lightning_checkpoints,
    lightning_optimizers,
)
from schedmate.advisor.idioms.log_files import logging_to_files
from schedmate.advisor.idioms.megatron import megatron
from schedmate.advisor.idioms.mmengine import mmengine
from schedmate.advisor.idioms.named_options import fairseq
from schedmate.advisor.idioms.optimizers import optimizers
from schedmate.advisor.idioms.own_shapes import module_shapes
from schedmate.advisor.idioms.reinforcement import (
    environment_steps,
    environments,
    rllib,
    stable_baselines,
    tianshou,
)
from schedmate.advisor.idioms.resuming import resuming, trainer_resumes
from schedmate.advisor.idioms.torch_architecture import model_configs, torch_modules
from schedmate.advisor.idioms.torch_checkpoints import saving
from schedmate.advisor.idioms.torch_data import loader_batches
from schedmate.advisor.idioms.torch_datasets import datasets
from schedmate.advisor.idioms.torch_loops import accumulation, training_loops
from schedmate.advisor.idioms.torch_models import models, sequence_lengths
from schedmate.advisor.idioms.torch_parallel import torch_parallelism
from schedmate.advisor.idioms.torch_precision import torch_precision
from schedmate.advisor.idioms.torchtitan import torchtitan
from schedmate.advisor.idioms.training_arguments import callbacks, training_arguments
from schedmate.advisor.idioms.ultralytics import ultralytics

PYTORCH_WORLD: tuple[Idiom, ...] = (
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
