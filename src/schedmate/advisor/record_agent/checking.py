"""Whether what a model says about a field is stated where it says: quotes, sums, bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from schedmate.advisor.agent.grounding import numbers_in, stands_in, without_comment
from schedmate.advisor.record_agent.arithmetic import evaluate
from schedmate.advisor.record_agent.diff import Change
from schedmate.advisor.settle.meanings import Meaningless, meaning
from schedmate.advisor.sources.files import evidence
from schedmate.advisor.sources.words import words
from schedmate.agents import Quote, found_at
from schedmate.model import Evidence
from schedmate.model.legible import legible

COMMAND: Final = "<command>"
_BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "model_parameters": (1, 1e14),
    "d_model": (1, 1e6),
    "n_layer": (1, 1e4),
    "n_head": (1, 1e4),
    "vocab_size": (1, 1e8),
    "sequence_length": (1, 1e8),
    "batch_size": (1, 1e7),
    "gradient_accumulation": (1, 1e5),
    "epochs": (1e-6, 1e7),
    "max_steps": (1, 1e13),
    "learning_rate": (1e-12, 1e4),
    "nodes": (1, 1e5),
    "gpus": (1, 1e6),
    "checkpoint_every": (1, 1e12),
    "max_time_s": (1, 1e8),
}
_JUDGED: Final = frozenset({"task", "framework", "precision", "parallelism"})
"""Words of our own for what the quoted lines show."""
_TRUTHS: Final = frozenset({"resumes", "early_stopping"})
_TASKS: Final = words(
    "image_classification object_detection segmentation language_modeling sequence_classification "
    "translation summarization speech gan diffusion reinforcement_learning recommendation graph "
    "tabular evaluation inference preprocessing other"
)
_LONGEST_TEXT: Final = 200
_WORD: Final = re.compile(r"[a-z][a-z0-9_.-]{1,40}")
_DIGITS: Final = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_LETTERS: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """A change that is stated where it says; `value` None takes the field's value away.

    `in_use`: a quote is on the command line or in a file that the job uses.
    """

    field: str
    value: Any
    evidence: tuple[Evidence, ...]
    in_use: bool


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """A line that was quoted to the letter, and all of its code."""

    at: Evidence
    code: str


@dataclass(frozen=True, slots=True)
class QuoteChecker:
    """`lines_of` opens a file as its owner may; `is_used` knows the files that the job uses."""

    lines_of: Callable[[str], Sequence[str] | None]
    is_used: Callable[[str], bool]

    def check(self, change: Change) -> Checked | None:
        """None where no line states it."""
        if change.do == "keep":
            return None
        found = [line for quote in change.quotes if (line := self.find(quote)) is not None]
        if not found:
            return None
        value = None
        if change.do != "null":
            value = _grounded(change, [line.code for line in found])
            if value is None:
                return None
        lines = tuple(dict.fromkeys(line.at for line in found))
        in_use = any(line.file == COMMAND or self.is_used(line.file) for line in lines)
        return Checked(change.field, value, lines, in_use)

    def find(self, quote: Quote) -> QuotedLine | None:
        """The line that has the quoted text, code and not comment."""
        name = quote.file if quote.file == COMMAND else str(PurePosixPath(quote.file))
        lines = self.lines_of(name)
        number = None if lines is None else found_at(quote.text, lines, quote.line)
        if lines is None or number is None:
            return None
        code = without_comment(lines[number - 1])
        if not code.strip() or _plain(quote.text)[:20] not in _plain(code):
            return None
        return QuotedLine(evidence(name, number, lines[number - 1]), code)


def _grounded(change: Change, lines: Sequence[str]) -> Any:
    """The value in normal form, if the lines state it and it is sane."""
    field, said = change.field, change.value
    if field in _TRUTHS:
        return said if isinstance(said, bool) else None
    if field in _BOUNDS:
        return _number(field, said, change.expression, lines)
    text = legible(str(said)).strip() if said is not None else ""
    if not 0 < len(text) <= _LONGEST_TEXT:
        return None
    try:
        value = normal_text(field, text)
    except Meaningless:
        return None
    if field in _JUDGED:
        return value if _is_word_of(field, value) else None
    shown = text if not isinstance(value, tuple) else " ".join(value)
    return value if _is_written(shown, lines) else None


def normal_text(field: str, text: str) -> Any:
    """As the record has it, or raise `Meaningless`; of several files each."""
    if field == "log_files":
        return tuple(part for each in text.split(",") if (part := each.strip()))
    return text if field == "entry_point" else meaning(field, field, text)


def _is_word_of(field: str, value: str) -> bool:
    return value in _TASKS if field == "task" else _WORD.fullmatch(value) is not None


def _number(field: str, said: Any, expression: str, lines: Sequence[str]) -> float | None:
    try:
        number = float(said) if not isinstance(said, bool) else None
    except (TypeError, ValueError):
        number = None
    if expression:
        number = evaluate(expression, [each for code in lines for each in _digits(code)])
    elif number is None or not any(stands_in(number, code) for code in lines):
        return None
    least, most = _BOUNDS[field]
    if number is None or not least <= number <= most:
        return None
    if field == "max_time_s":
        return float(number)
    try:
        value: float = meaning(field, field, number)
    except Meaningless:
        return None
    return value


def _digits(code: str) -> Iterator[float]:
    """Its numbers, those inside of names too: `Llama-2-7b`."""
    yield from numbers_in(code)
    yield from (float(found) for found in _DIGITS.findall(code))


def _is_written(text: str, lines: Sequence[str]) -> bool:
    """Each part of a path or name stands in one of the lines, whatever its case and punctuation."""
    code = " ".join(map(_plain, lines))
    parts = [_plain(part) for part in re.split(r"[/\s,]", text)]
    wanted = [part for part in parts if part]
    return bool(wanted) and all(part in code for part in wanted)


def _plain(text: str) -> str:
    return _LETTERS.sub("", text.lower())
