"""The first cause among the clues: what happened first and explains the rest."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING, Final

from schedmate.handler.credibility import credible, misses_gpu, with_best_reporter
from schedmate.handler.last_words import announced_end, clue_from_the_end
from schedmate.handler.reading import LATE, Clue, Gathered
from schedmate.handler.rules import BUILT_IN, Weight
from schedmate.logs import DAY_S
from schedmate.model import REASONS
from schedmate.model.failures import GPU_FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.handler.case import Case

SURE: Final = 0.8
_AT_THE_END: Final = 20
"""Calm lines that may follow a cause when the scheduler itself already gives a reason."""
_SOON: Final = 50
"""Calm lines that may follow a line with words of trouble, where no verdict shows a failure."""
_LAST_WORDS: Final = 5
"""Calm lines that may follow it where the verdict is success."""
_SURVIVED_CONFIDENCE: Final = 0.3
_HALF_LIFE_LINES: Final = 50
"""Calm lines of a process that went on, after which a clue counts half."""
_DOUBTED_CONFIDENCE: Final = 0.6
_BETWEEN: Final = 8
"""Calm lines between a cause and what follows from it in the same log."""
_FAINT: Final = 0.5
_LEADS_TO_LATER: Final = {
    "checkpoint_corrupt": ("disk_full", "disk_quota", "storage_io"),
    "import_error": ("service_unreachable", "disk_full", "disk_quota"),
}
"""A checkpoint or an environment is cut short long before it is used."""
_LEADS_TO_NO_GPU: Final = ("driver_mismatch", "nvlink", "gpu_lost", "gpu_hardware")
_RANK: Final = re.compile(r"\b(?:[Rr]ank|RANK|task|RankID)[ =:]{1,2}(\d{1,6})\b")
_VICTIMS: Final = {"nccl_timeout", "nccl_remote", "rendezvous"}
_EXITED_RANK: Final = re.compile(r"\b(?:local_rank|task)[ :]{1,2}(\d{1,6})\b")
_LAUNCHER_EXIT: Final = "unknown/launcher-exit-line"
_AFTER_ALL_LINES: Final = (1 << 60, 0)


class Tier(IntEnum):
    """How far a clue explains the others; smaller explains more."""

    TAKEN_AWAY = 0
    HARDWARE = 1
    """A runtime's error on faulty hardware is its consequence."""
    CAUSE = 2
    VAGUE = 3
    """An unknown exception: one rank's report of another's failure, perhaps."""
    SYMPTOM = 4
    ASIDE = 5
    """An error of a shell or a probe after which it goes on."""
    FAINT = 6
    WRAPPER = 7


def first_cause(case: Case, gathered: Gathered) -> Clue | None:
    """The clue that explains the others; None where there is none, or no failure."""
    gathered = credible(case, gathered)
    verdicts = [
        Clue(rule=rule, confidence=rule.confidence, reported_by=rule.reported_by)
        for rule in BUILT_IN.for_case(case)
    ]
    counted = [_doubted(case, clue) for clue in gathered.clues if _counts(case, clue, verdicts)]
    counted = _without_launchers_signals(case, counted)
    if not (case.failing or verdicts) and all(_survived_it(clue) for clue in counted):
        return None if case.succeeded else announced_end(gathered)
    at_the_end = _of_the_end(case, _of_last_attempt(case, counted))
    clues = [*at_the_end, *verdicts]
    if not clues:
        return _end_of_failed(case, gathered) or _best_of_the_survived(case, gathered)
    tier, first = _first(case, clues)
    if tier is Tier.FAINT and not (case.failing or first.uncaught or first.last_words):
        return None
    if first.line is None:
        first = next((clue for clue in counted if clue.rule.reason == first.rule.reason), first)
    if tier is Tier.WRAPPER:
        return _last_raised(case, gathered) or _end_of_failed(case, gathered) or first
    if first.confidence < _FAINT and first.rule.reason in _VICTIMS:
        first = _exit_of_a_silent_rank(counted) or first
    first = with_best_reporter(_explained(first, gathered), [*counted, *verdicts])
    return replace(first, ranks=_ranks_that_share(first, counted))


def _without_launchers_signals(case: Case, clues: list[Clue]) -> list[Clue]:
    """A launcher ends the other processes once one of them has exited with an error."""
    if case.signal:
        return clues
    exits = [_place(clue) for clue in clues if clue.rule.id == _LAUNCHER_EXIT]
    return [
        clue
        for clue in clues
        if clue.rule.reason not in ("killed", "cancelled")
        or not any(at[0] == _place(clue)[0] and at < _place(clue) for at in exits)
    ]


def _exit_of_a_silent_rank(clues: Sequence[Clue]) -> Clue | None:
    """The exit of a rank that shows nothing itself, where all others only lost it as a peer."""
    victims = {clue.rank for clue in clues if clue.rule.reason in _VICTIMS}
    for clue in clues:
        found = _EXITED_RANK.search(clue.message) if clue.rule.id == _LAUNCHER_EXIT else None
        if found and None not in victims and int(found[1]) not in victims:
            return clue
    return None


def _explained(first: Clue, gathered: Gathered) -> Clue:
    """An earlier clue that is known to lead to such a failure later."""
    leading: tuple[str, ...] = _LEADS_TO_LATER.get(first.rule.reason, ())
    least = SURE
    if misses_gpu(first):
        leading, least = tuple({*_LEADS_TO_NO_GPU} - {first.rule.reason}), 0.0
    before = [
        clue
        for clue in gathered.clues
        if clue.rule.reason in leading
        and clue.confidence >= least
        and (clue.attempt, _place(clue)) < (first.attempt, _place(first))
    ]
    if not before:
        return first
    last = max(before, key=_place)
    return replace(
        last, confidence=max(last.confidence, min(first.confidence, last.rule.confidence))
    )


def _survived_it(clue: Clue) -> bool:
    return clue.went_on and not clue.rule.outlives_success


def _ranks_that_share(first: Clue, counted: Sequence[Clue]) -> tuple[int, ...]:
    """The ranks that show the same cause; a rank that only lost its peers is none of them."""
    if first.rule.reason in _VICTIMS:
        return ()
    alike = {
        _named_rank(clue) if clue.rank is None else clue.rank
        for clue in counted
        if clue.rule.reason == first.rule.reason and clue.attempt == first.attempt
    }
    return tuple(sorted(rank for rank in alike if rank is not None))


def _named_rank(clue: Clue) -> int | None:
    """The rank that the line names: `[Rank 2] …`, `srun: error: n1: task 3: …`."""
    found = _RANK.search(clue.line.text) if clue.line is not None else None
    return int(found[1]) if found else None


def _counts(case: Case, clue: Clue, verdicts: Sequence[Clue]) -> bool:
    """Whether the run can have died of it."""
    if clue.rule.lasting and clue.calm_after > _AT_THE_END + clue.ended - clue.began:
        return False
    if case.succeeded:
        clear = _tier(case, clue) < Tier.VAGUE
        last_words = clue.uncaught and clear and clue.calm_after <= _LAST_WORDS
        return clue.final and (clue.rule.outlives_success or last_words)
    silenced = clue.last_words and bool(clue.uncaught or clue.stream) and clue.confidence >= SURE
    if not clue.final or silenced:
        return silenced
    if any(verdict.rule.weight <= Weight.CAUSE for verdict in verdicts):
        return clue.calm_after <= _AT_THE_END
    return case.failing or clue.uncaught or clue.calm_after <= _SOON


def _doubted(case: Case, clue: Clue) -> Clue:
    """Less sure of a run that succeeded, or that went on for long after the clue."""
    confidence = clue.confidence
    if case.succeeded and not clue.rule.outlives_success:
        confidence = min(confidence, _DOUBTED_CONFIDENCE)
    if clue.went_on and clue.reported_by == "job":
        faded = confidence * 0.5 ** (clue.calm_after / _HALF_LIFE_LINES)
        confidence = min(confidence, max(faded, _least_after_life(case, clue)))
    return replace(clue, confidence=confidence)


def _least_after_life(case: Case, clue: Clue) -> float:
    """Buffered output may follow the exception that ended the run, unless a signal ended it."""
    flushed = clue.uncaught and not case.signal and clue.calm_after <= LATE
    return _FAINT if flushed else _SURVIVED_CONFIDENCE


def _of_last_attempt(case: Case, clues: list[Clue]) -> list[Clue]:
    """Those of the last attempt that shows more than symptoms."""
    for attempt in sorted({clue.attempt for clue in clues}, reverse=True):
        its = [clue for clue in clues if clue.attempt == attempt]
        if any(_tier(case, clue) < Tier.SYMPTOM for clue in its):
            return its
    return clues


def _of_the_end(case: Case, clues: list[Clue]) -> list[Clue]:
    """The clues that only their consequences follow; the run survived the others.

    Where that leaves symptoms only, the last exception before them explains them: ranks that
    share a log go on for a while after one of them has died.
    """
    dead = [clue for order in _orders(clues) for clue in _last_burst(clues, order)]
    stopped = [clue for clue in dead if not clue.went_on]
    if any(_tier(case, clue) < Tier.SYMPTOM for clue in stopped):
        return stopped
    if not dead or any(_tier(case, clue) < Tier.SYMPTOM for clue in dead):
        return dead
    able = [clue for clue in clues if _tier(case, clue) < Tier.SYMPTOM and _lasts(clue)]
    return dead + sorted(able, key=_place)[-1:]


def _lasts(clue: Clue) -> bool:
    """Whether it may still explain the end: exceptions, hardware and services do."""
    return clue.uncaught or REASONS[clue.rule.reason].category == "infrastructure"


def _orders(clues: Sequence[Clue]) -> set[int]:
    return {clue.line.order for clue in clues if clue.line is not None}


def _last_burst(clues: Sequence[Clue], order: int) -> list[Clue]:
    """The clues of one log that are its last, with hardly a calm line between them."""
    its = [clue for clue in clues if clue.line is not None and clue.line.order == order]
    its.sort(key=lambda clue: clue.ended, reverse=True)
    burst: list[Clue] = []
    edge, gap = its[0].ended + its[0].calm_after, LATE
    for clue in its:
        if edge - clue.ended <= gap:
            burst.append(clue)
            edge, gap = min(edge, clue.began), _BETWEEN
        elif clue.last_words and clue.stream:
            burst.append(clue)
    return burst


def _first(case: Case, clues: list[Clue]) -> tuple[Tier, Clue]:
    tier = min(_tier(case, clue) for clue in clues)
    able = [clue for clue in clues if _tier(case, clue) == tier]
    if tier is Tier.SYMPTOM:
        able = [clue for clue in able if clue.confidence >= SURE] or able
    first_of_each = [min(its, key=_place) for its in _by_log(able)]
    by_clock = _one_clock(first_of_each)
    return tier, min(first_of_each, key=lambda clue: (clue.at if by_clock else 0.0, _place(clue)))


def _by_log(clues: list[Clue]) -> Iterator[list[Clue]]:
    """Within a log the order of its lines is surer than their times."""
    for _, its in groupby(sorted(clues, key=_place), key=lambda clue: _place(clue)[0]):
        yield list(its)


def _one_clock(clues: Sequence[Clue]) -> bool:
    """Whether the times of all can be compared: all with a date, or all without."""
    times = [clue.at for clue in clues]
    return None not in times and len({at > DAY_S for at in times if at is not None}) == 1


def _place(clue: Clue) -> tuple[int, int]:
    return clue.line.place if clue.line else _AFTER_ALL_LINES


def _tier(case: Case, clue: Clue) -> Tier:
    rule, weight = clue.rule, clue.rule.weight
    if weight is Weight.DECISIVE and clue.line is not None and case.state is not None:
        # the scheduler itself would report it, and does not
        return Tier.SYMPTOM if clue.confidence >= _FAINT else Tier.FAINT
    if weight in (Weight.CAUSE, Weight.SYMPTOM) and clue.confidence < _FAINT:
        return Tier.FAINT
    if weight is Weight.CAUSE and rule.reason in GPU_FAULTS:
        return Tier.HARDWARE
    if weight is Weight.CAUSE and REASONS[rule.reason].category == "user":
        return _tier_of_users_error(clue)
    return _TIERS[weight]


def _tier_of_users_error(clue: Clue) -> Tier:
    raised = clue.uncaught or clue.line is None or clue.rule.fatal
    if clue.rule.reason == "python_exception":
        return Tier.VAGUE if raised else Tier.FAINT
    return Tier.CAUSE if raised or clue.last_words else Tier.ASIDE


_TIERS: Final = {
    Weight.DECISIVE: Tier.TAKEN_AWAY,
    Weight.CAUSE: Tier.CAUSE,
    Weight.SYMPTOM: Tier.SYMPTOM,
    Weight.WRAPPER: Tier.WRAPPER,
}


def _last_raised(case: Case, gathered: Gathered) -> Clue | None:
    """The last exception before a wrapper, however many lines stand between them."""
    raised = [
        clue
        for clue in gathered.clues
        if clue.uncaught and not clue.went_on and _tier(case, clue) < Tier.SYMPTOM
    ]
    return max(raised, key=_place, default=None)


def _end_of_failed(case: Case, gathered: Gathered) -> Clue | None:
    return clue_from_the_end(gathered) if case.failing else None


def _best_of_the_survived(case: Case, gathered: Gathered) -> Clue | None:
    """The last cause that the run survived, with little confidence."""
    causes = [clue for clue in gathered.clues if clue.rule.weight <= Weight.CAUSE and clue.line]
    if not causes or not case.failing:
        return None
    last = max(causes, key=_place)
    return replace(last, confidence=min(last.confidence, _SURVIVED_CONFIDENCE))
