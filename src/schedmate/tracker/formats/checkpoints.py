"""Sentences that say that the state of the run is being saved, or was, and where."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Checkpoint
from schedmate.tracker.formats.base import Sample, Sighting

_MAX_LENGTH = 1024
_STATE = r"(?:checkpoints?|ckpts?|snapshots?|(?:training |train )?state|(?:model|weights)(?:'s)?)"
_SAVED = r"(sav(?:ing|ed)|wr(?:iting|ote|itten)|dump(?:ing|ed)|stor(?:ing|ed))"
_SAVE = lazy_pattern(
    rf"(?<![\w/.-]){_SAVED}\b(?! (?:by|when|if|every))[^/\n]{{0,60}}?\b{_STATE}\b"
    rf"|(?<![\w/.-]){_STATE}(?: (?!not|to|will|can|must)\w{{1,12}}){{0,3}} {_SAVED}\b(?! by)",
    re.IGNORECASE,
)
_PLACE = lazy_pattern(
    r"[^/\w.~]{0,6}(?:(?!to |at |in |as )\w{1,12} ){0,4}(?:\b(?:to|at|in|as|into|under)\b)?"
    r"[\s:='\"`(<>-]{0,8}"
    r"((?:[a-z0-9]{2,8}:/{0,2})?(?:[~.]{0,2}/)?[\w.=@+-]{1,200}(?:/[\w.=@+-]{1,200}){0,30}/?)",
    re.IGNORECASE,
)
_FILE = lazy_pattern(
    r"\.(?:pt|pth|bin|ckpt|h5|keras|safetensors|npz|pkl|tar|nemo|msgpack|orbax|pdparams)$"
)
_STEP = lazy_pattern(
    r"(?:step|iter(?:ation)?|ckpt|checkpoint|update)[-_=:\s]{0,3}(\d{1,12})", re.IGNORECASE
)
_NOT_SAVED = lazy_pattern(
    r"\b(?:not|fail(?:ed|ure|ing)?|error|unable|cannot|can't|disabl\w{1,3}|skip\w{0,4}|without|every"
    r"|load\w{0,3}|restor\w{1,3}|resum\w{1,3}|will|would|should|if|when|warn\w{0,3}|interval"
    r"|traceback|tokenizer|config(?:uration)?|optimi[sz]er states? (?:of|for))\b",
    re.IGNORECASE,
)


class Checkpoints:
    name = "checkpoint"
    hints = ("checkpoint", "ckpt", "snapshot", "model", "weights", "state")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        lowered = text.lower()
        if not any(hint in lowered for hint in self.hints):
            return None
        saved = _SAVE.search(text)
        return None if saved is None else _sighting(text, saved)

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
        Sample("Saved model at runs/best.pt", Sighting(checkpoint=Checkpoint(path="runs/best.pt"))),
        Sample("model saved to last.pth", Sighting(checkpoint=Checkpoint(path="last.pth"))),
        Sample(
            "Model weights saved in out/step-300/model.safetensors",
            Sighting(checkpoint=Checkpoint(path="out/step-300/model.safetensors", step=300)),
        ),
        Sample(
            "Checkpoint written to 's3://bucket/run-7/iter_0000500'",
            Sighting(checkpoint=Checkpoint(path="s3://bucket/run-7/iter_0000500", step=500)),
        ),
        Sample(
            "Saving checkpoint at step: 100",
            Sighting(checkpoint=Checkpoint(step=100), phase="checkpointing"),
        ),
        Sample("Finished saving the checkpoint in 3.2 seconds.", Sighting(checkpoint=Checkpoint())),
        Sample(
            "I0101 12:00:00 checkpoints.py:120] Saving checkpoint at step: 2000",
            Sighting(checkpoint=Checkpoint(step=2000), phase="checkpointing"),
        ),
        Sample("loading checkpoint from out/checkpoint-500", None),
        Sample("Loading the checkpoint saved at step 100", None),
        Sample("will save checkpoint every 500 steps to out/", None),
        Sample("Saving checkpoints every 500 steps", None),
        Sample("checkpoint saving is disabled", None),
        Sample("failed to write: saving checkpoint to out/a.pt did not work: error 5", None),
        Sample("checkpoint not saved", None),
        Sample("saved tokenizer of the model to out/", None),
        Sample("saved predictions to out.csv", None),
        Sample("save_checkpoint=True ckpt_dir=out", None),
        Sample("the model was written by a student", None),
        Sample("saving " * 10_000 + "checkpoint", None),
        Sample("model " * 10_000 + "saved", None),
    )


def checkpoint_in(text: str) -> Checkpoint | None:
    """What a line that says something else as well says about a checkpoint."""
    saved = _SAVE.search(text)
    seen = None if saved is None else _sighting(text, saved)
    return None if seen is None else seen.checkpoint


def _sighting(text: str, saved: re.Match[str]) -> Sighting | None:
    if _NOT_SAVED.search(text):
        return None
    place = _PLACE.match(text, saved.end())
    path = place[1] if place and ("/" in place[1] or _FILE.search(place[1])) else None
    step = _STEP.search(path) if path else None
    step = step or _STEP.search(text)
    going_on = (saved[1] or saved[2]).lower().endswith("ing") and not _done(text, saved)
    return Sighting(
        checkpoint=Checkpoint(path=path, step=int(step[1]) if step else None),
        phase="checkpointing" if going_on else None,
    )


def _done(text: str, saved: re.Match[str]) -> bool:
    return text[: saved.start()].rstrip().lower().endswith(("finished", "done", "completed"))
