"""Sentences that state that the training is over, and why if they state it."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import EndsBy
from schedmate.tracker.formats.base import Sample, Sighting

_MAX_LENGTH = 400
_HEAD = r"(?:.{0,100}(?:[\]:|>,.!;]| -|\b(?:info|warning|root)) {0,4}|[\W_]{0,40})?"
_COMPLETE = lazy_pattern(
    rf"{_HEAD}(?:(?:the )?(?:model )?training"
    r"(?: (?:run|loop|process|has|is|was|successfully)){0,2}"
    r" (?:completed?|finished|done|over|ended)"
    r"|(?:finished|completed|done with|done|end of) (?:the )?(?:model )?training"
    r"(?: (?:run|loop|process))?)"
    r"(?! (?:epoch|step|iter|batch|data|phase|set|fold|round|stage|for (?:epoch|step|this)))"
    r"(?:$|[\s.!:,(;-].{0,250})",
    re.IGNORECASE,
)
_OF_A_PART = lazy_pattern(
    r"(?<!best )\b(?:epoch|round|client|fold|step|stage|trial|phase|task|iteration|batch|worker"
    r"|seed|model|agent|member|learner)s?\W{0,3}\d",
    re.IGNORECASE,
)
_NOT_THE_END = lazy_pattern(
    r"counter|patience ?[=:(]|enabled|disabled|conditioned|callback|\b(?:will|would|if|when|unless"
    r"|using|config\w{0,10}|trial|until|no|not (?:triggered|reached|met|exceeded))\b(?! improve)"
    r"|min_delta|\d ?(?:/|out of) ?\d|early.?stopping (?:rounds|patience)"
    r"|early.?stop(?:ping)?\s{0,3}[=:(]\s{0,3}(?:\d|true|false|none|null|['\"{\[])",
    re.IGNORECASE,
)
_EARLY = lazy_pattern(
    r"\bearly[ _-]?stop(?:ping|ped)?\b|\bstop(?:ping|ped)[ _]early\b|\bran out of patience\b"
    r"|\bpatience (?:of \d{1,6} )?(?:exceeded|reached|exhausted|ran out)\b"
    r"|did not improve .{0,100}signaling trainer to stop"
    r"|^\W{0,8}stopping\b[\s.,;:]{1,3}best (?:iteration|epoch|step|round|score)\b",
    re.IGNORECASE,
)
_TARGET = lazy_pattern(
    r"^.{0,100}\b(?:(?:reached|hit|achieved) (?:the )?target \w{1,20}|target \w{1,20} (?:was |is )?"
    r"(?:reached|achieved|hit))\b(?! (?:yet|by|before))",
    re.IGNORECASE,
)
_CAP = lazy_pattern(
    r"\b(?:wall[ _-]?clock|time|training time|max(?:imum)? (?:\w{1,12} ){0,2}time)[ _]?"
    r"(?:cap|limit|budget)?[ _](?:is |was )?(?:reached|exceeded|hit|is up|expired|used(?: up)?"
    r"|exhausted|spent)\b"
    r"|\b(?:reached|exceeded|hit) (?:the )?(?:max(?:imum)? )?"
    r"(?:wall[ _-]?clock|training|run|wall)?[ _-]?time (?:cap|limit|budget)\b",
    re.IGNORECASE,
)
_OVER = ("reached", "exceeded", "hit", "expired", "is up", "used", "exhausted", "spent")
_NOT_YET = lazy_pattern(r"\b(?:not|will|would|if|when|until|unless|once|never)\b", re.IGNORECASE)
_EARLY_WORDS = ("early", "patience", "trainer to stop", "stopping")
_LIMIT = lazy_pattern(r"slurmstepd: error: .{0,200}CANCELLED AT \S{1,40} DUE TO TIME LIMIT")


class Stops:
    name = "stop"
    hints = (
        "training", "early", "patience", "target", "trainer to stop", "time limit", "budget",
        "reached", "exceeded", "expired", "time is up", "wallclock_cap", "stopping",
    )  # fmt: skip

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        lowered = text.lower()
        if len(line) > _MAX_LENGTH or not any(hint in lowered for hint in self.hints):
            return None
        if "due to time limit" in lowered:
            return Sighting(ended_by="limit") if _LIMIT.search(text) else None
        ended_by = _why(text, lowered)
        if ended_by is not None:
            return Sighting(ended_by=ended_by, phase="finished")
        over = "training" in lowered and _COMPLETE.fullmatch(text) and not _OF_A_PART.search(text)
        return Sighting(phase="finished") if over else None

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample("Training completed", Sighting(phase="finished")),
        Sample(
            "[titan] 2025-01-01 12:00:00,000 - root - INFO - Training completed",
            Sighting(phase="finished"),
        ),
        Sample("Finished training in 3:20:10", Sighting(phase="finished")),
        Sample("Training complete. Best acc: 0.91", Sighting(phase="finished")),
        Sample("Training is done!", Sighting(phase="finished")),
        Sample("Stopping, best epoch was 12", Sighting(ended_by="early_stop", phase="finished")),
        Sample("wall clock budget used, stopping", Sighting(ended_by="cap", phase="finished")),
        Sample("Early stopping", Sighting(ended_by="early_stop", phase="finished")),
        Sample("Epoch 00012: early stopping", Sighting(ended_by="early_stop", phase="finished")),
        Sample(
            "Early stopping triggered after 12 epochs",
            Sighting(ended_by="early_stop", phase="finished"),
        ),
        Sample(
            "EarlyStopping: stop training at step 900",
            Sighting(ended_by="early_stop", phase="finished"),
        ),
        Sample("Patience exceeded, stopping.", Sighting(ended_by="early_stop", phase="finished")),
        Sample(
            "Reached target accuracy 0.759 after 38 epochs",
            Sighting(ended_by="early_stop", phase="finished"),
        ),
        Sample(
            "Monitored metric val_loss did not improve in the last 3 records. Best score: 0.412. "
            "Signaling Trainer to stop.",
            Sighting(ended_by="early_stop", phase="finished"),
        ),
        Sample(
            "stopping_early: wallclock_cap train_time:600011ms step:13780/20000",
            Sighting(ended_by="cap", phase="finished"),
        ),
        Sample(
            "Time limit reached. Elapsed time is 0:10:00. Signaling Trainer to stop.",
            Sighting(ended_by="cap", phase="finished"),
        ),
        Sample(
            "slurmstepd: error: *** JOB 12 ON n7 CANCELLED AT 2025-01-01T12:00:00 DUE TO TIME LIMIT"
            " ***",
            Sighting(ended_by="limit"),
        ),
        Sample(
            "Early stopping: no improvement for 10 epochs",
            Sighting(ended_by="early_stop", phase="finished"),
        ),
        Sample("Training complete. Best epoch: 12", Sighting(phase="finished")),
        Sample(
            "Hit target accuracy AUC 0.8025 at 68274/75868 iterations",
            Sighting(ended_by="early_stop", phase="finished"),
        ),
        Sample("the run ends when it has reached the target accuracy", None),
        Sample("finished epoch 3", None),
        Sample("Epoch 3: training complete in 30s", None),
        Sample("Client 3: training done", None),
        Sample("Pre-training complete, fine-tuning next", None),
        Sample("Early stopping not triggered", None),
        Sample("EarlyStopping: val_loss did not improve (3/10)", None),
        Sample("finished loading the training data", None),
        Sample("Finished training epoch 3/90", None),
        Sample("Finished training step 12. Batch size: 512, Loss: 10.5", None),
        Sample("Training epoch 3 finished", None),
        Sample("Finished training for epoch 3", None),
        Sample("download complete", None),
        Sample("EarlyStopping counter: 3 out of 10", None),
        Sample("early stopping patience: 5", None),
        Sample("early_stopping=True", None),
        Sample("early_stopping: 10", None),
        Sample("Early stopping is enabled", None),
        Sample("Early stopping conditioned on metric `val_loss` which is not available", None),
        Sample("training will be done on 8 GPUs", None),
        Sample("the training data is complete", None),
        Sample("Using early stopping with patience=5", None),
        Sample("time limit: 2h", None),
        Sample("Training until validation scores don't improve for 10 rounds", None),
        Sample("training complete " * 10_000, None),
    )


def _why(text: str, lowered: str) -> EndsBy | None:
    if "wallclock_cap" in text:
        return "cap" if "stopping_early" in text else None
    over_time = any(word in lowered for word in _OVER) and _CAP.search(text)
    if over_time and not _NOT_THE_END.search(text):
        return "cap"
    if "target" in lowered and _TARGET.match(text) and not _NOT_YET.search(text):
        return "early_stop"
    early = any(word in lowered for word in _EARLY_WORDS) and _EARLY.search(text)
    if not early:
        return None
    certain = "trainer to stop" in lowered or _NOT_THE_END.search(text) is None
    return "early_stop" if certain else None
