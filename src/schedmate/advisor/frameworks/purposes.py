"""Jobs that train nothing: they evaluate, infer, or prepare data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, is_of, last_name, text_of, truth_of
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence

_TRAINS = words(
    "backward fit fit_generator fit_one_cycle train learn GradientTape value_and_grad grad "
    "minimize apply_gradients apply_gradient partial_fit train_on_batch train_step cv "
    "pretrain"
)
_MAKES_TOKENS = re.compile(
    r"^(?:tokenizers|sentencepiece|youtokentome|bpe)\b|Tokenizer|BPE|WordPiece|WordLevel|Unigram"
)
"""A tokenizer is fitted, not trained."""
_OPTIMISERS = ("torch.optim", "optax", "keras.optimizers", "tensorflow.keras.optimizers")
_TRAINER = re.compile(r"(?:^|[a-z.])Trainer(?:$|\.)|Runner$|deepspeed\.initialize")
_NAMES = (
    (
        "evaluation",
        re.compile(r"(?:^|_)(?:eval|evaluate|evaluation|test|validate|benchmark)(?:_|$)"),
    ),
    (
        "inference",
        re.compile(r"(?:^|_)(?:generate|sample|infer|inference|predict|serve|chat)(?:_|$)"),
    ),
    (
        "preprocessing",
        re.compile(
            r"(?:^|_)(?:prepare|prep|preprocess|preprocessing|tokeni[sz]e|download|convert|extract|"
            r"make_dataset|build_vocab|build_dataset|process_data|tokenization|featurize|"
            r"(?:create|make|build|generate|gen|process|split|filter|clean|convert|merge)_"
            r"(?:\w{1,20}_)?(?:h5|hdf5|lmdb|tfrecords?|csv|json)?_?(?:data|datasets?|features?|splits?|"
            r"corpus|vocab|graphs?|embeddings?|h5|hdf5|lmdb|tfrecords?))(?:_|$)"
        ),
    ),
)
_ANSWERING = ("vllm", "onnxruntime", "llama_cpp", "ctranslate2", "faster_whisper", "tensorrt_llm")
_ONLY_EVALUATES = words("evaluate eval_only test_only only_eval evaluate_only only_test just_test")
_MODES = words("mode phase run_mode action")
_OF_MODE = {
    "eval": "evaluation",
    "evaluate": "evaluation",
    "evaluation": "evaluation",
    "test": "evaluation",
    "val": "evaluation",
    "predict": "inference",
    "infer": "inference",
    "inference": "inference",
    "generate": "inference",
    "sample": "inference",
    "preprocess": "preprocessing",
}


def purpose(reading: Reading) -> Iterator[tuple[str, Evidence]]:
    """By a setting that keeps the job from training; by its name, where nothing in it trains."""
    yield from _by_setting(reading)
    if _is_read(reading) and not _trains(reading):
        yield from _served(reading)
        stem = PurePosixPath(reading.run.entry.name.replace(".", "/").removesuffix("/py")).name
        for task, pattern in _NAMES:
            if pattern.search(stem.lower().replace("-", "_")):
                yield from ((task, line) for line in reading.run.command.evidence[:1])


def _served(reading: Reading) -> Iterator[tuple[str, Evidence]]:
    """A library that can but answer."""
    for call in reading.trace.calls:
        if is_of(call.callee, *_ANSWERING):
            yield "inference", call.line
            return


def _by_setting(reading: Reading) -> Iterator[tuple[str, Evidence]]:
    options = {_plain(name): value for name, value in reading.options.items()}
    for name, value in options.items():
        if name in _ONLY_EVALUATES and value.data is True:
            yield from _at("evaluation", value)
        elif name in _MODES and (text_of(value) or "").lower() in _OF_MODE:
            yield from _at(_OF_MODE[(text_of(value) or "").lower()], value)
    yield from _by_command(reading)
    if truth_of(options.get("do_eval")) is True and not _surely_trains(reading, options):
        yield from _at("evaluation", options["do_eval"])


def _by_command(reading: Reading) -> Iterator[tuple[str, Evidence]]:
    """`tool.py eval …`, where that is one of the commands that the program has."""
    commands = {text_of(call.argument("name", 0)) for call in calls_of(reading, "add_parser")}
    for word in reading.run.arguments:
        if word.known and word.text in commands:
            if word.text in _OF_MODE:
                yield from ((_OF_MODE[word.text], line) for line in word.evidence[:1])
            return


def _surely_trains(reading: Reading, options: Mapping[str, Value]) -> bool:
    """Of scripts that train `if args.do_train`: whether that is set."""
    trains = truth_of(options.get("do_train"))
    if trains is not None:
        return trains
    return options["do_eval"].source not in ("cli", "script") or any(
        call.certain and last_name(call.callee) in _TRAINS for call in reading.trace.calls
    )


def _at(task: str, value: Value) -> Iterator[tuple[str, Evidence]]:
    yield from ((task, line) for line in value.lines[:1])


def _is_read(reading: Reading) -> bool:
    return bool(reading.trace.calls) and not reading.trace.exhausted


def _trains(reading: Reading) -> bool:
    return any(
        last_name(call.callee) in _TRAINS
        or is_of(call.callee, *_OPTIMISERS)
        or bool(_TRAINER.search(call.callee))
        for call in reading.trace.calls
        if not _MAKES_TOKENS.search(call.callee)
    )


def _plain(name: str) -> str:
    return last_name(name.lstrip("-").replace("-", "_").lower())
