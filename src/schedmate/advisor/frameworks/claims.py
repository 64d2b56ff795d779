"""Every claim about a job that its frameworks and the readers of its code make."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reader, Reading
from schedmate.advisor.frameworks.batches import global_batches, loader_batches
from schedmate.advisor.frameworks.drivers import frameworks
from schedmate.advisor.frameworks.environments import environments
from schedmate.advisor.frameworks.index import in_sight
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
from schedmate.advisor.frameworks.saving import logging_to_files, saving
from schedmate.advisor.frameworks.shapes import model_configs, module_shapes, torch_modules
from schedmate.advisor.frameworks.starting_over import starting_over
from schedmate.advisor.frameworks.tasks import tasks
from schedmate.advisor.frameworks.torch_datasets import datasets
from schedmate.advisor.frameworks.torch_models import models, sequence_lengths
from schedmate.advisor.settle.claim import Claim

READERS: tuple[Reader, ...] = (
    loader_batches,
    global_batches,
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
"""Of calls, loops and names that jobs of any framework have."""


def claims(reading: Reading) -> Iterator[Claim]:
    return (claim for _, claim in claims_by_reader(reading))


def claims_by_reader(reading: Reading) -> Iterator[tuple[str, Claim]]:
    """With who makes it: `framework keras`, `reader optimizers`."""
    for signs, started in in_sight(reading.run, _packages(reading)):
        found = signs.load().claims(reading, started=started, own_code=signs.own_code)
        yield from ((f"framework {signs.module}", claim) for claim in found)
    for reader in READERS:
        yield from ((f"reader {reader.__name__}", claim) for claim in reader(reading))


def _packages(reading: Reading) -> frozenset[str]:
    """Packages that are imported or called, with the first part of their modules' names."""
    trace = reading.trace
    names = {each.name for each in (*trace.imports, *trace.own_imports)}
    names |= {call.callee for call in trace.calls}
    heads = [name.split(".", 2) for name in names]
    return frozenset((*(head[0] for head in heads), *(".".join(head[:2]) for head in heads)))
