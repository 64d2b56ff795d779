"""From past runs to how long this one will take, how it will end, and why we think so."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from schedmate.advisor.predict.columns import Columns, Places, columns_of, rows_of
from schedmate.advisor.predict.estimating import Scaled, scaled
from schedmate.advisor.predict.explanation import explain
from schedmate.advisor.predict.facts import facts_at_submission
from schedmate.advisor.predict.lore import Lore, learn_lore, learnt_lore
from schedmate.advisor.predict.matching import Likes, find_likes, sketch_of_target
from schedmate.advisor.predict.outcomes import ENOUGH, measured, outcome, with_early_ends
from schedmate.advisor.predict.prior import from_arithmetic
from schedmate.advisor.predict.rehearsal import Predict
from schedmate.advisor.predict.scaling import Ending, Scaling
from schedmate.advisor.predict.spread import LONGEST_S, around, empirical
from schedmate.advisor.target import Target
from schedmate.model import Fingerprint, History, Match, PastRun, Prediction, Spread, Workload
from schedmate.model.sketch import WORDS, word_hash

_EXPECTED = 0.12
"""How much (log) runs of the same code with the same arguments differ, as we would guess."""
WIDE = 1000.0
"""Times p10 (or a second, if that is longer) from which on a p90 says next to nothing."""
_SHOWN = 5
_RECENT = 200
_LEAST_HISTORY = 3
_USER = WORDS.index("user")


def predict(
    history: History,
    target: Target,
    fingerprint: Fingerprint | None,
    workload: Workload,
    scaling: Scaling | None = None,
    *,
    at: float | None = None,
    lore: Lore | None = None,
    now: float | None = None,
) -> Prediction:
    """With what was learnt from this history, unless other `lore` or `scaling` is given.

    `at` is when the job runs, where that is neither when it was submitted nor now; `now` is for
    jobs that nobody has submitted yet.
    """
    lore = lore or (learnt_lore(history) if scaling is None else Lore(scaling))
    sketch = sketch_of_target(target, fingerprint, workload)
    likes = find_likes(history, target, sketch, lore.scaling, at=at)
    return _honest(
        (_from_likes(history, likes, target, workload, lore) if likes is not None else None)
        or _from_site(lore, target, now)
        or _from_history(history, target)
        or from_arithmetic(workload, sketch, target.request)
        or Prediction(basis="none", explanation="no past run resembles it")
    )


def learn(history: History, *, at: float) -> None:
    """All that this history teaches, at bounded cost; it is kept with the history."""

    def predicting(lore: Lore) -> Predict:
        return partial(predict, history, lore=lore)

    learn_lore(history, predicting, at=at)


def _calibrated(raw: Spread, likes: Likes, bounds: tuple[float, float], lore: Lore) -> Spread:
    """Bent by how far off such predictions were on this site; the middle stays in its bounds."""
    if lore.calibration is None:
        return raw
    bent = lore.calibration.calibrated(likes.tier, raw)
    middle = min(max(bent.p50, bounds[0]), bounds[1])
    return Spread(min(bent.p10, middle), middle, max(bent.p90, middle))


def _honest(said: Prediction) -> Prediction:
    """Within what a job can take; a range too wide to plan by is given, and called that."""
    if said.duration_s is None:
        return said
    spread = _at_most(said.duration_s, LONGEST_S)
    wide = spread.p90 > WIDE * max(spread.p10, 1.0)
    warning = f"; p90 is over {WIDE:g} times p10, too uncertain to plan by" if wide else ""
    return replace(said, duration_s=spread, explanation=said.explanation + warning)


def _from_site(lore: Lore, target: Target, now: float | None) -> Prediction | None:
    """Nothing resembles it: what the site's own past says of such requests."""
    submitted = target.submitted_at or now
    if lore.site is None or submitted is None:
        return None
    said = lore.site.predict(facts_at_submission(target, submitted))
    return Prediction(
        basis="history",
        duration_s=said.duration_s,
        outcome=said.outcome,
        explanation=f"no past run resembles it; by {said.rests_on}",
    )


def _from_likes(
    history: History, likes: Likes, target: Target, workload: Workload, lore: Lore
) -> Prediction:
    answer, raw = duration_from(likes, workload, lore.scaling)
    members = likes.runs.take(likes.in_tier)
    shown = _own_first(likes, answer.order)[:_SHOWN]
    runs = history.runs_numbered(likes.runs.rows["run"][shown].tolist())
    ending: Ending | None = None if likes.tier == "identical" else answer.ending
    return Prediction(
        basis=likes.tier,
        duration_s=_capped(_calibrated(raw, likes, answer.bounds, lore), workload),
        outcome=outcome(members),
        gpu_memory_mb=measured(likes.runs.rows["memory"][likes.in_tier].astype(float)),
        gpu_utilization=measured(likes.runs.rows["utilization"][likes.in_tier].astype(float)),
        explanation=explain(likes, runs[0], ending, target, workload),
        matches=tuple(
            _match(run, alike) for run, alike in zip(runs, likes.similarity[shown], strict=True)
        ),
    )


def duration_from(likes: Likes, workload: Workload, scaling: Scaling) -> tuple[Scaled, Spread]:
    """What the neighbours predict, and the run time that is made of it."""
    answer = _repeated(likes) if likes.tier == "identical" else scaled(likes, scaling)
    members = likes.runs.take(likes.in_tier)
    return answer, _capped(with_early_ends(answer.duration_s, members), workload)


def _repeated(likes: Likes) -> Scaled:
    """Nothing differs, so nothing is scaled."""
    telling = np.flatnonzero(likes.telling)
    durations = _newest_first(likes.runs.take(telling))
    if len(durations) >= ENOUGH:
        spread = empirical(durations)
    else:
        middle = float(np.median(durations))
        spread = around(middle, [each / middle for each in durations], expected=_EXPECTED)
    return Scaled(spread, (min(durations), max(durations)), "open", telling)


def _newest_first(runs: Columns) -> list[float]:
    order = np.argsort(-runs.rows["end"], kind="stable")
    return [float(each) for each in runs.rows["duration"][order]]


def _own_first(likes: Likes, usable: Places) -> Places:
    """The most similar ones of the tier that counted; of equals the user's own, then the newest."""
    tier = [place for place in usable.tolist() if likes.in_tier[place]]
    user, ends = likes.sketch.word("user"), likes.runs.rows["end"]
    users = likes.runs.rows["words"][:, _USER]
    return np.array(
        sorted(
            tier,
            key=lambda place: (
                users[place] != user,
                -round(float(likes.similarity[place]), 3),
                -ends[place],
            ),
        )
    )


def _capped(spread: Spread, workload: Workload) -> Spread:
    """A job that stops itself after a time takes no longer."""
    return _at_most(spread, workload.max_time_s.value if workload.max_time_s else math.inf)


def _at_most(spread: Spread, seconds: float) -> Spread:
    return Spread(min(spread.p10, seconds), min(spread.p50, seconds), min(spread.p90, seconds))


def _match(run: PastRun, alike: float) -> Match:
    return Match(job_id=run.job.id, similarity=round(float(alike), 3), duration_s=run.duration_s)


def _from_history(history: History, target: Target) -> Prediction | None:
    """Nothing resembles it: what the user's jobs usually take, else everybody's."""
    at = math.inf if target.submitted_at is None else target.submitted_at
    newest = columns_of(rows_of(history.newest_sketches(_RECENT * 5)))
    newest = newest.take((newest.rows["duration"] > 0) & (newest.rows["end"] <= at))
    own = newest.rows["words"][:, _USER] == word_hash(target.user)
    for runs, whose in ((newest.take(own), f"{target.user}'s"), (newest, "all users'")):
        if len(runs) >= _LEAST_HISTORY:
            durations = _newest_first(runs)[:_RECENT]
            return Prediction(
                basis="history",
                duration_s=empirical(durations),
                outcome=outcome(runs),
                explanation=(
                    f"no past run resembles it; {whose} last {len(durations)} runs took so long"
                ),
            )
    return None
