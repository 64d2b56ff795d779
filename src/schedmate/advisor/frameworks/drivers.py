"""The library that drives the training loop: a Trainer that is called beats an import."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import is_of
from schedmate.advisor.interpret.python.trace import Imported
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Evidence


class _Driver(NamedTuple):
    framework: str
    packages: tuple[str, ...]
    calls: re.Pattern[str]


def _driver(framework: str, packages: str, calls: str) -> _Driver:
    return _Driver(framework, tuple(packages.split()), re.compile(calls))


_KERAS = r"(?:keras|tensorflow\.(?:python\.)?keras|tf_keras|keras_\w{1,20}|autokeras)"
_DRIVERS = (
    _driver(
        "lightning",
        "lightning pytorch_lightning lightning_fabric",
        r"^(?:lightning|pytorch_lightning|lightning_fabric)\..*\b(?:Trainer|Fabric|LightningCLI)\b",
    ),
    _driver(
        "transformers",
        "transformers trl sentence_transformers setfit optimum",
        r"^(?:transformers|trl|sentence_transformers|setfit|optimum|unsloth)\..*Trainer\b"
        r"|^sentence_transformers\.SentenceTransformer\.(?:.*\.)?fit$",
    ),
    _driver("ultralytics", "ultralytics", r"^ultralytics\."),
    _driver(
        "mmengine", "mmengine mmcv mmdet mmseg mmpretrain mmcls", r"^mm(?:engine|cv)\..*Runner"
    ),
    _driver("detectron2", "detectron2", r"^detectron2\.engine\."),
    _driver("fairseq", "fairseq fairseq2", r"^fairseq2?\."),
    _driver("fastai", "fastai", r"^fastai\..*[Ll]earner"),
    _driver("composer", "composer llmfoundry", r"^composer\..*Trainer"),
    _driver("stable_baselines3", "stable_baselines3 sb3_contrib", r"^(?:stable_baselines3|sb3_)"),
    _driver("rllib", "ray.rllib", r"^ray\.rllib\."),
    _driver("torchtune", "torchtune", r"^torchtune\."),
    _driver("torchtitan", "torchtitan", r"^torchtitan\."),
    _driver("colossalai", "colossalai", r"^colossalai\..*(?:Booster|launch|initialize)"),
    _driver("megatron", "megatron", r"^megatron\."),
    _driver("deepspeed", "deepspeed", r"^deepspeed\.(?:.*\.)?initialize$"),
    _driver("accelerate", "accelerate", r"^accelerate\.(?:.*\.)?Accelerator\b"),
    _driver("ignite", "ignite", r"^ignite\.engine\."),
    _driver(
        "keras",
        "keras tf_keras keras_core keras_hub keras_nlp keras_cv tensorflow.keras",
        rf"^{_KERAS}\..*\.(?:fit|fit_generator|train_on_batch)$"
        r"|^transformers\.TF.*\.fit$|^autokeras\..*\.fit$",
    ),
    _driver(
        "tensorflow",
        "tensorflow",
        r"^tensorflow\..*\b(?:GradientTape|Session|MonitoredTrainingSession|Estimator"
        r"|train_and_evaluate|\w{0,40}Optimizer)\b",
    ),
    _driver("flax", "flax", r"^flax\."),
    _driver("jax", "jax optax haiku equinox", r"^jax\.(?:grad|value_and_grad|pmap|jit)\b|^optax\."),
    _driver("pytorch", "torch", r"^torch\.(?:optim|autograd)\.|\.backward$"),
    _driver("paddle", "paddle", r"^paddle\."),
    _driver("mindspore", "mindspore", r"^mindspore\."),
    _driver("mxnet", "mxnet", r"^mxnet\."),
    _driver("xgboost", "xgboost", r"^xgboost\.(?:.*\.)?(?:train|cv|fit|XGB\w+)$"),
    _driver("lightgbm", "lightgbm", r"^lightgbm\.(?:.*\.)?(?:train|cv|fit|LGBM\w+)$"),
    _driver("catboost", "catboost", r"^catboost\."),
    _driver("vllm", "vllm", r"^vllm\."),
)
"""Who comes first drives the ones after it."""
_SKLEARN = _driver("sklearn", "sklearn", r"^sklearn\..*\.(?:fit|partial_fit|fit_predict)$")
"""Helps all the others, so it drives only what none of them is even imported for."""
_OWN_TREES = frozenset({"megatron", "fairseq", "torchtitan", "torchtune", "detectron2"})
"""Frameworks whose jobs are often started from a checkout of their own."""
_IMPORTED_BESIDE = frozenset({"accelerate", "deepspeed"})
"""Imported for one helper as often as for their loop."""
_BY_CALL, _BY_UNSURE_CALL, _BY_IMPORT = 0.95, 0.8, 0.7


def frameworks(reading: Reading) -> Iterator[Claim]:
    """By calls that surely happen, else by calls that may, else by what is imported."""
    calls = reading.trace.calls
    sure = [call for call in calls if call.certain]
    found = (
        _own_tree(reading, sure)
        or _by_call(reading, _DRIVERS, sure, _BY_CALL)
        or _by_call(reading, _DRIVERS, calls, _BY_UNSURE_CALL)
        or _by_import(reading)
        or _by_call(reading, (_SKLEARN,), calls, _BY_UNSURE_CALL)
    )
    if found is not None:
        yield found


def _own_tree(reading: Reading, calls: Sequence[Call]) -> Claim | None:
    for call in calls:
        for part in PurePosixPath(call.line.file).parts[:2]:
            if part in _OWN_TREES:
                imports = [each for each in reading.trace.own_imports if is_of(each.name, part)]
                nearest = min(imports, key=lambda each: each.depth, default=None)
                lines = (call.line,) if nearest is None else (nearest.line, call.line)
                return _said(part, lines, 0.9)
    return None


def _by_call(
    reading: Reading, drivers: Sequence[_Driver], calls: Sequence[Call], confidence: float
) -> Claim | None:
    first: dict[str, Call] = {}
    for call in calls:
        first.setdefault(call.callee, call)
    for driver in drivers:
        for call in first.values():
            if not driver.calls.search(call.callee) and not _fits_unseen(reading, driver, call):
                continue
            imported = _import_of(reading, driver, call)
            if imported is not None:
                return _said(driver.framework, (imported.line, call.line), confidence)
            if is_of(call.callee, *driver.packages):
                return _said(driver.framework, (call.line,), confidence)
    return None


def _fits_unseen(reading: Reading, driver: _Driver, call: Call) -> bool:
    """`model.fit(…, epochs=3)` of a model that nobody saw being built, where Keras is at hand."""
    return (
        driver.framework == "keras"
        and call.callee in ("?.fit", "?.fit_generator")
        and "epochs" in call.keywords
        and any(is_of(each.name, "keras", "tensorflow") for each in reading.trace.imports)
    )


def _by_import(reading: Reading) -> Claim | None:
    """Of the nearest file that imports one at all; a file that only helps does not decide."""
    for depth in sorted({each.depth for each in reading.trace.imports}):
        near = [each for each in reading.trace.imports if each.depth == depth]
        for driver in _DRIVERS:
            found = next((each for each in near if is_of(each.name, *driver.packages)), None)
            if found is not None and driver.framework not in _IMPORTED_BESIDE:
                return _said(driver.framework, (found.line,), _BY_IMPORT)
    return None


def _import_of(reading: Reading, driver: _Driver, call: Call) -> Imported | None:
    """The nearest that names the framework, best what is called itself; else what it is of."""
    imports = reading.trace.imports
    naming = [each for each in imports if is_of(each.name, *driver.packages)]
    called = [each for each in naming if is_of(call.callee, each.name)]
    top = call.callee.partition(".")[0]
    found = called or naming or [each for each in imports if is_of(each.name, top)]
    return min(found, key=lambda each: each.depth, default=None)


def _said(framework: str, lines: tuple[Evidence, ...], confidence: float) -> Claim:
    return Claim(field="framework", value=Value(framework, lines), confidence=confidence)
