from __future__ import annotations

import pytest

from schedmate.tracker.phases import known_pause
from schedmate.tracker.scan import LogScan

ANNOUNCED = {
    "Saving model checkpoint to out/checkpoint-500": "checkpointing",
    "writing checkpoint shards (64 ranks)": "checkpointing",
    "***** Running Evaluation *****": "evaluating",
    "Evaluating on 50000 images ...": "evaluating",
    "compiling the model with torch.compile (max-autotune)": "compiling",
    "INFO: XLA compilation of the train step": "compiling",
    "Capturing CUDA graphs": "compiling",
    "Loading shards of the dataset": "loading",
    "Tokenizing 14,000,000 documents": "loading",
}
NOTHING = [
    "step 100/5000 loss 0.31",
    "hello",
    "Epoch 3 [20/400] train loss 0.2 validation loss 0.4",
    "the learning rate is 3e-4",
]


def scanned(*lines: str) -> LogScan:
    scan = LogScan()
    scan.feed([line.encode() for line in lines], 0.0)
    return scan


@pytest.mark.parametrize(("line", "pause"), ANNOUNCED.items())
def test_an_announced_pause_is_known(line: str, pause: str):
    assert known_pause([scanned("step 3/10 loss 0.2", line)]) == pause


@pytest.mark.parametrize("line", NOTHING)
def test_other_lines_announce_nothing(line: str):
    assert known_pause([scanned("hello", line)]) is None


@pytest.mark.parametrize("line", ANNOUNCED)
def test_a_pause_is_over_when_counting_goes_on(line: str):
    assert known_pause([scanned("step 3/10 loss 0.2", line, "step 4/10 loss 0.2")]) is None
