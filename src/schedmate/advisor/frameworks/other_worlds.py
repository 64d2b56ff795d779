"""All readers of Keras, TensorFlow, JAX and boosted trees, and those that speak of any library."""

from __future__ import annotations

from schedmate.advisor.frameworks.base import Reader
from schedmate.advisor.frameworks.boosting import boosting, estimators
from schedmate.advisor.frameworks.drivers import frameworks
from schedmate.advisor.frameworks.jax import (
    flax_checkpoints,
    flax_precision,
    optax_optimizers,
    orbax_checkpoints,
    spread_over_devices,
)
from schedmate.advisor.frameworks.keras import callbacks, compiled, fitted, policies
from schedmate.advisor.frameworks.keras_zoo import keras_datasets, keras_models
from schedmate.advisor.frameworks.maxtext import maxtext
from schedmate.advisor.frameworks.own_data import own_datasets
from schedmate.advisor.frameworks.own_models import own_models
from schedmate.advisor.frameworks.tasks import tasks
from schedmate.advisor.frameworks.tensorflow import horovod, per_replica, pipelines, strategies
from schedmate.advisor.frameworks.vllm import vllm

OTHER_WORLDS: tuple[Reader, ...] = (
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
