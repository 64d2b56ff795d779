"""Readers of calls, loops and names that jobs of any framework have."""

from __future__ import annotations

from schedmate.advisor.frameworks.base import Reader
from schedmate.advisor.frameworks.batches import loader_batches
from schedmate.advisor.frameworks.drivers import frameworks
from schedmate.advisor.frameworks.environments import environments
from schedmate.advisor.frameworks.log_files import logging_to_files
from schedmate.advisor.frameworks.loops import (
    accumulation,
    running_out_of_time,
    stopping_early,
    training_loops,
)
from schedmate.advisor.frameworks.optimizers import optimizers
from schedmate.advisor.frameworks.own_data import own_datasets
from schedmate.advisor.frameworks.own_models import own_models
from schedmate.advisor.frameworks.parallelism import spread_by_launcher, submitit, torch_parallelism
from schedmate.advisor.frameworks.precision import torch_precision
from schedmate.advisor.frameworks.resuming import resuming
from schedmate.advisor.frameworks.shapes import model_configs, module_shapes, torch_modules
from schedmate.advisor.frameworks.tasks import tasks
from schedmate.advisor.frameworks.torch_checkpoints import saving
from schedmate.advisor.frameworks.torch_datasets import datasets
from schedmate.advisor.frameworks.torch_models import models, sequence_lengths

READERS: tuple[Reader, ...] = (
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
    spread_by_launcher,
    submitit,
    environments,
    frameworks,
    tasks,
    own_models,
    own_datasets,
)
