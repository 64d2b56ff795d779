"""More samples of home-made lines: other words and languages, and lines that only look alike."""

from __future__ import annotations

from schedmate.model import Checkpoint
from schedmate.tracker.formats.base import Ordinal, Sample, Sighting


def _within(line: str, series: str, epochs: float | None = 25, **metrics: float) -> Sample:
    """Step 350 of the 1583 of epoch 2."""
    sighting = Sighting(
        unit="step",
        current=350,
        total=1583,
        series=series,
        epoch=2,
        epochs=epochs,
        per_epoch=True,
        metrics=metrics,
    )
    return Sample(line, sighting)


def _epoch(line: str, series: str, ordinal: Ordinal = "begun", **metrics: float) -> Sample:
    """Epoch 3 of 90."""
    sighting = Sighting(
        unit="epoch",
        current=3,
        total=90,
        series=series,
        ordinal=ordinal,
        epoch=3,
        epochs=90,
        metrics=metrics,
    )
    return Sample(line, sighting)


def _step(line: str, series: str, **metrics: float) -> Sample:
    """Step 120 of 5000."""
    sighting = Sighting(unit="step", current=120, total=5000, series=series, metrics=metrics)
    return Sample(line, sighting)


WORDINGS: tuple[Sample, ...] = (
    _within("[2/25][350/1583]\tLoss_D: 0.5 Loss_G: 1.8", "[]", loss_d=0.5, loss_g=1.8),
    _within("(2/25) (350/1583) loss 0.3", "[]", loss=0.3),
    _within("[Epoch 2/25] [Batch 350/1583] [D loss: 0.5]", "batch", d_loss=0.5),
    _within("Epoch 2/25 - 350/1583", "epoch[]"),
    _within("Epoch 2/25: 350/1583 loss 0.3", "epoch[]", loss=0.3),
    _within("E2 S350/1583", "s", None),
    _within("ep2 it350/1583 loss=0.3", "it", None, loss=0.3),
    _epoch("ep. 3 von 90", "ep"),
    _epoch("epoca 3 de 90", "epoca"),
    _epoch("эпоха 3/90", "эпоха"),
    _epoch("Эпоха 3 из 90, loss: 0.5", "эпоха", "ended", loss=0.5),
    _epoch("エポック 3/90", "エポック"),
    _epoch("第 3/90 轮, 损失: 0.5", "轮", "ended", 损失=0.5),
    _epoch("第3轮/共90轮 loss: 0.5", "轮", "ended", loss=0.5),
    _step("Iter: 120 -- max 5000", "iter"),
    _step("updates: 120 (max 5000)", "updates"),
    _step("step 120 (of 5000)", "step"),
    _step("itr 120/5000 loss 0.3", "itr", loss=0.3),
    _step("Global Step 120 of 5000", "global step"),
    Sample(
        "sample 64000 / 1.28M",
        Sighting(unit="sample", current=64_000, total=1_280_000, series="sample"),
    ),
    Sample(
        "Runde 3/50",
        Sighting(unit="step", current=3, total=50, series="runde", ordinal="begun"),
    ),
    Sample(
        "loss = 1.03, step = 2900 (2.15 sec)",
        Sighting(unit="step", current=2900, series="step", metrics={"loss": 1.03}),
    ),
    Sample(
        "global_step=7552, episodic_return=[123.]",
        Sighting(
            unit="step", current=7552, series="global_step", metrics={"episodic_return": 123.0}
        ),
    ),
    Sample(
        "step 5, max 90, min 3, loss 0.5",
        Sighting(unit="step", current=5, series="step", metrics={"loss": 0.5}),
    ),
    Sample(
        "Epoch 5: 3/10 correct, loss: 0.3",
        Sighting(
            unit="epoch",
            current=5,
            series="epoch",
            ordinal="ended",
            epoch=5,
            metrics={"loss": 0.3},
        ),
    ),
    Sample(
        "Validation step 3/10 loss 2.3",
        Sighting(
            unit="step",
            current=3,
            total=10,
            series="eval step",
            metrics={"loss": 2.3},
            phase="evaluating",
        ),
    ),
    Sample(
        "Evaluated 10/100 samples",
        Sighting(unit="sample", current=10, total=100, series="eval samples", phase="evaluating"),
    ),
    Sample(
        "Epoch 3/90 loss=0.2, saved checkpoint to out/e3.pt",
        Sighting(
            unit="epoch",
            current=3,
            total=90,
            series="epoch",
            ordinal="ended",
            epoch=3,
            epochs=90,
            metrics={"loss": 0.2},
            checkpoint=Checkpoint(path="out/e3.pt"),
        ),
    ),
    Sample(
        "Starting round 3/50",
        Sighting(unit="step", current=3, total=50, series="round", ordinal="begun"),
    ),
    Sample(
        "Epoch[0] Batch [0-20]\tSpeed: 18847.25 samples/sec\taccuracy=0.5",
        Sighting(
            unit="epoch",
            current=0,
            series="epoch",
            ordinal="begun",
            epoch=0,
            metrics={"speed": 18847.25, "accuracy": 0.5, "samples_per_s": 18847.25},
        ),
    ),
    Sample(
        "step=1000/50000 tokens=1.0B loss=3.1 tok/s=51.2k",
        Sighting(
            unit="step",
            current=1000,
            total=50_000,
            series="step",
            metrics={"loss": 3.1, "tokens_per_s": 51200.0},
        ),
    ),
    Sample(
        "Task 2/5, epoch 3/10: acc 0.9",
        Sighting(
            unit="step", current=2, total=5, series="task", ordinal="begun", metrics={"acc": 0.9}
        ),
    ),
    Sample(
        "seed 2/3 | step 100/1000",
        Sighting(unit="step", current=2, total=3, series="seed", ordinal="begun"),
    ),
    Sample(
        "stage 1/2 | step 100/1000 loss=2.5",
        Sighting(
            unit="step",
            current=100,
            total=1000,
            series="step",
            metrics={"loss": 2.5},
            confidence=0.4,
        ),
    ),
    Sample(
        "epoch 3 took 35 s",
        Sighting(unit="epoch", current=3, series="epoch", ordinal="ended", epoch=3),
    ),
)


LOOKALIKES: tuple[Sample, ...] = (
    Sample("loaded 3/4 shards", None),
    Sample("epoch 3/4/2024", None),
    Sample("GPU 3/8", None),
    Sample("rank 3/8", None),
    Sample("node 1/4", None),
    Sample("worker 2/16", None),
    Sample("world size: 8", None),
    Sample("accuracy 3/4", None),
    Sample("passed 3/5 checks", None),
    Sample("Test set: Average loss: 0.0512, Accuracy: 9800/10000 (98%)", None),
    Sample("lr at step 100: 0.001", None),
    Sample("Step 3/7 : RUN pip install torch", None),
    Sample("[3/7] Building model", None),
    Sample("[2/4] files loss=2", None),
    Sample("Step 1: loading dataset", None),
    Sample("Step 2: train with lr=0.1", None),
    Sample("update 3/5 packages", None),
    Sample("Epoch 00005: reducing learning rate of group 0 to 1.0000e-03.", None),
    Sample("EarlyStopping counter: 3 out of 10", None),
    Sample("Best epoch: 3, loss: 0.2", None),
    Sample("Resuming from step 100, loss 2.3", None),
    Sample("warmup step 3/10", None),
    Sample("Downloading progress: 12%", None),
    Sample("CPU usage: 12%", None),
    Sample("training accuracy: 12%", None),
    Sample("Tokenizing 100/5000 samples", None),
    Sample("tp=2 pp=4 ep=8 lr=0.1", None),
    Sample("epochs: 90", None),
    Sample("batch: 32 lr: 0.1", None),
    Sample("we step over 3/4 of the files", None),
    Sample("step 120", None),
    Sample("step 0.5 loss 3", None),
    Sample("step 9/5 loss 3", None),
    Sample("setting training data start iteration to 0", None),
    Sample("torch 2.3/cu121 step", None),
    Sample("Hit 3/4 iterations of luck", None),
    Sample("+ echo 'Beginning trial 08 of 10'", None),
    Sample("Beginning trial 08 of 10", None),
    Sample("Reading image 3/4", None),
    Sample("E3 S100 L0.3", None),
    Sample("config: step=100 lr=0.1", None),
    Sample("[1/3] [4/7] Building loss", None),
    Sample("[3/8][1/2] fetching", None),
    Sample("7MiB / 81559MiB", None),
    Sample("118W / 700W", None),
    Sample("S 3/8", None),
    Sample("s=3/8 e=1", None),
    Sample("No gain for 3/10 epochs without improvement", None),
    Sample("patience 3/10 epochs", None),
    Sample("Finished 3 of 8 downloads", None),
    Sample("GET /a/1/2 HTTP/1.1 200 3/4", None),
    Sample("2024/01/02 12:00:00 torch 2/3", None),
    Sample("Step 3/7 : FROM python:3.11", None),
    Sample("batch 32/64 per gpu", None),
    Sample("batch 32 (max 64)", None),
    Sample("denoising step 3/50", None),
    Sample("sampling step 3/50", None),
    Sample("iteration 500g", None),
    Sample("step 3m of 5m", None),
    Sample("|" + " " * 480 + "| epoch loss", None),
    Sample("epoch" + " " * 1500 + "loss", None),
    Sample("step" * 100_000, None),
    Sample("epoch " * 100_000, None),
    Sample("1/2 " * 20_000, None),
    Sample("epoch\x00\ufffd 3", None),
)
