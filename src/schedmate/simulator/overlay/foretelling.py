"""Predictions for a simulation: `predict`, with a short way where the very code ran before.

What is found by the code's digest needs no search. The rest is the same: what is scaled, and how,
is the advisor's business. A test holds both ways against each other.
"""

from __future__ import annotations

import numpy as np

from schedmate.advisor import Target
from schedmate.advisor.predicting.columns import Columns, columns_of, query_of, rows_of
from schedmate.advisor.predicting.estimating import scaled
from schedmate.advisor.predicting.lore import Lore
from schedmate.advisor.predicting.matching import Likes, repeated, sketch_of_target
from schedmate.advisor.predicting.outcomes import ENOUGH, with_early_ends
from schedmate.advisor.predicting.prediction import predict
from schedmate.advisor.predicting.spread import around, empirical
from schedmate.model import Fingerprint, Prediction, Spread, Workload
from schedmate.model.sketch import WORDS, Sketch
from schedmate.simulator.overlay.memory import Memory

_EXPECTED = 0.12
"""As the advisor has it for runs of the same code with the same arguments."""
_USER = WORDS.index("user")


def foretold(
    history: Memory, target: Target, prints: Fingerprint, workload: Workload, lore: Lore
) -> Prediction:
    """Not calibrated."""
    sketch = sketch_of_target(target, prints, workload)
    rows = history.runs_of(sketch.code)
    if not rows:
        return predict(history, target, prints, workload, lore=lore)
    runs = columns_of(rows_of(rows))
    runs = runs.take(runs.rows["duration"] > 0)
    runs = runs.take(np.argsort(-runs.rows["end"], kind="stable"))
    likes = _likes(sketch, runs, target.submitted_at or 0.0)
    if likes is None:
        return predict(history, target, prints, workload, lore=lore)
    identical = likes.tier == "identical"
    spread = _repeated(likes) if identical else scaled(likes, lore.scaling).duration_s
    spread = with_early_ends(spread, likes.runs.take(likes.in_tier))
    return Prediction(basis=likes.tier, duration_s=spread, explanation="the same code")


def _likes(sketch: Sketch, runs: Columns, at: float) -> Likes | None:
    """None where none went well: then it takes a search for others that did."""
    query, alike = query_of(sketch, at), np.ones(len(runs))
    used = (runs.rows["words"] == query.rows["words"]).any(axis=0)
    used[_USER] = True
    query.rows["words"][0, ~used] = 0  # a name that nobody used before says nothing
    same = repeated(query, runs)
    identical = Likes("identical", query, sketch, runs, alike, same)
    likes = Likes("same_code", query, sketch, runs, alike, np.ones(len(runs), bool))
    for each in (identical, likes):
        if (each.in_tier & each.completed).any():
            return each
    return None


def _repeated(likes: Likes) -> Spread:
    durations = likes.runs.rows["duration"][likes.telling].astype(float).tolist()
    if len(durations) >= ENOUGH:
        return empirical(durations)
    middle = float(np.median(durations))
    return around(middle, [each / middle for each in durations], expected=_EXPECTED)
