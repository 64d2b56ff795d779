"""What a program seems to be for, judged by its name and its first arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from schedmate.advisor.sources.words import words

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
TRAINS = words(
    "train trains trainer training pretrain pretraining finetune finetuning tune tuning fit "
    "sft dpo ppo grpo orpo kto rlhf lora qlora distill distillation learn learner optimize"
)
_PREPARES = words(
    "prepare prep preprocess preprocessing download convert conversion eval evaluate "
    "evaluation evaluator test tests testing check process plot report summarize summary "
    "tokenize tokenizer tokenization setup export merge infer inference predict prediction "
    "sample benchmark visualize cache split clean build install collect monitor upload sync "
    "serve server score metrics verify validate extract generate"
)
_HELPERS = re.compile(
    r"(?:^|/)setup\.py$|^-m (?:pip|venv|ensurepip|compileall|virtualenv|http\.server|json\.tool"
    r"|torch\.utils\.collect_env|site|zipfile|this|timeit|ipykernel)\b"
)
_TRAINING_FLAGS = frozenset(("--do_train", "--do-train", "--train", "--training"))
_EVALUATING_FLAGS = re.compile(
    r"--?(?:do[_-])?(?:eval|evaluate|test|validate|inference|predict)(?:[_-]only)?(?:=true)?|--only[_-]eval",
    re.IGNORECASE,
)
_NAMELESS = frozenset(("__main__", "main", "run", "cli", "__init__", "launch", "start"))

_MODES = frozenset(
    ("mode", "phase", "stage", "action", "job", "run_mode", "runmode", "do", "task_mode", "step")
)
_TRAINS_BY_CODE = re.compile(
    r"\.backward\(|\.fit\(|\.fit_one_cycle\(|optimizer\.step|Trainer\(|\.train\(\)|train_on_batch|"
    r"GradientTape|value_and_grad|jax\.grad|(?:xgb|xgboost|lgb|lightgbm)\.train\(|\.learn\(|"
    r"apply_gradients|TrainingArguments\(|\btrain(?:er)?\.(?:main|train|run)\("
)
_CAN_RUN = re.compile(
    r"__main__|ArgumentParser|sys\.argv|@hydra\.main|@click\.command|typer|fire\.Fire"
)

HELPER, PREPARATION, UNCLEAR, TRAINING = range(0, 8, 2)
"""Apart by two, so that there is room for doubt between them."""


def purpose_of(name: str, arguments: Sequence[str]) -> int:
    """The greater, the more it is about training."""
    if _HELPERS.search(name):
        return HELPER
    by_arguments = _by_arguments(arguments)
    words = _words(name)
    if TRAINS & words:
        return PREPARATION if by_arguments == PREPARATION else TRAINING
    if by_arguments is not None:
        return by_arguments
    return PREPARATION if _PREPARES & words else UNCLEAR


def trains(text: str) -> bool:
    """Whether a program's own code does what only training does."""
    return _TRAINS_BY_CODE.search(text) is not None


def can_run(text: str) -> bool:
    """Whether a Python file is written to be started, or just does things when it is."""
    return _CAN_RUN.search(text) is not None or trains(text)


def words_of(text: str) -> frozenset[str]:
    return (
        frozenset(word.lower() for word in _PARTS.findall(text)) if text.isascii() else frozenset()
    )


def _words(name: str) -> frozenset[str]:
    """Of `-m package.train_model` the words of the last part that says something."""
    parts = name.removeprefix("-m ").split(".") if name.startswith("-m ") else _path_parts(name)
    telling = next((part for part in reversed(parts) if part not in _NAMELESS), parts[-1])
    return frozenset(word.lower() for word in _PARTS.findall(telling))


def _path_parts(name: str) -> list[str]:
    path = PurePosixPath(name)
    return [*path.parts[-2:-1], path.stem]


def _by_arguments(arguments: Sequence[str]) -> int | None:
    """`tool train …`, `--do_train`, `--eval-only`."""
    if _TRAINING_FLAGS.intersection(arguments):
        return TRAINING
    if any(_EVALUATING_FLAGS.fullmatch(text) for text in arguments):
        return PREPARATION
    mode = _by_mode(arguments)
    if mode is not None:
        return mode
    first = arguments[0] if arguments else ""
    if first.startswith("-") or "/" in first or "." in first or "=" in first:
        return None
    return _by_words(words_of(first))


def _by_mode(arguments: Sequence[str]) -> int | None:
    """`--mode train`, `phase=test`: the last that says something."""
    found: int | None = None
    for index, text in enumerate(arguments):
        name, equals, value = text.partition("=")
        if name.lstrip("-").replace("-", "_").lower() in _MODES:
            given = value if equals else "".join(arguments[index + 1 : index + 2])
            meant = _by_words(words_of(given)) if given and not given.startswith("-") else None
            found = found if meant is None else meant
    return found


def _by_words(words: frozenset[str]) -> int | None:
    if TRAINS & words:
        return TRAINING
    return PREPARATION if _PREPARES & words else None
