"""What history taught about scaling: learnt now and then, kept with the history, read back."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from schedmate.advisor.predict.durations import without_startup
from schedmate.advisor.predict.pairs import learn
from schedmate.advisor.predict.runs import COMPLETED, PLACE, Columns, columns_of, grouped, rows_of
from schedmate.advisor.predict.scaling import PRIOR, Ending, Scaling
from schedmate.advisor.predict.threshold import learn_threshold
from schedmate.model import BadInput, History
from schedmate.model.wire import dumps, loads

_NAME = "scaling/1"
_LOOKED_AT = 50_000
_ENDINGS: tuple[Ending, ...] = ("steps", "epochs", "open")


def learnt_scaling(history: History) -> Scaling:
    """What was learnt last; what we believe without any history, where nothing was."""
    return _read(history.learnt(_NAME))


def learn_again(history: History, *, at: float) -> Scaling:
    """Bounded: only the newest runs count, and of each kind only some."""
    scaling = learn_scaling(columns_of(rows_of(history.newest_sketches(_LOOKED_AT))))
    history.keep_learnt(_NAME, dumps(scaling), at=at)
    return scaling


def learn_scaling(runs: Columns) -> Scaling:
    """From runs that went well, each kind of ending by itself; the largest goes last and stays."""
    well = runs.take((runs.rows["ending"] == COMPLETED) & (runs.rows["duration"] > 0))
    parts = sorted(((_ending_with(well, each), each) for each in _ENDINGS), key=_size)
    scaling = PRIOR
    for part, ending in parts:
        if len(part):
            seconds, startup = part.rows["duration"].astype(float), part.rows["startup"]
            training = without_startup(seconds, startup.astype(float), 0.0)
            scaling = learn(grouped(part, training), ending, scaling)
    newest_first = well.take(np.argsort(-well.rows["end"], kind="stable"))
    return replace(scaling, no_match_below=learn_threshold(newest_first, scaling))


def _size(part: tuple[Columns, Ending]) -> int:
    return len(part[0])


def _ending_with(runs: Columns, ending: Ending) -> Columns:
    stated = {
        unit: ~np.isnan(runs.quantities[:, PLACE[unit]]) & (runs.rows["open_ended"] == 0)
        for unit in ("steps", "epochs")
    }
    if ending == "open":
        return runs.take(~stated["steps"] & ~stated["epochs"])
    return runs.take(stated[ending])


@lru_cache(maxsize=4)
def _read(body: str | None) -> Scaling:
    if body is None:
        return PRIOR
    try:
        return loads(Scaling, body)
    except BadInput:  # of another version, or damaged: it will be learnt again
        return PRIOR
