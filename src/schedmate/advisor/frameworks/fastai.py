"""fastai: loaders by `bs`, lengths and rates by the learner's fit."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    claim,
    implied_claim,
    is_of,
    last_name,
    text_of,
)
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.interpret.python.values import Call, Dotted
from schedmate.advisor.settle.claim import Claim

_FITS = {
    "fit_one_cycle": ("n_epoch", "lr_max"),
    "fit": ("n_epoch", "lr"),
    "fine_tune": ("epochs", "base_lr"),
    "fit_flat_cos": ("n_epoch", "lr"),
}
_LEARNERS = ("cnn_learner", "vision_learner", "unet_learner", "Learner")


def fastai(reading: Reading) -> Iterator[Claim]:
    ours = [call for call in reading.trace.calls if is_of(call.callee, "fastai")]
    for call in ours:
        name = last_name(call.callee)
        if name in _FITS:
            length, rate = _FITS[name]
            yield from claim("epochs", call.argument(length, 0), call)
            yield from claim("learning_rate", call.argument(rate, 1), call)
        elif name in _LEARNERS:
            yield from _learner(call)
        elif "bs" in call.keywords:
            yield from claim("batch_size", call.keywords["bs"], call)
    for call in calls_of(reading, "to_fp16", "to_bf16"):
        if is_of(call.callee, "fastai"):
            yield from implied_claim("precision", last_name(call.callee).removeprefix("to_"), call)


def _learner(call: Call) -> Iterator[Claim]:
    arch = call.argument("arch", 1)
    if arch is not None and isinstance(arch.data, (Dotted, str)):
        yield from implied_claim("model", text_of(arch), call)
    yield from claim("optimizer", call.keywords.get("opt_func"), call)
    yield from claim("learning_rate", call.keywords.get("lr"), call, confidence=0.8)


FRAMEWORK = Framework(readers=(fastai,))
