"""Everything that was stated about a field, settled: what reaches a library beats a mere name,
and the command line beats the config beats the code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from schedmate.advisor.interpret.python.values import KnownPrefix
from schedmate.advisor.settle.meanings import Meaningless, in_plain_words, meaning
from schedmate.advisor.settle.statements import UNSTATED, Kind, Stated
from schedmate.advisor.settle.vocabulary import field_of
from schedmate.model import Finding, Source

_STRENGTH: dict[Source, int] = {"cli": 3, "script": 3, "config": 2, "code": 1, "derived": 0}
_LENGTHS = ("epochs", "max_steps")
_WITHOUT_HEADS = re.compile(r"(?:rnn_?)?(?:bi)?(?:lstm|gru|rnn)(?:_?tanh|_?relu)?", re.IGNORECASE)
_ANSWERS = re.compile(
    r"\b(?:to (?:be )?generated?|generated (?:text|tokens|sequence))\b", re.IGNORECASE
)
_NOTHING = object()
_NO_TRAINING = ("evaluation", "inference", "preprocessing")
_OF_A_TRAINING = frozenset(
    (
        *("optimizer", "learning_rate", "epochs", "max_steps", "gradient_accumulation"),
        *("checkpoint_dir", "checkpoint_every", "resumes", "early_stopping"),
    )
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    field: str
    value: Any
    stated: Stated
    alias: int

    @property
    def strength(self) -> tuple[int, bool, int, int, float, int]:
        """A value that reaches a library is what runs, wherever it came from."""
        stated = self.stated
        source = 0 if stated.kind is Kind.LIBRARY else _STRENGTH[stated.source]
        return (
            stated.kind if stated.certain else Kind.NAME,
            stated.certain,
            source,
            -stated.depth,
            stated.confidence,
            -self.alias,
        )


def merged(statements: Iterable[Stated]) -> dict[str, Finding[Any]]:
    by_field: dict[str, list[_Candidate]] = {}
    for stated in statements:
        candidate = _candidate(stated)
        if candidate is not None:
            by_field.setdefault(candidate.field, []).append(candidate)
    chosen = {field: _choose(candidates) for field, candidates in by_field.items()}
    settled = {field: one for field, one in chosen.items() if one is not None}
    _keep_one_length(settled)
    _keep_what_runs(settled)
    _drop_needless_heads(settled)
    return {field: _finding(one) for field, one in settled.items()}


def _keep_one_length(chosen: dict[str, _Candidate]) -> None:
    """Where a library is told the epochs, a mere name is no length in steps; nor the other way."""
    for told, named in (_LENGTHS, _LENGTHS[::-1]):
        one, other = chosen.get(told), chosen.get(named)
        if one is None or other is None or other.stated.kind is not Kind.NAME:
            continue
        if one.stated.kind is Kind.LIBRARY and one.stated.certain:
            del chosen[named]


def _drop_needless_heads(chosen: dict[str, _Candidate]) -> None:
    """A setting for heads says nothing where a network without any is chosen."""
    model, heads = chosen.get("model"), chosen.get("n_head")
    if model is None or heads is None or heads.stated.kind is Kind.LIBRARY:
        return
    if _WITHOUT_HEADS.fullmatch(str(model.value)):
        del chosen["n_head"]


def _keep_what_runs(chosen: dict[str, _Candidate]) -> None:
    """A job that does not train has nothing of a training that its code could do as well."""
    task = chosen.get("task")
    if task is None or task.value not in _NO_TRAINING:
        return
    for field in _OF_A_TRAINING & chosen.keys():
        if not chosen[field].stated.certain:
            del chosen[field]


def _is_of_answers(stated: Stated) -> bool:
    """How much a model may write when it is asked is no length of what it learns from."""
    lines = [each.text for each in stated.evidence[:1]]
    return stated.kind is Kind.OPTION and any(_ANSWERS.search(line) for line in lines)


def _candidate(stated: Stated) -> _Candidate | None:
    name, said = in_plain_words(stated.name, stated.value)
    found = (name, 0) if stated.kind is Kind.LIBRARY else field_of(name)
    if found is None:
        return None
    field, alias = found
    if field == "sequence_length" and _is_of_answers(stated):
        return None
    if isinstance(said, KnownPrefix):
        said = said.directory or UNSTATED if field == "checkpoint_dir" else UNSTATED
    if said is UNSTATED:
        hides = stated.hides or stated.kind is Kind.OPTION
        return _Candidate(field, said, stated, alias) if hides else None
    try:
        return _Candidate(field, meaning(field, name, said), stated, alias)
    except Meaningless:
        return _Candidate(field, _NOTHING, stated, alias)


def _choose(candidates: list[_Candidate]) -> _Candidate | None:
    """The strongest; nothing where it is unreadable or two equally strong ones disagree."""
    candidates = _meaningful(candidates)
    if not candidates:
        return None
    best = max(candidates, key=lambda each: each.strength)
    equals = [each for each in candidates if each.strength == best.strength]
    if any(each.value != best.value for each in equals):
        agreed = _supported(equals, candidates)
        if agreed is None:
            return None
        best = agreed
    return None if best.value is UNSTATED or not best.stated.evidence else best


def _finding(best: _Candidate) -> Finding[Any]:
    return Finding(
        value=best.value,
        source=best.stated.source,
        evidence=best.stated.evidence,
        confidence=best.stated.confidence,
    )


def _supported(equals: Sequence[_Candidate], candidates: Sequence[_Candidate]) -> _Candidate | None:
    """Of equals that disagree the one that something weaker says too."""
    others = [each.value for each in candidates if each not in equals]
    agreed = [each for each in equals if each.value in others]
    return agreed[0] if len({str(each.value) for each in agreed}) == 1 else None


def _meaningful(candidates: list[_Candidate]) -> list[_Candidate]:
    """Without the names whose strongest value says nothing: `--max_steps -1` is no length."""
    strongest: dict[tuple[bool, int], _Candidate] = {}
    for each in candidates:
        key = (each.stated.kind is Kind.LIBRARY, each.alias)
        known = strongest.get(key)
        if known is None or each.strength > known.strength:
            strongest[key] = each
    return [
        each
        for each in candidates
        if strongest[each.stated.kind is Kind.LIBRARY, each.alias].value is not _NOTHING
        and each.value is not _NOTHING
    ]
