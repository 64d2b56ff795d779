"""What a history has taught, learnt now and then at bounded cost and kept with it.

Three things: how times scale (`scaling`), what the site's jobs usually take (`site_model`), and
how far off predictions have been (`calibration`). Whoever predicts reads them back; where nothing
was learnt yet, predictions go by what we believe without any history.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache

from schedmate.advisor.predict.calibration import Calibration
from schedmate.advisor.predict.facts import ran
from schedmate.advisor.predict.lessons import learn_again, learnt_scaling
from schedmate.advisor.predict.rehearsal import rehearsed
from schedmate.advisor.predict.scaling import Scaling
from schedmate.advisor.predict.site_model import SiteModel
from schedmate.model import BadInput, History

_SITE, _CALIBRATION = "site/2", "calibration/2"
_RUNS = 20_000
"""How many of the newest runs the site model goes by."""


@dataclass(frozen=True, slots=True)
class Lore:
    scaling: Scaling
    site: SiteModel | None = None
    calibration: Calibration | None = None


def learnt_lore(history: History) -> Lore:
    """What was learnt last."""
    return Lore(
        learnt_scaling(history),
        _site(history.learnt(_SITE)),
        _calibration(history.learnt(_CALIBRATION)),
    )


def learn(history: History, *, at: float) -> None:
    """All that this history teaches, at bounded cost; it is kept with the history."""
    scaling = learn_again(history, at=at)
    _learn_site(history, at=at)
    history.keep_learnt(_CALIBRATION, rehearsed(history, scaling).dump(), at=at)


def _learn_site(history: History, *, at: float) -> SiteModel:
    site = SiteModel()
    runs = (ran(run) for run in history.recent_runs(limit=_RUNS))
    site.learn(run for run in runs if run is not None)
    history.keep_learnt(_SITE, base64.b85encode(site.dump()).decode(), at=at)
    return site


@lru_cache(maxsize=2)
def _site(body: str | None) -> SiteModel | None:
    if body is None:
        return None
    try:
        return SiteModel.load(base64.b85decode(body))
    except (BadInput, ValueError):  # of another version, or damaged: it will be learnt again
        return None


@lru_cache(maxsize=2)
def _calibration(body: str | None) -> Calibration | None:
    if body is None:
        return None
    try:
        return Calibration.load(body)
    except BadInput:  # as above
        return None
