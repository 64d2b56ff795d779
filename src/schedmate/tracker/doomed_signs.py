"""What a log shows of a run that goes on for nothing: a loss that stays no number, checkpoints that
cannot be written. Precision before recall: what may still recover is not stated.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import EarlyWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.tracker.formats import Sighting

_LOOKED_AT = 800
_MAX_TEXT = 200
_IGNORE = re.IGNORECASE

_LOSS = lazy_pattern(r"(?:^|[/_. -])loss(?:es)?(?:$|[/_. -])", _IGNORE)
_NO_LOSS = lazy_pattern(r"scal|weight|best|lowest|min(?:imum)?[/_. -]|[/_. -]min$", _IGNORE)
_OF_EVALUATION = lazy_pattern(r"(?:^|[/_. -])(?:val(?:id(?:ation)?)?|eval\w*|test|dev)", _IGNORE)
_GRADIENT = lazy_pattern(r"^g(?:rad(?:ient)?s?)?[/_. -]?norm$", _IGNORE)
_HANDLED = lazy_pattern(
    r"\bskip(?:s|ped|ping)?\b(?! iterations: {0,6}0\b)|\boverflow|\bignor(?:es?|ed|ing)\b|\bclipp"
    r"|\b(?:reduc|decreas|lower|halv|adjust)\w{0,6} .{0,30}\bscal|\bscal\w{0,4} (?:halved|reduced)"
    r"|\bnan iterations: {0,6}[1-9]",
    _IGNORE,
)
_BEGUN_ANEW = lazy_pattern(
    r"\b(?:(?:re)?load|restor|resum|roll(?:ing|ed|s)? ?back|revert|re-?initiali[sz])\w{0,6}\b"
    r".{0,80}(?:checkpoint|ckpt|snapshot|weights|state|step|\.pth?\b|model)",
    _IGNORE,
)
_ONE_OF_MANY = lazy_pattern(
    r"\b(?:fold|trial|member|split|repeat)[ _#:=-]{0,3}\d"
    r"|\b(?:model|run|experiment|seed|training)[ _#:=-]{0,3}\d{1,4} ?(?:of|/) ?\d",
    _IGNORE,
)
_LEAST_REPORTS = 3
_WITH_GRADIENT = 10
"""Reports of which the newest show a gradient that is no number either."""
_NEWEST_GRADIENTS = 5
_FEW_REPORTS, _MANY_STEPS, _MANY_REPORTS = 40, 200, 200
"""Loss scalers halve at most 32 times in a row, means are taken over 100 steps, and a bad shard of
data that is passed over without a word has a few hundred."""


@dataclass(slots=True)
class LossSigns:
    """Since when every report of the training loss is no number, after it was one.

    A mean that is drawn over an epoch stays no number until the next one begins, and a loss scaler
    skips steps: so the end of an epoch, the gradients or many steps must show that it stays so.
    Where one training follows the other, the next one must be lost as well.
    """

    finite_once: bool = False
    reports: int = 0
    gradients: int = 0
    """Of the newest reports so many in a row had a gradient that is no number."""
    infinite_only: bool = False
    """The newest one is infinite, which a part of a loss may be for long."""
    excused: bool = False
    """A line shows that it is being handled, or another loss is a number."""
    since_epoch: int = 0
    """Reports since an epoch ended in which it was no number already."""
    epochs: bool = False
    """Whether the log counts epochs."""
    counted: float | None = None
    """The newest epoch; steps where none are counted."""
    trainings: int = 1
    """How often that count began anew, ..."""
    since_training: int = -1
    """... and reports that were no number since it last did; -1 where it was one before."""
    epoch: float | None = None
    began_at: float | None = None
    newest_at: float | None = None
    line: str = ""

    @property
    def is_open(self) -> bool:
        return self.reports > 0

    def see_line(self, text: str) -> None:
        """Any line while no number is reported."""
        if _BEGUN_ANEW.search(text):
            self._forget()
        elif _HANDLED.search(text):
            self.excused = True

    def report(self, sighting: Sighting, epoch: float | None, text: str) -> None:
        values: dict[_Kind, list[float]] = {"training": [], "evaluation": [], "gradient": []}
        for name, value in sighting.metrics.items():
            values.get(_kind_of(name), []).append(value)
        trained, validated = values["training"], values["evaluation"]
        self._count_trainings(sighting, epoch)
        lost_gradient = not all(map(math.isfinite, values["gradient"]))
        if not trained:
            self.excused |= self.is_open and any(map(math.isfinite, validated))
        elif all(_is_lost(value, nan=lost_gradient) for value in trained):
            self._lose(sighting, epoch, text, trained)
            self.gradients = self.gradients + 1 if lost_gradient else 0
            # gradients that are numbers have not spoilt the weights
            fine = bool(values["gradient"]) and not lost_gradient
            self.excused |= fine or any(map(math.isfinite, validated))
            self.excused |= _ONE_OF_MANY.search(text[:_LOOKED_AT]) is not None
        else:
            self._forget()
            # a part that never was a number says nothing
            self.finite_once = True
        self._note_epoch(sighting, epoch)

    def _count_trainings(self, sighting: Sighting, epoch: float | None) -> None:
        is_epoch = sighting.unit == "epoch" or epoch is not None
        if self.epochs and not is_epoch:
            return
        now = epoch if epoch is not None else sighting.current
        if is_epoch and not self.epochs:
            self.counted = None
        if now is not None and self.counted is not None and now < 0.5 * self.counted:
            self.trainings += 1
            self.since_training = 0 if self.is_open else -1
        self.counted = self.counted if now is None else now
        self.since_training += self.is_open and self.since_training >= 0

    def _lose(
        self, sighting: Sighting, epoch: float | None, text: str, trained: list[float]
    ) -> None:
        current = sighting.current
        if not self.reports:
            self.began_at, self.line, self.epoch = current, text[:_MAX_TEXT], epoch
        ended = epoch is not None and self.epoch is not None and int(epoch) > int(self.epoch)
        restarted = None not in (current, self.newest_at) and current < self.newest_at  # type: ignore[operator]
        self.since_epoch += bool(self.reports and (ended or restarted)) or self.since_epoch > 0
        self.reports += 1
        self.newest_at = current
        self.infinite_only = not any(map(math.isnan, trained)) and 0.0 not in trained

    def _note_epoch(self, sighting: Sighting, epoch: float | None) -> None:
        self.epochs |= epoch is not None or sighting.unit == "epoch"
        if sighting.unit == "epoch" and self.reports > 1:
            self.since_epoch = max(self.since_epoch, self.reports - 1)

    def _forget(self) -> None:
        self.reports = self.gradients = self.since_epoch = 0
        self.since_training = -1
        self.excused = self.infinite_only = False
        self.began_at = self.newest_at = None
        self.line = ""

    @property
    def for_good(self) -> bool:
        another = self.trainings > 1 and self.since_training < _LEAST_REPORTS
        if another or not self.finite_once or self.excused or self.reports < _LEAST_REPORTS:
            return False
        if self.reports >= _WITH_GRADIENT and self.gradients >= _NEWEST_GRADIENTS:
            return True
        if self.infinite_only:
            return False
        if self.epochs:
            return self.since_epoch >= _LEAST_REPORTS - 1
        if self.began_at is None or self.newest_at is None:
            return self.reports >= _MANY_REPORTS
        far = self.newest_at - self.began_at >= _MANY_STEPS
        return self.reports >= _FEW_REPORTS and far

    def warning(self, *, one_of_many: bool) -> EarlyWarning | None:
        """`one_of_many`: the next trial of the same job begins anew."""
        if one_of_many or not self.for_good:
            return None
        since = "" if self.began_at is None else f", since {self.began_at:.15g}"
        text = f"its loss has been no number in {self.reports} reports in a row{since}"
        return EarlyWarning(reason="loss_nan", text=text, line=self.line, firm=True)


_Kind = Literal["training", "evaluation", "gradient", "other"]


@lru_cache(maxsize=1024)
def _kind_of(name: str) -> _Kind:
    """What a metric of this name measures, as far as it matters here."""
    if _GRADIENT.search(name):
        return "gradient"
    if _LOSS.search(name) is None or _NO_LOSS.search(name) is not None:
        return "other"
    return "evaluation" if _OF_EVALUATION.search(name) else "training"


def _is_lost(value: float, *, nan: bool) -> bool:
    """Transformers states 0.0 for a loss that is no number."""
    return not math.isfinite(value) or (nan and value == 0.0)


_ERRORS: Mapping[str, str] = {
    "disk_full": r"no space left on device|errno 28\b|storagefull",
    "disk_quota": r"disk quota exceeded|errno 122\b",
    "storage_io": (
        r"read-only file system|errno 30\b|input/output error|errno 5\b|stale file handle"
        r"|enforce fail at inline_container|pytorchstreamwriter failed"
    ),
    "permission_denied": r"permission denied|errno 13\b|operation not permitted|errno 1\b",
}
_ERROR = {reason: lazy_pattern(words, _IGNORE) for reason, words in _ERRORS.items()}
_ANY_ERROR = lazy_pattern("|".join(_ERRORS.values()), _IGNORE)
_SAVES = lazy_pattern(
    r"torch\.save\(|save_(?:checkpoint|model|pretrained|state)|saving checkpoint|_save_checkpoint",
    _IGNORE,
)
_CHECKPOINT = lazy_pattern(
    r"checkpoint|\bckpt|[\w-]\.(?:pt|pth|ckpt|safetensors|keras|h5|msgpack)\b|torch\.save"
    r"|safetensorerror",
    _IGNORE,
)
_SOMETHING_ELSE = lazy_pattern(
    r"delet|remov|unlink|prun|upload|download|\bload|\bread(?!-)|cache|wandb|tensorboard|\blogs?\b"
    r"|\bopen(?:ing)?\b.{0,20}for reading|^\W{0,3}(?:cp|mv|ln|scp|rsync|tar|chmod|mkdir|touch): "
    r"|\.(?:png|jpe?g|gif|svg|csv|tsv|jsonl?|txt|html?|log|ya?ml|md|mp4|wav|tfevents\S{0,40})\b",
    _IGNORE,
)
_ELSEWHERE = lazy_pattern(
    r"\b(?:using|instead|fall(?:s|ing)? ?back|fallback)\b|\b(?:wrote|saved|stored)\b", _IGNORE
)
_NOT = lazy_pattern(r"\b(?:not|never|nothing|none|fail\w{0,4}|un\w{2,10})\b|n't\b", _IGNORE)
_NEAR = 8
"""Lines of a traceback between the call that saves and its error."""
_FAILED_SAVES = 2


def may_concern(text: str) -> bool:
    """Whether such a line may tell of a checkpoint that is not written."""
    cut = text[:_LOOKED_AT]
    return _ANY_ERROR.search(cut) is not None or _SAVES.search(cut) is not None


@dataclass(slots=True)
class SaveSigns:
    """Checkpoints that could not be written since the last one that could, while the run counts."""

    failed: int = 0
    failed_at: int = -1
    """How much had been counted then: what is tried again at once is one."""
    reason: str = ""
    line: str = ""
    saving_line: int | None = None
    """The line that begins to save, as long as nothing shows what came of it, ..."""
    saving_at: int = -1
    """... and how much had been counted then."""
    counts: int = 0
    failed_line: int = 0

    def is_fresh(self, line: int) -> bool:
        """Whether what follows a failure may say what came of it."""
        return self.failed > 0 and line - self.failed_line <= _NEAR

    def see_what_follows(self, text: str) -> None:
        cut = text[:_LOOKED_AT]
        if _ELSEWHERE.search(cut) and not _NOT.search(cut) and not _ANY_ERROR.search(cut):
            self._forget()  # it was written to another place

    def see_line(self, text: str, line: int) -> None:
        error = _ANY_ERROR.search(text) is not None
        if not error:
            if _SAVES.search(text):
                self.saving_line, self.saving_at = line, self.counts
            return
        near = self.saving_line is not None and line - self.saving_line <= _NEAR
        if _SOMETHING_ELSE.search(text) or not (near or _CHECKPOINT.search(text)):
            return
        self.saving_line = None
        if "using " in text or "instead" in text:
            return
        self.failed_line = line
        if self.failed_at != self.counts or not self.failed:
            self.failed += 1
        self.failed_at = self.counts
        self.reason = next(one for one, words in _ERROR.items() if words.search(text))
        self.line = self.line or text[:_MAX_TEXT]

    def report(self, sighting: Sighting, line: int, counts: int) -> None:
        self.counts = counts
        if sighting.checkpoint is not None:
            if sighting.phase == "checkpointing":
                self.saving_line, self.saving_at = line, counts
            else:
                self._forget()
        elif self.saving_line is not None and counts > self.saving_at + 1:
            self._forget()  # it went on without an error

    def _forget(self) -> None:
        self.failed, self.line, self.saving_line = 0, "", None

    def warning(self) -> EarlyWarning | None:
        if self.failed < _FAILED_SAVES or self.counts <= self.failed_at:
            return None
        text = f"{self.failed} checkpoints in a row could not be written, and it goes on"
        return EarlyWarning(reason=self.reason, text=text, line=self.line, firm=True)
