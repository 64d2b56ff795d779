"""A job's time from those of runs that differ from it: a line in logarithms.

Twice the steps take twice the time; how times go with GPUs, batch and hardware is believed within
bounds, and the runs at hand bend it (ridge regression, nearer runs count for more). Each run's time
is then scaled to the job along that line, and the nearest ones are averaged: so the answer lies
among the scaled times. A run that fits to nothing around it loses its vote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.distributions import median, middle_of
from schedmate.advisor.predict.neighbours import Ending
from schedmate.advisor.predict.runs import PLACE, QUANTITIES, TRAITS, Columns, Flags, Floats, Places
from schedmate.model.sketch import word_hash

_LAW = (1.0, 1e-4)
"""Twice the steps take twice the time, whatever those who change code and steps at once suggest."""
_USUAL = {
    "gpus": (-0.8, 0.15),
    "nodes": (0.0, 0.2),
    "model_parameters": (0.7, 0.3),
    "flops": (-0.5, 0.1),
    "bandwidth": (-0.5, 0.1),
    "unlinked": (0.0, 0.3),
    "year": (-0.05, 0.05),
    "batch": (0.0, 0.2),
    "sequence_length": (0.4, 0.3),
}
"""Exponents of the time, and how sure they are, before any run is looked at."""
_BY_ENDING: dict[Ending, dict[str, tuple[float, float]]] = {
    "steps": {
        "steps": _LAW, "batch": (0.8, 0.2), "sequence_length": (0.8, 0.3), "n_layer": (0.0, 0.2),
    },
    "epochs": {"epochs": _LAW},
    "open": {},
}  # fmt: skip
_VARIES = 1.25
"""Slopes of one workload differ from those of all: by how much more (variance) they may."""
SLOPES = {
    ending: np.array([({**_USUAL, **own}).get(name, (0.0, 0.02)) for name in QUANTITIES]).T
    for ending, own in _BY_ENDING.items()
}
"""Means and standard deviations, in the order of the `QUANTITIES`."""
_BY_ARITHMETIC = {
    **dict.fromkeys(("language_modeling", "translation", "summarization"), 0.8),
    **dict.fromkeys(("sequence_classification", "speech", "diffusion"), 0.65),
    **dict.fromkeys(("image_classification", "object_detection", "segmentation", "gan"), 0.3),
    **dict.fromkeys(("recommendation", "graph", "tabular"), 0.2),
}
"""Of an accelerator's speed at such a task, the part that comes from its arithmetic; the rest comes
from its memory. Products of large matrices are bound by the one; convolutions between
normalisations, and look-ups in tables, by the other (the roofline model)."""
_EITHER = 0.5
_SHARES = {word_hash(task): share for task, share in _BY_ARITHMETIC.items()}
_TASK, _USER = TRAITS.index("task"), TRAITS.index("user")
_NOISE, _REPEAT = 0.02, 0.01
"""Variances that we would guess, between configurations and between runs of one."""
_BELIEF = 3.0
_ODD = 4.0
_ROUNDS = 3
_WORDS, _NUMBERS = 3.0, 6.0
"""How fast runs count for less, the farther away they are by words and by numbers."""
_NARROW, _WIDER, _FAR = 0.01, 3.0, 1e-3
"""How near to the nearest the runs lie that are averaged: the farther that is, the wider."""
_YEAR, _ALIKE, _OLDER = 0.08, 1e-3, 0.9
_ODD_SQUARE = 0.25
_HUMPS = 1.5
"""Logarithms of times of one configuration that lie so far apart are of two kinds of run."""
_UNSURE_OF_WORDS, _UNSURE_OF_NUMBERS, _UNSURE_OF_SLOPES = 0.3, 0.125, 0.5


@dataclass(frozen=True, slots=True)
class Scaled:
    """The median and the standard deviation of the logarithm of one more run's time."""

    log_s: float
    sd: float
    each: Floats
    """Each run's time, scaled to the job, in logarithms; `log_s` lies among them."""
    weights: Floats
    """How much each counts; the sum is one."""


def scale(
    runs: Columns, log_s: Floats, query: Columns, apart: tuple[Floats, Floats], ending: Ending
) -> Scaled:
    """`log_s` are the runs' times, `apart` their distances from the job."""
    means, sds = SLOPES[ending]
    means = means + slopes_of_task(runs)
    differ = np.nan_to_num(runs.quantities - query.quantities[0])
    by_words, by_numbers = apart[0] - apart[0].min(), apart[1]
    alone = log_s
    log_s, repeats, repeat = _together(log_s, runs.group())
    certain = 1 / (_NOISE * repeats + repeat)
    near = np.exp(-_WORDS * by_words - _NUMBERS * by_numbers)
    near /= near.max()
    rows = np.column_stack([np.ones(len(runs)), differ])
    believed = np.r_[1e-6, 1 / (_VARIES * sds**2)]
    robust, line = np.ones(len(runs)), np.r_[0.0, means]
    normal = np.eye(len(line))
    for _ in range(_ROUNDS):
        weighted = rows * (near * robust * certain)[:, None]
        normal = weighted.T @ rows + np.diag(believed)
        line = np.linalg.solve(normal, weighted.T @ log_s + believed * np.r_[0.0, means])
        off, votes = (log_s - rows @ line) ** 2, near * robust / repeats
        usual = (_BELIEF * _NOISE + votes @ off) / (_BELIEF + votes.sum())
        robust = 1 / (1 + off / (_ODD * usual))
    bent = np.clip(line[1:] - means, -sds * _VARIES**0.5, sds * _VARIES**0.5)
    by_line = differ @ (means + bent)
    each = log_s - by_line
    distance = _WORDS * by_words + by_numbers
    nearest = np.exp(-(distance - distance.min()) / (_NARROW + _WIDER * distance.min()))
    own = runs.traits[:, _USER] == query.traits[0, _USER]
    nearest *= _recency(np.abs(differ[:, PLACE["year"]]), distance, own)
    weights = (nearest + _FAR * near) * robust * certain
    weights /= weights.sum()
    middle = middle_of(each, weights)
    count = 1 / float(weights @ weights)
    variance = _BELIEF * _NOISE + count * float(weights @ (each - middle) ** 2)
    variance *= (1 + 1 / count) / (_BELIEF + count)
    variance += repeat + _UNSURE_OF_SLOPES * float(np.linalg.inv(normal)[0, 0])
    variance += _UNSURE_OF_WORDS * float(apart[0].min())
    variance += _UNSURE_OF_NUMBERS * float(by_numbers.min())
    return Scaled(middle, float(np.sqrt(variance)), alone - by_line, weights)


def _recency(ago: Floats, distance: Floats, own: Flags) -> Floats:
    """Of the user's own runs that differ from the job in nothing but their date, the newest count
    most: they are steps on one way."""
    but_for_date = distance - _YEAR * ago
    alike = own & (but_for_date - but_for_date.min() < _ALIKE)
    rank = np.argsort(np.argsort(np.where(alike, ago, np.inf), kind="stable"))
    return np.where(alike, _OLDER**rank, 1.0)


def _together(log_s: Floats, group: Places) -> tuple[Floats, Places, float]:
    """Of each run the middle of its configuration, how many runs that has, and the variance between
    runs of one: single odd runs move none of them."""
    groups = [log_s[group == each] for each in range(int(group.max()) + 1)]
    middles = np.array([median(each, apart=_HUMPS) for each in groups])
    off = np.minimum((log_s - middles[group]) ** 2, _ODD_SQUARE)
    freedom = _BELIEF + len(log_s) - len(middles)
    repeat = (_BELIEF * _REPEAT + float(off.sum())) / freedom
    return middles[group], np.bincount(group)[group], repeat


def slopes_of_task(runs: Columns) -> Floats:
    """What to add to the slopes for jobs that are all of one task; nothing where they differ."""
    added = np.zeros(len(QUANTITIES))
    tasks = runs.traits[:, _TASK]
    if len(tasks) and (tasks == tasks[0]).all():
        more = _SHARES.get(int(tasks[0]), _EITHER) - _EITHER
        added[PLACE["flops"]], added[PLACE["bandwidth"]] = -more, more
    return added
