"""What a job asks for against what it does: time, GPUs, a long run that saves nothing."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked, in_words
from schedmate.advisor.understand.fingerprint import uses_one_gpu
from schedmate.model import Remark, Spread
from schedmate.model.advice import Level

_TELLING = ("identical", "same_code", "similar")


def time_limit_too_short(checked: Checked) -> Iterator[Remark]:
    asked = checked.launch.asked
    limit = checked.target.request.time_limit_s or asked.time_limit_s
    prediction = checked.prediction
    if limit is None or prediction.duration_s is None or prediction.basis not in _TELLING:
        return
    lines = (asked.options["time"][1],) if "time" in asked.options else ()
    text = _problem(limit, prediction.duration_s)
    if text is not None:
        level: Level = "warning" if limit < prediction.duration_s.p50 else "hint"
        yield Remark(level=level, text=text, evidence=lines)


def _problem(limit: float, expected: Spread) -> str | None:
    if limit < expected.p50:
        needs = f"is below the {in_words(expected.p50)} it will take"
        return f"the time limit of {in_words(limit)} {needs}"
    if limit < expected.p90:
        longer = f"one such run in ten takes {in_words(expected.p90)}"
        return f"the time limit of {in_words(limit)} may be too short: {longer}"
    return None


def gpus_not_used(checked: Checked) -> Iterator[Remark]:
    """Silent where the code cannot be read: then it is unknown."""
    asked = checked.workload.gpus
    main = checked.launch.main
    if asked is None or asked.value < 1 or main is None or main.entry.source is None:
        return
    if checked.understood.mentions_gpu:
        return
    count = f"{asked.value} GPU" + ("s" if asked.value > 1 else "")
    yield Remark(
        level="hint",
        text=f"asks for {count}, but nothing in {main.entry.name} and its imports mentions one",
        evidence=asked.evidence,
    )


def gpu_needed(checked: Checked) -> Iterator[Remark]:
    """A job that says that it uses none; silent where nothing is said of GPUs."""
    asked, main = checked.workload.gpus, checked.launch.main
    if asked is None or asked.value or main is None or not checked.understood.needs_gpu:
        return
    yield Remark(
        level="warning",
        text=f"asks for no GPU, but {main.entry.name} and its imports do not run without one",
        evidence=asked.evidence,
    )


def one_gpu_used(checked: Checked) -> Iterator[Remark]:
    """Several GPUs, and code that would use the first of them."""
    asked, main = checked.workload.gpus, checked.launch.main
    if asked is None or asked.value <= 1 or main is None:
        return
    if uses_one_gpu(checked.launch, checked.understood):
        yield Remark(
            level="warning",
            text=f"asks for {asked.value} GPUs, but nothing in {main.entry.name} and its imports "
            "would use more than one",
            evidence=asked.evidence,
        )


_LONG_S = 4 * 3600.0


def no_checkpoints(checked: Checked) -> Iterator[Remark]:
    """Silent where the code cannot be read, and where a library saves by itself."""
    workload, main = checked.workload, checked.launch.main
    expected = checked.prediction.duration_s
    limit = checked.target.request.time_limit_s or checked.launch.asked.time_limit_s
    length = expected.p50 if expected is not None and not expected.too_wide else limit
    if length is None or length < _LONG_S or main is None or main.entry.source is None:
        return
    if checked.understood.traits.saves or workload.checkpoint_dir or workload.checkpoint_every:
        return
    yield Remark(
        level="hint",
        text=f"nothing in {main.entry.name} and its imports saves a checkpoint, and a job of "
        f"{in_words(length)} would lose everything with its node",
        evidence=main.command.evidence,
    )
