"""Sentences that say what the job is doing: evaluating, saving a checkpoint."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.model import Checkpoint
from schedmate.tracker.formats.base import Sample, Sighting

_LONGEST = 1024
_SAVE = re.compile(
    r"\b(sav(?:ing|ed?)|wr(?:iting|ote))\b[^/\n]{0,60}?\b(?:checkpoint|ckpt|snapshot)\b"
    r"(?:[^/\w.]{0,4}(?:\w{1,12} ){0,3}(?:to|at|in|as)?[\s:='\"`]{0,6}"
    r"((?:\.{0,2}/)?[\w.=-]{1,200}(?:/[\w.=-]{1,200}){0,20}))?",
    re.IGNORECASE,
)
_STEP = re.compile(r"(?:step|iter|ckpt|checkpoint)[-_=\s]{0,2}(\d{1,12})", re.IGNORECASE)
_EVALUATING = re.compile(
    r"[*\s=-]{0,20}(?:running |start(?:ing|ed)? )?"
    r"(?:evaluation|evaluating|validating|validation)\b[\s\w.:*=-]{0,60}",
    re.IGNORECASE,
)


class Announcements:
    name = "announcement"
    hints = ("checkpoint", "ckpt", "snapshot", "evaluat", "validat")

    def read(self, line: str) -> Sighting | None:
        text = line[:_LONGEST]
        lowered = text.lower()
        if "checkpoint" in lowered or "ckpt" in lowered or "snapshot" in lowered:
            return _saved(text)
        if "evaluat" in lowered or "validat" in lowered:
            return Sighting(phase="evaluating") if _EVALUATING.fullmatch(text) else None
        return None

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "Saving model checkpoint to out/checkpoint-500",
            Sighting(
                checkpoint=Checkpoint(path="out/checkpoint-500", step=500), phase="checkpointing"
            ),
        ),
        Sample(
            "saved checkpoint: /scratch/run/ckpt_1000.pt",
            Sighting(checkpoint=Checkpoint(path="/scratch/run/ckpt_1000.pt", step=1000)),
        ),
        Sample("saving checkpoint", Sighting(checkpoint=Checkpoint(), phase="checkpointing")),
        Sample("***** Running Evaluation *****", Sighting(phase="evaluating")),
        Sample("Evaluating...", Sighting(phase="evaluating")),
        Sample("loading checkpoint from out/checkpoint-500", None),
        Sample("the validation set has 3 evaluation files; see /data", None),
        Sample("saving " * 10_000 + "checkpoint", None),
    )


def _saved(text: str) -> Sighting | None:
    found = _SAVE.search(text)
    if found is None:
        return None
    path = found[2] if found[2] and ("/" in found[2] or "." in found[2]) else None
    step = _STEP.search(path or text)
    return Sighting(
        checkpoint=Checkpoint(path=path, step=int(step[1]) if step else None),
        phase="checkpointing" if found[1].lower().endswith("ing") else None,
    )
