"""What people print themselves: `step=120 loss=0.3`, `Epoch 3/90`, `step 120/5000 | loss 2.31`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedmate.model import Phase, Unit
from schedmate.tracker.formats.base import NUMBER, Ordinal, Sighting, metric_name, metrics_in
from schedmate.tracker.formats.checkpoints import checkpoint_in
from schedmate.tracker.formats.counts import (
    Count,
    Level,
    bracket_in,
    counts_in,
    percent_in,
    stands_first,
)
from schedmate.tracker.formats.keyvalue_lookalikes import LOOKALIKES
from schedmate.tracker.formats.keyvalue_samples import SAMPLES
from schedmate.tracker.formats.timings import THROUGHPUTS, elapsed_in, eta_in, speeds_in

_LONGEST = 2048
_HEADLINE = re.compile(
    r"[\W_]{0,60}(?:start(?:ing|ed)?|begin(?:ning)?)?[\W_]{0,20}(?:train(?:ing)?)?[\W_]{0,20}"
    r"(?:[a-zéó]{2,10}|第)?[\W_]{0,20}\d{1,9}(?:\s{0,8}(?:/|of|von|sur|de)\s{0,8}\d{1,9})?[\W_]{0,60}"
    r"(?:轮|start(?:s|ed|ing)?|begins?|begun)?[\W_]{0,60}",
    re.IGNORECASE,
)
_ENDED = re.compile(r"\b(?:finished|completed?|done|ended|end of|took)\b", re.IGNORECASE)
_WITHIN = re.compile(r"\b(?:batch|step|iter(?:ation)?)\b[\s:=#]{0,3}[\[(]?\d", re.IGNORECASE)
_SPACED = re.compile(
    r"\b((?:[a-z]{1,12}[_-]|(?:train(?:ing)?|val(?:id(?:ation)?)?|test|eval|avg|mean|total) )?"
    r"(?:loss|acc|accuracy|ppl|perplexity|lr|reward|grad_norm))"
    rf"\s{{1,4}}({NUMBER})(?![\w:/]|\.\d|,\d{{3}})",
    re.IGNORECASE,
)
_SPACED_HINTS = ("loss ", "acc ", "accuracy ", "ppl ", "perplexity ", "lr ", "reward ", "norm ")
_SAID_AT = re.compile(
    r"\b(loss|acc|accuracy) (?:at|after|for|in) (?:step|epoch|iteration|batch) {1,3}\d{1,12}"
    rf"\s{{0,3}}[:=]\s{{0,3}}({NUMBER})(?![\w:/])",
    re.IGNORECASE,
)
_OF_A_PART = re.compile(
    r"\b(?:stage|phase|client|agent|member)\W{0,3}\d{1,4} ?/ ?\d", re.IGNORECASE
)
_OF_A_PART_SURE = 0.4
"""Nobody says whether the parts that a line counts as well are of one length."""
_MAX = re.compile(
    r"\b(?:max|total|num)_(?:train_)?(steps|iters|iterations|epochs)\s{0,2}[:=]\s{0,2}(\d{1,15})\b"
)
_PROSE = re.compile(r"\W{0,8}[A-Za-z]{2,20}(?:\W|$)")
_THINGS = re.compile(
    r"\W{0,8}(?:files|shards|gpus|nodes|workers|layers|tests|checks|packages)\b", re.IGNORECASE
)
_FEW = 50
"""Lists of things to do count as far as this: `Step 3/7 : RUN pip install`."""
_NO_TRAINING = (
    "load", "download", "upload", "tokeniz", "preprocess", "extract", "install", "compil",
    "generated ", "generating ", "filter", "correct", "passed", "failed", "captur", "cache",
    "copied", "copying", "shard",
)  # fmt: skip
_NO_METRICS = frozenset(
    {
        "train_time", "training_time", "elapsed", "elapsed_time", "elapsed_s", "time_elapsed",
        "total_time", "wall_time", "walltime", "runtime", "run_time", "uptime", "eta", "remaining",
        "time_left", "epoch", "epochs", "ep", "step", "steps", "iter", "it", "iteration", "update",
        "batch", "global_step", "episode", "round", "generation", "trial", "fold", "samples",
        "tokens", "timestep", "total_steps", "max_steps", "num_steps", "max_iters", "num_epochs",
        "max_epochs", "total_epochs", "dt", "it/s", "steps/s", "tok/s", "tok/sec", "tokens/s",
        "samples/s", "examples/s", "images/s", "img/s", "progress", "gen", "task", "sample",
        "token", "training", "rank", "pid",
    }
)  # fmt: skip
_ALL = 100.0
_SETTINGS = ("lr", "learning_rate", "size", "seed", "momentum", "decay", "dropout", "workers")
"""Printed where an epoch begins as well as where it ends."""
_LAPS = ("fold", "folds")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    lowered: str
    counts: dict[Level, Count]
    metrics: dict[str, float]
    speeds: dict[Unit, float]
    elapsed_s: float | None
    eta_s: float | None

    @property
    def results(self) -> bool:
        """The line holds what a training finds out, not only what it was told."""
        return any(not name.endswith(_SETTINGS) for name in self.metrics)

    @property
    def timed(self) -> bool:
        return bool(self.speeds) or self.elapsed_s is not None or self.eta_s is not None

    @property
    def evaluated(self) -> bool:
        return any(one.evaluated for one in self.counts.values())


class KeyValue:
    name = "keyvalue"
    hints = (
        "epoch", "step", "iter", "update", "batch", "it=", "it ", "it:", "episode", "round",
        "generation", "gen ", "trial", "task", "fold", "sample", "example", "image", "token",
        "training", "progress", "train ", "train:", "fortschritt", "overall", "% ",
        "schritt", "époque", "étape", "época", "paso", "轮", "步", "loss", "acc", "ppl", "reward",
    )  # fmt: skip
    samples = SAMPLES + LOOKALIKES

    def read(self, line: str) -> Sighting | None:
        text = line[:_LONGEST]
        lowered = text.lower()
        if not any(hint in lowered for hint in self.hints):
            return None
        found = counts_in(text, lowered)
        bare = None if found else bracket_in(text, 0, bare=True)
        if found or bare:
            return _of_counts(_line(text, lowered, found or [bare] if bare else found))
        percent = percent_in(text) if "%" in text else None
        if percent is None or any(word in lowered for word in _NO_TRAINING):
            return None
        return _of_percent(_line(text, lowered, []), percent)


def _line(text: str, lowered: str, counts: list[Count]) -> _Line:
    metrics = metrics_in(text, without=_NO_METRICS)
    if any(hint in lowered for hint in _SPACED_HINTS):
        spaced = _SPACED.findall(text)
        if " at " in lowered or " after " in lowered:
            spaced += _SAID_AT.findall(text)
        metrics = {metric_name(name): float(value) for name, value in spaced} | metrics
    speeds = speeds_in(text, lowered)
    named = {name: speeds[unit] for unit, name in THROUGHPUTS.items() if unit in speeds}
    return _Line(
        text=text,
        lowered=lowered,
        counts=_by_level(counts),
        metrics=metrics | named,
        speeds=speeds,
        elapsed_s=elapsed_in(text, lowered),
        eta_s=eta_in(text, lowered),
    )


def _by_level(counts: list[Count]) -> dict[Level, Count]:
    """The first of each level, but one with a total before one without."""
    chosen: dict[Level, Count] = {}
    for one in counts:
        known = chosen.get(one.level)
        if known is None or (known.total is None and one.total is not None):
            chosen[one.level] = one
    return chosen


def _of_counts(line: _Line) -> Sighting | None:
    outer, epoch = line.counts.get("outer"), line.counts.get("epoch")
    if outer is not None and outer.total is not None and stands_first(line.text, outer.start):
        if epoch is not None and epoch.total is not None and outer.word in _LAPS:
            ordinal: Ordinal = "ended" if line.results else "begun"
            return _sighting(line, epoch, within=outer, ordinal=ordinal, series="fold's epoch")
        return _sighting(line, outer, ordinal=_ordinal(line))
    if epoch is not None and "step" not in line.counts and "sample" not in line.counts:
        inner = bracket_in(line.text, epoch.end)
        if inner is not None:
            return _sighting(line, inner, within=epoch, series="epoch[]")
    fine = _fine(line)
    if fine is not None and not _is_something_else(line, fine):
        return _sighting(line, fine, within=epoch)
    return None if epoch is None else _of_epochs(line, epoch)


def _fine(line: _Line) -> Count | None:
    """The count of steps, samples or tokens that tells most, if any of them is one."""
    levels: tuple[Level, ...] = ("step", "sample", "token")
    fine = [line.counts[level] for level in levels if level in line.counts]
    counted = next((one for one in fine if one.total is not None), None)
    if counted is not None:
        return counted
    step, epoch = line.counts.get("step"), line.counts.get("epoch")
    if step is None or step.word.endswith(("batch", "s")):
        return None
    if epoch is not None and epoch.total is not None and epoch.total > 1:
        return None
    supported = line.results or line.timed or epoch is not None or step.percent is not None
    return step if supported else None


def _is_something_else(line: _Line, count: Count) -> bool:
    """A list of tasks, files being loaded, what passed a test: no training."""
    before = line.text[: count.start].lower()
    if count.level in ("sample", "token", "step") and any(word in before for word in _NO_TRAINING):
        return True
    if count.word == "[]" and (not line.results or _THINGS.match(line.text, count.end)):
        return True
    if line.metrics or line.timed or count.total is None or "epoch" in line.counts:
        return False
    if count.level != "step" and count.total <= _FEW:
        return True
    return count.total <= _FEW and _PROSE.match(line.text, count.end) is not None


def _of_epochs(line: _Line, epoch: Count) -> Sighting | None:
    ordinal = _ordinal(line)
    if epoch.word == "ep" and epoch.total is None:
        return None
    headline = _HEADLINE.fullmatch(line.text[:300]) is not None
    over = _ENDED.search(line.text[:100]) and stands_first(line.text, epoch.start)
    if epoch.total is None and not (headline or line.results or over):
        return None
    if epoch.word.endswith("epochs") and epoch.total is None:
        return None
    return _sighting(line, epoch, ordinal=ordinal if epoch.current.is_integer() else None)


def _ordinal(line: _Line) -> Ordinal:
    """An epoch named alone or before its steps has begun; one with its results has ended."""
    finer = "step" in line.counts or ("outer" in line.counts and len(line.counts) > 1)
    if finer or _WITHIN.search(line.text):
        return "begun"
    ended = line.results or line.timed or _ENDED.search(line.text)
    return "ended" if ended else "begun"


def _sighting(
    line: _Line,
    count: Count,
    *,
    within: Count | None = None,
    ordinal: Ordinal | None = None,
    series: str | None = None,
) -> Sighting:
    of_percent = count.percent is not None and count.total is None and count.percent <= _ALL
    unit: Unit = "percent" if of_percent else count.unit
    total = _ALL if of_percent else count.total or _total_in(line, count)
    epoch = count if count.level == "epoch" and within is None else within
    phase: Phase | None = "evaluating" if line.evaluated else None
    return Sighting(
        unit=unit,
        current=count.percent if of_percent else count.current,
        total=total,
        series=("eval " if phase else "") + (series or count.word),
        ordinal=ordinal,
        epoch=None if epoch is None else epoch.current,
        epochs=None if epoch is None else epoch.total,
        per_epoch=_restarts(count, within) and not of_percent,
        elapsed_s=line.elapsed_s,
        rate_per_s=line.speeds.get(unit),
        eta_s=line.eta_s,
        metrics=line.metrics,
        checkpoint=checkpoint_in(line.text) if "sav" in line.lowered else None,
        phase=phase,
        sure=_OF_A_PART_SURE if _OF_A_PART.search(line.text) else 1.0,
    )


def _restarts(count: Count, within: Count | None) -> bool:
    """A count beside a whole number of epochs is of that epoch, unless it says otherwise."""
    if within is None or count.total is None:
        return False
    return within.current.is_integer() and "global" not in count.word


def _total_in(line: _Line, count: Count) -> float | None:
    found = _MAX.search(line.text) if "_" in line.text else None
    if found is None or count.unit != ("epoch" if found[1] == "epochs" else "step"):
        return None
    total = float(found[2])
    return total if total > 0 and count.current <= total else None


def _of_percent(line: _Line, percent: float) -> Sighting:
    return Sighting(
        unit="percent",
        current=percent,
        total=_ALL,
        series="%",
        elapsed_s=line.elapsed_s,
        eta_s=line.eta_s,
        metrics=line.metrics,
    )
