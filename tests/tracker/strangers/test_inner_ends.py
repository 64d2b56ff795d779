"""What ends inside a run does not end it: an evaluation, a trial, a warm-up."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import pytest

from schedmate.model import Progress
from schedmate.tracker import track_stream


def tracked(lines: list[str]) -> Progress:
    return track_stream(BytesIO("\n".join([*lines, ""]).encode()), name="run.log")


def bar(done: int, total: int) -> str:
    share = 100 * done // total
    return (
        f"{share:3d}%|{'#' * (share // 10):10}| {done}/{total} [00:{done // 10:02d}<00:10, 9it/s]"
    )


def reported_epochs(*, announced: bool) -> Iterator[str]:
    """Dicts as a Trainer prints them; its evaluator draws the only bar."""
    if announced:
        yield "  Num Epochs = 3"
    for epoch in range(3):
        for tenth in range(1, 11):
            share = epoch + tenth / 10
            yield f"{{'loss': {2 / share:.4f}, 'learning_rate': 4e-05, 'epoch': {share:.1f}}}"
        if announced:
            yield "***** Running Evaluation *****"
        yield from (bar(done, 120) for done in range(12, 121, 12))
        yield f"{{'eval_loss': 0.9, 'eval_runtime': 12.1, 'epoch': {epoch + 1}.0}}"


def steps_with_evaluations() -> Iterator[str]:
    for step in range(50, 1001, 50):
        yield f"step {step} loss {3 / step:.4f} lr 1e-4"
        if step % 200 == 0:
            yield from (bar(done, 100) for done in range(10, 101, 10))
            yield f"held-out accuracy {0.5 + step / 4000:.3f}"


def search(heading: str, *, announced: str = "") -> Iterator[str]:
    if announced:
        yield announced
    for trial in range(1, 13):
        yield heading.format(trial)
        yield from (f"  epoch {epoch}/5 loss {1 / epoch:.3f}" for epoch in range(1, 6))
        yield "Training complete"


def unnumbered_search() -> Iterator[str]:
    for rate in (0.1, 0.03, 0.01, 0.003):
        yield f"learning rate {rate}"
        yield from (f"iteration {it} loss {rate / it:.5f}" for it in range(10, 101, 10))
        yield "Training complete."


def warmed(heading: str, line: str, *, then: str, later: str) -> Iterator[str]:
    if heading:
        yield heading
    yield from (line.format(i, f"{3 / i:.3f}") for i in range(1, 21))
    if then:
        yield then
    yield from (later.format(i, f"{3 / i:.3f}") for i in range(1, 201))


RUNS = {
    "evaluations announced": list(reported_epochs(announced=True)),
    "evaluations not announced": list(reported_epochs(announced=False)),
    "evaluations between steps": list(steps_with_evaluations()),
    "trials of a number": list(search("=== trial {} of 12: lr=0.01 ===")),
    "trials behind a tag": list(search("[hpo] trial {} of 12")),
    "trials announced": list(search("Trial {}: lr=0.01", announced="searching: 12 trials")),
    "fits without a number": list(unnumbered_search()),
    "warm-up by its lines": list(
        warmed("", "warmup {}/20 loss {}", then="", later="step {}/200 loss {}")
    ),
    "warm-up by its heading": list(
        warmed(
            "Phase 1: warm-up", "iter {}/20 loss {}",
            then="Phase 2: main training", later="iter {}/200 loss {}",
        )
    ),
    "burn-in": list(
        warmed(
            "Burn-in phase", "sweep {}/20 E={}", then="Sampling phase", later="sweep {}/200 E={}"
        )
    ),
    "burn-in in unknown words": list(
        warmed("", "burn-in pass {}/20 E={}", then="", later="sampling pass {}/200 E={}")
    ),
}  # fmt: skip


ENDS = ("complete", "100%", "20/20", " 5/5", "phase", "trial")


@pytest.mark.parametrize("name", RUNS)
def test_no_inner_end_is_the_end(name: str):
    lines = RUNS[name]
    ends = [
        count
        for count in range(16, len(lines) - 11)
        if any(word in line.lower() for line in lines[count - 2 : count] for word in ENDS)
    ]
    assert ends
    assert [count for count in ends[::2] if tracked(lines[:count]).phase == "finished"] == []


@pytest.mark.parametrize(
    "name", ["trials of a number", "trials behind a tag", "trials announced", "burn-in"]
)
def test_the_last_one_ends_the_run(name: str):
    assert tracked(RUNS[name]).phase == "finished"


@pytest.mark.parametrize("announced", [True, False])
def test_the_bar_of_an_evaluator_is_not_the_run(*, announced: bool):
    lines = list(reported_epochs(announced=announced))
    seen = [tracked(lines[:count]) for count in range(14, len(lines), 3)]
    assert {one.unit for one in seen} == {"epoch"}
    assert {one.total for one in seen} == {3.0 if announced else None}


def test_a_bar_around_reported_steps_is_the_run():
    lines = [f"step {step} loss {3 / step:.3f}" for step in (1, 2, 3)]
    for done in range(4, 100):
        lines += [bar(done, 100), f"step {done} loss {3 / done:.3f}"]
    seen = tracked(lines)
    assert (seen.current, seen.total) == (99, 100)
