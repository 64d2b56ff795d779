"""Sentences that say that an evaluation begins or is over."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting

_MAX_LENGTH = 300
_WHAT = r"(?:evaluat(?:ion|ing|e)|eval|validat(?:ion|ing|e))"
_START = r"(?:(?:running|run|start(?:ing|ed)?|begin(?:ning)?|perform(?:ing)?) (?:the )?)"
_BEGINS = lazy_pattern(
    rf"[^\w]{{0,20}}(?:now )?(?:{_START}{_WHAT}|{_START}?(?:evaluating|validating)"
    rf"|(?<=[*=#-] ){_WHAT})\b(?! (?:every|interval|set|data|done|finished|ended|complete|took))"
    r"(?: \w{1,20}){0,5}[\s.:*=!#-]{0,60}(?:\d{1,12}[\s.:*=!#-]{0,60})?",
    re.IGNORECASE,
)
_ENDS = lazy_pattern(
    rf"[^\w]{{0,20}}(?:(?:finished|completed|done(?: with)?) (?:the )?{_WHAT}"
    rf"|{_WHAT}(?: (?:loop|epoch|phase|step))? (?:done|finished|ended|completed?|took))\b"
    r".{0,100}",
    re.IGNORECASE,
)


class Evaluations:
    name = "evaluation"
    hints = ("eval", "validat")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        lowered = text.lower()
        if len(line) > _MAX_LENGTH or not any(hint in lowered for hint in self.hints):
            return None
        if _ENDS.fullmatch(text):
            return Sighting(phase="training")
        return Sighting(phase="evaluating") if _BEGINS.fullmatch(text) else None

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample("***** Running Evaluation *****", Sighting(phase="evaluating")),
        Sample("Evaluating...", Sighting(phase="evaluating")),
        Sample("Starting validation", Sighting(phase="evaluating")),
        Sample("Validating on the test set:", Sighting(phase="evaluating")),
        Sample("=== validation at step 500 ===", Sighting(phase="evaluating")),
        Sample("Evaluation done in 12.3s", Sighting(phase="training")),
        Sample("Finished validation.", Sighting(phase="training")),
        Sample("the validation set has 3 evaluation files; see /data", None),
        Sample("validation set: 5000 images", None),
        Sample("evaluation every 500 steps", None),
        Sample("Validation loss: 0.31", None),
        Sample("eval_steps: 500", None),
        Sample("validation: 84480", None),
        Sample("evaluating " * 10_000, None),
    )
