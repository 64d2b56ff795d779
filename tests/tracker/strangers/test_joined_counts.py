"""Counts that follow each other add up: of epochs, and of phases."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import pytest

from schedmate.model import Finding, Progress, Workload
from schedmate.tracker import track_stream


def tracked(lines: list[str], workload: Workload | None = None) -> Progress:
    stream = BytesIO("\n".join([*lines, ""]).encode())
    return track_stream(stream, name="run.log", workload=workload)


def numbered_phases() -> Iterator[str]:
    for number, length in enumerate((1000, 500, 500), 1):
        yield f"Phase {number}/3: part {'abc'[number - 1]}"
        yield from (f"step {i}/{length} loss {3 / i:.3f}" for i in range(10, length + 1, 10))


def named_phases() -> Iterator[str]:
    for name, length in (("pretrain", 300), ("align", 100), ("polish", 200)):
        yield f"### {name} ###"
        yield from (f"{name}: {i}/{length} loss={3 / i:.3f}" for i in range(5, length + 1, 5))


def phases_of_epochs() -> Iterator[str]:
    for name, length in (("Frozen", 6), ("Training", 60), ("Finetune", 20)):
        yield f"==== {name} ===="
        yield from (f"Epoch {i}/{length} - loss: {1 / i:.3f}" for i in range(1, length + 1))


@pytest.mark.parametrize("run", [numbered_phases, named_phases, phases_of_epochs])
def test_in_the_last_phase_the_earlier_ones_are_done(run):
    lines = list(run())
    for share in (0.86, 0.95):
        seen = tracked(lines[: round(share * len(lines))])
        assert seen.fraction == pytest.approx(share, abs=0.02)
    assert tracked(lines).fraction == 1
    assert tracked(lines).phase == "finished"


def test_the_length_of_phases_to_come_is_a_guess():
    seen = tracked(list(numbered_phases())[:142])
    assert (seen.counted, seen.current, seen.total) == ("phase", 2, 3)
    assert seen.fraction == pytest.approx(1400 / 2250)
    assert seen.confidence < 0.5


@pytest.mark.parametrize("run", [numbered_phases, named_phases, phases_of_epochs])
def test_the_heading_of_a_phase_follows_an_inner_end(run):
    lines = list(run())
    for count in (index + 1 for index, line in enumerate(lines) if line[:1] in "P#=" and index):
        assert tracked(lines[:count]).phase != "finished"


def inner_steps(first: int, header: str, line: str) -> list[str]:
    """Ten epochs of a hundred steps each; the step begins anew with each."""
    steps = range(first * 10, 100 + first * 10, 10)
    return [header, *(line.format(e=e + first, s=s) for e in range(10) for s in steps)]


HEADERS = {
    "both": "config: epochs=10 steps_per_epoch=100 total_steps=1000",
    "total and epochs": "total_steps=1000 epochs=10",
    "total": "total_steps = 1000",
    "of an epoch": "epochs: 10, steps_per_epoch: 100",
}
LINES = {"words": "epoch {e} step {s} loss 0.3", "keys": "ep={e} it={s} loss=0.3"}


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_step_of_each_epoch_is_joined_with_the_epoch(first: int, header: str, line: str):
    lines = inner_steps(first, header, line)
    for share in (0.35, 0.65, 0.95):
        seen = tracked(lines[: round(share * len(lines))])
        assert seen.fraction == pytest.approx(share, abs=0.03)


def test_the_total_may_be_of_the_workload_record():
    lines = inner_steps(1, "starting", LINES["words"])
    known = Workload(
        max_steps=Finding(value=1000, source="code"), epochs=Finding(value=10, source="code")
    )
    assert tracked(lines[:66], known).fraction == pytest.approx(0.65, abs=0.02)


def test_a_step_that_goes_on_over_epochs_is_not_joined():
    lines = [
        "total_steps=1000 epochs=10",
        *(f"epoch {i // 100} step {i} loss 0.3" for i in range(10, 655, 10)),
    ]
    seen = tracked(lines)
    assert (seen.current, seen.total) == (650, 1000)
