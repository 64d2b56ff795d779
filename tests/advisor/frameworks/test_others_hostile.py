"""No reader raises, and none takes long, whatever the calls of a job hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.frameworks.families import OTHER_FAMILIES
from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import number_of
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Imported, Trace
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Call,
    Dotted,
    LibraryObject,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.interpret.shell import command_words
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.model import Evidence

LINE = Evidence("train.py", 1, "x = y")
CALLEES = [
    "keras.Sequential.fit",
    "?.fit",
    "keras.Model.compile",
    "tensorflow.keras.optimizers.Adam",
    "keras.callbacks.ModelCheckpoint",
    "keras.mixed_precision.set_global_policy",
    "keras.applications.ResNet50",
    "tensorflow.data.Dataset.range.batch",
    "tensorflow_datasets.load",
    "tensorflow_hub.load",
    "optax.adamw",
    "optax.join_schedules",
    "jax.sharding.Mesh",
    "orbax.checkpoint.CheckpointManager",
    "xgboost.train",
    "xgboost.XGBClassifier",
    "lightgbm.cv",
    "sklearn.neural_network.MLPClassifier",
    "keras_hub.models.Backbone.from_preset",
    "horovod.torch.init",
]
NAMES = ["epochs", "batch_size", "learning_rate", "optimizer", "params", "name", "filepath"]
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.just(UNKNOWN_DATA),
)
VALUES = st.recursive(
    PLAIN.map(Value),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Value(Sequence(items))),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3).map(
            lambda parts: Value(Table(parts))
        ),
        st.tuples(st.sampled_from(CALLEES), inner).map(
            lambda made: Value(
                LibraryObject(Call(callee=made[0], positional=(made[1],), line=LINE)), (LINE,)
            )
        ),
        st.just(Value(Dotted("keras.optimizers.Adam"))),
    ),
    max_leaves=6,
)
CALLS = st.builds(
    lambda callee, positional, keywords, reached: Call(
        callee=callee, positional=tuple(positional), keywords=keywords, line=LINE, reached=reached
    ),
    st.sampled_from(CALLEES),
    st.lists(VALUES, max_size=3),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3),
    st.sampled_from(Reached),
)


def test_a_number_without_a_float_is_no_number():
    assert number_of(Value(10**400)) is None
    assert number_of(Value(-(10**400))) is None


def reading(trace: Trace, options: dict[str, Value] | None = None) -> Reading:
    words = command_words(["python", "maxtext/train.py", "a=b", "steps=", "x.yml"])
    run = PythonRun(
        entry=Entry(name="maxtext/train.py", source=None, import_root=Path()),
        arguments=words[2:],
        command=words[1],
    )
    return Reading(run=run, trace=trace, options=options or {})


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(
    st.lists(CALLS, max_size=6),
    st.dictionaries(st.sampled_from(["task", "dataset", "model", "mode", "do_eval"]), VALUES),
)
def test_any_arguments_are_survived(calls, options):
    trace = Trace(calls=calls, imports=[Imported("tensorflow", LINE, 0)])
    for reader in OTHER_FAMILIES:
        list(reader(reading(trace, options)))


@pytest.mark.parametrize(
    "callee",
    [
        "diffusers." * 20_000,
        "tensorflow." + "OptimizerOptimizer" * 20_000,
        "transformers.TF" + "For" * 50_000,
        "keras." + "applications." * 20_000,
        "xgboost." + "XGB." * 50_000,
    ],
)
def test_long_names_are_read_in_linear_time(callee):
    """A quadratic pattern would run into the suite's timeout."""
    trace = Trace(calls=[Call(callee=callee, line=LINE)])
    for reader in OTHER_FAMILIES:
        list(reader(reading(trace)))
