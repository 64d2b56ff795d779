"""Counts in lines written for people: `Epoch [3/90]`, `step 100 of 5,000`, `12%`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import counted
from schedmate.tracker.formats.quantities import COUNT, count_of

Level = Literal["outer", "epoch", "step", "sample", "token"]
"""From the coarsest to the finest: folds hold epochs, epochs steps, steps samples."""

_BEFORE: dict[Level, str] = {
    "outer": "fold folds round rounds generation generations gen trial trials task tasks seed "
    "repeat runde раунд ラウンド",
    "epoch": "epoch epochs ep epoche epochen époque époques epoque época épocas epoca epocas epok "
    "epoka эпоха эпохи エポック 轮 轮次 에포크",
    "step": "global_step global_steps globalstep train_step training_step train_iter "
    "train_iteration training_iteration opt_step optimizer_step env_step env_steps step steps "
    "timestep timesteps iter iters iteration iterations itr itrs n_iter num_iter it update updates "
    "num_updates batch minibatch mini_batch episode episodes schritt schritte étape etape paso "
    "passo iteración iteração itération iterazione шаг итерация ステップ 步 迭代 스텝",
    "sample": "sample samples example examples image images samples_seen samples_processed "
    "examples_seen images_seen consumed_samples",
    "token": "token tokens tokens_seen tokens_processed consumed_tokens",
}
_AFTER: dict[Level, str] = {
    "outer": "folds rounds generations trials tasks",
    "epoch": "epochs epochen époques épocas epocas эпох 轮",
    "step": "steps timesteps iters iterations batches updates episodes schritte pasos шагов 步",
    "sample": "samples examples images",
    "token": "tokens",
}
_QUALIFIED: dict[str, tuple[Level, ...]] = {
    "global": ("step",),
    "train": ("step",),
    "training": ("step",),
    "opt": ("step",),
    "optimizer": ("step",),
    "env": ("step",),
    "consumed": ("sample", "token"),
}
"""Words that belong to the name of what is counted: `global step`, `consumed samples`."""
_PARTICIPLES = ("seen", "processed")
LETTERS: dict[str, Level] = {"e": "epoch", "s": "step", "i": "step", "b": "step"}
"""`E3 S100/500`: one letter names a count only beside another."""


def _by_word(words: dict[Level, str]) -> dict[str, Level]:
    return {word: level for level, names in words.items() for word in names.split()}


WORDS: dict[str, Level] = _by_word(_BEFORE)
NAMES: dict[str, Level] = WORDS | LETTERS
PLURALS: dict[str, Level] = _by_word(_AFTER)


def name_of(word: str, before: list[str]) -> tuple[Level, str, str] | None:
    """The level and whole name that a word and those before it give, and what stands before."""
    level = NAMES.get(word)
    last = before[-1] if before else ""
    earlier = before[-2] if len(before) > 1 else ""
    if level is not None:
        qualified = level in _QUALIFIED.get(last, ())
        return (level, f"{last} {word}", earlier) if qualified else (level, word, last)
    level = NAMES.get(last) if word in _PARTICIPLES else None
    return None if level not in ("sample", "token") else (level, f"{last} {word}", earlier)


_OF = (
    r"\s{0,20}(?:/|(?i:(?:out )?of|von|sur|de|di|из)(?=\s)"
    r"|(?:[轮步]\s{0,2})?[/,\uff0c]?\s{0,2}共)\s{0,20}"
)
_MAX = (
    r"\s{0,4}(?i:(?:[(\[]|--?)\s{0,4}(?:max(?:imum)?|at most|up to)|of max|[(\[](?:out )?of|\| of)"
    r"[\s:=]{1,4}"
    r"(?P<most>\d{1,12})(?=[)\]]|\s{0,2}(?:\||$)|[,;:] (?!min|avg|mean))"
)
"""`120 (max 5000)`, `120 (of 5000)`, `120 -- max: 5000`, `26 (at most 100)`, `40 | of 100`."""
_END = r"(?![\w/]|\.\w|-\d)"
_NAMED = lazy_pattern(
    r"(?<![\w/.-])(?:[Tt]rain(?:er|ing)?/|[Mm]ini-)?(?P<word>[^\W\d]{1,24})"
    rf"(?:\.(?=\s))?[\s:=#\[(<]{{0,20}}(?P<current>{COUNT})"
    rf"(?:{_OF}(?P<total>{COUNT}){_END}|{_END}(?!{_OF}\d)(?:{_MAX})?)"
    r"(?:\s{0,2}\((?P<percent>\d{1,3}(?:\.\d{1,6})?)\s?%\))?"
)
_TRAILING = lazy_pattern(
    rf"(?:(?<![\w/.:-])|(?<=第))(?P<current>{COUNT}){_OF}(?P<total>{COUNT})\s{{0,3}}"
    r"(?P<word>[^\W\d]{1,12})(?![\w/]|\s{1,3}(?:without|with no|no|since)\b)"
)
_WORD_AFTER = lazy_pattern(r"\d\s{0,3}[^\W\d]{1,12}(?![\w/])")
"""Quickly found, without which nothing can be trailing."""
_BRACKET = lazy_pattern(
    r"[\[(]\s{0,8}(\d{1,15})\s{0,2}/\s{0,2}(\d{1,15})(?:\s{0,2}\((\d{1,3})(?:\.\d{1,4})?%\))?\s{0,2}[\])]"
)
_PAIR = lazy_pattern(r"[\])>]{0,2}[\s:,|;-]{1,8}(\d{1,12})\s{0,2}/\s{0,2}(\d{1,12})(?![\w/.%])")
_BEFORE_BARE = lazy_pattern(
    r"[\W\d]{0,60}(?:(?:info|debug|root|train(?:ing)?|main|progress|__main__|t|z|start(?:ing)?"
    r"|communication|federated|cv)\b[\W\d]{0,30}){0,6}",
    re.IGNORECASE,
)
_PERCENT = lazy_pattern(
    r"(?:^|[\W_])(?:training|train|progress|fortschritt|overall)(?: progress)?[\s:=\[(]{1,8}"
    r"(\d{1,3}(?:\.\d{1,6})?)\s?%"
    r"|^\W{0,8}(\d{1,3}(?:\.\d{1,6})?)\s?% (?:done|completed?|finished|trained)\b",
    re.IGNORECASE,
)
_AROUND_A_WORD = str.maketrans(dict.fromkeys("_:-[]()|.,=#*>/", " "))
_NEAR = 24
_ALL_NAMES = frozenset(NAMES) | {"seen", "processed"}
_ALL = 100.0
_MAX_COUNTS = 12
_NOT_NOW = frozenset(
    {
        "best", "last", "max", "min", "total", "num", "number", "warmup", "per", "every", "each",
        "previous", "next", "until", "from", "before", "since", "skip", "skipping", "resume",
        "resumed", "resuming", "load", "loaded", "loading", "restored", "target",
        "sampling", "denoising",
    }
)  # fmt: skip
"""Words before a count that say that it is not where the run stands."""
_EVALUATED = frozenset(
    {
        "val", "valid", "validate", "validated", "validation", "validating", "eval", "evaluate",
        "evaluated", "evaluation", "evaluating", "test", "tested", "testing", "dev", "evaluator",
        "validator", "tester",
    }
)  # fmt: skip
_LEVELS = frozenset({"info", "debug", "warning", "root"})
"""Of a logger, between its name and what it writes."""
_THINGS = frozenset(
    {
        "rank", "gpu", "node", "worker", "device", "shard", "file", "part", "layer", "process",
        "version", "patience", "counter", "wait",
    }
)  # fmt: skip
"""Words before `3/8 steps` that say what there are eight of."""


@dataclass(frozen=True, slots=True)
class Count:
    level: Level
    current: float
    total: float | None
    word: str
    start: int
    end: int
    percent: float | None = None
    evaluated: bool = False
    beyond: float | None = None
    """What an epoch has, where the count goes on over all of them: `iter 30/25` in the second."""

    @property
    def unit(self) -> Unit:
        return "step" if self.level == "outer" else self.level


def counts_in(text: str) -> list[Count]:
    """All counts that are named by a word, as they stand in the line."""
    found = (one for one in _NAMED.finditer(text) if one["word"].lower() in _ALL_NAMES)
    named = (_named(text, one) for one in islice(found, _MAX_COUNTS))
    counts = [one for one in named if one is not None]
    if _WORD_AFTER.search(text):
        counts += _trailing_in(text, counts)
    return _without_letters(counts)


def _trailing_in(text: str, named: list[Count]) -> list[Count]:
    """Counts whose name follows them, unless another has named them already."""
    found = (one for one in _TRAILING.finditer(text) if one["word"].lower() in PLURALS)
    after = (_trailing(text, one) for one in islice(found, _MAX_COUNTS))
    return [
        one
        for one in after
        if one is not None and not any(other.start <= one.start < other.end for other in named)
    ]


def bracket_in(text: str, start: int, *, bare: bool = False) -> Count | None:
    """`[1280/60000 (2%)]` counts samples, `[ 120/5004]` steps; a bare one stands first."""
    found = _BRACKET.search(text, start)
    if found is None or (bare and not stands_first(text, found.start())):
        return None
    counts = counted(found[1], found[2])
    if counts is None:
        return None
    of_samples = found[3] is not None and not bare
    return Count("sample" if of_samples else "step", *counts, "[]", *found.span())


def pair_after(text: str, start: int) -> Count | None:
    """`350/1583` where it comes right after the epoch: `Epoch 2/25 - 350/1583`."""
    found = _PAIR.match(text, start)
    counts = None if found is None else counted(found[1], found[2])
    return Count("step", *counts, "[]", *found.span()) if found and counts else None


def pairs_in(text: str) -> list[Count]:
    """`[2/25][350/1583]`: an epoch and where it stands, or nothing."""
    epoch = bracket_in(text, 0, bare=True)
    step = None if epoch is None else _BRACKET.match(text, _blanks_end(text, epoch.end))
    counts = None if step is None else counted(step[1], step[2])
    if epoch is None or step is None or counts is None:
        return []
    return [replace(epoch, level="epoch"), Count("step", *counts, "[]", *step.span())]


def _blanks_end(text: str, start: int) -> int:
    return start + 1 if text[start : start + 1] == " " else start


def stands_first(text: str, start: int) -> bool:
    """Whether only times, levels and the like stand before this place of the line."""
    return _BEFORE_BARE.fullmatch(text[:start]) is not None


def percent_in(text: str) -> float | None:
    """How much of the training is done, where the line says it in per cent."""
    found = _PERCENT.search(text)
    percent = None if found is None else float(found[1] or found[2])
    return percent if percent is not None and percent <= _ALL else None


def _named(text: str, found: re.Match[str]) -> Count | None:
    named = name_of(found["word"].lower(), _words_before(text, found.start()))
    if named is None or named[2] in _NOT_NOW:
        return None
    level, word, before = named
    earlier = _words_before(text, found.start())
    logger = earlier[-2] if earlier[-1:] and earlier[-1] in _LEVELS and earlier[:-1] else ""
    count = _count(found, level, word, evaluated=bool({before, logger} & _EVALUATED))
    if count is None:
        return None
    most, percent = found["most"], found["percent"]
    if most and count.current <= float(most) and not word.endswith("batch"):
        count = replace(count, total=float(most))
    return replace(count, percent=float(percent)) if percent else count


def _trailing(text: str, found: re.Match[str]) -> Count | None:
    before = _words_before(text, found.start())[-1:]
    if not _NOT_NOW.isdisjoint(before) or not _THINGS.isdisjoint(before):
        return None
    word = found["word"].lower()
    return _count(found, PLURALS[word], word, evaluated=not _EVALUATED.isdisjoint(before))


def _words_before(text: str, start: int) -> list[str]:
    if start == 0:
        return []
    return text[max(0, start - _NEAR) : start].translate(_AROUND_A_WORD).lower().split()


def _count(found: re.Match[str], level: Level, word: str, *, evaluated: bool) -> Count | None:
    current = count_of(found["current"])
    total = count_of(found["total"]) if found["total"] else None
    if current is None:
        return None
    if level == "step" and total is not None and total > 1 and current > total:
        return Count(level, current, None, word, *found.span(), evaluated=evaluated, beyond=total)
    if not _plausible(level, current, total):
        return None
    return Count(level, current, total, word, *found.span(), evaluated=evaluated)


def _without_letters(counts: list[Count]) -> list[Count]:
    """A letter names a count only where a step of a total stands beside its epoch."""
    letters = [one for one in counts if one.word in LETTERS]
    if not letters:
        return counts
    stepped = any(one.level == "step" and one.total is not None for one in letters)
    if stepped and letters[0].level == "epoch":
        return counts
    return [one for one in counts if one.word not in LETTERS]


def _plausible(level: Level, current: float, total: float | None) -> bool:
    if total is not None:
        return 0 < max(current, 1) <= total
    return level == "epoch" or current.is_integer()
