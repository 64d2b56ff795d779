"""Work that was done before the run failed, and work that was not."""

from __future__ import annotations

import io

import pytest

from schedmate.tracker import track_stream

NCCL = (
    "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process "
    "exited or there was a network error, NCCL version 2.19.3"
)
EPOCHS = [f"epoch {number}/10 loss {1 / number:.3f}" for number in range(1, 11)]
STEPS = [f"step {number}/1000 loss 2.1" for number in range(0, 1001, 50)]


def complete(*lines: str) -> bool:
    text = "".join(f"{line}\n" for line in lines)
    return track_stream(io.BytesIO(text.encode()), name="log").complete


@pytest.mark.parametrize(
    "lines",
    [
        (*EPOCHS, "Training completed", "Saved final checkpoint to out/last.pt", NCCL),
        (*EPOCHS, NCCL),
        (*STEPS, "done", NCCL),
        (*EPOCHS[:4], "No improvement: stopped early", "Training complete", NCCL),
        ("loading the data", "Training completed.", "Traceback (most recent call last):", NCCL),
    ],
)
def test_what_failed_after_the_end_of_the_work(lines):
    assert complete(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        (*EPOCHS[:9], NCCL),
        (*STEPS[:-1], NCCL),
        ("Loading the data: done", NCCL),
        ("fold 1/3", *EPOCHS, "Training completed", "fold 2/3", *EPOCHS[:5], NCCL),
        (*STEPS[:5], "Training completed", *STEPS[5:-1], NCCL),
        (NCCL,),
    ],
)
def test_what_failed_before_it(lines):
    assert not complete(*lines)
