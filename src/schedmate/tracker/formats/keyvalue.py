"""What people print themselves: `step=120 loss=0.3`, `Epoch 3/90`, `step 120/5000 | loss 2.31`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Phase, Unit
from schedmate.tracker.formats.base import Ordinal, Sighting
from schedmate.tracker.formats.checkpoints import checkpoint_in
from schedmate.tracker.formats.counts import (
    Count,
    Level,
    bracket_in,
    counts_in,
    pair_after,
    pairs_in,
    percent_in,
    stands_first,
)
from schedmate.tracker.formats.keyvalue_samples import SAMPLES
from schedmate.tracker.formats.keyvalue_wordings import LOOKALIKES, WORDINGS
from schedmate.tracker.formats.quantities import THROUGHPUTS, elapsed_in, eta_in, speeds_in
from schedmate.tracker.formats.stated_metrics import metrics_stated
from schedmate.tracker.formats.total_names import total_names

_MAX_LENGTH = 2048
_MAX_HEADLINE = 300
_BLANKS = lazy_pattern(r" {3,2048}")
_WORDS = lazy_pattern(r"[^\W\d_]{1,30}|\d{1,15}|/")
_HEADLINE = lazy_pattern(
    r"(?:start(?:ing|ed)? |begin(?:ning)? )?(?:train(?:ing)? )?(?:[^\W\d_]{1,12} )?\d{1,9} "
    r"(?:(?:/|of|von|sur|de|di|из) \d{1,9} )?(?:轮 |start(?:s|ed|ing)? |begins? |begun )?"
    r"(?:(?:with )?\d{1,9} (?:batches|minibatches|steps|iterations|iters|updates) )?"
)
_ENDED = lazy_pattern(r"\b(?:finished|completed?|done|ended|end of|took)\b")
_WITHIN = lazy_pattern(r"\b(?:batch|step|iter(?:ation)?)\b[\s:=#]{0,3}[\[(]?\d")
_BEST = lazy_pattern(r"\W{0,8}(?:best|highest|lowest|top)\b")
_PARTS = ("stage", "phase", "client", "agent", "member")
_OF_A_PART = lazy_pattern(rf"\b(?:{'|'.join(_PARTS)})\W{{0,3}}\d{{1,4}} ?/ ?\d")
_OF_A_PART_SURE = 0.4
"""It is unknown whether the parts that the line counts as well are of one length."""
_MAX = lazy_pattern(
    r"\b(?:max|total|num)_(?:train_)?(steps|iters|iterations|epochs)\s{0,2}[:=]\s{0,2}(\d{1,15})\b"
)
_PROSE = lazy_pattern(r"\W{0,8}[A-Za-z]{2,20}(?:\W|$)")
_THINGS = lazy_pattern(
    r"\W{0,8}(?:files|shards|gpus|nodes|workers|layers|tests|checks|packages|epochs|correct|passed"
    r"|failed|patience|classes|evaluations)\b",
    re.IGNORECASE,
)
_RECIPE = lazy_pattern(r" : [A-Z]{3,11} |\s{1,3}per\b")
"""`Step 3/7 : FROM python:3.11`, `batch 32/64 per device`."""
_FEW = 50
"""Lists of things to do count as far as this: `Step 3/7 : RUN pip install`."""
_NO_TRAINING = (
    "load", "download", "upload", "tokeniz", "preprocess", "extract", "install", "compil",
    "generated ", "generating ", "filter", "correct", "passed", "failed", "captur", "cache",
    "copied", "copying", "shard",
)  # fmt: skip
_ALL = 100.0
_SETTINGS = ("lr", "learning_rate", "size", "seed", "momentum", "decay", "dropout", "workers")
"""Printed where an epoch begins as well as where it ends."""
_LAPS = ("fold", "folds")
_NUMBERS_OF = frozenset({"n_iter", "num_iter", "num_updates"})
"""Names of a total as often as of a count."""
_RESULTS = lazy_pattern(r"loss|acc|err|reward|score|ppl|energy|grad|norm|return")


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
        """The line holds results of the training, not only its settings."""
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
        "epo", "ep.", "step", "iter", "itr", "update", "batch", "it=", "it ", "it:", "episode",
        "round", "runde", "generation", "gen ", "trial", "task", "fold", "sample", "example",
        "image", "token", "training", "progress", "train ", "train:", "fortschritt", "overall",
        "% ", "schritt", "époque", "étape", "época", "paso", "passo", "эпох", "шаг", "итерац",
        "раунд", "エポック", "ステップ", "ラウンド", "에포크", "스텝", "轮", "步", "迭代", "loss",
        "acc", "ppl", "reward", "/",
    )  # fmt: skip
    samples = SAMPLES + WORDINGS + LOOKALIKES

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if "   " in text:
            text = _BLANKS.sub("  ", text)
        lowered = text.lower()
        found = counts_in(text) or pairs_in(text)
        bare = None if found else bracket_in(text, 0, bare=True)
        if found or bare:
            return _of_counts(_line(text, lowered, found or [bare] if bare else found))
        percent = percent_in(text) if "%" in text else None
        if percent is None or any(word in lowered for word in _NO_TRAINING):
            return None
        return _of_percent(_line(text, lowered, []), percent)


def _line(text: str, lowered: str, counts: list[Count]) -> _Line:
    speeds = speeds_in(text, lowered)
    named = {name: speeds[unit] for unit, name in THROUGHPUTS.items() if unit in speeds}
    return _Line(
        text=text,
        lowered=lowered,
        counts=_by_level(counts),
        metrics=metrics_stated(text, lowered) | named,
        speeds=speeds,
        elapsed_s=elapsed_in(lowered),
        eta_s=eta_in(lowered),
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
    step = line.counts.get("step")
    if step is not None and step.beyond is not None:
        within = _within_its_epoch(step, epoch)
        return None if within is None else _sighting(line, within, within=epoch)
    if outer is not None and outer.total is not None and stands_first(line.text, outer.start):
        if epoch is not None and epoch.total is not None and outer.word in _LAPS:
            ordinal: Ordinal = "ended" if line.results else "begun"
            return _sighting(line, epoch, within=outer, ordinal=ordinal, series="fold's epoch")
        return _sighting(line, outer, ordinal=_ordinal(line))
    if epoch is not None and "step" not in line.counts and "sample" not in line.counts:
        inner = bracket_in(line.text, epoch.end) or pair_after(line.text, epoch.end)
        if inner is not None and not _THINGS.match(line.text, inner.end):
            return _sighting(line, inner, within=epoch, series="epoch[]")
    fine = _fine(line)
    if fine is not None and not _is_something_else(line, fine):
        return _sighting(line, fine, within=epoch)
    return None if epoch is None or epoch.word == "[]" else _of_epochs(line, epoch)


def _within_its_epoch(step: Count, epoch: Count | None) -> Count | None:
    """`Epoch[2] Iteration[30/25]` is the fifth of 25; without such an epoch it is no count."""
    each = step.beyond
    if each is None or epoch is None:
        return None
    laps = (step.current - 1) // each
    if laps not in (epoch.current - 1, epoch.current):
        return None
    return replace(step, current=step.current - laps * each, total=each, beyond=None)


def _fine(line: _Line) -> Count | None:
    """The count of steps, samples or tokens that is most specific, if there is one."""
    levels: tuple[Level, ...] = ("step", "sample", "token")
    fine = [line.counts[level] for level in levels if level in line.counts]
    counted = next((one for one in fine if one.total is not None), None)
    if counted is not None:
        return counted
    step, epoch = line.counts.get("step"), line.counts.get("epoch")
    if step is None:
        return fine[0] if fine and line.results and fine[0].level == "token" else None
    if step.word.endswith("s") and _total_in(line, step) is None:
        return None
    sized = step.word.endswith("batch") and _total_in(line, step) is None
    if sized and (epoch is not None or not line.results):
        return None
    if epoch is not None and epoch.total is not None and epoch.total > 1:
        return None
    a_total = step.word in _NUMBERS_OF and not _RESULTS.search(line.lowered)
    results = line.results and not a_total
    supported = results or line.timed or epoch is not None or step.percent is not None
    return step if supported else None


def _is_something_else(line: _Line, count: Count) -> bool:
    """A list of tasks, files being loaded, what passed a test: no training."""
    before = line.text[: count.start].lower()
    if count.level in ("sample", "token", "step") and any(word in before for word in _NO_TRAINING):
        return True
    if count.word == "[]" and (not line.results or _THINGS.match(line.text, count.end)):
        return True
    if _RECIPE.match(line.text, count.end):
        return True
    if line.metrics or line.timed or count.total is None or "epoch" in line.counts:
        return False
    if count.level != "step" and count.total <= _FEW:
        return True
    return count.total <= _FEW and _PROSE.match(line.text, count.end) is not None


def _of_epochs(line: _Line, epoch: Count) -> Sighting | None:
    if epoch.total is None and not _is_position(line, epoch):
        return None
    return _sighting(line, epoch, ordinal=_ordinal(line) if epoch.current.is_integer() else None)


def _is_position(line: _Line, epoch: Count) -> bool:
    """Whether an epoch without a total is where the run stands: alone, over or with results."""
    if epoch.word == "ep" or epoch.word.endswith("epochs") or _BEST.match(line.lowered):
        return False
    if line.results or _is_headline(line.lowered):
        return True
    over = _ENDED.search(line.lowered[:100]) is not None
    return over and stands_first(line.text, epoch.start)


def _is_headline(lowered: str) -> bool:
    """Whether the line names an epoch, that it begins perhaps, and says nothing else."""
    words = _WORDS.findall(lowered[:_MAX_HEADLINE])
    return _HEADLINE.fullmatch(" ".join([*words, ""])) is not None


def _ordinal(line: _Line) -> Ordinal:
    """An epoch named alone or before its steps has begun; one with its results has ended."""
    finer = "step" in line.counts or ("outer" in line.counts and len(line.counts) > 1)
    if finer or _WITHIN.search(line.lowered):
        return "begun"
    ended = line.results or line.timed or _ENDED.search(line.lowered)
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
        confidence=_OF_A_PART_SURE if _is_of_a_part(line.lowered) else 1.0,
    )


def _is_of_a_part(lowered: str) -> bool:
    return any(part in lowered for part in _PARTS) and _OF_A_PART.search(lowered) is not None


def _restarts(count: Count, within: Count | None) -> bool:
    """A count beside a whole number of epochs is of that epoch, unless it says otherwise."""
    if within is None or count.total is None:
        return False
    return within.current.is_integer() and "global" not in count.word


def _total_in(line: _Line, count: Count) -> float | None:
    """`max_steps=900` or `batches=350` beside `batch=140`."""
    found = _MAX.search(line.text) if "_" in line.text else None
    if found is not None and count.unit == ("epoch" if found[1] == "epochs" else "step"):
        total = float(found[2])
        return total if total > 0 and count.current <= total else None
    named = (line.metrics.get(name, 0.0) for name in total_names(count.word))
    fitting = (total for total in named if total >= max(count.current, 2.0) and total.is_integer())
    return next(fitting, None)


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
