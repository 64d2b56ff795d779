"""A part of a run of each framework, composed after its format, and where it stands."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from schedmate.tracker import track_stream

START = datetime(2024, 3, 1, 12, tzinfo=UTC)


def at(seconds: float) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}"


def megatron() -> Iterator[str]:
    yield "  train_iters ..................................... 100"
    for step in range(1, 61):
        yield (
            f" [{at(2 * step)}] iteration {step:8d}/{100:8d} | consumed samples: {step * 8:12d} |"
            f" elapsed time per iteration (ms): 2000.0 | learning rate: 1.5E-04 |"
            f" lm loss: {9 - step * 0.05:.6E} | grad norm: 1.250 |"
        )


def timm() -> Iterator[str]:
    yield "Scheduled epochs: 4. LR stepped per epoch."
    for epoch in range(3):
        for batch in range(0, 100, 10):
            yield (
                f"Train: {epoch} [{batch:>4d}/100 ({batch:>3d}%)]  Loss: {5 - epoch:.3f} (4.9)"
                "  Time: 0.500s, 128.00/s  (0.500s, 128.00/s)  LR: 1.000e-04  Data: 0.010 (0.010)"
            )
        for batch in range(0, 20, 5):
            yield f"Test: [{batch:>4d}/19]  Time: 0.200 (0.2)  Loss:  0.75 (0.8)  Acc@1: 81.2 (80)"


def torchvision() -> Iterator[str]:
    for epoch in range(3):
        for batch in range(0, 100, 10):
            yield (
                f"Epoch: [{epoch}/8]  [{batch:>3d}/100]  eta: 0:00:50  lr: 0.02"
                f"  loss: {5 - epoch:.4f} (4.9)  time: 0.5000  data: 0.01  max mem: 1000"
            )
        yield f"Epoch: [{epoch}/8] Total time: 0:00:50 (0.5000 s / it)"
        yield "Test:  [10/20]  eta: 0:00:04  model_time: 0.1 (0.1)  time: 0.2000  data: 0.01"


def mmcv() -> Iterator[str]:
    yield f"{at(0)},000 - mmdet - INFO - workflow: [('train', 1)], max: 12 epochs"
    for step in range(50, 1501, 50):
        epoch, batch = divmod(step - 50, 500)
        head = f"{at(step * 0.4)},000 - mmdet - INFO - Epoch [{epoch + 1}][{batch + 50}/500]"
        yield f"{head}\tlr: 1.0e-02, eta: 0:36:00, time: 0.400, memory: 3456, loss: 1.25"


def detectron2() -> Iterator[str]:
    yield "  MAX_ITER: 1000"
    for step in range(19, 500, 20):
        yield (
            f"[03/01 12:00:00 d2.utils.events]:  eta: 0:02:05  iter: {step}  total_loss: 1.5"
            "  loss_cls: 0.5  time: 0.2500  data_time: 0.0100  lr: 0.02  max_mem: 2345M"
        )


def ultralytics() -> Iterator[str]:
    yield "Starting training for 5 epochs..."
    for epoch in range(1, 4):
        for batch in range(9):
            bar = f"{batch * 12:3d}%|{'█' * batch:8}| {batch}/8 [00:{batch:02d}<00:01,  1.00it/s]"
            yield f"        {epoch}/5      2.15G      1.203     0.9012         45        640: {bar}"
        yield (
            "                 Class     Images  Instances      Box(P          R): 100%|████████|"
            " 4/4 [00:01<00:00,  3.10it/s]"
        )


def fairseq() -> Iterator[str]:
    yield f"{at(0)} | INFO | fairseq_cli.train | Namespace(max_epoch=10, max_update=0, seed=1)"
    for update in range(100, 3001, 100):
        epoch, batch = divmod(update - 100, 1000)
        head = f"{at(update / 5)} | INFO | train_inner | epoch {epoch + 1:03d}:"
        yield (
            f"{head} {batch + 100:6d} / 1000"
            f" loss=5.3, ups=5, num_updates={update}, lr=0.0005, gnorm=1.5, wall={update // 5}"
        )


def dllogger() -> Iterator[str]:
    yield f"DLL {at(0)}.000000 - PARAMETER | epochs :  10 "
    for step in range(10, 301, 10):
        epoch, batch = divmod(step - 10, 100)
        yield (
            f"DLL {at(step / 2)}.000000 - epoch {epoch + 1:4d} | iter {batch + 10:4d}/100 |"
            " loss  41.50 | utts/s   186 | took  5.00 s"
        )


def nemo() -> Iterator[str]:
    for step in range(50):
        yield (
            f"Training epoch 0, iteration {step}/99 | lr: 3e-04 | global_step: {step} |"
            f" reduced_train_loss: {9 - step / 10} | train_step_timing in s: 4.0"
        )


def deepspeed() -> Iterator[str]:
    for step in range(10, 200, 10):
        yield (
            f"[{at(step / 2)},000] [INFO] [logging.py:60:log_dist] [Rank 0] step={step},"
            " skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]"
        )


RUNS = {
    megatron: (60, 100),
    timm: (290, 400),
    torchvision: (290, 800),
    mmcv: (1500, 6000),
    detectron2: (499, 1000),
    ultralytics: (24, 40),
    fairseq: (3000, 10_000),
    dllogger: (300, 1000),
    nemo: (49, 99),
    deepspeed: (190, None),
}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_part_of_a_run(run):
    text = "".join(f"{line}\n" for line in run())
    seen = track_stream(io.BytesIO(text.encode()), name=run.__name__)
    assert seen.format == {"mmcv": "mmengine"}.get(run.__name__, run.__name__)
    assert (seen.unit, seen.current, seen.total) == ("step", *RUNS[run])
    assert seen.rate_per_s is not None
