"""One run's progress as one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from schedmate.cli._common import duration
from schedmate.service.views.sentences import end_in_words, slowdown_in_words

if TYPE_CHECKING:
    from schedmate.model import Checkpoint, EarlyWarning, Progress

OVER = ("finished", "failed")
_COLOURS = {"finished": "green", "failed": "red", "stalled": "yellow"}
_SHOWN = ("loss", "train_loss", "lm_loss", "eval_loss", "val_loss", "accuracy", "acc")
_BAR_WIDTH = 24
_LONGEST_NAME = 28
_GAP = 2
_SECONDS = {"d": 86_400, "h": 3600, "min": 60}


def progress_line(
    progress: Progress,
    width: int,
    *,
    bar: bool = False,
    silent_s: float | None = None,
    logs: int = 1,
) -> Text:
    """`train.log  training  24%  1,200/5,000 steps  3.4/s  ends in 00:18:38 (…)  loss 2.31`.

    What matters least gives way where the screen is narrow; `silent_s` is how long nothing has
    been written, `logs` how many of the job were read together.
    """
    parts = _parts(progress, bar=bar, silent_s=silent_s)
    if logs > 1:
        parts.insert(1, (4, Text(f"(of {logs} logs)")))
    if _length(parts) > width:
        of_several = parts[1:2] if logs > 1 else []
        parts = _parts(progress, bar=bar, silent_s=silent_s, brief=True)
        parts[1:1] = of_several
    while len(parts) > 1 and _length(parts) > width:
        parts.remove(max(parts, key=lambda part: part[0]))
    return Text(" " * _GAP).join(text for _, text in parts)


def _length(parts: list[tuple[int, Text]]) -> int:
    return sum(text.cell_len + _GAP for _, text in parts) - _GAP


def _parts(
    progress: Progress, *, bar: bool, silent_s: float | None, brief: bool = False
) -> list[tuple[int, Text]]:
    """In the order of the line; the smaller the number, the longer a part stays."""
    fraction = progress.fraction
    stalled = progress.phase == "stalled" and silent_s is not None
    words: list[tuple[int, str | Text]] = [
        (0, _short(progress.log) if brief else progress.log),
        (1, Text(progress.phase, style=_COLOURS.get(progress.phase, ""))),
        (2, f"for {duration(silent_s)}" if stalled else ""),
        (8, "" if fraction is None or not bar else _bar(fraction)),
        (3, "" if fraction is None else f"{fraction:.0%}"),
        (4, _count(progress)),
        (7, _speed(progress)),
        (5, _end(progress, brief=brief)),
        (6, "" if progress.slowdown is None else slowdown_in_words(progress.slowdown, duration)),
        (6, Text(f"! {progress.note}", style="yellow") if progress.note else ""),
        *((6, Text(f"! {warning.text}", style="yellow")) for warning in _unsaid(progress)),
        *(
            (9, f"{name} {progress.metrics[name]:.4g}")
            for name in _SHOWN
            if name in progress.metrics
        ),
        (10, "" if progress.checkpoint is None else _saved(progress.checkpoint)),
        *((11, link) for link in progress.links),
    ]
    return [(rank, Text(word) if isinstance(word, str) else word) for rank, word in words if word]


def _unsaid(progress: Progress) -> list[EarlyWarning]:
    """Warnings that the rest of the line does not say already."""
    shown = ("hang", "time_limit")
    return [warning for warning in progress.warnings if warning.reason not in shown]


def _short(log: str) -> str:
    """The end of a long path identifies it better than its beginning."""
    if len(log) <= _LONGEST_NAME:
        return log
    name = log.rpartition("/")[2]
    return f"…/{name}" if len(name) <= _LONGEST_NAME - 2 else f"…{log[1 - _LONGEST_NAME :]}"


def _bar(fraction: float) -> Text:
    full = round(min(1.0, fraction) * _BAR_WIDTH)
    return Text.assemble(("━" * full, "green"), ("━" * (_BAR_WIDTH - full), "dim"))


def _count(progress: Progress) -> str:
    if progress.current is None or progress.unit == "percent":  # the share is shown already
        return ""
    total = "" if progress.total is None else f"/{progress.total:,.12g}"
    return f"{progress.current:,.12g}{total} {progress.counted or progress.unit}s"


def _speed(progress: Progress) -> str:
    rate = progress.rate_per_s
    if not rate or progress.phase in (*OVER, "stalled"):
        return ""
    if progress.unit == "percent":
        return f"{_span(1 / rate)} per %"
    return f"{rate:.3g}/s" if rate >= 1 else f"{_span(1 / rate)} each"


def _span(seconds: float) -> str:
    """`3.2 s`, `17 min`, `2.5 h`: how long one of what is counted takes."""
    for unit, least in (("d", 172_800), ("h", 7200), ("min", 120)):
        if seconds >= least:
            return f"{seconds / _SECONDS[unit]:.2g} {unit}"
    return f"{seconds:.3g} s"


def _end(progress: Progress, *, brief: bool) -> str:
    if progress.eta_s is None or progress.phase in (*OVER, "stalled"):
        return ""
    return end_in_words(progress.eta_s, progress.ends_by, duration, brief=brief)


def _saved(checkpoint: Checkpoint) -> str:
    if checkpoint.step is not None:
        return f"saved at {checkpoint.step:,}"
    return f"saved {checkpoint.path}" if checkpoint.path else ""
