"""Simple methods that a prediction by meaning has to beat."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median

import numpy as np

from schedmate.advisor.knowledge.accelerators import accelerator
from schedmate.model import PastRun


@dataclass
class Past:
    """Runs that may be learnt from; models of them are fitted when first asked for."""

    runs: list[PastRun]
    cache: dict[str, object] = field(default_factory=dict)

    @cached_property
    def usual(self) -> float:
        return median(run.duration_s for run in self.runs)

    def of_model(self, run: PastRun) -> list[PastRun]:
        return [each for each in self.runs if _model(each) == _model(run)]

    def of_user(self, run: PastRun) -> list[PastRun]:
        return [each for each in self.runs if each.job.user == run.job.user]


Baseline = Callable[[Past, PastRun], float | None]


def _model(run: PastRun) -> str:
    return run.workload.model.value if run.workload.model else ""


def _chip(run: PastRun) -> str:
    known = accelerator(run.job.request.gpu_type or "")
    return known.name.split()[0] if known else ""


def _speed(run: PastRun) -> float:
    known = accelerator(run.job.request.gpu_type or "")
    return (known.half_tflops if known and known.half_tflops else 100.0) * run.job.request.gpus


def global_median(past: Past, run: PastRun) -> float | None:
    del run
    return past.usual if past.runs else None


def same_model_median(past: Past, run: PastRun) -> float | None:
    found = past.of_model(run)
    return median(each.duration_s for each in found) if found else None


def same_model_nearest_gpus(past: Past, run: PastRun) -> float | None:
    """Of those on the most similar number of accelerators, of the same chip if there is one."""
    return _nearest(past, run, lambda each: (_gpus_apart(each, run), _chip(each) != _chip(run)))


def same_model_same_chip(past: Past, run: PastRun) -> float | None:
    """The same chip counts before a similar number."""
    return _nearest(past, run, lambda each: (_chip(each) != _chip(run), _gpus_apart(each, run)))


def same_model_by_flops(past: Past, run: PastRun) -> float | None:
    """Scaled by accelerators times peak FLOP/s."""
    found = past.of_model(run)
    if not found:
        return None
    best = min(_gpus_apart(each, run) for each in found)
    closest = [each for each in found if _gpus_apart(each, run) == best]
    return median(each.duration_s * _speed(each) / _speed(run) for each in closest)


def _nearest(
    past: Past, run: PastRun, apart: Callable[[PastRun], tuple[float, ...]]
) -> float | None:
    found = past.of_model(run)
    if not found:
        return None
    best = min(apart(each) for each in found)
    gpus = max(run.job.request.gpus, 1)
    return median(
        each.duration_s * max(each.job.request.gpus, 1) / gpus
        for each in found
        if apart(each) == best
    )


def _gpus_apart(one: PastRun, other: PastRun) -> float:
    return abs(math.log(max(one.job.request.gpus, 1) / max(other.job.request.gpus, 1)))


def tfidf_neighbour(past: Past, run: PastRun) -> float | None:
    """The duration of the run whose text is nearest; nothing is scaled."""
    texts = [Counter(_text(each)) for each in past.runs]
    common = Counter(word for text in texts for word in text)
    rarity = {word: math.log(len(texts) / count) + 0.1 for word, count in common.items()}
    mine = Counter(_text(run))
    scores = [_cosine(mine, text, rarity) for text in texts]
    best = max(scores, default=0.0)
    near = [each.duration_s for each, score in zip(past.runs, scores, strict=True) if score == best]
    return median(near) if best else None


def _text(run: PastRun) -> list[str]:
    record = run.workload
    names = ("model", "dataset", "task", "framework", "optimizer", "batch_size", "learning_rate")
    stated = [f"{name}={getattr(record, name).value}" for name in names if getattr(record, name)]
    words = re.findall(r"\w+", f"{run.job.name} {run.job.request.gpu_type or ''}".lower())
    return [*stated, *words, f"gpus={run.job.request.gpus}", f"nodes={run.job.request.nodes}"]


def _cosine(one: Counter[str], other: Counter[str], rarity: dict[str, float]) -> float:
    both = sum(rarity[word] ** 2 for word in one if word in other)
    length = sum(rarity[word] ** 2 for word in other)
    return both / math.sqrt(length) if length else 0.0


def gradient_boosting(past: Past, run: PastRun) -> float | None:
    """LightGBM on the typed fields, names as categories."""
    import lightgbm  # noqa: PLC0415 - takes a second, and only benchmarks have it

    codes: dict[str, int] = {}
    if len(past.runs) < _LEAST_TO_FIT:
        return None
    if "model" not in past.cache:
        table = np.array([_fields(each, codes) for each in past.runs])
        logs = np.log([each.duration_s for each in past.runs])
        data = lightgbm.Dataset(table, logs, categorical_feature=list(range(_CATEGORIES)))
        settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 3, "min_data_per_group": 5}
        past.cache |= {"model": lightgbm.train(settings, data, 150), "codes": codes}
    row = np.array([_fields(run, dict(past.cache["codes"]))])  # type: ignore[call-overload]
    return float(np.exp(past.cache["model"].predict(row)[0]))  # type: ignore[attr-defined]


_LEAST_TO_FIT = 20
_CATEGORIES = 6


def _fields(run: PastRun, codes: dict[str, int]) -> list[float]:
    """Categories first; a word never seen is none."""
    record = run.workload
    words = [("model", record.model), ("dataset", record.dataset), ("task", record.task)]
    words += [("framework", record.framework), ("optimizer", record.optimizer)]
    named = [f"{name}={each.value}" if each else "" for name, each in words]
    named.append(run.job.request.gpu_type or "")
    numbers = [record.batch_size, record.learning_rate, record.max_steps]
    return [
        *(float(codes.setdefault(word, len(codes))) for word in named),
        float(run.job.request.gpus),
        float(run.job.request.nodes),
        run.job.submit_time,
        *(math.nan if each is None else float(each.value) for each in numbers),
    ]


def last_of_user(past: Past, run: PastRun) -> float | None:
    found = past.of_user(run)
    return max(found, key=lambda each: each.job.submit_time).duration_s if found else None


def median_of_user(past: Past, run: PastRun) -> float | None:
    found = past.of_user(run)
    return median(each.duration_s for each in found) if found else None


OF_USER: dict[str, Baseline] = {
    "last run of the user": last_of_user,
    "median of the user": median_of_user,
}
BASELINES: dict[str, Baseline] = {
    "global median": global_median,
    "same model, median": same_model_median,
    "same model, nearest count, scaled": same_model_nearest_gpus,
    "same model, same chip, scaled": same_model_same_chip,
    "same model, scaled by FLOP/s": same_model_by_flops,
    "TF-IDF nearest text": tfidf_neighbour,
    "LightGBM on metadata": gradient_boosting,
}


def newest_step_time(past: Past, run: PastRun) -> float | None:
    """Steps times the step time of the newest record of the same model on as many GPUs."""
    found = [each for each in past.of_model(run) if each.job.request.gpus == run.job.request.gpus]
    newest = max(found or past.runs, key=lambda each: each.job.submit_time)
    return newest.duration_s / _steps(newest) * _steps(run)


def _steps(run: PastRun) -> float:
    return float(run.workload.max_steps.value) if run.workload.max_steps else 1.0


STEP_TIMES: dict[str, Baseline] = {
    "global median": global_median,
    "same model, median": same_model_median,
    "steps x step time of the newest code": newest_step_time,
}
