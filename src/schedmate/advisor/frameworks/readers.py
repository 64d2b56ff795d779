"""Readers of calls, loops and names that jobs of any framework have."""

from __future__ import annotations

from schedmate.advisor.frameworks.base import Reader
from schedmate.advisor.frameworks.drivers import frameworks
from schedmate.advisor.frameworks.endings import running_out_of_time, stopping_early
from schedmate.advisor.frameworks.environments import environments
from schedmate.advisor.frameworks.launched import spread_by_launcher, submitit
from schedmate.advisor.frameworks.log_files import logging_to_files
from schedmate.advisor.frameworks.optimizers import optimizers
from schedmate.advisor.frameworks.own_data import own_datasets
from schedmate.advisor.frameworks.own_models import own_models
from schedmate.advisor.frameworks.own_shapes import module_shapes
from schedmate.advisor.frameworks.resuming import resuming
from schedmate.advisor.frameworks.starting_over import starting_over
from schedmate.advisor.frameworks.tasks import tasks
from schedmate.advisor.frameworks.torch_architecture import model_configs, torch_modules
from schedmate.advisor.frameworks.torch_checkpoints import saving
from schedmate.advisor.frameworks.torch_data import loader_batches
from schedmate.advisor.frameworks.torch_datasets import datasets
from schedmate.advisor.frameworks.torch_loops import accumulation, training_loops
from schedmate.advisor.frameworks.torch_models import models, sequence_lengths
from schedmate.advisor.frameworks.torch_parallel import torch_parallelism
from schedmate.advisor.frameworks.torch_precision import torch_precision

READERS: tuple[Reader, ...] = (
    loader_batches,
    optimizers,
    torch_precision,
    torch_parallelism,
    training_loops,
    accumulation,
    saving,
    resuming,
    starting_over,
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
