"""All idioms of Keras, TensorFlow, JAX and boosted trees, and those that speak of any library."""

from __future__ import annotations

from schedmate.advisor.idioms.base import Idiom
from schedmate.advisor.idioms.boosting import boosting, estimators
from schedmate.advisor.idioms.frameworks import frameworks
from schedmate.advisor.idioms.jax import (
    flax_checkpoints,
    flax_precision,
    optax_optimizers,
    orbax_checkpoints,
    spread_over_devices,
)
from schedmate.advisor.idioms.keras import callbacks, compiled, fitted, policies
from schedmate.advisor.idioms.keras_zoo import keras_datasets, keras_models
from schedmate.advisor.idioms.maxtext import maxtext
from schedmate.advisor.idioms.own_data import own_datasets
from schedmate.advisor.idioms.own_models import own_models
from schedmate.advisor.idioms.tasks import tasks
from schedmate.advisor.idioms.tensorflow import horovod, per_replica, pipelines, strategies
from schedmate.advisor.idioms.vllm import vllm

OTHER_WORLDS: tuple[Idiom, ...] = (
    frameworks,
    tasks,
    own_models,
    own_datasets,
    compiled,
    fitted,
    callbacks,
    policies,
    keras_models,
    keras_datasets,
    pipelines,
    per_replica,
    strategies,
    horovod,
    optax_optimizers,
    spread_over_devices,
    flax_checkpoints,
    flax_precision,
    orbax_checkpoints,
    maxtext,
    vllm,
    boosting,
    estimators,
)
