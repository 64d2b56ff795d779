"""Finished logs, read once."""

from __future__ import annotations

import gzip
import io
import os
import tracemalloc
from itertools import chain
from pathlib import Path

import pytest

from schedmate.model import BadInput, NotFound, Progress, SchedMateError
from schedmate.model.wire import dumps, loads, to_json
from schedmate.tracker import track_file, track_stream
from schedmate.tracker.tailing.full_read import lines_of

DATA = Path(__file__).parent / "data"
SPEC_FIELDS = [
    "schema", "log", "phase", "unit", "current", "total", "fraction", "epoch", "ends_by",
    "rate_per_s", "elapsed_s", "eta_s", "metrics", "checkpoint", "confidence", "format", "cost",
]  # fmt: skip


def track(text: str) -> Progress:
    return track_stream(io.BytesIO(text.encode()), name="log")


@pytest.mark.parametrize(
    ("name", "phase", "unit", "current", "total"),
    [
        ("tqdm-plain", "finished", "step", 20, 20),
        ("tqdm-slow", "finished", "step", 2, 2),
        ("tqdm-unknown", "unknown", "step", 20, None),
        ("tqdm-nested", "finished", "epoch", 3, 3),
        ("tqdm-initial", "unknown", "step", 1010, 5000),
        ("tqdm-print", "finished", "step", 4, 4),
        ("tqdm-scale", "finished", "token", 5e6, 5e6),
        ("transformers", "finished", "step", 24, 24),
    ],
)
def test_real_logs(name: str, phase: str, unit: str, current: float, total: float | None):
    seen = track_file(DATA / f"{name}.log")
    assert (seen.phase, seen.unit, seen.current, seen.total) == (phase, unit, current, total)
    assert seen.format == name.partition("-")[0]


def test_the_trainer_s_dicts_give_metrics_and_the_epoch():
    seen = track_file(DATA / "transformers.log")
    assert seen.epoch == 3
    assert seen.metrics["loss"] == 1.498
    assert seen.metrics["eval_loss"] == 0.7795


def test_a_resumed_bar_is_a_fifth_done_and_as_fast_as_printed():
    seen = track_file(DATA / "tqdm-initial.log")
    assert seen.fraction == pytest.approx(0.202)
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(81, abs=1)


def test_nested_bars_in_the_middle_count_the_outer_one_finely():
    whole = (DATA / "tqdm-nested.log").read_bytes()
    middle = whole[: whole.rindex(b"67%")]
    middle += whole[len(middle) : whole.index(b"60%|", len(middle))]
    seen = track_stream(io.BytesIO(middle), name="log")
    assert (seen.unit, seen.current, seen.total) == ("epoch", 2, 3)
    assert seen.fraction == pytest.approx((2 + 2 / 5) / 3, abs=0.01)


@pytest.mark.parametrize(
    ("text", "unit", "current", "total", "fraction"),
    [
        ("Epoch 1/4\nEpoch 2/4\nEpoch 3/4\n", "epoch", 3, 4, 0.5),
        ("Epoch 0/4 loss=3\nEpoch 1/4 loss=2\n", "epoch", 1, 4, 0.5),
        ("Epoch 1/4 loss=3\nEpoch 2/4 loss=2\n", "epoch", 2, 4, 0.5),
        ("Epoch [1/2], Step [9/10] acc=1\nEpoch [2/2], Step [5/10] acc=1\n", "step", 15, 20, 0.75),
        ("epoch 1/2 step 9/20 loss 1\nepoch 2/2 step 15/20 loss 1\n", "step", 15, 20, 0.75),
        ("step 1/9 loss 1\nVal: 10%|█  | 1/10 [00:01<00:09,  1.00s/it]\n", "step", 1, 9, 1 / 9),
        ('{"step": 5, "max_steps": 10}\nbye\n', "step", 5, 10, 0.5),
    ],
)  # fmt: skip
def test_what_counts(text: str, unit: str, current: float, total: float, fraction: float):
    seen = track(text)
    assert (seen.unit, seen.current, seen.total) == (unit, current, total)
    assert seen.fraction == pytest.approx(fraction)


def test_a_headline_of_the_last_epoch_is_not_the_end():
    assert track("Epoch 1/2\nEpoch 2/2\n").phase == "training"
    assert track("Epoch 1/2 loss=2\nEpoch 2/2 loss=1\n").phase == "finished"


def test_steps_of_the_run_beat_headlines_of_epochs():
    text = "Epoch 1/2\nstep 5/20 loss 1\nstep 10/20 loss 1\nEpoch 2/2\nstep 15/20 loss 1\n"
    seen = track(text)
    assert (seen.unit, seen.current, seen.total) == ("step", 15, 20)


def test_steps_of_an_epoch_refine_headlines_of_epochs():
    text = "Epoch 1/2\nstep 5/10 loss 1\nstep 10/10 loss 1\nEpoch 2/2\nstep 5/10 loss 1\n"
    seen = track(text)
    assert (seen.unit, seen.current, seen.total, seen.fraction) == ("epoch", 2, 2, 0.75)


def test_a_bar_that_goes_round_without_a_known_end_shows_no_total():
    lap = "".join(f"\r {n}0%|█ | {n}/10 [00:0{n}<00:01,  1.0it/s]" for n in range(10))
    lap += "\r100%|██| 10/10 [00:10<00:00,  1.0it/s]\n"
    seen = track(lap * 3)
    assert (seen.current, seen.total, seen.fraction) == (30, None, None)
    assert seen.elapsed_s == 30
    assert seen.confidence < 0.5


def test_data_bars_before_the_training_are_not_the_training():
    text = "Map: 100%|██| 9/9 [00:01<00:00,  9.0 examples/s]\n"
    text += "Downloading:  50%|█ | 5/10 [00:01<00:01, 5it/s]\n"
    assert track(text).phase == "starting"
    assert track(text + "step 3/4 loss 1\n").total == 4


def test_rank_jitter_in_one_log_is_no_restart():
    text = "".join(
        f"step {n}/1000 elapsed {n}s\nstep {n - 2}/1000 elapsed {n}s\n" for n in range(3, 500)
    )
    seen = track(text)
    assert seen.current == 499
    assert seen.rate_per_s == pytest.approx(1, rel=0.05)


def test_an_appended_second_attempt_counts_alone():
    first = "".join(f"step {n}/100 elapsed {n}s\n" for n in range(1, 60))
    second = "".join(f"step {n}/100 elapsed {2 * n}s\n" for n in range(1, 30))
    seen = track(first + second)
    assert seen.current == 29
    assert seen.rate_per_s == pytest.approx(0.5)


def test_a_traceback_at_the_end_is_a_failure_and_a_survived_one_is_not():
    crash = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no\n'
    assert track("step 3/9 loss 1\n" + crash).phase == "failed"
    assert track(crash + "step 3/9 loss 1\n").phase == "training"
    assert track(crash).phase == "failed"


def test_a_loss_that_is_no_number_is_not_shown_as_the_last_good_one():
    assert "loss" not in track("step 1/9 loss=0.5\nstep 2/9 loss=nan\n").metrics


def test_checkpoints_are_remembered():
    seen = track("step 5/10 loss 1\nSaving model checkpoint to out/checkpoint-5\n")
    assert seen.phase == "checkpointing"
    assert seen.checkpoint is not None
    assert (seen.checkpoint.path, seen.checkpoint.step) == ("out/checkpoint-5", 5)


@pytest.mark.parametrize("data", [b"", b"\n\r\n", os.urandom(100_000), b"\xff" * 2_000_000])
def test_rubbish_is_no_progress_and_no_error(data: bytes):
    seen = track_stream(io.BytesIO(data), name="log")
    assert seen.phase == "unknown"
    assert (seen.format, seen.confidence) == ("none", 0)


def test_compressed_whole_and_truncated(tmp_path: Path):
    text = b"".join(b"step %d/1000 loss %d\n" % (n, n) for n in range(800))
    packed = gzip.compress(text)
    (tmp_path / "a.gz").write_bytes(packed)
    (tmp_path / "b.gz").write_bytes(packed[: len(packed) // 2])
    assert track_file(tmp_path / "a.gz").current == 799
    assert 0 < (track_file(tmp_path / "b.gz").current or 0) < 799


def test_an_archive_of_several_members_and_a_pipe_of_one(tmp_path: Path):
    first, second = b"step 1/9 loss 1\nstep 2/9 lo", b"ss 1\nstep 3/9 loss 1\n"
    packed = gzip.compress(first) + gzip.compress(second) + bytes(512)
    assert list(chain(*lines_of(io.BytesIO(packed)))) == (first + second).splitlines()
    assert list(chain(*lines_of(io.BytesIO(packed + b"rubbish")))) == (first + second).splitlines()


@pytest.mark.slow
def test_a_bomb_is_unpacked_in_bounded_memory():
    packed = gzip.compress(b"step 1/9 loss 1\n" + bytes(60_000_000) + b"\nstep 2/9 loss 1\n")
    tracemalloc.start()
    lines = list(chain(*lines_of(io.BytesIO(packed))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines == [b"step 1/9 loss 1", b"step 2/9 loss 1"]
    assert peak < 8_000_000


def test_a_log_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path):
    with pytest.raises(NotFound, match="no log"):
        track_file(tmp_path / "none")
    with pytest.raises(BadInput, match="directory"):
        track_file(tmp_path)
    with pytest.raises(SchedMateError, match="cannot be read"):
        track_file(tmp_path / ("x" * 5000))
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(BadInput, match="no file"):
            track_file(name)


def test_a_log_that_may_not_be_read_is_told_in_a_sentence(tmp_path: Path):
    log = tmp_path / "secret.log"
    log.write_text("step 1/2\n")
    log.chmod(0)
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(SchedMateError, match="may not be read"):
            track_file(log)
    finally:
        os.seteuid(me)


@pytest.mark.slow
def test_memory_is_bounded_and_sifting_keeps_the_answer(tmp_path: Path):
    log = tmp_path / "big.log"
    with log.open("w") as file:
        for step in range(1, 200_001):
            file.write(f"step:{step}/400000 train_time:{step * 100}ms loss: {1 / step:.6f}\n")
            if step % 1000 == 0:
                file.write(f"saved checkpoint: out/step_{step}.pt\n" + "x" * 100_000 + "\n")
    tracemalloc.start()
    seen = track_file(log)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16_000_000
    assert (seen.current, seen.total) == (200_000, 400_000)
    assert seen.rate_per_s == pytest.approx(10)
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(20_000, rel=0.01)
    assert seen.checkpoint is not None
    assert seen.checkpoint.step == 200_000


def test_progress_is_as_specified_and_comes_back_from_json():
    for log in sorted(DATA.glob("*.log")):
        seen = track_file(log)
        assert loads(Progress, dumps(seen)) == seen
        assert set(SPEC_FIELDS) <= set(to_json(seen))
