"""How good predictions, ETAs and diagnoses have been here, measured on what has ended."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Final

from schedmate.model import JobState
from schedmate.model.access import WITHDRAWAL
from schedmate.model.diagnosis import SURE_ENOUGH
from schedmate.service.views.run_window import DAY_S

if TYPE_CHECKING:
    from schedmate.model import JobId, Spread
    from schedmate.store import EtaSeen, PersonsAct, RunSummary

FEWEST: Final = 5
"""Of fewer cases no figure is given."""
_SHORTEST_S: Final = 1.0
_QUARTERS: Final = ("first quarter", "second quarter", "third quarter", "last quarter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Of spreads of times against what came: the error of p50, and how often they held."""

    name: str
    cases: int
    """What `error` and `coverage` are over."""
    predicted: int = 0
    """Runs that had such a prediction; those that are no cases are among them."""
    ended: int = 0
    """Runs that ended in the time, predicted or not."""
    error: float | None = None
    """The median of |p50 - real| as a share of the real time; None of too few cases."""
    coverage: float | None = None
    """The share of cases from p10 to p90; 0.8 would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisScore:
    failures: int
    diagnosed: int
    sure: int
    """Diagnosed with a confidence above which action may follow."""
    by_source: tuple[tuple[str, int], ...]
    corrected: int
    """Runs whose diagnosis a person has corrected."""


def is_case(state: JobState, run_time_s: float, predicted: Spread) -> bool:
    """Whether a run shows how good its prediction was, on the page and in the metrics.

    A cancelled run shows no duration, one under a second none to divide by, and a prediction that
    is too wide was shown as none.
    """
    return state is not JobState.CANCELLED and run_time_s >= _SHORTEST_S and not predicted.too_wide


def predictions(runs: Iterable[RunSummary]) -> list[Score]:
    """By what the prediction rested on, all of them first."""
    ran = [(run, run.run_time_s) for run in runs if run.run_time_s is not None]
    predicted = [(run, run.predicted_s, real) for run, real in ran if run.predicted_s is not None]
    by_basis: dict[str, list[tuple[Spread, float]]] = defaultdict(list)
    for run, spread, real in predicted:
        if is_case(run.state, real, spread):
            by_basis[run.basis].append((spread, real))
    all_cases = [case for some in by_basis.values() for case in some]
    ordered = sorted(by_basis.items(), key=lambda item: -len(item[1]))
    count = Counter(run.basis for run, _, _ in predicted)
    return [
        replace(score("all", all_cases), predicted=len(predicted), ended=len(ran)),
        *(
            replace(score(basis, some), predicted=count[basis], ended=len(ran))
            for basis, some in ordered
        ),
    ]


def etas(runs: Iterable[RunSummary], seen: Iterable[EtaSeen]) -> list[Score]:
    """Of completed runs, by how far they were when estimated; each counts once a quarter.

    What was cancelled, failed or reached its limit has not come to the end that was estimated.
    """
    ended: dict[JobId, list[RunSummary]] = defaultdict(list)
    for run in runs:
        if run.state is JobState.COMPLETED:
            ended[run.job_id].append(run)
    cases: dict[tuple[JobId, int, int], tuple[Spread, float]] = {}
    for one in seen:
        tracked = next((run for run in ended[one.job_id] if _ran_at(run, one.at)), None)
        if tracked is None or tracked.started_at is None or tracked.ended_at - one.at < _SHORTEST_S:
            continue
        length_s = tracked.ended_at - tracked.started_at
        quarter = min(3, int(4 * (one.at - tracked.started_at) / length_s))
        case = (one.left_s, tracked.ended_at - one.at)
        cases.setdefault((one.job_id, tracked.attempt, quarter), case)
    completed = sum(map(len, ended.values()))
    found = [
        score(name, [case for (_, _, one), case in cases.items() if one == quarter])
        for quarter, name in enumerate(_QUARTERS)
    ]
    return [replace(one, predicted=one.cases, ended=completed) for one in found]


def _ran_at(run: RunSummary, at: float) -> bool:
    return run.started_at is not None and run.started_at <= at <= run.ended_at


def score(name: str, cases: Sequence[tuple[Spread, float]]) -> Score:
    if len(cases) < FEWEST:
        return Score(name=name, cases=len(cases))
    errors = [abs(spread.p50 - real) / real for spread, real in cases]
    within = sum(spread.p10 <= real <= spread.p90 for spread, real in cases)
    return Score(name=name, cases=len(cases), error=median(errors), coverage=within / len(cases))


def diagnoses(runs: Sequence[RunSummary], corrections: Iterable[PersonsAct] = ()) -> DiagnosisScore:
    """`corrections` are what the audit trail has of people who corrected or withdrew that."""
    failed = [run for run in runs if run.state.failed]
    known = [run for run in failed if run.reason and run.reason != "unknown"]
    return DiagnosisScore(
        failures=len(failed),
        diagnosed=len(known),
        sure=sum(run.confidence >= SURE_ENOUGH for run in known),
        by_source=tuple(Counter(run.source for run in known).most_common()),
        corrected=len(_corrected(runs, corrections)),
    )


def _corrected(
    runs: Iterable[RunSummary], corrections: Iterable[PersonsAct]
) -> set[tuple[str, int]]:
    """A correction is about the last attempt that had ended by then."""
    acts = list(corrections)
    jobs = {act.about.removeprefix("job ") for act in acts}
    by_job: dict[str, list[RunSummary]] = defaultdict(list)
    for run in runs:
        if run.job_id in jobs:
            by_job[f"job {run.job_id}"].append(run)
    found: set[tuple[str, int]] = set()
    for act in sorted(acts, key=lambda act: act.at):
        ended = {(act.about, run.attempt) for run in by_job[act.about] if run.ended_at <= act.at}
        if not ended:
            continue
        if act.action == WITHDRAWAL:
            found.discard(max(ended))
        else:
            found.add(max(ended))
    return found


def weekly(
    runs: Iterable[RunSummary], now: float, of: Callable[[list[RunSummary]], float | None]
) -> list[tuple[float, float]]:
    """A figure for each week that has one, at the end of the week."""
    weeks: dict[int, list[RunSummary]] = defaultdict(list)
    for run in runs:
        weeks[int((now - run.ended_at) // (7 * DAY_S))].append(run)
    found = (
        (now - week * 7 * DAY_S, of(some)) for week, some in sorted(weeks.items(), reverse=True)
    )
    return [(at, value) for at, value in found if value is not None]


def prediction_error(runs: list[RunSummary]) -> float | None:
    return predictions(runs)[0].error
