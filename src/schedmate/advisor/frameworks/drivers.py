"""The library that drives the training loop: a Trainer that is called beats an import."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, is_of
from schedmate.advisor.frameworks.index import SIGNS
from schedmate.advisor.frameworks.signs import Signs
from schedmate.advisor.interpret.python.trace import Imported
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Evidence

_DRIVERS = tuple(signs for signs in SIGNS if signs.drives and signs.name != "sklearn")
_SKLEARN = tuple(signs for signs in SIGNS if signs.name == "sklearn")
"""Helps all the others, so it drives only what none of them is even imported for."""
_OWN_TREES = frozenset(signs.name for signs in SIGNS if signs.own_tree)
_LEARNS = (
    *("backward", "fit", "Trainer.train", "TrainState.create", "apply_gradients", "learn"),
    *("train_on_batch", "minimize", "LightningCLI"),
)
_STEPS = re.compile(r"(?:optim|Scaler|accelerat).{0,60}\.step$", re.IGNORECASE)
_OPTIMISERS = (
    *("torch.optim", "optax", "flax.optim", "keras.optimizers", "tensorflow.keras.optimizers"),
    *("tf.keras.optimizers", "transformers.AdamW"),
)
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
        or _by_call(reading, _SKLEARN, calls, _BY_UNSURE_CALL)
    )
    if found is not None:
        lines = tuple(dict.fromkeys((*found.value.lines, *_training(reading))))
        yield replace(found, value=replace(found.value, lines=lines))


def _training(reading: Reading) -> Iterator[Evidence]:
    """The lines that learn, where a person would look for the loop: the gradients, the step of
    the optimiser, and where that is made."""
    steps = (call for call in calls_of(reading, "step") if _STEPS.search(call.callee))
    makes = (call for call in reading.trace.calls if _makes_optimiser(call))
    for kind in (calls_of(reading, *_LEARNS), steps, makes):
        yield from (call.line for call in sorted(kind, key=lambda call: -call.reached)[:1])


def _makes_optimiser(call: Call) -> bool:
    return call.callee.rpartition(".")[2][:1].isupper() and is_of(call.callee, *_OPTIMISERS)


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
    reading: Reading, drivers: Sequence[Signs], calls: Sequence[Call], confidence: float
) -> Claim | None:
    first: dict[str, Call] = {}
    for call in calls:
        first.setdefault(call.callee, call)
    for driver in drivers:
        for call in first.values():
            if not driver.driving.search(call.callee):
                continue
            imported = _import_of(reading, driver, call)
            if imported is not None:
                return _said(driver.name, (imported.line, call.line), confidence)
            if is_of(call.callee, *driver.imported_as):
                return _said(driver.name, (call.line,), confidence)
    return None


def _by_import(reading: Reading) -> Claim | None:
    """Of the nearest file that imports one at all; a file that only helps does not decide."""
    for depth in sorted({each.depth for each in reading.trace.imports}):
        near = [each for each in reading.trace.imports if each.depth == depth]
        for driver in _DRIVERS:
            found = next((each for each in near if is_of(each.name, *driver.imported_as)), None)
            if found is not None and not driver.helps:
                return _said(driver.name, (found.line,), _BY_IMPORT)
    return None


def _import_of(reading: Reading, driver: Signs, call: Call) -> Imported | None:
    """The nearest that names the framework, best what is called itself; else what it is of."""
    imports = reading.trace.imports
    naming = [each for each in imports if is_of(each.name, *driver.imported_as)]
    called = [each for each in naming if is_of(call.callee, each.name)]
    top = call.callee.partition(".")[0]
    found = called or naming or [each for each in imports if is_of(each.name, top)]
    return min(found, key=lambda each: each.depth, default=None)


def _said(framework: str, lines: tuple[Evidence, ...], confidence: float) -> Claim:
    return Claim(field="framework", value=Value(framework, lines), confidence=confidence)
