"""What the language model was asked for, how it went, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from schedmate.service.views.run_window import DAY_S

if TYPE_CHECKING:
    from schedmate.model import LlmCall

_BINS: Final = 60


@dataclass(slots=True, kw_only=True)
class PurposeUse:
    purpose: str
    questions: int = 0
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    begin: float
    step_s: float
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    """Tokens in each interval, by purpose."""
    purposes: tuple[PurposeUse, ...]
    models: tuple[tuple[str, int], ...]
    """Questions to each model."""

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.purposes)

    @property
    def questions(self) -> int:
        return sum(one.questions for one in self.purposes)


def model_use(calls: Iterable[LlmCall], now: float, *, days: float) -> ModelUse:
    begin, step_s = now - days * DAY_S, days * DAY_S / _BINS
    purposes: dict[str, PurposeUse] = {}
    rows: dict[str, list[float]] = {}
    models: Counter[str] = Counter()
    for call in calls:
        one = purposes.setdefault(call.purpose, PurposeUse(purpose=call.purpose))
        tokens = call.prompt_tokens + call.answer_tokens
        one.questions += 1
        one.calls += call.calls
        one.tokens += tokens
        one.seconds += call.seconds
        one.outcomes[call.outcome] += 1
        models[call.model] += 1
        place = min(_BINS - 1, max(0, int((call.at - begin) // step_s)))
        rows.setdefault(call.purpose, [0.0] * _BINS)[place] += tokens
    ordered = sorted(purposes.values(), key=lambda one: -one.tokens)
    return ModelUse(
        begin=begin,
        step_s=step_s,
        rows=tuple((one.purpose, tuple(rows[one.purpose])) for one in ordered),
        purposes=tuple(ordered),
        models=tuple(models.most_common()),
    )
