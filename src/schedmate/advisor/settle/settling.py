"""All claims about a job, settled to one value a field.

One ranking decides between claims of one field. Rules then drop what the settled fields rule out
together: they are named, and each has its tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import KnownPrefix
from schedmate.advisor.settle.claim import Claim, Kind
from schedmate.advisor.settle.meanings import Meaningless, in_plain_words, last_part, meaning
from schedmate.advisor.settle.plain import UNSTATED, plain_data
from schedmate.advisor.sources.words import words
from schedmate.model import Finding, Source

_STRENGTH: dict[Source, int] = {"cli": 3, "script": 3, "config": 2, "code": 1, "derived": 0}
_NEVER_HOLDS = (Reached.OVERWRITTEN, Reached.ANOTHER_PROGRAM)
_MEANINGLESS: Final = object()
_BY_MERE_NAME = 0.75
_TRAINS_NOTHING = ("evaluation", "inference", "preprocessing")
_MOST_LINES, _LINES_OF_OTHERS = 6, 2
_VISION = ("image_classification", "object_detection", "segmentation", "gan")
_VAGUE_LENGTHS = words("num_steps n_steps steps iters iterations num_iters n_iters")
"""Of a diffusion, a solver or a rollout as often as of the training."""
_LENGTH_FIELDS = ("epochs", "max_steps")
_OF_A_TRAINING = words(
    "optimizer learning_rate epochs max_steps gradient_accumulation checkpoint_dir "
    "checkpoint_every resumes early_stopping"
)
_KEPT_BY_A_TRAINING = words("checkpoint_dir checkpoint_every resumes")
_OF_A_NETWORK = words("model d_model n_layer n_head precision parallelism")
_SET_FOR_A_TRAINING = _OF_A_TRAINING - words("checkpoint_dir resumes early_stopping")
_WITHOUT_HEADS = re.compile(r"(?:rnn_?)?(?:bi)?(?:lstm|gru|rnn)(?:_?tanh|_?relu)?", re.IGNORECASE)
_ANSWERS = re.compile(
    r"\b(?:to (?:be )?generated?|generated (?:text|tokens|sequence))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim with its value in normal form."""

    claim: Claim
    value: Any

    @property
    def rank(self) -> tuple[int, Reached, int, int, float, int]:
        """What runs beats what may not, and a value that reaches a library a mere name; the code
        was interpreted, so the command line has already won there where it should."""
        claim = self.claim
        return (
            claim.kind if claim.certain else Kind.NAME,
            claim.reached,
            0 if claim.kind is Kind.LIBRARY else _STRENGTH[claim.source],
            -claim.depth,
            claim.confidence,
            -claim.alias,
        )


Settled = Mapping[str, Candidate]
Rule = Callable[[Settled], Iterable[str]]
"""The fields that cannot hold beside the others."""


def settle(claims: Iterable[Claim]) -> dict[str, Finding[Any]]:
    by_field: dict[str, list[Candidate]] = {}
    for claim in claims:
        candidate = _candidate(claim)
        if candidate is not None:
            by_field.setdefault(claim.field, []).append(candidate)
    best = {field: _best(candidates) for field, candidates in by_field.items()}
    settled = {field: one for field, one in best.items() if one is not None}
    for rule in RULES:
        for field in {*rule(settled)}:
            del settled[field]
    return {field: _finding(one, by_field[field]) for field, one in settled.items()}


def _candidate(claim: Claim) -> Candidate | None:
    if claim.reached in _NEVER_HOLDS or _is_of_answers(claim):
        return None
    if claim.kind is Kind.NAME and claim.reached is Reached.UNCALLED:
        return None
    name, data = in_plain_words(claim.name or claim.field, plain_data(claim.value))
    if isinstance(data, KnownPrefix):
        data = data.directory or UNSTATED if claim.field == "checkpoint_dir" else UNSTATED
    if data is UNSTATED:
        hides = claim.kind is Kind.OPTION or (claim.kind is Kind.LIBRARY and not claim.value.known)
        return Candidate(claim, data) if hides else None
    try:
        return Candidate(claim, meaning(claim.field, name, data))
    except Meaningless:
        return Candidate(claim, _MEANINGLESS)


def _is_of_answers(claim: Claim) -> bool:
    """How much a model may write when it is asked is no length of what it learns from."""
    if claim.field != "sequence_length" or claim.kind is not Kind.OPTION:
        return False
    return any(_ANSWERS.search(line.text) for line in claim.evidence[:1])


def _best(candidates: list[Candidate]) -> Candidate | None:
    """The highest, of equal ones that agree the one of the stronger source; none where it is
    unreadable, or where two equally high ones disagree and nothing lower agrees with one."""
    candidates = _meaningful(candidates)
    if not candidates:
        return None
    candidates.sort(key=lambda each: _STRENGTH[each.claim.source], reverse=True)
    best = max(candidates, key=lambda each: each.rank)
    equals = [each for each in candidates if each.rank == best.rank]
    if any(each.value != best.value for each in equals):
        agreed = _supported(equals, candidates)
        if agreed is None:
            return None
        best = agreed
    return None if best.value is UNSTATED or not best.claim.evidence else best


def _meaningful(candidates: list[Candidate]) -> list[Candidate]:
    """Without the names whose highest value says nothing: `--max_steps -1` is no length."""
    highest: dict[tuple[bool, int], Candidate] = {}
    for each in candidates:
        known = highest.get(_named(each))
        if known is None or each.rank > known.rank:
            highest[_named(each)] = each
    return [
        each for each in candidates if _MEANINGLESS not in (highest[_named(each)].value, each.value)
    ]


def _named(candidate: Candidate) -> tuple[bool, int]:
    return candidate.claim.kind is Kind.LIBRARY, candidate.claim.alias


def _supported(equals: Sequence[Candidate], candidates: Sequence[Candidate]) -> Candidate | None:
    others = [each.value for each in candidates if each not in equals]
    agreed = [each for each in equals if each.value in others]
    return agreed[0] if len({str(each.value) for each in agreed}) == 1 else None


def _finding(best: Candidate, candidates: Iterable[Candidate]) -> Finding[Any]:
    """With the lines of others that state the same: a config's beside those of the code."""
    lines = dict.fromkeys(best.claim.evidence)
    for each in candidates:
        if each.claim.certain and _agree(each.value, best.value):
            lines |= dict.fromkeys(each.claim.evidence[:_LINES_OF_OTHERS])
    most = max(len(best.claim.evidence), _MOST_LINES)
    return Finding(
        value=best.value,
        source=best.claim.source,
        evidence=(*lines,)[:most],
        confidence=best.claim.confidence,
    )


def _agree(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    return type(one) is type(other) and bool(one == other)


def one_length(settled: Settled) -> Iterable[str]:
    """Where the epochs reach a library, a mere name is no length in steps; nor the other way."""
    for field, other in (_LENGTH_FIELDS, _LENGTH_FIELDS[::-1]):
        one, named = settled.get(field), settled.get(other)
        if one is None or named is None or not one.claim.certain:
            continue
        vague = named.claim.kind is Kind.NAME or last_part(named.claim.name) in _VAGUE_LENGTHS
        if one.claim.kind is Kind.LIBRARY and named.claim.kind is not Kind.LIBRARY and vague:
            yield other


def no_training_where_none_runs(settled: Settled) -> Iterable[str]:
    """A job that does not train has nothing of a training that its code could do as well: neither
    what may not run, nor settings that the code and its configs have for other jobs."""
    task = settled["task"].value if "task" in settled else None
    if task not in _TRAINS_NOTHING:
        return
    prepares = task == "preprocessing"
    shared = _SET_FOR_A_TRAINING | (words("batch_size") if prepares else words(""))
    for field, one in settled.items():
        merely_named = field in _OF_A_NETWORK and one.claim.kind is not Kind.LIBRARY
        if field in _KEPT_BY_A_TRAINING or (prepares and merely_named):
            yield field
        of_the_code = field in shared and one.claim.source in ("code", "config")
        if of_the_code or (field in _OF_A_TRAINING and not one.claim.certain):
            yield field


def no_heads_without_attention(settled: Settled) -> Iterable[str]:
    """A setting for heads says nothing where a network without any is chosen."""
    model, heads = settled.get("model"), settled.get("n_head")
    if model is None or heads is None or heads.claim.kind is Kind.LIBRARY:
        return
    if _WITHOUT_HEADS.fullmatch(str(model.value)):
        yield "n_head"


def no_sequence_of_pictures(settled: Settled) -> Iterable[str]:
    """A job that looks at pictures has no sequence length by a mere name."""
    task, length = settled.get("task"), settled.get("sequence_length")
    if task is None or length is None or task.value not in _VISION:
        return
    if length.claim.confidence <= _BY_MERE_NAME:
        yield "sequence_length"


def no_width_alone(settled: Settled) -> Iterable[str]:
    """The size of a picture's embedding is no model's width, where nothing else of one is known."""
    task, width = settled.get("task"), settled.get("d_model")
    if task is None or width is None or not last_part(width.claim.name).startswith("emb"):
        return
    if task.value in _VISION and not {"n_layer", "n_head"} & settled.keys():
        yield "d_model"


RULES: tuple[Rule, ...] = (
    one_length,
    no_training_where_none_runs,
    no_heads_without_attention,
    no_sequence_of_pictures,
    no_width_alone,
)
