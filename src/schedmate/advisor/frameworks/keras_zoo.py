"""Models and data sets that Keras and TensorFlow bring along."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    agreed,
    claim,
    implied_claim,
    is_of,
    last_name,
    text_of,
)
from schedmate.advisor.frameworks.own_models import own_networks
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.dataset_names import dataset_name

_APPLICATION = re.compile(
    r"^(?:keras|tensorflow\.(?:python\.)?keras|tf_keras|keras_core)\.(?:src\.)?applications"
    r"\.(?:\w+\.)?([A-Z]\w+)$"
)
_BUILT_IN = re.compile(r"(?:keras|tf_keras)\.datasets\.(\w+)\.load_data$")
_HUBS = ("keras_hub", "keras_nlp", "keras_cv")
_NO_MODELS = re.compile(r"Tokenizer|Preprocessor|Converter|Packer")
_TF_HUB = re.compile(r"tfhub\.dev/(?:[\w.-]+/)?([\w.-]+?)(?:/\d+)?$")
_TUTORIAL = "tensorflow.examples.tutorials.mnist"
_LIBRARY_SETS = re.compile(r"^sklearn\.datasets\.(?:load|fetch)_(\w+)$")
_MADE_UP = frozenset({"files", "svmlight_file", "svmlight_files", "openml"})


def keras_models(reading: Reading) -> Iterator[Claim]:
    """One that is but a part of a class of the job's own gives way to that."""
    own = any(True for _ in own_networks(reading))
    yield from agreed(
        each
        for call in reading.trace.calls
        if not own or call.target == "model"
        for each in _model(call)
    )


def keras_datasets(reading: Reading) -> Iterator[Claim]:
    """Of several, as for a test on another one, none."""
    yield from agreed(each for call in reading.trace.calls for each in _dataset(call))


def _model(call: Call) -> Iterator[Claim]:
    application = _APPLICATION.match(call.callee)
    if application is not None:
        yield from implied_claim("model", application[1], call)
    elif call.callee.endswith(".from_preset") and is_of(call.callee, *_HUBS):
        if not _NO_MODELS.search(call.callee):
            yield from claim("model", call.argument("preset", 0), call)
    elif call.callee in ("tensorflow_hub.KerasLayer", "tensorflow_hub.load"):
        handle = call.positional[0] if call.positional else call.argument("handle")
        known = _TF_HUB.search((text_of(handle) or "")[:300])
        if handle is not None and known is not None:
            yield from claim("model", Value(known[1], handle.lines, handle.source), call)


def _dataset(call: Call) -> Iterator[Claim]:
    built_in = _BUILT_IN.search(call.callee) or _LIBRARY_SETS.match(call.callee)
    if built_in is not None and built_in[1] not in _MADE_UP:
        yield from implied_claim("dataset", built_in[1], call)
    elif is_of(call.callee, _TUTORIAL) and call.callee.endswith(".read_data_sets"):
        yield from implied_claim("dataset", "mnist", call)
    elif is_of(call.callee, "tensorflow_datasets") and last_name(call.callee) in (
        "load",
        "builder",
        "data_source",
    ):
        name = call.argument("name", 0)
        known = dataset_name(text_of(name) or "")
        if name is not None and known is not None:
            yield from claim("dataset", Value(known, name.lines, name.source), call)
