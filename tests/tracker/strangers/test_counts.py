"""Which count is the run's, where a log holds several, and when it is over."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from schedmate.model import Progress, Workload
from schedmate.tracker import JobTracker, track_stream

START = 1_700_000_000.0
TRAINED = [f"step {step}/1000 loss {10 / step:.3f}" for step in range(10, 1001, 10)]


def tracked(*lines: str) -> Progress:
    return track_stream(io.BytesIO("\n".join([*lines, ""]).encode()), name="log")


def bar(done: int, total: int, label: str = "") -> str:
    share = 100 * done // total
    clock = f"{done // 60:02d}:{done % 60:02d}<00:10"
    return f"{label}{share:3d}%|{'#' * (share // 10):10}| {done}/{total} [{clock}, 1.00it/s]"


class TestSourceCode:
    @pytest.mark.parametrize(
        "line",
        [
            'print(f"stopping early at {step}: patience exceeded")',
            '        logger.info("Training complete.")',
            "print('Early stopping')",
            "# early stopping: patience exceeded",
            "+ echo 'Training finished'",
            '    raise StopTraining(f"time limit reached after {hours} h")',
            "    message = 'Training done'",
            '>>> print("training finished")',
        ],
    )
    def test_a_sentence_in_source_code_ends_nothing(self, line: str):
        assert tracked(*TRAINED[:50], line).phase == "training"

    @pytest.mark.parametrize(
        "line",
        [
            "Training complete.",
            "Early stopping at epoch 3: val_loss did not improve",
            "### Training finished ###",
            "[2025-01-01 10:00:00] INFO: training finished (best=0.31)",
            "Time limit reached. Signaling Trainer to stop.",
        ],
    )
    def test_a_printed_sentence_does(self, line: str):
        assert tracked(*TRAINED[:50], line).phase == "finished"


class TestAfterTheEnd:
    def test_a_later_bar_does_not_replace_the_run(self):
        seen = tracked(*TRAINED, *(bar(done, 50) for done in range(1, 20)))
        assert (seen.current, seen.total) == (1000, 1000)
        assert seen.phase != "finished"

    def test_the_run_is_over_when_the_later_bar_is(self):
        assert tracked(*TRAINED, *(bar(done, 50) for done in range(1, 51))).phase == "finished"

    def test_a_second_training_is_one_of_several(self):
        second = (f"step {step}/300 loss {10 / step:.3f}" for step in range(10, 100, 10))
        seen = tracked(*TRAINED, "now with the small rate", *second)
        assert (seen.current, seen.total) == (1090, 1300)
        assert seen.confidence <= 0.5

    def test_a_learnt_count_that_goes_on_revives_the_run(self):
        lines = [f"cell {cell} of 400 err {1 / cell:.3f}" for cell in range(1, 41)]
        assert tracked(*lines, "Training complete").phase == "finished"
        more = (f"cell {cell} of 400 err {1 / cell:.3f}" for cell in range(41, 61))
        assert tracked(*lines, "Training complete", *more).phase != "finished"


class TestBars:
    def test_the_first_redraw_without_a_name_is_not_the_run(self):
        seen = tracked(bar(0, 100), bar(0, 100, "fit: "), bar(1, 100, "fit: "))
        assert seen.current == 1

    @pytest.mark.parametrize("metrics", [5, 10, 11, 12, 13, 30])
    def test_a_wide_description_is_one_bar(self, metrics: int):
        rng = random.Random(1)
        lines = []
        for done in range(0, 200, 5):
            values = (f"metric_{one}: {rng.uniform(0.5, 120):.3f}" for one in range(metrics))
            lines.append(bar(done, 200, f"{' '.join(values)}: "))
        assert tracked(*lines).current == 195

    @pytest.mark.parametrize("width", range(980, 1010, 3))
    def test_a_line_may_become_wider_than_what_is_read_of_it(self, width: int):
        """A learnt count at the edge of what is read is never cut in half."""
        lines = [f"{'word ' * (width // 5)}done {done} of 2000" for done in range(90, 1200, 10)]
        seen = tracked(*lines)
        assert seen.current in (None, 1190)


class TestOuterCounts:
    def test_a_pair_in_front_holds_the_count_behind_it(self):
        lines = [
            f"[{epoch}/3] it {step} loss {1 / (step + 1):.3f}"
            for epoch in (1, 2, 3)
            for step in range(0, 100, 10)
        ]
        seen = tracked(*lines[:-5])
        assert (seen.current, seen.total) == (3, 3)
        assert seen.fraction == pytest.approx(0.8, abs=0.05)
        assert seen.phase == "training"

    def test_a_fold_that_is_done_is_not_the_run(self):
        seen = tracked("fold 0", *(f"epoch {one}/9 loss {1 / one:.3f}" for one in range(1, 10)))
        assert seen.confidence <= 0.5

    def test_steps_of_an_environment_are_not_updates(self):
        lines = (f"iteration {one} timesteps {one * 2048} reward 3" for one in range(1, 50))
        seen = tracked("total_timesteps: 200000", *lines)
        assert (seen.current, seen.total) == (49 * 2048, 200_000)


@pytest.mark.parametrize(("ended", "phase"), [("finished", "finished"), ("failed", "failed")])
def test_the_end_of_the_process_is_the_end(tmp_path: Path, ended, phase: str):
    log = tmp_path / "train.log"
    log.write_text("\n".join([*TRAINED[:40], ""]))
    tracker = JobTracker([log], started_at=START)
    assert tracker.poll(START + 50).phase == "training"
    seen = tracker.poll(START + 51, ended=ended)
    assert (seen.phase, seen.current) == (phase, 400)
    assert seen.ends_by == ("unknown" if ended == "finished" else seen.ends_by)


@pytest.mark.parametrize("word", ["Done.", "all done", "run completed successfully", "Finished!"])
def test_a_last_word_counts_only_where_nothing_follows(word: str):
    lines = [f"epoch {one} loss {1 / one:.3f}" for one in range(1, 30)]
    assert tracked(*lines, word).phase == "finished"
    assert tracked(*lines[:10], word, *lines[10:]).phase == "training"
    far = [f"step {one}/5000 loss {1 / one:.3f}" for one in range(1, 300)]
    assert tracked(*far, word).phase == "training", "much of a known total is still to do"


def test_a_line_that_comes_again_and_again_is_no_last_word():
    lines = []
    for one in range(1, 30):
        lines += [f"value {one * 3.7:.2f} of the residual", f"Execution time: {one * 2.1:.1f} s"]
    assert tracked(*lines).phase != "finished"


def test_steps_that_grow_by_a_schedule_make_the_end_uncertain():
    lines = [f"2025-01-01 10:{one // 60:02d}:{one % 60:02d} step {one}/1000" for one in range(90)]
    text = "\n".join([*lines, ""]).encode()
    plain = track_stream(io.BytesIO(text), name="log", workload=Workload()).eta_s
    named = tracked("seq_len schedule: 256 -> 2048", *lines).eta_s
    unknown = tracked(*lines).eta_s
    assert plain is not None
    assert plain.p90 < 1.2 * plain.p50, "the code is known, and names no schedule"
    for eta in (named, unknown):
        assert eta is not None
        assert eta.p90 > 1.9 * eta.p50
