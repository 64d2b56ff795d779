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


def bar(total: int = 100, *, label: str = "", fill: str = "#", unit: str = "it") -> list[str]:
    """Lines of a bar that comes to its end."""
    return [
        f"{label}{25 * part:3}%|{fill * part:<4}| {total * part // 4}/{total} "
        f"[00:0{part}<00:0{4 - part}, 9.1{unit}/s]"
        for part in range(5)
    ]


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
        (*bar(), NCCL),
        (*bar(fill="█"), "", NCCL),
        ("\r".join(bar()), NCCL),
        ("\r".join(bar(fill="█")), "saved out/model.pt", NCCL),
        (*bar(4, label="Loading checkpoint shards: "), "Starting training", *bar(), NCCL),
        ("Loading the data", "Model: 12 layers", "8 GPUs", *bar(), NCCL),
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
        (*bar()[:4], NCCL),
        (*bar(), *bar(), NCCL),
        (*bar(), *bar(50), NCCL),
        (*bar(), bar(50)[0], NCCL),
        (bar(3)[0], *bar(), NCCL),
        (*bar(), *bar(10, label="Evaluating: "), NCCL),
        ("epoch 1/3", *bar(), NCCL),
        ("Epoch 1", *bar(), NCCL),
        ("epochs: 3", *bar(), NCCL),
        ("epoch 3/90: " + bar()[-1], NCCL),
        ("stage 1 of 2", *bar(), NCCL),
        (*bar(), "Stage 2: fine-tuning", NCCL),
        (*bar(), "2026-11-18 05:00:01 INFO Starting training", NCCL),
        (*bar(), "Loading the model", NCCL),
        ("Loading the data ...", *bar(), NCCL),
        (*bar(label="Downloading shards: "), NCCL),
        (*bar(unit="B"), NCCL),
        (*bar(), "step 1 loss 2.0", "step 2 loss 1.9", NCCL),
    ],
)
def test_what_failed_before_it(lines):
    assert not complete(*lines)
