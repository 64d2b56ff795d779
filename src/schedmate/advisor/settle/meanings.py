"""What a value means for a field of the record: `torch.bfloat16` is `bf16`, `-1` no length."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from schedmate.advisor.settle.dataset_names import dataset_name
from schedmate.advisor.settle.model_names import model_name
from schedmate.advisor.settle.time_caps import cap_name, cap_seconds
from schedmate.advisor.sources.words import words

_SAVED = {
    *(".pt", ".pth", ".ckpt", ".chk", ".tar", ".bin", ".h5", ".hdf5", ".keras", ".pkl"),
    *(".safetensors", ".model", ".npz", ".msgpack", ".th"),
}
_PATHS = words(
    "data data_dir data_path dataset_path data_root dataset_dir train_dir datasets corpus "
    "train_data train_data_path train_data_dir training_data data_prefix dataset_root "
    "train_file train_files data_file data_files train_path path root dir csv_file train_csv "
    "csv_path train_csv_path data_csv train_json train_list"
)
_TASKS_OF_A_KIND = words(
    "cola sst2 sst-2 mrpc stsb sts-b qqp mnli mnli-mm qnli rte wnli ax boolq cb copa multirc "
    "record wic wsc axb axg imdb yelp squad ag_news agnews conll2003 xnli paws-x snli glue "
    "superglue race"
)
"""Of suites in which the task is the data."""
_SHARE = re.compile(r"[\d.]{1,20}")
_NOTHING = {"none", "null", "", "nan"}
_FALSE = {"false", "0", "no", "off", "f", "n", *_NOTHING}
_PRECISIONS = {
    "fp32": "32 32-true fp32 float32 float no full",
    "tf32": "tf32",
    "fp16": "16 16-mixed 16-true fp16 float16 half",
    "bf16": "bf16 bf16-mixed bf16-true bfloat16",
    "fp8": "fp8 float8 transformer-engine",
    "int8": "int8",
    "int4": "int4",
}
_PRECISION_OF = {word: name for name, words in _PRECISIONS.items() for word in words.split()}
_COUNTED = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)(ep|ba)")
_OPTIMIZERS = {"adamw_torch": "adamw", "adamw_hf": "adamw", "adamw_torch_fused": "adamw"}


class Meaningless(ValueError):
    """The value says nothing about the field."""


def meaning(field: str, name: str, value: Any) -> Any:
    """The value as the record has it, or raise `Meaningless`. `name` is what the job calls it."""
    return _MEANINGS[field](last_part(name), value)


def last_part(name: str) -> str:
    return re.split(r"[./]", name.strip("-+"))[-1].replace("-", "_").lower()


def in_plain_words(name: str, value: Any) -> tuple[str, Any]:
    """A length whose value says of what it is: `max_duration=10ep` are epochs."""
    counted = _COUNTED.fullmatch(value) if isinstance(value, str) else None
    if counted is None or last_part(name) != "max_duration":
        return name, value
    return ("epochs" if counted[2] == "ep" else "max_steps"), counted[1]


def _positive_float(_: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Meaningless
    try:
        number = float(str(value).replace("_", ""))
    except ValueError as error:
        raise Meaningless from error
    if not math.isfinite(number) or number <= 0:
        raise Meaningless
    return number


def _positive_int(name: str, value: Any) -> int:
    number = _positive_float(name, value)
    if number != int(number) or number > 2**62:
        raise Meaningless
    return int(number)


def _text(_: str, value: Any) -> str:
    if not isinstance(value, str) or value.strip().lower() in _NOTHING:
        raise Meaningless
    return value.strip()


def _dataset(name: str, value: Any) -> str:
    """Of several, with or without their shares, the first."""
    if isinstance(value, tuple):
        texts = (each for each in value if isinstance(each, str) and not _SHARE.fullmatch(each))
        value = next(texts, None)
    text = _text(name, value)
    if name == "task_name" and text.lower() not in _TASKS_OF_A_KIND:
        raise Meaningless
    if name not in _PATHS and not text.startswith(("/", "./", "../")):
        return text
    known = dataset_name(text)
    if known is None:
        raise Meaningless
    return known


def _model(name: str, value: Any) -> str:
    """Of a path the part that tells; `./model.pt` tells nothing."""
    known = model_name(_text(name, value))
    if known is None:
        raise Meaningless
    return known


def _directory(name: str, value: Any) -> str:
    """Of a file that is written the directory it lies in."""
    text = _text(name, value)
    path = PurePosixPath(text)
    if path.suffix.lower() in _SAVED and len(path.parts) > 1:
        return str(path.parent)
    return text


def _optimizer(name: str, value: Any) -> str:
    text = _text(name, value).lower().rpartition(".")[2]
    return _OPTIMIZERS.get(text, text)


def _truth(value: Any) -> bool:
    return bool(value) and str(value).strip().lower() not in _FALSE


def _resumes(name: str, value: Any) -> bool:
    """A setting that is off says so; what one that is on, or a path, does only the code says."""
    if name != "resumes" and _truth(value):
        raise Meaningless
    return _truth(value)


def _precision(name: str, value: Any) -> str:
    flag = name.removeprefix("use_")
    if flag in ("fp16", "bf16", "fp8", "tf32", "half", "amp"):
        if not _truth(value):
            raise Meaningless
        return {"half": "fp16", "amp": "fp16"}.get(flag, flag)
    try:
        return _PRECISION_OF[str(value).lower().removeprefix("torch.")]
    except KeyError as error:
        raise Meaningless from error


def _parallelism(name: str, value: Any) -> str:
    if name == "parallelism" and value == "none":
        return "none"
    if not _truth(value):
        raise Meaningless
    flag, text = name.removeprefix("use_"), str(value).lower()
    if flag in ("fsdp", "ddp", "horovod"):
        return flag
    zero = re.search(r"(?:deepspeed_stage_|zero_?|^)([123])(?:_offload)?$", text)
    if zero is not None:
        return f"zero{zero[1]}"
    known = re.match(r"fsdp|ddp|dp|horovod|tp|pp|3d|parameter_server", text)
    if known is None:
        raise Meaningless
    return known[0]


def _max_time(name: str, value: Any) -> float:
    named = cap_name(name)
    seconds = cap_seconds(value, None if named is None else named.unit_s)
    if seconds is None:
        raise Meaningless
    return seconds


def _early_stopping(_: str, value: Any) -> bool:
    """How patient it is, or whether at all; a metric's name says that it does."""
    try:
        return 0 < float(value) < math.inf
    except (TypeError, ValueError):
        return _truth(value)


def _log_files(name: str, value: Any) -> tuple[str, ...]:
    return (_text(name, value),)


_MEANINGS: dict[str, Callable[[str, Any], Any]] = {
    "framework": _text,
    "task": _text,
    "model": _model,
    "model_parameters": _positive_int,
    "dataset": _dataset,
    "d_model": _positive_int,
    "n_layer": _positive_int,
    "n_head": _positive_int,
    "vocab_size": _positive_int,
    "sequence_length": _positive_int,
    "batch_size": _positive_int,
    "gradient_accumulation": _positive_int,
    "epochs": _positive_float,
    "max_steps": _positive_int,
    "optimizer": _optimizer,
    "learning_rate": _positive_float,
    "nodes": _positive_int,
    "gpus": _positive_int,
    "precision": _precision,
    "parallelism": _parallelism,
    "checkpoint_dir": _directory,
    "checkpoint_every": _positive_int,
    "resumes": _resumes,
    "log_files": _log_files,
    "max_time_s": _max_time,
    "early_stopping": _early_stopping,
}
