"""Data that a job reads by itself: the paths its own data sets and tables are read from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import claim, items_of, last_name, text_of
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Instance
from schedmate.advisor.interpret.python.values import Call, LibraryObject, LocalClass, Table, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.dataset_names import begins_famously, dataset_name, is_famous
from schedmate.advisor.sources.words import words

_BASES = (
    "Dataset",
    "IterableDataset",
    "LightningDataModule",
    "VisionDataset",
    "InMemoryDataset",
    "utils.Sequence",
    "PyDataset",
    "IterDataPipe",
)
_NAMED_SO = re.compile(r"(?:Dataset|DataModule|DataSet|Shards|Corpus)$")
_SUFFIX = re.compile(r"(?:Data(?:set|Set|Module|Loader)?|Corpus)$")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLAIN = words(
    "my custom image images text base simple toy random synthetic dummy fake token tokens mem "
    "map memory mapped train training sequence folder list concat sub set transform lm "
    "segmentation classification detection graph node pair pairs paired audio video file "
    "files csv json jsonl line by data block chat instruction prompt supervised sft dpo chunk "
    "packed window windowed time series lit torch basic generic batch cached lazy streaming "
    "iterable array numpy tensor mask masks caption tokenized translation language model "
    "causal chunked in h5 hdf5 lmdb pickle single multi multiple patch point cloud user item "
    "rating ratings sentence sentences experience replay rollout buffer char character byte "
    "word preference reward contrastive mlm module general default triplet web mel "
    "spectrogram spec wav waveform speech trajectory trajectories transition transitions "
    "rollouts sample samples"
)
_OTHER = re.compile(r"(?:^|_)(?:val|valid|validation|test|eval|dev|predict)", re.IGNORECASE)
_SPLITS = ("split", "phase", "mode", "subset", "partition")
_PATHLIKE = re.compile(
    r"root|dir|path|folder|file|data|corpus|shard|source|manifest", re.IGNORECASE
)
_TABLES = re.compile(
    r"^(?:pandas|polars|cudf|dask\.dataframe)\.(?:read|scan)_(?:csv|parquet|feather|table|json|hdf|"
    r"excel|ipc)$|^numpy\.(?:loadtxt|genfromtxt|memmap|fromfile)$|^h5py\.File$"
    r"|^pyarrow\.parquet\.(?:read_table|ParquetFile)$|^xgboost\.DMatrix$|^lightgbm\.Dataset$"
)
_KEPT = re.compile(
    r"^numpy\.load$|^(?:c?[pP]ickle|joblib|torch)\.load$|^pandas\.read_pickle$|(?:^|\.)connect$|^open$"
)
_KEPT_FILE = re.compile(
    r"(?:train|data)[^/]{0,80}\.(?:npz|npy|pkl|pickle|joblib|pth?|txt)$|\.(?:db|lmdb|mdb)$",
    re.IGNORECASE,
)
_DATA_FILE = re.compile(r"\.(?:csv|tsv|jsonl|parquet|feather|h5|hdf5|libsvm|svm)(?:\.gz)?$")
_OF_A_SPLIT = re.compile(r"[/\\]train(?:ing)?(?![a-zA-Z])[^/\\]{0,80}$", re.IGNORECASE)
"""`train_0_F.csv` is a part of what its folder is named after."""
_OPENS = ("open", "builtins.open", "io.open", "gzip.open", "bz2.open")
_ENDING = re.compile(r"(?<=\w)\.[A-Za-z]\w{0,8}$")
_LONGEST = 1000
_MOST_PARTS = 200
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]{2,11}")
_KINDS_OF_DATA = _PLAIN | words("rna dna ecg eeg mri rgb hdr ocr asr tts nlp llm vqa irm")


def own_datasets(reading: Reading) -> Iterator[Claim]:
    """Not certain, so that any setting that names the data wins."""
    sets = [each for each in reading.trace.instances if _is_set(each.of) and _may_run(each)]
    training = [each for each in sets if not _is_for_others(each)]
    kinds = (
        _by_famous_class(training),
        _by_path(training, reading.root),
        _tables(reading),
        _by_class(training),
        _kept(reading),
    )
    found = (each for kind in kinds for each in kind)
    first = next(found, None)
    if first is not None:
        yield first


def _may_run(instance: Instance) -> bool:
    """A class that a file makes which the job only imports is that of another program."""
    return instance.depth == 0 or instance.reached > Reached.UNCALLED


def _is_set(cls: LocalClass) -> bool:
    return cls.inherits(*_BASES) or bool(_NAMED_SO.search(cls.name))


def _is_for_others(instance: Instance) -> bool:
    splits = [text_of(instance.arguments.get(name)) or "" for name in _SPLITS]
    return any(_OTHER.match(split) for split in splits) or bool(_OTHER.search(instance.target))


def _by_path(instances: list[Instance], root: str) -> Iterator[Claim]:
    for each in instances:
        for name, value in _stated_in(each):
            text = text_of(value) if isinstance(value.data, str) else None
            if text is None or not ("/" in text or _PATHLIKE.search(name)) or len(text) > _LONGEST:
                continue
            known = dataset_name(_without_ending(text.removeprefix(root)))
            if known is not None and known != text.strip():
                stated = Value(known, (*value.lines, each.line), value.source)
                yield from claim("dataset", stated, each, confidence=0.7, certain=False)


def _stated_in(instance: Instance) -> Iterator[tuple[str, Value]]:
    """Its arguments; of a config that it gets the paths in that."""
    yield from instance.arguments.items()
    for value in instance.arguments.values():
        if isinstance(value.data, Table) and value.data.of is None:
            inner = list(value.data.parts.items())[:_MOST_PARTS]
            yield from ((name, each) for name, part in inner for each in items_of(part)[:1])


def _without_ending(path: str) -> str:
    """`cora/cora.content` is a file like any other."""
    return _ENDING.sub("", path.strip())


def _by_famous_class(instances: list[Instance]) -> Iterator[Claim]:
    """`CIFAR10Dataset`, `MINDDataset`: a name that people know, or one in capitals."""
    for each in instances:
        name = _SUFFIX.sub("", last_name(each.of.name))
        if (
            is_famous(name)
            or begins_famously(name)
            or (_CAPITALS.fullmatch(name) and name.lower() not in _KINDS_OF_DATA)
        ):
            yield from _called(name, each)


def _by_class(instances: list[Instance]) -> Iterator[Claim]:
    for each in instances:
        name = last_name(each.of.name)
        if not {word.lower() for word in _WORDS.findall(_SUFFIX.sub("", name))} <= _PLAIN:
            yield from _called(name, each)


def _called(name: str, instance: Instance) -> Iterator[Claim]:
    lines = tuple(dict.fromkeys((instance.line, *instance.named)))
    yield from claim("dataset", Value(name, lines), instance, confidence=0.6, certain=False)


def _tables(reading: Reading) -> Iterator[Claim]:
    for call in reading.trace.calls:
        if _TABLES.search(call.callee) and call.positional and not _OTHER.search(call.target):
            yield from (
                () if _writes(call) else _table(call, _opened(call.positional[0]), reading.root)
            )


def _kept(reading: Reading) -> Iterator[Claim]:
    """Arrays and objects that were kept in files, where those are called after data."""
    for call in reading.trace.calls:
        if _KEPT.search(call.callee) and call.positional and not _OTHER.search(call.target):
            path = _opened(call.positional[0])
            if _KEPT_FILE.search(text_of(path) or "") and not _writes(call):
                yield from _table(call, path, reading.root)


def _opened(value: Value) -> Value:
    """Of `open(path)` the path."""
    data = value.data
    if isinstance(data, LibraryObject) and data.kind in _OPENS and data.call.positional:
        return data.call.positional[0]
    return value


def _writes(call: Call) -> bool:
    mode = text_of(call.argument("mode", 1)) or text_of(call.keywords.get("mode")) or "r"
    return mode[:1] in ("w", "a", "x")


def _table(call: Call, path: Value, root: str) -> Iterator[Claim]:
    """A file whose name tells nothing goes by its path."""
    text = path.data.removeprefix(root) if isinstance(path.data, str) else None
    if text is None or len(text) > _LONGEST or _OTHER.search(PurePosixPath(text).stem):
        return
    whole = text if _DATA_FILE.search(text) or _KEPT_FILE.search(text) else None
    known = dataset_name(_without_ending(_OF_A_SPLIT.sub("", text))) or whole
    if known is not None and not set(known) & set("{}$*~"):
        stated = Value(known, (*path.lines, call.line), path.source)
        yield from claim("dataset", stated, call, confidence=0.6, certain=False)
