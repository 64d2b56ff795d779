"""Keras: what `compile` and `fit` get, optimisers, callbacks, numbers it computes in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    first_of,
    is_of,
    last_name,
    number_of,
    text_of,
)
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated, table_of
from schedmate.advisor.frameworks.doors import called
from schedmate.advisor.frameworks.keras_zoo import keras_datasets, keras_models
from schedmate.advisor.frameworks.rules import by_name, converted
from schedmate.advisor.frameworks.tensorflow import batch_of, share
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Sequence, Table, Value
from schedmate.advisor.sources.words import words

_LIBRARIES = (
    *("keras", "tensorflow", "tf_keras", "keras_core", "keras_hub", "keras_nlp", "keras_cv"),
    "tensorflow_addons",
)
_OPTIMIZERS = words(
    "SGD Adam AdamW Adagrad Adadelta Adamax Nadam RMSprop Ftrl Lion Adafactor LAMB Lamb Muon "
    "RectifiedAdam LazyAdam NovoGrad Yogi AdaBelief COCOB SGDW AdamOptimizer "
    "MomentumOptimizer GradientDescentOptimizer RMSPropOptimizer AdagradOptimizer "
    "AdadeltaOptimizer FtrlOptimizer"
)
_CALLED = {"momentumoptimizer": "sgd", "gradientdescentoptimizer": "sgd", "rectifiedadam": "radam"}
_WRAPPERS = words("DistributedOptimizer LossScaleOptimizer MovingAverage SWA Lookahead create")
_ASIDE = re.compile(r"disc|critic|_d(?:$|_)|^d_|teacher", re.IGNORECASE)
_FILE = re.compile(r"\.(?:keras|h5|hdf5|ckpt|tf|weights|pb)\b|[{%]")
_POLICIES = {"mixed_float16": "fp16", "float16": "fp16", "mixed_bfloat16": "bf16"}
_POLICIES |= {"bfloat16": "bf16", "float32": "fp32", "float8": "fp8"}
_SET_POLICY = ("set_global_policy", "set_dtype_policy", "set_policy", "set_floatx")
_DEEP = 4
_CALLBACKS = called(
    _LIBRARIES,
    {
        "ModelCheckpoint": "filepath",
        "BackupAndRestore": "backup_dir",
        "CSVLogger": "filename",
        **dict.fromkeys(_SET_POLICY, "policy"),
    },
)


def _calls(reading: Reading) -> Iterator[Settings]:
    """Of several fits the last, longest one: the first ones warm up a frozen model."""
    fits = [call for call in calls_of(reading, "fit", "fit_generator") if _fits(reading, call)]
    sure = [call for call in fits if call.certain] or fits
    for call in sorted(sure, key=lambda each: number_of(each.argument("epochs")) or 0)[-1:]:
        yield _fit(call, reading)
    yield from _optimizers(reading)
    for settings in _CALLBACKS(reading):
        if last_name(settings.callee) != "EarlyStopping" or _is_used(fits, settings.at):
            yield settings


def _fit(call: Call, reading: Reading) -> Settings:
    place = None if last_name(call.callee) == "fit_generator" else 3
    given = {"epochs": call.argument("epochs", place)}
    size = call.argument("batch_size", place and place - 1)
    if size is None or size.data is None:
        size = batch_of(call.argument("x", 0) or call.argument("generator"))
    given["batch_size"] = share(size, reading)
    tree = table_of({name: value for name, value in given.items() if value is not None})
    return Settings(table_of({"fit": tree}), reading, at=call)


def _fits(reading: Reading, call: Call) -> bool:
    if call.callee.startswith("?."):
        near = any(is_of(each.name, *_LIBRARIES) for each in reading.trace.imports)
        return near and bool(call.keywords.keys() & {"epochs", "batch_size", "steps_per_epoch"})
    return _is_keras(call)


def _is_keras(call: Call) -> bool:
    return is_of(call.callee, *_LIBRARIES) or call.callee.startswith("transformers.TF")


def _is_used(fits: list[Call], callback: object) -> bool:
    """False where every `fit` is given a list of others."""
    given = [call.argument("callbacks") for call in fits]
    lists = [each.data for each in given if each is not None and isinstance(each.data, Sequence)]
    if not lists or len(lists) < len(given) or not all(each.complete for each in lists):
        return True
    given_to = [item.data for each in lists for item in each.items]
    known = all(isinstance(data, (LibraryObject, Table)) for data in given_to)
    return not known or any(
        isinstance(data, LibraryObject) and data.call is callback for data in given_to
    )


def _optimizers(reading: Reading) -> Iterator[Settings]:
    """Those that `compile` gets; without one, those that are made."""
    compiled = [
        settings
        for call in calls_of(reading, "compile")
        if _compiles(call) and not _ASIDE.search(call.target)
        for settings in _given_to(call, reading)
    ]
    made = [call for call in reading.trace.calls if _makes_optimizer(call)]
    ours = [call for call in made if not _ASIDE.search(call.target)] or made
    yield from compiled or (_made(call, reading) for call in ours)


def _compiles(call: Call) -> bool:
    unseen = call.callee.startswith("?.") and call.keywords.keys() & {"loss", "metrics"}
    return bool(unseen) or _is_keras(call)


def _makes_optimizer(call: Call) -> bool:
    return is_of(call.callee, *_LIBRARIES) and last_name(call.callee) in _OPTIMIZERS


def _given_to(call: Call, reading: Reading) -> Iterator[Settings]:
    """A name, or what was made, out of whatever wraps it."""
    value = call.argument("optimizer", 0)
    for _ in range(_DEEP):
        if value is None or not isinstance(value.data, LibraryObject):
            break
        made = value.data.call
        if last_name(made.callee) not in _WRAPPERS and not is_of(made.callee, "horovod"):
            if _makes_optimizer(made):
                yield _made(made, reading)
            return
        value = made.argument("optimizer", 0) or made.argument("inner_optimizer")
    name = text_of(value)
    if value is not None and name is not None:
        tree = table_of({"optimizer": restated(value, name.lower())})
        yield Settings(tree, reading, at=call)


def _made(call: Call, reading: Reading) -> Settings:
    name = last_name(call.callee).lower()
    parts = {"optimizer": Value(_CALLED.get(name, name.removesuffix("optimizer")), (call.line,))}
    rate = _first_rate(call.argument("learning_rate", 0) or call.argument("lr"))
    parts |= {} if rate is None else {"learning_rate": rate}
    return Settings(table_of(parts), reading, at=call)


def _first_rate(rate: Value | None) -> Value | None:
    """Of a schedule the rate that it starts to decay from."""
    if rate is None or not isinstance(rate.data, LibraryObject):
        return rate
    call = rate.data.call
    if "warmup_target" in call.keywords:
        return call.keywords["warmup_target"]
    if last_name(call.callee).startswith("PiecewiseConstant"):
        return first_of(call.argument("values", 1))
    return call.argument("initial_learning_rate", 0)


def _directory(path: Value) -> Value | None:
    """Of a file's pattern the folder; a bare file name says of none."""
    text = text_of(path) or ""
    if _FILE.search(text):
        parent = str(PurePosixPath(text).parent)
        text = "" if parent == "." or _FILE.search(parent) else parent
    return restated(path, text) if text else None


def _every(settings: Settings) -> Value | None:
    """Every epoch, unless only what is better is saved."""
    given = settings.get("ModelCheckpoint")
    parts = given.data.parts if given is not None and isinstance(given.data, Table) else {}
    every = parts.get("save_freq")
    if given is None or number_of(every) is not None:
        return every
    saves_all = every is None and not parts.keys() & {"save_best_only", "period"}
    return settings.implied(1) if saves_all or text_of(every) == "epoch" else None


def _policy(settings: Settings) -> Value | None:
    """Its name, also where it is an object."""
    values = [settings.get(f"{name}.policy") for name in _SET_POLICY]
    value = next((each for each in values if each is not None), None)
    if value is not None and isinstance(value.data, LibraryObject):
        value = value.data.call.argument("name", 0)
    name = _POLICIES.get(text_of(value) or "")
    return None if value is None or name is None else restated(value, name)


FRAMEWORK = Framework(
    settings={
        "epochs": "fit.epochs",
        "batch_size": "fit.batch_size",
        "optimizer": "optimizer",
        "learning_rate": "learning_rate",
        "precision": _policy,
        "early_stopping": by_name("EarlyStopping", data=True),
        "checkpoint_dir": converted(
            _directory, "ModelCheckpoint.filepath BackupAndRestore.backup_dir"
        ),
        "checkpoint_every": _every,
        "resumes": by_name("BackupAndRestore", data=True),
        "log_files": "CSVLogger.filename",
    },
    calls=_calls,
    readers=(keras_models, keras_datasets),
    confidence={"checkpoint_every": 0.85},
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "import keras\nfrom keras import layers\n"
                "from keras.callbacks import *\n"
                "from keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint\n"
                "(x, y), _ = keras.datasets.mnist.load_data()\n"
                "model = keras.Sequential([layers.Dense(10)])\n"
                "model.compile(loss='mse', optimizer=keras.optimizers.Adam(learning_rate=3e-4))\n"
                "keep = ModelCheckpoint('ckpt/model-{epoch:02d}.keras', save_freq=500)\n"
                "model.fit(x, y, batch_size=128, epochs=15, callbacks=[\n"
                "    EarlyStopping(patience=3), keep, CSVLogger('log.csv')])\n",
            },
            claims={
                "dataset": "mnist",
                "optimizer": "adam",
                "learning_rate": 3e-4,
                "batch_size": 128,
                "epochs": 15,
                "early_stopping": True,
                "checkpoint_dir": "ckpt",
                "checkpoint_every": 500,
                "log_files": "log.csv",
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import tensorflow as tf\n"
                "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
                "rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1000, 0.96)\n"
                "model = tf.keras.applications.ResNet50(weights=None)\n"
                "model.compile(optimizer=tf.keras.optimizers.SGD(rate), loss='mse')\n"
                "train = tf.data.Dataset.range(9).batch(32)\n"
                "model.fit(train, epochs=5)\n"
                "model.fit(train, epochs=90, callbacks=[\n"
                "    tf.keras.callbacks.BackupAndRestore('/scratch/backup')])\n",
            },
            claims={
                "model": "ResNet50",
                "optimizer": "sgd",
                "learning_rate": 0.1,
                "batch_size": 32,
                "epochs": 90,
                "precision": "bf16",
                "checkpoint_dir": "/scratch/backup",
                "resumes": True,
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import tensorflow as tf\nimport horovod.tensorflow.keras as hvd\n"
                "opt = hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.001))\n"
                "model = tf.keras.Sequential([])\n"
                "model.compile(optimizer=opt, loss='mse')\n"
                "stop = tf.keras.callbacks.EarlyStopping(patience=3)\n"
                "keep = tf.keras.callbacks.ModelCheckpoint('out/m.keras')\n"
                "model.fit(x, y, 128, epochs=24, callbacks=[keep])\n",
            },
            claims={
                "optimizer": "adam",
                "learning_rate": 0.001,
                "batch_size": 128,
                "epochs": 24,
                "checkpoint_dir": "out",
                "checkpoint_every": 1,
            },
        ),
    ),
)
