"""Keras: what `compile` and `fit` get, optimisers, callbacks, numbers it computes in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    agreed,
    calls_of,
    claim,
    first_of,
    implied_claim,
    is_of,
    last_name,
    number_of,
    text_of,
)
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.frameworks.keras_zoo import keras_datasets, keras_models
from schedmate.advisor.frameworks.tensorflow import batch_of, share
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Sequence, Table, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

LIBRARIES = (
    "keras",
    "tensorflow",
    "tf_keras",
    "keras_core",
    "keras_hub",
    "keras_nlp",
    "keras_cv",
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
_SETS_POLICY = words("set_global_policy set_dtype_policy set_policy set_floatx")
_DEEP = 4


def compiled(reading: Reading) -> Iterator[Claim]:
    """The optimiser that `compile` gets; without one, those that are made."""
    given = [
        (call, call.argument("optimizer", 0))
        for call in calls_of(reading, "compile")
        if _is_keras(call) and not _ASIDE.search(call.target)
    ]
    found = [each for call, value in given for each in _optimizer(value, call)]
    if not found:
        made = [call for call in reading.trace.calls if _makes_optimizer(call)]
        ours = [call for call in made if not _ASIDE.search(call.target)] or made
        found = [each for call in ours for each in _made(call)]
    for field in ("optimizer", "learning_rate"):
        yield from agreed(each for each in found if each.field == field)


def fitted(reading: Reading) -> Iterator[Claim]:
    """Of several fits the last, longest one: the first ones warm up a frozen model."""
    fits = [call for call in calls_of(reading, "fit", "fit_generator") if _fits(reading, call)]
    sure = [call for call in fits if call.certain] or fits
    for call in sorted(sure, key=lambda each: number_of(each.argument("epochs")) or 0)[-1:]:
        place = None if last_name(call.callee) == "fit_generator" else 3
        yield from claim("epochs", call.argument("epochs", place), call)
        given = call.argument("batch_size", place and place - 1)
        if given is None or given.data is None:
            given = batch_of(call.argument("x", 0) or call.argument("generator"))
        yield from claim("batch_size", share(given, reading), call)


def callbacks(reading: Reading) -> Iterator[Claim]:
    for call in reading.trace.calls:
        if not is_of(call.callee, *LIBRARIES):
            continue
        match last_name(call.callee):
            case "EarlyStopping" if _is_used(reading, call):
                yield from implied_claim("early_stopping", True, call)
            case "ModelCheckpoint":
                yield from claim("checkpoint_dir", _directory(call.argument("filepath", 0)), call)
                every = call.argument("save_freq")
                if number_of(every) is not None:
                    yield from claim("checkpoint_every", every, call)
                elif text_of(every) == "epoch" or (every is None and _saves_all(call)):
                    yield from implied_claim("checkpoint_every", 1, call, confidence=0.8)
            case "BackupAndRestore":
                yield from claim("checkpoint_dir", call.argument("backup_dir", 0), call)
                yield from implied_claim("resumes", True, call)
            case "CSVLogger":
                yield from claim("log_files", call.argument("filename", 0), call)


def _is_used(reading: Reading, callback: Call) -> bool:
    """False where every `fit` is given a list of others."""
    fits = [call for call in calls_of(reading, "fit", "fit_generator") if _fits(reading, call)]
    given = [call.argument("callbacks") for call in fits]
    lists = [each.data for each in given if each is not None and isinstance(each.data, Sequence)]
    if not lists or len(lists) < len(given) or not all(each.complete for each in lists):
        return True
    given_to = [item.data for each in lists for item in each.items]
    known = all(isinstance(data, (LibraryObject, Table)) for data in given_to)
    return not known or any(
        isinstance(data, LibraryObject) and data.call is callback for data in given_to
    )


def _saves_all(call: Call) -> bool:
    """Whether every epoch is saved, not only one that is better."""
    return "save_best_only" not in call.keywords and "period" not in call.keywords


def policies(reading: Reading) -> Iterator[Claim]:
    """`set_global_policy("mixed_float16")`, also with the policy as an object."""
    for call in calls_of(reading, *_SETS_POLICY):
        if is_of(call.callee, *LIBRARIES):
            yield from _policy(call.positional[0] if call.positional else None, call)


def _policy(value: Value | None, call: Call) -> Iterator[Claim]:
    if value is not None and isinstance(value.data, LibraryObject):
        value = value.data.call.argument("name", 0)
    name = _POLICIES.get(text_of(value) or "")
    if value is not None and name is not None:
        yield from claim("precision", Value(name, value.lines, value.source), call)


def _is_keras(call: Call) -> bool:
    if is_of(call.callee, *LIBRARIES) or call.callee.startswith("transformers.TF"):
        return True
    return call.callee.startswith("?.") and bool(call.keywords.keys() & {"loss", "metrics"})


def _fits(reading: Reading, call: Call) -> bool:
    if call.callee.startswith("?."):
        near = any(is_of(each.name, *LIBRARIES) for each in reading.trace.imports)
        return near and bool(call.keywords.keys() & {"epochs", "batch_size", "steps_per_epoch"})
    return is_of(call.callee, *LIBRARIES) or call.callee.startswith("transformers.TF")


def _makes_optimizer(call: Call) -> bool:
    return is_of(call.callee, *LIBRARIES) and last_name(call.callee) in _OPTIMIZERS


def _optimizer(value: Value | None, call: Call) -> Iterator[Claim]:
    """A name, or what was made, out of whatever wraps it."""
    for _ in range(_DEEP):
        if value is None or not isinstance(value.data, LibraryObject):
            break
        made = value.data.call
        if last_name(made.callee) not in _WRAPPERS and not is_of(made.callee, "horovod"):
            if _makes_optimizer(made):
                yield from _made(made)
            return
        value = made.argument("optimizer", 0) or made.argument("inner_optimizer")
    name = text_of(value)
    if value is not None and name is not None:
        yield from claim("optimizer", Value(name.lower(), value.lines, value.source), call)


def _made(call: Call) -> Iterator[Claim]:
    name = last_name(call.callee).lower()
    name = _CALLED.get(name, name.removesuffix("optimizer"))
    yield from implied_claim("optimizer", name, call)
    rate = call.argument("learning_rate", 0) or call.argument("lr")
    yield from claim("learning_rate", first_rate(rate), call)


def first_rate(rate: Value | None) -> Value | None:
    """Of a schedule the rate that it starts to decay from."""
    if rate is None or not isinstance(rate.data, LibraryObject):
        return rate
    call = rate.data.call
    if "warmup_target" in call.keywords:
        return call.keywords["warmup_target"]
    if last_name(call.callee).startswith("PiecewiseConstant"):
        return first_of(call.argument("values", 1))
    return call.argument("initial_learning_rate", 0)


def _directory(path: Value | None) -> Value | None:
    """Of a file's pattern the folder; a bare file name says of none."""
    text = text_of(path)
    if path is None or not text:
        return None
    if _FILE.search(text):
        parent = str(PurePosixPath(text).parent)
        text = "" if parent == "." or _FILE.search(parent) else parent
    return Value(text, path.lines, path.source) if text else None


FRAMEWORK = Framework(readers=(compiled, fitted, callbacks, policies, keras_models, keras_datasets))
