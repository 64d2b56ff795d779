"""Batches of PyTorch: of all the loaders, the one that the training draws from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    claim,
    derived,
    is_of,
    kind_of,
    last_name,
    number_of,
    part_of,
    parts_of,
    runs,
    text_of,
    truth_of,
)
from schedmate.advisor.frameworks.parallelism import split_over
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Table, Value
from schedmate.advisor.settle.claim import Claim, Kind
from schedmate.advisor.settle.vocabulary import field_of

_LOADERS = (
    "DataLoader",
    "StatefulDataLoader",
    "MultiEpochsDataLoader",
    "InfiniteDataLoader",
    "WebLoader",
    "NeighborLoader",
    "DataListLoader",
    "BucketIterator",
    "create_loader",
    "MultiprocessingDataLoader",
)
_ELSEWHERE = ("paddle", "tensorflow", "keras", "jax", "mxnet", "mindspore", "oneflow")
_TRAINING = re.compile(r"(?:^|[^a-z])(?:train|trn|tr|source)|training|Train|finetune")
_OTHER = re.compile(
    r"(?:^|[^a-z])(?:val|valid|test|eval|dev|predict|infer|calib|query|gallery|sample|clean)"
    r"|Val|Test|Eval|Valid|Predict|Infer"
)
_MAX_DEEP = 4
_EPOCH = re.compile(r"(?:\w{0,20}_)?(?:epochs?|ep)(?:_\w{1,20})?", re.IGNORECASE)
_OF_ALL = ("global_batch_size", "global_batch", "total_batch_size", "effective_batch_size")
_BY_SHARE = 0.6
_DIVIDED = re.compile(r"\bbatch_?size\w{0,20}\]?\s?//?\s?\w|\b\w{0,20}batch\s?//?\s?\w")
"""A batch of which each process gets its share."""


def loader_batches(reading: Reading) -> Iterator[Claim]:
    """What the training's loader gets; nothing of loaders that only evaluate."""
    loaders = [call for call in calls_of(reading, *_LOADERS) if not is_of(call.callee, *_ELSEWHERE)]
    ranked = sorted(_of_one_training(reading, loaders), key=_trains, reverse=True)
    for call in ranked[:1]:
        value = _batch_size(call)
        rank = _trains(call)
        rivals = [each for each in ranked[1:] if _trains(each) == rank]
        alone = all(_data(each) == _data(call) for each in rivals)
        confidence = (0.95 if rank[0] > 0 else 0.85) if alone else 0.7
        if rank[0] >= 0:
            sure = runs(reading, call) and alone
            if number_of(value) == 1:
                value = _made_by_its_data(reading) or value
            value = _per_device(value, split_over(reading))
            unknown = _unknown_share(call)
            if unknown is not None and sure:
                yield Claim(field="batch_size", value=unknown, line=call.line)
            yield from claim("batch_size", value, call, confidence=confidence, certain=sure)


def _of_one_training(reading: Reading, loaders: list[Call]) -> list[Call]:
    """Where several functions train, the loaders of the first, whose length counts too."""
    homes = [
        loop.within
        for loop in reading.trace.loops
        if loop.certain and loop.kind == "for" and _EPOCH.fullmatch(loop.variable)
    ]
    own = [call for call in loaders if call.within == homes[0]] if len({*homes}) > 1 else []
    return own if homes and homes[0] and own else loaders


def global_batches(reading: Reading) -> Iterator[Claim]:
    """The share of each process in a batch that is stated for all of them, where no other batch
    is stated and nothing gathers gradients."""
    total = reading.processes.total
    named = {
        last_name(name.lstrip("-").replace("-", "_").lower()): value
        for name, value in reading.options.items()
    }
    whole = next((named[name] for name in _OF_ALL if number_of(named.get(name))), None)
    gathers = any(
        field[0] == "gradient_accumulation" and number_of(value) != 1
        for name, value in named.items()
        if (field := field_of(name)) is not None
    )
    if whole is None or total is None or gathers or total.number < 1:
        return
    share = _per_device(whole, Value(total.number, total.lines, "derived"))
    if share is not None and (share is not whole or total.number == 1):
        yield Claim(field="batch_size", value=share, kind=Kind.NAME, confidence=_BY_SHARE)


def _made_by_its_data(reading: Reading) -> Value | None:
    """The size that a data set of the job's own is made with, whose items are batches then."""
    sizes = (
        each.arguments[name]
        for each in reading.trace.instances
        if each.certain and "Data" in each.of.name and not _OTHER.search(each.target)
        for name in ("batch_size", "batchsize", "bs")
        if name in each.arguments
    )
    return next((value for value in sizes if (number_of(value) or 0) > 1), None)


def _per_device(batch: Value | None, devices: Value | None) -> Value | None:
    whole, shares = number_of(batch), number_of(devices)
    if batch is None or devices is None or not whole or not shares or whole % shares:
        return batch
    return derived(int(whole // shares), batch, devices)


def _unknown_share(call: Call) -> Value | None:
    """A batch that is divided by what is not known: then its setting is not what a loader gets."""
    given = call.argument("batch_size", 1)
    divided = given is not None and not given.known and _DIVIDED.search(call.line.text)
    return given if divided else None


def _data(call: Call) -> object:
    value = _batch_size(call)
    return None if value is None else value.data


def _batch_size(call: Call) -> Value | None:
    """Of the loader, else of the sampler that makes its batches."""
    given = call.argument("batch_size", 2 if "create_loader" in call.callee else 1)
    sampler = call.argument("batch_sampler")
    if sampler is not None and sampler.known and sampler.data is not None:
        inner = parts_of(sampler).get("batch_size")
        if inner is None and isinstance(sampler.data, LibraryObject):
            inner = sampler.data.call.argument("batch_size", 1)
        return inner
    made_of_batches = _of_batches(call) if number_of(given) in (None, 1) else None
    return made_of_batches or (given if number_of(given) is not None else _batched(call))


def _of_batches(call: Call) -> Value | None:
    """A dataset whose items are batches already: it got their size itself."""
    parts = parts_of(call.argument("dataset", 0))
    found = (parts[name] for name in ("batch_size", "batchsize", "bs") if name in parts)
    return next((value for value in found if (number_of(value) or 0) > 1), None)


def _batched(call: Call) -> Value | None:
    """`WebDataset(…).batched(64)` and the like, where the loader takes batches as they come."""
    found = call.argument("dataset", 0)
    for _ in range(_MAX_DEEP):
        if found is None or not isinstance(found.data, LibraryObject):
            return None
        made = found.data.call
        if last_name(made.callee) in ("batched", "batch"):
            return made.argument("batchsize", 0)
        found = made.receiver
    return None


def _trains(call: Call) -> tuple[int, bool, int]:
    """How likely a loader is the training's: by names, then by what only training does."""
    dataset = call.argument("dataset", 0)
    named = _leaning(call.target) * 4 + _leaning(last_name(call.within)) * 2
    named += _leaning(_dataset_words(dataset))
    if truth_of(call.argument("shuffle", 2)) is True or _has(call, "sampler", 3):
        named += 2
    if truth_of(call.argument("is_training")) is True or truth_of(call.argument("drop_last")):
        named += 1
    return named, call.certain, -call.depth


def _has(call: Call, name: str, place: int) -> bool:
    """A sampler that is given; one that only goes through in order is for evaluation."""
    value = call.argument(name, place)
    if value is None or not value.known or value.data is None:
        return False
    return "Sequential" not in kind_of(value) and truth_of(part_of(value, "shuffle")) is not False


def _dataset_words(dataset: Value | None) -> str:
    """Everything about a dataset that could tell what it is for."""
    data = None if dataset is None else dataset.data
    if isinstance(data, LibraryObject):
        words = [data.call.target, data.call.callee]
        train = data.call.keywords.get("train")
    elif isinstance(data, Table):
        words, train = [data.kind], data.parts.get("train")
    else:
        return ""
    words += [
        text_of(part_of(dataset, name)) or "" for name in ("split", "mode", "subset", "phase")
    ]
    if train is not None and train.known:
        words.append("train" if truth_of(train) else "test")
    return " ".join(words)


def _leaning(words: str) -> int:
    """1 for training, -1 for something else, 0 where names do not tell."""
    return bool(_TRAINING.search(words)) - bool(_OTHER.search(words))
